"""Scores of what DuckDB reads: relations, SQL, Parquet, CSV and JSON files larger than memory.

DuckDB hands over the columns that are needed as a stream of Arrow batches, and the kernel counts
them as they come. Only sums stay in memory.

>>> import duckdb
>>> from truebleu.engines.duckdb import corpus_bleu
>>> rows = duckdb.sql('''
...     SELECT * FROM (VALUES
...         ('A', 'the cat sat on the mat', 'the cat sat on a mat'),
...         ('B', 'a cat on the mat there', 'the cat sat on a mat')
...     ) AS rows(system, hyp, ref)''')
>>> print(corpus_bleu(rows).format())
BLEU = 31.95 83.3/30.0/25.0/16.7 (BP = 1.000 ratio = 1.000 hyp_len = 12 ref_len = 12)
>>> {system: round(score.value, 2) for system, score in corpus_bleu(rows, by="system").items()}
{'A': 53.73, 'B': 12.14}
"""

from __future__ import annotations

import re
from contextlib import suppress

from truebleu._kernel import InputError
from truebleu.engines.sums import Sums
from truebleu.metrics.accumulator import checked
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.chrf import CHRF
from truebleu.metrics.ter import TER

try:
    import duckdb
except ImportError as error:
    raise ImportError(
        "truebleu.engines.duckdb needs DuckDB: pip install 'truebleu[duckdb]'"
    ) from error

