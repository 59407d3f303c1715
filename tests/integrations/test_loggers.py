"""MLflow and Weights & Biases, offline: what was logged is read back, to the last bit."""

import importlib
import json
import os
import sys

import pytest
from integration_programs import host, lines, offline_records

import truebleu as tb
from truebleu.integrations.log_records import make_result_record, make_segments_record

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def compared(text):
    systems = {"aspen v1": lines("aspen.en"), "birch/2": text.hypotheses}
    return tb.compare(
        systems, text.references, metrics=["bleu", "chrf++"], confidence=20, samples=20
    )


@pytest.fixture(scope="module")
def report(text):
    return tb.report({"birch": text.hypotheses}, text.first, confidence=20)


# ---- names and numbers, without a logger ----


def test_a_score_and_the_rates_that_it_is_made_of(text):
    score = tb.bleu(text.hypotheses, text.references)
    made = make_result_record(score, "dev")
    assert made.metrics == {
        "dev/BLEU": score.value,
        "dev/BLEU/brevity_penalty": score.brevity_penalty,
        "dev/BLEU/ratio": score.ratio,
    }
    assert made.params == {"dev/BLEU/signature": str(score.signature)}
    several = make_result_record(
        [score, tb.CHRF(word_order=2).score(text.hypotheses, text.references)]
    )
    assert [*several.metrics] == ["BLEU", "BLEU/brevity_penalty", "BLEU/ratio", "chrF2pp"]


def test_a_comparison(compared):
    made = make_result_record(compared)
    content = compared.to_dict()
    aspen, birch = (compared[name]["scores"]["chrF2++"] for name in ("aspen v1", "birch/2"))
    assert made.metrics["aspen_v1/chrF2pp"] == aspen["score"]
    assert made.metrics["aspen_v1/chrF2pp/low"] == aspen["interval"]["low"]
    assert "aspen_v1/chrF2pp/p" not in made.metrics  # the baseline
    assert made.metrics["birch_2/chrF2pp/p"] == birch["difference"]["p"]
    assert made.metrics["birch_2/chrF2pp/difference"] == birch["difference"]["value"]
    assert made.params["baseline"] == "aspen v1"
    assert made.params["BLEU/signature"] == content["metrics"][0]["signature"]
    columns, rows = made.tables["comparison"]
    scores = {(row[0], row[1]): row[columns.index("score")] for row in rows}
    assert len(rows) == len(scores) == 4
    assert scores["chrF2++", "birch/2"] == birch["score"]
    assert made.pages["comparison"] == compared.html()


def test_segments_with_their_texts(text):
    references = [two[: 1 + number % 2] for number, two in enumerate(text.references)]
    metrics = ["bleu", tb.BLEU("intl"), "ibleu"]
    columns, rows = make_segments_record(
        metrics, text.hypotheses, references, lines("source.de"), "dev"
    ).tables["dev/segments"]
    texts = ("segment", "source", "hypothesis", "reference_1", "reference_2")
    assert columns == (*texts, "BLEU", str(tb.BLEU("intl")), "iBLEU")
    assert rows[0][4] is None
    assert rows[1][:5] == (2, lines("source.de")[1], text.hypotheses[1], *text.references[1])
    assert rows[1][5] == tb.BLEU().sentence(text.hypotheses[1], text.references[1]).value


def test_names_that_become_the_same():
    references = ["a b c d"] * 5
    made = tb.compare(
        {"a b": references, "a:b": references}, references, confidence=None, test=None
    )
    with pytest.raises(tb.InputError, match="duplicate name 'a_b/BLEU'"):
        make_result_record(made)
    score = tb.bleu(references, references)
    with pytest.raises(tb.InputError, match="duplicate name 'BLEU'"):
        make_result_record([score, score])
    with pytest.raises(TypeError, match="scores, a comparison or a report, found str"):
        make_result_record("27")


@pytest.mark.parametrize(("module", "package"), [("mlflow", "MLflow"), ("wandb", "wandb")])
def test_what_to_install_is_said(monkeypatch, module, package):
    logger = importlib.import_module(f"truebleu.integrations.{module}")
    monkeypatch.setitem(sys.modules, module, None)
    told = rf"needs {package}, which is not installed: pip install 'truebleu\[{module}\]'$"
    with pytest.raises(ImportError, match=told):
        logger.log_result(tb.bleu(["a"], ["a"]))


# ---- MLflow ----


@pytest.fixture
def mlflow(tmp_path, monkeypatch):
    """MLflow with a store in a file of SQLite, and artifacts in a folder."""
    mlflow = host("mlflow")
    host("sqlalchemy")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    mlflow.create_experiment("tests", artifact_location=str(tmp_path / "artifacts"))
    mlflow.set_experiment("tests")
    yield mlflow
    while mlflow.active_run():
        mlflow.end_run()
    mlflow.set_tracking_uri("")


