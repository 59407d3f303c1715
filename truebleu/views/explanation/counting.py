"""BLEU's counting over tokens, written to be read; the tests hold it equal to the kernel's."""

from __future__ import annotations

from collections import Counter

from truebleu.text import tokenizers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from truebleu.text.tokenizers import Tokenize

    Tokens = Sequence[str]
    Ngram = tuple[str, ...]


def splitter(tokenize: Tokenize, lowercase: bool | str) -> Callable[[Any], list[str]]:
    """A function from a segment to the tokens that metrics with these parameters count."""
    split_text = tokenizers.tokenizer(tokenize, lowercase)

    def split(segment: Any) -> list[str]:
        if isinstance(segment, str):
            return split_text(segment)
        # Tokens that were given as such; as strings they are equal when they were.
        return [str(token).lower() if lowercase else str(token) for token in segment]

    return split


def tokens(metric: Any, text: Any) -> list[str]:
    """The tokens that a metric counts."""
    return splitter(metric.tokenize, metric.lowercase)(text)


def present(references: Sequence[Any]) -> list[tuple[int, Any]]:
    """The references that are not missing, with their numbers, from 1."""
    return [(number, text) for number, text in enumerate(references, 1) if text is not None]


def most_common(counter: Counter[Ngram], most: int) -> list[dict[str, Any]]:
    """The most frequent n-grams, and how often each was counted."""
    return [{"ngram": list(ngram), "count": n} for ngram, n in counter.most_common(most)]


class Row:
    """One n-gram of a hypothesis: how often it is there, in a reference, and counts."""

    __slots__ = ("clipped", "count", "most", "ngram", "reference")

    def __init__(self, ngram: Ngram, count: int, most: int, reference: int | None) -> None:
        self.ngram = ngram
        self.count = count
        self.most = most
        """The highest count in any one reference."""
        self.reference = reference
        """The first reference with that count, from 0; None if no reference has the n-gram."""
        self.clipped = min(count, most)


def ngrams(tokens: Tokens, order: int) -> Counter[Ngram]:
    """The count of each run of `order` tokens, in the order of the text.

    >>> ngrams(["the", "the", "cat"], 1)
    Counter({('the',): 2, ('cat',): 1})
    """
    return Counter(tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1))


def clipped(hypothesis: Tokens, references: Sequence[Tokens], order: int) -> list[Row]:
    """The n-grams of a hypothesis, each counted at most as often as in one of the references.

    >>> [(row.count, row.most, row.clipped) for row in clipped(["the"] * 7, [["the", "the"]], 1)]
    [(7, 2, 2)]
    """
    counted = [ngrams(reference, order) for reference in references]
    rows = []
    for ngram, count in ngrams(hypothesis, order).items():
        counts = [reference[ngram] for reference in counted]
        most = max(counts, default=0)
        rows.append(Row(ngram, count, most, counts.index(most) if most else None))
    return rows


def missing(
    hypothesis: Tokens, references: Sequence[Tokens], order: int
) -> list[tuple[Ngram, int]]:
    """N-grams that every reference has and the hypothesis lacks, and how many of each."""
    counted = [ngrams(reference, order) for reference in references]
    mine = ngrams(hypothesis, order)
    return [
        (ngram, lack)
        for ngram in (counted[0] if counted else ())
        if (lack := min(reference[ngram] for reference in counted) - mine[ngram]) > 0
    ]


def matches_of(hypothesis: Tokens, reference: Tokens, order: int) -> int:
    """The clipped matches with one reference alone."""
    return sum((ngrams(hypothesis, order) & ngrams(reference, order)).values())


def reference_length(
    length: int, lengths: Sequence[int], rule: str, tie: str
) -> tuple[float, list[int]]:
    """The effective reference length, and which references (from 0) gave it.

    >>> reference_length(7, [8, 6], "closest", "shorter")
    (6, [1])
    >>> reference_length(7, [8, 6], "average", "shorter")
    (7.0, [0, 1])
    """
    if rule == "average":
        return sum(lengths) / len(lengths), list(range(len(lengths)))
    if rule == "average-truncated":
        return sum(lengths) // len(lengths), list(range(len(lengths)))
    if rule == "shortest":
        chosen = min(lengths)
    elif rule == "longest":
        chosen = max(lengths)
    else:
        sign = {"shorter": 1, "longer": -1}.get(tie, 0)
        chosen = min(lengths, key=lambda other: (abs(other - length), sign * other))
    return chosen, [i for i, other in enumerate(lengths) if other == chosen]


def cover(tokens: Tokens, tables: Sequence[Sequence[Row]], least: int = 1) -> list[dict[str, Any]]:
    """For each token the longest matched n-gram that covers it; `least` is the shortest order.

    longest: the order of that n-gram, 0 if there is none; start: where it begins; clipped: the
    orders in which the token is in an n-gram that was cut off by clipping.

    Of an n-gram that counts fewer times than it occurs, the first occurrences are those that
    count. BLEU does not say which; only how many.
    """
    covers: list[dict[str, Any]] = [{"longest": 0, "start": None, "clipped": []} for _ in tokens]
    for order, table in enumerate(tables, least):
        left = {row.ngram: (row.clipped, row.most) for row in table}
        for start in range(len(tokens) - order + 1):
            ngram = tuple(tokens[start : start + order])
            counting, most = left[ngram]
            left[ngram] = (counting - 1, most)
            for token in covers[start : start + order]:
                if counting > 0:
                    if token["longest"] < order:
                        token.update(longest=order, start=start)
                elif most and order not in token["clipped"]:
                    token["clipped"].append(order)
    return covers
