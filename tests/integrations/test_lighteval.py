"""lighteval: its metric and logger use our score, and invalid metrics raise early errors."""

from types import SimpleNamespace

import pytest
from integration_programs import import_or_skip

import truebleu as tb
from truebleu.integrations import lighteval as ours

pytestmark = pytest.mark.filterwarnings("ignore")


def test_several_predictions_raise_error():
    with pytest.raises(tb.InputError, match="document 0: expected one prediction, found 2"):
        ours.CorpusScorer(tb.BLEU())([SimpleNamespace(golds=["a"], preds=["a", "b"])])


def test_metric_in_lighteval(text):
    import_or_skip("lighteval")
    utils = import_or_skip("lighteval.metrics.utils.metric_utils")
    outputs, requests = (
        import_or_skip("lighteval.models.model_output"),
        import_or_skip("lighteval.tasks.requests"),
    )
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

    loggers = import_or_skip("lighteval.logging.info_loggers")
    log = loggers.MetricsLogger(metrics_values={"task": {"chrf++": samples}})
    log.aggregate({"task": SimpleNamespace(aggregation=metric.get_corpus_aggregations)}, 20)
    assert log.metric_aggregated["task"]["chrf++"] == expected
    assert 0 < log.metric_aggregated["task"]["chrf++_stderr"] < 10


def test_unpicklable_metric_raises_error():
    with pytest.raises(ValueError, match="cannot pickle the metric"):
        ours.corpus_metric("bleu", tokenize=lambda text: text.split())


def test_names_and_sources(text):
    import_or_skip("lighteval")
    requests, outputs = (
        import_or_skip("lighteval.tasks.requests"),
        import_or_skip("lighteval.models.model_output"),
    )
    metric = ours.corpus_metric("iBLEU", source="german", tokenize="none")
    assert (metric.metric_name, metric.higher_is_better) == ("trueibleu", True)
    assert not ours.corpus_metric("wer").higher_is_better
    document = requests.Doc(
        query="Translate: c", choices=["a b c d"], gold_index=0, specific={"german": "c d"}
    )
    response = outputs.ModelResponse(text=["a b c d"])
    sample = metric.compute_sample(doc=document, model_response=response)["trueibleu"]
    expected = tb.metric("ibleu", tokenize="none").score(["a b c d"], ["a b c d"], ["c d"]).value
    assert metric.get_corpus_aggregations()["trueibleu"]([sample]) == expected
    document.specific = None
    sample = metric.compute_sample(doc=document, model_response=response)["trueibleu"]
    with pytest.raises(tb.InputError, match="iBLEU needs the source of each segment"):
        metric.get_corpus_aggregations()["trueibleu"]([sample])
