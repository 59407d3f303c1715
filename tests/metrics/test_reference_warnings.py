"""Warnings about wrong and copied references, shifted lines, and text in one letter case."""

import re
import warnings

import pytest
from paths import ROOT

import truebleu as tb
from truebleu.metrics.base import Corpus
from truebleu.metrics.text_warnings import TOKENIZED_KIND, summarize_text, warn_about_texts

DATA = ROOT / "examples" / "de-en"
NAMES = ("source.de", "reference.a.en", "reference.b.en", "birch.en", "cedar.en")
SOURCE, FIRST, SECOND, BIRCH, CEDAR = (
    (DATA / name).read_text("utf-8").splitlines() for name in NAMES
)
# Hypotheses, references and the warning.
FAULTS = {
    "source as reference": (BIRCH, [FIRST, SOURCE], "reference 2 does not fit the other ref"),
    "source as first reference": (BIRCH, [SOURCE, FIRST], "reference 1 does not fit the other"),
    "other lines": (BIRCH, [FIRST, SECOND, CEDAR[9:] + CEDAR[:9]], "reference 3 does not fit"),
    "second reference": (SECOND, [FIRST, SECOND], "identical to the reference in reference 2"),
    "lower case": (list(map(str.lower, BIRCH)), [FIRST], "in lower case, .* lowercase=True"),
    "upper case": (list(map(str.upper, BIRCH)), [FIRST], "in upper case, .* lowercase=True"),
    "shift back": (BIRCH[1:] + BIRCH[:1], [FIRST], "shifted by 1: line 5 matches line 6"),
    "shift": (BIRCH[-2:] + BIRCH[:-2], [FIRST], "shifted by 2: line 5 matches line 3"),
    # One line is missing, and the last line stands twice.
    "missing line": (
        BIRCH[:80] + BIRCH[81:] + BIRCH[-1:],
        [FIRST],
        r"shifted \(\d\d% .* line 8\d matches line 8\d of the references\). .* tb.resegment div",
    ),
    "superfluous line": (
        [*BIRCH[:60], "Translated by a machine.", *BIRCH[60:-1]],
        [FIRST],
        r"lines look shifted \(\d\d% .* line 6\d matches line 6\d of",
    ),
}


def list_warnings(function, *arguments, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*arguments, **options)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_has_one_warning_in_python(fault):
    output, columns, expected = FAULTS[fault]
    messages = list_warnings(tb.bleu, output, list(zip(*columns, strict=True)))
    (message,) = (one for one in messages if re.search(expected, one))
    assert message.endswith("are unreliable.")


@pytest.mark.parametrize("fault", FAULTS)
def test_comparison_does_not_rank_the_faulty_system(fault):
    output, columns, expected = FAULTS[fault]
    systems = {"faulty": output, "cedar": CEDAR[:40] + FIRST[40:]}
    with pytest.warns(tb.TextWarning, match=expected):
        content = tb.compare(systems, list(zip(*columns, strict=True)), samples=99).to_dict()
    assert all(one["scores"]["BLEU"]["rank"] is None for one in content["systems"])
    assert [one["significant"] for one in content["pairs"]] == [None]
    (warning,) = (one for one in content["warnings"] if re.search("unreliable", one["text"]))
    assert warning["kind"] != TOKENIZED_KIND
    assert warning["text"].endswith("are unreliable and not reported as significant.")


def test_normal_texts_have_no_warning():
    assert list_warnings(tb.bleu, BIRCH, list(zip(FIRST, SECOND, strict=True))) == []
    assert list_warnings(tb.bleu, list(map(str.lower, BIRCH)), FIRST, lowercase=True) == []
    assert list_warnings(tb.ter, list(map(str.lower, BIRCH)), FIRST) == []
    lowered = [list(map(str.lower, one)) for one in (BIRCH, FIRST)]
    assert list_warnings(tb.bleu, lowered[0], lowered[1]) == []


@pytest.mark.parametrize(
    ("option", "is_shown"),
    [("", True), ("--resegment", True), ("--resegment=always", False), ("-q", False)],
)
def test_shifted_lines_suggest_resegmentation(option, is_shown, truebleu_command, write):
    """Unless the output is divided already, or -q is used."""
    reference = write("ref.txt", FIRST)
    output = write("hyp.txt", BIRCH[:80] + BIRCH[81:] + BIRCH[-1:])
    result = truebleu_command("score", reference, "-i", output, *option.split())
    message = " ".join(result.error.split())
    assert ("lines look shifted" in message) == is_shown
    assert ("--resegment=always (tb.resegment in Python) divides" in message) == is_shown


def test_letter_case_names_the_option_of_each_metric():
    metrics = ["bleu", "chrf", tb.TER(case_sensitive=True), "rouge-l"]
    compared = tb.compare({"a": list(map(str.lower, BIRCH))}, FIRST, metrics=metrics, samples=9)
    (warning,) = (one for one in compared.warnings if one["kind"] == "letter case")
    assert warning["metrics"] == ["BLEU", "chrF2", "TER"]
    assert "--lowercase (lowercase=True in Python) for BLEU" in warning["text"]
    assert "--chrf-lowercase (lowercase=" in warning["text"]
    assert "--ter-case-sensitive no (case_sensitive=False in Python) for TER" in warning["text"]


def test_latex_marks_no_best_score_of_unreliable_systems(truebleu_command):
    zh = ROOT / "examples" / "en-zh"
    outputs = sorted(str(one) for one in zh.glob("*.zh") if "reference" not in one.name)
    reference = next(str(one) for one in sorted(zh.glob("reference*.zh")))
    result = truebleu_command("score", reference, "-i", *outputs, "-f", "latex")
    assert "Differences in BLEU are unreliable." in result.error
    assert "significant" not in result.error
    assert "textbf" not in result.output
    result = truebleu_command("score", reference, "-i", *outputs, "-f", "latex", "-l", "en-zh")
    assert "textbf" in result.output


