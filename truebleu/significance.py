"""Is the difference real? Confidence intervals and paired tests of systems on the same segments.

What is resampled is the table of statistics (or a column of scores), never the text. All systems
and metrics share the same draws, which are NumPy's, so a seed gives the same numbers everywhere.

The tests, by name:

"ar": paired approximate randomization, the default. If it made no difference which system wrote
    a translation, exchanging the two systems' translations of random segments would give
    differences like the one observed. Eric W. Noreen (1989): Computer-intensive methods for
    testing hypotheses; Stefan Riezler and John T. Maxwell (2005): On some pitfalls in automatic
    evaluation and significance testing for MT. ACL workshop on intrinsic and extrinsic measures.
"bs": paired bootstrap. The differences of resampled test sets, shifted so that their mean is 0,
    are what chance alone would give (Riezler and Maxwell 2005; Bradley Efron and Robert J.
    Tibshirani 1993: An introduction to the bootstrap).
"bs-sacrebleu": what sacreBLEU 2.6.0 calls paired bootstrap, to its last bit. It takes the absolute
    value before the shift, and so calls twice as many differences significant as it should.
"koehn": the share of resampled test sets that the better system does not win. Philipp Koehn
    (2004): Statistical significance tests for machine translation evaluation. EMNLP. It is
    one-sided: the direction is the observed one.

docs/significance.md has how often each is wrong, measured.
"""

from __future__ import annotations

from math import ceil, erfc, fsum, inf, isfinite, ldexp, sqrt
from operator import index

from truebleu._kernel import InputError, Scores, Stack, Stream, Table, count_apart, exchanged
from truebleu.statistics import Statistics

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, Self

    from truebleu.metric import Metric

TESTS = ("ar", "bs", "bs-sacrebleu", "koehn")
CORRECTIONS = ("holm", "bh")
PAIRS = ("baseline", "all")

# sacreBLEU's defaults.
DEFAULT_SEED = 12345
RESAMPLES = 1000
RANDOMIZATIONS = 10_000
LEVEL = 0.95

# What `detectable` and `segments_needed` assume: the usual error rates of the two kinds.
ALPHA, POWER = 0.05, 0.8

CAUTIONS = {
    "ar": "p is how often a difference this large would appear if it made no difference which "
    "of the two systems wrote each segment",
    "bs": "p is how often a difference this large would appear in test sets like this one if "
    "there were none",
    "bs-sacrebleu": "p is sacreBLEU's, which is too small: it calls about 11 % of equal systems "
    "different at 5 %",
    "koehn": "p is the share of resampled test sets that the better system does not win; it is "
    "one-sided, for the direction that was observed",
}
LIMIT = (
    "It says nothing of other domains, of other references, or of whether a reader would notice."
)

# Sums of 64-bit integers that are in memory at a time, about.
SUMS = 1 << 22
TRIALS = 2000

# Decimal places up to which scores are taken for decimal numbers, and added as such.
PLACES = 9


class Record:
    """Named values that stay as they are."""

    __slots__ = ()

    def __init__(self, **values: Any) -> None:
        for name in self.__slots__:
            object.__setattr__(self, name, values[name])

    def _values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"results do not change: {name} is what it is")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash(tuple(self._values().values()))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (type(self), self._values()))

    def to_dict(self) -> dict[str, Any]:
        """Everything, in full precision."""
        return {
            name: value.to_dict() if isinstance(value, Record) else value
            for name, value in self._values().items()
        }


def _restored(kind: type[Record], values: dict[str, Any]) -> Record:
    return kind(**values)


