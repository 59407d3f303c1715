"""cdec's QCRI_BLEU, computed in single precision as in cdec.

`BLEU` computes cdec's IBM_BLEU, KOEHN_BLEU and NIST_BLEU, which are members of the BLEU family.
Chris Dyer et al. (2010): cdec, a decoder, alignment and learning framework for
finite-state and context-free translation models. ACL demonstrations; mteval/ns.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from math import exp, log
from typing import Any

from truebleu.metrics import parameters as p
from truebleu.metrics.base import Corpus, CountedRows, make_ngram_column_limits
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.pairwise_scores import round_to_single
from truebleu.metrics.python_metric import PythonMetric
from truebleu.text import tokenizers


class CdecBLEU(PythonMetric):
    """cdec's QCRI_BLEU.

    Orders without matches are given one match, and orders without n-grams are left out. The brevity
    penalty is exp((c - r - 1) / c). The score that zero matches would get is subtracted, so the
    result can be 0 despite smoothing. cdec expects tokenized text.

    >>> print(CdecBLEU().sentence("the cat sat on the mat", "the cat is on the mat"))
    cdec-BLEU = 26.61
    """

    __slots__ = ()

    NAME = "cdec-BLEU"
    CITATIONS = ("dyer-etal-2010-cdec",)
    PREFIX = "cdec-"
    CONSTANTS = {"cdec": ("qcri", "cd")}  # noqa: RUF012
    columns = BLEU().columns
    _column_limits = make_ngram_column_limits(4)
    tokenize: p.Parameter[tokenizers.Tokenize] = p.Tokenizer("none")
    _: KW_ONLY
    lowercase: p.Parameter[bool | str] = p.declare_lowercase()

    def _count_rows(self, corpus: Corpus) -> CountedRows:
        return self._count_bleu_rows(corpus, tie="first")

    def _apply_formula(self, row: Sequence[int], *, segment: bool) -> tuple[float, dict[str, Any]]:  # noqa: ARG002
        length, reference_length, matches, totals = row[0], row[1], row[2:6], row[6:]
        details = {
            "matches": list(matches),
            "totals": list(totals),
            "brevity_penalty": 1.0,
            "hypothesis_length": length,
            "reference_length": reference_length,
        }
        mean = zero_match_mean = brevity = 0.0
        orders = 0
        for match, total in zip(matches, totals, strict=True):
            if total:
                difference = round_to_single(_round_log(match or 1) - _round_log(total))
                mean = round_to_single(mean + difference)
                difference = round_to_single(_round_log(1) - _round_log(total + 1))
                zero_match_mean = round_to_single(zero_match_mean + difference)
                orders += 1
        if not orders:  # cdec would divide 0 by 0
            return 0.0, details
        if length < reference_length:
            missing = round_to_single(length - reference_length)
            brevity = round_to_single(round_to_single(missing - 1) / length)
        score, zero_match_score = (
            _round_exp(round_to_single(round_to_single(one / orders) + brevity))
            for one in (mean, zero_match_mean)
        )
        details["brevity_penalty"] = _round_exp(brevity)
        return round_to_single(score - zero_match_score), details


def _round_log(value: float) -> float:
    return round_to_single(log(value))


def _round_exp(value: float) -> float:
    return round_to_single(exp(value))
