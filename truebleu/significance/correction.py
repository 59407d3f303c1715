"""p-values of several tests: each alone is right too rarely for all of them together."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted so that the chance of any false discovery is what they say.

    Sture Holm (1979): A simple sequentially rejective multiple test procedure. Scandinavian
    Journal of Statistics 6.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, least = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = least
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted so that the expected share of false discoveries is what they say.

    Yoav Benjamini and Yosef Hochberg (1995): Controlling the false discovery rate. Journal of the
    Royal Statistical Society B 57.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, most = [0.0] * len(p_values), 1.0
    for rank in range(len(p_values), 0, -1):
        i = order[rank - 1]
        most = min(most, p_values[i] * len(p_values) / rank)
        adjusted[i] = most
    return adjusted


METHODS = {"holm": holm, "bh": benjamini_hochberg}
CORRECTIONS = tuple(METHODS)
