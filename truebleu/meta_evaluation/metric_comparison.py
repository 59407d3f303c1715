"""Significance tests, intervals and clusters for metric-human correlations.

Scores are rounded to integer multiples of a step that is far smaller than the printed digits, so
sums over resamples are exact. All metrics share the same random draws.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import exp, floor, frexp, fsum, isnan, lgamma, log, nan, sqrt
from typing import Any

from truebleu._kernel import InputError, Stack, Stream, Table, exceeding, outcomes, subset_sums
from truebleu.meta_evaluation import agreement_statistics
from truebleu.meta_evaluation.agreement_statistics import STATISTICS, Value, list_rated_cells
from truebleu.meta_evaluation.human_scores import JudgedSystems, Scores
from truebleu.meta_evaluation.score_files import Matrix
from truebleu.meta_evaluation.tasks import SEGMENTS, SYSTEMS, AgreementTests, Task
from truebleu.significance.results import CORRECTION_FUNCTIONS
from truebleu.text import argument_checks

# Number of trials with a difference at least as large as observed, by pair of metrics.
Counts = dict[tuple[int, int], int]
# Maximum number of cells for which all permutations are enumerated.
ENUMERATED = 16
# Tolerance for rounding when a difference is compared with the observed one.
SLACK = 1e-9
# Number of bits of a score, a square or a product after scaling to integers.
BITS = 40
# A common multiple of the numbers of pairs among 2 to 19 systems, and among 21 systems.
COMMON = 232_792_560 * 2


@dataclass(frozen=True)
class Trials:
    """Number of trials per metric pair with a difference at least as large as the observed one."""

    counts: Mapping[tuple[int, int], int]
    trials: int
    exact: bool
    """True if the trials are all possible permutations."""
    test: str

    def get_p_value(self, first: int, second: int) -> float:
        """Return the one-sided p-value of the test that the first metric is better."""
        count = self.counts[first, second]
        return count / self.trials if self.exact else (count + 1) / (self.trials + 1)


def run_perm_both_test(
    gold: Sequence[Matrix],
    metrics: Sequence[Sequence[Matrix]],
    statistic: str = "pearson",
    average: str = "none",
    *,
    samples: int = 10_000,
    seed: int | None = argument_checks.DEFAULT_SEED,
) -> Trials:
    """Run the test PERM-BOTH, which swaps both metrics' standardized scores in random cells.

    gold: human scores of each set; metrics: each metric's scores of each set. It tests whether the
        first metric of a pair is better. Only "pairwise" supports several sets.
    samples: number of randomizations. With at most 16 scored cells, all permutations are used.

    Daniel Deutsch, Rotem Dror and Dan Roth (2021): A statistical analysis of summarization
    evaluation metrics using resampling methods. TACL 9.
    """
    cells = [list_rated_cells(one) for one in gold]
    human = [one.values[i] for one, rated in zip(gold, cells, strict=True) for i in rated]
    metric_values = [
        [
            value
            for one, rated in zip(metric, cells, strict=True)
            for value in _standardize_scores([one.values[i] for i in rated])
        ]
        for metric in metrics
    ]
    exact = len(human) <= ENUMERATED
    trials = 1 << len(human) if exact else samples
    stream = Stream(seed)
    pairs = list(combinations(range(len(metrics)), 2))
    if statistic == "pearson" and average == "none":
        # Sums, squares and products of the swapped cells determine r.
        standardized = _standardize_scores(human)
        columns: list[list[float]] = []
        for scores in metric_values:
            products = [score * value for score, value in zip(scores, standardized, strict=True)]
            columns += [scores, [score * score for score in scores], products]
        table, scale = _scale_to_integers(columns)
        exchanged = subset_sums(table) if exact else Stack([table]).choose(stream, trials, 1)[0]
        squares = fsum(value * value for value in standardized)
        moments = (float(len(standardized)), fsum(standardized), squares)
        observed_sums = table.total().tolist()[0]
        exceedances = exceeding(observed_sums, exchanged, moments, scale, SLACK)
        counts = dict(zip(pairs, exceedances, strict=True))
    elif statistic == "pairwise":
        draws = _sample_swaps(len(human), exact, trials, stream)
        counts = _count_pairwise_trials(human, metric_values, list(map(len, cells)), draws, trials)
    else:
        matrix, rated = gold[0], cells[0]

        def compute_value(scores: Sequence[float]) -> float:
            values = array("d", bytes(8 * len(matrix.values)))
            for cell, score in zip(rated, scores, strict=True):
                values[cell] = score
            metric = Matrix(matrix.systems, values)
            return STATISTICS[statistic](matrix, metric, average).value or 0.0

        # Recompute any other statistic in every trial.
        counts = dict.fromkeys(pairs, 0)
        observed = list(map(compute_value, metric_values))
        size = len(human)
        for trial in range(trials):
            swap = [trial >> i & 1 for i in range(size)] if exact else stream.bools(size)
            for first, second in counts:
                triples = list(zip(metric_values[first], metric_values[second], swap, strict=True))
                lead = compute_value([b if s else a for a, b, s in triples])
                lead -= compute_value([a if s else b for a, b, s in triples])
                if lead >= observed[first] - observed[second] - SLACK:
                    counts[first, second] += 1
    return Trials(counts, trials, exact, "PERM-BOTH")


def _standardize_scores(values: Sequence[float]) -> list[float]:
    """Return scores in standard deviations from their mean, or 0 if all scores are equal."""
    mean = fsum(values) / len(values)
    spread = sqrt(fsum((value - mean) ** 2 for value in values) / len(values))
    return [(value - mean) / spread if spread else 0.0 for value in values]


def _scale_to_integers(columns: Iterable[Sequence[float]]) -> tuple[Table, float]:
    """Return a table of the columns, scaled to integers, and the scale (a power of 2)."""
    column_list = list(columns)
    largest = max((abs(value) for column in column_list for value in column), default=0.0)
    scale = 2.0 ** (BITS - frexp(largest)[1]) if largest else 1.0
    integer_columns = [[round(value * scale) for value in column] for column in column_list]
    return Table.from_rows(list(zip(*integer_columns, strict=True)), len(integer_columns)), scale


def _sample_swaps(cells: int, exact: bool, trials: int, stream: Stream) -> list[int]:
    """Return, for each cell, a bit mask of the trials in which it is swapped."""
    full = (1 << trials) - 1
    if exact:
        # Alternating runs of 2^cell zeros and 2^cell ones.
        return [full // ((1 << (1 << cell)) + 1) << (1 << cell) for cell in range(cells)]
    swap_bits = []
    for _ in range(cells):
        # Each draw provides 16 bits.
        numbers = stream.indices(1 << 31, -(-trials // 32) * 2)
        data = b"".join((number >> 8 & 0xFFFF).to_bytes(2, "little") for number in numbers)
        swap_bits.append(int.from_bytes(data, "little") & full)
    return swap_bits


def _count_pairwise_trials(
    human: Sequence[float],
    metric_values: Sequence[Sequence[float]],
    sizes: Sequence[int],
    draws: Sequence[int],
    trials: int,
) -> Counts:
    """Return `Counts` for pairwise accuracy, from the four ways to swap each pair of systems."""

    def get_sign(value: float) -> int:
        return (value > 0) - (value < 0)

    full = (1 << trials) - 1
    pairs: list[tuple[int, int, int, list[tuple[int, int, int]]]] = []
    start = 0
    for size in sizes:
        for i, j in combinations(range(start, start + size), 2):
            # For each combination of swaps: flags for swapping the two systems, and a bit mask of
            # trials.
            ways = [
                (0, 0, full & ~draws[i] & ~draws[j]),
                (0, 1, full & ~draws[i] & draws[j]),
                (1, 0, draws[i] & full & ~draws[j]),
                (1, 1, draws[i] & draws[j]),
            ]
            pairs.append((i, j, get_sign(human[i] - human[j]), ways))
        start += size
    counts: Counts = {}
    for first, second in combinations(range(len(metric_values)), 2):
        value_rows = (metric_values[first], metric_values[second])
        lead = 0
        # Every change is -1, 0 or 1; adding 1 avoids negative numbers.
        counter: list[int] = []
        always = 0
        for i, j, judged, ways in pairs:
            gained = lost_none = 0
            changes = []
            for swap_i, swap_j, swapped_trials in ways:
                first_agrees = get_sign(value_rows[swap_i][i] - value_rows[swap_j][j]) == judged
                second_agrees = (
                    get_sign(value_rows[1 - swap_i][i] - value_rows[1 - swap_j][j]) == judged
                )
                changes.append(first_agrees - second_agrees)
                gained |= swapped_trials if first_agrees > second_agrees else 0
                lost_none |= swapped_trials if first_agrees >= second_agrees else 0
            lead += changes[0]
            if any(changes):
                always += 1
                _increment_counters(counter, lost_none)
                _increment_counters(counter, gained)
        counts[first, second] = _select_trials(counter, lead + always, full).bit_count()
    return counts


def _increment_counters(counter_bits: list[int], trials: int) -> None:
    """Add 1 to the counters of the trials in a bit mask.

    counter_bits: one integer per binary digit of the counters, with one bit per trial.
    """
    for place, bits in enumerate(counter_bits):
        counter_bits[place], trials = bits ^ trials, bits & trials
    if trials:
        counter_bits.append(trials)


def _select_trials(counter_bits: Sequence[int], minimum: int, all_trials: int) -> int:
    """Return a bit mask of the trials whose counter is at least `minimum`."""
    if minimum <= 0:
        return all_trials
    larger, equal = 0, all_trials
    for place in range(max(len(counter_bits), minimum.bit_length()) - 1, -1, -1):
        bits = counter_bits[place] if place < len(counter_bits) else 0
        if minimum >> place & 1:
            equal &= bits
        else:
            larger |= equal & bits
            equal &= ~bits
    return larger | equal


def run_pair_permutation_test(
    gold: Matrix,
    metrics: Sequence[Matrix],
    epsilons: Sequence[float],
    average: str = "item",
    *,
    samples: int = 10_000,
    seed: int | None = argument_checks.DEFAULT_SEED,
) -> Trials:
    """Test accuracy with ties by swapping the outcomes of the two metrics for random pairs.

    epsilons: the fixed tie threshold of each metric. For other arguments, see `run_perm_both_test`.
    (Deutsch, Foster and Freitag 2023; see `acc_eq`.)
    """
    hits = [
        outcomes(gold.to_bytes(), metric.to_bytes(), len(gold.systems), average, epsilon)
        for metric, epsilon in zip(metrics, epsilons, strict=True)
    ]
    # Integer weight of each pair, so that all rows have equal weight.
    weights: list[int] = []
    for row in {
        "none": [gold.values],
        "sys": [gold.get_row(system) for system in gold.systems],
        "item": [gold.values[i :: gold.items] for i in range(gold.items)],
    }[average]:
        cells = sum(1 for value in row if not isnan(value))
        pairs = cells * (cells - 1) // 2
        # Weights are exact for small numbers of pairs, otherwise rounded.
        weights += [round(COMMON / max(1, pairs))] * pairs
    columns = [[w * hit for w, hit in zip(weights, found, strict=True)] for found in hits]
    table = Table.from_rows(list(zip(*columns, strict=True)), len(columns))
    permuted_sums = Stack([table]).choose(Stream(seed), samples, 1)[0].tolist()
    # The second metric gains what the first loses, so the lead changes by twice that amount. The
    # lead is at least as large as observed unless the first metric loses.
    counts = {
        (first, second): sum(row[first] <= row[second] for row in permuted_sums)
        for first, second in combinations(range(len(metrics)), 2)
    }
    return Trials(counts, samples, exact=False, test="pair permutation")


def get_williams_p(first: float, second: float, metric_correlation: float, cells: int) -> float:
    """Return the one-sided p-value of Williams' test for the larger of two dependent correlations.

    first, second: each metric's r with human scores. metric_correlation: r of the two metrics with
    each other. NaN for fewer than four cells.

    Evan J. Williams (1959): Regression analysis; Yvette Graham and Timothy Baldwin (2014): Testing
    for significance of increased correlation with human judgment. EMNLP.
    """
    if cells < 4:
        return float("nan")
    r = metric_correlation
    k = 1 - first * first - second * second - r * r + 2 * first * second * r
    mean = (first + second) / 2
    below = 2 * (cells - 1) / (cells - 3) * k + mean * mean * (1 - r) ** 3
    if below <= 0:
        return 0.5
    t = (first - second) * sqrt((cells - 1) * (1 + r)) / sqrt(below)
    return compute_student_t_tail(abs(t), cells - 3)


def compute_student_t_tail(t: float, degrees_of_freedom: int) -> float:
    """Return P(T > t) for Student's t with the given degrees of freedom, t ≥ 0.

    >>> round(compute_student_t_tail(2.0, 10), 9)
    0.036694017
    """
    return 0.5 * _compute_incomplete_beta(
        degrees_of_freedom / 2, 0.5, degrees_of_freedom / (degrees_of_freedom + t * t)
    )


def _compute_incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularized incomplete beta function, from a continued fraction (Lentz 1976)."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _compute_incomplete_beta(b, a, 1 - x)
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


def assign_clusters(
    p: Mapping[tuple[int, int], float], metrics: int, alpha: float = 0.05
) -> list[int]:
    """Return the cluster of each metric. Metrics are ordered best first.

    A new cluster starts at a metric that is significantly worse (p <= alpha) than a metric in the
    current cluster.

    >>> assign_clusters({(0, 1): 0.2, (0, 2): 0.01, (1, 2): 0.3}, 3)
    [1, 1, 2]
    """
    cluster_numbers: list[int] = []
    start = 0
    for i in range(metrics):
        if any(p[other, i] <= alpha for other in range(start, i)):
            start = i
        cluster_numbers.append(cluster_numbers[-1] + (start == i) if cluster_numbers else 1)
    return cluster_numbers


# ---- intervals ----


def _group_items(gold: Matrix, documents: Sequence[Hashable] | None) -> list[list[int]]:
    """Return groups of items that are drawn together, omitting groups without human scores."""
    units: dict[Hashable, list[int]] = {}
    for item, group in enumerate(range(gold.items) if documents is None else documents):
        units.setdefault(group, []).append(item)
    rated = set(gold.list_rated_items())
    return [unit for unit in units.values() if not rated.isdisjoint(unit)]


def _sum_defined_values(values: Iterable[float]) -> tuple[float, float]:
    """Return the sum and the number of the values that are not NaN."""
    defined_values = [value for value in values if not isnan(value)]
    return fsum(defined_values), float(len(defined_values))


def _resample_pearson(
    gold: Matrix, metric: Matrix, units: Sequence[Sequence[int]], stream: Stream, samples: int
) -> list[float]:
    """Return Pearson's r of each resample, from the moments of the resampled units."""
    cells = list_rated_cells(gold)
    human_by_cell, metric_by_cell = (
        dict(zip(cells, _standardize_scores([one.values[i] for i in cells]), strict=True))
        for one in (gold, metric)
    )
    moments: list[list[float]] = []
    for unit in units:
        places = [cell for item in unit for cell in range(item, len(gold.values), gold.items)]
        score_pairs = [
            (human_by_cell[cell], metric_by_cell[cell]) for cell in places if cell in human_by_cell
        ]
        products = ((1.0, a, b, a * a, b * b, a * b) for a, b in score_pairs)
        moments.append(list(map(fsum, zip(*products, strict=True))))
    table, scale = _scale_to_integers(zip(*moments, strict=True))
    resampled = []
    for row in Stack([table]).bootstrap(stream, samples, 1)[0].tolist():
        n, a, b, aa, bb, ab = (number / scale for number in row)
        below = (aa - a * a / n) * (bb - b * b / n) if n else 0.0
        resampled.append((ab - a * b / n) / sqrt(below) if below > 0 else nan)
    return resampled


