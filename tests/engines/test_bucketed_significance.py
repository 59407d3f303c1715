"""Significance at scale: buckets of segments instead of segments say nearly the same."""

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
    """1,984 German segments: the reference, and five systems' translations."""

    def lines(path):
        return path.read_text(encoding="utf-8").splitlines()

    outputs = wmt22 / "system-outputs"
    return lines(wmt22 / "references" / "generaltest2022.de-en.ref.A.en"), {
        name: lines(outputs / f"generaltest2022.de-en.hyp.{name}.en") for name in SYSTEMS
    }


def rows(texts, order=None, name="seg-{}"):
    """A table of all systems' rows, in any order."""
    reference, systems = texts
    items = [
        (name.format(i), system, hypotheses[i], reference[i])
        for system, hypotheses in systems.items()
        for i in range(len(reference))
    ]
    random.Random(order).shuffle(items)
    columns = zip(*items, strict=True)
    return pa.table(dict(zip(("id", "system", "hyp", "ref"), map(list, columns), strict=True)))


def sums(texts, metrics="bleu", buckets=BUCKETS, **options):
    made = Sums(metrics, by="system", bucket=("id", buckets))
    return made.update(rows(texts, **options))


@pytest.fixture(scope="module")
def exact(texts):
    """The test of segments."""
    reference, systems = texts
    metric = BLEU()
    tables = {name: metric.statistics(text, reference) for name, text in systems.items()}
    measure = Measure(metric, dict(sorted(tables.items())))
    return measure, exact_paired([measure], pairs="all", resamples=RESAMPLES)[0]


def test_as_many_buckets_as_segments_is_the_exact_test():
    """Ids that all fall into buckets of their own: the same rows in another order."""
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
    made = Sums(metric, by="system", bucket=("id", 10_000)).update(table)
    tables = {name: metric.statistics(texts[name], texts["ref"]) for name in "ab"}
    measures = [Measure(metric, tables)]
    for test in ("ar", "bs", "koehn"):
        [known] = exact_paired(measures, test=test, seed=3)
        found = compare(made, test=test, seed=3)
        assert found.to_dict() == known.to_dict()
    assert intervals(made, seed=3) == exact_intervals(measures, seed=3)[0]


def test_errors_found_with_buckets_are_those_found_with_segments(texts, exact):
    """An error estimated from B units is itself uncertain by 1 / √(2B), and by the resamples.

    Four times that is allowed. The scores are the same.
    """
    _, known = exact
    found = compare(sums(texts), pairs="all", resamples=RESAMPLES)
    allowed = 4 * sqrt(1 / (2 * BUCKETS) + 2 / (2 * RESAMPLES))
    for system, interval in intervals(sums(texts), resamples=RESAMPLES).items():
        other = known.intervals[system]
        assert interval.value == other.value
        # The ends of an interval are less certain than its deviation: 1.6 times, at 95 %.
        assert interval.half_width == pytest.approx(other.half_width, rel=1.6 * allowed)
    ratios = []
    for pair, difference in found.pairs.items():
        other = known.pairs[pair]
        assert difference.value == other.value
        assert difference.segments == BUCKETS
        ratios.append(difference.deviation / other.deviation)
        assert ratios[-1] == pytest.approx(1, abs=allowed)
    assert mean(ratios) == pytest.approx(1, abs=allowed)


def test_p_values_of_buckets_are_those_of_segments(texts, exact):
    """A difference of z errors has p of about 2 Φ(-z), and the error is known to 1 / √(2B).

    In a bucket all segments change places together, so the variance is greater by 1 + z² / B.
    """
    _, known = exact
    normal = NormalDist()
    for name in ("seg-{}", "{}", "doc/{}"):
        found = compare(sums(texts, name=name), pairs="all")
        for pair, difference in found.pairs.items():
            p = known.pairs[pair].p
            z = -normal.inv_cdf(p / 2)
            allowed = 4 / sqrt(2 * BUCKETS)
            low = 2 * normal.cdf(-z * (1 + allowed))
            high = 2 * normal.cdf(-z * (1 - allowed) / sqrt(1 + z * z / BUCKETS))
            noise = 4 * sqrt(difference.p / difference.trials) + 2 / difference.trials
            assert low - noise <= difference.p <= high + noise, (pair, p, difference)


def test_rows_in_any_order_of_any_metric(texts):
    one = compare(sums(texts, ("bleu", CHRF()), order=1), baseline="PROMT", randomizations=500)
    two = compare(sums(texts, ("bleu", CHRF()), order=2), baseline="PROMT", randomizations=500)
    assert list(one) == ["bleu", "chrF2"]
    assert [found.to_dict() for found in one.values()] == [x.to_dict() for x in two.values()]
    assert one["bleu"].baseline == "PROMT"
    both = intervals(sums(texts, ("bleu", CHRF())))
    assert list(both) == ["bleu", "chrF2"]
    assert list(both["bleu"]) == sorted(SYSTEMS)


def test_one_system_and_systems_of_several_columns(texts):
    table = rows(texts)
    alone = table.filter(pa.array([name == "PROMT" for name in table["system"].to_pylist()]))
    found = intervals(Sums(bucket=("id", BUCKETS)).update(alone))
    assert found == {"all": intervals(sums(texts))["PROMT"]}
    two = table.append_column("pair", pa.array(["de-en"] * len(table)))
    found = intervals(Sums(by=("pair", "system"), bucket=("id", BUCKETS)).update(two))
    assert list(found) == [f"de-en/{name}" for name in sorted(SYSTEMS)]


def test_systems_that_would_be_called_the_same_are_refused(texts):
    table = rows(texts)
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


def test_a_baseline_by_its_key(texts):
    table = rows(texts)
    numbers = pa.array([SYSTEMS.index(name) for name in table["system"].to_pylist()])
    made = Sums(by="number", bucket=("id", BUCKETS)).update(table.append_column("number", numbers))
    assert compare(made, baseline=1).to_dict() == compare(made, baseline="1").to_dict()
    made = Sums(by=("number", "system"), bucket=("id", BUCKETS))
    made.update(table.append_column("number", numbers))
    found = compare(made, baseline=(1, SYSTEMS[1]))
    assert found.baseline == f"1/{SYSTEMS[1]}"


def test_systems_that_are_not_of_the_same_segments_are_refused(texts):
    reference, systems = texts
    short = {name: text[:300] for name, text in systems.items()}
    table = rows((reference[:300], short), order=1)
    lost = table.take([i for i in range(len(table)) if i not in (5, 6)])
    made = Sums(by="system", bucket=("id", 50)).update(lost)
    with pytest.raises(InputError, match=r"have different segments: [12] buckets differ \(buc"):
        compare(made)
    told = r"bucket \d+: .* [0-9]+ segments, .* [0-9]+\)?; every system needs the same ids"
    with pytest.raises(InputError, match=told):
        intervals(made)
    with pytest.raises(InputError, match="these sums have no buckets"):
        compare(Sums(by="system").update(table))
    with pytest.raises(ValueError, match="test 'bs-sacrebleu' requires single segments"):
        compare(sums(texts), test="bs-sacrebleu")
    nulls = pa.table({"id": ["a"], "hyp": ["a"], "ref": pa.array([None], pa.string())})
    with pytest.raises(InputError, match="'ref' is null in 1 row"):
        intervals(Sums(bucket=("id", 5)).update(nulls))
