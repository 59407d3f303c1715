"""Measures the false positives of each test in truebleu.significance; writes calibration.json.

python docs/calibration.py WMT22 [METRIC...]     WMT22: the folder of the general task's data

The page docs/significance.md is made from the result. This takes long (ten minutes a
metric on one core) and needs data that are no part of the project, so the result is kept instead.

A trial is a test set for which the null hypothesis holds, made of real segments: so many are drawn
without replacement from those that two systems translated into English, and in each, the two
systems change places or not with the same probability. What wrote a translation then makes no
difference. A calibrated test finds a difference at 5 % in 5 % of such trials.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

from truebleu import BLEU, CHRF, TER, Statistics
from truebleu.significance import RANDOMIZATIONS, RESAMPLES, TESTS, Measure, paired
from truebleu.text.system import write_whole

RESULT = Path(__file__).with_name("calibration.json")

METRICS = {"BLEU": BLEU(), "chrF2": CHRF(), "TER": TER()}
SYSTEMS = ("Online-A", "Online-B")
PAIRS = ("cs-en", "de-en", "ja-en", "ru-en", "uk-en", "zh-en")
SEGMENTS = (200, 1000, 2000)
LEVELS = (0.05, 0.10)
TRIALS = 10_000
SEED = 20021109


def pool(metric, wmt22: Path) -> list[Statistics]:
    """Each system's statistics of all segments."""
    tables = []
    for system in SYSTEMS:
        parts = [
            metric.statistics(
                wmt22 / "system-outputs" / f"generaltest2022.{pair}.hyp.{system}.en",
                wmt22
                / "references"
                / f"generaltest2022.{pair}.ref.{'B' if pair == 'cs-en' else 'A'}.en",
            )
            for pair in PAIRS
        ]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        tables.append(total)
    return tables


def rejections(metric, tables: list[Statistics], segments: int) -> dict[str, list[int]]:
    """In how many trials each test finds a difference, at each level."""
    dice = random.Random(SEED + segments)
    size = len(tables[0])
    both = tables[0] + tables[1]
    counts = {test: [0] * len(LEVELS) for test in TESTS}
    for trial in range(TRIALS):
        drawn = dice.sample(range(size), segments)
        turned = [dice.random() < 0.5 for _ in drawn]
        sides = [
            [i + size * (turn ^ side) for i, turn in zip(drawn, turned, strict=True)]
            for side in (False, True)
        ]
        measure = Measure(metric, {"one": both[sides[0]], "other": both[sides[1]]})
        for test in TESTS:
            [result] = paired([measure], test=test, seed=trial)
            p = result.differences["other"].p
            for i, level in enumerate(LEVELS):
                counts[test][i] += p < level
    return counts


def main() -> None:
    """Measures the metrics named, or all, and adds them to the result."""
    wmt22 = Path(sys.argv[1])
    result = {"metrics": {}}
    if RESULT.exists():
        result |= json.loads(RESULT.read_text(encoding="utf-8"))
    for name in sys.argv[2:] or METRICS:
        tables = pool(METRICS[name], wmt22)
        of_metric = {}
        for segments in SEGMENTS:
            of_metric[str(segments)] = rejections(METRICS[name], tables, segments)
            print(name, segments, of_metric[str(segments)], flush=True)
        result |= {
            "systems": SYSTEMS,
            "pairs": PAIRS,
            "pool": len(tables[0]),
            "trials": TRIALS,
            "levels": LEVELS,
            "randomizations": RANDOMIZATIONS,
            "resamples": RESAMPLES,
            "seed": SEED,
        }
        result["metrics"][name] = of_metric
        write_whole(RESULT, (json.dumps(result, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
