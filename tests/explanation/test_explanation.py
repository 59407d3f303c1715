"""Explanations: examples from the literature, equality with the metric, renderings."""

import json
import math
import re
from html import unescape

import hypothesis.strategies as st
import pytest
import strategies
from hypothesis import given

import truebleu as tb
from truebleu import BLEU, Explanation, InputError, explain
from truebleu.explanation.naive_bleu import choose_reference_length

WIKIPEDIA = ["the cat is on the mat", "there is a cat on the mat"]
WORDS = BLEU("none", smoothing="none", effective_order=False)


def explain_system(*arguments, **options) -> dict:
    return explain(*arguments, **options).to_dict()["systems"][0]


def list_fractions(explained: dict) -> list[tuple[int, int]]:
    return [(order["matches"], order["total"]) for order in explained["orders"]]


# Worked examples from well-known texts on BLEU, with corrected values.


def test_the_cat():
    pair = explain_system("the cat", WIKIPEDIA, WORDS, recall=True)
    assert list_fractions(pair) == [(2, 2), (1, 1), (0, 0), (0, 0)]
    assert pair["brevity_penalty"] == pytest.approx(0.1353, abs=5e-5)
    assert pair["score"] == 0
    assert "too short to have any trigrams" in pair["zero"]
    # The encyclopedia says 3/6, which counts both "the" of the reference; clipped it is 2/6.
    recalls = [(one["matches"], one["total"]) for one in pair["orders"][0]["recall"]]
    assert recalls == [(2, 6), (2, 7)]
    assert list_fractions(explain_system("the cat", WIKIPEDIA[1], WORDS))[1] == (0, 1)
    two = BLEU("none", max_order=2, smoothing="none")
    assert explain_system("the cat", WIKIPEDIA, two)["fraction"] == pytest.approx(0.1353, abs=5e-5)


# Explanations equal the metric.


@given(strategies.corpora(max_segments=1), strategies.parameters())
def test_segment_explanation_equals_metric(corpus, parameters):
    (hypothesis,), (references,) = corpus
    metric = BLEU(**parameters)
    content = explain(hypothesis, references, metric, recall=True).to_dict()
    explained, score = content["systems"][0], metric.sentence(hypothesis, references)
    check_equal_to_score(explained, score)
    row = metric.statistics([hypothesis], [references]).tolist()[0]
    orders = explained["orders"]
    assert row == [
        len(explained["tokens"]),
        explained["reference_length"],
        *(sum(ngram["clipped"] for ngram in order["ngrams"]) for order in orders),
        *(sum(ngram["count"] for ngram in order["ngrams"]) for order in orders),
    ]
    chosen_references = explained["reference_choice"]["references"]
    lengths = {one["number"]: one["length"] for one in content["references"]}
    assert {lengths[number] for number in chosen_references} == {explained["reference_length"]}
    check_steps_multiply(explained)


def check_equal_to_score(explained: dict, score) -> None:
    """Check that an explanation equals the metric exactly."""
    assert explained["score"] == score.value
    for name in ("fraction", "brevity_penalty", "hypothesis_length", "reference_length"):
        assert explained[name] == getattr(score, name)
    assert explained["signature"] == str(score.signature)
    orders = explained["orders"]
    assert tuple(order["matches"] for order in orders) == score.matches
    assert tuple(order["total"] for order in orders) == score.totals
    assert tuple(order["precision"] for order in orders) == score.precisions


def check_steps_multiply(explained: dict, tolerance: float = 1e-9) -> None:
    """Check that the steps of an explanation give the score."""
    if explained["zero"] is not None:
        assert explained["score"] == 0
        return
    product = explained["brevity_penalty"] * explained["geometric_mean"]
    assert product == pytest.approx(explained["fraction"], rel=tolerance)
    for order in explained["orders"]:
        if order["smoothed"] and order["state"] == "counts" and order["log"] is not None:
            smoothed_precision = order["smoothed"]["numerator"] / order["smoothed"]["denominator"]
            assert math.log(smoothed_precision) == pytest.approx(order["log"], abs=1e-9)


