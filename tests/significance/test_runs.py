"""Tests of systems with several runs: means over runs, and tests that include their variance."""

from __future__ import annotations

import math
import random
import statistics

import pytest
from outputs import output, references

from truebleu import BLEU
from truebleu.significance import Measure, bootstrap_intervals, run_paired_tests
from truebleu.significance.results import draw_student_t

SETTINGS = {"resamples": 200, "randomizations": 200}


def make_columns(seed, runs, segments=80, luck=0.3):
    """Return the scores of several runs; a lucky run is lucky on all segments."""
    dice = random.Random(seed)
    run_columns = []
    for _ in range(runs):
        lucky = dice.gauss(0, luck)
        run_columns.append([round(dice.gauss(lucky, 1), 4) for _ in range(segments)])
    return run_columns


def run_test_with_runs(systems, **options):
    """Return the test of systems with runs, given as lists of scores."""
    outputs = {f"{name}{i}": run for name, runs in systems.items() for i, run in enumerate(runs)}
    runs = {name: [f"{name}{i}" for i, _ in enumerate(runs)] for name, runs in systems.items()}
    measure = Measure.from_scores("x", outputs)
    [result] = run_paired_tests([measure], runs=runs, **SETTINGS, **options)
    return result


def test_score_is_mean_over_runs():
    systems = {"A": make_columns(1, 3), "B": make_columns(2, 2)}
    result = run_test_with_runs(systems)
    for name, system_runs in systems.items():
        scores = [statistics.fmean(run) for run in system_runs]
        runs = result.runs[name]
        assert runs.scores == pytest.approx(scores)
        assert runs.deviation == pytest.approx(statistics.stdev(scores))
        assert result.intervals[name].value == pytest.approx(statistics.fmean(scores))
        # The standard error of the mean over runs, from 80 segments.
        means = [statistics.fmean(row) for row in zip(*system_runs, strict=True)]
        assert runs.error == pytest.approx(statistics.stdev(means) / math.sqrt(80), rel=0.2)
    difference = result.differences["B"]
    assert difference.value == result.intervals["B"].value - result.intervals["A"].value
    assert "and runs differed as much as they do here" in result.caution


def test_run_error_equals_t_test():
    systems = {"A": make_columns(1, 4), "B": make_columns(2, 3)}
    difference = run_test_with_runs(systems).differences["B"]
    scores = [[statistics.fmean(run) for run in system_runs] for system_runs in systems.values()]
    squares = sum(
        statistics.variance(system_runs) * (len(system_runs) - 1) for system_runs in scores
    )
    assert difference.run_error == pytest.approx(math.sqrt(squares / 5 * (1 / 4 + 1 / 3)))
    total_variance = difference.run_error**2 + difference.test_set_error**2
    assert difference.run_error < difference.deviation < math.sqrt(total_variance)


def test_segment_variance_of_runs_is_counted_once():
    # Runs differ only in single segments, so resampling only shows variance between runs.
    systems = {"A": make_columns(1, 5, 400, 0), "B": make_columns(2, 5, 400, 0)}
    difference = run_test_with_runs(systems).differences["B"]
    assert difference.test_set_error == pytest.approx(math.sqrt(2 / 5 / 400), rel=0.2)
    assert difference.deviation < 1.2 * difference.run_error


@pytest.mark.parametrize("test", ["ar", "bs"])
def test_seed_noise_is_not_significant_but_better_system_is(test):
    lucky = {"A": [[0.0, 1.0] * 40, [1.0, 0.0] * 40], "B": [[0.4, 1.4] * 40, [0.6, 1.7] * 40]}
    assert run_test_with_runs(lucky, test=test).differences["B"].p < 0.2
    lucky["B"] = [[0.0, 1.0] * 40, [1.2, 0.2] * 40]
    assert run_test_with_runs(lucky, test=test).differences["B"].p > 0.2
    better = {
        "A": make_columns(1, 3, luck=0.05),
        "B": [[x + 1 for x in run] for run in make_columns(5, 3, luck=0.05)],
    }
    assert run_test_with_runs(better, test=test).differences["B"].p < 0.02


