"""Metric-human correlations: the statistics of the metrics tasks, on matrices with missing values.

Human and metric scores are a `Matrix`, or any input of `Matrix.from_scores`. Only cells with human
scores count. `average` defines a row: "none" (all cells), "item" (the systems of an item) or "sys"
(the items of a system). A value is the unweighted mean over rows. In a row, C pairs are
concordant, D discordant, Tg tied only in human scores, Tm only in metric scores, and Tgm in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from math import fsum, isnan, nan, sqrt
from typing import Any

from truebleu import _kernel
from truebleu._kernel import InputError, Stream
from truebleu.meta_evaluation.score_files import Matrix, align_metric
from truebleu.text import argument_checks

AVERAGES = ("none", "item", "sys")
# Minimum difference of human scores for a pair to count in `kendall_like` (WMT17 to WMT20).
MIN_RATING_GAP = 25.0
# The number of permutations for SPA, and the seed of the original implementation.
EXCHANGES, SPA_SEED = 1000, 4
# Maximum number of pairs whose differences are sorted in memory.
MAX_SORTED_PAIRS = 50_000_000


@dataclass(frozen=True, repr=False)
class Value:
    """The value of a statistic for one metric, with details of its computation."""

    statistic: str
    average: str
    value: float | None
    """The value, or None if undefined, for example because all metric scores are equal."""
    cells: int
    """The number of human scores used."""
    rows: int
    """The number of rows over which the mean is computed."""
    left_out: int
    """The number of rows for which the statistic is undefined."""
    pairs: int | None = None
    """The number of pairs compared, for statistics that compare pairs."""
    hits: int | None = None
    """The number of pairs on which human and metric scores agree."""
    epsilon: float | None = None
    """The tie threshold: metric scores that differ by at most this value are tied."""
    tied: float | None = None
    """The share of pairs that are tied with this epsilon."""
    at_zero: float | None = None
    """The value for an epsilon of 0."""
    by_row: Sequence[float] = ()
    """The value of each row, or NaN for rows that are left out."""

    def __float__(self) -> float:
        return nan if self.value is None else self.value

    def to_dict(self) -> dict[str, Any]:
        """Return `value`, and all other fields that are not None, except `by_row`."""
        present_fields = {field.name: getattr(self, field.name) for field in fields(self)}
        del present_fields["by_row"]
        return {
            "value": None,
            **{k: value for k, value in present_fields.items() if value is not None},
        }

    def __repr__(self) -> str:
        return f"<{self.statistic}: {float(self):.6f}>"


def pearson(gold: Any, metric: Any, average: str = "none", *, nan_as_zero: bool = False) -> Value:
    """Return Pearson's r, computed in two passes.

    >>> pearson([1, 2, 3, 5], [2, 3, 4, 6])
    <pearson: 1.000000>
    """
    return _compute_correlation("pearson", gold, metric, average, nan_as_zero=nan_as_zero)


def spearman(gold: Any, metric: Any, average: str = "none", *, nan_as_zero: bool = False) -> Value:
    """Return Spearman's ρ: Pearson's r of the ranks. Tied scores share their mean rank."""
    return _compute_correlation("spearman", gold, metric, average, nan_as_zero=nan_as_zero)


def tau_b(gold: Any, metric: Any, average: str = "none", *, nan_as_zero: bool = False) -> Value:
    """Return Kendall's τ-b: (C - D) / √((C + D + Tm) (C + D + Tg)).

    Maurice G. Kendall (1945): The treatment of ties in ranking problems. Biometrika 33.
    """

    def compute_row(row: Sequence[int]) -> float:
        _, c, d, tg, tm, _, _ = row
        below = (c + d + tm) * (c + d + tg)
        return (c - d) / sqrt(below) if below else nan

    return _compute_from_pair_counts(
        "tau-b", gold, metric, average, compute_row, nan_as_zero=nan_as_zero
    )


def tau_c(gold: Any, metric: Any, average: str = "none", *, nan_as_zero: bool = False) -> Value:
    """Return Stuart's τ-c: 2 (C - D) / (n² (m - 1) / m).

    m: the number of distinct human scores or of distinct metric scores, whichever is smaller.
    """

    def compute_row(row: Sequence[int]) -> float:
        cells, c, d, _, _, _, m = row
        return 2 * (c - d) / (cells * cells * (m - 1) / m) if m > 1 else nan

    return _compute_from_pair_counts(
        "tau-c", gold, metric, average, compute_row, nan_as_zero=nan_as_zero
    )


def kendall_like(
    gold: Any, metric: Any, average: str = "item", *, min_gap: float = MIN_RATING_GAP
) -> Value:
    """Return the Kendall-like τ of WMT17 to WMT20: (C - D) / (C + D).

    Only pairs whose human scores differ by at least `min_gap` count. Pairs are formed within rows
    and summed over rows. Pairs tied by the metric are discordant. The default gap is 25 points of
    direct assessment, on a 0-100 scale.
    """
    human_matrix, scores = _align_matrices(gold, metric, average)
    # Pairs with equal human scores never count, even with a minimum gap of 0.
    min_gap = argument_checks.check_number("min_gap", min_gap) or 5e-324
    rows = _kernel.pair_counts(
        human_matrix.to_bytes(), scores.to_bytes(), len(human_matrix.systems), average, 0.0, min_gap
    ).tolist()
    hits = sum(row[1] for row in rows)
    pairs = hits + sum(row[2] + row[4] for row in rows)
    value = (2 * hits - pairs) / pairs if pairs else nan
    cells = len(list_rated_cells(human_matrix))
    return _average_rows("kendall-like", average, [value], cells, pairs=pairs, hits=hits)


def acc_eq(gold: Any, metric: Any, average: str = "none", *, epsilon: float | None = 0.0) -> Value:
    """Return pairwise accuracy with ties: the mean over rows of (C + Tgm) / all pairs.

    epsilon: metric scores that differ by at most this value are tied; None for tie calibration,
        which tries 0 and all differences, and keeps the first that gives the best result.

    Daniel Deutsch, George Foster and Markus Freitag (2023): Ties matter: meta-evaluating modern
    metrics with pairwise accuracy and tie calibration. EMNLP.

    >>> acc_eq([3, 2, 2], [0.9, 0.8, 0.5]).value, acc_eq([3, 1, 1], [0.9, 0.2, 0.1], epsilon=0.1)
    (0.6666666666666666, <acc-eq: 1.000000>)
    """
    if epsilon is None:
        return acc_eq_opt(gold, metric, average)

    def compute_row(row: Sequence[int]) -> float:
        _, c, d, tg, tm, tgm, _ = row
        pairs = c + d + tg + tm + tgm
        return (c + tgm) / pairs if pairs else nan

    epsilon = argument_checks.check_number("epsilon", epsilon)
    accuracy = _compute_from_pair_counts(
        "acc-eq", gold, metric, average, compute_row, epsilon=epsilon
    )
    return replace(accuracy, epsilon=epsilon)


def acc_eq_opt(gold: Any, metric: Any, average: str = "item") -> Value:
    """Return tie-calibrated accuracy: `acc_eq` with the epsilon that maximizes it."""
    human_matrix, scores = _align_matrices(gold, metric, average)
    cells = len(list_rated_cells(human_matrix))
    pairs = cells * (cells - 1) // 2
    if average == "none" and pairs > MAX_SORTED_PAIRS:
        raise InputError(
            f"acc-eq-opt: {pairs:,} pairs with average={average!r} (at most {MAX_SORTED_PAIRS:,} "
            "can be sorted). Average over items, as the metrics task does."
        )
    epsilon, table, tied = _kernel.best_epsilon(
        human_matrix.to_bytes(), scores.to_bytes(), len(human_matrix.systems), average
    )
    rows = table.tolist()
    by_row = [hits / all_pairs if all_pairs else nan for all_pairs, hits, _ in rows]
    at_zero = [hits / all_pairs for all_pairs, _, hits in rows if all_pairs]
    pair_count = sum(row[0] for row in rows)
    return _average_rows(
        "acc-eq-opt",
        average,
        by_row,
        cells,
        empty=sum(1 for row in rows if not row[0]),
        pairs=pair_count,
        hits=sum(row[1] for row in rows),
        epsilon=epsilon,
        tied=tied / pair_count if pair_count else None,
        at_zero=fsum(at_zero) / len(at_zero) if at_zero else None,
    )


def pairwise(gold: Any, metric: Any) -> Value:
    """Return the share of system pairs that human and metric scores rank identically or both tie.

    Tom Kocmi, Christian Federmann, Roman Grundkiewicz, Marcin Junczys-Dowmunt, Hitokazu Matsushita
    and Arul Menezes (2021): To ship or not to ship: an extensive evaluation of automatic metrics
    for machine translation. WMT.
    """
    return replace(acc_eq(gold, metric, "none"), statistic="pairwise", epsilon=None)


def pool_accuracies(values: Iterable[Value]) -> Value:
    """Return the pairwise accuracy, pooled over several sets of systems."""
    value_list = list(values)
    pairs = sum(value.pairs or 0 for value in value_list)
    hits = sum(value.hits or 0 for value in value_list)
    return replace(
        value_list[0],
        value=hits / pairs if pairs else None,
        cells=sum(value.cells for value in value_list),
        pairs=pairs,
        hits=hits,
        by_row=(),
    )


def spa(
    gold: Any, metric: Any, *, exchanges: int = EXCHANGES, seed: int | None = SPA_SEED
) -> Value:
    """Return soft pairwise accuracy: 1 minus the mean of |human p - metric p| over system pairs.

    gold, metric: segment scores; segments without a human score for every system are dropped. p is
    the p-value of a one-sided paired permutation test that the first system is better. The same
    permutations are used for all pairs. exchanges: the number of permutations.

    Brian Thompson, Nitika Mathur, Daniel Deutsch and Huda Khayrallah (2024): Improving statistical
    significance in human evaluation of automatic metrics via soft pairwise accuracy. WMT.
    """
    human_matrix, scores = _align_matrices(gold, metric, "sys")
    complete_items = human_matrix.list_complete_items()
    if not complete_items:
        raise InputError("spa: no item has human scores for every system")
    human_matrix = human_matrix.select_items(complete_items)
    scores = scores.select_items(complete_items)
    exchanges = argument_checks.check_integer("exchanges", exchanges, 1)
    human_leads, metric_leads = (
        count_permuted_leads(matrix, exchanges, seed) for matrix in (human_matrix, scores)
    )
    total_difference = sum(
        abs(one - other) for one, other in zip(human_leads, metric_leads, strict=True)
    )
    value = 1 - total_difference / (exchanges * len(human_leads)) if human_leads else nan
    cells = len(list_rated_cells(human_matrix))
    return _average_rows("spa", "none", [value], cells, pairs=len(human_leads))


def count_permuted_leads(scores: Matrix, exchanges: int, seed: int | None) -> list[int]:
    """Return, per pair of systems, how many permutations have at least the observed lead."""
    return _kernel.leads(scores.to_bytes(), len(scores.systems), Stream(seed), exchanges)


# Functions, keyed by statistic name.
STATISTICS: dict[str, Callable[..., Value]] = {
    "pearson": pearson,
    "spearman": spearman,
    "tau-b": tau_b,
    "tau-c": tau_c,
    "kendall-like": kendall_like,
    "acc-eq": acc_eq,
    "acc-eq-opt": acc_eq_opt,
    "pairwise": pairwise,
    "spa": spa,
}
# Statistics with values from -1 to 1.
SIGNED = ("pearson", "spearman", "tau-b", "tau-c", "kendall-like")


# ---- rows ----


def _align_matrices(gold: Any, metric: Any, average: str) -> tuple[Matrix, Matrix]:
    argument_checks.check_choice("average", average, AVERAGES)
    human_matrix = Matrix.from_scores(gold, "gold")
    return human_matrix, align_metric(human_matrix, Matrix.from_scores(metric, "metric"), "metric")


def list_rated_cells(gold: Matrix) -> list[int]:
    """Return the indices of the cells with a human score."""
    return [i for i, value in enumerate(gold.values) if not isnan(value)]


def _compute_correlation(
    name: str, gold: Any, metric: Any, average: str, *, nan_as_zero: bool
) -> Value:
    human_matrix, scores = _align_matrices(gold, metric, average)
    by_row, cells = _kernel.correlations(
        human_matrix.to_bytes(),
        scores.to_bytes(),
        len(human_matrix.systems),
        average,
        name == "spearman",
    )
    empty = sum(1 for count in cells if not count)
    return _average_rows(name, average, by_row, sum(cells), empty=empty, nan_as_zero=nan_as_zero)


def _compute_from_pair_counts(
    name: str,
    gold: Any,
    metric: Any,
    average: str,
    compute_row: Callable[[Sequence[int]], float],
    *,
    epsilon: float = 0.0,
    nan_as_zero: bool = False,
) -> Value:
    """Return a statistic computed from each row's counts (cells, C, D, Tg, Tm, Tgm, m)."""
    human_matrix, scores = _align_matrices(gold, metric, average)
    rows = _kernel.pair_counts(
        human_matrix.to_bytes(), scores.to_bytes(), len(human_matrix.systems), average, epsilon, 0.0
    ).tolist()
    return _average_rows(
        name,
        average,
        list(map(compute_row, rows)),
        sum(row[0] for row in rows),
        empty=sum(1 for row in rows if not row[0]),
        nan_as_zero=nan_as_zero,
        pairs=sum(sum(row[1:6]) for row in rows),
        hits=sum(row[1] + row[5] for row in rows),
    )


def _average_rows(
    name: str,
    average: str,
    by_row: Sequence[float],
    cells: int,
    *,
    empty: int = 0,
    nan_as_zero: bool = False,
    **components: Any,
) -> Value:
    """Return the mean over rows. Rows without human scores are ignored."""
    defined_values = [value for value in by_row if not isnan(value)]
    left_out = len(by_row) - len(defined_values) - empty
    over = len(defined_values) + left_out if nan_as_zero else len(defined_values)
    value = fsum(defined_values) / over if over else None
    return Value(
        name,
        average,
        value,
        cells,
        len(defined_values),
        left_out,
        by_row=tuple(by_row),
        **components,
    )
