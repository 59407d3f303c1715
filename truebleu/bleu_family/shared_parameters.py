"""Parameters and citations that several family members share."""

from __future__ import annotations

from typing import Any

# Keys in truebleu.text.citations.
PAPINENI = ("papineni-etal-2002-bleu",)
MTEVAL = ("nist-mteval",)
MOSES = ("koehn-etal-2007-moses",)
POST = ("post-2018-call",)
BIRD = ("bird-etal-2009-natural",)
CHEN = ("chen-cherry-2014-systematic", *BIRD)
LIN = ("lin-och-2004-orange",)
CAPTIONS = ("chen-etal-2015-microsoft",)
SHI = ("shi-etal-2022-evaluation",)
LU = ("lu-etal-2021-codexglue",)
REN = ("ren-etal-2020-codebleu",)
DYER = ("dyer-etal-2010-cdec",)
DETLEFSEN = ("detlefsen-etal-2022-torchmetrics",)
GREEN = ("green-etal-2014-phrasal",)
NEUBIG = ("neubig-etal-2019-compare",)

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
T2T: dict[str, Any] = {"missing_order": "one", "no_match": "smoothed", "arithmetic": "t2t"}
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
