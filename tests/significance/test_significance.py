"""Tests of intervals and paired tests: definitions, properties and errors."""

import json
import math
import pickle
import random
import statistics
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outputs import output, references

from truebleu import BLEU, CHRF, TER, InputError
from truebleu.significance import (
    TESTS,
    Measure,
    benjamini_hochberg,
    bootstrap_intervals,
    holm,
    run_paired_tests,
    segments_needed,
)


@pytest.fixture(scope="module")
def noisy_systems():
    """Three systems of different quality on 60 segments, and their references."""
    dice = random.Random(20041)
    refs = references(dice, 60)
    kept_shares = {"bad": 0.4, "good": 0.8, "fair": 0.75}
    return {name: output(dice, refs, share) for name, share in kept_shares.items()}, refs


@pytest.fixture(scope="module")
def measures(noisy_systems):
    hyps, refs = noisy_systems
    metrics = [BLEU(), CHRF(), TER()]
    return [Measure(m, {k: m.statistics(v, refs) for k, v in hyps.items()}) for m in metrics]


# ---- definitions ----


def resample_scores(measure, seed, resamples):
    draws = np.random.default_rng(seed).choice(measure.segments, (resamples, measure.segments))
    scores = {}
    for system, table in zip(measure.systems, measure.tables, strict=True):
        sums = [np.array(table.tolist())[rows].sum(0).tolist() for rows in draws]
        scores[system] = [measure.metric.from_statistics(row).value for row in sums]
    return scores


def test_bootstrap_tests_equal_definitions(measures):
    measure = measures[0]
    scores = resample_scores(measure, 5, 120)
    deltas = [a - b for a, b in zip(scores["good"], scores["fair"], strict=True)]
    observed = measure.get_score("good") - measure.get_score("fair")
    mean = math.fsum(deltas) / 120
    options = {"baseline": "fair", "resamples": 120, "seed": 5}
    [bs] = run_paired_tests([measure], test="bs", **options)
    [koehn] = run_paired_tests([measure], test="koehn", **options)
    difference = bs.differences["good"]
    assert difference.p == (sum(abs(d - mean) >= abs(observed) for d in deltas) + 1) / 121
    won = sum(d > 0 for d in deltas)
    assert difference.won == won / 120
    assert difference.won + difference.tied + difference.lost == pytest.approx(1)
    better = won if observed > 0 else sum(d < 0 for d in deltas)
    assert koehn.differences["good"].p == (120 - better + 1) / 121
    interval, ordered = difference.interval, sorted(deltas)
    assert (interval.mean, interval.low, interval.high) == (mean, ordered[3], ordered[116])
    assert difference.deviation == pytest.approx(statistics.stdev(deltas))
    assert difference.detectable_difference == pytest.approx(2.8015852 * difference.deviation)


# ---- properties ----


def test_all_pairs_include_baseline_differences(measures):
    [result, *_] = run_paired_tests(measures, pairs="all", randomizations=500)
    [baseline_only, *_] = run_paired_tests(measures, randomizations=500)
    assert result.differences == baseline_only.differences
    assert set(result.pairs) == {("bad", "good"), ("bad", "fair"), ("good", "fair")}
    assert set(baseline_only.pairs) == {("good", "bad"), ("fair", "bad")}
    assert result.get_difference("good", "bad") == result.differences["good"]
    swapped = result.get_difference("good", "bad").swap_systems()
    assert swapped == result.get_difference("bad", "good")
    back = result.get_difference("fair", "good")
    forth = result.get_difference("good", "fair")
    assert (back.value, back.p, back.won) == (-forth.value, forth.p, forth.lost)
    assert (back.interval.low, back.interval.high) == (-forth.interval.high, -forth.interval.low)
    with pytest.raises(KeyError, match="pairs='all'"):
        baseline_only.get_difference("good", "fair")


