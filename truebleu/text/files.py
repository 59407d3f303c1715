"""Files of segments: plain, compressed, tab-separated, in any encoding; standard input."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import compress, islice
from typing import TYPE_CHECKING, BinaryIO, Protocol

from truebleu import _kernel
from truebleu._kernel import InputError
from truebleu.text.record import Picklable

if TYPE_CHECKING:

    class Readable(Protocol):
        """Anything that gives bytes."""

        def read(self, size: int, /) -> bytes:
            """Up to so many bytes; none at the end."""

        def close(self) -> None:
            """Lets the file go."""


Path = str | os.PathLike[str]

# Files of named columns, which DuckDB reads; how they may be compressed.
TABLES = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}
COMPRESSED_TABLES = (".gz", ".zst")
NO_FILES = "no .parquet, .csv, .tsv, .jsonl or .json files in this directory"
UTF8 = ("utf-8", "utf8", "u8", "utf_8")


def table_format(path: str) -> str | None:
    """The format of a file of named columns, by its extension; None for lines of text.

    "tsv" may be lines of text as well: what reads it knows.

    >>> [table_format(path) for path in ("a.parquet", "part-*.CSV.gz", "ref.txt.gz", "cols.tsv")]
    ['parquet', 'csv', None, 'tsv']
    """
    name, end = os.path.splitext(path.rstrip("/").lower())
    if end in COMPRESSED_TABLES:
        end = os.path.splitext(name)[1]
        return None if end == ".parquet" else TABLES.get(end)
    return TABLES.get(end)


def at_home(name: str) -> str:
    """A path with ~ as the home folder: a pattern in quotes comes here as it was typed."""
    return name if os.path.exists(name) else os.path.expanduser(name)


class File(Picklable):
    """A file of segments, one per line. Lines end at newlines only, as sacreBLEU reads files.

    A regular file is read as far as it reached when it was opened: what is appended later is left
    out, and one that is cut short meanwhile is an InputError.

    `path` may end in .gz, .bz2, .xz or .zst; "-" is standard input. `column` takes one
    tab-separated column, counted from 1. `encoding` is any that Python knows; utf-8-sig drops a
    byte-order mark.
    """

    __slots__ = ("_column", "_encoding", "_path")

    def __init__(self, path: Path, column: int | None = None, encoding: str = "utf-8") -> None:
        if column is not None and (not isinstance(column, int) or column < 1):
            raise ValueError(f"column={column!r}: expected a number, counted from 1")
        if not isinstance(os.fspath(path), str):
            raise TypeError(f"path: expected a str or an os.PathLike of str, not {path!r:.60}")
        try:
            "".encode(encoding)
        except LookupError:
            raise ValueError(f"unknown encoding '{encoding}'") from None
        self._path = os.fspath(path)
        self._column = column
        self._encoding = encoding

    @property
    def path(self) -> str:
        """The path of the file; "-" for standard input."""
        return self._path

    @property
    def column(self) -> int | None:
        """The tab-separated column that is read, from 1; None for whole lines."""
        return self._column

    @property
    def encoding(self) -> str:
        """The encoding of the text."""
        return self._encoding

    @property
    def is_utf8(self) -> bool:
        """True if the bytes are UTF-8, after decompression."""
        return self._encoding.lower() in UTF8

    @property
    def is_plain(self) -> bool:
        """True if the bytes are UTF-8 on disk, not compressed."""
        return self.is_utf8 and not self._path.endswith(tuple(DECOMPRESSORS))

    def __repr__(self) -> str:
        column = "" if self._column is None else f", column={self._column}"
        encoding = "" if self.is_utf8 else f", encoding={self._encoding!r}"
        return f"File({self._path!r}{column}{encoding})"

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, File) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return self._path, self._column, self._encoding

    def label(self, role: str) -> str:
        """The name of the file in messages: its role and its path."""
        if self._path == "-":
            return f"{role} (standard input)"
        # Names of files may have bytes that are no characters.
        return f"{role} ({os.fsencode(self._path).decode('utf-8', 'backslashreplace')})"

    def source(self, role: str) -> _kernel.Source:
        """The lines, for the kernel; `role` says what they are in messages."""
        name = self.label(role)
        # A pipe must not be opened here: whoever writes to it would see it closed.
        whole_lines = self.is_plain and self._column is None and self._path != "-"
        if whole_lines and stat.S_ISREG(os.stat(self._path).st_mode):
            # This gives Python's own error, with the name, if it fails.
            with open(self._path, "rb") as file:
                check_start(file.read(1 << 16), self._path)
            return _kernel.file(self._path, name)
        column = None if self._column is None else self._column - 1
        return _kernel.stream(self._reader(), name, column)

    def content(self) -> bytes:
        """Everything that is in it, as UTF-8 if it is text in its encoding; not checked."""
        # What is read at once need not be put together.
        path, plain = self._path, self.is_plain and os.path.isfile(self._path)
        at_once = os.path.getsize(path) + 1 if plain else 0
        return b"".join(self._read(max(1 << 22, at_once)))

    def pieces(self) -> Iterator[bytes]:
        """The lines as UTF-8 with their ends, a piece at a time; not checked if they are whole."""
        if self._column is None:
            yield from self._read()
            return
        lines = self.lines()
        while some := list(islice(lines, 64)):
            yield "".join(f"{line}\n" for line in some).encode("utf-8", "surrogatepass")

    def lines(self) -> Iterator[str]:
        """The lines as strings, without their ends."""
        for number, line in enumerate(lines_of(self._read()), 1):
            yield self._segment(line, number)

    def _segment(self, line: bytes, number: int) -> str:
        text = decoded(line, self._path, number)
        if self._column is None:
            return text
        fields = text.split("\t")
        if len(fields) < self._column:
            raise InputError(
                f"{self._path}, line {number}: column {self._column} asked for, but the line has "
                f"{len(fields)} tab-separated columns"
            )
        return fields[self._column - 1]

    def _read(self, size: int = 1 << 18) -> Iterator[bytes]:
        """All bytes of UTF-8, a piece at a time."""
        read = self._reader()
        return iter(lambda: read(size), b"")

    def _reader(self) -> Callable[[int], bytes]:
        """A function that reads so many bytes of UTF-8, fewer at the end."""
        reader = _Reader(self._path, is_utf8=self.is_utf8)
        if self.is_utf8:
            return reader
        return _decoded(reader, self._path, self._encoding)


class Part(File):
    """Some of the lines of a file.

    kept: for each line of the file, true if it is one of them.
    like: what has as many lines as the file should have, for messages.
    """

    __slots__ = ("_kept", "_like")

    def __init__(self, file: File, kept: Sequence[bool], like: str) -> None:
        super().__init__(file.path, file.column, file.encoding)
        self._kept = tuple(kept)
        self._like = like

    @property
    def is_plain(self) -> bool:
        """False: its bytes are not those on the disk."""
        return False

    def _key(self) -> tuple[object, ...]:
        return *super()._key(), self._kept

    def _reader(self) -> Callable[[int], bytes]:
        read = super()._reader()
        lines = compress(self._counted(lines_of(iter(lambda: read(1 << 18), b""))), self._kept)
        some = iter(lambda: b"".join(b"%b\n" % line for line in islice(lines, 1024)), b"")
        return lambda _: next(some, b"")

    def _counted(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """The lines; raises InputError if there are more or fewer than there should be."""
        count, expected = 0, len(self._kept)
        for count, line in enumerate(lines, 1):
            if count <= expected:
                yield line
        if count != expected:
            raise InputError(f"{self._path} has {count:,} lines, and {self._like} {expected:,}")


def lines_of(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of bytes that come a piece at a time, without their ends."""
    # A long line comes in many pieces: they are put together once.
    begun: list[bytes] = []
    for piece in pieces:
        end, *lines = piece.split(b"\n")
        begun.append(end)
        if lines:
            yield b"".join(begun)
            *whole, rest = lines
            yield from whole
            begun = [rest]
    if rest := b"".join(begun):
        yield rest