FAMILY = [
    BLEU("none", smoothing="tiny", missing_order="at-least-one", arithmetic="nltk"),
    BLEU("none", smoothing="none", missing_order="at-least-one", arithmetic="nltk"),
    BLEU("none", reference_length="shortest", smoothing="add-k-all", arithmetic="nmt"),
    BLEU("none", reference_length="longest", no_match="any-zero", smoothing="add-k"),
    BLEU("none", reference_length="average", no_match="smoothed", smoothing="floor"),
    BLEU("none", reference_length="average-truncated", brevity_penalty="none"),
    BLEU("none", tie="first", missing_order="one", no_match="smoothed"),
    BLEU("none", tie="longer", missing_order="drop", lowercase="after"),
    BLEU(
        "none", smoothing="epsilon", brevity_penalty="coco", no_match="smoothed", arithmetic="coco"
    ),
    BLEU(
        "none",
        brevity_penalty="plus-one",
        smoothing="add-k",
        published_scale=1.0,
        lowercase="ascii",
    ),
    BLEU("none", weights=[0.5, 0.5, 0, 0.25]),
    BLEU(str.split, max_order=2, weights=[1, 2], effective_order=True),
    BLEU("none", arithmetic="float32", missing_order="drop"),
]

few_words = st.lists(st.sampled_from(["a", "b", "A", "c"]), max_size=9).map(" ".join)


@pytest.mark.parametrize("metric", FAMILY, ids=str)
@given(few_words, st.lists(few_words, min_size=1, max_size=3))
def test_every_parameter_is_explained(metric, hypothesis, references):
    explanation = explain(hypothesis, references, metric)
    explained = explanation.to_dict()["systems"][0]
    check_equal_to_score(explained, metric.sentence(hypothesis, references))
    check_steps_multiply(explained, 1e-5 if metric.arithmetic == "float32" else 1e-9)
    choice = explained["reference_choice"]
    length, _ = choose_reference_length(
        explained["hypothesis_length"], choice["lengths"], choice["rule"], choice["tie"]
    )
    assert length == pytest.approx(explained["reference_length"])
    assert json.loads(explanation.to_json()) == explanation.to_dict()
    assert explanation.text()


MEMBERS = [name for name in tb.family if isinstance(tb.family[name].metric, BLEU)]


@pytest.mark.parametrize("name", MEMBERS)
def test_every_member_of_the_family_is_explained(name):
    metric = tb.family[name].metric
    for hypothesis, reference in [
        ("The cat sat on the mat , it said .", "The cat is on the mat , he said ."),
        ("the cat", "the cat is on the mat"),
        ("a dog", "the cat"),
        ("a b c d e f", "a b c d e"),
    ]:
        explained = explain_system(hypothesis, reference, metric)
        check_equal_to_score(explained, metric.sentence(hypothesis, reference))
        is_single = metric.arithmetic in ("float32", "cdec", "ignite", "t2t", "xnmt")
        check_steps_multiply(explained, 1e-4 if is_single else 1e-8)
        clipped = [sum(row["clipped"] for row in order["ngrams"]) for order in explained["orders"]]
        assert clipped == [order["matches"] for order in explained["orders"]]


@given(strategies.corpora(), st.sampled_from(["corpus", "segments"]))
def test_corpus_explanation_equals_metric(corpus, aggregate):
    hypotheses, references = corpus
    references = [tuple(segment) for segment in references]
    metric = BLEU(aggregate=aggregate)
    explained = explain_system(hypotheses, references, metric)
    check_equal_to_score(explained, metric.score(hypotheses, references))
    if aggregate == "corpus":
        check_steps_multiply(explained)
    else:
        assert "mean of segment scores" in explained["formula"][-1]


