"""Tests of TER: edits, lengths, scores and alignments, compared exactly with sacreBLEU."""

import csv
import math
import os
import random
import re
from itertools import product

import hypothesis.strategies as st
import pytest
import sacrebleu
from hypothesis import example, given, settings
from sacrebleu.metrics import lib_ter
from strategies import IDEOGRAPHS, corpora, fragments, streams

import truebleu
from truebleu import TER, InputError
from truebleu.metrics.ter_alignment import Alignment, Operation, Shift

OPTIONS = ("normalized", "no_punct", "asian_support", "case_sensitive")
COMBINATIONS = [dict(zip(OPTIONS, on, strict=True)) for on in product([False, True], repeat=4)]

# Every segment of three systems of five language pairs takes sacreBLEU some minutes.
THOROUGH = bool(os.environ.get("TRUEBLEU_THOROUGH"))
PAIRS = ("en-de", "de-en", "zh-en", "en-zh", "en-ja")

options = st.fixed_dictionaries(dict.fromkeys(OPTIONS, st.booleans()))
all_options = pytest.mark.parametrize(
    "options", COMBINATIONS, ids=lambda options: "+".join(k for k in options if options[k]) or "-"
)


def count_with_sacrebleu(options: dict, hypotheses: list[str], references: list) -> list[list[int]]:
    """Return sacreBLEU's statistics, with mean lengths in units of 1/720,720."""
    metric = sacrebleu.TER(**options)
    table = metric._extract_corpus_statistics(hypotheses, streams(references))
    return [[edits, round(length * 720720)] for edits, length in table]


def count_with_truebleu(options: dict, hypotheses: list[str], references: list) -> list[list[int]]:
    return TER(**options).statistics(hypotheses, [tuple(refs) for refs in references]).tolist()


# Tokens.


def tokenize_with_sacrebleu(text: str, options: dict, times: int = 1) -> list[str]:
    metric = sacrebleu.TER(**options)
    for _ in range(times):
        text = metric._preprocess_segment(text)
    return text.split()


PIECES = [
    *["'s", "'S", "it's ", "'s.", "'s\t", "'s\n", "&quot;", "&QUOT;", "&amp;lt;", "\n-", "-\n"],
    *["..1", "1..", ".", ",", "1", "a", " ", "-", "1-", "&", ";", "!", "(", "\u3000", "\u3001"],
    *["\u3f22", "\u3f23", "\u3200", "\u31ff", "\u2e80", "\u9fff", "\ua000", "\ufe4f", "\uff0e"],
    *["か", "カ", "カー", "ㇰ", "\uff61", "\uff66", "\U00020000", "\ud800", "\x00", "İ", "ΑΣ"],
]
texts = st.lists(st.sampled_from(PIECES) | st.sampled_from(IDEOGRAPHS) | fragments(), max_size=20)


@all_options
@given(text=texts.map("".join))
@example(text="..1")
@example(text="It's 'S, the dog's. 1,000.5-6 &amp;quot; U.S.\n-x\n")
def test_tokens_equal_sacrebleu(options, text):
    """References are tokenized twice as in sacreBLEU, which can change them."""
    alignment = TER(**options).alignment(text, text)
    assert list(alignment.hypothesis) == tokenize_with_sacrebleu(text, options)
    assert list(alignment.reference) == tokenize_with_sacrebleu(text, options, times=2)


@pytest.mark.thorough
@all_options
def test_tokens_of_every_code_point_equal_sacrebleu(options):
    wrong = []
    for start in range(0, 0x30000, 512):
        text = "".join(f"a{chr(point)}b {chr(point)}. " for point in range(start, start + 512))
        alignment = TER(**options).alignment(text, "")
        if list(alignment.hypothesis) != tokenize_with_sacrebleu(text, options):
            wrong.append(f"U+{start:04X}")
    assert not wrong


# Edits and scores.


@st.composite
def draw_rearranged_text(
    draw: st.DrawFn, words: int = 40
) -> tuple[list[str], list[list[str | None]]]:
    """Draw reference phrases in another order, some repeated and some with a changed word."""
    kinds = [chr(0x61 + i) for i in range(draw(st.integers(1, 26)))]
    sentences = st.lists(st.sampled_from(kinds), min_size=1, max_size=words)
    hypotheses, references = [], []
    for reference in draw(st.lists(sentences, min_size=1, max_size=3)):
        cuts = sorted(draw(st.lists(st.integers(0, len(reference)), max_size=8)))
        ends = zip([0, *cuts], [*cuts, len(reference)], strict=True)
        phrases = [reference[start:end] for start, end in ends]
        phrases += draw(st.lists(st.sampled_from(phrases), max_size=2))
        phrases += [[word] for word in draw(st.lists(st.sampled_from("xyz"), max_size=3))]
        hypotheses.append(
            " ".join(word for part in draw(st.permutations(phrases)) for word in part)
        )
        extra_references = draw(st.lists(st.none() | sentences.map(" ".join), max_size=2))
        references.append(list(draw(st.permutations([" ".join(reference), *extra_references]))))
    return hypotheses, references


