"""Tests between metrics: equal to enumerations, and right as often as they say."""

from __future__ import annotations

import random
from itertools import combinations, product

import oracle_meta as plain
import pytest
from paths import EXAMPLES

import truebleu as tb
from truebleu import meta_evaluation as meta
from truebleu._kernel import Stream
from truebleu.meta_evaluation import metric_comparison as tests
from truebleu.meta_evaluation.human_scores import build_judged_systems
from truebleu.meta_evaluation.score_files import Matrix


def standard(values):
    mean = sum(values) / len(values)
    spread = (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
    return [(value - mean) / spread for value in values]


def enumerated(statistic, gold, first, second):
    """Return the share of all exchanges that lead by as much."""
    first, second = standard(first), standard(second)
    lead = statistic(gold, first) - statistic(gold, second)
    count = 0
    for swaps in product((False, True), repeat=len(gold)):
        a = [y if s else x for x, y, s in zip(first, second, swaps, strict=True)]
        b = [x if s else y for x, y, s in zip(first, second, swaps, strict=True)]
        count += statistic(gold, a) - statistic(gold, b) >= lead - 1e-9
    return count / 2 ** len(gold)


def accuracy(gold, metric):
    def sign(value):
        return (value > 0) - (value < 0)

    pairs = list(combinations(range(len(gold)), 2))
    hits = sum(sign(gold[i] - gold[j]) == sign(metric[i] - metric[j]) for i, j in pairs)
    return hits / len(pairs)


GOLD = [-3.7, -8.7, -9.3, -9.5, -3.7, -5.6, -10.2, -6.8]
FIRST = [42.1, 36.0, 35.2, 30.4, 40.0, 38.7, 31.2, 33.0]
SECOND = [60.1, 61.0, 55.2, 58.4, 60.0, 62.7, 51.2, 50.0]


STATISTICS = {
    "pearson": plain.pearson,
    "pairwise": accuracy,
    "tau-b": plain.tau_b,
    "spearman": plain.spearman,
}


def run_test(name, **options):
    gold, *metrics = (
        Matrix.from_scores({str(i): value for i, value in enumerate(row)})
        for row in (GOLD, FIRST, SECOND)
    )
    return tests.run_perm_both_test([gold], [[matrix] for matrix in metrics], name, **options)


@pytest.mark.parametrize("name", STATISTICS)
def test_all_exchanges_are_counted_where_cells_are_few(name):
    trials = run_test(name)
    assert (trials.exact, trials.trials) == (True, 256)
    assert trials.get_p_value(0, 1) == enumerated(STATISTICS[name], GOLD, FIRST, SECOND)


@pytest.mark.parametrize("name", ["pearson", "pairwise", "tau-b"])
def test_sampled_exchanges_are_within_three_standard_errors(name, monkeypatch):
    exact = run_test(name).get_p_value(0, 1)
    monkeypatch.setattr(tests, "ENUMERATED", 2)
    sampled = run_test(name, samples=2000, seed=1)
    assert not sampled.exact
    standard_error = (exact * (1 - exact) / 2000) ** 0.5
    assert abs(sampled.get_p_value(0, 1) - exact) < 3 * standard_error + 1 / 2000
    assert sampled.counts == run_test(name, samples=2000, seed=1).counts
    assert sampled.counts != run_test(name, samples=2000, seed=2).counts


def test_pooled_sets_exchange_within_each():
    right = [{"a": 1, "b": 2, "c": 3}, {"d": 5, "e": 4, "f": 1}]
    wrong = [{"a": 3, "b": 2, "c": 1}, {"d": 1, "e": 4, "f": 5}]
    golds, first, second = (list(map(Matrix.from_scores, sets)) for sets in (right, right, wrong))
    trials = tests.run_perm_both_test(golds, [first, second], "pairwise")
    # Only no exchange at all keeps all six pairs right on one side and wrong on the other,
    # but the middle systems are the same for both metrics.
    assert trials.get_p_value(0, 1) == 4 / 64


def test_pairs_change_places_for_accuracy_with_ties():
    draw = random.Random(3)
    gold = [[draw.choice([0, -1, -5]) for _ in range(40)] for _ in range(4)]
    good = [[g + draw.gauss(0, 1) for g in row] for row in gold]
    poor = [[draw.gauss(0, 1) for _ in row] for row in gold]
    people = Matrix.from_scores(gold)
    matrices = [Matrix.from_scores(good), Matrix.from_scores(poor)]
    values = [meta.acc_eq_opt(people, one) for one in matrices]
    epsilons = [value.epsilon for value in values]
    trials = tests.run_pair_permutation_test(people, matrices, epsilons, samples=500)
    assert trials.get_p_value(0, 1) < 0.01 < 0.98 < 1 - trials.get_p_value(0, 1) + 0.01
    same = tests.run_pair_permutation_test(people, [matrices[0]] * 2, epsilons[:1] * 2, samples=50)
    assert same.get_p_value(0, 1) == 1.0


def test_pair_permutation_is_right_as_often_as_it_says():
    """For two equally good metrics, a test at 5% finds a difference in 5% of the trials."""
    draw = random.Random(7)
    rejected = 0
    for _ in range(200):
        gold = [[draw.gauss(0, 1) for _ in range(12)] for _ in range(3)]
        metric_rows = [[[g + draw.gauss(0, 1) for g in row] for row in gold] for _ in range(2)]
        trials = tests.run_pair_permutation_test(
            Matrix.from_scores(gold),
            [Matrix.from_scores(one) for one in metric_rows],
            [0.0, 0.0],
            samples=200,
            seed=1,
        )
        rejected += trials.get_p_value(0, 1) <= 0.05
    # Accuracy is a count of dependent pairs, which the test takes for independent ones.
    assert rejected / 200 < 0.12


@pytest.mark.parametrize(
    ("t", "freedom", "expected"),
    [
        # scipy.stats.t.sf
        (0.0, 5, 0.5),
        (2.0, 10, 0.036694017385370196),
        (1.0, 1, 0.25),
        (40.0, 5000, 0.0),
    ],
)
def test_student_t(t, freedom, expected):
    assert tests.compute_student_t_tail(t, freedom) == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_a_cluster_opens_where_a_metric_is_worse_than_one_of_the_last():
    p = {(0, 1): 0.5, (0, 2): 0.04, (1, 2): 0.3, (0, 3): 0.0, (1, 3): 0.0, (2, 3): 0.2}
    assert tests.assign_clusters(p, 4) == [1, 1, 2, 2]


# ---- a whole table ----

PEOPLE = {
    "oak": [-1.0, -5.0, 0.0, -1.1, None, -2.0, -0.1, -6.0],
    "elm": [-2.0, -5.0, -1.0, -1.0, None, -4.0, -0.1, -5.0],
    "fir": [-6.0, -9.0, 0.0, -4.0, None, -5.0, -3.0, -9.0],
    "ash": [-9.0, -8.0, -5.0, -7.0, None, -6.0, -4.0, -11.0],
}
GOOD = {
    "oak": [0.9, 0.5, 0.95, 0.8, 0.3, 0.7, 0.9, 0.4],
    "elm": [0.8, 0.55, 0.9, 0.8, 0.3, 0.5, 0.85, 0.5],
    "fir": [0.5, 0.2, 0.9, 0.5, 0.3, 0.45, 0.6, 0.2],
    "ash": [0.3, 0.25, 0.5, 0.3, 0.3, 0.4, 0.5, 0.1],
}
POOR = {name: row[::-1] for name, row in reversed(GOOD.items())}
POOR = dict(zip(GOOD, POOR.values(), strict=True))


def test_a_table_has_tests_clusters_and_intervals():
    table = tb.meta_evaluate(
        PEOPLE,
        {"poor": POOR, "good": GOOD},
        tests=tb.AgreementTests(significance=500, correction="holm", confidence=200),
    )
    content = table.to_dict()
    assert list(table) == ["good", "poor"]
    assert {test["first"] for test in content["tests"]} == {"good"}
    value = table["human", "good", "seg"].pearson
    assert value.interval["low"] <= value.value <= value.interval["high"]
    assert value.cluster == 1
    assert table["human", "poor", "seg"].pearson.cluster == 2
    text = table.text()
    for words in ("good orders", "poor", "better", "95% interval"):
        assert words in text


@pytest.mark.parametrize("over", ["items", "documents", "systems"])
def test_intervals_over_items_documents_and_systems(over):
    documents = ["d1", "d1", "d2", "d2", "d3", "d3", "d4", "d4"]
    table = tb.meta_evaluate(
        PEOPLE,
        {"good": GOOD},
        text=tb.EvaluatedText(documents=documents),
        statistics=tb.StatisticOptions(["pearson", "acc-eq", "tau-b"]),
        tests=tb.AgreementTests(confidence=100, resampled=over),
    )
    for name in ("pearson", "acc_eq", "tau_b"):
        value = getattr(table["human", "good", "seg"], name)
        assert value.interval["over"] == over
        assert value.interval["low"] <= value.value + 1e-9
        assert value.value - 1e-9 <= value.interval["high"]


def test_intervals_of_systems_come_from_their_segments():
    """Every resample recomputes the systems' scores; BLEU's come from its statistics."""
    names = ("aspen", "birch", "cedar")
    folder = EXAMPLES / "de-en"
    texts = {name: (folder / f"{name}.en").read_text("utf-8").splitlines() for name in names}
    reference = (folder / "reference.a.en").read_text("utf-8").splitlines()
    draw = random.Random(2)
    people = {
        name: [place + draw.gauss(0, 2) for _ in reference] for place, name in enumerate(names)
    }
    table = tb.meta_evaluate(
        people,
        [tb.BLEU()],
        text=tb.EvaluatedText(texts, reference),
        statistics=tb.StatisticOptions(["pearson"], ["sys"]),
        tests=tb.AgreementTests(confidence=50),
    )
    judged = build_judged_systems(people, [tb.BLEU()], tb.EvaluatedText(texts, reference))
    gold, metric_matrix = judged.get_scores("seg", "BLEU")
    value = meta.pearson(*judged.get_scores("sys", "BLEU"))
    resampled = tests.resample_system_scores(
        gold, metric_matrix, value, judged.metrics["BLEU"], samples=50
    )
    # The same draws by hand.
    stream = Stream(12345)
    for resampled_value in resampled:
        items = stream.indices(len(reference), len(reference))
        scores = {
            name: tb.bleu([text[i] for i in items], [reference[i] for i in items]).value
            for name, text in texts.items()
        }
        means = {name: sum(row[i] for i in items) / len(items) for name, row in people.items()}
        assert resampled_value == pytest.approx(meta.pearson(means, scores).value, abs=1e-9)
    interval = table["human", "BLEU"].pearson.interval
    assert (interval["low"], interval["high"]) == (sorted(resampled)[1], sorted(resampled)[-2])


def test_statistics_without_a_test_are_named():
    metrics, options = {"a": GOOD, "b": POOR}, {"tests": tb.AgreementTests(significance=50)}
    statistics = tb.StatisticOptions(["pearson"], ["sys"])
    table = tb.meta_evaluate(PEOPLE, metrics, statistics=statistics, **options)
    assert table.to_dict()["tests"][0]["exact"]
    people = {name: [value or 0.0 for value in row] for name, row in PEOPLE.items()}
    statistics = tb.StatisticOptions(["spa"], ["sys"])
    spa = tb.meta_evaluate(people, metrics, statistics=statistics, **options)
    assert "no test of spa" in spa.text()


# ---- honest words ----


def test_a_threshold_that_ties_everything_is_said():
    """If people tie most pairs, the best threshold ties all pairs, for any metric."""
    draw = random.Random(5)
    people = {name: [0.0] * 30 for name in "abcd"}
    for i in range(6):
        people["a"][i] = -5.0
    metric = {name: [draw.gauss(0, 1) for _ in range(30)] for name in "abcd"}
    options = tb.StatisticOptions(["acc-eq-opt"], ["seg"])
    table = tb.meta_evaluate(people, {"noise": metric}, statistics=options)
    calibrated = table["human", "noise"].acc_eq_opt
    assert calibrated.tied > 0.95
    assert calibrated.at_zero < 0.2 < calibrated.value
    text = " ".join(table.text().split())
    assert "is not informative here: noise: ε =" in text
    assert "ties 99% of pairs (value with ε = 0:" in text


def test_few_systems_and_rows_left_out_are_said():
    options = tb.StatisticOptions(["pearson", "tau-b"], average="item")
    table = tb.meta_evaluate(PEOPLE, {"good": GOOD}, statistics=options)
    text = " ".join(table.text().split())
    assert "human has 4 systems. With so few, adding or removing one system" in text
    constant = {name: [*row[:7], 0.5] for name, row in GOOD.items()}
    options = tb.StatisticOptions(["tau-b"], ["seg"], average="item")
    table = tb.meta_evaluate(PEOPLE, {"flat": constant}, statistics=options)
    assert table["human", "flat"].tau_b.left_out == 1
    assert "1 of 7 rows are left out" in " ".join(table.text().split())


def test_outliers_are_found_named_and_left_out():
    people = {name: -float(i) for i, name in enumerate("abcdefg")} | {"z": -90.0}
    metric = {name: value + 3 for name, value in people.items()}
    table = tb.meta_evaluate(people, {"m": metric}, selection=tb.SystemSelection("mad"))
    (set_content,) = table.to_dict()["sets"]
    assert set_content["left_out"] == [{"system": "z", "why": "outlier"}]
    assert "left out: z (outlier)" in table.text()
    with pytest.raises(tb.InputError, match="outliers: no system 'y'"):
        tb.meta_evaluate(people, {"m": metric}, selection=tb.SystemSelection(["y"]))


def test_rare_similar_name_of_a_metric_is_a_warning_and_unrated_output_is_left_out():
    people = {"Bravo": [3.0, 2.0, 1.0], "Alpha": [1.0, 2.0, 2.0]}
    scores = {**people, "brvo": [None, 2.0, None], "Bravos": [1.0, 2.0, 3.0]}
    with pytest.warns(tb.TextWarning, match="m: left out 1 segment of 'brvo', .* 'Bravo'"):
        table = tb.meta_evaluate(people, {"m": scores})
    assert [one["systems"] for one in table.to_dict()["warnings"]] == [["Bravo"]]
    systems = {name: ["a", "b", "c"] for name in ("Bravo", "Alpha", "Charlie")}
    text = tb.EvaluatedText(systems, ["a", "b", "d"])
    table = tb.meta_evaluate(people, {"BLEU": tb.BLEU()}, text=text)
    assert "left out: Charlie (no human score)" in table.text()


def test_values_are_found_by_set_metric_and_level():
    options = tb.StatisticOptions(["pearson", "pairwise"])
    table = tb.meta_evaluate(PEOPLE, {"good": GOOD}, statistics=options)
    assert float(table["human", "good"].pairwise) == 1.0
    with pytest.raises(AttributeError, match=r"at several levels \(sys, seg\)\. Specify one"):
        table["human", "good"].pearson  # noqa: B018
    with pytest.raises(AttributeError, match="no statistic 'spa'"):
        table["human", "good"].spa  # noqa: B018
    with pytest.raises(KeyError, match="no metric 'bad'"):
        table["human", "bad"]
    with pytest.raises(KeyError, match="no set 'en-de'"):
        table["en-de", "good"]
    with pytest.raises(ValueError, match="no metric 'bad'"):
        table.svg(metric="bad")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (lambda: tb.StatisticOptions(levels=["word"]), "unknown level 'word'; available: sys, dom"),
        (lambda: tb.StatisticOptions(average="row"), "unknown average 'row'"),
        (lambda: tb.StatisticOptions(epsilon=-1), "epsilon=-1: expected a number of 0 or more"),
        (lambda: tb.AgreementTests(significance=0), "significance=0: expected a whole number of 1"),
        (lambda: tb.AgreementTests(resampled="item"), "unknown resampled 'item'; did you mean"),
        (lambda: tb.TaskFolder("x", preset="wmt2"), "unknown preset 'wmt2'; did you mean 'wmt2"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        options()
