"""N-grams of words and of characters, counted in Python, and sums of statistics."""

from __future__ import annotations

from collections import Counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def extract_all_word_ngrams(
    line: str, min_order: int, max_order: int
) -> tuple[Counter[tuple[str, ...]], int]:
    """Counts of the word n-grams of orders `min_order` to `max_order`, and the number of words."""
    words = line.split()
    ngrams = (
        tuple(words[start : start + order])
        for order in range(min_order, max_order + 1)
        for start in range(len(words) - order + 1)
    )
    return Counter(ngrams), len(words)


def extract_word_ngrams(tokens: Sequence[str], n: int) -> Counter[str]:
    """Counts of the n-grams of order `n`, each with spaces between its tokens."""
    return Counter(" ".join(tokens[start : start + n]) for start in range(len(tokens) - n + 1))


def extract_char_ngrams(line: str, n: int, include_whitespace: bool = False) -> Counter[str]:
    """Counts of the character n-grams of order `n`, which cross word boundaries."""
    text = line if include_whitespace else "".join(line.split())
    return Counter(text[start : start + n] for start in range(len(text) - n + 1))


def extract_all_char_ngrams(
    line: str, max_order: int, include_whitespace: bool = False
) -> list[Counter[str]]:
    """`extract_char_ngrams` of each order from 1 to `max_order`."""
    text = line if include_whitespace else "".join(line.split())
    return [
        extract_char_ngrams(text, order, include_whitespace=True)
        for order in range(1, max_order + 1)
    ]


def sum_of_lists(lists: Sequence[Sequence[Any]]) -> Sequence[Any]:
    """The sum of rows of numbers of one kind, added one after the other."""
    if len(lists) == 1:
        return lists[0]
    # Not sum(): since Python 3.12 it adds floats with compensation.
    total = [type(lists[0][0])(0.0)] * len(lists[0])
    for row in lists:
        total = [before + row[i] for i, before in enumerate(total)]
    return total
