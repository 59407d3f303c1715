"""Facts of the years of WMT's metrics task: the tasks of a year, standard references, outliers.

Facts that mt-metrics-eval states, too, for its test sets (github.com/google-research). A system is
an outlier where the organizers said so; `outliers` finds those of other data by WMT20's rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from truebleu.text.record import Record

# Deviations from the median, in units of the median absolute deviation, that make an outlier
# (Nitika Mathur, Timothy Baldwin and Trevor Cohn 2020: Tangled up in BLEU. ACL).
MOST_DEVIATION = 2.5
NORMAL = 1.483


class Facts(Record):
    """What is known of one language pair of one year."""

    reference: str = "refA"
    """The reference that the task's metrics use."""
    gold: str = "mqm"
    """People's scores that count."""
    outliers: Sequence[str] = ()
    humans: bool = False
    """True if translations by people are systems of the task: another reference is used."""


class TaskKind(Record):
    """A statistic of a preset, for each language pair or over all of them."""

    level: str
    statistic: str
    average: str = "none"
    over_all: bool = False


class Preset(Record):
    """The official tasks of a year, and how its average weighs them."""

    name: str
    pairs: Sequence[str]
    """The official language pairs; all that are there, if none is named."""
    tasks: Sequence[TaskKind]
    metrics: Sequence[str] = ()
    """The metrics of the official table; all that are there, if none is named."""


# By test set and language pair, where they are not `Facts()`.
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
}

PRESETS: Mapping[str, Preset] = {
    "wmt20": Preset(
        "wmt20",
        (),
        (TaskKind("sys", "pearson"), TaskKind("seg", "kendall-like", "item")),
    ),
    "wmt22": Preset(
        "wmt22",
        ("en-de", "en-ru", "zh-en"),
        (TaskKind("sys", "pairwise", over_all=True),),
    ),
    "wmt23": Preset(
        "wmt23",
        ("en-de", "he-en", "zh-en"),
        (
            TaskKind("sys", "pairwise", over_all=True),
            TaskKind("sys", "pearson"),
            TaskKind("seg", "pearson"),
            TaskKind("seg", "acc-eq-opt", "item"),
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
    "wmt24": Preset(
        "wmt24",
        ("en-de", "en-es", "ja-zh"),
        (TaskKind("sys", "spa"), TaskKind("seg", "acc-eq-opt", "item")),
    ),
}

# What truebleu computes for a metric of the task that its own registry calls otherwise.
COMPUTED: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "f200spbleu": ("bleu", {"tokenize": "flores200"}),
}


def facts(test_set: str | None, pair: str) -> Facts | None:
    """What is known of a language pair of a test set; None for one that is not known."""
    return None if test_set is None else FACTS.get(test_set, {}).get(pair)


def outliers(scores: Mapping[str, float]) -> list[str]:
    """Systems whose scores lie 2.5 median absolute deviations or more from the median.

    As WMT20's metrics task found them. Raises nothing: without a spread there are none.

    >>> outliers({"a": 70.0, "b": 71.0, "c": 72.5, "d": 74.0, "e": 12.0})
    ['e']
    """
    if not scores:
        return []
    middle = median(scores.values())
    spread = NORMAL * median(abs(value - middle) for value in scores.values())
    if not spread:
        return []
    return [name for name, value in scores.items() if abs(value - middle) / spread > MOST_DEVIATION]
