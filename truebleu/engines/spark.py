"""Scoring of Spark DataFrames: partitions are aggregated locally, and no text is shuffled.

Each partition becomes a few rows of integers (`mapInArrow`), Spark's aggregation sums the rows with
equal keys, and the metric's formula is applied to the result. Only sums of integers cross the
network, so partitioning, order and repeated tasks do not change the result.

Tests run with Spark 4.3 and Java 17. The module supports Spark 3.4 and later, and Spark Connect: it
uses neither RDDs nor accumulators.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Unpack

from truebleu._kernel import InputError
from truebleu.engines import spark_cluster
from truebleu.engines.aggregates import (
    STATE_COLUMNS,
    MetricSpecs,
    Sums,
    SumsOptions,
    as_column_names,
)
from truebleu.engines.common_api import (
    SHORTCUT_METRICS,
    as_reference_columns,
    bind_metrics,
    make_engine_functions,
    parse_release,
    resolve_row_metric,
)
from truebleu.metrics.base import Metric
from truebleu.text import argument_checks

with suppress(ImportError):  # `spark_cluster.check_packages` reports missing packages
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql import types as T  # noqa: N812

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

COUNT_COLUMNS = ("segments", "null_hypotheses", "null_references")

# Columns of a score table after its key columns.
SCORE_COLUMNS = ("score", "segments", "signature")

# Number of tasks that score a state table. By default Spark would start 200 tasks after a shuffle,
# and starting a Python task takes much longer than scoring a row.
SCORING_TASKS = 16


def _make_state_table(
    data: DataFrame,
    hyp: str = "hyp",
    ref: str | Sequence[str] = "ref",
    **options: Unpack[SumsOptions],
) -> DataFrame:
    """Return the state table: aggregated statistics, one row per group and metric.

    data: rows with a hypothesis and references; other columns are not read.
    hyp: the hypothesis column.
    ref: the reference column, with strings or arrays of strings; or several columns, one per
        reference. A null in an array, or in one of several columns, is a missing reference.
    options: `source`, `by`, `metrics`, `nulls` and `bucket`, as for `Sums`. Keys may have any type
        that Spark can group by. With nulls="raise", the job that reads the table fails and reports
        the counts.

    The computation is lazy. Columns: the columns of `by`, ["bucket"], "fingerprint", "segments",
    "null_hypotheses", "null_references", "fewest_references", "most_references", "statistics".
    State tables can be stored, concatenated and merged again (`merge`).

    Raises InputError for columns that are missing or of the wrong type, and ImportError or
    RuntimeError if Spark is missing or too old.
    """
    empty_sums = _prepare_sums(data, hyp, ref, **options)
    states = _sum_partitions(data, empty_sums)
    if options.get("nulls") == "skip":
        return states
    counts = [F.col("null_hypotheses"), F.col("null_references")]
    hyp_label, ref_label = empty_sums.nulls
    message = F.concat(
        F.lit(f"{spark_cluster.MESSAGE_PREFIX}{hyp_label}: "),
        counts[0].cast("string"),
        F.lit(f" nulls, {ref_label}: "),
        counts[1].cast("string"),
        F.lit(" nulls in one group. Use nulls='skip' to omit and count incomplete rows."),
    )
    # Jobs fail if any nulls were counted.
    return states.where(
        F.when(counts[0] + counts[1] > 0, F.raise_error(message)).otherwise(F.lit(True))
    )


def sums(
    data: DataFrame,
    hyp: str = "hyp",
    ref: str | Sequence[str] = "ref",
    **options: Unpack[SumsOptions],
) -> Sums:
    """Collect the state table as `Sums`. See `stats` for the arguments.

    `Sums` needs a few hundred bytes per group and metric. Nulls and empty data raise an error when
    a score is computed (`Sums.check`).
    """
    totals = _prepare_sums(data, hyp, ref, **options)
    if data.isStreaming:
        raise InputError("data: cannot sum a streaming DataFrame; use stats(...).writeStream")
    spark_cluster.check_workers(data.sparkSession)
    with spark_cluster.shorten_errors():
        states = _sum_partitions(data, totals)
        if hasattr(states, "toArrow"):  # Spark 4.0 and later
            return totals.merge_state(states.toArrow())
        import pyarrow as pa
        from pyspark.sql.pandas.types import to_arrow_schema

        rows = [row.asDict(recursive=True) for row in states.collect()]
        return totals.merge_state(pa.Table.from_pylist(rows, to_arrow_schema(states.schema)))


def _to_dataframe(table: Any, data: DataFrame, _: Any) -> DataFrame:
    """Convert an Arrow table to a DataFrame of the same session."""
    import pyarrow as pa

    rows = pa.table(table)
    if parse_release(data.sparkSession.version) < (4,):
        rows = rows.to_pandas()
    frame = data.sparkSession.createDataFrame(rows)
    types = {field.name.lower(): field.dataType for field in data.schema.fields}
    columns = []
    for name in frame.columns:
        column = F.col(_quote_column(name))
        columns.append(column.cast(types[name.lower()]) if name.lower() in types else column)
    return frame.select(*columns).toDF(*frame.columns)


score, stats, compare = make_engine_functions(sums, _to_dataframe, stats=_make_state_table)


def sentence(
    hyp: Column | str,
    ref: Column | str | Sequence[Column | str],
    *,
    metric: str | Metric = "bleu",
    **parameters: Any,
) -> Column:
    """Return a column of sentence-level scores (double), equal to `metric.segments`.

    hyp: a column of strings, or its name.
    ref: a column of strings or of arrays of strings, or its name; or several such columns, one per
        reference.
    metric: a metric, or a name that `truebleu.metric` accepts. parameters: parameters of the
        metric.

    The score is null where the hypothesis or all references are null.
    """
    spark_cluster.check_packages()
    columns = (hyp, *as_reference_columns(ref))
    row_function = _make_row_function(resolve_row_metric(metric, **parameters))
    return row_function(*(F.col(one) if isinstance(one, str) else one for one in columns))


def _make_row_function(metric: Metric[Any]) -> Any:
    """Return Spark's user-defined function that computes the score of each row."""
    has_arrow_udf = hasattr(F, "arrow_udf")  # Spark 4.1 and later
    task = spark_cluster.make_task(
        "score_arrow_columns" if has_arrow_udf else "score_pandas_columns",
        metric,
        f"sentence_{metric.NAME.lower()}",
    )
    return (F.arrow_udf if has_arrow_udf else F.pandas_udf)(task, "double")


