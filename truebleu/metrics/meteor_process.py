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
from truebleu.metrics.python_metric import lacking
from truebleu.text.argument_checks import parse_number

NAME = "METEOR"
# The number of numbers in the program's answer to a segment.
ANSWER = 23
# As many processes stay, each with another setting: one with paraphrases takes half a gigabyte.
MOST = 2
# So many segments are sent at once: their answers fit into any pipe, so neither side waits.
AT_ONCE = 64
# What is not a command, and the program's answer to that: between two corpora, nothing else comes.
END, ENDED = b"END\n", b"Error: specify SCORE or EVAL"
# Of memory as the program's documentation says; no files beside (performance data, crash logs);
# lower case as in English, in whatever language Java speaks.
JAVA_OPTIONS = (
    *("-Xmx2G", "-XX:+UseSerialGC", "-XX:-UsePerfData", f"-XX:ErrorFile={os.devnull}"),
    *("-Duser.language=en", "-Duser.country=US"),
)


def java() -> str:
    """The command that runs Java: that of $JAVA_HOME, or on the path."""
    from shutil import which

    home = os.environ.get("JAVA_HOME")
    found = (which(os.path.join(home, "bin", "java")) if home else None) or which("java")
    if found is None:
        raise lacking(
            NAME,
            "it needs Java (Debian: apt-get install default-jre-headless), on the path or "
            "as $JAVA_HOME",
        )
    return found


def jar() -> str:
    """The file of the program: $METEOR_JAR, or that of the package pycocoevalcap."""
    path = os.environ.get("METEOR_JAR")
    if path:
        if not os.path.isfile(path):
            raise MetricFailedError(f"{NAME}: $METEOR_JAR is {path!r}, and there is no such file")
        return path
    from importlib.util import find_spec

    package = find_spec("pycocoevalcap")
    for folder in package.submodule_search_locations or () if package else ():
        path = os.path.join(folder, "meteor", "meteor-1.5.jar")
        if os.path.isfile(path):
            return path
    raise lacking(NAME, "pip install 'truebleu[meteor]', or $METEOR_JAR names meteor-1.5.jar")


def check_paraphrases(path: str, language: str) -> None:
    """Raises MetricFailedError if the table of a language's paraphrases is not beside the jar."""
    table = os.path.join(os.path.dirname(path), "data", f"paraphrase-{language}.gz")
    if not os.path.isfile(table):
        raise MetricFailedError(
            f"{NAME}: no paraphrases of '{language}': put the table that METEOR 1.5 is "
            f"distributed with at {table}, or leave the module paraphrase out"
        )


def counted(
    options: Sequence[str], requests: Sequence[bytes], progress: Callable[[int], None] | None = None
) -> list[list[int]]:
    """The program's numbers of each request, a line without its end.

    The process stays for the next corpus. Raises MetricFailedError, which names the segment, for
    an answer that is none, and if the process ends.
    """
    words = (java(), *JAVA_OPTIONS, "-jar", jar(), "-", "-", "-stdio", *options)
    with _LOCK:
        process = _running(words)
        try:
            return list(process.answers(requests, progress))
        except BaseException:
            # Interrupted, or out of step: what it says next would be of no use.
            _RUNNING.pop(words, None)
            process.end()
            raise


