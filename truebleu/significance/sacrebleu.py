"""sacreBLEU 2.6.0's intervals and paired tests, to the last bit, without NumPy.

sacreBLEU's bootstrap sums statistics in single precision, and with NumPy 2 most of each formula is
computed in it too (kernel/src/sacrebleu_float32.rs). So these numbers differ from truebleu's own
(`truebleu.significance`, the same draws in exact arithmetic) after the sixth digit. What sacreBLEU
calls a paired bootstrap is miscalibrated: docs/significance.md. Use these to reproduce sacreBLEU.
"""

from __future__ import annotations

from functools import reduce
from itertools import islice
from operator import add

from truebleu import _kernel
from truebleu.metrics.bleu_formula import single as rounded
from truebleu.metrics.table_metric import COMPENSATED
from truebleu.significance import memory
from truebleu.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from truebleu.metrics.base import Metric
    from truebleu.metrics.statistics import Statistics

SEED = 12345

# The parameters of BLEU that sacreBLEU has too, and the smoothing methods.
BLEU_PARAMETERS = (
    *("tokenize", "lowercase", "smoothing", "smoothing_value", "effective_order", "max_order"),
)
SMOOTHING = ("exp", "floor", "add-k", "none")

# Trials whose sums are in memory at a time.
TRIALS = 2000


class Result:
    """A system's score, and the results of a test; None for those that the test does not give."""

    def __init__(
        self,
        score: float,
        p_value: float | None = None,
        mean: float | None = None,
        ci: float | None = None,
    ) -> None:
        self.score = score
        self.p_value = p_value
        # The mean of resampled scores, and half the width of their 95 % interval.
        self.mean = mean
        self.ci = ci

    def __repr__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in vars(self).items())