def resample_system_scores(
    gold: Matrix,
    metric: Matrix,
    value: Value,
    scores: Scores,
    documents: Sequence[Hashable] | None = None,
    samples: int = 1000,
    seed: int | None = argument_checks.DEFAULT_SEED,
) -> list[float]:
    """Return a statistic of systems for each resample of the rated items or documents.

    gold, metric: segment scores. A system's human score is the mean over drawn segments. Its metric
    score is also a mean, unless `scores` contains statistics that determine it.
    """
    units = _group_items(gold, documents)
    number = len(gold.systems)
    columns: list[list[int]] = []
    scales = []
    for matrix in (gold, metric):
        rows = [matrix.get_row(system) for system in gold.systems]
        sums_and_counts = [
            [_sum_defined_values(row[item] for item in unit) for unit in units] for row in rows
        ]
        sums, scale = _scale_to_integers([total for total, _ in row] for row in sums_and_counts)
        columns += map(list, zip(*sums.tolist(), strict=True))
        columns += [[int(cells) for _, cells in row] for row in sums_and_counts]
        scales.append(scale)
    tables = [Table.from_rows(list(zip(*columns, strict=True)), len(columns))]
    if scores.tables:
        place = {item: i for i, unit in enumerate(units) for item in unit}
        numbers = [place.get(item, len(units)) for item in range(gold.items)]
        # Unrated items, if there are any, form another group.
        groups = max(numbers, default=-1) + 1
        tables += [
            scores.tables[system].group_totals(numbers, groups).range(0, len(units))
            for system in gold.systems
        ]
    resampled_tables = Stack(tables).bootstrap(Stream(seed), samples, 1)
    by_metric = [list(scores.metric.scores(table)) for table in resampled_tables[1:]]
    resampled = []
    for trial, row in enumerate(resampled_tables[0].tolist()):
        parts = [row[i * number : (i + 1) * number] for i in range(4)]
        if not (all(parts[1]) and all(parts[3])):
            resampled.append(nan)
            continue
        human_means, metric_means = (
            [total / scale / cells for total, cells in zip(sums, counts, strict=True)]
            for sums, counts, scale in zip(parts[::2], parts[1::2], scales, strict=True)
        )
        if by_metric:
            metric_means = [scores.sign * column[trial] for column in by_metric]
        matrices = (Matrix(gold.systems, array("d", one)) for one in (human_means, metric_means))
        resampled.append(_recompute_statistic(value, *matrices))
    return resampled


