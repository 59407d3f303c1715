"""Is one metric's agreement with people better than another's? Tests, intervals and clusters.

Everything is counted in whole numbers: scores are taken in steps so fine that no printed digit
knows of it, and the sums of draws are exact. All metrics share the draws.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import combinations
from math import exp, floor, frexp, fsum, inf, isnan, lgamma, log, sqrt
from typing import TYPE_CHECKING, Any

from truebleu._kernel import InputError, Stack, Stream, Table, exceeding, outcomes, subset_sums
from truebleu.meta_evaluation import statistics
from truebleu.meta_evaluation.judged import SEGMENTS, SYSTEMS
from truebleu.meta_evaluation.matrix import Matrix
from truebleu.meta_evaluation.statistics import STATISTICS, Value
from truebleu.significance.resampling import METHODS
from truebleu.text.record import Record

if TYPE_CHECKING:
    from truebleu.meta_evaluation.judged import Counted, Judged
    from truebleu.meta_evaluation.tasks import Asked, Task

    # Of every two metrics, the first and the second: in how many trials the difference is as large.
    Counts = dict[tuple[int, int], int]

# The most cells whose exchanges are enumerated.
ENUMERATED = 16
# What a difference may lack because of rounding, to count as the observed one.
SLACK = 1e-9
# Bits that a score, its square or a product takes in whole numbers.
BITS = 40


class Trials(Record):
    """How often chance gives a difference as large as that of every two metrics."""

    counts: Mapping[tuple[int, int], int]
    trials: int
    exact: bool
    """True if these are all exchanges there are."""
    test: str

    __hash__ = None  # type: ignore[assignment]

    def p(self, first: int, second: int) -> float:
        """One-sided: that the first metric agrees better with people than the second."""
        count = self.counts[first, second]
        return count / self.trials if self.exact else (count + 1) / (self.trials + 1)


def perm_both(
    gold: Sequence[Matrix],
    metrics: Sequence[Sequence[Matrix]],
    statistic: str = "pearson",
    average: str = "none",
    *,
    samples: int = 10_000,
    seed: int | None = 12345,
) -> Trials:
    """PERM-BOTH: both metrics' standardized scores of random cells change places.

    gold: people's scores of each set; metrics: the metrics' scores of each set, in the order of
        which the first of two is tested to be the better. Several sets are for "pairwise" alone.
    samples: randomizations; all exchanges are counted where 16 cells or fewer are scored.

    Daniel Deutsch, Rotem Dror and Dan Roth (2021): A statistical analysis of summarization
    evaluation metrics using resampling methods. TACL 9.
    """
    cells = [_rated(one) for one in gold]
    number = sum(map(len, cells))
    people = [value for one, rated in zip(gold, cells, strict=True) for value in _at(one, rated)]
    own = [
        [value for one, rated in zip(metric, cells, strict=True) for value in _standard(one, rated)]
        for metric in metrics
    ]
    exact = number <= ENUMERATED
    trials = 1 << number if exact else samples
    stream = Stream(seed)
    if statistic == "pearson" and average == "none":
        counts = _pearson(people, own, exact, trials, stream)
    elif statistic == "pairwise":
        counts = _pairwise(people, own, list(map(len, cells)), exact, trials, stream)
    else:
        counts = _any(gold[0], cells[0], own, (statistic, average), exact, trials, stream)
    return Trials(counts, trials, exact, "PERM-BOTH")


def _rated(gold: Matrix) -> list[int]:
    return [i for i, value in enumerate(gold.values) if not isnan(value)]


def _at(matrix: Matrix, cells: Sequence[int]) -> list[float]:
    return [matrix.values[cell] for cell in cells]


def _standard(matrix: Matrix, cells: Sequence[int]) -> list[float]:
    """Scores as standard deviations from their mean; all 0 if they are all the same."""
    values = _at(matrix, cells)
    mean = fsum(values) / len(values)
    spread = sqrt(fsum((value - mean) ** 2 for value in values) / len(values))
    return [(value - mean) / spread if spread else 0.0 for value in values]


def _scaled(columns: Sequence[Sequence[float]]) -> tuple[list[list[int]], float]:
    """Columns in whole steps, and how many steps 1 is: a power of 2."""
    most = max((abs(value) for column in columns for value in column), default=0.0)
    scale = 2.0 ** (BITS - frexp(most)[1]) if most else 1.0
    return [[round(value * scale) for value in column] for column in columns], scale


def _pearson(
    people: Sequence[float],
    own: Sequence[Sequence[float]],
    exact: bool,
    trials: int,
    stream: Stream,
) -> Counts:
    """By the sums, the squares and the products of the cells that change places."""
    mean = fsum(people) / len(people)
    spread = sqrt(fsum((value - mean) ** 2 for value in people) / len(people)) or 1.0
    gold = [(value - mean) / spread for value in people]
    columns: list[list[float]] = []
    for scores in own:
        columns += [
            list(scores),
            [score * score for score in scores],
            [score * value for score, value in zip(scores, gold, strict=True)],
        ]
    whole, scale = _scaled(columns)
    table = Table.from_rows(list(zip(*whole, strict=True)), len(whole))
    exchanged = subset_sums(table) if exact else Stack([table]).choose(stream, trials, 1)[0]
    moments = (float(len(gold)), fsum(gold), fsum(value * value for value in gold))
    found = exceeding(table.total().tolist()[0], exchanged, moments, scale, SLACK)
    return dict(zip(combinations(range(len(own)), 2), found, strict=True))


def _draws(cells: int, exact: bool, trials: int, stream: Stream) -> list[int]:
    """For each cell the trials in which it changes places, as the bits of one number."""
    if exact:
        made = []
        for cell in range(cells):
            # 0 and 1 in turn, in runs of 2^cell.
            run = ((1 << (1 << cell)) - 1) << (1 << cell)
            width = 2 << cell
            while width < trials:
                run |= run << width
                width *= 2
            made.append(run)
        return made
    size = -(-trials // 32) * 32
    words = size // 32
    full = (1 << trials) - 1
    drawn = []
    for _ in range(cells):
        numbers = stream.indices(1 << 31, words * 2)
        # 16 bits of each draw.
        data = b"".join((number >> 8 & 0xFFFF).to_bytes(2, "little") for number in numbers)
        drawn.append(int.from_bytes(data, "little") & full)
    return drawn


class _Counter:
    """A number for each trial, as bits of the same place side by side: all are added to at once."""

    def __init__(self, full: int) -> None:
        self.full = full
        self.places: list[int] = []

    def add(self, trials: int) -> None:
        """Adds 1 in these trials."""
        place = 0
        while trials:
            if place == len(self.places):
                self.places.append(0)
            self.places[place], trials = self.places[place] ^ trials, self.places[place] & trials
            place += 1

    def at_least(self, least: int) -> int:
        """The trials with such a number."""
        if least <= 0:
            return self.full
        larger, equal = 0, self.full
        for place in range(max(len(self.places), least.bit_length()) - 1, -1, -1):
            bits = self.places[place] if place < len(self.places) else 0
            if least >> place & 1:
                equal &= bits
            else:
                larger |= equal & bits
                equal &= ~bits
        return larger | equal


def _pairwise(
    people: Sequence[float],
    own: Sequence[Sequence[float]],
    sizes: Sequence[int],
    exact: bool,
    trials: int,
    stream: Stream,
) -> Counts:
    """Of each pair of systems only the four ways to exchange their scores matter."""
    full = (1 << trials) - 1
    draws = _draws(len(people), exact, trials, stream)
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    pairs = [
        pair
        for start, size in zip(starts, sizes, strict=True)
        for pair in combinations(range(start, start + size), 2)
    ]

    def sign(value: float) -> int:
        return (value > 0) - (value < 0)

    judged = {(i, j): sign(people[i] - people[j]) for i, j in pairs}
    both = {
        (i, j): (
            (0, 0, full & ~draws[i] & ~draws[j]),
            (0, 1, full & ~draws[i] & draws[j]),
            (1, 0, draws[i] & full & ~draws[j]),
            (1, 1, draws[i] & draws[j]),
        )
        for i, j in pairs
    }
    counts: Counts = {}
    for first, second in combinations(range(len(own)), 2):
        one, other = own[first], own[second]
        lead = 0
        # As every change is -1, 0 or 1, 1 is added to each.
        counter = _Counter(full)
        always = 0
        for (i, j), ways in both.items():
            value = judged[i, j]
            kinds = []
            for swap_i, swap_j, chosen in ways:
                a_i, b_i = (other[i], one[i]) if swap_i else (one[i], other[i])
                a_j, b_j = (other[j], one[j]) if swap_j else (one[j], other[j])
                change = (sign(a_i - a_j) == value) - (sign(b_i - b_j) == value)
                kinds.append((change, chosen))
            lead += kinds[0][0]
            if not any(change for change, _ in kinds):
                continue
            always += 1
            counter.add(_union(chosen for change, chosen in kinds if change >= 0))
            counter.add(_union(chosen for change, chosen in kinds if change == 1))
        counts[first, second] = counter.at_least(lead + always).bit_count()
    return counts


def _union(parts: Iterator[int]) -> int:
    found = 0
    for part in parts:
        found |= part
    return found


def _any(
    gold: Matrix,
    cells: Sequence[int],
    own: Sequence[Sequence[float]],
    asked: tuple[str, str],
    exact: bool,
    trials: int,
    stream: Stream,
) -> Counts:
    """Any statistic, computed anew in every trial."""
    name, average = asked
    size = len(gold.values)

    def value(scores: Sequence[float]) -> float:
        values = array("d", bytes(8 * size))
        for cell, score in zip(cells, scores, strict=True):
            values[cell] = score
        made = STATISTICS[name](gold, Matrix(gold.systems, values), average)
        return made.value or 0.0

    counts = dict.fromkeys(combinations(range(len(own)), 2), 0)
    observed = [value(scores) for scores in own]
    for trial in range(trials):
        if exact:
            swap = [bool(trial >> i & 1) for i in range(len(cells))]
        else:
            swap = stream.bools(len(cells))
        for first, second in counts:
            both = list(zip(own[first], own[second], swap, strict=True))
            lead = value([b if s else a for a, b, s in both])
            lead -= value([a if s else b for a, b, s in both])
            if lead >= observed[first] - observed[second] - SLACK:
                counts[first, second] += 1
    return counts


def pair_permutation(
    gold: Matrix,
    metrics: Sequence[Matrix],
    epsilons: Sequence[float],
    average: str = "item",
    *,
    samples: int = 10_000,
    seed: int | None = 12345,
) -> Trials:
    """For accuracy with ties: what both metrics say of random pairs changes places.

    epsilons: the threshold of each metric, which stays. Otherwise as `perm_both`. (Deutsch, Foster
    and Freitag 2023, as for `acc_eq`.)
    """
    hits = [
        outcomes(gold.to_bytes(), metric.to_bytes(), len(gold.systems), average, epsilon)
        for metric, epsilon in zip(metrics, epsilons, strict=True)
    ]
    weights = _pair_weights(gold, average)
    columns = [[w * hit for w, hit in zip(weights, found, strict=True)] for found in hits]
    table = Table.from_rows(list(zip(*columns, strict=True)), len(columns))
    drawn = Stack([table]).choose(Stream(seed), samples, 1)[0].tolist()
    counts: Counts = {}
    for first, second in combinations(range(len(metrics)), 2):
        # What the first loses the second wins: the lead changes by twice as much, and is as large
        # as it was unless something is lost.
        counts[first, second] = sum(row[first] <= row[second] for row in drawn)
    return Trials(counts, samples, exact=False, test="pair permutation")


def _pair_weights(gold: Matrix, average: str) -> list[int]:
    """What each pair weighs, row by row, so that rows weigh the same: in whole steps."""
    rows = {
        "none": [list(gold.values)],
        "sys": [list(gold.row(system)) for system in gold.systems],
        "item": [list(gold.values[i :: gold.items]) for i in range(gold.items)],
    }[average]
    made: list[int] = []
    for row in rows:
        cells = sum(1 for value in row if not isnan(value))
        pairs = cells * (cells - 1) // 2
        # A number that all small numbers of pairs divide; others are rounded.
        made += [round(COMMON / max(1, pairs))] * pairs
    return made


# Divisible by the numbers of pairs of 2 to 19 systems and of 21.
COMMON = 232_792_560 * 2


def williams(first: float, second: float, both: float, cells: int) -> float:
    """The one-sided p of Williams' test: that the larger of two dependent r is larger.

    first, second: each metric's r with people; both: the metrics' with each other. NaN for fewer
    than four cells.

    Evan J. Williams (1959): Regression analysis; Yvette Graham and Timothy Baldwin (2014): Testing
    for significance of increased correlation with human judgment. EMNLP.
    """
    if cells < 4:
        return float("nan")
    k = 1 - first * first - second * second - both * both + 2 * first * second * both
    mean = (first + second) / 2
    below = 2 * (cells - 1) / (cells - 3) * k + mean * mean * (1 - both) ** 3
    if below <= 0:
        return 0.5
    t = (first - second) * sqrt((cells - 1) * (1 + both)) / sqrt(below)
    return student_tail(abs(t), cells - 3)


def student_tail(t: float, freedom: int) -> float:
    """The chance that a t of so many degrees of freedom is above t, which is 0 or more.

    >>> round(student_tail(2.0, 10), 9)
    0.036694017
    """
    return 0.5 * _beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def _beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function, by its continued fraction (Lentz 1976)."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(b, a, 1 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x)) / a
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 500):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + term * d)
            c = 1 + term / c
            value *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return front * value


def clusters(p: Mapping[tuple[int, int], float], metrics: int, most: float = 0.05) -> list[int]:
    """The cluster of each metric, in the order of their values, best first.

    A metric opens a new one if it is significantly worse (p <= most) than one of the current one.

    >>> clusters({(0, 1): 0.2, (0, 2): 0.01, (1, 2): 0.3}, 3)
    [1, 1, 2]
    """
    made: list[int] = []
    start = 0
    for i in range(metrics):
        if any(p[other, i] <= most for other in range(start, i)):
            start = i
        made.append(made[-1] + (start == i) if made else 1)
    return made


# ---- intervals ----


def interval(values: Sequence[float], level: float) -> dict[str, float] | None:
    """The percentile interval of resampled values; None where none is defined."""
    known = sorted(value for value in values if not isnan(value))
    if not known:
        return None
    outside = floor(len(known) * (1 - level) / 2 + 1e-9)
    return {"low": known[outside], "high": known[-1 - outside], "level": level}


def resampled(
    gold: Matrix,
    metric: Matrix,
    value: Value,
    *,
    by: str = "items",
    documents: Sequence[Hashable] | None = None,
    samples: int = 1000,
    seed: int | None = 12345,
) -> list[float]:
    """A statistic of test sets like this one: items, documents or systems drawn with replacement.

    value: the statistic, whose threshold stays as it is.
    """
    stream = Stream(seed)
    if by == "systems":
        number = len(gold.systems)
        made = []
        for _ in range(samples):
            drawn = [gold.systems[i] for i in stream.indices(number, number)]
            made.append(_again(value, _drawn(gold, drawn), _drawn(metric, drawn)))
        return made
    units = _units(gold, by, documents)
    if value.average == "item" and len(value.by_row) == gold.items:
        sums = [_known(value.by_row[item] for item in unit) for unit in units]
        return _ratios(sums, stream, samples)
    if value.statistic == "pearson" and value.average == "none":
        return _pearsons(gold, metric, units, stream, samples)
    made = []
    for _ in range(samples):
        items = [item for i in stream.indices(len(units), len(units)) for item in units[i]]
        made.append(_again(value, gold.taken(items), metric.taken(items)))
    return made


def _units(gold: Matrix, by: str, documents: Sequence[Hashable] | None) -> list[list[int]]:
    """The items that are drawn together; those without a score of people say nothing."""
    groups: Sequence[Hashable] = range(gold.items)
    if by == "documents" and documents is not None:
        groups = documents
    units: dict[Hashable, list[int]] = {}
    for item, group in enumerate(groups):
        units.setdefault(group, []).append(item)
    rated = set(gold.rated())
    return [unit for unit in units.values() if any(item in rated for item in unit)]


def of_systems(
    gold: Matrix,
    metric: Matrix,
    value: Value,
    counted: Counted | None,
    *,
    by: str = "items",
    documents: Sequence[Hashable] | None = None,
    samples: int = 1000,
    seed: int | None = 12345,
) -> list[float]:
    """A statistic of systems, of test sets like this one: of its rated items or documents.

    gold, metric: scores of segments. People's score of a system is the mean of its segments'; the
    metric's is of the drawn segments' statistics, if they were `counted`, otherwise the mean.
    """
    units = _units(gold, by, documents)
    number = len(gold.systems)
    whole: list[list[int]] = []
    scales = []
    for matrix in (gold, metric):
        rows = [matrix.row(system) for system in gold.systems]
        known = [[_known(row[item] for item in unit) for unit in units] for row in rows]
        sums, scale = _scaled([[total for total, _ in row] for row in known])
        whole += [*sums, *([int(cells) for _, cells in row] for row in known)]
        scales.append(scale)
    tables = [Table.from_rows(list(zip(*whole, strict=True)), len(whole))]
    if counted is not None:
        place = {item: i for i, unit in enumerate(units) for item in unit}
        numbers = [place.get(item, len(units)) for item in range(gold.items)]
        # One more group, of what was not rated, if there is any of it.
        groups = max(numbers, default=-1) + 1
        tables += [
            counted.tables[system].group_totals(numbers, groups).range(0, len(units))
            for system in gold.systems
        ]
    drawn = Stack(tables).bootstrap(Stream(seed), samples, 1)
    scores = None
    if counted is not None:
        scores = [list(counted.metric.scores(table)) for table in drawn[1:]]
    made = []
    for trial, row in enumerate(drawn[0].tolist()):
        parts = [row[i * number : (i + 1) * number] for i in range(4)]
        if not (all(parts[1]) and all(parts[3])):
            made.append(float("nan"))
            continue
        people, own = (
            [total / scale / cells for total, cells in zip(sums, counts, strict=True)]
            for sums, counts, scale in zip(parts[::2], parts[1::2], scales, strict=True)
        )
        if scores is not None and counted is not None:
            own = [counted.sign * column[trial] for column in scores]
        made.append(_again(value, *(_column(gold.systems, one) for one in (people, own))))
    return made


def _column(systems: Sequence[str], scores: Sequence[float]) -> Matrix:
    return Matrix(systems, array("d", scores))


def _known(values: Iterator[float]) -> tuple[float, float]:
    known = [value for value in values if not isnan(value)]
    return fsum(known), float(len(known))


def _ratios(sums: Sequence[tuple[float, float]], stream: Stream, samples: int) -> list[float]:
    """The mean over rows of resampled units."""
    (tops, belows), _ = _scaled([[one[0] for one in sums], [one[1] for one in sums]])
    table = Table.from_rows(list(zip(tops, belows, strict=True)), 2)
    drawn = Stack([table]).bootstrap(stream, samples, 1)[0].tolist()
    return [top / below if below else float("nan") for top, below in drawn]


def _pearsons(
    gold: Matrix, metric: Matrix, units: Sequence[Sequence[int]], stream: Stream, samples: int
) -> list[float]:
    """Pearson's r by the moments of resampled units."""
    cells = _rated(gold)
    people = dict(zip(cells, _standard(gold, cells), strict=True))
    own = dict(zip(cells, _standard(metric, cells), strict=True))
    rows: list[list[float]] = []
    for unit in units:
        known = [
            (people[cell], own[cell])
            for item in unit
            for cell in range(item, len(gold.values), gold.items)
            if cell in people
        ]
        rows.append(
            [
                float(len(known)),
                fsum(a for a, _ in known),
                fsum(b for _, b in known),
                fsum(a * a for a, _ in known),
                fsum(b * b for _, b in known),
                fsum(a * b for a, b in known),
            ]
        )
    whole, scale = _scaled(list(zip(*rows, strict=True)))
    table = Table.from_rows(list(zip(*whole, strict=True)), 6)
    drawn = Stack([table]).bootstrap(stream, samples, 1)[0].tolist()
    made = []
    for row in drawn:
        n, a, b, aa, bb, ab = (number / scale for number in row)
        below = (aa - a * a / n) * (bb - b * b / n) if n else 0.0
        made.append((ab - a * b / n) / sqrt(below) if below > 0 else float("nan"))
    return made


