"""Parameters and citations that several family members share."""

from __future__ import annotations

from typing import Any

PAPINENI = "Papineni, Roukos, Ward and Zhu (2002): BLEU: a method for automatic evaluation. ACL"
MTEVAL = "NIST mteval-{}.pl, in mosesdecoder/scripts/generic"
MOSES = "Koehn et al. (2007): Moses: open source toolkit for statistical machine translation. ACL"
POST = "Post (2018): A call for clarity in reporting BLEU scores. WMT"
BIRD = "Bird, Klein and Loper (2009): Natural Language Processing with Python; NLTK 3.10.4"
CHEN = "Chen and Cherry (2014): A systematic comparison of smoothing techniques. WMT; NLTK 3.10.4"
LIN = "Lin and Och (2004): ORANGE. COLING; "
CAPTIONS = "Chen et al. (2015): Microsoft COCO captions. arXiv:1504.00325; pycocoevalcap"
SHI = "Shi et al. (2022): On the evaluation of neural code summarization. ICSE"
LU = "Lu et al. (2021): CodeXGLUE. NeurIPS datasets and benchmarks"
REN = "Ren et al. (2020): CodeBLEU. arXiv:2009.10297; codebleu 0.7.0"
DYER = "Dyer et al. (2010): cdec. ACL demonstrations; mteval/ns.cc"
DETLEFSEN = "Detlefsen et al. (2022): TorchMetrics. JOSS"
GREEN = "Green, Cer and Manning (2014): Phrasal. WMT"
NEUBIG = "Neubig et al. (2019): compare-mt. NAACL demonstrations"

# The input is already tokenized; white space separates the tokens.
PRETOKENIZED: dict[str, Any] = {"tokenize": "none"}
UNSMOOTHED: dict[str, Any] = {"smoothing": "none"}
ADD_ONE: dict[str, Any] = {"smoothing": "add-k-all", "no_match": "smoothed"}
SEGMENTS: dict[str, Any] = {"aggregate": "segments"}

MTEVAL_13: dict[str, Any] = {"missing_order": "one", "no_match": "smoothed", "published_scale": 1.0}
NLTK: dict[str, Any] = {
    **PRETOKENIZED,
    "missing_order": "at-least-one",
    "published_scale": 1.0,
    "arithmetic": "nltk",
}
NMT: dict[str, Any] = {"reference_length": "shortest", "published_scale": 1.0, "arithmetic": "nmt"}
TORCH: dict[str, Any] = {
    "tie": "first",
    "no_match": "any-zero",
    "published_scale": 1.0,
    "arithmetic": "float32",
}
COCO: dict[str, Any] = {
    **PRETOKENIZED,
    "smoothing": "epsilon",
    "brevity_penalty": "coco",
    "no_match": "smoothed",
    "published_scale": 1.0,
    "arithmetic": "coco",
}
CODENN: dict[str, Any] = {
    **SEGMENTS,
    "smoothing": "add-k-tiny",
    "missing_order": "one",
    "no_match": "smoothed",
    "reference_length": "shortest",
    "brevity_penalty": "plus-one",
    "arithmetic": "codenn",
}
CDEC: dict[str, Any] = {
    **PRETOKENIZED,
    "smoothing": "floor",
    "smoothing_value": 0.01,
    "missing_order": "drop",
    "no_match": "smoothed",
    "arithmetic": "cdec",
}

# mteval's command-line options, keyed by their abbreviations in member names.
MTEVAL_SWITCHES = {
    "c": "-c",
    "intl": "--international-tokenization",
    "shortest": "--brevity-penalty shortest",
}
