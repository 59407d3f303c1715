"""Tests of resampling documents, against naive loops over documents."""

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
def document_corpus():
    """Return two systems on 60 segments in 13 documents of different sizes, and references."""
    dice = random.Random(7)
    refs = references(dice, 60)
    systems = {name: output(dice, refs, kept) for name, kept in (("one", 0.7), ("other", 0.75))}
    documents = sorted(dice.choices("abcdefghijklm", k=60), key=lambda _: dice.random())
    return systems, refs, documents


def group_segments(documents):
    """Return the segment indices of each document, in order of first appearance."""
    return [[i for i, d in enumerate(documents) if d == one] for one in dict.fromkeys(documents)]


def resample_naively(score, documents, seed, trials):
    """Bootstrap and randomize with loops; `score` takes (system, segment) pairs."""
    blocks = group_segments(documents)
    draws = np.random.default_rng(seed).choice(len(blocks), (trials, len(blocks)))
    resampled = [
        [score([(side, i) for block in row for i in blocks[block]]) for row in draws]
        for side in (0, 1)
    ]
    size = (trials, len(blocks))
    kept_by_baseline = np.random.default_rng(seed).integers(2, size=size, dtype=bool)
    segments = range(len(documents))
    observed = score([(1, i) for i in segments]) - score([(0, i) for i in segments])
    count = 0
    for row in kept_by_baseline:
        # Selected documents stay with the baseline; the others are swapped.
        baseline_segments = [
            (0 if t else 1, i) for t, block in zip(row, blocks, strict=True) for i in block
        ]
        system_segments = [(1 - side, i) for side, i in baseline_segments]
        count += abs(score(baseline_segments) - score(system_segments)) >= abs(observed)
    return resampled, (count + 1) / (trials + 1)


@pytest.mark.parametrize("metric", [BLEU(), CHRF(), TER()], ids=lambda metric: metric.NAME)
def test_document_resampling_equals_naive_loops(document_corpus, metric):
    systems, refs, documents = document_corpus
    tables = [metric.statistics(hypotheses, refs) for hypotheses in systems.values()]

    def score(system_segments):
        total = None
        for side in (0, 1):
            part = tables[side][[i for s, i in system_segments if s == side]]
            total = part if total is None else total + part
        return metric.from_statistics(total).value

    measure = Measure(metric, dict(zip(systems, tables, strict=True)))
    resampled, p = resample_naively(score, documents, 11, 200)
    draws = {"documents": documents, "seed": 11, "resamples": 200}
    [result] = run_paired_tests([measure], **draws, randomizations=200)
    for name, values in zip(systems, resampled, strict=True):
        assert result.intervals[name].mean == pytest.approx(sum(values) / 200)
        assert result.intervals[name].low == pytest.approx(sorted(values)[5])
    assert result.differences["other"].p == p
    assert bootstrap_intervals([measure], **draws) == [result.intervals]
    assert result.documents == 13
    assert "wrote each document" in result.caution


@given(st.data())
def test_external_scores_are_averaged_over_resampled_documents(data):
    count = data.draw(st.integers(2, 25))
    number = st.integers(-9, 9) | st.floats(-1e3, 1e3) | st.decimals(0, 5, places=2).map(float)
    columns = [data.draw(st.lists(number, min_size=count, max_size=count)) for _ in range(2)]
    documents = data.draw(st.lists(st.sampled_from("abcde"), min_size=count, max_size=count))
    measure = Measure.from_scores("x", {"one": columns[0], "other": columns[1]})
    draws = {"documents": documents, "seed": 3, "resamples": 40, "randomizations": 40}
    [result] = run_paired_tests([measure], **draws)

    def score(system_segments):
        return sum(columns[side][i] for side, i in system_segments) / len(system_segments)

    resampled, _ = resample_naively(score, documents, 3, 40)
    for name, values in zip(("one", "other"), resampled, strict=True):
        assert result.intervals[name].mean == pytest.approx(sum(values) / 40, abs=1e-9)
        assert result.intervals[name].value == measure.get_score(name)


def test_single_segment_documents_equal_segments(document_corpus):
    systems, refs, _ = document_corpus
    metric = BLEU()
    measures = [
        Measure(metric, {name: metric.statistics(text, refs) for name, text in systems.items()}),
        Measure.from_scores("x", {"one": [0.1, 0.2, 0.3] * 20, "other": [0.3, 0.1, 1 / 3] * 20}),
    ]
    for test in ("ar", "bs", "koehn"):
        plain = run_paired_tests(measures, test=test)
        by_document = run_paired_tests(measures, test=test, documents=range(60))
        for plain_result, document_result in zip(plain, by_document, strict=True):
            for name, interval in document_result.intervals.items():
                assert plain_result.intervals[name] == interval.replace(documents=None)
            difference = document_result.differences["other"]
            assert difference.interval.documents == 60
            interval = difference.interval.replace(documents=None)
            assert plain_result.differences["other"] == difference.replace(interval=interval)


def test_repeated_large_document_does_not_overflow():
    # The numbers use every bit, and one document has nearly all segments.
    dice = random.Random(1)
    columns = {name: [dice.random() for _ in range(500)] for name in ("one", "other")}
    documents = [max(0, i - 400) for i in range(500)]
    measure = Measure.from_scores("x", columns)
    [result] = run_paired_tests([measure], documents=documents, resamples=500)
    assert 0 < result.intervals["one"].low < result.intervals["one"].high < 1
    difference = (sum(columns["other"]) - sum(columns["one"])) / 500
    assert result.differences["other"].value == pytest.approx(difference)


def test_single_document_is_not_significant():
    measure = Measure.from_scores("x", {"one": [1, 2, 3], "other": [3, 4, 5]})
    [result] = run_paired_tests([measure], documents=["d"] * 3)
    assert result.differences["other"].p == 1
    assert result.differences["other"].note.startswith("a single document cannot show")
    assert result.intervals["one"].note.startswith("with one document, all resamples are equal")


@pytest.mark.parametrize(
    ("documents", "test", "error", "message"),
    [
        (["a"] * 2, "ar", InputError, r"documents: expected one key per segment \(3\), found 2"),
        ("aab", "ar", TypeError, "documents: .*found a single str"),
        (["a"] * 3, "bs-sacrebleu", ValueError, "does not support documents"),
    ],
)
def test_invalid_documents_are_refused(documents, test, error, message):
    measure = Measure.from_scores("x", {"one": [1, 2, 3], "other": [3, 4, 5]})
    with pytest.raises(error, match=message):
        run_paired_tests([measure], documents=documents, test=test)