def _drawn(matrix: Matrix, systems: Sequence[str]) -> Matrix:
    """The rows of systems, which may be there several times."""
    values: array[float] = array("d")
    for system in systems:
        values.extend(matrix.row(system))
    return Matrix([str(i) for i in range(len(systems))], values)


def _again(value: Value, gold: Matrix, metric: Matrix) -> float:
    """The same statistic of other scores."""
    if value.statistic == "pairwise":
        return float(statistics.pairwise(gold, metric))
    if value.statistic in ("acc-eq", "acc-eq-opt"):
        return float(statistics.acc_eq(gold, metric, value.average, epsilon=value.epsilon or 0.0))
    return float(STATISTICS[value.statistic](gold, metric, value.average))


# ---- what a table gets ----


def add(
    content: dict[str, Any],
    sets: Mapping[str, Judged],
    found: Mapping[tuple[Task, str], Value],
    asked: Asked,
) -> list[str]:
    """Adds tests, clusters and intervals to a table, and says what has none."""
    told: list[str] = []
    rows = {row["name"]: row for row in content["metrics"]}
    if asked.significance:
        content["tests"] = []
        for task in asked.tasks:
            made = _tested(task, sets, found, list(rows), asked)
            if made is None:
                told.append(f"{task.name}: no test of {task.statistic} is known here.")
                continue
            tests, places = made
            content["tests"] += tests
            for name, place in places.items():
                rows[name]["scores"][task.name]["cluster"] = place
        if len(asked.tasks) == 1:
            for row in rows.values():
                row["cluster"] = row["scores"][asked.tasks[0].name].get("cluster")
    if asked.confidence:
        for task in asked.tasks:
            for name, row in rows.items():
                made_interval = _interval(task, sets, found[task, name], name, asked)
                if made_interval is not None:
                    row["scores"][task.name]["interval"] = made_interval
            if not any("interval" in row["scores"][task.name] for row in rows.values()):
                told.append(
                    f"{task.name}: no interval over {asked.resampled}: it needs one set, and "
                    "scores of segments, people's and the metric's."
                )
        if asked.resampled == "systems":
            told.append(
                "Intervals over systems: with so few of them they are wide, and the systems of an "
                "evaluation are no random sample; they say how much hangs on single systems."
            )
    return told


