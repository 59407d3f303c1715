"""Names of other evaluation packages, with truebleu's equivalents for error messages.

`truebleu.__getattr__` names the equivalent when a program uses such a name, which helps users to
port code. The names are not aliases: arguments and scales differ.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from truebleu.metrics import registry
from truebleu.text.argument_checks import find_closest

# Difference between the reference arguments of truebleu's and sacreBLEU's corpus functions.
_STREAMS = (
    "`references` contains one string or one list of strings per segment. sacreBLEU expects one "
    "list of segments per reference. To convert it, use list(zip(*streams))."
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
_TESTS = "`test` is 'ar' (approximate randomization) or 'bs' (paired bootstrap)."
_EVALUATE = (
    "`references` contains one string or one list of strings per segment. "
    "truebleu.integrations.evaluate provides a module for evaluate.load."
)


def _format_call(metric: str, method: str) -> str:
    argument = "hypothesis" if method == "sentence" else "hypotheses"
    return f"tb.{metric}.{method}({argument}, references)"


# Names, each with the equivalent call and a note about differences. Lookups ignore upper case and
# underscores, so that "BLEUScore" is also torchmetrics' function bleu_score.
EQUIVALENTS: dict[str, tuple[str, str]] = {
    # sacreBLEU's module
    "corpus_bleu": (
        "tb.bleu(hypotheses, references)",
        f"{_STREAMS} tb.NLTKBLEU().score(hypotheses, references) is NLTK's corpus_bleu.",
    ),
    "corpus_chrf": ("tb.chrf(hypotheses, references)", _STREAMS),
    "corpus_ter": ("tb.ter(hypotheses, references)", _STREAMS),
    "raw_corpus_bleu": (_format_call("metric('sacrebleu-raw')", "score"), _STREAMS),
    "sentence_bleu": (
        _format_call("BLEU()", "sentence"),
        f"{_SENTENCE} tb.NLTKBLEU().sentence(hypothesis, references) is NLTK's sentence_bleu.",
    ),
    "sentence_chrf": (_format_call("CHRF()", "sentence"), _SENTENCE),
    "sentence_ter": (_format_call("TER()", "sentence"), _SENTENCE),
    "extract_word_ngrams": ("tb.ngrams(tokens, n)", ""),
    "extract_char_ngrams": ("tb.ngrams(list(text), n)", "N-grams are tuples of characters."),
    **dict.fromkeys(
        ("dataset", "DATASETS", "download_test_set"),
        ("tb.testset(name, langpair)", "`truebleu testset list` lists the names."),
    ),
    "get_source_file": ("tb.testset(name, langpair).path('source')", ""),
    "get_reference_files": (
        "tb.testset(name, langpair).references",
        "`references` maps names to lists of segments.",
    ),
    "get_available_testsets": ("the command `truebleu testset list`", ""),
    "get_langpairs_for_testset": ("the command `truebleu testset info NAME`", ""),
    "smart_open": ("pathlib.Path", "Every function accepts paths, including compressed files."),
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
    **{
        f"{kind}_{name}": (_format_call(f"{name.upper()}()", method), _NLTK)
        for kind, method in (("corpus", "score"), ("sentence", "sentence"))
        for name in ("gleu", "nist")
    },
    **dict.fromkeys(
        ("meteor_score", "single_meteor_score"),
        (_format_call("metric('meteor-nltk')", "sentence"), _NLTK),
    ),
    "everygrams": ("tb.ngrams(text, n)", "`ngrams` counts the n-grams of one order."),
    # torchmetrics' classes and functions
    **{
        name: (_format_call(metric, "score"), _TORCHMETRICS)
        for name, metric in {
            "BLEUScore": "metric('torchmetrics')",
            "SacreBLEUScore": "metric('torchmetrics-sacrebleu')",
            "CHRFScore": "CHRF(word_order=2)",
            "TranslationEditRate": "TER()",
            "WordErrorRate": "WER()",
            "CharErrorRate": "CER()",
            "MatchErrorRate": "MER()",
            "WordInfoLost": "WIL()",
            "WordInformationLost": "WIL()",
            "WordInfoPreserved": "WIP()",
            "WordInformationPreserved": "WIP()",
        }.items()
    },
    **dict.fromkeys(
        ("ROUGEScore", "rouge_scorer"),
        ("tb.metric('rouge-l')", "Other names: 'rouge-1', 'rouge-2', 'rouge-lsum'."),
    ),
    # jiwer, rouge-score, bert-score and evaluate
    **{
        name: (_format_call(f"{name.upper()}()", "score"), _JIWER)
        for name in ("wer", "cer", "mer", "wil", "wip")
    },
    **dict.fromkeys(
        ("paired_bootstrap", "bootstrap", "paired_bs_test", "PairedTest", "significance_test"),
        ("tb.compare({'A': hypotheses_of_a, 'B': hypotheses_of_b}, references)", _TESTS),
    ),
    **dict.fromkeys(("word_tokenize", "tokenizer", "tokenizers"), ("tb.tokenize(text, name)", "")),
    "process_words": ("tb.explain(hypotheses, references, 'wer')", _JIWER),
    "RougeScorer": (
        _format_call("metric('rouge-l')", "sentence"),
        "The score has `precision`, `recall` and `value`, the F-measure. Hypotheses come first.",
    ),
    "bert_score": ("tb.metric('bertscore:MODEL').score(hypotheses, references)", ""),
    "rouge": (_format_call("metric('rouge-l')", "score"), _EVALUATE),
    "sacrebleu": ("tb.bleu(hypotheses, references)", _EVALUATE),
    **dict.fromkeys(
        ("load", "load_metric", "evaluate", "compute", "score", "corpus_score"),
        ("tb.metric(name).score(hypotheses, references)", _EVALUATE),
    ),
    "sentence_score": ("tb.metric(name).sentence(hypothesis, references)", _SENTENCE),
    "chrfpp": ("tb.chrf(hypotheses, references, word_order=2)", ""),
}


def _simplify(name: str) -> str:
    return re.sub("[^a-z0-9+]", "", name.lower())


def describe_missing_name(name: str, public_names: Sequence[str]) -> str:
    """Return the message for a name that truebleu does not have, with its equivalent if known.

    Case and underscores are ignored, as in "rougeL" or "rouge_l". Names of metrics, and of
    functions in other packages, have an equivalent. For other names, the message suggests similar
    public names.

    >>> describe_missing_name("sentence_ter", [])
    "truebleu has no 'sentence_ter'; use tb.TER().sentence(hypothesis, references). ..."
    >>> describe_missing_name("blue", ["bleu", "chrf"])
    "truebleu has no 'blue'; did you mean 'bleu'?"
    """
    problem = f"truebleu has no '{name}'"
    if name.startswith("_"):
        return problem
    simple_name = _simplify(name)
    known_names = {_simplify(one): equivalent for one, equivalent in EQUIVALENTS.items()}
    call, note = EQUIVALENTS.get(name) or known_names.get(simple_name, ("", ""))
    near = next((one for one in public_names if one.lower() == name.lower()), "")
    if not (call or near):
        metrics = {_simplify(one): one for one in registry.list_metric_names()}
        metrics |= {one: f"{one}:MODEL" for one in registry.PREFIXED_METRICS}
        if simple_name in metrics:
            call = _format_call(f"metric('{metrics[simple_name]}')", "score")
        else:
            near = find_closest(name, public_names, cutoff=0.7)
    if call:
        return f"{problem}; use {call}.{note and ' '}{note}"
    return problem + (f"; did you mean '{near}'?" if near else "")
