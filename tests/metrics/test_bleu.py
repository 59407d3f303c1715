"""Tests of BLEU: examples from papers and by hand, and comparisons with an oracle."""

import copy
import math
import pickle

import hypothesis.strategies as st
import oracle_bleu
import pytest
from hypothesis import given
from strategies import corpora, parameters
from textbook_examples import GUIDE, GUIDE_REFERENCES, TROOPS

import truebleu
from truebleu import BLEU

THE = "the the the the the the the"
THE_REFERENCES = ("the cat is on the mat", "there is a cat on the mat")


# Results computed by hand.


@pytest.mark.parametrize(
    ("hypothesis", "references", "matches", "totals"),
    [
        (GUIDE, GUIDE_REFERENCES, (17, 10, 7, 4), (18, 17, 16, 15)),  # the paper: 17/18 and 10/17
        (TROOPS, GUIDE_REFERENCES, (8, 1, 0, 0), (14, 13, 12, 11)),  # the paper: 8/14 and 1/13
        (THE, THE_REFERENCES, (2, 0, 0, 0), (7, 6, 5, 4)),  # the paper: modified precision 2/7
        (THE, THE_REFERENCES[1:], (1, 0, 0, 0), (7, 6, 5, 4)),
        ("the cat", THE_REFERENCES, (2, 1, 0, 0), (2, 1, 0, 0)),
        ("of the", GUIDE_REFERENCES, (2, 1, 0, 0), (2, 1, 0, 0)),  # the paper's third example
        ("the the cat", THE_REFERENCES, (3, 1, 0, 0), (3, 2, 1, 0)),
        ("a b a b", ("b a b a",), (4, 2, 2, 0), (4, 3, 2, 1)),  # ab once, ba once; aba and bab
    ],
)
def test_matches_are_clipped_counts(hypothesis, references, matches, totals):
    score = BLEU(tokenize="none").sentence(hypothesis, references)
    assert (score.matches, score.totals) == (matches, totals)


@pytest.mark.parametrize(
    ("hypothesis_length", "references", "reference_length", "penalty"),
    [
        (12, (12, 15, 17), 12, 1.0),  # the paper: no penalty if one reference has the same length
        (10, (12,), 12, math.exp(1 - 12 / 10)),
        (4, (6,), 6, 0.6065306597126334),  # e^-0.5
        (2, (6,), 6, 0.1353352832366127),  # e^-2
        (4, (5, 3), 3, 1.0),  # equally close: the shorter reference, as in mteval
        (4, (3, 5), 3, 1.0),
        (4, (1, 6), 6, math.exp(1 - 6 / 4)),
        (0, (3,), 3, 0.0),
        (3, (0,), 0, 1.0),
        (0, (0,), 0, 1.0),
    ],
)
def test_brevity_penalty(hypothesis_length, references, reference_length, penalty):
    score = BLEU().sentence("a " * hypothesis_length, tuple("a " * n for n in references))
    lengths = (score.hypothesis_length, score.reference_length)
    assert lengths == (hypothesis_length, reference_length)
    assert score.brevity_penalty == pytest.approx(penalty, rel=1e-15)


def test_brevity_penalty_uses_corpus_lengths():
    score = truebleu.bleu(["a b c d e f", "a b"], ["a b c d", "a b c d"])
    assert score.brevity_penalty == 1.0


@pytest.mark.parametrize(
    ("smoothing", "value", "precisions"),
    [  # matches 2 1 0 0 of 5 4 3 2
        ("none", None, (40, 25, 0, 0)),
        ("exp", None, (40, 25, 100 / (2 * 3), 100 / (4 * 2))),
        ("floor", None, (40, 25, 100 * 0.1 / 3, 100 * 0.1 / 2)),
        ("floor", 0.5, (40, 25, 100 * 0.5 / 3, 100 * 0.5 / 2)),
        ("add-k", None, (40, 100 * 2 / 5, 100 * 1 / 4, 100 * 1 / 3)),
        ("add-k", 0.5, (40, 100 * 1.5 / 4.5, 100 * 0.5 / 3.5, 100 * 0.5 / 2.5)),
    ],
)
def test_smoothing(smoothing, value, precisions):
    metric = BLEU(smoothing=smoothing, smoothing_value=value)
    score = metric.score(["a b x y z"], ["a b c d e"])
    assert (score.matches, score.totals) == ((2, 1, 0, 0), (5, 4, 3, 2)), "counts stay unsmoothed"
    assert score.precisions == pytest.approx(precisions, rel=1e-15)
    assert score.value == pytest.approx(math.prod(precisions) ** 0.25, rel=1e-14)


