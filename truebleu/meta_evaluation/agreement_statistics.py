"""Metric-human correlations: the statistics of the metrics tasks, on matrices with missing values.

Gold and metric scores are a `Matrix`, or what `Matrix.of` takes. Only cells that people scored
count. `average` says what one row is: "none" (all cells), "item" (the systems of an item) or "sys"
(the items of a system); a value is the mean over rows, each of the same weight. Over the pairs of a
row C are concordant, D discordant, Tg tied for people only, Tm for the metric only, Tgm for both.
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
# The smallest difference of people's scores that counts for `kendall_like` (WMT17 to WMT20).
MIN_RATING_GAP = 25.0
# The exchanges of SPA, and the seed of the original.
EXCHANGES, SPA_SEED = 1000, 4
# Pairs whose differences are kept and sorted at a time.
MAX_SORTED_PAIRS = 50_000_000


@dataclass(frozen=True, repr=False)
class Value:
    """A statistic of one metric."""

    statistic: str
    average: str
    value: float | None
    """None where it is not defined: where one side is constant."""
    cells: int
    """Scores of people that entered."""
    rows: int
    """Rows that entered the mean."""
    left_out: int
    """Rows for which the statistic is not defined."""
    pairs: int | None = None
    """Pairs that were compared, for what compares pairs."""
    hits: int | None = None
    """Pairs that agree."""
    epsilon: float | None = None
    """Metric scores that differ by no more are tied."""
    tied: float | None = None
    """The share of pairs that epsilon ties."""
    at_zero: float | None = None
    """The value with an epsilon of 0."""
    by_row: Sequence[float] = ()
    """The value of each row; NaN for those left out."""

    def __float__(self) -> float:
        return nan if self.value is None else self.value

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are not None, without the rows."""
        present_fields = {field.name: getattr(self, field.name) for field in fields(self)}
        del present_fields["by_row"]
        return {
            "value": None,
            **{k: value for k, value in present_fields.items() if value is not None},
        }

    def __repr__(self) -> str:
        return f"<{self.statistic}: {float(self):.6f}>"


def pearson(gold: Any, metric: Any, average: str = "none", *, nan_as_zero: bool = False) -> Value:
    """Pearson's r, by two passes.

    >>> pearson([1, 2, 3, 5], [2, 3, 4, 6])
    <pearson: 1.000000>
    """
    return _correlation("pearson", gold, metric, average, nan_as_zero=nan_as_zero)


def spearman(gold: Any, metric: Any, average: str = "none", *, nan_as_zero: bool = False) -> Value:
    """Spearman's ρ: Pearson's r of ranks, in which ties share their mean rank."""
    return _correlation("spearman", gold, metric, average, nan_as_zero=nan_as_zero)


def tau_b(gold: Any, metric: Any, average: str = "none", *, nan_as_zero: bool = False) -> Value:
    """Kendall's τ-b: (C - D) / √((C + D + Tm) (C + D + Tg)).

    Maurice G. Kendall (1945): The treatment of ties in ranking problems. Biometrika 33.
    """

    def compute_row(row: Sequence[int]) -> float:
        _, c, d, tg, tm, _, _ = row
        below = (c + d + tm) * (c + d + tg)
        return (c - d) / sqrt(below) if below else nan

    return _value_from_pair_counts(
        "tau-b", gold, metric, average, compute_row, nan_as_zero=nan_as_zero
    )


def tau_c(gold: Any, metric: Any, average: str = "none", *, nan_as_zero: bool = False) -> Value:
    """Stuart's τ-c: 2 (C - D) / (n² (m - 1) / m), m the fewer of the different values of both."""

    def compute_row(row: Sequence[int]) -> float:
        cells, c, d, _, _, _, m = row
        return 2 * (c - d) / (cells * cells * (m - 1) / m) if m > 1 else nan

    return _value_from_pair_counts(
        "tau-c", gold, metric, average, compute_row, nan_as_zero=nan_as_zero
    )


def kendall_like(
    gold: Any, metric: Any, average: str = "item", *, min_gap: float = MIN_RATING_GAP
) -> Value:
    """WMT17's to WMT20's: (C - D) / (C + D), of pairs that people put `least` or more apart.

    Pairs lie within a row and are added up over rows with equal weight. Pairs that the metric ties
    count as discordant. The 25 are points of direct assessment, of 0 to 100.
    """
    human_matrix, scores = _align_matrices(gold, metric, average)
    # Pairs that people tie never count, even with a minimum gap of 0.
    min_gap = argument_checks.check_number("least", min_gap) or 5e-324
    rows = _kernel.pair_counts(
        human_matrix.to_bytes(), scores.to_bytes(), len(human_matrix.systems), average, 0.0, min_gap
    ).tolist()
    hits = sum(row[1] for row in rows)
    pairs = hits + sum(row[2] + row[4] for row in rows)
    value = (2 * hits - pairs) / pairs if pairs else nan
    return _value("kendall-like", average, [value], _cells(human_matrix), pairs=pairs, hits=hits)


