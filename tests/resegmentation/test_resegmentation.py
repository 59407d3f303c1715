"""Re-segmentation: equality with the programs that it names, and what holds for our own methods."""

import json
import pickle
import random
import re
import subprocess
import sys
from functools import cache, partial
from itertools import combinations_with_replacement

import hypothesis.strategies as st
import pytest
from hypothesis import given
from paths import ROOT

import truebleu as tb
from truebleu._kernel import InputError
from truebleu.resegmentation.methods import METHODS, format_method_label, get_method
from truebleu.resegmentation.resegment import resegment
from truebleu.resegmentation.units import split_text_units

# Those that need neither a download nor times.
AVAILABLE = [
    name for name, method in METHODS.items() if "spm" not in name and method.compares != "times"
]
# Methods with the tokens of a tokenizer.
TOKEN_METHODS = ["as-wer-13a", "as-wer-intl", "as-wer-zh", "as-wer-char", "as-wer-mteval-v12-lower"]
OWN = [*(name for name, method in METHODS.items() if method.is_own), *TOKEN_METHODS]
# mweralign drops the last line if it is empty; truebleu keeps it. Without text there are no errors
# to count in mweralign, while every reference unit is missing.
LINE_DROPPED = {"empty-last-reference"}
NO_TEXT = {"empty-hypothesis", "blank-hypothesis"}
# RWTH's program crashes on empty references, and ends alternatives by other marks.
RWTH_CRASHES = -11

# ---- equality with other programs ----


def test_mweralign_golden_cases_are_equal(golden_cases):
    methods = {"{}": "mweralign-none", '{"segmenter": "cj"}': "mweralign-cj"}
    compared = 0
    for case in golden_cases("mweralign"):
        method = methods.get(json.dumps(case["options"]))
        if method is None:
            continue
        result = resegment(case["hyp"], case["refs"], method)
        expected = case["output"] + [""] * (case["id"] in LINE_DROPPED)
        assert (case["id"], result.segments) == (case["id"], expected)
        assert result.errors == case["errors"] or case["id"] in NO_TEXT
        compared += 1
    assert compared == 105


def test_rwth_golden_cases_are_equal(golden_cases):
    """Equal where the program does not crash, and does not lower-case one side alone."""
    references = {case["id"]: case for case in golden_cases("mweralign")}
    unequal = set()
    for case in golden_cases("mwersegmenter-rwth"):
        original = references[case["id"].removesuffix("-case")]
        if case.get("exit") == RWTH_CRASHES or "usecase" in str(case.get("options", "")):
            continue
        result = resegment(original["hyp"], original["refs"], "mweralign-none")
        lowered = [text.lower() for text in result]
        if lowered != [text.strip().lower() for text in case["output"]]:
            unequal.add(case["id"])
    assert unequal <= {"empty-last-reference"}


def draw_case(dice, alphabet, *, alternatives, joiner):
    """Return references and a hypothesis that differs from them in a fifth of the units."""
    segments = dice.randint(1, 9)
    lengths = [dice.choice([0, 1, 2, 3, 5, 9, 20]) for _ in range(segments - 1)]
    shortest = 1 if alternatives > 1 else 0
    references = [
        tuple(
            joiner.join(dice.choices(alphabet, k=max(length, shortest)))
            for _ in range(alternatives)
        )
        for length in [*lengths, dice.randint(1, 9)]
    ]
    units = joiner.join(dice.choice(row) for row in references)
    words = units.split() if joiner else list(units)
    changed = []
    for word in words:
        chance = dice.random()
        if chance > 0.12:
            changed.append(dice.choice(alphabet) if chance < 0.24 else word)
        if chance > 0.9:
            changed.append(dice.choice(alphabet))
    return references, joiner.join(changed) or alphabet[0]


def mweralign_segments(references, hypothesis, segmenter=None, **options):
    """Return the segments of the program, for texts that its segmenter has divided."""
    mweralign = pytest.importorskip("mweralign")

    def encode(text):
        return " ".join(segmenter.encode(text)) if segmenter else text

    lines = "\n".join(" ### ".join(map(encode, row)) for row in references)
    output = mweralign.align_texts(lines, encode(hypothesis), **options).split("\n")
    decode = segmenter.decode if segmenter else str
    return [decode(line).strip() for line in output[: len(references)]]


CASES = [pytest.param(200, id="200"), pytest.param(10_000, id="10000", marks=pytest.mark.thorough)]


