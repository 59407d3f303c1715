"""Measurements of time and memory, each in a new process.

Processor time is the child's user and system time as `wait4` reports it, so other work on the
machine hardly affects it. Elapsed time is also recorded. In each round, every contender of a row
runs once, so that a slowdown of the machine affects all of them. The results contain each
contender's median.
"""

from __future__ import annotations

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
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

JOBS = Path(__file__).with_name("benchmark_jobs.py")
SAMPLE_SECONDS = 0.002

Command = tuple[str, ...]
Key = TypeVar("Key", str, tuple[str, str, int, int, float])

# Without variables such as PYTHONDONTWRITEBYTECODE, because installed packages have byte code.
_PLAIN_ENVIRONMENT = {
    name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
}


@dataclass(frozen=True)
class Cost:
    """The cost of one run, in seconds, its output, and the peak of its resident memory in bytes."""

    processor: float
    elapsed: float
    output: str = ""
    peak: int = 0


@dataclass(frozen=True)
class Costs:
    """The costs of several runs of one contender."""

    runs: tuple[Cost, ...]

    @property
    def processor(self) -> float:
        return statistics.median(run.processor for run in self.runs)

    @property
    def elapsed(self) -> float:
        return statistics.median(run.elapsed for run in self.runs)

    @property
    def output(self) -> str:
        return self.runs[0].output

    @property
    def peak(self) -> int:
        return max(run.peak for run in self.runs)


@dataclass(frozen=True)
class Memory:
    """The largest sampled private memory of a process, in bytes."""

    private: int
    without_input: int
    samples: int


# ---- commands ----


def get_script(name: str, *arguments: object) -> Command:
    """Return a command line for a script that is installed with the running Python."""
    suffix = ".exe" if os.name == "nt" else ""
    return (str(Path(sysconfig.get_path("scripts"), name + suffix)), *map(str, arguments))


def get_python(*arguments: object) -> Command:
    return (sys.executable, *map(str, arguments))


def run_process(command: Command, **environment: str) -> Cost:
    """Run a command, wait for it, and return its cost."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        start = time.perf_counter()
        child = _start_process(command, environment, output, errors)
        _, status, usage = os.wait4(child.pid, 0)
        elapsed = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        _check_status(command, child.returncode, errors)
        processor = usage.ru_utime + usage.ru_stime
        # The unit is bytes on macOS, and KiB elsewhere.
        peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        return Cost(processor, elapsed, _read_text(output), peak)


def run_job(
    name: str, *arguments: object, python: str | Path = sys.executable, **environment: str
) -> Cost:
    """Run a function of benchmark_jobs.py in a new process; return the cost that it measured."""
    cost = run_process((str(python), str(JOBS), name, *map(str, arguments)), **environment)
    report = json.loads(cost.output)
    return Cost(report["processor"], report["elapsed"], json.dumps(report["result"]), cost.peak)


def run_at_once(count: int, run: Callable[[], Cost]) -> Cost:
    """Run at the same time; return the total processor time and the longest elapsed time."""
    with ThreadPoolExecutor(count) as pool:
        costs = list(pool.map(lambda _: run(), range(count)))
    elapsed = max(cost.elapsed for cost in costs)
    return Cost(sum(cost.processor for cost in costs), elapsed, costs[0].output)


def run_in_turn(runs: int, contenders: Mapping[Key, Callable[[], Cost]]) -> dict[Key, Costs]:
    """Run every contender once per round, and return the costs of all rounds."""
    rounds = [{name: run() for name, run in contenders.items()} for _ in range(runs)]
    return {name: Costs(tuple(costs[name] for costs in rounds)) for name in contenders}


# ---- engines ----


def find_python(package: str) -> Path | None:
    """Return a Python that has a package: the running Python, or that of another environment.

    `make engines` and `make integrations` create environments for Spark, Ray and torch, which are
    large, or need other releases of common dependencies.
    """
    names = {"pyspark": "-spark", "ray": "-ray", "torchmetrics": "-integrations"}
    for prefix in (sys.prefix, sys.prefix + names[package]):
        if list(Path(prefix).glob(f"lib/python*/site-packages/{package}")):
            return Path(prefix, "bin", "python")
    return None


def tree_seconds() -> float:
    """Return the processor time of this process and its descendants, including ended processes."""
    ticks = 0
    for process in list_process_tree(os.getpid()):
        # A process's figures for children include only ended children.
        ticks += sum(map(int, _read_stat(process)[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def start_tree_clock() -> Iterator[Callable[[], float]]:
    """Yield a function like `tree_seconds` that also covers unreaped processes.

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
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return []
    return text.rpartition(")")[2].split()


