"""Output of results in the requested format, of messages, and of progress on terminals."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Self, TextIO

from truebleu.metrics.base import Signature
from truebleu.text.argument_checks import JSON_VERSION, format_json
from truebleu.text.system_names import ShortNames
from truebleu.text.terminal_layout import (
    ProgressLine,
    escape_unprintable,
    get_terminal_width,
    print_wrapped,
)

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from typing_extensions import Buffer

    from truebleu.metrics.scores import Score
    from truebleu.rendering.table_writers import RowWriter, TableSpec
    from truebleu.rendering.view import View


STANDARD_OUTPUT = "standard output"
STANDARD_OUTPUT_NAMES = ("-", "/dev/stdout")
# Names of formats, keyed by file name suffix.
SUFFIXES = {
    ".txt": "text",
    ".tex": "latex",
    ".md": "markdown",
    ".bib": "bibtex",
    **{f".{name}": name for name in ("json", "jsonl", "tsv", "csv", "html", "parquet", "npy")},
}
# Formats of views with full precision and complete signatures.
EXACT = ("json", "csv", "tsv")

# Formats with full precision by default.
DATA_FORMATS = (*EXACT, "jsonl", "parquet", "npy")

# Formats for readers, in which --scale has an effect.
READER_FORMATS = ("text", "sacrebleu", "markdown", "latex", "html")

# Exit statuses of all commands and their meanings. Shells report statuses above 128 for programs
# that a signal terminated.
STATUSES = {
    0: "success",
    1: "invalid data, or a file that cannot be read or written",
    2: "invalid command line",
    3: "truebleu check: a score is below the minimum, or has dropped too far",
    4: "a download is needed, but downloads are disabled",
    129: "ended by SIGHUP, for example because the terminal closed",
    130: "interrupted by Ctrl-C",
    141: "the program that reads the output, such as head, closed the pipe",
    143: "ended by SIGTERM",
}
DONE, FAILED, MISUSED, SCORE_TOO_LOW, _, _, INTERRUPTED, PIPE_CLOSED, _ = STATUSES


class UsageError(Exception):
    """Raised for an invalid command line.

    command: the command whose help explains the remedy (default: the requested command).
    """

    def __init__(self, message: str, command: str | None = None) -> None:
        super().__init__(message)
        self.command = command


class UnavailableError(Exception):
    """Raised when a library, program or file is missing."""


class ScoreTooLowError(Exception):
    """Raised when a check fails: a score is too low or has dropped too far."""

    exit_status = SCORE_TOO_LOW


def raise_if_failed(errors: Iterable[object]) -> None:
    """Raise MetricFailedError with the errors of all failed metrics, if there are any."""
    message = "; ".join(dict.fromkeys(map(str, errors)))
    if message:
        from truebleu.metrics.base import MetricFailedError

        raise MetricFailedError(message)


class Output:
    """Context manager for an output file or standard output. Errors contain its name.

    Files and pipes receive UTF-8 with LF line endings on all operating systems.

    announces_file: whether to name a complete file on standard error if that is a terminal.
    """

    def __init__(self, path: str | None = None, *, announces_file: bool = False) -> None:
        if path in STANDARD_OUTPUT_NAMES:
            path = None
        self._announces_file = announces_file
        self._atomic_file: AbstractContextManager[BinaryIO] | None = None
        if path is not None:
            from truebleu.text.operating_system import open_atomically

            self._atomic_file = open_atomically(path)
        self._name = path or STANDARD_OUTPUT
        self._binary: BinaryIO | _StandardOutput | None = None
        # Terminals and replacements of sys.stdout receive text. Files and pipes receive bytes
        # through truebleu's own buffer: sys.stdout would retry failed writes at exit, and would
        # lose bytes if it has no buffer (python -u).
        self._terminal: TextIO | None = None
        if path is None:
            if sys.stdout is None:
                raise UnavailableError(f"{STANDARD_OUTPUT} is closed")
            if is_terminal():
                self._terminal = sys.stdout

    def __enter__(self) -> Self:
        if self._atomic_file is not None:
            self._binary = self._atomic_file.__enter__()
        elif self._terminal is None:
            try:
                self._binary = _StandardOutput(sys.stdout.fileno())
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
            if self._atomic_file is not None:
                self._atomic_file.__exit__(kind, error, trace)
            elif kind is None or issubclass(kind, Exception):
                # Do not flush after a signal, because the reader may have exited.
                stream = self._binary or self._terminal
                assert stream is not None
                stream.flush()
        except OSError as problem:
            if kind is None:
                problem.filename = self._name
                raise
        if kind is None and self._atomic_file is not None and self._announces_file:
            announce_file(self._name)

    @property
    def is_terminal(self) -> bool:
        """True if the output is a terminal, which receives text instead of bytes."""
        return self._terminal is not None

    def write(self, text: str) -> None:
        """Write text, escaping characters that the encoding does not support."""
        if self._binary is not None:
            self.write_bytes(text.encode("utf-8", "backslashreplace"))
            return
        assert self._terminal is not None
        encoding = getattr(self._terminal, "encoding", None) or "utf-8"
        self._terminal.write(text.encode(encoding, "backslashreplace").decode(encoding))

    def write_bytes(self, data: Buffer) -> None:
        """Write bytes to a file or pipe."""
        assert self._binary is not None
        try:
            self._binary.write(data)
        except OSError as error:
            error.filename = self._name
            raise


class _StandardOutput(io.RawIOBase):
    """Buffered standard output that discards data after a failed write.

    Python's own buffer tries to write again at exit and prints its own error message.
    """

    SIZE = 1 << 16

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pending = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer, /) -> int:
        size = len(self._pending)
        self._pending += data
        accepted = len(self._pending) - size
        if len(self._pending) >= self.SIZE:
            self.flush()
        return accepted

    def flush(self) -> None:
        """Write the buffered bytes. Discard them if writing fails."""
        pending, self._pending = self._pending, bytearray()
        with memoryview(pending) as view:
            written = 0
            while written < len(view):
                written += os.write(self._descriptor, view[written:])


class Results(Output):
    """Writer of results that applies the format options of a command line.

    width: number of decimal places, or None for the default of the format.
    scale: upper end of the scale of percentages in formats for readers, 100 or 1.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(options.output, announces_file=not getattr(options, "quiet", False))
        self.form = _choose_format(options)
        self.width: int | None = getattr(options, "width", None)
        self.score_only: bool = getattr(options, "score_only", False)
        self.short: bool = getattr(options, "short", False)
        self.scale: int = getattr(options, "scale", 100)
        self._quiet: bool = getattr(options, "quiet", False)
        self.color: str = getattr(options, "color", "never")
        # Names of systems in messages, and in formats for readers.
        self.short_names = ShortNames(())

    def format_score(self, value: float, default: int = 1, *, is_percentage: bool) -> str:
        """Return a score on the scale of --scale, rounded to --width decimal places.

        default: number of decimals of the score on its own scale.
        """
        if is_percentage and self.scale == 1:
            from truebleu.rendering.number_format import MORE_DIGITS

            value, default = value / 100, default + MORE_DIGITS
        return f"{value:.{default if self.width is None else self.width}f}"

    def format_details(self, score: Score) -> str:
        """Return a score's details as in sacreBLEU, with precisions on the scale of --scale."""
        details, text = score.details(), score.verbose
        if self.scale == 1 and "precisions" in details and text:
            precisions = "/".join(f"{precision / 100:.3f}" for precision in details["precisions"])
            return f"{precisions} {text.partition(' ')[2]}"
        return text

    @property
    def is_read_directly(self) -> bool:
        """True if results are text on standard output, where messages need not be repeated."""
        return self.form == "text" and self._atomic_file is None

    def select_line_format(self, options: argparse.Namespace, unsupported: Sequence[str]) -> None:
        """With --score-only, select TSV for pipes. Raise UsageError for unsupported formats."""
        if self.score_only and options.format is None and options.output is None:
            self.form = "text" if self.form == "text" else "tsv"
        if self.score_only and self.form in unsupported:
            raise UsageError(
                f"-b/--score-only cannot be combined with -f {self.form}; use text or tsv"
            )

    def check_scale(self) -> None:
        """Raise UsageError for --scale 1 in formats with numbers at full precision."""
        contains_only_scores = self.score_only and self.form in ("tsv", "csv")
        if self.scale == 1 and self.form not in READER_FORMATS and not contains_only_scores:
            raise UsageError(
                f"--scale has no effect with -f {self.form}, which always uses 0-100. Use -f text"
            )

    def format_signature(self, signature: Signature) -> str:
        """Return a signature, or its short form with --short."""
        return signature.short() if self.short else str(signature)

    def check_short(self, formats: Sequence[str]) -> None:
        """Raise UsageError for --short in formats without signatures or with complete ones."""
        if self.short and self.form in formats:
            raise UsageError(f"-sh/--short has no effect with -f {self.form}")

    def check_display_options(self) -> None:
        """Raise UsageError for options that have no effect in formats with full precision."""
        self.check_scale()
        self.check_short((*EXACT, "svg"))
        if self.form in (*EXACT, "svg") and self.width is not None:
            raise UsageError(f"-w/--width has no effect with -f {self.form}")

    def print_warnings(
        self, warnings: Iterable[Mapping[str, Any]], *, in_results: bool = True
    ) -> None:
        """Write warnings about the text to standard error, before the results.

        in_results: whether text results contain the warnings, so that standard output shows them.
        """
        if self._quiet or (in_results and self.is_read_directly):
            return
        for warning in warnings:
            print_message("warning", self.short_names.shorten(warning["text"]))

    def make_row_writer(self, table: TableSpec) -> RowWriter:
        """Return the writer for a table in the requested format."""
        from truebleu.rendering.table_writers import ROW_FORMATS

        if self.form in ("parquet", "npy") and self.is_terminal:
            raise UsageError(f"-f/--format: {self.form} needs an output file. Name it with -o")
        return ROW_FORMATS[self.form](self, table)

    def write_object(self, kind: str, content: dict[str, Any]) -> None:
        """Write a JSON object that starts with its kind and version."""
        document = {f"truebleu_{kind}": JSON_VERSION, **content}
        self.write(f"{format_json(document, indent=1, default=str)}\n")

    def write_view(self, view: View, **choice: Any) -> None:
        """Write a view in the requested format, with further options of the format."""
        if self.form == "json":
            self.write(f"{view.to_json()}\n")
        elif self.form in EXACT:
            self.write(getattr(view, self.form)())
        else:
            display = {"digits": self.width, "short": self.short, "scale": self.scale, **choice}
            if self.form != "text":
                self.write_rendered(getattr(view, self.form)(**display))
                return
            width = self.get_width(view.WIDTH)
            if not self._write_rich_text(lambda: view.rich(**display), width):
                self.write(view.text(width, **display))

    def write_elements(self, elements: Iterable[Any], *, title: str = "") -> None:
        """Write blocks that the requested format can render."""
        from truebleu.rendering.view import render_blocks

        blocks = list(elements)

        def build_renderable() -> object:
            from truebleu.rendering.terminal import RichBlocks

            return RichBlocks(lambda: blocks)

        width = self.get_width(100)
        if self.form != "text" or not self._write_rich_text(build_renderable, width):
            self.write_rendered(render_blocks(blocks, self.form, width=width, title=title))

    def write_rendered(self, text: str) -> None:
        """Write a rendered document. Also print the notes that are comments in LaTeX output."""
        if self.form == "latex" and not self._quiet:
            for line in text.splitlines():
                if line.startswith("% Note: "):
                    print_message("note", line.removeprefix("% Note: "))
        self.write(text)

    def _write_rich_text(self, make_renderable: Callable[[], object], width: int) -> bool:
        """Write coloured text. Return False if colours are off or `rich` is not installed."""
        if self.color == "never" or (self.color == "auto" and not self.is_terminal):
            return False
        try:
            from rich.console import Console
        except ImportError:
            if self.color == "always":
                raise UnavailableError("--color needs rich: pip install rich") from None
            return False
        file = io.StringIO()
        colors: Any = "auto" if self.is_terminal else "standard"
        if os.environ.get("NO_COLOR") and self.color == "auto":
            colors = None
        console = Console(
            file=file,
            highlight=False,
            force_terminal=True,
            width=width,
            color_system=colors,
            legacy_windows=False,
        )
        # Let the terminal wrap long lines, so that copied text has no extra line breaks.
        console.print(make_renderable(), soft_wrap=True)
        self.write(file.getvalue())
        return True

    def get_width(self, default: int) -> int:
        """Return the terminal's width, up to 160 columns, or the default for other outputs."""
        return min(get_terminal_width(default), 160) if self.is_terminal else default


