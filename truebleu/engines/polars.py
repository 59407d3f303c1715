"""Scoring of Polars frames as a whole, by group, or by row with an expression.

A LazyFrame is read batch by batch, so it may be larger than memory. Its columns are passed to the
kernel without conversion, and pyarrow is not required.

>>> import polars as pl
>>> from truebleu.engines.polars import score, sentence
>>> frame = pl.DataFrame({
...     "system": ["A", "B"],
...     "hyp": ["the cat sat on the mat", "a cat on the mat there"],
...     "ref": ["the cat sat on a mat", "the cat sat on a mat"],
... })
>>> print(score(frame.lazy()).format())
BLEU = 31.95 83.3/30.0/25.0/16.7 (BP = 1.000 ratio = 1.000 hyp_len = 12 ref_len = 12)
>>> score(frame, by="system").select("system", pl.col("score").round(2), "segments").rows()
[('A', 53.73, 1), ('B', 12.14, 1)]
>>> frame.select("system", chrf=sentence("hyp", "ref", metric="chrf").round(2)).rows()
[('A', 72.08), ('B', 30.89)]
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from glob import glob
from typing import Any, Unpack

try:
    import polars as pl
except ImportError as error:
    raise ImportError(
        "truebleu.engines.polars needs Polars: pip install 'truebleu[polars]'"
    ) from error

from truebleu._kernel import InputError
from truebleu.engines.aggregates import Sums, SumsOptions
from truebleu.engines.common_api import (
    RowScores,
    as_reference_columns,
    bind_metrics,
    format_error,
    make_engine_functions,
    resolve_row_metric,
)
from truebleu.metrics.base import Metric
from truebleu.text.argument_checks import suggest_names

PolarsFrame = pl.DataFrame | pl.LazyFrame
PolarsFrames = PolarsFrame | Sequence[PolarsFrame] | Iterator[PolarsFrame]
Expression = str | pl.Expr

# Rows per batch, chosen so that the cost per batch is negligible and a batch needs less memory than
# Polars itself.
BATCH_ROWS = 65536


def sums(
    data: PolarsFrames,
    hyp: str = "hyp",
    ref: str | Sequence[str] = "ref",
    *,
    workers: int = 1,
    **options: Unpack[SumsOptions],
) -> Sums:
    """Return the statistics per group, as `Sums` that can be merged with other engines' sums.

    data: a DataFrame, or a LazyFrame, which Polars' streaming engine reads in batches; or several
        frames (a list, tuple or iterator), which are read sequentially.
    hyp, ref: columns of strings. `ref` may name several columns, or a column of lists of strings.
    workers: the number of kernel threads.
    options: `source`, `by`, `metrics`, `nulls` and `bucket`, as for `Sums`.

    Each Polars thread decodes at least one row group ahead of the kernel, from several files of a
    scan in parallel. With `map(polars.scan_parquet, paths)`, Polars reads one file at a time and
    needs less memory.

    Raises InputError for missing columns and unreadable files. Nulls and empty data raise an error
    when a score is computed (`Sums.check`).
    """
    totals = Sums(hyp=hyp, ref=ref, workers=workers, **options)
    is_sequence = isinstance(data, list | tuple | Iterator)
    frames: Any = data if is_sequence else [data]
    for number, frame in enumerate(frames, 1):
        if not isinstance(frame, pl.DataFrame | pl.LazyFrame):
            kind = type(frame).__name__
            raise TypeError(f"expected a Polars DataFrame or LazyFrame, found {kind}")
        try:
            _check_schema(frame.collect_schema(), totals.columns)
            for batch in _read_batches(frame.select(totals.columns)):
                totals.update(batch)
        except pl.exceptions.PolarsError as error:
            path = _find_failing_file(frame, totals.columns, error)
            raise InputError(format_error(path, str(error))) from None
        except InputError as error:
            if not is_sequence:
                raise
            files = _list_scanned_files(frame)
            location = files[0] if len(files) == 1 else f"frame {number}"
            raise InputError(format_error(location, str(error))) from None
    return totals


def _check_schema(schema: Mapping[str, Any], columns: Sequence[str]) -> None:
    """Raise InputError for a missing column, or a column type that cannot be read."""
    for name in columns:
        if name not in schema:
            raise InputError(f"no column '{name}'{suggest_names(name, list(schema))}")
        # Polars exports objects to Arrow as memory addresses.
        if isinstance(schema[name], pl.Object):
            raise InputError(f"column '{name}' is of type Object; cast it to a Polars type")


def _read_batches(frame: PolarsFrame) -> Any:
    """Return the batches of a LazyFrame, or a DataFrame as a single batch."""
    if isinstance(frame, pl.DataFrame):
        return [frame]
    if not hasattr(frame, "collect_batches"):
        raise ImportError(
            f"Polars {pl.__version__} cannot read a LazyFrame in batches. Install Polars 1.34 or "
            "newer, or collect() the frame if it fits into memory."
        )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*collect_batches.*unstable.*")
        # Keep the row order, because errors contain row numbers. This has no extra cost.
        return frame.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True)


def _find_failing_file(frame: PolarsFrame, columns: Sequence[str], error: Exception) -> str:
    """Return the scanned file that caused an error, because Polars does not name it."""
    first = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in _list_scanned_files(frame):
            scan = pl.scan_parquet(path).select(columns)
            try:
                schema = scan.collect_schema()
                first = schema if first is None else first
                if not isinstance(error, pl.exceptions.SchemaError):
                    for _ in scan.collect_batches():
                        pass
                elif schema != first:
                    return path
            except (pl.exceptions.PolarsError, OSError):
                return path
    return ""


def _list_scanned_files(frame: PolarsFrame) -> list[str]:
    """Return the Parquet files that a frame scans, from its serialized plan."""
    if isinstance(frame, pl.DataFrame):
        return []
    paths: list[str] = []
    with warnings.catch_warnings(), suppress(Exception):
        warnings.simplefilter("ignore")
        plans = [json.loads(frame.serialize(format="json"))]
        while plans:
            plan = plans.pop()
            if isinstance(plan, dict) and "Paths" in plan:
                for entry in plan.pop("Paths"):
                    path = entry["inner"] if isinstance(entry, dict) else entry
                    pattern = os.path.join(path, "**", "*.parquet") if os.path.isdir(path) else path
                    paths += sorted(glob(pattern, recursive=True)) or [path]
            children = plan.values() if isinstance(plan, dict) else plan
            plans += reversed(list(children) if isinstance(plan, dict | list) else [])
    return paths


score, stats, compare = make_engine_functions(sums, lambda table, *_: pl.DataFrame(table))


def sentence(
    hyp: Expression = "hyp",
    ref: Expression | Sequence[Expression] = "ref",
    *,
    metric: str | Metric = "bleu",
    **parameters: Any,
) -> pl.Expr:
    """Return an expression for the score of each row, which is null for rows without text.

    hyp: strings. ref: strings, lists of strings, or several such columns. metric: a metric, or a
        name that `truebleu.metric` accepts. parameters: parameters of the metric.

    The expression also works in lazy frames and in the streaming engine.
    """
    row_metric = resolve_row_metric(metric, **parameters)

    def score_columns(columns: Sequence[pl.Series]) -> pl.Series:
        """Return the score of each row, given the hypotheses and one or more reference columns."""
        rows = max(map(len, columns)) if all(map(len, columns)) else 0
        columns_by_name: dict[str, pl.Series] = {}
        for column in columns:
            _check_schema({column.name: column.dtype}, [column.name])
            name = column.name
            while name in columns_by_name:  # columns may be repeated, and literals have no name
                name += "'"
            is_literal = len(column) == 1 != rows
            columns_by_name[name] = column.new_from_index(0, rows) if is_literal else column
        hyp, *refs = columns_by_name
        row_scores = RowScores(row_metric, pl.DataFrame(columns_by_name), hyp, refs)
        return pl.DataFrame(row_scores).to_series(0).alias(hyp)

    columns = [hyp, *as_reference_columns(ref)]
    return pl.map_batches(columns, score_columns, return_dtype=pl.Float64, is_elementwise=True)


corpus_bleu, corpus_chrf, corpus_ter = bind_metrics(score)
sentence_bleu, sentence_chrf, sentence_ter = bind_metrics(sentence)
