"""Tests that scores published by WMT22 are reproduced to the last printed digit."""

import csv
import json
import math
import sys
from collections import defaultdict

import pytest

import truebleu

# WMT22's names of metrics, and command-line options.
METRICS = {"BLEU": ["-m", "bleu"], "chrF2": ["-m", "chrf"]}


@pytest.fixture(scope="module", params=METRICS)
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


def test_command_line_scores_equal_published(wmt22, published_scores, name, truebleu_command):
    groups = defaultdict(list)
    for tokenizer, references, system in published_scores:
        groups[tokenizer, references].append(system)
    scores = {}
    for (tokenizer, references), systems in groups.items():
        result = truebleu_command(
            *["score", *references, "-i", *systems, *METRICS[name], "-f", "json"],
            *(["-tok", tokenizer] if name == "BLEU" else []),
            cwd=wmt22,
        )
        assert result.status == 0, result
        answers = json.loads(result.output)["scores"]
        for system, answer in zip(systems, answers, strict=True):
            scores[tokenizer, references, system] = answer["score"]
    assert not find_differences(scores, published_scores)
