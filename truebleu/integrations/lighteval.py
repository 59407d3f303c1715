"""lighteval: corpus metrics for user-defined tasks.

All gold answers of a document are its references; its query is the source, for metrics that read
sources. Tested with lighteval 0.13.0; before 0.10, metrics have a different constructor.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

from truebleu._kernel import InputError
from truebleu.integrations import get_metric_name, require_package, resolve_metric, score_corpus
from truebleu.metrics.base import Metric


def corpus_metric(
    metric: Metric | str | None = None,
    *,
    name: str | None = None,
    source: str | None = None,
    **parameters: Any,
) -> Any:
    """Create a CorpusLevelMetric.

    metric: a metric, or a name that `truebleu.metric` accepts (default: BLEU).
    name: the name in results (default: "true" and the metric name, for example "truechrf++").
    source: the key of the source in a document's `specific` (default: the document's query).
    parameters: parameters of the metric.
    """
    resolved_metric = resolve_metric(metric, parameters)
    try:
        pickle.dumps(resolved_metric)
    except (AttributeError, TypeError, pickle.PicklingError) as error:  # before evaluating
        raise ValueError(
            f"{resolved_metric!r}: cannot pickle the metric ({error}). To compute the standard "
            "error, lighteval sends the metric to other processes."
        ) from None
    with require_package("lighteval", "truebleu.integrations.lighteval"):
        from lighteval.metrics.sample_preparator import GenerativePreparator
        from lighteval.metrics.utils.metric_utils import CorpusLevelMetric
        from lighteval.tasks.requests import SamplingMethod

    class Preparator(GenerativePreparator):  # type: ignore[misc]
        def prepare(self, doc: Any, model_response: Any, **options: Any) -> Any:
            prepared = super().prepare(doc, model_response, **options)
            prepared.source = doc.query if source is None else (doc.specific or {}).get(source)
            return prepared

    return CorpusLevelMetric(
        metric_name=name or f"true{get_metric_name(metric, resolved_metric)}",
        higher_is_better=not resolved_metric.lower_is_better,
        category=SamplingMethod.GENERATIVE,
        sample_level_fn=Preparator(),
        corpus_level_fn=CorpusScorer(resolved_metric),
    )


class CorpusScorer:
    """Callable that returns a corpus score.

    lighteval computes the standard error from resampled corpora: it reads the callable's name, and
    pickles the callable for other processes.
    """

    __name__ = "corpus_score"

    def __init__(self, metric: Metric[Any]) -> None:
        self.metric = metric

    def __call__(self, items: Sequence[Any]) -> float:
        """Return the corpus score of items with `golds`, `preds` (one prediction) and `source`."""
        hypotheses, references = [], []
        for number, item in enumerate(items):
            predictions = [item.preds] if isinstance(item.preds, str) else list(item.preds)
            if len(predictions) != 1:
                raise InputError(
                    f"document {number}: expected one prediction, found {len(predictions)}. Set "
                    "one sample per document."
                )
            hypotheses += predictions
            references.append(item.golds if isinstance(item.golds, str) else list(item.golds))
        sources = [getattr(item, "source", None) for item in items]
        return float(score_corpus(self.metric, hypotheses, references, sources))