def decoded(text: bytes, where: str, number: int, errors: str = "strict") -> str:
    """A line as a string; `where` and `number` say in messages which."""
    try:
        return text.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{where}, line {number}: byte 0x{text[error.start]:02x} is not UTF-8; if the text is "
            "in another encoding, name it (--encoding on the command line, "
            "File(path, encoding=...) in Python)"
        ) from None


def check_start(start: bytes, path: str) -> None:
    """Refuse text whose beginning shows UTF-16, which would be read as UTF-8, or old line ends."""
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(
            f"{'standard input' if path == '-' else path} is UTF-16, and was to be read as UTF-8; "
            "name the encoding (-e utf-16 on the command line, File(path, encoding='utf-16') in "
            "Python), or convert it (iconv -f utf-16 -t utf-8)"
        )
    # A CR at the end may belong to a line end of which only a part was read.
    if b"\n" not in start and b"\r" in start.rstrip():
        name = "standard input" if path == "-" else path
        raise InputError(
            f"{name} has the line ends of old Macs (CR without LF), so all of it would be one "
            "line; convert them (tr '\\r' '\\n' < FILE)"
        )


class _Reader:
    """Reads an open file, says which one cannot be read, closes it at its end."""

    __slots__ = ("_checks", "_file", "_path")

    def __init__(self, path: str, *, is_utf8: bool = True) -> None:
        self._path = path
        self._checks = is_utf8
        self._file: Readable | None = None
        self._file = _open(path)

    def __call__(self, size: int) -> bytes:
        if self._file is None:
            return b""
        try:
            data = self._file.read(size)
        except (EOFError, OSError, ValueError) as error:
            raise InputError(f"{self._path} cannot be read: {error}") from error
        except Exception as error:
            # lzma and zstd have errors of their own, which have no common base.
            if type(error).__name__ in ("LZMAError", "ZstdError"):
                raise InputError(f"{self._path} cannot be decompressed: {error}") from error
            raise
        if not data:
            self.close()
        elif self._checks:
            check_start(data, self._path)
        self._checks = False
        return data

    def close(self) -> None:
        """Closes the file; standard input stays open."""
        if self._file is not None and self._path != "-":
            self._file.close()
        self._file = None

    def __del__(self) -> None:
        self.close()