@pytest.mark.parametrize("cases", CASES)
def test_mweralign_words_equal_program(cases, capfd):
    dice = random.Random(31)
    for _ in range(cases):
        words = [f"w{n}" if n % 3 else f"W{n}É" for n in range(dice.choice([2, 3, 5, 50, 200]))]
        references, text = draw_case(dice, words, alternatives=dice.randint(1, 3), joiner=" ")
        expected = mweralign_segments(references, text)
        assert resegment(text, references, "mweralign-none").segments == expected


@pytest.mark.parametrize("cases", CASES)
def test_mweralign_characters_equal_program(cases, capfd):
    segmenter = pytest.importorskip("mweralign.segmenter").CJSegmenter()
    dice = random.Random(32)
    for _ in range(cases):
        references, text = draw_case(dice, "你好世界今天 ,aB3é。", alternatives=1, joiner="")
        references = [(row[0].strip() or "你",) for row in references]
        text = text.strip() or "好"
        expected = mweralign_segments(references, text, segmenter)
        assert resegment(text, references, "mweralign-cj").segments == expected


@pytest.mark.parametrize("cases", CASES)
def test_mweralign_pieces_equal_program(cases, tmp_path, capfd):
    """With a model trained here, which keeps characters as the published ones do."""
    segmenter_module = pytest.importorskip("mweralign.segmenter")
    sentencepiece = pytest.importorskip("sentencepiece")
    dice = random.Random(34)
    words = ["".join(dice.choices("abcdefgÉ’.", k=dice.randint(1, 8))) for _ in range(80)]
    sentences = [" ".join(dice.choices(words, k=9)) for _ in range(500)]
    model = tmp_path / "pieces.model"
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences),
        model_prefix=str(model.with_suffix("")),
        vocab_size=50,
        normalization_rule_name="identity",
        minloglevel=2,
    )
    segmenter = segmenter_module.SPSegmenter(str(model))
    options = {"is_tokenized": True, "forbid_midword_boundary": True}
    for _ in range(cases):
        references, text = draw_case(dice, words, alternatives=dice.randint(1, 2), joiner=" ")
        expected = mweralign_segments(references, text, segmenter, **options)
        assert resegment(text, references, f"mweralign-spm:{model}").segments == expected


def omnisteval_segments(references, hypothesis, *, characters, language=None):
    alignment = pytest.importorskip("omnisteval.alignment")
    tokenize = pytest.importorskip("omnisteval.tokenization").tokenize_words
    split = list if characters else str.split
    expected = [
        alignment.Word(word, seq_id=number)
        for number, (text,) in enumerate(references)
        for word in split(text.lower().replace(" ", "") if characters else text.lower())
    ]
    spoken = [alignment.Word(word) for word in split(hypothesis)]
    ((expected,), (spoken,)) = (tokenize([words], language) for words in (expected, spoken))
    try:
        pairs = alignment.align_sequences(expected, spoken, characters)
        placed = alignment.process_alignment(*pairs, characters)
    except AssertionError:
        return None  # no reference word at all
    segments = [[] for _ in references]
    for word in placed:
        if word.main:
            segments[word.seq_id].append(word.original)
    return [("" if characters else " ").join(segment) for segment in segments]


@pytest.mark.parametrize("cases", CASES)
@pytest.mark.parametrize("method", ["omnisteval", "omnisteval-char"])
def test_omnisteval_equals_program(method, cases):
    dice = random.Random(33)
    characters = method.endswith("char")
    for _ in range(cases):
        words = ["".join(dice.choices("abcdefgÉ", k=dice.randint(1, 7))) for _ in range(20)]
        words = words[: dice.choice([2, 5, 20])] + [".", ",", "-", "。"][: dice.randint(0, 4)]
        references, text = draw_case(dice, words, alternatives=1, joiner=" ")
        expected = omnisteval_segments(references, text, characters=characters)
        if expected is not None:
            assert resegment(text, references, method).segments == expected


MOSES_WORDS = [
    *("Dr.", "don't", "l'été", "100.000,5", "“no”", "(1)", "a-b-c", "Mr.", "U.S.", "...", "…", "½"),
    *("AT&T", "you.", "é", "£5", "--", "ﬁn", "x_y", "http://a.b/c?d=1", "bzw.", "Nr.", "¨", "\x01"),
    *(".", ",", "-", "。", "好天。", "it's,", "[", "]", "a|b", "<b>", "&amp;", "3.", "Ⅳ", "B."),
]
MOSES_CASES = [pytest.param(40, id="40"), pytest.param(2000, id="2000", marks=pytest.mark.thorough)]


