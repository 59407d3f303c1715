"""What is asked for: statistics of levels and sets, which are the columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from truebleu.meta_evaluation import statistics
from truebleu.meta_evaluation.judged import SEGMENTS, SYSTEMS
from truebleu.meta_evaluation.statistics import STATISTICS, WITHOUT_AVERAGE
from truebleu.text import checks
from truebleu.text.record import Record

if TYPE_CHECKING:
    from truebleu.meta_evaluation import presets

# What is asked of each level where nobody says it.
USUAL = {
    "sys": ("pairwise", "pearson"),
    "seg": ("pearson", "acc-eq-opt"),
    "domain": ("pearson", "pairwise"),
    "doc": ("pearson", "acc-eq-opt"),
}
# Where the mean is over items unless something else is asked for.
BY_ITEM = ("acc-eq", "acc-eq-opt", "kendall-like")


class Task(Record):
    """One column of the table: a statistic of one set, or over several."""

    sets: Sequence[str]
    level: str
    statistic: str
    average: str
    weight: float | None = None
    pooled: bool = False

    @property
    def name(self) -> str:
        """Its name: set, level, statistic, and an unusual average."""
        place = "all" if self.pooled else self.sets[0]
        usual = usual_average(self.statistic)
        more = "" if self.average == usual else f":{self.average}"
        return f"{place}:{self.level}:{self.statistic}{more}"


def usual_average(statistic: str) -> str:
    """The average that a statistic has in the metrics tasks."""
    return "item" if statistic in BY_ITEM else "none"


def tasks_of(
    sets: Sequence[str],
    levels: Sequence[str],
    wanted: Sequence[str] | None,
    average: str | None,
) -> list[Task]:
    """The tasks of what is asked for: each statistic of each level, for each set."""
    made: list[Task] = []
    for level in levels:
        for statistic in USUAL[level] if wanted is None else wanted:
            checks.one_of("statistic", statistic, STATISTICS)
            if statistic in WITHOUT_AVERAGE and level != SYSTEMS:
                if wanted is None or len(levels) > 1:
                    continue
                raise ValueError(f"statistic: {statistic} compares systems; ask for level sys")
            row = average or usual_average(statistic)
            if statistic in WITHOUT_AVERAGE or level == SYSTEMS:
                row = "none"
            if statistic == "acc-eq-opt" and level == SYSTEMS and wanted is not None:
                row = "none"
            if statistic == "pairwise" and len(sets) > 1:
                made.append(Task(tuple(sets), level, statistic, row, pooled=True))
            made += [Task((name,), level, statistic, row) for name in sets]
    return made


def tasks_of_preset(preset: presets.Preset, sets: Sequence[str]) -> list[Task]:
    """The tasks of a year; those over all sets weigh as much as there are sets."""
    made: list[Task] = []
    made += [
        Task(tuple(sets), kind.level, kind.statistic, kind.average, float(len(sets)), pooled=True)
        for kind in preset.tasks
        if kind.over_all
    ]
    for name in sets:
        made += [
            Task((name,), kind.level, kind.statistic, kind.average, 1.0)
            for kind in preset.tasks
            if not kind.over_all
        ]
    return made


class Asked(Record):
    """What is asked for, beside the scores."""

    tasks: Sequence[Task]
    epsilon: float | None = None
    nan_as_zero: bool = False
    exchanges: int = statistics.EXCHANGES
    seed: int | None = None
    workers: int = 1
    preset: str | None = None
    significance: int | None = None
    correction: str | None = None
    confidence: int | None = None
    resampled: str = "items"
    level: float = 0.95


def levels_of(tasks: Sequence[Task]) -> list[str]:
    """The levels of scores that tasks need."""
    needed = {task.level for task in tasks}
    if any(task.statistic == "spa" for task in tasks):
        needed.add(SEGMENTS)
    return [level for level in ("sys", "domain", "doc", "seg") if level in needed]
