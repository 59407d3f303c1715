"""Functions that run in Spark's Python workers to aggregate and score texts and state tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from truebleu._kernel import Table, __version__
from truebleu.engines.aggregates import Sums
from truebleu.engines.common_api import score_arrow_columns
from truebleu.metrics.base import Metric, summarize_reference_count

MAX_GROUPS = 100_000
"""Maximum number of groups that a worker keeps before it emits its state table."""


def report_version(_: None, batches: Iterable[Any]) -> Iterator[Any]:
    """Yield a column with truebleu's version for each batch."""
    for batch in batches:
        yield pa.record_batch({"version": pa.array([__version__] * batch.num_rows)})


def sum_partition(empty_sums: Sums, batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the state tables of a partition: several for many groups, none for an empty one."""
    sums, rows, columns = empty_sums, 0, list(empty_sums.columns)
    for batch in batches:
        sums.update(pa.RecordBatch.from_arrays(batch.columns, names=columns))
        rows += batch.num_rows
        if len(sums) > MAX_GROUPS:
            yield pa.record_batch(sums)
            sums, rows = empty_sums.spawn(), 0
    if rows:
        yield pa.record_batch(sums)


def score_states(
    arguments: tuple[Metric[Any], Sequence[str], Sequence[str]], batches: Iterable[Any]
) -> Iterator[Any]:
    """For each row of a state table, yield the requested columns, then the score and signature."""
    metric, columns, output_columns = arguments
    for numbered_batch in batches:
        if not numbered_batch.num_rows:
            continue
        batch = pa.RecordBatch.from_arrays(numbered_batch.columns, names=list(columns))
        if segments := pc.sum(batch.column("segments")).as_py():
            min_references = pc.min(batch.column("fewest_references")).as_py()
            max_references = pc.max(batch.column("most_references")).as_py()
            seen: Any = {"segments": segments, "references": (min_references, max_references)}
            metric.check_summary(seen, None)
        statistics = batch.column("statistics")
        values = statistics.flatten()
        start, stop = 8 * values.offset, 8 * (values.offset + len(values))
        data = values.buffers()[1][start:stop].to_pybytes()
        scores = pa.array(metric.scores(Table.from_bytes(data, len(metric.columns))))
        # Groups that contain only nulls do not have a score.
        has_segments = pc.greater(batch.column("segments"), 0)
        computed = {
            "score": pc.if_else(has_segments, scores, pa.scalar(None, pa.float64())),
            "signature": pa.array(_format_signatures(metric, batch), pa.string()),
        }
        columns_out = [
            computed[name] if name in computed else batch.column(name) for name in output_columns
        ]
        yield pa.RecordBatch.from_arrays(columns_out, names=list(output_columns))


def _format_signatures(metric: Metric[Any], batch: Any) -> list[str | None]:
    """Return the signature of each row's score, which depends on the number of references."""
    columns = ("fewest_references", "most_references")
    pairs = list(zip(*(batch.column(name).to_pylist() for name in columns), strict=True))
    signatures = {
        pair: None if None in pair else str(metric.signature(summarize_reference_count(pair)))
        for pair in {*pairs}
    }
    return [signatures[pair] for pair in pairs]


def score_pandas_columns(metric: Metric[Any], *columns: Any) -> Any:
    """Return the score of each row of pandas columns, for Spark before 4.1."""
    return score_arrow_columns(metric, *map(pa.Array.from_pandas, columns)).to_pandas()
