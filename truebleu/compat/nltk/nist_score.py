"""NLTK's `nltk.translate.nist_score`: the NIST score of tokens.

George Doddington (2002): Automatic evaluation of machine translation quality using n-gram
co-occurrence statistics. HLT. Unlike mteval, NLTK takes of several references the best one for each
segment and order.
"""

from __future__ import annotations

from collections import Counter
from itertools import repeat
from math import exp, log

from truebleu.compat.nltk import counting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    Ngram = tuple[Any, ...]

LN_2 = log(2)


def sentence_nist(
    references: Sequence[Sequence[Any]], hypothesis: Sequence[Any], n: int = 5
) -> float:
    """NIST of one segment, weighed with its own references; there is no upper bound.

    references: the tokens of each reference.
    hypothesis: the tokens of the hypothesis, `n` at least, or NLTK divides by 0.
    n: the longest n-grams.

    >>> reference = "It is a guide to action that ensures that the military will forever heed"
    >>> hypothesis = "It is a guide to action which ensures that the military always obeys"
    >>> sentence_nist([reference.split()], hypothesis.split())
    2.867961796036684
    """
    return corpus_nist([references], [hypothesis], n)


def corpus_nist(
    list_of_references: Sequence[Sequence[Sequence[Any]]],
    hypotheses: Sequence[Sequence[Any]],
    n: int = 5,
) -> float:
    """NIST of a corpus, weighed with all of its references. Arguments as `sentence_nist`.

    Raises ZeroDivisionError where no hypothesis has `n` tokens.
    """
    orders = range(1, n + 1)
    frequency: Counter[Ngram] = Counter()
    segments = []
    for references, hypothesis in counting.paired(list_of_references, hypotheses):
        known = [(len(reference), _ngrams(tuple(reference), orders)) for reference in references]
        for length, ngrams in known:
            frequency[()] += length
            frequency.update(ngrams)
        segments.append((len(hypothesis), tuple(hypothesis), known))

    weights: list[float] = [0] * len(orders)
    totals = [0] * len(orders)
    reference_length = hypothesis_length = 0
    for length, hypothesis, known in segments:
        if orders and not known:
            raise ValueError("references: a segment has none, so none is the best of them")
        each = [
            (words, _information(hypothesis, ngrams, frequency, orders)) for words, ngrams in known
        ]
        for i, order in enumerate(orders):
            total = max(0, length - order + 1)
            _, weight, words = max(
                (bits[i] / total if total else 0, bits[i], words) for words, bits in each
            )
            weights[i] += weight
            totals[i] += total
            # Once for each order, as the length of the hypothesis.
            reference_length += words
            hypothesis_length += length
    precision: float = 0
    for weight, total in zip(weights, totals, strict=True):
        precision += weight / total
    return precision * nist_length_penalty(reference_length, hypothesis_length)


def _ngrams(tokens: Ngram, orders: range) -> list[Ngram]:
    """All n-grams of these orders, the shorter before the longer."""
    return [tokens[i : i + order] for order in orders for i in range(len(tokens) - order + 1)]


def _information(
    hypothesis: Ngram, ngrams: list[Ngram], frequency: Mapping[Ngram, int], orders: range
) -> list[float]:
    """For each order, the information that a hypothesis has in common with a reference's n-grams.

    info(w₁…wₙ) = log₂(count(w₁…wₙ₋₁) / count(w₁…wₙ))
    """
    known = {*ngrams}
    # Where an n-gram begins that both have; only there can a longer one begin.
    common: Mapping[int, Ngram] = dict.fromkeys(range(len(hypothesis)), ())
    information: list[float] = []
    for order in orders:
        last = len(hypothesis) - order
        common = {
            i: ngram for i in common if i <= last and (ngram := hypothesis[i : i + order]) in known
        }
        bits = [
            log(frequency[ngram[:-1]] / frequency[ngram]) / LN_2 * number
            for ngram, number in _clipped(common.values(), ngrams)
        ]
        information.append(sum(bits))
    return information


def _clipped(common: Collection[Ngram], ngrams: list[Ngram]) -> Iterable[tuple[Ngram, int]]:
    """Each n-gram and how often both have it, in the order in which NLTK adds them up."""
    if len({*common}) == len(common):
        return zip(common, repeat(1))
    return (Counter(common) & Counter(ngrams)).items()


def nist_length_penalty(ref_len: float, hyp_len: float) -> float:
    """1/2 for hypotheses two thirds as long as the references, 1 for those not shorter.

    >>> round(nist_length_penalty(3, 2), 9)
    0.5
    """
    ratio = hyp_len / ref_len
    if not 0 < ratio < 1:
        return max(min(ratio, 1.0), 0.0)
    beta = log(0.5) / log(1.5) ** 2
    return exp(beta * log(ratio) ** 2)
