"""Simple implementation of BLEU's n-gram counts, which tests compare with the kernel's counts.

For explanations, the second half of the module collects the n-grams of a segment and the most
frequent n-grams of a corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from operator import add
from typing import Any, Generic, NamedTuple, TypeVar

from truebleu.text import tokenizers
from truebleu.text.segments import iter_segments
from truebleu.text.tokenizers import Tokenize

Tokens = Sequence[str]
Ngram = tuple[str, ...]
# Limits on the number of segments searched for n-grams, and on the number of n-grams listed per
# kind, so that memory use does not grow with the corpus.
MAX_EXAMINED_SEGMENTS = 20_000
MAX_LISTED_NGRAMS = 10

# Names of the counts that `count_overlap` returns.
COUNT_KEYS = ("matches", "total", "reference_total")

M = TypeVar("M")
S = TypeVar("S")


class ExplanationCase(NamedTuple, Generic[M, S]):
    """A metric's score for a segment or a corpus, and the scored texts."""

    metric: M
    score: S
    hypothesis: Any
    """The text of a segment, or the texts of a corpus."""
    references: Any
    """The references of a segment, numbered from 1 (missing ones are skipped), or all references of
    a corpus."""
    recall: bool = False
    """Whether to compute the clipped recall."""
    source: Any = None
    """The source of a segment, or the sources of a corpus, for metrics that read them."""

    @property
    def texts(self) -> list[Any]:
        """The hypothesis and the references of a segment."""
        return [self.hypothesis, *(text for _, text in self.references)]


def make_splitter(tokenize: Tokenize, lowercase: bool | str) -> Callable[[Any], list[str]]:
    """Return a function that splits a segment into the tokens that a metric counts."""
    split_string = tokenizers.make_tokenizer(tokenize, lowercase)

    def split_segment(segment: Any) -> list[str]:
        if isinstance(segment, str):
            return split_string(segment)
        # Pretokenized input; tokens may be of any type.
        return [str(token).lower() if lowercase else str(token) for token in segment]

    return split_segment


def split_text(metric: Any, text: Any) -> list[str]:
    """Split a text into the tokens that a metric counts."""
    return make_splitter(metric.tokenize, metric.lowercase)(text)


def enumerate_references(references: Sequence[Any]) -> list[tuple[int, Any]]:
    """Return the references that are not missing, numbered from 1."""
    return [(number, text) for number, text in enumerate(references, 1) if text is not None]


def list_top_ngrams(counter: Counter[Ngram], limit: int | None) -> list[dict[str, Any]]:
    """Return the most frequent n-grams and their counts."""
    return [{"ngram": list(ngram), "count": n} for ngram, n in counter.most_common(limit)]


class NgramCount(NamedTuple):
    """Counts of one n-gram in a hypothesis and in the references."""

    ngram: Ngram
    occurrences: int
    reference_count: int
    """The largest count in any reference."""
    reference: int | None
    """The index of the first reference with this count, or None if no reference has the n-gram."""

    @property
    def clipped(self) -> int:
        """Clipped count."""
        return min(self.occurrences, self.reference_count)


def count_ngrams(tokens: Tokens, order: int) -> Counter[Ngram]:
    """Return the count of each n-gram of an order, in text order.

    >>> count_ngrams(["the", "the", "cat"], 1)
    Counter({('the',): 2, ('cat',): 1})
    """
    return Counter(tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1))


def clip_ngrams(hypothesis: Tokens, references: Sequence[Tokens], order: int) -> list[NgramCount]:
    """Return the n-grams of a hypothesis with their clipped counts.

    >>> [count] = clip_ngrams(["the"] * 7, [["the", "the"]], 1)
    >>> (count.occurrences, count.reference_count, count.clipped)
    (7, 2, 2)
    """
    reference_counts = [count_ngrams(reference, order) for reference in references]
    rows = []
    for ngram, count in count_ngrams(hypothesis, order).items():
        counts = [reference[ngram] for reference in reference_counts]
        max_count = max(counts, default=0)
        rows.append(
            NgramCount(ngram, count, max_count, counts.index(max_count) if max_count else None)
        )
    return rows


