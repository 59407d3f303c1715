"""cdec's four BLEUs, in the single precision that cdec computes in.

Chris Dyer et al. (2010): cdec, a decoder, alignment and learning framework for finite-state and
context-free translation models. ACL demonstrations; mteval/ns.cc.
"""

from __future__ import annotations

from math import exp, log
from struct import pack, unpack

from truebleu.bleu import BLEU, PARTS
from truebleu.hook import Hook
from truebleu.tokenizers import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from truebleu import inputs, tokenizers

# Which reference length each takes; of two equally close ones the first.
LENGTHS = {"ibm": "closest", "koehn": "average", "nist": "shortest", "qcri": "closest"}


class CdecBLEU(Hook):
    """cdec's IBM_BLEU, KOEHN_BLEU, NIST_BLEU and QCRI_BLEU.

    An order without a match has 0.01 of one (QCRI: 1), and an order without n-grams is left out.
    QCRI has a brevity penalty of exp((c - r - 1) / c) and takes off what a text without any match
    would get, so that its score can be 0 where smoothing alone would leave some.

    tokenize, lowercase: as for `BLEU`; cdec takes tokens, so white space separates by default.
    kind: "ibm", "koehn", "nist" or "qcri".

    >>> hypothesis, reference = "the cat sat on the mat", "the cat is on the mat"
    >>> print(CdecBLEU().sentence(hypothesis, reference))
    cdec-BLEU = 26.61
    >>> print(CdecBLEU(kind="ibm").sentence(hypothesis, reference))
    cdec-BLEU = 14.29
    """

    __slots__ = ()

    NAME = "cdec-BLEU"
    PARAMETERS = {"tokenize": "none", "lowercase": False, "kind": "qcri"}  # noqa: RUF012
    FIELDS = {"kind": "kind"}  # noqa: RUF012
    SHORT_NAMES = {"case": "c", "tok": "tok", "kind": "kd"}  # noqa: RUF012

    def __init__(
        self,
        tokenize: tokenizers.Tokenize = "none",
        *,
        lowercase: bool | str = False,
        kind: str = "qcri",
    ) -> None:
        if kind not in LENGTHS:
            raise ValueError(f"unknown kind {kind!r}{nearest(str(kind), LENGTHS)}")
        super().__init__(tokenize=tokenize, lowercase=lowercase, kind=kind)

    def _rows(
        self, hypotheses: inputs.Hypotheses, references: inputs.References, workers: int
    ) -> tuple[list[list[int]], int | str | None]:
        rule = LENGTHS[self._values["kind"]]
        metric = BLEU(
            self._values["tokenize"],
            lowercase=self._values["lowercase"],
            reference_length=rule,
            tie="first" if rule == "closest" else "shorter",
        )
        table = metric.statistics(hypotheses, references, workers=workers)
        return table.tolist(), table.references

    def _value(self, rows: Sequence[Sequence[int]]) -> tuple[float, dict[str, Any]]:
        row = list(map(sum, zip(*rows, strict=True)))
        # cdec adds in single precision too, which is exact up to 16 million for integers.
        reference_length = float(row[1])
        if LENGTHS[self._values["kind"]] == "average":
            reference_length = 0.0
            for one in rows:
                reference_length = _single(reference_length + _single(one[1] / PARTS))
        matches, totals = row[2:6], row[6:]
        value, brevity = _formula(
            matches, totals, row[0], reference_length, qcri=self._values["kind"] == "qcri"
        )
        return value, {
            "matches": matches,
            "totals": totals,
            "brevity_penalty": brevity,
            "hypothesis_length": row[0],
            "reference_length": reference_length,
        }


def _formula(
    matches: Sequence[int],
    totals: Sequence[int],
    hypothesis_length: int,
    reference_length: float,
    *,
    qcri: bool,
) -> tuple[float, float]:
    """The score and the brevity penalty, each operation rounded to single precision."""
    alpha = 1.0 if qcri else _single(0.01)
    mean = nothing = 0.0
    orders = 0
    for match, total in zip(matches, totals, strict=True):
        if total:
            mean = _single(mean + _single(_log(match or alpha) - _log(total)))
            nothing = _single(nothing + _single(_log(alpha) - _log(_single(total + alpha))))
            orders += 1
    if not orders:  # cdec divides 0 by 0
        return 0.0, 1.0
    mean, nothing = _single(mean / orders), _single(nothing / orders)
    brevity = 0.0
    if hypothesis_length < reference_length:
        missing = _single(hypothesis_length - reference_length)
        if qcri:
            missing = _single(missing - alpha)
        brevity = _single(missing / hypothesis_length)
    score = _exp(_single(mean + brevity))
    if qcri:
        score = _single(score - _exp(_single(brevity + nothing)))
    return score, _exp(brevity)


def _single(value: float) -> float:
    """`value` rounded to single precision."""
    (rounded,) = unpack("f", pack("f", value))
    return float(rounded)


def _log(value: float) -> float:
    return _single(log(value))


def _exp(value: float) -> float:
    return _single(exp(value))
