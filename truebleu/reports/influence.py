"""Compute how scores and deltas change if a segment or a group of segments is removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from truebleu._kernel import Table, exchanged
from truebleu.metrics.base import Metric
from truebleu.metrics.statistics import Statistics


def compute_influences(
    metric: Metric[Any], tables: Mapping[str, Statistics], systems: Sequence[str]
) -> list[float]:
    """Return, for each segment, the absolute change of the score or delta if it is removed.

    With one system, this is the change of its score. With more systems, it is the largest change of
    any delta relative to the first system.
    """
    changes_by_system = [
        compute_leave_one_out_changes(metric, tables[system]) for system in systems
    ]
    if len(changes_by_system) == 1:
        return list(map(abs, changes_by_system[0]))
    first, *other_systems = changes_by_system
    return [
        max(abs(change - baseline) for change in row)
        for baseline, *row in zip(first, *other_systems, strict=True)
    ]


def compute_leave_one_out_changes(metric: Metric[Any], table: Table) -> Sequence[float]:
    """Return, for each row, the score without the row minus the score of all rows.

    Rows are the statistics of segments, or the aggregated statistics of groups. If the corpus score
    is the mean of segment scores, the rows must be segments.
    """
    if getattr(metric, "aggregate", "corpus") == "segments":
        values = metric.segment_scores(table)
        mean = sum(values) / len(values)
        return [(mean - value) / max(1, len(values) - 1) for value in values]
    totals = table.total()
    zero_table = Table.from_bytes(bytes(8 * len(table) * table.width), table.width)
    leave_one_out, _ = exchanged((zero_table, table), (totals, totals))
    total_score = metric.scores(totals)[0]
    return [value - total_score for value in metric.scores(leave_one_out)]
