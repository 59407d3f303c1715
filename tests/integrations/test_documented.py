"""docs/integrations.md: each example of it runs, inside the host that it is about."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from integration_programs import EXAMPLES, evaluate_offline, host, lines, offline_records

import truebleu as tb

pytestmark = pytest.mark.filterwarnings("ignore")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "integrations.md"


def sections():
    """The examples below each heading: pairs of language and code."""
    parts = re.split(r"^## (.*)\n", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    blocks = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
    return {title: blocks.findall(body) for title, body in zip(*[iter(parts)] * 2, strict=True)}


def run(title, names):
    """What the names of a section's examples are afterwards."""
    for language, code in sections()[title]:
        assert language == "python"
        exec(compile(code, f"{PAGE.name}: {title}", "exec"), names)
    return names


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def no_host(text, **_):
    whole = [(text.hypotheses[i : i + 9], text.first[i : i + 9]) for i in range(0, 128, 9)]
    total = run("No host: a loop of your own", {"batches": whole})["total"]
    assert total.compute() == tb.BLEU("intl").score(text.hypotheses, text.first)


def distributed(text, **_):
    host("torch")
    total = tb.Accumulator()
    total.update(text.hypotheses, text.first)
    run("torch.distributed", {"total": total})
    assert total.compute() == tb.bleu(text.hypotheses, text.first)


def lightning(**_):
    host("torch"), host("torchmetrics")
    made = run("torchmetrics, Lightning", {})
    assert made["bleu"].score().signature["nrefs"] == "2"
    assert made["rouge"].compute().item() == 75.0


def trl(text, tiny, folder, **_):
    args = host("trl").GRPOConfig(
        output_dir=str(folder),
        per_device_train_batch_size=2,
        num_generations=2,
        max_completion_length=4,
        max_steps=1,
        logging_steps=1,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
    )
    rows = {"prompt": text.first[:4], "reference": [None, *text.references[1:4]]}
    names = {"args": args, "model": tiny.causal(), "tokenizer": tiny.tokenizer}
    names["dataset"] = host("datasets").Dataset.from_dict(rows)
    (logged, *_) = run("TRL", names)["trainer"].state.log_history
    assert {"rewards/bleu_reward/mean", "rewards/ter_reward/mean"} <= set(logged)


def transformers(text, tiny, folder, **_):
    ids = (tiny.tokenizer(texts[:4]).input_ids for texts in (text.hypotheses, text.first))
    dataset = [{"input_ids": a, "labels": b} for a, b in zip(*ids, strict=True)]
    model = tiny.translator()
    collator = host("transformers").DataCollatorForSeq2Seq(tiny.tokenizer, model=model)
    names = {"model": model, "tokenizer": tiny.tokenizer, "dataset": dataset, "collator": collator}
    found = run("transformers", names)["trainer"].evaluate()
    assert {"eval_bleu", "eval_chrf++"} <= set(found)


def evaluate(folder, monkeypatch, **_):
    evaluate_offline(monkeypatch, folder)
    run("Hugging Face evaluate", {})


def lighteval(**_):
    host("lighteval")
    task = run("lighteval", {"prompt": lambda line, name=None: None})["task"]
    assert [metric.metric_name for metric in task.metrics] == ["truebleu", "chrf++"]


def inspect_ai(text, folder, monkeypatch, **_):
    solver, dataset = host("inspect_ai.solver"), host("inspect_ai.dataset")
    monkeypatch.setenv("INSPECT_LOG_DIR", str(folder))
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    pairs = zip(text.hypotheses[:3], text.references, strict=False)
    samples = [dataset.Sample(input=source, target=two) for source, two in pairs]

    @solver.solver
    def repeated():  # the input; a model would count tokens, by what is downloaded
        async def solve(state, generate):
            state.output = host("inspect_ai.model").ModelOutput.from_content("none", state.input)
            return state

        return solve

    names = {"samples": samples, "solver": repeated(), "model": "mockllm/model"}
    run("inspect-ai", names)
    (path,) = folder.glob("*.eval")
    log = host("inspect_ai.log").read_eval_log(str(path))
    assert log.status == "success", log.error.message
    found = {score.name: score.metrics["corpus"].value for score in log.results.scores}
    given = (text.hypotheses[:3], text.references[:3])
    assert found == {
        "bleu": tb.BLEU("zh").score(*given).value,
        "rouge-l": tb.metric("rouge-l").score(*given).value,
    }


