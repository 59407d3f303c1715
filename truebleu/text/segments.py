"""The reader of all text: files, pipes, compressed files, sequences and Arrow columns.

An input is a sequence, a column that speaks Arrow, a file, or a list of columns or files. `File`
reads lines of any file. `Lines` is a file that is read once and kept, in memory or on disk with an
index of where each line begins (`Paged`). The functions below walk through any input; the last
section reads files beside the segments: labels, scores, term lists.
"""

from __future__ import annotations

import os
import stat
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, compress, islice, pairwise, zip_longest
from operator import eq
from threading import Lock
from typing import Any

from truebleu import _kernel
from truebleu._kernel import InputError
from truebleu.text import argument_checks
from truebleu.text.terminal_layout import format_count as count_of

Path = str | os.PathLike[str]
# Texts in UTF-8, one per segment; None for a missing text. Lone surrogates are three bytes each, as
# with Python's "surrogatepass".
Texts = Sequence[bytes | None]
# The length of a missing text, where lengths are written.
MISSING_LENGTH = 0xFFFFFFFF

# Files of named columns, which DuckDB reads, and their formats.
TABLE_FORMATS = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}
NO_TABLE_FILES = "no .parquet, .csv, .tsv, .jsonl or .json files in this directory"
# The endings of compressed files of lines.
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
# Bytes that are read at once.
CHUNK_BYTES = 1 << 18
ENCODING_HINT = (
    "name the text's encoding (--encoding on the command line, for all files; "
    "File(path, encoding=...) in Python)"
)


def get_table_format(path: str) -> str | None:
    """The format of a file of named columns, by its extension; None for lines of text.

    "tsv" may be lines of text as well: what reads it knows.

    >>> paths = ("a.parquet", "part-*.CSV.gz", "ref.txt.gz", "cols.tsv")
    >>> list(map(get_table_format, paths))
    ['parquet', 'csv', None, 'tsv']
    """
    name, end = os.path.splitext(path.rstrip("/").lower())
    if end in (".gz", ".zst"):
        end = os.path.splitext(name)[1]
        return None if end == ".parquet" else TABLE_FORMATS.get(end)
    return TABLE_FORMATS.get(end)


def expand_home(name: str) -> str:
    """A path with ~ as the home folder: a pattern in quotes comes here as it was typed."""
    return name if os.path.exists(name) else os.path.expanduser(name)


# ---- files ----


