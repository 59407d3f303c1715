"""Labels of segments: the document of each, and labels of several kinds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from truebleu.text import segments


class SegmentNames:
    """A name for each segment: those that there are, and the number of each segment's."""

    __slots__ = ("indices", "names")

    def __init__(self, column: Iterable[str]) -> None:
        numbers: dict[str, int] = {}
        self.indices = [numbers.setdefault(name, len(numbers)) for name in column]
        self.names = list(numbers)


def read_document_names(value: Any, count: int) -> SegmentNames:
    """The document of each segment: names, or a file of them, or what was read already."""
    if isinstance(value, SegmentNames):
        return value
    return SegmentNames(segments.read_segment_labels("documents", value, count, is_required=True))


def read_segment_labels(value: Any, count: int) -> dict[str, SegmentNames]:
    """The labels of segments, by the name of each kind of label.

    value: a mapping from names to a label per segment, or to files of them; or a tab-separated
        file of all with a header.
    """
    if segments.is_file(value):
        columns: Mapping[str, Any] = segments.read_named_columns("labels", value)
    elif hasattr(value, "items"):
        columns = value
    else:
        raise TypeError(
            f"labels: expected a mapping from names to a label per segment, or a file, not "
            f"{type(value).__name__}"
        )
    return {
        str(name): SegmentNames(segments.read_segment_labels(f"labels: {name}", column, count))
        for name, column in columns.items()
    }
