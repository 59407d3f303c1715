"""NLTK's `nltk.translate.bleu_score`: BLEU of tokens, and the smoothing methods.

Kishore Papineni, Salim Roukos, Todd Ward and Wei-Jing Zhu (2002): BLEU: a method for automatic
evaluation of machine translation. ACL. Boxing Chen and Colin Cherry (2014): A systematic comparison
of smoothing techniques for sentence-level BLEU. WMT. NLTK's peculiarities are kept: every segment
counts at least one n-gram of each order, a precision that smoothing left at 0 counts as 1, and
methods 5 to 7 look at the last segment of a corpus.
"""

from __future__ import annotations

import fractions
import sys
import warnings
from collections import Counter
from math import exp, fsum, log

from truebleu.compat._tokens import texts
from truebleu.compat.nltk import counting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, Self

    Counts = Sequence[int]
    # The precisions of all orders, as fractions or other numbers.
    P = list[Any]
    Weights = Sequence[float] | Sequence[Sequence[float]]

UNIFORM = (0.25, 0.25, 0.25, 0.25)


class Fraction(fractions.Fraction):
    """A fraction that keeps its numerator and denominator as given, in the lowest terms or not."""

    _given: tuple[Any, Any] | None

    def __new__(cls, numerator: Any = 0, denominator: Any = None, _normalize: bool = False) -> Self:
        """Since Python 3.12 the value itself is in the lowest terms all the same."""
        if sys.version_info < (3, 12):
            new: Any = super().__new__
            self: Self = new(cls, numerator, denominator, _normalize=_normalize)
        else:
            self = super().__new__(cls, numerator, denominator)
        self._given = None if _normalize else (numerator, denominator)
        return self

    @property
    def numerator(self) -> Any:
        """The number above the line."""
        return super().numerator if self._given is None else self._given[0]

    @property
    def denominator(self) -> Any:
        """The number below the line."""
        return super().denominator if self._given is None else self._given[1]


def sentence_bleu(
    references: Sequence[Sequence[Any]],
    hypothesis: Sequence[Any],
    weights: Weights = UNIFORM,
    smoothing_function: Callable[..., Any] | None = None,
    auto_reweigh: bool = False,
) -> Any:
    """BLEU of one segment, 0-1.

    references: the tokens of each reference.
    hypothesis: the tokens of the hypothesis. A str stands for its characters.
    weights: one for each order, or a list of several such sequences.
    smoothing_function: a method of `SmoothingFunction`, or anything that is called as they are.
    auto_reweigh: with the default weights and fewer than 4 tokens, weigh as many orders equally.

    Returns a float; 0, the integer, without a common token; with several sequences of weights, a
    list of them.

    >>> reference = "It is a guide to action that ensures that the military will forever heed"
    >>> hypothesis = "It is a guide to action which ensures that the military always obeys"
    >>> sentence_bleu([reference.split()], hypothesis.split())
    0.5355360591955259
    """
    return corpus_bleu([references], [hypothesis], weights, smoothing_function, auto_reweigh)


def corpus_bleu(
    list_of_references: Sequence[Sequence[Sequence[Any]]],
    hypotheses: Sequence[Sequence[Any]],
    weights: Weights = UNIFORM,
    smoothing_function: Callable[..., Any] | None = None,
    auto_reweigh: bool = False,
) -> Any:
    """BLEU of a corpus, from counts that are summed over segments. Arguments as `sentence_bleu`.

    list_of_references: for each segment, the tokens of each of its references.
    hypotheses: for each segment, the tokens of its hypothesis.
    """
    pairs = counting.paired(list_of_references, hypotheses)
    many = _several(weights)
    orders = max(map(len, many))
    if not pairs and orders:
        raise ZeroDivisionError("hypotheses: no segments at all; there is nothing to score")
    length, reference_length, matches, totals = _counts(pairs, orders)
    if not matches or not matches[0]:
        return 0 if len(many) == 1 else [0] * len(many)
    precisions = _smoothed(smoothing_function, matches, totals, pairs[-1], length)
    brevity = brevity_penalty(reference_length, length)
    scores = []
    for weight in many:
        if auto_reweigh and length < len(UNIFORM) and weight == UNIFORM:
            weight = (1 / length,) * length  # noqa: PLW2901
        logs = [w * log(p) for w, p in zip(weight, precisions, strict=False) if p > 0]
        scores.append(brevity * exp(fsum(logs)))
    return scores[0] if len(many) == 1 else scores


