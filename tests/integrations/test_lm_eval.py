"""lm-evaluation-harness: registered names, and scores of a task that uses them."""

import sys
from types import ModuleType

import pytest
from integration_programs import import_or_skip, make_harness_model

import truebleu as tb
from truebleu.integrations import lm_eval as ours
from truebleu.metrics.registry import METRICS

pytestmark = pytest.mark.filterwarnings("ignore")


class PlainRegistry(ModuleType):
    """The registry of earlier versions of the harness: dictionaries that reject duplicates."""

    def __init__(self):
        super().__init__("lm_eval.api.registry")
        self.METRIC_REGISTRY, self.AGGREGATION_REGISTRY = {}, {"mean": None}
        self.aggregation_of, self.higher = {}, {}

    def register_aggregation(self, name):
        def decorate(function):
            assert name not in self.AGGREGATION_REGISTRY
            self.AGGREGATION_REGISTRY[name] = function
            return function

        return decorate

    def register_metric(self, **args):
        def decorate(function):
            name = args["metric"]
            assert name not in self.METRIC_REGISTRY
            self.METRIC_REGISTRY[name] = function
            self.aggregation_of[name] = self.AGGREGATION_REGISTRY[args["aggregation"]]
            self.higher[name] = args["higher_is_better"]
            return function

        return decorate


def test_plain_registry(monkeypatch, text):
    registry = PlainRegistry()
    monkeypatch.setattr(ours, "_registered_metrics", {})
    for name in ("lm_eval", "lm_eval.api", "lm_eval.api.metrics"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "lm_eval.api.registry", registry)
    ours.register()
    ours.register()
    ours.register("truebleu_zh", "bleu", tokenize="zh")
    expected = [*(f"true{name}" for name in METRICS), "truebleu_zh"]
    assert list(registry.METRIC_REGISTRY) == expected
    assert registry.higher["truebleu"]
    assert not registry.higher["trueter"]
    items = [
        registry.METRIC_REGISTRY["truechrf"]([reference, hypothesis])
        for hypothesis, reference in zip(text.hypotheses, text.first_references, strict=True)
    ]
    expected = tb.chrf(text.hypotheses, text.first_references).value
    assert registry.aggregation_of["truechrf"](items) == expected
    for arguments, options, message in (
        (("truebleu", "chrf"), {}, r"'truebleu' is already registered as BLEU\(\)"),
        (("mean", "bleu"), {}, "'mean' is a metric of the harness"),
        ((), {"tokenize": "zh"}, "a metric with parameters needs a name"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            ours.register(*arguments, **options)


def test_items_with_one_or_several_references():
    score = ours.aggregation("bleu", max_order=1)
    items = [ours.item(["a b", "x"], "a b"), ours.item(["y", "c d"], "c d"), ("e", "e")]
    assert score(items) == pytest.approx(100)
    assert score([["a", "a"]]) == pytest.approx(100)


def test_value_without_references_raises_error():
    message = r"document 0: expected a pair .* found 1.0.*process_results"
    with pytest.raises(tb.InputError, match=message):
        ours.aggregation()([1.0, 1.0])


def test_metrics_in_harness(text):
    """The harness pairs the target of each document with the output."""
    lm_eval, task = import_or_skip("lm_eval"), import_or_skip("lm_eval.api.task")
    datasets = import_or_skip("datasets")
    ours.register()
    numbers = list(map(str, range(len(text.hypotheses))))
    rows = datasets.Dataset.from_dict({"source": numbers, "reference": text.first_references})
    example = task.ConfigurableTask(
        config={
            "task": "example",
            "custom_dataset": lambda **_: {"test": rows},
            "test_split": "test",
            "output_type": "generate_until",
            "doc_to_text": "{{source}}",
            "doc_to_target": "{{reference}}",
            "generation_kwargs": {"until": ["\n"]},
            "metric_list": [{"metric": name} for name in ("truebleu", "trueter", "bleu")],
        }
    )
    model = make_harness_model(dict(zip(numbers, text.hypotheses, strict=True)))
    evaluation = lm_eval.simple_evaluate(model=model, tasks=[example], bootstrap_iters=0)
    results = evaluation["results"]["example"]
    assert results["truebleu,none"] == tb.bleu(text.hypotheses, text.first_references).value
    assert results["trueter,none"] == tb.ter(text.hypotheses, text.first_references).value
    # The harness's own metric is computed by sacreBLEU.
    assert results["bleu,none"] == results["truebleu,none"]
