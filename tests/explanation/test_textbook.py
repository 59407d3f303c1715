"""`explain --textbook`: the numbers that textbooks compute by hand."""

import pytest
from textbook_examples import TEXTBOOK_EXAMPLES, WIKIPEDIA

from truebleu import BLEU, explain


def explain_textbook(hypothesis, references, metric=None):
    explanation = explain(hypothesis, references, metric, textbook=True)
    return explanation, explanation.to_dict()["systems"][0]


@pytest.mark.parametrize("example", TEXTBOOK_EXAMPLES, ids=lambda one: one.source)
def test_textbook_option_gives_the_printed_numbers(example):
    metric = BLEU(**example.settings)
    explanation, system = explain_textbook(example.hypothesis, example.references, metric)
    counts = [(order["matches"], order["total"]) for order in system["orders"]]
    assert counts[: len(example.precisions)] == list(example.precisions)
    if example.brevity_penalty is not None:
        assert system["brevity_penalty"] == pytest.approx(example.brevity_penalty, abs=5e-5)
    for n, printed_score in example.scores.items():
        last_digit = 10 ** -len(str(printed_score).partition(".")[2])
        assert abs(system["orders"][n - 1]["cumulative"] - printed_score) < last_digit
    assert str(explanation).startswith("BLEU = ")


def test_both_scales_are_in_the_heading():
    heading = str(explain("the cat sat", ["the cat sat down"], textbook=True)).partition("\n")[0]
    assert heading == "BLEU = 0.7165, or 71.65 on a 0-100 scale"


def test_orders_are_as_long_as_the_text_allows():
    _, system = explain_textbook("the cat", WIKIPEDIA)
    states = [order["state"] for order in system["orders"]]
    assert states == ["counts", "counts", "left out", "left out"]
    assert system["fraction"] == pytest.approx(0.1353, abs=5e-5)
    assert "cumulative" not in system["orders"][2]


def test_order_without_match_gives_zero_and_the_score_of_lower_orders():
    explanation, system = explain_textbook("the cat the cat on the mat", WIKIPEDIA[:1])
    assert system["score"] == 0
    assert "BLEU-3, up to trigrams, is 0.4149." in " ".join(str(explanation).split())


def test_punctuation_and_case_are_part_of_tokens():
    _, system = explain_textbook("The mat.", ["the mat ."])
    assert [order["matches"] for order in system["orders"]][:2] == [0, 0]


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"tokenize": "char"}, "tok:char"),
        ({"lowercase": True}, "case:lc"),
        ({"max_order": 2}, "order:2"),
        ({"effective_order": False}, "eff:no"),
    ],
)
def test_other_parameters_still_apply(parameters, field):
    _, system = explain_textbook("the cat sat on it", WIKIPEDIA, BLEU(**parameters))
    assert field in system["signature"].split("|")
    assert "smooth:none" in system["signature"].split("|")


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("chrf", "textbook: only available for BLEU, not for chrF"),
        (BLEU(smoothing="floor"), r"textbook BLEU has no smoothing \(found 'floor'\)"),
    ],
    ids=str,
)
def test_contradictory_metric_is_rejected(metric, message):
    with pytest.raises(ValueError, match=message):
        explain("the cat", WIKIPEDIA, metric, textbook=True)


def test_json_contains_the_textbook_fields():
    content = explain("the cat sat", ["the cat sat down"], textbook=True).to_dict()
    assert content["textbook"] is True
    assert content["systems"][0]["orders"][0]["cumulative"] == pytest.approx(0.7165, abs=5e-5)
    assert "textbook" not in explain("the cat sat", ["the cat sat down"]).to_dict()


def test_command_gives_the_numbers_of_the_textbook(truebleu_command):
    texts = ("--hypothesis", "the the the the the the the", "--reference", WIKIPEDIA[0])
    output = truebleu_command("explain", *texts, "--textbook", "-f", "text").output
    assert "    1      2/7     0.2857" in output


def test_explicit_smoothing_contradicts_textbook(truebleu_command):
    texts = ("--hypothesis", "the", "--reference", WIKIPEDIA[0])
    result = truebleu_command("explain", *texts, "--textbook", "-s", "exp")
    assert result.status == 2
    assert "--textbook and --smoothing are mutually exclusive" in result.error
