"""NLTK's BLEU in every version, with the smoothing methods that are no parameter of `BLEU`.

Boxing Chen and Colin Cherry (2014): A systematic comparison of smoothing techniques for
sentence-level BLEU. WMT. As NLTK's `translate.bleu_score` has them, mistakes included.
"""

from __future__ import annotations

import re
import sys
import warnings
from fractions import Fraction
from math import exp, fsum, log

from truebleu._kernel import InputError, Scores
from truebleu.bleu import BLEU
from truebleu.hook import Hook, HookScore
from truebleu.tokenizers import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from truebleu import inputs, tokenizers
    from truebleu.metric import Signature

    Number = Fraction | float

# What corpus scores of methods 5, 6 and 7 look at beside the sums.
CONTEXTS = ("corpus", "last-segment")
AGGREGATES = ("corpus", "segments")

# Where a method changed. The first release whose behaviour is known here is 3.2.5.
OLDEST = (3, 2, 5)


class NLTKBLEU(Hook):
    """NLTK's sentence_bleu and corpus_bleu.

    tokenize, lowercase: as for `BLEU`; NLTK takes tokens, so white space separates by default.
        (NLTK takes a str for a list of characters. That is `tokenize=list`.)
    method: NLTK's `SmoothingFunction().method0` to `method7`, as a number. 0 is no smoothing, which
        is not 0 in NLTK but the smallest positive number for a precision of 0.
    weights: one an order, or several such sequences, which give several scores at once
        (`score.values`; `score.value` is the first).
    auto_reweigh: with fewer than 4 tokens in all and the default weights, 1/tokens for as many
        orders.
    epsilon, alpha, k: NLTK's parameters of methods 1, 6 and 4.
    version: the release of NLTK. Methods 2 and 4 changed at 3.6, 4 at 3.5, 0 and the length that 4
        uses for a corpus at 3.3 and 3.4; since 3.6.6 a precision that smoothing left at 0 counts
        as 1.
    context: methods 5 to 7 need more than the sums: 5-grams, and the number of n-grams. "corpus"
        takes them from all segments. NLTK's corpus_bleu takes them from the segment that happens to
        be the last, so that its score changes with the order of segments and can be far above 1;
        "last-segment" does the same, and warns.
    aggregate: whether `score` is corpus_bleu ("corpus") or the mean of sentence_bleu ("segments").

    >>> metric = NLTKBLEU(method=4)
    >>> print(metric.sentence("the cat sat on the mat", ["the cat is on the mat"]))
    NLTK-BLEU = 29.39
    """

    __slots__ = ()

    NAME = "NLTK-BLEU"
    PARAMETERS = {  # noqa: RUF012
        "tokenize": "none",
        "lowercase": False,
        "method": 0,
        "weights": (0.25, 0.25, 0.25, 0.25),
        "auto_reweigh": False,
        "epsilon": 0.1,
        "alpha": 5.0,
        "k": 5.0,
        "version": "3.10.4",
        "context": "corpus",
        "aggregate": "corpus",
    }
    FIELDS = {  # noqa: RUF012
        "method": "method",
        "weights": "weights",
        "reweigh": "auto_reweigh",
        "eps": "epsilon",
        "alpha": "alpha",
        "k": "k",
        "context": "context",
        "agg": "aggregate",
        "nltk": "version",
    }
    SHORT_NAMES = {  # noqa: RUF012
        "case": "c",
        "tok": "tok",
        "method": "m",
        "weights": "wt",
        "reweigh": "rw",
        "eps": "ep",
        "alpha": "al",
        "k": "k",
        "context": "cx",
        "agg": "ag",
        "nltk": "nv",
    }

    def __init__(
        self,
        tokenize: tokenizers.Tokenize = "none",
        *,
        lowercase: bool | str = False,
        method: int = 0,
        weights: Sequence[float] | Sequence[Sequence[float]] = (0.25, 0.25, 0.25, 0.25),
        auto_reweigh: bool = False,
        epsilon: float = 0.1,
        alpha: float = 5.0,
        k: float = 5.0,
        version: str = "3.10.4",
        context: str = "corpus",
        aggregate: str = "corpus",
    ) -> None:
        if method not in range(8):
            raise ValueError(f"method={method!r}: NLTK has methods 0 to 7")
        for name, value, known in (
            ("context", context, CONTEXTS),
            ("aggregate", aggregate, AGGREGATES),
        ):
            if value not in known:
                raise ValueError(f"unknown {name} {value!r}{nearest(str(value), known)}")
        given = _weights(weights)
        released = _release(version)
        if released < OLDEST:
            raise ValueError(f"version={version!r}: known from 3.2.5 on")
        if released < (3, 6, 6) and isinstance(given[0], tuple):
            raise ValueError(f"NLTK {version} takes one sequence of weights; since 3.6.6 several")
        super().__init__(
            tokenize=tokenize,
            lowercase=lowercase,
            method=method,
            weights=given,
            auto_reweigh=bool(auto_reweigh),
            epsilon=float(epsilon),
            alpha=float(alpha),
            k=float(k),
            version=version,
            context=context,
            aggregate=aggregate,
        )

    @property
    def weights(self) -> tuple[tuple[float, ...], ...]:
        """The sequences of weights, one for each score."""
        given = self._values["weights"]
        return given if isinstance(given[0], tuple) else (given,)

    @property
    def max_order(self) -> int:
        """The length of the longest n-grams that weights are for."""
        return max(map(len, self.weights))

    def signature(self, references: int | str | None = None, *, segment: bool = False) -> Signature:
        """What is computed, so that anyone can compute it again."""
        signature = super().signature(references, segment=segment)
        fields = signature.fields | {"weights": _printed(self.weights)}
        return type(signature)(self.NAME, fields, self.SHORT_NAMES)

    @classmethod
    def _parsed(cls, parameter: str, text: str) -> Any:
        if parameter != "weights":
            return super()._parsed(parameter, text)
        given = [tuple(map(float, one.split(","))) for one in text.split(";")]
        return given[0] if len(given) == 1 else given

    def _rows(
        self, hypotheses: inputs.Hypotheses, references: inputs.References, workers: int
    ) -> tuple[list[list[int]], int | str | None]:
        # Methods 5 and 7 always look at 5-grams.
        counted = max(self.max_order, 5)
        metric = BLEU(
            self._values["tokenize"],
            lowercase=self._values["lowercase"],
            max_order=counted,
            missing_order="at-least-one",
        )
        table = metric.statistics(hypotheses, references, workers=workers)
        return table.tolist(), table.references

    def score(
        self, hypotheses: inputs.Hypotheses, references: inputs.References, *, workers: int = 1
    ) -> NLTKScore:
        """corpus_bleu, or the mean of sentence_bleu. Arguments as for `BLEU.score`."""
        rows, count = self._rows(hypotheses, references, workers)
        if self._values["aggregate"] == "corpus":
            return NLTKScore(self, self._corpus(rows), self._details(rows), count)
        each = [self._guarded(number, row) for number, row in enumerate(rows, 1)]
        values = [sum(column) / len(rows) for column in zip(*each, strict=True)]
        return NLTKScore(self, values, self._details(rows), count, segment=True)

    def sentence(self, hypothesis: str, references: str | Sequence[str | None]) -> NLTKScore:
        """sentence_bleu."""
        one = references if isinstance(references, str) else tuple(references)
        rows, count = self._rows((hypothesis,), (one,), 1)
        return NLTKScore(self, self._one(rows[0]), self._details(rows), count, segment=True)

    def segments(
        self, hypotheses: inputs.Hypotheses, references: inputs.References, *, workers: int = 1
    ) -> Scores:
        """sentence_bleu of each segment, 0-100; with several sequences of weights, of the first."""
        rows, _ = self._rows(hypotheses, references, workers)
        each = (self._guarded(number, row) for number, row in enumerate(rows, 1))
        return Scores([self.SCALE * values[0] for values in each])

    def _details(self, rows: Sequence[Sequence[int]]) -> dict[str, Any]:
        totals = list(map(sum, zip(*rows, strict=True)))
        counted = (len(totals) - 2) // 2
        order = self.max_order
        return {
            "hypothesis_length": totals[0],
            "reference_length": totals[1],
            "matches": totals[2 : 2 + order],
            "totals": totals[2 + counted : 2 + counted + order],
        }

    def _guarded(self, number: int, row: Sequence[int]) -> list[float]:
        try:
            return self._one(row)
        except InputError as error:
            raise InputError(f"segment {number}: {error}") from None

    def _one(self, row: Sequence[int]) -> list[float]:
        """sentence_bleu of one row."""
        return self._formula(row, row, [max(0, row[0] - n) for n in range(self.max_order)])

    def _corpus(self, rows: Sequence[Sequence[int]]) -> list[float]:
        """corpus_bleu of these rows."""
        totals = list(map(sum, zip(*rows, strict=True)))
        if self._values["context"] == "last-segment":
            if self._values["method"] >= 5:
                warnings.warn(
                    f"method {self._values['method']} of NLTK's corpus_bleu mixes the sums of all "
                    "segments with the counts of the last one; context='corpus' does not",
                    stacklevel=3,
                )
            last = rows[-1]
            return self._formula(totals, last, [max(0, last[0] - n) for n in range(self.max_order)])
        ngrams = [sum(max(0, row[0] - n) for row in rows) for n in range(self.max_order)]
        return self._formula(totals, totals, ngrams, last=rows[-1])

    def _formula(
        self,
        row: Sequence[int],
        context: Sequence[int],
        ngrams: Sequence[int],
        *,
        last: Sequence[int] | None = None,
    ) -> list[float]:
        """The scores of these counts.

        context: the row that method 5 takes 5-grams from.
        ngrams: what method 6 has for the number of n-grams of each order.
        last: the last row of a corpus, whose length NLTK before 3.4 used in method 4.
        """
        released = _release(self._values["version"])
        length, reference_length = row[0], row[1]
        counted = (len(row) - 2) // 2
        matches, totals = row[2 : 2 + counted], row[2 + counted :]
        if not matches[0]:
            return [0.0] * len(self.weights)
        weights = self.weights
        orders = self.max_order
        if self._values["auto_reweigh"]:
            weights = tuple(_reweighed(one, length) for one in weights)
            if released < (3, 6, 6):  # which cut the precisions before smoothing
                orders = len(weights[0])
        fractions = list(zip(matches[:orders], totals[:orders], strict=True))
        before = context if last is None else last
        smoothed = self._smoothed(
            fractions,
            Fraction(context[6], context[6 + counted]),
            ngrams,
            length if released >= (3, 4) else before[0],
        )
        if length > reference_length:
            brevity: float = 1
        else:
            brevity = exp(1 - reference_length / length)
        values = []
        for one in weights:
            pairs = list(zip(one, smoothed, strict=False))
            if released < (3, 6, 6) and not all(p > 0 for _, p in pairs):
                raise InputError(
                    f"NLTK {self._values['version']} takes the logarithm of 0 here and stops; "
                    "since 3.6.6 it goes on"
                )
            values.append(brevity * exp(fsum(weight * log(p) for weight, p in pairs if p > 0)))
        return values

    def _smoothed(
        self,
        fractions: list[tuple[int, int]],
        fifth: Fraction,
        ngrams: Sequence[int],
        length: int,
    ) -> Sequence[Number]:
        """The precisions after smoothing; exact where NLTK keeps them exact."""
        method = self._values["method"]
        if method <= 2:
            return self._simple(fractions)
        if method == 3:
            return _halved(fractions)
        if method == 4:
            return self._by_length(fractions, length)
        if method == 5:
            return _neighbours([Fraction(*pair) for pair in fractions], fifth)
        if method == 6:
            return self._interpolated(fractions, ngrams)
        return _neighbours(self._by_length(fractions, length), fifth)

    def _simple(self, fractions: list[tuple[int, int]]) -> list[Number]:
        method, released = self._values["method"], _release(self._values["version"])
        if method == 0:
            if released < (3, 3):
                # Orders from the first without a match on were left out, with their weights.
                matched = next((i for i, (m, _) in enumerate(fractions) if not m), len(fractions))
                fractions = fractions[:matched]
            return [m / t if m else sys.float_info.min for m, t in fractions]
        if method == 1:
            return [(m or self._values["epsilon"]) / t for m, t in fractions]
        from_order = 1 if released >= (3, 6) else 0
        return [
            (m + (i >= from_order)) / (t + (i >= from_order)) for i, (m, t) in enumerate(fractions)
        ]

    def _by_length(self, fractions: list[tuple[int, int]], length: int) -> list[Number]:
        """Method 4: matches that shrink with the logarithm of the length, if there are none."""
        released, k = _release(self._values["version"]), self._values["k"]
        precisions: list[Number] = []
        zeros = 0
        for i, (match, total) in enumerate(fractions):
            if match or length <= (1 if released >= (3, 6) else 0):
                precisions.append(Fraction(match, total))
                continue
            if length <= 1:
                raise InputError(
                    f"NLTK {self._values['version']} divides by ln(1) for a hypothesis of one token"
                )
            if released >= (3, 6):
                zeros += 1
                precisions.append(1 / (2**zeros * k / log(length)) / total)
            elif released >= (3, 5):
                precisions.append((i + k / log(length)) / total)
            else:
                precisions.append(1 / (i + k / log(length)))
        return precisions

    def _interpolated(
        self, fractions: list[tuple[int, int]], ngrams: Sequence[int]
    ) -> list[Number]:
        """Method 6: with a prior from the two orders below (Gao and He 2013)."""
        precisions: list[Number] = [Fraction(*pair) for pair in fractions]
        if len(precisions) < 3 or not precisions[2]:
            raise InputError(
                "method 6 needs a match of 3-grams; NLTK stops with an AssertionError about bigrams"
            )
        alpha = self._values["alpha"]
        alpha = int(alpha) if alpha == int(alpha) else alpha
        for i in range(2, len(precisions)):
            below, further = precisions[i - 1], precisions[i - 2]
            prior = below**2 / further if further else 0
            precisions[i] = (fractions[i][0] + alpha * prior) / (ngrams[i] + alpha)
        return precisions


