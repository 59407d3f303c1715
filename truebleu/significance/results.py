"""Results of resampling: intervals, differences, their power, and the ranking of systems.

The score of a system with several runs (training seeds) is the mean over its runs. Two sources of
error are estimated separately and added (docs/significance.md gives the reasons):

segments    In each trial (or resample), all runs of both systems share the same segments. The
            difference is the mean over all pairs of a run of one system and a run of the other.
runs        The standard error from runs is s √(1/m + 1/n), for m and n runs with the standard
            deviation s between runs of a system. Each trial adds this error times a random value
            of Student's t distribution with m + n - 2 degrees of freedom.

The effect of runs on single segments is contained in s. It is subtracted from the first error,
where the bootstrap estimates its size. With one run each, nothing is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, fsum, sqrt
from typing import Any, Self

from truebleu.significance.resampled_metric import Measure
from truebleu.text import argument_checks
from truebleu.text.argument_checks import Record


class Runs(Record):
    """Scores of one system's runs for one measure."""

    scores: tuple[float, ...]
    deviation: float
    """The standard deviation between runs."""
    error: float
    """The standard error of the mean score, estimated by resampling the test set."""


class Noise(Record):
    """Standard errors of a mean over runs, or of the difference between two such means."""

    run_error: float
    """The standard error due to the choice of runs."""
    degrees_of_freedom: int
    """The degrees of freedom of `run_error`: number of runs minus number of systems."""
    test_set_error: float
    """The standard error due to the test set, excluding the variance of runs within segments."""
    test_set_share: float
    """`test_set_error` as a share of the standard deviation of the resampled values."""

    @property
    def error(self) -> float:
        """The total standard error."""
        return sqrt(self.run_error**2 + self.test_set_error**2)

    def add_run_noise(
        self, values: Sequence[float], centre: float, seed: int | None
    ) -> list[float]:
        """Return the resampled values plus noise that represents the variance between runs."""
        draws = draw_student_t(self.degrees_of_freedom, len(values), seed)
        return [
            centre + self.test_set_share * (value - centre) + self.run_error * draw
            for value, draw in zip(values, draws, strict=True)
        ]


def estimate_noise(
    systems: Sequence[tuple[Sequence[float], Sequence[Sequence[float]]]], values: Sequence[float]
) -> Noise | None:
    """Return the noise of a mean or a difference, or None if each system has only one run.

    systems: the scores and the resampled scores of each system's runs.
    values: the resampled mean, or the resampled differences between the two means.
    """
    degrees_of_freedom = sum(len(scores) - 1 for scores, _ in systems)
    if not degrees_of_freedom:
        return None
    squares = fsum(len(scores) * compute_variance(scores, 0) for scores, _ in systems)
    variance_between = squares / degrees_of_freedom
    # The variance, over resamples, of a system's runs relative to their mean.
    variance_within = 0.0
    for _, resampled in systems:
        means = [fsum(column) / len(resampled) for column in zip(*resampled, strict=True)]
        for run_scores in resampled:
            gaps = [a - b for a, b in zip(run_scores, means, strict=True)]
            variance_within += compute_variance(gaps, 1)
    inverse_run_count = sum(1 / len(scores) for scores, _ in systems)
    total_variance = compute_variance(values, 1)
    remaining_variance = max(
        0.0, total_variance - variance_within / degrees_of_freedom * inverse_run_count
    )
    return Noise(
        run_error=sqrt(variance_between * inverse_run_count),
        degrees_of_freedom=degrees_of_freedom,
        test_set_error=sqrt(remaining_variance),
        test_set_share=sqrt(remaining_variance / total_variance) if total_variance else 1.0,
    )


def compute_variance(values: Sequence[float], ddof: int) -> float:
    """Return the variance, with the number of values minus `ddof` as divisor."""
    if len(values) <= ddof:
        return 0.0
    mean = fsum(values) / len(values)
    return fsum((value - mean) ** 2 for value in values) / (len(values) - ddof)


def draw_student_t(degrees_of_freedom: int, count: int, seed: int | None) -> list[float]:
    """Return random values from Student's t distribution; `seed` determines them."""
    from random import Random

    generator = Random(seed)
    return [
        generator.gauss(0, 1)
        / sqrt(generator.gammavariate(degrees_of_freedom / 2, 2) / degrees_of_freedom)
        for _ in range(count)
    ]


# Default significance level, and default power (probability of detecting a true difference).
ALPHA, POWER = 0.05, 0.8
# `compute_detectable_effect(ALPHA, POWER)`, stored because importing `statistics` is slow.
DEFAULT_DETECTABLE_EFFECT = 2.801585218112968

CAUTIONS = {
    "ar": "p is the probability of a difference this large if it made no difference which "
    "of the two systems wrote each {}",
    "bs": "p is the probability of a difference this large in test sets like this one if there "
    "were no true difference",
    "bs-sacrebleu": "p is computed as in sacreBLEU and is too small: at 5%, about 11% of equal "
    "systems differ significantly",
    "koehn": "p is the share of resampled test sets that the better system does not win; it is "
    "one-sided, in the observed direction",
}
LIMITATION = (
    "It does not apply to other domains or references, or show whether readers notice a difference."
)


