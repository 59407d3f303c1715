"""BLEU and the metrics read beside it: exact, explained, and as fast as reading the file."""

from truebleu import bleu_family as _  # noqa: F401  the registry of metrics learns of the family
from truebleu._kernel import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:  # for editors and type checkers; a test holds this and the table equal
    from truebleu._kernel import InputError as InputError
    from truebleu._kernel import Scores as Scores
    from truebleu.bleu_family.identify import which as which
    from truebleu.bleu_family.members import Family as Family
    from truebleu.bleu_family.members import family as family
    from truebleu.comparison import Comparison as Comparison
    from truebleu.comparison import compare as compare
    from truebleu.comparison.gate import Check as Check
    from truebleu.comparison.gate import check as check
    from truebleu.comparison.history import History as History
    from truebleu.comparison.history import history as history
    from truebleu.explanation import Explanation as Explanation
    from truebleu.explanation import explain as explain
    from truebleu.meta_evaluation.human_scores import EvaluatedText as EvaluatedText
    from truebleu.meta_evaluation.human_scores import SystemSelection as SystemSelection
    from truebleu.meta_evaluation.tasks import AgreementTests as AgreementTests
    from truebleu.meta_evaluation.tasks import StatisticOptions as StatisticOptions
    from truebleu.meta_evaluation.tasks import TaskFolder as TaskFolder
    from truebleu.meta_evaluation.view import MetaEvaluation as MetaEvaluation
    from truebleu.meta_evaluation.view import meta_evaluate as meta_evaluate
    from truebleu.metrics.accumulator import Accumulator as Accumulator
    from truebleu.metrics.base import Metric as Metric
    from truebleu.metrics.base import Score as Score
    from truebleu.metrics.base import Signature as Signature
    from truebleu.metrics.bleu import BLEU as BLEU
    from truebleu.metrics.bleu import bleu as bleu
    from truebleu.metrics.chrf import CHRF as CHRF
    from truebleu.metrics.chrf import chrf as chrf
    from truebleu.metrics.codebleu import CodeBLEU as CodeBLEU
    from truebleu.metrics.composed import document_bleu as document_bleu
    from truebleu.metrics.composed import mean_document_bleu as mean_document_bleu
    from truebleu.metrics.gec_gleu import GECGLEU as GECGLEU
    from truebleu.metrics.gleu import GLEU as GLEU
    from truebleu.metrics.ibleu import IBLEU as IBLEU
    from truebleu.metrics.ngram_f import NGramF as NGramF
    from truebleu.metrics.nist import NIST as NIST
    from truebleu.metrics.nltk_bleu import NLTKBLEU as NLTKBLEU
    from truebleu.metrics.registry import metric as metric
    from truebleu.metrics.statistics import Statistics as Statistics
    from truebleu.metrics.ter import TER as TER
    from truebleu.metrics.ter import ter as ter
    from truebleu.metrics.wer import CER as CER
    from truebleu.metrics.wer import MER as MER
    from truebleu.metrics.wer import WER as WER
    from truebleu.metrics.wer import WIL as WIL
    from truebleu.metrics.wer import WIP as WIP
    from truebleu.pairwise.diversity import distinct_n as distinct_n
    from truebleu.pairwise.diversity import pairwise_diversity as pairwise_diversity
    from truebleu.pairwise.diversity import self_bleu as self_bleu
    from truebleu.pairwise.mbr import MBR as MBR
    from truebleu.pairwise.mbr import mbr as mbr
    from truebleu.reports import Report as Report
    from truebleu.reports import report as report
    from truebleu.reports.lab import Laboratory as Laboratory
    from truebleu.reports.lab import lab as lab
    from truebleu.testsets.sets import TestSet as TestSet
    from truebleu.testsets.sets import testset as testset
    from truebleu.text.languages import language as language
    from truebleu.text.segments import File as File
    from truebleu.text.tokenizers import tokenize as tokenize

# Each public name, and the module that it is imported from when it is first used.
PUBLIC = {
    "Accumulator": "metrics.accumulator",
    "AgreementTests": "meta_evaluation.tasks",
    "BLEU": "metrics.bleu",
    "CER": "metrics.wer",
    "CHRF": "metrics.chrf",
    "Check": "comparison.gate",
    "CodeBLEU": "metrics.codebleu",
    "Comparison": "comparison",
    "EvaluatedText": "meta_evaluation.human_scores",
    "Explanation": "explanation",
    "Family": "bleu_family.members",
    "File": "text.segments",
    "GECGLEU": "metrics.gec_gleu",
    "GLEU": "metrics.gleu",
    "History": "comparison.history",
    "IBLEU": "metrics.ibleu",
    "InputError": "_kernel",
    "Laboratory": "reports.lab",
    "MBR": "pairwise.mbr",
    "MER": "metrics.wer",
    "MetaEvaluation": "meta_evaluation.view",
    "Metric": "metrics.base",
    "NGramF": "metrics.ngram_f",
    "NIST": "metrics.nist",
    "NLTKBLEU": "metrics.nltk_bleu",
    "Report": "reports",
    "Score": "metrics.base",
    "Scores": "_kernel",
    "Signature": "metrics.base",
    "StatisticOptions": "meta_evaluation.tasks",
    "Statistics": "metrics.statistics",
    "SystemSelection": "meta_evaluation.human_scores",
    "TER": "metrics.ter",
    "TaskFolder": "meta_evaluation.tasks",
    "TestSet": "testsets.sets",
    "WER": "metrics.wer",
    "WIL": "metrics.wer",
    "WIP": "metrics.wer",
    "bleu": "metrics.bleu",
    "check": "comparison.gate",
    "chrf": "metrics.chrf",
    "compare": "comparison",
    "distinct_n": "pairwise.diversity",
    "document_bleu": "metrics.composed",
    "explain": "explanation",
    "family": "bleu_family.members",
    "history": "comparison.history",
    "lab": "reports.lab",
    "language": "text.languages",
    "mbr": "pairwise.mbr",
    "mean_document_bleu": "metrics.composed",
    "meta_evaluate": "meta_evaluation.view",
    "metric": "metrics.registry",
    "pairwise_diversity": "pairwise.diversity",
    "report": "reports",
    "self_bleu": "pairwise.diversity",
    "ter": "metrics.ter",
    "testset": "testsets.sets",
    "tokenize": "text.tokenizers",
    "which": "bleu_family.identify",
}

__all__ = ["__version__", *PUBLIC]  # noqa: PLE0604


def __getattr__(name: str) -> object:
    if name not in PUBLIC:
        raise AttributeError(f"module 'truebleu' has no attribute '{name}'")
    from importlib import import_module

    value = getattr(import_module(f"truebleu.{PUBLIC[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
