"""Where results go, a file that is whole or not there, or standard output; and in which form."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Self, TextIO

from truebleu.metrics.base import Signature
from truebleu.text import json_writer
from truebleu.text.operating_system import open_atomically

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from truebleu.rendering.elements import Block
    from truebleu.rendering.view import View

STANDARD = "standard output"
# What means it in the place of a file.
STANDARD_NAMES = ("-", "/dev/stdout")
# What the end of a file's name says of its format.
SUFFIXES = {
    ".txt": "text",
    ".tex": "latex",
    ".md": "markdown",
    **{f".{name}": name for name in ("json", "jsonl", "tsv", "csv", "html", "parquet", "npy")},
}
# Changes when a reader of the old form of JSON could no longer read the new one.
VERSION = 1
# Formats in which a view has every number and signature in full.
EXACT = ("json", "csv", "tsv")

# The exit statuses of every command, and what each says. Those above 128 a shell reports
# of any program which a signal ends.
STATUSES = {
    0: "success",
    1: "invalid data, or a file that cannot be read or written",
    2: "invalid command line",
    3: "truebleu check: a score is below the minimum, or dropped too far",
    4: "a download is needed, and downloads are forbidden",
    129: "ended by SIGHUP, for example because the terminal closed",
    130: "interrupted by Ctrl-C",
    141: "the reader of the output closed it, for example head",
    143: "ended by SIGTERM",
}
DONE, FAILED, MISUSED, FELL, _, _, INTERRUPTED, PIPE_CLOSED, _ = STATUSES


class UsageError(Exception):
    """The command line is wrong."""


class UnavailableError(Exception):
    """The work needs something that is not installed or not there."""


class FellError(Exception):
    """A score is too low, or fell too far."""

    exit_status = FELL


def raise_if_failed(said: Iterable[object]) -> None:
    """Raises MetricFailedError with what metrics said that are left out, if there are any."""
    told = "; ".join(map(str, said))
    if told:
        from truebleu.metrics.base import MetricFailedError

        raise MetricFailedError(told)


class Output:
    """A file, or standard output, to use with `with`. Errors name it.

    Everything but a terminal gets UTF-8 with newlines, on every system.
    """

    def __init__(self, path: str | None = None) -> None:
        if path in STANDARD_NAMES:
            path = None
        self._whole = None if path is None else open_atomically(path)
        self._name = path or STANDARD
        self._binary: BinaryIO | _Standard | None = None
        # Text goes to a terminal as it is, and to whatever a caller put in the place of
        # sys.stdout. The bytes of a file or pipe have a buffer here: sys.stdout would try to write
        # them once more when Python ends, and loses some of them without one (python -u).
        self._terminal: TextIO | None = None
        if path is None:
            if sys.stdout is None:
                raise UnavailableError(f"{STANDARD} is closed")
            if is_terminal():
                self._terminal = sys.stdout

    def __enter__(self) -> Self:
        if self._whole is not None:
            self._binary = self._whole.__enter__()
        elif self._terminal is None:
            try:
                self._binary = _Standard(sys.stdout.fileno())
            except io.UnsupportedOperation:
                self._terminal = sys.stdout
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if self._whole is not None:
                self._whole.__exit__(kind, error, trace)
            elif kind is None or issubclass(kind, Exception):
                # A signal may have come because nobody reads.
                stream = self._binary or self._terminal
                assert stream is not None
                stream.flush()
        except OSError as problem:
            if kind is None:
                problem.filename = self._name
                raise

    @property
    def is_terminal(self) -> bool:
        """True if text goes to a terminal, which takes no bytes."""
        return self._terminal is not None

    def write(self, text: str) -> None:
        """Writes text. A byte of a file's name that is no character is written as in JSON."""
        if self._binary is not None:
            self.write_bytes(text.encode("utf-8", "backslashreplace"))
            return
        assert self._terminal is not None
        encoding = getattr(self._terminal, "encoding", None) or "utf-8"
        self._terminal.write(text.encode(encoding, "backslashreplace").decode(encoding))

    def write_bytes(self, data: Buffer) -> None:
        """Writes bytes, which a terminal does not get."""
        assert self._binary is not None
        try:
            self._binary.write(data)
        except OSError as error:
            error.filename = self._name
            raise


class _Standard(io.RawIOBase):
    """Standard output with a buffer that forgets what could not be written.

    Python's own buffer tries once more when it is thrown away, and complains in its own way.
    """

    SIZE = 1 << 16

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pending = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer, /) -> int:
        """Takes all of the bytes."""
        size = len(self._pending)
        self._pending += data
        taken = len(self._pending) - size
        if len(self._pending) >= self.SIZE:
            self.flush()
        return taken

    def flush(self) -> None:
        """Writes what is pending, or raises OSError and forgets it."""
        pending, self._pending = self._pending, bytearray()
        with memoryview(pending) as view:
            written = 0
            while written < len(view):
                written += os.write(self._descriptor, view[written:])


