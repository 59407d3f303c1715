"""The Java program of METEOR: where it is, and processes that count segments until Python ends."""

from __future__ import annotations

import atexit
import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import IO

from truebleu.metrics.base import MetricFailedError
from truebleu.metrics.python_metric import missing_package_error
from truebleu.text.argument_checks import parse_number

METRIC_NAME = "METEOR"
# The number of numbers in the program's answer to a segment.
ANSWER_LENGTH = 23
# As many processes stay, each with another setting: one with paraphrases takes half a gigabyte.
MAX_PROCESSES = 2
# So many segments are sent at once: their answers fit into any pipe, so neither side waits.
BATCH_SIZE = 64
# What is not a command, and the program's answer to that: between two corpora, nothing else comes.
END_REQUEST, END_RESPONSE = b"END\n", b"Error: specify SCORE or EVAL"
# Of memory as the program's documentation says; no files beside (performance data, crash logs);
# lower case as in English, in whatever language Java speaks.
JAVA_OPTIONS = (
    *("-Xmx2G", "-XX:+UseSerialGC", "-XX:-UsePerfData", f"-XX:ErrorFile={os.devnull}"),
    *("-Duser.language=en", "-Duser.country=US"),
)


def find_java() -> str:
    """The command that runs Java: that of $JAVA_HOME, or on the path."""
    from shutil import which

    home = os.environ.get("JAVA_HOME")
    path = (which(os.path.join(home, "bin", "java")) if home else None) or which("java")
    if path is None:
        raise missing_package_error(
            METRIC_NAME,
            "it needs Java (Debian: apt-get install default-jre-headless), on the path or "
            "as $JAVA_HOME",
        )
    return path


def find_jar() -> str:
    """The file of the program: $METEOR_JAR, or that of the package pycocoevalcap."""
    path = os.environ.get("METEOR_JAR")
    if path:
        if not os.path.isfile(path):
            raise MetricFailedError(
                f"{METRIC_NAME}: $METEOR_JAR is {path!r}, and there is no such file"
            )
        return path
    from importlib.util import find_spec

    package = find_spec("pycocoevalcap")
    for folder in package.submodule_search_locations or () if package else ():
        path = os.path.join(folder, "meteor", "meteor-1.5.jar")
        if os.path.isfile(path):
            return path
    raise missing_package_error(
        METRIC_NAME, "pip install 'truebleu[meteor]', or $METEOR_JAR names meteor-1.5.jar"
    )


def check_paraphrases(path: str, language: str) -> None:
    """Raises MetricFailedError if the table of a language's paraphrases is not beside the jar."""
    table = os.path.join(os.path.dirname(path), "data", f"paraphrase-{language}.gz")
    if not os.path.isfile(table):
        raise MetricFailedError(
            f"{METRIC_NAME}: no paraphrases of '{language}': put the table that METEOR 1.5 is "
            f"distributed with at {table}, or leave the module paraphrase out"
        )


def count_segments(
    options: Sequence[str], requests: Sequence[bytes], progress: Callable[[int], None] | None = None
) -> list[list[int]]:
    """The program's numbers of each request, a line without its end.

    The process stays for the next corpus. Raises MetricFailedError, which names the segment, for
    an answer that is none, and if the process ends.
    """
    command = (find_java(), *JAVA_OPTIONS, "-jar", find_jar(), "-", "-", "-stdio", *options)
    with _PROCESS_LOCK:
        process = _get_process(command)
        try:
            return list(process.request_answers(requests, progress))
        except BaseException:
            # Interrupted, or out of step: what it says next would be of no use.
            _PROCESSES.pop(command, None)
            process.end()
            raise