@pytest.mark.parametrize("cases", MOSES_CASES)
@pytest.mark.parametrize("language", ["de", "en", "fr", "zh"])
def test_omnisteval_with_moses_equals_program(language, cases, monkeypatch):
    mosestokenizer = pytest.importorskip("mosestokenizer")
    # OmniSTEval would start a process for each text.
    monkeypatch.setattr(mosestokenizer, "MosesTokenizer", cache(mosestokenizer.MosesTokenizer))
    dice = random.Random(35)
    for _ in range(cases):
        words = dice.sample(MOSES_WORDS, k=dice.choice([3, 8, len(MOSES_WORDS)]))
        references, text = draw_case(dice, words, alternatives=1, joiner=" ")
        expected = omnisteval_segments(references, text, characters=False, language=language)
        if expected is not None:
            result = resegment(text, references, f"omnisteval-moses-{language}")
            assert result.segments == expected
            assert result.signature == f"omnisteval-moses-{language}-0.1.10"


STREAMS = [
    *(("mweralign-none", "en-de", system, 800) for system in ("Online-B", "PROMT", "OpenNMT")),
    *(("mweralign-none", "de-en", system, 800) for system in ("Online-B", "PROMT")),
    *(("mweralign-cj", "en-zh", system, 400) for system in ("Online-B", "DLUT", "Online-W")),
    *(("omnisteval", "en-de", system, 60) for system in ("Online-B", "PROMT")),
    *(("omnisteval-char", "en-zh", system, 25) for system in ("Online-B", "DLUT")),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("method", "pair", "system", "count"), STREAMS)
def test_streams_of_wmt22_equal_program(method, pair, system, count, wmt22, capfd):
    """The joined output of a system, and the first lines without their beginning."""
    _, _, target = pair.partition("-")
    name = f"generaltest2022.{pair}"
    paths = (f"references/{name}.ref.A.{target}", f"system-outputs/{name}.hyp.{system}.{target}")
    references, hypotheses = (
        (wmt22 / path).read_text(encoding="utf-8").splitlines()[:count] for path in paths
    )
    rows = [(line,) for line in references]
    segmenter = None
    if method == "mweralign-cj":
        segmenter = pytest.importorskip("mweralign.segmenter").CJSegmenter()
    for first in (0, 3):
        text = ("" if segmenter else " ").join(hypotheses[first:])
        if method.startswith("omnisteval"):
            expected = omnisteval_segments(rows, text, characters=method.endswith("char"))
        else:
            expected = mweralign_segments(rows, text, segmenter)
        assert resegment(text, rows, method).segments == expected


def test_moses_without_its_parts_gives_advice(monkeypatch):
    call = partial(resegment, "a b", ["a", "b"])
    with pytest.raises(ValueError, match="'omnisteval-moses-german': expected a language code"):
        call("omnisteval-moses-german")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match="needs Perl, but the program perl is not in PATH"):
        call("omnisteval-moses-nl")
    monkeypatch.setitem(sys.modules, "mosestokenizer", None)
    with pytest.raises(ImportError, match=r"pip install mosestokenizer==1\.2\.1"):
        call("omnisteval-moses-nl")


# ---- the definition ----


def naive_edits(references, hypothesis):
    """Return the smallest edit distance, and the segment of each unit, from the full table."""
    rows = [unit for units in references for unit in units]
    table = [list(range(len(hypothesis) + 1))]
    for unit in rows:
        row = [table[-1][0] + 1]
        for column, other in enumerate(hypothesis, 1):
            row.append(
                min(table[-1][column] + 1, row[-1] + 1, table[-1][column - 1] + (unit != other))
            )
        table.append(row)
    owners = [number for number, units in enumerate(references) for _ in units]
    places, row, column = [], len(rows), len(hypothesis)
    while column:
        if row and table[row][column] == table[row - 1][column] + 1:
            row -= 1
            continue
        if row and table[row][column] != table[row][column - 1] + 1:
            places.append(owners[row - 1])
            row -= 1
        else:
            # After the last unit of a segment, text belongs to it; before the first, to the first.
            places.append(owners[row - 1] if row else 0)
        column -= 1
    return table[-1][-1], places[::-1]


