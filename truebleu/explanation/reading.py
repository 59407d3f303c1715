"""What is explained: one pair, a segment of a corpus or all of it, as tokens."""

from __future__ import annotations

import os

from truebleu import tokenizers
from truebleu._kernel import InputError
from truebleu.files import File

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from truebleu.bleu import BLEU

    # A hypothesis, and its references; None for one that is missing.
    Pair = tuple[Any, list[Any]]


def is_pair(hypothesis: object) -> bool:
    """Whether one hypothesis is meant, and not those of a corpus."""
    return isinstance(hypothesis, str)


def file_name(value: Any) -> str | None:
    """What a file is called, without its folder; None if it is no file."""
    if not _is_file(value):
        return None
    return os.path.basename(value.path if isinstance(value, File) else os.fspath(value))


def lasting(value: Any) -> Any:
    """The same to be read more than once: what only flows past is kept in memory."""
    if isinstance(value, list | tuple) and any(_is_file(item) for item in value):
        return [lasting(item) for item in value]
    if not _is_file(value):
        return value
    file = value if isinstance(value, File) else File(value)
    if file.path == "-" or (os.path.exists(file.path) and not os.path.isfile(file.path)):
        return Kept(file)
    return file


class Kept(File):
    """The lines of a file that can be read only once."""

    __slots__ = ("_lines",)

    def __init__(self, file: File) -> None:
        super().__init__(file.path, file.column, file.encoding)
        self._lines = list(file.lines())

    def lines(self) -> Iterator[str]:
        """The lines as strings, without their ends."""
        return iter(self._lines)

    def source(self, role: str) -> Any:
        """The lines, for the kernel."""
        from truebleu import _kernel

        data = "".join(f"{line}\n" for line in self._lines).encode("utf-8", "surrogatepass")
        pieces = iter([data])
        return _kernel.stream(lambda _: next(pieces, b""), self.label(role))


def pairs(hypotheses: Any, references: Any) -> Iterator[Pair]:
    """Each hypothesis with its references. The kernel has refused what does not belong together."""
    several = isinstance(references, list | tuple) and any(_is_column(item) for item in references)
    rows: Iterable[tuple[Any, ...]]
    if several:
        rows = zip(*(_segments(column) for column in references), strict=True)
    else:
        rows = ((item,) for item in _segments(references))
    for hypothesis, row in zip(_segments(hypotheses), rows, strict=True):
        yield hypothesis, [one for item in row for one in _references(hypothesis, item)]


def _references(hypothesis: Any, item: Any) -> list[Any]:
    """The references of a segment, of which an entry may hold one or several."""
    if item is None or isinstance(item, str):
        return [item]
    items = list(item)
    tokens = not isinstance(hypothesis, str) and not any(
        one is None or (hasattr(one, "__len__") and not isinstance(one, str)) for one in items
    )
    return [items] if tokens else items


def _is_file(value: object) -> bool:
    return isinstance(value, File | os.PathLike)


def _is_column(value: object) -> bool:
    return _is_file(value) or hasattr(value, "__arrow_c_stream__")


def _segments(value: Any) -> Iterable[Any]:
    if _is_file(value):
        return (value if isinstance(value, File) else File(value)).lines()
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(value, method):
            return getattr(value, method)()  # type: ignore[no-any-return]
    if not hasattr(value, "__iter__"):
        raise TypeError(
            f"{type(value).__name__} cannot be read segment by segment; pass a list of strings"
        )
    return value  # type: ignore[no-any-return]


def segment(hypotheses: Any, references: Any, number: int) -> Pair:
    """The segment of a corpus with this number, from 1."""
    count = 0
    for count, pair in enumerate(pairs(hypotheses, references), 1):
        if count == number:
            return pair
    raise InputError(
        f"segment {number} was asked for, and there are {count}; they are counted from 1"
    )


def splitter(metric: BLEU) -> Callable[[Any], list[str]]:
    """What turns text into the tokens that `metric` counts, as strings."""
    tokenize = tokenizers.tokenizer(metric.tokenize, metric.lowercase)

    def split(segment: Any) -> list[str]:
        if isinstance(segment, str):
            return tokenize(segment)
        # Tokens that were given as such; as strings they are equal when they were.
        lower = bool(metric.lowercase)
        return [str(token).lower() if lower else str(token) for token in segment]

    return split