def _recompute_statistic(value: Value, gold: Matrix, metric: Matrix) -> float:
    """Return the statistic that `value` describes, computed from other scores."""
    if value.statistic == "pairwise":
        return float(agreement_statistics.pairwise(gold, metric))
    if value.statistic in ("acc-eq", "acc-eq-opt"):
        return float(
            agreement_statistics.acc_eq(gold, metric, value.average, epsilon=value.epsilon or 0.0)
        )
    return float(STATISTICS[value.statistic](gold, metric, value.average))


# ---- additions to the results ----


def add_tests_and_intervals(
    content: dict[str, Any],
    sets: Mapping[str, JudgedSystems],
    values_by_cell: Mapping[tuple[Task, str], Value],
    tasks: Sequence[Task],
    tests: AgreementTests,
) -> list[str]:
    """Add tests, clusters and intervals to the results, and return notes on missing results."""
    missing: list[str] = []
    rows = {row["name"]: row for row in content["metrics"]}
    if tests.significance:
        content["tests"] = []
        for task in tasks:
            ranked = [name for name in rows if values_by_cell[task, name].value is not None]
            ranked.sort(key=lambda name: -float(values_by_cell[task, name]))
            if task.statistic == "spa" or len(ranked) < 2:
                missing.append(f"{task.name}: no test of {task.statistic} is available.")
                continue
            test_results, places = _test_metric_pairs(
                task, sets, {name: values_by_cell[task, name] for name in ranked}, tests
            )
            content["tests"] += test_results
            for name, place in zip(ranked, places, strict=True):
                rows[name]["scores"][task.name]["cluster"] = place
        if len(tasks) == 1:
            for row in rows.values():
                row["cluster"] = row["scores"][tasks[0].name].get("cluster")
    if tests.confidence:
        for task in tasks:
            for name, row in rows.items():
                values = _resample_value(task, sets, values_by_cell[task, name], name, tests)
                defined_values = sorted(value for value in values or () if not isnan(value))
                if defined_values:
                    outside = floor(len(defined_values) * (1 - tests.level) / 2 + 1e-9)
                    row["scores"][task.name]["interval"] = {
                        "low": defined_values[outside],
                        "high": defined_values[-1 - outside],
                        "level": tests.level,
                        "resamples": tests.confidence,
                        "over": tests.resampled,
                        "seed": tests.seed,
                    }
            if not any("interval" in row["scores"][task.name] for row in rows.values()):
                missing.append(
                    f"{task.name}: no interval over {tests.resampled}. This interval requires a "
                    "single set with segment scores from both humans and the metric."
                )
        if tests.resampled == "systems":
            missing.append(
                "Intervals over systems are wide because there are few systems. They show how "
                "much the result depends on single systems, which are not a random sample."
            )
    return missing


