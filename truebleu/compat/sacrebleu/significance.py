"""Confidence intervals and paired tests, with sacreBLEU's random numbers and its roundings.

The kernel resamples what it counted. Metrics that count or score in Python are resampled in Python,
on the same random numbers; they get NumPy's arrays, as they do from sacreBLEU, if NumPy is there.
"""

from __future__ import annotations

from truebleu import significance_sacrebleu as kernel

from ._messages import logger
from .metrics.engine import Counts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from .metrics.base import Metric, Score, Signature

    Rows = Sequence[Sequence[float]] | Counts
    References = Sequence[Sequence[str]] | None
    Baseline = Mapping[str, tuple[Rows, "Result"]]

# sacreBLEU's seed, unless the environment has another in SACREBLEU_SEED.
_SEED = "12345"


class Result:
    """What a test found for one system and one metric; None where it says nothing."""

    def __init__(
        self,
        score: float,
        p_value: float | None = None,
        mean: float | None = None,
        ci: float | None = None,
    ) -> None:
        self.score = score
        self.p_value = p_value
        self.mean = mean
        self.ci = ci

    def __repr__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in vars(self).items())


def estimate_ci(scores: Any) -> tuple[float, float]:
    """The mean of resampled scores, and half the width of their 95% interval."""
    if not hasattr(scores, "dtype"):
        return kernel.estimate_ci(scores)
    import numpy as np

    ordered = np.sort(scores)
    cut = len(ordered) // 40
    return ordered.mean(), 0.5 * (ordered[-1 - cut] - ordered[cut])


def _compute_p_value(stats: Iterable[float], real_difference: float) -> float:
    """How often chance gives more than the real difference.

    One is added to both numbers: the real one is a trial too, and p is never 0.
    """
    larger = [bool(difference > real_difference) for difference in stats]
    return (sum(larger) + 1) / (len(larger) + 1)


def _bootstrap_resample(
    stats: Rows, metric: Metric, n_samples: int = 1000
) -> tuple[str, list[Score]]:
    """The seed, and the scores of resampled corpora."""
    printed, seed = _seed()
    return printed, list(_resampled(stats, metric, n_samples, seed))


def _paired_ar_test(
    baseline_info: Baseline,
    sys_name: str,
    hypotheses: Sequence[str],
    references: References,
    metrics: Mapping[str, Metric],
    n_samples: int = 10000,
    n_ar_confidence: int = -1,
    seed: int | None = None,
) -> tuple[str, dict[str, Result]]:
    """Approximate randomization: the systems exchange segments at random, trial by trial.

    baseline_info: for each metric the baseline's statistics and result.
    n_ar_confidence: resamples for a mean and an interval; none if it is not above 0.
    Gives the name of the system, and a result for each metric.
    """
    arguments = (baseline_info, sys_name, hypotheses, references, metrics)
    return sys_name, _tested("ar", *arguments, n_samples, n_ar_confidence, seed)


def _paired_bs_test(
    baseline_info: Baseline,
    sys_name: str,
    hypotheses: Sequence[str],
    references: References,
    metrics: Mapping[str, Metric],
    n_samples: int = 1000,
    n_ar_confidence: int = -1,
    seed: int | None = None,
) -> tuple[str, dict[str, Result]]:
    """Paired bootstrap: the same segments are drawn for both systems, resample by resample.

    baseline_info: for each metric the baseline's statistics and result.
    n_ar_confidence: of no meaning here.
    Gives the name of the system, and a result for each metric.
    """
    arguments = (baseline_info, sys_name, hypotheses, references, metrics)
    return sys_name, _tested("bs", *arguments, n_samples, n_ar_confidence, seed)


