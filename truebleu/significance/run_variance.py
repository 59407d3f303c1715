"""Variance between several runs (training seeds) of a system, in addition to test set variance.

The score of a system is the mean over its runs. Two sources make it uncertain: the choice of
segments, which resampling estimates, and the choice of runs, which only several runs can show. A
test that resamples only segments finds a difference between equal systems whenever a lucky run is
compared with an unlucky run (Jonathan H. Clark, Chris Dyer, Alon Lavie and Noah A. Smith 2011:
Better hypothesis testing for statistical machine translation: controlling for optimizer
instability. ACL). Swapping the segments of each run independently, as if runs were additional
segments, does not help: a lucky run is lucky on many segments at once.

The two sources are therefore estimated separately, and added:

segments    In each trial (or resample), all runs of both systems share the same segments. The
            difference is the mean over all pairs of a run of one system and a run of the other.
runs        The standard error from runs is s √(1/m + 1/n), for m and n runs with the standard
            deviation s between runs of a system. Swapping whole runs would allow only 20
            arrangements of three and three runs. Each trial therefore adds this error times a
            random value of Student's t distribution with m + n - 2 degrees of freedom.

Runs also differ in single segments. This part is contained in s and in the resampling of segments.
It is subtracted from the latter, where the bootstrap estimates its size. The two remaining errors
are added, as in the Behrens-Fisher problem. With one run each, nothing is added, and the test is
the same as without runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt

from truebleu.text.record import Record


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