def _tested(
    task: Task,
    sets: Mapping[str, Judged],
    found: Mapping[tuple[Task, str], Value],
    metrics: Sequence[str],
    asked: Asked,
) -> tuple[list[dict[str, Any]], dict[str, int]] | None:
    """The tests of every two metrics, and the cluster of each; None where there is no test."""
    samples = asked.significance or 0
    known = [name for name in metrics if found[task, name].value is not None]
    known.sort(key=lambda name: -float(found[task, name]))
    if task.statistic == "spa" or len(known) < 2:
        return None
    both = [[sets[one].at(task.level, name) for one in task.sets] for name in known]
    gold = [pair[0] for pair in both[0]]
    own = [[pair[1] for pair in one] for one in both]
    if task.statistic in ("acc-eq", "acc-eq-opt"):
        epsilons = [found[task, name].epsilon or 0.0 for name in known]
        trials = pair_permutation(
            gold[0],
            [one[0] for one in own],
            epsilons,
            task.average,
            samples=samples,
            seed=asked.seed,
        )
    else:
        trials = perm_both(
            gold, own, task.statistic, task.average, samples=samples, seed=asked.seed
        )
    p = {pair: trials.p(*pair) for pair in combinations(range(len(known)), 2)}
    corrected = None
    if asked.correction is not None:
        corrected = dict(zip(p, METHODS[asked.correction](list(p.values())), strict=True))
    most = round(1 - asked.level, 12)
    decisive = corrected or p
    tests = []
    for (first, second), value in p.items():
        one, other = found[task, known[first]], found[task, known[second]]
        tests.append(
            {
                "task": task.name,
                "first": known[first],
                "second": known[second],
                "difference": float(one) - float(other),
                "p": value,
                "corrected_p": None if corrected is None else corrected[first, second],
                "significant": decisive[first, second] <= most,
                "williams_p": _williams(task, gold[0], own[first][0], own[second][0], one, other),
                "test": trials.test,
                "exact": trials.exact,
                "samples": trials.trials,
                "seed": None if trials.exact else asked.seed,
            }
        )
    places = clusters(decisive, len(known), most)
    return tests, dict(zip(known, places, strict=True))