def modified_precision(
    references: Sequence[Sequence[Any]], hypothesis: Sequence[Any], n: int
) -> Fraction:
    """The clipped matches of order `n` over the n-grams of the hypothesis, at least one of them.

    >>> precision = modified_precision(["the cat is on the mat".split()], ["the"] * 4, n=1)
    >>> precision.numerator, precision.denominator
    (2, 4)
    """
    found = counting.counted(hypothesis, n)
    matched: Counter[tuple[Any, ...]] = Counter()
    number = 0
    for number, reference in enumerate(references, 1):  # noqa: B007
        matched |= found & counting.counted(reference, n)
    if found and not number:
        raise KeyError("references: there are none, and precision is defined by them")
    return Fraction(matched.total(), max(1, found.total()), _normalize=False)


def closest_ref_length(references: Sequence[Sequence[Any]], hyp_len: int) -> int:
    """The length of the reference that is closest to `hyp_len`; of two, that of the shorter."""
    lengths = [len(reference) for reference in references]
    if not lengths:
        raise ValueError("references: there are none, so none is the closest in length")
    return min(lengths, key=lambda length: (abs(length - hyp_len), length))


def brevity_penalty(closest_ref_len: float, hyp_len: float) -> float:
    """1, or less if the hypotheses are not longer than the references; 0 without a token.

    >>> brevity_penalty(28, 12)
    0.2635971381157267
    """
    if hyp_len > closest_ref_len:
        return 1
    return exp(1 - closest_ref_len / hyp_len) if hyp_len else 0


class SmoothingFunction:
    """Chen and Cherry's smoothing methods, as NLTK 3.10 has them.

    epsilon: the matches that method 1 has instead of none.
    alpha: the weight of the prior in method 6.
    k: the constant of method 4.

    A method takes the precisions of all orders as fractions, and as `references=`, `hypothesis=`
    and `hyp_len=` the last segment and the length of all hypotheses. It returns a list of numbers.
    Methods 3 to 7 change the list that they are given.
    """

    def __init__(self, epsilon: float = 0.1, alpha: float = 5, k: float = 5) -> None:
        self.epsilon = epsilon
        self.alpha = alpha
        self.k = k

    def method0(self, p_n: P, *args: Any, **kwargs: Any) -> P:
        """No smoothing: the smallest number instead of 0, and a warning."""
        return _filled([*p_n], *_counts_of(p_n), self, 0)

    def method1(self, p_n: P, *args: Any, **kwargs: Any) -> P:
        """`epsilon` matches instead of none."""
        return _filled([*p_n], *_counts_of(p_n), self, 1)

    def method2(self, p_n: P, *args: Any, **kwargs: Any) -> P:
        """One more match and one more n-gram, above order 1 (Lin and Och 2004)."""
        return [
            Fraction(p.numerator + 1, p.denominator + 1, _normalize=False) if i else p
            for i, p in enumerate(p_n)
        ]

    def method3(self, p_n: P, *args: Any, **kwargs: Any) -> P:
        """1/2 of a match for the first order without one, 1/4 for the next, as mteval-v13a."""
        return _filled(p_n, *_counts_of(p_n), self, 3)

    def method4(
        self, p_n: P, references: Any, hypothesis: Any, hyp_len: Any = None,
        *args: Any, **kwargs: Any,
    ) -> P:  # fmt: skip
        """As method 3, but less for shorter hypotheses: times ln(length) / k."""
        return _filled(p_n, *_counts_of(p_n), self, 4, hyp_len or len(hypothesis))

    def method5(
        self, p_n: P, references: Any, hypothesis: Any, hyp_len: Any = None,
        *args: Any, **kwargs: Any,
    ) -> P:  # fmt: skip
        """The mean of an order, the one before (smoothed) and the next; 5-grams follow the last."""
        behind = [*p_n[1:], modified_precision(references, hypothesis, 5)]
        before = p_n[0] + 1
        for i, after in enumerate(behind):
            p_n[i] = before = (before + p_n[i] + after) / 3
        return p_n

    def method6(
        self, p_n: P, references: Any, hypothesis: Any, hyp_len: Any = None,
        *args: Any, **kwargs: Any,
    ) -> P:  # fmt: skip
        """Above order 2, with a prior from the two orders below (Gao and He 2013)."""
        if not p_n[2]:
            raise AssertionError("method 6 needs a match of 3-grams")
        for i in range(2, len(p_n)):
            prior = 0 if p_n[i - 2] == 0 else p_n[i - 1] ** 2 / p_n[i - 2]
            ngrams = max(0, len(hypothesis) - i)
            p_n[i] = (p_n[i].numerator + self.alpha * prior) / (ngrams + self.alpha)
        return p_n

    def method7(
        self, p_n: P, references: Any, hypothesis: Any, hyp_len: Any = None,
        *args: Any, **kwargs: Any,
    ) -> P:  # fmt: skip
        """Method 4, then method 5."""
        length = hyp_len or len(hypothesis)
        p_n = self.method4(p_n, references, hypothesis, length)
        return self.method5(p_n, references, hypothesis, length)


