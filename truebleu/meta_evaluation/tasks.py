"""Tasks: the columns of a meta-evaluation, and the official tasks of WMT by year.

The facts about WMT's test sets agree with mt-metrics-eval (github.com/google-research). Outliers
are the systems that the organizers declared outliers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from truebleu.meta_evaluation.agreement_statistics import AVERAGES, STATISTICS
from truebleu.significance.results import CORRECTION_FUNCTIONS
from truebleu.text import argument_checks

SEGMENTS, SYSTEMS = "seg", "sys"
LEVELS = ("sys", "domain", "doc", "seg")
# Default statistics of each level.
DEFAULT_STATISTIC_NAMES = {
    "sys": ("pairwise", "pearson"),
    "seg": ("pearson", "acc-eq-opt"),
    "domain": ("pearson", "pairwise"),
    "doc": ("pearson", "acc-eq-opt"),
}
# Statistics that are averaged over items by default.
BY_ITEM = ("acc-eq", "acc-eq-opt", "kendall-like")
# Statistics of systems, which are not averaged.
WITHOUT_AVERAGE = ("pairwise", "spa")


@dataclass(frozen=True)
class StatisticOptions:
    """Options for the statistics that `meta_evaluate` computes.

    names: one or more of pearson, spearman, tau-b, tau-c, kendall-like, acc-eq, acc-eq-opt,
        pairwise, spa (default: statistics that suit each level).
    levels: one or more of "sys", "domain", "doc", "seg".
    average: "none", "item" or "sys" (default: the statistic's usual average).
    epsilon: for acc-eq; metric scores that differ by at most this value are tied.
    nan_as_zero: count rows without a value as 0, instead of leaving them out.
    by: "domain" or "doc": treat each domain or document as a separate set.
    """

    names: Sequence[str] | None = None
    levels: Sequence[str] = ("sys", "seg")
    average: str | None = None
    epsilon: float | None = None
    nan_as_zero: bool = False
    by: str | None = None

    def __post_init__(self) -> None:
        for level in self.levels:
            argument_checks.check_choice("level", level, LEVELS)
        argument_checks.check_choice("average", self.average, (None, *AVERAGES))
        argument_checks.check_choice("by", self.by, (None, "domain", "doc"))
        if self.epsilon is not None:
            argument_checks.check_number("epsilon", self.epsilon)


@dataclass(frozen=True)
class AgreementTests:
    """Options for the tests and intervals that `meta_evaluate` computes.

    significance: number of randomizations for the test of each pair of metrics.
    correction: correction of p-values for multiple comparisons, "holm" or "bh".
    confidence: number of resamples for intervals, of "items", "documents" or "systems".
    level: confidence level of intervals; metrics differ significantly if p <= 1 - level.
    seed: 0 or more; None for a new seed per run.
    """

    significance: int | None = None
    correction: str | None = None
    confidence: int | None = None
    resampled: str = "items"
    level: float = 0.95
    seed: int | None = argument_checks.DEFAULT_SEED

    def __post_init__(self) -> None:
        argument_checks.check_choice("correction", self.correction, (None, *CORRECTION_FUNCTIONS))
        argument_checks.check_choice("resampled", self.resampled, ("items", "documents", "systems"))
        argument_checks.check_confidence_level(self.level)
        # Convert NumPy integers, which the json module does not support.
        for name in ("significance", "confidence"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, argument_checks.check_integer(name, value, 1))
        object.__setattr__(self, "seed", argument_checks.check_seed(self.seed))


@dataclass(frozen=True)
class TaskFolder:
    """An mt-metrics-eval folder, and the parts of it that `meta_evaluate` reads.

    test_set: the name of the test set in the folder (default: the name of the preset).
    language_pairs: the language pairs to read (default: the pairs of the preset, or all pairs).
    preset: compute the official tasks and average of "wmt20", "wmt22", "wmt23", "wmt24" or
        "wmt25".
    """

    path: str | os.PathLike[str]
    test_set: str | None = None
    language_pairs: Sequence[str] | None = None
    preset: str | None = None

    def __post_init__(self) -> None:
        argument_checks.check_choice("preset", self.preset, (None, *PRESETS))


DEFAULT_STATISTICS, NO_TESTS = StatisticOptions(), AgreementTests()


@dataclass(frozen=True)
class Task:
    """One column of the table: a statistic of one set, or of several pooled sets."""

    level: str
    statistic: str
    average: str = "none"
    sets: Sequence[str] = ()
    pooled: bool = False
    weight: float | None = None

    @property
    def name(self) -> str:
        """The set, level and statistic, and the average if it is not the statistic's default."""
        parts = ["all" if self.pooled else self.sets[0], self.level, self.statistic]
        if self.average != get_default_average(self.statistic):
            parts.append(self.average)
        return ":".join(parts)


def get_default_average(statistic: str) -> str:
    """Return the average that WMT's metrics tasks use for a statistic."""
    return "item" if statistic in BY_ITEM else "none"


def list_tasks(
    sets: Sequence[str], options: StatisticOptions, preset: Preset | None = None
) -> list[Task]:
    """Return the tasks of a preset, or one task per statistic, level and set.

    The weight of a preset's pooled task is the number of sets.
    """
    if preset is not None:
        groups = [(task, tuple(sets)) for task in preset.tasks if task.pooled]
        groups += [(task, (name,)) for name in sets for task in preset.tasks if not task.pooled]
        return [replace(task, sets=names, weight=float(len(names))) for task, names in groups]
    tasks: list[Task] = []
    for level in options.levels:
        for statistic in DEFAULT_STATISTIC_NAMES[level] if options.names is None else options.names:
            argument_checks.check_choice("statistic", statistic, STATISTICS)
            if statistic in WITHOUT_AVERAGE and level != SYSTEMS:
                if options.names is None or len(options.levels) > 1:
                    continue
                raise ValueError(f"statistic: {statistic} compares systems. Use level sys.")
            row = "none" if level == SYSTEMS else options.average or get_default_average(statistic)
            if statistic == "pairwise" and len(sets) > 1:
                tasks.append(Task(level, statistic, row, tuple(sets), pooled=True))
            tasks += [Task(level, statistic, row, (name,)) for name in sets]
    return tasks


def list_levels(tasks: Sequence[Task]) -> list[str]:
    """Return the levels at which tasks need scores."""
    needed = {task.level for task in tasks}
    if any(task.statistic == "spa" for task in tasks):
        needed.add(SEGMENTS)
    return [level for level in LEVELS if level in needed]


# ---- official tasks of each year ----


@dataclass(frozen=True)
class Facts:
    """Facts about one language pair in one year."""

    reference: str = "refA"
    """The reference that the task's metrics use."""
    gold: str = "mqm"
    """The name of the human scores that the task uses."""
    outliers: Sequence[str] = ()
    humans: bool = False
    """True if human translations other than the reference are systems of the task."""


@dataclass(frozen=True)
class Preset:
    """The official language pairs, tasks and metrics of a year."""

    pairs: Sequence[str]
    """The official language pairs, or an empty sequence for all pairs in the folder."""
    tasks: Sequence[Task]
    """The tasks, without their sets, which are added later."""
    metrics: Sequence[str] = ()
    """The metrics of the official table, or an empty sequence for all stored metrics."""


WMT25_MQM_PAIRS = ("en-ko_KR", "ja-zh_CN")
WMT25_ESA_PAIRS = (
    *("cs-de_DE", "cs-uk_UA", "en-ar_EG", "en-bho_IN", "en-cs_CZ", "en-et_EE", "en-is_IS"),
    *("en-it_IT", "en-ja_JP", "en-mas_KE", "en-ru_RU", "en-sr_Cyrl_RS", "en-uk_UA", "en-zh_CN"),
)

# Facts by test set and language pair, if they differ from the defaults of `Facts`.
FACTS: Mapping[str, Mapping[str, Facts]] = {
    "wmt20": {
        pair: Facts(reference="ref", gold="wmt-z", outliers=outliers)
        for pair, outliers in {
            "cs-en": ("zlabs-nlp.1149", "CUNI-DocTransformer.1457"),
            "de-en": ("yolo.1052", "zlabs-nlp.1153", "WMTBiomedBaseline.387"),
            "en-cs": ("zlabs-nlp.1151", "Online-G.1555"),
            "en-de": ("zlabs-nlp.179", "WMTBiomedBaseline.388", "Online-G.1556"),
            "en-iu": ("UEDIN.1281", "OPPO.722", "UQAM_TanLe.521"),
            "en-ja": ("Online-G.1557", "SJTU-NICT.370"),
            "en-pl": ("Online-Z.1634", "zlabs-nlp.180", "Online-A.1576"),
            "en-ta": ("TALP_UPC.1049", "SJTU-NICT.386", "Online-G.1561"),
            "iu-en": ("NiuTrans.1206", "Facebook_AI.729"),
            "ja-en": ("Online-G.1564", "zlabs-nlp.66", "Online-Z.1640"),
            "pl-en": ("zlabs-nlp.1162",),
            "ru-en": ("zlabs-nlp.1164",),
            "ta-en": ("Online-G.1568", "TALP_UPC.192"),
            "zh-en": ("WMTBiomedBaseline.183",),
        }.items()
    },
    "wmt21.news": {
        "en-de": Facts(reference="refC"),
        "en-ru": Facts(reference="refA"),
        "zh-en": Facts(reference="refB"),
    },
    "wmt22": {"en-de": Facts(outliers=("M2M100_1.2B-B4",))},
    "wmt23": {
        "en-de": Facts(outliers=("synthetic_ref",)),
        "he-en": Facts(reference="refB", humans=True),
        "zh-en": Facts(outliers=("synthetic_ref",)),
    },
    "wmt24": {
        "en-de": Facts(reference="refB", outliers=("MSLC",)),
        "en-es": Facts(outliers=("MSLC",)),
        "ja-zh": Facts(outliers=("MSLC",)),
    },
    "wmt25": {
        **dict.fromkeys(WMT25_ESA_PAIRS, Facts(gold="esa-human1")),
        **dict.fromkeys(WMT25_MQM_PAIRS, Facts()),
    },
}

# The tasks since 2024.
SPA_AND_ACCURACY = (Task("sys", "spa"), Task("seg", "acc-eq-opt", "item"))
PRESETS: Mapping[str, Preset] = {
    "wmt20": Preset((), (Task("sys", "pearson"), Task("seg", "kendall-like", "item"))),
    "wmt22": Preset(("en-de", "en-ru", "zh-en"), (Task("sys", "pairwise", pooled=True),)),
    "wmt23": Preset(
        ("en-de", "he-en", "zh-en"),
        (
            Task("sys", "pairwise", pooled=True),
            Task("sys", "pearson"),
            Task("seg", "pearson"),
            Task("seg", "acc-eq-opt", "item"),
        ),
        (
            *("XCOMET-Ensemble", "XCOMET-QE-Ensemble", "MetricX-23", "GEMBA-MQM", "MetricX-23-QE"),
            *("mbr-metricx-qe", "MaTESe", "CometKiwi", "COMET", "BLEURT-20", "KG-BERTScore"),
            *("sescoreX", "cometoid22-wmt22", "docWMT22CometDA", "docWMT22CometKiwiDA"),
            *("Calibri-COMET22", "Calibri-COMET22-QE", "YiSi-1", "MS-COMET-QE-22", "prismRef"),
            *("mre-score-labse-regular", "BERTscore", "XLsim", "f200spBLEU", "MEE4", "tokengram_F"),
            *("embed_llama", "BLEU", "chrF", "eBLEU", "Random-sysname", "prismSrc"),
        ),
    ),
    "wmt24": Preset(("en-de", "en-es", "ja-zh"), SPA_AND_ACCURACY),
    "wmt25": Preset(sorted((*WMT25_ESA_PAIRS, *WMT25_MQM_PAIRS)), SPA_AND_ACCURACY),
}
