"""Tests that scores published by WMT22 are reproduced to the last printed digit."""

import csv
import math
import sys
from collections import defaultdict

import pytest

import truebleu


@pytest.fixture(scope="module", params=["BLEU", "chrF2"])
def name(request):
    return request.param


@pytest.fixture(scope="module")
def published_scores(wmt22, name):
    """Return published scores by (tokenizer, reference files, system output)."""
    with (wmt22 / "published_scores.tsv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["metric"] == name]
    rows = [row for row in rows if row["reproducible"] == "yes"]
    assert len(rows) == 453
    scores = defaultdict(set)
    for row in rows:
        key = row["tokenizer"], tuple(row["ref_files"].split(",")), row["hyp_file"]
        scores[key].add(float(row["published_score"]))
    assert all(len(values) == 1 for values in scores.values()), "one test set, two scores"
    return {key: values.pop() for key, values in scores.items()}


def find_differences(scores: dict, published: dict) -> dict:
    """Return scores that differ from the published scores, with both values.

    WMT22 was scored before Python 3.12 made `sum()` of floats more exact; since then sacreBLEU's
    own last bits differ.
    """
    assert scores.keys() == published.keys()
    tolerance = 0 if sys.version_info < (3, 12) else 1e-14
    return {
        key: (score, published[key])
        for key, score in scores.items()
        if not math.isclose(score, published[key], rel_tol=tolerance)
    }


def test_python_scores_equal_published(wmt22, published_scores, name):
    def metric(tokenizer):
        return truebleu.BLEU(tokenize=tokenizer) if name == "BLEU" else truebleu.CHRF()

    scores = {
        (tokenizer, references, system): metric(tokenizer)
        .score(wmt22 / system, [wmt22 / reference for reference in references])
        .value
        for tokenizer, references, system in published_scores
    }
    assert not find_differences(scores, published_scores)