def _halved(fractions: list[tuple[int, int]]) -> list[float]:
    """Method 3: 1/2, 1/4, ... of a match, as mteval-v13a."""
    precisions, zeros = [], 0
    for match, total in fractions:
        zeros += not match
        precisions.append(match / total if match else 1 / (2**zeros * total))
    return precisions


def _neighbours(precisions: list[Number], fifth: Fraction) -> list[Number]:
    """Method 5: the mean of the orders before (smoothed), at and behind each one."""
    before: Number = precisions[0] + 1
    means: list[Number] = []
    for precision, behind in zip(precisions, [*precisions[1:], fifth], strict=True):
        before = (before + precision + behind) / 3
        means.append(before)
    return means


def _reweighed(weights: tuple[float, ...], length: int) -> tuple[float, ...]:
    """NLTK's auto_reweigh, which is for the default weights alone."""
    if length < 4 and weights == (0.25, 0.25, 0.25, 0.25):
        return (1 / length,) * length
    return weights


def _weights(weights: Any) -> tuple[Any, ...]:
    given = tuple(weights)
    if not given:
        raise ValueError("weights: at least one is meant")
    several = hasattr(given[0], "__len__")
    many = [tuple(map(float, one)) for one in (given if several else [given])]
    longest = max(map(len, many))
    if not all(many) or longest > 16:
        raise ValueError(f"weights={given!r:.80}: each sequence has 1 to 16, one an order")
    return tuple(many) if several else many[0]


def _printed(weights: tuple[tuple[float, ...], ...]) -> str:
    return ";".join(",".join(map(repr, one)) for one in weights)


def _release(version: str) -> tuple[int, ...]:
    """A release as numbers that compare: (3, 6, 5)."""
    if not re.fullmatch(r"\d+(\.\d+)*", str(version)):
        raise ValueError(f"version={version!r}: a release of NLTK is meant, such as '3.10.4'")
    return tuple(map(int, version.split(".")))


class NLTKScore(HookScore):
    """NLTK's score, or its scores for several sequences of weights."""

    __slots__ = ("_all",)

    def __init__(
        self,
        metric: NLTKBLEU,
        values: Sequence[float],
        details: dict[str, Any],
        references: int | str | None,
        *,
        segment: bool = False,
    ) -> None:
        super().__init__(metric, values[0], details, references, segment=segment)
        self._all = tuple(values)

    @property
    def values(self) -> tuple[float, ...]:
        """For each sequence of weights the score as NLTK gives it, 0-1."""
        return self._all

    def details(self) -> dict[str, Any]:
        """What the score was made of."""
        return {**super().details(), "values": list(self._all)}
