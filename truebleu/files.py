"""Files of segments: plain, compressed, tab-separated, in any encoding; standard input."""

from __future__ import annotations

import os
import stat

from truebleu import _kernel
from truebleu._kernel import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO

Path = str | os.PathLike[str]
UTF8 = ("utf-8", "utf8", "u8", "utf_8")


class File:
    """A file of segments, one a line. Lines end at "\\n" only, as sacreBLEU reads files.

    `path` may end in .gz, .bz2, .xz or .zst; "-" is standard input. `column` takes one
    tab-separated column, counted from 1. `encoding` is any that Python knows; utf-8-sig drops a
    byte-order mark.
    """

    __slots__ = ("_column", "_encoding", "_path")

    def __init__(self, path: Path, column: int | None = None, encoding: str = "utf-8") -> None:
        import codecs

        if column is not None and column < 1:
            raise ValueError(f"column {column}: columns are counted from 1")
        try:
            codecs.lookup(encoding)
        except LookupError:
            raise ValueError(f"unknown encoding '{encoding}'") from None
        self._path = os.fspath(path)
        self._column = column
        self._encoding = encoding

    @property
    def path(self) -> str:
        """Where the file is; "-" for standard input."""
        return self._path

    @property
    def column(self) -> int | None:
        """The tab-separated column that is read, from 1; None for whole lines."""
        return self._column

    @property
    def encoding(self) -> str:
        """The encoding of the text."""
        return self._encoding

    def __repr__(self) -> str:
        column = "" if self._column is None else f", column={self._column}"
        utf8 = self._encoding.lower() in UTF8
        return f"File({self._path!r}{column}{'' if utf8 else f', encoding={self._encoding!r}'})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, File):
            return NotImplemented
        return (self._path, self._column, self._encoding) == (
            other._path,
            other._column,
            other._encoding,
        )

    def __hash__(self) -> int:
        return hash((self._path, self._column, self._encoding))

    def source(self, role: str) -> _kernel.Source:
        """The lines, for the kernel; `role` says what they are in messages."""
        name = f"{role} ({'standard input' if self._path == '-' else self._path})"
        plain = self._encoding.lower() in UTF8 and not self._path.endswith(tuple(DECOMPRESSORS))
        if plain and self._column is None and self._path != "-":
            # Opening it here gives Python's own error, with the name, if that fails.
            with open(self._path, "rb") as file:
                if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    return _kernel.mapped(self._path, name)
        column = None if self._column is None else self._column - 1
        return _kernel.stream(self._reader(), name, column)

    def lines(self) -> Iterator[str]:
        """The lines as strings, without their ends."""
        read = self._reader()
        rest = b""
        while piece := read(1 << 18):
            *lines, rest = (rest + piece).split(b"\n")
            yield from map(self._segment, lines)
        if rest:
            yield self._segment(rest)

    def _segment(self, line: bytes) -> str:
        try:
            text = line.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise InputError(f"{self._path}: {error}") from None
        if self._column is None:
            return text
        fields = text.split("\t")
        if len(fields) < self._column:
            raise InputError(
                f"{self._path}: column {self._column} asked for in a line of {len(fields)}"
            )
        return fields[self._column - 1]

    def _reader(self) -> Callable[[int], bytes]:
        """A function that reads so many bytes of UTF-8, fewer at the end."""
        read = _open(self._path).read
        if self._encoding.lower() not in UTF8:
            read = _decoded(read, self._path, self._encoding)

        def checked(size: int) -> bytes:
            try:
                return read(size)
            except (EOFError, OSError, ValueError) as error:
                if isinstance(error, InputError):
                    raise
                raise InputError(f"{self._path} cannot be read: {error}") from error
            except Exception as error:
                # lzma and zstandard have errors of their own, which have no common base.
                if type(error).__name__ in ("LZMAError", "ZstdError"):
                    raise InputError(f"{self._path} cannot be decompressed: {error}") from error
                raise

        return checked


def _gzip(path: str) -> IO[bytes]:
    import gzip

    return gzip.open(path, "rb")


def _bz2(path: str) -> IO[bytes]:
    import bz2

    return bz2.open(path, "rb")


def _xz(path: str) -> IO[bytes]:
    import lzma

    return lzma.open(path, "rb")


def _zstd(path: str) -> IO[bytes]:
    import sys

    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd.open(path, "rb")


DECOMPRESSORS = {".gz": _gzip, ".bz2": _bz2, ".xz": _xz, ".zst": _zstd}


def _open(path: str) -> IO[bytes]:
    if path == "-":
        import sys

        return sys.stdin.buffer
    for suffix, decompressor in DECOMPRESSORS.items():
        if path.endswith(suffix):
            return decompressor(path)
    return open(path, "rb")


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
                    f"is not {encoding}; name the text's encoding "
                    "(--encoding on the command line, File(path, encoding=...) in Python)"
                ) from None
            offset += len(piece)
            newlines += text.count("\n")
            if text or not piece:
                return text.encode("utf-8", "surrogatepass")

    return decoded


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file so that it is there whole or not at all."""
    import tempfile

    folder, name = os.path.split(os.path.abspath(path))
    descriptor, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        # mkstemp makes files that only their owner can read; a new file should follow the umask.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
