"""Tests of BLEU's statistics and scores, compared exactly with sacreBLEU on random text."""

import hypothesis.strategies as st
import pytest
import regex
from hypothesis import example, given
from sacrebleu.metrics.bleu import _get_tokenizer
from strategies import TOKENIZERS, corpora, oracle, parameters, streams, texts

import truebleu
from truebleu.text.tokenizers import tokenize


def tokenize_with_sacrebleu(text: str, tokenizer: str, lowercase: bool) -> list[str]:
    return _get_tokenizer(tokenizer)()((text.lower() if lowercase else text).rstrip()).split()


def convert_to_tuples(references: list) -> list[tuple]:
    """Convert references to tuples, because lists could be read as transposed references."""
    return [tuple(refs) for refs in references]


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@given(text=texts(), lowercase=st.booleans())
@example(text="co-<skipped>\noperate &amp;lt; ,.1 ..1 1--2 1.", lowercase=False)
@example(text="ΑΣ.Α ΑΣ\u0301 Σ \u03a3\u00ad\u03a3 İ", lowercase=True)
@example(text="3.50元。“你好”\u2001\u2a6d\U00020000", lowercase=False)
def test_tokens_equal_sacrebleu(tokenizer, text, lowercase):
    expected = tokenize_with_sacrebleu(text, tokenizer, lowercase)
    assert tokenize(text, tokenizer, lowercase=lowercase) == expected


@pytest.mark.thorough
@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_tokens_of_every_code_point_equal_sacrebleu(tokenizer, lowercase):
    """Each code point is next to letters, digits, punctuation, sigmas and itself, and at ends."""
    assigned = regex.compile(r"[^\p{Cn}\p{Co}]|[\uE000\uF8FF\U000F0000\U0010FFFD]")
    characters = [char for char in map(chr, range(0x110000)) if assigned.match(char)]
    assert len(characters) > 150_000
    probe = "a{0}b 1{0}2 .{0}. -{0}, {0} {0}{0}1 ΑΣ{0} {0}ΣΑ Α{0}Σ ΑΣ{0}Α 1{0}-\n"
    wrong = []
    for start in range(0, len(characters), 256):
        block = characters[start : start + 256]
        text = "".join(map(probe.format, block))
        if tokenize(text, tokenizer, lowercase=lowercase) != tokenize_with_sacrebleu(
            text, tokenizer, lowercase
        ):
            wrong += [
                f"U+{ord(char):04X}"
                for char in block
                if tokenize(probe.format(char), tokenizer, lowercase=lowercase)
                != tokenize_with_sacrebleu(probe.format(char), tokenizer, lowercase)
            ] or [f"U+{ord(block[0]):04X} and following, together"]
    assert not wrong


@given(corpora(), parameters())
def test_statistics_and_corpus_score_equal_sacrebleu(corpus, parameters):
    hypotheses, references = corpus
    metric, sacrebleu = truebleu.BLEU(**parameters), oracle(**parameters)
    expected = sacrebleu._extract_corpus_statistics(hypotheses, streams(references))
    table = metric.statistics(hypotheses, convert_to_tuples(references))
    assert table.tolist() == expected

    score = metric.score(hypotheses, convert_to_tuples(references))
    order = sacrebleu.max_ngram_order
    totals = [sum(column) for column in zip(*expected, strict=True)]
    assert (score.hypothesis_length, score.reference_length) == tuple(totals[:2])
    assert list(score.matches) == totals[2 : 2 + order]
    assert list(score.totals) == totals[2 + order :]

    its = sacrebleu._compute_score_from_stats(totals)
    assert score.value == its.score
    assert list(score.precisions) == its.precisions
    assert (score.brevity_penalty, score.ratio) == (its.bp, its.ratio)
    assert str(score) == its.format(width=2)


@given(corpora(), parameters())
def test_sentence_scores_equal_sacrebleu(corpus, parameters):
    metric, sacrebleu = truebleu.BLEU(**parameters), oracle(segment=True, **parameters)
    values = []
    for hypothesis, references in zip(*corpus, strict=True):
        score, its = (
            metric.sentence(hypothesis, references),
            sacrebleu.sentence_score(hypothesis, references),
        )
        assert score.value == its.score
        assert list(score.precisions) == its.precisions
        values.append(score.value)
    assert metric.segments(corpus[0], convert_to_tuples(corpus[1])).tolist() == values


@given(corpora(), parameters())
def test_scores_from_statistics_equal_scores_of_text(corpus, parameters):
    """A table, its sum and a list of integers give the same score as the text."""
    metric, (hypotheses, references) = truebleu.BLEU(**parameters), corpus
    score = metric.score(hypotheses, convert_to_tuples(references))
    table = metric.statistics(hypotheses, convert_to_tuples(references))
    assert metric.from_statistics(table) == score
    assert metric.from_statistics(table.sum()) == score
    integers = table.sum().tolist()[0]
    assert metric.from_statistics(integers, references=table.references) == score


@example([0, 0, 0, 0, 0, 1, 0, 0, 0, 0], {"smoothing": "none", "effective_order": True})
@given(st.lists(st.integers(0, 10**9), min_size=10, max_size=10), parameters())
def test_scores_from_arbitrary_integers_equal_sacrebleu(integers, parameters):
    """The formula accepts sums that no text has, such as more matches than n-grams."""
    parameters["max_order"] = 4
    expected = oracle(**parameters)._compute_score_from_stats(list(integers))
    score = truebleu.BLEU(**parameters).from_statistics(integers)
    assert (score.value, list(score.precisions)) == (expected.score, expected.precisions)


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("lowercase", [False, True])
def test_file_lines_equal_sacrebleu(corpus, write, tokenizer, lowercase):
    """The corpus has long and unusual lines, and one segment with two references."""
    hypotheses, references = corpus
    second = references[1:] + references[:1]
    sacrebleu = oracle(tokenize=tokenizer, lowercase=lowercase)
    expected = sacrebleu._extract_corpus_statistics(hypotheses, [references, second])
    metric = truebleu.BLEU(tokenize=tokenizer, lowercase=lowercase)
    paths = [write("reference.1", references), write("reference.2", second)]
    assert metric.statistics(write("hypothesis", hypotheses), paths).tolist() == expected


def test_epsilon_smoothing_in_sacrebleu_arithmetic():
    """Epsilon smoothing also works with sacreBLEU's arithmetic, without effect on matches."""
    plain, guarded = truebleu.BLEU(), truebleu.BLEU(smoothing="epsilon")
    for hypothesis in ("a b c d e f", "a b c d x y", "a a b c d e"):
        expected = plain.sentence(hypothesis, "a b c d e f").value
        assert guarded.sentence(hypothesis, "a b c d e f").value == pytest.approx(expected)