def results(text):
    systems = {name: lines(f"{name}.en")[:20] for name in ("cedar", "birch")}
    references = text.references[:20]
    return {"hypotheses": systems["birch"], "references": references, "systems": systems}


def mlflow(text, folder, **_):
    mlflow = host("mlflow")
    host("sqlalchemy")
    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    run("MLflow", results(text))
    (found,) = mlflow.search_runs(output_format="list")
    mlflow.set_tracking_uri("")
    assert {"dev/BLEU", "cedar/BLEU/low", "birch/chrF2pp"} <= set(found.data.metrics)
    assert {"dev/BLEU/signature", "chrF2pp/signature", "baseline"} == {*found.data.params} - {
        "BLEU/signature"
    }


def wandb(text, folder, **_):
    wandb = host("wandb")
    run("Weights & Biases", results(text))
    wandb.teardown()
    first, second = offline_records(folder, "history")
    assert first["dev/BLEU"] == tb.bleu(lines("birch.en")[:20], text.references[:20]).value
    assert {"report/path", "comparison/path", "comparison_table/path", "segments/path"} <= {*second}


def lm_eval(text, folder, **_):
    """The files as they are documented, and beside them the rows that they name."""
    lm_eval, tasks = host("lm_eval"), host("lm_eval.tasks")
    model = host("lm_eval.api.model")
    (_, utils), (_, task) = sections()["lm-evaluation-harness"]
    (folder / "utils.py").write_text(utils, encoding="utf-8")
    (folder / "task.yaml").write_text(task, encoding="utf-8")
    sources = (EXAMPLES / "source.de").read_text(encoding="utf-8").splitlines()
    pairs = zip(sources, text.references, strict=True)
    rows = [{"source": source, "references": two} for source, two in pairs]
    written = "".join(f"{json.dumps(row)}\n" for row in rows)
    (folder / "rows.jsonl").write_text(written, encoding="utf-8")
    by_source = dict(zip(sources, text.hypotheses, strict=True))
    assert len(by_source) == len(sources)

    class Model(model.LM):
        def generate_until(self, requests, **_):
            return [by_source[request.args[0]] for request in requests]

    Model.__abstractmethods__ = frozenset()
    found = lm_eval.simple_evaluate(
        model=Model(),
        tasks=["my_translation"],
        task_manager=tasks.TaskManager(include_path=str(folder), include_defaults=False),
        bootstrap_iters=0,
    )
    scores = found["results"]["my_translation"]
    assert scores["truebleu,none"] == tb.bleu(text.hypotheses, text.references).value
    assert scores["trueter,none"] == tb.ter(text.hypotheses, text.references).value
    ibleu = tb.metric("ibleu").score(text.hypotheses, text.references, sources)
    assert scores["trueibleu,none"] == ibleu.value
    directions = found["higher_is_better"]["my_translation"]
    assert directions == {"truebleu": True, "trueter": False, "trueibleu": True}


TESTED = {
    "No host: a loop of your own": no_host,
    "torch.distributed": distributed,
    "torchmetrics, Lightning": lightning,
    "TRL": trl,
    "transformers": transformers,
    "Hugging Face evaluate": evaluate,
    "lm-evaluation-harness": lm_eval,
    "lighteval": lighteval,
    "inspect-ai": inspect_ai,
    "MLflow": mlflow,
    "Weights & Biases": wandb,
}


def test_all_examples_are_tested():
    assert set(sections()) == set(TESTED)


@pytest.mark.parametrize("title", TESTED)
def test_example(title, request, text, folder, monkeypatch, caplog):
    given = SimpleNamespace(text=text, folder=folder, monkeypatch=monkeypatch)
    if title in ("TRL", "transformers"):
        given.tiny = request.getfixturevalue("tiny")
    TESTED[title](**vars(given))
    # What the harness says of a YAML that leaves something out.
    assert "is defined, but" not in caplog.text
