"""NLTK's `nltk.translate.gleu_score`: Google's GLEU of tokens.

Yonghui Wu et al. (2016): Google's neural machine translation system, section 4.3. arXiv:1609.08144.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain

from truebleu.compat._tokens import texts
from truebleu.compat.nltk import counting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

# NLTK refuses n-grams of every order of longer sequences, which would fill any memory.
LONGEST_FOR_EVERY_ORDER = 256


def sentence_gleu(
    references: Iterable[Iterable[Any]],
    hypothesis: Iterable[Any],
    min_len: int = 1,
    max_len: int = 4,
) -> float:
    """GLEU of one segment, 0-1: matched n-grams over those of the side that has more.

    references: the tokens of each reference; the one with the best ratio counts.
    hypothesis: the tokens of the hypothesis.
    min_len, max_len: the shortest and the longest n-grams; -1 for as long as the segment.

    >>> reference, hypothesis = "the cat is on the mat".split(), ["the"] * 7
    >>> sentence_gleu([reference], hypothesis)
    0.09090909090909091
    """
    return corpus_gleu([references], [hypothesis], min_len=min_len, max_len=max_len)


def corpus_gleu(
    list_of_references: Sequence[Iterable[Iterable[Any]]],
    hypotheses: Sequence[Iterable[Any]],
    min_len: int = 1,
    max_len: int = 4,
) -> float:
    """GLEU of a corpus, from counts that are summed over segments; 0.0 without an n-gram."""
    pairs = counting.paired(list_of_references, hypotheses)
    if min_len == 1 and counting.is_order(max_len):
        counted = _kernel_candidates(pairs, max_len)
    else:
        counted = _plain_candidates(pairs, min_len, max_len)
    matched = total = 0
    for candidates in counted:
        counts = [one for one in candidates if one[1] > 0]
        if counts:
            # Of equally good references the first.
            best = max(counts, key=lambda one: one[0] / one[1])
            matched += best[0]
            total += best[1]
    return matched / total if total else 0.0


def _tokens(sequence: Any) -> Sequence[Any]:
    return sequence if type(sequence) in counting.PLAIN else list(sequence)


def _kernel_candidates(pairs: list[tuple[Any, Any]], most: int) -> Iterator[list[tuple[int, int]]]:
    """For each segment and reference, the matches and the n-grams of the side that has more."""
    segments = [
        (_tokens(hypothesis), *map(_tokens, references)) for references, hypothesis in pairs
    ]
    # Each reference alone: its matches are those that BLEU counts with a single reference.
    hypotheses: list[str] = []
    references: list[str] = []
    for segment in segments:
        text, *others = texts(segment)
        hypotheses += [text] * len(others)
        references += others
    rows = iter(counting.rows(counting.engine(most), hypotheses, references))
    for hypothesis, *against in segments:
        found = _ngrams(len(hypothesis), most)
        yield [
            (sum(next(rows)[2 : 2 + most]), max(found, _ngrams(len(reference), most)))
            for reference in against
        ]


def _ngrams(length: int, most: int) -> int:
    """The number of n-grams of up to this order: `length` of order 1, one fewer of order 2, ..."""
    orders = min(length, most)
    return orders * (2 * length - orders + 1) // 2


def _plain_candidates(
    pairs: list[tuple[Any, Any]], least: int, most: int
) -> Iterator[list[tuple[int, int]]]:
    """The same of n-grams that only Python counts."""
    for references, hypothesis in pairs:
        found = _every(hypothesis, least, most)
        candidates = []
        for reference in references:
            expected = _every(reference, least, most)
            more = max(found.total(), expected.total())
            candidates.append(((expected & found).total(), more))
        yield candidates


def _every(sequence: Iterable[Any], least: int, most: int) -> Counter[tuple[Any, ...]]:
    """The count of each n-gram of these orders; orders below 1 as NLTK has them."""
    tokens = tuple(sequence)
    if most == -1:
        most = len(tokens)
        if most > LONGEST_FOR_EVERY_ORDER:
            raise ValueError(
                f"max_len=-1 means n-grams of every order, and there are {most} tokens; "
                f"say which order is the highest, or score at most {LONGEST_FOR_EVERY_ORDER} tokens"
            )
    if most < 0:
        raise ValueError(f"max_len={most}: the order of n-grams is not below 0, or -1 for all")
    windows = (tokens[start : start + most] for start in range(len(tokens) if most else 0))
    orders = ((window, order) for window in windows for order in range(least, len(window) + 1))
    return Counter(chain(window[:order] for window, order in orders))