@given(corpora() | draw_rearranged_text(), options)
def test_statistics_equal_sacrebleu(corpus, options):
    assert count_with_truebleu(options, *corpus) == count_with_sacrebleu(options, *corpus)


@given(draw_rearranged_text(words=110))
@settings(max_examples=40)
def test_statistics_of_long_segments_equal_sacrebleu(corpus):
    """Long segments reach the limits of the beam and of a thousand candidates."""
    assert count_with_truebleu({}, *corpus) == count_with_sacrebleu({}, *corpus)


@given(st.integers(0, 12), st.integers(1, 400), st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_statistics_of_unequal_lengths_equal_sacrebleu(short_length, long_length, dice):
    """A ratio above 50 makes the beam wider."""
    words = [f"w{dice.randrange(long_length)}" for _ in range(long_length)]
    corpus = (
        [" ".join(dice.choices(words, k=short_length)), " ".join(words)],
        [(" ".join(words),), ("a",)],
    )
    assert count_with_truebleu({}, *corpus) == count_with_sacrebleu({}, *corpus)


@given(corpora() | draw_rearranged_text(), options)
def test_scores_equal_sacrebleu(corpus, options):
    """Scores are identical, except for corpora with three or more references per segment."""
    hypotheses, references = corpus
    metric, its = TER(**options), sacrebleu.TER(**options)
    references = [tuple(refs) for refs in references]
    values = []
    for hypothesis, refs in zip(hypotheses, references, strict=True):
        score, expected = metric.sentence(hypothesis, refs), its.sentence_score(hypothesis, refs)
        assert score.value == expected.score
        assert (score.edits, score.reference_length) == (expected.num_edits, expected.ref_length)
        values.append(score.value)
    assert metric.segments(hypotheses, references).tolist() == values

    score = metric.score(hypotheses, references)
    expected = its.corpus_score(hypotheses, streams(references))
    exact = all(len(refs) - refs.count(None) in (1, 2, 4) for refs in references)
    assert math.isclose(score.value, expected.score, rel_tol=0 if exact else 1e-14)
    assert str(score) == expected.format()
    assert score.edits == expected.num_edits
    assert str(score.signature).startswith(str(its.get_signature()))
    assert score.signature.short().startswith(its.get_signature().format(short=True))

    table = metric.statistics(hypotheses, references)
    assert metric.from_statistics(table) == score
    assert metric.from_statistics(table.total().tolist()[0], references=table.references) == score
    assert metric.scores(table).tolist() == values
    assert metric.matrix(hypotheses, ["a b c"]) == [
        [metric.sentence(hypothesis, "a b c").value] for hypothesis in hypotheses
    ]


@pytest.mark.parametrize(
    ("hypothesis", "references", "value", "edits", "length"),
    [
        ("", ["a b c d"], 100.0, 4, 4.0),
        (" \t\u2028 ", ["a b"], 100.0, 2, 2.0),
        ("a b c d", [""], 100.0, 4, 0.0),
        ("", [""], 0.0, 0, 0.0),
        ("a b c", ["a b c"], 0.0, 0, 3.0),
        ("a b c", ["x y z"], 100.0, 3, 3.0),
        ("a b c", ["x"], 300.0, 3, 1.0),
        ("a b c", ["", "a b c d"], 50.0, 1, 2.0),
        ("a b", ["a b", "a b c", "a b c d e"], 0.0, 0, 10 / 3),
        ("a b", [None, "A B", None], 0.0, 0, 2.0),
        ("\ud800 \x00 c", ["\ud800 \x00 c"], 0.0, 0, 3.0),
        ("\ufeffa b c d", ["a b c d"], 25.0, 1, 4.0),
        ("a b\r\n", ["a\r\nb"], 0.0, 0, 2.0),
    ],
    ids=[
        *("empty hypothesis", "blank hypothesis", "empty reference", "both empty", "the same"),
        *("no match", "longer", "one reference empty", "a third of a word", "missing references"),
        *("surrogate and NUL", "byte-order mark", "line endings"),
    ],
)
def test_edge_cases(hypothesis, references, value, edits, length):
    score = TER().sentence(hypothesis, references)
    assert (score.value, score.edits, score.reference_length) == (value, edits, length)
    assert TER().score([hypothesis], [tuple(references)]).value == value
    expected = sacrebleu.TER().sentence_score(hypothesis, references)
    assert (score.value, score.edits) == (expected.score, expected.num_edits)


def test_search_ends_after_thousand_candidates():
    """The hypothesis has 400 reference words in reverse order."""
    words = [f"w{i}" for i in range(400)]
    score = TER().sentence(" ".join(reversed(words)), " ".join(words))
    assert score.value == 99.75


def test_shift_can_save_more_edits_than_it_moves_words():
    """In a zh-en segment, shifting two words outside the beam saved six edits.

    Numbers stand for words, and 0 for any word that the reference does not have.
    """
    hypothesis = (
        "5 0 0 6 3 7 8 13 0 0 0 16 17 0 8 11 10 8 13 14 15 18 8 11 10 8 0 0 18 0 8 19 12 "
        "10 16 17 20 21 22 23 24 25 26 27 28 0 31 0"
    )
    reference = (
        "1 2 3 4 5 6 7 8 9 10 8 11 12 10 8 13 14 15 10 16 17 18 8 9 10 8 19 12 10 16 17 "
        "20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 8 35 10 8 13 18 8 36 33 8 28 29 18 "
        "33 37 8 38 39 10 8 40 41 10 8 24 42"
    )
    score = TER().sentence(hypothesis, reference)
    assert score.edits == sacrebleu.TER().sentence_score(hypothesis, [reference]).num_edits == 45


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["reversed", "random", "two words", "one against many"])
def test_extremely_long_lines_are_scored(kind):
    """For lines of 100,000 tokens, sacreBLEU would need a table of ten billion cells."""
    count, dice = 100_000, random.Random(5)
    words = [f"w{i}" for i in range(count)]
    lines = {
        "reversed": (words[::-1], words),
        "random": (dice.choices(words, k=count), words),
        "two words": (dice.choices("ab", k=count), dice.choices("ab", k=count)),
        "one against many": (words[: count // 60], words),
    }
    hypothesis, reference = (" ".join(line) for line in lines[kind])
    score = TER().sentence(hypothesis, reference)
    assert 0 < score.edits <= count + 1


def test_workers_give_equal_statistics():
    dice = random.Random(7)
    lines = [" ".join(dice.choices("abcdefgh", k=dice.randrange(40))) for _ in range(3000)]
    references = lines[1:] + lines[:1]
    metric = TER()
    table = metric.statistics(lines, references)
    assert metric.statistics(lines, references, workers=3) == table
    assert metric.score(lines, references, workers=3).edits == sum(table.column("edits"))


@pytest.mark.parametrize("instructions", truebleu._kernel.available_instructions())
def test_instruction_sets_give_equal_statistics(instructions):
    corpus = ["the cat sat on the mat it said " * 6], [("it said the cat on the mat sat " * 5,)]
    before = truebleu._kernel.instructions()
    try:
        truebleu._kernel.use_instructions(instructions)
        for options in COMBINATIONS:
            assert count_with_truebleu(options, *corpus) == count_with_sacrebleu(options, *corpus)
    finally:
        truebleu._kernel.use_instructions(before)


# Alignments.


def search_with_sacrebleu(
    hypothesis: list[str], reference: list[str]
) -> tuple[int, list[str], str]:
    """Return sacreBLEU's number of shifts, the shifted words and the trace of edits."""
    distance, shifts, checked = lib_ter.BeamEditDistance(reference), 0, 0
    while True:
        gain, words, checked = lib_ter._shift(hypothesis, reference, distance, checked)
        if checked >= lib_ter._MAX_SHIFT_CANDIDATES or gain <= 0:
            return shifts, hypothesis, distance(hypothesis)[1]
        shifts, hypothesis = shifts + 1, words


@given(draw_rearranged_text())
def test_alignments_equal_sacrebleu(corpus):
    kinds = {" ": "match", "s": "substitution", "d": "deletion", "i": "insertion"}
    for hypothesis, references in zip(*corpus, strict=True):
        alignment = TER().alignment(hypothesis, references)
        words = hypothesis.split()
        assert alignment.hypothesis == tuple(words)
        reference_tokens = [None if text is None else text.split() for text in references]
        edits = [
            math.inf
            if words is None
            else lib_ter.translation_edit_rate(hypothesis.split(), words)[0]
            for words in reference_tokens
        ]
        assert alignment.reference_index == edits.index(min(edits))
        assert alignment.reference == tuple(reference_tokens[alignment.reference_index])
        assert alignment.edits == min(edits)
        assert alignment.value == TER().sentence(hypothesis, references).value

        shifts, words, trace = search_with_sacrebleu(
            words, reference_tokens[alignment.reference_index]
        )
        assert len(alignment.shifts) == shifts
        assert list(alignment.shifted) == words
        assert [operation.kind for operation in alignment.operations] == [kinds[c] for c in trace]
        assert sorted(alignment.order) == list(range(len(words)))
        expected_trace = [
            alignment.reference[there]
            for kind, _, there in alignment.operations
            if kind != "deletion" and there is not None
        ]
        assert tuple(expected_trace) == alignment.reference
        for kind, here, reference_position in alignment.operations:
            if kind == "match":
                assert alignment.hypothesis[here] == alignment.reference[reference_position]


def test_alignment_fields_and_text():
    alignment = TER().alignment("b c D e f a x", [None, "A b q c d e f"])
    assert alignment == Alignment(
        hypothesis=("b", "c", "d", "e", "f", "a", "x"),
        reference=("a", "b", "q", "c", "d", "e", "f"),
        reference_index=1,
        shifts=(Shift(start=5, length=1, target=0),),
        operations=(
            Operation("match", 5, 0),
            Operation("match", 0, 1),
            Operation("insertion", None, 2),
            Operation("match", 1, 3),
            Operation("match", 2, 4),
            Operation("match", 3, 5),
            Operation("match", 4, 6),
            Operation("deletion", 6, None),
        ),
        reference_length=7.0,
    )
    assert str(alignment).splitlines() == [
        "TER 42.86: 3 edits for 7 words",
        'shift      "a" by 5 to the left',
        "hypothesis a b   c d e f x",
        "reference  a b q c d e f",
        "               I         D",
    ]


def test_alignments_of_empty_text():
    assert str(TER().alignment("", "")).splitlines()[0] == "TER 0.00: 0 edits for 0 words"
    assert TER().alignment("a", "").operations == (Operation("deletion", 0, None),)
    assert TER().alignment("", "a").operations == (Operation("insertion", None, 0),)
    wide = TER(normalized=True, asian_support=True).alignment("中文 a", "中国 a")
    assert str(wide).splitlines()[1:] == [
        "hypothesis 中 文 a",
        "reference  中 国 a",
        "              S",
    ]


# The metric as a value.


@pytest.mark.parametrize("field", ["tok:13a", "norm:maybe", "case:upper", "smooth:exp"])
def test_signature_with_wrong_field_raises_error(field):
    with pytest.raises(ValueError, match=re.escape(field.partition(":")[0])):
        truebleu.metric(f"TER|{field}")


# Bad input.


@pytest.mark.parametrize(
    ("hypothesis", "references", "error"),
    [("a", [None], InputError), ("a", [], InputError), (1, "a", TypeError), ("a", [1], TypeError)],
)
def test_invalid_sentence_raises_error(hypothesis, references, error):
    for verb in (TER().sentence, TER().alignment):
        with pytest.raises(error):
            verb(hypothesis, references)


# Real text.


def list_wmt22_files(wmt22, pair) -> tuple[list[str], list[str]]:
    """Return three system outputs and the references of a language pair."""
    with (wmt22 / "published_scores.tsv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["pair"] == pair]
    references = {name for row in rows for name in row["ref_files"].split(",")}
    return sorted({row["hyp_file"] for row in rows})[::3][:3], sorted(references)


def read_wmt22_lines(path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


@all_options
@pytest.mark.parametrize("pair", PAIRS)
def test_wmt22_with_options_equals_sacrebleu(wmt22, pair, options):
    """A sample is compared with all references; it is larger with TRUEBLEU_THOROUGH=1."""
    outputs, files = list_wmt22_files(wmt22, pair)
    for number, output in enumerate(outputs if THOROUGH else outputs[:1]):
        sample = slice(number, None, 50 if THOROUGH else 700)
        hypotheses, *columns = (read_wmt22_lines(wmt22 / f)[sample] for f in (output, *files))
        corpus = hypotheses, list(zip(*columns, strict=True))
        assert count_with_truebleu(options, *corpus) == count_with_sacrebleu(options, *corpus)
