"""BLEU and related metrics, exact and explained."""

from truebleu._kernel import __version__
from truebleu.metrics import registry

TYPE_CHECKING = False
if TYPE_CHECKING:  # imports for type checkers; a test compares them with _NAMES
    from truebleu._kernel import InputError as InputError, Scores as Scores
    from truebleu.bleu_family.identify import which as which
    from truebleu.bleu_family.family_catalogue import Family as Family, family as family
    from truebleu.comparison import Comparison as Comparison, compare as compare
    from truebleu.comparison.gate import Check as Check, check as check
    from truebleu.comparison.setup_description import (
        SetupDescription as SetupDescription,
        cite as cite,
    )
    from truebleu.comparison.history import History as History, history as history
    from truebleu.comparison.latency_view import Latency as Latency, latency as latency
    from truebleu.explanation import Explanation as Explanation, explain as explain
    from truebleu.meta_evaluation.auto_rank import autorank as autorank
    from truebleu.meta_evaluation.error_spans import (
        ErrorSpan as ErrorSpan,
        ErrorSpans as ErrorSpans,
        read_spans as read_spans,
    )
    from truebleu.integrations.rewards import Reward as Reward, reward as reward
    from truebleu.meta_evaluation.human_scores import (
        EvaluatedText as EvaluatedText,
        SystemSelection as SystemSelection,
    )
    from truebleu.meta_evaluation.tasks import (
        AgreementTests as AgreementTests,
        StatisticOptions as StatisticOptions,
        TaskFolder as TaskFolder,
    )
    from truebleu.meta_evaluation.meta_view import (
        MetaEvaluation as MetaEvaluation,
        meta_evaluate as meta_evaluate,
    )
    from truebleu.metrics.accumulator import Accumulator as Accumulator
    from truebleu.metrics.base import Metric as Metric, Score as Score, Signature as Signature
    from truebleu.metrics.bleu import BLEU as BLEU, bleu as bleu
    from truebleu.metrics.chrf import CHRF as CHRF, chrf as chrf
    from truebleu.metrics.codebleu import CodeBLEU as CodeBLEU
    from truebleu.metrics.composite_scores import (
        document_bleu as document_bleu,
        mean_document_bleu as mean_document_bleu,
    )
    from truebleu.metrics.gec_gleu import GECGLEU as GECGLEU
    from truebleu.metrics.gleu import GLEU as GLEU
    from truebleu.metrics.ibleu import IBLEU as IBLEU
    from truebleu.metrics.ngram_f_score import NGramF as NGramF
    from truebleu.metrics.nist import NIST as NIST
    from truebleu.metrics.nltk_bleu import NLTKBLEU as NLTKBLEU
    from truebleu.metrics.registry import metric as metric
    from truebleu.metrics.sari import SARI as SARI
    from truebleu.metrics.scores import Statistics as Statistics
    from truebleu.metrics.captions import (
        CIDEr as CIDEr,
        document_frequencies as document_frequencies,
    )
    from truebleu.metrics.text_warnings import TextWarning as TextWarning
    from truebleu.metrics.ter import TER as TER, ter as ter

    from truebleu.metrics.wer import CER as CER, MER as MER, WER as WER, WIL as WIL, WIP as WIP
    from truebleu.pairwise.diversity import (
        distinct_n as distinct_n,
        pairwise_diversity as pairwise_diversity,
        self_bleu as self_bleu,
    )
    from truebleu.pairwise.mbr import MBR as MBR, mbr as mbr
    from truebleu.reports import Report as Report, report as report
    from truebleu.reports.lab import (
        Playground as Playground,
        create_playground as create_playground,
    )
    from truebleu.resegmentation.resegment import (
        Resegmentation as Resegmentation,
        resegment as resegment,
    )
    from truebleu.resegmentation.suber import SubERScore as SubERScore, suber as suber
    from truebleu.resegmentation.subtitles import read_subtitles as read_subtitles
    from truebleu.testsets.published_set import TestSet as TestSet, testset as testset
    from truebleu.text.languages import language as language
    from truebleu.text.segments import File as File
    from truebleu.text.corpus_inputs import token_ids as token_ids
    from truebleu.text.tokenizers import ngrams as ngrams, tokenize as tokenize

