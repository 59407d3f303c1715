"""Readers of all text inputs: files, pipes, compressed files, sequences and Arrow columns.

An input is a sequence, an Arrow column, a file, or a list of columns or files. `File` reads the
lines of any file. `BufferedLines` reads a file once and keeps its lines, in memory or on disk with
an index of line offsets (`DiskLines`). The functions below iterate over any input. The last section
reads additional files with one entry per segment: labels, scores and term lists.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, compress, islice, pairwise, zip_longest
from operator import eq
from threading import Lock
from typing import Any

from truebleu import _kernel
from truebleu._kernel import InputError
from truebleu.text import argument_checks
from truebleu.text.terminal_layout import format_count

Path = str | os.PathLike[str]
# UTF-8 texts, one per segment; None is a missing text. Lone surrogates are encoded in three bytes,
# as with Python's "surrogatepass".
Texts = Sequence[bytes | None]
# The length that marks a missing text in binary data.
MISSING_LENGTH = 0xFFFFFFFF

# Suffixes and formats of files with named columns, which DuckDB reads.
TABLE_FORMATS = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}
NO_TABLE_FILES = "no .parquet, .csv, .tsv, .jsonl or .json files in this folder"
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
CHUNK_BYTES = 1 << 18
ENCODING_HINT = (
    "specify the encoding of the text (--encoding on the command line, for all files; "
    "File(path, encoding=...) in Python)"
)


def get_table_format(path: str) -> str | None:
    """Return the table format that a file's suffix indicates, or None for plain text.

    A "tsv" file may also be plain text; the caller decides.

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
    """Return a path in which ~ is expanded, because shells do not expand quoted patterns."""
    return name if os.path.exists(name) else os.path.expanduser(name)


# ---- files ----


