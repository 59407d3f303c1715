"""Paired tests of several systems, and intervals, with sacreBLEU's names."""

# ruff: noqa: PLC0414 (an alias marks a name that programs import from here)
from __future__ import annotations

import os

from truebleu.significance.sacrebleu import Resampled
from truebleu.significance.sacrebleu import Result as Result

from ._messages import logger
from ._resampling import _bootstrap_resample as _bootstrap_resample
from ._resampling import _compute_p_value as _compute_p_value
from ._resampling import bootstrapped, environment_seed, randomized

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from ._resampling import Rows
    from .metrics.base import Metric, Signature

    References = Sequence[Sequence[str]] | None
    Baseline = Mapping[str, tuple[Rows, Result]]


# The names of each test in messages, and the interval beside approximate randomization.
_PERFORMED = {
    "ar": "approximate randomization test (# trials",
    "bs": "paired bootstrap resampling test (# resamples",
    "ci": "bootstrap resampling for confidence interval (# resamples",
}


def estimate_ci(scores: Sequence[float]) -> tuple[float, float]:
    """The mean of resampled scores, and half the width of their 95% interval."""
    return Resampled.of(scores).estimate()


def _paired_test(test: str, samples: int) -> Callable[..., tuple[str, dict[str, Result]]]:
    def paired_test(
        baseline_info: Baseline,
        sys_name: str,
        hypotheses: Sequence[str],
        references: References,
        metrics: Mapping[str, Metric[Any]],
        n_samples: int = samples,
        n_ar_confidence: int = -1,
        seed: int | None = None,
    ) -> tuple[str, dict[str, Result]]:
        """One system against the baseline: its name, and a result for each metric.

        baseline_info: the statistics and the result of the baseline for each metric.
        n_ar_confidence: resamples for a mean and an interval beside approximate randomization; none
            if it is not above 0.
        """
        systems, options = [(sys_name, hypotheses)], (n_samples, n_ar_confidence, seed)
        found = _tested(test, baseline_info, systems, references, metrics, *options)
        return sys_name, {name: result for name, [result] in found.items()}

    return paired_test


# Approximate randomization: the systems exchange segments at random, trial by trial. Paired
# bootstrap: the same segments are drawn for both systems, resample by resample.
_paired_ar_test, _paired_bs_test = _paired_test("ar", 10000), _paired_test("bs", 1000)


class PairedTest:
    """Several systems against the first.

    named_systems: pairs of a name and hypotheses; the first is the baseline.
    metrics: by any names; scores come under the names that scores have.
    references: streams, or None for those that the metrics were made with.
    test_type: "ar" for approximate randomization, "bs" for paired bootstrap.
    n_samples: trials or resamples; 0 for 10,000 of "ar" and 1,000 of "bs".
    n_ar_confidence: resamples for intervals beside "ar"; 0 for 1,000, none if negative.
    n_jobs: announced as in sacreBLEU, and not needed: one process does it sooner than several could
        start.

    Called, it returns the signature of each score, and under "System" the names, under the name of
    each score a list of `Result`.
    """

    _DEFAULT_SAMPLES = {"ar": 10000, "bs": 1000}  # noqa: RUF012 (programs read it)

    def __init__(
        self,
        named_systems: Sequence[tuple[str, Sequence[str]]],
        metrics: Mapping[str, Metric[Any]],
        references: References,
        test_type: str = "ar",
        n_samples: int = 0,
        n_ar_confidence: int = -1,
        n_jobs: int = 1,
    ) -> None:
        if test_type not in self._DEFAULT_SAMPLES:
            raise AssertionError(f"Unknown test type {test_type!r}")
        self.test_type = test_type
        self._seed = environment_seed()[1]
        self.references = references
        self.named_systems = named_systems
        default = self._DEFAULT_SAMPLES
        self.n_ar_confidence = default["bs"] if n_ar_confidence == 0 else n_ar_confidence
        self.n_samples = n_samples if n_samples > 0 else default[test_type]
        self.n_systems = len(named_systems) - 1
        # 0 stands for one per system, on half of the processors.
        self.n_jobs = n_jobs or min((os.cpu_count() or 1) // 2, self.n_systems) or 1
        self._signatures: dict[str, Signature] = {}
        self._baseline_info: dict[str, tuple[Rows, Result]] = {}
        self.metrics: dict[str, Metric[Any]] = {}
        resamples = self.n_samples if test_type == "bs" else self.n_ar_confidence
        name, hypotheses = named_systems[0]
        for metric_name, metric in metrics.items():
            logger().info("Pre-computing %s statistics for %r", metric_name, name)
            stats, score = metric._counted(hypotheses, references)
            result = Result(score.score)
            if resamples > 0:
                [result] = bootstrapped(metric, [stats], [score.score], resamples, self._seed)
            self._baseline_info[score.name] = (stats, result)
            self.metrics[score.name] = metric
            signature = metric.get_signature()
            signature.update("seed", str(self._seed).lower())
            signature.update(test_type, self.n_samples)
            if self.n_ar_confidence > 0:
                signature.update("bs", self.n_ar_confidence)
            self._signatures[score.name] = signature

    def __call__(self) -> tuple[dict[str, Signature], dict[str, list[Any]]]:
        """Tests every system against the first."""
        if self.n_jobs != 1:
            logger().info("Launching %d parallel workers.", self.n_jobs)
        if self.n_jobs < 1:
            raise ValueError("Number of processes must be at least 1")
        systems, info, references = self.named_systems[1:], self._baseline_info, self.references
        options = (self.n_samples, self.n_ar_confidence, self._seed)
        found = _tested(self.test_type, info, systems, references, self.metrics, *options)
        scores: dict[str, list[Any]] = {"System": [name for name, _ in self.named_systems]}
        for name, (_, baseline) in info.items():
            scores[name] = [baseline, *found[name]]
        return self._signatures, scores


def _tested(
    test: str,
    baseline_info: Baseline,
    systems: Iterable[tuple[str, Sequence[str]]],
    references: References,
    metrics: Mapping[str, Metric[Any]],
    samples: int,
    resamples: int,
    seed: int | None,
) -> dict[str, list[Result]]:
    """The results of all systems against the baseline, for each metric."""
    info = {name: ([stats], [result.score]) for name, (stats, result) in baseline_info.items()}
    say = logger().info
    for system, hypotheses in systems:
        for name, metric in metrics.items():
            say("Computing %s for %r and extracting sufficient statistics", name, system)
            stats, score = metric._counted(hypotheses, references)
            say(f" > Performing {_PERFORMED[test]}: %d)", samples)
            if test == "ar" and resamples > 0:
                say(f" > Performing {_PERFORMED['ci']}: %d)", resamples)
            info[name][0].append(stats)
            info[name][1].append(score.score)
    results = {}
    for name, metric in metrics.items():
        if test == "bs":
            results[name] = bootstrapped(metric, *info[name], samples, seed)[1:]
        else:
            results[name] = randomized(metric, *info[name], samples, resamples, seed)
    return results