corpus_bleu, corpus_chrf, corpus_ter = bind_metrics(score)
sentence_bleu, sentence_chrf, sentence_ter = bind_metrics(sentence)


def register(
    session: SparkSession | None = None, functions: Mapping[str, str | Metric] | None = None
) -> None:
    """Register bleu, chrf and ter in Spark SQL as functions of a hypothesis and its references.

    References are a string or an array of strings, or several arguments. The score is null for rows
    without text.

    session: the session (default: the active one). functions: a dict from function names to
        metrics or metric names, to register other functions.

    The functions return doubles: `spark.sql("SELECT avg(bleu(hyp, ref)) FROM outputs")`. To score a
    corpus, use `score`: it is faster, and the corpus score is not the mean of row scores.
    """
    spark_cluster.check_packages()
    from pyspark.sql import SparkSession

    active_session = session or SparkSession.getActiveSession()
    if active_session is None:
        raise RuntimeError("register: no active session. Pass one: register(session).")
    for name, metric in (functions or {name: name for name in SHORTCUT_METRICS}).items():
        active_session.udf.register(name, _make_row_function(resolve_row_metric(metric)))


def merge(states: DataFrame, metrics: MetricSpecs = ("bleu",)) -> DataFrame:
    """Merge the rows of state tables that have equal keys.

    states: results of `stats`, for example for several days: `merge(monday.unionByName(tuesday))`.
    metrics: the metrics of the tables. With rows of other metrics, the job that uses the result
        fails.
    """
    _check_state_table(states)
    resolved_metrics = Sums(metrics).metrics
    fingerprints = [metric.fingerprint for metric in resolved_metrics]
    found, prefix = F.col("fingerprint"), spark_cluster.MESSAGE_PREFIX
    message = F.concat(
        F.lit(f"{prefix}states: metric mismatch (found "),
        found,
        F.lit(f", expected {' or '.join(fingerprints)})"),
    )
    is_known = F.when(found.isin(fingerprints), True).otherwise(F.raise_error(message))
    return _merge_states(states.where(is_known), resolved_metrics)