def find_missing_ngrams(
    hypothesis: Tokens, references: Sequence[Tokens], order: int
) -> list[tuple[Ngram, int]]:
    """Return the n-grams that are more frequent in every reference than in the hypothesis."""
    reference_counts = [count_ngrams(reference, order) for reference in references]
    hypothesis_counts = count_ngrams(hypothesis, order)
    return [
        (ngram, missing_count)
        for ngram in (reference_counts[0] if reference_counts else ())
        if (
            missing_count := min(reference[ngram] for reference in reference_counts)
            - hypothesis_counts[ngram]
        )
        > 0
    ]


def count_overlap(hypothesis: Tokens, reference: Tokens, order: int) -> tuple[int, int, int]:
    """Return the number of clipped matches with one reference and both texts' n-gram totals."""
    hypothesis_counts, reference_counts = (
        count_ngrams(hypothesis, order),
        count_ngrams(reference, order),
    )
    return (
        (hypothesis_counts & reference_counts).total(),
        hypothesis_counts.total(),
        reference_counts.total(),
    )


def describe_overlap(
    hypothesis: Tokens, reference: Tokens, orders: Iterable[int]
) -> list[dict[str, Any]]:
    """Return, for each order, the number of matches and the n-gram totals of two texts."""
    return [
        {
            "order": order,
            **dict(zip(COUNT_KEYS, count_overlap(hypothesis, reference, order), strict=True)),
        }
        for order in orders
    ]


def choose_reference_length(
    length: int, lengths: Sequence[int], rule: str, tie: str
) -> tuple[float, list[int]]:
    """Return the effective reference length and the indices of references with this length.

    >>> choose_reference_length(7, [8, 6], "closest", "shorter")
    (6, [1])
    >>> choose_reference_length(7, [8, 6], "average", "shorter")
    (7.0, [0, 1])
    """
    if rule == "average":
        return sum(lengths) / len(lengths), list(range(len(lengths)))
    if rule == "average-truncated":
        return sum(lengths) // len(lengths), list(range(len(lengths)))
    if rule == "shortest":
        effective_length = min(lengths)
    elif rule == "longest":
        effective_length = max(lengths)
    else:
        sign = {"shorter": 1, "longer": -1}.get(tie, 0)
        effective_length = min(lengths, key=lambda other: (abs(other - length), sign * other))
    return effective_length, [i for i, other in enumerate(lengths) if other == effective_length]


def find_covering_ngrams(
    tokens: Tokens, tables: Sequence[Sequence[NgramCount]], orders: Sequence[int] | None = None
) -> list[dict[str, Any]]:
    """Return, for each token, the longest matched n-gram that covers it.

    orders: orders of the tables (default: 1, 2, ...). Keys of the result: longest (order of the
    n-gram, 0 for none), start (its position), clipped (orders in which the token was clipped).

    If an n-gram is clipped, its first occurrences are treated as the matches. BLEU does not define
    which occurrences match, only how many of them do.
    """
    covers: list[dict[str, Any]] = [{"longest": 0, "start": None, "clipped": []} for _ in tokens]
    for order, table in zip(orders or range(1, 1 + len(tables)), tables, strict=True):
        remaining = {row.ngram: (row.clipped, row.reference_count) for row in table}
        for start in range(len(tokens) - order + 1):
            ngram = tuple(tokens[start : start + order])
            remaining_count, max_count = remaining[ngram]
            remaining[ngram] = (remaining_count - 1, max_count)
            for token in covers[start : start + order]:
                if remaining_count > 0:
                    if token["longest"] < order:
                        token.update(longest=order, start=start)
                elif max_count and order not in token["clipped"]:
                    token["clipped"].append(order)
    return covers


# ---- n-grams for explanations ----