# The module that reads each kind of compressed file.
DECOMPRESSORS = {
    ".gz": "gzip",
    ".bz2": "bz2",
    ".xz": "lzma",
    ".zst": "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd",
}


def _open(path: str) -> Readable:
    if path == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed")
        return sys.stdin.buffer
    module = next((DECOMPRESSORS[end] for end in DECOMPRESSORS if path.endswith(end)), None)
    if module is None:
        return open(path, "rb")
    from importlib import import_module

    opened: Readable = import_module(module).open(path, "rb")
    return opened


ENCODING_HINT = (
    "name the text's encoding (--encoding on the command line, for all files; "
    "File(path, encoding=...) in Python)"
)


def _decoded(read: Callable[[int], bytes], path: str, encoding: str) -> Callable[[int], bytes]:
    """`read`, with its bytes turned from `encoding` into UTF-8."""
    import codecs

    decoder = codecs.getincrementaldecoder(encoding)()
    offset = newlines = 0

    def decoded(size: int) -> bytes:
        nonlocal offset, newlines
        while True:
            piece = read(size)
            try:
                text = decoder.decode(piece, final=not piece)
            except UnicodeDecodeError as error:
                # The decoder may have kept bytes of the piece before.
                at = offset - (len(error.object) - len(piece)) + error.start
                line = newlines + error.object[: error.start].count(b"\n") + 1
                raise InputError(
                    f"{path}, line {line}: byte 0x{error.object[error.start]:02x} at offset {at} "
                    f"is not {encoding}; {ENCODING_HINT}"
                ) from None
            except UnicodeError as error:
                raise InputError(f"{path} is not {encoding}: {error}; {ENCODING_HINT}") from None
            if not offset:
                check_start(text[: 1 << 16].encode("utf-8", "surrogatepass"), path)
            offset += len(piece)
            newlines += text.count("\n")
            if text or not piece:
                return text.encode("utf-8", "surrogatepass")

    return decoded


class WholeFile:
    """A file to write that takes its place when it is whole, or leaves the place as it was.

    Used with `with`: after an exception inside, nothing is put there. Until then the bytes lie
    beside it under another name. What is no regular file (/dev/null, /dev/fd/3, a named pipe) has
    no place to take and is written to as it is.
    """

    __slots__ = ("_file", "_path", "_temporary")

    def __init__(self, path: Path) -> None:
        self._path = os.fspath(path)
        self._temporary: str | None = None

    def __enter__(self) -> BinaryIO:
        try:
            mode = os.stat(self._path).st_mode
        except FileNotFoundError:
            mode = None
        device = os.path.abspath(self._path).startswith(("/dev/", "/proc/"))
        if device or (mode is not None and not stat.S_ISREG(mode)):
            self._file: BinaryIO = open(self._path, "wb")
            return self._file
        if mode is not None:
            # Gives the error that a file which must not be written to deserves.
            open(self._path, "r+b").close()
        # The target of a symbolic link is replaced, not the link.
        self._path = os.path.realpath(self._path)
        try:
            self._file = self._open_beside()
            if mode is not None:
                os.chmod(self._temporary or "", stat.S_IMODE(mode))
        except BaseException:
            self._remove()
            raise
        return self._file

    def _open_beside(self) -> BinaryIO:
        """Open a new file in the same folder."""
        folder = os.path.dirname(self._path)
        number = 0
        while True:
            # Kept before the file is there, so that a signal cannot leave it.
            self._temporary = os.path.join(folder, f".truebleu-{os.getpid()}-{number}")
            try:
                return open(self._temporary, "xb")
            except FileExistsError:
                number += 1
            except OSError as error:
                error.filename = self._path
                raise

    def _remove(self) -> None:
        if self._temporary is not None:
            with suppress(FileNotFoundError):
                os.unlink(self._temporary)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self._file.close()
            if self._temporary is not None and kind is None:
                os.replace(self._temporary, self._path)
                self._temporary = None
        finally:
            self._remove()


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file so that it is there whole or not at all."""
    with WholeFile(path) as file:
        file.write(content)