def scores(states: DataFrame, metric: str | Metric = "bleu") -> DataFrame:
    """Return the score of each row of a state table, computed on the executors.

    states: a result of `stats` or `merge`. Rows of other metrics are omitted.

    Columns: the keys, "score" (double), "segments", "signature". Score and signature are null for
    rows without segments.
    """
    _check_state_table(states)
    (resolved_metric,) = Sums(metric).metrics
    metric_states = _rename_to_numbered_columns(
        states.where(F.col("fingerprint") == resolved_metric.fingerprint)
    )
    keys = [field for field in states.schema.fields if field.name not in STATE_COLUMNS]
    for field in keys:
        if field.name.lower() in SCORE_COLUMNS:
            raise InputError(f"by: '{field.name}' is the name of a result column; rename it")
    schema = T.StructType(
        [*keys, *map(T.StructField, SCORE_COLUMNS, (T.DoubleType(), T.LongType(), T.StringType()))]
    )
    arguments = (resolved_metric, states.columns, schema.fieldNames())
    return metric_states.coalesce(SCORING_TASKS).mapInArrow(
        spark_cluster.make_task("score_states", arguments), schema
    )


def check(session: SparkSession | None = None) -> None:
    """Raise an error if Spark, or a requirement on this machine or on a worker, is missing.

    Without a session (passed or active), raises ImportError for a missing package, and RuntimeError
    for a package or Java version that is too old. With a session, raises RuntimeError if a worker
    has another version of Python or truebleu, or does not have truebleu. This runs a job with one
    row, once per session; `sums` and `corpus_...` also run it.
    """
    spark_cluster.check_packages()
    from pyspark.sql import SparkSession

    session = session or SparkSession.getActiveSession()
    if session is not None:
        spark_cluster.check_workers(session)
    elif not os.environ.get("SPARK_REMOTE"):  # with Spark Connect, Java runs on the server
        spark_cluster.check_java()


# ---- aggregation of rows to state tables ----


def _prepare_sums(
    data: DataFrame, hyp: str, ref: str | Sequence[str], **options: Unpack[SumsOptions]
) -> Sums:
    """Return empty sums, which name the columns to read, after validating the arguments."""
    spark_cluster.check_packages()
    if not (hasattr(data, "mapInArrow") and hasattr(data, "sparkSession")):
        raise TypeError(f"data: expected a Spark DataFrame, found {_format_type(data)}")
    hyp = _resolve_column(data, "hyp", hyp)
    refs = [_resolve_column(data, "ref", name) for name in as_column_names("ref", ref)]
    group_columns, bucket = options.get("by"), options.get("bucket")
    keys = [_resolve_column(data, "by", name) for name in as_column_names("by", group_columns)]
    for name in keys:
        # Spark's column names are not case-sensitive.
        if name.lower() in ((*STATE_COLUMNS, "bucket") if bucket else STATE_COLUMNS):
            raise InputError(f"by: '{name}' is the name of a result column; rename it")
    if (source := options.get("source")) is not None:
        options["source"] = _resolve_column(data, "source", source)
    if isinstance(bucket, tuple) and bucket:
        options["bucket"] = (_resolve_column(data, "bucket", bucket[0]), *bucket[1:])
    options["by"] = keys[0] if isinstance(group_columns, str) else keys
    # Before any job starts, Sums validates the other arguments and the kernel validates the types.
    empty_sums = Sums(hyp=hyp, ref=refs, **options)
    rows = data.select(*map(_quote_column, empty_sums.columns))
    empty_sums.spawn().update(_make_empty_table(rows))
    return empty_sums