def test_mlflow_keeps_scores_step_by_step(mlflow, text):
    from truebleu.integrations.mlflow import log_result

    with mlflow.start_run() as run:
        for step in (5, 10):
            log_result(tb.bleu(text.hypotheses[:step], text.first[:step]), prefix="dev", step=step)
        with pytest.raises(mlflow.MlflowException, match="Changing param values"):
            log_result(tb.BLEU("intl").score(text.hypotheses, text.first), prefix="dev")
    known = mlflow.MlflowClient().get_metric_history(run.info.run_id, "dev/BLEU")
    assert {one.step: one.value for one in known} == {
        step: tb.bleu(text.hypotheses[:step], text.first[:step]).value for step in (5, 10)
    }
    signature = mlflow.get_run(run.info.run_id).data.params["dev/BLEU/signature"]
    assert signature == str(tb.bleu(text.hypotheses[:5], text.first[:5]).signature)


def test_mlflow_keeps_comparisons_reports_and_segments(mlflow, compared, report, text):
    from truebleu.integrations.mlflow import log_result, log_segments

    log_result(compared, prefix="test")  # starts a run
    run_id = mlflow.active_run().info.run_id
    mlflow.end_run()
    log_result(report, step=3, run=run_id)
    for _ in range(2):
        log_segments("bleu", text.hypotheses, text.first, run=run_id)
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
    assert [row[-1] for row in segments["data"]] == list(scores(text.hypotheses, text.first))
    table = mlflow.load_table("segments.json", run_ids=[run_id])  # MLflow's own reading, by pandas
    assert list(table["hypothesis"]) == text.hypotheses
    assert [one["path"] for one in json.loads(run.data.tags["mlflow.loggedArtifacts"])] == [
        "test/comparison.json",
        "segments.json",
    ]


def test_mlflow_takes_more_numbers_than_a_server_takes_at_once(mlflow):
    from truebleu.integrations import log_records
    from truebleu.integrations import mlflow as ours

    assert [len(part) for part in ours._split_dict(dict.fromkeys(range(2500)), 1000)] == [
        1000,
        1000,
        500,
    ]
    made = log_records.LogRecord({str(number): float(number) for number in range(1100)})
    with mlflow.start_run() as run:
        ours._log(made, None, None)
    assert mlflow.get_run(run.info.run_id).data.metrics == made.metrics


# ---- Weights & Biases ----


@pytest.fixture
def wandb(tmp_path, monkeypatch):
    wandb = host("wandb")
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("WANDB_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("WANDB_SILENT", "true")
    yield wandb
    if wandb.run is not None:
        wandb.finish()


def test_wandb_keeps_all_of_it_offline(wandb, compared, report, text, tmp_path):
    from truebleu.integrations.wandb import log_result, log_segments

    with pytest.raises(ValueError, match=r"no active run\. Call wandb\.init first"):
        log_result(compared)
    first = tb.bleu(text.hypotheses[:9], text.first[:9])
    with wandb.init(project="tests", mode="offline", dir=str(tmp_path)) as run:
        log_result(first, prefix="dev", step=10)
        log_result(compared, step=20, run=run)
        log_result(report)
        log_segments("bleu", text.hypotheses, text.first)
        with pytest.raises(Exception, match="Attempted to change value of key"):
            log_result(tb.BLEU("intl").score(text.hypotheses, text.first), prefix="dev")
    wandb.teardown()  # its process, which writes the file, has then ended
    rows = list(offline_records(tmp_path, "history"))
    log_records = make_result_record(compared)
    assert [row["_step"] for row in rows] == [10, 20, 21]  # the report joins the step before it
    assert rows[0]["dev/BLEU"] == first.value
    assert {name: rows[1][name] for name in log_records.metrics} == log_records.metrics
    config = {}
    for more in offline_records(tmp_path, "config"):
        config |= more
    assert config["dev/BLEU/signature"] == str(first.signature)
    assert {name: config[name] for name in log_records.params} == log_records.params
    (files,) = tmp_path.glob("wandb/offline-run-*/files")
    assert (files / rows[1]["comparison/path"]).read_text("utf-8") == compared.html()
    assert (files / rows[1]["report/path"]).read_text("utf-8") == report.html()
    table = json.loads((files / rows[1]["comparison_table/path"]).read_text("utf-8"))
    assert table == {
        "columns": [*log_records.tables["comparison"][0]],
        "data": log_records.tables["comparison"][1],
    }
    segments = json.loads((files / rows[2]["segments/path"]).read_text("utf-8"))
    place = segments["columns"].index("BLEU")
    scores = list(tb.BLEU().segments(text.hypotheses, text.first))
    assert [row[place] for row in segments["data"]] == scores
