"""Measurements of time and memory, each in a new process.

Processor time is the child's user and system time as `wait4` reports it, so other work on the
machine hardly affects it. Elapsed time is also recorded. In each round, every contender of a row
runs once, so that a slowdown of the machine affects all of them. The results contain each
contender's median.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

ROOT = Path(__file__).resolve().parents[1]
JOBS = Path(__file__).with_name("benchmark_jobs.py")
SAMPLE_SECONDS = 0.002
MAX_SECONDS = 10
"""A contender whose runs took this time in total does not run again."""

# Peers use one thread. Variables such as PYTHONDONTWRITEBYTECODE are omitted, because installed
# packages have byte code.
_ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
_ENVIRONMENT |= {"OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Cost:
    """The cost of one run in seconds, its output, and the peak memory of a job in bytes."""

    processor: float
    elapsed: float
    output: str = ""
    peak: int = 0


@dataclass(frozen=True)
class Costs:
    """The costs of several runs of one contender, with their medians."""

    runs: tuple[Cost, ...]

    @property
    def processor(self) -> float:
        return statistics.median(run.processor for run in self.runs)

    @property
    def elapsed(self) -> float:
        return statistics.median(run.elapsed for run in self.runs)

    @property
    def result(self) -> Any:
        return json.loads(self.runs[0].output)

    @property
    def peak(self) -> int:
        return max(run.peak for run in self.runs)


# ---- jobs ----


def get_script(name: str, *arguments: object) -> tuple[str, ...]:
    """Return a command line for a script that is installed with the running Python."""
    suffix = ".exe" if os.name == "nt" else ""
    return (str(Path(sysconfig.get_path("scripts"), name + suffix)), *map(str, arguments))


def make_command(*command: object, **environment: str) -> Callable[[], Cost]:
    """Return a job that runs a command, waits for it, and returns its cost."""

    def run() -> Cost:
        with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
            start = time.perf_counter()
            child = _start_process(command, environment, output, errors)
            _, status, usage = os.wait4(child.pid, 0)
            elapsed = time.perf_counter() - start
            child.returncode = os.waitstatus_to_exitcode(status)
            _check_status(command, child.returncode, errors)
            processor = usage.ru_utime + usage.ru_stime
            return Cost(processor, elapsed, _read_text(output))

    return run


def make_job(
    name: str, *arguments: object, python: object = sys.executable, **environment: str
) -> Callable[[], Cost]:
    """Return a job that calls a function of benchmark_jobs.py, and returns the cost of the call."""
    packed_arguments = json.dumps(arguments, default=str)
    environment["PYTHONPATH"] = str(ROOT)
    command = make_command(python, JOBS, name, packed_arguments, **environment)

    def run() -> Cost:
        cost = command()
        report = json.loads(cost.output.splitlines()[-1])
        result = json.dumps(report["result"])
        return Cost(report["processor"], report["elapsed"], result, report["peak"])

    return run


def run_at_once(count: int, job: Callable[[], Cost]) -> Cost:
    """Run at the same time; return the total processor time and the longest elapsed time."""
    with ThreadPoolExecutor(count) as pool:
        costs = list(pool.map(lambda _: job(), range(count)))
    elapsed = max(cost.elapsed for cost in costs)
    return Cost(sum(cost.processor for cost in costs), elapsed, costs[0].output)


def run_in_turn(runs: int, contenders: Mapping[str, Callable[[], Cost]]) -> dict[str, Costs]:
    """Run every contender once per round, slow contenders in fewer rounds; return all costs."""
    costs: dict[str, list[Cost]] = {name: [] for name in contenders}
    for _ in range(runs):
        for name, job in contenders.items():
            if sum(cost.elapsed for cost in costs[name]) < MAX_SECONDS:
                costs[name].append(job())
    return {name: Costs(tuple(each)) for name, each in costs.items()}


def find_python(package: str) -> Path | None:
    """Return a Python that has a package: the running Python, or that of another environment.

    `make engines` and `make integrations` create environments for Spark, Ray and torch, which are
    large, or need other releases of common dependencies.
    """
    specification = importlib.util.find_spec(package)
    if specification and specification.origin:  # a folder without code has no origin
        return Path(sys.executable)
    for name in ("spark", "ray", "integrations"):
        prefix = Path(f"{sys.prefix}-{name}")
        if list(prefix.glob(f"lib/python*/site-packages/{package}")):
            return prefix / "bin" / "python"
    return None


# ---- processes ----


@contextmanager
def start_tree_clock() -> Iterator[Callable[[], float]]:
    """Yield a function that returns the processor time of this process and all its descendants.

    Ray's node does not collect the time of workers that it stops. So every process is sampled five
    times per second, and its last value is kept. Time after the last sample is missing.
    """
    ticks: dict[tuple[int, str], int] = {}
    looking = threading.Lock()

    def seconds() -> float:
        with looking:
            for process in list_process_tree(os.getpid()):
                # A pid can be reused, but not with the same start time.
                if fields := _read_stat(process):
                    ticks[process, fields[19]] = sum(map(int, fields[11:13]))
            return sum(ticks.values()) / os.sysconf("SC_CLK_TCK")

    def look() -> None:
        while not ended.wait(0.2):
            seconds()

    ended = threading.Event()
    watch = threading.Thread(target=look, daemon=True)
    watch.start()
    try:
        yield seconds
    finally:
        ended.set()
        watch.join()


def time_warm_calls(
    rounds: int, calls: Mapping[str, Callable[[], Any]], warm_ups: int = 1
) -> dict[str, dict[str, list[float]]]:
    """Return the seconds of each call in this process: of the processor for the tree, and elapsed.

    warm_ups: first rounds that are not counted; they start workers and compile code.
    """
    seconds: dict[str, dict[str, list[float]]] = {
        name: {"processor": [], "elapsed": []} for name in calls
    }
    with start_tree_clock() as read_processor_seconds:
        for turn in range(rounds + warm_ups):
            for name, call in calls.items():
                processor, start = read_processor_seconds(), time.perf_counter()
                call()
                elapsed = time.perf_counter() - start
                if turn >= warm_ups:
                    seconds[name]["elapsed"].append(elapsed)
                    seconds[name]["processor"].append(read_processor_seconds() - processor)
    return seconds


def list_process_tree(root: int) -> list[int]:
    """Return the pids of a process and of all its descendants."""
    processes = (int(path.name) for path in Path("/proc").glob("[0-9]*"))
    parents = {process: fields[1] for process in processes if (fields := _read_stat(process))}
    process_ids = [root]
    for process in process_ids:
        process_ids += [child for child, parent in parents.items() if int(parent) == process]
    return process_ids


def _read_stat(process: int) -> list[str]:
    """Return the fields of /proc/PID/stat from the state on; no fields if the process has ended."""
    return _read_proc(f"{process}/stat").rpartition(")")[2].split()


def _read_proc(name: str) -> str:
    """Return the content of a file in /proc, or an empty string if there is no such file."""
    try:
        return Path("/proc", name).read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def read_processor_facts() -> dict[str, str]:
    """Return the facts about the last processor in /proc/cpuinfo; none if there is no such file."""
    lines = (line.partition(":") for line in _read_proc("cpuinfo").splitlines())
    return {key.strip(): value.strip() for key, _, value in lines}


def sample_memory(command: tuple[str, ...]) -> int:
    """Return the peak of Private_Clean + Private_Dirty of a command in bytes, by samples."""
    peak = 0
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        child = _start_process(command, {}, output, errors)
        while child.poll() is None:
            sizes = re.findall(r"Private_(?:Clean|Dirty): +(\d+)", _read_proc(f"{child.pid}/smaps"))
            peak = max(peak, 1024 * sum(map(int, sizes)))
            time.sleep(SAMPLE_SECONDS)
        _check_status(command, child.returncode, errors)
    return peak


def _start_process(
    command: tuple[object, ...], environment: Mapping[str, str], output: TextIO, errors: TextIO
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        tuple(map(str, command)),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=errors,
        env={**_ENVIRONMENT, **environment},
    )


def _check_status(command: tuple[object, ...], status: int, errors: TextIO) -> None:
    if status != 0:
        words = " ".join(map(str, command))
        message = f"command failed with status {status}: {words}\n{_read_text(errors)}"
        raise SystemExit(f"benchmarks: {message}")


def _read_text(file: TextIO) -> str:
    file.seek(0)
    return file.read()