@pytest.mark.parametrize("length", [0, 1, 2, 63, 64, 65, 127, 128, 129, 200])
def test_bit_parallel_alignment_equals_definition(length):
    dice = random.Random(length)
    method = get_method("as-wer")
    for other_length in (0, 1, 2, 62, 64, 66, 128, 150):
        for alphabet in ("ab", "abcdefghijklmnop"):
            text = " ".join(dice.choices(alphabet, k=other_length))
            units = dice.choices(alphabet, k=length)
            cuts = sorted(dice.choices(range(length + 1), k=3))
            bounds = zip([0, *cuts], [*cuts, length], strict=True)
            segments = [" ".join(units[start:end]) for start, end in bounds]
            # A segment without text gets none, except before all others.
            segments = [text for text in segments if text] or [""]
            alignment = method.align(split_text_units(text), [(segment,) for segment in segments])
            errors, places = naive_edits([segment.split() for segment in segments], text.split())
            assert alignment.errors == errors
            assert list(alignment.segments) == places


@pytest.mark.parametrize("name", ["as-wer", *TOKEN_METHODS])
def test_every_tokenizer_equals_definition(name):
    dice = random.Random(name)
    method = get_method(name)
    words = ["Kai", "e\u0301t", "3,5", "“no”", "it's", "you.", "好天", "(b)", "A-1", "&amp;"]
    for _ in range(60):
        segments = [" ".join(dice.choices(words, k=dice.randint(1, 6))) for _ in range(4)]
        text = " ".join(dice.choices(words, k=dice.randint(0, 25)))
        keys = [method.split(segment).keys for segment in segments]
        stream = method.split(text)
        alignment = method.align(stream, [(segment,) for segment in segments])
        errors, places = naive_edits(keys, stream.keys)
        assert (alignment.errors, list(alignment.segments)) == (errors, places)
        # The error rate is the word error rate of the joined texts.
        assert resegment(text, segments, name).errors == errors


@pytest.mark.parametrize("name", ["as-wer", *TOKEN_METHODS])
def test_no_other_cuts_have_fewer_errors(name):
    dice = random.Random(6)
    method = get_method(name)
    for _ in range(20):
        segments = [" ".join(dice.choices("ab,", k=dice.randint(1, 3))) for _ in range(3)]
        stream = method.split(" ".join(dice.choices("ab,", k=dice.randint(1, 7))))
        keys = [method.split(segment).keys for segment in segments]

        def count_errors(cuts, keys=keys, stream=stream):
            parts = zip(keys, [0, *cuts], [*cuts, len(stream)], strict=True)
            return sum(naive_edits([key], stream.keys[start:end])[0] for key, start, end in parts)

        fewest = min(map(count_errors, combinations_with_replacement(range(len(stream) + 1), 2)))
        assert method.align(stream, [(segment,) for segment in segments]).errors == fewest


@pytest.mark.parametrize(
    ("method", "text", "message"),
    [
        ("as-wer-rouge", "on — off", "the tokenizer rouge removes '—' from the text"),
        ("as-wer-rouge", "on 好 off", "the tokenizer rouge removes '好'"),
        ("as-wer-13a", "好&amp;", "the tokenizer 13a changes '好&amp;' to '好 &'"),
        ("as-wer-13b", "a", "unknown tokenizer '13b'; did you mean '13a'?"),
    ],
)
def test_tokenizer_that_changes_the_text_is_refused(method, text, message):
    with pytest.raises((InputError, ValueError), match=message):
        resegment(text, ["on", "off"], method)


def test_signature_names_tokenizer_and_release():
    for name in ("as-wer-13a", "as-wer-words", "as-wer-ja-mecab-0.996-IPA"):
        assert format_method_label(name) == name
    assert format_method_label("mweralign") == "mweralign-spm32k-1.4.1"


# ---- documents, as in the commands of other programs ----

# mweralign fails on ids that return, and drops an empty last segment of a document.
BETTER_SEGMENTS = {
    "docids-not-contiguous": ["one two", "", "five six", "seven"],
    "docids-empty-last-segment": ["one two", "", "five six", "seven"],
}
COUNT_ERRORS = {
    "docids-count": "hypothesis: 1 line for 2 documents",
    "docids-length": "documents (d) has 2 segments",
    "omni-text-count": "hypothesis: 1 line for 2 documents",
}