class Interval(Record):
    """A score, or a difference of scores, and between what values resampling puts it.

    The percentile interval: of B sorted resampled values, the ones that leave out
    B (1 - level) / 2 at each end (Efron and Tibshirani 1993, chapter 13).
    """

    __slots__ = ("value", "mean", "low", "high", "level", "resamples", "seed", "note")  # noqa: RUF023

    value: float
    """Of all segments."""
    mean: float
    """The mean of the resampled values."""
    low: float
    high: float
    level: float
    resamples: int
    seed: int | None
    note: str
    """What to know about it, if anything."""

    @property
    def half_width(self) -> float:
        """Half the width: what sacreBLEU prints behind ±."""
        return (self.high - self.low) / 2

    def to_dict(self) -> dict[str, Any]:
        """Everything, in full precision."""
        return {**super().to_dict(), "half_width": self.half_width}

    def __repr__(self) -> str:
        return f"<{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]>"


class Difference(Record):
    """How one system differs from another: the size of the difference, and the test of it."""

    __slots__ = (  # noqa: RUF023
        "measure",
        "system",
        "baseline",
        "value",
        "interval",
        "p",
        "adjusted_p",
        "test",
        "trials",
        "won",
        "tied",
        "lost",
        "better",
        "identical",
        "segments",
        "deviation",
        "note",
    )

    measure: str
    system: str
    baseline: str
    value: float
    """The system's score minus the baseline's."""
    interval: Interval
    """The difference's own paired bootstrap interval."""
    p: float
    adjusted_p: float
    """p after the correction for several comparisons, if one was asked for; else p."""
    test: str
    trials: int
    """Randomizations or resamples behind p."""
    won: float
    """The share of resampled test sets on which the system is better."""
    tied: float
    lost: float
    better: bool | None
    """Whether the system is the better of the two; None if they are equal."""
    identical: bool
    """Whether no segment differs."""
    segments: int
    deviation: float
    """The standard deviation of the resampled differences: the standard error of the difference."""
    note: str
    """What to know about it, if anything."""

    @property
    def detectable(self) -> float:
        """The smallest difference that as many segments would detect: at 5 %, with power 0.8."""
        return _effort(ALPHA, POWER) * self.deviation

    @property
    def segments_needed(self) -> int | None:
        """How many segments like these would detect a difference of this size (`segments_needed`).

        None if there is no difference, or nothing to estimate its error from.
        """
        return segments_needed(self.value, self.deviation, self.segments)

    def reversed(self) -> Self:
        """The same, seen from the other system."""
        values = self._values()
        interval = self.interval
        values |= {
            "system": self.baseline,
            "baseline": self.system,
            "value": -self.value,
            "interval": Interval(
                **{
                    **interval._values(),
                    "value": -interval.value,
                    "mean": -interval.mean,
                    "low": -interval.high,
                    "high": -interval.low,
                }
            ),
            "won": self.lost,
            "lost": self.won,
            "better": None if self.better is None else not self.better,
        }
        return type(self)(**values)

    def to_dict(self) -> dict[str, Any]:
        """Everything, in full precision."""
        derived = {"detectable": self.detectable, "segments_needed": self.segments_needed}
        return {**super().to_dict(), **derived}

    def __repr__(self) -> str:
        return (
            f"<{self.measure}: {self.system} - {self.baseline} = {self.value:+.2f} "
            f"[{self.interval.low:+.2f}, {self.interval.high:+.2f}], p = {self.p:.4f} ({self.test})>"
        )


