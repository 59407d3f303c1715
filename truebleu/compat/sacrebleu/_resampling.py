"""Resampled corpora and their scores, with sacreBLEU's random numbers and roundings.

The kernel resamples what it counted. Metrics that count or score in Python are resampled in Python,
on the same random numbers; they get NumPy's arrays, as they do from sacreBLEU, if NumPy is there.
"""

from __future__ import annotations

from truebleu._kernel import Stream
from truebleu.significance import sacrebleu as kernel

from .metrics.engine import Counts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    Rows = Sequence[Sequence[float]] | Counts

# sacreBLEU's seed, unless the environment has another in SACREBLEU_SEED.
_SEED = "12345"


def environment_seed() -> tuple[str, int | None]:
    """The seed as it is printed and as it is used; None for draws that cannot be repeated."""
    import os

    printed = os.environ.get("SACREBLEU_SEED", _SEED).lower()
    if printed == "none":
        return printed, None
    try:
        seed = int(printed)
    except ValueError:
        seed = -1
    if seed < 0:
        raise ValueError(
            f"SACREBLEU_SEED is {printed!r}; expected an integer, 0 or more, or 'none'"
        )
    return printed, seed


def add_interval(score: Any, stats: Rows, metric: Any, resamples: int) -> str:
    """Gives a score its mean and its 95% interval, and returns the seed as it is printed."""
    found = _in_kernel(metric, [stats])
    if found is None:
        printed, scores = _bootstrap_resample(stats, metric, resamples)
        score.estimate_ci(scores)
    else:
        printed, seed = environment_seed()
        scorer, [table] = found
        result = kernel.confidence(scorer, table, resamples=resamples, seed=seed)
        score._mean, score._ci = result.mean, result.ci
    return printed


def _bootstrap_resample(stats: Rows, metric: Any, n_samples: int = 1000) -> tuple[str, list[Any]]:
    """The seed, and the scores of resampled corpora."""
    printed, seed = environment_seed()
    return printed, list(_resampled(metric, stats, n_samples, Stream(seed)))


def bootstrapped(
    metric: Any, stats: Sequence[Rows], scores: Sequence[float], resamples: int, seed: int | None
) -> list[kernel.Result]:
    """The results of a paired bootstrap for all systems; the first is the baseline."""
    found = _in_kernel(metric, stats)
    if found is not None:
        return kernel.paired_bs(*found, resamples=resamples, seed=seed, scores=scores)
    seed = _shared(seed)
    resampled = [_values(_resampled(metric, rows, resamples, Stream(seed))) for rows in stats]
    return kernel.bs_results(scores, resampled)


def randomized(
    metric: Any,
    stats: Sequence[Rows],
    scores: Sequence[float],
    trials: int,
    resamples: int,
    seed: int | None,
) -> list[kernel.Result]:
    """The results of approximate randomization for the systems behind the first, the baseline.

    resamples: for means and intervals; none if not above 0.
    """
    found = _in_kernel(metric, stats)
    if found is not None:
        scorer, tables = found
        return kernel.paired_ar(
            scorer, tables, trials=trials, confidence=resamples, seed=seed, scores=scores
        )[1:]
    seed = _shared(seed)
    array = _arrays()
    baseline, *systems = map(_rows, stats)
    results = []
    for rows, score in zip(systems, scores[1:], strict=True):
        stream = Stream(seed)
        apart = []
        for sums in kernel.randomized_sums(baseline, rows, trials=trials, stream=stream):
            one, other = (metric._aggregate_and_compute(array([side])).score for side in sums)
            apart.append(abs(one - other))
        result = kernel.Result(score, _compute_p_value(apart, abs(scores[0] - score)))
        if resamples > 0:
            resampled = _values(_resampled(metric, rows, resamples, stream))
            result.mean, result.ci = resampled.estimate()
        results.append(result)
    return results


def _compute_p_value(stats: Iterable[float], real_difference: float) -> float:
    """The share of differences above the real one.

    One is added to both numbers: the real one is a trial too, and p is never 0.
    """
    larger = [bool(difference > real_difference) for difference in stats]
    return (sum(larger) + 1) / (len(larger) + 1)


def _resampled(metric: Any, stats: Rows, number: int, stream: Stream) -> Iterator[Any]:
    """The scores of resampled corpora, from statistics that were added in single precision."""
    array = _arrays()
    for sums in kernel.resampled_sums(_rows(stats), resamples=number, stream=stream):
        yield metric._compute_score_from_stats(array(sums, "float32"))


def _values(scores: Iterable[Any]) -> kernel.Resampled:
    return kernel.Resampled.of([score.score for score in scores])


def _in_kernel(metric: Any, stats: Sequence[Rows]) -> tuple[Any, list[Any]] | None:
    """The kernel's metric and tables for these statistics; None where only Python can score."""
    scorer = metric._engine(scores=True)
    if scorer is None:
        return None
    tables = [scorer.table(rows) for rows in stats]
    return None if any(table is None for table in tables) else (scorer.metric, tables)


def _rows(stats: Rows) -> Sequence[Sequence[float]]:
    return stats.rows() if isinstance(stats, Counts) else stats


def _shared(seed: int | None) -> int:
    """A seed that systems can share."""
    import secrets

    return secrets.randbits(128) if seed is None else seed


def _arrays() -> Callable[..., Any]:
    """A function that makes arrays as sacreBLEU gives them to metrics; lists without NumPy."""
    try:
        import numpy as np
    except ImportError:
        return lambda rows, _="": rows
    return np.array