def test_p_value_does_not_depend_on_direction(measures):
    [against_good, *_] = run_paired_tests(measures, baseline="good", randomizations=500)
    [against_fair, *_] = run_paired_tests(measures, baseline="fair", randomizations=500)
    # Exchanging the baseline only exchanges the two halves of each trial.
    assert against_good.differences["fair"].p == against_fair.differences["good"].p


def test_results_differ_without_seed(measures):
    first, second = (bootstrap_intervals(measures, seed=None, resamples=50) for _ in range(2))
    assert first != second
    assert first[0]["good"].seed is None


@pytest.mark.parametrize("test", TESTS)
def test_better_system_is_significantly_better(measures, test):
    for result in run_paired_tests(measures, test=test, resamples=300, randomizations=1000):
        good = result.differences["good"]
        assert good.better
        lower = result.measure.name == "TER"
        assert result.measure.lower_is_better is lower
        assert (good.value < 0) is lower
        assert good.p < 0.01
        assert good.won > 0.99
        assert (good.interval.high if lower else -good.interval.low) < 0
        assert good.segments_needed < good.segments


@pytest.mark.parametrize("test", TESTS)
def test_identical_systems_are_reported(noisy_systems, test):
    hyps, refs = noisy_systems
    metric = BLEU()
    table = metric.statistics(hyps["good"], refs)
    measure = Measure(metric, {"one": table, "same": table})
    [result] = run_paired_tests([measure], test=test, resamples=50, randomizations=50)
    same = result.differences["same"]
    assert (same.p, same.value, same.better, same.identical) == (1.0, 0.0, None, True)
    assert "identical" in same.note
    assert same.segments_needed is None
    assert (same.won, same.tied, same.lost) == (0, 1, 0)


@pytest.mark.parametrize("test", TESTS)
def test_single_segment_is_not_significant(test):
    metric, hyps = BLEU(), {"x": "a b c d e", "y": "a b c d z f"}
    measure = Measure(metric, {k: metric.statistics([v], ["a b c d e f"]) for k, v in hyps.items()})
    [result] = run_paired_tests([measure], test=test, resamples=50, randomizations=50)
    assert result.differences["y"].p == 1.0
    assert "single segment" in result.differences["y"].note
    interval = result.intervals["x"]
    assert interval.low == interval.high == interval.value
    assert "one segment" in interval.note


def test_single_differing_segment_is_not_significant(noisy_systems):
    """If every swap gives the same difference, p is 1; sacreBLEU reports 1/(T + 1)."""
    hyps, refs = noisy_systems
    changed = [*hyps["good"][:-1], "nothing like it at all"]
    metric = BLEU(effective_order=False)
    tables = {k: metric.statistics(v, refs) for k, v in {"x": hyps["good"], "y": changed}.items()}
    [result] = run_paired_tests([Measure(metric, tables)], randomizations=200)
    assert result.differences["y"].p == 1.0
    assert not result.differences["y"].identical


def test_few_resamples_give_note(measures):
    assert "too few" in bootstrap_intervals(measures, resamples=39)[0]["good"].note
    assert not bootstrap_intervals(measures, resamples=40)[0]["good"].note


# ---- columns of scores ----


def test_segment_scores_are_resampled_as_mean():
    scores = {"x": [1.5, 2.25, 3.0, 0.5], "y": [2.0, 2.25, 1.0, 4.0]}
    measure = Measure.from_scores("stars", scores)
    assert measure.get_score("x") == statistics.fmean(scores["x"])
    assert measure.metric is None
    [intervals] = bootstrap_intervals([measure], resamples=80, seed=9)
    draws = np.random.default_rng(9).choice(4, (80, 4))
    means = np.array(scores["y"])[draws].mean(1)
    assert intervals["y"].mean == pytest.approx(means.mean())
    assert (intervals["y"].low, intervals["y"].high) == (sorted(means)[2], sorted(means)[77])


