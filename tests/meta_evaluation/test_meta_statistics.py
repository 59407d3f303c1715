"""The statistics of agreement: equal to their definitions, on matrices with ties and holes."""

from __future__ import annotations

import math

import oracle_meta as plain
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truebleu import InputError
from truebleu import meta_evaluation as meta

SCORES = st.sampled_from([-25.2, -5.0, -1.1, -1.0, -0.1, 0.0, 0.5, 1.0, 26.0, 60.0, 95.5])
FINE = st.one_of(SCORES, st.floats(-100, 100, allow_nan=False, width=32))
AVERAGES = st.sampled_from(["none", "item", "sys"])


@st.composite
def matrices(draw, holes=True):
    systems, items = draw(st.integers(2, 5)), draw(st.integers(1, 12))
    cell = st.one_of(st.none(), SCORES) if holes else SCORES
    row = st.lists(cell, min_size=items, max_size=items)
    gold = draw(st.lists(row, min_size=systems, max_size=systems))
    gold[0][0] = draw(SCORES)
    full = st.lists(FINE, min_size=items, max_size=items)
    return gold, draw(st.lists(full, min_size=systems, max_size=systems))


@pytest.mark.parametrize(
    ("statistic", "oracle"),
    [
        (meta.tau_b, plain.tau_b),
        (meta.tau_c, plain.tau_c),
        (meta.acc_eq, plain.acc_eq),
        (meta.pearson, plain.pearson),
        (meta.spearman, plain.spearman),
    ],
)
@given(gold_and_metric=matrices(), average=AVERAGES)
def test_a_statistic_is_its_definition(statistic, oracle, gold_and_metric, average):
    gold, metric = gold_and_metric
    expected = plain.averaged(oracle, gold, metric, average)
    value = statistic(gold, metric, average).value
    if expected is None:
        assert value is None
    else:
        assert value == pytest.approx(float(expected), abs=1e-9)


@given(gold_and_metric=matrices(), average=AVERAGES)
def test_kendall_like_adds_up_the_pairs_of_all_rows(gold_and_metric, average):
    rows = [plain.counts(g, m, min_gap=25.0) for g, m in plain.rows(*gold_and_metric, average)]
    c, d, _, tm, _ = (sum(row[i] for row in rows) for i in range(5))
    value = meta.kendall_like(*gold_and_metric, average)
    assert (value.hits, value.pairs) == (c, c + d + tm)
    assert value.value == ((c - d - tm) / (c + d + tm) if c + d + tm else None)


@given(gold_and_metric=matrices(), average=AVERAGES)
def test_the_threshold_is_the_first_of_the_best(gold_and_metric, average):
    gold, metric = gold_and_metric
    parts = [g for g, _ in plain.rows(gold, metric, average) if len(g) > 1]
    calibrated = meta.acc_eq_opt(gold, metric, average)
    if not parts:
        assert calibrated.value is None
        return
    epsilon, value = plain.best_epsilon(gold, metric, average)
    assert calibrated.epsilon == epsilon
    assert calibrated.value == pytest.approx(float(value), abs=1e-12)
    recomputed = meta.acc_eq(gold, metric, average, epsilon=calibrated.epsilon)
    assert recomputed.value == pytest.approx(calibrated.value, abs=1e-12)
    zero = meta.acc_eq(gold, metric, average)
    assert calibrated.at_zero == pytest.approx(zero.value, abs=1e-12)


@given(st.lists(st.tuples(SCORES, FINE), min_size=60, max_size=120))
def test_sorting_counts_what_pairs_count(cells):
    gold, metric = zip(*cells, strict=True)
    value = meta.tau_b(gold, metric)
    c, d, tg, tm, tgm = plain.counts(gold, metric)
    assert (value.pairs, value.hits) == (c + d + tg + tm + tgm, c + tgm)
    expected = plain.tau_b(gold, metric)
    assert value.value == (None if expected is None else pytest.approx(expected, abs=1e-12))


def test_soft_accuracy_shares_the_draws_of_numpy_and_counts_ties_exactly():
    numpy = pytest.importorskip("numpy")
    gold = [[-0.1, -1.1, 0.0, -5.0, -0.1], [-0.1, -1.0, -0.1, -5.0, -0.1], [0, -1, -1, -1, -2.2]]
    metric = [[0.1, 0.2, 0.3, 0.4, 0.5], [0.3, 0.2, 0.1, 0.4, 0.5], [0.5, 0.1, 0.9, 0.2, 0.2]]
    draws = numpy.random.default_rng(4).random(size=(1000, 5), dtype=numpy.float32)
    signs = (2 * numpy.rint(draws) - 1).astype(int).tolist()
    expected = []
    for scores in (gold, metric):
        expected.append(plain.leads(scores, signs))
        matrix = meta.Matrix.from_scores(scores)
        assert meta.agreement_statistics.count_permuted_leads(matrix, 1000, 4) == expected[-1]
    total_difference = sum(abs(a - b) for a, b in zip(*expected, strict=True))
    assert meta.spa(gold, metric).value == 1 - total_difference / 3000


def test_rows_with_a_hole_are_dropped_for_soft_accuracy():
    gold = [[1, 2, None, 4], [2, 1, 3, 3]]
    metric = [[1, 2, 9, 4], [2, 1, 9, 3]]
    assert meta.spa(gold, metric).cells == 6
    with pytest.raises(InputError, match="no item has human scores for every system"):
        meta.spa([[1, None], [None, 1]], [[1, 1], [1, 1]])


def test_a_constant_vector_has_no_correlation_and_is_counted():
    value = meta.pearson([[1, 2], [1, 3]], [[5, 1], [5, 2]], "item")
    assert (value.value, value.rows, value.left_out) == (pytest.approx(1.0), 1, 1)
    as_zero = meta.pearson([[1, 2], [1, 3]], [[5, 1], [5, 2]], "item", nan_as_zero=True)
    assert as_zero.value == pytest.approx(0.5)
    assert meta.spearman([1, 1], [1, 2]).value is None


def test_pooled_accuracy_adds_pairs():
    first_value = meta.pairwise([3, 2, 1], [3, 2, 2])
    second_value = meta.pairwise([1, 2], [2, 1])
    assert (first_value.hits, first_value.pairs) == (2, 3)
    assert meta.agreement_statistics.pool_accuracies([first_value, second_value]).value == 0.5


@pytest.mark.parametrize(
    ("gold", "metric", "message"),
    [
        ({"A": 1, "B": 2}, {"A": 1}, "no scores for 1 system with human scores: B; available: A"),
        ([[1, 2], [2, 1]], [[1], [2]], "metric: 1 item per system, but human scores have 2"),
        ([[1, 2], [2, 1]], [[1, None], [2, 1]], "no score in 1 cell with a human score.*1, item 2"),
        ([[1, 2], [2]], [[1, 2], [2, 1]], "gold: row 2 has 1 score, but others have 2"),
        ([1, "x"], [1, 2], "gold: row 1: score 2 is 'x'; expected a number"),
    ],
)
def test_scores_that_do_not_fit_are_refused_with_names_and_counts(gold, metric, message):
    with pytest.raises(InputError, match=message):
        meta.pearson(gold, metric)


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="unknown average 'row'"):
        meta.pearson([1, 2], [1, 2], "row")
    with pytest.raises(ValueError, match="epsilon"):
        meta.acc_eq([1, 2], [1, 2], epsilon=-1)


def test_a_hole_of_the_metric_where_nobody_rated_is_none():
    value = meta.tau_b([[1, None, 3]], [[2, None, 1]], "sys")
    assert value.value == -1.0
    assert math.isclose(float(value), -1.0)
