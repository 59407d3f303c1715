"""By how much scores and differences change without a segment, or without a group of segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from truebleu._kernel import Table, exchanged
from truebleu.metrics.base import Metric
from truebleu.metrics.statistics import Statistics


def influence(
    metric: Metric[Any], tables: Mapping[str, Statistics], systems: Sequence[str]
) -> list[float]:
    """By how much leaving a segment out changes the score of the only system, or a difference.

    Of several differences to the first system it is the largest. The numbers are absolute.
    """
    found = [changes(metric, tables[system]) for system in systems]
    if len(found) == 1:
        return list(map(abs, found[0]))
    first, *others = found
    return [
        max(abs(other - one) for other in more) for one, *more in zip(first, *others, strict=True)
    ]


def changes(metric: Metric[Any], table: Table) -> Sequence[float]:
    """The score of all rows but one, less that of all, for each one: segments, or sums of groups.

    A mean of segments' scores has no sums: its rows are segments.
    """
    if getattr(metric, "aggregate", "corpus") == "segments":
        values = metric.segment_scores(table)
        mean = sum(values) / len(values)
        return [(mean - value) / max(1, len(values) - 1) for value in values]
    totals = table.total()
    nothing = Table.from_bytes(bytes(8 * len(table) * table.width), table.width)
    rest, _ = exchanged((nothing, table), (totals, totals))
    whole = metric.scores(totals)[0]
    return [value - whole for value in metric.scores(rest)]
