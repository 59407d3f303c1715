"""A program of somebody's own as a metric: it reads files of text, and prints a number a line."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY
from typing import Any, Self

from truebleu.metrics import parameters as p
from truebleu.metrics import registry
from truebleu.metrics.base import Corpus, MetricFailedError
from truebleu.metrics.python_metric import ColumnMetric, Texts
from truebleu.text.argument_checks import parse_number

# What stands for files in a program's words.
PLACES = {"src": "the sources", "ref": "the references", "refs": "them, of several a file each"}
PLACE = re.compile(r"\{(src|refs?|hyp)\}")
# Seconds; a program that takes longer for a system is taken to hang.
PATIENCE = 3600.0
LINE_ENDS = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
# Characters of what a program printed in a message.
SHOWN = 60


class Command(ColumnMetric):
    r"""A program of your own, in whatever environment it needs, as a metric.

    It is called once for each system, without a shell, with the names of files in place of {hyp},
    {ref} or {refs}, and {src}: a segment a line, white space in place of line ends inside. With
    {refs} there is a file for each reference. It prints a number for each segment, a line each,
    and ends with status 0; what it says on standard error is shown if it fails.

    >>> import sys
    >>> program = sys.executable + " -c 'for line in open(\"{hyp}\"): print(len(line.split()))'"
    >>> print(Command("words", program).score(["a b c", "d"], ["x", "y"]))
    words = 2.0000
    """

    __slots__ = ()

    NAME = "command"
    PREFIX = "command-"
    SCALE = 1.0
    BOUND = None
    WORST = None
    DIGITS = 4
    KEPT = True
    CONSTANTS = {**ColumnMetric.CONSTANTS, "measure": ("command", "m")}  # noqa: RUF012
    FIELDS = ("measure", "called", "program", "lower", "agg")
    called: p.Parameter[str] = p.Text("metric", "the name of the scores")
    program: p.Parameter[str] = p.Text("", "the program and its words, with {hyp}, {ref} and {src}")
    _: KW_ONLY
    lower_is_better: p.Parameter[bool] = p.Flag(
        "lower scores are better, as of error rates", key="lower", short="lo", optional=True
    )
    timeout: p.Parameter[float] = p.Number(
        PATIENCE, "the seconds after which the program is taken to hang", most=1e9, silent=True
    )

    def _prepare(self) -> None:
        """Check the parameters together."""
        if not self.called.isprintable() or set(self.called) & set("|:="):
            raise ValueError(
                f"called={self.called!r:.40}: expected a name in one line without | : ="
            )
        try:
            words = shlex.split(self.program)
        except ValueError as error:
            raise ValueError(
                f"program of command {self.called}: {error}: {self.program:.60}"
            ) from None
        if not any("{hyp}" in word for word in words):
            raise ValueError(
                f"command {self.called}: the program needs {{hyp}} where the file of hypotheses "
                f"belongs, and {{ref}} and {{src}} if it reads them, not {self.program!r:.60}"
            )

    @classmethod
    def named(cls, text: str) -> Self:
        """The metric of NAME=PROGRAM; known error rates are so by their name."""
        name, mark, program = text.partition("=")
        if not (mark and name.strip() and program.strip()):
            raise ValueError(
                f"command:{text:.40}: expected command:NAME='PROGRAM {{hyp}} {{ref}}', a program "
                "that prints a number for each segment"
            )
        return cls(name, program, lower_is_better=registry.lower_is_better(name.strip()))

    @classmethod
    def from_fields(cls, fields: Mapping[str, str]) -> Self:
        """The metric that a signature names."""
        if not {"called", "program"} <= fields.keys():
            raise ValueError("the signature of a command has called:… and program:…")
        return super().from_fields(fields)

    @classmethod
    def implied(cls, name: str) -> dict[str, str] | None:  # noqa: ARG003
        """None: its names are those that users give."""
        return None

    @property
    def _key(self) -> tuple[Any, ...]:
        return (self.called, self.program, self.lower_is_better)  # the time changes no number

    @property
    def name(self) -> str:
        """The name that it was given."""
        return self.called

    @property
    def NEEDS_SOURCE(self) -> bool:  # type: ignore[override]  # noqa: N802
        """True if the program reads the sources."""
        return "{src}" in self.program

    def _identity(self) -> str:
        """The files that the program's words name, as they are now."""
        from shutil import which

        words = shlex.split(self.program)
        found = [path for word in (which(words[0]), *words[1:]) if word and (path := _state(word))]
        return " ".join(found)

    def _numbers(self, corpus: Corpus, texts: Texts) -> list[float]:
        from truebleu.text import corpus_inputs
        from truebleu.text.operating_system import temporary_folder

        sources = None
        if self.NEEDS_SOURCE:
            sources = [
                text for text, _ in corpus_inputs.read_segments(corpus.sources, [""] * len(texts))
            ]
        most = max(len(others) for _, others in texts)
        if "{ref}" in self.program and most > 1:
            number = 1 + next(i for i, (_, others) in enumerate(texts) if len(others) > 1)
            raise MetricFailedError(
                f"{self.name}: segment {number} has several references; the program takes them "
                "with {refs}, a file each"
            )
        with temporary_folder() as folder:
            columns = {"hyp": [[text for text, _ in texts]], "src": [sources or []]}
            columns["refs"] = columns["ref"] = [
                [others[i] if i < len(others) else "" for _, others in texts] for i in range(most)
            ]
            words = list(self._words(folder, columns))
            printed = _run(self.name, words, folder, self.timeout)
        return _read(self.name, printed, len(texts))

    def _words(self, folder: str, columns: Mapping[str, Sequence[list[str]]]) -> Iterator[str]:
        """The program's words, with files in their places."""
        written: dict[str, list[str]] = {}
        for place in set(PLACE.findall(self.program)):
            written[place] = [
                _write(folder, f"{place}.{i}" if i else place, lines)
                for i, lines in enumerate(columns[place])
            ]
        for word in shlex.split(self.program):
            if word == "{refs}":
                yield from written["refs"]
            else:
                yield PLACE.sub(lambda found: " ".join(written[found[1]]), word)