def test_cover_marks_longest_match_and_clipping():
    explained = explain_system("the cat the cat on the mat", "the cat is on the mat", BLEU("none"))
    assert [one["longest"] for one in explained["cover"]] == [2, 2, 1, 0, 3, 3, 3]
    clipped_orders = [one["clipped"] for one in explained["cover"]]
    assert clipped_orders == [[], [], [2], [1, 2], [], [1], []]


def test_corpus_lists_clipped_unmatched_and_missing_ngrams():
    order = explain_system(["a a a", "a a b"], ["a c", "a a c"], BLEU("none"))["orders"][0]
    assert order["clipped"] == [{"ngram": ["a"], "count": 2}]
    assert order["unmatched"] == [{"ngram": ["b"], "count": 1}]
    assert order["missing"] == [{"ngram": ["c"], "count": 2}]


def test_lists_of_a_corpus_are_bounded(monkeypatch):
    monkeypatch.setattr("truebleu.explanation.naive_bleu.MAX_EXAMINED_SEGMENTS", 3)
    words = [f"w{i}" for i in range(40)]
    explained = explain_system([" ".join(words)] * 5, ["x"] * 5, recall=True)
    assert explained["looked_into"] == 3
    assert explained["segments"] == 5
    assert len(explained["orders"][0]["unmatched"]) == 10
    assert explained["orders"][0]["unmatched"][0]["count"] == 3
    assert explained["orders"][0]["recall"][0]["total"] == 5


# Two systems.


@given(few_words, few_words, st.lists(few_words, min_size=1, max_size=2))
@pytest.mark.parametrize("metric", [m for m in FAMILY if m.arithmetic != "float32"], ids=str)
def test_parts_of_difference_sum_to_it(metric, first, second, references):
    content = explain({"A": first, "B": second}, references, metric).to_dict()
    first_system, second_system = content["systems"]
    comparison = content["comparison"]
    assert comparison["difference"] == second_system["score"] - first_system["score"]
    if not (first_system["score"] and second_system["score"]):
        assert "no logarithm" in comparison["zero"]
        assert comparison["log_difference"] is None
        return
    parts = [comparison["brevity"], *comparison["orders"]]
    if comparison["weights"] is not None:
        parts.append(comparison["weights"])
    log_difference = comparison["log_difference"]
    assert log_difference == math.log(second_system["score"]) - math.log(first_system["score"])
    assert math.fsum(part["log"] for part in parts) == pytest.approx(log_difference, abs=1e-9)
    points = math.fsum(part["points"] for part in parts)
    assert points == pytest.approx(comparison["difference"], abs=1e-7)


def test_score_of_zero_has_no_split():
    text = explain({"A": "dog", "B": "the cat"}, "the cat is on the mat").text()
    assert "It cannot be split: A scores 0" in " ".join(text.split())


# Renderings.

NASTY = "<script>alert(1)</script> & $5 50% #1 a_b ^ ~ \\ {x} `tick` | [link](x) *b* \u202e\x1b[31m"


def test_specials_are_escaped_in_latex():
    made = explain(NASTY, NASTY, BLEU("none")).latex()
    for special in (r"\$5", r"50\%", r"\#1", r"a\_b", r"\{x\}", r"\&"):
        assert special in made
    for name in ("asciicircum", "backslash", "asciitilde", "bar"):
        assert rf"\text{name}{{}}" in made


