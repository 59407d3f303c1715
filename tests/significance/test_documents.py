"""Whole documents drawn and exchanged: the numbers are those of plain loops over documents."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outputs import output, references

from truebleu import BLEU, CHRF, TER, InputError
from truebleu.significance import Measure, bootstrap_intervals, run_paired_tests


@pytest.fixture(scope="module")
def texts():
    """Two systems on 60 segments of 13 documents of different lengths, and their references."""
    dice = random.Random(7)
    refs = references(dice, 60)
    systems = {name: output(dice, refs, kept) for name, kept in (("one", 0.7), ("other", 0.75))}
    documents = sorted(dice.choices("abcdefghijklm", k=60), key=lambda _: dice.random())
    return systems, refs, documents


def rows_of(documents):
    """The segments of each document, documents in order of first appearance."""
    return [[i for i, d in enumerate(documents) if d == one] for one in dict.fromkeys(documents)]


def by_hand(score, documents, seed, trials):
    """Bootstrap and randomization as loops; `score` takes (system, segment) pairs."""
    blocks = rows_of(documents)
    draws = np.random.default_rng(seed).choice(len(blocks), (trials, len(blocks)))
    resampled = [
        [score([(side, i) for block in row for i in blocks[block]]) for row in draws]
        for side in (0, 1)
    ]
    taken = np.random.default_rng(seed).integers(2, size=(trials, len(blocks)), dtype=bool)
    segments = range(len(documents))
    observed = score([(1, i) for i in segments]) - score([(0, i) for i in segments])
    count = 0
    for row in taken:
        # What the trial takes stays with the baseline.
        one = [(0 if t else 1, i) for t, block in zip(row, blocks, strict=True) for i in block]
        other = [(1 - side, i) for side, i in one]
        count += abs(score(one) - score(other)) >= abs(observed)
    return resampled, (count + 1) / (trials + 1)


@pytest.mark.parametrize("metric", [BLEU(), CHRF(), TER()], ids=lambda metric: metric.NAME)
def test_a_metric_by_documents_is_the_same_as_by_hand(texts, metric):
    systems, refs, documents = texts
    tables = [metric.statistics(hypotheses, refs) for hypotheses in systems.values()]

    def score(chosen):
        total = None
        for side in (0, 1):
            part = tables[side][[i for s, i in chosen if s == side]]
            total = part if total is None else total + part
        return metric.from_statistics(total).value

    measure = Measure(metric, dict(zip(systems, tables, strict=True)))
    resampled, p = by_hand(score, documents, 11, 200)
    [result] = run_paired_tests(
        [measure], documents=documents, seed=11, resamples=200, randomizations=200
    )
    for name, values in zip(systems, resampled, strict=True):
        assert result.intervals[name].mean == pytest.approx(sum(values) / 200)
        assert result.intervals[name].low == pytest.approx(sorted(values)[5])
    assert result.differences["other"].p == p
    assert bootstrap_intervals([measure], documents=documents, seed=11, resamples=200) == [
        result.intervals
    ]
    assert result.documents == 13
    assert "wrote each document" in result.caution


@given(st.data())
def test_scores_from_elsewhere_are_means_over_the_segments_of_drawn_documents(data):
    count = data.draw(st.integers(2, 25))
    number = st.integers(-9, 9) | st.floats(-1e3, 1e3) | st.decimals(0, 5, places=2).map(float)
    columns = [data.draw(st.lists(number, min_size=count, max_size=count)) for _ in range(2)]
    documents = data.draw(st.lists(st.sampled_from("abcde"), min_size=count, max_size=count))
    measure = Measure.from_scores("x", {"one": columns[0], "other": columns[1]})
    [result] = run_paired_tests(
        [measure], documents=documents, seed=3, resamples=40, randomizations=40
    )

    def score(chosen):
        return sum(columns[side][i] for side, i in chosen) / len(chosen)

    resampled, _ = by_hand(score, documents, 3, 40)
    for name, values in zip(("one", "other"), resampled, strict=True):
        assert result.intervals[name].mean == pytest.approx(sum(values) / 40, abs=1e-9)
        assert result.intervals[name].value == measure.get_value(name)


def test_documents_of_one_segment_each_are_segments(texts):
    systems, refs, _ = texts
    metric = BLEU()
    measures = [
        Measure(metric, {name: metric.statistics(text, refs) for name, text in systems.items()}),
        Measure.from_scores("x", {"one": [0.1, 0.2, 0.3] * 20, "other": [0.3, 0.1, 1 / 3] * 20}),
    ]
    for test in ("ar", "bs", "koehn"):
        plain = run_paired_tests(measures, test=test)
        apart = run_paired_tests(measures, test=test, documents=range(60))
        for one, other in zip(plain, apart, strict=True):
            for name in one.intervals:
                assert one.intervals[name] == other.intervals[name].replace(documents=None)
            mine, theirs = one.differences["other"], other.differences["other"]
            assert theirs.interval.documents == 60
            assert mine == theirs.replace(interval=mine.interval)
            assert mine.interval == theirs.interval.replace(documents=None)


def test_one_large_document_may_be_drawn_again_and_again():
    # Sums of numbers that use every bit, with nearly all segments in one document.
    dice = random.Random(1)
    columns = {name: [dice.random() for _ in range(500)] for name in ("one", "other")}
    documents = [max(0, i - 400) for i in range(500)]
    [result] = run_paired_tests(
        [Measure.from_scores("x", columns)], documents=documents, resamples=500
    )
    assert 0 < result.intervals["one"].low < result.intervals["one"].high < 1
    assert result.differences["other"].value == pytest.approx(
        (sum(columns["other"]) - sum(columns["one"])) / 500
    )


def test_one_document_tells_nothing():
    measure = Measure.from_scores("x", {"one": [1, 2, 3], "other": [3, 4, 5]})
    [result] = run_paired_tests([measure], documents=["d"] * 3)
    assert result.differences["other"].p == 1
    assert result.differences["other"].note.startswith("one document: too few")
    assert result.intervals["one"].note.startswith("one document: all resamples are equal")


@pytest.mark.parametrize(
    ("documents", "test", "error", "told"),
    [
        (["a"] * 2, "ar", InputError, "documents: 2 keys for 3 segments"),
        ("aab", "ar", TypeError, "documents: a single str"),
        (["a"] * 3, "bs-sacrebleu", ValueError, "does not support documents"),
    ],
)
def test_what_is_refused(documents, test, error, told):
    measure = Measure.from_scores("x", {"one": [1, 2, 3], "other": [3, 4, 5]})
    with pytest.raises(error, match=told):
        run_paired_tests([measure], documents=documents, test=test)
