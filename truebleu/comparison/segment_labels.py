"""Segment labels: the document of each segment, and user labels of several kinds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from truebleu.text import segments


class SegmentNames:
    """Names of the segments' documents or labels, stored as distinct names and indices."""

    __slots__ = ("indices", "names")

    def __init__(self, column: Iterable[str]) -> None:
        numbers: dict[str, int] = {}
        self.indices = [numbers.setdefault(name, len(numbers)) for name in column]
        self.names = list(numbers)


def read_document_names(names: Any, count: int) -> SegmentNames:
    """Return the document of each segment from names, a file, or an earlier result.

    The columns of a tab-separated file are joined: WMT's files have a domain and a document.
    """
    if isinstance(names, SegmentNames):
        return names
    column = segments.read_document_names("documents", names, count)
    return SegmentNames(": ".join(name.split("\t")) for name in column)


def read_segment_labels(labels: Any, count: int) -> dict[str, SegmentNames]:
    """Return the labels of segments by kind.

    labels: a mapping from a kind of label to one label per segment, or to a file of labels; or a
        tab-separated file of all kinds with a header.
    """
    if segments.is_file(labels):
        columns: Mapping[str, Any] = segments.read_named_columns("labels", labels)
    elif hasattr(labels, "items"):
        columns = labels
    else:
        raise TypeError(
            f"labels: expected a mapping from names to labels, one per segment, or a file, found "
            f"{type(labels).__name__}"
        )
    return {
        str(name): SegmentNames(segments.read_segment_labels(f"labels: {name}", column, count))
        for name, column in columns.items()
    }