@pytest.mark.parametrize("rendering", ["text", "markdown", "latex", "html", "rich"])
def test_renderings_contain_all_numbers(rendering):
    explanation = explain("the cat the cat on the mat .", WIKIPEDIA, recall=True)
    if rendering == "rich":
        rich = pytest.importorskip("rich.console")
        console = rich.Console(width=200)
        with console.capture() as capture:
            console.print(explanation)
        made = capture.get()
    else:
        made = getattr(explanation, rendering)()
    if rendering == "html":
        made = unescape(re.sub("<[^>]+>", "", made))
    if rendering == "latex":
        made = made.replace("-{}", "-").replace("$-$", "−")
    explained = explanation.to_dict()["systems"][0]
    assert f"{explained['score']:.2f}" in made
    for value in (explained["fraction"], explained["geometric_mean"]):
        assert f"{value:.4f}" in made
    for order in explained["orders"]:
        assert f"{order['matches']}/{order['total']}" in made
        assert f"{order['precision'] / 100:.4f}" in made
        assert f"{order['recall'][0]['recall']:.4f}".rstrip("0").rstrip(".") in made
        for ngram in order["ngrams"]:
            assert " ".join(ngram["ngram"]) in made
    assert explanation.to_dict()["caution"].split(",")[0] in " ".join(made.split())


def test_ngram_table_names_reference():
    lines = explain("the cat", WIKIPEDIA, WORDS).text().splitlines()
    assert "unigram  hypothesis  reference  which  clipped" in lines
    assert "the               1          2      1        1" in lines
    lines = explain("the cat", WIKIPEDIA[0], WORDS).text().splitlines()
    assert "unigram  hypothesis  reference  clipped" in lines


def test_long_tables_are_folded_in_html():
    assert "<details>" in explain(" ".join(f"w{i}" for i in range(30)), "x").html()
    assert "<details>" not in explain("a b c", "x").html()


def test_json_of_another_version_is_refused():
    assert explain("the cat", WIKIPEDIA).to_dict()["truebleu_explanation"] == 1
    with pytest.raises(InputError, match="version 1"):
        Explanation({"truebleu_explanation": 2})


# Input of every kind, and bad input.


def test_a_segment_of_a_corpus(write):
    hypotheses = write("system", ["a b", "the cat", "c"])
    references = [write("one", ["a b", "the cat is", "c"]), write("two", ["b", "the dog", "d"])]
    content = explain(hypotheses, references, segment=2).to_dict()
    assert content["kind"] == "segment"
    assert content["segment"] == 2
    assert content["systems"][0]["name"] == "system"
    assert [one["text"] for one in content["references"]] == ["the cat is", "the dog"]
    expected = BLEU().sentence("the cat", ["the cat is", "the dog"])
    assert content["systems"][0]["score"] == expected.value


def test_missing_references_keep_their_numbers():
    content = explain(["a b c"], [(None, "a b", "a b c")], segment=1).to_dict()
    assert [one["number"] for one in content["references"]] == [2, 3]
    assert content["systems"][0]["reference_choice"]["references"] == [3]
    assert content["systems"][0]["orders"][0]["ngrams"][0]["reference"] == 2


def test_tokens_and_columns():
    none, texts = BLEU("none"), ([[1, 2, 3]], [[[1, 2, 4], [3]]])
    assert explain_system(*texts, none)["score"] == none.score(*texts).value
    assert explain_system([["a", "b"]], [["a", "b"]], none, segment=1)["tokens"] == ["a", "b"]
    pa = pytest.importorskip("pyarrow")
    assert explain_system(pa.array(["a b"]), pa.array(["a c"]))["hypothesis_length"] == 2


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (("a", []), {}, InputError, "segment 1"),
        (("a", [None]), {}, InputError, "segment 1"),
        (("a", 3), {}, TypeError, "references"),
        ((["a", "b"], ["a"]), {}, InputError, "(?s)2.*1"),
        ((["a"], ["a"]), {"segment": 2}, InputError, "no segment 2: expected a number from 1 to 1"),
        ((["a"], ["a"]), {"segment": 0}, InputError, "no segment 0: expected a number from 1"),
        (("a", "b"), {"segment": 1}, TypeError, "segment"),
        (({"x": "a", "y": ["a"]}, "b"), {}, TypeError, "expected a single str for each system"),
        (({"x": ["a"], "y": "a"}, ["b"]), {}, TypeError, "expected a corpus for each system"),
        (("a", "b"), {"metric": 7}, TypeError, "metric"),
        (("a", "b"), {"metric": "ter", "recall": True}, ValueError, "only available for BLEU"),
        (({}, "b"), {}, ValueError, "expected one or two systems, found 0"),
        ((["a", "b", "c"], [["a", "b", "c"]]), {}, InputError, "streams"),
    ],
)
def test_bad_input(arguments, options, error, message):
    with pytest.raises(error, match=message):
        explain(*arguments, **options)