@pytest.mark.parametrize(
    ("effective_order", "corpus", "sentence"),
    [(None, 0.0, 100.0), (True, 100.0, 100.0), (False, 0.0, 0.0)],
)
def test_effective_order(effective_order, corpus, sentence):
    """Two identical words have no 3-grams, so BLEU is 0 or uses two orders only."""
    metric = BLEU(effective_order=effective_order)
    assert metric.score(["the cat"], ["the cat"]).value == pytest.approx(corpus)
    assert metric.sentence("the cat", "the cat").value == pytest.approx(sentence)
    assert list(metric.segments(["the cat"], ["the cat"])) == pytest.approx([sentence])


def test_identical_texts_score_slightly_above_100():
    """exp(log(100)) is 100.00000000000004 in floating-point arithmetic, also in sacreBLEU."""
    score = truebleu.bleu(["the cat is on the mat"], ["the cat is on the mat"])
    assert (score.value, score.fraction) == (100.00000000000004, 1.0)


@pytest.mark.parametrize(
    ("hypothesis", "reference"),
    [("", "the cat"), ("the cat", ""), ("", ""), (" \u3000\n", "the cat"), ("dog", "the cat")],
)
def test_no_match_scores_0(hypothesis, reference):
    for smoothing in ("none", "exp", "floor", "add-k"):
        score = BLEU(smoothing=smoothing).score([hypothesis], [reference])
        assert (score.value, score.precisions) == (0.0, (0.0, 0.0, 0.0, 0.0))


def test_empty_reference_counts_but_missing_reference_does_not():
    """The empty reference is the closest in length, so there is no brevity penalty."""
    score = truebleu.bleu(["a b c d"], [("a b c d e f g h i j", "")])
    assert (score.reference_length, score.brevity_penalty) == (0, 1.0)
    score = truebleu.bleu(["a b c d"], [("a b c d e f g h i j", None)])
    assert score.reference_length == 10
    assert score.signature["nrefs"] == "1"


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ((1, 0, 0, 0), 60.0),
        ((0, 1, 0, 0), 50.0),
        ((0.5, 0.5, 0, 0), math.sqrt(60 * 50)),
        ((0.4, 0.3, 0.2, 0.1), 60**0.4 * 50**0.3 * (100 / 3) ** 0.2 * 25**0.1),
    ],
)
def test_weights(weights, expected):
    """Weights apply to the precisions 3/5, 2/4, 1/3, and 0/2 smoothed to 1/4."""
    score = BLEU(weights=weights).score(["a b c x y"], ["a b c d e"])
    assert score.precisions == pytest.approx((60, 50, 100 / 3, 25))
    assert score.value == pytest.approx(expected, rel=1e-12)


def test_effective_order_rescales_remaining_weights():
    """Two tokens have orders 1 and 2; if their weights are 0, the score is 0."""
    metric = BLEU(effective_order=True, weights=(0.3, 0.1, 0.3, 0.3))
    score = metric.score(["a b x"], ["a b c"])
    assert score.precisions == pytest.approx((200 / 3, 50, 50, 0))
    expected = ((200 / 3) ** 0.3 * 50**0.1 * 50**0.3) ** (1 / 0.7)
    assert score.value == pytest.approx(expected, rel=1e-12)
    assert metric.segments(["a b x"], ["a b c"])[0] == score.value
    metric = BLEU(effective_order=True, weights=(0, 0, 0, 1))
    assert metric.score(["a b"], ["a b"]).value == 0.0
    assert metric.segments(["a b"], ["a b"]).tolist() == [0.0]


def test_uniform_weights_equal_default_exactly():
    text = ["a b c x y a b"], ["a b c d e a b"]
    assert BLEU(weights=[0.25] * 4).score(*text).value == pytest.approx(
        BLEU().score(*text).value, rel=1e-14
    )


# The plain program, and another library's.


