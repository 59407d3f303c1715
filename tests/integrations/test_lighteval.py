"""lighteval: a CorpusLevelMetric of its present constructor, and of the one before 0.10."""

import pickle
import sys
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from conftest import host

import truebleu as tb
from truebleu.integrations import lighteval as ours

pytestmark = pytest.mark.filterwarnings("ignore")


def items(text):
    return [
        SimpleNamespace(golds=golds, preds=[hypothesis])
        for hypothesis, golds in zip(text.hypotheses, text.references, strict=True)
    ]


def test_all_gold_answers_are_references(text):
    expected = tb.ter(text.hypotheses, text.references).value
    assert ours.Computation(tb.TER())(items(text)) == expected


def test_one_prediction_a_document():
    with pytest.raises(tb.InputError, match="document 0: expected one prediction, not 2"):
        ours.Computation(tb.BLEU())([SimpleNamespace(golds=["a"], preds=["a", "b"])])


def test_the_constructor_before_0_10(monkeypatch, text):
    """As 0.7.0 to 0.9.2 have it: callables, a category and a use case, all of them required."""

    @dataclass
    class CorpusLevelMetric:
        metric_name: str
        higher_is_better: bool
        category: str
        use_case: str
        sample_level_fn: Any
        corpus_level_fn: Any

    class GenerativePreparator:
        @staticmethod
        def prepare(golds, predictions, **_):
            return SimpleNamespace(golds=golds, preds=predictions)

    contents = {
        "lighteval": {},
        "lighteval.metrics": {},
        "lighteval.metrics.utils": {},
        "lighteval.metrics.utils.metric_utils": {
            "CorpusLevelMetric": CorpusLevelMetric,
            "MetricCategory": SimpleNamespace(GENERATIVE="generative"),
            "MetricUseCase": SimpleNamespace(TRANSLATION="translation"),
        },
        "lighteval.metrics.sample_preparator": {"GenerativePreparator": GenerativePreparator},
        "lighteval.tasks": {},
        "lighteval.tasks.requests": {},
    }
    for name, names in contents.items():
        module = ModuleType(name)
        vars(module).update(names)
        monkeypatch.setitem(sys.modules, name, module)
    metric = ours.corpus_metric("ter")
    assert (metric.metric_name, metric.higher_is_better) == ("trueter", False)
    prepared = [
        metric.sample_level_fn(golds=golds, predictions=[hypothesis], formatted_doc=None)
        for hypothesis, golds in zip(text.hypotheses, text.references, strict=True)
    ]
    expected = tb.ter(text.hypotheses, text.references).value
    assert pickle.loads(pickle.dumps(metric.corpus_level_fn))(prepared) == expected


def test_lighteval_itself(text):
    host("lighteval")
    utils = host("lighteval.metrics.utils.metric_utils")
    outputs, requests = host("lighteval.models.model_output"), host("lighteval.tasks.requests")
    metric = ours.corpus_metric("chrf", word_order=2, name="chrf++")
    assert isinstance(metric, utils.CorpusLevelMetric)
    samples = [
        metric.compute_sample(
            doc=requests.Doc(query="", choices=two, gold_index=[0, 1]),
            model_response=outputs.ModelResponse(text=[hypothesis]),
        )["chrf++"]
        for hypothesis, two in zip(text.hypotheses, text.references, strict=True)
    ]
    aggregate = metric.get_corpus_aggregations()["chrf++"]
    expected = tb.CHRF(word_order=2).score(text.hypotheses, text.references).value
    assert aggregate(samples) == expected

    loggers = host("lighteval.logging.info_loggers")
    log = loggers.MetricsLogger(metrics_values={"task": {"chrf++": samples}})
    log.aggregate({"task": SimpleNamespace(aggregation=metric.get_corpus_aggregations)}, 20)
    assert log.metric_aggregated["task"]["chrf++"] == expected
    assert 0 < log.metric_aggregated["task"]["chrf++_stderr"] < 10


def test_what_other_processes_cannot_be_given_is_refused_before_any_sample():
    with pytest.raises(ValueError, match="cannot be pickled"):
        ours.corpus_metric("bleu", tokenize=lambda text: text.split())
