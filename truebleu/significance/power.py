"""How many segments it takes to see a difference."""

from __future__ import annotations

from math import ceil, erfc, sqrt

# The usual error rates: of calling equal systems different, and of seeing a true difference.
ALPHA, POWER = 0.05, 0.8


def segments_needed(
    difference: float,
    deviation: float,
    segments: int,
    *,
    alpha: float = ALPHA,
    power: float = POWER,
) -> int | None:
    """How many segments would detect a difference: find it significant with a given probability.

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
    """How many standard errors a difference must have to be detected."""
    for name, value in (("alpha", alpha), ("power", power)):
        if not 0 < value < 1:
            raise ValueError(f"{name}={value!r}: a probability between 0 and 1 is meant")
    return _normal_quantile(1 - alpha / 2) + _normal_quantile(power)


def _normal_quantile(probability: float) -> float:
    """The number that a standard normal variable stays below with this probability."""
    low, high = -40.0, 40.0
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if erfc(-middle / sqrt(2)) / 2 < probability:
            low = middle
        else:
            high = middle
