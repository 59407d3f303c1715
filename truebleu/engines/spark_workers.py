"""Run in Spark's Python workers: text to state tables, states to scores, text to scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from truebleu._kernel import Table, __version__
from truebleu.engines.aggregates import Sums
from truebleu.engines.common_api import scores_of
from truebleu.metrics.base import Metric, count_references

MOST_GROUPS = 100_000
"""With more groups than this, what was counted so far is passed on: it bounds a worker's memory."""


def present(_: None, batches: Iterable[Any]) -> Iterator[Any]:
    """Nothing but the version of truebleu, for each batch."""
    for batch in batches:
        yield pa.record_batch({"version": pa.array([__version__] * batch.num_rows)})


def partial_sums(empty: Sums, batches: Iterable[Any]) -> Iterator[Any]:
    """The sums of a partition's rows, as rows of the state table; nothing of an empty partition."""
    sums, rows = empty, 0
    for batch in batches:
        sums.update(_named(batch, empty.columns))
        rows += batch.num_rows
        if len(sums) > MOST_GROUPS:
            yield pa.record_batch(sums)
            sums, rows = empty.spawn(), 0
    if rows:
        yield pa.record_batch(sums)


def scores(
    arguments: tuple[Metric[Any], Sequence[str], Sequence[str]], batches: Iterable[Any]
) -> Iterator[Any]:
    """The score and signature of each row of a state table, and any of its columns, as asked."""
    metric, columns, asked = arguments
    for numbered in batches:
        if not numbered.num_rows:
            continue
        batch = _named(numbered, columns)
        if segments := pc.sum(batch.column("segments")).as_py():
            fewest = pc.min(batch.column("fewest_references")).as_py()
            most = pc.max(batch.column("most_references")).as_py()
            seen: Any = {"segments": segments, "references": (fewest, most)}
            metric.check_summary(seen, None)
        scores = pa.array(metric.scores(_table(batch.column("statistics"), len(metric.columns))))
        # Where there is nothing but nulls there is no score.
        some = pc.greater(batch.column("segments"), 0)
        made = {
            "score": pc.if_else(some, scores, pa.scalar(None, pa.float64())),
            "signature": pa.array(_signatures(metric, batch), pa.string()),
        }
        found = [made[name] if name in made else batch.column(name) for name in asked]
        yield pa.RecordBatch.from_arrays(found, names=list(asked))


def _signatures(metric: Metric[Any], batch: Any) -> list[str | None]:
    """The signature of each row's score: rows differ in how many references segments have."""
    numbers = ("fewest_references", "most_references")
    pairs = list(zip(*(batch.column(name).to_pylist() for name in numbers), strict=True))
    known = {
        pair: None if None in pair else str(metric.signature(count_references(pair)))
        for pair in {*pairs}
    }
    return [known[pair] for pair in pairs]


def _named(batch: Any, names: Sequence[str]) -> Any:
    return pa.RecordBatch.from_arrays(batch.columns, names=list(names))


def _table(statistics: Any, width: int) -> Table:
    """Lists of integers as a table: their values are its rows, one behind the other."""
    values = statistics.flatten()
    start = 8 * values.offset
    return Table.from_bytes(
        values.buffers()[1][start : start + 8 * len(values)].to_pybytes(), width
    )


def scores_of_pandas(metric: Metric[Any], *columns: Any) -> Any:
    """The score of each row of pandas' columns, for Spark before 4.1."""
    return scores_of(metric, *map(pa.Array.from_pandas, columns)).to_pandas()
