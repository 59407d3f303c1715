"""Errors for missing frameworks name the package; truebleu itself does not need any."""

import importlib
import json
import sys

import pytest

import truebleu as tb
from truebleu.integrations import RunningScore, get_metric_name, resolve_metric, score_corpus


def remove_modules(monkeypatch, *names):
    for loaded in list(sys.modules):
        if loaded.startswith("truebleu.integrations.") or loaded.split(".")[0] in names:
            monkeypatch.delitem(sys.modules, loaded)
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize(
    ("integration", "call", "package"),
    [
        ("torchmetrics", None, "torch"),
        ("inspect_ai", None, "inspect-ai"),
        ("torch", lambda ours: ours.all_reduce_(tb.Accumulator()), "torch"),
        ("lm_eval", lambda ours: ours.register(), "lm-eval"),
        ("lighteval", lambda ours: ours.corpus_metric(), "lighteval"),
        ("evaluate", lambda ours: ours.load(), "evaluate"),
    ],
)
def test_missing_package_error_names_command(monkeypatch, integration, call, package):
    remove_modules(monkeypatch, package.replace("-", "_"))
    with pytest.raises(ImportError, match=f"needs {package}, .* pip install {package}$"):
        call(importlib.import_module(f"truebleu.integrations.{integration}"))


def test_missing_dependency_error_is_unchanged(monkeypatch, tmp_path):
    (tmp_path / "broken_host.py").write_text("import something_it_needs\n")
    monkeypatch.syspath_prepend(tmp_path)
    from truebleu.integrations import require_package

    with (
        pytest.raises(ModuleNotFoundError, match="something_it_needs"),
        require_package("broken-host", "this test"),
    ):
        importlib.import_module("broken_host")


def test_resolve_metric():
    assert resolve_metric(None, {"tokenize": "intl"}) == tb.BLEU("intl")
    assert resolve_metric("ter", {}) == tb.TER()
    assert resolve_metric(tb.CHRF(), {}) == tb.CHRF()
    assert resolve_metric(tb.BLEU(), {"tokenize": "intl"}) == tb.BLEU("intl")
    assert resolve_metric("chrf++", {}) == tb.CHRF(word_order=2)
    with pytest.raises(ValueError, match=r"unknown metric 'blue'; did you mean 'bleu'\?"):
        resolve_metric("blue", {})


def test_two_segments_with_two_references_are_not_streams():
    hypotheses, references = ["a b", "c d"], [["a b", "b"], ["c", "c d"]]
    assert score_corpus(tb.BLEU(max_order=1), hypotheses, references).matches == (4,)


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        (None, "bleu"),
        ("ROUGE-L", "rouge-l"),
        ("mteval-v13a", "mteval-v13a"),
        (tb.CHRF(word_order=2), "chrf++"),
        (tb.BLEU("intl"), "bleu"),
        ("chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:yes|version:2.6.0", "chrf2"),
        ("command:length=wc {hyp}", "length"),
    ],
)
def test_get_metric_name(metric, name):
    assert get_metric_name(metric, resolve_metric(metric, {})) == name


@pytest.mark.parametrize("name", ["bleu", "nist", "ibleu", "nltk-sentence-4"])
def test_running_score_equals_corpus_score(name):
    """Use additive and other metrics, and restore a state from JSON."""
    metric = tb.metric(name)
    hypotheses, references = ["a b c d e", "a b", "x y"], [["a b c d", "a b"], ["a c"], ["x z"]]
    sources = ["d e", "b", "y"]
    first, second = RunningScore(metric), RunningScore(metric)
    first.update(hypotheses[:2], references[:2], sources[:2])
    first.update([], [])
    second.update(hypotheses[2:], references[2:], sources[2:])
    saved_state = json.loads(json.dumps(second.state_dict()))
    restored = RunningScore(resolve_metric(saved_state["metric"], {}))
    combined = restored.load(first.state_dict()).load(saved_state)
    options = {"sources": sources} if metric.NEEDS_SOURCE else {}
    assert combined.compute() == metric.score(hypotheses, list(map(tuple, references)), **options)
    first.reset()
    with pytest.raises(tb.InputError, match=r"no segments|needs the source"):
        first.compute()


def test_invalid_batches_add_nothing():
    total = RunningScore(tb.metric("ibleu"))
    with pytest.raises(tb.InputError, match="hypotheses 1, references 2"):
        total.update(["a"], ["a", "b"])
    with pytest.raises(tb.InputError, match="hypotheses 1, references 1, sources 2"):
        total.update(["a"], ["a"], ["b", "c"])
    total.update(["a"], ["a"])
    with pytest.raises(tb.InputError, match="iBLEU needs the source of each segment"):
        total.compute()