class _MeteorProcess:
    """One process, which answers line by line."""

    def __init__(self, command: Sequence[str]) -> None:
        from tempfile import TemporaryFile

        # Without a name, so that nothing of it can stay.
        self.errors: IO[bytes] = TemporaryFile()  # noqa: SIM115
        try:
            # Apart from the terminal's signals: Ctrl-C is Python's, which ends the process.
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.errors,
                start_new_session=True,
            )
        except OSError as error:
            self.errors.close()
            raise MetricFailedError(
                f"{METRIC_NAME}: cannot run {command[0]}: {error.strerror or error}"
            ) from None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.requests: IO[bytes] = self.process.stdin
        self.output: IO[bytes] = self.process.stdout

    def request_answers(
        self, requests: Sequence[bytes], progress: Callable[[int], None] | None
    ) -> Iterator[list[int]]:
        """The numbers of each request."""
        for start in range(0, len(requests), BATCH_SIZE):
            part = requests[start : start + BATCH_SIZE]
            self._send(b"".join(b"%s\n" % line for line in part))
            for segment in range(start + 1, start + 1 + len(part)):
                yield self._read_numbers(segment)
            if progress is not None:
                progress(start + len(part))
        self._send(END_REQUEST)
        line = self._read_line(len(requests))
        if not line.startswith(END_RESPONSE):
            raise MetricFailedError(
                f"{METRIC_NAME}: the program said more than {ANSWER_LENGTH} numbers for each of "
                f"{len(requests)} segments: {_quote_line(line)}"
            )

    def _send(self, text: bytes) -> None:
        # One that has ended says why when its answer is read.
        with suppress(BrokenPipeError):
            self.requests.write(text)
            self.requests.flush()

    def _read_numbers(self, segment: int) -> list[int]:
        line = self._read_line(segment)
        try:
            # Java writes 15.0, and 1.0E7.
            words = line.decode("ascii", "replace").split()
            numbers = [int(number) for number in map(parse_number, words)]
        except ValueError:
            numbers = []
        if len(numbers) != ANSWER_LENGTH or min(numbers) < 0:
            raise MetricFailedError(
                f"{METRIC_NAME}: segment {segment}: the program said {_quote_line(line)}, "
                f"and {ANSWER_LENGTH} numbers were expected, as METEOR 1.5 gives them"
            )
        return numbers

    def _read_line(self, segment: int) -> bytes:
        line = self.output.readline()
        if line.endswith(b"\n"):
            return line.rstrip()
        status = self.process.wait()
        self.errors.seek(0)
        lines = self.errors.read().decode("utf-8", "replace").splitlines()
        raise MetricFailedError(
            f"{METRIC_NAME}: segment {segment}: the Java program ended "
            f"({f'status {status}' if status >= 0 else f'signal {-status}'}){_extract_error(lines)}"
        )

    def end(self) -> None:
        """Ends the process, whatever it does."""
        self.process.kill()
        self.process.wait()
        for file in (self.requests, self.output, self.errors):
            with suppress(OSError):  # what was not yet sent
                file.close()

    def detach(self) -> None:
        """In a copy of this Python: leaves the process, and its pipes, to the first."""
        null = os.open(os.devnull, os.O_RDWR)
        for file in (self.requests, self.output):
            os.dup2(null, file.fileno())
        os.close(null)
        self.process.returncode = 0


_PROCESS_LOCK = threading.Lock()
_PROCESSES: dict[tuple[str, ...], _MeteorProcess] = {}


def _get_process(command: tuple[str, ...]) -> _MeteorProcess:
    """The process of these words, started if need be; the one that was used longest ago ends."""
    process = _PROCESSES.pop(command, None)
    if process is not None and process.process.poll() is not None:
        process.end()
        process = None
    if process is None:
        while len(_PROCESSES) >= MAX_PROCESSES:
            _PROCESSES.pop(next(iter(_PROCESSES))).end()
        process = _MeteorProcess(command)
    _PROCESSES[command] = process
    return process


@atexit.register
def end_all() -> None:
    """Ends all processes. They end by themselves, too, when this Python is no longer there."""
    while _PROCESSES:
        _PROCESSES.popitem()[1].end()


def _detach_all() -> None:
    global _PROCESS_LOCK  # noqa: PLW0603
    _PROCESS_LOCK = threading.Lock()
    while _PROCESSES:
        _PROCESSES.popitem()[1].detach()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_detach_all)


def _extract_error(lines: Sequence[str]) -> str:
    """What Java said on standard error: its exception if there is one, else the last line."""
    for line in lines:
        if line.startswith("Exception in thread"):
            return f": {line.partition(' java.')[2].partition(': ')[2] or line:.200}"
    return f": {lines[-1].strip():.200}" if lines else ""


def _quote_line(line: bytes) -> str:
    return repr(line.decode("utf-8", "replace")[:60])
