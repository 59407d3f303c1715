"""Measures how wrong intervals and tests are that take segments of one document for independent.

python docs/calibration_documents.py WMT23     WMT23: the folder of the metrics task's data

Writes calibration_documents.json, of which docs/significance.md is made. The data are no part of
the project, so the result is kept. It takes two minutes.

errors      the standard error of the difference of two systems, with documents drawn, as a
            multiple of that with segments drawn: quartiles over all pairs of systems
intervals   test sets of so many documents are drawn from those that there are, with replacement,
            and two systems at random: how often the 95 % interval of their difference misses the
            difference on all documents
tests       the documents are drawn without replacement, and two systems that are nearly equal on
            all of them change places in each document by the toss of a coin: how often
            randomization finds a difference at 5 %
"""

from __future__ import annotations

import json
import random
import sys
from itertools import combinations
from pathlib import Path
from statistics import quantiles

from truebleu import BLEU, CHRF
from truebleu.significance import Measure, paired
from truebleu.text.system import write_whole

RESULT = Path(__file__).with_name("calibration_documents.json")

METRICS = {"BLEU": BLEU(effective_order=False), "chrF2": CHRF()}
# Each pair of languages with the reference that its task prefers.
PAIRS = {"en-de": "refA", "he-en": "refB", "zh-en": "refA"}
# What is no system: references, and what was made of them.
NONE = ("ref", "synthetic")
DOCUMENTS = (20, 60)
TRIALS = 1000
# Differences below this are those of nearly equal systems.
NEAR = 0.5
SAMPLES = 400
SEED = 20041109
LEVEL, ALPHA = 0.95, 0.05


class Pool:
    """The outputs of the systems of a pair of languages, counted, and their documents."""

    def __init__(self, folder: Path, pair: str, name: str) -> None:
        self.metric, self.name = METRICS[name], f"{name} {pair}"
        reference = folder / "references" / f"{pair}.{PAIRS[pair]}.txt"
        outputs = sorted((folder / "system-outputs" / pair).glob("*.txt"))
        self.tables = {
            path.stem: self.metric.statistics(path, reference)
            for path in outputs
            if not path.stem.startswith(NONE)
        }
        self.documents = (folder / "documents" / f"{pair}.docs").read_text("utf-8").splitlines()
        members: dict[str, list[int]] = {}
        for i, document in enumerate(self.documents):
            members.setdefault(document, []).append(i)
        self.members = list(members.values())
        self.scores = {
            name: self.metric.from_statistics(table).value for name, table in self.tables.items()
        }

    def drawn(self, chosen: list[int]) -> tuple[list[int], list[int]]:
        """The segments of some documents, and for each the number of its document."""
        rows = [(i, number) for number, one in enumerate(chosen) for i in self.members[one]]
        return [i for i, _ in rows], [number for _, number in rows]

    def measure(self, names: tuple[str, str], rows: list[int], turned: list[bool]) -> Measure:
        """The two systems on these segments, with places changed where `turned` says so."""
        size = len(self.documents)
        both = self.tables[names[0]] + self.tables[names[1]]
        sides = [
            [i + size * (turn ^ side) for i, turn in zip(rows, turned, strict=True)]
            for side in (False, True)
        ]
        return Measure(self.metric, {"one": both[sides[0]], "other": both[sides[1]]})


def errors(pool: Pool) -> list[float]:
    """Quartiles of the standard errors of differences, documents' to segments'."""
    measure = Measure(pool.metric, pool.tables)
    [by_segments] = paired([measure], pairs="all", test="bs")
    [by_documents] = paired([measure], pairs="all", test="bs", documents=pool.documents)
    ratios = [
        by_documents.pairs[pair].deviation / found.deviation
        for pair, found in by_segments.pairs.items()
    ]
    return quantiles(ratios, n=4, method="inclusive")


def misses(pool: Pool, documents: int) -> dict[str, int]:
    """How often each kind of interval misses the difference of all documents."""
    dice = random.Random(f"{SEED} intervals {pool.name} {documents}")
    names = list(pool.tables)
    counts = {"segments": 0, "documents": 0}
    for _ in range(TRIALS):
        seed = dice.randrange(1 << 32)
        one, other = dice.sample(names, 2)
        true = pool.scores[other] - pool.scores[one]
        chosen = dice.choices(range(len(pool.members)), k=documents)
        rows, of_row = pool.drawn(chosen)
        measure = pool.measure((one, other), rows, [False] * len(rows))
        for what, drawn in (("segments", None), ("documents", of_row)):
            [result] = paired(
                [measure], test="bs", documents=drawn, seed=seed, resamples=SAMPLES, level=LEVEL
            )
            interval = result.differences["other"].interval
            counts[what] += not interval.low <= true <= interval.high
    return counts


def rejections(pool: Pool, documents: int) -> dict[str, int]:
    """How often randomization finds a difference where none is."""
    dice = random.Random(f"{SEED} tests {pool.name} {documents}")
    near = [
        pair
        for pair in combinations(pool.tables, 2)
        if abs(pool.scores[pair[0]] - pool.scores[pair[1]]) < NEAR
    ]
    counts = {"segments": 0, "documents": 0}
    for _ in range(TRIALS):
        seed = dice.randrange(1 << 32)
        chosen = dice.sample(range(len(pool.members)), documents)
        coins = [dice.random() < 0.5 for _ in chosen]
        rows, of_row = pool.drawn(chosen)
        measure = pool.measure(dice.choice(near), rows, [coins[number] for number in of_row])
        for what, drawn in (("segments", None), ("documents", of_row)):
            [result] = paired(
                [measure], documents=drawn, seed=seed, resamples=1, randomizations=SAMPLES
            )
            counts[what] += result.differences["other"].p < ALPHA
    return {**counts, "pairs": len(near)}


def main() -> None:
    """Measures everything."""
    folder = Path(sys.argv[1])
    made = []
    for name in METRICS:
        for pair in PAIRS:
            pool = Pool(folder, pair, name)
            found = {
                "metric": name,
                "pair": pair,
                "segments": len(pool.documents),
                "documents": len(pool.members),
                "systems": len(pool.tables),
                "errors": errors(pool),
                "intervals": {str(count): misses(pool, count) for count in DOCUMENTS},
                "tests": {str(count): rejections(pool, count) for count in DOCUMENTS},
            }
            print(found, flush=True)
            made.append(found)
    result = {"trials": TRIALS, "level": LEVEL, "near": NEAR, "samples": SAMPLES, "found": made}
    write_whole(RESULT, (json.dumps(result, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