def read_clock_speed() -> float:
    """Return the processor's nominal cycles per second, or NaN if the system does not say."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except FileNotFoundError:
        return float("nan")
    found = re.search(r"^cpu MHz\s*: ([\d.]+)", text, re.MULTILINE)
    return 1e6 * float(found[1]) if found else float("nan")


# ---- memory ----


def sample_memory(command: Command, input_files: Sequence[Path]) -> Memory:
    """Return the peak of Private_Clean + Private_Dirty in /proc/PID/smaps, sampled every 2 ms.

    The peak includes the pages of memory-mapped input files, which Linux calls private while no
    other process maps them. They belong to the page cache, which can drop them without writing, so
    the peak without these pages is also returned.
    """
    inputs = {str(path.resolve()) for path in input_files}
    private = without_input = samples = 0
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        child = _start_process(command, {}, output, errors)
        while child.poll() is None:
            own_bytes, mapped = _measure_private_bytes(child.pid, inputs)
            private, without_input = max(private, own_bytes + mapped), max(without_input, own_bytes)
            samples += own_bytes > 0
            time.sleep(SAMPLE_SECONDS)
        _check_status(command, child.returncode, errors)
    return Memory(private, without_input, samples)


def _measure_private_bytes(pid: int, inputs: set[str]) -> tuple[int, int]:
    """Return the current private bytes, outside and inside the mappings of the input files."""
    try:
        lines = Path(f"/proc/{pid}/smaps").read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0, 0
    own_bytes = mapped = 0
    in_input = False
    for line in lines:
        if line.startswith(("Private_Clean:", "Private_Dirty:")):
            size = int(line.split()[1]) * 1024
            own_bytes, mapped = (
                (own_bytes, mapped + size) if in_input else (own_bytes + size, mapped)
            )
        elif re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            in_input = line.split(maxsplit=5)[5:] != [] and line.split(maxsplit=5)[5] in inputs
    return own_bytes, mapped


# ---- children ----


def _start_process(
    command: Command, environment: Mapping[str, str], output: TextIO, errors: TextIO
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=errors,
        env={**_PLAIN_ENVIRONMENT, **environment},
    )


def _check_status(command: Command, status: int, errors: TextIO) -> None:
    if status != 0:
        message = f"command failed with status {status}: {' '.join(command)}\n{_read_text(errors)}"
        raise SystemExit(f"benchmarks: {message}")


def _read_text(file: TextIO) -> str:
    file.seek(0)
    return file.read()


def to_plain_data(value: Any) -> Any:
    """Convert costs to plain data for results.json."""
    if isinstance(value, Costs):
        return {
            "processor_seconds": [round(run.processor, 6) for run in value.runs],
            "elapsed_seconds": [round(run.elapsed, 6) for run in value.runs],
        }
    if isinstance(value, Memory):
        return {
            "private_bytes": value.private,
            "without_input_bytes": value.without_input,
            "samples": value.samples,
        }
    if isinstance(value, Cost):
        return {
            "processor_seconds": round(value.processor, 6),
            "elapsed_seconds": round(value.elapsed, 6),
        }
    if isinstance(value, dict):
        return {name: to_plain_data(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain_data(part) for part in value]
    return value
