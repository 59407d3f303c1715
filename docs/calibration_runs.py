"""Measures how often tests of systems with several runs are wrong; writes calibration_runs.json.

python docs/calibration_runs.py     it needs no data, and takes six minutes on one core

Two systems are equal: the score of run r of system s on segment i is d(i) + v(s, i) + u(s, r) +
e(s, r, i), where all are normal with mean 0 and d, the difficulty of the segment, is shared. The
rest says what is by chance: what a system is good at (v), whether the run is a lucky one (u), and
what the run makes of the segment (e). A test at 5 % should find a difference in 5 % of trials.

one      randomization of the first run of each: the usual test
stacked  randomization of all runs, as if those of a system were one after the other and each of
         their segments changed sides by itself
runs     randomization over segments and runs: `paired` with `runs`
"""

from __future__ import annotations

import json
import random
from pathlib import Path

from truebleu.significance import Measure, paired
from truebleu.text.system import write_whole

RESULT = Path(__file__).with_name("calibration_runs.json")

SEGMENTS = 200
TRIALS = 1000
RANDOMIZATIONS = 400
RESAMPLES = 200
ALPHA = 0.05
SEED = 20110619
# What is by chance, as standard deviations: of v, u and e. On 200 segments, a v or e of 1 moves a
# score by 0.07.
CAUSES = {
    "lucky runs": (0.0, 0.15, 1.0),
    "the test set": (1.0, 0.0, 0.3),
    "single segments": (0.0, 0.0, 1.0),
    "all of it": (1.0, 0.07, 0.7),
}
RUNS = ((2, 2), (3, 3), (5, 5), (3, 1))


def system(dice: random.Random, hard: list[float], runs: int, sizes: tuple[float, float, float]):
    """The scores of the runs of a system."""
    good = [one + dice.gauss(0, sizes[0]) for one in hard]
    made = []
    for _ in range(runs):
        luck = dice.gauss(0, sizes[1])
        made.append([round(one + luck + dice.gauss(0, sizes[2]), 6) for one in good])
    return made


def p_values(dice: random.Random, runs: tuple[int, int], sizes: tuple[float, float, float]):
    """The p-values of the three tests on one trial."""
    hard = [dice.gauss(0, 1) for _ in range(SEGMENTS)]
    systems = {
        name: system(dice, hard, count, sizes) for name, count in zip("AB", runs, strict=True)
    }
    outputs = {f"{name}{i}": run for name, made in systems.items() for i, run in enumerate(made)}
    options = {"seed": dice.randrange(1 << 32), "randomizations": RANDOMIZATIONS}
    one = {name: made[0] for name, made in systems.items()}
    columns: dict = {"one": (one, {})}
    by_system = {name: [f"{name}{i}" for i in range(len(systems[name]))] for name in systems}
    columns["runs"] = (outputs, {"runs": by_system, "resamples": RESAMPLES})
    if runs[0] == runs[1]:
        stacked = {name: [x for run in made for x in run] for name, made in systems.items()}
        columns["stacked"] = (stacked, {})
    found = {}
    for name, (scores, more) in columns.items():
        settings = {"resamples": 1, **options, **more}
        [result] = paired([Measure.of_scores("x", scores)], **settings)
        found[name] = result.differences["B"].p
    return found


def main() -> None:
    """Measures everything."""
    made = []
    for cause, sizes in CAUSES.items():
        for runs in RUNS:
            dice = random.Random(f"{SEED} {cause} {runs}")
            counts: dict[str, int] = {}
            for _ in range(TRIALS):
                for name, p in p_values(dice, runs, sizes).items():
                    counts[name] = counts.get(name, 0) + (p < ALPHA)
            made.append({"cause": cause, "sizes": sizes, "runs": runs, "found": counts})
            print(made[-1], flush=True)
    result = {"trials": TRIALS, "segments": SEGMENTS, "alpha": ALPHA, "made": made}
    write_whole(RESULT, (json.dumps(result, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
