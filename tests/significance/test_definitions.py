"""Tests that intervals and randomization equal their definitions, for each kind of metric."""

import math
import random

import numpy as np
import pytest
from optional_tools import lacking
from outputs import output, references

import truebleu as tb
from truebleu.metrics.codebleu import CodeBLEU
from truebleu.metrics.gec_gleu import GECGLEU
from truebleu.metrics.gleu import GLEU
from truebleu.metrics.meteor import METEOR
from truebleu.metrics.nist import NIST
from truebleu.significance import Measure, bootstrap_intervals, run_paired_tests

SEGMENTS = 40
WORDS = "the a cat dog saw sat on mat in out of if else return for x = 1 ( ) ;".split()  # noqa: SIM905
METRICS = [
    tb.BLEU(),
    tb.CHRF(),
    tb.TER(),
    NIST(),
    NIST("none", variant="nltk"),
    NIST(variant="doddington", max_order=3),
    GLEU(),
    CodeBLEU(language="python"),
    CodeBLEU(part="ngram"),
    GECGLEU(),
    METEOR(modules=["exact", "stem"]),
    tb.NGramF((1, 2)),
]


DICE = random.Random(13)
REFS = references(DICE, SEGMENTS, WORDS)
KEPT_SHARES = {"bad": 0.4, "fair": 0.55, "good": 0.8}
HYPS = {name: output(DICE, REFS, share, WORDS) for name, share in KEPT_SHARES.items()}
SOURCES = output(DICE, REFS, 0.6, WORDS)


def sources(metric):
    return {"sources": SOURCES} if metric.NEEDS_SOURCE else {}


@pytest.fixture(scope="module", params=METRICS, ids=str)
def measure(request):
    metric = request.param
    if reason := lacking(metric.NAME.lower()):
        pytest.skip(reason)
    tables = {k: metric.statistics(v, REFS, **sources(metric)) for k, v in HYPS.items()}
    return Measure(metric, tables)


def score_sums(measure, sums):
    """Return the score of sums added by NumPy."""
    return measure.metric.from_statistics(sums.tolist()).value


def test_corpus_score_equals_formula_of_sums(measure):
    """Scores are equal up to rounding where the original adds rounded segment values."""
    metric = measure.metric
    for name, table in zip(measure.systems, measure.tables, strict=True):
        direct_score = metric.score(HYPS[name], REFS, **sources(metric)).value
        summed = score_sums(measure, np.array(table.tolist()).sum(0))
        assert summed == pytest.approx(direct_score, rel=1e-15, abs=0)


def test_intervals_equal_resampled_sums(measure):
    [intervals] = bootstrap_intervals([measure], resamples=60, seed=7, level=0.9)
    draws = np.random.default_rng(7).choice(SEGMENTS, (60, SEGMENTS))
    for name, table in zip(measure.systems, measure.tables, strict=True):
        rows = np.array(table.tolist())
        scores = sorted(score_sums(measure, rows[one].sum(0)) for one in draws)
        assert (intervals[name].low, intervals[name].high) == (scores[3], scores[56])
        assert intervals[name].mean == math.fsum(scores) / 60
        assert intervals[name].value == measure.get_score(name)
        assert intervals[name].half_width == (scores[56] - scores[3]) / 2
        settings = (intervals[name].level, intervals[name].resamples, intervals[name].seed)
        assert settings == (0.9, 60, 7)


def test_randomization_equals_definition(measure):
    [result] = run_paired_tests([measure], baseline="fair", randomizations=80, resamples=10, seed=3)
    rows = {k: np.array(v.tolist()) for k, v in zip(measure.systems, measure.tables, strict=True)}
    mask = np.random.default_rng(3).integers(2, size=(80, SEGMENTS), dtype=bool)
    for system in ("bad", "good"):
        totals = (rows[system].sum(0), rows["fair"].sum(0))
        observed = abs(score_sums(measure, totals[0]) - score_sums(measure, totals[1]))
        first_sums = mask @ rows["fair"] + ~mask @ rows[system]
        second_sums = ~mask @ rows["fair"] + mask @ rows[system]
        pairs = zip(first_sums, second_sums, strict=True)
        count = sum(
            abs(score_sums(measure, a) - score_sums(measure, b)) >= observed for a, b in pairs
        )
        difference = result.differences[system]
        assert difference.p == (count + 1) / 81
        assert (difference.test, difference.trials) == ("ar", 80)


def test_document_scores_equal_formula_of_rows(measure):
    """The score of a document is the formula of its rows; NIST uses the weights of the corpus."""
    metric = measure.metric
    documents = [f"document {i // 10}" for i in range(SEGMENTS)]
    content = tb.compare(
        HYPS, REFS, metrics=[metric], samples=50, confidence=50, documents=documents, source=SOURCES
    ).to_dict()
    (column,) = content["metrics"]
    assert column["source"] == "truebleu"
    assert [row["name"] for row in content["systems"]] == ["good", "fair", "bad"]
    assert all(0 < pair["p"] <= 1 and pair["interval"] for pair in content["pairs"])
    rows = np.array(measure.tables[0].tolist())
    for i, document in enumerate(content["documents"]):
        sums = rows[10 * i : 10 * i + 10].sum(0)
        assert document["scores"][column["name"]][measure.systems[0]] == score_sums(measure, sums)
