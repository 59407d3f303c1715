"""Confidence intervals and paired tests for any number of systems and metrics."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations, product
from math import fsum, sqrt
from operator import sub
from typing import Any, NamedTuple

from truebleu import _kernel
from truebleu._kernel import InputError, Scores, Stack, Stream, Table
from truebleu.significance import results
from truebleu.significance.resampled_metric import Measure, check_memory
from truebleu.significance.results import Difference, Interval, Noise, PairedTests, Runs
from truebleu.text import argument_checks

PairIndices = Sequence[tuple[int, int]]

TESTS = ("ar", "bs", "bs-sacrebleu", "koehn")
PAIRS = ("baseline", "all")

# The same defaults as in sacreBLEU.
RESAMPLES = 1000
RANDOMIZATIONS = 10_000
LEVEL = 0.95

# Approximate limits on the number of 64-bit sums in memory, on the number of trials in memory, and
# on the number of additions between two checks for an interrupt (about one second).
MAX_SUMS = 1 << 22
MAX_TRIALS = 2000
MAX_ADDITIONS = 1 << 34
# Number of additions between two calls of `progress`.
ADDITIONS_PER_REPORT = 1 << 30


class Resampling(NamedTuple):
    """Options that intervals and tests share, such as the resampling unit and the seed."""

    documents: Sequence[Hashable] | None = None
    """The document of each segment, to resample documents (block bootstrap); None to resample
    segments.
    """
    runs: Mapping[str, Sequence[str]] | None = None
    """The outputs of each system's runs (training seeds); its score is the mean over its runs."""
    resamples: int = RESAMPLES
    """The number of test sets resampled from this test set, with replacement."""
    seed: int | None = argument_checks.DEFAULT_SEED
    """A non-negative integer, or None for a new seed, which makes results irreproducible."""
    level: float = LEVEL
    """The confidence level (0.5 to 1): the share of resampled scores within an interval."""
    workers: int = 1
    """The number of threads."""
    progress: Callable[[int, int], None] | None = None
    """Function called with the number of finished resamples and randomizations, and their total."""


def bootstrap_intervals(measures: Sequence[Measure], **options: Any) -> list[dict[str, Interval]]:
    """Return one dict per measure, with the confidence interval of each system's score.

    options: the fields of `Resampling`. With `runs`, the interval covers the test set only.

    Raises InputError for measures with different numbers of segments, and ValueError for invalid
    options.

    >>> scores = {"A": [3, 5, 4, 4, 5, 2], "B": [3, 4, 4, 5, 4, 1]}
    >>> bootstrap_intervals([Measure.from_scores("stars", scores)], resamples=100)
    [{'A': <3.83 [3.00, 4.67]>, 'B': <3.50 [2.33, 4.33]>}]
    """
    run = _ResamplingRun(measures, Resampling(**options))
    run.bootstrap()
    return list(map(run.build_intervals, range(len(measures))))


def run_paired_tests(
    measures: Sequence[Measure],
    *,
    baseline: str | None = None,
    test: str = "ar",
    pairs: str = "baseline",
    randomizations: int = RANDOMIZATIONS,
    correction: str | None = None,
    **options: Any,
) -> list[PairedTests]:
    """Test the differences between systems, and return their sizes and intervals.

    measures: measures of the same systems on the same segments.
    baseline: the system that the others are compared with (default: the first).
    test: "ar", "bs", "bs-sacrebleu" or "koehn" (see `truebleu.significance`).
    pairs: "baseline" compares systems with the baseline, "all" also with each other.
    randomizations: number of randomizations of "ar".
    correction: None, "holm" or "bh", applied per measure to all tested pairs as one family.
    options: the fields of `Resampling`. Intervals always come from the bootstrap. With `documents`,
        randomization also swaps whole documents; "bs-sacrebleu" does not support this. With `runs`,
        tests and intervals of differences include the variance between runs (see
        `truebleu.significance.results`); only "ar" and "bs" support this.

    All tests except "koehn" are two-sided. Raises InputError for measures of different systems or
    segments, and ValueError for invalid options.

    >>> scores = {"A": [3, 5, 4, 4, 5, 2], "B": [3, 4, 4, 5, 4, 1]}
    >>> [result] = run_paired_tests([Measure.from_scores("stars", scores)], randomizations=100)
    >>> result.differences["B"]
    <stars: B - A = -0.33 [-0.83, +0.33], p = 0.5842 (ar)>
    """
    randomizations = argument_checks.check_integer("randomizations", randomizations, 1)
    argument_checks.check_choice("test", test, TESTS)
    argument_checks.check_choice("pairs", pairs, PAIRS)
    argument_checks.check_choice("correction", correction, (None, *results.CORRECTIONS))
    run = _ResamplingRun(measures, Resampling(**options), randomizations if test == "ar" else 0)
    if run.documents is not None and test == "bs-sacrebleu":
        raise ValueError("test 'bs-sacrebleu' does not support documents, only segments")
    if run.has_several_runs and test not in ("ar", "bs"):
        raise ValueError(f"test '{test}' does not support multiple runs; use 'ar' or 'bs'")
    baseline = run.systems[0] if baseline is None else baseline
    if baseline not in run.systems:
        near = argument_checks.suggest_names(baseline, run.systems)
        raise ValueError(f"baseline: no system '{baseline}'{near}")
    tested_pairs = list(combinations(range(len(run.systems)), 2))
    if pairs == "baseline":
        j = run.systems.index(baseline)
        tested_pairs = [(i, j) for i in range(len(run.systems)) if i != j]
    return run.test_pairs(tested_pairs, test, randomizations, baseline, correction)