def add_ngrams_to_segment(
    system: dict[str, Any], tokens: Tokens, references: Sequence[Tokens], numbers: Sequence[int]
) -> None:
    """Add the n-grams of all orders, and the longest match per token, to an explanation.

    numbers: the references' numbers, counted from 1.
    """
    tables = []
    for order in system["orders"]:
        table = clip_ngrams(tokens, references, order["order"])
        tables.append(table)
        order["ngrams"] = [
            {
                "ngram": list(row.ngram),
                "count": row.occurrences,
                "reference_count": row.reference_count,
                "reference": None if row.reference is None else numbers[row.reference],
                "clipped": row.clipped,
            }
            for row in table
        ]
        order["missing"] = [
            {"ngram": list(ngram), "count": count}
            for ngram, count in find_missing_ngrams(tokens, references, order["order"])
        ]
    system["tokens"] = list(tokens)
    system["cover"] = find_covering_ngrams(
        tokens, tables, [order["order"] for order in system["orders"]]
    )


def add_ngrams_to_corpus(system: dict[str, Any], case: ExplanationCase[Any, Any]) -> None:
    """Add the most frequent clipped, unmatched and missing n-grams of each order.

    Only the first segments are examined, except for recall, which needs little memory.
    """
    split = make_splitter(case.metric.tokenize, case.metric.lowercase)
    rule, tie = map(case.metric.parameters.get, ("reference_length", "tie"))
    orders = [order["order"] for order in system["orders"]]
    counters: dict[str, list[Counter[Ngram]]] = {
        kind: [Counter() for _ in orders] for kind in ("clipped", "unmatched", "missing")
    }
    overlap_sums: list[tuple[int, ...]] = [(0, 0, 0) for _ in orders]
    chosen_references: Counter[int] = Counter()
    looked_into = 0
    limit = None if case.recall else MAX_EXAMINED_SEGMENTS
    for hypothesis, segment_references in islice(
        iter_segments(case.hypothesis, case.references), limit
    ):
        numbers, texts = zip(*enumerate_references(segment_references), strict=True)
        hypothesis_tokens, reference_tokens = split(hypothesis), list(map(split, texts))
        _, (closest_index, *_) = choose_reference_length(
            len(hypothesis_tokens), list(map(len, reference_tokens)), rule, tie
        )
        if looked_into < MAX_EXAMINED_SEGMENTS:
            looked_into += 1
            chosen_references[numbers[closest_index]] += 1
            _count_ngram_differences(counters, orders, hypothesis_tokens, reference_tokens)
        for i, order in enumerate(orders if case.recall else ()):
            overlap_sums[i] = tuple(
                map(
                    add,
                    overlap_sums[i],
                    count_overlap(hypothesis_tokens, reference_tokens[closest_index], order),
                )
            )
    for i, order in enumerate(system["orders"]):
        order |= {
            kind: list_top_ngrams(found[i], MAX_LISTED_NGRAMS) for kind, found in counters.items()
        }
        if case.recall:
            order["recall"] = [{"reference": None, **compute_recall(*overlap_sums[i])}]
    system["looked_into"] = looked_into
    system["reference_choice"] = {
        "rule": rule,
        "tie": tie,
        "segments": {str(number): count for number, count in sorted(chosen_references.items())},
    }


def _count_ngram_differences(
    counters: dict[str, list[Counter[Ngram]]],
    orders: Sequence[int],
    tokens: Tokens,
    references: Sequence[Tokens],
) -> None:
    for i, order in enumerate(orders):
        for row in clip_ngrams(tokens, references, order):
            if row.occurrences > row.clipped:
                kind = "clipped" if row.clipped else "unmatched"
                counters[kind][i][row.ngram] += row.occurrences - row.clipped
        for ngram, count in find_missing_ngrams(tokens, references, order):
            counters["missing"][i][ngram] += count


def compute_recall(matches: int, hypothesis_total: int, reference_total: int) -> dict[str, Any]:
    """Return the recall and the F-measure, computed from the counts of matches and n-grams."""
    return {
        "matches": matches,
        "total": reference_total,
        "recall": matches / reference_total if reference_total else 0.0,
        "f": 2 * matches / (hypothesis_total + reference_total)
        if hypothesis_total + reference_total
        else 0.0,
    }
