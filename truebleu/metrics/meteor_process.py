"""Processes of METEOR's Java program, which are reused until Python exits."""

from __future__ import annotations

import atexit
import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import IO

from truebleu.metrics import meteor_paraphrases
from truebleu.metrics.base import MetricFailedError
from truebleu.metrics.python_metric import describe_exit, make_missing_package_error, start_program
from truebleu.text.argument_checks import parse_number
from truebleu.text.operating_system import make_temporary_folder, write_atomically

METRIC_NAME = "METEOR"
# Number of integers in the program's answer for a segment.
ANSWER_LENGTH = 23
# Maximum number of processes, one per command line; with paraphrases, each uses 0.5 GB.
MAX_PROCESSES = 2
# Number of processes that load only the paraphrases of their texts, one after the other, before a
# process loads the whole table. Each takes at most a quarter of the time of the whole table.
# Therefore, scoring many texts never takes longer by more than one start with the whole table.
MAX_PARTIAL_STARTS = 4
# Number of segments per batch. The answers for one batch fit into any pipe buffer, so neither
# process blocks.
BATCH_SIZE = 64
# Invalid command that ends each corpus, and the program's answer, which confirms the end.
END_REQUEST, END_RESPONSE = b"END\n", b"Error: specify SCORE or EVAL"
# Options for Java: the documented memory limit, no extra files (performance data, crash logs), and
# English lower-casing in every locale.
JAVA_OPTIONS = (
    *("-Xmx2G", "-XX:+UseSerialGC", "-XX:-UsePerfData", f"-XX:ErrorFile={os.devnull}"),
    *("-Duser.language=en", "-Duser.country=US"),
)
# Java's option for quick compilation. It saves time for the first 40,000 segments of a process;
# after that, the program is slower than without the option.
QUICK_COMPILATION = "-XX:TieredStopAtLevel=1"


def find_java() -> str:
    """Return the path of Java, from $JAVA_HOME or the search path."""
    from shutil import which

    home = os.environ.get("JAVA_HOME")
    path = (which(os.path.join(home, "bin", "java")) if home else None) or which("java")
    if path is None:
        raise make_missing_package_error(
            METRIC_NAME,
            "it needs Java (Debian: apt-get install default-jre-headless), on the path or "
            "in $JAVA_HOME",
        )
    return path


def find_jar() -> str:
    """Return the path of the program, from $METEOR_JAR or the package pycocoevalcap."""
    path = os.environ.get("METEOR_JAR")
    if path:
        if not os.path.isfile(path):
            raise MetricFailedError(f"{METRIC_NAME}: $METEOR_JAR: file not found: {path!r}")
        return path
    from importlib.util import find_spec

    package = find_spec("pycocoevalcap")
    for folder in package.submodule_search_locations or () if package else ():
        path = os.path.join(folder, "meteor", "meteor-1.5.jar")
        if os.path.isfile(path):
            return path
    raise make_missing_package_error(
        METRIC_NAME,
        "pip install 'truebleu[meteor]', or set $METEOR_JAR to the path of meteor-1.5.jar",
    )


def find_paraphrase_table(path: str, language: str) -> str:
    """Return the path of a language's paraphrase table, or raise MetricFailedError.

    path: the path of the jar. The program looks for tables next to the target of a symbolic link.
    """
    folder = os.path.dirname(os.path.realpath(path))
    table = os.path.join(folder, "data", f"paraphrase-{language}.gz")
    if not os.path.isfile(table):
        raise MetricFailedError(
            f"{METRIC_NAME}: no paraphrases for '{language}'. Copy the table from the METEOR 1.5 "
            f"distribution to {table}, or leave out the module paraphrase: --meteor-modules exact "
            "stem (modules=['exact', 'stem'] in Python)."
        )
    return table


