"""Scores of Polars' frames: of all rows, of groups, and an expression for each row.

A LazyFrame is read batch by batch, so that it may be larger than memory; its columns go to the
kernel as they are, without pyarrow.

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
    NAMED,
    RowScores,
    columns_of,
    named,
    of_engine,
    of_rows,
    told,
)
from truebleu.metrics.base import Metric
from truebleu.text.argument_checks import suggest_names

Frame = pl.DataFrame | pl.LazyFrame
Frames = Frame | Sequence[Frame] | Iterator[Frame]
Expression = str | pl.Expr

# Rows of a batch: large enough that a batch costs nothing, small beside Polars itself.
ROWS_AT_ONCE = 65536


def sums(
    data: Frames,
    hyp: str = "hyp",
    ref: str | Sequence[str] = "ref",
    *,
    workers: int = 1,
    **options: Unpack[SumsOptions],
) -> Sums:
    """The sums of the statistics of each group, which can be merged with those of other engines.

    data: a DataFrame, or a LazyFrame, which is read in batches by Polars' streaming engine; or
        several of them (a list, tuple or iterator), which are read one after the other.
    hyp, ref: columns of strings. `ref` may name several columns, or one of lists of strings.
    workers: threads of the kernel.
    options: `by`, `metrics`, `nulls` and `bucket`, as for `Sums`.

    Polars decodes a row group or more a thread ahead of the kernel, of each of several files of a
    scan. `map(polars.scan_parquet, paths)` has it read one file at a time, in less memory.

    Raises InputError for missing columns and files that cannot be read. Nulls and no rows are told
    when a score is asked for (`Sums.check`).
    """
    found = Sums(hyp=hyp, ref=ref, workers=workers, **options)
    several = isinstance(data, list | tuple | Iterator)
    frames: Any = data if several else [data]
    for number, frame in enumerate(frames, 1):
        if not isinstance(frame, pl.DataFrame | pl.LazyFrame):
            raise TypeError(f"expected a Polars DataFrame or LazyFrame, not {type(frame).__name__}")
        try:
            _check(frame.collect_schema(), found.columns)
            for batch in _batches(frame.select(found.columns)):
                found.update(batch)
        except pl.exceptions.PolarsError as error:
            raise InputError(told(_culprit(frame, found.columns, error), str(error))) from None
        except InputError as error:
            if not several:
                raise
            files = _files(frame)
            where = files[0] if len(files) == 1 else f"frame {number}"
            raise InputError(told(where, str(error))) from None
    return found


def _check(schema: Mapping[str, Any], columns: Sequence[str]) -> None:
    """Raises InputError for a column that there is not, or of a type that cannot be read."""
    for name in columns:
        if name not in schema:
            raise InputError(f"no column '{name}'{suggest_names(name, list(schema))}")
        # What Arrow has of objects are addresses in memory.
        if isinstance(schema[name], pl.Object):
            raise InputError(f"column '{name}' is of type Object; cast it to one of Polars' own")


def _batches(frame: Frame) -> Any:
    """The rows of a frame: at once, or of a LazyFrame batch by batch."""
    if isinstance(frame, pl.DataFrame):
        return [frame]
    if not hasattr(frame, "collect_batches"):
        raise ImportError(
            f"Polars {pl.__version__} cannot give a LazyFrame in batches; install Polars 1.34 or "
            "newer, or collect() the frame if it fits into memory"
        )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*collect_batches.*unstable.*")
        # In order, so that the row which an error names is that row; it costs nothing more.
        return frame.collect_batches(chunk_size=ROWS_AT_ONCE, maintain_order=True)


def _culprit(frame: Frame, columns: Sequence[str], error: Exception) -> str:
    """The file that the error is about, of those that a frame scans: Polars names none."""
    first = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in _files(frame):
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


def _files(frame: Frame) -> list[str]:
    """The Parquet files that a frame scans, of which its plan has the paths."""
    if isinstance(frame, pl.DataFrame):
        return []
    paths: list[str] = []
    with warnings.catch_warnings(), suppress(Exception):
        warnings.simplefilter("ignore")
        plans = [json.loads(frame.serialize(format="json"))]
        while plans:
            plan = plans.pop()
            if isinstance(plan, dict) and "Paths" in plan:
                for one in plan.pop("Paths"):
                    path = one["inner"] if isinstance(one, dict) else one
                    pattern = os.path.join(path, "**", "*.parquet") if os.path.isdir(path) else path
                    paths += sorted(glob(pattern, recursive=True)) or [path]
            parts = plan.values() if isinstance(plan, dict) else plan
            plans += reversed(list(parts) if isinstance(plan, dict | list) else [])
    return paths


score, stats, compare = of_engine(sums, lambda table, *_: pl.DataFrame(table))


def sentence(
    hyp: Expression = "hyp",
    ref: Expression | Sequence[Expression] = "ref",
    *,
    metric: str | Metric = "bleu",
    **parameters: Any,
) -> pl.Expr:
    """An expression: the score of each row, null where there is no text.

    hyp: strings. ref: strings, lists of them, or several such columns. Works in lazy frames and in
    the streaming engine, too. metric: a metric, or a name, as `truebleu.metric` takes it;
    parameters: of the metric.
    """
    made = of_rows(metric, **parameters)

    def scores(columns: Sequence[pl.Series]) -> pl.Series:
        """The score of each row: hypotheses, and a column or several of references."""
        rows = max(map(len, columns)) if all(map(len, columns)) else 0
        named: dict[str, pl.Series] = {}
        for column in columns:
            _check({column.name: column.dtype}, [column.name])
            name = column.name
            while name in named:  # the same column twice, or literals, which have no name
                name += "'"
            # A literal is a column of one row.
            named[name] = column.new_from_index(0, rows) if len(column) == 1 != rows else column
        hyp, *refs = named
        found = RowScores(made, pl.DataFrame(named), hyp, refs)
        return pl.DataFrame(found).to_series(0).alias(hyp)

    columns = [hyp, *columns_of(ref)]
    return pl.map_batches(columns, scores, return_dtype=pl.Float64, is_elementwise=True)


corpus_bleu, corpus_chrf, corpus_ter = (named(score, name) for name in NAMED)
sentence_bleu, sentence_chrf, sentence_ter = (named(sentence, name) for name in NAMED)
