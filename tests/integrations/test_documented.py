"""Tests that run each example of docs/integrations.md in its framework."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from integration_programs import (
    EXAMPLES,
    evaluate_offline,
    import_or_skip,
    make_harness_model,
    make_inspect_solver,
    read_example_lines,
    read_offline_records,
)

import truebleu as tb

pytestmark = pytest.mark.filterwarnings("ignore")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "integrations.md"


def extract_sections():
    """Return the examples below each heading, as pairs of language and code."""
    parts = re.split(r"^## (.*)\n", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    blocks = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
    return {title: blocks.findall(body) for title, body in zip(*[iter(parts)] * 2, strict=True)}


def run_section(title, names):
    """Run a section's examples, and return the resulting names."""
    for language, code in extract_sections()[title]:
        assert language == "python"
        exec(compile(code, f"{PAGE.name}: {title}", "exec"), names)
    return names


@pytest.fixture
def example_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check_plain_loop(text, **_):
    batches = [
        (text.hypotheses[i : i + 9], text.first_references[i : i + 9]) for i in range(0, 128, 9)
    ]
    total = run_section("Your own training loop", {"batches": batches})["total"]
    assert total.compute() == tb.BLEU("intl").score(text.hypotheses, text.first_references)


def check_distributed(text, **_):
    import_or_skip("torch")
    total = tb.Accumulator()
    total.update(text.hypotheses, text.first_references)
    run_section("torch.distributed", {"total": total})
    assert total.compute() == tb.bleu(text.hypotheses, text.first_references)


def check_torchmetrics(**_):
    import_or_skip("torch"), import_or_skip("torchmetrics")
    names = run_section("torchmetrics, Lightning", {})
    assert names["bleu"].score().signature["nrefs"] == "2"
    assert names["rouge"].compute().item() == 75.0


def check_trl(text, tiny, example_folder, **_):
    args = import_or_skip("trl").GRPOConfig(
        output_dir=str(example_folder),
        per_device_train_batch_size=2,
        num_generations=2,
        max_completion_length=4,
        max_steps=1,
        logging_steps=1,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
    )
    rows = {"prompt": text.first_references[:4], "reference": [None, *text.references[1:4]]}
    names = {"args": args, "model": tiny.make_causal_model(), "tokenizer": tiny.tokenizer}
    names["dataset"] = import_or_skip("datasets").Dataset.from_dict(rows)
    (logged, *_) = run_section("TRL", names)["trainer"].state.log_history
    assert {"rewards/bleu_reward/mean", "rewards/chrf_reward/mean"} <= set(logged)


def check_transformers(text, tiny, example_folder, **_):
    ids = (
        tiny.tokenizer(texts[:4]).input_ids for texts in (text.hypotheses, text.first_references)
    )
    dataset = [{"input_ids": a, "labels": b} for a, b in zip(*ids, strict=True)]
    model = tiny.make_translation_model()
    collator = import_or_skip("transformers").DataCollatorForSeq2Seq(tiny.tokenizer, model=model)
    names = {"model": model, "tokenizer": tiny.tokenizer, "dataset": dataset, "collator": collator}
    metrics = run_section("transformers", names)["trainer"].evaluate()
    assert {"eval_bleu", "eval_chrf++"} <= set(metrics)


def check_evaluate(example_folder, monkeypatch, **_):
    evaluate_offline(monkeypatch, example_folder)
    run_section("Hugging Face evaluate", {})


def check_lighteval(**_):
    import_or_skip("lighteval")
    task = run_section("lighteval", {"prompt": lambda line, name=None: None})["task"]
    assert [metric.metric_name for metric in task.metrics] == ["truebleu", "chrf++"]


def check_inspect_ai(text, example_folder, monkeypatch, **_):
    dataset = import_or_skip("inspect_ai.dataset")
    monkeypatch.setenv("INSPECT_LOG_DIR", str(example_folder))
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    pairs = zip(text.hypotheses[:3], text.references, strict=False)
    samples = [dataset.Sample(input=source, target=two) for source, two in pairs]

    names = {"samples": samples, "solver": make_inspect_solver(), "model": "mockllm/model"}
    run_section("inspect-ai", names)
    (path,) = example_folder.glob("*.eval")
    log = import_or_skip("inspect_ai.log").read_eval_log(str(path))
    assert log.status == "success", log.error.message
    scores = {score.name: score.metrics["corpus"].value for score in log.results.scores}
    texts = (text.hypotheses[:3], text.references[:3])
    assert scores == {
        "bleu": tb.BLEU("zh").score(*texts).value,
        "rouge-l": tb.metric("rouge-l").score(*texts).value,
    }


