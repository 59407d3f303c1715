"""Scores of what DuckDB reads: relations, SQL, Parquet, CSV and JSON files larger than memory.

DuckDB hands over the columns that are needed as a stream of Arrow batches, and the kernel counts
them as they come. Only sums stay in memory.

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
from truebleu.engines.aggregates import Columns, Sums, SumsOptions, names
from truebleu.engines.common_api import (
    NAMED,
    columns_of,
    named,
    of_engine,
    of_rows,
    release,
    scores_of,
)
from truebleu.engines.duckdb_files import said
from truebleu.metrics.base import Metric


def sums(
    data: duckdb_inputs.Data,
    hyp: str = "hyp",
    ref: str | Sequence[str] = "ref",
    *,
    references: duckdb_inputs.Data | None = None,
    on: Columns = None,
    unjoined: str = "raise",
    connection: DuckDBPyConnection | None = None,
    memory: str | None = None,
    workers: int = 1,
    progress: Callable[[float], None] | None = None,
    **options: Unpack[SumsOptions],
) -> Sums:
    """The sums of the statistics of each group, which can be merged with those of other engines.

    data: a relation; SQL text or the name of a table, in `connection`; or files, folders and
        patterns of Parquet, CSV, TSV or JSON (a path, or several). CSV and TSV have a header; TSV
        has no quotes.
    hyp, ref: columns of strings. `ref` may name several columns, or one of lists of strings.
    references: where `ref` is if not in `data`: another of the same kind, joined `on` columns that
        both have, usually an id. Columns of `by` may be in either.
    unjoined: "raise", or "skip" to score what can be joined, with a warning that counts the rest.
    connection: where SQL is run; if there is none, a new one that knows only files.
    memory: how much of it DuckDB may use in a connection of its own ("1GB"); what does not fit goes
        to a temporary folder.
    workers: threads.
    progress: called about five times a second, from another thread, with the share that was read
        as DuckDB estimates it (in a connection of its own, or one with enable_progress_bar).
    options: `by`, `metrics`, `nulls` and `bucket`, as for `Sums`.

    Raises InputError for missing columns, files that cannot be read, and ids that one side lacks or
    has twice. Nulls and no rows are told when a score is asked for (`Sums.check`).
    """
    columns, keys = [hyp, *names("ref", ref)], names("on", on)
    duckdb_inputs.check_connection(connection)
    # References may be called as the hypotheses are, if these lie in other rows.
    texts = columns if references is None else duckdb_inputs.apart(columns)
    found = Sums(hyp=hyp, ref=texts[1:], workers=workers, **options)
    others = [name for name in found.columns if name not in texts or name in found.by]
    with duckdb_inputs.opened(connection, memory=memory, threads=workers) as engine:
        join: Any = {"references": references, "on": keys, "unjoined": unjoined}
        relation = duckdb_inputs.rows(engine, data, columns, others, **join)
        with duckdb_inputs.reading(data), duckdb_inputs.watched(engine, progress):
            found.update(duckdb_inputs.stream(relation))
    return found


def _relation(table: Any, _: Any, options: dict[str, Any]) -> DuckDBPyRelation:
    """A table as a relation of the connection given, or of DuckDB's default one."""
    if release(duckdb.__version__) < duckdb_inputs.STREAMS:
        import pyarrow as pa

        table = pa.table(table)
    connection = options.get("connection") or duckdb.default_connection()
    return connection.from_arrow(table)


score, stats, compare = of_engine(sums, _relation)


def sentence(
    hyp: str | Expression = "hyp",
    ref: str | Expression | Sequence[str | Expression] = "ref",
    *,
    metric: str | Metric = "bleu",
    connection: DuckDBPyConnection | None = None,
    **parameters: Any,
) -> Expression:
    """An expression: the score of each row, null where there is no text.

    `relation.select("*", sentence("hyp", "ref").alias("bleu"))`. It is a function of
    `connection` (DuckDB's default one), which must be that of the relation, and needs pyarrow and
    NumPy.

    hyp: strings. ref: strings, lists of them, or several such columns. metric: a metric, or a
    name, as `truebleu.metric` takes it; parameters: of the metric.
    """
    made = of_rows(metric, **parameters)
    connection = duckdb.default_connection() if connection is None else connection
    name = "truebleu_" + re.sub(r"\W+", "_", repr(made)).strip("_").lower()
    with suppress(InputError):  # it is there already
        _create(connection, name, made)
    columns = [
        duckdb.ColumnExpression(c) if isinstance(c, str) else c for c in (hyp, *columns_of(ref))
    ]
    return duckdb.FunctionExpression(name, *columns)


corpus_bleu, corpus_chrf, corpus_ter = (named(score, name) for name in NAMED)
sentence_bleu, sentence_chrf, sentence_ter = (named(sentence, name) for name in NAMED)


def register(
    connection: DuckDBPyConnection | None = None,
    functions: Mapping[str, str | Metric] | None = None,
) -> None:
    """Gives SQL the functions bleu, chrf and ter: a hypothesis and its references to a DOUBLE.

    References are a string, a list of strings, or several arguments. The score is null where there
    is no text.

    functions: other names, with a metric or a metric's name for each. Python's functions of these
        names are replaced.

    To score a corpus, `score` is faster, and exact: scores of rows do not add up to it.
    Needs pyarrow and NumPy.

    >>> connection = duckdb.connect()
    >>> register(connection, {"bleu": "bleu", "chrf2": "chrf++"})
    >>> connection.sql("SELECT round(chrf2('the cat', ['a cat', 'the cat']), 2)").fetchall()
    [(100.0,)]
    >>> connection.close()
    """
    duckdb_inputs.check_connection(connection)
    connection = duckdb.default_connection() if connection is None else connection
    for name, given in (functions or {name: name for name in NAMED}).items():
        metric = of_rows(given)
        # A cell of a notebook runs again.
        with suppress(duckdb.Error):
            connection.remove_function(name)
        _create(connection, name, metric)


def _create(connection: DuckDBPyConnection, name: str, metric: Metric[Any]) -> None:
    """Gives a connection a function that scores rows."""
    lacking = [package for package in ("pyarrow", "numpy") if find_spec(package) is None]
    if lacking:
        raise ImportError(
            "DuckDB needs pyarrow and NumPy to hand columns to a Python function: "
            f"pip install {' '.join(lacking)}"
        )

    def score(*columns: Any) -> Any:
        if len(columns) < 2:
            raise InputError(f"{name}: expected a hypothesis and its references")
        return scores_of(metric, *columns)

    score.__annotations__ = {}  # DuckDB would read them
    try:
        connection.create_function(
            name,
            score,
            None,  # any number of columns, of any type
            "DOUBLE",
            type="arrow",  # type: ignore[call-overload]
            null_handling="special",
        )
    except duckdb.NotImplementedException as error:
        raise InputError(f"{name}: {said(error)}") from None