class PairedTest:
    """Several systems against the first.

    named_systems: pairs of a name and hypotheses; the first is the baseline.
    metrics: by any names; scores come under the names that scores have.
    references: streams, or None for those that the metrics were made with.
    test_type: "ar" for approximate randomization, "bs" for paired bootstrap.
    n_samples: trials or resamples; 0 for 10,000 of "ar" and 1,000 of "bs".
    n_ar_confidence: resamples for intervals beside "ar"; 0 for 1,000, none if negative.
    n_jobs: taken, and not needed: one process does it sooner than several could start.

    Called, it gives each score's signature, and the names under "System" and a list of `Result`
    under the name of each score.
    """

    _DEFAULT_SAMPLES = {"ar": 10000, "bs": 1000}  # noqa: RUF012 (programs read it)

    def __init__(
        self,
        named_systems: Sequence[tuple[str, Sequence[str]]],
        metrics: Mapping[str, Metric],
        references: References,
        test_type: str = "ar",
        n_samples: int = 0,
        n_ar_confidence: int = -1,
        n_jobs: int = 1,
    ) -> None:
        assert test_type in self._DEFAULT_SAMPLES, f"Unknown test type {test_type!r}"
        self.test_type = test_type
        self._seed = _seed()[1]
        self.n_jobs = n_jobs
        self.references = references
        self.named_systems = named_systems
        default = self._DEFAULT_SAMPLES
        self.n_ar_confidence = default["bs"] if n_ar_confidence == 0 else n_ar_confidence
        self.n_samples = n_samples if n_samples > 0 else default[test_type]
        self.n_systems = len(named_systems) - 1
        self._signatures: dict[str, Signature] = {}
        self._baseline_info: dict[str, tuple[Rows, Result]] = {}
        self.metrics: dict[str, Metric] = {}
        resamples = self.n_samples if test_type == "bs" else self.n_ar_confidence
        name, hypotheses = named_systems[0]
        for metric_name, metric in metrics.items():
            logger().info("Pre-computing %s statistics for %r", metric_name, name)
            stats, score = _counted(metric, hypotheses, references)
            result = Result(score.score)
            if resamples > 0:
                [result] = _bootstrap(metric, [stats], [score.score], resamples, self._seed)
            self._baseline_info[score.name] = (stats, result)
            self.metrics[score.name] = metric
            self._signatures[score.name] = self._signature(metric)

    def _signature(self, metric: Metric) -> Signature:
        signature = metric.get_signature()
        signature.update("seed", str(self._seed).lower())
        signature.update(self.test_type, self.n_samples)
        if self.n_ar_confidence > 0:
            signature.update("bs", self.n_ar_confidence)
        return signature

    def __call__(self) -> tuple[dict[str, Signature], dict[str, list[Any]]]:
        """Tests every system against the first."""
        scores: dict[str, list[Any]] = {"System": [name for name, _ in self.named_systems]}
        systems: dict[str, list[tuple[Rows, float]]] = {name: [] for name in self.metrics}
        for system, hypotheses in self.named_systems[1:]:
            for name, metric in self.metrics.items():
                stats, score = _announced(name, metric, system, hypotheses, self.references)
                _announce(self.test_type, self.n_samples, self.n_ar_confidence)
                systems[name].append((stats, score.score))
        for name, metric in self.metrics.items():
            stats, baseline = self._baseline_info[name]
            found = _compared(
                self.test_type,
                metric,
                [stats, *(stats for stats, _ in systems[name])],
                [baseline.score, *(score for _, score in systems[name])],
                self.n_samples,
                self.n_ar_confidence,
                self._seed,
            )
            scores[name] = [baseline, *found]
        return self._signatures, scores


def confidence(stats: Rows, metric: Metric, number: int) -> tuple[str, float, float] | None:
    """The seed, mean and half width that `Score.estimate_ci` finds for resampled corpora.

    None where only Python can score.
    """
    found = _tables(metric, [stats])
    if found is None:
        return None
    printed, seed = _seed()
    metric_in_kernel, [table] = found
    estimate = kernel.confidence(metric_in_kernel, table, resamples=number, seed=seed)
    return printed, estimate.mean, estimate.ci


def _seed() -> tuple[str, int | None]:
    """The seed as it is printed and as it is used; None for numbers that nobody can repeat."""
    import os

    seed = os.environ.get("SACREBLEU_SEED", _SEED).lower()
    return seed, None if seed == "none" else int(seed)


def _counted(metric: Metric, hypotheses: Sequence[str], references: References) -> tuple[Rows, Any]:
    """The statistics of a system, and its score."""
    counts = metric._count(hypotheses, references)
    if counts is not None and not metric._aggregates_itself():
        return counts, metric._compute_score_from_stats(counts.total())
    stats = metric._extract_corpus_statistics(hypotheses, references)
    return stats, metric._aggregate_and_compute(stats)


def _announced(
    name: str, metric: Metric, system: str, hypotheses: Sequence[str], references: References
) -> tuple[Rows, Any]:
    """`_counted`, which may take a while."""
    logger().info("Computing %s for %r and extracting sufficient statistics", name, system)
    return _counted(metric, hypotheses, references)


def _announce(test: str, samples: int, resamples: int) -> None:
    if test == "bs":
        logger().info(" > Performing paired bootstrap resampling test (# resamples: %d)", samples)
        return
    logger().info(" > Performing approximate randomization test (# trials: %d)", samples)
    if resamples > 0:
        logger().info(
            " > Performing bootstrap resampling for confidence interval (# resamples: %d)",
            resamples,
        )


def _tested(
    test: str,
    baseline_info: Baseline,
    system: str,
    hypotheses: Sequence[str],
    references: References,
    metrics: Mapping[str, Metric],
    samples: int,
    resamples: int,
    seed: int | None,
) -> dict[str, Result]:
    """One system against the baseline, with each metric."""
    results = {}
    for name, metric in metrics.items():
        stats, score = _announced(name, metric, system, hypotheses, references)
        _announce(test, samples, resamples)
        baseline_stats, baseline = baseline_info[name]
        values = [baseline.score, score.score]
        [results[name]] = _compared(
            test, metric, [baseline_stats, stats], values, samples, resamples, seed
        )
    return results


