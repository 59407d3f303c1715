"""MLflow and Weights & Biases, offline: logged values are read back exactly."""

import importlib
import json
import os
import sys

import pytest
from integration_programs import import_or_skip, read_example_lines, read_offline_records

import truebleu as tb
from truebleu.integrations.log_records import make_result_record, make_segments_record

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def compared(text):
    systems = {"aspen v1": read_example_lines("aspen.en"), "birch/2": text.hypotheses}
    options = {"metrics": ["bleu", "chrf++"], "confidence": 20, "samples": 20}
    return tb.compare(systems, text.references, **options)


@pytest.fixture(scope="module")
def report(text):
    return tb.report({"birch": text.hypotheses}, text.first_references, confidence=20)


# ---- records ----


def test_score_record(text):
    score = tb.bleu(text.hypotheses, text.references)
    record = make_result_record(score, "dev")
    parts = {"/brevity_penalty": score.brevity_penalty, "/ratio": score.ratio, "": score.value}
    assert record.metrics == {f"dev/BLEU{part}": value for part, value in parts.items()}
    assert record.params == {"dev/BLEU/signature": str(score.signature)}
    chrf = tb.CHRF(word_order=2).score(text.hypotheses, text.references)
    scores_record = make_result_record([score, chrf])
    assert [*scores_record.metrics] == ["BLEU", "BLEU/brevity_penalty", "BLEU/ratio", "chrF2pp"]


def test_comparison_record(compared):
    record = make_result_record(compared)
    content = compared.to_dict()
    aspen, birch = (compared[name]["scores"]["chrF2++"] for name in ("aspen v1", "birch/2"))
    assert record.metrics["aspen_v1/chrF2pp"] == aspen["score"]
    assert record.metrics["aspen_v1/chrF2pp/low"] == aspen["interval"]["low"]
    assert "aspen_v1/chrF2pp/p" not in record.metrics  # the baseline
    assert record.metrics["birch_2/chrF2pp/p"] == birch["difference"]["p"]
    assert record.metrics["birch_2/chrF2pp/difference"] == birch["difference"]["value"]
    assert record.params["baseline"] == "aspen v1"
    assert record.params["BLEU/signature"] == content["metrics"][0]["signature"]
    columns, rows = record.tables["comparison"]
    scores = {(row[0], row[1]): row[columns.index("score")] for row in rows}
    assert len(rows) == len(scores) == 4
    assert scores["chrF2++", "birch/2"] == birch["score"]
    assert record.pages["comparison"] == compared.html()


def test_segments_record(text):
    references = [two[: 1 + number % 2] for number, two in enumerate(text.references)]
    metrics = ["bleu", tb.BLEU("intl"), "ibleu"]
    columns, rows = make_segments_record(
        metrics, text.hypotheses, references, read_example_lines("source.de"), "dev"
    ).tables["dev/segments"]
    texts = ("segment", "source", "hypothesis", "reference_1", "reference_2")
    assert columns == (*texts, "BLEU", str(tb.BLEU("intl")), "iBLEU")
    assert rows[0][4] is None
    texts = (read_example_lines("source.de")[1], text.hypotheses[1], *text.references[1])
    assert rows[1][:5] == (2, *texts)
    assert rows[1][5] == tb.BLEU().sentence(text.hypotheses[1], text.references[1]).value


def test_duplicate_names_raise_error():
    references = ["a b c d"] * 5
    systems = {"a b": references, "a:b": references}
    for result, message in (
        (tb.compare(systems, references, confidence=None, test=None), "duplicate name 'a_b/BLEU'"),
        ([tb.bleu(references, references)] * 2, "duplicate name 'BLEU'"),
        ("27", "scores, a comparison or a report, found str"),
    ):
        with pytest.raises((tb.InputError, TypeError), match=message):
            make_result_record(result)


@pytest.mark.parametrize(("module", "package"), [("mlflow", "MLflow"), ("wandb", "wandb")])
def test_missing_package_error_names_extra(monkeypatch, module, package):
    logger = importlib.import_module(f"truebleu.integrations.{module}")
    monkeypatch.setitem(sys.modules, module, None)
    message = rf"needs {package}, which is not installed: pip install 'truebleu\[{module}\]'$"
    with pytest.raises(ImportError, match=message):
        logger.log_result(tb.bleu(["a"], ["a"]))


# ---- MLflow ----


@pytest.fixture
def mlflow(tmp_path, monkeypatch):
    """MLflow with an SQLite store, and artifacts in a folder."""
    mlflow = import_or_skip("mlflow")
    import_or_skip("sqlalchemy")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    mlflow.create_experiment("tests", artifact_location=str(tmp_path / "artifacts"))
    mlflow.set_experiment("tests")
    yield mlflow
    while mlflow.active_run():
        mlflow.end_run()
    mlflow.set_tracking_uri("")


