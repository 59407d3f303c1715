"""NLTK's BLEU and chrF with the accelerator: identical results, counted by the kernel."""

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate import bleu_score, chrf_score

import truebleu.compat
from truebleu.compat import nltk as accelerator

at_least_100_examples = settings(max_examples=max(100, settings().max_examples))
ORIGINALS = bleu_score.corpus_bleu, chrf_score.corpus_chrf
METHODS = [getattr(bleu_score.SmoothingFunction(), f"method{i}") for i in range(8)]


@pytest.fixture(autouse=True)
def restore():
    yield
    truebleu.compat.uninstall("nltk")
    assert (bleu_score.corpus_bleu, chrf_score.corpus_chrf) == ORIGINALS


@pytest.fixture
def kernel_calls(monkeypatch):
    calls, original = [], accelerator._compute_statistics
    monkeypatch.setattr(
        accelerator, "_compute_statistics", lambda *args: calls.append(1) or original(*args)
    )
    return calls


def describe(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = repr(call())
        except Exception as error:  # noqa: BLE001 - errors must be equal, too
            result = repr(error)
    return result, [(str(w.message), w.category, w.filename, w.lineno) for w in caught]


def check_equal_results(call):
    truebleu.compat.uninstall("nltk")
    expected = describe(call)
    truebleu.compat.install("nltk")
    assert describe(call) == expected


tokens = st.lists(st.sampled_from([*"abcd", 1, 1.0, "x y", "", None]), max_size=8)
tokens |= st.lists(st.sampled_from("abcd"), max_size=9) | st.text("abc ", max_size=8)
segments = st.lists(st.tuples(st.lists(tokens, max_size=3), tokens), max_size=4)
weights = st.sampled_from([(0.25,) * 4, (0.5, 0.5), [(1,), (0.25,) * 4], (0.2,) * 5, (), (0,) * 17])


@at_least_100_examples
@given(segments, weights, st.sampled_from([None, *METHODS]), st.booleans())
def test_bleu_is_equal_with_all_arguments(segments, weights, method, reweigh):
    references, hypotheses = [r for r, _ in segments], [h for _, h in segments]
    check_equal_results(
        lambda: bleu_score.corpus_bleu(references, hypotheses, weights, method, reweigh)
    )
    if segments:
        pair = references[0], hypotheses[0]
        check_equal_results(lambda: bleu_score.sentence_bleu(*pair, weights, method, reweigh))


texts = st.text("ab \u3000\x1c\ud800", max_size=12) | st.lists(
    st.text("ab", max_size=3), max_size=5
)
lengths = st.sampled_from([(1, 6), (2, 3), (0, 2), (3, 2), (1, 17)])


@at_least_100_examples
@given(
    st.lists(st.tuples(texts, texts), max_size=4),
    lengths,
    st.sampled_from([3.0, 1, 0]),
    st.booleans(),
)
def test_chrf_is_equal_with_all_arguments(pairs, lengths, beta, ignore_whitespace):
    references, hypotheses = [r for r, _ in pairs], [h for _, h in pairs]
    options = {"beta": beta, "ignore_whitespace": ignore_whitespace}
    check_equal_results(lambda: chrf_score.corpus_chrf(references, hypotheses, *lengths, **options))
    if pairs:
        check_equal_results(lambda: chrf_score.sentence_chrf(*pairs[0], *lengths, **options))


@pytest.mark.parametrize("size", [1, 3])
def test_kernel_counts_both_metrics(kernel_calls, size):
    truebleu.compat.install("nltk")
    truebleu.compat.install("nltk")
    bleu_score.corpus_bleu(
        [[["a", "b", "c", "d"]]] * size, [["a", "b", "c", "e"]] * size, (0.5, 0.5)
    )
    chrf_score.corpus_chrf(["a b c d"] * size, ["a b c e"] * size)
    assert len(kernel_calls) == 2


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (bleu_score, "modified_precision"),
        (bleu_score, "closest_ref_length"),
        (chrf_score, "_preprocess"),
        (chrf_score, "chrf_precision_recall_fscore_support"),
    ],
)
def test_replaced_helper_is_called_and_kernel_is_not(kernel_calls, monkeypatch, module, name):
    truebleu.compat.install("nltk")
    original, calls = getattr(module, name), []
    monkeypatch.setattr(module, name, lambda *a, **k: calls.append(a) or original(*a, **k))
    bleu_score.corpus_bleu([["ab"]], ["ab"], (0.5, 0.5))
    chrf_score.corpus_chrf(["ab"], ["ab"])
    assert calls
    assert len(kernel_calls) == 1  # for the other metric
