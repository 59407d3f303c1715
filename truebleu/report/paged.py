"""Texts that stay in their files: an index of where each begins, and what reads some of them.

For corpora whose text is too large for memory. What cannot be read at any place (a compressed
file, a column of a table, standard input) is put into a temporary file first, which has no name
and goes away with the process.
"""

from __future__ import annotations

import os
import stat
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, islice, pairwise
from threading import Lock
from typing import overload

from truebleu import _kernel
from truebleu._kernel import InputError
from truebleu.files import DECOMPRESSORS, UTF8, File
from truebleu.report.payload import MISSING
from truebleu.report.reading import Lines, decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# How much is read at once.
PIECE = 1 << 18


class Column(Sequence[bytes]):
    """The lines of a file on disk, without their ends."""

    __slots__ = ("_descriptor", "_lock", "_path", "_starts", "_state")

    def __init__(self, descriptor: int, path: str, *, changes: bool) -> None:
        """descriptor: of an open file, which it closes in the end.

        path: what messages call it; changes: whether others may write to it.
        """
        self._descriptor = descriptor
        self._path = path
        self._lock = Lock()
        self._state = _state(descriptor) if changes else None
        # Where each line begins, and where one after the last would.
        self._starts = array("Q", [0])
        unfinished = 0
        for piece in self.between(0, None):
            lengths = list(map(len, piece.split(b"\n")))
            lengths[0] += unfinished
            unfinished = lengths.pop()
            ends = accumulate((length + 1 for length in lengths), initial=self._starts[-1])
            self._starts.extend(islice(ends, 1, None))
        if unfinished:
            self._starts.append(self._starts[-1] + unfinished + 1)

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> list[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | list[bytes]:
        if isinstance(index, slice):
            chosen = range(len(self))[index]
            if chosen.step != 1 or not chosen:
                return [self[i] for i in chosen]
            ends = self._starts[chosen.start], self._starts[chosen.stop]
            return b"".join(self.between(*ends)).split(b"\n")[: len(chosen)]
        first = range(len(self))[index]
        return b"".join(self.pieces(first, first + 1))

    def __iter__(self) -> Iterator[bytes]:
        rest = b""
        for piece in self.between(0, None):
            *lines, rest = (rest + piece).split(b"\n")
            yield from lines
        if rest:
            yield rest

    def source(self, name: str) -> _kernel.Source:
        """The lines, for the kernel; `name` is what messages call them."""
        pieces = self.between(0, None)
        return _kernel.stream(lambda _: next(pieces, b""), name)

    def size(self, count: int) -> int:
        """How many bytes the first lines have, with their ends."""
        return self._starts[count]

    def lengths(self, first: int, last: int) -> array[int]:
        """How many bytes each of some lines has."""
        starts = self._starts[first : last + 1]
        return array("Q", (end - start - 1 for start, end in pairwise(starts)))

    def pieces(self, first: int, last: int) -> Iterator[bytes]:
        """Some lines, one behind another, a piece at a time."""
        for piece in self.between(self._starts[first], self._starts[last]):
            yield piece.replace(b"\n", b"")

    def between(self, start: int, end: int | None) -> Iterator[bytes]:
        """The bytes from one place to another, or to the end, a piece at a time."""
        while end is None or start < end:
            size = PIECE if end is None else min(PIECE, end - start)
            with self._lock:
                os.lseek(self._descriptor, start, os.SEEK_SET)
                piece = os.read(self._descriptor, size)
            self.check()
            if not piece:
                return
            start += len(piece)
            yield piece

    def __del__(self) -> None:
        os.close(self._descriptor)

    def check(self) -> None:
        """Raises InputError if the file is no longer what it was."""
        if self._state is not None and _state(self._descriptor) != self._state:
            raise InputError(f"{self._path} has changed since it was read; start again")


def _state(descriptor: int) -> tuple[int, int]:
    state = os.fstat(descriptor)
    return state.st_size, state.st_mtime_ns


class Paged(Lines):
    """The lines of a file on disk: for the kernel, for a server, and to be hashed."""

    __slots__ = ()

    def __init__(self, file: File) -> None:
        File.__init__(self, file.path, file.column, file.encoding)
        name = "standard input" if file.path == "-" else file.path
        self.texts = Column(_opened(file), name, changes=_stays(file))

    def lines(self) -> Iterator[str]:
        """The lines as strings, without their ends."""
        for number, text in enumerate(self.texts, 1):
            yield decoded(text, self.label("line"), number)

    def source(self, role: str) -> _kernel.Source:
        """The lines, for the kernel."""
        assert isinstance(self.texts, Column)
        return self.texts.source(self.label(role))


def _stays(file: File) -> bool:
    """Whether a file has its lines as they are, and can be read at any place."""
    return (
        type(file) is File
        and file.column is None
        and file.encoding.lower() in UTF8
        and not file.path.endswith(tuple(DECOMPRESSORS))
        and file.path != "-"
        and stat.S_ISREG(os.stat(file.path).st_mode)
    )


def _opened(file: File) -> int:
    """The descriptor of a file that has a file's lines in UTF-8."""
    if _stays(file):
        return os.open(file.path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    from tempfile import TemporaryFile

    with TemporaryFile() as made:
        for piece in file.pieces():
            made.write(piece)
        made.flush()
        return os.dup(made.fileno())


def fitting(columns: Iterable[Sequence[bytes | None]], most: int) -> int:
    """How many segments have texts on disk of no more than so many bytes together.

    Columns in memory take none that is not taken already.
    """
    columns = list(columns)
    on_disk = [column for column in columns if isinstance(column, Column)]

    def taken(count: int) -> int:
        return sum(column.size(count) for column in on_disk)

    return bisect_right(range(1, len(columns[0]) + 1), most, key=taken)


# ---- as blocks ----


def block(texts: Sequence[bytes | None], first: int, last: int) -> tuple[int, Iterator[bytes]]:
    """Some texts as payload.py has them: how many bytes that is, and the bytes, piece by piece."""
    from truebleu.report import payload

    if isinstance(texts, Column):
        lengths = texts.lengths(first, last)
        if max(lengths) >= MISSING:
            raise InputError("a line of 4 GiB or more cannot be shown")
        head = payload.of_indices(lengths)
        return len(head) + sum(lengths), _behind(head, texts.pieces(first, last))
    whole = payload.of_texts(texts[first:last])
    return len(whole), iter([whole])


def _behind(head: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from pieces