def test_randomization_approximates_permutation_test():
    """With few segments, all swaps can be enumerated; decimal ties count as ties."""
    dice = random.Random(4)
    scores = {k: [dice.randint(0, 9) / 10 for _ in range(9)] for k in "xy"}
    [result] = run_paired_tests(
        [Measure.from_scores("s", scores)], randomizations=200_000, resamples=10
    )
    deltas = [Fraction(str(a)) - Fraction(str(b)) for a, b in zip(*scores.values(), strict=True)]
    signs = list(product([1, -1], repeat=9))
    sums = [abs(sum(s * d for s, d in zip(sign, deltas, strict=True))) for sign in signs]
    exact = sum(total >= abs(sum(deltas)) for total in sums) / len(signs)
    assert result.differences["y"].p == pytest.approx(exact, abs=0.005)


NUMBERS = st.floats(-1e6, 1e6) | st.integers(-999, 999).map(lambda i: i / 100)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=20))
def test_any_scores_give_valid_results(pairs):
    scores = {"x": [a for a, _ in pairs], "y": [b for _, b in pairs]}
    measure = Measure.from_scores("s", scores)
    [result] = run_paired_tests([measure], randomizations=30, resamples=30)
    difference = result.differences["y"]
    assert measure.get_score("x") == pytest.approx(math.fsum(scores["x"]) / len(pairs), abs=1e-9)
    assert 0 < difference.p <= 1
    assert result.intervals["x"].low <= result.intervals["x"].mean + 1e-9
    assert difference.interval.low <= difference.interval.high
    assert json.loads(json.dumps(result.to_dict()))["differences"]["y"]["p"] == difference.p


def test_decimal_scores_are_added_exactly():
    scores = {"x": [0.1, 0.2, 0.3, 0.0], "y": [0.3, 0.0, 0.1, 0.2]}
    [result] = run_paired_tests([Measure.from_scores("s", scores)], randomizations=100)
    difference = result.differences["y"]
    assert (difference.value, difference.better, difference.p) == (0.0, None, 1.0)
    assert not difference.identical
    assert difference.note == "the systems have the same score"


def test_lower_is_better_reverses_result():
    scores = {"x": [3.0, 4.0, 5.0, 4.5], "y": [1.0, 2.0, 2.0, 2.5]}
    for lower in (False, True):
        measure = Measure.from_scores("errors", scores, lower_is_better=lower)
        [result] = run_paired_tests([measure], pairs="all", resamples=100, test="koehn")
        assert result.differences["y"].better is lower
        assert result.differences["y"].won == float(lower)
        assert result.differences["y"].p == 1 / 101
        assert result.clusters()[0] == (["y"] if lower else ["x"])


def test_segment_mean_metric_equals_segment_scores(noisy_systems):
    hyps, refs = noisy_systems
    metric = BLEU(aggregate="segments", smoothing="floor")
    tables = {k: metric.statistics(v, refs) for k, v in hyps.items()}
    measure = Measure(metric, tables)
    columns = {k: metric.segments(v, refs).tolist() for k, v in hyps.items()}
    [metric_result] = run_paired_tests([measure], randomizations=200)
    [scores] = run_paired_tests([Measure.from_scores("BLEU", columns)], randomizations=200)
    for system, difference in metric_result.differences.items():
        assert difference.p == scores.differences[system].p
        assert difference.interval.low == pytest.approx(scores.differences[system].interval.low)
    assert measure.get_score("good") == metric.score(hyps["good"], refs).value
    with pytest.raises(ValueError, match="bs-sacrebleu"):
        run_paired_tests([measure], test="bs-sacrebleu")


# ---- multiple comparisons ----


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_corrections_equal_definitions(p_values):
    order = sorted(p_values)
    m = len(order)
    for p, adjusted in zip(p_values, holm(p_values), strict=True):
        assert adjusted == max(min(1.0, (m - i) * q) for i, q in enumerate(order) if q <= p)
    for p, adjusted in zip(p_values, benjamini_hochberg(p_values), strict=True):
        assert adjusted == min(1.0, *(q * m / (i + 1) for i, q in enumerate(order) if q >= p))


