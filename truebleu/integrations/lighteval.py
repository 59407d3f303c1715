"""lighteval: corpus metrics for tasks of one's own.

    from lighteval.tasks.lighteval_task import LightevalTaskConfig
    from truebleu.integrations.lighteval import corpus_metric

    task = LightevalTaskConfig(
        name="my_translation",
        metrics=[corpus_metric("bleu"), corpus_metric("chrf", word_order=2)],
        …,
    )

All gold answers of a document are its references; its query is the source, for the metrics that
read it. Run with lighteval 0.13.0; before 0.10 metrics had another constructor.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

from truebleu._kernel import InputError
from truebleu.integrations import metric_of, name_of, needed, score
from truebleu.metrics.base import Metric


def corpus_metric(
    metric: Metric | str | None = None,
    *,
    name: str | None = None,
    source: str | None = None,
    **parameters: Any,
) -> Any:
    """A CorpusLevelMetric.

    metric: a metric, or a name, as `truebleu.metric` takes it; BLEU by default.
    name: what results call it: "true" and the metric's name by default, as "truechrf++".
    source: where a document's `specific` has its source; the query by default.
    parameters: of the metric.
    """
    made = metric_of(metric, parameters)
    try:
        pickle.dumps(made)
    except (AttributeError, TypeError, pickle.PicklingError) as error:  # rather now than at the end
        raise ValueError(
            f"{made!r}: lighteval hands a metric to other processes, for its standard error, and "
            f"this one cannot be pickled: {error}"
        ) from None
    with needed("lighteval", "truebleu.integrations.lighteval"):
        from lighteval.metrics.sample_preparator import GenerativePreparator
        from lighteval.metrics.utils.metric_utils import CorpusLevelMetric
        from lighteval.tasks.requests import SamplingMethod

    class Preparator(GenerativePreparator):  # type: ignore[misc]
        def prepare(self, doc: Any, model_response: Any, **options: Any) -> Any:
            prepared = super().prepare(doc, model_response, **options)
            prepared.source = doc.query if source is None else (doc.specific or {}).get(source)
            return prepared

    return CorpusLevelMetric(
        metric_name=name or f"true{name_of(metric, made)}",
        higher_is_better=not made.lower_is_better,
        category=SamplingMethod.GENERATIVE,
        sample_level_fn=Preparator(),
        corpus_level_fn=Computation(made),
    )


class Computation:
    """The score of a corpus, as a function.

    lighteval's standard error is of many resampled corpora: it asks for the function's name, and
    pickles it for other processes.
    """

    __name__ = "corpus_score"

    def __init__(self, metric: Metric[Any]) -> None:
        self.metric = metric

    def __call__(self, items: Sequence[Any]) -> float:
        """The score of items: `golds`, the references; `preds`, of which there is one; `source`."""
        hypotheses, references = [], []
        for number, item in enumerate(items):
            predictions = [item.preds] if isinstance(item.preds, str) else list(item.preds)
            if len(predictions) != 1:
                raise InputError(
                    f"document {number}: expected one prediction, not {len(predictions)}; ask for "
                    "one sample per document"
                )
            hypotheses += predictions
            references.append(item.golds if isinstance(item.golds, str) else list(item.golds))
        sources = [getattr(item, "source", None) for item in items]
        return float(score(self.metric, hypotheses, references, sources))