class Paired(Record):
    """One measure of all systems: intervals, and the tests of the differences."""

    __slots__ = (  # noqa: RUF023
        "measure",
        "test",
        "baseline",
        "correction",
        "seed",
        "resamples",
        "randomizations",
        "level",
        "intervals",
        "differences",
        "pairs",
    )

    measure: Measure
    test: str
    baseline: str
    correction: str | None
    seed: int | None
    resamples: int
    randomizations: int | None
    """None for tests that randomize nothing."""
    level: float
    intervals: dict[str, Interval]
    """The score of each system."""
    differences: dict[str, Difference]
    """Each system but the baseline, against the baseline."""
    pairs: dict[tuple[str, str], Difference]
    """Every pair that was tested: (system, other), corrected as one family."""

    __hash__ = None  # type: ignore[assignment]

    @property
    def caution(self) -> str:
        """What the test says and what it does not, in a line."""
        return f"{CAUTIONS[self.test]}. {LIMIT}"

    def between(self, system: str, other: str) -> Difference:
        """The test of two systems, seen from the first."""
        if (system, other) in self.pairs:
            return self.pairs[system, other]
        if (other, system) in self.pairs:
            return self.pairs[other, system].reversed()
        raise KeyError(f"{system} and {other} were not compared; pairs='all' compares all")

    def better_than(self, alpha: float = ALPHA) -> dict[str, list[str]]:
        """Which systems each system is significantly better than, of the pairs that were tested."""
        beaten: dict[str, list[str]] = {name: [] for name in self.measure.systems}
        for (system, other), difference in self.pairs.items():
            if difference.adjusted_p < alpha and difference.better is not None:
                winner, loser = (system, other) if difference.better else (other, system)
                beaten[winner].append(loser)
        return beaten

    def clusters(self, alpha: float = ALPHA) -> list[list[str]]:
        """The systems in clusters, best first, as WMT's findings rank them.

        Sorted by score, there is a border wherever each system above is significantly better than
        each system below; within a cluster the order is not settled. Needs `pairs="all"`.
        """
        measure = self.measure
        sign = 1 if measure.lower_is_better else -1
        ranked = sorted(measure.systems, key=lambda name: sign * self.intervals[name].value)
        if len(self.pairs) < len(ranked) * (len(ranked) - 1) // 2:
            raise ValueError("clusters need the test of all pairs: pairs='all'")
        beaten = {name: set(losers) for name, losers in self.better_than(alpha).items()}
        clusters: list[list[str]] = [[]]
        for place, name in enumerate(ranked):
            below = set(ranked[place:])
            if place and all(below <= beaten[above] for above in ranked[:place]):
                clusters.append([])
            clusters[-1].append(name)
        return clusters

    def to_dict(self) -> dict[str, Any]:
        """Everything, in full precision."""
        return {
            "measure": self.measure.name,
            "lower_is_better": self.measure.lower_is_better,
            "segments": self.measure.segments,
            "test": self.test,
            "baseline": self.baseline,
            "correction": self.correction,
            "seed": self.seed,
            "resamples": self.resamples,
            "randomizations": self.randomizations,
            "level": self.level,
            "intervals": {name: interval.to_dict() for name, interval in self.intervals.items()},
            "differences": {name: found.to_dict() for name, found in self.differences.items()},
            "pairs": [found.to_dict() for found in self.pairs.values()],
            "caution": self.caution,
        }

    def __repr__(self) -> str:
        return f"<{self.measure.name}: {len(self.intervals)} systems, {len(self.pairs)} tests>"


