"""Significance with hash buckets: results are close to the results with segments."""

import random
from math import sqrt
from statistics import NormalDist, mean

import pytest

from truebleu import BLEU, CHRF, InputError
from truebleu.engines import Sums, bucket_of, compare, intervals
from truebleu.significance import Measure
from truebleu.significance import bootstrap_intervals as exact_intervals
from truebleu.significance import run_paired_tests as exact_paired

pa = pytest.importorskip("pyarrow")

BUCKETS = 200
SYSTEMS = ("Online-A", "Online-B", "Online-G", "JDExploreAcademy", "PROMT")
RESAMPLES = 4000


@pytest.fixture(scope="module")
def texts(wmt22):
    """1,984 German segments: the reference, and the translations of five systems."""

    def lines(path):
        return path.read_text(encoding="utf-8").splitlines()

    outputs = wmt22 / "system-outputs"
    return lines(wmt22 / "references" / "generaltest2022.de-en.ref.A.en"), {
        name: lines(outputs / f"generaltest2022.de-en.hyp.{name}.en") for name in SYSTEMS
    }


def make_table(texts, order=None, name="seg-{}"):
    """Create a table of all systems' rows, in any order."""
    reference, systems = texts
    items = [
        (name.format(i), system, hypotheses[i], reference[i])
        for system, hypotheses in systems.items()
        for i in range(len(reference))
    ]
    random.Random(order).shuffle(items)
    columns = zip(*items, strict=True)
    return pa.table(dict(zip(("id", "system", "hyp", "ref"), map(list, columns), strict=True)))


def make_sums(texts, metrics="bleu", buckets=BUCKETS, **options):
    sums = Sums(metrics, by="system", bucket=("id", buckets))
    return sums.update(make_table(texts, **options))


@pytest.fixture(scope="module")
def exact(texts):
    """Return the exact test with segments."""
    reference, systems = texts
    metric = BLEU()
    tables = {name: metric.statistics(text, reference) for name, text in systems.items()}
    measure = Measure(metric, dict(sorted(tables.items())))
    return measure, exact_paired([measure], pairs="all", resamples=RESAMPLES)[0]


def test_one_segment_per_bucket_equals_exact_test():
    """Use ids that all have separate buckets: the same rows in another order."""
    metric = BLEU(max_order=1)
    bucket = {bucket_of(f"x{i}", 10_000): f"x{i}" for i in range(40)}
    assert len(bucket) == 40
    ids = [bucket[number] for number in sorted(bucket)]
    dice = random.Random(7)
    texts = {name: [" ".join(dice.choices("abcd", k=6)) for _ in ids] for name in ("ref", "a", "b")}
    table = pa.table(
        {
            "id": ids * 2,
            "system": ["a"] * 40 + ["b"] * 40,
            "hyp": texts["a"] + texts["b"],
            "ref": texts["ref"] * 2,
        }
    )
    sums = Sums(metric, by="system", bucket=("id", 10_000)).update(table)
    tables = {name: metric.statistics(texts[name], texts["ref"]) for name in "ab"}
    measures = [Measure(metric, tables)]
    for test in ("ar", "bs", "koehn"):
        [expected] = exact_paired(measures, test=test, seed=3)
        comparison = compare(sums, test=test, seed=3)
        assert comparison.to_dict() == expected.to_dict()
    assert intervals(sums, seed=3) == exact_intervals(measures, seed=3)[0]


def test_bucket_and_segment_standard_errors_agree(texts, exact):
    """Compare standard errors; the scores must be equal.

    An error estimated from B units is itself uncertain by 1 / √(2B), and by the resamples. The
    tolerance is four times that.
    """
    _, exact_comparison = exact
    comparison = compare(make_sums(texts), pairs="all", resamples=RESAMPLES)
    allowed = 4 * sqrt(1 / (2 * BUCKETS) + 2 / (2 * RESAMPLES))
    for system, interval in intervals(make_sums(texts), resamples=RESAMPLES).items():
        exact_value = exact_comparison.intervals[system]
        assert interval.value == exact_value.value
        # The ends of an interval are less certain than its deviation: 1.6 times, at 95%.
        assert interval.half_width == pytest.approx(exact_value.half_width, rel=1.6 * allowed)
    ratios = []
    for pair, difference in comparison.pairs.items():
        exact_value = exact_comparison.pairs[pair]
        assert difference.value == exact_value.value
        assert difference.segments == BUCKETS
        ratios.append(difference.deviation / exact_value.deviation)
        assert ratios[-1] == pytest.approx(1, abs=allowed)
    assert mean(ratios) == pytest.approx(1, abs=allowed)


