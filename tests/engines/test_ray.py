"""Ray Data: sums are byte-identical to one process for any blocks, order, workers and failures."""

import functools
import importlib.util
import os
import pickle
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import contract
import page_code
import pytest

from truebleu import BLEU, CHRF, TER, InputError
from truebleu.engines import Sums
from truebleu.engines import ray as engine

HAS_RAY = importlib.util.find_spec("ray") is not None
needs_ray = pytest.mark.skipif(not HAS_RAY, reason="Ray is not installed: make engines")

pytestmark = [
    # Warnings of Ray and its dependencies are not ours.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


# Slow or busy machines must not fail the tests: timeouts are minutes instead of seconds, and one
# process reads footers instead of 32.
RAY_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_gcs_server_port_wait_time_s": "300",
    "RAY_gcs_server_request_timeout_seconds": "300",
    "RAY_worker_register_timeout_seconds": "300",
    "RAY_DATA_PARQUET_FOOTER_NUM_ACTORS": "1",
}
TIMEOUT_SECONDS = 1200
"""Time limit of a script."""
ATTEMPTS = 3


@pytest.fixture(scope="module")
def ray():
    """Ray with two workers on this machine."""
    pytest.importorskip("ray", reason="Ray is not installed: make engines")
    with pytest.MonkeyPatch.context() as patched:
        for name, value in RAY_SETTINGS.items():  # before importing Ray, which reads some of it
            patched.setenv(name, value)
        import ray
        import ray.data

        # Workers cannot import this file, so its functions are pickled by value.
        ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
        start_ray(ray)
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield ray
        ray.shutdown()


def start_ray(ray):
    """Start Ray, with retries because it gives up after half a minute on slow machines."""
    options = {"num_cpus": 2, "include_dashboard": False, "object_store_memory": 2**29}
    for attempt in range(ATTEMPTS):
        try:
            ray.init(**options, logging_level="ERROR", log_to_driver=False)
        except Exception:
            ray.shutdown()
            if attempt == ATTEMPTS - 1:
                raise
        else:
            return


