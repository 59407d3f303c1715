"""A host that is not installed is named, and how to install it; truebleu itself needs none."""

import importlib
import json
import sys

import pytest

import truebleu as tb
from truebleu.integrations import RunningScore, get_metric_name, resolve_metric, score_corpus


def absent(monkeypatch, *names):
    for loaded in list(sys.modules):
        if loaded.startswith("truebleu.integrations.") or loaded.split(".")[0] in names:
            monkeypatch.delitem(sys.modules, loaded)
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)


def torchmetrics():
    importlib.import_module("truebleu.integrations.torchmetrics")


def inspect_ai():
    importlib.import_module("truebleu.integrations.inspect_ai")


def torch():
    importlib.import_module("truebleu.integrations.torch").all_reduce_(tb.Accumulator())


def lm_eval():
    importlib.import_module("truebleu.integrations.lm_eval").register()


def lighteval():
    importlib.import_module("truebleu.integrations.lighteval").corpus_metric()


def evaluate():
    importlib.import_module("truebleu.integrations.evaluate").load()


@pytest.mark.parametrize(
    ("use", "module", "package"),
    [
        (torchmetrics, "torch", "torch"),
        (inspect_ai, "inspect_ai", "inspect-ai"),
        (torch, "torch", "torch"),
        (lm_eval, "lm_eval", "lm-eval"),
        (lighteval, "lighteval", "lighteval"),
        (evaluate, "evaluate", "evaluate"),
    ],
)
def test_what_to_install_is_said_when_the_host_is_used(monkeypatch, use, module, package):
    absent(monkeypatch, module)
    with pytest.raises(ImportError, match=f"needs {package}, .* pip install {package}$"):
        use()


def test_what_a_host_itself_lacks_is_the_hosts_to_say(monkeypatch, tmp_path):
    (tmp_path / "broken_host.py").write_text("import something_it_needs\n")
    monkeypatch.syspath_prepend(tmp_path)
    from truebleu.integrations import require_package

    with (
        pytest.raises(ModuleNotFoundError, match="something_it_needs"),
        require_package("broken-host", "this test"),
    ):
        importlib.import_module("broken_host")


def test_metrics_are_given_or_named():
    assert resolve_metric(None, {"tokenize": "intl"}) == tb.BLEU("intl")
    assert resolve_metric("ter", {}) == tb.TER()
    assert resolve_metric(tb.CHRF(), {}) == tb.CHRF()
    assert resolve_metric(tb.BLEU(), {"tokenize": "intl"}) == tb.BLEU("intl")
    assert resolve_metric("chrf++", {}) == tb.CHRF(word_order=2)
    with pytest.raises(ValueError, match=r"unknown metric 'blue'; did you mean 'bleu'\?"):
        resolve_metric("blue", {})


def test_two_segments_of_two_references_are_not_taken_for_streams():
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
def test_what_hosts_call_a_metric(metric, name):
    assert get_metric_name(metric, resolve_metric(metric, {})) == name


@pytest.mark.parametrize("name", ["bleu", "nist", "ibleu", "nltk-sentence-4"])
def test_a_total_of_batches_is_the_score_of_all(name):
    """By sums where they add up, else of the text; from plain values, too."""
    metric = tb.metric(name)
    hypotheses, references = ["a b c d e", "a b", "x y"], [["a b c d", "a b"], ["a c"], ["x z"]]
    sources = ["d e", "b", "y"]
    first, second = RunningScore(metric), RunningScore(metric)
    first.update(hypotheses[:2], references[:2], sources[:2])
    first.update([], [])
    second.update(hypotheses[2:], references[2:], sources[2:])
    kept = json.loads(json.dumps(second.state_dict()))
    both = RunningScore(resolve_metric(kept["metric"], {})).load(first.state_dict()).load(kept)
    more = {"sources": sources} if metric.NEEDS_SOURCE else {}
    assert both.compute() == metric.score(hypotheses, list(map(tuple, references)), **more)
    first.reset()
    with pytest.raises(tb.InputError, match=r"no segments|needs the source"):
        first.compute()


def test_batches_that_do_not_fit_add_nothing():
    total = RunningScore(tb.metric("nist"))
    with pytest.raises(tb.InputError, match="hypotheses 1, references 2"):
        total.update(["a"], ["a", "b"])
    total = RunningScore(tb.metric("ibleu"))
    with pytest.raises(tb.InputError, match="hypotheses 1, references 1, sources 2"):
        total.update(["a"], ["a"], ["b", "c"])
    total.update(["a"], ["a"])
    with pytest.raises(tb.InputError, match="iBLEU needs the source of each segment"):
        total.compute()
