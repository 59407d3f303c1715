"""sacreBLEU 2.6.0's intervals and paired tests, to the last bit, without NumPy.

sacreBLEU's bootstrap sums statistics in single precision, and with NumPy 2 most of each formula is
computed in it too (kernel/src/single.rs). So these numbers differ from truebleu's own
(`truebleu.significance`, the same draws in exact arithmetic) after the sixth digit. What sacreBLEU
calls a paired bootstrap is miscalibrated: docs/significance.md. Use these to reproduce sacreBLEU.
"""

from __future__ import annotations

from truebleu._kernel import (
    InputError,
    Scores,
    SingleFormula,
    SingleStack,
    Stack,
    Stream,
    Table,
    count_apart,
    exchanged,
)
from truebleu.counted import COMPENSATED
from truebleu.formula import single as rounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from truebleu.metric import Metric
    from truebleu.statistics import Statistics

    Measured = Sequence[tuple[Metric, Sequence[Table]]]

SEED = 12345

# What sacreBLEU's BLEU can be told; the other parameters are other programs'.
BLEU_PARAMETERS = {
    "tokenize",
    "lowercase",
    "smoothing",
    "smoothing_value",
    "effective_order",
    "max_order",
}
SMOOTHING = ("exp", "floor", "add-k", "none")

# Trials of randomization whose sums are in memory at a time.
TRIALS = 2000


class Estimate:
    """The mean of resampled scores, and half the width of their 95 % interval."""

    __slots__ = ("ci", "mean")

    def __init__(self, mean: float, ci: float) -> None:
        self.mean = mean
        self.ci = ci

    def __repr__(self) -> str:
        return f"Estimate(mean={self.mean!r}, ci={self.ci!r})"


class Result:
    """A system's score, and what a paired test found; None where sacreBLEU has None."""

    __slots__ = ("ci", "mean", "p_value", "score")

    def __init__(
        self,
        score: float,
        p_value: float | None = None,
        mean: float | None = None,
        ci: float | None = None,
    ) -> None:
        self.score = score
        self.p_value = p_value
        self.mean = mean
        self.ci = ci

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in ("score", "p_value"))
        return f"Result({values}, mean={self.mean!r}, ci={self.ci!r})"


class Resampled:
    """Scores of resampled test sets, and whether NumPy would hold them in single precision."""

    __slots__ = ("single", "values")

    def __init__(self, values: Sequence[float], *, single: bool) -> None:
        self.values = values
        self.single = single


