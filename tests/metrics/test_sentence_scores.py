"""Tests that sentence scores equal scores that were created in other ways."""

from __future__ import annotations

from typing import Any

import pytest

import truebleu as tb

TEXT = ("the cat is on a mat", ["the cat sat on the mat", "a cat is on it"])
METRICS = [
    tb.BLEU(),
    tb.BLEU(max_order=9),
    tb.BLEU(reference_length="average", arithmetic="nltk", published_scale=1.0),
    tb.BLEU(str.split),
    tb.CHRF(),
    tb.TER(),
    tb.WER(),
    tb.NGramF(),
]


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_sentence_score_equals_corpus_of_one_segment(metric: Any) -> None:
    score = metric.sentence(*TEXT)
    row = metric.statistics([TEXT[0]], [TEXT[1]]).tolist()[0]
    assert score.row == tuple(row)
    assert all(type(number) is int for number in score.row)
    rebuilt_score = metric.score_from_row(row, 2, segment=True)
    assert (type(rebuilt_score), rebuilt_score, rebuilt_score.row) == (
        type(score),
        score,
        score.row,
    )
    assert rebuilt_score.to_json() == score.to_json()


def test_attributes_of_sentence_score_are_read_only() -> None:
    score = tb.BLEU().sentence(*TEXT)
    for name in ("value", "row", "precisions", "other"):
        with pytest.raises(AttributeError):
            setattr(score, name, 1)


def test_sentence_calls_are_independent() -> None:
    metric = tb.BLEU()
    three = metric.sentence("a b c d", ["a b c d", "x", "y"])
    first_score = metric.sentence("a b c d", ["a b c e"])
    assert (three.signature["nrefs"], first_score.signature["nrefs"]) == ("3", "1")
    assert first_score == tb.BLEU().sentence("a b c d", "a b c e")
    for wrong in ([1], ["a b c d", 1], {"a b c d"}, b"a b c d", 3):
        with pytest.raises((TypeError, tb.InputError)):
            metric.sentence("a b c d", wrong)  # type: ignore[arg-type]
    for none in ([], [None], None):
        with pytest.raises(tb.InputError):
            metric.sentence("a b c d", none)  # type: ignore[arg-type]
    assert metric.sentence("a b c d", ["a b c e"]) == first_score


def test_reentrant_call_gets_independent_score() -> None:
    metric = tb.BLEU()
    inner, outer = metric.sentence("a b c d", "a b c e"), metric.sentence("a b c", "a b e")

    class ReentrantReferences:
        def __len__(self) -> int:
            return 1

        def __iter__(self) -> Any:
            assert metric.sentence("a b c d", ["a b c e"]).row == inner.row
            return iter(["a b e"])

    references: Any = ReentrantReferences()
    assert metric.sentence("a b c", references).row == outer.row
