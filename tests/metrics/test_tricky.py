"""Tests with 34 inputs for which BLEU tools differ, and results from sacreBLEU 2.6.0."""

import json
import math
import sys

import pytest

import truebleu
from truebleu.text.tokenizers import tokenize


@pytest.fixture(scope="module")
def tricky(shared):
    """Return inputs with recorded tokens, statistics and sentence scores by name."""
    with (shared / "reference" / "sacrebleu" / "tricky.jsonl").open(encoding="utf-8") as file:
        inputs = [json.loads(line) for line in file]
    inputs = {entry["id"]: entry for entry in inputs if "id" in entry}
    assert len(inputs) == 34
    return inputs


@pytest.mark.parametrize("lowercase", [False, True])
def test_tokens_equal_recorded(tricky, lowercase):
    for name, entry in tricky.items():
        for tokenizer, expected in entry["tok_lc" if lowercase else "tok"].items():
            tokens = tokenize(entry["hyp"], tokenizer, lowercase=lowercase)
            assert tokens == expected.split(), f"{name} {tokenizer}"


def test_statistics_equal_recorded(tricky):
    for name, entry in tricky.items():
        for tokenizer, expected in entry["stats"].items():
            metric = truebleu.BLEU(tokenize=tokenizer)
            table = metric.statistics([entry["hyp"]], [tuple(entry["refs"])])
            assert table.tolist() == [expected], f"{name} {tokenizer}"


def test_sentence_scores_equal_recorded(tricky):
    """Scores were recorded with Python 3.11; since 3.12, `sum()` changes the last bits."""
    tolerance = 0 if sys.version_info < (3, 12) else 1e-14
    for name, entry in tricky.items():
        for tokenizer, recorded in entry["bleu_eff"].items():
            score = truebleu.BLEU(tokenize=tokenizer).sentence(entry["hyp"], entry["refs"])
            expected = float.fromhex(recorded)
            assert math.isclose(score.value, expected, rel_tol=tolerance), f"{name} {tokenizer}"


CHRF = {
    "chrf": truebleu.CHRF(),
    "chrfpp": truebleu.CHRF(word_order=2),
    "chrf_ws_lc": truebleu.CHRF(whitespace=True, lowercase=True),
}


@pytest.mark.parametrize("recorded", CHRF)
def test_chrf_equals_recorded(tricky, recorded):
    metric = CHRF[recorded]
    for name, entry in tricky.items():
        table = metric.statistics([entry["hyp"]], [tuple(entry["refs"])])
        assert table.tolist() == [entry[recorded]], name
        score = metric.sentence(entry["hyp"], entry["refs"])
        assert score.value == float.fromhex(entry[f"{recorded}_score"]), name