def acc_eq(gold: Any, metric: Any, average: str = "none", *, epsilon: float | None = 0.0) -> Value:
    """Pairwise accuracy with ties: (C + Tgm) / all pairs, of each row.

    epsilon: metric scores that differ by no more are tied; None for what gives the best value, of
        0 and every difference (tie calibration; the first of several).

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
    accuracy = _value_from_pair_counts(
        "acc-eq", gold, metric, average, compute_row, epsilon=epsilon
    )
    return replace(accuracy, epsilon=epsilon)


def acc_eq_opt(gold: Any, metric: Any, average: str = "item") -> Value:
    """`acc_eq` with the epsilon that gives the best value: tie-calibrated accuracy."""
    human_matrix, scores = _align_matrices(gold, metric, average)
    cells = _cells(human_matrix)
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
    return _value(
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
    """Pairwise accuracy of systems: the share of pairs that both order alike, or both tie.

    Tom Kocmi, Christian Federmann, Roman Grundkiewicz, Marcin Junczys-Dowmunt, Hitokazu Matsushita
    and Arul Menezes (2021): To ship or not to ship: an extensive evaluation of automatic metrics
    for machine translation. WMT.
    """
    return replace(acc_eq(gold, metric, "none"), statistic="pairwise", epsilon=None)


def pooled(values: Iterable[Value]) -> Value:
    """Pairwise accuracy over the pairs of several sets of systems."""
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
    """Soft pairwise accuracy: 1 - the mean over pairs of systems of |people's p - the metric's p|.

    gold, metric: scores of segments. p says how surely the first system is better: by a paired
    permutation test over segments, one-sided, whose exchanges all pairs, people and the metric
    share. Segments without a human score of every system are dropped.

    Brian Thompson, Nitika Mathur, Daniel Deutsch and Huda Khayrallah (2024): Improving statistical
    significance in human evaluation of automatic metrics via soft pairwise accuracy. WMT.
    """
    human_matrix, scores = _align_matrices(gold, metric, "sys")
    complete_items = human_matrix.complete()
    if not complete_items:
        raise InputError("spa: no item has people's scores of every system")
    human_matrix, scores = (
        human_matrix.select_items(complete_items),
        scores.select_items(complete_items),
    )
    exchanges = argument_checks.check_integer("exchanges", exchanges, 1)
    human_leads, metric_leads = (
        leads(matrix, exchanges, seed) for matrix in (human_matrix, scores)
    )
    total_difference = sum(
        abs(one - other) for one, other in zip(human_leads, metric_leads, strict=True)
    )
    value = 1 - total_difference / (exchanges * len(human_leads)) if human_leads else nan
    return _value("spa", "none", [value], _cells(human_matrix), pairs=len(human_leads))


def leads(scores: Matrix, exchanges: int, seed: int | None) -> list[int]:
    """For every two systems in how many exchanges the first leads by as much as it does."""
    return _kernel.leads(scores.to_bytes(), len(scores.systems), Stream(seed), exchanges)


# Functions by statistic name.
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
# Those whose values go from -1 to 1.
SIGNED = ("pearson", "spearman", "tau-b", "tau-c", "kendall-like")


# ---- rows ----


def _align_matrices(gold: Any, metric: Any, average: str) -> tuple[Matrix, Matrix]:
    argument_checks.check_choice("average", average, AVERAGES)
    human_matrix = Matrix.from_scores(gold, "gold")
    return human_matrix, align_metric(human_matrix, Matrix.from_scores(metric, "metric"), "metric")


def _cells(gold: Matrix) -> int:
    return sum(1 for value in gold.values if not isnan(value))


def _correlation(name: str, gold: Any, metric: Any, average: str, *, nan_as_zero: bool) -> Value:
    human_matrix, scores = _align_matrices(gold, metric, average)
    by_row, cells = _kernel.correlations(
        human_matrix.to_bytes(),
        scores.to_bytes(),
        len(human_matrix.systems),
        average,
        name == "spearman",
    )
    empty = sum(1 for count in cells if not count)
    return _value(name, average, by_row, sum(cells), empty=empty, nan_as_zero=nan_as_zero)


def _value_from_pair_counts(
    name: str,
    gold: Any,
    metric: Any,
    average: str,
    compute_row: Callable[[Sequence[int]], float],
    *,
    epsilon: float = 0.0,
    nan_as_zero: bool = False,
) -> Value:
    """Return a statistic of each row's counts: cells, C, D, Tg, Tm, Tgm, m (see `tau_c`)."""
    human_matrix, scores = _align_matrices(gold, metric, average)
    rows = _kernel.pair_counts(
        human_matrix.to_bytes(), scores.to_bytes(), len(human_matrix.systems), average, epsilon, 0.0
    ).tolist()
    return _value(
        name,
        average,
        list(map(compute_row, rows)),
        sum(row[0] for row in rows),
        empty=sum(1 for row in rows if not row[0]),
        nan_as_zero=nan_as_zero,
        pairs=sum(sum(row[1:6]) for row in rows),
        hits=sum(row[1] + row[5] for row in rows),
    )


def _value(
    name: str,
    average: str,
    by_row: Sequence[float],
    cells: int,
    *,
    empty: int = 0,
    nan_as_zero: bool = False,
    **components: Any,
) -> Value:
    """Return the mean over rows; rows without human scores do not count."""
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