# The command.


def test_the_command_explains_a_pair(truebleu_command):
    words = "explain", "--hypothesis", "the cat on mat", "--reference", *WIKIPEDIA
    assert "BP = exp(1 − 6/4) = 0.6065" in truebleu_command(*words, "-f", "text").output
    explanation = explain("the cat on mat", WIKIPEDIA)
    assert truebleu_command(*words).output == explanation.text()
    assert Explanation.from_json(truebleu_command(*words, "-f", "json").output) == explanation


def test_text_may_begin_with_a_dash(truebleu_command):
    words = "explain", "--hypothesis", "- a b", "--reference", "- a c", "--b d"
    explained = json.loads(truebleu_command(*words, "-f", "json").output)
    assert explained["systems"][0]["tokens"] == ["-", "a", "b"]


def test_the_command_explains_files(truebleu_command, write, tmp_path):
    one = write("one", ["the cat is on the mat", "a b c"])
    cedar, birch = write("cedar", ["the cat on mat", "a b"]), write("birch", ["the cat", "a b c"])
    page = tmp_path / "page.html"
    done = truebleu_command("explain", one, "-i", cedar, birch, "-o", page)
    assert done.status == 0, done
    assert "cedar: BLEU" in page.read_text()
    done = truebleu_command("explain", one, "-i", cedar, "-n", 2, "-f", "markdown")
    assert "segment 2" in done.output
    piped = truebleu_command("explain", one, "-f", "json", input=b"the cat on mat\na b\n")
    assert json.loads(piped.output)["systems"][0]["score"] == tb.bleu(cedar, one).value


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a b", "c"], "use --hypothesis TEXT --reference TEXT"),
        (["--hypothesis", "a", "b", "c", "--reference", "d"], "found 3"),
        (["--reference", "d"], "found 0"),
        (["--hypothesis", "a"], "--hypothesis has no effect without --reference"),
        (["a", "--reference", "d"], "REF and --reference TEXT are mutually exclusive"),
        (["a", "--hypothesis", "d"], "REF and --hypothesis TEXT are mutually exclusive"),
        (["--hypothesis", "a", "--reference", "d", "-i", "x"], "--input"),
        (["--hypothesis", "a", "--reference", "d", "-n", "1"], "--segment"),
    ],
)
def test_invalid_command_line_fails(truebleu_command, arguments, message):
    done = truebleu_command("explain", *arguments)
    assert done.status == 2, done
    assert message in done.error


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (("猫が好き", "猫が好きです"), {}),
        (({"A": "猫が好き", "B": "猫が"}, ["猫が好きです", None, "猫は好きだ"]), {}),
        (("猫が好き", "猫が好きです"), {"textbook": True}),
        ((["猫が好き"] * 2, ["猫が好きです"] * 2), {"check_text": False}),
        ((["猫が好き"] * 2, ["猫が好きです"] * 2), {"segment": 2}),
    ],
)
def test_unsplit_references_give_warning(arguments, options):
    explanation = tb.explain(*arguments, **options)
    (warning,) = explanation.warnings
    assert warning["kind"] == "unsplit"
    text = " ".join(explanation.text().split())
    assert "BLEU does not split the references into words: they look like Japanese" in text
    options.pop("textbook", None)
    assert "warnings" not in tb.explain(*arguments, **options, metric="chrf").to_dict()
