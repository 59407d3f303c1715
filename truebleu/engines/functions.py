"""Shared by all engines: functions of any metric of the registry, and short names for three."""

from __future__ import annotations

import re

from truebleu.metrics import registry
from truebleu.metrics.accumulator import checked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, ParamSpec, TypeVar

    from truebleu.engines.sums import Sums
    from truebleu.metrics.table_metric import TableMetric

    P = ParamSpec("P")
    R = TypeVar("R")

# The metrics that have functions of their own.
NAMED = ("bleu", "chrf", "ter")

# Options of `stats` that a single score has no use for.
OF_SUMS = ("metrics", "bucket")


def release(version: str) -> tuple[int, ...]:
    """The first two parts of an engine's version, to compare."""
    return tuple(map(int, re.findall(r"\d+", version)[:2]))


def named(function: Callable[P, R], metric: str) -> Callable[P, R]:
    """`function` with this metric: `corpus_bleu` of `corpus_score`."""
    import inspect

    def of_metric(*given: P.args, **options: P.kwargs) -> R:
        return function(*given, metric=metric, **options)  # type: ignore[arg-type]

    name = function.__name__.replace("score", metric)
    of_metric.__name__ = of_metric.__qualname__ = name
    of_metric.__module__ = function.__module__
    of_metric.__doc__ = (
        f'`{function.__name__}` with metric="{metric}"; `parameters` are those of '
        f"`truebleu.{registry.class_of(metric).__name__}`."
    )
    signature = inspect.signature(function)
    kept = [own for own in signature.parameters.values() if own.name != "metric"]
    of_metric.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
    return of_metric


def of_rows(metric: Any, **parameters: Any) -> TableMetric[Any]:
    """The metric, if it scores each row by itself; otherwise an error says why not."""
    known: Any = registry.metric(metric, **parameters)
    return checked(known) if known.NEEDS_SOURCE or known.NOT_ADDITIVE else known


def known_segments(metric: TableMetric[Any], known: Any, columns: Sequence[Any]) -> Any:
    """The scores of the rows that are known to have a hypothesis and a reference, without others.

    known: a mask, and columns: of hypotheses, and one or several of references, which it filters.
    """
    hyp, *refs = (column.filter(known) for column in columns)
    if not len(hyp):
        return []
    return metric.segments(hyp, refs[0] if len(refs) == 1 else refs)


def summed(
    stats: Callable[..., Sums], data: Any, hyp: str, ref: Any, metric: Any, options: dict[str, Any]
) -> Sums:
    """The sums of all rows by one metric, found to have a score.

    options: those of `stats`, and parameters of the metric.
    """
    known = [name for name in stats.__kwdefaults__ or () if name not in OF_SUMS]
    own = {name: options.pop(name) for name in known if name in options}
    sums = stats(data, hyp, ref, metrics=registry.metric(metric, **options), **own)
    sums.check()
    sums.warn()
    return sums


def corpus(*arguments: Any) -> Any:
    """The score of all rows, or with `by` of each group by its key; arguments as for `summed`."""
    sums = summed(*arguments)
    return sums.scores() if sums.by else sums.score()
