"""`--scale 1`: percentages from 0 to 1, in every command that prints scores."""

import json

import pytest
from paths import EXAMPLES

import truebleu as tb
from truebleu.comparison.display_scale import rescale_comparison
from truebleu.meta_evaluation.meta_layout import rescale_thresholds
from truebleu.rendering.number_format import check_scale

REFERENCE = EXAMPLES / "de-en" / "reference.a.en"
CEDAR, BIRCH = (EXAMPLES / "de-en" / f"{name}.en" for name in ("cedar", "birch"))
SYSTEMS = (REFERENCE, "-i", CEDAR, BIRCH)


@pytest.fixture
def log(truebleu_command, tmp_path):
    """Return a log with two scores."""
    path = tmp_path / "scores.jsonl"
    for _ in range(2):
        arguments = ("--log", path, "--log-name", "cedar", "-m", "bleu", "nist")
        truebleu_command("score", REFERENCE, "-i", CEDAR, *arguments)
    return path


@pytest.mark.parametrize(
    ("arguments", "shown", "hidden"),
    [
        (("score", REFERENCE, "-i", CEDAR, "-f", "sacrebleu"), ["= 0.470 0.728/0.533"], ["47.0"]),
        (("score", REFERENCE, "-i", CEDAR, "-f", "text"), ["BLEU 0.470", " 0.728/0.533"], ["47.0"]),
        (("score", *SYSTEMS, "-m", "bleu", "nist", "-f", "text"), ["0.300", "6.353"], ["30.0"]),
        (("score", REFERENCE, "-i", CEDAR, "-b", "-w", "4"), ["0.4695"], []),
        (("score", *SYSTEMS, "-f", "latex"), ["0.470"], ["47.0"]),
        (("score", *SYSTEMS, "-f", "markdown", "-ci", "50"), ["0.470 \\[0."], ["47.0"]),
        (("segments", REFERENCE, "-i", CEDAR, "-f", "sacrebleu"), ["= 0.170 0.714/"], ["17.0 "]),
        (("segments", REFERENCE, "-i", CEDAR, "-f", "text"), ["  0.170  Lindental"], ["17.0 "]),
        (("segments", REFERENCE, "-i", CEDAR, "-b"), ["0.17026"], []),
        (("compare", *SYSTEMS, "-f", "text"), ["0.470 B", "−0.170"], ["47.0", "−17.0"]),
        (("compare", *SYSTEMS, "-f", "latex"), ["0.470"], ["47.0"]),
        (("compare", *SYSTEMS, "-f", "markdown"), ["0.470"], ["47.0"]),
        (("compare", *SYSTEMS, "-f", "html"), ["0.470"], [">47.0"]),
        (("explain", REFERENCE, "-i", CEDAR), ["BLEU = 0.4695"], ["BLEU = 46.95"]),
        (("family", "score", REFERENCE, "-i", CEDAR, "-m", "multi-bleu"), ["0-1", "0.377014"], []),
    ],
    ids=str,
)
def test_percentages_are_from_0_to_1(truebleu_command, arguments, shown, hidden):
    result = truebleu_command(*arguments, "--scale", "1")
    assert result.status == 0, result.error
    assert [text for text in shown if text not in result.output] == []
    assert [text for text in hidden if text in result.output] == []


def test_nist_keeps_its_scale(truebleu_command):
    arguments = ("compare", *SYSTEMS, "-m", "nist", "-f", "text")
    default = truebleu_command(*arguments).output
    assert truebleu_command(*arguments, "--scale", "1").output == default


def test_history_is_scaled(truebleu_command, log):
    output = truebleu_command("history", log, "--scale", "1").output
    assert "0.4695" in output
    assert "7.31" in output
    assert "46.95" not in output


def test_matrix_is_scaled(truebleu_command, write):
    lines = write("lines", ["a cat sat on the mat", "a cat sat on it"])
    output = truebleu_command("matrix", lines, "-f", "text", "--scale", "1").output
    assert "1.000" in output
    assert "100.0" not in output


@pytest.mark.parametrize("form", ["json", "tsv", "csv"])
def test_data_formats_reject_the_scale(read_error, form):
    error = read_error(2, "score", *SYSTEMS, "--scale", "1", "-f", form)
    assert f"--scale has no effect with -f {form}" in error


def test_other_scales_are_rejected(read_error):
    error = read_error(2, "score", *SYSTEMS, "--scale", "10")
    assert "--scale: expected 100 or 1, found '10'" in error


