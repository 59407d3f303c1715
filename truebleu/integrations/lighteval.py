"""lighteval: corpus metrics for tasks of one's own.

    from lighteval.tasks.lighteval_task import LightevalTaskConfig
    from truebleu.integrations.lighteval import corpus_metric

    task = LightevalTaskConfig(
        name="my_translation",
        metrics=[corpus_metric("bleu"), corpus_metric("chrf", word_order=2)],
        …,
    )

All gold answers of a document are its references. Run with lighteval 0.13.0, and with 0.9.2, whose
constructor differs (a stand-in for it is tested); 0.7.0 and 0.8.1 were read.
"""

from __future__ import annotations

import pickle

from truebleu._kernel import InputError
from truebleu.integrations import metric_of, needed, score

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from truebleu.metrics.base import Metric

USER = "truebleu.integrations.lighteval"


def corpus_metric(
    metric: Metric | str | None = None, *, name: str | None = None, **parameters: Any
) -> Any:
    """A CorpusLevelMetric.

    metric: a metric, or a name, as `truebleu.metric` takes it; BLEU by default.
    name: what results call it: "truebleu", "truechrf", "trueter" by default.
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
    utils = needed("lighteval.metrics.utils.metric_utils", "lighteval", USER)
    preparator = needed("lighteval.metrics.sample_preparator", "lighteval", USER)
    requests = needed("lighteval.tasks.requests", "lighteval", USER)
    prepared: Any = preparator.GenerativePreparator()
    if hasattr(requests, "SamplingMethod"):  # since 0.10
        about = {"category": requests.SamplingMethod.GENERATIVE, "sample_level_fn": prepared}
    else:
        about = {
            "category": utils.MetricCategory.GENERATIVE,
            "use_case": utils.MetricUseCase.TRANSLATION,
            "sample_level_fn": prepared.prepare,
        }
    return utils.CorpusLevelMetric(
        metric_name=name or f"true{made.NAME.lower()}",
        higher_is_better=not made.lower_is_better,
        corpus_level_fn=Computation(made),
        **about,
    )


class Computation:
    """The score of a corpus, as a function.

    lighteval's standard error is of many resampled corpora: it asks for the function's name, and
    pickles it for other processes.
    """

    __name__ = "corpus_score"

    def __init__(self, metric: Metric) -> None:
        self.metric = metric

    def __call__(self, items: Sequence[Any]) -> float:
        """The score of items: `golds`, the references, and `preds`, of which there is one."""
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
        return float(score(self.metric, hypotheses, references))