@pytest.fixture
def datasets(ray, tmp_path, monkeypatch):
    """Functions that create a dataset from record batches, by name."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def blocks(batches):
        # If this variable is set, Ray refuses to store views, which it can store.
        monkeypatch.delenv("PYTEST_CURRENT_TEST", raising=False)
        return ray.data.from_arrow([pa.Table.from_batches([batch]) for batch in batches])

    def parquet(batches):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        for number, batch in enumerate(batches):
            pq.write_table(pa.Table.from_batches([batch]), folder / f"{number}.parquet")
        return ray.data.read_parquet(str(folder))

    def mapped(batches):
        """Create a dataset whose schema is unknown before it runs."""

        def unpacked(packed):
            return pa.ipc.open_stream(packed["batch"][0].as_py()).read_all()

        packed = [pa.table({"batch": [_serialize_batch(batch)]}) for batch in batches]
        ds = ray.data.from_arrow(packed)
        return ds.map_batches(unpacked, batch_format="pyarrow", batch_size=None)

    def pandas(batches):
        return ray.data.from_pandas([batch.to_pandas() for batch in batches])

    return {make.__name__: make for make in (blocks, parquet, mapped, pandas)}


def _serialize_batch(batch):
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


# ---- the contract ----


CONTRACT = [(source, case) for source in ("blocks", "mapped") for case in contract.CASES]
PARQUET_CASES = ("partitions", "nulls_skipped", "nulls_raised", "buckets", "no_rows")


@pytest.fixture
def run_sums(datasets):
    """Return a function that sums the dataset of a kind of source."""

    def run(source, batches, /, **options):
        return engine.sums(datasets[source](batches), **options)

    return run


@pytest.mark.parametrize(
    ("source", "case"), [*CONTRACT, *(("parquet", case) for case in PARQUET_CASES)]
)
def test_contract(source, case, run_sums):
    contract.CASES[case](functools.partial(run_sums, source))


@pytest.mark.parametrize("source", ["blocks", "parquet"])
def test_stored_reference_lists(source, run_sums):
    table = contract.make_rows(6)
    reference_lists = [[text, None, *table.ref[:2]] for text in table.ref]
    table = contract.Rows(table.hyp, reference_lists, table.group)
    run = functools.partial(run_sums, source)
    contract.check_agreement(run, table, {"ref": "list"}, 1, contract.make_pyarrow_batch)


def test_pandas_data_frames(run_sums):
    table = contract.make_rows(3)
    batches = [
        table.make_batch(part, contract.make_pyarrow_batch, {})
        for part in contract.partition_rows(300, 3)
        if part
    ]
    sums = run_sums("pandas", batches, by=(), nulls="skip", metrics=contract.METRICS)
    assert sums.to_bytes() == contract.compute_oracle_sums(table, nulls="skip").to_bytes()


# ---- failures ----

KILL_MOMENTS = ["before it counts", "after it counted"]


@needs_ray
@pytest.mark.parametrize("moment", KILL_MOMENTS)
def test_killed_worker_does_not_change_sums(moment, ray, datasets, tmp_path, monkeypatch):
    table = contract.make_rows(20, 2000)
    batches = [
        table.make_batch(range(i, i + 100), contract.make_pyarrow_batch, {})
        for i in range(0, 2000, 100)
    ]
    log = tmp_path / "attempts"
    make_task = engine._make_task

    def make_dying_task(name, argument):
        count = make_task(name, argument)

        def run(block):
            first = block["unasked"][0].as_py()
            previous_attempts = log.read_text().splitlines() if log.exists() else []
            with log.open("a") as file:
                file.write(f"{first} {os.getpid()}\n")
            is_killed = first == "1000" and not any(
                line.startswith("1000 ") for line in previous_attempts
            )
            if is_killed and moment == KILL_MOMENTS[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            result = count(block)
            if is_killed:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return run

    monkeypatch.setattr(engine, "_make_task", make_dying_task)
    sums = engine.sums(datasets["blocks"](batches), metrics=contract.METRICS, by="group")
    assert sums.to_bytes() == contract.compute_oracle_sums(table, by="group").to_bytes()
    attempts = [line.split() for line in log.read_text().splitlines()]
    retry_pids = [pid for first, pid in attempts if first == "1000"]
    assert len(retry_pids) >= 2, "it was killed, and run again"
    assert len(set(retry_pids)) >= 2, "by another process"
    assert len({first for first, _ in attempts}) == 20


# A node is killed when it has run a task and most tasks remain. If the other node was faster and it
# had no task, it is not killed, and the job is repeated.
NODE_LOSS_SCRIPT = """
    import sys, time
    import pyarrow as pa
    import ray
    import ray.data
    from pathlib import Path
    from ray.cluster_utils import Cluster
    import contract
    from truebleu.engines import ray as engine

    ATTEMPTS = int(sys.argv[2])
    shared = {"num_cpus": 1, "object_store_memory": 2**27}
    for attempt in range(ATTEMPTS):
        cluster = Cluster()
        try:
            cluster.add_node(**shared, include_dashboard=False)
            other = cluster.add_node(**shared)
            cluster.wait_for_nodes(timeout=300)
            break
        except Exception:  # Ray allows only half a minute for starting a node.
            cluster.shutdown()
            if attempt == ATTEMPTS - 1:
                raise
    ray.init(address=cluster.address, logging_level="ERROR", log_to_driver=False)
    # The reservation would leave one of two processors idle.
    ray.data.DataContext.get_current().op_resource_reservation_enabled = False

    table = contract.make_rows(20, 2000)
    order = range(0, 2000, 50)
    batches = [table.make_batch(range(i, i + 50), contract.make_pyarrow_batch, {}) for i in order]
    expected = contract.compute_oracle_sums(table, by="group").to_bytes()
    merge = engine.Sums.merge_bytes

    def job(log):
        def slow(block):
            with log.open("a") as file:
                file.write(ray.get_runtime_context().get_node_id() + "\\n")
            deadline = time.monotonic() + 10
            while len(set(log.read_text().split())) < 2 and time.monotonic() < deadline:
                time.sleep(0.1)  # until both nodes have a task
            time.sleep(0.1)
            return block

        answers, killed = [], []

        def merged(sums, answer):
            answers.append(answer)
            done = len(answers)
            seen = log.read_text().split()
            if not killed and 5 <= done <= 30 and other.node_id in seen:
                cluster.remove_node(other, allow_graceful=False)
                killed.append(f"killed after {len(seen)} tasks had begun")
            return merge(sums, answer)

        engine.Sums.merge_bytes = merged
        ds = ray.data.from_arrow([pa.Table.from_batches([batch]) for batch in batches])
        ds = ds.map_batches(slow, batch_format="pyarrow", batch_size=None)
        sums = engine.sums(ds, metrics=contract.METRICS, by="group")
        assert len(answers) == len(batches)
        assert sums.to_bytes() == expected
        return killed

    for attempt in range(ATTEMPTS):
        killed = job(Path(f"{sys.argv[1]}-{attempt}"))
        if killed:
            break
    else:
        print(f"in {ATTEMPTS} attempts the other node had no task while 30 of 40 tasks were done")
        sys.exit(1)
    print(*killed)
    while sum(node["Alive"] for node in ray.nodes()) > 1:
        time.sleep(0.5)  # until Ray has noticed
    print("equal bytes")
    ray.shutdown()
    cluster.shutdown()
