"""Spark: sums are made where the rows are, Spark adds them up, and no text is shuffled.

Each partition becomes a few rows of integers (`mapInArrow`), Spark's own aggregation adds those of
equal keys, and the formula is applied to what is left. Only sums of integers cross the network, so
the number of partitions, their order and tasks that run again change no bit.

Spark 4.3 with Java 17 is what this is tried with. It is written for 3.4 and later, and for Spark
Connect: there is no RDD and no accumulator in it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Unpack

from truebleu._kernel import InputError
from truebleu.engines import spark_cluster
from truebleu.engines.aggregates import COLUMNS, Metrics, Sums, SumsOptions, names
from truebleu.engines.common_api import NAMED, columns_of, named, of_engine, of_rows, release
from truebleu.metrics.base import Metric
from truebleu.text import argument_checks

with suppress(ImportError):  # `spark_cluster.check_packages` says what is missing
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql import types as T  # noqa: N812

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

COUNTS = ("segments", "null_hypotheses", "null_references")

# What a table of scores has beside its keys.
SCORED = ("score", "segments", "signature")

# Tasks that compute the scores of a state table: a row is a few microseconds, a task in Python much
# more, and Spark makes 200 of a shuffle.
SCORED_IN = 16


def _stats(
    data: DataFrame,
    hyp: str = "hyp",
    ref: str | Sequence[str] = "ref",
    **options: Unpack[SumsOptions],
) -> DataFrame:
    """The state table: sums of statistics, one row for each group and metric.

    data: rows of hypothesis and reference; other columns are not read.
    hyp: the column of hypotheses.
    ref: the column of references, of strings or of arrays of strings; or several columns, one a
        reference. A null in an array, or in one of several columns, is a missing reference.
    options: `by`, `metrics`, `nulls` and `bucket`, as for `Sums`. Keys are of any type that Spark
        groups by. With nulls="raise" the job that reads the table fails, with a group's counts.

    Nothing runs before the table is read. Columns: those of `by`, ["bucket"], "fingerprint",
    "segments", "null_hypotheses", "null_references", "fewest_references", "most_references",
    "statistics". All of it can be stored, united with others and merged again (`merge`).

    Raises InputError for columns that are missing or of the wrong type, and ImportError or
    RuntimeError if Spark is missing or too old.
    """
    states = _states(data, _checked(data, hyp, ref, **options))
    return states if options.get("nulls") == "skip" else _without_nulls(states, hyp, ref)


def sums(
    data: DataFrame,
    hyp: str = "hyp",
    ref: str | Sequence[str] = "ref",
    **options: Unpack[SumsOptions],
) -> Sums:
    """The state table in this process, as `Sums`: arguments as for `stats`.

    It has a few hundred bytes for each group and metric. Nulls and no rows are told when a score is
    asked for (`Sums.check`).
    """
    found = _checked(data, hyp, ref, **options)
    if data.isStreaming:
        raise InputError("df: a streaming DataFrame, which has no end; use stats(...).writeStream")
    spark_cluster.check_workers(data.sparkSession)
    with spark_cluster.short():
        states = _states(data, found)
        if hasattr(states, "toArrow"):  # from Spark 4.0 on
            return found.merge_state(states.toArrow())
        import pyarrow as pa
        from pyspark.sql.pandas.types import to_arrow_schema

        rows = [row.asDict(recursive=True) for row in states.collect()]
        return found.merge_state(pa.Table.from_pylist(rows, to_arrow_schema(states.schema)))


def _frame(table: Any, data: DataFrame, _: Any) -> DataFrame:
    """A table of Arrow as a DataFrame of the same session."""
    import pyarrow as pa

    whole = pa.table(table)
    if release(data.sparkSession.version) < (4,):
        whole = whole.to_pandas()
    made = data.sparkSession.createDataFrame(whole)
    types = {field.name.lower(): field.dataType for field in data.schema.fields}
    columns = [
        F.col(_quoted(name)).cast(types[name.lower()]) if name.lower() in types else _quoted(name)
        for name in made.columns
    ]
    return made.select(*columns).toDF(*made.columns)


score, stats, compare = of_engine(sums, _frame, stats=_stats)


def sentence(
    hyp: Column | str,
    ref: Column | str | Sequence[Column | str],
    *,
    metric: str | Metric = "bleu",
    **parameters: Any,
) -> Column:
    """A column of sentence scores (double), as `metric.segments` has them.

    hyp: a column of strings, or its name.
    ref: a column of strings or of arrays of strings, or its name; or several such, one a reference.
    metric: a metric, or a name, as `truebleu.metric` takes it; parameters: of the metric.

    Null where the hypothesis is null, or all its references are.
    """
    spark_cluster.check_packages()
    columns = (F.col(one) if isinstance(one, str) else one for one in (hyp, *columns_of(ref)))
    return _of_rows(of_rows(metric, **parameters))(*columns)


def _of_rows(metric: Metric[Any]) -> Any:
    """Spark's function of columns that gives the score of each row."""
    arrow = hasattr(F, "arrow_udf")  # from Spark 4.1 on
    task = spark_cluster.shipped(
        "scores_of" if arrow else "scores_of_pandas", metric, f"sentence_{metric.NAME.lower()}"
    )
    return (F.arrow_udf if arrow else F.pandas_udf)(task, "double")