class Measure:
    """One metric of several systems on the same segments: what is resampled.

    metric: any metric that has `statistics`.
    tables: its statistics of each system, a row a segment, segments in the same order.

    >>> from truebleu import BLEU
    >>> metric, references = BLEU(max_order=2), ["a b c d", "a b"]
    >>> systems = {"one": ["a b c", "a b"], "two": ["a b", "a c"]}
    >>> measure = Measure(metric, {k: metric.statistics(v, references) for k, v in systems.items()})
    >>> measure
    <BLEU of 2 systems on 2 segments>
    """

    __slots__ = ("_formula", "_lower_is_better", "_metric", "_name", "_tables", "_values")

    def __init__(self, metric: Metric, tables: Mapping[str, Statistics]) -> None:
        _check_systems(metric.NAME, {name: len(table) for name, table in tables.items()})
        scores: dict[str, Any] = {}
        for name, table in tables.items():
            if not isinstance(table, Statistics):
                raise TypeError(
                    f"{name}: {type(table).__name__} given where {metric.NAME}'s statistics are "
                    "meant; Measure.of_scores takes scores of segments"
                )
            scores[name] = metric.from_statistics(table)  # type: ignore[attr-defined]
        self._metric: Metric | None = metric
        self._lower_is_better = metric.LOWER_IS_BETTER
        self._name: str = next(iter(scores.values())).name
        self._values = {name: score.value for name, score in scores.items()}
        if getattr(metric, "aggregate", "corpus") == "segments":
            unit = 100.0 / metric.natural_scale  # type: ignore[attr-defined]
            columns = {
                name: [unit * score for score in metric.segment_values(table)]  # type: ignore[attr-defined]
                for name, table in tables.items()
            }
            self._formula, self._tables = _means(columns)
        else:
            self._formula, self._tables = metric, dict(tables)

    @classmethod
    def of_scores(
        cls, name: str, scores: Mapping[str, Sequence[float]], *, lower_is_better: bool = False
    ) -> Self:
        """Scores of segments by a metric that truebleu does not compute.

        scores: a number for each segment of each system. The score of a system is their mean.

        Decimal numbers are added as decimal numbers, so ties are ties. Raises InputError for
        numbers that are missing or not finite.
        """
        columns: dict[str, list[float]] = {}
        for system, numbers in scores.items():
            if isinstance(numbers, Statistics):
                raise TypeError(f"{system}: statistics; Measure(metric, ...) takes them")
            columns[system] = [_number(name, system, i, x) for i, x in enumerate(numbers, 1)]
        _check_systems(name, {system: len(column) for system, column in columns.items()})
        measure = cls.__new__(cls)
        measure._metric = None
        measure._name = name
        measure._lower_is_better = lower_is_better
        measure._formula, measure._tables = _means(columns)
        measure._values = dict(
            zip(columns, measure._scored(measure._totals()), strict=True)
        )
        return measure

    @property
    def name(self) -> str:
        """What is measured: "BLEU", "chrF2", or the name given."""
        return self._name

    @property
    def metric(self) -> Metric | None:
        """The metric; None for a column of scores."""
        return self._metric

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(self._tables)

    @property
    def segments(self) -> int:
        """How many segments each system has."""
        return len(next(iter(self._tables.values())))

    @property
    def lower_is_better(self) -> bool:
        """Whether a better system has a lower score, as with error rates."""
        return self._lower_is_better

    def value(self, system: str) -> float:
        """The score of all segments of a system."""
        return self._values[system]

    def _totals(self) -> list[Table]:
        return [table.total() for table in self._tables.values()]

    def _scored(self, totals: Sequence[Table]) -> list[float]:
        return [self._formula.scores(total)[0] for total in totals]

    def __repr__(self) -> str:
        return f"<{self.name} of {len(self._tables)} systems on {self.segments} segments>"


class _Mean:
    """The mean of numbers that are kept as integers."""

    __slots__ = ("divisor",)

    def __init__(self, divisor: int) -> None:
        self.divisor = divisor

    def scores(self, table: Table) -> Scores:
        """The mean that each row is the sum for."""
        return Scores([total / self.divisor for total in table.values_of(0)])


def _means(columns: Mapping[str, Sequence[float]]) -> tuple[_Mean, dict[str, Table]]:
    """Numbers as integers, whose sums are exact in any order, and the formula of their mean.

    Decimal numbers become multiples of a power of ten, so that 0.1 + 0.2 is 0.3; others multiples
    of a power of two, which 2^61 is the largest sum of.
    """
    numbers = [number for column in columns.values() for number in column]
    segments = len(next(iter(columns.values())))
    largest = ceil(max(map(abs, numbers), default=0)) * segments
    spare = 61 - largest.bit_length()
    if spare < 0:
        raise InputError(f"scores as large as {max(map(abs, numbers)):g} cannot be added exactly")
    places = _places(numbers)
    scale = 2**spare if places is None else 10**places
    if scale > 2**spare:
        scale = 2**spare
    rows = {
        name: [[round(number * scale)] for number in column] for name, column in columns.items()
    }
    return _Mean(scale * segments), {name: Table.from_rows(row, 1) for name, row in rows.items()}


