"""Resampling for sacreBLEU: intervals and paired tests, with its random numbers.

The kernel draws and adds up. sacreBLEU's own formula scores the sums of a bootstrap, so NumPy's
release decides the last digits; truebleu's formula scores those of approximate randomization, which
are exact integers.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any

from truebleu._kernel import SingleStack, Stream, Table
from truebleu.compat import sacrebleu_counting as counting
from truebleu.metrics.base import PARTS
from truebleu.significance import memory
from truebleu.significance.sacrebleu import randomized_scores

if TYPE_CHECKING:
    Rows = Sequence[Sequence[float]]

MODULE = "sacrebleu.significance"

# Sums that are in memory at a time.
BLOCK = 2000


installed_release = counting.installed_release


def install() -> None:
    """Patch counting, and the tests now or when their module is imported: it imports NumPy."""
    if counting.is_installed():
        return
    counting.install()
    module = sys.modules.get(MODULE)
    if module is None:
        sys.meta_path.insert(0, _finder)
    else:
        _patch(module)


def uninstall() -> None:
    """Restore all of sacreBLEU's functions."""
    _stop_waiting()
    counting.uninstall()


def _stop_waiting() -> None:
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)


def _patch(module: ModuleType) -> None:
    for function in (_bootstrap_resample, _paired_bs_test, _paired_ar_test):
        counting.patch(module, function.__name__, function)


