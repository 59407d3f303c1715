"""Labels of segments: the document of each, and labels of several kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from truebleu._kernel import InputError
from truebleu.text import segments
from truebleu.text.layout import count


class Names:
    """A name for each segment: those that there are, and the number of each segment's."""

    __slots__ = ("indices", "names")

    def __init__(self, column: Iterable[str]) -> None:
        numbers: dict[str, int] = {}
        self.indices = [numbers.setdefault(name, len(numbers)) for name in column]
        self.names = list(numbers)


def documents(value: Any, count: int) -> Names:
    """The document of each segment: names, or a file of them, or what was read already."""
    if isinstance(value, Names):
        return value
    return Names(_names("documents", value, count, required=True))


def labels(value: Any, count: int) -> dict[str, Names]:
    """The labels of segments, by the name of each kind of label.

    value: a mapping from names to a label per segment, or to files of them; or a tab-separated
        file of all with a header.
    """
    if segments.is_file(value):
        columns: Mapping[str, Any] = _table(value)
    elif hasattr(value, "items"):
        columns = value
    else:
        raise TypeError(
            f"labels: expected a mapping from names to a label per segment, or a file, not "
            f"{type(value).__name__}"
        )
    return {
        str(name): Names(_names(f"labels: {name}", column, count, required=False))
        for name, column in columns.items()
    }


def _names(role: str, value: Any, count: int, *, required: bool) -> Iterator[str]:
    """A name for each segment, from a file or from anything that can be written."""
    if segments.is_file(value):
        texts = segments.side(role, value, count)
        names = [None if one is None else one.decode("utf-8", "surrogatepass") for one in texts]
    else:
        names = [None if one is None else str(one) for one in segments.items(role, value)]
        if len(names) != count:
            raise InputError(
                f"{role} has {len(names):,} segments, and the systems have {count:,}; "
                "give one for each, in the same order"
            )
    for number, name in enumerate(names, 1):
        if name is None and required:
            raise InputError(f"{role}: segment {number} has none")
        yield (name or "").removesuffix("\r")


def _table(value: Any) -> dict[str, list[str]]:
    """The columns of a tab-separated file, whose first line names them."""
    file = segments.file_of(value)
    name = segments.label("labels", value)
    rows = enumerate(file.lines(), 1)
    header = [field.strip() for field in next(rows, (0, ""))[1].split("\t")]
    for field in header:
        if not field:
            raise InputError(f"{name}, line 1: it names the columns, and one has no name")
        if header.count(field) > 1:
            raise InputError(f"{name}, line 1: '{field}' is there twice")
    columns: list[list[str]] = [[] for _ in header]
    for number, line in rows:
        fields = line.removesuffix("\r").split("\t")
        if len(fields) != len(header):
            raise InputError(
                f"{name}, line {number}: {count(len(fields), 'tab-separated column')}, and line 1 "
                f"names {len(header)}"
            )
        for column, label in zip(columns, fields, strict=True):
            column.append(label)
    return dict(zip(header, columns, strict=True))