"""


@needs_ray
def test_lost_node_does_not_change_sums(tmp_path):
    done = run_script(NODE_LOSS_SCRIPT, tmp_path / "tasks", ATTEMPTS)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert "killed after" in done.stdout
    assert "equal bytes" in done.stdout


def run_script(text, *arguments):
    """Run a script in a new Python process that can import the contract."""
    path = os.pathsep.join(filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text), *map(str, arguments)],
        env={**os.environ, **RAY_SETTINGS, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


# ---- sentence-level scores ----


def test_row_scores_equal_sentence_scores(ray):
    import pyarrow as pa

    table = contract.make_rows(15)
    texts = {"hyp": table.hyp, "ref": table.ref, "id": list(range(300))}
    ds = ray.data.from_arrow(pa.table(texts)).repartition(4)
    for column, scored, metric in (
        ("bleu", engine.sentence_bleu(ds, lowercase=True), BLEU(lowercase=True)),
        ("chrf", engine.sentence_chrf(ds, word_order=2), CHRF(word_order=2)),
        ("ter", engine.sentence_ter(ds), TER()),
    ):
        pairs = zip(table.hyp, table.ref, strict=True)
        rows = sorted(scored.take_all(), key=lambda row: row["id"])
        assert [row[column] for row in rows] == [metric.sentence(*pair).value for pair in pairs]
        assert set(rows[0]) == {*texts, column}


def test_skipped_rows_have_null_scores(ray):
    import pyarrow as pa

    columns = {
        "hyp": ["a b", None, "a", "a b"],
        "lists": [["a b", None], ["b"], [None], None],
        "first": [None, "b", None, None],
        "second": ["a b", "b", None, None],
    }
    ds = ray.data.from_arrow(pa.table(columns))
    expected = [BLEU().sentence("a b", ["a b"]).value, None, None, None]
    for ref in ("lists", ["first", "second"]):
        scored = engine.sentence_bleu(ds, ref=ref, nulls="skip")
        assert [row["bleu"] for row in scored.take_all()] == expected
        message = r"'hyp' is null in 1 row, .* in 2 rows, in a block of 4 rows"
        with pytest.raises(Exception, match=message):
            engine.sentence_bleu(ds, ref=ref).take_all()


def test_existing_column_raises_error(ray):
    ds = ray.data.from_items([{"hyp": "a", "ref": "b", "bleu": 1}])
    with pytest.raises(InputError, match=r"duplicate column 'bleu'.*column="):
        engine.sentence_bleu(ds)
    assert "b2" in engine.sentence_bleu(ds, column="b2").take(1)[0]


# ---- aggregations ----


def test_corpus_score_aggregation(ray):
    import pyarrow as pa
    from ray.data.aggregate import Count

    table = contract.make_rows(16)
    columns = {"hyp": table.hyp, "ref": table.ref, "group": table.group}
    ds = ray.data.from_arrow(pa.table(columns)).repartition(5)
    expected = engine.corpus_bleu(ds, by="group").take_all()
    aggregates = ds.aggregate(
        engine.CorpusScore(), engine.CorpusScore(by="group", name="each"), Count()
    )
    assert aggregates["bleu"] == BLEU().score(table.hyp, table.ref).value
    assert aggregates["each"] == expected
    assert {row["group"]: row["segments"] for row in expected} == {
        key: table.group.count(key) for key in set(table.group)
    }
    assert aggregates["count()"] == 300
    listed = ds.aggregate(engine.CorpusScore(by=["group"], name="listed"))["listed"]
    assert listed == aggregates["each"]


# ---- errors ----


def test_columns_are_checked_before_running(ray):
    ds = ray.data.from_items([{"hypothesis": "a", "ref": 1}] * 9)
    with pytest.raises(InputError, match=r"no column 'hyp'.*mean 'hypothesis'"):
        engine.sums(ds)
    for score in (engine.corpus_bleu, engine.sentence_bleu):
        with pytest.raises(InputError, match=r"ref.*int64"):
            score(ds, hyp="hypothesis")


def test_task_error_is_one_line(ray):
    """Tasks check a schema that is unknown before, and return the error."""
    ds = ray.data.range(9).map_batches(lambda batch: {"hyp": ["a"], "ref": [1]})
    assert ds.schema(fetch_if_missing=False) is None
    with pytest.raises(InputError, match=r"ref.*int64") as raised:
        engine.sums(ds)
    assert "\n" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_schema_check_does_not_run_dataset(ray, tmp_path):
    """The text may come from an expensive model, so each block must be generated only once."""
    log = tmp_path / "made"

    def generate(batch):
        with log.open("a") as file:
            file.write("made\n")
        return {"hyp": [f"a {number}" for number in batch["id"]], "ref": ["a b"] * len(batch["id"])}

    ds = ray.data.range(40, override_num_blocks=4).map_batches(generate, batch_size=10)
    assert engine.sums(ds).segments == 40
    assert len(log.read_text().split()) == 4


@pytest.mark.filterwarnings("ignore:Use 'expr'")
def test_empty_blocks(ray):
    ds = ray.data.range(40, override_num_blocks=4)
    ds = ds.map(lambda row: {"hyp": "a b", "ref": "a b", "id": row["id"]})
    assert engine.sums(ds.filter(lambda row: row["id"] < 5), by="id").segments == 5
    assert engine.sentence_bleu(ds.filter(lambda row: row["id"] < 5)).count() == 5
    with pytest.raises(InputError, match="no segments to score"):
        engine.corpus_bleu(ds.filter(lambda row: row["id"] < 0))


def test_other_objects_raise_error(ray):
    with pytest.raises(TypeError, match=r"data: expected .*Dataset, found list; use ray\.data"):
        engine.sums([{"hyp": "a", "ref": "b"}])
    grouped = ray.data.from_items([{"hyp": "a", "ref": "b", "system": "x"}]).groupby("system")
    with pytest.raises(TypeError, match="GroupedData; pass the ungrouped dataset, and set by="):
        engine.corpus_bleu(grouped)


def test_dataset_errors_are_unchanged(ray):
    def broken(batch):
        raise RuntimeError("the model is out of memory")

    with pytest.raises(Exception, match="the model is out of memory"):
        engine.sums(ray.data.range(3).map_batches(broken))


@pytest.mark.parametrize("fault", ["truncated", "spoilt"])
def test_unreadable_file_is_named(fault, ray, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    for number in range(40):
        table = pa.table({"hyp": [f"a b {number}"] * 5, "ref": ["a b c"] * 5})
        pq.write_table(table, tmp_path / f"part-{number:02}.parquet")
    culprit = tmp_path / "part-27.parquet"
    content = culprit.read_bytes()
    half = len(content) // 2
    culprit.write_bytes(content[:half] if fault == "truncated" else bytes(40) + content[40:])
    with pytest.raises(InputError, match=rf"^\S*{culprit}: ") as raised:
        engine.score(ray.data.read_parquet(str(tmp_path)))
    assert len(str(raised.value)) <= 300
    assert "\n" not in str(raised.value)


def test_repeated_worker_failure_gives_one_line_error(ray, monkeypatch):
    """Ray repeats tasks for ever unless the number of retries is limited."""

    def dying(*_):
        return lambda block: os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(engine, "_make_task", dying)
    ds = ray.data.from_items([{"hyp": "a", "ref": "b"}])
    with pytest.raises(RuntimeError, match=r"^Ray: WorkerCrashedError: ") as raised:
        engine.sums(ds, task={"max_retries": 1})
    assert len(str(raised.value)) <= 300
    assert "\n" not in str(raised.value)


def test_full_disk_gives_one_line_error(ray, monkeypatch):
    def full(*_):
        raise ray.exceptions.OutOfDiskError("Local disk is full\n" + "x" * 1000)

    monkeypatch.setattr(Sums, "merge_bytes", full)
    with pytest.raises(RuntimeError, match=r"^Ray: OutOfDiskError: .*Local disk is full") as raised:
        engine.sums(ray.data.from_items([{"hyp": "a", "ref": "b"}]))
    assert len(str(raised.value)) <= 300


def test_50_megabyte_row(ray):
    import pyarrow as pa

    long = pa.table({"hyp": ["word " * 10_000_000, "a b"], "ref": ["a b"] * 2})
    assert engine.score(ray.data.from_arrow(long)).hypothesis_length == 10_000_002


WITHOUT_TRUEBLEU = """
    import sys

    class Absent:
        def find_spec(self, name, path=None, target=None):
            if name == "truebleu":
                raise ModuleNotFoundError("No module named 'truebleu'", name=name)

    sys.meta_path.insert(0, Absent())
