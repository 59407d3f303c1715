"""Measures how intervals and tests of buckets differ from those of segments, and writes blocks.json.

python docs/blocks.py WMT22     WMT22: the folder of the general task's data

The page docs/at-scale.md is made from the result, which is kept because the data are no part of the
project. It takes some ten minutes on one core.

The segments are those of docs/calibration.py: two systems' translations into English. They are put
into buckets by `truebleu.engines.bucket_of` of an id that begins with the number of the trial, so
that each trial has buckets of its own.
"""

from __future__ import annotations

import json
import random
import sys
from math import sqrt
from pathlib import Path
from statistics import mean, stdev

import calibration

from truebleu import BLEU, Statistics
from truebleu.engines import bucket_of
from truebleu.significance import Measure, paired
from truebleu.text.system import write_whole

RESULT = Path(__file__).with_name("blocks.json")

BUCKETS = (50, 200, 1000)
WIDTH_TRIALS = 50
NULL_TRIALS = 2000
SEGMENTS = 5000
TESTS = ("ar", "bs")
LEVELS = (0.05, 0.10)
DRAWS = 1000
SEED = 20021109


def bucketed(table: Statistics, buckets: int, trial: int) -> Statistics:
    """A row a bucket instead of a row a segment."""
    numbers = [bucket_of(f"{trial}-{i}", buckets) for i in range(len(table))]
    place = {bucket: i for i, bucket in enumerate(sorted(set(numbers)))}
    return Statistics(
        table.group_totals([place[bucket] for bucket in numbers], len(place)),
        columns=table.columns,
        fingerprint=table.fingerprint,
        references=table.references,
    )


def widths(metric: BLEU, tables: list[Statistics]) -> dict[str, dict[str, list[float]]]:
    """The errors that buckets find, as shares of the one that segments find: mean, deviation."""

    def errors(one: Statistics, other: Statistics) -> tuple[float, float]:
        measure = Measure(metric, {"one": one, "other": other})
        [result] = paired([measure], test="bs", resamples=4 * DRAWS)
        interval = result.intervals["one"]
        return result.differences["other"].deviation, interval.high - interval.low

    exact = errors(*tables)
    found = {}
    for buckets in BUCKETS:
        ratios = []
        for trial in range(WIDTH_TRIALS):
            made = errors(*(bucketed(table, buckets, trial) for table in tables))
            ratios.append([a / b for a, b in zip(made, exact, strict=True)])
        columns = list(zip(*ratios, strict=True))
        found[str(buckets)] = {
            name: [mean(column), stdev(column)]
            for name, column in zip(("difference", "interval"), columns, strict=True)
        }
        print(buckets, found[str(buckets)], f"expected {1 / sqrt(2 * buckets):.3f}", flush=True)
    return found


def rejections(metric: BLEU, tables: list[Statistics]) -> dict[str, dict[str, list[int]]]:
    """In how many trials in which it makes no difference who wrote a segment a test finds one."""
    dice = random.Random(SEED)
    size = len(tables[0])
    both = tables[0] + tables[1]
    counts = {str(b): {test: [0] * len(LEVELS) for test in TESTS} for b in BUCKETS}
    for trial in range(NULL_TRIALS):
        drawn = dice.sample(range(size), SEGMENTS)
        turned = [dice.random() < 0.5 for _ in drawn]
        sides = [
            both[[i + size * (turn ^ side) for i, turn in zip(drawn, turned, strict=True)]]
            for side in (False, True)
        ]
        for buckets in BUCKETS:
            one, other = (bucketed(side, buckets, trial) for side in sides)
            measure = Measure(metric, {"one": one, "other": other})
            for test in TESTS:
                [result] = paired(
                    [measure], test=test, randomizations=DRAWS - 1, resamples=DRAWS, seed=trial
                )
                p = result.differences["other"].p
                for i, level in enumerate(LEVELS):
                    counts[str(buckets)][test][i] += p <= level
    print(counts, flush=True)
    return counts


def main() -> None:
    """Measures, and writes the result."""
    metric = BLEU()
    tables = calibration.pool(metric, Path(sys.argv[1]))
    result = {
        "systems": calibration.SYSTEMS,
        "pairs": calibration.PAIRS,
        "pool": len(tables[0]),
        "buckets": BUCKETS,
        "width_trials": WIDTH_TRIALS,
        "null_trials": NULL_TRIALS,
        "segments": SEGMENTS,
        "levels": LEVELS,
        "widths": widths(metric, tables),
        "rejections": rejections(metric, tables),
    }
    write_whole(RESULT, (json.dumps(result, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