def _test_metric_pairs(
    task: Task,
    sets: Mapping[str, JudgedSystems],
    ranked_values: Mapping[str, Value],
    tests: AgreementTests,
) -> tuple[list[dict[str, Any]], list[int]]:
    names, values = list(ranked_values), list(ranked_values.values())
    matrix_pairs = [[sets[one].get_scores(task.level, name) for one in task.sets] for name in names]
    gold = [people for people, _ in matrix_pairs[0]]
    metric_matrices = [[scores for _, scores in one] for one in matrix_pairs]
    draws: dict[str, Any] = {"samples": tests.significance, "seed": tests.seed}
    if task.statistic in ("acc-eq", "acc-eq-opt"):
        first_set = [one[0] for one in metric_matrices]
        epsilons = [value.epsilon or 0.0 for value in values]
        trials = run_pair_permutation_test(gold[0], first_set, epsilons, task.average, **draws)
    else:
        trials = run_perm_both_test(gold, metric_matrices, task.statistic, task.average, **draws)
    p = {pair: trials.get_p_value(*pair) for pair in combinations(range(len(names)), 2)}
    decisive = p
    if tests.correction is not None:
        corrected = CORRECTION_FUNCTIONS[tests.correction](list(p.values()))
        decisive = dict(zip(p, corrected, strict=True))
    alpha = round(1 - tests.level, 12)
    test_results = []
    for (i, j), p_value in p.items():
        williams_p = None
        if task.statistic == "pearson" and task.average == "none":
            cells = list_rated_cells(gold[0])
            ours, theirs = ([metric_matrices[k][0].values[c] for c in cells] for k in (i, j))
            correlation = agreement_statistics.pearson(ours, theirs).value
            if correlation is not None:
                ours_r, theirs_r = float(values[i]), float(values[j])
                one_sided = get_williams_p(ours_r, theirs_r, correlation, len(cells))
                williams_p = None if isnan(one_sided) else one_sided
        test_results.append(
            {
                "task": task.name,
                "first": names[i],
                "second": names[j],
                "difference": float(values[i]) - float(values[j]),
                "p": p_value,
                "corrected_p": None if tests.correction is None else decisive[i, j],
                "significant": decisive[i, j] <= alpha,
                "williams_p": williams_p,
                "test": trials.test,
                "exact": trials.exact,
                "samples": trials.trials,
                "seed": None if trials.exact else tests.seed,
            }
        )
    return test_results, assign_clusters(decisive, len(names), alpha)