def test_mlflow_stores_scores_by_step(mlflow, text):
    from truebleu.integrations.mlflow import log_result

    scores = {n: tb.bleu(text.hypotheses[:n], text.first_references[:n]) for n in (5, 10)}
    with mlflow.start_run() as run:
        for step, score in scores.items():
            log_result(score, prefix="dev", step=step)
        with pytest.raises(mlflow.MlflowException, match="Changing param values"):
            log_result(tb.BLEU("intl").score(text.hypotheses, text.first_references), prefix="dev")
    history = mlflow.MlflowClient().get_metric_history(run.info.run_id, "dev/BLEU")
    assert {one.step: one.value for one in history} == {n: one.value for n, one in scores.items()}
    signature = mlflow.get_run(run.info.run_id).data.params["dev/BLEU/signature"]
    assert signature == str(scores[5].signature)


def test_mlflow_stores_comparisons_reports_and_segments(mlflow, compared, report, text):
    from truebleu.integrations.mlflow import log_result, log_segments

    log_result(compared, prefix="test")  # starts a run
    run_id = mlflow.active_run().info.run_id
    mlflow.end_run()
    log_result(report, step=3, run=run_id)
    for _ in range(2):
        log_segments("bleu", text.hypotheses, text.first_references, run=run_id)
    run, log_records = mlflow.get_run(run_id), make_result_record(compared, "test")
    assert run.data.metrics == log_records.metrics
    assert run.data.params == log_records.params

    def artifact(name):
        return mlflow.artifacts.load_text(f"runs:/{run_id}/{name}")

    assert artifact("test/comparison.html") == compared.html()
    assert artifact("report-3.html") == report.html()
    columns, rows = log_records.tables["test/comparison"]
    assert json.loads(artifact("test/comparison.json")) == {"columns": [*columns], "data": rows}
    segments, scores = json.loads(artifact("segments.json")), tb.BLEU().segments
    assert [row[-1] for row in segments["data"]] == list(
        scores(text.hypotheses, text.first_references)
    )
    # MLflow's reader uses pandas.
    table = mlflow.load_table("segments.json", run_ids=[run_id])
    assert list(table["hypothesis"]) == text.hypotheses
    listed_tables = json.loads(run.data.tags["mlflow.loggedArtifacts"])
    assert [one["path"] for one in listed_tables] == ["test/comparison.json", "segments.json"]


def test_mlflow_splits_large_requests(mlflow):
    from truebleu.integrations import log_records
    from truebleu.integrations import mlflow as ours

    parts = ours._split_dict(dict.fromkeys(range(2500)), 1000)
    assert list(map(len, parts)) == [1000, 1000, 500]
    record = log_records.LogRecord({str(number): float(number) for number in range(1100)})
    with mlflow.start_run() as run:
        ours._log_to_mlflow(record, None, None)
    assert mlflow.get_run(run.info.run_id).data.metrics == record.metrics


# ---- Weights & Biases ----


@pytest.fixture
def wandb(tmp_path, monkeypatch):
    wandb = import_or_skip("wandb")
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("WANDB_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("WANDB_SILENT", "true")
    yield wandb
    if wandb.run is not None:
        wandb.finish()


def test_wandb_stores_all_results_offline(wandb, compared, report, text, tmp_path):
    from truebleu.integrations.wandb import log_result, log_segments

    with pytest.raises(ValueError, match=r"no active run\. Call wandb\.init first"):
        log_result(compared)
    first = tb.bleu(text.hypotheses[:9], text.first_references[:9])
    with wandb.init(project="tests", mode="offline", dir=str(tmp_path)) as run:
        log_result(first, prefix="dev", step=10)
        log_result(compared, step=20, run=run)
        log_result(report)
        log_segments("bleu", text.hypotheses, text.first_references)
        with pytest.raises(Exception, match="Attempted to change value of key"):
            log_result(tb.BLEU("intl").score(text.hypotheses, text.first_references), prefix="dev")
    wandb.teardown()  # ends the process that writes the file
    rows = list(read_offline_records(tmp_path, "history"))
    log_records = make_result_record(compared)
    # The report is part of the preceding step.
    assert [row["_step"] for row in rows] == [10, 20, 21]
    assert rows[0]["dev/BLEU"] == first.value
    assert {name: rows[1][name] for name in log_records.metrics} == log_records.metrics
    config = {}
    for entry in read_offline_records(tmp_path, "config"):
        config |= entry
    assert config["dev/BLEU/signature"] == str(first.signature)
    assert {name: config[name] for name in log_records.params} == log_records.params
    (files,) = tmp_path.glob("wandb/offline-run-*/files")
    assert (files / rows[1]["comparison/path"]).read_text("utf-8") == compared.html()
    assert (files / rows[1]["report/path"]).read_text("utf-8") == report.html()
    table = json.loads((files / rows[1]["comparison_table/path"]).read_text("utf-8"))
    columns, data = log_records.tables["comparison"]
    assert table == {"columns": [*columns], "data": data}
    segments = json.loads((files / rows[2]["segments/path"]).read_text("utf-8"))
    column = segments["columns"].index("BLEU")
    scores = list(tb.BLEU().segments(text.hypotheses, text.first_references))
    assert [row[column] for row in segments["data"]] == scores