def _choose_format(options: argparse.Namespace) -> str:
    if options.format is not None:
        return str(options.format)
    if options.output is None:
        return "text" if is_terminal() else str(options.piped)
    suffix = os.path.splitext(options.output)[1].lower()
    if not suffix or options.output.startswith("/dev/"):
        return str(options.piped)
    format_name = SUFFIXES.get(suffix, suffix)
    if format_name == "jsonl" and format_name not in options.formats:
        format_name = "json"
    if format_name not in options.formats:
        raise UsageError(
            f"-o/--output: {options.output}: unknown format '{format_name}' (expected "
            f"{', '.join(options.formats)}). Select one with -f"
        )
    return str(format_name)


# ---- pages ----


def choose_page_path(
    path: str | None, default: str, page: bytes | None = None, *, opens_page: bool = False
) -> str:
    """Return the file for an HTML page. Raise UsageError if the default file has other contents.

    Only an explicit file name replaces a file.

    page: the contents of the page, or None if it is not built yet.
    """
    if path in STANDARD_OUTPUT_NAMES:
        if opens_page:
            raise UsageError("--open: a browser cannot open standard output; name a file with -o")
        if is_terminal():
            raise UsageError("-o/--output: cannot write a page to a terminal; name a file")
    if path is not None:
        return path
    if os.path.lexists(default):
        with open(default, "rb") as file:
            if file.read() != page:
                raise UsageError(
                    f"{default}: the file exists. Replace it with -o {default}, or use another name"
                )
    return default