class File:
    """A file of segments, one per line. Lines end at newlines only, as sacreBLEU reads files.

    A regular file is read as far as it reached when it was opened: what is appended later is left
    out, and one that is cut short meanwhile is an InputError.

    `path` may end in .gz, .bz2, .xz or .zst; "-" is standard input. `column` takes one
    tab-separated column, counted from 1; None takes whole lines. `encoding` is any that Python
    knows; utf-8-sig drops a byte-order mark.
    """

    def __init__(self, path: Path, column: int | None = None, encoding: str = "utf-8") -> None:
        if column is not None and (not isinstance(column, int) or column < 1):
            raise ValueError(f"column={column!r}: expected a number, counted from 1")
        if not isinstance(os.fspath(path), str):
            raise TypeError(f"path: expected a str or an os.PathLike of str, not {path!r:.60}")
        try:
            "".encode(encoding)
        except LookupError:
            raise ValueError(f"unknown encoding '{encoding}'") from None
        self.path: str = os.fspath(path)
        self.column, self.encoding = column, encoding

    @property
    def is_utf8(self) -> bool:
        """True if the bytes are UTF-8, after decompression."""
        return self.encoding.lower() in ("utf-8", "utf8", "u8", "utf_8")

    @property
    def is_plain(self) -> bool:
        """True if the bytes are UTF-8 on disk, not compressed."""
        return self.is_utf8 and not self.path.endswith(COMPRESSED_SUFFIXES)

    def __repr__(self) -> str:
        column = "" if self.column is None else f", column={self.column}"
        encoding = "" if self.is_utf8 else f", encoding={self.encoding!r}"
        return f"File({self.path!r}{column}{encoding})"

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, File) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return self.path, self.column, self.encoding

    def format_label(self, role: str) -> str:
        """The name of the file in messages: its role and its path."""
        if self.path == "-":
            return f"{role} (standard input)"
        # File names may not be valid UTF-8.
        return f"{role} ({os.fsencode(self.path).decode('utf-8', 'backslashreplace')})"

    def make_source(self, role: str) -> _kernel.Source:
        """The lines, for the kernel; `role` says what they are in messages."""
        name = self.format_label(role)
        # A pipe must not be opened here: whoever writes to it would see it closed.
        if self._is_plain_on_disk():
            # This gives Python's own error, with the name, if it fails.
            with open(self.path, "rb") as file:
                check_text_start(file.read(1 << 16), self.path)
            return _kernel.file(self.path, name)
        column = None if self.column is None else self.column - 1
        return _kernel.stream(self._make_reader(), name, column)

    def _is_plain_on_disk(self) -> bool:
        """True if the bytes of a regular file are whole lines of UTF-8."""
        is_plain = self.is_plain and self.column is None and self.path != "-"
        return is_plain and stat.S_ISREG(os.stat(self.path).st_mode)

    def read_bytes(self) -> bytes:
        """Everything that is in it, as UTF-8 if it is text in its encoding; not checked."""
        is_file = self.is_plain and os.path.isfile(self.path)
        size = os.path.getsize(self.path) + 1 if is_file else 0
        return b"".join(self._iter_bytes(max(1 << 22, size)))

    def iter_chunks(self) -> Iterator[bytes]:
        """The lines as UTF-8 with their ends, a piece at a time; not checked if they are whole."""
        if self.column is None:
            yield from self._iter_bytes()
            return
        lines = self.read_lines()
        while batch := list(islice(lines, 64)):
            yield "".join(f"{line}\n" for line in batch).encode("utf-8", "surrogatepass")

    def read_lines(self) -> Iterator[str]:
        """The lines as strings, without their ends."""
        for number, line in enumerate(split_lines(self._iter_bytes()), 1):
            text = decode_line(line, self.path, number)
            if self.column is not None:
                fields = text.split("\t")
                if len(fields) < self.column:
                    raise InputError(
                        f"{self.path}, line {number}: column {self.column} asked for, but the "
                        f"line has {len(fields)} tab-separated columns"
                    )
                text = fields[self.column - 1]
            yield text

    def _iter_bytes(self, size: int = CHUNK_BYTES) -> Iterator[bytes]:
        """All bytes of UTF-8, a piece at a time."""
        read_chunk = self._make_reader()
        return iter(lambda: read_chunk(size), b"")

    def _make_reader(self) -> Callable[[int], bytes]:
        """A function that reads so many bytes of UTF-8, fewer at the end."""
        read_utf8 = _FileReader(self.path, is_utf8=self.is_utf8)
        return (
            read_utf8 if self.is_utf8 else _transcode_to_utf8(read_utf8, self.path, self.encoding)
        )


