"""lm-evaluation-harness: our names are registered, and a task that uses them has our scores."""

import sys
from types import ModuleType

import pytest
from integration_programs import host

import truebleu as tb
from truebleu.integrations import lm_eval as ours
from truebleu.metrics.registry import METRICS

pytestmark = pytest.mark.filterwarnings("ignore")


class Plain(ModuleType):
    """The registry of the harness's earlier versions: dictionaries, which refuse a second time."""

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


def test_both_decorators_of_a_plain_registry(monkeypatch, text):
    registry = Plain()
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
        for hypothesis, reference in zip(text.hypotheses, text.first, strict=True)
    ]
    expected = tb.chrf(text.hypotheses, text.first).value
    assert registry.aggregation_of["truechrf"](items) == expected
    with pytest.raises(ValueError, match="'truebleu' is already registered as BLEU\\(\\)"):
        ours.register("truebleu", "chrf")
    with pytest.raises(ValueError, match="'mean' is a metric of the harness"):
        ours.register("mean", "bleu")
    with pytest.raises(TypeError, match="expected a name for a metric"):
        ours.register(tokenize="zh")


def test_items_have_one_reference_or_several():
    score = ours.aggregation("bleu", max_order=1)
    items = [ours.item(["a b", "x"], "a b"), ours.item(["y", "c d"], "c d"), ("e", "e")]
    assert score(items) == pytest.approx(100)
    assert score([["a", "a"]]) == pytest.approx(100)


def test_what_the_harness_makes_of_several_targets_is_refused():
    told = r"document 0: expected a pair .* found 1.0.*process_results"
    with pytest.raises(tb.InputError, match=told):
        ours.aggregation()([1.0, 1.0])


def harness_task(text, configuration):
    datasets, task = host("datasets"), host("lm_eval.api.task")
    rows = datasets.Dataset.from_dict(
        {
            "source": [str(number) for number in range(len(text.hypotheses))],
            "reference": text.first,
            "references": text.references,
        }
    )
    return task.ConfigurableTask(
        config={
            "task": "example",
            "custom_dataset": lambda **_: {"test": rows},
            "test_split": "test",
            "output_type": "generate_until",
            "doc_to_text": "{{source}}",
            "doc_to_target": "{{reference}}",
            "generation_kwargs": {"until": ["\n"]},
            **configuration,
        }
    )


def model_that_gives(hypotheses):
    model = host("lm_eval.api.model")

    class Model(model.LM):
        def generate_until(self, requests, **_):
            return [hypotheses[int(request.args[0])] for request in requests]

        def loglikelihood(self, requests, **_):
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    return Model()


def evaluated(text, configuration):
    lm_eval = host("lm_eval")
    results = lm_eval.simple_evaluate(
        model=model_that_gives(text.hypotheses),
        tasks=[harness_task(text, configuration)],
        bootstrap_iters=0,
    )
    return results["results"]["example"]


def test_the_harness_itself(text):
    host("lm_eval")
    ours.register()
    ours.register("truebleu_intl", "bleu", tokenize="intl")
    found = evaluated(
        text,
        {
            "metric_list": [
                {"metric": name} for name in ("truebleu", "trueter", "truebleu_intl", "bleu")
            ]
        },
    )
    assert found["truebleu,none"] == tb.bleu(text.hypotheses, text.first).value
    assert found["trueter,none"] == tb.ter(text.hypotheses, text.first).value
    score = tb.BLEU("intl").score(text.hypotheses, text.first)
    assert found["truebleu_intl,none"] == score.value
    assert found["bleu,none"] == found["truebleu,none"]  # the harness's own, by sacreBLEU