def estimate_document_errors(
    measure: Measure, documents: Sequence[Hashable]
) -> dict[tuple[str, str], float]:
    """Return the standard error of each pair's score difference, estimated from documents.

    The jackknife measures how much the difference changes if one document is left out (Efron and
    Tibshirani 1993, chapter 11). It needs one score per document, so it is much faster than
    `run_paired_tests` with these `documents`.

    >>> measure = Measure.from_scores("stars", {"A": [3, 5, 4, 4, 5, 2], "B": [3, 4, 4, 5, 4, 1]})
    >>> errors = estimate_document_errors(measure, list("aabbcc"))
    >>> round(errors["A", "B"], 3)
    0.441
    """
    document_measure = measure.sum_by_document(documents)
    scores = []
    for table in document_measure.tables:
        [total] = table.total().tolist()
        remaining_sums = [
            [of_all - of_one for of_all, of_one in zip(total, row, strict=True)]
            for row in table.tolist()
        ]
        scores.append(list(document_measure.scores(Table.from_rows(remaining_sums, table.width))))
    document_count = document_measure.row_count
    errors = {}
    for i, j in combinations(range(len(scores)), 2):
        differences = [a - b for a, b in zip(scores[i], scores[j], strict=True)]
        mean = fsum(differences) / document_count
        squares = fsum((difference - mean) ** 2 for difference in differences)
        errors[measure.systems[i], measure.systems[j]] = sqrt(
            squares * (document_count - 1) / document_count
        )
    return errors