def confidence(
    metric: Metric, table: Statistics, *, resamples: int = 1000, seed: int | None = SEED
) -> Estimate:
    """The interval of one system: `corpus_score(..., n_bootstrap=resamples)`.

    Where sacreBLEU crashes because a resample has no n-gram in common with the references (a
    Python number among NumPy's), this is the mean of the same numbers.
    """
    [[scores]] = bootstrap_scores([(metric, [table])], resamples=resamples, seed=seed)
    mean = exact_mean(scores.values, single=scores.single)
    return Estimate(mean, _half_width(sorted(scores.values), _rounding(scores.single)))


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
    return paired_bs_batch(
        [(metric, tables)],
        resamples=resamples,
        seed=seed,
        scores=None if scores is None else [scores],
    )[0]


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
    """
    return paired_ar_batch(
        [(metric, tables)],
        trials=trials,
        confidence=confidence,
        seed=seed,
        scores=None if scores is None else [scores],
    )[0]


def paired_bs_batch(
    measures: Measured,
    *,
    resamples: int = 1000,
    seed: int | None = SEED,
    scores: Sequence[Sequence[float]] | None = None,
    workers: int = 1,
) -> list[list[Result]]:
    """`paired_bs` of several metrics, which share the draws."""
    resampled = bootstrap_scores(measures, resamples=resamples, seed=seed, workers=workers)
    results = []
    for values, (baseline, *systems) in zip(_corpus(measures, scores), resampled, strict=True):
        found = [Result(values[0], None, *_estimate(baseline))]
        for value, system in zip(values[1:], systems, strict=True):
            p_value = (bs_count(system, baseline, abs(values[0] - value)) + 1) / (resamples + 1)
            found.append(Result(value, p_value, *_estimate(system)))
        results.append(found)
    return results


def paired_ar_batch(
    measures: Measured,
    *,
    trials: int = 10_000,
    confidence: int = -1,
    seed: int | None = SEED,
    scores: Sequence[Sequence[float]] | None = None,
    workers: int = 1,
) -> list[list[Result]]:
    """`paired_ar` of several metrics, which share the draws."""
    stack = Stack([table for _, tables in measures for table in tables])
    stream = Stream(seed)
    totals = [[table.total() for table in tables] for _, tables in measures]
    formulas = [_randomized_formula(metric) for metric, _ in measures]
    corpus = _corpus(measures, scores)
    counts = [[0] * len(tables) for _, tables in measures]
    for start in range(0, trials, TRIALS):
        chosen = iter(stack.choose(stream, min(TRIALS, trials - start), workers))
        for number, (_, tables) in enumerate(measures):
            baseline, *systems = [next(chosen) for _ in tables]
            whole, values, formula = totals[number], corpus[number], formulas[number]
            for i, system in enumerate(systems, 1):
                a, b = exchanged((baseline, system), (whole[0], whole[i]))
                apart = abs(values[0] - values[i])
                counts[number][i] += count_apart(formula(a), formula(b), apart, strictly=True)
    results = [
        [
            Result(value, (count + 1) / (trials + 1) if i else None)
            for i, (value, count) in enumerate(zip(values, of_metric, strict=True))
        ]
        for values, of_metric in zip(corpus, counts, strict=True)
    ]
    if confidence > 0:
        first = [(metric, tables[:1]) for metric, tables in measures]
        others = [(metric, tables[1:]) for metric, tables in measures]
        fresh = Stream(seed)
        baselines = bootstrap_scores(first, resamples=confidence, stream=fresh, workers=workers)
        systems_ = bootstrap_scores(others, resamples=confidence, stream=stream, workers=workers)
        for found, of_baseline, of_systems in zip(results, baselines, systems_, strict=True):
            for result, resampled in zip(found, [*of_baseline, *of_systems], strict=True):
                result.mean, result.ci = _estimate(resampled)
    return results


def bootstrap_scores(
    measures: Measured,
    *,
    resamples: int,
    seed: int | None = SEED,
    stream: Stream | None = None,
    workers: int = 1,
) -> list[list[Resampled]]:
    """The scores of resampled test sets, of each system of each metric."""
    parts = [
        (table, formula)
        for metric, tables in measures
        for formula in [_formula(metric)]
        for table in tables
    ]
    if not parts:
        return [[] for _ in measures]
    found = iter(SingleStack(parts).bootstrap(stream or Stream(seed), resamples, workers))
    scored = []
    for _, tables in measures:
        of_metric = [next(found) for _ in tables]
        scored.append([Resampled(values.tolist(), single=single) for values, single in of_metric])
    return scored


def bs_count(system: Resampled, baseline: Resampled, difference: float) -> int:
    """How many resampled differences, less their mean, exceed the observed one."""
    single = system.single and baseline.single
    number = _rounding(single)
    pairs = zip(system.values, baseline.values, strict=True)
    apart = [abs(number(a - b)) for a, b in pairs]
    mean = _mean(apart, number)
    limit = number(difference)
    return sum(number(value - mean) > limit for value in apart)


def bs_p_value(
    system_scores: Sequence[float],
    baseline_scores: Sequence[float],
    difference: float,
    *,
    single: bool = False,
) -> float:
    """The p-value of `--paired-bs`, from the resampled scores and the observed difference."""
    system, baseline = (
        Resampled(scores, single=single) for scores in (system_scores, baseline_scores)
    )
    return (bs_count(system, baseline, difference) + 1) / (len(system_scores) + 1)


def ar_p_value(scores_a: Sequence[float], scores_b: Sequence[float], difference: float) -> float:
    """The p-value of `--paired-ar`, from the scores of the trials and the observed difference."""
    count = sum(abs(a - b) > difference for a, b in zip(scores_a, scores_b, strict=True))
    return (count + 1) / (len(scores_a) + 1)


def estimate_ci(scores: Sequence[float], *, single: bool = False) -> tuple[float, float]:
    """Mean and half width as `sacrebleu.significance.estimate_ci`, of an array of scores.

    single: whether the array is one of 32-bit floats.
    """
    return _estimate(Resampled(scores, single=single))


def exact_mean(scores: Sequence[float], *, single: bool = False) -> float:
    """`statistics.mean`: the exact mean, rounded once (and to single precision, if asked for)."""
    fractions = [score.as_integer_ratio() for score in scores]
    unit = max(denominator for _, denominator in fractions)
    total = sum(numerator * (unit // denominator) for numerator, denominator in fractions)
    return _rounding(single)(total / (unit * len(fractions)))


def resampled(
    rows: Sequence[Sequence[float]], *, resamples: int, seed: int | None = SEED
) -> Iterator[list[float]]:
    """The sums of resampled rows in single precision, for formulas of one's own."""
    stream = Stream(seed)
    numbers = [list(map(float, row)) for row in rows]
    for start in range(0, resamples, TRIALS):
        yield from SingleStack.sums(numbers, stream, min(TRIALS, resamples - start))


