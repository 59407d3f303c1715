"""Tests of WER, MER, WIL, WIP and CER, compared with jiwer: counts, scores and alignments."""

import os
import random

import hypothesis.strategies as st
import jiwer
import pytest
from hypothesis import example, given
from metric_examples import GOLDEN
from strategies import fragments

import truebleu as tb
from truebleu import CER, MER, WER, WIL, WIP, InputError

WORDS = [WER(), MER(), WIL(), WIP()]
COUNTS = ("hits", "substitutions", "deletions", "insertions")
KINDS = {"equal": "match", "substitute": "substitution", "delete": "deletion"}
KINDS["insert"] = "insertion"

# Number of random pairs; more in a thorough run.
PAIRS = int(os.environ.get("TRUEBLEU_WER_PAIRS", "400"))


def test_ties_are_resolved_as_in_rapidfuzz():
    assert WER().sentence("b a d c", "a b c d").row == (2, 1, 1, 1)


# ---- comparison with jiwer ----


def assert_equals_jiwer(
    hypotheses: list[str], references: list[str], *, segments: bool = True
) -> None:
    """Assert equal corpus numbers, and equal counts and alignments of segments."""
    words = jiwer.process_words(references, hypotheses)
    characters = jiwer.process_characters(references, hypotheses)
    for metric in WORDS:
        score = metric.score(hypotheses, references)
        assert score.row == tuple(getattr(words, name) for name in COUNTS)
        assert [score.wer, score.mer, score.wil, score.wip] == [
            *(words.wer, words.mer, words.wil, words.wip)
        ]
        assert score.fraction == getattr(words, metric.name.lower())
        assert score.value == 100.0 * score.fraction
    score = CER().score(hypotheses, references)
    assert score.row == tuple(getattr(characters, name) for name in COUNTS)
    assert (score.cer, score.fraction) == (characters.cer, characters.cer)
    if segments:
        for metric, output in ((WER(), words), (CER(), characters)):
            table = metric.statistics(hypotheses, references).tolist()
            for i, chunks in enumerate(output.alignments):
                alignment = metric.alignment(hypotheses[i], references[i])
                assert list(alignment.reference) == output.references[i]
                assert list(alignment.hypothesis) == output.hypotheses[i]
                assert list(alignment.operations) == list_operations(chunks)
                assert list(alignment.counts) == table[i]


def list_operations(chunks):
    """Return the operations per token from the chunks of jiwer's alignment."""
    operations = []
    for chunk in chunks:
        references = range(chunk.ref_start_idx, chunk.ref_end_idx)
        hypotheses = range(chunk.hyp_start_idx, chunk.hyp_end_idx)
        length = max(len(references), len(hypotheses))
        pairs = zip(hypotheses or [None] * length, references or [None] * length, strict=True)
        operations += [(KINDS[chunk.type], *pair) for pair in pairs]
    return operations


SPACES = [" ", "  ", "\t", " \t", "\n", "\xa0", "\xa0 ", "\u2003\u2003", "\x1c", "\x85", "\u3000"]
PIECES = [
    *SPACES,
    *("a", "b", "é", "ー", "\U00020000", "\ud800", "\x00", "word", "longer-words", "a b"),
]
texts = st.lists(st.sampled_from(PIECES) | fragments(), max_size=12).map("".join)
repetitive_text = st.lists(st.sampled_from("abcd"), max_size=12).map(" ".join)


pairs_of_texts = st.tuples(texts, texts) | st.tuples(repetitive_text, repetitive_text)


@given(st.lists(pairs_of_texts, min_size=1, max_size=4))
@example([("a\tb", "a b"), ("a \tb ", " a b"), ("\ta\x1c", "a")])
@example([("", ""), ("a", "")])
@example([("", "")])
@example([("", "a")])
@example([("a b", "")])
def test_any_text_equals_jiwer(pairs):
    hypotheses, references = map(list, zip(*pairs, strict=True))
    assert_equals_jiwer(hypotheses, references)


def test_random_pairs_equal_jiwer():
    """A thorough run compares a million pairs with TRUEBLEU_WER_PAIRS=1000000."""
    chance = random.Random(20261122)
    done = 0
    while done < PAIRS:
        pair_count = min(2000, PAIRS - done)
        pairs = [random_pair(chance) for _ in range(pair_count)]
        hypotheses, references = map(list, zip(*pairs, strict=True))
        words = jiwer.process_words(references, hypotheses)
        table = WER().statistics(hypotheses, references).tolist()
        assert table == [count_edits(chunks) for chunks in words.alignments]
        # Characters take ten times as long, so only every tenth pair is compared.
        sample = hypotheses[::10], references[::10]
        characters = jiwer.process_characters(sample[1], sample[0])
        table = CER().statistics(*sample).tolist()
        assert table == [count_edits(chunks) for chunks in characters.alignments]
        for metric in WORDS:
            expected = getattr(words, metric.name.lower())
            assert metric.score(hypotheses, references).fraction == expected
        assert_equals_jiwer(hypotheses[:20], references[:20])
        done += pair_count