def request_segment_counts(
    options: Sequence[str],
    requests: Sequence[bytes],
    table: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[list[int]]:
    """Return the program's integers for each request, which is a line without its line ending.

    table: the path of a paraphrase table, of which the program may load a part. The process keeps
    running for the next corpus. Raises MetricFailedError, which names the segment, for invalid
    answers and if the process ends.
    """
    command = (find_java(), *JAVA_OPTIONS, "-jar", find_jar(), "-", "-", "-stdio", *options)
    with _PROCESS_LOCK:
        process = _PROCESSES.pop(command, None)
        if process is None or not process.can_answer(requests):
            if process is not None:
                process.kill()
            while len(_PROCESSES) >= MAX_PROCESSES:  # the first process was used longest ago
                _PROCESSES.pop(next(iter(_PROCESSES))).kill()
            process = _start_meteor(command, requests, table, process)
        _PROCESSES[command] = process
        try:
            return list(process.request_answers(requests, progress))
        except BaseException:
            # After an interrupt or invalid answer, later answers could not be matched to segments.
            _PROCESSES.pop(command, None)
            process.kill()
            raise


def _start_meteor(
    command: Sequence[str],
    requests: Sequence[bytes],
    table: str | None,
    previous: _MeteorProcess | None,
) -> _MeteorProcess:
    """Start the program with the paraphrases that can match in all requests up to now.

    previous: the last process with the same command, which has ended.
    """
    known_requests, number = (
        (previous.known_requests, previous.number + 1) if previous else (set(), 1)
    )
    paraphrases = None
    if table is not None and known_requests is not None and number <= MAX_PARTIAL_STARTS:
        known_requests = known_requests.union(requests)
        paraphrases = meteor_paraphrases.select_paraphrases(table, known_requests)
    if paraphrases is None:
        return _MeteorProcess(command, None, number)
    with make_temporary_folder() as folder:
        path = os.path.join(folder, "paraphrases.gz")
        write_atomically(path, paraphrases)
        command = (command[0], QUICK_COMPILATION, *command[1:], "-a", path)
        process = _MeteorProcess(command, known_requests, number)
        try:
            # The program answers after it has loaded the file, which can then be deleted.
            list(process.request_answers((), None))
        except BaseException:
            process.kill()
            raise
        return process


class _MeteorProcess:
    """Process of the METEOR program, which answers line by line.

    known_requests: the requests for which it has all paraphrases, or None for any request.
    number: how many processes were started with the same options, including this one.
    """

    def __init__(
        self, command: Sequence[str], known_requests: set[bytes] | None, number: int
    ) -> None:
        from tempfile import TemporaryFile

        self.known_requests, self.number = known_requests, number
        # The operating system deletes this unnamed file even if Python crashes.
        self.errors: IO[bytes] = TemporaryFile()  # noqa: SIM115
        try:
            self.process = start_program(
                METRIC_NAME,
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.errors,
            )
        except MetricFailedError:
            self.errors.close()
            raise
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.requests: IO[bytes] = self.process.stdin
        self.output: IO[bytes] = self.process.stdout

    def can_answer(self, requests: Sequence[bytes]) -> bool:
        """Return whether the process is running and has all paraphrases for the requests."""
        is_known = self.known_requests is None or self.known_requests.issuperset(requests)
        return is_known and self.process.poll() is None

    def request_answers(
        self, requests: Sequence[bytes], progress: Callable[[int], None] | None
    ) -> Iterator[list[int]]:
        """Send requests in batches and yield the integers for each request."""
        for start in range(0, len(requests), BATCH_SIZE):
            part = requests[start : start + BATCH_SIZE]
            self._send_requests(b"".join(b"%s\n" % line for line in part))
            for segment in range(start + 1, start + 1 + len(part)):
                yield self._read_numbers(segment)
            if progress is not None:
                progress(start + len(part))
        self._send_requests(END_REQUEST)
        line = self._read_line(len(requests) or 1)
        if not line.startswith(END_RESPONSE):
            raise MetricFailedError(
                f"{METRIC_NAME}: the program printed more than {ANSWER_LENGTH} numbers for each of "
                f"{len(requests)} segments: {_quote_line(line)}"
            )

    def _send_requests(self, text: bytes) -> None:
        # If the process has ended, reading its answer gives the reason.
        with suppress(BrokenPipeError):
            self.requests.write(text)
            self.requests.flush()

    def _read_numbers(self, segment: int) -> list[int]:
        line = self._read_line(segment)
        try:
            # Java prints integers as 15.0 or 1.0E7.
            words = line.decode("ascii", "replace").split()
            numbers = [int(number) for number in map(parse_number, words)]
        except ValueError:
            numbers = []
        if len(numbers) != ANSWER_LENGTH or min(numbers) < 0:
            raise MetricFailedError(
                f"{METRIC_NAME}: segment {segment}: expected {ANSWER_LENGTH} numbers from "
                f"METEOR 1.5, but the program printed {_quote_line(line)}"
            )
        return numbers

    def _read_line(self, segment: int) -> bytes:
        line = self.output.readline()
        if line.endswith(b"\n"):
            return line.rstrip()
        status = self.process.wait()
        self.errors.seek(0)
        lines = self.errors.read().decode("utf-8", "replace").splitlines()
        reason = f": {lines[-1].strip():.200}" if lines else ""
        for error in (one for one in lines if one.startswith("Exception in thread")):
            reason = f": {error.partition(' java.')[2].partition(': ')[2] or error:.200}"
            break
        raise MetricFailedError(
            f"{METRIC_NAME}: segment {segment}: the Java program ended ({describe_exit(status)})"
            f"{reason}"
        )

    def kill(self) -> None:
        """Kill the process and close its files."""
        self.process.kill()
        self.process.wait()
        for file in (self.requests, self.output, self.errors):
            with suppress(OSError):  # closing a pipe flushes unsent data
                file.close()


_PROCESS_LOCK = threading.Lock()
_PROCESSES: dict[tuple[str, ...], _MeteorProcess] = {}


@atexit.register
def end_all_processes() -> None:
    """End all processes. Without this call, they end when this Python process exits."""
    while _PROCESSES:
        _PROCESSES.popitem()[1].kill()


def _detach_all_processes() -> None:
    """Detach a forked copy of Python from the processes and pipes of its parent."""
    global _PROCESS_LOCK  # noqa: PLW0603
    _PROCESS_LOCK = threading.Lock()
    while _PROCESSES:
        process = _PROCESSES.popitem()[1]
        null = os.open(os.devnull, os.O_RDWR)
        for file in (process.requests, process.output):
            os.dup2(null, file.fileno())
        os.close(null)
        process.process.returncode = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_detach_all_processes)


def _quote_line(line: bytes) -> str:
    return repr(line.decode("utf-8", "replace")[:60])
