"""lm-evaluation-harness: corpus metrics with new names, for use in YAML tasks.

The harness imports utils.py only if the YAML contains a `!function`. Its built-in metrics do not
change. Tested with lm-eval 0.4.13; registration was also tested with 0.4.3, where the registry is
a plain dictionary. Development versions with MetricSpec use the same decorators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from truebleu._kernel import InputError
from truebleu.integrations import require_package, resolve_metric, score_corpus
from truebleu.metrics.base import Metric
from truebleu.metrics.registry import METRICS

_registered_metrics: dict[str, Metric] = {}


def register(
    name: str | None = None, metric: Metric | str | None = None, **parameters: Any
) -> None:
    """Register a metric with the harness. Without a name, register all metrics as "true…".

    name: the name in tasks. It must be new, or already registered for the same metric.
    metric: a metric, or a name that `truebleu.metric` accepts (default: BLEU).
    parameters: parameters of the metric.
    """
    if name is None:
        if metric is not None or parameters:
            raise TypeError("register: a metric with parameters needs a name")
        for metric_name in METRICS:
            register(f"true{metric_name}", metric_name)
        return
    resolved_metric = resolve_metric(metric, parameters)
    if name in _registered_metrics:
        if _registered_metrics[name] != resolved_metric:
            raise ValueError(
                f"register: {name!r} is already registered as {_registered_metrics[name]!r}. Use a "
                "new name."
            )
        return
    with require_package("lm-eval", "truebleu.integrations.lm_eval"):
        from lm_eval.api import metrics, registry  # noqa: F401  # registers its metrics
    if name in registry.METRIC_REGISTRY or name in registry.AGGREGATION_REGISTRY:
        raise ValueError(f"register: {name!r} is a metric of the harness. Use a new name.")
    registry.register_aggregation(name)(aggregation(resolved_metric))
    registry.register_metric(
        metric=name,
        higher_is_better=not resolved_metric.lower_is_better,
        output_type="generate_until",
        aggregation=name,
    )(_return_unchanged)
    _registered_metrics[name] = resolved_metric


def item(
    references: str | Sequence[str], prediction: str, source: str | None = None
) -> tuple[Any, str, str | None]:
    """Return the value of a truebleu metric for a document, for use in `process_results`.

    source: the source text, for metrics that read sources.
    """
    targets = tuple(references) if isinstance(references, list) else references
    return (targets, prediction, source)


def aggregation(metric: Metric | str | None = None, **parameters: Any) -> Callable[..., float]:
    """Return a function that scores a list of items, for `aggregation: !function utils.…` in YAML.

    Items are results of `item`, or pairs of references (one or more) and a prediction.

    >>> aggregation("chrf")([("a cat on the mat", "a cat on the mat")])
    100.0
    """
    resolved_metric = resolve_metric(metric, parameters)

    def score_items(items: Iterable[Any]) -> float:
        pairs = list(items)
        for number, pair in enumerate(pairs):
            if not isinstance(pair, list | tuple) or len(pair) not in (2, 3):
                raise InputError(
                    f"document {number}: expected a pair of references and prediction, found "
                    f"{pair!r:.60}. For documents with several targets, the harness passes only "
                    "whether any target matched. Return the pair from the task's process_results "
                    "(truebleu.integrations.lm_eval.item)."
                )
        items_with_sources = [(*pair, None)[:3] for pair in pairs]
        references, predictions, sources = (
            zip(*items_with_sources, strict=True) if items_with_sources else ((), (), ())
        )
        return float(score_corpus(resolved_metric, predictions, references, sources))

    score_items.__name__ = resolved_metric.NAME.lower()
    return score_items


def _return_unchanged(items: Any) -> Any:
    """Return the items unchanged: the harness collects them for the aggregation."""
    return items
