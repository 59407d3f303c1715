"""Spark: sums are byte-identical to one machine for any partitions, workers and failures.

`make engines` runs these tests in a separate environment, because pyspark is large and requires an
older pandas. Most tests use two threads of one process; `spark_failures.py` uses separate
executors.
"""

import builtins
import functools
import json
import os
import subprocess
import sys
import warnings
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import page_code
import pytest
from contract import CASES, METRICS, check_every_function, check_every_metric, make_pyarrow_batch
from contract import make_rows as make_contract_rows
from paths import ROOT

import truebleu as tb
from truebleu import BLEU, CHRF, TER, InputError
from truebleu.engines import Sums, spark, spark_cluster, spark_workers

try:
    import pyspark
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql import functions as F  # noqa: N812

    spark_cluster.check_java()
    REASON = ""
except (ImportError, RuntimeError) as error:
    pyspark, REASON = None, str(error)

# The tests can also run on executors in separate processes.
MASTER = os.environ.get("TRUEBLEU_SPARK_MASTER", "local[2]")

needs_spark = pytest.mark.skipif(bool(REASON), reason=REASON)

pytestmark = [
    # Spark leaves sockets to the garbage collector, and pandas warns about Spark's calls.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def workers_python():
    """Let workers run this Python, because its environment may not be on the PATH."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYSPARK_PYTHON", sys.executable)
        yield


@pytest.fixture(scope="module")
def session():
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = path  # also for the workers
    spark_session = (
        SparkSession.builder.master(MASTER)
        .config("spark.executorEnv.PYTHONPATH", path)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "3")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "40")
        # Slow or busy machines must not fail the tests.
        .config("spark.network.timeout", "1200s")
        .config("spark.python.authenticate.socketTimeout", "300s")
        .getOrCreate()
    )
    spark_session.sparkContext.setLogLevel("OFF")
    yield spark_session
    spark_session.stop()
    os.environ.pop("PYTHONPATH")
    if before is not None:
        os.environ["PYTHONPATH"] = before


@pytest.fixture(scope="module")
def table():
    """Return the example systems: system, hyp, ref (two references), id."""
    pa = pytest.importorskip("pyarrow")
    folder = ROOT / "examples" / "de-en"
    lines = {path.stem: path.read_text("utf-8").splitlines() for path in folder.glob("*.en")}
    pairs = list(zip(lines["reference.a"], lines["reference.b"], strict=True))
    systems = ("aspen", "birch", "cedar")
    return pa.table(
        {
            "system": [system for system in systems for _ in pairs],
            "hyp": [hyp for system in systems for hyp in lines[system]],
            "ref": [list(refs) for _ in systems for refs in pairs],
            "id": list(range(3 * len(pairs))),
        }
    )


@pytest.fixture(scope="module")
def frame(session, table):
    return session.createDataFrame(table).repartition(5).cache()


@pytest.fixture(scope="module")
def run(session):
    """Return the `run` of the contract: each batch is a partition, with Spark's types."""
    import pyarrow as pa

    def plain(batch):
        columns = {}
        for name in batch.schema.names:
            values = batch.column(name).to_pylist()
            arrow_type = batch.schema.field(name).type
            nested = arrow_type.num_fields and not pa.types.is_dictionary(arrow_type)
            columns[name] = pa.array(values, pa.list_(pa.string()) if nested else pa.string())
        return session.createDataFrame(pa.table(columns)).coalesce(1)

    def run(batches, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about omitted rows
            return spark.sums(functools.reduce(DataFrame.union, map(plain, batches)), **options)

    return run


# ---- identical results ----


@needs_spark
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_contract(case, run):
    case(run)


@needs_spark
def test_sentence_scores_are_columns(session, table):
    hyps, refs = table["hyp"].to_pylist(), table["ref"].to_pylist()
    scores = session.createDataFrame(table).select(
        "id",
        spark.sentence_bleu("hyp", "ref", lowercase=True),
        spark.sentence_chrf(F.col("hyp"), [F.col("ref")[0], F.col("ref")[1]]).alias("chrf"),
        spark.sentence_ter("hyp", F.col("ref")).alias("ter"),
    )
    assert scores.columns == ["id", "sentence_bleu(hyp, ref)", "chrf", "ter"]
    columns = list(zip(*sorted(map(tuple, scores.collect())), strict=True))[1:]
    for column, metric in zip(columns, (BLEU(lowercase=True), CHRF(), TER()), strict=True):
        assert list(column) == metric.segments(hyps, refs).tolist()


@needs_spark
def test_rows_without_text_have_null_scores(session):
    texts = [("a b", ["a b", None]), (None, ["a"]), ("a", None), ("a", [None]), ("", [""])]
    data = [(number, *pair) for number, pair in enumerate(texts)]
    rows = session.createDataFrame(data, "id int, hyp string, ref array<string>")
    single = rows.withColumn("first", F.get("ref", F.lit(0))).withColumn("second", F.lit("a b"))
    scores = single.select(
        "id",
        spark.sentence_chrf("hyp", "ref").alias("lists"),
        spark.sentence_chrf("hyp", "first").alias("one"),
        spark.sentence_chrf("hyp", ["first", "second"]).alias("two"),
    ).orderBy("id")
    chrf_score = CHRF().sentence("a", "a b").value
    assert [tuple(row)[1:] for row in scores.collect()] == [
        (100.0, 100.0, 100.0),
        (None, None, None),
        (None, None, chrf_score),
        (None, None, chrf_score),
        (0.0, 0.0, 0.0),
    ]


def test_pandas_columns_give_equal_sentence_scores():
    """Spark before 4.1 uses this function."""
    pd, np = pytest.importorskip("pandas"), pytest.importorskip("numpy")
    hyps, refs = pd.Series(["a b", None, "c"]), pd.Series([np.array(["a b c", None]), None, ["c"]])
    scores = spark_workers.score_pandas_columns(CHRF(), hyps, refs).tolist()
    assert scores[::2] == CHRF().segments(["a b", "c"], [["a b c"], ["c"]]).tolist()
    assert np.isnan(scores[1])


@needs_spark
def test_incompatible_packages_raise_error(monkeypatch):
    def fail_for_pyarrow(name, *rest):
        if name == "pyarrow":
            raise ImportError("pyarrow requires NumPy 2.0 or newer, found 1.26.4")
        return original(name, *rest)

    original = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", fail_for_pyarrow)
    with pytest.raises(ImportError, match=r"^Spark cannot exchange .*: pyarrow requires NumPy 2"):
        spark_cluster.check_packages()


@needs_spark
def test_releases_without_timezone_parameter(session, monkeypatch):
    """Up to 4.0, pyspark's type conversion does not accept a time zone."""
    from pyspark.sql.pandas import types

    rows = session.sql("SELECT TIMESTAMP '2026-01-02 03:04:05' AS moment, 'a' AS hyp")
    now, current_function = spark._make_empty_table(rows).schema, types.to_arrow_type

    def earlier_function(kind, timestamp_utc=True):
        return current_function(kind, timezone="UTC" if timestamp_utc else None)

    monkeypatch.setattr(types, "to_arrow_type", earlier_function)
    assert spark._make_empty_table(rows).schema == now


@needs_spark
def test_keys_of_any_type(session):
    keys = {
        "string": ["é", "", None],
        "binary": [b"\xff", b"", None],
        "boolean": [True, False, None],
        "tinyint": [1, -1, None],
        "bigint": [2**62, -(2**63), None],
        "float": [0.5, float("inf"), None],
        "double": [1e300, -0.5, None],
        "decimal(20,3)": [Decimal("12345678901234567.891"), Decimal("-0.001"), None],
        "date": [date(1, 1, 1), date(2026, 11, 21), None],
        "timestamp": [datetime(2026, 1, 2, 3, 4, 5, 6), datetime(1970, 1, 1), None],
        "timestamp_ntz": [datetime(2026, 1, 2, 3, 4, 5, 6), datetime(1970, 1, 1), None],
        "interval day to second": [datetime(2026, 1, 2) - datetime(2025, 1, 1), None, None],
    }
    schema = ", ".join(f"`{kind}` {kind}" for kind in keys)
    data = [[values[i % 3] for values in keys.values()] for i in range(12)]
    rows = session.createDataFrame(data, schema).repartition(3)
    rows = rows.withColumn("hyp", F.lit("a b c d")).withColumn("ref", F.lit("a b c e"))
    key_columns = list(keys)
    sums = spark.sums(rows, by=key_columns)
    assert len(sums) == 3
    assert sums.to_bytes() == Sums(by=key_columns).update(rows.toArrow()).to_bytes()
    scored = spark.corpus_bleu(rows, by=key_columns)
    assert [field.dataType for field in scored.schema][:-3] == [
        rows.schema[name].dataType for name in key_columns
    ]
    names = [f"`{name}`" for name in key_columns]
    assert {tuple(row) for row in scored.select(*names).collect()} == {
        tuple(row) for row in rows.select(*names).collect()
    }


@needs_spark
def test_keys_equal_those_of_polars(session, tmp_path):
    """Sums of both engines merge, for any session time zone; so do rolled-up state tables."""
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq

    from truebleu.engines import polars as polars_engine

    rows = make_contract_rows(22, 60)
    berlin = timezone(timedelta(hours=1))
    nan = float("nan")
    moments = [datetime(2026, 1, 31, 23, 30, tzinfo=UTC), datetime(1960, 2, 1, tzinfo=berlin), None]
    keys = {
        "day": pa.array([date(2026, 1, 1) + timedelta(i) for i in range(59)] + [None]),
        "moment": pa.array(moments * 20, pa.timestamp("us", "Europe/Berlin")),
        "clock": pa.array([datetime(2026, 1, 2, 3, 4, 5, 6), None] * 30, pa.timestamp("us")),
        "decimal": pa.array([Decimal("1.50"), Decimal(-7), None] * 20, pa.decimal128(20, 3)),
        "truth": pa.array([True, False, None] * 20),
        "number": pa.array([0.0, -0.0, nan, 1.5, None] * 12),
        "single": pa.array([0.5, nan, -0.0, None] * 15, pa.float32()),
        "whole": pa.array([3, -4, None] * 20, pa.int32()),
        "name": pa.array(["a", "", "北京", None] * 15),
        "bytes": pa.array([b"a", b"\xff", None] * 20),
    }
    table = pa.table({"hyp": rows.hyp, "ref": rows.ref, **keys})
    pq.write_table(table, tmp_path / "rows.parquet")
    scan = pl.scan_parquet(tmp_path / "rows.parquet")
    options = {"metrics": METRICS, "nulls": "skip"}
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        frame = session.read.parquet(str(tmp_path / "rows.parquet"))
        spark_sums = spark.sums(frame, by=list(keys), **options)
        states = spark.stats(frame, by=["day", "moment"], **options)
        months = states.withColumn("month", F.trunc("day", "month")).toArrow()
    finally:
        session.conf.unset("spark.sql.session.timeZone")
    all_polars_sums = polars_engine.sums(scan, by=list(keys), **options)
    assert spark_sums == all_polars_sums
    merged = spark_sums.spawn().merge(spark_sums).merge(all_polars_sums)
    assert merged.segments == 2 * all_polars_sums.segments
    for name in keys:
        assert spark_sums.roll_up(name) == polars_engine.sums(scan, by=name, **options)
    # Roll up days to months, in Spark's state table and in Polars.
    month = pl.col("day").dt.truncate("1mo").alias("month")
    expected = polars_engine.sums(scan.with_columns(month), by="month", **options)
    assert expected.keys == [None, date(2026, 1, 1), date(2026, 2, 1)]
    rolled = pl.DataFrame(spark_sums).with_columns(month)
    for coarse in (months, rolled):
        assert Sums(by="month", **options).merge_state(coarse) == expected
    # Spark reads the state table of sums from Polars.
    polars_sums = polars_engine.sums(scan, by="truth", nulls="skip")
    merged = spark.merge(session.createDataFrame(pa.table(polars_sums)))
    scores = {row.truth: row.score for row in spark.scores(merged).collect()}
    assert scores == {key: score.value for key, score in polars_sums.scores().items()}


@needs_spark
def test_columns_of_any_name(session):
    rows = session.createDataFrame([("x", "a b", "a b")], ["a.b", "hyp`o", "Ä ref"])
    expected = BLEU(max_order=2).score(["a b"], ["a b"])
    assert spark.corpus_bleu(rows, "hyp`o", "Ä ref", max_order=2) == expected
    assert spark.corpus_bleu(rows, "HYP`O", "ä ref", by="a.b").columns[0] == "a.b"


# ---- tasks and shuffles ----


@contextmanager
def count_tasks(session):
    """Collect the number of tasks of each job that runs in this context."""
    tracker, task_counts = session.sparkContext.statusTracker(), []
    before = set(tracker.getJobIdsForGroup(None))
    yield task_counts
    for job in sorted({*tracker.getJobIdsForGroup(None)} - before):
        stages = map(tracker.getStageInfo, tracker.getJobInfo(job).stageIds)
        task_counts.append(sum(stage.numCompletedTasks for stage in stages if stage))


@needs_spark
def test_group_scores_need_few_tasks(session, table):
    """Spark makes 200 partitions in a shuffle; Python must not run in each of them."""
    rows = session.createDataFrame(table).coalesce(2).withColumn("group", F.col("id") % 71)
    spark.check(session)
    session.conf.set("spark.sql.shuffle.partitions", "200")
    try:
        with count_tasks(session) as sums_tasks:
            spark.sums(rows, by="group")
        with count_tasks(session) as score_tasks:
            scores = spark.score(rows, by="group")
            assert scores.count() == 71
        session.conf.set("spark.sql.adaptive.enabled", "false")
        with count_tasks(session) as lazy_tasks:
            assert spark.scores(spark.stats(rows, by="group")).count() == 71
    finally:
        session.conf.set("spark.sql.shuffle.partitions", "3")
        session.conf.unset("spark.sql.adaptive.enabled")
    assert 0 < sum(sums_tasks) <= 5
    # The additional tasks read the 71 rows.
    assert sum(score_tasks) <= sum(sums_tasks) + 4
    assert sum(lazy_tasks) <= 2 + spark.SCORING_TASKS + 1


@needs_spark
def test_no_text_is_shuffled(session, table):
    rows = session.createDataFrame(table).withColumn("unread", F.lit("x" * 100))
    states = spark.stats(rows, by="system", metrics=("bleu", "ter"))
    plan = session._jvm.PythonSQLUtils.explainString(states._jdf.queryExecution(), "formatted")
    assert plan.count("Exchange") == 2  # its name and its details
    exchange = plan.partition(") Exchange\n")[2].partition("\n\n")[0]
    assert "system" in exchange
    assert not {"hyp", "ref", "unread"} & {
        word.partition("#")[0] for word in exchange.replace("[", " ").replace(",", " ").split()
    }
    # Hash aggregations use fixed-size buffers, without sorting or Python objects.
    assert plan.count("HashAggregate\n") == 2
    for slow in ("ObjectHashAggregate", "SortAggregate", "Sort\n"):
        assert slow not in plan
    read = plan.partition(") MapInArrow\n")[2].partition("\n")[0]
    assert "unread" not in read


@needs_spark
def test_state_tables_of_parts_merge(frame, table):
    expected = Sums(METRICS, by="system").update(table).to_bytes()
    parts = [
        spark.stats(frame.where(F.col("id") % 3 == part), by="system", metrics=METRICS)
        for part in range(3)
    ]
    united = functools.reduce(DataFrame.unionByName, parts)
    merged = spark.merge(united, METRICS).cache()
    assert merged.count() == 6
    assert Sums(METRICS, by="system").merge_state(merged.toArrow()).to_bytes() == expected
    scored = spark.scores(merged, METRICS[1])
    assert scored.columns == ["system", "score", "segments", "signature"]
    assert {row.system: (row.score, row.signature) for row in scored.collect()} == {
        key: (both["chrF2++"].value, str(both["chrF2++"].signature))
        for key, both in Sums(METRICS, by="system").update(table).scores().items()
    }
    with pytest.raises(Exception, match=r"metric mismatch \(found chrF2\+\+.*, expected BLEU.*"):
        spark.merge(united, "bleu").collect()
    with pytest.raises(InputError, match="states: no column 'fingerprint'"):
        spark.merge(frame)


def test_worker_emits_groups_at_limit(monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(spark_workers, "MAX_GROUPS", 100)
    rows = make_contract_rows(1, 2000)
    rows = type(rows)(rows.hyp, rows.ref, [f"id{i % 900}" for i in range(2000)])
    empty = Sums(METRICS, by="group")
    batch = rows.make_batch(range(2000), make_pyarrow_batch, {}).select(list(empty.columns))
    batches = (batch.slice(start, 50) for start in range(0, 2000, 50))
    states = list(spark_workers.sum_partition(empty, batches))
    assert len(states) > 10
    assert max(state.num_rows for state in states) <= 2 * 150
    merged = Sums(METRICS, by="group")
    for state in states:
        merged.merge_state(state)
    assert merged.to_bytes() == Sums(METRICS, by="group").update(batch).to_bytes()
    assert list(spark_workers.sum_partition(Sums(), iter([]))) == []


# ---- nulls ----


@pytest.fixture(scope="module")
def frame_with_nulls(frame):
    """Rows with null hypotheses of `birch`, and some null references."""
    hyp = F.when(F.col("system") != "birch", F.col("hyp"))
    ref = F.when(F.col("id") % 10 != 0, F.col("ref"))
    return frame.select("system", "id", hyp.alias("hyp"), ref.alias("ref"))


@needs_spark
def test_state_table_with_nulls_fails_reading_job(frame_with_nulls):
    states = spark.stats(frame_with_nulls, by="system")
    message = r"hyp: \d+ nulls, ref: \d+ nulls in one group\. Use nulls='skip'"
    with pytest.raises(Exception, match=message):
        states.select("segments").collect()
    rows = spark.stats(frame_with_nulls, by="system", nulls="skip").collect()
    has_segments = {row.system: row.segments > 0 for row in rows}
    assert has_segments == {"aspen": True, "birch": False, "cedar": True}


# ---- errors before a job runs ----


@needs_spark
def test_invalid_columns_raise_error(frame):
    not_text = "id: expected strings, dictionaries of strings or lists of strings"
    twice = frame.select("hyp", "ref", frame.hyp.alias("ref"))
    for message, data, options in (
        ("hyp: no column 'hypo'; did you mean 'hyp'", frame, {"hyp": "hypo"}),
        ("by: no column 'sistem'; did you mean 'system'", frame, {"by": ["sistem"]}),
        (not_text, frame, {"hyp": "id"}),
        (not_text, frame, {"ref": ["ref", "id"]}),
        ("ref: expected one string per row, found a column of lists", frame, {"hyp": "ref"}),
        ("ref: expected keys to be strings, .*, found list", frame, {"by": "ref"}),
        ("bucket: no column 'idd'; did you mean 'id'", frame, {"bucket": ("idd", 9)}),
        ("ref: duplicate column 'ref'", twice, {}),
        ("data: expected a Spark DataFrame, found pyarrow", frame.toArrow(), {}),
        ("hyp: expected a column name, found pyspark", frame, {"hyp": frame.hyp}),
        ("ref: expected at least one reference column", frame, {"ref": []}),
        ("unknown nulls 'drop'", frame, {"nulls": "drop"}),
    ):
        with pytest.raises((InputError, TypeError, ValueError), match=message):
            spark.stats(data, **options)
    for name in ("Segments", "score"):
        with pytest.raises(InputError, match=f"by: '{name}' is the name of a result column"):
            spark.corpus_bleu(frame.withColumn(name, F.lit(1)), by=name)
    with pytest.raises(TypeError, match="nope"):
        spark.corpus_bleu(frame, nope=1)


@needs_spark
def test_streaming_frame_cannot_be_summed(session):
    stream = session.readStream.format("rate").load()
    stream = stream.select(F.lit("a").alias("hyp"), F.lit("a").alias("ref"))
    with pytest.raises(InputError, match="data: cannot sum a streaming DataFrame"):
        spark.corpus_bleu(stream)
    assert spark.stats(stream).isStreaming


@needs_spark
def test_text_error_has_no_traceback(session):
    bad = F.expr("cast(unhex('61ff') as string)")
    rows = session.range(3).select(bad.alias("hyp"), F.lit("a").alias("ref"))
    with pytest.raises(InputError, match="UTF-8") as raised:
        spark.corpus_bleu(rows)
    assert "Traceback" not in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1
    schema = "hyp string, k string, ref array<string>"
    two = session.createDataFrame([("a", "x", ["a", "b"])], schema)
    with pytest.raises(InputError, match="only defined for one"):
        spark.corpus_bleu(two, by="k", reference_length="single")


# ---- streams ----


@needs_spark
def test_stream_sums_survive_batches_and_restarts(session, table, tmp_path, monkeypatch):
    """Check all sums after each batch (complete), changed sums (update), and sums per batch."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    options = {"by": "system", "metrics": METRICS}
    rows, latest, batch_sums, task_names = tmp_path / "rows", {}, {}, []
    rows.mkdir()
    stream = session.readStream.schema("system string, hyp string, ref array<string>")
    stream = stream.option("maxFilesPerTrigger", 1).parquet(str(rows))
    states = spark.stats(stream, **options)

    def update(batch, number):
        for row in batch.toArrow().to_pylist():
            latest[row["system"], row["fingerprint"]] = row

    def keep(batch, number):
        batch_sums[number] = spark.sums(batch, **options)

    def record_task(task, *arguments, shipped=spark_cluster.make_task):
        task_names.append(task)
        return shipped(task, *arguments)

    monkeypatch.setattr(spark_cluster, "make_task", record_task)

    def run(name, data, mode, call=None):
        writer = data.writeStream.outputMode(mode).queryName(name).trigger(availableNow=True)
        writer = writer.option("checkpointLocation", str(tmp_path / name))
        query = (writer.foreachBatch(call) if call else writer.format("memory")).start()
        assert query.awaitTermination(600)

    # The first two batches, then the third after a restart.
    order = pa.array([i * 37 % len(table) for i in range(len(table))])
    mixed, half = table.take(order).select(["system", "hyp", "ref"]), len(table) // 2
    for batches, (start, end) in enumerate([(0, 100), (100, half), (half, len(table))], 1):
        pq.write_table(mixed.slice(start, end - start), rows / f"{batches}.parquet")
        if batches == 1:
            continue
        expected = Sums(**options).update(mixed.slice(0, end))
        run("sums", states, "complete")
        run("changed", states, "update", update)
        run("each", stream, "append", keep)
        complete = Sums(**options).merge_state(session.table("sums").toArrow())
        updated_rows = pa.Table.from_pylist(list(latest.values()), pa.table(expected).schema)
        assert complete == expected
        assert Sums(**options).merge_state(updated_rows) == expected
        assert list(batch_sums) == list(range(batches))
        assert functools.reduce(Sums.merge, batch_sums.values(), Sums(**options)) == expected
    assert task_names.count("report_version") <= 1, "workers are checked once, not in each batch"
    run("scores", spark.scores(states, METRICS[0]), "complete")
    assert {row.system: row.score for row in session.table("scores").collect()} == {
        key: both["BLEU"].value for key, both in expected.scores().items()
    }


@pytest.fixture
def tables(session, tmp_path, monkeypatch):
    """Create the tables of the page about engines in the current folder; yield a Polars frame."""
    partitions = session.conf.get("spark.sql.shuffle.partitions")
    monkeypatch.chdir(tmp_path)
    yield page_code.make_tables(tmp_path)["frame"]
    session.conf.set("spark.sql.shuffle.partitions", partitions)


@needs_spark
def test_engine_page_examples(tables, tmp_path, capsys):
    names = page_code.run_section_code("## Spark", {}, folder=tmp_path)
    assert names["sums"] == Sums("bleu", by="system", bucket=("id", 1000)).update(tables)
    assert "46.95" in capsys.readouterr().out  # from stored sums


@needs_spark
def test_streaming_page_examples(session, tables, tmp_path):
    """The Python code runs from top to bottom, and its state tables are correct."""
    names = page_code.run_section_code("## Streams", {}, "at-scale", tmp_path)
    options = {"by": "system", "metrics": names["metrics"], "nulls": "skip"}
    expected = Sums(**options).update(tables)
    for states in (names["daily_states"], session.table("totals")):
        assert Sums(**options).merge_state(states.toArrow()) == expected
    assert names["daily_states"].count() == 3 * 4 * 2  # systems, days, metrics


@needs_spark
def test_killed_stream_counts_each_segment_once():
    (report,) = run_and_parse_reports(FAILURES, "stream")
    assert report["codes"] == [-9, -9, 0]
    batches = [f"batch {number}" for number in (0, 1, 1, 2, 3)]
    assert report["batches"] == [*batches, *(f"latest {n}" for n in (0, 1, 2, 2, 3))]
    assert report["batch sums"]
    assert report["latest sums"]


# ---- failing jobs ----


@pytest.fixture
def many_files(table, tmp_path):
    """Return a folder of 60 files, and the path of a file in the middle to damage."""
    import pyarrow.parquet as pq

    def path(number):
        return tmp_path / "rows" / f"part-{number:02}.parquet"

    path(0).parent.mkdir()
    for number in range(60):
        pq.write_table(table.slice(number * 6, 6), path(number))
    return path(0).parent, path(41)


@needs_spark
@pytest.mark.parametrize("fault", ["truncated", "emptied", "removed", "of another type"])
def test_unreadable_file_is_named(fault, session, table, many_files):
    import pyarrow.parquet as pq

    folder, culprit = many_files
    rows = session.read.parquet(str(folder))
    if fault == "removed":
        culprit.unlink()
    elif fault == "of another type":
        odd = table.slice(0, 6).set_column(1, "hyp", [list(range(6))])
        pq.write_table(odd, culprit)
    else:
        content = culprit.read_bytes()
        culprit.write_bytes(content[: len(content) // 2] if fault == "truncated" else b"")
    for call in (spark.sums, spark.score):
        with pytest.raises(InputError, match=rf"^{culprit}: ") as raised:
            call(rows, by="system")
        assert len(str(raised.value)) <= 300
        assert "\n" not in str(raised.value)
    messages = {"removed": "File does not exist", "of another type": r"column \[hyp\].*INT64"}
    assert raised.match(messages.get(fault, "is not a Parquet file"))


@needs_spark
def test_worker_failure_gives_one_line_error(frame):
    def die(batches):
        os.kill(os.getpid(), 9)
        yield from batches

    message = r"^a task failed on \S+: Python worker exited"
    with pytest.raises(RuntimeError, match=message) as raised:
        spark.score(frame.mapInArrow(die, frame.schema))
    assert raised.match("spark.executor.memoryOverhead")
    assert len(str(raised.value)) <= 300


def test_executor_failure_gives_one_line_error():
    """In Spark 4.3 the relevant text is in the middle of pages of Java messages."""
    begin = (
        "An error occurred while calling o1.getResult.\n: org.apache.spark.SparkException: "
        "Exception thrown in awaitResult: \n\tat org.apache.spark.util.ThreadUtils\nCaused by: "
        "org.apache.spark.SparkException: Job aborted due to stage failure: Task 1 in stage 1.0 "
        "failed 4 times, most recent failure: Lost task 1.3 in stage 1.0 (TID 2) "
    )
    executor = "(10.0.0.7 executor 3): "
    lost = "ExecutorLostFailure (executor 3 exited) Reason: Command exited with code 137"
    full = "No space left on device"
    for spark_message, expected in (
        (f"{executor}java.io.IOException: {full}\n\tat java.base/", f"{full}; set spark.local.dir"),
        (f"{executor}{lost}\nDriver stacktrace:\n", f"{lost}; increase spark."),
    ):
        error = spark_cluster.extract_error(begin + spark_message)
        assert isinstance(error, RuntimeError)
        assert str(error).startswith(f"a task failed on 10.0.0.7: {expected}")
        assert len(str(error)) <= 300


@needs_spark
def test_50_megabyte_row(session):
    long = F.repeat(F.lit("word "), 10_000_000)
    rows = session.range(0, 3, 1, 1).select(
        F.when(F.col("id") == 1, long).otherwise(F.lit("a b")).alias("hyp"),
        F.lit("a b c").alias("ref"),
    )
    sums = spark.sums(rows)
    assert sums.segments == 3
    assert sums.score().hypothesis_length == 10_000_004


def test_missing_pyspark_error_names_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    for call in (spark.check, lambda: spark.stats(None), lambda: spark.sentence_bleu("a", "b")):
        with pytest.raises(ImportError, match=r"pip install 'truebleu\[spark\]'"):
            call()


@needs_spark
def test_unsupported_versions_raise_error(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"needs Java 17 or newer, but JAVA_HOME .* has no bin"):
        spark_cluster.check_java()
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    with pytest.raises(RuntimeError, match=r"needs Java 17 or newer, but .*java is Java 11"):
        spark_cluster.check_java()
    monkeypatch.setenv("JAVA_HOME", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="java is not on the PATH; install it"):
        spark_cluster.check_java()
    monkeypatch.setattr(pyspark, "__version__", "3.3.2")
    with pytest.raises(RuntimeError, match=r"Spark 3.4 or newer, found 3.3.2"):
        spark.check()


def test_missing_worker_package_is_named(monkeypatch):
    """Use Spark's message if the environment of the driver is not on the PATH."""
    message = (
        "\n  An exception was thrown from the Python worker:\nTraceback (most recent call last):\n"
        '  File "worker.py", line 1920, in read_udfs\n    import pyarrow as pa\n'
        "ModuleNotFoundError: No module named 'pyarrow'\n"
    )
    monkeypatch.delenv("PYSPARK_PYTHON")
    error = spark_cluster.extract_error(message)
    assert isinstance(error, RuntimeError)
    assert "the workers' Python (python3 on the PATH) has no pyarrow." in str(error)
    assert f"the same packages as {sys.executable}" in str(error)


# Import hook that finds truebleu in the folder of this file before any other.
SHADOW = """
import importlib.util, os, sys
class Shadow:
    def find_spec(name, path=None, target=None):
        if name == "truebleu":
            folder = os.path.join(os.path.dirname(__file__), "truebleu")
            return importlib.util.spec_from_file_location(
                name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
            )
sys.meta_path.insert(0, Shadow)
"""


@pytest.fixture
def workers(session, tmp_path, monkeypatch):
    """Replace the workers' truebleu, or the code that Python runs at startup."""

    def shadow(files: dict[str, str], first: str = SHADOW) -> None:
        for name, text in {**files, "sitecustomize.py": first}.items():
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True, parents=True)
            path.write_text(text)
        monkeypatch.setitem(session.sparkContext.environment, "PYTHONPATH", str(tmp_path))
        spark_cluster._checked_applications.clear()

    yield shadow
    spark_cluster._checked_applications.clear()


@needs_spark
def test_workers_without_truebleu_raise_error(frame, workers):
    missing = "raise ModuleNotFoundError(\"No module named 'truebleu'\")"
    workers({"truebleu/__init__.py": missing})
    for call in (spark.check, functools.partial(spark.corpus_bleu, frame)):
        message = r"the worker on .* cannot import truebleu.*venv-pack"
        with pytest.raises(RuntimeError, match=message) as raised:
            call()
        assert "Traceback" not in str(raised.value)
    # Lazy jobs show it in Spark's message.
    with pytest.raises(Exception, match=r"cannot import truebleu \(No module named 'truebleu'\)"):
        frame.select(spark.sentence_bleu("hyp", "ref")).collect()
    with pytest.raises(Exception, match="truebleu says: the worker on"):
        spark.stats(frame).collect()


@needs_spark
def test_workers_with_other_truebleu_raise_error(frame, workers):
    files = ("truebleu/engines/__init__.py", "truebleu/engines/spark_workers.py")
    workers({"truebleu/__init__.py": "__version__ = '0.0.1'", **dict.fromkeys(files, "")})
    message = rf"worker on .* has truebleu 0.0.1 \(expected {tb.__version__}\); install the same"
    with pytest.raises(RuntimeError, match=message):
        spark.corpus_bleu(frame)


@needs_spark
def test_workers_with_other_python_raise_error(frame, workers):
    old = "class Old(tuple):\n    major, minor, micro = 3, 9, 1\n"
    workers({}, f"import sys\n{old}sys.version_info = Old((3, 9, 1, 'final', 0))\n")
    message = r"workers run Python 3\.9, but the driver runs 3\.\d+\. Before"
    with pytest.raises(RuntimeError, match=message):
        spark.corpus_bleu(frame)


# ---- failing machines, and Connect ----


def run_and_parse_reports(*command: str) -> list[dict]:
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=3600,  # slow machines must not fail the test
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


FAILURES = str(Path(__file__).with_name("spark_failures.py"))
KILLS = ["python_worker_killed", "executor_killed", "executor_killed_after_counting"]


@needs_spark
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize(
    ("options", "failures"),
    [([], ["nothing", *KILLS]), (["hosts"], ["task_copied"])],
    ids=["killed executors and workers", "speculative task"],
)
def test_repeated_tasks_count_each_segment_once(options, failures):
    reports = run_and_parse_reports(FAILURES, *options)
    assert [report["failure"] for report in reports] == failures
    for report in reports:
        assert report["equal"], report
        assert report["happened"], f"not in {report['attempts']} attempts: {report}"
        assert report["partitions"] == 8, report


@needs_spark
def test_spark_connect():
    pytest.importorskip("grpc_status", reason="Spark Connect needs pyspark[connect]")
    script = """
import json
from pyspark.sql import SparkSession
session = SparkSession.builder.remote("local[2]").getOrCreate()
session.conf.set("spark.sql.shuffle.partitions", "3")
from pyspark.sql import functions as F
from truebleu.engines import spark
data = [("x", "a b c", "a b d"), ("y", "a b", "a b")]
rows = session.createDataFrame(data, "k string, hyp string, ref string")
sentences = rows.orderBy("k").select(spark.sentence_chrf("hyp", "ref"))
message = ""
try:
    spark.corpus_bleu(rows.withColumn("hyp", F.when(F.col("k") == "x", "a")), by="k")
except ValueError as error:
    message = str(error)
print(json.dumps({
    "connect": type(rows).__module__,
    "whole": spark.corpus_chrf(rows).value,
    "groups": sorted(map(list, spark.corpus_chrf(rows, by="k").collect())),
    "sentences": [row[0] for row in sentences.collect()],
    "message": message,
}))
"""
    (report,) = run_and_parse_reports("-c", script)
    assert "connect" in report["connect"]
    assert report["whole"] == CHRF().score(["a b c", "a b"], ["a b d", "a b"]).value
    first = CHRF().sentence("a b c", "a b d").value
    assert [row[:3] for row in report["groups"]] == [["x", first, 1], ["y", 100.0, 1]]
    assert report["sentences"] == [first, 100.0]
    assert report["message"].startswith("'hyp' is null in 1 row;")


@needs_spark
def test_every_function_with_every_metric(session):
    check_every_function(spark, session.createDataFrame, lambda found: found.toArrow())


@needs_spark
def test_sql_functions(session):
    """References are a string, an array, or several arguments; scores are null without text."""
    spark.register(session)
    spark.register(session, {"own": BLEU(max_order=1)})
    data = [("a b c d", "x", ["a b c d e", None]), ("a b", None, ["a b"]), (None, "a", ["a"])]
    frame = session.createDataFrame(data, "h string, r string, s array<string>")
    frame.createOrReplaceTempView("t")
    rows = session.sql("SELECT bleu(h, r), chrf(h, s), ter(h, s), own(h, r, s[0]) FROM t").collect()
    first = ("a b c d", ["a b c d e"])
    assert tuple(rows[0]) == (
        BLEU().sentence("a b c d", ["x"]).value,
        CHRF().sentence(*first).value,
        TER().sentence(*first).value,
        BLEU(max_order=1).sentence("a b c d", ["x", "a b c d e"]).value,
    )
    assert tuple(rows[1])[1:] == (100.0, 0.0, BLEU(max_order=1).sentence("a b", ["a b"]).value)
    assert rows[1][0] is None
    assert tuple(rows[2]) == (None,) * 4
    (mean,) = session.sql("SELECT avg(chrf(h, s)) FROM t").first()
    assert mean == pytest.approx((rows[0][1] + 100) / 2)


@needs_spark
def test_every_metric_is_supported_or_rejected(session):
    import pyarrow as pa

    def frame(hyp, ref):
        return session.createDataFrame(pa.table({"hyp": hyp, "ref": ref})).coalesce(1)

    def by_row(hyp, ref, metric):
        rows = frame(hyp, ref).select(spark.sentence("hyp", "ref", metric=metric))
        return [score for (score,) in rows.collect()]

    check_every_metric(lambda hyp, ref, metric: spark.score(frame(hyp, ref), metric=metric))
    check_every_metric(by_row, by_row=True)