def _several(weights: Any) -> Any:
    """The sequences of weights, one for each score."""
    if weights is UNIFORM:
        return [weights]
    try:
        weights[0][0]
    except (TypeError, IndexError):
        return [weights]
    return weights


def _counts(pairs: list[tuple[Any, Any]], orders: int) -> tuple[int, int, Counts, Counts]:
    """Lengths of hypotheses and references, matches and n-grams of each order."""
    if not counting.is_order(orders) or not counting.in_kernel(pairs):
        return _plain_counts(pairs, orders)
    segments = [texts((hypothesis, *references)) for references, hypothesis in pairs]
    metric = counting.engine(orders, missing_order="at-least-one")
    rows = counting.rows(metric, [s[0] for s in segments], [tuple(s[1:]) for s in segments])
    total = rows[0] if len(rows) == 1 else map(sum, zip(*rows, strict=True))
    length, reference_length, *counts = total
    return length, reference_length, counts[:orders], counts[orders:]


def _plain_counts(pairs: list[tuple[Any, Any]], orders: int) -> tuple[int, int, Counts, Counts]:
    """The same for any sequences, evaluated in NLTK's order."""
    lengths = [0, 0]
    matches, totals = [0] * orders, [0] * orders
    for references, hypothesis in pairs:
        for i in range(orders):
            precision = modified_precision(references, hypothesis, i + 1)
            matches[i] += precision.numerator
            totals[i] += precision.denominator
        length = len(hypothesis)
        lengths[0] += length
        lengths[1] += closest_ref_length(references, length)
    return lengths[0], lengths[1], matches, totals


def _smoothed(
    function: Any, matches: Counts, totals: Counts, last: tuple[Any, Any], length: int
) -> Sequence[Any]:
    """The precisions after smoothing. The simple methods need no fractions for it."""
    function = function or _UNSMOOTHED
    owner = getattr(function, "__self__", None)
    if type(owner) is SmoothingFunction:
        if function.__func__ is SmoothingFunction.method2:
            pairs = enumerate(zip(matches, totals, strict=True))
            return [(m + (i > 0)) / (t + (i > 0)) for i, (m, t) in pairs]
        method = _SIMPLE.get(function.__func__)
        if method is not None:
            precisions = [m / t for m, t in zip(matches, totals, strict=True)]
            return _filled(precisions, matches, totals, owner, method, length)
    fractions = [Fraction(m, t, _normalize=False) for m, t in zip(matches, totals, strict=True)]
    references, hypothesis = last
    smoothed: Sequence[Any] = function(
        fractions, references=references, hypothesis=hypothesis, hyp_len=length
    )
    return smoothed


def _counts_of(precisions: Iterable[Any]) -> tuple[list[int], list[int]]:
    return [p.numerator for p in precisions], [p.denominator for p in precisions]


def _filled(
    precisions: list[Any],
    matches: Counts,
    totals: Counts,
    smoothing: SmoothingFunction,
    method: int,
    length: int = 0,
) -> list[Any]:
    """The same list, after method 0, 1, 3 or 4 has replaced the orders without a match."""
    if method == 4 and length <= 1:
        return precisions
    zeros = 0
    for i, match in enumerate(matches):
        if not match:
            zeros += 1
            precisions[i] = _unmatched(smoothing, method, i + 1, totals[i], zeros, length)
    return precisions


def _unmatched(
    smoothing: SmoothingFunction, method: int, order: int, total: int, zeros: int, length: int
) -> float:
    """The precision of an order without a match; `zeros` is the number of such orders up to it."""
    if method == 1:
        return smoothing.epsilon / total
    if method == 3:
        return 1 / ((1 << zeros) * total)
    if method == 4:
        return 1 / ((1 << zeros) * smoothing.k / log(length)) / total
    warnings.warn(
        f"\nThe hypothesis has no {order}-gram in common with its references. NLTK's BLEU is then "
        "not 0 but a tiny number. Use a smoothing method of SmoothingFunction(), or shorter "
        "n-grams.",
        stacklevel=1,
    )
    return sys.float_info.min


# The methods that need no fractions, beside method 2.
_SIMPLE: dict[Any, int] = {
    SmoothingFunction.method0: 0,
    SmoothingFunction.method1: 1,
    SmoothingFunction.method3: 3,
    SmoothingFunction.method4: 4,
}
_UNSMOOTHED = SmoothingFunction().method0