def randomized(
    baseline_rows: Sequence[Sequence[Any]],
    system_rows: Sequence[Sequence[Any]],
    *,
    trials: int,
    seed: int | None = SEED,
) -> Iterator[tuple[list[Any], list[Any]]]:
    """The sums of both systems of a pair in each trial, for formulas of one's own.

    Integers stay integers; other numbers are added in the order of the segments.
    """
    if len(baseline_rows) != len(system_rows):
        raise InputError(
            f"a baseline of {len(baseline_rows)} segments and a system of {len(system_rows)}"
        )
    stream = Stream(seed)
    width = len(baseline_rows[0])
    rows = [[list(row) for row in of_one] for of_one in (baseline_rows, system_rows)]
    if all(type(value) is int for of_one in rows for row in of_one for value in row):
        tables = [Table.from_rows(of_one, width) for of_one in rows]
        stack = Stack(tables)
        baseline, system = (table.total() for table in tables)
        for start in range(0, trials, TRIALS):
            halves = stack.choose(stream, min(TRIALS, trials - start), 1)
            a, b = exchanged((halves[0], halves[1]), (baseline, system))
            yield from zip(a.tolist(), b.tolist(), strict=True)
        return
    for _ in range(trials):
        taken = stream.bools(len(rows[0]))
        sums: tuple[list[Any], list[Any]] = ([0] * width, [0] * width)
        for take, one, other in zip(taken, *rows, strict=True):
            pair = (one, other) if take else (other, one)
            for total, row in zip(sums, pair, strict=True):
                for column, value in enumerate(row):
                    total[column] += value
        yield sums


def _formula(metric: Metric) -> SingleFormula:
    """The metric's formula in single precision."""
    parameters: Any = metric
    own = {
        name
        for name, default in metric.PARAMETERS.items()
        if name not in BLEU_PARAMETERS and metric.parameters[name] != default
    }
    if metric.NAME == "BLEU" and not own and parameters.smoothing in SMOOTHING:
        value = parameters.smoothing_value
        return SingleFormula.bleu(
            parameters.smoothing,
            0.0 if value is None else float(value),
            bool(parameters.effective_order),
            COMPENSATED,
        )
    if metric.NAME == "chrF":
        return SingleFormula.chrf(float(parameters.beta**2), parameters.eps_smoothing)
    if metric.NAME == "TER":
        return SingleFormula.ter()
    raise ValueError(f"sacreBLEU has no {metric!r}, so its test of it cannot be computed")


def _randomized_formula(metric: Metric) -> Callable[[Table], Scores]:
    """The metric's formula for the trials of a randomization, whose sums are arrays of integers.

    sacreBLEU adds the k of add-k to them in place, so its fraction is lost.
    """
    parameters = metric.parameters
    _formula(metric)
    if parameters.get("smoothing") == "add-k":
        value: float = metric.smoothing_value  # type: ignore[attr-defined]
        metric = type(metric)(**{**parameters, "smoothing_value": float(int(value))})
    return metric.scores  # type: ignore[attr-defined, no-any-return]


def _corpus(
    measures: Measured, scores: Sequence[Sequence[float]] | None
) -> Sequence[Sequence[float]]:
    """The corpus scores of each metric's systems."""
    if scores is not None:
        return scores
    return [
        [metric.scores(table.total())[0] for table in tables]  # type: ignore[attr-defined]
        for metric, tables in measures
    ]


def _estimate(scores: Resampled) -> tuple[float, float]:
    number = _rounding(scores.single)
    ordered = sorted(scores.values)
    return _mean(ordered, number), _half_width(ordered, number)


def _half_width(ordered: Sequence[float], number: Callable[[float], float]) -> float:
    """Half of what lies between the 25th of 1,000 and the 25th from the end."""
    cut = len(ordered) // 40
    return number(0.5 * number(ordered[len(ordered) - cut - 1] - ordered[cut]))


def _rounding(single: bool) -> Callable[[float], float]:
    return rounded if single else float


def _mean(values: Sequence[float], number: Callable[[float], float]) -> float:
    """NumPy's mean: sums by halves, in eights."""
    return number(_pairwise(values, number) / len(values))


def _pairwise(values: Sequence[float], number: Callable[[float], float]) -> float:
    size = len(values)
    if size > 128:
        half = size // 2
        half -= half % 8
        return number(_pairwise(values[:half], number) + _pairwise(values[half:], number))
    if size < 8:
        total = 0.0
        rest = values
    else:
        eights = size - size % 8
        sums = list(values[:8])
        for start in range(8, eights, 8):
            sums = [number(a + b) for a, b in zip(sums, values[start : start + 8], strict=True)]
        while len(sums) > 1:
            sums = [number(a + b) for a, b in zip(sums[::2], sums[1::2], strict=True)]
        total = sums[0]
        rest = values[eights:]
    for value in rest:
        total = number(total + value)
    return total
