"""Hugging Face evaluate loads the metric module offline, and computes truebleu's scores."""

import pytest
from integration_programs import evaluate_offline

import truebleu as tb
from truebleu.integrations import evaluate as ours

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def evaluate(monkeypatch, tmp_path):
    return evaluate_offline(monkeypatch, tmp_path)


def test_module_file_exists():
    assert ours.path().endswith("truebleu_metric.py")
    with open(ours.path(), encoding="utf-8") as file:
        imports = [line for line in file if line.startswith(("import ", "from "))]
    assert all("," not in line for line in imports if line.startswith("import "))


def test_module_is_loaded_by_path(evaluate, text, tmp_path):
    bleu = evaluate.load(ours.path(), cache_dir=str(tmp_path))
    result = bleu.compute(predictions=text.hypotheses, references=text.references)
    assert result == tb.bleu(text.hypotheses, text.references).to_dict()
    result = bleu.compute(
        predictions=text.hypotheses,
        references=text.first_references,
        tokenize="intl",
        lowercase=True,
    )
    metric = tb.BLEU("intl", lowercase=True)
    assert result["score"] == metric.score(text.hypotheses, text.first_references).value
    assert result["signature"] == str(metric.signature(1))


def test_batches_metrics_and_varying_references(evaluate, text, tmp_path):
    varying = [two[: 1 + i % 2] for i, two in enumerate(text.references)]
    for name, metric in [("chrf", tb.CHRF(word_order=2)), ("bleu", tb.BLEU())]:
        module = ours.load(name, cache_dir=str(tmp_path))
        for start in range(0, len(varying), 8):
            part = slice(start, start + 8)
            module.add_batch(predictions=text.hypotheses[part], references=varying[part])
        parameters = {"word_order": 2} if name == "chrf" else {}
        score = metric.score(text.hypotheses, varying)
        assert module.compute(**parameters) == score.to_dict()


def test_unknown_metric_raises_error():
    with pytest.raises(ValueError, match="unknown metric 'spice'"):
        ours.load("spice")