def test_commands_of_other_programs_give_the_same_segments(golden_cases, write, truebleu_command):
    """The stored commands, except those that score or trace."""
    compared = set()
    for case in golden_cases("cli"):
        if case["id"] in ("score", "trace", "hashes-are-references"):
            continue
        paths = {name: write(name, text.splitlines()) for name, text in case["files"].items()}
        method = "mweralign-cj" if "-m cj" in case["command"] else "mweralign-none"
        method = "omnisteval" if case["tool"].startswith("OmniSTEval") else method
        documents = paths.get("d", paths.get("s.txt"))
        options = [] if documents is None else ["--docs", documents]
        result = truebleu_command(
            "resegment", paths["r"], "-i", paths["h"], "--resegment", method, *options
        )
        if case["id"] in COUNT_ERRORS:
            assert result.status == 1
            assert COUNT_ERRORS[case["id"]] in result.error
        elif case["stdout"] is None:
            rows = map(json.loads, case["outputs"]["seg/instances.resegmented.jsonl"].splitlines())
            assert result.output.splitlines() == [row["prediction"] for row in rows]
        else:
            expected = [line.rstrip() for line in case["stdout"].splitlines()]
            assert result.output.splitlines() == BETTER_SEGMENTS.get(case["id"], expected)
        compared.add(case["id"])
    assert len(compared) == 13
    assert compared >= {*BETTER_SEGMENTS, *COUNT_ERRORS}


def test_lines_of_omnisteval_belong_to_the_document_with_their_number():
    documents = ["docid=1,segid=0", "docid=0,segid=0", "docid=0,segid=1"]
    result = resegment(["a b c", "d e"], ["d e", "a b", "c"], documents=documents)
    assert result.segments == ["d e", "a b", "c"]
    assert [facts.document for facts in result.facts] == ["docid=1", "docid=0", "docid=0"]
    # Numbers may begin with 1.
    documents = ["docid=1,segid=1", "docid=2,segid=1", "docid=2,segid=2"]
    result = resegment(["d e", "a b c"], ["d e", "a b", "c"], documents=documents)
    assert result.segments == ["d e", "a b", "c"]
    documents[2] = "2"
    message = r"documents, line 3: expected docid=N,segid=N, as in .*'2'"
    with pytest.raises(InputError, match=message):
        resegment(["d e", "a b c"], ["d e", "a b", "c"], documents=documents)


# ---- what holds for our own methods ----

TEXTS = st.text(st.sampled_from("ab cd. ’É好你กา́ \u200d👩\U0001f3fd #\t</s>"), max_size=40).map(
    lambda text: " ".join(text.split())
)


@pytest.mark.parametrize("method", OWN)
@given(text=TEXTS, references=st.lists(TEXTS, min_size=1, max_size=6))
def test_no_text_is_lost_and_no_word_is_cut(method, text, references):
    result = resegment(text, references, method)
    assert len(result) == len(references)
    ends = [0, *(facts.end for facts in result.facts)]
    assert ends == sorted(ends)
    covered = [facts.start for facts in result.facts if facts.end > facts.start]
    gaps = zip(ends, [facts.start for facts in result.facts], strict=False)
    assert not "".join(text[end:start] for end, start in gaps).strip()
    assert "".join("".join(result.segments).split()) == "".join(text.split())
    units = split_text_units(text)
    spans = zip(units.spans, units.begins, strict=True)
    assert set(covered) <= {start for (start, _), is_begin in spans if is_begin} | {0}
    has_units = [bool(split_text_units(reference).keys) for reference in references]
    for segment, has_unit in zip(result, has_units, strict=True):
        assert has_unit or not segment or not any(has_units)


@pytest.mark.parametrize("method", OWN)
@given(references=st.lists(TEXTS, min_size=1, max_size=6))
def test_reference_comes_back_and_result_is_stable(method, references):
    segments = [text for text in references if split_text_units(text).keys] or ["a"]
    joined = " ".join(segments)
    assert resegment(joined, segments, method).segments == segments
    shifted = resegment(joined, segments[::-1], method).segments
    assert resegment(" ".join(filter(None, shifted)), segments[::-1], method).segments == shifted


@pytest.mark.parametrize("method", AVAILABLE)
def test_documents_equal_each_document_alone(method):
    dice = random.Random(5)
    words = ["alpha", "beta", "gamma", "delta", "eps", "."]
    references, texts, documents, alone = [], {}, [], []
    for name in ("one", "two", "three"):
        rows, text = draw_case(dice, words, alternatives=1, joiner=" ")
        references += rows
        texts[name] = text
        documents += [name] * len(rows)
        alone += resegment(text, rows, method).segments
    together = resegment(texts, references, method, documents=documents, workers=3)
    assert together.segments == alone
    assert together.signature.endswith("+docs")


