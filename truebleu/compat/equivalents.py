"""Names of other evaluation packages, with truebleu's equivalents for error messages.

`truebleu.__getattr__` names the equivalent when a program uses such a name, which helps users to
port code. The names are not aliases: arguments and scales differ.
"""

from __future__ import annotations

import sys
from opcode import opmap

# Difference between the references of truebleu's and sacreBLEU's corpus functions.
_STREAMS = (
    "`references` has one string or one list of strings per segment; sacreBLEU has one list of "
    "segments per reference, which list(zip(*streams)) converts."
)
# sacreBLEU's functions for one segment expect a list of references, which truebleu also accepts.
_SENTENCE = "`references` is one string or a list of strings."
_NLTK = (
    "NLTK expects references first, and lists of tokens. Here, hypotheses come first, "
    "and the metric tokenizes strings."
)
_TORCHMETRICS = (
    "truebleu.integrations.torchmetrics has metrics with update() and compute(). Scores are on a "
    "0-100 scale."
)
_JIWER = "jiwer expects references first; here, hypotheses come first. Scores are on a 0-100 scale."
_EVALUATE = (
    "`references` has one string or one list of strings per segment. "
    "truebleu.integrations.evaluate has a module for evaluate.load."
)


def _format_call(metric: str, method: str) -> str:
    """Return the call of a metric's method with the usual arguments."""
    argument = "hypothesis" if method == "sentence" else "hypotheses"
    return f"tb.{metric}.{method}({argument}, references)"