@given(corpora(), parameters())
def test_score_equals_oracle(corpus, parameters):
    parameters |= {"tokenize": "none", "lowercase": False}
    hypotheses, references = corpus
    score = BLEU(**parameters).score(hypotheses, [tuple(refs) for refs in references])
    value = parameters["smoothing_value"]
    if value is None:
        value = {"floor": 0.1, "add-k": 1}.get(parameters["smoothing"], 0)
    plain = oracle_bleu.bleu(
        [text.split() for text in hypotheses],
        [[ref.split() for ref in refs if ref is not None] for refs in references],
        smoothing=parameters["smoothing"],
        value=value,
        effective_order=bool(parameters["effective_order"]),
        max_order=parameters["max_order"],
    )
    assert score.value == plain.value
    assert list(score.precisions) == plain.precisions
    assert (list(score.matches), list(score.totals)) == (plain.matches, plain.totals)
    assert score.brevity_penalty == plain.brevity_penalty


@given(st.lists(st.integers(0, 3), max_size=200), st.lists(st.integers(0, 3), max_size=200))
def test_long_repetitive_segments_equal_oracle(hypothesis, reference):
    """Segments have few words, many repetitions, and lengths near 64 and 128."""
    hypothesis, reference = (
        ["abcdefghi"[: 6 + t] for t in side] for side in (hypothesis, reference)
    )
    table = BLEU(max_order=8).statistics([" ".join(hypothesis)], [" ".join(reference)])
    orders = range(1, 9)
    assert table.tolist()[0][2:] == [
        *(oracle_bleu.clipped_matches(hypothesis, [reference], n) for n in orders),
        *(max(0, len(hypothesis) - n + 1) for n in orders),
    ]


@pytest.mark.parametrize("length", [63, 64, 65, 127, 128, 129, 255, 256, 257, 1000])
@pytest.mark.parametrize("other", [1, 64, 65, 128, 300])
def test_lengths_near_machine_words_equal_oracle(length, other):
    hypothesis, reference = "a b c " * 400, "b c a " * 400
    hypothesis, reference = hypothesis.split()[:length], reference.split()[:other]
    metric = BLEU(max_order=16)
    table = metric.statistics([" ".join(hypothesis)], [" ".join(reference)])
    orders = range(1, 17)
    assert table.tolist()[0] == [
        *(length, other),
        *(oracle_bleu.clipped_matches(hypothesis, [reference], n) for n in orders),
        *(max(0, length - n + 1) for n in orders),
    ]


# The metric as a value.


def test_metrics_compare_by_value():
    metric = BLEU("intl", lowercase=True)
    assert metric == BLEU(tokenize="intl", lowercase=True) != BLEU()
    assert len({metric, BLEU("intl", lowercase=True), BLEU()}) == 2
    assert metric == copy.deepcopy(metric) == pickle.loads(pickle.dumps(metric))
    with pytest.raises(AttributeError):
        metric.tokenize = "13a"


@pytest.mark.parametrize(
    "text",
    [
        "BLEU()",
        "BLEU(tokenize='intl', lowercase=True)",
        "BLEU(smoothing='floor', smoothing_value=0.5, effective_order=True)",
        "BLEU(effective_order=False, max_order=2, weights=(0.5, 0.5))",
    ],
)
def test_repr_has_non_default_parameters(text):
    assert repr(eval(text)) == text


@given(parameters())
def test_repr_recreates_metric(parameters):
    metric = BLEU(**parameters)
    assert eval(repr(metric)) == metric


@pytest.mark.parametrize(
    "options", [{}, {"tokenize": "char", "lowercase": True, "smoothing": "none"}]
)
def test_bleu_function_equals_class(options):
    texts = ["The Cat is on the mat"], ["the cat is on the mat"]
    assert truebleu.bleu(*texts, **options) == BLEU(**options).score(*texts)


def test_callable_tokenizer_gets_preprocessed_segment():
    """The callable gets the same input as `none`: optionally lower-cased, stripped at the end."""
    seen = []

    def split_at_commas(text):
        seen.append(text)
        return text.split(",")

    score = BLEU(tokenize=split_at_commas, lowercase=True).score(["A b,c,d,e \n"], ["a b,c,d,e"])
    assert score.totals == (4, 3, 2, 1)
    assert score.value == 100.00000000000004
    assert set(seen) == {"a b,c,d,e"}
    assert BLEU(tokenize=lambda text: text.replace("-", " ")).sentence("a-b", "a b").matches[1] == 1