def random_pair(chance: random.Random) -> tuple[str, str]:
    """Return a reference with few or many distinct words, and an edited or unrelated text."""
    kinds = chance.choice([2, 4, 10, 50, 1000])
    words = [f"w{chance.randrange(kinds)}" for _ in range(chance.choice([0, 1, 5, 12, 30, 90]))]
    rate = chance.choice([0.05, 0.3, 0.8])
    edited = []
    for word in words:
        draw = chance.random() / rate
        if draw >= 1 / 3:
            edited.append(f"w{chance.randrange(kinds)}" if draw < 2 / 3 else word)
        if draw > 1 or 2 / 3 < draw < 5 / 6:
            edited.append(f"w{chance.randrange(kinds)}" if draw < 1 else "")
    if chance.random() < 0.2:
        chance.shuffle(edited)
    return " ".join(edited), " ".join(words)


def count_edits(chunks) -> list[int]:
    kinds = [kind for kind, _, _ in list_operations(chunks)]
    return [kinds.count(kind) for kind in KINDS.values()]


def test_wmt22_german_english_has_recorded_p_value(wmt22):
    systems = {
        name: wmt22 / "system-outputs" / f"generaltest2022.de-en.hyp.{name}.en"
        for name in ("Online-G", "Online-A")
    }
    references = wmt22 / "references" / "generaltest2022.de-en.ref.A.en"
    options = {"test": "ar", "samples": 10_000, "seed": 12345, "confidence": 2}
    compared = tb.compare(systems, references, metrics=["wer"], **options)
    (pair,) = compared.to_dict()["pairs"]
    # The p-value counts differences equal to the observed one; otherwise it is .8749125087491251.
    assert pair["p"] == 0.8936106389361064


def long_pair(kinds: int, length: int, edit_interval: int) -> tuple[str, str]:
    chance = random.Random(kinds)
    words = [f"w{chance.randrange(kinds)}" for _ in range(length)]
    edited = [
        *(word for word in words if chance.randrange(edit_interval)),
        *(f"w{chance.randrange(kinds)}" for _ in range(50)),
    ]
    for i in range(0, len(edited), edit_interval + 1):
        edited[i] = f"w{chance.randrange(kinds)}"
    return " ".join(edited), " ".join(words)


@pytest.mark.parametrize(
    ("kinds", "length", "edit_interval"),
    [(3, 1000, 5), (50, 3000, 100), (3, 3000, 2), (50, 3000, 3), (5000, 6000, 2), (9, 9000, 40)],
)
def test_long_segments_equal_jiwer(kinds, length, edit_interval):
    """Rapidfuzz computes a band, or splits the table, which affects ties."""
    hypothesis, reference = long_pair(kinds, length, edit_interval)
    words = jiwer.process_words(reference, hypothesis)
    alignment = WER().alignment(hypothesis, reference)
    assert list(alignment.operations) == list_operations(words.alignments[0])
    assert WER().sentence(hypothesis, reference).row == alignment.counts
    assert CER().sentence(hypothesis, reference).cer == jiwer.cer(reference, hypothesis)


# ---- metrics beyond jiwer ----


def test_reference_with_lowest_rate_counts():
    references = ["a b", "a b c d e", None, "a b c d"]
    score = WER().sentence("a b c", references)
    assert (score.row, score.value) == ((3, 0, 1, 0), 25.0)
    alignment = WER().alignment("a b c", references)
    assert alignment.reference_index == 3
    assert alignment.counts == score.row
    # The first of equally good references counts.
    assert WER().sentence("a b", ["a c", "c b", "a b c"]).row == (2, 0, 1, 0)
    assert WER().alignment("a x", ["a b", "b x"]).reference_index == 0


def test_reference_with_highest_wip_counts():
    references = ["a b x y", "a b"]
    assert WIP().sentence("a b c d", references).value == 50.0
    assert WIL().sentence("a b c d", references).value == 50.0
    assert WIP().alignment("a b c d", references).reference_index == 1


def test_empty_reference_adds_insertions():
    assert WER().sentence("a b c", "").value == 300.0
    score = WER().score(["a b c", "a b"], ["", "a b"])
    assert (score.row, score.value) == ((2, 0, 0, 3), 150.0)
    assert (MER().sentence("a", "").value, MER().sentence("", "").value) == (100.0, 0.0)
    assert (WIP().sentence("a", "").value, WIP().sentence("", "").value) == (0.0, 100.0)


