"""BLEU's counting over tokens, written to be read; the tests hold it equal to the kernel's.

Below it, what explanations collect: the n-grams of a segment, and those that the segments of a
corpus have most of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from operator import add
from typing import Any, Generic, NamedTuple, TypeVar

from truebleu.text import tokenizers
from truebleu.text.segments import iter_segments
from truebleu.text.tokenizers import Tokenize

Tokens = Sequence[str]
Ngram = tuple[str, ...]
# So many segments of a corpus are looked into for n-grams, and so many n-grams of each kind are
# listed: what is remembered must not grow with the corpus.
LOOKED_INTO = 20_000
LISTED = 10

M = TypeVar("M")
S = TypeVar("S")


class Case(NamedTuple, Generic[M, S]):
    """What is explained: a metric's score of a segment, or of a corpus."""

    metric: M
    score: S
    hypothesis: Any
    """The text of a segment, or the texts of a corpus."""
    references: Any
    """Of a segment those that there are, with their numbers, from 1; of a corpus all."""
    recall: bool = False
    """Whether clipped recall is asked for."""

    @property
    def texts(self) -> list[Any]:
        """The hypothesis of a segment, and its references."""
        return [self.hypothesis, *(text for _, text in self.references)]


def splitter(tokenize: Tokenize, lowercase: bool | str) -> Callable[[Any], list[str]]:
    """A function from a segment to the tokens that metrics with these parameters count."""
    split_text = tokenizers.make_tokenizer(tokenize, lowercase)

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


class Row(NamedTuple):
    """One n-gram of a hypothesis: how often it is there, in a reference, and counts."""

    ngram: Ngram
    times: int
    most: int
    """The highest count in any one reference."""
    reference: int | None
    """The first reference with that count, from 0; None if no reference has the n-gram."""

    @property
    def clipped(self) -> int:
        """How many of them count."""
        return min(self.times, self.most)


def ngrams(tokens: Tokens, order: int) -> Counter[Ngram]:
    """The count of each run of `order` tokens, in the order of the text.

    >>> ngrams(["the", "the", "cat"], 1)
    Counter({('the',): 2, ('cat',): 1})
    """
    return Counter(tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1))


def clipped(hypothesis: Tokens, references: Sequence[Tokens], order: int) -> list[Row]:
    """The n-grams of a hypothesis, each counted at most as often as in one of the references.

    >>> [(row.times, row.most, row.clipped) for row in clipped(["the"] * 7, [["the", "the"]], 1)]
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


def overlap(hypothesis: Tokens, reference: Tokens, order: int) -> tuple[int, int, int]:
    """The clipped matches with one reference alone, and the n-grams of either."""
    mine, theirs = ngrams(hypothesis, order), ngrams(reference, order)
    return (mine & theirs).total(), mine.total(), theirs.total()


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


def cover(
    tokens: Tokens, tables: Sequence[Sequence[Row]], orders: Sequence[int] | None = None
) -> list[dict[str, Any]]:
    """For each token the longest matched n-gram that covers it; `orders` of the tables: 1, 2, ...

    longest: the order of that n-gram, 0 if there is none; start: where it begins; clipped: the
    orders in which the token is in an n-gram that was cut off by clipping.

    Of an n-gram that counts fewer times than it occurs, the first occurrences are those that
    count. BLEU does not say which; only how many.
    """
    covers: list[dict[str, Any]] = [{"longest": 0, "start": None, "clipped": []} for _ in tokens]
    for order, table in zip(orders or range(1, 1 + len(tables)), tables, strict=True):
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
    system: dict[str, Any], tokens: Tokens, references: Sequence[Tokens], numbers: Sequence[int]
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
                "count": row.times,
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
    system["cover"] = cover(tokens, tables, [order["order"] for order in system["orders"]])


def add_to_corpus(system: dict[str, Any], case: Case[Any, Any]) -> None:
    """Adds the most frequent clipped, unmatched and missing n-grams of each order.

    Looks into the first segments; into all of them for recall, which remembers nothing.
    """
    split = splitter(case.metric.tokenize, case.metric.lowercase)
    rule, tie = map(case.metric.parameters.get, ("reference_length", "tie"))
    orders = [order["order"] for order in system["orders"]]
    counters: dict[str, list[Counter[Ngram]]] = {
        kind: [Counter() for _ in orders] for kind in ("clipped", "unmatched", "missing")
    }
    sums: list[tuple[int, ...]] = [(0, 0, 0) for _ in orders]
    lengths: Counter[int] = Counter()
    looked_into = 0
    most = None if case.recall else LOOKED_INTO
    for hypothesis, others in islice(iter_segments(case.hypothesis, case.references), most):
        numbers, texts = zip(*present(others), strict=True)
        mine, theirs = split(hypothesis), list(map(split, texts))
        _, (chosen, *_) = reference_length(len(mine), list(map(len, theirs)), rule, tie)
        if looked_into < LOOKED_INTO:
            looked_into += 1
            lengths[numbers[chosen]] += 1
            _look(counters, orders, mine, theirs)
        for i, order in enumerate(orders if case.recall else ()):
            sums[i] = tuple(map(add, sums[i], overlap(mine, theirs[chosen], order)))
    for i, order in enumerate(system["orders"]):
        order |= {kind: most_common(found[i], LISTED) for kind, found in counters.items()}
        if case.recall:
            order["recall"] = [{"reference": None, **shares(*sums[i])}]
    system["looked_into"] = looked_into
    system["reference_choice"] = {
        "rule": rule,
        "tie": tie,
        "segments": {str(number): count for number, count in sorted(lengths.items())},
    }


def _look(
    counters: dict[str, list[Counter[Ngram]]],
    orders: Sequence[int],
    tokens: Tokens,
    references: Sequence[Tokens],
) -> None:
    for i, order in enumerate(orders):
        for row in clipped(tokens, references, order):
            if row.times > row.clipped:
                kind = "clipped" if row.clipped else "unmatched"
                counters[kind][i][row.ngram] += row.times - row.clipped
        for ngram, count in missing(tokens, references, order):
            counters["missing"][i][ngram] += count


def shares(matches: int, mine: int, theirs: int) -> dict[str, Any]:
    """Recall and F-measure of matches between n-grams of a hypothesis and of a reference."""
    return {
        "matches": matches,
        "total": theirs,
        "recall": matches / theirs if theirs else 0.0,
        "f": 2 * matches / (mine + theirs) if mine + theirs else 0.0,
    }