class _Finder:
    """Import hook that patches `sacrebleu.significance` after its first import."""

    @staticmethod
    def find_spec(name: str, path: Any = None, _target: object = None) -> ModuleSpec | None:
        """Return the module's specification, with a loader that patches the module."""
        spec = PathFinder.find_spec(name, path) if name == MODULE else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            if _finder in sys.meta_path:
                _stop_waiting()
                _patch(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


_finder: Any = _Finder()


def _resampled_sums(rows: Rows, samples: int, stream: Stream) -> list[Any]:
    """Return the sums of resampled rows as arrays in single precision."""
    import numpy as np

    memory.reserve(len(rows), len(rows[0]), kind="single")
    numbers = [list(map(float, row)) for row in rows]
    sums: list[Any] = []
    for start in range(0, samples, BLOCK):
        block = SingleStack.sums(numbers, stream, min(BLOCK, samples - start))
        sums.extend(np.array(block, dtype="float32"))
    return sums


def _bootstrap_resample(original: Any, stats: Rows, metric: Any, n_samples: int = 1000) -> Any:
    if counting.find_kind(metric) is None:
        return original(stats, metric, n_samples)
    seed = os.environ.get("SACREBLEU_SEED", "12345")
    try:
        sums = _resampled_sums(stats, n_samples, Stream(int(seed)))  # "none" is not a number
    except counting.REFUSALS:
        return original(stats, metric, n_samples)
    return seed.lower(), [metric._compute_score_from_stats(values) for values in sums]


def _paired_bs_test(original: Any, baseline_info: Any, *args: Any, **kwargs: Any) -> Any:
    return _each_metric(original, _resample_pair, 1000, baseline_info, *args, **kwargs)


def _paired_ar_test(original: Any, baseline_info: Any, *args: Any, **kwargs: Any) -> Any:
    return _each_metric(original, _randomize_pair, 10000, baseline_info, *args, **kwargs)


def _each_metric(
    original: Any,
    test: Any,
    default_samples: int,
    baseline_info: Any,
    sys_name: str,
    hypotheses: Any,
    references: Any,
    metrics: Any,
    n_samples: int | None = None,
    n_ar_confidence: int = -1,
    seed: int | None = None,
) -> Any:
    """Test one system by each metric, by the kernel or else by sacreBLEU with that metric alone."""
    samples = default_samples if n_samples is None else n_samples
    options = (samples, n_ar_confidence, seed)
    system = (baseline_info, sys_name, hypotheses, references)
    if not seed:  # sacreBLEU draws anew each time then, and once for all metrics
        return original(*system, metrics, *options)
    results = {}
    for name, metric in metrics.items():
        result = None
        if counting.find_kind(metric) is not None and len(baseline_info[name][0]) == len(
            hypotheses
        ):
            result = test(metric, name, system, *options)
        if result is None:
            result = original(*system, {name: metric}, *options)[1][name]
        results[name] = result
    return sys_name, results


def _extract(metric: Any, name: str, system: tuple[Any, ...]) -> tuple[Any, Any, float]:
    """Return the system's statistics, its score, and the distance from the baseline's score."""
    significance: Any = sys.modules[MODULE]
    baseline_info, sys_name, hypotheses, references = system
    significance.sacrelogger.info(
        f"Computing {name} for {sys_name!r} and extracting sufficient statistics"
    )
    stats = metric._extract_corpus_statistics(hypotheses, references)
    score = metric._aggregate_and_compute(stats)
    return stats, score.score, abs(baseline_info[name][1].score - score.score)


def _resample_pair(
    metric: Any, name: str, system: tuple[Any, ...], samples: int, _: int, seed: int
) -> Any:
    """Return the result of a paired bootstrap; None if the kernel refuses it."""
    import numpy as np

    significance: Any = sys.modules[MODULE]
    try:
        baseline_sums = _resampled_sums(system[0][name][0], samples, Stream(seed))
    except counting.REFUSALS:
        return None
    stats, score, difference = _extract(metric, name, system)
    significance.sacrelogger.info(
        f" > Performing paired bootstrap resampling test (# resamples: {samples})"
    )
    both = (baseline_sums, _resampled_sums(stats, samples, Stream(seed)))
    baseline, scores = (
        np.array([metric._compute_score_from_stats(values).score for values in sums])
        for sums in both
    )
    mean, ci = significance.estimate_ci(scores)
    differences = np.abs(scores - baseline)
    p = significance._compute_p_value(differences - differences.mean(), difference)
    return significance.Result(score, p, mean, ci)


def _randomize_pair(
    metric: Any, name: str, system: tuple[Any, ...], trials: int, resamples: int, seed: int
) -> Any:
    """Return the result of approximate randomization; None if the kernel refuses it."""
    import numpy as np

    significance: Any = sys.modules[MODULE]
    try:
        scorer = _scorer(metric)
        baseline = _exact_table(metric, system[0][name][0])
        stream = Stream(seed)
    except counting.REFUSALS:
        return None
    stats, score, difference = _extract(metric, name, system)
    significance.sacrelogger.info(
        f" > Performing approximate randomization test (# trials: {trials})"
    )
    blocks = randomized_scores(scorer, (baseline, _exact_table(metric, stats)), trials, stream)
    a, b = (np.concatenate([np.asarray(part) for part in s]) for s in zip(*blocks, strict=True))
    result = significance.Result(score, significance._compute_p_value(np.abs(a - b), difference))
    if resamples > 0:
        significance.sacrelogger.info(
            f" > Performing bootstrap resampling for confidence interval (# resamples: {resamples})"
        )
        sums = _resampled_sums(stats, resamples, stream)
        scores = [metric._compute_score_from_stats(values).score for values in sums]
        result.mean, result.ci = significance.estimate_ci(np.array(scores))
    return result


def _scorer(metric: Any) -> Any:
    """Return truebleu's metric with sacreBLEU's formula; ValueError if a program replaced it."""
    kind: Any = counting.find_kind(metric)
    release = tuple(map(int, counting.installed_release().split(".")))
    if not counting.has_own(metric, kind.scoring) or release < (2, 4, 3):
        raise ValueError
    settings, _ = counting.find_settings(metric, kind)
    scorer = counting.find_metric(*settings)
    if scorer.NAME != "BLEU":
        return scorer
    value = metric.smooth_value
    takes_value = metric.SMOOTH_DEFAULTS[metric.smooth_method] is not None
    return type(scorer)(
        max_order=metric.max_ngram_order,
        smoothing=metric.smooth_method,
        smoothing_value=value if takes_value else None,
        effective_order=bool(metric.effective_order),
    )


def _exact_table(metric: Any, rows: Rows) -> Table:
    """Return the statistics as integers; ValueError if their sums depend on the order."""
    if counting.find_kind(metric).cls.__name__ == "TER":  # type: ignore[union-attr]
        if any(16 * length % 1 for _, length in rows):
            raise ValueError
        rows = [(edits, round(PARTS * length)) for edits, length in rows]
    return Table.from_rows(rows, len(rows[0]))  # type: ignore[arg-type]