def _resample_value(
    task: Task, sets: Mapping[str, JudgedSystems], value: Value, metric: str, tests: AgreementTests
) -> list[float] | None:
    """Return the value for each resample, or None if no interval can be computed.

    The tie threshold of the observed value is kept.
    """
    if task.pooled or task.statistic == "spa" or value.value is None:
        return None
    judged = sets[task.sets[0]]
    documents = judged.groups.get("doc") if tests.resampled == "documents" else None
    if tests.resampled == "documents" and documents is None:
        raise InputError(f"{judged.name}: the document of each segment is unknown")
    samples, stream = tests.confidence or 0, Stream(tests.seed)
    resampled = []
    if tests.resampled == "systems":
        matrices = judged.get_scores(task.level, metric)
        systems = matrices[0].systems
        names = list(map(str, range(len(systems))))
        for _ in range(samples):
            indices = stream.indices(len(systems), len(systems))
            rows = [[matrix.get_row(systems[i]) for i in indices] for matrix in matrices]
            drawn = [Matrix(names, array("d", chain(*matrix_rows))) for matrix_rows in rows]
            resampled.append(_recompute_statistic(value, *drawn))
        return resampled
    if task.level == SEGMENTS:
        gold, scores = judged.get_scores(SEGMENTS, metric)
        units = _group_items(gold, documents)
        if value.average == "item" and len(value.by_row) == gold.items:
            sums = [_sum_defined_values(value.by_row[item] for item in unit) for unit in units]
            table, _ = _scale_to_integers(zip(*sums, strict=True))
            resampled_sums = Stack([table]).bootstrap(stream, samples, 1)[0].tolist()
            return [top / below if below else nan for top, below in resampled_sums]
        if value.statistic == "pearson" and value.average == "none":
            return _resample_pearson(gold, scores, units, stream, samples)
        for _ in range(samples):
            items = [item for i in stream.indices(len(units), len(units)) for item in units[i]]
            drawn = [matrix.select_items(items) for matrix in (gold, scores)]
            resampled.append(_recompute_statistic(value, *drawn))
        return resampled
    metric_scores = judged.metrics[metric]
    has_segments = SEGMENTS in judged.gold and SEGMENTS in metric_scores.levels
    if task.level != SYSTEMS or not has_segments:
        return None
    matrices = judged.get_scores(SEGMENTS, metric)
    return resample_system_scores(*matrices, value, metric_scores, documents, samples, tests.seed)
