"""BLEU's counting over tokens, written to be read; the tests hold it equal to the kernel's.

Below it, what explanations collect: the n-grams of a segment, and those that the segments of a
corpus have most of.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice

from truebleu.text import tokenizers
from truebleu.text.segments import pairs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from truebleu.text.tokenizers import Tokenize

    Tokens = Sequence[str]
    Ngram = tuple[str, ...]


# So many segments of a corpus are looked into for n-grams, and so many n-grams of each kind are
# listed: what is remembered must not grow with the corpus.
LOOKED_INTO = 20_000
LISTED = 10


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


# ---- what is collected ----


def add_to_segment(
    system: dict[str, Any],
    tokens: Tokens,
    references: Sequence[Tokens],
    numbers: Sequence[int],
) -> None:
    """Adds the n-grams of each order, and which of them covers which token, to an explanation.

    numbers: what the references are called, from 1 as they were given.
    """
    tables = []
    for order in system["orders"]:
        table = clipped(tokens, references, order["order"])
        tables.append(table)
        order["ngrams"] = [
            {
                "ngram": list(row.ngram),
                "count": row.count,
                "reference_count": row.most,
                "reference": None if row.reference is None else numbers[row.reference],
                "clipped": row.clipped,
            }
            for row in table
        ]
        order["missing"] = [
            {"ngram": list(ngram), "count": count}
            for ngram, count in missing(tokens, references, order["order"])
        ]
    system["tokens"] = list(tokens)
    system["cover"] = cover(tokens, tables, system["orders"][0]["order"])


class Digest:
    """The most frequent clipped, unmatched and missing n-grams of a corpus."""

    def __init__(
        self,
        split: Callable[[Any], list[str]],
        orders: range,
        rule: str = "closest",
        tie: str = "shorter",
        *,
        recall: bool = False,
    ) -> None:
        self.split = split
        self.orders = orders
        self.rule, self.tie = rule, tie
        self.counters: dict[str, list[Counter[Ngram]]] = {
            kind: [Counter() for _ in self.orders] for kind in ("clipped", "unmatched", "missing")
        }
        self.recall = [[0, 0, 0] for _ in self.orders] if recall else None
        self.lengths: Counter[int] = Counter()
        self.looked_into = 0

    def read(self, hypotheses: Any, references: Any) -> Digest:
        """Looks into the first segments; into all of them for recall, which remembers nothing."""
        most = LOOKED_INTO if self.recall is None else None
        for hypothesis, others in islice(pairs(hypotheses, references), most):
            numbers, texts = zip(*present(others), strict=True)
            tokens, split = self.split(hypothesis), list(map(self.split, texts))
            _, (chosen, *_) = reference_length(
                len(tokens), list(map(len, split)), self.rule, self.tie
            )
            if self.looked_into < LOOKED_INTO:
                self.looked_into += 1
                self.lengths[numbers[chosen]] += 1
                self._look(tokens, split)
            for sums, order in zip(self.recall or (), self.orders, strict=False):
                sums[0] += matches_of(tokens, split[chosen], order)
                sums[1] += max(0, len(tokens) - order + 1)
                sums[2] += max(0, len(split[chosen]) - order + 1)
        return self

    def _look(self, tokens: Tokens, references: Sequence[Tokens]) -> None:
        for i, order in enumerate(self.orders):
            for row in clipped(tokens, references, order):
                if row.count > row.clipped:
                    kind = "clipped" if row.clipped else "unmatched"
                    self.counters[kind][i][row.ngram] += row.count - row.clipped
            for ngram, count in missing(tokens, references, order):
                self.counters["missing"][i][ngram] += count

    def add_to(self, system: dict[str, Any]) -> None:
        """Adds what was found to the explanation of a system."""
        for i, order in enumerate(system["orders"]):
            for kind, counters in self.counters.items():
                order[kind] = most_common(counters[i], LISTED)
            if self.recall is not None:
                matches, mine, theirs = self.recall[i]
                order["recall"] = [{"reference": None, **shares(matches, mine, theirs)}]
        system["looked_into"] = self.looked_into
        system["reference_choice"] = {
            "rule": self.rule,
            "tie": self.tie,
            "segments": {str(number): count for number, count in sorted(self.lengths.items())},
        }


def recall(tokens: Tokens, reference: Tokens, order: int) -> dict[str, Any]:
    """Clipped matches with one reference over its n-grams, and the F-measure of both."""
    mine, theirs = (max(0, len(words) - order + 1) for words in (tokens, reference))
    return shares(matches_of(tokens, reference, order), mine, theirs)


def shares(matches: int, mine: int, theirs: int) -> dict[str, Any]:
    """Recall and F-measure of matches between n-grams of a hypothesis and of a reference."""
    return {
        "matches": matches,
        "total": theirs,
        "recall": matches / theirs if theirs else 0.0,
        "f": 2 * matches / (mine + theirs) if mine + theirs else 0.0,
    }
