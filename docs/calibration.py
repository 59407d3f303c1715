"""Measure the error rates of the tests in truebleu.significance, for two pages in docs/.

    python docs/calibration.py tests WMT22        writes calibration.json, 30 minutes
    python docs/calibration.py buckets WMT22      writes calibration_buckets.json, 10 minutes
    python docs/calibration.py documents WMT23    writes calibration_documents.json, 2 minutes
    python docs/calibration.py runs               writes calibration_runs.json, 6 minutes

WMT22 is the folder of the general task's data, and WMT23 is the folder of the metrics task's data.
The data are not part of the project; docs/significance.md and docs/at-scale.md show the results.

A null trial is a test set of real segments; in each segment, the outputs of two systems are swapped
with probability 1/2. The systems then do not differ, and a calibrated test at 5% finds a
difference in 5% of the trials.

tests      rejections in null trials, whose segments are sampled without replacement
buckets    rejections in null trials with segments in hash buckets (the ids begin with the trial
           number); and the ratio of bucket-based to segment-based standard errors
documents  `errors`: the standard error of a difference when documents are resampled, divided by
           the standard error when segments are resampled, as quartiles over all system pairs.
           `intervals`: how often the 95% interval misses the difference on all documents, in test
           sets of documents sampled with replacement. `tests`: rejections by randomization for
           two nearly equal systems whose outputs are swapped at random in each document
runs       two equal systems: the score of run r of system s on segment i is d(i) + v(s, i) +
           u(s, r) + e(s, r, i), all normal with mean 0, and d is shared. `one`: randomization of
           the first run of each system; `stacked`: of the concatenated runs of each system;
           `runs`: of segments and runs
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path
from statistics import mean, quantiles, stdev
from typing import Any

from truebleu import BLEU, CHRF, TER, Statistics
from truebleu.engines import bucket_of
from truebleu.metrics.base import Metric
from truebleu.significance import (
    RANDOMIZATIONS,
    RESAMPLES,
    TESTS,
    Difference,
    Measure,
    run_paired_tests,
)
from truebleu.text.operating_system import write_atomically

HERE = Path(__file__).parent
RESULTS = {
    "tests": HERE / "calibration.json",
    "buckets": HERE / "calibration_buckets.json",
    "documents": HERE / "calibration_documents.json",
    "runs": HERE / "calibration_runs.json",
}
SYSTEMS = ("Online-A", "Online-B")
PAIRS = ("cs-en", "de-en", "ja-en", "ru-en", "uk-en", "zh-en")
LEVELS = (0.05, 0.10)
SEED = 20021109


def collect_statistics(metric: Metric, wmt22_folder: str) -> list[Statistics]:
    """Return the segment statistics of both systems for all language pairs into English."""
    tables = []
    for system in SYSTEMS:
        total = None
        for pair in PAIRS:
            prefix, letter = f"generaltest2022.{pair}", "B" if pair == "cs-en" else "A"
            output = Path(wmt22_folder, "system-outputs", f"{prefix}.hyp.{system}.en")
            reference = Path(wmt22_folder, "references", f"{prefix}.ref.{letter}.en")
            part = metric.statistics(output, reference)
            total = part if total is None else total + part
        tables.append(total)
    return tables


def swap_systems(
    tables: list[Statistics], rows: list[int], is_swapped: list[bool]
) -> list[Statistics]:
    """Return the statistics of two systems on these rows, swapped where `is_swapped` is true."""
    size, joined_tables = len(tables[0]), tables[0] + tables[1]
    return [
        joined_tables[[i + size * (swap ^ side) for i, swap in zip(rows, is_swapped, strict=True)]]
        for side in (False, True)
    ]


def sample_null_trial(
    generator: random.Random, tables: list[Statistics], segment_count: int
) -> list[Statistics]:
    """Return the statistics of two systems on sampled segments, half of them swapped at random."""
    sampled_rows = generator.sample(range(len(tables[0])), segment_count)
    return swap_systems(tables, sampled_rows, [generator.random() < 0.5 for _ in sampled_rows])


def compare_two(metric: Metric, tables: list[Statistics], **options: Any) -> Difference:
    """Return the tested difference between two systems."""
    measure = Measure(metric, dict(zip(("one", "other"), tables, strict=True)))
    [result] = run_paired_tests([measure], **options)
    return result.differences["other"]


# ---- tests of segments ----

METRICS = {"BLEU": BLEU(), "chrF2": CHRF(), "TER": TER()}
SEGMENTS = (200, 1000, 2000)
TRIALS = 10_000


def calibrate_segment_tests(wmt22_folder: str) -> dict[str, Any]:
    """Count the null trials in which each test finds a difference, per significance level."""
    metrics: dict[str, Any] = {name: {} for name in METRICS}
    for name, metric in METRICS.items():
        tables = collect_statistics(metric, wmt22_folder)
        for segments in SEGMENTS:
            generator = random.Random(SEED + segments)
            counts = {test: [0] * len(LEVELS) for test in TESTS}
            for trial in range(TRIALS):
                sides = sample_null_trial(generator, tables, segments)
                for test in TESTS:
                    p = compare_two(metric, sides, test=test, seed=trial).p
                    counts[test] = [
                        n + (p < level) for n, level in zip(counts[test], LEVELS, strict=True)
                    ]
            metrics[name][str(segments)] = counts
            print(name, segments, counts, flush=True)
    return {
        "metrics": metrics,
        "systems": SYSTEMS,
        "pairs": PAIRS,
        "pool": len(tables[0]),
        "trials": TRIALS,
        "levels": LEVELS,
        "randomizations": RANDOMIZATIONS,
        "resamples": RESAMPLES,
        "seed": SEED,
    }


# ---- buckets ----

BUCKETS = (50, 200, 1000)
BUCKET_TESTS = ("ar", "bs")
WIDTH_TRIALS = 50
BUCKET_TRIALS = 2000
BUCKET_SEGMENTS = 5000
DRAWS = 1000


def sum_random_buckets(tables: list[Statistics], bucket_count: int, trial: int) -> list[Statistics]:
    """Assign segments to random hash buckets, and return the statistics summed over each bucket."""
    numbers = [bucket_of(f"{trial}-{i}", bucket_count) for i in range(len(tables[0]))]
    place = {bucket: i for i, bucket in enumerate(sorted(set(numbers)))}
    return [
        Statistics(
            table.group_totals([place[bucket] for bucket in numbers], len(place)),
            columns=table.columns,
            fingerprint=table.fingerprint,
            references=table.references,
        )
        for table in tables
    ]


def calibrate_bucket_tests(wmt22_folder: str) -> dict[str, Any]:
    """Measure interval widths and false positives when buckets are resampled instead of segments."""
    tables = collect_statistics(METRICS["BLEU"], wmt22_folder)
    return {
        "systems": SYSTEMS,
        "pairs": PAIRS,
        "pool": len(tables[0]),
        "buckets": BUCKETS,
        "width_trials": WIDTH_TRIALS,
        "null_trials": BUCKET_TRIALS,
        "segments": BUCKET_SEGMENTS,
        "levels": LEVELS,
        "widths": _measure_width_ratios(tables),
        "rejections": _count_bucket_rejections(tables),
    }


def _measure_width_ratios(tables: list[Statistics]) -> dict[str, dict[str, list[float]]]:
    """Return the mean and standard deviation of the ratios of bucket- to segment-based values."""

    def compute_error_and_width(sides: list[Statistics]) -> tuple[float, float]:
        measure = Measure(METRICS["BLEU"], dict(zip(("one", "other"), sides, strict=True)))
        [result] = run_paired_tests([measure], test="bs", resamples=4 * DRAWS)
        interval = result.intervals["one"]
        return result.differences["other"].deviation, interval.high - interval.low

    exact = compute_error_and_width(tables)
    widths: dict[str, dict[str, list[float]]] = {}
    for count in BUCKETS:
        ratios = []
        for trial in range(WIDTH_TRIALS):
            values = compute_error_and_width(sum_random_buckets(tables, count, trial))
            ratios.append([a / b for a, b in zip(values, exact, strict=True)])
        columns = zip(("difference", "interval"), zip(*ratios, strict=True), strict=True)
        widths[str(count)] = {name: [mean(column), stdev(column)] for name, column in columns}
        print(count, widths[str(count)], flush=True)
    return widths


def _count_bucket_rejections(tables: list[Statistics]) -> dict[str, dict[str, list[int]]]:
    """Count the null trials in which each test finds a difference when buckets are resampled."""
    generator = random.Random(SEED)
    counts = {str(b): {test: [0] * len(LEVELS) for test in BUCKET_TESTS} for b in BUCKETS}
    settings: dict[str, int] = {"randomizations": DRAWS - 1, "resamples": DRAWS}
    for trial in range(BUCKET_TRIALS):
        sides = sample_null_trial(generator, tables, BUCKET_SEGMENTS)
        for count in BUCKETS:
            sums = sum_random_buckets(sides, count, trial)
            for test, found in counts[str(count)].items():
                p = compare_two(METRICS["BLEU"], sums, test=test, seed=trial, **settings).p
                found[:] = [n + (p <= level) for n, level in zip(found, LEVELS, strict=True)]
    print(counts, flush=True)
    return counts


# ---- documents ----

DOCUMENT_METRICS = {"BLEU": BLEU(effective_order=False), "chrF2": CHRF()}
# The reference that WMT23 prefers, per language pair.
DOCUMENT_PAIRS = {"en-de": "refA", "he-en": "refB", "zh-en": "refA"}
# Outputs that are not from systems: references, and texts derived from them.
NOT_SYSTEMS = ("ref", "synthetic")
DOCUMENTS = (20, 60)
DOCUMENT_TRIALS = 1000
# Systems whose scores differ by less than this are nearly equal.
NEAR = 0.5
SAMPLES = 400
DOCUMENT_SEED = 20041109
LEVEL, ALPHA = 0.95, 0.05


class Pool:
    """Statistics of all systems for a language pair, and the document of each segment."""

    def __init__(self, folder: Path, pair: str, name: str) -> None:
        self.metric, self.name = DOCUMENT_METRICS[name], f"{name} {pair}"
        reference = folder / "references" / f"{pair}.{DOCUMENT_PAIRS[pair]}.txt"
        self.tables = {
            path.stem: self.metric.statistics(path, reference)
            for path in sorted((folder / "system-outputs" / pair).glob("*.txt"))
            if not path.stem.startswith(NOT_SYSTEMS)
        }
        self.documents = (folder / "documents" / f"{pair}.docs").read_text("utf-8").splitlines()
        members: dict[str, list[int]] = {}
        for i, document in enumerate(self.documents):
            members.setdefault(document, []).append(i)
        self.members = list(members.values())
        self.scores = {
            name: self.metric.from_statistics(table).value for name, table in self.tables.items()
        }

    def compute_error_ratios(self) -> list[float]:
        """Return the quartiles of the ratios of document- to segment-based standard errors."""
        by_segments, by_documents = (
            run_paired_tests(
                [Measure(self.metric, self.tables)], pairs="all", test="bs", documents=labels
            )[0].pairs
            for labels in (None, self.documents)
        )
        ratios = [
            by_documents[pair].deviation / by_segments[pair].deviation for pair in by_segments
        ]
        return quantiles(ratios, n=4, method="inclusive")

    def count_interval_misses(self, document_count: int) -> dict[str, int]:
        """Count the trials in which each kind of interval excludes the true difference."""
        generator = random.Random(f"{DOCUMENT_SEED} intervals {self.name} {document_count}")
        counts = {"segments": 0, "documents": 0}
        settings: dict[str, Any] = {"test": "bs", "resamples": SAMPLES, "level": LEVEL}
        for _ in range(DOCUMENT_TRIALS):
            settings["seed"] = generator.randrange(1 << 32)
            first, second = generator.sample(list(self.tables), 2)
            true = self.scores[second] - self.scores[first]
            documents = generator.choices(range(len(self.members)), k=document_count)
            coins = [False] * document_count
            for unit, found in self._compare_by_unit((first, second), documents, coins, settings):
                counts[unit] += not found.interval.low <= true <= found.interval.high
        return counts

    def count_rejections(self, document_count: int) -> dict[str, int]:
        """Count the null trials in which randomization finds a difference, per swapped unit."""
        generator = random.Random(f"{DOCUMENT_SEED} tests {self.name} {document_count}")
        near = [
            (one, other)
            for one, other in combinations(self.tables, 2)
            if abs(self.scores[one] - self.scores[other]) < NEAR
        ]
        counts = {"segments": 0, "documents": 0}
        settings: dict[str, Any] = {"resamples": 1, "randomizations": SAMPLES}
        for _ in range(DOCUMENT_TRIALS):
            settings["seed"] = generator.randrange(1 << 32)
            documents = generator.sample(range(len(self.members)), document_count)
            coins = [generator.random() < 0.5 for _ in documents]
            systems = generator.choice(near)
            for unit, found in self._compare_by_unit(systems, documents, coins, settings):
                counts[unit] += found.p < ALPHA
        return {**counts, "pairs": len(near)}

    def _compare_by_unit(
        self,
        systems: tuple[str, str],
        documents: list[int],
        is_swapped: list[bool],
        settings: dict[str, Any],
    ) -> list[tuple[str, Difference]]:
        """Return the differences on these documents, by segments and by documents.

        is_swapped: whether the outputs of the two systems are swapped, per document.
        """
        rows = [(i, place) for place, one in enumerate(documents) for i in self.members[one]]
        segments, labels = ([row[column] for row in rows] for column in (0, 1))
        tables = [self.tables[name] for name in systems]
        sides = swap_systems(tables, segments, [is_swapped[place] for place in labels])
        return [
            (unit, compare_two(self.metric, sides, documents=of_segment, **settings))
            for unit, of_segment in (("segments", None), ("documents", labels))
        ]


def calibrate_document_tests(wmt23_folder: str) -> dict[str, Any]:
    """Measure the error rates of intervals and tests that assume independent segments."""
    results = []
    for name in DOCUMENT_METRICS:
        for pair in DOCUMENT_PAIRS:
            pool = Pool(Path(wmt23_folder), pair, name)
            result = {
                "metric": name,
                "pair": pair,
                "segments": len(pool.documents),
                "documents": len(pool.members),
                "systems": len(pool.tables),
                "errors": pool.compute_error_ratios(),
                "intervals": {str(count): pool.count_interval_misses(count) for count in DOCUMENTS},
                "tests": {str(count): pool.count_rejections(count) for count in DOCUMENTS},
            }
            results.append(result)
            print(result, flush=True)
    settings = {"trials": DOCUMENT_TRIALS, "level": LEVEL, "near": NEAR, "samples": SAMPLES}
    return {**settings, "found": results}


# ---- runs ----

RUN_SEGMENTS = 200
RUN_TRIALS = 1000
RUN_SEED = 20110619
# Standard deviations of the random effects v, u and e. On 200 segments, v or e with a standard
# deviation of 1 changes a score by 0.07.
CAUSES = {
    "lucky runs": (0.0, 0.15, 1.0),
    "the test set": (1.0, 0.0, 0.3),
    "single segments": (0.0, 0.0, 1.0),
    "all of these": (1.0, 0.07, 0.7),
}
RUNS = ((2, 2), (3, 3), (5, 5), (3, 1))


def calibrate_run_tests() -> dict[str, Any]:
    """Measure the error rates of tests for systems with several runs."""
    results = []
    for cause, sizes in CAUSES.items():
        for counts in RUNS:
            generator = random.Random(f"{RUN_SEED} {cause} {counts}")
            rejections: Counter[str] = Counter()
            for _ in range(RUN_TRIALS):
                for name, p in _simulate_p_values(generator, counts, sizes).items():
                    rejections[name] += p < ALPHA
            results.append({"cause": cause, "sizes": sizes, "runs": counts, "found": rejections})
            print(results[-1], flush=True)
    return {"trials": RUN_TRIALS, "segments": RUN_SEGMENTS, "alpha": ALPHA, "made": results}


def _simulate_p_values(
    generator: random.Random, run_counts: tuple[int, int], deviations: tuple[float, float, float]
) -> dict[str, float]:
    """Simulate one trial, and return the p-value of each test."""
    test_set, luck, noise = deviations
    hard = [generator.gauss(0, 1) for _ in range(RUN_SEGMENTS)]
    systems: dict[str, dict[str, list[float]]] = {}
    for name, count in zip("AB", run_counts, strict=True):
        good = [one + generator.gauss(0, test_set) for one in hard]
        systems[name] = {}
        for i in range(count):
            shift = generator.gauss(0, luck)
            scores = [round(one + shift + generator.gauss(0, noise), 6) for one in good]
            systems[name][f"{name}{i}"] = scores
    options = {"seed": generator.randrange(1 << 32), "randomizations": SAMPLES, "resamples": 1}
    by_system = {name: list(runs) for name, runs in systems.items()}
    trials: dict[str, tuple[dict[str, list[float]], dict[str, Any]]] = {
        "one": ({name: runs[f"{name}0"] for name, runs in systems.items()}, {}),
        "runs": (systems["A"] | systems["B"], {"runs": by_system, "resamples": 200}),
    }
    if run_counts[0] == run_counts[1]:
        stacked = {
            name: [x for run in runs.values() for x in run] for name, runs in systems.items()
        }
        trials["stacked"] = (stacked, {})
    p_values = {}
    for name, (scores_by_name, more_options) in trials.items():
        measure = Measure.from_scores("x", scores_by_name)
        [result] = run_paired_tests([measure], **{**options, **more_options})
        p_values[name] = result.differences["B"].p
    return p_values


def main() -> None:
    """Run the named measurement, and store the result."""
    kinds = {
        "tests": calibrate_segment_tests,
        "buckets": calibrate_bucket_tests,
        "documents": calibrate_document_tests,
        "runs": calibrate_run_tests,
    }
    if len(sys.argv) < 2 or sys.argv[1] not in kinds:
        sys.exit(f"usage: python docs/calibration.py {{{','.join(kinds)}}} [FOLDER]")
    result = kinds[sys.argv[1]](*sys.argv[2:])
    write_atomically(RESULTS[sys.argv[1]], (json.dumps(result, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