def _places(numbers: Sequence[float]) -> int | None:
    """How many decimal places the numbers have; None for numbers that are not decimal."""
    most = 0
    for number in numbers:
        digits, point, fraction = repr(number).partition(".")
        if "e" in digits or "e" in fraction or len(fraction) > PLACES:
            return None
        most = max(most, 0 if fraction == "0" else len(fraction))
    return most


def _number(measure: str, system: str, segment: int, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = inf
    if not isfinite(number):
        raise InputError(
            f"{measure} of {system}: segment {segment} is {value!r:.40}; a finite number is meant "
            "(leave the segment out of all systems, or score it)"
        )
    return number


def _check_systems(measure: str, lengths: Mapping[str, int]) -> None:
    if not lengths:
        raise InputError(f"{measure}: no systems")
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise InputError(
            f"{measure}: the systems have different numbers of segments: {told}; tests are of "
            "the same segments in the same order"
        )
    if not min(lengths.values()):
        raise InputError(f"{measure}: no segments at all; there is nothing to resample")


def intervals(
    measures: Sequence[Measure],
    *,
    resamples: int = RESAMPLES,
    seed: int | None = DEFAULT_SEED,
    level: float = LEVEL,
    workers: int = 1,
) -> list[dict[str, Interval]]:
    """The confidence interval of each system's score: a dict from system to interval a measure.

    resamples: how many test sets are drawn from this one, with replacement.
    seed: a non-negative integer; None for draws that nobody can repeat.
    level: the share of resampled scores within the interval.
    workers: threads.

    Raises InputError for measures of different numbers of segments, ValueError for the rest.

    >>> scores = {"A": [3, 5, 4, 4, 5, 2], "B": [3, 4, 4, 5, 4, 1]}
    >>> intervals([Measure.of_scores("stars", scores)], resamples=100)
    [{'A': <3.83 [3.17, 4.67]>, 'B': <3.50 [2.33, 4.33]>}]
    """
    _check_measures(measures)
    resamples, seed, level = _checked(resamples, seed, level)
    scores = _bootstrap(measures, resamples, seed, _threads(workers))
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
) -> list[Paired]:
    """Tests of the differences between systems, with the size of each and its interval.

    measures: of the same systems on the same segments.
    baseline: the system that the others are compared with; the first if None.
    test: "ar", "bs", "bs-sacrebleu" or "koehn" (see the module).
    pairs: "baseline" compares with the baseline, "all" all systems with each other as well.
    randomizations: of "ar".
    resamples: of the bootstrap, which gives the intervals whatever the test.
    seed, level, workers: as for `intervals`.
    correction: None, "holm" or "bh", over the tests of one measure: `differences` are one family,
        `pairs` another.

    Two-sided, except "koehn". Raises InputError for measures that do not fit together, ValueError
    for the rest.

    >>> scores = {"A": [3, 5, 4, 4, 5, 2], "B": [3, 4, 4, 5, 4, 1]}
    >>> [result] = paired([Measure.of_scores("stars", scores)], randomizations=100)
    >>> result.differences["B"]
    <stars: B - A = -0.33 [-0.83, +0.17], p = 0.6634 (ar)>
    """
    _check_measures(measures)
    resamples, seed, level = _checked(resamples, seed, level)
    randomizations = _count("randomizations", randomizations)
    workers = _threads(workers)
    _check_choice("test", test, TESTS)
    _check_choice("pairs", pairs, PAIRS)
    _check_choice("correction", correction, (None, *CORRECTIONS))
    systems = measures[0].systems
    if baseline is None:
        baseline = systems[0]
    elif baseline not in systems:
        raise ValueError(f"baseline: no system '{baseline}'; there are {', '.join(systems)}")
    base = systems.index(baseline)
    if pairs == "all":
        compared = [(i, j) for i in range(len(systems)) for j in range(i + 1, len(systems))]
    else:
        compared = [(i, base) for i in range(len(systems)) if i != base]
    scores = _bootstrap(measures, resamples, seed, workers)
    trials = resamples
    if test == "ar":
        trials = randomizations
        counts = _randomize(measures, compared, randomizations, seed, workers)
    elif test == "bs-sacrebleu":
        counts = _sacrebleu(measures, compared, resamples, seed, workers)
    else:
        counts = [{} for _ in measures]
    results = []
    for measure, of_measure, of_test in zip(measures, scores, counts, strict=True):
        totals = measure._scored(measure._totals())
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
    measures: Sequence[Measure], resamples: int, seed: int | None, workers: int
) -> list[list[Scores]]:
    """The scores of resampled test sets, of each system of each measure."""
    stack = _stack(measures)
    stream = Stream(seed)
    parts: list[list[list[Scores]]] = [[[] for _ in measure.systems] for measure in measures]
    for block in _blocks(resamples, _block(measures)):
        sums = iter(stack.bootstrap(stream, block, workers))
        for measure, of_measure in zip(measures, parts, strict=True):
            for of_system in of_measure:
                of_system.append(measure._formula.scores(next(sums)))
    return [[_joined(of_system) for of_system in of_measure] for of_measure in parts]