def test_tests_of_one_measure_form_one_family(measures):
    for correction, adjust in (("holm", holm), ("bh", benjamini_hochberg)):
        options = {"pairs": "all", "correction": correction, "randomizations": 200}
        [result, *_] = run_paired_tests(measures, **options)
        pairs = list(result.pairs.values())
        assert [d.adjusted_p for d in pairs] == adjust([d.p for d in pairs])
        for name, difference in result.differences.items():
            assert difference.adjusted_p == result.get_difference(name, result.baseline).adjusted_p
        assert result.correction == correction


def test_clusters_separate_significantly_different_systems():
    dice = random.Random(6)
    base = [dice.gauss(50, 10) for _ in range(300)]
    shifts = {"d": 0.0, "a": 9.0, "c": 0.05, "b": 8.9, "e": -4.0}
    scores = {
        name: [round(x + shift + dice.gauss(0, 3), 4) for x in base]
        for name, shift in shifts.items()
    }
    measure = Measure.from_scores("s", scores)
    [result] = run_paired_tests([measure], pairs="all", randomizations=1000)
    clusters = result.clusters()
    assert [sorted(cluster) for cluster in clusters] == [["a", "b"], ["c", "d"], ["e"]]
    beaten = result.better_than()
    assert sorted(beaten["a"]) == ["c", "d", "e"]
    assert beaten["e"] == []
    assert result.clusters(alpha=1e-9) == [[name for cluster in clusters for name in cluster]]
    [baseline_only] = run_paired_tests([measure], randomizations=10)
    with pytest.raises(ValueError, match="pairs='all'"):
        baseline_only.clusters()


@pytest.mark.parametrize(("alpha", "power"), [(0.05, 0.8), (0.01, 0.95), (0.1, 0.5)])
def test_segments_needed_equals_normal_power_calculation(alpha, power):
    normal = statistics.NormalDist()
    z = normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)
    expected = math.ceil(2000 * (z * 0.3 / 0.7) ** 2)
    assert segments_needed(-0.7, 0.3, 2000, alpha=alpha, power=power) == expected


def test_segments_needed_is_undefined_without_difference_or_deviation():
    assert segments_needed(0.0, 0.3, 2000) is None
    assert segments_needed(0.1, 0.0, 2000) is None
    with pytest.raises(ValueError, match="power"):
        segments_needed(0.1, 0.1, 10, power=1)


# ---- result objects ----


def test_results_are_immutable_and_picklable(measures):
    [result, *_] = run_paired_tests(measures, pairs="all", randomizations=50, resamples=50)
    difference = result.differences["good"]
    assert pickle.loads(pickle.dumps(difference)) == difference
    assert hash(difference) == hash(pickle.loads(pickle.dumps(difference)))
    with pytest.raises(AttributeError, match="is immutable"):
        difference.p = 0
    content = json.loads(json.dumps(result.to_dict()))
    fields = content["differences"]["good"]
    assert fields["interval"]["half_width"] == difference.interval.half_width
    assert fields["segments_needed"] == difference.segments_needed
    assert content["test"] == "ar"
    assert repr(difference).startswith("<BLEU: good - bad = +")
    assert repr(difference.interval).startswith("<")
    assert repr(result) == "<BLEU: 3 systems, 3 tests>"
    for test in TESTS:
        [single_result] = run_paired_tests(measures[:1], test=test, randomizations=5, resamples=5)
        assert single_result.caution.count(".") == 2


# ---- bad input ----