@pytest.mark.parametrize("as_files", [False, True])
@pytest.mark.parametrize("line", [650, 1001, 1180])
def test_line_lost_late_is_named(line, as_files, write):
    # Every line has words of its own, as the lines of a long text have.
    letters = str.maketrans("0123456789", "abcdefghij")
    references = [
        " ".join(str(9 * i + j).translate(letters) for j in range(9)) + f" {FIRST[i % 128]}"
        for i in range(1280)
    ]
    output = [text.replace(" the ", " a ") for text in references]
    for texts, columns, shift in (
        ([*output[: line - 1], *output[line:], "x"], references, 1),
        (output, [*references[: line - 1], *references[line:], "x"], -1),
    ):
        first = line if shift == 1 else line + 1
        inputs = [write("o.txt", texts), write("r.txt", columns)] if as_files else [texts, columns]
        inputs = [tb.File(one) for one in inputs] if as_files else inputs
        messages = " ".join(list_warnings(tb.bleu, *inputs))
        assert f"of 200 examined lines fit another line: line {first} matches line " in messages
        assert f"matches line {first + shift} of the references" in messages


@pytest.mark.parametrize("offset", [31, 64])
def test_lines_in_another_order_are_named(offset):
    order = sorted(range(128), key=lambda i: i * offset * 7 % 128 * 13 % 101)
    messages = list_warnings(tb.bleu, [BIRCH[i] for i in order], FIRST)
    assert any("share no more words with their references than with" in one for one in messages)


def test_marks_after_the_first_lines_are_found():
    output = BIRCH * 4
    marked = [*output[:300], *(f"{text} <unk>" for text in output[300:])]
    (message,) = list_warnings(tb.bleu, marked, FIRST * 4)
    assert re.search(r"\d\d of 200 examined lines have special tokens .*\(lines 3\d\d, ", message)


NEWLINES = {
    "end": "{}\n".format,
    "both ends": "\n {} \n\n".format,
    "inside": lambda text: text.replace(" ", "\n", 1),
}


@pytest.mark.parametrize("metric", [tb.BLEU(), tb.BLEU(lowercase=True), tb.CHRF(), tb.TER()])
@pytest.mark.parametrize("place", NEWLINES)
@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (BIRCH, []),
        (FIRST, ["all 128 hypotheses are identical to the reference"]),
        ([f"{text} ." for text in BIRCH], ["128 of 128 lines look tokenized"]),
        (["", *BIRCH[1:]], ["1 of 128 hypotheses is empty (line 1)"]),
        (list(map(str.lower, BIRCH)), ["the text is in lower case"]),
        (BIRCH[1:] + BIRCH[:1], ["shifted by 1: line 5 matches line 6"]),
    ],
)
def test_newlines_do_not_change_warnings(output, expected, place, metric):
    add_newlines = NEWLINES[place]
    plain = list_warnings(metric.score, output, FIRST)
    with_newlines = list_warnings(
        metric.score, list(map(add_newlines, output)), list(map(add_newlines, FIRST))
    )
    assert with_newlines == plain
    if metric == tb.BLEU():
        assert len(plain) == len(expected)
        assert all(text in message for text, message in zip(expected, plain, strict=True))


@pytest.mark.parametrize(
    ("references", "system", "expected"),
    [
        (["t.ref.A.de", "t.hyp.B.de"], "t.hyp.C.de", "is one of 2 references. Is -i missing"),
        (["t.hyp.B.de"], "t.ref.A.de", "t.ref.A like a reference. Are references and outputs"),
        (["t.hyp.B.de"], "t.hyp.C.de", "is the reference. The scores measure the similarity"),
        (["t.ref.A.de", "t.ref.B.de"], "t.hyp.C.de", None),
        (["t.ref.A.de"], "t.ref.B.de", None),
        (["output.de"], "cedar.de", None),
    ],
)
def test_name_of_an_output_among_the_references_is_noticed(references, system, expected, tmp_path):
    for name, lines in zip([*references, system], (FIRST, SECOND, CEDAR), strict=False):
        (tmp_path / name).write_text("\n".join(lines))
    (tmp_path / system).write_text("\n".join(CEDAR))
    messages = list_warnings(tb.bleu, tmp_path / system, [tmp_path / name for name in references])
    assert len(messages) == (expected is not None)
    assert expected is None or expected in messages[0]


@pytest.mark.parametrize(
    ("metric", "text", "expected"),
    [
        ("meteor", "Die schöne Übung fällt für Änne natürlich aus.", "many letters of the ref"),
        ("meteor", "The exercise will not happen today.", None),
        ("meteor|lang:de", "Die schöne Übung fällt für Änne natürlich aus.", None),
        ("meteor-nltk", "Красивая задача", "English stems and synonyms only"),
        ("bleu", "Die schöne Übung fällt für Änne natürlich aus.", None),
    ],
)
def test_metric_for_english_is_noticed(metric, text, expected):
    name, _, language = metric.partition("|lang:")
    metric = tb.metric(name)
    if language:
        metric = metric.with_parameters(language=language)
    summary = summarize_text(Corpus([text], [text]))
    found = [one["text"] for one in warn_about_texts({"x": summary}, ["ref"], {metric: name})]
    assert len(found) == (expected is not None)
    assert expected is None or expected in found[0]