def open_page(address: str) -> None:
    """Open a local file or a URL in the browser."""
    import webbrowser
    from pathlib import Path

    webbrowser.open(address if "://" in address else Path(address).absolute().as_uri())


# ---- terminal ----


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def print_text(text: str) -> None:
    """Write text to standard output."""
    with Output() as output:
        output.write(text)


def print_message(kind: str, text: str) -> None:
    """Write an error, a warning or a note to standard error, wrapped on a terminal."""
    try:
        print_wrapped(f"truebleu: {kind}: {escape_unprintable(text)}")
    except OSError:
        return  # Standard error is closed, so only the exit status shows the problem.


def announce_file(path: str) -> None:
    """Name a complete output file on standard error, if that is a terminal."""
    if sys.stderr is not None and sys.stderr.isatty() and not path.startswith("/dev/"):
        print_message("note", f"wrote {path}")


# Resolution of `report_fraction`.
FRACTION_STEPS = 1 << 20


class Progress(ProgressLine):
    """Progress line with the percentage done and the remaining time of an activity."""

    _activity, _activity_start = "", 0.0

    def __call__(self, activity: str, done: int, total: int | None = None) -> None:
        """Show the activity and its progress: items done, and the total number if known."""
        now = self.clock()
        if activity != self._activity:
            self._activity, self._activity_start = activity, now
        if self.is_due(now):
            self.show(format_progress(activity, done, total, now - self._activity_start))

    @property
    def callback(self) -> Progress | None:
        """This progress line as a callback, or None if progress is never shown."""
        return None if self.is_silent else self

    def report_fraction(self, activity: str, fraction: float) -> None:
        """Show the current activity and the completed fraction, from 0 to 1."""
        self(activity, round(fraction * FRACTION_STEPS), FRACTION_STEPS)


def format_progress(activity: str, done: int, total: int | None, seconds: float) -> str:
    """Return the progress line for an activity that has taken this many seconds.

    >>> format_progress("reading", 1200, None, 3.2)
    'reading: 1,200, 3 s'
    >>> format_progress("resampling", 2500, 10000, 15)
    'resampling: 25%, 2,500 of 10,000, 45 s left'
    """
    if not total or total < done:
        return f"{activity}: {done:,}, {seconds:.0f} s"
    minutes, rest = divmod(round(seconds * (total - done) / done), 60) if done else (0, 0)
    left = f", {f'{minutes} min ' if minutes else ''}{rest} s left" if done else ""
    counts = "" if total == FRACTION_STEPS else f", {done:,} of {total:,}"
    return f"{activity}: {done / total:.0%}{counts}{left}"