def _randomize(
    measures: Sequence[Measure],
    compared: Sequence[tuple[int, int]],
    trials: int,
    seed: int | None,
    workers: int,
) -> list[dict[tuple[int, int], int]]:
    """In how many trials the systems of each pair are at least as far apart as they are.

    In a trial, the baseline keeps the segments that the trial takes and gets the system's for the
    others. The sums of each system's taken rows give those of all pairs.
    """
    stack = _stack(measures)
    stream = Stream(seed)
    totals = [measure._totals() for measure in measures]
    observed = [
        measure._scored(of_measure) for measure, of_measure in zip(measures, totals, strict=True)
    ]
    counts = [dict.fromkeys(compared, 0) for _ in measures]
    for block in _blocks(trials, min(_block(measures), TRIALS * workers)):
        chosen = iter(stack.choose(stream, block, workers))
        for number, measure in enumerate(measures):
            halves = [next(chosen) for _ in measure.systems]
            whole, values = totals[number], observed[number]
            for i, j in compared:
                a, b = exchanged((halves[j], halves[i]), (whole[j], whole[i]))
                apart = abs(values[i] - values[j])
                scores = measure._formula.scores
                counts[number][i, j] += count_apart(scores(a), scores(b), apart, strictly=False)
    return counts


def _sacrebleu(
    measures: Sequence[Measure],
    compared: Sequence[tuple[int, int]],
    resamples: int,
    seed: int | None,
    workers: int,
) -> list[dict[tuple[int, int], int]]:
    """The counts behind sacreBLEU's p-values."""
    from truebleu import significance_sacrebleu as original

    tables = []
    for measure in measures:
        if measure._formula is not measure.metric:
            raise ValueError(f"test 'bs-sacrebleu' is of BLEU, chrF and TER, not of {measure.name}")
        tables.append((measure.metric, list(measure._tables.values())))
    scores = original.bootstrap_scores(tables, resamples=resamples, seed=seed, workers=workers)
    counts = []
    for measure, of_measure in zip(measures, scores, strict=True):
        values = measure._scored(measure._totals())
        counts.append(
            {
                (i, j): original.bs_count(of_measure[i], of_measure[j], abs(values[i] - values[j]))
                for i, j in compared
            }
        )
    return counts


def _stack(measures: Sequence[Measure]) -> Stack:
    return Stack([table for measure in measures for table in measure._tables.values()])


