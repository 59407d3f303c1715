"""Numbers of files, programs and users: ASCII digits, and nothing else that Python reads."""

import math

import pytest

import truebleu as tb
from truebleu.cli import main
from truebleu.comparison import external_scores as given_scores
from truebleu.meta_evaluation import score_files as files
from truebleu.metrics import command_metric
from truebleu.text.argument_checks import parse_number, parse_whole_number

WRONG = ["1_0", "٣", "1٣", "１", "nan", "inf", "-Infinity", "1e999", "0x1"]
WRONG += ["1,5", "\xa01", "x", "1 2"]
RIGHT = {"1": 1.0, " -1.5 ": -1.5, "+.5e1\r": 5.0, "\t2.": 2.0, "1E-2": 0.01}


def read_printed(text):
    return command_metric._parse_numbers("m", text, 1)[0]


def read_given_score(text):
    return given_scores._parse_finite_score(text, "line 1")


def read_human_score(text):
    if text in ("nan", "\xa01"):
        pytest.skip("nan is a missing score")
    return files._parse_score("line 1", text, "score")


def read_option(text):
    return tb.BLEU.PARAMETERS[3].from_field(text)


@pytest.mark.parametrize(
    "read", [parse_number, read_printed, read_given_score, read_human_score, read_option]
)
@pytest.mark.parametrize("text", [*WRONG, *RIGHT])
def test_number_of_a_file_or_program_is_read_in_ascii_or_refused(read, text):
    if text in RIGHT:
        assert read(text) == RIGHT[text]
        return
    with pytest.raises(ValueError, match=r"number|score"):
        read(text)


@pytest.mark.parametrize("text", ["1_0", "٣", "+1", " 1", "1.0", "", "9" * 41])
def test_whole_number_has_ascii_digits_alone(text):
    with pytest.raises(ValueError, match="whole number"):
        parse_whole_number(text)
    assert parse_whole_number("0" * 39 + "7") == 7


@pytest.mark.parametrize("value", [math.nan, True, "1_0", 10**400, b"1", None], ids=lambda _: "")
def test_score_from_python_must_be_finite(value):
    with pytest.raises(ValueError, match="segment 1: expected a number"):
        tb.compare(None, None, metrics=(), scores={"m": {"a": [value], "b": [1.0]}})


@pytest.mark.parametrize(
    "words",
    [
        ["--confidence", "1_0"],
        ["--confidence", "--level", "0.9_5"],
        ["--threads", "٣"],
        ["-m", "bleu", "--smoothing", "floor", "--smoothing-value", "1_0"],
        ["-m", "bleu", "--weights", "0._5"],
    ],
    ids=" ".join,
)
def test_number_of_an_option_has_ascii_digits_alone(words, write, capsys):
    text = str(write("ref", ["a"]))
    assert main(["score", text, "-i", text, *words]) == 2
    assert words[-1] in capsys.readouterr().err
