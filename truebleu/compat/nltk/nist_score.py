"""NLTK's `nltk.translate.nist_score`: the NIST score of tokens.

George Doddington (2002): Automatic evaluation of machine translation quality using n-gram
co-occurrence statistics. HLT. Unlike mteval, NLTK takes the best of several references for each
segment and order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import chain, count, repeat
from math import exp, log

from truebleu.compat.nltk import counting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

LN_2 = log(2)


def sentence_nist(
    references: Sequence[Sequence[Any]], hypothesis: Sequence[Any], n: int = 5
) -> float:
    """NIST of one segment, weighted with its own references; there is no upper bound.

    references: the tokens of each reference.
    hypothesis: the tokens of the hypothesis, `n` at least, or NLTK divides by 0.
    n: the longest n-grams.

    >>> reference = "It is a guide to action that ensures that the military will forever heed"
    >>> hypothesis = "It is a guide to action which ensures that the military always obeys"
    >>> round(sentence_nist([reference.split()], hypothesis.split()), 9)
    2.867961796
    """
    return corpus_nist([references], [hypothesis], n)


def corpus_nist(
    list_of_references: Sequence[Sequence[Sequence[Any]]],
    hypotheses: Sequence[Sequence[Any]],
    n: int = 5,
) -> float:
    """NIST of a corpus, weighted with all of its references. Arguments as `sentence_nist`.

    Raises ZeroDivisionError where no hypothesis has `n` tokens.
    """
    orders = range(1, n + 1)
    pairs = counting.paired(list_of_references, hypotheses)
    if not pairs or not orders:
        raise ZeroDivisionError(f"n={n} and {len(pairs)} segments: there is nothing to score")
    # An n-gram is a number whose digits are its tokens, none of them 0.
    digits: defaultdict[Any, int] = defaultdict(count(1).__next__)
    expected = [[_digits(tokens, digits) for tokens in references] for references, _ in pairs]
    found = []
    for number, (references, (_, hypothesis)) in enumerate(zip(expected, pairs, strict=True), 1):
        if not references:
            raise ValueError(f"references: segment {number} has none, so none is the best of them")
        found.append(_digits(hypothesis, digits))
    base = len(digits) + 1
    known = [[_ngrams(tokens, n, base) for tokens in references] for references in expected]
    frequency = Counter(chain.from_iterable(chain.from_iterable(known)))
    # The history of a single token is empty, and occurs at every place.
    frequency[0] = sum(map(len, chain.from_iterable(expected)))

    weights: list[float] = [0] * n
    totals = [0] * n
    reference_length = hypothesis_length = 0
    for hypothesis, references, ngrams in zip(found, expected, known, strict=True):
        lengths = list(map(len, references))
        each = [_information(hypothesis, one, frequency, n, base) for one in ngrams]
        for i in range(n):
            total = max(0, len(hypothesis) - i)
            of_order = [bits[i] for bits in each]
            ratios = [weight / total if total else 0 for weight in of_order]
            _, weight, words = max(zip(ratios, of_order, lengths, strict=True))
            weights[i] += weight
            totals[i] += total
            # Once for each order, as the length of the hypothesis.
            reference_length += words
            hypothesis_length += len(hypothesis)
    precision: float = 0
    for weight, total in zip(weights, totals, strict=True):
        precision += weight / total
    return precision * nist_length_penalty(reference_length, hypothesis_length)


def _digits(tokens: Sequence[Any], digits: Mapping[Any, int]) -> list[int]:
    found = [*map(digits.__getitem__, tokens)]
    if len(tokens) != len(found):  # which also refuses what has no length
        raise ValueError(f"{type(tokens).__name__}: {len(tokens)} tokens, but {len(found)} in it")
    return found


def _ngrams(tokens: list[int], most: int, base: int) -> list[int]:
    """All n-grams of up to `most` tokens, the shorter before the longer."""
    every = ngrams = tokens
    for behind in range(1, most):
        ngrams = [
            ngram * base + token for ngram, token in zip(ngrams, tokens[behind:], strict=False)
        ]
        every = every + ngrams
    return every


def _information(
    hypothesis: list[int], ngrams: list[int], frequency: Mapping[int, int], most: int, base: int
) -> list[float]:
    """For each order, the information that a hypothesis shares with a reference's n-grams.

    info(w₁…wₙ) = log₂(count(w₁…wₙ₋₁) / count(w₁…wₙ))
    """
    known = {*ngrams}
    # The starts of n-grams that both have; only there can a longer one start.
    common = dict.fromkeys(range(len(hypothesis)), 0)
    information: list[float] = []
    for behind in range(most):
        after = len(hypothesis) - behind
        common = {
            i: ngram
            for i, shorter in common.items()
            if i < after and (ngram := shorter * base + hypothesis[i + behind]) in known
        }
        if not common:
            break
        bits = [
            log(frequency[ngram // base] / frequency[ngram]) / LN_2 * number
            for ngram, number in _clipped(common.values(), ngrams)
        ]
        information.append(sum(bits))
    return information + [0] * (most - len(information))


def _clipped(common: Collection[int], ngrams: list[int]) -> Iterable[tuple[int, int]]:
    """Each n-gram and its clipped count, in the order in which NLTK adds them up."""
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
