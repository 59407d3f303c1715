"""Where results go: a file that is there whole or not at all, or standard output."""

from __future__ import annotations

import io
import os
import sys

from truebleu.text.files import WholeFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO, Self, TextIO

    from typing_extensions import Buffer

STANDARD = "standard output"


class UnavailableError(Exception):
    """The work needs something that is not installed or not there."""


class Output:
    """A file, or standard output, to use with `with`. Errors name it.

    Everything but a terminal gets UTF-8 with newlines, on every system.
    """

    __slots__ = ("_binary", "_name", "_terminal", "_whole")

    def __init__(self, path: str | None = None) -> None:
        if path in ("-", "/dev/stdout"):
            path = None
        self._whole = None if path is None else WholeFile(path)
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

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if self._whole is not None:
                self._whole.__exit__(kind)
            elif kind is not KeyboardInterrupt:  # which may have come because nobody reads
                stream = self._binary or self._terminal
                assert stream is not None
                stream.flush()
        except OSError as error:
            if kind is None:
                error.filename = self._name
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