class Resampled(Record):
    """Scores of resampled test sets."""

    values: Sequence[float]
    single: bool
    """True if NumPy would hold them in single precision."""

    @property
    def _round(self) -> Callable[[float], float]:
        return rounded if self.single else float

    @classmethod
    def of(cls, scores: Sequence[Any]) -> Resampled:
        """Of NumPy's numbers or Python's."""
        single = all(str(getattr(score, "dtype", "")) == "float32" for score in scores)
        return cls(list(map(float, scores)), single)

    def estimate(self) -> tuple[float, float]:
        """Mean and half width of the interval as `sacrebleu.significance.estimate_ci` has them."""
        ordered = sorted(self.values)
        return _mean(ordered, self._round), self._half_width(ordered)

    def exact_estimate(self) -> tuple[float, float]:
        """The same with an exact mean, as `Score.estimate_ci` has them."""
        fractions = [score.as_integer_ratio() for score in self.values]
        unit = max(denominator for _, denominator in fractions)
        total = sum(numerator * (unit // denominator) for numerator, denominator in fractions)
        mean = self._round(total / (unit * len(fractions)))
        return mean, self._half_width(sorted(self.values))

    def _half_width(self, ordered: Sequence[float]) -> float:
        # The interval lies between the 25th of 1,000 scores and the 25th from the end.
        cut = len(ordered) // 40
        return self._round(0.5 * self._round(ordered[len(ordered) - cut - 1] - ordered[cut]))


def confidence(
    metric: Metric, table: Statistics, *, resamples: int = 1000, seed: int | None = SEED
) -> Result:
    """The interval of one system: `corpus_score(..., n_bootstrap=resamples)`.

    sacreBLEU crashes where a resample has no n-gram in common with the references (a Python number
    among NumPy's); here the mean is of the same numbers.
    """
    [[scores]] = bootstrap_scores([(metric, [table])], _kernel.Stream(seed), resamples)
    [score] = _corpus_scores(metric, [table])
    return Result(score, None, *scores.exact_estimate())


def paired_bs(
    metric: Metric,
    tables: Sequence[Statistics],
    *,
    resamples: int = 1000,
    seed: int | None = SEED,
    scores: Sequence[float] | None = None,
) -> list[Result]:
    """`sacrebleu --paired-bs`: the first table is the baseline's; a result for each table.

    scores: the corpus scores, if they are known.
    """
    values = _corpus_scores(metric, tables) if scores is None else scores
    [resampled] = bootstrap_scores([(metric, tables)], _kernel.Stream(seed), resamples)
    return bs_results(values, resampled)


def bs_results(scores: Sequence[float], resampled: Sequence[Resampled]) -> list[Result]:
    """The results of a paired bootstrap, from the systems' scores and their resampled scores."""
    baseline, *systems = resampled
    results = [Result(scores[0], None, *baseline.estimate())]
    for score, system in zip(scores[1:], systems, strict=True):
        count = bs_count(system, baseline, abs(scores[0] - score))
        results.append(Result(score, (count + 1) / (len(system.values) + 1), *system.estimate()))
    return results


def bs_count(system: Resampled, baseline: Resampled, difference: float) -> int:
    """The number of resampled differences, less their mean, that exceed the observed one."""
    number = rounded if system.single and baseline.single else float
    pairs = zip(system.values, baseline.values, strict=True)
    apart = [abs(number(a - b)) for a, b in pairs]
    mean, limit = _mean(apart, number), number(difference)
    return sum(number(value - mean) > limit for value in apart)


def paired_ar(
    metric: Metric,
    tables: Sequence[Statistics],
    *,
    trials: int = 10_000,
    confidence: int = -1,
    seed: int | None = SEED,
    scores: Sequence[float] | None = None,
) -> list[Result]:
    """`sacrebleu --paired-ar`: the first table is the baseline's; a result for each table.

    confidence: resamples for means and intervals, drawn after the trials from the same stream for
        the systems, and from a stream of their own for the baseline; none if not positive.
    scores: the corpus scores, if they are known.
    """
    values = _corpus_scores(metric, tables) if scores is None else scores
    formula, stream = _randomized_formula(metric), _kernel.Stream(seed)
    totals = [table.total() for table in tables]
    counts = [0] * len(tables)
    for baseline, *systems in _chosen(tables, trials, stream):
        for number, system in enumerate(systems, 1):
            a, b = _kernel.exchanged((baseline, system), (totals[0], totals[number]))
            difference = abs(values[0] - values[number])
            counts[number] += _kernel.count_apart(formula(a), formula(b), difference, strictly=True)
    results = [
        Result(value, (count + 1) / (trials + 1) if number else None)
        for number, (value, count) in enumerate(zip(values, counts, strict=True))
    ]
    if confidence > 0:
        own = _kernel.Stream(seed)
        [first] = bootstrap_scores([(metric, tables[:1])], own, confidence)
        [others] = bootstrap_scores([(metric, tables[1:])], stream, confidence)
        for result, resampled in zip(results, [*first, *others], strict=True):
            result.mean, result.ci = resampled.estimate()
    return results


def bootstrap_scores(
    measures: Sequence[tuple[Metric, Sequence[_kernel.Table]]],
    stream: _kernel.Stream,
    resamples: int,
    workers: int = 1,
) -> list[list[Resampled]]:
    """The scores of resampled test sets, of each system of each metric."""
    parts = [(table, _formula(metric)) for metric, tables in measures for table in tables]
    if not parts:
        return [[] for _ in measures]
    columns = sum(table.width for table, _ in parts)
    memory.reserve(len(parts[0][0]), columns, workers, "single")
    found = iter(_kernel.SingleStack(parts).bootstrap(stream, resamples, workers))
    return [
        [Resampled(values.tolist(), single) for values, single in islice(found, len(tables))]
        for _, tables in measures
    ]


def resampled_sums(
    rows: Sequence[Sequence[float]], *, resamples: int, stream: _kernel.Stream
) -> Iterator[list[float]]:
    """The sums of resampled rows in single precision, for other formulas."""
    memory.reserve(len(rows), len(rows[0]), kind="single")
    numbers = [list(map(float, row)) for row in rows]
    for start in range(0, resamples, TRIALS):
        yield from _kernel.SingleStack.sums(numbers, stream, min(TRIALS, resamples - start))


def randomized_sums(
    baseline: Sequence[Sequence[Any]],
    system: Sequence[Sequence[Any]],
    *,
    trials: int,
    stream: _kernel.Stream,
) -> Iterator[tuple[list[Any], list[Any]]]:
    """The sums of both systems of a pair in each trial, for other formulas.

    Integers stay integers; other numbers are added in the order of the segments.
    """
    if len(baseline) != len(system):
        raise _kernel.InputError(
            f"a baseline of {len(baseline)} segments and a system of {len(system)}"
        )
    if all(type(value) is int for rows in (baseline, system) for row in rows for value in row):
        tables = [_kernel.Table.from_rows(rows, len(rows[0])) for rows in (baseline, system)]
        totals = tables[0].total(), tables[1].total()
        for halves in _chosen(tables, trials, stream):
            a, b = _kernel.exchanged((halves[0], halves[1]), totals)
            yield from zip(a.tolist(), b.tolist(), strict=True)
        return
    for _ in range(trials):
        taken = zip(stream.bools(len(system)), baseline, system, strict=True)
        sides = zip(*((a, b) if keep else (b, a) for keep, a, b in taken), strict=True)
        # Not sum(), which compensates from Python 3.12 on.
        one, other = (
            [reduce(add, column, 0) for column in zip(*side, strict=True)] for side in sides
        )
        yield one, other


def _chosen(
    tables: Sequence[_kernel.Table], trials: int, stream: _kernel.Stream
) -> Iterator[list[_kernel.Table]]:
    """For each table the sums of the rows that trials take, less the first table's.

    They are made a block of trials at a time.
    """
    memory.reserve(len(tables[0]), sum(table.width for table in tables))
    stack = _kernel.Stack.of_differences([tables])
    for start in range(0, trials, TRIALS):
        yield stack.choose(stream, min(TRIALS, trials - start), 1)


def _formula(metric: Metric) -> _kernel.SingleFormula:
    """The metric's formula in single precision."""
    given: Any = metric
    if metric.NAME == "chrF":
        return _kernel.SingleFormula.chrf(float(given.beta**2), given.eps_smoothing)
    if metric.NAME == "TER":
        return _kernel.SingleFormula.ter()
    if metric.NAME == "BLEU" and given.smoothing in SMOOTHING:
        shared = {name: metric.parameters[name] for name in BLEU_PARAMETERS}
        if type(metric)(**shared) == metric:
            value = float(given.smoothing_value or 0.0)
            effective_order = bool(given.effective_order)
            return _kernel.SingleFormula.bleu(given.smoothing, value, effective_order, COMPENSATED)
    raise ValueError(f"sacreBLEU has no {metric!r}, so its test of it cannot be computed")


def _randomized_formula(metric: Metric) -> Callable[[_kernel.Table], _kernel.Scores]:
    """The metric's formula for the trials of a randomization, whose sums are arrays of integers.

    sacreBLEU adds the k of add-k to them in place, so its fraction is lost.
    """
    parameters = metric.parameters
    _formula(metric)
    if parameters.get("smoothing") == "add-k":
        value: float = metric.smoothing_value  # type: ignore[attr-defined]
        metric = type(metric)(**{**parameters, "smoothing_value": float(int(value))})
    return metric.scores  # type: ignore[attr-defined, no-any-return]


def _corpus_scores(metric: Metric, tables: Sequence[Statistics]) -> list[float]:
    return [metric.scores(table.total())[0] for table in tables]  # type: ignore[attr-defined]


def _mean(values: Sequence[float], number: Callable[[float], float]) -> float:
    """NumPy's mean: sums by halves, in eights."""
    return number(_pairwise(values, number) / len(values))


def _pairwise(values: Sequence[float], number: Callable[[float], float]) -> float:
    size = len(values)
    if size > 128:
        half = size // 2
        half -= half % 8
        return number(_pairwise(values[:half], number) + _pairwise(values[half:], number))
    eights = size - size % 8
    total = 0.0
    if eights:
        sums = list(values[:8])
        for start in range(8, eights, 8):
            sums = [number(a + b) for a, b in zip(sums, values[start : start + 8], strict=True)]
        while len(sums) > 1:
            sums = [number(a + b) for a, b in zip(sums[::2], sums[1::2], strict=True)]
        [total] = sums
    for value in values[eights:]:
        total = number(total + value)
    return total