def _compared(
    test: str,
    metric: Metric,
    stats: Sequence[Rows],
    scores: Sequence[float],
    samples: int,
    resamples: int,
    seed: int | None,
) -> list[Result]:
    """The results of the systems behind the first, which is the baseline."""
    if test == "bs":
        return _bootstrap(metric, stats, scores, samples, seed)[1:]
    return _randomization(metric, stats, scores, samples, resamples, seed)


def _bootstrap(
    metric: Metric,
    stats: Sequence[Rows],
    scores: Sequence[float],
    resamples: int,
    seed: int | None,
) -> list[Result]:
    """The results of all systems, that of the first without a p-value."""
    found = _tables(metric, stats)
    if found is not None:
        tested = kernel.paired_bs(*found, resamples=resamples, seed=seed, scores=scores)
        return [Result(one.score, one.p_value, one.mean, one.ci) for one in tested]
    seed = _drawn(seed)
    results: list[Result] = []
    baseline: Sequence[float] = ()
    single = False
    for rows, score in zip(stats, scores, strict=True):
        values, narrow = _values(_resampled(rows, metric, resamples, seed))
        p_value = None
        if results:
            p_value = kernel.bs_p_value(
                values, baseline, abs(scores[0] - score), single=narrow and single
            )
        else:
            baseline, single = values, narrow
        results.append(Result(score, p_value, *kernel.estimate_ci(values, single=narrow)))
    return results


def _randomization(
    metric: Metric,
    stats: Sequence[Rows],
    scores: Sequence[float],
    trials: int,
    resamples: int,
    seed: int | None,
) -> list[Result]:
    """The results of the systems behind the first."""
    found = _tables(metric, stats)
    if found is not None:
        tested = kernel.paired_ar(
            *found, trials=trials, confidence=resamples, seed=seed, scores=scores
        )[1:]
        return [Result(one.score, one.p_value, one.mean, one.ci) for one in tested]
    seed = _drawn(seed)
    array = _arrays()
    baseline, *systems = map(_rows, stats)
    results = []
    for rows, score in zip(systems, scores[1:], strict=True):
        pairs = [
            [metric._aggregate_and_compute(array([side])).score for side in sides]
            for sides in kernel.randomized(baseline, rows, trials=trials, seed=seed)
        ]
        apart = (abs(one - other) for one, other in pairs)
        result = Result(score, _compute_p_value(apart, abs(scores[0] - score)))
        if resamples > 0:
            sums = _sums_after_trials(rows, trials, resamples, seed)
            made = (metric._compute_score_from_stats(array(row, "float32")) for row in sums)
            values, narrow = _values(made)
            result.mean, result.ci = kernel.estimate_ci(values, single=narrow)
        results.append(result)
    return results


def _sums_after_trials(
    rows: Sequence[Sequence[float]], trials: int, resamples: int, seed: int
) -> Iterator[list[float]]:
    """Resampled sums, of the random numbers behind those of the trials."""
    from truebleu._kernel import SingleStack, Stream

    stream = Stream(seed)
    for _ in range(trials):
        stream.bools(len(rows))
    yield from SingleStack.sums([list(map(float, row)) for row in rows], stream, resamples)


def _resampled(stats: Rows, metric: Metric, number: int, seed: int | None) -> Iterator[Score]:
    """The scores of resampled corpora, from statistics that were added in single precision."""
    array = _arrays()
    for sums in kernel.resampled(_rows(stats), resamples=number, seed=seed):
        yield metric._compute_score_from_stats(array(sums, "float32"))


def _values(scores: Iterable[Score]) -> tuple[list[float], bool]:
    """The values of scores, and whether NumPy would keep them in single precision."""
    values = [score.score for score in scores]
    single = all(str(getattr(value, "dtype", "")) == "float32" for value in values)
    return list(map(float, values)), single


def _tables(metric: Metric, stats: Sequence[Rows]) -> tuple[Any, list[Any]] | None:
    """The kernel's metric and tables for these statistics; None where only Python can score."""
    scorer = metric._scorer()
    if scorer is None:
        return None
    tables = [scorer.table(rows) for rows in stats]
    return None if any(table is None for table in tables) else (scorer.metric, tables)


def _rows(stats: Rows) -> Sequence[Sequence[float]]:
    return stats.rows() if isinstance(stats, Counts) else stats


def _drawn(seed: int | None) -> int:
    """A seed that systems can share."""
    import secrets

    return secrets.randbits(128) if seed is None else seed


def _arrays() -> Callable[..., Any]:
    """What makes arrays as sacreBLEU gives them to metrics; without NumPy, they stay lists."""
    try:
        import numpy as np
    except ImportError:
        return lambda rows, _="": rows
    return np.array