class File:
    """A file of segments, one per line. Only newlines end a line, as in sacreBLEU.

    A regular file is read up to the size that it had when it was opened. Text appended later is
    ignored; truncation during reading raises InputError.

    `path` may end in .gz, .bz2, .xz or .zst; "-" is standard input. `column` selects one
    tab-separated column, counted from 1; None selects entire lines. `encoding` is any encoding that
    Python supports; utf-8-sig drops a byte-order mark.
    """

    # Fields that describe the texts in the signatures of their scores.
    signature_fields: Mapping[str, str] | None = None

    def __init__(self, path: Path, column: int | None = None, encoding: str = "utf-8") -> None:
        if column is not None and (not isinstance(column, int) or column < 1):
            raise ValueError(f"column={column!r}: expected a whole number of 1 or more")
        if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
            raise TypeError(f"path: expected a str or an os.PathLike of str, not {path!r:.60}")
        try:
            "".encode(encoding)
        except LookupError:
            raise ValueError(f"unknown encoding '{encoding}'") from None
        self.path: str = os.fspath(path)
        self.column, self.encoding = column, encoding

    @property
    def is_utf8(self) -> bool:
        """True if the decompressed bytes are UTF-8."""
        return self.encoding.lower() in ("utf-8", "utf8", "u8", "utf_8")

    @property
    def is_plain_utf8(self) -> bool:
        """True if the file is uncompressed UTF-8."""
        return self.is_utf8 and not self.path.endswith(COMPRESSED_SUFFIXES)

    def __repr__(self) -> str:
        column = "" if self.column is None else f", column={self.column}"
        encoding = "" if self.is_utf8 else f", encoding={self.encoding!r}"
        return f"File({self.path!r}{column}{encoding})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, File):
            return NotImplemented
        return self._get_equality_key() == other._get_equality_key()

    def __hash__(self) -> int:
        return hash(self._get_equality_key())

    def _get_equality_key(self) -> tuple[object, ...]:
        return self.path, self.column, self.encoding

    def format_label(self, role: str) -> str:
        """Return the name of the file for messages: its role and its path."""
        if self.path == "-":
            return f"{role} (standard input)"
        # File names may not be valid UTF-8.
        return f"{role} ({os.fsencode(self.path).decode('utf-8', 'backslashreplace')})"

    def make_source(self, role: str) -> _kernel.Source:
        """Return a kernel source of the lines; `role` is the name used for it in messages."""
        name = self.format_label(role)
        # Do not open pipes here, because closing them would disconnect the writer.
        if self._is_plain_on_disk():
            # If opening the file fails, Python's error includes the path.
            with open(self.path, "rb") as file:
                check_text_start(file.read(1 << 16), self.path)
            return _kernel.file(self.path, name)
        column = None if self.column is None else self.column - 1
        return _kernel.stream(self._make_reader(), name, column)

    def _is_plain_on_disk(self) -> bool:
        """Return whether this is a regular file of uncompressed UTF-8 with no column selected."""
        is_plain = self.is_plain_utf8 and self.column is None and self.path != "-"
        return is_plain and stat.S_ISREG(os.stat(self.path).st_mode)

    def read_bytes(self) -> bytes:
        """Return the content as UTF-8, without validating UTF-8 input."""
        is_file = self.is_plain_utf8 and os.path.isfile(self.path)
        size = os.path.getsize(self.path) + 1 if is_file else 0
        return b"".join(self._iter_bytes(max(1 << 22, size)))

    def iter_chunks(self) -> Iterator[bytes]:
        """Yield the lines as UTF-8 with line endings, in chunks. Only columns are validated."""
        if self.column is None:
            yield from self._iter_bytes()
            return
        lines = self.read_lines()
        while batch := list(islice(lines, 64)):
            yield "".join(f"{line}\n" for line in batch).encode("utf-8", "surrogatepass")

    def read_lines(self) -> Iterator[str]:
        """Yield the lines as strings, without line endings."""
        for number, line in enumerate(split_lines(self._iter_bytes()), 1):
            text = decode_line(line, self.path, number)
            if self.column is not None:
                fields = text.split("\t")
                if len(fields) < self.column:
                    raise InputError(
                        f"{self.path}, line {number}: expected at least {self.column} "
                        f"tab-separated columns, found {len(fields)}"
                    )
                text = fields[self.column - 1]
            yield text

    def count_lines(self) -> int:
        """Return the number of lines, which are not validated."""
        count, chunk = 0, b"\n"
        for chunk in self.iter_chunks():
            count += _kernel.count_lines(chunk)
        return count + (not chunk.endswith(b"\n"))

    def read_first_lines(self, max_bytes: int) -> list[bytes]:
        """Return the complete lines in about the first `max_bytes` bytes of UTF-8."""
        chunks, size = [], 0
        for chunk in self._iter_bytes(max_bytes):
            chunks.append(chunk)
            size += len(chunk)
            if size >= max_bytes:
                break
        lines = b"".join(chunks).split(b"\n")
        if size >= max_bytes or not lines[-1]:
            lines.pop()  # incomplete, or no line
        if self.column is not None:
            lines = [b"".join(line.split(b"\t")[self.column - 1 : self.column]) for line in lines]
        return lines

    def _iter_bytes(self, size: int = CHUNK_BYTES) -> Iterator[bytes]:
        """Yield the content as UTF-8, in chunks."""
        read_chunk = self._make_reader()
        return iter(lambda: read_chunk(size), b"")

    def _make_reader(self) -> Callable[[int], bytes]:
        """Return a function that reads up to a given number of UTF-8 bytes."""
        read_utf8 = _FileReader(self.path, is_utf8=self.is_utf8)
        return (
            read_utf8 if self.is_utf8 else _transcode_to_utf8(read_utf8, self.path, self.encoding)
        )