def test_bucket_and_segment_p_values_agree(texts, exact):
    """Compare p-values, given that a difference of z errors has p of about 2 Φ(-z).

    The error is known to 1 / √(2B). All segments of a bucket are swapped together, so the variance
    is larger by a factor of 1 + z² / B.
    """
    _, exact_comparison = exact
    normal = NormalDist()
    for name in ("seg-{}", "{}", "doc/{}"):
        comparison = compare(make_sums(texts, name=name), pairs="all")
        for pair, difference in comparison.pairs.items():
            p = exact_comparison.pairs[pair].p
            z = -normal.inv_cdf(p / 2)
            allowed = 4 / sqrt(2 * BUCKETS)
            low = 2 * normal.cdf(-z * (1 + allowed))
            high = 2 * normal.cdf(-z * (1 - allowed) / sqrt(1 + z * z / BUCKETS))
            noise = 4 * sqrt(difference.p / difference.trials) + 2 / difference.trials
            assert low - noise <= difference.p <= high + noise, (pair, p, difference)


def test_row_order_does_not_change_results(texts):
    first = compare(
        make_sums(texts, ("bleu", CHRF()), order=1), baseline="PROMT", randomizations=500
    )
    second = compare(
        make_sums(texts, ("bleu", CHRF()), order=2), baseline="PROMT", randomizations=500
    )
    assert list(first) == ["bleu", "chrF2"]
    assert [comparison.to_dict() for comparison in first.values()] == [
        x.to_dict() for x in second.values()
    ]
    assert first["bleu"].baseline == "PROMT"
    intervals_by_metric = intervals(make_sums(texts, ("bleu", CHRF())))
    assert list(intervals_by_metric) == ["bleu", "chrF2"]
    assert list(intervals_by_metric["bleu"]) == sorted(SYSTEMS)


def test_single_system_and_multicolumn_systems(texts):
    table = make_table(texts)
    promt_rows = table.filter(pa.array([name == "PROMT" for name in table["system"].to_pylist()]))
    result = intervals(Sums(bucket=("id", BUCKETS)).update(promt_rows))
    assert result == {"all": intervals(make_sums(texts))["PROMT"]}
    two_column_table = table.append_column("pair", pa.array(["de-en"] * len(table)))
    result = intervals(Sums(by=("pair", "system"), bucket=("id", BUCKETS)).update(two_column_table))
    assert list(result) == [f"de-en/{name}" for name in sorted(SYSTEMS)]


def test_duplicate_system_names_raise_error(texts):
    table = make_table(texts)
    systems = table["system"].to_pylist()
    first, second, *_ = sorted(SYSTEMS)
    nulls = [{first: None, second: "null"}.get(name, name) for name in systems]
    table = table.set_column(table.column_names.index("system"), "system", [nulls])
    with pytest.raises(InputError, match=r"system name 'null' for \(None,\) and \('null',\)"):
        intervals(Sums(by="system", bucket=("id", BUCKETS)).update(table))
    left = pa.array([{first: "a/b", second: "a"}.get(name, name) for name in systems])
    right = pa.array([{first: "c", second: "b/c"}.get(name, name) for name in systems])
    table = table.append_column("left", left).append_column("right", right)
    with pytest.raises(InputError, match="duplicate system name 'a/b/c'"):
        compare(Sums(by=("left", "right"), bucket=("id", BUCKETS)).update(table))


def test_baseline_can_be_given_by_key(texts):
    table = make_table(texts)
    numbers = pa.array([SYSTEMS.index(name) for name in table["system"].to_pylist()])
    bucketed = Sums(by="number", bucket=("id", BUCKETS)).update(
        table.append_column("number", numbers)
    )
    assert compare(bucketed, baseline=1).to_dict() == compare(bucketed, baseline="1").to_dict()
    bucketed = Sums(by=("number", "system"), bucket=("id", BUCKETS))
    bucketed.update(table.append_column("number", numbers))
    comparison = compare(bucketed, baseline=(1, SYSTEMS[1]))
    assert comparison.baseline == f"1/{SYSTEMS[1]}"


def test_systems_with_different_segments_raise_error(texts):
    reference, systems = texts
    short = {name: text[:300] for name, text in systems.items()}
    table = make_table((reference[:300], short), order=1)
    lost = table.take([i for i in range(len(table)) if i not in (5, 6)])
    bucketed = Sums(by="system", bucket=("id", 50)).update(lost)
    with pytest.raises(InputError, match=r"have different segments in [12] buckets? \(buc"):
        compare(bucketed)
    message = r"bucket \d+: .* [0-9]+ segments, .* [0-9]+\)?; every system needs the same ids"
    with pytest.raises(InputError, match=message):
        intervals(bucketed)
    with pytest.raises(InputError, match="these sums have no buckets"):
        compare(Sums(by="system").update(table))
    with pytest.raises(ValueError, match="test 'bs-sacrebleu' does not support buckets"):
        compare(make_sums(texts), test="bs-sacrebleu")
    nulls = pa.table({"id": ["a"], "hyp": ["a"], "ref": pa.array([None], pa.string())})
    with pytest.raises(InputError, match="'ref' is null in 1 row"):
        intervals(Sums(bucket=("id", 5)).update(nulls))