# Public names by module. A module is imported when one of its names is first used.
_NAMES = {
    "_kernel": "InputError Scores",
    "bleu_family.identify": "which",
    "bleu_family.family_catalogue": "Family family",
    "comparison": "Comparison compare",
    "comparison.gate": "Check check",
    "comparison.history": "History history",
    "comparison.latency_view": "Latency latency",
    "comparison.setup_description": "SetupDescription cite",
    "explanation": "Explanation explain",
    "meta_evaluation.auto_rank": "autorank",
    "meta_evaluation.error_spans": "ErrorSpan ErrorSpans read_spans",
    "integrations.rewards": "Reward reward",
    "meta_evaluation.human_scores": "EvaluatedText SystemSelection",
    "meta_evaluation.tasks": "AgreementTests StatisticOptions TaskFolder",
    "meta_evaluation.meta_view": "MetaEvaluation meta_evaluate",
    "metrics.accumulator": "Accumulator",
    "metrics.base": "Metric Score Signature",
    "metrics.bleu": "BLEU bleu",
    "metrics.captions": "CIDEr document_frequencies",
    "metrics.text_warnings": "TextWarning",
    "metrics.chrf": "CHRF chrf",
    "metrics.codebleu": "CodeBLEU",
    "metrics.composite_scores": "document_bleu mean_document_bleu",
    "metrics.gec_gleu": "GECGLEU",
    "metrics.gleu": "GLEU",
    "metrics.ibleu": "IBLEU",
    "metrics.ngram_f_score": "NGramF",
    "metrics.nist": "NIST",
    "metrics.nltk_bleu": "NLTKBLEU",
    "metrics.registry": "metric",
    "metrics.sari": "SARI",
    "metrics.scores": "Statistics",
    "metrics.ter": "TER ter",
    "metrics.wer": "CER MER WER WIL WIP",
    "pairwise.diversity": "distinct_n pairwise_diversity self_bleu",
    "pairwise.mbr": "MBR mbr",
    "reports": "Report report",
    "reports.lab": "Playground create_playground",
    "resegmentation.resegment": "Resegmentation resegment",
    "resegmentation.suber": "SubERScore suber",
    "resegmentation.subtitles": "read_subtitles",
    "testsets.published_set": "TestSet testset",
    "text.languages": "language",
    "text.segments": "File",
    "text.corpus_inputs": "token_ids",
    "text.tokenizers": "ngrams tokenize",
}
PUBLIC = dict(sorted((name, module) for module, names in _NAMES.items() for name in names.split()))

__all__ = ["__version__", *PUBLIC]  # noqa: PLE0604


def _load_family() -> "Family":
    from truebleu.bleu_family.family_catalogue import family

    return family


registry.NAME_SOURCES.append(
    (
        "the members of the BLEU family (truebleu family list)",
        _load_family,
        lambda name: _load_family()[name].metric,
    )
)


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in PUBLIC:
        import sys
        from importlib.util import find_spec

        # `from truebleu import name` first looks up an attribute, and suppresses an AttributeError.
        is_import = sys._getframe(1).f_code.co_name == "_handle_fromlist"  # noqa: SLF001
        if is_import and find_spec(f"truebleu.{name}"):
            raise AttributeError(name)  # Python then imports the submodule

        from truebleu.compat.equivalents import describe_missing_name

        message = describe_missing_name(name, __all__)
        raise ImportError(message, name=__name__) if is_import else AttributeError(message)
    value = getattr(import_module(f"truebleu.{PUBLIC[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