class Interval(Record):
    """A score, or a difference of scores, with its confidence interval.

    The percentile interval leaves out B (1 - level) / 2 values at each end of the B sorted
    resampled values (Efron and Tibshirani 1993, chapter 13).
    """

    value: float
    """The value for all segments."""
    mean: float
    """The mean of the resampled values."""
    low: float
    high: float
    level: float
    resamples: int
    documents: int | None
    """The number of documents if documents were resampled, or None if segments were resampled."""
    seed: int | None
    runs: Runs | None
    """The runs of a system, or None if it has only one."""
    note: str
    """A remark on the interval, or an empty string."""

    @property
    def half_width(self) -> float:
        """Half the width of the interval; sacreBLEU prints this number after ±."""
        return (self.high - self.low) / 2

    def to_dict(self) -> dict[str, Any]:
        """Return all values at full precision."""
        return {**super().to_dict(), "half_width": self.half_width}

    def __repr__(self) -> str:
        return f"<{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]>"


class Difference(Record):
    """The difference between two systems, with its interval and significance test."""

    measure: str
    system: str
    baseline: str
    value: float
    """The system's score minus the baseline's."""
    interval: Interval
    """The interval of the difference, from the paired bootstrap."""
    p: float
    adjusted_p: float
    """The p-value after correction for multiple comparisons, or `p` if there is no correction."""
    test: str
    trials: int
    """The number of randomizations or resamples from which p is computed."""
    won: float
    """The share of resampled test sets on which the system is better."""
    tied: float
    lost: float
    better: bool | None
    """True if the system is better, or None if both systems are equal."""
    identical: bool
    """True if the systems do not differ in any segment."""
    segments: int
    deviation: float
    """The standard error of the difference, due to the test set and the runs."""
    test_set_error: float
    """The standard error due to the test set: the standard deviation of the resampled differences.
    With several runs, `deviation` excludes the part that `run_error` covers.
    """
    run_error: float
    """The standard error due to the choice of runs; 0 (unknown) if each system has only one run."""
    note: str
    """A remark on the difference, or an empty string."""

    @property
    def detectable_difference(self) -> float:
        """The smallest difference detectable with this many segments (level 0.05, power 0.8)."""
        return compute_detectable_effect() * self.deviation

    @property
    def segments_needed(self) -> int | None:
        """The number of similar segments needed to detect a difference of this size.

        None if the difference or its error is 0, or if no number suffices because of run variance.
        """
        if not self.run_error:
            return segments_needed(self.value, self.deviation, self.segments)
        # More segments do not reduce the variance between runs.
        available_variance = (self.value / compute_detectable_effect()) ** 2 - self.run_error**2
        if available_variance <= 0:
            return None
        test_set_variance = self.deviation**2 - self.run_error**2
        return max(1, ceil(self.segments * test_set_variance / available_variance))

    def swap_systems(self) -> Self:
        """Return the same difference with the system and the baseline swapped."""
        interval = self.interval
        return self.replace(
            system=self.baseline,
            baseline=self.system,
            value=-self.value,
            interval=interval.replace(
                value=-interval.value, mean=-interval.mean, low=-interval.high, high=-interval.low
            ),
            won=self.lost,
            lost=self.won,
            better=None if self.better is None else not self.better,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all values at full precision."""
        derived = {
            "detectable": self.detectable_difference,
            "segments_needed": self.segments_needed,
        }
        return {**super().to_dict(), **derived}

    def __repr__(self) -> str:
        return (
            f"<{self.measure}: {self.system} - {self.baseline} = {self.value:+.2f} "
            f"[{self.interval.low:+.2f}, {self.interval.high:+.2f}], "
            f"p = {self.p:.4f} ({self.test})>"
        )


class PairedTests(Record):
    """Intervals of all systems, and tests of their differences, for one measure."""

    measure: Measure
    test: str
    baseline: str
    correction: str | None
    documents: int | None
    """The number of documents if documents were resampled, or None if segments were resampled."""
    seed: int | None
    resamples: int
    randomizations: int | None
    """The number of randomizations, or None for tests without randomization."""
    level: float
    intervals: dict[str, Interval]
    """The interval of each system's score."""
    differences: dict[str, Difference]
    """The difference between each other system and the baseline."""
    pairs: dict[tuple[str, str], Difference]
    """The difference in each tested pair (system, other), corrected as one family of tests."""

    __hash__ = None  # type: ignore[assignment]

    @property
    def runs(self) -> dict[str, Runs]:
        """The runs of each system that has several runs."""
        return {n: one.runs for n, one in self.intervals.items() if one.runs is not None}

    @property
    def caution(self) -> str:
        """The meaning and the limitations of the p-value, on one line."""
        return self.describe_caution("segment" if self.documents is None else "document")

    def describe_caution(self, unit: str) -> str:
        """Return the `caution` text for a resampling unit, such as "bucket"."""
        text = CAUTIONS[self.test].format(unit)
        if self.runs:
            text += ", and runs differed as much as they do here"
        return f"{text}. {LIMITATION}"

    def get_difference(self, system: str, other: str) -> Difference:
        """Return a difference: the score of `system` minus the score of `other`."""
        if (system, other) in self.pairs:
            return self.pairs[system, other]
        if (other, system) in self.pairs:
            return self.pairs[other, system].swap_systems()
        raise KeyError(f"{system} and {other} were not compared. Use pairs='all'.")

    def better_than(self, alpha: float = ALPHA) -> dict[str, list[str]]:
        """Return, for each system, the systems that the tests show to be significantly worse."""
        beaten: dict[str, list[str]] = {name: [] for name in self.intervals}
        for (first, second), difference in self.pairs.items():
            if difference.adjusted_p < alpha and difference.better is not None:
                winner, loser = (first, second) if difference.better else (second, first)
                beaten[winner].append(loser)
        return beaten

    def clusters(self, alpha: float = ALPHA) -> list[list[str]]:
        """Return the systems in clusters, best first, as in WMT findings.

        A new cluster starts where each higher-scoring system is significantly better than each
        lower-scoring system. Within a cluster, the order is not significant. Requires
        `pairs="all"`.
        """
        measure = self.measure
        sign = 1 if measure.lower_is_better else -1
        ranked = sorted(self.intervals, key=lambda name: sign * self.intervals[name].value)
        if len(self.pairs) < len(ranked) * (len(ranked) - 1) // 2:
            raise ValueError("clusters need tests of all pairs. Use pairs='all'.")
        beaten = {name: set(losers) for name, losers in self.better_than(alpha).items()}
        clusters: list[list[str]] = [[]]
        for rank, name in enumerate(ranked):
            below = set(ranked[rank:])
            if rank and all(below <= beaten[above] for above in ranked[:rank]):
                clusters.append([])
            clusters[-1].append(name)
        return clusters

    def to_dict(self) -> dict[str, Any]:
        """Return all values at full precision."""
        measure = self.measure
        measure_fields = {"lower_is_better": measure.lower_is_better, "segments": measure.segments}
        values = super().to_dict() | {"measure": measure.name}
        values["pairs"] = list(values["pairs"].values())
        return {"measure": measure.name, **measure_fields, **values, "caution": self.caution}

    def __repr__(self) -> str:
        return f"<{self.measure.name}: {len(self.intervals)} systems, {len(self.pairs)} tests>"


# ---- power ----


def segments_needed(
    difference: float,
    deviation: float,
    segments: int,
    *,
    alpha: float = ALPHA,
    power: float = POWER,
) -> int | None:
    """Return the number of segments needed to detect a difference with a given probability.

    difference: the true difference, or the observed difference as its estimate.
    deviation: the standard error of the difference on `segments` segments (`Difference.deviation`).
    alpha, power: significance level and power of a two-sided test (defaults: 0.05 and 0.8).

    The statistic is assumed to be normal, with a standard error that falls with the square root of
    the number of segments: n' = n ((z(1 - alpha/2) + z(power)) deviation / difference)². The
    additional segments are assumed to be similar. None if the difference or the error is 0.

    >>> segments_needed(0.5, 0.25, 2000)
    3925
    """
    if difference == 0 or deviation == 0:
        return None
    return ceil(segments * (compute_detectable_effect(alpha, power) * deviation / difference) ** 2)


def compute_detectable_effect(alpha: float = ALPHA, power: float = POWER) -> float:
    """Return the size of the smallest detectable difference, in standard errors."""
    if (alpha, power) == (ALPHA, POWER):
        return DEFAULT_DETECTABLE_EFFECT
    from statistics import NormalDist

    for name, value in (("alpha", alpha), ("power", power)):
        argument_checks.check_fraction(name, value)
    quantile = NormalDist().inv_cdf
    return quantile(1 - alpha / 2) + quantile(power)


# ---- corrections for multiple comparisons ----


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted to control the probability of any false discovery.

    Sture Holm (1979): A simple sequentially rejective multiple test procedure. Scandinavian
    Journal of Statistics 6.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, lower_bound = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        lower_bound = max(lower_bound, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = lower_bound
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted to control the expected share of false discoveries.

    Yoav Benjamini and Yosef Hochberg (1995): Controlling the false discovery rate. Journal of the
    Royal Statistical Society B 57.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, upper_bound = [0.0] * len(p_values), 1.0
    for rank in range(len(p_values), 0, -1):
        i = order[rank - 1]
        upper_bound = min(upper_bound, p_values[i] * len(p_values) / rank)
        adjusted[i] = upper_bound
    return adjusted


CORRECTION_FUNCTIONS = {"holm": holm, "bh": benjamini_hochberg}
CORRECTIONS = tuple(CORRECTION_FUNCTIONS)


def correct_p_values(
    differences: dict[Any, Difference], correction: str | None
) -> dict[Any, Difference]:
    """Return the differences with p-values corrected as one family of tests."""
    if correction is None:
        return differences
    adjusted = CORRECTION_FUNCTIONS[correction]([one.p for one in differences.values()])
    pairs = zip(differences.items(), adjusted, strict=True)
    return {key: difference.replace(adjusted_p=p) for (key, difference), p in pairs}
