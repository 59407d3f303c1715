"""Scoring with DuckDB: relations, SQL, and Parquet, CSV and JSON files of any size.

DuckDB passes the required columns as a stream of Arrow batches, which the kernel counts one by one.
Only aggregated statistics stay in memory.

>>> import duckdb
>>> from truebleu.engines.duckdb import score
>>> rows = duckdb.sql('''
...     SELECT * FROM (VALUES
...         ('A', 'the cat sat on the mat', 'the cat sat on a mat'),
...         ('B', 'a cat on the mat there', 'the cat sat on a mat')
...     ) AS rows(system, hyp, ref)''')
>>> print(score(rows).format())
BLEU = 31.95 83.3/30.0/25.0/16.7 (BP = 1.000 ratio = 1.000 hyp_len = 12 ref_len = 12)
>>> score(rows, by="system").project("system, round(score, 2), segments").fetchall()
[('A', 53.73, 1), ('B', 12.14, 1)]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import Any, Unpack

try:
    import duckdb
except ImportError as error:
    raise ImportError(
        "truebleu.engines.duckdb needs DuckDB: pip install 'truebleu[duckdb]'"
    ) from error
from duckdb import DuckDBPyConnection, DuckDBPyRelation, Expression

from truebleu._kernel import InputError
from truebleu.engines import duckdb_inputs
from truebleu.engines.aggregates import ColumnNames, Sums, SumsOptions, as_column_names
from truebleu.engines.common_api import (
    SHORTCUT_METRICS,
    as_reference_columns,
    bind_metrics,
    make_engine_functions,
    parse_release,
    resolve_row_metric,
    score_arrow_columns,
)
from truebleu.engines.duckdb_files import clean_message
from truebleu.metrics.base import Metric


def sums(
    data: duckdb_inputs.TableInput,
    hyp: str = "hyp",
    ref: str | Sequence[str] = "ref",
    *,
    references: duckdb_inputs.TableInput | None = None,
    on: ColumnNames = None,
    unjoined: str = "raise",
    connection: DuckDBPyConnection | None = None,
    memory: str | None = None,
    workers: int = 1,
    progress: Callable[[float], None] | None = None,
    **options: Unpack[SumsOptions],
) -> Sums:
    """Return the statistics per group, as `Sums` that can be merged with other engines' sums.

    data: a relation; SQL text or a table name, in `connection`; or one or more paths of Parquet,
        CSV, TSV or JSON files, folders or patterns. CSV and TSV files have a header. TSV files do
        not use quotes.
    hyp, ref: columns of strings. `ref` may name several columns, or a column of lists of strings.
    references: the input that contains `ref`, if it is not `data`. It is joined `on` columns that
        both inputs have, usually an id. Columns of `by` may be in either input.
    unjoined: "raise", or "skip" to omit unmatched rows with a warning that counts them.
    connection: the connection that runs SQL (default: a new connection that only reads files).
    memory: the memory limit of a new connection ("1GB"); DuckDB spills to a temporary folder.
    workers: the number of threads.
    progress: a function that another thread calls about five times per second with DuckDB's
        estimate of the fraction read (for new connections, or those with enable_progress_bar).
    options: `source`, `by`, `metrics`, `nulls` and `bucket`, as for `Sums`.

    Raises InputError for missing columns, unreadable files, and ids that are unmatched or repeated.
    Nulls and empty data raise an error when a score is computed (`Sums.check`).
    """
    text_names, keys = [hyp, *as_column_names("ref", ref)], as_column_names("on", on)
    duckdb_inputs.check_connection(connection)
    # In a separate table, the reference column may have the same name as the hypothesis column.
    text_columns = (
        text_names if references is None else duckdb_inputs.disambiguate_text_columns(text_names)
    )
    totals = Sums(hyp=hyp, ref=text_columns[1:], workers=workers, **options)
    extra_columns = [
        name for name in totals.columns if name not in text_columns or name in totals.by
    ]
    with duckdb_inputs.open_connection(connection, memory=memory, threads=workers) as engine:
        join: Any = {"references": references, "on": keys, "unjoined": unjoined}
        relation = duckdb_inputs.select_rows(engine, data, text_names, extra_columns, **join)
        with duckdb_inputs.translate_errors(data), duckdb_inputs.report_progress(engine, progress):
            totals.update(duckdb_inputs.stream_batches(relation))
    return totals


def _to_relation(table: Any, _: Any, options: dict[str, Any]) -> DuckDBPyRelation:
    """Convert a table to a relation of the user's connection, or of DuckDB's default connection."""
    if parse_release(duckdb.__version__) < duckdb_inputs.STREAMING_RELEASE:
        import pyarrow as pa

        table = pa.table(table)
    connection = options.get("connection") or duckdb.default_connection()
    return connection.from_arrow(table)


score, stats, compare = make_engine_functions(sums, _to_relation)


def sentence(
    hyp: str | Expression = "hyp",
    ref: str | Expression | Sequence[str | Expression] = "ref",
    *,
    metric: str | Metric = "bleu",
    connection: DuckDBPyConnection | None = None,
    **parameters: Any,
) -> Expression:
    """Return an expression for the score of each row, which is null for rows without text.

    For example, `relation.select("*", sentence("hyp", "ref").alias("bleu"))`. `connection` must be
    the relation's connection (default: DuckDB's default connection). Requires pyarrow and NumPy.

    hyp: strings. ref: strings, lists of strings, or several such columns. metric: a metric, or a
        name that `truebleu.metric` accepts. parameters: parameters of the metric.
    """
    row_metric = resolve_row_metric(metric, **parameters)
    connection = duckdb.default_connection() if connection is None else connection
    name = "truebleu_" + re.sub(r"\W+", "_", repr(row_metric)).strip("_").lower()
    with suppress(InputError):  # the connection already has the function
        _create_score_function(connection, name, row_metric)
    columns = [
        duckdb.ColumnExpression(c) if isinstance(c, str) else c
        for c in (hyp, *as_reference_columns(ref))
    ]
    return duckdb.FunctionExpression(name, *columns)


corpus_bleu, corpus_chrf, corpus_ter = bind_metrics(score)
sentence_bleu, sentence_chrf, sentence_ter = bind_metrics(sentence)


def register(
    connection: DuckDBPyConnection | None = None,
    functions: Mapping[str, str | Metric] | None = None,
) -> None:
    """Create the SQL functions bleu, chrf and ter, which map hypotheses and references to DOUBLE.

    References are a string, a list of strings, or several arguments. The score is null for rows
    without text.

    functions: a dict from function names to metrics or metric names, to create other functions.
        Existing Python functions with these names are replaced.

    To score a corpus, use `score`: it is faster, and the corpus score is not the mean of row
    scores. Requires pyarrow and NumPy.

    >>> connection = duckdb.connect()
    >>> register(connection, {"bleu": "bleu", "chrf2": "chrf++"})
    >>> connection.sql("SELECT round(chrf2('the cat', ['a cat', 'the cat']), 2)").fetchall()
    [(100.0,)]
    >>> connection.close()
    """
    duckdb_inputs.check_connection(connection)
    connection = duckdb.default_connection() if connection is None else connection
    for name, metric_spec in (functions or {name: name for name in SHORTCUT_METRICS}).items():
        row_metric = resolve_row_metric(metric_spec)
        # Replace an existing function, because users run notebook cells repeatedly.
        with suppress(duckdb.Error):
            connection.remove_function(name)
        _create_score_function(connection, name, row_metric)


def _create_score_function(connection: DuckDBPyConnection, name: str, metric: Metric[Any]) -> None:
    """Create an SQL function that computes the score of each row."""
    missing_packages = [package for package in ("pyarrow", "numpy") if find_spec(package) is None]
    if missing_packages:
        raise ImportError(
            "DuckDB needs pyarrow and NumPy to pass columns to Python functions: "
            f"pip install {' '.join(missing_packages)}"
        )

    def score_columns(*columns: Any) -> Any:
        if len(columns) < 2:
            raise InputError(f"{name}: expected a hypothesis and at least one reference")
        return score_arrow_columns(metric, *columns)

    score_columns.__annotations__ = {}  # DuckDB would read argument types from the annotations
    try:
        connection.create_function(
            name,
            score_columns,
            None,  # any number of columns, of any type
            "DOUBLE",
            type="arrow",  # type: ignore[call-overload]
            null_handling="special",
        )
    except duckdb.NotImplementedException as error:
        raise InputError(f"{name}: {clean_message(error)}") from None