class _ResamplingRun:
    """Measures that are resampled together, with the same random draws."""

    def __init__(
        self, measures: Sequence[Measure], settings: Resampling, randomizations: int = 0
    ) -> None:
        self.resamples = argument_checks.check_integer("resamples", settings.resamples, 1)
        _check_measures(measures)
        self.measures = measures
        # The outputs of each system's runs; by default, every output is a separate system.
        outputs = measures[0].systems
        by_system = settings.runs
        if by_system is None:
            by_system = {name: [name] for name in outputs}
        self.systems = tuple(by_system)
        self._run_indices = _find_run_indices(by_system, outputs)
        self.has_several_runs = len(outputs) > len(self.systems)
        # The measures with one row per resampling unit: segment or document.
        self._unit_measures = measures
        self.documents = None
        if settings.documents is not None:
            self._unit_measures = [
                measure.sum_by_document(settings.documents) for measure in measures
            ]
            self.documents = self._unit_measures[0].row_count
        self.unit_count = self._unit_measures[0].row_count
        self._unit = "segment" if self.documents is None else "document"
        self.seed = argument_checks.check_seed(settings.seed)
        self.level = argument_checks.check_confidence_level(settings.level)
        self._workers = argument_checks.check_workers(settings.workers)
        self._progress = settings.progress
        self._total, self._done = self.resamples + randomizations, 0
        self._tables = [table for measure in self._unit_measures for table in measure.tables]
        self._width = sum(table.width for table in self._tables)
        check_memory(self.unit_count, self._width, self._workers)
        # Scores of the resampled test sets, by measure and output.
        self._resampled: list[list[list[float]]] = [[[] for _ in one.systems] for one in measures]

    @cached_property
    def observed(self) -> list[list[float]]:
        """The scores of all systems, by measure."""
        return [
            [self._average_runs(scores, i) for i in range(len(self.systems))]
            for scores in self._run_scores
        ]

    @cached_property
    def _run_scores(self) -> list[list[float]]:
        """The scores of all runs, by measure."""
        return [measure.compute_observed_scores() for measure in self._unit_measures]

    def _average_runs(self, scores: Sequence[float], system: int) -> float:
        """Return a system's mean score over its runs."""
        members = self._run_indices[system]
        return fsum(scores[i] for i in members) / len(members)

    def _get_system_score(self, measure: Measure, system: int) -> float:
        return self._average_runs([measure.get_score(name) for name in measure.systems], system)

    @cached_property
    def _resampled_systems(self) -> list[list[Scores]]:
        """The scores of all systems in each resample, by measure: means over their runs."""
        return [
            [Scores(_average_columns([one[i] for i in indices])) for indices in self._run_indices]
            for one in self._resampled
        ]

    def _estimate_noise(
        self, measure_index: int, systems: Sequence[int], values: Sequence[float]
    ) -> Noise | None:
        """Return the standard errors of a system's mean or of a difference between two systems."""
        run_scores, resampled = self._run_scores[measure_index], self._resampled[measure_index]
        members = [self._run_indices[system] for system in systems]
        return results.estimate_noise(
            [([run_scores[i] for i in m], [resampled[i] for i in m]) for m in members], values
        )

    def _get_resampled_differences(self, measure_index: int, pair: tuple[int, int]) -> list[float]:
        first, second = (self._resampled_systems[measure_index][system] for system in pair)
        return list(map(sub, first, second))

    def _split_into_blocks(self, count: int, max_block: int) -> Iterator[int]:
        """Yield block sizes that limit memory use and the time between two progress reports."""
        additions = MAX_ADDITIONS if self._progress is None else ADDITIONS_PER_REPORT
        size = min(MAX_SUMS // self._width, additions // (self._width * self.unit_count), max_block)
        for start in range(0, count, max(1, size)):
            block = min(max(1, size), count - start)
            yield block
            self._done += block
            if self._progress is not None:
                self._progress(self._done, self._total)

    def bootstrap(self) -> None:
        """Resample the test set and store the scores, for intervals and differences."""
        stream, stack = Stream(self.seed), Stack(self._tables)
        for block in self._split_into_blocks(self.resamples, self.resamples):
            sums = iter(stack.bootstrap(stream, block, self._workers))
            for measure, measure_scores in zip(self._unit_measures, self._resampled, strict=True):
                for system_scores in measure_scores:
                    system_scores.extend(measure.scores(next(sums)))

    def count_larger_random_differences(
        self, tested_pairs: PairIndices, trials: int
    ) -> list[dict[tuple[int, int], int]]:
        """Count, for each pair, the trials with a difference at least as large as observed.

        A trial swaps the two systems' outputs for random segments or documents. The sums over
        each system's swapped rows suffice for all pairs. With several runs, every run of one system
        is compared with every run of the other.
        """
        stream = Stream(self.seed)
        # Swaps change only sums, so differences from the first system's rows suffice.
        stack = Stack.of_differences([measure.tables for measure in self._unit_measures])
        totals = [[table.total() for table in measure.tables] for measure in self._unit_measures]
        counts = [dict.fromkeys(tested_pairs, 0) for _ in self.measures]
        run_differences: list[defaultdict[tuple[int, int], list[float]]] = [
            defaultdict(list) for _ in self.measures
        ]
        for block in self._split_into_blocks(trials, MAX_TRIALS * self._workers):
            selected_sums = iter(stack.choose(stream, block, self._workers))
            for measure_index, measure in enumerate(self._unit_measures):
                run_sums = [next(selected_sums) for _ in measure.systems]
                run_totals, observed = totals[measure_index], self.observed[measure_index]
                for i, j in tested_pairs:
                    score_pairs = []
                    for first, second in product(self._run_indices[i], self._run_indices[j]):
                        a, b = _kernel.exchanged(
                            (run_sums[second], run_sums[first]),
                            (run_totals[second], run_totals[first]),
                        )
                        score_pairs.append((measure.scores(a), measure.scores(b)))
                    if len(score_pairs) > 1:
                        columns = [
                            [a - b for a, b in zip(*two, strict=True)] for two in score_pairs
                        ]
                        run_differences[measure_index][i, j] += [
                            fsum(row) / len(columns) for row in zip(*columns, strict=True)
                        ]
                    else:
                        gap = abs(observed[i] - observed[j])
                        counts[measure_index][i, j] += _kernel.count_apart(
                            *score_pairs[0], gap, strictly=False
                        )
        for measure_index, by_pair in enumerate(run_differences):
            observed = self.observed[measure_index]
            for pair, differences in by_pair.items():
                resampled = self._get_resampled_differences(measure_index, pair)
                run_noise = self._estimate_noise(measure_index, pair, resampled)
                assert run_noise is not None
                gap = abs(observed[pair[0]] - observed[pair[1]])
                moved_differences = run_noise.add_run_noise(differences, 0.0, self.seed)
                counts[measure_index][pair] = sum(abs(moved) >= gap for moved in moved_differences)
        return counts

    def count_sacrebleu_resamples(
        self, tested_pairs: PairIndices, resamples: int
    ) -> list[dict[tuple[int, int], int]]:
        """Count, for each pair of systems, the resamples that determine sacreBLEU's p-value."""
        from truebleu.significance import sacrebleu_compat as original

        tables = []
        for measure in self.measures:
            if measure.metric is None or not measure.is_summed:
                raise ValueError(
                    f"test 'bs-sacrebleu' supports BLEU, chrF and TER, not {measure.name}"
                )
            tables.append((measure.metric, measure.tables))
        stream = Stream(self.seed)
        resampled = original.bootstrap_scores(tables, stream, resamples, self._workers)
        count = original.count_larger_differences
        return [
            {
                (i, j): count(scores[i], scores[j], abs(values[i] - values[j]))
                for i, j in tested_pairs
            }
            for values, scores in zip(self.observed, resampled, strict=True)
        ]

    def _build_interval(
        self, value: float, mean: float, ordered: Scores | Sequence[float], runs: Runs | None = None
    ) -> Interval:
        """Return the percentile interval of sorted resampled values with this mean."""
        # The small number compensates for rounding: 1000 * 0.05 may be slightly below 50.
        tail_size = int(len(ordered) * (1 - self.level) / 2 + 1e-9)
        note = ""
        if self.unit_count == 1:
            unit = self._unit
            note = f"with one {unit}, all resamples are equal, so the interval is meaningless"
        elif not tail_size:
            note = f"{len(ordered)} resamples are too few for level {self.level:.4g}: the interval "
            note += "spans all of them"
        return Interval(
            value=value,
            mean=mean,
            low=ordered[tail_size],
            high=ordered[len(ordered) - tail_size - 1],
            level=self.level,
            resamples=len(ordered),
            documents=self.documents,
            seed=self.seed,
            runs=runs,
            note=note,
        )

    def build_intervals(self, measure_index: int) -> dict[str, Interval]:
        """Return the interval of each system's score for one measure."""
        measure, intervals = self.measures[measure_index], {}
        for i, system in enumerate(self.systems):
            resampled = self._resampled_systems[measure_index][i].tolist()
            score = self._get_system_score(measure, i)
            run_scores = tuple(
                measure.get_score(measure.systems[run]) for run in self._run_indices[i]
            )
            runs = None
            if len(run_scores) > 1:
                deviation = sqrt(results.compute_variance(run_scores, 1))
                error = sqrt(results.compute_variance(resampled, 1))
                runs = Runs(scores=run_scores, deviation=deviation, error=error)
            mean = fsum(resampled) / len(resampled)
            intervals[system] = self._build_interval(score, mean, sorted(resampled), runs)
        return intervals

    def test_pairs(
        self,
        tested_pairs: PairIndices,
        test: str,
        randomizations: int,
        baseline: str,
        correction: str | None,
    ) -> list[PairedTests]:
        """Return the tests of all pairs of systems, one result per measure."""
        self.bootstrap()
        trials = randomizations if test == "ar" else self.resamples
        counts: list[dict[tuple[int, int], int]] = [{} for _ in self.measures]
        if test == "ar":
            counts = self.count_larger_random_differences(tested_pairs, trials)
        elif test == "bs-sacrebleu":
            counts = self.count_sacrebleu_resamples(tested_pairs, trials)
        base, tests = self.systems.index(baseline), []
        for k, measure in enumerate(self.measures):
            differences = results.correct_p_values(
                {
                    pair: self.build_difference(k, pair, test, trials, counts[k].get(pair))
                    for pair in tested_pairs
                },
                correction,
            )
            baseline_differences = {
                system: differences[i, base]
                if (i, base) in differences
                else differences[base, i].swap_systems()
                for i, system in enumerate(self.systems)
                if i != base
            }
            pairs = {(one.system, one.baseline): one for one in differences.values()}
            tests.append(
                PairedTests(
                    measure=measure,
                    test=test,
                    baseline=baseline,
                    correction=correction,
                    documents=self.documents,
                    seed=self.seed,
                    resamples=self.resamples,
                    randomizations=randomizations if test == "ar" else None,
                    level=self.level,
                    intervals=self.build_intervals(k),
                    differences=baseline_differences,
                    pairs=pairs,
                )
            )
        return tests

    def build_difference(
        self, measure_index: int, pair: tuple[int, int], test: str, trials: int, count: int | None
    ) -> Difference:
        """Return the difference between a system and a baseline for one measure, with its test.

        pair: the indices of the system and the baseline.
        count: the number of trials with a difference at least as large as observed; None to count
            resamples.
        """
        measure, (i, j) = self.measures[measure_index], pair
        observed = self.observed[measure_index][i] - self.observed[measure_index][j]
        value = self._get_system_score(measure, i) - self._get_system_score(measure, j)
        resampled = self._resampled_systems[measure_index]
        ordered: Scores | list[float]
        ordered, mean, variance = _kernel.summarize_differences(resampled[i], resampled[j])
        test_set_error = total_error = sqrt(variance)
        noise = None
        if self.has_several_runs:
            differences = self._get_resampled_differences(measure_index, pair)
            noise = self._estimate_noise(measure_index, pair, differences)
        if noise is not None:
            ordered = sorted(noise.add_run_noise(differences, mean, self.seed))
            total_error = noise.error
        interval = self._build_interval(value, mean, ordered)
        # Values are counted by binary search.
        size = len(ordered)
        won, lost = size - bisect_right(ordered, 0), bisect_left(ordered, 0)
        if measure.lower_is_better:
            won, lost = lost, won
        is_better = None if observed == 0 else (observed > 0) != measure.lower_is_better
        if test == "bs":
            count = size - _count_near(ordered, mean, abs(observed))
        elif test == "koehn":
            count = size - (0 if is_better is None else won if is_better else lost)
        assert count is not None
        p, note = (count + 1) / (trials + 1), ""
        tables = [measure.tables[run] for one in pair for run in self._run_indices[one]]
        identical = all(tables[0].same(other) for other in tables[1:])
        if identical:
            p, note = 1.0, "the systems are identical: no segment differs"
        elif self.unit_count == 1:
            p, note = 1.0, f"a single {self._unit} cannot show a difference"
        elif is_better is None:
            note = "the systems have the same score"
        return Difference(
            measure=measure.name,
            system=self.systems[i],
            baseline=self.systems[j],
            value=value,
            interval=interval,
            p=p,
            adjusted_p=p,
            test=test,
            trials=trials,
            won=won / size,
            tied=(size - won - lost) / size,
            lost=lost / size,
            better=is_better,
            identical=identical,
            segments=measure.segments,
            deviation=total_error,
            test_set_error=test_set_error,
            run_error=0.0 if noise is None else noise.run_error,
            note=note,
        )


def _average_columns(columns: Sequence[Sequence[float]]) -> Sequence[float]:
    """Return the mean of each row."""
    if len(columns) == 1:
        return columns[0]
    return [fsum(row) / len(columns) for row in zip(*columns, strict=True)]


def _count_near(ordered: Scores | Sequence[float], centre: float, distance: float) -> int:
    """Return the number of values, in a sorted list, that are nearer to a centre than `distance`.

    >>> _count_near([1.0, 2.0, 3.0, 4.0], 2.0, 2.0), _count_near([1.0, 2.0], 2.0, 0.0)
    (3, 0)
    """

    def subtract_centre(value: float) -> float:
        return value - centre

    first = bisect_right(ordered, -distance, key=subtract_centre)
    return max(0, bisect_left(ordered, distance, key=subtract_centre) - first)


def _find_run_indices(runs: Mapping[str, Sequence[str]], outputs: Sequence[str]) -> list[list[int]]:
    """Return the indices of each system's runs among the outputs."""
    run_names = [name for names in runs.values() for name in names]
    if sorted(run_names) != sorted(outputs) or not all(runs.values()):
        raise ValueError(
            f"runs: expected each of {', '.join(outputs)} to be a run of exactly one "
            "system, and every system to have a run"
        )
    return [[outputs.index(name) for name in names] for names in runs.values()]


def _check_measures(measures: Sequence[Measure]) -> None:
    if isinstance(measures, Measure):
        raise TypeError("measures: expected a list, such as [measure]")
    if not measures:
        raise InputError("measures: expected at least one measure")
    first = measures[0]
    for measure in measures[1:]:
        for attribute, (expected, actual) in {
            "systems": ("the systems " + ", ".join(one.systems) for one in (first, measure)),
            "segments": (f"{one.segments} segments" for one in (first, measure)),
        }.items():
            if expected != actual:
                raise InputError(
                    f"{first.name} has {expected}, but {measure.name} has {actual}. "
                    f"All measures need the same {attribute}."
                )