@pytest.mark.parametrize("cause", [(0.0, 0.2, 1.0), (1.0, 0.0, 0.3)])
def test_equal_systems_with_noisy_runs_differ_in_five_per_cent(cause):
    system_deviation, run_deviation, segment_deviation = cause
    false_positives = {"runs": 0, "one": 0}
    for trial in range(120):
        dice = random.Random(trial)
        systems = {}
        for name in "AB":
            good = [dice.gauss(0, system_deviation) for _ in range(100)]
            systems[name] = []
            for _ in range(3):
                luck = dice.gauss(0, run_deviation)
                run = [round(one + luck + dice.gauss(0, segment_deviation), 6) for one in good]
                systems[name].append(run)
        false_positives["runs"] += run_test_with_runs(systems).differences["B"].p < 0.05
        first = {name: runs[0] for name, runs in systems.items()}
        [plain] = run_paired_tests([Measure.from_scores("x", first)], **SETTINGS)
        false_positives["one"] += plain.differences["B"].p < 0.05
    # The expected number is 6; more than 14 have a probability of 0.001.
    assert false_positives["runs"] <= 14
    if run_deviation:
        assert false_positives["one"] > 30


def test_single_runs_equal_plain_test():
    outputs = {"A": make_columns(1, 1)[0], "B": make_columns(2, 1)[0]}
    measure = Measure.from_scores("x", outputs)
    for test in ("ar", "bs"):
        [plain] = run_paired_tests([measure], test=test, **SETTINGS)
        [runs] = run_paired_tests([measure], test=test, runs={"A": ["A"], "B": ["B"]}, **SETTINGS)
        assert plain.to_dict() == runs.to_dict()
        assert plain.runs == {}


def test_runs_can_be_combined_with_documents():
    dice = random.Random(3)
    refs = references(dice, 60)
    metric = BLEU(max_order=2)

    def run(kept_share):
        return metric.statistics(output(dice, refs, kept_share), refs)

    tables = {"A1": run(0.6), "A2": run(0.62), "B1": run(0.65), "B2": run(0.7), "B3": run(0.68)}
    runs = {"A": ["A1", "A2"], "B": ["B1", "B2", "B3"]}
    measures, options = [Measure(metric, tables)], {"documents": [i // 4 for i in range(60)]}
    [result] = run_paired_tests(measures, runs=runs, **options, **SETTINGS)
    scores = [metric.from_statistics(tables[name]).value for name in runs["B"]]
    assert result.intervals["B"].value == pytest.approx(statistics.fmean(scores))
    assert result.documents == 15
    [ranges] = bootstrap_intervals(measures, runs=runs, resamples=200, **options)
    assert ranges == result.intervals


def test_equal_runs_are_identical():
    run = make_columns(1, 1)[0]
    difference = run_test_with_runs({"A": [run, run], "B": [run]}).differences["B"]
    assert (difference.p, difference.identical, difference.run_error) == (1, True, 0)


def test_segments_needed_is_none_if_runs_dominate():
    systems = {"A": make_columns(1, 3, luck=1), "B": make_columns(2, 3, luck=1)}
    difference = run_test_with_runs(systems).differences["B"]
    assert difference.segments_needed is None
    better = {
        "A": make_columns(1, 3, luck=0),
        "B": [[x + 0.5 for x in run] for run in make_columns(2, 3)],
    }
    assert run_test_with_runs(better).differences["B"].segments_needed is not None


def test_draws_follow_student_t():
    draws = draw_student_t(4, 20_000, 1)
    assert statistics.fmean(draws) == pytest.approx(0, abs=0.05)
    beyond = sum(abs(draw) > 2.776 for draw in draws) / len(draws)
    assert beyond == pytest.approx(0.05, abs=0.006)
    assert draws == draw_student_t(4, 20_000, 1)
    assert draw_student_t(4, 2, None) != draw_student_t(4, 2, None)


@pytest.mark.parametrize(
    ("runs", "test", "message"),
    [
        ({"A": ["A0", "A1"]}, "ar", "runs: expected each of A0, A1, B0"),
        ({"A": ["A0", "A1"], "B": []}, "ar", "runs: expected each"),
        ({"A": ["A0", "A0", "A1"], "B": ["B0"]}, "ar", "runs: expected each"),
        ({"A": ["A0", "A1"], "B": ["B0"]}, "koehn", "test 'koehn' does not support multiple runs"),
        ({"A": ["A0", "A1"], "B": ["B0"]}, "bs-sacrebleu", "does not support multiple runs"),
    ],
)
def test_invalid_runs_are_refused(runs, test, message):
    columns = zip(("A0", "A1", "B0"), make_columns(1, 3), strict=True)
    measure = Measure.from_scores("x", dict(columns))
    with pytest.raises(ValueError, match=message):
        run_paired_tests([measure], runs=runs, test=test)
