"""cdec's QCRI_BLEU, in the single precision that cdec computes in.

Its other three, IBM_BLEU, KOEHN_BLEU and NIST_BLEU, are parameters of `BLEU` (members of the
family). Chris Dyer et al. (2010): cdec, a decoder, alignment and learning framework for
finite-state and context-free translation models. ACL demonstrations; mteval/ns.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from math import exp, log
from typing import Any

from truebleu.metrics import parameters as p
from truebleu.metrics.base import Corpus, Rows
from truebleu.metrics.bleu import BLEU, limits_of_orders
from truebleu.metrics.bleu_formula import single
from truebleu.metrics.python_metric import PythonMetric
from truebleu.text import tokenizers


class CdecBLEU(PythonMetric):
    """cdec's QCRI_BLEU.

    An order without a match has one, and an order without n-grams is left out. The brevity penalty
    is exp((c - r - 1) / c), and what a text without any match would get is taken off, so that the
    score can be 0 where smoothing alone would leave some. cdec takes tokens.

    >>> print(CdecBLEU().sentence("the cat sat on the mat", "the cat is on the mat"))
    cdec-BLEU = 26.61
    """

    __slots__ = ()

    NAME = "cdec-BLEU"
    PREFIX = "cdec-"
    tokenize: p.Parameter[tokenizers.Tokenize] = p.Tokenizer("none")
    _: KW_ONLY
    lowercase: p.Parameter[bool | str] = p.lowercase()
    variant: p.Parameter[str] = p.Choice(
        "qcri", "which of cdec's scores", {"qcri": "QCRI_BLEU"}, key="cdec", short="cd"
    )

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of this metric's statistics: BLEU's."""
        return BLEU().columns

    @property
    def _limits(self) -> tuple[tuple[str, int, str], ...]:
        return limits_of_orders(4)

    def _rows(self, corpus: Corpus) -> Rows:
        return self._counted(corpus, tie="first")

    def _formula(self, row: Sequence[int], *, segment: bool) -> tuple[float, dict[str, Any]]:  # noqa: ARG002
        length, reference_length, matches, totals = row[0], row[1], row[2:6], row[6:]
        value, brevity = _formula(matches, totals, length, reference_length)
        return value, {
            "matches": list(matches),
            "totals": list(totals),
            "brevity_penalty": brevity,
            "hypothesis_length": length,
            "reference_length": reference_length,
        }


def _formula(
    matches: Sequence[int], totals: Sequence[int], length: int, reference_length: float
) -> tuple[float, float]:
    """The score and the brevity penalty, each operation rounded to single precision."""
    mean = nothing = 0.0
    orders = 0
    for match, total in zip(matches, totals, strict=True):
        if total:
            mean = single(mean + single(_log(match or 1) - _log(total)))
            nothing = single(nothing + single(_log(1) - _log(total + 1)))
            orders += 1
    if not orders:  # cdec divides 0 by 0
        return 0.0, 1.0
    mean, nothing = single(mean / orders), single(nothing / orders)
    brevity = 0.0
    if length < reference_length:
        brevity = single(single(single(length - reference_length) - 1) / length)
    score = single(_exp(single(mean + brevity)) - _exp(single(brevity + nothing)))
    return score, _exp(brevity)


def _log(value: float) -> float:
    return single(log(value))


def _exp(value: float) -> float:
    return single(exp(value))