corpus_bleu, corpus_chrf, corpus_ter = (named(score, name) for name in NAMED)
sentence_bleu, sentence_chrf, sentence_ter = (named(sentence, name) for name in NAMED)


def register(
    session: SparkSession | None = None, functions: Mapping[str, str | Metric] | None = None
) -> None:
    """Gives Spark SQL the functions bleu, chrf and ter of a hypothesis and its references.

    References are a string or an array of strings, or several arguments. The score is null where
    there is no text.

    session: the active one by default. functions: other names, with a metric or a metric's name for
        each.

    They give doubles: `spark.sql("SELECT avg(bleu(hyp, ref)) FROM outputs")`. To score a corpus,
    `score` is faster, and exact: scores of rows do not add up to it.
    """
    spark_cluster.check_packages()
    from pyspark.sql import SparkSession

    found = session or SparkSession.getActiveSession()
    if found is None:
        raise RuntimeError("register: no session is active; name one: register(session)")
    for name, metric in (functions or {name: name for name in NAMED}).items():
        found.udf.register(name, _of_rows(of_rows(metric)))


def merge(states: DataFrame, metrics: Metrics = ("bleu",)) -> DataFrame:
    """Adds up the rows of state tables that have the same keys.

    states: what `stats` made, of several days or places: `merge(monday.unionByName(tuesday))`.
    metrics: those that they were made with. A row of any other fails the job that reads the table.
    """
    _check_states(states)
    known = Sums(metrics).metrics
    meant = [metric.fingerprint for metric in known]
    other = F.concat(
        F.lit(f"{spark_cluster.SAYS}states: made with "),
        F.col("fingerprint"),
        F.lit(f"; expected {' or '.join(meant)}"),
    )
    of_these = F.when(F.col("fingerprint").isin(meant), True).otherwise(F.raise_error(other))
    return _merged(states.where(of_these), known)


def scores(states: DataFrame, metric: str | Metric = "bleu") -> DataFrame:
    """The score of each row of a state table, computed on the executors.

    states: what `stats` or `merge` made. Rows of other metrics are left out.

    Columns: the keys, "score" (double), "segments", "signature". Where there are no segments there
    is no score, and no signature.
    """
    _check_states(states)
    (found,) = Sums(metric).metrics
    own = _numbered(states.where(F.col("fingerprint") == found.fingerprint))
    keys = [field for field in states.schema.fields if field.name not in COLUMNS]
    for field in keys:
        if field.name.lower() in SCORED:
            raise InputError(f"by: '{field.name}' is a column of the result; rename the column")
    schema = T.StructType(
        [*keys, *map(T.StructField, SCORED, (T.DoubleType(), T.LongType(), T.StringType()))]
    )
    asked = (found, states.columns, schema.fieldNames())
    return own.coalesce(SCORED_IN).mapInArrow(spark_cluster.shipped("scores", asked), schema)


def check(session: SparkSession | None = None) -> None:
    """Raises, in words, for what Spark needs here or on its workers and does not have.

    Without a session, given or active: ImportError for a package that is missing, RuntimeError for
    one that is too old and for Java, which a session is about to need. With one: RuntimeError if a
    worker has another version of Python, or no truebleu, or another release of it. That is a job
    of one row, run once a session; `sums` and `corpus_...` run it before theirs.
    """
    spark_cluster.check_packages()
    from pyspark.sql import SparkSession

    session = session or SparkSession.getActiveSession()
    if session is not None:
        spark_cluster.check_workers(session)
    elif not os.environ.get("SPARK_REMOTE"):  # of Spark Connect, Java is on the server
        spark_cluster.check_java()


# ---- from rows to states ----


def _checked(
    df: DataFrame, hyp: str, ref: str | Sequence[str], **options: Unpack[SumsOptions]
) -> Sums:
    """Empty sums of the columns to read, which are there and of the right types."""
    spark_cluster.check_packages()
    if not (hasattr(df, "mapInArrow") and hasattr(df, "sparkSession")):
        raise TypeError(f"df: expected a Spark DataFrame, not {_type_name(df)}")
    hyp = _column(df, "hyp", hyp)
    refs = [_column(df, "ref", name) for name in names("ref", ref)]
    by, bucket = options.get("by"), options.get("bucket")
    keys = [_column(df, "by", name) for name in names("by", by)]
    for name in keys:
        # Spark's names differ by more than case.
        if name.lower() in ((*COLUMNS, "bucket") if bucket else COLUMNS):
            raise InputError(f"by: '{name}' is a column of the result; rename the column")
    if isinstance(bucket, tuple) and bucket:
        options["bucket"] = (_column(df, "bucket", bucket[0]), *bucket[1:])
    options["by"] = keys[0] if isinstance(by, str) else keys  # of values, or of tuples
    # It looks at the other arguments here, before anything runs; so does the kernel at types.
    found = Sums(hyp=hyp, ref=refs, **options)
    found.spawn().update(_of_no_rows(df.select(*map(_quoted, found.columns))))
    return found