def _block(measures: Sequence[Measure]) -> int:
    """How many rows of sums are made at a time, so that memory stays bounded."""
    tables = [table for measure in measures for table in measure._tables.values()]
    return max(1, SUMS // sum(table.width for table in tables))


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
        system: _interval(
            measure.value(system), of_system.tolist(), level, seed, measure.segments
        )
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
        count = size - (size if better is None else won if better else lost)
        count = size if better is None else count
    assert count is not None
    p = (count + 1) / (trials + 1)
    identical = measure._tables[system].same(measure._tables[baseline])
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
    adjust = holm if correction == "holm" else benjamini_hochberg
    adjusted = adjust([difference.p for difference in found.values()])
    return {
        key: Difference(**{**difference._values(), "adjusted_p": p})
        for (key, difference), p in zip(found.items(), adjusted, strict=True)
    }


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted so that the chance of any false discovery is what they say.

    Sture Holm (1979): A simple sequentially rejective multiple test procedure. Scandinavian
    Journal of Statistics 6.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, least = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = least
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted so that the expected share of false discoveries is what they say.

    Yoav Benjamini and Yosef Hochberg (1995): Controlling the false discovery rate. Journal of the
    Royal Statistical Society B 57.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, most = [0.0] * len(p_values), 1.0
    for rank in range(len(p_values), 0, -1):
        i = order[rank - 1]
        most = min(most, p_values[i] * len(p_values) / rank)
        adjusted[i] = most
    return adjusted


def segments_needed(
    difference: float, deviation: float, segments: int, *, alpha: float = ALPHA, power: float = POWER
) -> int | None:
    """How many segments would detect a difference: find it significant with a given probability.

    difference: the true difference, in the absence of anything better the observed one.
    deviation: the standard error of the difference on `segments` segments (`Difference.deviation`).
    alpha, power: of a two-sided test; usually 0.05 and 0.8.

    The calculation for a normal statistic whose standard error falls with the square root of the
    number of segments: n' = n ((z(1 - alpha/2) + z(power)) deviation / difference)². It assumes
    that the further segments are like these. None if there is no difference, or no error.

    >>> segments_needed(0.5, 0.25, 2000)
    3925
    """
    if difference == 0 or deviation == 0:
        return None
    return ceil(segments * (_effort(alpha, power) * deviation / difference) ** 2)


def _effort(alpha: float, power: float) -> float:
    """How many standard errors a difference must have to be detected."""
    for name, value in (("alpha", alpha), ("power", power)):
        if not 0 < value < 1:
            raise ValueError(f"{name}={value!r}: a probability between 0 and 1 is meant")
    return _normal_quantile(1 - alpha / 2) + _normal_quantile(power)


def _normal_quantile(probability: float) -> float:
    """The number that a standard normal variable stays below with this probability."""
    low, high = -40.0, 40.0
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if erfc(-middle / sqrt(2)) / 2 < probability:
            low = middle
        else:
            high = middle


def _check_measures(measures: Sequence[Measure]) -> None:
    if isinstance(measures, Measure):
        raise TypeError("a list of measures is meant: [measure]")
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


def _checked(resamples: Any, seed: Any, level: Any) -> tuple[int, int | None, float]:
    if not isinstance(level, float) or not 0 < level < 1:
        raise ValueError(f"level={level!r}: a share between 0 and 1 is meant, such as 0.95")
    return _count("resamples", resamples), checked_seed(seed), level


def checked_seed(seed: Any) -> int | None:
    """A seed as an integer; ValueError for what is none."""
    if seed is None:
        return None
    try:
        number = index(seed)
    except TypeError:
        number = -1
    if number < 0:
        raise ValueError(
            f"seed={seed!r}: a non-negative integer is meant, or None for another one each time"
        )
    return number


def _count(name: str, value: Any) -> int:
    try:
        number = index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise ValueError(f"{name}={value!r}: a positive integer is meant")
    return number


def _threads(workers: Any) -> int:
    if not isinstance(workers, int) or workers < 1:
        raise ValueError(f"workers={workers!r}: a number of threads is meant, 1 or more")
    return min(workers, 1024)


def _check_choice(name: str, value: Any, choices: Sequence[object]) -> None:
    if value not in choices:
        known = ", ".join(map(repr, choices))
        raise ValueError(f"{name}={value!r}: there are {known}")
