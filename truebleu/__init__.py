"""BLEU and the metrics read beside it: exact, explained, and as fast as reading the file."""

from truebleu._kernel import InputError, Scores, __version__
from truebleu.bleu import BLEU, bleu
from truebleu.files import File
from truebleu.metric import Metric, Score, Signature, metric
from truebleu.statistics import Statistics

__all__ = [
    "BLEU",
    "File",
    "InputError",
    "Metric",
    "Score",
    "Scores",
    "Signature",
    "Statistics",
    "__version__",
    "bleu",
    "metric",
]
