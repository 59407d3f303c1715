"""Tests of `Score`, and of `Scores`, which NumPy and Arrow can read."""

import copy
import json
import pickle

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from strategies import oracle

import truebleu
from truebleu import BLEU, Score, Scores

HYPOTHESES = ["The dog bit the man.", "It was not unexpected.", "The man bit him first."]
REFERENCES = ["The dog bit the man.", "No one was surprised.", "The man had bitten the dog."]


@pytest.fixture
def score() -> Score:
    return truebleu.bleu(HYPOTHESES, REFERENCES)


def test_score_text_equals_sacrebleu(score):
    expected = oracle().corpus_score(HYPOTHESES, [REFERENCES])
    assert str(score) == expected.format(width=2) == score.format()
    for width in (0, 1, 4, 20):
        assert score.format(width=width) == expected.format(width=width)
        assert score.format(width=width, score_only=True) == expected.format(width, score_only=True)
    assert score.format(signature=True) == expected.format(signature=str(score.signature))


def test_dictionary_and_json_have_sacrebleu_keys(score):
    """The keys are in sacreBLEU's order, and the score has full precision."""
    content = score.to_dict()
    sacrebleu_score = oracle()
    expected = sacrebleu_score.corpus_score(HYPOTHESES, [REFERENCES])
    expected = json.loads(
        expected.format(is_json=True, signature=str(sacrebleu_score.get_signature())), parse_int=str
    )
    assert list(content)[: len(expected)] == list(expected)
    assert content["score"] == score.value
    assert content["signature"] == str(score.signature)
    for key in ("name", "verbose_score", "nrefs", "case", "eff", "tok", "smooth", "version"):
        assert content[key] == expected[key]
    assert json.loads(score.to_json()) == json.loads(json.dumps(content))


def test_score_compares_by_value(score):
    assert score == truebleu.bleu(HYPOTHESES, REFERENCES)
    assert score != truebleu.bleu(HYPOTHESES, REFERENCES, smoothing="none", tokenize="char")


@pytest.fixture
def scores() -> Scores:
    return BLEU().segments(HYPOTHESES, REFERENCES)


def test_scores_behave_like_sequence_of_floats(scores):
    values = [BLEU().sentence(*pair).value for pair in zip(HYPOTHESES, REFERENCES, strict=True)]
    assert len(scores) == 3
    assert scores.tolist() == list(scores) == values
    assert (scores[0], scores[-1]) == (values[0], values[-1])
    assert isinstance(scores[0], float)
    assert scores[1:].tolist() == values[1:]
    assert scores[::-1].tolist() == values[::-1]
    assert all(0 <= value <= 100.00000000000004 for value in scores)
    assert 100.00000000000004 in scores


def test_index_out_of_range_raises_error(scores):
    with pytest.raises(IndexError):
        scores[3]


def test_scores_compare_by_value(scores):
    assert scores == BLEU().segments(HYPOTHESES, REFERENCES)
    assert scores != scores[:2]


def test_numpy_reads_scores_without_a_copy(scores):
    array = np.asarray(scores)
    assert (array.dtype, array.shape) == (np.float64, (3,))
    assert array.tolist() == scores.tolist()
    assert np.shares_memory(array, np.asarray(scores))


def test_pyarrow_and_polars_read_scores(scores):
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    assert pa.array(scores).to_pylist() == scores.tolist()
    assert pa.chunked_array(scores).to_pylist() == scores.tolist()
    assert pl.Series(scores).to_list() == scores.tolist()


@given(st.lists(st.text("ab ", max_size=6), min_size=1, max_size=5))
def test_scores_of_slice_equal_slice_of_scores(hypotheses):
    references = ["a b"] * len(hypotheses)
    all_scores = BLEU().segments(hypotheses, references)
    assert BLEU().segments(hypotheses[-2:], references[-2:]) == all_scores[-2:]


@pytest.mark.parametrize(
    "name", ["bleu", "chrf", "ter", "ngram-f", "gleu", "nist", "wer", "nltk-bleu"]
)
def test_components_of_scores_are_attributes(name):
    score = truebleu.metric(name).score(["a cat sat on a mat"], ["a cat is on a mat"])
    for one in (score, copy.copy(score), pickle.loads(pickle.dumps(score))):
        for component, value in one.details().items():
            attribute = getattr(one, component)
            assert (list(attribute) if isinstance(attribute, tuple) else attribute) == value
            assert component in dir(one)


def test_composite_scores_have_components_as_attributes():
    score = truebleu.mean_document_bleu(["a b", "c d"], ["a b", "c e"], [1, 2])
    assert score.documents == score.details()["documents"]
    with pytest.raises(AttributeError, match="has no attribute 'recall'"):
        score.recall  # noqa: B018


def test_arithmetic_with_scores_gives_numbers():
    first, second = (BLEU().score([text], ["a b c d e f"]) for text in ("a b c d", "a b c d e"))
    assert second - first == second.value - first.value
    assert 100 - first == 100 - first.value
    assert sum([first, second]) / 2 == np.mean([first, second])
    assert (first * 2, 2 * first, first / 2) == (first.value * 2, first.value * 2, first.value / 2)
    assert int(first) == int(first.value)
    with pytest.raises(TypeError, match="different signatures"):
        first - BLEU(lowercase=True).score(["a"], ["a"])
    with pytest.raises(TypeError, match="unsupported operand"):
        first + "1"