def _write(folder: str, name: str, lines: Sequence[str]) -> str:
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{LINE_ENDS.sub(' ', line)}\n" for line in lines)
    return path


def _state(path: str) -> str:
    """A file's name and content, in short; nothing if there is no such file."""
    try:
        with open(path, "rb") as file:
            return f"{path}:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    except OSError:
        return ""


def _run(name: str, words: Sequence[str], folder: str, timeout: float) -> str:
    """What a program printed. It and whatever it started has ended when this returns."""
    import subprocess

    with (
        open(os.path.join(folder, "printed"), "w+b") as printed,
        open(os.path.join(folder, "said"), "w+b") as said,
    ):
        try:
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=said,
                start_new_session=True,
            )
        except OSError as error:
            reason = error.strerror or error
            raise MetricFailedError(f"{name}: cannot run {words[0]}: {reason}") from None
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise MetricFailedError(
                f"{name}: {words[0]} has not ended after {timeout:g} seconds; "
                "--command-timeout (timeout= in Python) gives it more"
            ) from None
        finally:
            _end(process)
        if status:
            said.seek(0)
            lines = said.read().decode("utf-8", "replace").strip().splitlines()
            told = f": {lines[-1].strip():.200}" if lines else ""
            how = f"status {status}" if status > 0 else f"signal {-status}"
            raise MetricFailedError(f"{name}: {words[0]} ended with {how}{told}")
        printed.seek(0)
        return printed.read().decode("utf-8", "replace")


def _end(process: Any) -> None:
    """Ends a program and what it started, if it still runs."""
    import signal

    try:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()


def _read(name: str, printed: str, segments: int) -> list[float]:
    """The numbers that a program printed, one for each segment."""
    lines = printed.splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    numbers: list[float] = []
    for i, line in enumerate(lines[:segments], 1):
        try:
            numbers.append(parse_number(line))
        except ValueError:
            raise MetricFailedError(
                f"{name}: segment {i}: the program printed {line.strip()[:SHOWN]!r}, "
                "and a number was expected"
            ) from None
    if len(lines) > segments:
        raise MetricFailedError(
            f"{name}: the program printed {len(lines)} lines for {segments} segments; the first "
            f"beyond is {lines[segments].strip()[:SHOWN]!r}"
        )
    return numbers