def test_check_scales_scores_limits_and_sentences(truebleu_command):
    arguments = (REFERENCE, "-i", BIRCH, "--against", CEDAR, "--max-drop", "0.005")
    result = truebleu_command("check", *arguments, "--min", "0.4", "--scale", "1")
    assert result.status == 3
    for text in (
        *("BLEU 0.2996 is below the minimum of 0.4", "the allowed drop is 0.005"),
        *("from 0.4695 (cedar) to 0.2996", "−0.1699"),
    ):
        assert text in result.output


@pytest.mark.parametrize(
    ("scale", "limits", "message"),
    [
        ("100", ("--min", "0.4"), "--min: 0.4 is too low for BLEU on the 0-100 scale. Use 40, or"),
        ("1", ("--min", "40"), "--min: 40 is too large for BLEU on the 0-1 scale of --scale 1"),
        ("1", ("--max-drop", "0.5", "--against", BIRCH), "--max-drop: 0.5 is too large for BLEU"),
    ],
)
def test_limit_on_other_scale_is_refused(scale, limits, message, read_error):
    error = read_error(2, "check", REFERENCE, "-i", CEDAR, "--scale", scale, *limits)
    assert message in error
    assert "--scale 1" in error


def test_minimum_is_on_the_scale_of_the_option(truebleu_command):
    arguments = ("check", REFERENCE, "-i", CEDAR)
    assert truebleu_command(*arguments, "--min", "0.4", "--scale", "1").status == 0
    assert truebleu_command(*arguments, "--min", "0.5", "--scale", "1").status == 3


def test_explicit_digits_are_literal(truebleu_command):
    arguments = ("compare", *SYSTEMS, "-f", "text", "--scale", "1", "-w", "2")
    assert "  0.47  " in truebleu_command(*arguments).output


def test_json_is_the_same_for_both_scales():
    texts = ["the cat sat on the mat", "it rained"], ["the cat sat on a mat", "it rained"]
    scaled = tb.explain(*texts, scale=1)
    assert scaled.to_dict() == tb.explain(*texts).to_dict()
    assert json.loads(scaled.to_json()) == scaled.to_dict()
    assert str(scaled) == tb.explain(*texts).text(scale=1)
    assert scaled.text(scale=100) == str(tb.explain(*texts))


def test_notes_and_warnings_are_scaled():
    references = ["a b c d e f g h", "i j k l m n o p"] * 20
    metrics = ("bleu", "chrf")
    runs = [[f"{text} z" for text in references], [f"z {text} z" for text in references]]
    comparison = tb.compare({"one": runs, "two": references}, references, metrics=metrics, scale=1)
    sentences = [note["text"] for note in comparison.to_dict()["notes"] if note["kind"] == "runs"]
    assert sentences
    for sentence in sentences:
        assert sentence not in " ".join(str(comparison).split())
        assert sentence in " ".join(comparison.text(scale=100).split())


@pytest.mark.parametrize("scale", [0, 10, 1.5, True, "1"])
def test_only_100_and_1_are_scales(scale):
    with pytest.raises(ValueError, match="scale: expected 100 or 1"):
        check_scale(scale)


def test_thresholds_of_computed_percentages_are_scaled():
    content = {
        "metrics": [
            {"name": name, "percentage": name == "BLEU", "scores": {"seg": {"epsilon": 20.0}}}
            for name in ("BLEU", "stored")
        ],
        "systems": [{"system": "a", "human": 50.0, "scores": {"BLEU": 30.0, "stored": 30.0}}],
        "agreement": [{"metric": "BLEU", "low": 1.0, "high": 2.0, "pairs": 3, "agree": 2}],
    }
    scaled = rescale_thresholds(content)
    assert [one["scores"]["seg"]["epsilon"] for one in scaled["metrics"]] == [0.2, 20.0]
    assert scaled["systems"][0] == {
        **content["systems"][0],
        "scores": {"BLEU": 0.3, "stored": 30.0},
    }
    assert scaled["agreement"][0] == {**content["agreement"][0], "low": 0.01, "high": 0.02}


def test_human_agreement_is_looked_up_on_the_scale_of_the_metric():
    content = tb.compare(
        {"one": ["a b c d e f g h"] * 4, "two": ["a b c d e f g i"] * 4}, ["a b c d e f g h"] * 4
    ).to_dict()
    agreement = {"metric": "BLEU", "above": 1.0, "up_to": 2.5, "agree": 18, "pairs": 31}
    scaled = rescale_comparison({**content, "human_agreement": agreement})
    assert scaled["human_agreement"] == {**agreement, "above": 0.01, "up_to": 0.025}