from truebleu.engines.duckdb_files import said
from truebleu.engines.duckdb_join import apart
from truebleu.engines.duckdb_rows import (
    check_connection,
    names,
    opened,
    reading,
    rows,
    stream,
    text_types,
    watched,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Literal

    from duckdb import DuckDBPyConnection, Expression

    from truebleu.engines.duckdb_rows import Columns, Data
    from truebleu.metrics.kernel_metric import KernelMetric


def stats(
    data: Data,
    hyp: str = "hyp",
    ref: str | Sequence[str] = "ref",
    *,
    by: Columns = None,
    metrics: str | KernelMetric[Any] | Sequence[str | KernelMetric[Any]] = ("bleu",),
    nulls: Literal["raise", "skip"] = "raise",
    bucket: tuple[str, int] | None = None,
    references: Data | None = None,
    on: Columns = None,
    unjoined: str = "raise",
    connection: DuckDBPyConnection | None = None,
    memory: str | None = None,
    workers: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Sums:
    """The sums of the statistics of each group, which can be merged with those of other engines.

    data: a relation; SQL text or the name of a table, in `connection`; or files, folders and
        patterns of Parquet, CSV or JSON (a path, or several). CSV has a header and commas.
    hyp, ref: columns of strings. `ref` may name several columns, or one of lists of strings.
    by: columns to group by.
    metrics: metrics, or their names.
    nulls: "raise", or "skip" to leave out rows that have no hypothesis or no reference.
    bucket: a column and a number of buckets, for significance at scale.
    references: where `ref` is if not in `data`: another of the same kind, joined `on` columns that
        both have, usually an id. Columns of `by` may be in either.
    unjoined: "raise", or "skip" to score what can be joined, with a warning that counts the rest.
    connection: where SQL is run; if there is none, a new one that knows only files.
    memory: how much of it DuckDB may use in a connection of its own ("1GB"); what does not fit goes
        to a temporary folder.
    workers: threads.
    progress: called about five times a second, from another thread, with the share that was read
        as DuckDB estimates it (in a connection of its own, or one with enable_progress_bar).

    Raises InputError for missing columns, files that cannot be read, null values, no rows, and ids
    that one side lacks or has twice.
    """
    keys = names(by)
    texts = [hyp, *names(ref)]
    check_connection(connection)
    if references is not None:
        # They may be called as the hypotheses are, which lie in other rows.
        texts = apart(texts)
    sums = Sums(
        metrics,
        hyp=hyp,
        ref=texts[1] if isinstance(ref, str) else texts[1:],
        by=() if by is None else by,
        nulls=nulls,
        bucket=bucket,
        workers=workers,
    )
    others = list(dict.fromkeys([*keys, *([bucket[0]] if bucket else [])]))
    with opened(connection, memory=memory, threads=workers) as engine:
        relation = rows(
            engine,
            data,
            [hyp, *names(ref)],
            others,
            references=references,
            on=names(on),
            unjoined=unjoined,
        )
        text_types(relation, texts)
        with reading(data), watched(engine, progress):
            sums.update(stream(relation))
    return sums


def corpus_bleu(
    data: Data, hyp: str = "hyp", ref: str | Sequence[str] = "ref", **options: Any
) -> Any:
    """The BLEU score of all rows, a `Score`; with `by` of each group, a dict from key to score.

    Takes the options of `stats` and the parameters of `truebleu.BLEU`. The key is a tuple where
    there are several columns to group by. Raises what `stats` raises.
    """
    return _corpus(BLEU, data, hyp, ref, options)


def corpus_chrf(
    data: Data, hyp: str = "hyp", ref: str | Sequence[str] = "ref", **options: Any
) -> Any:
    """The chrF score of all rows, or with `by` of each group. As `corpus_bleu`."""
    return _corpus(CHRF, data, hyp, ref, options)


def corpus_ter(
    data: Data, hyp: str = "hyp", ref: str | Sequence[str] = "ref", **options: Any
) -> Any:
    """The TER score of all rows, or with `by` of each group. As `corpus_bleu`."""
    return _corpus(TER, data, hyp, ref, options)


def sentence_bleu(
    hyp: str | Expression = "hyp",
    ref: str | Expression = "ref",
    *,
    connection: DuckDBPyConnection | None = None,
    **parameters: Any,
) -> Expression:
    """An expression: the BLEU score of each row, 0-100, null where a text is.

    `relation.select("*", sentence_bleu("hyp", "ref").alias("bleu"))`. It is a function of
    `connection` (DuckDB's default one), which must be that of the relation, and needs pyarrow.
    parameters: those of `truebleu.BLEU`.
    """
    return _sentence(BLEU(**parameters), hyp, ref, connection)


def sentence_chrf(
    hyp: str | Expression = "hyp",
    ref: str | Expression = "ref",
    *,
    connection: DuckDBPyConnection | None = None,
    **parameters: Any,
) -> Expression:
    """An expression: the chrF score of each row. As `sentence_bleu`."""
    return _sentence(CHRF(**parameters), hyp, ref, connection)


def sentence_ter(
    hyp: str | Expression = "hyp",
    ref: str | Expression = "ref",
    *,
    connection: DuckDBPyConnection | None = None,
    **parameters: Any,
) -> Expression:
    """An expression: the TER score of each row. As `sentence_bleu`."""
    return _sentence(TER(**parameters), hyp, ref, connection)


def register(
    connection: DuckDBPyConnection | None = None,
    functions: Mapping[str, KernelMetric[Any]] | None = None,
) -> None:
    """Gives SQL functions of two strings, DOUBLE: sentence_bleu, sentence_chrf and sentence_ter.

    `functions` has other names, and metrics for them; functions of these names are replaced if they
    are Python's. To score a corpus, `corpus_bleu` is faster, and exact: scores of rows do not add
    up to it. Needs pyarrow.

    >>> connection = duckdb.connect()
    >>> register(connection, {"bleu": BLEU(lowercase=True)})
    >>> connection.sql("SELECT round(bleu('The cat', 'the CAT'), 2)").fetchall()
    [(100.0,)]
    >>> connection.close()
    """
    check_connection(connection)
    connection = duckdb.default_connection() if connection is None else connection
    if functions is None:
        functions = {"sentence_bleu": BLEU(), "sentence_chrf": CHRF(), "sentence_ter": TER()}
    for name, given in functions.items():
        metric = checked(given)
        # A cell of a notebook runs again.
        with suppress(duckdb.Error):
            connection.remove_function(name)
        _create(connection, name, metric)


# ---- scores ----


def _corpus(
    kind: type[KernelMetric[Any]], data: Data, hyp: str, ref: Any, options: dict[str, Any]
) -> Any:
    ours = {name: options.pop(name) for name in OPTIONS if name in options}
    sums = stats(data, hyp, ref, metrics=kind(**options), **ours)
    found = sums.scores() if names(ours.get("by")) else sums.score()
    sums.warn()
    return found


OPTIONS = (
    *("by", "nulls", "references", "on", "unjoined", "connection", "memory", "workers", "progress"),
)


def _sentence(
    metric: KernelMetric[Any],
    hyp: str | Expression,
    ref: str | Expression,
    connection: DuckDBPyConnection | None,
) -> Expression:
    connection = duckdb.default_connection() if connection is None else connection
    name = "truebleu_" + re.sub(r"\W+", "_", repr(metric)).strip("_").lower()
    known = connection.execute(
        "SELECT 1 FROM duckdb_functions() WHERE function_name = ?", [name]
    ).fetchall()
    if not known:
        _create(connection, name, metric)
    columns = [duckdb.ColumnExpression(c) if isinstance(c, str) else c for c in (hyp, ref)]
    return duckdb.FunctionExpression(name, *columns)


def _create(connection: DuckDBPyConnection, name: str, metric: KernelMetric[Any]) -> None:
    """Gives a connection a function that scores rows."""
    try:
        import pyarrow as pa
        import pyarrow.compute as pc
    except ImportError:
        raise ImportError(
            "DuckDB hands whole columns to a Python function with pyarrow only: pip install pyarrow"
        ) from None

    def score(hypotheses: Any, references: Any) -> Any:
        known = pc.and_(pc.is_valid(hypotheses), pc.is_valid(references))
        columns = [column.filter(known) for column in (hypotheses, references)]
        if not len(columns[0]):
            return pa.nulls(len(hypotheses), pa.float64())
        scores = pa.array(metric.segments(*columns))
        if len(scores) == len(hypotheses):
            return scores
        blank = pa.nulls(len(hypotheses), pa.float64())
        return pc.replace_with_mask(blank, known.combine_chunks(), scores)

    score.__annotations__ = {}  # DuckDB would read them
    try:
        connection.create_function(
            name,
            score,
            ["VARCHAR", "VARCHAR"],
            "DOUBLE",
            type="arrow",  # type: ignore[call-overload]
            null_handling="special",
        )
    except duckdb.NotImplementedException as error:
        raise InputError(f"{name}: {said(error)}") from None
