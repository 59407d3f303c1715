"""Build the page "Is the difference real?"."""

from __future__ import annotations

import json
from statistics import fmean

from calibration import RESULTS
from page_helpers import HYPOTHESES, REFERENCES, fill_template

from truebleu import BLEU, CHRF, TER
from truebleu._kernel import Stream, count_apart
from truebleu.metrics.pairwise_scores import round_to_single
from truebleu.rendering.number_format import format_segments_needed
from truebleu.significance import TESTS, Measure, bootstrap_intervals, run_paired_tests
from truebleu.significance.sacrebleu_compat import bootstrap_scores, randomize_scores

METRICS = (BLEU(effective_order=False), CHRF(), TER())
REFERENCE = REFERENCES["A"].read_text("utf-8").splitlines()
TEXTS = {name: path.read_text("utf-8").splitlines() for name, path in HYPOTHESES.items()}
# A system that differs little from "birch".
TEXTS["birch 2"] = [
    TEXTS["cedar"][i] if i % 5 == 3 else TEXTS["aspen"][i] if i % 10 == 2 else text
    for i, text in enumerate(TEXTS["birch"])
]


def build_page() -> str:
    """Return the page docs/significance.md."""
    measures = [
        Measure(metric, {name: metric.statistics(text, REFERENCE) for name, text in TEXTS.items()})
        for metric in METRICS
    ]
    calibrated = {kind: json.loads(path.read_text("utf-8")) for kind, path in RESULTS.items()}
    return fill_template(
        "significance",
        segments=measures[0].segments,
        TESTS=TESTS,
        segments_needed=format_segments_needed,
        tested=run_paired_tests(measures, baseline="birch"),
        ranked=run_paired_tests(measures, pairs="all"),
        resampled=run_paired_tests(measures, test="bs", pairs="all"),
        means=[_compute_bootstrap_means(measure) for measure in measures],
        tie=_compute_tie_p_values(),
        **calibrated,
    )


def _compute_bootstrap_means(measure: Measure) -> tuple[str, float, float]:
    """Return a metric's name, and the means of its resampled scores by truebleu and sacreBLEU."""
    birch = measure.tables[measure.systems.index("birch")]
    [[(scores, is_single)]] = bootstrap_scores([(measure.metric, [birch])], Stream(12345), 1000)
    mean = round_to_single(fmean(scores)) if is_single else fmean(scores)
    return measure.name, bootstrap_intervals([measure])[0]["birch"].mean, mean


def _compute_tie_p_values() -> tuple[float, float]:
    """Return the p-values of sacreBLEU and truebleu for systems that differ in one segment."""
    metric, birch = METRICS[0], TEXTS["birch"]
    tables = {
        "birch": metric.statistics(birch, REFERENCE),
        "other": metric.statistics([*birch[:-1], "Nothing."], REFERENCE),
    }
    [result] = run_paired_tests([Measure(metric, tables)])
    a, b = tables.values()
    difference = abs(metric.scores(a.total())[0] - metric.scores(b.total())[0])
    blocks = randomize_scores(metric, (a, b), 10_000, Stream(12345))
    p = (sum(count_apart(*each, difference, strictly=True) for each in blocks) + 1) / 10_001
    return p, result.differences["other"].p
