"""Metric that runs a user's program, which reads text files and prints one number per line."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY
from typing import Any, Self

from truebleu.metrics import parameters as p
from truebleu.metrics import python_metric, registry
from truebleu.metrics.base import Corpus, MetricFailedError
from truebleu.metrics.python_metric import SegmentMeanMetric, SegmentTexts
from truebleu.text.argument_checks import parse_number
from truebleu.text.terminal_layout import format_count

# Placeholders for files in the arguments of a program; {refs} is one file per reference.
PLACEHOLDER_PATTERN = re.compile(r"\{(src|refs?|hyp)\}")
# Timeout per system, after which a program is assumed to hang.
DEFAULT_TIMEOUT_SECONDS = 3600.0
LINE_ENDS = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
# Maximum number of characters of a program's output in a message.
MAX_QUOTED_CHARACTERS = 60


class Command(SegmentMeanMetric):
    r"""Metric that runs a user's program, which may need its own environment.

    The program runs once per system, without a shell. File names replace {hyp}, {ref} or {refs},
    and {src}. Files have one segment per line, with spaces instead of line breaks inside segments;
    {refs} is replaced by one file per reference. The program prints one number per line for each
    segment and exits with status 0. If it fails, its last line on standard error is shown.

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
    IS_CACHED = True
    expects_tokens = True  # the program may expect tokenized text
    CONSTANTS = {**SegmentMeanMetric.CONSTANTS, "measure": ("command", "m")}  # noqa: RUF012
    FIELDS = ("measure", "called", "program", "lower", "agg")
    score_name: p.Parameter[str] = p.Text("metric", "the name of the scores", key="called")
    program: p.Parameter[str] = p.Text(
        "", "the program and its arguments, with {hyp}, {ref} and {src}"
    )
    _: KW_ONLY
    lower_is_better: p.Parameter[bool] = p.Flag(
        "lower scores are better, as for error rates", key="lower", short="lo", optional=True
    )
    timeout: p.Parameter[float] = p.Number(
        DEFAULT_TIMEOUT_SECONDS,
        "the number of seconds after which the program is stopped",
        maximum=1e9,
        is_hidden=True,
    )

    def _prepare(self) -> None:
        if not self.score_name.isprintable() or set(self.score_name) & set("|:="):
            raise ValueError(
                f"score_name={self.score_name!r:.40}: expected one line without |, : or ="
            )
        try:
            words = shlex.split(self.program)
        except ValueError as error:
            raise ValueError(
                f"program of command {self.score_name}: {error}: {self.program:.60}"
            ) from None
        if not any("{hyp}" in word for word in words):
            raise ValueError(
                f"command {self.score_name}: the program needs the placeholder {{hyp}} for the "
                f"hypothesis file: {self.program!r:.60}. Add {{ref}} and {{src}} if it reads them."
            )

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the metric for NAME=PROGRAM. `lower_is_better` is set for names of error rates."""
        name, mark, program = text.partition("=")
        if not (mark and name.strip() and program.strip()):
            raise ValueError(
                "command needs a name and a program that prints one number per segment "
                f"(expected command:NAME='PROGRAM {{hyp}} {{ref}}', found 'command:{text:.40}')"
            )
        return cls(name, program, lower_is_better=registry.lower_is_better(name.strip()))

    @classmethod
    def from_fields(cls, fields: Mapping[str, str]) -> Self:
        """Return the metric for the fields of a signature."""
        if not {"called", "program"} <= fields.keys():
            raise ValueError("a signature of a command needs the fields called:… and program:…")
        return super().from_fields(fields)

    @classmethod
    def fields_from_name(cls, name: str) -> dict[str, str] | None:  # noqa: ARG003
        """Return None, because users choose the names of commands."""
        return None

    @property
    def _equality_key(self) -> tuple[Any, ...]:
        # The timeout does not change scores.
        return self.score_name, self.program, self.lower_is_better

    @property
    def name(self) -> str:
        """The name of the scores, chosen by the user."""
        return self.score_name

    @property
    def REFERENCES(self) -> str:  # type: ignore[override]  # noqa: N802
        """The number of references that the program reads: "several" or "none"."""
        return "several" if "{ref" in self.program else "none"

    @property
    def NEEDS_SOURCE(self) -> bool:  # type: ignore[override]  # noqa: N802
        """True if the program reads the sources."""
        return "{src}" in self.program

    def _describe_environment(self) -> str:
        """Return the names and checksums of the files among the program's arguments."""
        from shutil import which

        words = shlex.split(self.program)
        file_hashes = [
            path for word in (which(words[0]), *words[1:]) if word and (path := _hash_file(word))
        ]
        return " ".join(file_hashes)

    def _compute_numbers(self, corpus: Corpus, texts: SegmentTexts) -> list[float]:
        from truebleu.text import corpus_inputs
        from truebleu.text.operating_system import make_temporary_folder

        sources = []
        if self.NEEDS_SOURCE:
            sources = corpus_inputs.read_sources(corpus.sources, len(texts))
        max_references = max(len(others) for _, others in texts)
        if "{ref}" in self.program and max_references > 1:
            number = 1 + next(i for i, (_, others) in enumerate(texts) if len(others) > 1)
            raise MetricFailedError(
                f"{self.name}: segment {number} has several references. Use {{refs}} to pass one "
                "file per reference to the program."
            )
        with make_temporary_folder() as folder:
            columns = {"hyp": [[text for text, _ in texts]], "src": [sources]}
            columns["refs"] = columns["ref"] = [
                [others[i] if i < len(others) else "" for _, others in texts]
                for i in range(max_references)
            ]
            paths: dict[str, list[str]] = {}
            for placeholder in set(PLACEHOLDER_PATTERN.findall(self.program)):
                paths[placeholder] = [
                    _write_lines(folder, f"{placeholder}.{i}" if i else placeholder, lines)
                    for i, lines in enumerate(columns[placeholder])
                ]
            # The program's arguments, with file names in place of placeholders.
            words: list[str] = []
            for word in shlex.split(self.program):
                filled = PLACEHOLDER_PATTERN.sub(lambda found: " ".join(paths[found[1]]), word)
                words += paths["refs"] if word == "{refs}" else [filled]
            printed = _run_program(self.name, words, folder, self.timeout)
        return _parse_numbers(self.name, printed, len(texts))