@pytest.mark.parametrize(
    ("metric", "row"),
    [
        (WER(), (0, 3, 0, 0)),
        (WER("13a", lowercase=True), (3, 0, 0, 2)),
        (WER(str.split, lowercase="after"), (1, 2, 0, 0)),
        (CER(lowercase=True), (11, 0, 0, 2)),
    ],
    ids=str,
)
def test_tokenizer_and_lower_casing_apply(metric, row):
    texts = "The cat, sat.", "the cat sat"
    assert metric.sentence(*texts).row == metric.alignment(*texts).counts == row


def test_tokens_are_scored():
    assert WER("none").score([["a", "b"]], [["a", "c"]]).row == (1, 1, 0, 0)


def test_signatures_name_the_measure():
    assert str(MER().signature(1)).startswith("nrefs:1|case:mixed|tok:jiwer|measure:mer|by:")
    assert str(CER().signature(1)).startswith("nrefs:1|case:mixed|measure:cer|by:")
    with pytest.raises(ValueError, match="measure:mer: WER only has measure:wer"):
        tb.metric("WER|measure:mer")
    assert tb.metric("case:lc|tok:13a|smooth:exp") == tb.BLEU(lowercase=True)


def test_only_wip_is_better_if_higher():
    directions = [metric.lower_is_better for metric in (*WORDS, CER())]
    assert directions == [True, True, True, False, True]


def test_matrix_equals_sentence_scores():
    texts = ["a b c", "a b", "", "c"]
    grid = WER().matrix(texts, texts).tolist()
    assert grid == [[WER().sentence(one, [other]).value for other in texts] for one in texts]
    assert CER().top_k(["abc"], ["xyz", "abd", "abc"], 2) == [[(2, 0.0), (1, 100 * (1 / 3))]]


def test_invalid_input_raises_error():
    with pytest.raises(InputError, match="no reference"):
        WER().alignment("a", [None])
    with pytest.raises(TypeError, match="expected a str"):
        WER().alignment(3, "a")
    with pytest.raises(InputError, match="this metric accepts text"):
        CER().score([["a"]], [["a"]])


# ---- n-grams ----


def test_ngram_f_equals_rouge_n_on_same_tokens():
    """Scores equal ROUGE-1 and ROUGE-2 from rouge_score 0.1.2 on the same tokens."""
    import re

    def words(text):
        return re.sub("[^a-z0-9]+", " ", text.lower()).split()

    scores = {n: [tb.NGramF(n, tokenize=words).sentence(*pair) for pair in GOLDEN] for n in (1, 2)}
    assert [round(score.fraction, 6) for score in scores[1][:3]] == [0.833333, 0.705882, 0.363636]
    assert [round(score.fraction, 6) for score in scores[2][:3]] == [0.6, 0.5, 0.0]
    assert (round(scores[1][1].precision, 4), scores[1][1].recall) == (66.6667, 75.0)


def test_ngram_f_counts_equal_bleu():
    hypotheses, references = map(list, zip(*GOLDEN, strict=True))
    bleu = tb.BLEU().score(hypotheses, references)
    score = tb.NGramF(range(1, 5)).score(hypotheses, references)
    assert (score.matches, score.hypothesis_totals) == (bleu.matches, bleu.totals)
    pairs = zip(bleu.matches, bleu.totals, strict=True)
    assert list(score.precisions) == [100 * part / whole for part, whole in pairs]
    turned = tb.BLEU().score(references, hypotheses)
    assert score.reference_totals == turned.totals


def test_ngram_f_parameters_in_signature():
    metric = tb.NGramF((2, 1, 2), 0.5, lowercase=True)
    assert metric.orders == (1, 2)
    for text in (str(metric), str(metric.signature(1)), metric.signature(1).short()):
        assert tb.metric(text) == metric
    assert tb.metric("ngram-f", orders=2) == tb.NGramF(2)
    for wrong in (0, 17, (), "x"):
        with pytest.raises((ValueError, TypeError), match="orders"):
            tb.NGramF(wrong)


def test_ngram_f_uses_best_reference():
    metric = tb.NGramF(tokenize="none")
    score = metric.sentence("a b c", ["a b x y z", "a b", None])
    assert score.row == (2, 3, 2)
    recall = tb.NGramF(beta=1e6, tokenize="none").sentence("a b c", ["a b c d", "a"])
    assert recall.row == (1, 3, 1)
    assert metric.sentence("", "").value == 0.0
    assert metric.sentence("a a a", "a").row == (1, 3, 1)
