"""sacreBLEU's parameters: names of tokenizers and smoothing methods, and truebleu's metrics."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from truebleu.metrics.table_metric import TableMetric

# A name → a class in a module of `tokenizers`, imported when it is asked for.
TOKENIZERS = {
    "none": "tokenizer_none.NoneTokenizer",
    "zh": "tokenizer_zh.TokenizerZh",
    "13a": "tokenizer_13a.Tokenizer13a",
    "intl": "tokenizer_intl.TokenizerV14International",
    "char": "tokenizer_char.TokenizerChar",
    "ja-mecab": "tokenizer_ja_mecab.TokenizerJaMecab",
    "ko-mecab": "tokenizer_ko_mecab.TokenizerKoMecab",
    "spm": "tokenizer_spm.TokenizerSPM",
    "flores101": "tokenizer_spm.Flores101Tokenizer",
    "flores200": "tokenizer_spm.Flores200Tokenizer",
    "spBLEU-1K": "tokenizer_spm.spBLEU1KTokenizer",
}

# Smoothing methods, and the value of each if none is given; None if it takes none.
SMOOTHING: dict[str, float | None] = {"none": None, "floor": 0.1, "add-k": 1, "exp": None}


def kernel_metric(name: str, parameters: dict[str, Any]) -> TableMetric[Any]:
    """The metric of that name ("bleu", "chrf" or "ter") with sacreBLEU's parameters.

    ValueError or TypeError for those that truebleu does not take.
    """
    from truebleu.metrics import registry

    if name == "bleu":
        smoothing = parameters["smooth_method"]
        # sacreBLEU takes a value for the other methods too, and ignores it.
        takes_value = SMOOTHING.get(smoothing) is not None
        parameters = {
            "tokenize": parameters["tokenize"] or "13a",
            "lowercase": bool(parameters["lowercase"]),
            "smoothing": smoothing,
            "smoothing_value": parameters["smooth_value"] if takes_value else None,
            "effective_order": bool(parameters.get("effective_order")),
            "max_order": parameters.get("max_ngram_order", 4),
        }
    return registry.metric(name, **parameters)
