"""Segments as Python has them, and text that can be read again.

An input is a sequence, a column that speaks Arrow, a file, or a list of columns or files.
Here is one way to walk through each of them, and `Lines`: a file that is read once and kept, in
memory or, for what is too large, on disk with an index of where each line begins.
"""

from __future__ import annotations

import os
from _collections_abc import Sequence  # Python has it loaded; `collections` takes time
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from operator import eq
from typing import TYPE_CHECKING, Any

from truebleu import _kernel
from truebleu._kernel import InputError
from truebleu.text import checks
from truebleu.text.files import File, decoded

if TYPE_CHECKING:
    # Texts in UTF-8, one per segment; None for one that is missing. Lone surrogates are three
    # bytes each, as Python's "surrogatepass" has them.
    Texts = Sequence[bytes | None]

# The length of a text that is missing, where lengths are written.
MISSING = 0xFFFFFFFF


# ---- what there is ----


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


def is_group(value: object) -> bool:
    """True for a sequence that is not text."""
    return not isinstance(value, str | bytes) and hasattr(value, "__len__")


def file_of(value: Any) -> File:
    """A file, from a file or the path of one."""
    return value if isinstance(value, File) else File(value)


def file_name(value: Any) -> str | None:
    """The name of a file without its folder; None for other inputs."""
    if not is_file(value):
        return None
    return os.path.basename(value.path if isinstance(value, File) else os.fspath(value))


def named_columns(references: Any) -> list[tuple[str, Any]]:
    """The columns of references, and what messages call each."""
    if isinstance(references, list):
        return [(f"reference {i}", column) for i, column in enumerate(references, 1)]
    return [("references", references)]


def items(role: str, value: Any, kind: str = "strings") -> Iterable[Any]:
    """The segments of anything, as Python objects; `kind` is what they should be."""
    if is_file(value):
        return file_of(value).lines()
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(value, method):
            return getattr(value, method)()  # type: ignore[no-any-return]
    if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
        raise TypeError(
            f"{role}: expected a list of {kind}, or pathlib.Path(...) for the name of a file, "
            f"not {type(value).__name__}"
        )
    return value  # type: ignore[no-any-return]


def references_of(references: Any) -> Iterator[tuple[Any, ...]]:
    """For each segment what the columns of references have: a text, several, or None."""
    several = isinstance(references, list | tuple) and any(map(is_column, references))
    columns = references if several else [references]
    yield from zip(*(items("references", column) for column in columns), strict=True)


