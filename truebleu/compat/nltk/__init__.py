"""NLTK's BLEU, GLEU, NIST and chrF by their own names, over this package's engine.

The modules `bleu_score`, `gleu_score`, `nist_score` and `chrf_score` stand for those of
`nltk.translate`, release 3.10: the same functions, arguments, values to the last bit, types,
warnings and exceptions. `docs/nltk.md` lists what differs.

>>> from truebleu.compat.nltk import sentence_bleu
>>> reference, hypothesis = "the cat is on the mat".split(), "the cat sat on the mat".split()
>>> sentence_bleu([reference], hypothesis, weights=(0.5, 0.5))
0.7071067811865476
"""

from truebleu.compat.nltk.bleu_score import (
    SmoothingFunction,
    brevity_penalty,
    closest_ref_length,
    corpus_bleu,
    modified_precision,
    sentence_bleu,
)
from truebleu.compat.nltk.chrf_score import (
    chrf_precision_recall_fscore_support,
    corpus_chrf,
    sentence_chrf,
)
from truebleu.compat.nltk.gleu_score import corpus_gleu, sentence_gleu
from truebleu.compat.nltk.nist_score import corpus_nist, nist_length_penalty, sentence_nist

__all__ = [
    "SmoothingFunction",
    "brevity_penalty",
    "chrf_precision_recall_fscore_support",
    "closest_ref_length",
    "corpus_bleu",
    "corpus_chrf",
    "corpus_gleu",
    "corpus_nist",
    "modified_precision",
    "nist_length_penalty",
    "sentence_bleu",
    "sentence_chrf",
    "sentence_gleu",
    "sentence_nist",
]