def test_documents_may_return_later():
    references = ["one two", "five six", "three four"]
    texts = {"A": "one two three four", "B": "five six"}
    result = resegment(texts, references, documents=["A", "B", "A"])
    assert result.segments == ["one two", "five six", "three four"]


@pytest.mark.parametrize("method", [*OWN, "mweralign-none"])
def test_several_references_of_varying_number(method):
    references = [("a cat sat", None), ("on a mat", "upon the rug"), ("it slept",)]
    result = resegment("a cat sat upon the rug it slept", references, method)
    assert result.segments == ["a cat sat", "upon the rug", "it slept"]


@pytest.mark.parametrize("method", ["soft", "as-wer", "mweralign-none"])
def test_marks_of_other_programs_are_text(method):
    """To mweralign, </s> ends a segment. It writes ### for a tab of the hypothesis."""
    segments = ["a ### b", "</s> c \u2581d"]
    assert resegment(" ".join(segments), segments, method).segments == segments
    tabbed = resegment("a\tb c", ["a\tb", "c"], method)
    assert " ".join(tabbed).split() == ["a", "b", "c"]
    # simulstream leaves U+2581 in Chinese text.
    assert "\u2581" not in "".join(resegment("今天 天气", ["今天", "天气"], method))


@pytest.mark.parametrize(
    ("method", "segments"),
    [("as-wer", ["", "d e f"]), ("soft", ["", "d e f"]), ("mweralign-none", ["d", "e f"])],
)
def test_text_without_its_beginning_matches_later_segments(method, segments):
    """The first word of mweralign cannot match a later segment."""
    assert resegment("d e f", ["a b c", "d e f"], method).segments == segments


@pytest.mark.parametrize("method", AVAILABLE)
@pytest.mark.parametrize("references", [["", "a b", "", "", "c d", ""], ["", ""], ["a b", ""]])
def test_empty_references_stay_at_every_place(method, references):
    """Not as mweralign, which drops the last, or RWTH's program, which crashes on the others."""
    result = resegment("a b c d", references, method)
    assert len(result) == len(references)
    if not method.startswith(("mweralign", "omnisteval")) and any(references):
        assert all(text or not segment for text, segment in zip(references, result, strict=True))


def test_identical_text_with_capitals_has_no_errors():
    """RWTH's program lower-cases one side alone with -usecase 0."""
    result = resegment("A Cat SAT", ["A Cat", "SAT"], "mweralign-none")
    assert (result.segments, result.errors) == (["A Cat", "SAT"], 0)


def test_uneven_reference_files_are_refused(truebleu_command, talk, write):
    short = write("short.en", ["the cat sat on the mat"])
    result = truebleu_command("score", talk[0], short, "-i", talk[1], "--resegment")
    assert (result.status, result.output) == (1, "")
    assert "different numbers of segments: segment 2 is not in " in result.error


@pytest.mark.parametrize("method", ["omnisteval", "soft"])
def test_leading_mark_is_lost_only_where_the_program_loses_it(method):
    result = resegment("- one two three", ["one two", "three"], method)
    assert result.lost == (method == "omnisteval")
    assert result[0] == ("one two" if result.lost else "- one two")


UNUSUAL_TEXTS = {
    "empty references": ([""] * 1000, "some text"),
    "one word": (["word " * 20_000], "word " * 5000),
    "no text": (["a b", "c d"], ""),
    "nothing in common": (["a b", "c d"], "x y z"),
    "control": (["a\0b", "\u0301"], "\u0301 a\0b"),
    "emoji": (["👩‍👩‍👧 ok", "\u202egnirts"], "👩‍👩‍👧 ok \u202egnirts"),
}


@pytest.mark.parametrize(("references", "text"), UNUSUAL_TEXTS.values(), ids=UNUSUAL_TEXTS)
@pytest.mark.parametrize("method", AVAILABLE)
def test_unusual_texts_are_divided(references, text, method):
    result = resegment(text, references, method)
    assert len(result) == len(references)
    if get_method(method).is_own:
        assert "".join("".join(result).split()) == "".join(text.split())