class _Process:
    """One process, which answers line by line."""

    def __init__(self, words: Sequence[str]) -> None:
        from tempfile import TemporaryFile

        # Without a name, so that nothing of it can stay.
        self.said: IO[bytes] = TemporaryFile()  # noqa: SIM115
        try:
            # Apart from the terminal's signals: Ctrl-C is Python's, which ends the process.
            self.process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.said,
                start_new_session=True,
            )
        except OSError as error:
            self.said.close()
            raise MetricFailedError(
                f"{NAME}: cannot run {words[0]}: {error.strerror or error}"
            ) from None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.requests: IO[bytes] = self.process.stdin
        self.output: IO[bytes] = self.process.stdout

    def answers(
        self, requests: Sequence[bytes], progress: Callable[[int], None] | None
    ) -> Iterator[list[int]]:
        """The numbers of each request."""
        for start in range(0, len(requests), AT_ONCE):
            part = requests[start : start + AT_ONCE]
            self._send(b"".join(b"%s\n" % line for line in part))
            for segment in range(start + 1, start + 1 + len(part)):
                yield self._numbers(segment)
            if progress is not None:
                progress(start + len(part))
        self._send(END)
        line = self._line(len(requests))
        if not line.startswith(ENDED):
            raise MetricFailedError(
                f"{NAME}: the program said more than {ANSWER} numbers for each of "
                f"{len(requests)} segments: {_shown(line)}"
            )

    def _send(self, text: bytes) -> None:
        # One that has ended says why when its answer is read.
        with suppress(BrokenPipeError):
            self.requests.write(text)
            self.requests.flush()

    def _numbers(self, segment: int) -> list[int]:
        line = self._line(segment)
        try:
            # Java writes 15.0, and 1.0E7.
            words = line.decode("ascii", "replace").split()
            numbers = [int(number) for number in map(parse_number, words)]
        except ValueError:
            numbers = []
        if len(numbers) != ANSWER or min(numbers) < 0:
            raise MetricFailedError(
                f"{NAME}: segment {segment}: the program said {_shown(line)}, and {ANSWER} "
                "numbers were expected, as METEOR 1.5 gives them"
            )
        return numbers

    def _line(self, segment: int) -> bytes:
        line = self.output.readline()
        if line.endswith(b"\n"):
            return line.rstrip()
        status = self.process.wait()
        self.said.seek(0)
        lines = self.said.read().decode("utf-8", "replace").splitlines()
        raise MetricFailedError(
            f"{NAME}: segment {segment}: the Java program ended "
            f"({f'status {status}' if status >= 0 else f'signal {-status}'}){_reason(lines)}"
        )

    def end(self) -> None:
        """Ends the process, whatever it does."""
        self.process.kill()
        self.process.wait()
        for file in (self.requests, self.output, self.said):
            with suppress(OSError):  # what was not yet sent
                file.close()

    def forget(self) -> None:
        """In a copy of this Python: leaves the process, and its pipes, to the first."""
        null = os.open(os.devnull, os.O_RDWR)
        for file in (self.requests, self.output):
            os.dup2(null, file.fileno())
        os.close(null)
        self.process.returncode = 0


_LOCK = threading.Lock()
_RUNNING: dict[tuple[str, ...], _Process] = {}


def _running(words: tuple[str, ...]) -> _Process:
    """The process of these words, started if need be; the one that was used longest ago ends."""
    process = _RUNNING.pop(words, None)
    if process is not None and process.process.poll() is not None:
        process.end()
        process = None
    if process is None:
        while len(_RUNNING) >= MOST:
            _RUNNING.pop(next(iter(_RUNNING))).end()
        process = _Process(words)
    _RUNNING[words] = process
    return process


@atexit.register
def end_all() -> None:
    """Ends all processes. They end by themselves, too, when this Python is no longer there."""
    while _RUNNING:
        _RUNNING.popitem()[1].end()


def _forget_all() -> None:
    global _LOCK  # noqa: PLW0603
    _LOCK = threading.Lock()
    while _RUNNING:
        _RUNNING.popitem()[1].forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


def _reason(lines: Sequence[str]) -> str:
    """What Java said on standard error: its exception if there is one, else the last line."""
    for line in lines:
        if line.startswith("Exception in thread"):
            return f": {line.partition(' java.')[2].partition(': ')[2] or line:.200}"
    return f": {lines[-1].strip():.200}" if lines else ""


def _shown(line: bytes) -> str:
    return repr(line.decode("utf-8", "replace")[:60])
