"""Power: the number of segments that it takes to detect a difference."""

from __future__ import annotations

from math import ceil

from truebleu.text import checks

# The usual error rates: of calling equal systems different, and of seeing a true difference.
ALPHA, POWER = 0.05, 0.8
# Their effort, which every comparison asks for: normal quantiles take longer than it to load.
EFFORT = 2.801585218112968


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
    return ceil(segments * (effort(alpha, power) * deviation / difference) ** 2)


def effort(alpha: float = ALPHA, power: float = POWER) -> float:
    """The number of standard errors that a difference must have to be detected."""
    if (alpha, power) == (ALPHA, POWER):
        return EFFORT
    from statistics import NormalDist

    for name, value in (("alpha", alpha), ("power", power)):
        checks.share(name, value)
    quantile = NormalDist().inv_cdf
    return quantile(1 - alpha / 2) + quantile(power)