class LineSubset(File):
    """Some of the lines of a file.

    kept: for each line of the file, true if it is one of them.
    like: what has as many lines as the file should have, for messages.
    """

    def __init__(self, file: File, line_mask: Sequence[bool], counterpart: str) -> None:
        super().__init__(file.path, file.column, file.encoding)
        self._line_mask, self._counterpart = tuple(line_mask), counterpart

    @property
    def is_plain(self) -> bool:
        """False: its bytes are not those on the disk."""
        return False

    def _key(self) -> tuple[object, ...]:
        return *super()._key(), self._line_mask

    def _make_reader(self) -> Callable[[int], bytes]:
        read_chunk = super()._make_reader()
        lines = compress(
            self._check_line_count(split_lines(iter(lambda: read_chunk(CHUNK_BYTES), b""))),
            self._line_mask,
        )
        chunks = iter(lambda: b"".join(b"%b\n" % line for line in islice(lines, 1024)), b"")
        return lambda _: next(chunks, b"")

    def _check_line_count(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """The lines; raises InputError if there are more or fewer than there should be."""
        count, expected = 0, len(self._line_mask)
        for count, line in enumerate(lines, 1):
            if count <= expected:
                yield line
        if count != expected:
            raise InputError(
                f"{self.path} has {count:,} lines, and {self._counterpart} {expected:,}"
            )


def split_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of bytes that come a piece at a time, without their ends."""
    # A long line comes in many pieces: they are put together once.
    line_parts: list[bytes] = []
    for chunk in chunks:
        end, *lines = chunk.split(b"\n")
        line_parts.append(end)
        if lines:
            yield b"".join(line_parts)
            *complete, rest = lines
            yield from complete
            line_parts = [rest]
    if rest := b"".join(line_parts):
        yield rest


def decode_line(line: bytes, file_label: str, line_number: int, errors: str = "strict") -> str:
    """A line as a string; `where` and `number` say in messages which."""
    try:
        return line.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file_label}, line {line_number}: byte 0x{line[error.start]:02x} is not UTF-8; "
            "if the text is "
            "in another encoding, name it (--encoding on the command line, "
            "File(path, encoding=...) in Python)"
        ) from None


def check_text_start(start: bytes, path: str) -> None:
    """Refuse text whose beginning shows UTF-16, which would be read as UTF-8, or old line ends."""
    name = "standard input" if path == "-" else path
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(
            f"{name} is UTF-16, and was to be read as UTF-8; "
            "name the encoding (-e utf-16 on the command line, File(path, encoding='utf-16') in "
            "Python), or convert it (iconv -f utf-16 -t utf-8)"
        )
    # A CR at the end may belong to a line end of which only a part was read.
    if b"\n" not in start and b"\r" in start.rstrip():
        raise InputError(
            f"{name} has the line ends of old Macs (CR without LF), so all of it would be one "
            "line; convert them (tr '\\r' '\\n' < FILE)"
        )


class _FileReader:
    """Reads an open file, says which one cannot be read, closes it at its end."""

    _file: Any = None

    def __init__(self, path: str, *, is_utf8: bool) -> None:
        self._path, self._needs_check = path, is_utf8
        self._file = _open_decompressed(path)

    def __call__(self, size: int) -> bytes:
        if self._file is None:
            return b""
        try:
            data: bytes = self._file.read(size)
        except (EOFError, OSError, ValueError) as error:
            raise InputError(f"{self._path} cannot be read: {error}") from error
        except Exception as error:
            # lzma and zstd have errors of their own, which have no common base.
            if type(error).__name__ in ("LZMAError", "ZstdError"):
                raise InputError(f"{self._path} cannot be decompressed: {error}") from error
            raise
        if not data:
            self.close()
        elif self._needs_check:
            check_text_start(data, self._path)
        self._needs_check = False
        return data

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self._file is not None and self._path != "-":
            self._file.close()
        self._file = None

    __del__ = close


def _open_decompressed(path: str) -> Any:
    """Open a file to read bytes, which are decompressed."""
    if path == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed")
        return sys.stdin.buffer
    if path.endswith(".gz"):
        import gzip

        return gzip.open(path, "rb")
    if path.endswith(".bz2"):
        import bz2

        return bz2.open(path, "rb")
    if path.endswith(".xz"):
        import lzma

        return lzma.open(path, "rb")
    if path.endswith(".zst"):
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
        return zstd.open(path, "rb")
    return open(path, "rb")


def _transcode_to_utf8(
    read_chunk: Callable[[int], bytes], path: str, encoding: str
) -> Callable[[int], bytes]:
    """`read`, with its bytes turned from `encoding` into UTF-8."""
    import codecs

    decoder = codecs.getincrementaldecoder(encoding)()
    offset = newlines = 0

    def read_utf8(size: int) -> bytes:
        nonlocal offset, newlines
        while True:
            chunk = read_chunk(size)
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                # The decoder may have kept bytes of the piece before.
                byte_offset = offset - (len(error.object) - len(chunk)) + error.start
                line = newlines + error.object[: error.start].count(b"\n") + 1
                raise InputError(
                    f"{path}, line {line}: byte 0x{error.object[error.start]:02x} at offset "
                    f"{byte_offset} "
                    f"is not {encoding}; {ENCODING_HINT}"
                ) from None
            except UnicodeError as error:
                raise InputError(f"{path} is not {encoding}: {error}; {ENCODING_HINT}") from None
            if not offset:
                check_text_start(text[: 1 << 16].encode("utf-8", "surrogatepass"), path)
            offset += len(chunk)
            newlines += text.count("\n")
            if text or not chunk:
                return text.encode("utf-8", "surrogatepass")

    return read_utf8


# ---- text that is read once ----


def is_rereadable(path: str) -> bool:
    """True if a file can be read more than once, or does not exist."""
    return path != "-" and (os.path.isfile(path) or not os.path.exists(path))


def make_rereadable(value: Any, *, copy_all: bool = False, on_disk: bool = False) -> Any:
    """The same to be read more than once.

    Files that cannot be, or are slow to read because they are compressed or in another encoding,
    are kept; with `every`, all files, so that none is read twice. on_disk: where they are kept.
    """
    if isinstance(value, list | tuple):
        if value and all(map(is_file, value)):
            return [make_rereadable(item, copy_all=copy_all, on_disk=on_disk) for item in value]
        return value
    if not is_file(value) or isinstance(value, BufferedLines | HashingFile):
        return value
    file = as_file(value)
    if not copy_all and file.is_plain and is_rereadable(file.path):
        return file
    return BufferedLines(file, on_disk=on_disk)


class BufferedLines(File):
    """The lines of a file, read once: to be scored, shown and hashed as often as one likes."""

    # Its texts, without line ends, not checked to be UTF-8.
    texts: Sequence[bytes]

    def __init__(self, file: File, *, on_disk: bool = False) -> None:
        super().__init__(file.path, file.column, file.encoding)
        if on_disk:
            self.texts = open_disk_lines(file)
        elif file.column is None and file.is_utf8:
            self.texts = FileText(file.read_bytes())
        else:
            self.texts = [line.encode("utf-8", "surrogatepass") for line in file.read_lines()]

    @classmethod
    def from_strings(cls, name: str, lines: Iterable[str]) -> BufferedLines:
        """Lines of no file, and what messages call them."""
        buffered = cls.__new__(cls)
        File.__init__(buffered, name)
        buffered.texts = [line.encode("utf-8", "surrogatepass") for line in lines]
        return buffered

    def read_lines(self) -> Iterator[str]:
        """The lines as strings, without their ends."""
        for number, text in enumerate(self.texts, 1):
            yield decode_line(text, self.format_label("line"), number, "surrogatepass")

    def iter_chunks(self) -> Iterator[bytes]:
        """The lines as UTF-8 with their ends, a piece at a time."""
        return _iter_chunks(self.texts)

    def make_source(self, role: str) -> _kernel.Source:
        """The lines, for the kernel."""
        chunks = _iter_chunks(self.texts)
        return _kernel.stream(lambda _: next(chunks, b""), self.format_label(role))


class HashingFile(File):
    """A file whose text is hashed while it is read: once, in memory that does not grow."""

    # The SHA-256 of all text, as if every line had an end, when all of it was read.
    sha256: str = ""

    def __init__(self, file: File) -> None:
        super().__init__(file.path, file.column, file.encoding)
        self._file = file

    def make_source(self, role: str) -> _kernel.Source:
        """The text, for the kernel."""
        from hashlib import sha256

        digest = sha256()
        chunks = self._file.iter_chunks()
        last_byte = b"\n"

        def read_chunk(_: int) -> bytes:
            nonlocal last_byte
            chunk = next(chunks, b"")
            digest.update(chunk)
            if chunk:
                last_byte = chunk[-1:]
            elif not self.sha256:
                digest.update(b"" if last_byte == b"\n" else b"\n")
                self.sha256 = digest.hexdigest()
            return chunk

        return _kernel.stream(read_chunk, self._file.format_label(role))


class FileText(Sequence[bytes]):
    """The text of a file, whose lines are made when one is asked for."""

    def __init__(self, text: bytes) -> None:
        # With the end of each line, also of the last one.
        self.text = text if text.endswith(b"\n") or not text else text + b"\n"
        self._line_count = _kernel.count_lines(self.text)
        self._lines: list[bytes] | None = None

    @property
    def lines(self) -> list[bytes]:
        """All lines, without their ends."""
        if self._lines is None:
            self._lines = self.text.split(b"\n")
            # Behind the last end there is no line.
            self._lines.pop()
        return self._lines

    def __len__(self) -> int:
        return self._line_count

    def __getitem__(self, index: Any) -> Any:
        return self.lines[index]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.lines)


def open_disk_lines(file: File) -> DiskLines:
    """The lines of a file, on disk.

    What cannot be read at any place (a compressed file, a column of a table, standard input) is put
    into a temporary file first, which has no name and goes away with the process.
    """
    name = "standard input" if file.path == "-" else file.path
    if type(file) is File and file._is_plain_on_disk():  # noqa: SLF001
        descriptor = os.open(file.path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        return DiskLines(descriptor, name, can_change=True)
    from tempfile import TemporaryFile

    with TemporaryFile() as temporary:
        for chunk in file.iter_chunks():
            temporary.write(chunk)
        temporary.flush()
        return DiskLines(os.dup(temporary.fileno()), name, can_change=False)


class DiskLines(Sequence[bytes]):
    """The lines of a file on disk, without their ends: for text that is too large for memory."""

    def __init__(self, descriptor: int, label: str, *, can_change: bool) -> None:
        """descriptor: of an open file, which it closes in the end.

        path: what messages call it; changes: whether others may write to it.
        """
        self._descriptor, self._path, self._lock = descriptor, label, Lock()
        self._initial_status = self._read_status() if can_change else None
        # Where each line begins, and where one after the last would.
        self._starts = array("Q", [0])
        partial_length = 0
        for chunk in self.read_range(0, None):
            lengths = list(map(len, chunk.split(b"\n")))
            lengths[0] += partial_length
            partial_length = lengths.pop()
            ends = accumulate((length + 1 for length in lengths), initial=self._starts[-1])
            self._starts.extend(islice(ends, 1, None))
        if partial_length:
            self._starts.append(self._starts[-1] + partial_length + 1)

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            indices = range(len(self))[index]
            if indices.step != 1 or not indices:
                return [self[i] for i in indices]
            ends = self._starts[indices.start], self._starts[indices.stop]
            return b"".join(self.read_range(*ends)).split(b"\n")[: len(indices)]
        first = range(len(self))[index]
        return b"".join(self.iter_joined(first, first + 1))

    def __iter__(self) -> Iterator[bytes]:
        return split_lines(self.read_range(0, None))

    def get_prefix_size(self, line_count: int) -> int:
        """The size of the first lines in bytes, with their ends."""
        return self._starts[line_count]

    def get_lengths(self, first: int, last: int) -> array[int]:
        """The length in bytes of each of some lines."""
        starts = self._starts[first : last + 1]
        return array("Q", (end - start - 1 for start, end in pairwise(starts)))

    def iter_joined(self, first: int, last: int) -> Iterator[bytes]:
        """Some lines, one behind another, a piece at a time."""
        for chunk in self.read_range(self._starts[first], self._starts[last]):
            yield chunk.replace(b"\n", b"")

    def read_range(self, start: int, end: int | None) -> Iterator[bytes]:
        """The bytes from one place to another, or to the end, a piece at a time.

        Raises InputError if the file is no longer what it was.
        """
        while end is None or start < end:
            size = CHUNK_BYTES if end is None else min(CHUNK_BYTES, end - start)
            with self._lock:
                os.lseek(self._descriptor, start, os.SEEK_SET)
                chunk = os.read(self._descriptor, size)
            self.check_unchanged()
            if not chunk:
                return
            start += len(chunk)
            yield chunk

    def check_unchanged(self) -> None:
        """Raises InputError if the file is no longer what it was."""
        if self._initial_status is not None and self._read_status() != self._initial_status:
            raise InputError(f"{self._path} has changed since it was read; start again")

    def _read_status(self) -> tuple[int, int]:
        status = os.fstat(self._descriptor)
        return status.st_size, status.st_mtime_ns

    def __del__(self) -> None:
        os.close(self._descriptor)


def _iter_chunks(texts: Any) -> Iterator[bytes]:
    """Lines in memory, or on disk, as bytes with their ends."""
    if isinstance(texts, DiskLines):
        return texts.read_range(0, None)
    return iter([texts.text if isinstance(texts, FileText) else b"\n".join([*texts, b""])])


def make_text_source(texts: Texts, role: str) -> _kernel.Source:
    """Texts, for the kernel; `role` is what messages call them."""
    if isinstance(texts, list | tuple):
        return _kernel.encoded(tuple(texts), role)
    chunks = _iter_chunks(texts)
    return _kernel.stream(lambda _: next(chunks, b""), role)


def to_kernel_texts(texts: Texts, limit: int | None = None) -> bytes | tuple[bytes | None, ...]:
    """Texts, or the first ones, as functions of the kernel take them that look at all at once.

    All lines of a file are one piece of text.
    """
    if isinstance(texts, FileText) and limit in (None, len(texts)):
        return texts.text
    return tuple(texts[:limit])


def hash_texts(column: Texts) -> str:
    """The SHA-256 of texts, a line each: what `sha256sum` prints of a plain file.

    Where a text is missing, or has a line end in it, lengths and texts are hashed, so that
    different columns have different hashes.
    """
    from hashlib import sha256

    if isinstance(column, FileText):
        return sha256(column.text).hexdigest()
    if not isinstance(column, list):  # lines of a file on disk, which are all there
        digest = sha256()
        for text in column:
            digest.update((text or b"") + b"\n")
        return digest.hexdigest()
    data = b"" if None in column else b"\n".join([*column, b""])
    if data.count(b"\n") != len(column):
        lengths = (MISSING_LENGTH if text is None else len(text) for text in column)
        data = b"".join(length.to_bytes(4, "little") for length in lengths)
        data += b"".join(filter(None, column))
    return sha256(data).hexdigest()


# ---- any input ----


def is_file(value: object) -> bool:
    """True for a file or the path of one."""
    return isinstance(value, File | os.PathLike)


def is_column(value: object) -> bool:
    """True for a file or a column in the Arrow interface."""
    if type(value) in (str, list, tuple):  # what most inputs are, without a longer look
        return False
    if is_file(value):
        return True
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")


def is_sequence(value: object) -> bool:
    """True for a sequence that is not text."""
    return not isinstance(value, str | bytes) and hasattr(value, "__len__")


def as_file(value: Any) -> File:
    """A file, from a file or the path of one."""
    return value if isinstance(value, File) else File(value)


def get_file_name(value: Any) -> str | None:
    """The name of a file without its folder; None for other inputs."""
    if not is_file(value):
        return None
    return os.path.basename(value.path if isinstance(value, File) else os.fspath(value))


def label_by_file_name(role: str, value: Any) -> str:
    """The name in messages of an input beside systems and references."""
    name = get_file_name(value)
    return role if name is None else f"{role} ({name})"


def iterate_items(role: str, value: Any, item_kind: str = "strings") -> Iterable[Any]:
    """The segments of anything, as Python objects; `kind` is what they should be."""
    if is_file(value):
        return as_file(value).read_lines()
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(value, method):
            return getattr(value, method)()  # type: ignore[no-any-return]
    if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
        raise TypeError(
            f"{role}: expected a list of {item_kind}, or pathlib.Path(...) for the name of a file, "
            f"not {type(value).__name__}"
        )
    return value  # type: ignore[no-any-return]


def label_reference_columns(references: Any) -> list[tuple[str, Any]]:
    """The columns of references, and what messages call each."""
    if isinstance(references, list):
        return [(f"reference {i}", column) for i, column in enumerate(references, 1)]
    return [("references", references)]


def iter_reference_rows(references: Any) -> Iterator[tuple[Any, ...]]:
    """For each segment what the columns of references have: a text, several, or None."""
    has_columns = isinstance(references, list | tuple) and any(map(is_column, references))
    columns = references if has_columns else [references]
    yield from zip(*(iterate_items("references", column) for column in columns), strict=True)


def iter_segments(hypotheses: Any, references: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Each hypothesis with its references, None for one that is missing.

    What does not belong together was refused when it was scored.
    """
    rows = iter_reference_rows(references)
    for hypothesis, row in zip(iterate_items("hypotheses", hypotheses), rows, strict=True):
        yield hypothesis, [one for item in row for one in _list_references(hypothesis, item)]


def _list_references(hypothesis: Any, item: Any) -> list[Any]:
    """The references of a segment, of which an entry may hold one or several."""
    if item is None or isinstance(item, str):
        return [item]
    references = list(item)
    is_token_list = not isinstance(hypothesis, str) and not any(
        one is None or is_sequence(one) for one in references
    )
    return [references] if is_token_list else references


def get_segment(hypotheses: Any, references: Any, number: int) -> tuple[Any, list[Any]]:
    """The segment of a corpus with this number, from 1, and its references."""
    count = 0
    for count, pair in enumerate(iter_segments(hypotheses, references), 1):
        if count == number:
            return pair
    raise InputError(
        f"segment {number} was asked for, and there are {count}; they are counted from 1"
    )


def read_texts(role: str, value: Any) -> Texts:
    """A column of texts, some of which may be missing."""
    if isinstance(value, BufferedLines):
        return value.texts
    return [
        _encode_text(role, number, item)
        for number, item in enumerate(iterate_items(role, value), 1)
    ]


def read_reference_streams(references: Any) -> list[Texts]:
    """The references as columns: as many as a segment has at most."""
    columns = references if isinstance(references, list) and references else [references]
    if all(isinstance(column, BufferedLines) for column in columns):
        return [column.texts for column in columns]
    rows = [
        [
            _encode_text("references", number, one)
            for item in row
            for one in _list_references("", item)
        ]
        for number, row in enumerate(iter_reference_rows(references), 1)
    ]
    return [list(stream) for stream in zip_longest(*rows)]


def _encode_text(role: str, number: int, item: Any) -> bytes | None:
    if item is None:
        return None
    if not isinstance(item, str):
        raise InputError(
            f"{role}: segment {number} is {argument_checks.describe_type(item)}, not str; "
            "a report shows text, so join tokens with spaces (and score them with tokenize='none')"
        )
    return item.encode("utf-8", "surrogatepass")


def split_reference_columns(hypotheses: Any, references: Any) -> list[Any]:
    """Return each reference as a column of its own, with None where a segment has fewer.

    The columns of several files are these files.
    """
    columns = references if isinstance(references, list | tuple) else [references]
    if columns and all(map(is_file, columns)):
        return list(columns)
    rows = [found for _, found in iter_segments(hypotheses, references)]
    return [list(column) for column in zip_longest(*rows)]


def count_identical(hypotheses: Any, references: Sequence[Any]) -> list[int]:
    """Return the number of hypotheses that equal each column's text, ignoring outer white space."""

    def iter_stripped(role: str, column: Any) -> Iterator[Any]:
        for text in (
            column.texts if isinstance(column, BufferedLines) else iterate_items(role, column)
        ):
            if isinstance(text, str | bytes):
                stripped_text = (
                    text if isinstance(text, str) else text.decode("utf-8", "surrogatepass")
                )
                yield stripped_text.strip()
            else:
                yield text if text is None else list(text)

    hypothesis_texts = list(iter_stripped("hypotheses", hypotheses))
    return [
        sum(map(eq, hypothesis_texts, iter_stripped("references", column))) for column in references
    ]


# ---- beside the segments: labels, scores, term lists, counts ----


def read_segment_column(
    role: str, value: Any, segment_count: int, *, on_disk: bool = False
) -> Texts:
    """A column beside those that were scored: as long as they are, and UTF-8."""
    column = read_texts(role, make_rereadable(value, copy_all=True, on_disk=on_disk))
    name = label_by_file_name(role, value)
    _check_length(name, len(column), segment_count)
    is_checked = isinstance(column, FileText) and _kernel.is_utf8(column.text)
    if is_file(value) and not is_checked:
        for number, text in enumerate(column, 1):
            if text is not None and not text.isascii():
                decode_line(text, name, number)
    return column


def _check_length(name: str, length: int, segment_count: int) -> None:
    if length != segment_count:
        raise InputError(
            f"{name} has {length:,} segments, and the systems have {segment_count:,}; "
            "give one for each, in the same order"
        )


def read_segment_labels(
    role: str, value: Any, segment_count: int, *, is_required: bool = False
) -> Iterator[str]:
    """Yield a name for each segment, from a file or from anything that can be written.

    A missing one is "", or an InputError if it is required. A CR at the end of a line is left out.
    """
    if is_file(value):
        names = (
            None if text is None else text.decode("utf-8", "surrogatepass")
            for text in read_segment_column(role, value, segment_count)
        )
    else:
        column = list(iterate_items(role, value))
        _check_length(role, len(column), segment_count)
        names = (None if item is None else str(item) for item in column)
    for number, name in enumerate(names, 1):
        if name is None and is_required:
            raise InputError(f"{role}: segment {number} has none")
        yield (name or "").removesuffix("\r")


def read_numbered_rows(value: Any) -> Iterator[tuple[int, list[str]]]:
    """Yield the number, from 1, and the tab-separated fields of each line of a file.

    A CR at the end of a line is left out; an empty line has one empty field.
    """
    for number, line in enumerate(as_file(value).read_lines(), 1):
        yield number, line.removesuffix("\r").split("\t")


def read_named_columns(role: str, value: Any) -> dict[str, list[str]]:
    """Return the columns of a tab-separated file, by their names in its first line."""
    name = label_by_file_name(role, value)
    rows = read_numbered_rows(value)
    header = [field.strip() for field in next(rows, (0, [""]))[1]]
    for field in header:
        if not field:
            raise InputError(f"{name}, line 1: it names the columns, and one has no name")
        if header.count(field) > 1:
            raise InputError(f"{name}, line 1: '{field}' is there twice")
    columns: list[list[str]] = [[] for _ in header]
    for number, fields in rows:
        if len(fields) != len(header):
            raise InputError(
                f"{name}, line {number}: {count_of(len(fields), 'tab-separated column')}, and "
                f"line 1 names {len(header)}"
            )
        for column, field in zip(columns, fields, strict=True):
            column.append(field)
    return dict(zip(header, columns, strict=True))