def _write_lines(folder: str, name: str, lines: Sequence[str]) -> str:
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{LINE_ENDS.sub(' ', line)}\n" for line in lines)
    return path


def _hash_file(path: str) -> str:
    """Return the name and checksum of a file, or an empty string if it does not exist."""
    try:
        with open(path, "rb") as file:
            return f"{path}:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    except OSError:
        return ""


def _run_program(name: str, command_words: Sequence[str], folder: str, timeout: float) -> str:
    """Run a program, end all its child processes and return its output."""
    import subprocess

    with (
        open(os.path.join(folder, "printed"), "w+b") as printed,
        open(os.path.join(folder, "said"), "w+b") as errors,
    ):
        process = python_metric.start_program(
            name, command_words, stdin=subprocess.DEVNULL, stdout=printed, stderr=errors
        )
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise MetricFailedError(
                f"{name}: {command_words[0]} exceeded the timeout of {timeout:g} seconds. "
                "Increase it with --command-timeout (timeout= in Python)."
            ) from None
        finally:
            _kill_process_group(process)
        if status:
            errors.seek(0)
            lines = errors.read().decode("utf-8", "replace").strip().splitlines()
            message = f": {lines[-1].strip():.200}" if lines else ""
            ending = f"{python_metric.describe_exit(status)}{message}"
            raise MetricFailedError(f"{name}: {command_words[0]} ended with {ending}")
        printed.seek(0)
        return printed.read().decode("utf-8", "replace")


def _kill_process_group(process: Any) -> None:
    import signal

    with suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def _parse_numbers(name: str, output: str, segment_count: int) -> list[float]:
    """Return the numbers that a program printed, one per segment."""
    lines = output.splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    numbers: list[float] = []
    for i, line in enumerate(lines[:segment_count], 1):
        try:
            numbers.append(parse_number(line))
        except ValueError:
            raise MetricFailedError(
                f"{name}: segment {i}: expected a number, but the program printed "
                f"{line.strip()[:MAX_QUOTED_CHARACTERS]!r}"
            ) from None
    if len(lines) > segment_count:
        raise MetricFailedError(
            f"{name}: the program printed {format_count(len(lines), 'line')} for "
            f"{format_count(segment_count, 'segment')}; the first extra line is "
            f"{lines[segment_count].strip()[:MAX_QUOTED_CHARACTERS]!r}"
        )
    return numbers