def _sum_partitions(data: DataFrame, sums: Sums) -> DataFrame:
    """Return the merged state table, including null counts. The computation is lazy."""
    types = dict(zip(data.columns, data.schema.fields, strict=True))
    column_types = {
        **{name: types[name].dataType for name in sums.by},
        **({"bucket": T.LongType()} if sums.bucket else {}),
        "fingerprint": T.StringType(),
        **dict.fromkeys(COUNT_COLUMNS, T.LongType()),
        **dict.fromkeys(("fewest_references", "most_references"), T.IntegerType()),
        "statistics": T.ArrayType(T.LongType()),
    }
    schema = T.StructType(
        [T.StructField(name, column_types[name]) for name in (*sums.key_columns, *STATE_COLUMNS)]
    )
    rows = _rename_to_numbered_columns(data.select(*map(_quote_column, sums.columns)))
    partial_states = rows.mapInArrow(spark_cluster.make_task("sum_partition", sums), schema)
    return _merge_states(partial_states, sums.metrics)


def _merge_states(states: DataFrame, metrics: Sequence[Metric[Any]]) -> DataFrame:
    """Sum the rows with equal keys, with hash aggregations before and after the shuffle."""
    # Some metrics have shorter rows. Past the end of a row, get() and the sum return null.
    width = max(len(metric.columns) for metric in metrics)
    columns = [F.sum(F.get("statistics", F.lit(index))) for index in range(width)]
    keys = [name for name in states.columns if name not in STATE_COLUMNS]
    return (
        states.groupBy(*map(_quote_column, keys), "fingerprint")
        .agg(
            *(F.sum(name).alias(name) for name in COUNT_COLUMNS),
            F.min("fewest_references").alias("fewest_references"),
            F.max("most_references").alias("most_references"),
            F.array_compact(F.array(*columns)).alias("statistics"),
        )
        .select(*map(_quote_column, keys), *STATE_COLUMNS)
    )


# ---- validation before jobs start ----


def _resolve_column(data: DataFrame, parameter: str, name: str) -> str:
    """Return the name of a column as the DataFrame spells it."""
    if not isinstance(name, str):
        raise TypeError(f"{parameter}: expected a column name, found {_format_type(name)}")
    names: list[str] = data.columns
    # Spark prefers a column with the exact name, and otherwise ignores case.
    matches = [other for other in names if other == name]
    matches = matches or [other for other in names if other.lower() == name.lower()]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise InputError(
            f"{parameter}: duplicate column '{name}' ({len(matches)} times). Rename all but one."
        )
    raise InputError(f"{parameter}: no column '{name}'{argument_checks.suggest_names(name, names)}")


def _make_empty_table(data: DataFrame) -> Any:
    """Return an empty Arrow table with this schema. Raises InputError for unsupported types."""
    from inspect import signature

    import pyarrow as pa
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_type

    # Earlier releases do not have the parameter, and always use UTC.
    zone = {"timezone": "UTC"} if "timezone" in signature(to_arrow_type).parameters else {}
    fields = []
    for field in data.schema.fields:
        try:
            fields.append(pa.field(field.name, to_arrow_type(field.dataType, **zone)))
        except PySparkException:
            raise InputError(
                f"column '{field.name}': cannot read type {field.dataType.simpleString()}. Select "
                "one of its fields, or use to_json."
            ) from None
    return pa.schema(fields).empty_table()


def _check_state_table(states: DataFrame) -> None:
    spark_cluster.check_packages()
    missing_columns = [name for name in STATE_COLUMNS if name not in states.columns]
    if missing_columns:
        raise InputError(f"states: no column '{missing_columns[0]}' (expected a table from stats)")


def _rename_to_numbered_columns(frame: DataFrame) -> DataFrame:
    """Rename the columns to column0 etc., because mapInArrow interprets dots in names."""
    return frame.toDF(*(f"column{number}" for number in range(len(frame.columns))))


def _quote_column(name: str) -> str:
    """Quote a column name, so that Spark does not interpret its characters."""
    return "`{}`".format(name.replace("`", "``"))


def _format_type(value: object) -> str:
    kind = type(value)
    return f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}"
