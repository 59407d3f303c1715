"""Scores of the rows of Arrow columns, with pyarrow: null where there is nothing to score."""

from __future__ import annotations

from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from truebleu.engines.functions import known_segments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from truebleu.metrics.table_metric import TableMetric


def scores(metric: TableMetric[Any], hypotheses: Any, references: Sequence[Any]) -> Any:
    """The score of each row; null where there is no hypothesis or no reference.

    hypotheses: a column of strings. references: columns of strings, or of lists of strings.
    """
    known = pc.and_(pc.is_valid(hypotheses), referenced(references))
    if isinstance(known, pa.ChunkedArray):
        known = known.combine_chunks()
    found = pa.array(known_segments(metric, known, [hypotheses, *references]), pa.float64())
    return pc.replace_with_mask(pa.nulls(len(known), pa.float64()), known, found)


def referenced(references: Sequence[Any]) -> Any:
    """Which rows have a reference in any of the columns."""
    return reduce(pc.or_, map(_filled, references))


def _filled(column: Any) -> Any:
    """Which rows of a column of strings, or of lists of strings, hold a string."""
    if not pa.types.is_nested(column.type):
        return pc.is_valid(column)
    import numpy as np

    lists = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    rows = pc.list_parent_indices(lists).filter(pc.is_valid(pc.list_flatten(lists)))
    filled = np.zeros(len(lists), bool)
    filled[rows.to_numpy(zero_copy_only=False)] = True
    return pa.array(filled)
