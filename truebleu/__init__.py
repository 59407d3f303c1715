"""BLEU and the metrics read beside it: exact, explained, and as fast as reading the file."""

from truebleu._kernel import InputError, Scores, __version__
from truebleu.bleu import BLEU, bleu
from truebleu.chrf import CHRF, chrf
from truebleu.files import File
from truebleu.metric import Metric, Score, Signature, metric
from truebleu.statistics import Statistics
from truebleu.ter import TER, ter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from truebleu.accumulator import Accumulator
    from truebleu.comparison import Comparison, compare
    from truebleu.diversity import distinct_n, pairwise_diversity, self_bleu
    from truebleu.explanation import Explanation, explain
    from truebleu.family import Family
    from truebleu.family.identify import which
    from truebleu.history import History, history
    from truebleu.mbr import MBR, mbr
    from truebleu.report import Report, report

    family: Family

__all__ = [
    "BLEU",
    "CHRF",
    "MBR",
    "TER",
    "Accumulator",
    "Comparison",
    "Explanation",
    "File",
    "History",
    "InputError",
    "Metric",
    "Report",
    "Score",
    "Scores",
    "Signature",
    "Statistics",
    "__version__",
    "bleu",
    "chrf",
    "compare",
    "distinct_n",
    "explain",
    "family",
    "history",
    "mbr",
    "metric",
    "pairwise_diversity",
    "report",
    "self_bleu",
    "ter",
    "which",
]


def __getattr__(name: str) -> object:
    """What few need is imported when it is asked for."""
    if name in ("family", "history", "mbr", "report"):
        from importlib import import_module

        return import_module(f"truebleu.{name}")
    if name == "Accumulator":
        from truebleu.accumulator import Accumulator

        return Accumulator
    if name in ("compare", "Comparison"):
        from truebleu import comparison

        return getattr(comparison, name)
    if name in ("explain", "Explanation"):
        from truebleu import explanation

        return getattr(explanation, name)
    if name in ("distinct_n", "pairwise_diversity", "self_bleu"):
        from truebleu import diversity

        return getattr(diversity, name)
    if name == "MBR":
        from truebleu.mbr import MBR

        return MBR
    if name == "History":
        from truebleu.history import History

        return History
    if name == "Report":
        from truebleu.report import Report

        return Report
    if name == "which":
        from truebleu.family.identify import which

        return which
    raise AttributeError(f"module 'truebleu' has no attribute '{name}'")