def test_summary_counts_what_is_missing_and_added():
    long = "a1 b2 c3 d4 e5 f6 g7 h8 i9 j1 k2 l3"
    reference = ["one two three four five six seven eight", long, "end it"]
    text = f"{long} and so on it goes for ever and ever after end it"
    result = resegment(text, reference, "as-wer")
    assert [facts.flags for facts in result.facts] == [["empty"], [], []]
    assert (result.missing, result.added) == (8 / 22, 10 / 24)
    assert str(result) == (
        "1 line → 3 segments, as-wer-words; 63.6% of the reference covered, 1 segment empty, "
        "36.4% missing, 41.7% added"
    )
    assert result.problems == [
        "36% of the reference is missing",
        "42% of the text is not in the reference",
        "1 segment is empty",
    ]
    assert not resegment("a b", ["a b"]).problems
    assert "only 0% of the reference is covered" in resegment("x y", ["a b"]).problems[0]
    assert resegment("x y z w v u t end it", ["x", "end it"]).facts[0].flags == ["added", "far"]


make = partial(resegment, "a b c", ["a", "b c"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make("sofd"), "unknown re-segmentation method 'sofd'; did you mean 'soft'?"),
        (lambda: resegment("a", []), "references: no segments"),
        (lambda: make(documents=["x"]), "documents has 1 segment"),
        (lambda: make(documents=["x", None]), "documents: segment 2 has no label"),
        (lambda: resegment({"x": "a"}, ["a"]), "texts by document require documents="),
        (lambda: resegment({"y": "a"}, ["a"], documents=["x"]), "no .* segment belongs to .* 'y'"),
        (lambda: resegment([*"abc"], [*"ab"], documents=["x", "y"]), "3 lines for 2 documents"),
    ],
)
def test_invalid_input_raises_error_that_names_it(call, message):
    with pytest.raises((InputError, ValueError), match=message):
        call()


# ---- the command, and pages ----


@pytest.fixture
def talk(write):
    """Two documents of two segments, and an output in three lines."""
    reference = ["the cat sat on the mat", "then it slept", "rain fell all day", "nobody went out"]
    output = ["the cat sat on the mat then", "it slept", "rain fell all day nobody went out"]
    return (
        write("reference.en", reference),
        write("talk.en", output),
        write("documents.txt", ["a", "a", "b", "b"]),
        write("lines.txt", ["a", "a", "b"]),
        reference,
    )


def test_command_writes_segments_of_the_reference(truebleu_command, talk):
    reference, output, documents, lines, segments = talk
    result = truebleu_command("resegment", reference, "-i", output)
    assert result.output.splitlines() == segments
    assert result.error == (
        "truebleu: note: talk: 3 lines → 4 segments, soft-words; 100.0% of the reference covered\n"
    )
    divided = output.with_name("divided.en")  # the suffix of a text, not of a format
    truebleu_command("resegment", reference, "-i", output, "-o", divided)
    assert divided.read_text("utf-8").splitlines() == segments
    options = ["--docs", documents, "--hyp-docs", lines, "-f", "jsonl"]
    rows = truebleu_command("resegment", reference, "-i", output, "-q", *options).output
    rows = [json.loads(line) for line in rows.splitlines()]
    assert [(row["document"], row["text"]) for row in rows if "text" in row] == list(
        zip("aabb", segments, strict=True)
    )


@pytest.mark.parametrize("command", ["score", "segments", "compare", "check", "explain"])
def test_every_command_scores_text_with_other_segments(command, truebleu_command, talk):
    reference, output, *_ = talk
    options = ["--min", "99"] if command == "check" else []
    refused = truebleu_command(command, reference, "-i", output, *options)
    assert refused.status == 1
    advice = ". If the texts are only segmented differently, add --resegment\n"
    assert refused.error.endswith(advice)
    options += ["-f", "text"] if command == "segments" else []
    result = truebleu_command(command, reference, "-i", output, *options, "--resegment")
    assert result.status == 0, result
    assert "reseg:soft-words" in result.output or "sg:soft-words" in result.output


def test_family_scores_and_identifies_text_with_other_segments(truebleu_command, talk):
    """Every member's signature has the field, also where statistics are shared."""
    reference, output, documents, lines, _ = talk
    options = [reference, "-i", output, "--resegment", "-f", "json"]
    rows = json.loads(truebleu_command("family", "score", *options, "--relatives").output)
    signatures = [row["signature"] for row in rows["scores"] if "signature" in row]
    assert len(signatures) > 100
    assert all("|reseg:soft-words|" in signature for signature in signatures)
    assert rows["resegmentation"]["talk"]["method"] == "soft-words"
    result = truebleu_command("family", "which", "100.0", *options)
    assert json.loads(result.output)["resegmentation"]["talk"]["segments"] == 4
    rows = truebleu_command("family", "score", *options, "--docs", documents, "--hyp-docs", lines)
    assert "|reseg:soft-words+docs|" in rows.output