def _states(df: DataFrame, sums: Sums) -> DataFrame:
    """The merged state table, with the nulls counted in it. Nothing runs yet."""
    types = dict(zip(df.columns, df.schema.fields, strict=True))
    of = {
        **{name: types[name].dataType for name in sums.by},
        **({"bucket": T.LongType()} if sums.bucket else {}),
        "fingerprint": T.StringType(),
        **dict.fromkeys(COUNTS, T.LongType()),
        **dict.fromkeys(("fewest_references", "most_references"), T.IntegerType()),
        "statistics": T.ArrayType(T.LongType()),
    }
    schema = T.StructType([T.StructField(name, of[name]) for name in (*sums.key_columns, *COLUMNS)])
    rows = _numbered(df.select(*map(_quoted, sums.columns)))
    partial = rows.mapInArrow(spark_cluster.shipped("partial_sums", sums), schema)
    return _merged(partial, sums.metrics)


def _merged(states: DataFrame, metrics: Sequence[Metric[Any]]) -> DataFrame:
    """Rows of equal keys added up, in hash aggregations before the exchange and behind it."""
    # Behind the end of a row, where another metric's is longer, get() is null, and so is the sum.
    width = max(len(metric.columns) for metric in metrics)
    columns = [F.sum(F.get("statistics", F.lit(place))) for place in range(width)]
    keys = [name for name in states.columns if name not in COLUMNS]
    return (
        states.groupBy(*map(_quoted, keys), "fingerprint")
        .agg(
            *(F.sum(name).alias(name) for name in COUNTS),
            F.min("fewest_references").alias("fewest_references"),
            F.max("most_references").alias("most_references"),
            F.array_compact(F.array(*columns)).alias("statistics"),
        )
        .select(*map(_quoted, keys), *COLUMNS)
    )


def _without_nulls(states: DataFrame, hyp: str, ref: str | Sequence[str]) -> DataFrame:
    """The same table, which fails whatever job reads it if rows were null."""
    counts = [F.col("null_hypotheses"), F.col("null_references")]
    told = F.concat(
        F.lit(f"{spark_cluster.SAYS}{hyp}: "),
        counts[0].cast("string"),
        F.lit(f" nulls, {', '.join(names('ref', ref))}: "),
        counts[1].cast("string"),
        F.lit(" nulls in one group; nulls='skip' leaves such rows out and counts them"),
    )
    return states.where(
        F.when(counts[0] + counts[1] > 0, F.raise_error(told)).otherwise(F.lit(True))
    )


# ---- what is checked before anything runs ----


def _column(df: DataFrame, role: str, name: str) -> str:
    """The name of a column, as the DataFrame spells it."""
    if not isinstance(name, str):
        raise TypeError(f"{role}: expected a column's name, not {_type_name(name)}")
    names: list[str] = df.columns
    # As Spark finds columns: by their exact name or else by one that differs in case alone.
    found = [other for other in names if other == name]
    found = found or [other for other in names if other.lower() == name.lower()]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(f"{role}: {len(found)} columns are called '{name}'; rename all but one")
    raise InputError(f"{role}: no column '{name}'{argument_checks.suggest_names(name, names)}")


def _of_no_rows(df: DataFrame) -> Any:
    """An Arrow table of the same columns. Raises InputError for a type that Arrow has not."""
    from inspect import signature

    import pyarrow as pa
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_type

    # Earlier releases make moments UTC by themselves, and do not take the zone.
    zone = {"timezone": "UTC"} if "timezone" in signature(to_arrow_type).parameters else {}
    fields = []
    for field in df.schema.fields:
        try:
            fields.append(pa.field(field.name, to_arrow_type(field.dataType, **zone)))
        except PySparkException:
            raise InputError(
                f"column '{field.name}' is {field.dataType.simpleString()}, which cannot be read; "
                "take a field of it, or to_json"
            ) from None
    return pa.schema(fields).empty_table()


def _check_states(states: DataFrame) -> None:
    spark_cluster.check_packages()
    lacking = [name for name in COLUMNS if name not in states.columns]
    if lacking:
        raise InputError(f"states: no column '{lacking[0]}'; expected a table that stats made")


def _numbered(frame: DataFrame) -> DataFrame:
    """The same columns by other names: mapInArrow takes a point in one for a field of it."""
    return frame.toDF(*(f"column{number}" for number in range(len(frame.columns))))


def _quoted(name: str) -> str:
    """A column's name as it is, whatever is in it."""
    return "`{}`".format(name.replace("`", "``"))


def _type_name(value: object) -> str:
    kind = type(value)
    return f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}"
