"""The results of resampling: intervals, differences, their power, and the ranking of systems."""

from __future__ import annotations

from math import ceil
from typing import Any, Self

from truebleu.significance.resampled_metric import Measure
from truebleu.significance.run_variance import Runs
from truebleu.text import argument_checks
from truebleu.text.record import Record

# The usual error rates: of calling equal systems different, and of seeing a true difference.
ALPHA, POWER = 0.05, 0.8
# Their effort, which every comparison asks for: normal quantiles take longer than it to load.
DEFAULT_REQUIRED_ERRORS = 2.801585218112968

CAUTIONS = {
    "ar": "p is how often a difference this large would appear if it made no difference which "
    "of the two systems wrote each {}",
    "bs": "p is how often a difference this large would appear in test sets like this one if "
    "there were none",
    "bs-sacrebleu": "p is sacreBLEU's, which is too small: it calls about 11 % of equal systems "
    "different at 5 %",
    "koehn": "p is the share of resampled test sets that the better system does not win; it is "
    "one-sided, for the direction that was observed",
}
LIMITATION = (
    "It says nothing of other domains, of other references, or of whether a reader would notice."
)


class Interval(Record):
    """A score, or a difference of scores, and between what values resampling puts it.

    The percentile interval: of B sorted resampled values, the ones that leave out
    B (1 - level) / 2 at each end (Efron and Tibshirani 1993, chapter 13).
    """

    value: float
    """Of all segments."""
    mean: float
    """The mean of the resampled values."""
    low: float
    high: float
    level: float
    resamples: int
    documents: int | None
    """The number of documents, if they were drawn as a whole; None if segments were."""
    seed: int | None
    runs: Runs | None
    """The runs behind the score of a system that has several."""
    note: str
    """A remark, if there is one to make."""

    @property
    def half_width(self) -> float:
        """Half the width: what sacreBLEU prints behind ±."""
        return (self.high - self.low) / 2

    def to_dict(self) -> dict[str, Any]:
        """Everything, in full precision."""
        return {**super().to_dict(), "half_width": self.half_width}

    def __repr__(self) -> str:
        return f"<{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]>"


class Difference(Record):
    """How one system differs from another: the size of the difference, and the test of it."""

    measure: str
    system: str
    baseline: str
    value: float
    """The system's score minus the baseline's."""
    interval: Interval
    """The difference's own paired bootstrap interval."""
    p: float
    adjusted_p: float
    """p after the correction for several comparisons, if one was asked for; else p."""
    test: str
    trials: int
    """Randomizations or resamples behind p."""
    won: float
    """The share of resampled test sets on which the system is better."""
    tied: float
    lost: float
    better: bool | None
    """True if the system is the better of the two; None if they are equal."""
    identical: bool
    """True if no segment differs."""
    segments: int
    deviation: float
    """The standard error of the difference, from all that is known."""
    test_set_error: float
    """That which comes from the test set: the standard deviation of the resampled differences.
    With several runs, `deviation` has what runs make of single segments once, from the runs."""
    run_error: float
    """That which comes from runs; 0 with one run each, which tell nothing of it."""
    note: str
    """A remark, if there is one to make."""

    @property
    def detectable(self) -> float:
        """The smallest difference that as many segments would detect: at 5 %, with power 0.8."""
        return compute_required_errors() * self.deviation

    @property
    def segments_needed(self) -> int | None:
        """The segments like these that it takes to detect a difference of this size.

        None if there is no difference, or nothing to estimate its error from, or if no number
        of segments would do: the difference is too small for how runs differ.
        """
        if not self.run_error:
            return segments_needed(self.value, self.deviation, self.segments)
        # More segments do not make runs more alike.
        available_variance = (self.value / compute_required_errors()) ** 2 - self.run_error**2
        test_set_variance = self.deviation**2 - self.run_error**2
        return (
            max(1, ceil(self.segments * test_set_variance / available_variance))
            if available_variance > 0
            else None
        )

    def swap_systems(self) -> Self:
        """The same, seen from the other system."""
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
        """Everything, in full precision."""
        derived = {"detectable": self.detectable, "segments_needed": self.segments_needed}
        return {**super().to_dict(), **derived}

    def __repr__(self) -> str:
        return (
            f"<{self.measure}: {self.system} - {self.baseline} = {self.value:+.2f} "
            f"[{self.interval.low:+.2f}, {self.interval.high:+.2f}], "
            f"p = {self.p:.4f} ({self.test})>"
        )