def test_history_never_compares_scores_with_and_without_resegmentation(
    truebleu_command, talk, write
):
    reference, output, *_ = talk
    log = write("scores.jsonl", [])
    for options in (["-i", f"talk={reference}"], ["-i", output, "--resegment"]):
        truebleu_command("score", reference, *options, "--log", log)
    result = truebleu_command("history", log, "-f", "json")
    (group,) = json.loads(result.output)["groups"]
    signatures = [series["signature"] for series in group["series"]]
    assert sorted("reseg:soft-words" in signature for signature in signatures) == [False, True]
    assert "signatures differ, so their scores are not comparable" in group["warning"]


@pytest.mark.parametrize("command", ["score", "segments", "compare"])
def test_always_divides_outputs_with_as_many_lines(command, truebleu_command, talk, write):
    """One system has the reference's lines, and one has another number of lines."""
    reference, output, *_, segments = talk
    same = write("same.en", segments)
    options = [reference, "-i", same, output, "-f", "json"]
    some = truebleu_command(command, *options, "--resegment")
    assert "same: " not in some.error
    assert "warning: same was not divided" in some.error
    every = truebleu_command(command, *options, "--resegment=always")
    assert "note: same: 4 lines → 4 segments, soft-words" in every.error
    assert "not divided" not in every.error


def test_unrelated_text_gets_no_suggestion(truebleu_command, talk, write):
    other = write("other.en", ["entirely different words appear", "within this file"])
    result = truebleu_command("score", talk[0], "-i", other)
    assert result.status == 1
    assert "--resegment" not in result.error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("score REF -i HYP --resegment=sofd", "unknown .* method 'sofd'; did you mean 'soft'"),
        ("score REF -i HYP --resegment=soft,ever", "METHOD or METHOD,always, found 'soft,ever'"),
        ("score REF -i HYP --hyp-docs DOCS", "no effect without --resegment"),
        ("explain --hypothesis a --reference a --resegment", "and --hypothesis TEXT are mutually"),
        ("score a.parquet -i b.parquet --resegment", "does not support tables"),
        ("meta --human HYP --scores A=HYP --hyp-docs DOCS", "need REF and -i"),
        ("family list --resegment", "--resegment has no effect with list"),
        ("family show --resegment", "--resegment has no effect with show"),
        ("family score REF -i HYP --docs DOCS", "--docs has no effect without --resegment"),
    ],
)
def test_invalid_method_or_option_is_a_usage_error(arguments, message, truebleu_command, talk):
    paths = dict(zip(("REF", "HYP", "DOCS"), talk, strict=False))
    result = truebleu_command(*(paths.get(word, word) for word in arguments.split()))
    assert (result.status, result.output) == (2, "")
    assert re.search(message, result.error)


def test_score_of_resegmented_text_has_the_field():
    result = tb.resegment("The cat sat. It rained", ["The cat sat.", "It rained."])
    plain, divided = (
        tb.BLEU().score(texts, ["The cat sat.", "It rained."]) for texts in (list(result), result)
    )
    assert divided.value == plain.value
    assert str(divided.signature).startswith("nrefs:1|reseg:soft-words|case:mixed")
    assert pickle.loads(pickle.dumps(divided)).signature == divided.signature
    with pytest.raises(TypeError, match="different signatures"):
        assert divided > plain
    for score in (
        tb.bleu(result, ["The cat sat.", "It rained."], check_text=False),
        tb.BLEU(unicode_form="nfc").score(result, ["The cat sat.", "It rained."]),
        tb.metric("rouge-l").score(result, ["The cat sat.", "It rained."]),
    ):
        assert score.signature["reseg"] == "soft-words"


def test_signature_with_method_is_parsed():
    metric = tb.metric("BLEU|nrefs:1|reseg:soft-words|case:lc|eff:no|tok:13a|smooth:exp")
    assert metric == tb.BLEU(lowercase=True, effective_order=False)


def test_accuracy_table_of_page_is_current(wmt22):
    folder = ROOT / "docs"
    command = [sys.executable, folder / "resegmentation_accuracy.py", wmt22]
    table = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert table in (folder / "how-to" / "resegment.md").read_text("utf-8")