def _williams(
    task: Task, gold: Matrix, first: Matrix, second: Matrix, one: Value, other: Value
) -> float | None:
    """Williams' p, for Pearson's r of single cells."""
    if task.statistic != "pearson" or task.average != "none":
        return None
    cells = _rated(gold)
    both = statistics.pearson(_at(first, cells), _at(second, cells))
    if both.value is None:
        return None
    p = williams(float(one), float(other), both.value, len(cells))
    return None if isnan(p) or p == inf else p


def _interval(
    task: Task, sets: Mapping[str, Judged], value: Value, metric: str, asked: Asked
) -> dict[str, Any] | None:
    if task.pooled or task.statistic == "spa" or value.value is None:
        return None
    one = sets[task.sets[0]]
    documents = one.groups.get("doc")
    if asked.resampled == "documents" and documents is None:
        raise InputError(f"{one.name}: the document of each segment is not known")
    more: dict[str, Any] = {
        "by": asked.resampled,
        "documents": documents,
        "samples": asked.confidence or 0,
        "seed": asked.seed,
    }
    if asked.resampled == "systems" or task.level == SEGMENTS:
        values = resampled(*one.at(task.level, metric), value, **more)
    elif (
        task.level != SYSTEMS
        or SEGMENTS not in one.gold
        or SEGMENTS not in one.metrics[metric].levels
    ):
        return None
    else:
        values = of_systems(*one.at(SEGMENTS, metric), value, one.metrics[metric].table, **more)
    made = interval(values, asked.level)
    if made is None:
        return None
    return {**made, "resamples": asked.confidence, "over": asked.resampled, "seed": asked.seed}
