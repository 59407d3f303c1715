"""NLTK's `nltk.translate.chrf_score`: the mean of chrF over orders and segments.

Maja Popović (2015): chrF: character n-gram F-score for automatic MT evaluation. WMT. NLTK's is not
sacreBLEU's chrF2: a mean of F-scores with β = 3, with one reference per segment.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

from truebleu.compat.nltk import counting
from truebleu.metrics.chrf import CHRF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
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
        expected, found = zip(*pairs, strict=True)
        # Three numbers of each order.
        places = range(3 * (min_len - 1), 3 * max_len, 3)
        rows = [
            [_scores(row[at], row[at + 1], row[at + 2], beta, TINY)[2] for at in places]
            for row in counting.rows(_engine(max_len), found, expected)
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
    return *_scores(found.total(), expected.total(), matches, beta, epsilon), matches


def _scores(
    found: int, expected: int, matches: int, beta: float, epsilon: float
) -> tuple[float, float, float]:
    """Precision, recall and F-score, of the n-grams found, those expected, and those in both."""
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


def _text(segment: Any, ignore_whitespace: bool) -> str:
    text: str = segment if type(segment) is str else " ".join(segment)
    if not ignore_whitespace:
        return text
    if text.isprintable():  # then all white space is spaces
        return text.replace(" ", "")
    return "".join([c for c in text if c in SEPARATORS or not c.isspace()])
