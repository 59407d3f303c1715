"""Display of percentages on a 0-1 scale.

Contents of views are always on the documented scale of each metric. Before a layout formats them
for a 0-1 scale, `rescale` divides the scores, differences and interval limits of percentages by
100. Metrics that are not percentages (`Metric.is_percentage`), such as NIST, keep their scale.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

# The scales on which percentages can be shown, given as their maximum.
SCALES = (100, 1)
# Number of additional decimals on a 0-1 scale.
MORE_DIGITS = 2


def check_scale(scale: Any) -> int:
    """Return a scale after checking that it is 100 or 1."""
    if isinstance(scale, bool) or scale not in SCALES:
        raise ValueError(f"scale: expected 100 or 1, found {scale!r}")
    return int(scale)


def rescale(content: Any, names: Collection[str], *, is_score: bool = False) -> Any:
    """Return a copy of JSON-compatible contents with the numbers under some keys divided by 100.

    names: the keys of numbers, and of lists of numbers, to divide at any depth.

    >>> rescale({"score": 41.5, "interval": {"low": 40, "high": None}, "p": 0.5}, ("score", "low"))
    {'score': 0.415, 'interval': {'low': 0.4, 'high': None}, 'p': 0.5}
    """
    if isinstance(content, Mapping):
        return {
            name: rescale(value, names, is_score=name in names) for name, value in content.items()
        }
    if isinstance(content, list):
        return [rescale(value, names, is_score=is_score) for value in content]
    is_number = isinstance(content, int | float) and not isinstance(content, bool)
    return content / 100 if is_score and is_number else content
