"""Compatibility checks for Spark and its workers, and conversion of Spark's errors."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from truebleu._kernel import InputError
from truebleu.engines import common_api
from truebleu.engines.common_api import format_error, parse_release

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MIN_SPARK_RELEASE = (3, 4)
"""First release with mapInArrow on Spark Connect, `get` and `array_compact`."""

# Beginning of truebleu's message, which follows Spark's traceback.
MESSAGE_PREFIX = "truebleu says: "

INSTALL_ADVICE = (
    "install the same wheel on every machine (with pip, or in the cluster's list of libraries), or "
    "distribute an environment that venv-pack or conda-pack created, by setting "
    "spark.archives=environment.tar.gz#env and PYSPARK_PYTHON=./env/bin/python. --py-files does "
    "not work, because Python cannot load compiled modules from an archive"
)

# Advice on machine failures, keyed by a substring of Spark's message.
FAILURE_ADVICE = {
    "worker exited unexpectedly": "it was killed, perhaps because memory ran out: increase "
    "spark.executor.memoryOverhead",
    "ExecutorLostFailure": "increase spark.executor.memory and .memoryOverhead",
    "heap space": "increase spark.executor.memory",
    "No space left": "set spark.local.dir (SPARK_LOCAL_DIRS) to another folder for shuffled data",
}


# ---- checks before jobs start ----


def check_packages() -> None:
    """Raise ImportError for missing packages, and RuntimeError if Spark is too old."""
    try:
        import pyspark
    except ImportError as error:
        raise ImportError(
            "truebleu.engines.spark needs PySpark: pip install 'truebleu[spark]', or, on a "
            "cluster, install the cluster's version"
        ) from error
    version = parse_release(pyspark.__version__)
    if version < MIN_SPARK_RELEASE:
        raise RuntimeError(
            f"truebleu.engines.spark needs Spark {'.'.join(map(str, MIN_SPARK_RELEASE))} or newer, "
            f"found {pyspark.__version__}"
        )
    try:
        import pandas as pd  # noqa: F401  # Spark imports it to transfer Arrow data
        import pyarrow as pa  # noqa: F401
    except ModuleNotFoundError as error:
        raise ImportError(
            f"Spark needs {error.name} to exchange columns with Python: "
            "pip install 'truebleu[spark]'"
        ) from error
    except ImportError as error:  # incompatible versions
        raise ImportError(f"Spark cannot exchange columns with Python: {error}") from error


def check_java() -> None:
    """Raise RuntimeError unless a Java version that this Spark release supports is installed."""
    import shutil
    import subprocess

    import pyspark

    min_java = 17 if parse_release(pyspark.__version__) >= (4,) else 8
    home = os.environ.get("JAVA_HOME")
    command = os.path.join(home, "bin", "java") if home else "java"
    requirement = f"Spark {pyspark.__version__} needs Java {min_java} or newer"
    advice = "install it (Debian, Ubuntu: apt-get install openjdk-17-jre-headless) or set JAVA_HOME"
    if shutil.which(command) is None:
        problem = f"JAVA_HOME ({home}) has no bin/java" if home else "java is not on the PATH"
        raise RuntimeError(f"{requirement}, but {problem}; {advice}")
    output = subprocess.run([command, "-version"], capture_output=True, text=True, check=False)
    match = re.search(r'version "(?:1\.)?(\d+)', output.stderr + output.stdout)
    if match is None:
        raise RuntimeError(
            f"{requirement}; {command} -version prints {(output.stderr or output.stdout)!r:.200}"
        )
    if int(match[1]) < min_java:
        raise RuntimeError(f"{requirement}, but {command} is Java {match[1]}; {advice}")


# Ids of applications whose workers passed the check. Each batch of a stream has its own session.
_checked_applications: set[tuple[Any, ...]] = set()


def check_workers(session: SparkSession) -> None:
    """Raise RuntimeError if a worker has a different version of Python or truebleu.

    This runs a job with one row, once per application (with Spark Connect, per session).
    """
    application = (session.conf.get("spark.app.id"), getattr(session, "session_id", None))
    if application in _checked_applications:
        return
    rows = session.range(0, 1, 1, 1)
    with shorten_errors():
        rows.mapInArrow(make_task("report_version", None), "version string").collect()
    _checked_applications.add(application)


# ---- worker calls and error messages ----


def make_task(task: str, arguments: Any, name: str | None = None) -> Callable[..., Any]:
    """Return a serializable function that calls `task` of `spark_workers` with these arguments."""
    from pyspark import cloudpickle

    prefix = MESSAGE_PREFIX

    def raise_worker_error(message: str) -> None:
        raise RuntimeError(f"{prefix}{message}")

    module = "truebleu.engines.spark_workers"
    run = common_api.make_worker_call(
        cloudpickle, module, task, arguments, INSTALL_ADVICE, raise_worker_error
    )
    run.__name__ = name or f"truebleu_{task}"  # Spark shows the name in plans and column names
    return run


@contextmanager
def shorten_errors() -> Iterator[None]:
    """Replace the errors of failed jobs with one-line exceptions without stack traces."""
    try:
        yield
    except Exception as error:
        is_spark_error = type(error).__module__.startswith(("pyspark.", "py4j."))
        short_error = extract_error(str(error)) if is_spark_error else None
        if short_error is None:
            raise
        raise short_error from None


def extract_error(message: str) -> Exception | None:
    """Return a short exception for a Spark message, or None if the message is already short."""
    end = r"(?=\n\n|\n\s*at |\n?\s*SQLSTATE| SQLSTATE|\n*\Z)"
    prefixed = re.search(rf"(?:(\w+): )?{MESSAGE_PREFIX}(.*?){end}", message, re.DOTALL)
    if prefixed:
        return (RuntimeError if prefixed[1] == "RuntimeError" else InputError)(prefixed[2])
    refused = re.search(rf"\bInputError: (.*?){end}", message, re.DOTALL)
    if refused:
        return InputError(refused[1])
    if "PYTHON_VERSION_MISMATCH" in message:
        driver_python = f"{sys.version_info[0]}.{sys.version_info[1]}"
        versions = re.search(r"(\d+\.\d+)\D+(\d+\.\d+)", message.partition("MISMATCH")[2])
        worker_python = "another" if versions is None else versions[1]
        return RuntimeError(
            f"the workers run Python {worker_python}, but the driver runs {driver_python}. Before "
            "creating the session, set PYSPARK_PYTHON (spark.pyspark.python) to a Python "
            f"{driver_python} interpreter."
        )
    missing_package = re.search(r"ModuleNotFoundError: No module named '(pyarrow|pandas)'", message)
    if missing_package:
        worker_python = os.environ.get("PYSPARK_PYTHON", "python3 on the PATH")
        return RuntimeError(
            f"the workers' Python ({worker_python}) has no {missing_package[1]}. Before creating "
            "the session, set PYSPARK_PYTHON to an interpreter with the same packages as "
            f"{sys.executable}."
        )
    # If Python does not start, Spark's error does not contain a Python exception.
    startup_error = re.search(r"Error from python worker:\n(.*?)\nPYTHONPATH", message, re.DOTALL)
    if startup_error:
        last = startup_error[1].strip().splitlines()[-1].strip()
        return RuntimeError(format_error("Spark workers cannot start Python", last))
    file_error = re.search(
        r"error while reading file (\S+)\.\s+(.*?)\s*(?:SQLSTATE|\n|\Z)", message
    )
    if file_error:
        causes = re.findall(r"^Caused by: (?:[\w.$]+: )?(.*)", message, re.MULTILINE)
        problem = file_error[2] or (causes or ["cannot read the file"])[-1]
        return InputError(format_error(file_error[1].removeprefix("file://"), problem))
    lost_task = re.search(r"Lost task \S+ in stage \S+ \(TID \d+\) \((\S+) .*?\): (.*)", message)
    if lost_task:
        problem = re.sub(r"^(?:[\w$]+\.)+[\w$]+: |\. Consider setting .*", "", lost_task[2])
        advice = [advice for sign, advice in FAILURE_ADVICE.items() if sign in problem]
        location = f"a task failed on {lost_task[1]}"
        return RuntimeError(format_error(location, "; ".join([problem, *advice])))
    return None