class PairedTests(Record):
    """One measure of all systems: intervals, and the tests of the differences."""

    measure: Measure
    test: str
    baseline: str
    correction: str | None
    documents: int | None
    """The number of documents that were drawn and exchanged as a whole; None if segments were."""
    seed: int | None
    resamples: int
    randomizations: int | None
    """None for tests that randomize nothing."""
    level: float
    intervals: dict[str, Interval]
    """The score of each system."""
    differences: dict[str, Difference]
    """Each system but the baseline, against the baseline."""
    pairs: dict[tuple[str, str], Difference]
    """Every pair that was tested: (system, other), corrected as one family."""

    __hash__ = None  # type: ignore[assignment]

    @property
    def runs(self) -> dict[str, Runs]:
        """The runs of each system that has several."""
        return {n: one.runs for n, one in self.intervals.items() if one.runs is not None}

    @property
    def caution(self) -> str:
        """The meaning of the p-value, and its limits, in a line."""
        return self.describe_caution("segment" if self.documents is None else "document")

    def describe_caution(self, unit: str) -> str:
        """The same, of units that are drawn as a whole and called so: "bucket"."""
        text = CAUTIONS[self.test].format(unit)
        if self.runs:
            text += ", and runs differed as much as they do here"
        return f"{text}. {LIMITATION}"

    def get_difference(self, system: str, other: str) -> Difference:
        """The test of two systems, seen from the first."""
        if (system, other) in self.pairs:
            return self.pairs[system, other]
        if (other, system) in self.pairs:
            return self.pairs[other, system].swap_systems()
        raise KeyError(f"{system} and {other} were not compared; pairs='all' compares all")

    def better_than(self, alpha: float = ALPHA) -> dict[str, list[str]]:
        """The systems that each system is significantly better than, of the pairs tested."""
        beaten: dict[str, list[str]] = {name: [] for name in self.intervals}
        for (first, second), difference in self.pairs.items():
            if difference.adjusted_p < alpha and difference.better is not None:
                winner, loser = (first, second) if difference.better else (second, first)
                beaten[winner].append(loser)
        return beaten

    def clusters(self, alpha: float = ALPHA) -> list[list[str]]:
        """The systems in clusters, best first, as WMT's findings rank them.

        Sorted by score, there is a border wherever each system above is significantly better than
        each system below; within a cluster the order is not settled. Needs `pairs="all"`.
        """
        measure = self.measure
        sign = 1 if measure.lower_is_better else -1
        ranked = sorted(self.intervals, key=lambda name: sign * self.intervals[name].value)
        if len(self.pairs) < len(ranked) * (len(ranked) - 1) // 2:
            raise ValueError("clusters need the test of all pairs: pairs='all'")
        beaten = {name: set(losers) for name, losers in self.better_than(alpha).items()}
        clusters: list[list[str]] = [[]]
        for rank, name in enumerate(ranked):
            below = set(ranked[rank:])
            if rank and all(below <= beaten[above] for above in ranked[:rank]):
                clusters.append([])
            clusters[-1].append(name)
        return clusters

    def to_dict(self) -> dict[str, Any]:
        """Everything, in full precision."""
        measure = self.measure
        measure_fields = {"lower_is_better": measure.lower_is_better, "segments": measure.segments}
        values = super().to_dict() | {"measure": measure.name}
        values["pairs"] = list(values["pairs"].values())
        return {"measure": measure.name, **measure_fields, **values, "caution": self.caution}

    def __repr__(self) -> str:
        return f"<{self.measure.name}: {len(self.intervals)} systems, {len(self.pairs)} tests>"


# ---- power: the number of segments that it takes to detect a difference ----


def segments_needed(
    difference: float,
    deviation: float,
    segments: int,
    *,
    alpha: float = ALPHA,
    power: float = POWER,
) -> int | None:
    """The number of segments that detect a difference with a given probability.

    difference: the true difference; in the absence of anything better the observed one.
    deviation: the standard error of the difference on `segments` segments (`Difference.deviation`).
    alpha, power: of a two-sided test; usually 0.05 and 0.8.

    The calculation for a normal statistic whose standard error falls with the square root of the
    number of segments: n' = n ((z(1 - alpha/2) + z(power)) deviation / difference)². It assumes
    that the further segments are like these. None if there is no difference, or no error.

    >>> segments_needed(0.5, 0.25, 2000)
    3925
    """
    if difference == 0 or deviation == 0:
        return None
    return ceil(segments * (compute_required_errors(alpha, power) * deviation / difference) ** 2)


def compute_required_errors(alpha: float = ALPHA, power: float = POWER) -> float:
    """The number of standard errors that a difference must have to be detected."""
    if (alpha, power) == (ALPHA, POWER):
        return DEFAULT_REQUIRED_ERRORS
    from statistics import NormalDist

    for name, value in (("alpha", alpha), ("power", power)):
        argument_checks.check_fraction(name, value)
    quantile = NormalDist().inv_cdf
    return quantile(1 - alpha / 2) + quantile(power)