class LineSubset(File):
    """File that consists of the selected lines of another file.

    line_mask: one boolean per line of the file, which is true if the line is selected.
    counterpart: the name, for messages, of the input that has the expected number of lines.
    """

    is_plain_utf8 = False  # the bytes differ from the file on disk

    def __init__(self, file: File, line_mask: Sequence[bool], counterpart: str) -> None:
        super().__init__(file.path, file.column, file.encoding)
        self._line_mask, self._counterpart = tuple(line_mask), counterpart

    def _get_equality_key(self) -> tuple[object, ...]:
        return *super()._get_equality_key(), self._line_mask

    def _make_reader(self) -> Callable[[int], bytes]:
        read_chunk = super()._make_reader()
        all_lines = split_lines(iter(lambda: read_chunk(CHUNK_BYTES), b""))
        lines = compress(self._check_line_count(all_lines), self._line_mask)
        chunks = iter(lambda: b"".join(b"%b\n" % line for line in islice(lines, 1024)), b"")
        return lambda _: next(chunks, b"")

    def _check_line_count(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the lines; raise InputError if their number differs from the mask's length."""
        count, expected = 0, len(self._line_mask)
        for count, line in enumerate(lines, 1):
            if count <= expected:
                yield line
        if count != expected:
            raise InputError(
                f"{self.path}: expected {expected:,} lines, as in {self._counterpart}, "
                f"found {count:,}"
            )


def split_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines in chunks of bytes, without line endings."""
    # The chunks of a long line are joined only once, so that the time stays linear.
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
    """Decode a line to a string. Errors contain the file and the line number."""
    try:
        return line.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file_label}, line {line_number}: byte 0x{line[error.start]:02x} is not valid UTF-8. "
            "If the text has another encoding, specify it (--encoding on the command line, "
            "File(path, encoding=...) in Python)"
        ) from None


def check_text_start(start: bytes, path: str) -> None:
    """Raise InputError for text that starts like UTF-16 or has CR-only line endings."""
    name = "standard input" if path == "-" else path
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(
            f"{name}: expected UTF-8, found UTF-16. "
            "Specify the encoding (-e utf-16 on the command line, File(path, encoding='utf-16') in "
            "Python), or convert the file (iconv -f utf-16 -t utf-8)."
        )
    # A final CR may be the first half of CR LF.
    if b"\n" not in start and b"\r" in start.rstrip():
        raise InputError(
            f"{name} has CR-only line endings, so it would be a single line. "
            "Convert it with: tr '\\r' '\\n' < FILE"
        )


class _FileReader:
    """Reader of an open file, which adds the path to errors and closes the file at its end."""

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
            # The exceptions of lzma and zstd have no common base class.
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
        """Close the file, unless it is standard input."""
        if self._file is not None and self._path != "-":
            self._file.close()
        self._file = None

    __del__ = close


def _open_decompressed(path: str) -> Any:
    if path == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed")
        return sys.stdin.buffer
    suffix = next(filter(path.endswith, COMPRESSED_SUFFIXES), "")
    return open_compressed(path, suffix) if suffix else open(path, "rb")


def open_compressed(source: Any, suffix: str) -> Any:
    """Open a compressed file, given its path or the open file, for reading decompressed bytes."""
    module: Any
    if suffix == ".gz":
        import gzip as module
    elif suffix == ".bz2":
        import bz2 as module
    elif suffix == ".xz":
        import lzma as module
    elif sys.version_info >= (3, 14):
        from compression import zstd as module
    else:
        from backports import zstd as module
    return module.open(source, "rb")


def _transcode_to_utf8(
    read_chunk: Callable[[int], bytes], path: str, encoding: str
) -> Callable[[int], bytes]:
    """Return a function like `read_chunk` that converts the text from `encoding` to UTF-8."""
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
                # The decoder may have buffered bytes of the previous chunk.
                byte_offset = offset - (len(error.object) - len(chunk)) + error.start
                line = newlines + error.object[: error.start].count(b"\n") + 1
                raise InputError(
                    f"{path}, line {line}: byte 0x{error.object[error.start]:02x} at offset "
                    f"{byte_offset} is not {encoding}; {ENCODING_HINT}"
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


# ---- buffered text ----


def is_rereadable(path: str) -> bool:
    """Return True if a file can be read more than once or does not exist."""
    return path != "-" and (os.path.isfile(path) or not os.path.exists(path))


def is_stream(value: object) -> bool:
    """Return whether an input can be read only once, like standard input."""
    return is_file(value) and not (
        isinstance(value, BufferedLines) or is_rereadable(as_file(value).path)
    )


def make_rereadable(value: Any, *, copy_all: bool = False, on_disk: bool = False) -> Any:
    """Return an equivalent input that can be read repeatedly.

    Pipes, compressed files and files in other encodings are buffered. With `copy_all`, all files
    are buffered, so that none is read twice. `on_disk` buffers on disk instead of in memory.
    """
    if isinstance(value, list | tuple):
        if value and all(map(is_file, value)):
            return [make_rereadable(item, copy_all=copy_all, on_disk=on_disk) for item in value]
        return value
    if not is_file(value) or isinstance(value, BufferedLines):
        return value
    file = as_file(value)
    is_plain = file.is_plain_utf8 and is_rereadable(file.path)
    return file if is_plain and not copy_all else BufferedLines(file, on_disk=on_disk)


class BufferedLines(File):
    """Lines of a file that is read only once; they are kept for scoring, display and hashing."""

    # The texts without line endings, not validated as UTF-8.
    texts: Sequence[bytes]
    # The re-segmentation that produced the texts.
    resegmentation: Any = None

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
        """Create lines from strings instead of a file; messages identify them by `name`."""
        buffered = cls.__new__(cls)
        File.__init__(buffered, name)
        buffered.texts = [line.encode("utf-8", "surrogatepass") for line in lines]
        return buffered

    def read_lines(self) -> Iterator[str]:
        """Yield the lines as strings, without line endings."""
        for number, text in enumerate(self.texts, 1):
            yield decode_line(text, self.format_label("line"), number, "surrogatepass")

    def iter_chunks(self) -> Iterator[bytes]:
        """Return the lines as UTF-8 with line endings, in chunks."""
        return _iter_chunks(self.texts)

    def make_source(self, role: str) -> _kernel.Source:
        """Return the lines as a kernel source."""
        chunks = _iter_chunks(self.texts)
        return _kernel.stream(lambda _: next(chunks, b""), self.format_label(role))


class FileText(Sequence[bytes]):
    """Text of a file, which is split into lines on first access."""

    def __init__(self, text: bytes) -> None:
        # Every line, including the last one, ends with a newline.
        self.text = text if text.endswith(b"\n") or not text else text + b"\n"
        self._line_count = _kernel.count_lines(self.text)

    @cached_property
    def lines(self) -> list[bytes]:
        """All lines, without their line endings."""
        lines = self.text.split(b"\n")
        lines.pop()  # no line follows the last newline
        return lines

    def __len__(self) -> int:
        return self._line_count

    def __getitem__(self, index: Any) -> Any:
        return self.lines[index]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.lines)


def open_disk_lines(file: File) -> DiskLines:
    """Open the lines of a file on disk.

    Inputs without random access (compressed files, columns, standard input) are first copied to an
    unnamed temporary file, which disappears when the process ends.
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
    """Lines of a file on disk, without line endings, for text that does not fit in memory."""

    def __init__(self, descriptor: int, label: str, *, can_change: bool) -> None:
        """Index the lines of an open file.

        descriptor: the open file, which this object closes. label: its name in messages.
        can_change: whether other processes may write to it.
        """
        self._descriptor, self._path, self._lock = descriptor, label, Lock()
        self._initial_status = os.fstat(self._descriptor) if can_change else None
        # The offset of each line, and the offset of the end.
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
        return b"".join(self.iter_joined_lines(first, first + 1))

    def __iter__(self) -> Iterator[bytes]:
        return split_lines(self.read_range(0, None))

    def get_prefix_size(self, line_count: int) -> int:
        """Return the size in bytes of the first `line_count` lines, with line endings."""
        return self._starts[line_count]

    def get_line_lengths(self, first: int, last: int) -> array[int]:
        """Return the length in bytes of each line from `first` up to `last`, exclusive."""
        starts = self._starts[first : last + 1]
        return array("Q", (end - start - 1 for start, end in pairwise(starts)))

    def iter_joined_lines(self, first: int, last: int) -> Iterator[bytes]:
        """Yield the concatenated lines from `first` up to `last`, exclusive, in chunks."""
        for chunk in self.read_range(self._starts[first], self._starts[last]):
            yield chunk.replace(b"\n", b"")

    def read_range(self, start: int, end: int | None) -> Iterator[bytes]:
        """Yield the bytes from one offset to another, or to the end, in chunks.

        Raises InputError if the file has changed.
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
        """Raise InputError if the file has changed since it was opened."""
        status, initial = os.fstat(self._descriptor), self._initial_status
        if initial is not None and (
            status.st_size != initial.st_size or status.st_mtime_ns != initial.st_mtime_ns
        ):
            raise InputError(f"{self._path} has changed since it was read. Start again.")

    def __del__(self) -> None:
        os.close(self._descriptor)


def _iter_chunks(texts: Any) -> Iterator[bytes]:
    """Return the bytes of lines from memory or disk, with line endings, in chunks."""
    if isinstance(texts, DiskLines):
        return texts.read_range(0, None)
    return iter([texts.text if isinstance(texts, FileText) else b"\n".join([*texts, b""])])


def make_text_source(texts: Texts) -> _kernel.Source:
    """Convert texts to a kernel source, which messages call "texts"."""
    if isinstance(texts, list | tuple):
        return _kernel.encoded(tuple(texts), "texts")
    chunks = _iter_chunks(texts)
    return _kernel.stream(lambda _: next(chunks, b""), "texts")


def to_kernel_texts(texts: Texts, limit: int | None = None) -> bytes | tuple[bytes | None, ...]:
    """Convert texts, or the first `limit` texts, to the form that kernel functions accept.

    All lines of a file become a single byte string.
    """
    if isinstance(texts, FileText) and limit in (None, len(texts)):
        return texts.text
    return tuple(texts[:limit])


def hash_texts(column: Texts) -> str:
    """Return the SHA-256 of texts, one line per text, as `sha256sum` prints it for a plain file.

    If a text is missing or contains a newline, the lengths are hashed as well as the texts, so that
    different columns have different hashes.
    """
    from hashlib import sha256

    if isinstance(column, FileText):
        return sha256(column.text).hexdigest()
    if not isinstance(column, list):  # lines on disk, which are never missing
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


def hash_file(file: File) -> str:
    """Return the SHA-256 of the text of a file, with a newline after every line."""
    from hashlib import sha256

    digest, last_byte = sha256(), b"\n"
    for chunk in filter(None, file.iter_chunks()):
        digest.update(chunk)
        last_byte = chunk[-1:]
    digest.update(b"" if last_byte == b"\n" else b"\n")
    return digest.hexdigest()


# ---- inputs of any kind ----


def is_file(value: object) -> bool:
    """Return whether a value is a file or a path."""
    return isinstance(value, File | os.PathLike)


def is_column(value: object) -> bool:
    """Return whether a value is a file or an Arrow column."""
    if type(value) in (str, list, tuple):  # fast path for most inputs
        return False
    if is_file(value):
        return True
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")


def is_sequence(value: object) -> bool:
    """Return whether a value is a sequence other than text."""
    return not isinstance(value, str | bytes) and hasattr(value, "__len__")


def as_file(value: Any) -> File:
    """Return a File for a path, or a File unchanged."""
    return value if isinstance(value, File) else File(value)


def get_file_name(value: Any) -> str | None:
    """Return the name of a file without its folder, or None for other inputs."""
    if not is_file(value):
        return None
    return os.path.basename(value.path if isinstance(value, File) else os.fspath(value))


def name_references(references: Any) -> list[str]:
    """Return the names of the references for messages: their file names or "reference 1" etc."""
    has_columns = has_several_columns(references)
    return [
        get_file_name(column) or (f"reference {i}" if has_columns else "references")
        for i, column in enumerate(references if has_columns else [references], 1)
    ]


def check_segment_counts(counts: Mapping[str, int]) -> None:
    """Raise InputError if inputs have different numbers of segments, which are given by label."""
    label = next(iter(counts), "")
    if len(set(counts.values())) > 1:
        if not counts[label]:
            raise InputError(f"{label}: no segments (expected at least one)")
        listed_counts = ", ".join(map("{} {}".format, counts, counts.values()))
        raise InputError(
            f"the inputs have different numbers of segments: {listed_counts}; "
            f"segment {min(counts.values()) + 1} is not in every input"
        )


def label_by_file_name(role: str, value: Any) -> str:
    """Return the name of an additional input in messages: its role and its file name."""
    name = get_file_name(value)
    return role if name is None else f"{role} ({name})"


def iterate_items(role: str, value: Any, item_kind: str = "strings") -> Iterable[Any]:
    """Return the segments of any input as Python objects; `item_kind` names them in errors."""
    if is_file(value):
        return as_file(value).read_lines()
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(value, method):
            return getattr(value, method)()  # type: ignore[no-any-return]
    if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
        raise TypeError(
            f"{role}: expected a list of {item_kind} or a pathlib.Path, not {type(value).__name__}"
        )
    return value  # type: ignore[no-any-return]


def label_reference_columns(references: Any) -> list[tuple[str, Any]]:
    """Return the columns of references, each with its name for messages."""
    if isinstance(references, list):
        return [(f"reference {i}", column) for i, column in enumerate(references, 1)]
    return [("references", references)]


def has_several_columns(references: Any) -> bool:
    """Return whether the references are a list of files or columns, not a list of segments."""
    return isinstance(references, list | tuple) and any(map(is_column, references[:1]))


def iter_reference_rows(references: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the references of each segment; an entry is a text, several texts or None.

    Raise InputError if the references have different numbers of segments.
    """
    columns = references if has_several_columns(references) else [references]
    missing = object()
    rows = zip_longest(
        *(iterate_items("references", column) for column in columns), fillvalue=missing
    )
    for number, row in enumerate(rows, 1):
        if any(item is missing for item in row):
            pairs = enumerate(zip(columns, row, strict=True), 1)
            absent = (
                label_by_file_name(f"reference {i}", c) for i, (c, x) in pairs if x is missing
            )
            raise InputError(
                f"the references have different numbers of segments: segment {number} is not in "
                f"{', '.join(absent)}"
            )
        yield row


def iter_segments(hypotheses: Any, references: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Yield each hypothesis with its references; a missing reference is None.

    The inputs must have been scored before, so their lengths agree.
    """
    rows = iter_reference_rows(references)
    for hypothesis, row in zip(iterate_items("hypotheses", hypotheses), rows, strict=True):
        yield hypothesis, [one for item in row for one in _list_references(hypothesis, item)]


def _list_references(hypothesis: Any, item: Any) -> list[Any]:
    """Return the references in an entry, which consists of one or more references."""
    if item is None or isinstance(item, str):
        return [item]
    references = list(item)
    is_token_list = not isinstance(hypothesis, str) and not any(
        one is None or is_sequence(one) for one in references
    )
    return [references] if is_token_list else references


def get_segment(hypotheses: Any, references: Any, number: int) -> tuple[Any, list[Any]]:
    """Return the segment with the given number, counted from 1, and its references."""
    count = 0
    for count, pair in enumerate(iter_segments(hypotheses, references), 1):
        if count == number:
            return pair
    raise InputError(f"no segment {number}: expected a number from 1 to {count}")


def read_texts(role: str, value: Any) -> Texts:
    """Return a column of texts, some of which may be missing."""
    if isinstance(value, BufferedLines):
        return value.texts
    items = enumerate(iterate_items(role, value), 1)
    return [_encode_text(role, number, item) for number, item in items]


def read_reference_streams(references: Any) -> list[Texts]:
    """Return one column per reference, with None where a segment has fewer references."""
    columns = references if isinstance(references, list) and references else [references]
    if all(isinstance(column, BufferedLines) for column in columns):
        return [column.texts for column in columns]
    rows = []
    for number, row in enumerate(iter_reference_rows(references), 1):
        texts = [one for item in row for one in _list_references("", item)]
        rows.append([_encode_text("references", number, text) for text in texts])
    return [list(stream) for stream in zip_longest(*rows)]


def _encode_text(role: str, number: int, item: Any) -> bytes | None:
    if item is None:
        return None
    if not isinstance(item, str):
        raise InputError(
            f"{role}: segment {number} is {argument_checks.describe_type(item)}, not str. "
            "A report shows text: join tokens with spaces and use tokenize='none'."
        )
    return item.encode("utf-8", "surrogatepass")


def split_reference_columns(hypotheses: Any, references: Any) -> list[Any]:
    """Return the references as columns, with None where a segment has fewer references.

    If all references are files, the columns are these files.
    """
    columns = references if isinstance(references, list | tuple) else [references]
    if columns and all(map(is_file, columns)):
        return list(columns)
    rows = [found for _, found in iter_segments(hypotheses, references)]
    return [list(column) for column in zip_longest(*rows)]


def count_identical_hypotheses(hypotheses: Any, references: Sequence[Any]) -> list[int]:
    """Return, for each column, how many texts equal the hypothesis; ignore surrounding spaces."""

    def iter_stripped(role: str, column: Any) -> Iterator[Any]:
        for item in iterate_items(role, column):
            if isinstance(item, str):
                yield item.strip()
            else:
                yield item if item is None else list(item)

    hypothesis_texts = list(iter_stripped("hypotheses", hypotheses))
    return [
        sum(map(eq, hypothesis_texts, iter_stripped("references", column))) for column in references
    ]


# ---- additional inputs with one entry per segment: labels, scores, term lists, counts ----


def read_segment_column(
    role: str, value: Any, segment_count: int, *, on_disk: bool = False
) -> Texts:
    """Return a column of UTF-8 texts. Raise InputError unless there is one text per segment."""
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
            f"{name} has {format_count(length, 'segment')}, but the systems have "
            f"{segment_count:,}. Provide one entry per segment, in the same order."
        )


def read_segment_labels(
    role: str, value: Any, segment_count: int, *, is_required: bool = False
) -> Iterator[str]:
    """Yield one label per segment, from a file or from values, which `str` converts.

    A missing label becomes "" or, if labels are required, raises InputError. A final CR is removed.
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
            raise InputError(f"{role}: segment {number} has no label")
        yield (name or "").removesuffix("\r")


DOCUMENT_SEGMENT = r"\s*(docid=\d+),segid=\d+\s*"


def read_document_names(role: str, value: Any, segment_count: int) -> list[str]:
    """Return the document of each segment, from a file or from values.

    Of OmniSTEval's lines such as docid=0,segid=3, the name is docid=0.
    """
    labels = list(read_segment_labels(role, value, segment_count, is_required=True))
    if not labels or not re.fullmatch(DOCUMENT_SEGMENT, labels[0]):
        return labels
    names = []
    for number, label in enumerate(labels, 1):
        match = re.fullmatch(DOCUMENT_SEGMENT, label)
        if match is None:
            raise InputError(
                f"{label_by_file_name(role, value)}, line {number}: expected docid=N,segid=N, as "
                f"in line 1, found {argument_checks.format_value(label)}"
            )
        names.append(match[1])
    return names


def read_numbered_rows(value: Any) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number, from 1, and the tab-separated fields of each line of a file.

    A final CR is removed; an empty line has one empty field.
    """
    for number, line in enumerate(as_file(value).read_lines(), 1):
        yield number, line.removesuffix("\r").split("\t")


def read_named_columns(role: str, value: Any) -> dict[str, list[str]]:
    """Return the columns of a tab-separated file, keyed by the names in its first line."""
    name = label_by_file_name(role, value)
    rows = read_numbered_rows(value)
    header = [field.strip() for field in next(rows, (0, [""]))[1]]
    for field in header:
        if not field:
            raise InputError(f"{name}, line 1: a column has no name")
        if header.count(field) > 1:
            raise InputError(f"{name}, line 1: duplicate column '{field}'")
    columns: list[list[str]] = [[] for _ in header]
    for number, fields in rows:
        if len(fields) != len(header):
            raise InputError(
                f"{name}, line {number}: expected {format_count(len(header), 'column')}, "
                f"as in line 1, found {len(fields)}"
            )
        for column, field in zip(columns, fields, strict=True):
            column.append(field)
    return dict(zip(header, columns, strict=True))
