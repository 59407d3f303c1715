"""lm-evaluation-harness: corpus metrics under names of our own, which YAML tasks can use.

    # utils.py, beside the task's YAML
    from truebleu.integrations.lm_eval import item, register

    register()                                     # "truebleu", "truechrf++", "truerouge-l" …
    register("truebleu_zh", "bleu", tokenize="zh")

    def process_results(doc, results):             # for several references, or with a source
        return {"truebleu": item(doc["references"], results[0])}

    # the task's YAML
    process_results: !function utils.process_results
    metric_list:
      - metric: truebleu
        aggregation: truebleu
        higher_is_better: true

The harness reads utils.py only for some `!function` of the YAML. Its own names stay what they are.
Run with lm-eval 0.4.13; registered in 0.4.3, whose registry is plain dictionaries. A branch's, with
MetricSpec, was read: the same decorators fill it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from truebleu._kernel import InputError
from truebleu.integrations import metric_of, needed
from truebleu.integrations import score as score_of
from truebleu.metrics.base import Metric
from truebleu.metrics.registry import METRICS

_REGISTERED: dict[str, Metric] = {}


def register(
    name: str | None = None, metric: Metric | str | None = None, **parameters: Any
) -> None:
    """Makes a metric known to the harness; without a name, each of the registry as "true…".

    name: how tasks call it. It must be a new one, or already this metric's.
    metric: a metric, or a name, as `truebleu.metric` takes it; BLEU by default.
    parameters: of the metric.
    """
    if name is None:
        if metric is not None or parameters:
            raise TypeError("register: a metric of your own needs a name of its own")
        for known in METRICS:
            register(f"true{known}", known)
        return
    made = metric_of(metric, parameters)
    if name in _REGISTERED:
        if _REGISTERED[name] != made:
            raise ValueError(
                f"register: {name!r} is {_REGISTERED[name]!r} already; take a new name"
            )
        return
    with needed("lm-eval", "truebleu.integrations.lm_eval"):
        from lm_eval.api import metrics, registry  # noqa: F401  # its own metrics, first
    if name in registry.METRIC_REGISTRY or name in registry.AGGREGATION_REGISTRY:
        raise ValueError(f"register: {name!r} is another metric's name; take a new one")
    registry.register_aggregation(name)(aggregation(made))
    registry.register_metric(
        metric=name,
        higher_is_better=not made.lower_is_better,
        output_type="generate_until",
        aggregation=name,
    )(_as_it_is)
    _REGISTERED[name] = made


def item(
    references: str | Sequence[str], prediction: str, source: str | None = None
) -> tuple[Any, str, str | None]:
    """The result of a document's `process_results` for one of these metrics.

    source: for the metrics that read it.
    """
    known = references if isinstance(references, str) else tuple(references)
    return (known, prediction, source)


def aggregation(metric: Metric | str | None = None, **parameters: Any) -> Callable[..., float]:
    """The score of items, as a function: for YAML's `aggregation: !function utils.…`.

    An item is what `item` gives, or a pair: a reference, or several, and the prediction.

    >>> aggregation("chrf")([("a cat on the mat", "a cat on the mat")])
    100.0
    """
    made = metric_of(metric, parameters)

    def score(items: Iterable[Any]) -> float:
        pairs = list(items)
        for number, pair in enumerate(pairs):
            if not isinstance(pair, list | tuple) or len(pair) not in (2, 3):
                raise InputError(
                    f"document {number}: expected a pair of references and prediction, not "
                    f"{pair!r:.60}. Of documents with several targets the harness keeps only "
                    "whether any was right; give the pair yourself, in the task's process_results "
                    "(truebleu.integrations.lm_eval.item)"
                )
        whole = [(*pair, None)[:3] for pair in pairs]
        references, predictions, sources = zip(*whole, strict=True) if whole else ((), (), ())
        return float(score_of(made, predictions, references, sources))

    score.__name__ = made.NAME.lower()
    return score


def _as_it_is(items: Any) -> Any:
    """The harness gives a document's reference and prediction, and aggregates what it gets."""
    return items