def pairs(hypotheses: Any, references: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Each hypothesis with its references, None for one that is missing.

    What does not belong together was refused when it was scored.
    """
    rows = references_of(references)
    for hypothesis, row in zip(items("hypotheses", hypotheses), rows, strict=True):
        yield hypothesis, [one for item in row for one in _several(hypothesis, item)]


def _several(hypothesis: Any, item: Any) -> list[Any]:
    """The references of a segment, of which an entry may hold one or several."""
    if item is None or isinstance(item, str):
        return [item]
    found = list(item)
    tokens = not isinstance(hypothesis, str) and not any(
        one is None or is_group(one) for one in found
    )
    return [found] if tokens else found


def segment(hypotheses: Any, references: Any, number: int) -> tuple[Any, list[Any]]:
    """The segment of a corpus with this number, from 1, and its references."""
    count = 0
    for count, pair in enumerate(pairs(hypotheses, references), 1):
        if count == number:
            return pair
    raise InputError(
        f"segment {number} was asked for, and there are {count}; they are counted from 1"
    )


# ---- texts ----


def texts(role: str, value: Any) -> Texts:
    """A column of texts, some of which may be missing."""
    if isinstance(value, Lines):
        return value.texts
    return [_encoded(role, number, item) for number, item in enumerate(items(role, value), 1)]


def streams(references: Any) -> list[Texts]:
    """The references as columns: as many as a segment has at most."""
    columns = references if isinstance(references, list) and references else [references]
    if all(isinstance(column, Lines) for column in columns):
        return [column.texts for column in columns]
    rows = [
        [_encoded("references", number, one) for item in row for one in _several("", item)]
        for number, row in enumerate(references_of(references), 1)
    ]
    return [list(stream) for stream in zip_longest(*rows)]


def reference_columns(hypotheses: Any, references: Any) -> list[Any]:
    """Return each reference as a column of its own, with None where a segment has fewer.

    The columns of several files are these files.
    """
    columns = references if isinstance(references, list | tuple) else [references]
    if columns and all(map(is_file, columns)):
        return list(columns)
    rows = [found for _, found in pairs(hypotheses, references)]
    return [list(column) for column in zip_longest(*rows)]


def count_identical(hypotheses: Any, references: Sequence[Any]) -> list[int]:
    """Return the number of hypotheses that equal each column's text, ignoring outer white space."""
    own = [_stripped(text) for text in _objects("hypotheses", hypotheses)]
    return [
        sum(map(eq, own, map(_stripped, _objects("references", column)))) for column in references
    ]


def _objects(role: str, column: Any) -> Iterable[Any]:
    return column.texts if isinstance(column, Lines) else items(role, column)


def _stripped(text: Any) -> Any:
    """Return comparable text: without outer white space, and of `Lines` as a string."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogatepass")
    return text.strip() if isinstance(text, str) else text if text is None else list(text)


def _encoded(role: str, number: int, item: Any) -> bytes | None:
    if item is None:
        return None
    if not isinstance(item, str):
        raise InputError(
            f"{role}: segment {number} is {checks.described(item)}, not str; a report shows text, "
            "so join tokens with spaces (and score them with tokenize='none')"
        )
    return item.encode("utf-8", "surrogatepass")


def side(role: str, value: Any, segments: int, *, on_disk: bool = False) -> Texts:
    """A column beside those that were scored: as long as they are, and UTF-8."""
    column = texts(role, lasting(value, every=True, on_disk=on_disk))
    name = label(role, value)
    if len(column) != segments:
        raise InputError(
            f"{name} has {len(column):,} segments, and the systems have {segments:,}; "
            "give one for each, in the same order"
        )
    if is_file(value) and not (isinstance(column, Whole) and column.is_utf8):
        for number, text in enumerate(column, 1):
            if text is not None and not text.isascii():
                decoded(text, name, number)
    return column


def label(role: str, value: Any) -> str:
    """The name in messages of an input beside systems and references."""
    name = file_name(value)
    return role if name is None else f"{role} ({name})"


# ---- text that can be read again ----


def is_lasting(path: str) -> bool:
    """True if a file can be read more than once, or does not exist."""
    return path != "-" and (os.path.isfile(path) or not os.path.exists(path))


def lasting(value: Any, *, every: bool = False, on_disk: bool = False) -> Any:
    """The same to be read more than once.

    Files that cannot be, or are dear to read because they are compressed or in another encoding,
    are kept; with `every`, all files, so that none is read twice. on_disk: where they are kept.
    """
    if isinstance(value, list | tuple):
        if value and all(map(is_file, value)):
            return [lasting(item, every=every, on_disk=on_disk) for item in value]
        return value
    if not is_file(value) or isinstance(value, Lines | Hashed):
        return value
    file = file_of(value)
    if not every and file.is_plain and is_lasting(file.path):
        return file
    return Lines(file, on_disk=on_disk)


class Whole(Sequence[bytes]):
    """The text of a file, whose lines are made when one is asked for."""

    __slots__ = ("_count", "_lines", "text")

    def __init__(self, text: bytes) -> None:
        # With the end of each line, also of the last one.
        self.text = text if text.endswith(b"\n") or not text else text + b"\n"
        self._count = _kernel.count_lines(self.text)
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
        return self._count

    def __getitem__(self, which: Any) -> Any:
        return self.lines[which]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.lines)

    @property
    def is_utf8(self) -> bool:
        """True if all lines are."""
        return _kernel.is_utf8(self.text)


class Lines(File):
    """The lines of a file, read once: to be scored, shown and hashed as often as one likes."""

    __slots__ = ("texts",)

    # Its texts, without line ends, not checked to be UTF-8.
    texts: Sequence[bytes]

    def __init__(self, file: File, *, on_disk: bool = False) -> None:
        super().__init__(file.path, file.column, file.encoding)
        if on_disk:
            from truebleu.text.paged import paged

            self.texts = paged(file)
        elif file.column is None and file.is_utf8:
            self.texts = Whole(file.content())
        else:
            self.texts = [line.encode("utf-8", "surrogatepass") for line in file.lines()]

    @classmethod
    def given(cls, name: str, lines: Iterable[str]) -> Lines:
        """Lines of no file, and what messages call them."""
        made = cls.__new__(cls)
        File.__init__(made, name)
        made.texts = [line.encode("utf-8", "surrogatepass") for line in lines]
        return made

    def lines(self) -> Iterator[str]:
        """The lines as strings, without their ends."""
        for number, text in enumerate(self.texts, 1):
            yield decoded(text, self.label("line"), number, "surrogatepass")

    def pieces(self) -> Iterator[bytes]:
        """The lines as UTF-8 with their ends, a piece at a time."""
        return _pieces(self.texts)

    def source(self, role: str) -> _kernel.Source:
        """The lines, for the kernel."""
        return _streamed(self.texts, self.label(role))


def held(texts: Texts, first: int | None = None) -> bytes | tuple[bytes | None, ...]:
    """Texts, or the first ones, as functions of the kernel take them that look at all at once.

    All lines of a file are one piece of text.
    """
    if isinstance(texts, Whole) and first in (None, len(texts)):
        return texts.text
    return tuple(texts[:first])


def source_of(texts: Texts, role: str) -> _kernel.Source:
    """Texts, for the kernel; `role` is what messages call them."""
    if isinstance(texts, list | tuple):
        return _kernel.encoded(tuple(texts), role)
    return _streamed(texts, role)


def _streamed(texts: Any, role: str) -> _kernel.Source:
    pieces = _pieces(texts)
    return _kernel.stream(lambda _: next(pieces, b""), role)


def _pieces(texts: Any) -> Iterator[bytes]:
    """Lines in memory, or on disk, as bytes with their ends."""
    if isinstance(texts, Whole):
        return iter([texts.text])
    if isinstance(texts, list):
        return iter([b"\n".join([*texts, b""])])
    pieces: Iterator[bytes] = texts.between(0, None)
    return pieces


# ---- hashes ----


class Hashed(File):
    """A file whose text is hashed while it is read: once, in memory that does not grow."""

    __slots__ = ("_file", "_sum")

    def __init__(self, file: File) -> None:
        super().__init__(file.path, file.column, file.encoding)
        self._file = file
        self._sum: str | None = None

    def source(self, role: str) -> _kernel.Source:
        """The text, for the kernel."""
        from hashlib import sha256

        made = sha256()
        pieces = self._file.pieces()
        end = b"\n"

        def read(_: int) -> bytes:
            nonlocal end
            piece = next(pieces, b"")
            made.update(piece)
            if piece:
                end = piece[-1:]
            elif self._sum is None:
                # As if every line had an end.
                made.update(b"" if end == b"\n" else b"\n")
                self._sum = made.hexdigest()
            return piece

        return _kernel.stream(read, self._file.label(role))

    @property
    def sha256(self) -> str:
        """The hash of all text, when all of it was read."""
        assert self._sum is not None
        return self._sum


def hashed(column: Texts) -> str:
    """The SHA-256 of texts, a line each: what `sha256sum` prints of a plain file.

    Where a text is missing, or has a line end in it, lengths and texts are hashed, so that
    different columns have different hashes.
    """
    from hashlib import sha256

    if isinstance(column, Whole):
        return sha256(column.text).hexdigest()
    if not isinstance(column, list):  # lines of a file on disk, which are all there
        made = sha256()
        for text in column:
            made.update((text or b"") + b"\n")
        return made.hexdigest()
    data = b"" if None in column else b"\n".join([*column, b""])
    if data.count(b"\n") != len(column):
        lengths = (MISSING if text is None else len(text) for text in column)
        data = b"".join(length.to_bytes(4, "little") for length in lengths)
        data += b"".join(filter(None, column))
    return sha256(data).hexdigest()
