"""Segment labels: the document of each segment, and user labels of several kinds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from truebleu.text import segments


class SegmentNames:
    """A name per segment, stored as distinct names and one index per segment."""

    __slots__ = ("indices", "names")

    def __init__(self, column: Iterable[str]) -> None:
        numbers: dict[str, int] = {}
        self.indices = [numbers.setdefault(name, len(numbers)) for name in column]
        self.names = list(numbers)


def read_document_names(value: Any, count: int) -> SegmentNames:
    """Return the document of each segment from names, a file, or an earlier result."""
    if isinstance(value, SegmentNames):
        return value
    return SegmentNames(segments.read_segment_labels("documents", value, count, is_required=True))


def read_segment_labels(value: Any, count: int) -> dict[str, SegmentNames]:
    """Return the labels of segments by kind.

    value: a mapping from a kind of label to one label per segment, or to a file of labels; or a
        tab-separated file of all kinds with a header.
    """
    if segments.is_file(value):
        columns: Mapping[str, Any] = segments.read_named_columns("labels", value)
    elif hasattr(value, "items"):
        columns = value
    else:
        raise TypeError(
            f"labels: expected a mapping from names to labels, one per segment, or a file, found "
            f"{type(value).__name__}"
        )
    return {
        str(name): SegmentNames(segments.read_segment_labels(f"labels: {name}", column, count))
        for name, column in columns.items()
    }