"""
OTHER_RELEASE = """
    import truebleu
    truebleu.__version__ = "0.0.1"
"""


@needs_ray
@pytest.mark.parametrize(
    ("site", "message"),
    [
        (
            WITHOUT_TRUEBLEU,
            r"cannot import truebleu \(No module named 'truebleu'\); install .*'pip': .*py_mod",
        ),
        (OTHER_RELEASE, r"has truebleu 0\.0\.1 \(expected .*\); install truebleu"),
    ],
    ids=["without truebleu", "another release"],
)
def test_incompatible_workers_raise_error(site, message, ray, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(textwrap.dedent(site), encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    ds = ray.data.from_items([{"hyp": "a", "ref": "b"}] * 9)
    with pytest.raises(ImportError, match=message) as raised:
        engine.sums(ds, task={"runtime_env": {"env_vars": {"PYTHONPATH": path}}})
    assert "worker on" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert engine.sums(ds).segments == 9, "the other workers go on"


@needs_ray
def test_other_worker_python_raises_error(monkeypatch):
    import pyarrow as pa

    run = engine._make_task("sum_block", Sums("bleu"))
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    (answer,) = run(pa.table({"hyp": ["a"], "ref": ["b"]}))["answer"].to_pylist()
    error = pickle.loads(answer)
    assert isinstance(error, ImportError)
    assert re.search(r"runs Python 3\.99 \(expected 3\.", str(error))


def test_missing_ray_error_names_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"needs Ray Data: pip install 'truebleu\[ray\]'"):
        engine.sums(None)


@needs_ray
def test_every_function_with_every_metric(ray):
    import pyarrow as pa

    contract.check_every_function(
        engine, ray.data.from_arrow, lambda found: pa.Table.from_pylist(found.take_all())
    )


@needs_ray
def test_old_ray_raises_error(monkeypatch):
    import ray

    monkeypatch.setattr(ray, "__version__", "2.9.3")
    with pytest.raises(ImportError, match=r"needs Ray 2\.44 or newer, found 2\.9\.3: pip"):
        engine.sums(None)


def test_import_does_not_import_ray():
    text = "import sys, truebleu.engines.ray; sys.exit('ray' in sys.modules)"
    assert run_script(text).returncode == 0


def test_every_metric_is_supported_or_rejected(ray):
    """Metrics are rejected before the dataset runs."""
    import pyarrow as pa

    def dataset(hyp, ref):
        return ray.data.from_arrow(pa.table({"hyp": hyp, "ref": ref}))

    def by_row(hyp, ref, metric):
        scored = engine.sentence(dataset(hyp, ref), column="score", metric=metric)
        return [row["score"] for row in scored.take_all()]

    contract.check_every_metric(lambda hyp, ref, m: engine.score(dataset(hyp, ref), metric=m))
    contract.check_every_metric(by_row, by_row=True)


@needs_ray
def test_engine_page_examples(ray, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTEST_CURRENT_TEST", raising=False)  # as for blocks
    expected = Sums(("bleu", "chrf"), by="system").update(page_code.make_tables(tmp_path)["frame"])
    before = ray.data.DataContext.get_current().op_resource_reservation_enabled
    names = page_code.run_section_code("## Ray", {}, folder=tmp_path)
    ray.data.DataContext.get_current().op_resource_reservation_enabled = before
    assert names["sums"] == expected
    assert {"hyp", "wer"} < set(ray.data.read_parquet(str(tmp_path / "scored")).schema().names)
