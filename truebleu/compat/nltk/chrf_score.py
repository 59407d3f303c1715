"""NLTK's `nltk.translate.chrf_score`: the mean of chrF over orders and segments.

Maja Popović (2015): chrF: character n-gram F-score for automatic MT evaluation. WMT. NLTK's is not
sacreBLEU's chrF2: a mean of F-scores with β = 3, with one reference per segment.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import islice

from truebleu.compat.nltk import counting
from truebleu.metrics.chrf import CHRF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

# The F-score where precision or recall are not defined, or nothing matches.
TINY = 1e-16

# White space for `str.isspace()`, but not for Unicode, nor for NLTK.
SEPARATORS = "\x1c\x1d\x1e\x1f"


def sentence_chrf(
    reference: str | Sequence[str],
    hypothesis: str | Sequence[str],
    min_len: int = 1,
    max_len: int = 6,
    beta: float = 3.0,
    ignore_whitespace: bool = True,
) -> float:
    """The chrF of one segment, 0-1.

    reference, hypothesis: text, or words that are joined by spaces.
    min_len, max_len: the shortest and the longest n-grams of characters.
    beta: the weight of recall relative to precision.
    ignore_whitespace: leave white space out.

    >>> sentence_chrf("the cat is on the mat", "the cat sat on the mat")
    0.6504190025667834
    """
    return corpus_chrf([reference], [hypothesis], min_len, max_len, beta, ignore_whitespace)


def corpus_chrf(
    references: Sequence[str | Sequence[str]],
    hypotheses: Sequence[str | Sequence[str]],
    min_len: int = 1,
    max_len: int = 6,
    beta: float = 3.0,
    ignore_whitespace: bool = True,
) -> float:
    """The mean of the segments' chrF. Arguments as `sentence_chrf`, one reference per segment."""
    pairs = [
        (_text(reference, ignore_whitespace), _text(hypothesis, ignore_whitespace))
        for reference, hypothesis in counting.paired(references, hypotheses, "references")
    ]
    orders = range(min_len, max_len + 1)
    if not pairs or not orders:
        raise ZeroDivisionError(
            "hypotheses: no segments at all" if orders else f"no orders {min_len} to {max_len}"
        )
    if counting.is_order(min_len) and counting.is_order(max_len):
        rows = [
            [_scores(*counts, beta, TINY)[2] for counts in islice(segment, min_len - 1, None)]
            for segment in _counts(pairs, max_len)
        ]
    else:
        rows = [
            [chrf_precision_recall_fscore_support(*pair, n, beta)[2] for n in orders]
            for pair in pairs
        ]
    # Order by order, as NLTK adds them up.
    totals: list[float] = [sum(scores) for scores in zip(*rows, strict=True)]
    return sum(totals) / len(orders) / len(pairs)


def chrf_precision_recall_fscore_support(
    reference: Iterable[Any],
    hypothesis: Iterable[Any],
    n: int,
    beta: float = 3.0,
    epsilon: float = TINY,
) -> tuple[float, float, float, int]:
    """Precision, recall, F-score and matches of the n-grams of one order, in any sequences.

    epsilon: precision, recall and F-score where the F-score is not defined.

    >>> chrf_precision_recall_fscore_support("abc", "abd", 2)
    (0.5, 0.5, 0.5, 1)
    """
    expected = Counter(counting.ngrams(reference, n))
    found = Counter(counting.ngrams(hypothesis, n))
    matches = (expected & found).total()
    return *_scores(matches, found.total(), expected.total(), beta, epsilon), matches


def _scores(
    matches: int, found: int, expected: int, beta: float, epsilon: float
) -> tuple[float, float, float]:
    """Precision, recall and F-score, of the n-grams found and those expected."""
    try:
        precision, recall = matches / found, matches / expected
        factor = beta**2
        score = (1 + factor) * (precision * recall) / (factor * precision + recall)
    except ZeroDivisionError:
        return epsilon, epsilon, epsilon
    return precision, recall, score


@cache
def _engine(orders: int) -> CHRF:
    return CHRF(orders, whitespace=True)


def _counts(pairs: list[tuple[str, str]], orders: int) -> Iterator[Iterable[tuple[int, int, int]]]:
    """For each segment and order the matches, and the n-grams of hypothesis and reference."""
    references, hypotheses = zip(*pairs, strict=True)
    for row in counting.rows(_engine(orders), hypotheses, references):
        yield zip(row[2::3], row[0::3], row[1::3], strict=True)


def _text(segment: Any, ignore_whitespace: bool) -> str:
    text: str = segment if type(segment) is str else " ".join(segment)
    if not ignore_whitespace:
        return text
    if text.isprintable():  # then all white space is spaces
        return text.replace(" ", "")
    return "".join([c for c in text if c in SEPARATORS or not c.isspace()])