def make_results(text):
    systems = {name: read_example_lines(f"{name}.en")[:20] for name in ("cedar", "birch")}
    references = text.references[:20]
    return {"hypotheses": systems["birch"], "references": references, "systems": systems}


def check_mlflow(text, example_folder, **_):
    mlflow = import_or_skip("mlflow")
    import_or_skip("sqlalchemy")
    mlflow.set_tracking_uri(f"sqlite:///{example_folder}/mlflow.db")
    run_section("MLflow", make_results(text))
    (logged_run,) = mlflow.search_runs(output_format="list")
    mlflow.set_tracking_uri("")
    assert {"dev/BLEU", "cedar/BLEU/low", "birch/chrF2pp"} <= set(logged_run.data.metrics)
    assert {"dev/BLEU/signature", "chrF2pp/signature", "baseline"} == {*logged_run.data.params} - {
        "BLEU/signature"
    }


def check_wandb(text, example_folder, **_):
    wandb = import_or_skip("wandb")
    run_section("Weights & Biases", make_results(text))
    wandb.teardown()
    first, second = read_offline_records(example_folder, "history")
    birch = read_example_lines("birch.en")[:20]
    assert first["dev/BLEU"] == tb.bleu(birch, text.references[:20]).value
    assert {"report/path", "comparison/path", "comparison_table/path", "segments/path"} <= {*second}


def check_lm_eval(text, example_folder, **_):
    """Use the documented files, and create the data file that they name."""
    lm_eval, tasks = import_or_skip("lm_eval"), import_or_skip("lm_eval.tasks")
    (_, utils), (_, task) = extract_sections()["lm-evaluation-harness"]
    (example_folder / "utils.py").write_text(utils, encoding="utf-8")
    (example_folder / "task.yaml").write_text(task, encoding="utf-8")
    sources = (EXAMPLES / "source.de").read_text(encoding="utf-8").splitlines()
    pairs = zip(sources, text.references, strict=True)
    rows = [{"source": source, "references": two} for source, two in pairs]
    row_lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (example_folder / "rows.jsonl").write_text(row_lines, encoding="utf-8")
    by_source = dict(zip(sources, text.hypotheses, strict=True))
    assert len(by_source) == len(sources)
    evaluation = lm_eval.simple_evaluate(
        model=make_harness_model(by_source),
        tasks=["my_translation"],
        task_manager=tasks.TaskManager(include_path=str(example_folder), include_defaults=False),
        bootstrap_iters=0,
    )
    scores = evaluation["results"]["my_translation"]
    assert scores["truebleu,none"] == tb.bleu(text.hypotheses, text.references).value
    assert scores["trueter,none"] == tb.ter(text.hypotheses, text.references).value
    ibleu = tb.metric("ibleu").score(text.hypotheses, text.references, sources)
    assert scores["trueibleu,none"] == ibleu.value
    directions = evaluation["higher_is_better"]["my_translation"]
    assert directions == {"truebleu": True, "trueter": False, "trueibleu": True}


CHECKS = {
    "Your own training loop": check_plain_loop,
    "torch.distributed": check_distributed,
    "torchmetrics, Lightning": check_torchmetrics,
    "TRL": check_trl,
    "transformers": check_transformers,
    "Hugging Face evaluate": check_evaluate,
    "lm-evaluation-harness": check_lm_eval,
    "lighteval": check_lighteval,
    "inspect-ai": check_inspect_ai,
    "MLflow": check_mlflow,
    "Weights & Biases": check_wandb,
}


def test_all_examples_are_tested():
    assert set(extract_sections()) == set(CHECKS)


@pytest.mark.parametrize("title", CHECKS)
def test_example(title, request, text, example_folder, monkeypatch, caplog):
    arguments = SimpleNamespace(text=text, example_folder=example_folder, monkeypatch=monkeypatch)
    if title in ("TRL", "transformers"):
        arguments.tiny = request.getfixturevalue("tiny")
    CHECKS[title](**vars(arguments))
    # The harness logs this for incomplete YAML files.
    assert "is defined, but" not in caplog.text