def test_systems_of_different_lengths_are_refused(noisy_systems):
    hyps, refs = noisy_systems
    metric = BLEU()
    tables = {k: metric.statistics(v, refs) for k, v in hyps.items()}
    with pytest.raises(InputError, match="bad 60, good 59, fair 60"):
        Measure(metric, {**tables, "good": tables["good"][:59]})
    with pytest.raises(InputError, match="these statistics were computed with"):
        Measure(BLEU(lowercase=True), tables)
    with pytest.raises(TypeError, match="statistics"):
        Measure.from_scores("s", tables)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Measure.from_scores("s", {"x": [1, 2], "y": [1]}), InputError, "x 2, y 1"),
        (lambda: Measure.from_scores("s", {"x": [], "y": []}), InputError, "no segments"),
        (lambda: Measure(BLEU(), {}), InputError, "no systems"),
        (lambda: Measure(BLEU(), {"x": [1.0, 2.0]}), TypeError, "from_scores"),
    ],
)
def test_measure_refuses_unsuitable_systems(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_incompatible_measures_are_refused(measures):
    others = Measure.from_scores("s", {"x": [1.0] * 60, "y": [1.0] * 60})
    with pytest.raises(InputError, match="the same systems"):
        run_paired_tests([measures[0], others])
    shorter = Measure.from_scores("s", {k: [1.0] * 59 for k in measures[0].systems})
    with pytest.raises(InputError, match="60 segments, but s has 59"):
        bootstrap_intervals([measures[0], shorter])
    with pytest.raises(InputError, match="expected at least one measure"):
        bootstrap_intervals([])
    with pytest.raises(TypeError, match="list"):
        run_paired_tests(measures[0])


@pytest.mark.parametrize("value", [math.nan, math.inf, None, "many"])
def test_invalid_scores_are_refused(value):
    with pytest.raises(InputError, match=r"COMET of y, segment 2: expected a finite number"):
        Measure.from_scores("COMET", {"x": [1, 2], "y": [1, value]})
    with pytest.raises(InputError, match="exact sums"):
        Measure.from_scores("s", {"x": [1e30, 2], "y": [1, 2]})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resamples": 0}, "resamples=0"),
        ({"resamples": -5}, "resamples=-5"),
        ({"resamples": 2.5}, "resamples=2.5"),
        ({"randomizations": 0}, "randomizations=0"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": "x"}, "seed='x'"),
        ({"level": 0.0}, "level=0.0"),
        ({"level": 1.0}, "level=1.0"),
        ({"level": 95}, "level=95"),
        ({"level": 0.5}, "level: 0.5 is too low"),
        ({"level": 0.05}, "level: 0.05 is below 0.5 .*For p < 0.05, use 0.95"),
        ({"test": "t"}, "unknown test 't'; available: ar, bs, bs-sacrebleu, koehn"),
        ({"pairs": "some"}, "unknown pairs 'some'; available: baseline, all"),
        ({"correction": "bonferroni"}, "unknown correction 'bonferroni'; available: holm, bh"),
        ({"workers": 0}, "workers=0"),
        ({"baseline": "best"}, "no system 'best'; available: bad, good, fair"),
    ],
)
def test_invalid_options_are_refused(measures, options, message):
    with pytest.raises(ValueError, match=message):
        run_paired_tests(measures, **options)


# ---- WMT22 ----


def test_wmt22_p_values_equal_sacrebleu(wmt22):
    """SacreBLEU's randomization gives the same p-value, and its bootstrap half of it."""
    metric = BLEU()
    reference = wmt22 / "references" / "generaltest2022.de-en.ref.A.en"
    outputs = wmt22 / "system-outputs"
    tables = {
        name: metric.statistics(outputs / f"generaltest2022.de-en.hyp.{name}.en", reference)
        for name in ("Online-G", "Online-A")
    }
    p = {}
    for test in TESTS:
        [result] = run_paired_tests([Measure(metric, tables)], test=test)
        p[test] = result.differences["Online-A"].p
    assert p["ar"] == 0.11298870112988701
    assert p["bs-sacrebleu"] == 0.054945054945054944
    assert p["bs"] == pytest.approx(0.113, abs=5e-4)
    assert p["koehn"] == pytest.approx(0.054, abs=5e-4)
    interval = result.intervals["Online-G"]
    assert interval.mean == pytest.approx(33.650776022340885, abs=1e-6)
    assert interval.half_width == pytest.approx(0.887801772909679, abs=1e-5)