class Results(Output):
    """Where results go, and how they are written.

    form: the format.
    width: digits after the point; None for what suits the format.
    score_only: nothing but scores.
    short: with short signatures.
    color: auto, always or never.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(options.output)
        self.form = _form(options)
        self.width: int | None = getattr(options, "width", None)
        self.score_only: bool = getattr(options, "score_only", False)
        self.short: bool = getattr(options, "short", False)
        self._quiet: bool = getattr(options, "quiet", False)
        self.color: str = getattr(options, "color", "never")

    @property
    def digits(self) -> int:
        """Digits after the point for a person."""
        return 1 if self.width is None else self.width

    def rounded(self, value: float, usual: int = 1) -> str:
        """A number for a person, with so many digits unless another number was asked for."""
        return f"{value:.{usual if self.width is None else self.width}f}"

    def exact(self, value: float) -> str:
        """A number for a program: all of its digits unless told otherwise."""
        return repr(value) if self.width is None else self.rounded(value)

    def signature(self, signature: Signature) -> str:
        """A signature, short if that was asked for."""
        return signature.short() if self.short else str(signature)

    def check_exact(self) -> None:
        """Refuses options for people in a format for programs."""
        if self.form in EXACT:
            for name, given in (
                ("-w/--width", self.width is not None),
                ("-sh/--short", self.short),
            ):
                if given:
                    raise UsageError(f"{name}: {self.form} has every number and signature in full")

    def warn(self, warnings: Iterable[Mapping[str, Any]], *, shown: bool = True) -> None:
        """Write the warnings about the text to standard error, before the results.

        shown: whether text has them, too; then a reader of it needs no second copy.
        """
        if self._quiet or (shown and self.form == "text" and self._whole is None):
            return
        for one in warnings:
            complain("warning", one["text"])

    def write_object(self, kind: str, content: dict[str, Any]) -> None:
        """Writes what a command gives as JSON, which says its kind and version."""
        told = {f"truebleu_{kind}": VERSION, **content}
        self.write(f"{json_writer.format_json(told, indent=1, default=str)}\n")

    def show(self, view: View) -> None:
        """Writes a view."""
        if self.form == "json":
            self.write(f"{view.to_json()}\n")
        elif self.form in EXACT:
            self.write(getattr(view, self.form)())
        else:
            told: dict[str, Any] = {"digits": self.width, "short": self.short}
            if self.form != "text":
                self.write(getattr(view, self.form)(**told))
            elif not self._draw(lambda: view.rich(**told)):
                self.write(view.text(self._columns(view.WIDTH), **told))

    def show_blocks(self, made: Iterable[Block], *, title: str = "") -> None:
        """Writes blocks."""
        from truebleu.rendering.view import render_blocks

        blocks = list(made)

        def drawn() -> object:
            from truebleu.rendering.terminal import RichBlocks

            return RichBlocks(lambda: blocks)

        if self.form != "text" or not self._draw(drawn):
            self.write(render_blocks(blocks, self.form, width=self._columns(100), title=title))

    def _draw(self, made: Callable[[], object]) -> bool:
        """Draws in colour; False where that was not asked for, or the library rich is missing."""
        if self.color == "never" or (self.color == "auto" and not self.is_terminal):
            return False
        try:
            from rich.console import Console
        except ImportError:
            if self.color == "always":
                raise UnavailableError("--color needs the library rich: pip install rich") from None
            return False
        file = io.StringIO()
        colors: Any = "auto" if self.is_terminal else "standard"
        if os.environ.get("NO_COLOR") and self.color == "auto":
            colors = None
        console = Console(
            file=file,
            highlight=False,
            force_terminal=True,
            width=self._columns(100),
            color_system=colors,
            legacy_windows=False,
        )
        # The terminal breaks what is longer than its lines, so that it is copied whole.
        console.print(made(), soft_wrap=True)
        self.write(file.getvalue())
        return True

    def _columns(self, usual: int) -> int:
        """How wide text should be: as the terminal, or as is usual."""
        return min(columns(usual), 160) if self.is_terminal else usual


def _form(options: argparse.Namespace) -> str:
    """The format of results: as asked for, as the name of the file says, or as the reader is."""
    if options.format is not None:
        return str(options.format)
    if options.output is None:
        return "text" if is_terminal() else str(options.piped)
    suffix = os.path.splitext(options.output)[1].lower()
    if not suffix or options.output.startswith("/dev/"):
        return str(options.piped)
    named = SUFFIXES.get(suffix, suffix)
    if named == "jsonl" and named not in options.formats:
        named = "json"
    if named not in options.formats:
        raise UsageError(
            f"-o/--output: {options.output}: no format {named}; there are "
            f"{', '.join(options.formats)}, and -f says which"
        )
    return str(named)


# ---- a terminal ----


def columns(usual: int) -> int:
    """How wide the terminal is; as is usual where nobody knows."""
    try:
        return int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
    except (OSError, ValueError):
        return usual


def is_terminal() -> bool:
    """True if standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def print_text(text: str) -> None:
    """Writes text to standard output."""
    with Output() as output:
        output.write(text)


def complain(kind: str, text: str) -> None:
    """Writes one line to standard error."""
    try:
        print(f"truebleu: {kind}: {printable(text)}", file=sys.stderr)
    except OSError:
        return  # Nobody listens; the exit status still says it.


def printable(text: str) -> str:
    r"""Text on one line. What a terminal or a table cannot show is written as in Python.

    Names of files may have tabs, line ends, and bytes that are no characters.

    >>> print(printable("a\tb"))
    a\tb
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )
