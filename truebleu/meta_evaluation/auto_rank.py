"""AutoRank: the automatic ranking of WMT's general translation task."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum, isfinite
from statistics import median, quantiles


def autorank(scores: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the AutoRank of each system from its mean scores under several metrics.

    For each metric, z = (score - median) / (maximum - 25th percentile) over the systems. The mean
    of z over the metrics is mapped linearly, so that the best system has rank 1 and the worst has
    the number of systems (Tom Kocmi et al. 2025: Preliminary ranking of WMT25 general machine
    translation systems).

    scores: the mean score of each metric, by system; higher scores are better. A metric whose
        maximum equals its 25th percentile has z = 0.

    Raises ValueError unless all systems have finite scores of the same metrics.

    >>> autorank({"A": {"chrF": 60.0}, "B": {"chrF": 50.0}, "C": {"chrF": 40.0}})
    {'A': 1.0, 'B': 2.0, 'C': 3.0}
    """
    if not isinstance(scores, Mapping) or not all(isinstance(o, Mapping) for o in scores.values()):
        raise TypeError("scores: expected a mapping from systems to scores by metric")
    metrics = list(next(iter(scores.values()), ()))
    if not metrics:
        raise ValueError("scores: expected at least one system and one metric")
    for system, values in scores.items():
        differing = [name for name in metrics if name not in values] or sorted(
            values.keys() - metrics
        )
        if differing:
            raise ValueError(
                f"scores: {system}: expected the metrics {', '.join(metrics)}, as for the other "
                f"systems, found a difference in {differing[0]}"
            )
        if not all(hasattr(one, "__float__") and isfinite(one) for one in values.values()):
            raise ValueError(f"scores: {system}: expected finite numbers, found {values}")
    z_scores = []
    for name in metrics:
        column = [float(values[name]) for values in scores.values()]
        quartile = quantiles(column, method="inclusive")[0] if len(column) > 1 else column[0]
        middle, spread = median(column), max(column) - quartile
        z_scores.append([(value - middle) / spread if spread else 0.0 for value in column])
    means = [fsum(values) / len(metrics) for values in zip(*z_scores, strict=True)]
    best, worst = max(means), min(means)
    factor = (len(means) - 1) / (best - worst) if best > worst else 0.0
    return {name: 1 + (best - mean) * factor for name, mean in zip(scores, means, strict=True)}
