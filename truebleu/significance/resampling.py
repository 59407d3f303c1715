"""Confidence intervals and paired tests, of any number of systems and metrics at once."""

from __future__ import annotations

from math import fsum, sqrt

from truebleu._kernel import InputError, Scores, Stack, Stream, count_apart, exchanged
from truebleu.significance.correction import CORRECTIONS, METHODS
from truebleu.significance.measure import Measure
from truebleu.significance.results import Difference, Interval, Paired
from truebleu.text import checks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

TESTS = ("ar", "bs", "bs-sacrebleu", "koehn")
PAIRS = ("baseline", "all")

# sacreBLEU's defaults.
DEFAULT_SEED = 12345
RESAMPLES = 1000
RANDOMIZATIONS = 10_000
LEVEL = 0.95

# Sums of 64-bit integers that are in memory at a time, about, and trials; and additions before an
# interrupt is heard, about a second's.
SUMS = 1 << 22
TRIALS = 2000
ADDITIONS = 1 << 34
# Additions between two calls of `progress`.
TOLD = 1 << 30


def intervals(
    measures: Sequence[Measure],
    *,
    resamples: int = RESAMPLES,
    seed: int | None = DEFAULT_SEED,
    level: float = LEVEL,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[dict[str, Interval]]:
    """The confidence interval of each system's score: a dict from system to interval per measure.

    resamples: how many test sets are drawn from this one, with replacement.
    seed: a non-negative integer; None for draws that nobody can repeat.
    level: the share of resampled scores within the interval.
    workers: threads.
    progress: is called with how many of how many resamples are done.

    Raises InputError for measures of different numbers of segments, ValueError for the rest.

    >>> scores = {"A": [3, 5, 4, 4, 5, 2], "B": [3, 4, 4, 5, 4, 1]}
    >>> intervals([Measure.of_scores("stars", scores)], resamples=100)
    [{'A': <3.83 [3.00, 4.67]>, 'B': <3.50 [2.33, 4.33]>}]
    """
    _check_measures(measures)
    resamples, seed, level = checks.whole("resamples", resamples, 1), *_checked(seed, level)
    step = _steps(progress, resamples)
    workers = checks.threads(workers)
    scores = _bootstrap(measures, _stack(measures), resamples, seed, workers, step)
    return [
        _system_intervals(measure, of_measure, level, seed)
        for measure, of_measure in zip(measures, scores, strict=True)
    ]


def paired(
    measures: Sequence[Measure],
    *,
    baseline: str | None = None,
    test: str = "ar",
    pairs: str = "baseline",
    randomizations: int = RANDOMIZATIONS,
    resamples: int = RESAMPLES,
    seed: int | None = DEFAULT_SEED,
    level: float = LEVEL,
    correction: str | None = None,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[Paired]:
    """Tests of the differences between systems, with the size of each and its interval.

    measures: of the same systems on the same segments.
    baseline: the system that the others are compared with; the first if None.
    test: "ar", "bs", "bs-sacrebleu" or "koehn" (see the module).
    pairs: "baseline" compares with the baseline, "all" all systems with each other as well.
    randomizations: of "ar".
    resamples: of the bootstrap, which gives the intervals whatever the test.
    seed, level, workers, progress: as for `intervals`.
    correction: None, "holm" or "bh", over the tests of one measure: `differences` are one family,
        `pairs` another.

    Two-sided, except "koehn". Raises InputError for measures that do not fit together, ValueError
    for the rest.

    >>> scores = {"A": [3, 5, 4, 4, 5, 2], "B": [3, 4, 4, 5, 4, 1]}
    >>> [result] = paired([Measure.of_scores("stars", scores)], randomizations=100)
    >>> result.differences["B"]
    <stars: B - A = -0.33 [-0.83, +0.33], p = 0.5842 (ar)>
    """
    _check_measures(measures)
    resamples, seed, level = checks.whole("resamples", resamples, 1), *_checked(seed, level)
    randomizations = checks.whole("randomizations", randomizations, 1)
    workers = checks.threads(workers)
    checks.one_of("test", test, TESTS)
    checks.one_of("pairs", pairs, PAIRS)
    checks.one_of("correction", correction, (None, *CORRECTIONS))
    systems = measures[0].systems
    if baseline is None:
        baseline = systems[0]
    elif baseline not in systems:
        raise ValueError(f"baseline: no system '{baseline}'{checks.nearest(baseline, systems)}")
    base = systems.index(baseline)
    if pairs == "all":
        compared = [(i, j) for i in range(len(systems)) for j in range(i + 1, len(systems))]
    else:
        compared = [(i, base) for i in range(len(systems)) if i != base]
    stack = _stack(measures)
    step = _steps(progress, resamples + (randomizations if test == "ar" else 0))
    scores = _bootstrap(measures, stack, resamples, seed, workers, step)
    trials = resamples
    if test == "ar":
        trials = randomizations
        counts = _randomize(measures, stack, compared, randomizations, seed, workers, step)
    elif test == "bs-sacrebleu":
        counts = _sacrebleu(measures, compared, resamples, seed, workers)
    else:
        counts = [{} for _ in measures]
    results = []
    for measure, of_measure, of_test in zip(measures, scores, counts, strict=True):
        totals = measure.observed()
        found = {}
        for i, j in compared:
            found[i, j] = _difference(
                measure,
                (systems[i], systems[j]),
                (totals[i], totals[j]),
                (of_measure[i].tolist(), of_measure[j].tolist()),
                count=of_test.get((i, j)),
                test=test,
                trials=trials,
                level=level,
                seed=seed,
            )
        against = {
            systems[i]: found[i, base] if (i, base) in found else found[base, i].reversed()
            for i in range(len(systems))
            if i != base
        }
        results.append(
            Paired(
                measure=measure,
                test=test,
                baseline=baseline,
                correction=correction,
                seed=seed,
                resamples=resamples,
                randomizations=randomizations if test == "ar" else None,
                level=level,
                intervals=_system_intervals(measure, of_measure, level, seed),
                differences=_corrected(against, correction),
                pairs=_corrected({(d.system, d.baseline): d for d in found.values()}, correction),
            )
        )
    return results


def _bootstrap(
    measures: Sequence[Measure],
    stack: Stack,
    resamples: int,
    seed: int | None,
    workers: int,
    step: Callable[[int], None] | None,
) -> list[list[Scores]]:
    """The scores of resampled test sets, of each system of each measure."""
    stream = Stream(seed)
    parts: list[list[list[Scores]]] = [[[] for _ in measure.systems] for measure in measures]
    for block in _blocks(resamples, _block(measures, step)):
        sums = iter(stack.bootstrap(stream, block, workers))
        for measure, of_measure in zip(measures, parts, strict=True):
            for of_system in of_measure:
                of_system.append(measure.scores(next(sums)))
        if step is not None:
            step(block)
    return [[_joined(of_system) for of_system in of_measure] for of_measure in parts]


def _randomize(
    measures: Sequence[Measure],
    stack: Stack,
    compared: Sequence[tuple[int, int]],
    trials: int,
    seed: int | None,
    workers: int,
    step: Callable[[int], None] | None,
) -> list[dict[tuple[int, int], int]]:
    """In how many trials the systems of each pair are at least as far apart as they are.

    In a trial, the baseline keeps the segments that the trial takes and gets the system's for the
    others. The sums of each system's taken rows give those of all pairs.
    """
    stream = Stream(seed)
    totals = [[table.total() for table in measure.tables] for measure in measures]
    observed = [measure.observed() for measure in measures]
    counts = [dict.fromkeys(compared, 0) for _ in measures]
    for block in _blocks(trials, min(_block(measures, step), TRIALS * workers)):
        chosen = iter(stack.choose(stream, block, workers))
        for number, measure in enumerate(measures):
            halves = [next(chosen) for _ in measure.systems]
            whole, values = totals[number], observed[number]
            for i, j in compared:
                a, b = exchanged((halves[j], halves[i]), (whole[j], whole[i]))
                apart = abs(values[i] - values[j])
                scores = (measure.scores(a), measure.scores(b))
                counts[number][i, j] += count_apart(*scores, apart, strictly=False)
        if step is not None:
            step(block)
    return counts


def _sacrebleu(
    measures: Sequence[Measure],
    compared: Sequence[tuple[int, int]],
    resamples: int,
    seed: int | None,
    workers: int,
) -> list[dict[tuple[int, int], int]]:
    """The counts behind sacreBLEU's p-values."""
    from truebleu.significance import sacrebleu as original

    tables = []
    for measure in measures:
        if measure.metric is None or not measure.is_summed:
            raise ValueError(f"test 'bs-sacrebleu' is of BLEU, chrF and TER, not of {measure.name}")
        tables.append((measure.metric, measure.tables))
    scores = original.bootstrap_scores(tables, resamples=resamples, seed=seed, workers=workers)
    counts = []
    for measure, of_measure in zip(measures, scores, strict=True):
        values = measure.observed()
        counts.append(
            {
                (i, j): original.bs_count(of_measure[i], of_measure[j], abs(values[i] - values[j]))
                for i, j in compared
            }
        )
    return counts


def _stack(measures: Sequence[Measure]) -> Stack:
    return Stack([table for measure in measures for table in measure.tables])


def _block(measures: Sequence[Measure], step: object) -> int:
    """How many rows of sums are made at a time, so that memory and time stay bounded."""
    width = sum(table.width for measure in measures for table in measure.tables)
    additions = ADDITIONS if step is None else TOLD
    return max(1, min(SUMS // width, additions // (width * measures[0].segments)))


def _blocks(count: int, size: int) -> Iterator[int]:
    for start in range(0, count, size):
        yield min(size, count - start)


def _joined(parts: Sequence[Scores]) -> Scores:
    return parts[0] if len(parts) == 1 else Scores([score for part in parts for score in part])


def _interval(
    value: float, resampled: Sequence[float], level: float, seed: int | None, segments: int
) -> Interval:
    ordered = sorted(resampled)
    # The small number keeps a product like 1000 * 0.05 from falling short of 50.
    cut = int(len(ordered) * (1 - level) / 2 + 1e-9)
    note = ""
    if segments == 1:
        note = "one segment: every resample is that segment, so the interval says nothing"
    elif not cut:
        note = f"{len(ordered)} resamples are too few for {level:.4g}: the interval is all of them"
    return Interval(
        value=value,
        mean=fsum(ordered) / len(ordered),
        low=ordered[cut],
        high=ordered[len(ordered) - cut - 1],
        level=level,
        resamples=len(ordered),
        seed=seed,
        note=note,
    )


def _system_intervals(
    measure: Measure, scores: Sequence[Scores], level: float, seed: int | None
) -> dict[str, Interval]:
    return {
        system: _interval(measure.value(system), of_system.tolist(), level, seed, measure.segments)
        for system, of_system in zip(measure.systems, scores, strict=True)
    }


def _difference(
    measure: Measure,
    names: tuple[str, str],
    values: tuple[float, float],
    resampled: tuple[list[float], list[float]],
    *,
    count: int | None,
    test: str,
    trials: int,
    level: float,
    seed: int | None,
) -> Difference:
    system, baseline = names
    differences = [a - b for a, b in zip(*resampled, strict=True)]
    observed = values[0] - values[1]
    sign = -1 if measure.lower_is_better else 1
    value = measure.value(system) - measure.value(baseline)
    interval = _interval(value, differences, level, seed, measure.segments)
    mean, size = interval.mean, len(differences)
    over = sum(difference > 0 for difference in differences)
    under = sum(difference < 0 for difference in differences)
    won, lost = (over, under) if sign > 0 else (under, over)
    better = None if observed == 0 else observed * sign > 0
    if test == "bs":
        count = sum(abs(difference - mean) >= abs(observed) for difference in differences)
    elif test == "koehn":
        count = size - (0 if better is None else won if better else lost)
    assert count is not None
    p = (count + 1) / (trials + 1)
    tables = dict(zip(measure.systems, measure.tables, strict=True))
    identical = tables[system].same(tables[baseline])
    note = ""
    if identical:
        p, note = 1.0, "the systems are identical: no segment differs"
    elif measure.segments == 1:
        p, note = 1.0, "one segment: no test can tell a difference from chance"
    elif better is None:
        note = "the systems have the same score"
    squares = fsum((difference - mean) ** 2 for difference in differences)
    return Difference(
        measure=measure.name,
        system=system,
        baseline=baseline,
        value=value,
        interval=interval,
        p=p,
        adjusted_p=p,
        test=test,
        trials=trials,
        won=won / size,
        tied=(size - over - under) / size,
        lost=lost / size,
        better=better,
        identical=identical,
        segments=measure.segments,
        deviation=sqrt(squares / (size - 1)) if size > 1 else 0.0,
        note=note,
    )


def _corrected(found: dict[Any, Difference], correction: str | None) -> dict[Any, Difference]:
    """The differences with p-values corrected as one family."""
    if correction is None:
        return found
    adjusted = METHODS[correction]([difference.p for difference in found.values()])
    return {
        key: difference.replaced(adjusted_p=p)
        for (key, difference), p in zip(found.items(), adjusted, strict=True)
    }


def _steps(progress: Callable[[int, int], None] | None, total: int) -> Callable[[int], None] | None:
    """What is called with the number of resamples in each block."""
    if progress is None:
        return None
    done = 0

    def step(block: int) -> None:
        nonlocal done
        done += block
        progress(done, total)

    return step


def _checked(seed: Any, level: Any) -> tuple[int | None, float]:
    return checks.seed(seed), checks.share("level", level)


def _check_measures(measures: Sequence[Measure]) -> None:
    if isinstance(measures, Measure):
        raise TypeError("measures: expected a list, [measure]")
    if not measures:
        raise InputError("no measures: there is nothing to test")
    first = measures[0]
    for measure in measures[1:]:
        if measure.systems != first.systems:
            raise InputError(
                f"{first.name} has the systems {', '.join(first.systems)}, and {measure.name} has "
                f"{', '.join(measure.systems)}; measures are compared for the same systems"
            )
        if measure.segments != first.segments:
            raise InputError(
                f"{first.name} has {first.segments} segments, and {measure.name} has "
                f"{measure.segments}; measures are compared on the same segments"
            )
