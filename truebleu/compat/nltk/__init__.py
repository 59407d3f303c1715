"""NLTK's BLEU, GLEU, NIST and chrF by their own names, over this package's engine.

The modules `bleu_score`, `gleu_score`, `nist_score` and `chrf_score` stand for those of
`nltk.translate`, release 3.10: the same functions, arguments, values to the last bit, types,
warnings and exceptions. `docs/nltk.md` lists the differences.

>>> from truebleu.compat.nltk import sentence_bleu
>>> reference, hypothesis = "the cat is on the mat".split(), "the cat sat on the mat".split()
>>> sentence_bleu([reference], hypothesis, weights=(0.5, 0.5))
0.7071067811865476
"""

from truebleu.compat.nltk.bleu_score import SmoothingFunction as SmoothingFunction
from truebleu.compat.nltk.bleu_score import brevity_penalty as brevity_penalty
from truebleu.compat.nltk.bleu_score import closest_ref_length as closest_ref_length
from truebleu.compat.nltk.bleu_score import corpus_bleu as corpus_bleu
from truebleu.compat.nltk.bleu_score import modified_precision as modified_precision
from truebleu.compat.nltk.bleu_score import sentence_bleu as sentence_bleu
from truebleu.compat.nltk.chrf_score import (
    chrf_precision_recall_fscore_support as chrf_precision_recall_fscore_support,
)
from truebleu.compat.nltk.chrf_score import corpus_chrf as corpus_chrf
from truebleu.compat.nltk.chrf_score import sentence_chrf as sentence_chrf
from truebleu.compat.nltk.gleu_score import corpus_gleu as corpus_gleu
from truebleu.compat.nltk.gleu_score import sentence_gleu as sentence_gleu
from truebleu.compat.nltk.nist_score import corpus_nist as corpus_nist
from truebleu.compat.nltk.nist_score import nist_length_penalty as nist_length_penalty
from truebleu.compat.nltk.nist_score import sentence_nist as sentence_nist
