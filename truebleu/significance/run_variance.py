"""Several runs of a system, as seeds make them: the chance of the runs beside that of the test set.

The score of a system is the mean over its runs. Two things make it uncertain: which segments are
in the test set, which resampling tells, and which runs there were, which only runs tell. The first
alone calls equal systems different whenever a lucky run meets an unlucky one (Jonathan H. Clark,
Chris Dyer, Alon Lavie and Noah A. Smith 2011: Better hypothesis testing for statistical machine
translation: controlling for optimizer instability. ACL). To exchange each segment of each run by
itself, as if runs were more segments, does not help: a lucky run is lucky on many segments at once.

So the two are kept apart, and added:

segments    In each trial (or resample) all runs of both systems share one draw of segments. The
            difference is the mean over every run of one system beside every run of the other.
runs        The standard error of the difference that comes from runs is s √(1/m + 1/n), for m and
            n runs with the standard deviation s between runs of one system. Whole runs could change
            systems, but three and three runs can in no more than 20 ways. So each trial adds this
            error times a draw of Student's t with m + n - 2 degrees of freedom.

Runs differ in single segments, too. That part is in s and in what resampling segments shows, and is
taken from the second: the bootstrap tells its size. What is left of each is added, as in the
problem of Behrens and Fisher, and with one run each nothing is: the test is the usual one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt

from truebleu.text.record import Record


class Runs(Record):
    """Several runs of one system by one measure."""

    scores: tuple[float, ...]
    deviation: float
    """The standard deviation between runs."""
    error: float
    """The standard error of their mean that comes from the test set."""


class Noise(Record):
    """How chance moves the difference of two means over runs."""

    run_error: float
    """The standard error that comes from the runs."""
    degrees_of_freedom: int
    """Its degrees of freedom: runs less systems."""
    test_set_error: float
    """The standard error that comes from the test set, without what runs make of segments."""
    test_set_share: float
    """That, as a share of the standard deviation of resampled values."""

    @property
    def error(self) -> float:
        """The standard error from both."""
        return sqrt(self.run_error**2 + self.test_set_error**2)

    def add_run_noise(
        self, values: Sequence[float], centre: float, seed: int | None
    ) -> list[float]:
        """Resampled values as the runs move them, too."""
        draws = draw_student_t(self.degrees_of_freedom, len(values), seed)
        return [
            centre + self.test_set_share * (value - centre) + self.run_error * draw
            for value, draw in zip(values, draws, strict=True)
        ]


def estimate_noise(
    systems: Sequence[tuple[Sequence[float], Sequence[Sequence[float]]]], values: Sequence[float]
) -> Noise | None:
    """The noise of the difference of two systems; None if there is one run each.

    systems: of each the scores of its runs, and the resampled scores of each run.
    values: the resampled differences of their means.
    """
    degrees_of_freedom = sum(len(scores) - 1 for scores, _ in systems)
    if not degrees_of_freedom:
        return None
    variance_between = (
        fsum(len(scores) * compute_variance(scores, 0) for scores, _ in systems)
        / degrees_of_freedom
    )
    # How runs of one system vary against each other from resample to resample.
    variance_within = 0.0
    for _, resampled in systems:
        means = [fsum(column) / len(resampled) for column in zip(*resampled, strict=True)]
        for run_scores in resampled:
            variance_within += compute_variance(
                [a - b for a, b in zip(run_scores, means, strict=True)], 1
            )
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
    """The mean square distance from the mean: of all values (0), or for what they stand for (1)."""
    if len(values) <= ddof:
        return 0.0
    mean = fsum(values) / len(values)
    return fsum((value - mean) ** 2 for value in values) / (len(values) - ddof)


def draw_student_t(degrees_of_freedom: int, count: int, seed: int | None) -> list[float]:
    """Draws of Student's t: the same for all measures that share a seed."""
    from random import Random

    generator = Random(seed)
    return [
        generator.gauss(0, 1)
        / sqrt(generator.gammavariate(degrees_of_freedom / 2, 2) / degrees_of_freedom)
        for _ in range(count)
    ]
