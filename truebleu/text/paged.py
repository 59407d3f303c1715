"""Texts that stay on disk: an index of where each line begins, and what reads some of them.

For corpora whose text is too large for memory. What cannot be read at any place (a compressed
file, a column of a table, standard input) is put into a temporary file first, which has no name
and goes away with the process.
"""

from __future__ import annotations

import os
import stat
from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice, pairwise
from threading import Lock
from typing import overload

from truebleu._kernel import InputError
from truebleu.text.files import File, lines_of

# How much is read at once.
PIECE = 1 << 18


def paged(file: File) -> Paged:
    """The lines of a file, on disk."""
    name = "standard input" if file.path == "-" else file.path
    return Paged(_opened(file), name, changes=_stays(file))


class Paged(Sequence[bytes]):
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
        return b"".join(self.together(first, first + 1))

    def __iter__(self) -> Iterator[bytes]:
        return lines_of(self.between(0, None))

    def size(self, count: int) -> int:
        """The size of the first lines in bytes, with their ends."""
        return self._starts[count]

    def lengths(self, first: int, last: int) -> array[int]:
        """The length in bytes of each of some lines."""
        starts = self._starts[first : last + 1]
        return array("Q", (end - start - 1 for start, end in pairwise(starts)))

    def together(self, first: int, last: int) -> Iterator[bytes]:
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


def _stays(file: File) -> bool:
    """True for a file of plain lines that can be read from any place."""
    plain = type(file) is File and file.column is None and file.is_plain and file.path != "-"
    return plain and stat.S_ISREG(os.stat(file.path).st_mode)


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