# Names, each with the equivalent call and a note about differences.
EQUIVALENTS: dict[str, tuple[str, str]] = {
    # sacreBLEU's module
    "corpus_bleu": (
        "tb.bleu(hypotheses, references)",
        f"{_STREAMS} tb.NLTKBLEU().score(hypotheses, references) is NLTK's corpus_bleu.",
    ),
    "corpus_chrf": ("tb.chrf(hypotheses, references)", _STREAMS),
    "corpus_ter": ("tb.ter(hypotheses, references)", _STREAMS),
    "raw_corpus_bleu": (
        "tb.metric('sacrebleu-raw').score(hypotheses, references)",
        _STREAMS,
    ),
    "sentence_bleu": (
        _format_call("BLEU()", "sentence"),
        f"{_SENTENCE} tb.NLTKBLEU().sentence(hypothesis, references) is NLTK's sentence_bleu.",
    ),
    "sentence_chrf": (_format_call("CHRF()", "sentence"), _SENTENCE),
    "sentence_ter": (_format_call("TER()", "sentence"), _SENTENCE),
    "extract_word_ngrams": ("tb.ngrams(tokens, n)", ""),
    "extract_char_ngrams": ("tb.ngrams(list(text), n)", "N-grams are tuples of characters."),
    "dataset": ("tb.testset(name, langpair)", ""),
    "DATASETS": ("tb.testset(name, langpair)", "`truebleu testset list` lists the names."),
    "download_test_set": ("tb.testset(name, langpair)", ""),
    "get_source_file": ("tb.testset(name, langpair).path('source')", ""),
    "get_reference_files": (
        "tb.testset(name, langpair).references",
        "It maps names to lists of segments.",
    ),
    "get_available_testsets": ("the command `truebleu testset list`", ""),
    "get_langpairs_for_testset": ("the command `truebleu testset info NAME`", ""),
    "smart_open": ("pathlib.Path", "Every function accepts paths, even of compressed files."),
    "SACREBLEU_DIR": ("the environment variable TRUEBLEU_CACHE", ""),
    # NLTK's translate module
    "modified_precision": (
        "tb.bleu(hypotheses, references, tokenize='none').precisions",
        "Each order's precision is a percentage; `matches` and `totals` contain the fractions. "
        + _NLTK,
    ),
    "brevity_penalty": ("tb.bleu(hypotheses, references).brevity_penalty", ""),
    "closest_ref_length": ("tb.bleu(hypotheses, references).reference_length", ""),
    "SmoothingFunction": ("tb.NLTKBLEU(method=1)", "`method` is NLTK's smoothing method."),
    "corpus_gleu": (_format_call("GLEU()", "score"), _NLTK),
    "sentence_gleu": (_format_call("GLEU()", "sentence"), _NLTK),
    "corpus_nist": (_format_call("NIST()", "score"), _NLTK),
    "sentence_nist": (_format_call("NIST()", "sentence"), _NLTK),
    "meteor_score": (_format_call("metric('meteor-nltk')", "sentence"), _NLTK),
    "single_meteor_score": (_format_call("metric('meteor-nltk')", "sentence"), _NLTK),
    "everygrams": ("tb.ngrams(text, n)", "It counts the n-grams of one order."),
    # torchmetrics' classes and functions
    "BLEUScore": ("tb.metric('torchmetrics')", _TORCHMETRICS),
    "SacreBLEUScore": ("tb.metric('torchmetrics-sacrebleu')", _TORCHMETRICS),
    "CHRFScore": ("tb.CHRF(word_order=2)", _TORCHMETRICS),
    "TranslationEditRate": ("tb.TER()", _TORCHMETRICS),
    "WordErrorRate": ("tb.WER()", _TORCHMETRICS),
    "CharErrorRate": ("tb.CER()", _TORCHMETRICS),
    "MatchErrorRate": ("tb.MER()", _TORCHMETRICS),
    "WordInfoLost": ("tb.WIL()", _TORCHMETRICS),
    "WordInfoPreserved": ("tb.WIP()", _TORCHMETRICS),
    "ROUGEScore": ("tb.metric('rouge-1')", "Other names: 'rouge-2', 'rouge-l', 'rouge-lsum'."),
    "bleu_score": ("tb.metric('torchmetrics').score(hypotheses, references)", _TORCHMETRICS),
    "sacre_bleu_score": (
        "tb.metric('torchmetrics-sacrebleu').score(hypotheses, references)",
        _TORCHMETRICS,
    ),
    "chrf_score": ("tb.chrf(hypotheses, references, word_order=2)", _TORCHMETRICS),
    "translation_edit_rate": ("tb.ter(hypotheses, references)", _TORCHMETRICS),
    "word_error_rate": (_format_call("WER()", "score"), _TORCHMETRICS),
    "char_error_rate": (_format_call("CER()", "score"), _TORCHMETRICS),
    "match_error_rate": (_format_call("MER()", "score"), _TORCHMETRICS),
    "word_information_lost": (_format_call("WIL()", "score"), _TORCHMETRICS),
    "word_information_preserved": (_format_call("WIP()", "score"), _TORCHMETRICS),
    # jiwer, rouge-score, bert-score and evaluate
    **{
        name: (_format_call(f"{name.upper()}()", "score"), _JIWER)
        for name in ("wer", "cer", "mer", "wil", "wip")
    },
    "process_words": ("tb.explain(hypotheses, references, 'wer')", _JIWER),
    "RougeScorer": (
        _format_call("metric('rouge-l')", "sentence"),
        "The score has `precision`, `recall` and `value`, the F-measure. Hypotheses come first.",
    ),
    "rouge": (_format_call("metric('rouge-l')", "score"), _EVALUATE),
    "sacrebleu": ("tb.bleu(hypotheses, references)", _EVALUATE),
    "load": ("tb.metric(name).score(hypotheses, references)", _EVALUATE),
}


def make_name_error(name: str) -> AttributeError | ImportError:
    """Return the error for a name that truebleu does not have, from the module's `__getattr__`.

    >>> make_name_error("sentence_ter")
    AttributeError("truebleu has no 'sentence_ter'; use tb.TER().sentence(hypothesis, ...")
    >>> make_name_error("BLUE")
    AttributeError("truebleu has no 'BLUE'")
    """
    call, note = EQUIVALENTS.get(name, ("", ""))
    hint = f"; use {call}.{note and ' '}{note}" if call else ""
    message = f"truebleu has no '{name}'{hint}"
    frame = sys._getframe(1).f_back
    if frame and frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_FROM"]:
        # Python replaces the message of an AttributeError in `from truebleu import corpus_bleu`.
        return ImportError(message, name="truebleu")
    return AttributeError(message)
