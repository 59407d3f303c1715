"""Checks that Spark and its workers can do the work, and the errors where they cannot."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from truebleu._kernel import InputError
from truebleu.engines import common_api
from truebleu.engines.common_api import release, told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST = (3, 4)
"""The first release with all that is used: mapInArrow on Connect, get, array_compact."""

# Behind these words stands what a user should read; what is before them is Spark's traceback.
SAYS = "truebleu says: "

SHIPPING = (
    "install the same wheel on every machine (pip, or the cluster's list of libraries), or send an "
    "environment with it: venv-pack or conda-pack, then spark.archives=environment.tar.gz#env and "
    "PYSPARK_PYTHON=./env/bin/python. --py-files cannot do it, because a compiled module does not "
    "load from an archive"
)

# What to do about failures of machines, by what Spark says of them.
ADVICE = {
    "worker exited unexpectedly": "it was killed, perhaps for want of memory: "
    "spark.executor.memoryOverhead gives more",
    "ExecutorLostFailure": "more memory for it: spark.executor.memory and .memoryOverhead",
    "heap space": "spark.executor.memory gives more",
    "No space left": "spark.local.dir (SPARK_LOCAL_DIRS) names the folder for what is shuffled",
}


# ---- before anything runs ----


def check_packages() -> None:
    """Raises ImportError for packages that are missing, RuntimeError for a Spark too old."""
    try:
        import pyspark
    except ImportError as error:
        raise ImportError(
            "this needs Spark's Python package: pip install 'truebleu[spark]', or on a cluster "
            "the version that the cluster runs"
        ) from error
    version = release(pyspark.__version__)
    if version < OLDEST:
        raise RuntimeError(
            f"this needs Spark {'.'.join(map(str, OLDEST))} or newer, and here is "
            f"{pyspark.__version__}"
        )
    try:
        import pandas as pd  # noqa: F401  # Spark imports it to send Arrow
        import pyarrow as pa  # noqa: F401
    except ModuleNotFoundError as error:
        raise ImportError(
            f"Spark needs {error.name} to exchange columns with Python: "
            "pip install 'truebleu[spark]'"
        ) from error
    except ImportError as error:  # one that does not suit another that is installed
        raise ImportError(f"Spark cannot exchange columns with Python: {error}") from error


def check_java() -> None:
    """Raises RuntimeError if no Java is found that this release of Spark runs on."""
    import shutil
    import subprocess

    import pyspark

    least = 17 if release(pyspark.__version__) >= (4,) else 8
    home = os.environ.get("JAVA_HOME")
    command = os.path.join(home, "bin", "java") if home else "java"
    needs = f"Spark {pyspark.__version__} needs Java {least} or newer"
    advice = "install it (Debian, Ubuntu: apt-get install openjdk-17-jre-headless) or set JAVA_HOME"
    if shutil.which(command) is None:
        where = f"JAVA_HOME is {home}, without bin/java in it" if home else "no java is on the PATH"
        raise RuntimeError(f"{needs}, and {where}; {advice}")
    answer = subprocess.run([command, "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    if found is None:
        raise RuntimeError(
            f"{needs}; {command} -version says: {(answer.stderr or answer.stdout)!r:.200}"
        )
    if int(found[1]) < least:
        raise RuntimeError(f"{needs}, and {command} is Java {found[1]}; {advice}")


# Applications whose workers were seen to be right: each batch of a stream is a session of its own.
_checked: set[tuple[Any, ...]] = set()


def check_workers(session: SparkSession) -> None:
    """Raises RuntimeError if a worker has another Python, or no such truebleu.

    That is a job of one row, once an application (of Spark Connect, a session).
    """
    known = (session.conf.get("spark.app.id"), getattr(session, "session_id", None))
    if known in _checked:
        return
    rows = session.range(0, 1, 1, 1)
    with short():
        rows.mapInArrow(shipped("present", None), "version string").collect()
    _checked.add(known)


# ---- what goes to the workers, and what they say ----


def shipped(task: str, arguments: Any, name: str | None = None) -> Callable[..., Any]:
    """The function of `spark_workers` that is called `task`, as something to send to workers."""
    from pyspark import cloudpickle

    says = SAYS

    def refuse(message: str) -> None:
        raise RuntimeError(f"{says}{message}")

    module = "truebleu.engines.spark_workers"
    run = common_api.shipped(cloudpickle, module, task, arguments, SHIPPING, refuse)
    run.__name__ = name or f"truebleu_{task}"  # Spark's plans and columns are called after it
    return run


@contextmanager
def short() -> Iterator[None]:
    """Makes what failed a job an exception of a line, without the stacks of Spark and Java."""
    try:
        yield
    except Exception as error:
        of_spark = type(error).__module__.startswith(("pyspark.", "py4j."))
        found = said(str(error)) if of_spark else None
        if found is None:
            raise
        raise found from None


def said(message: str) -> Exception | None:
    """What went wrong, found somewhere in a message of Spark; None for what is short by itself."""
    end = r"(?=\n\n|\n\s*at |\n?\s*SQLSTATE| SQLSTATE|\n*\Z)"
    own = re.search(rf"(\w+): {SAYS}(.*?){end}|{SAYS}(.*?){end}", message, re.DOTALL)
    if own:
        return (RuntimeError if own[1] == "RuntimeError" else InputError)(own[2] or own[3])
    refused = re.search(rf"\bInputError: (.*?){end}", message, re.DOTALL)
    if refused:
        return InputError(refused[1])
    if "PYTHON_VERSION_MISMATCH" in message:
        here = f"{sys.version_info[0]}.{sys.version_info[1]}"
        versions = re.search(r"(\d+\.\d+)\D+(\d+\.\d+)", message.partition("MISMATCH")[2])
        theirs = "another" if versions is None else versions[1]
        return RuntimeError(
            f"the workers run Python {theirs} and here is {here}; Spark needs the same 3.x on all "
            "machines: set PYSPARK_PYTHON (spark.pyspark.python) to such a Python before the "
            "session is made"
        )
    lacking = re.search(r"ModuleNotFoundError: No module named '(pyarrow|pandas)'", message)
    if lacking:
        theirs = os.environ.get("PYSPARK_PYTHON", "python3, as the PATH finds it")
        return RuntimeError(
            f"the workers' Python has no {lacking[1]}. It is {theirs}, and here is "
            f"{sys.executable}: set PYSPARK_PYTHON to a Python that has what this one has before "
            "the session is made"
        )
    # A Python that does not even start is no exception of Python's to Spark.
    started = re.search(r"Error from python worker:\n(.*?)\nPYTHONPATH", message, re.DOTALL)
    if started:
        last = started[1].strip().splitlines()[-1].strip()
        return RuntimeError(told("Spark's workers cannot start Python", last))
    file = re.search(r"error while reading file (\S+)\.\s+(.*?)\s*(?:SQLSTATE|\n|\Z)", message)
    if file:
        causes = re.findall(r"^Caused by: (?:[\w.$]+: )?(.*)", message, re.MULTILINE)
        what = file[2] or (causes or ["it cannot be read"])[-1]
        return InputError(told(file[1].removeprefix("file://"), what))
    lost = re.search(r"Lost task \S+ in stage \S+ \(TID \d+\) \((\S+) .*?\): (.*)", message)
    if lost:
        what = re.sub(r"^(?:[\w$]+\.)+[\w$]+: |\. Consider setting .*", "", lost[2])
        advice = [advice for sign, advice in ADVICE.items() if sign in what]
        return RuntimeError(told(f"a task failed on {lost[1]}", "; ".join([what, *advice])))
    return None
