"""sacreBLEU 2.6.0's intervals and paired tests, bit for bit, without NumPy.

sacreBLEU's bootstrap sums statistics in single precision, and NumPy 2 also computes most of each
formula in single precision (kernel/src/sacrebleu_float32.rs). After the sixth digit, the results
therefore differ from `truebleu.significance`, which scores the same resamples exactly. sacreBLEU's
paired bootstrap is miscalibrated (docs/significance.md). Use this module only to reproduce
sacreBLEU.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from truebleu import _kernel
from truebleu.metrics.base import Metric
from truebleu.metrics.pairwise_scores import COMPENSATED, round_to_single, sum_like_numpy
from truebleu.significance.resampled_metric import check_memory

# BLEU parameters and smoothing methods that sacreBLEU supports.
BLEU_PARAMETERS = (
    *("tokenize", "lowercase", "smoothing", "smoothing_value", "effective_order", "max_order"),
)
SMOOTHING = ("exp", "floor", "add-k", "none")

# Number of trials whose sums are in memory at the same time.
TRIALS_PER_BLOCK = 2000
# Scores of resampled test sets, and whether NumPy would store them in single precision.
ResampledScores = tuple[_kernel.Scores, bool]


def count_larger_differences(
    system: ResampledScores, baseline: ResampledScores, difference: float
) -> int:
    """Return the number of centred resampled differences that exceed the observed difference."""
    (values, is_single), (baseline_values, is_baseline_single) = system, baseline
    round_number = round_to_single if is_single and is_baseline_single else float
    pairs = zip(values, baseline_values, strict=True)
    gaps = [abs(round_number(a - b)) for a, b in pairs]
    mean = round_number(sum_like_numpy(gaps, round_number) / len(gaps))
    limit = round_number(difference)
    return sum(round_number(value - mean) > limit for value in gaps)


def bootstrap_scores(
    measures: Sequence[tuple[Metric, Sequence[_kernel.Table]]],
    stream: _kernel.Stream,
    resamples: int,
    workers: int = 1,
) -> list[list[ResampledScores]]:
    """Return the scores of resampled test sets, by metric and system."""
    parts = [
        (table, _get_single_formula(metric)) for metric, tables in measures for table in tables
    ]
    if not parts:
        return [[] for _ in measures]
    columns = sum(table.width for table, _ in parts)
    check_memory(len(parts[0][0]), columns, workers, "single")
    scores = iter(_kernel.SingleStack(parts).bootstrap(stream, resamples, workers))
    return [list(islice(scores, len(tables))) for _, tables in measures]


def randomize_scores(
    metric: Any, tables: tuple[_kernel.Table, _kernel.Table], trials: int, stream: _kernel.Stream
) -> Iterator[tuple[_kernel.Scores, _kernel.Scores]]:
    """Yield both systems' scores after the swaps of approximate randomization, block by block."""
    _get_single_formula(metric)  # raises ValueError for metrics that sacreBLEU does not support
    if metric.parameters.get("smoothing") == "add-k":
        # sacreBLEU adds the value to integer arrays in place, which drops its fractional part.
        metric = metric.with_parameters(smoothing_value=float(int(metric.smoothing_value)))
    totals = tables[0].total(), tables[1].total()
    check_memory(len(tables[0]), sum(table.width for table in tables))
    stack = _kernel.Stack.of_differences([tables])
    for start in range(0, trials, TRIALS_PER_BLOCK):
        first_sums, second_sums = stack.choose(stream, min(TRIALS_PER_BLOCK, trials - start), 1)
        a, b = _kernel.exchanged((first_sums, second_sums), totals)
        yield metric.scores(a), metric.scores(b)


def _get_single_formula(metric: Any) -> _kernel.SingleFormula:
    if metric.NAME == "chrF":
        return _kernel.SingleFormula.chrf(float(metric.beta**2), metric.eps_smoothing)
    if metric.NAME == "TER":
        return _kernel.SingleFormula.ter()
    if metric.NAME == "BLEU" and metric.smoothing in SMOOTHING:
        shared = {name: metric.parameters[name] for name in BLEU_PARAMETERS}
        if type(metric)(**shared) == metric:
            value, effective_order = metric.smoothing_value or 0.0, bool(metric.effective_order)
            return _kernel.SingleFormula.bleu(
                metric.smoothing, float(value), effective_order, COMPENSATED
            )
    raise ValueError(f"sacreBLEU does not support {metric!r}; use another test")
