"""Simple implementation of BLEU's n-gram counts, which tests compare with the kernel's counts.

For explanations, the second half of the module collects the n-grams of a segment and the most
frequent n-grams of a corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeVar

from truebleu.text import tokenizers
from truebleu.text.segments import iter_segments
from truebleu.text.tokenizers import Tokenize, count_ngrams

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


def find_best_reference(
    metric: Any, hypothesis: Any, references: Sequence[tuple[int, Any]]
) -> tuple[int, Any]:
    """Return the number and text of the first reference with the highest score."""
    if len(references) == 1:
        return references[0]
    return max(references, key=lambda one: (metric.sentence(hypothesis, [one[1]]).value, -one[0]))


def list_top_ngrams(counter: Counter[Ngram], limit: int | None) -> list[dict[str, Any]]:
    """Return the most frequent n-grams and their counts."""
    return [{"ngram": list(ngram), "count": n} for ngram, n in counter.most_common(limit)]


def clip_ngrams(
    hypothesis: Tokens, references: Sequence[Tokens], order: int
) -> list[dict[str, Any]]:
    """Return the n-grams of a hypothesis with their clipped counts.

    reference_count: the largest count in any reference. reference: the index of the first reference
        with this count, or None if no reference has the n-gram.

    >>> clip_ngrams(["the"] * 7, [["the", "the"]], 1)
    [{'ngram': ['the'], 'count': 7, 'reference_count': 2, 'reference': 0, 'clipped': 2}]
    """
    reference_counts = [count_ngrams(reference, order) for reference in references]
    rows = []
    for ngram, count in count_ngrams(hypothesis, order).items():
        counts = [reference[ngram] for reference in reference_counts]
        max_count = max(counts, default=0)
        rows.append(
            {
                "ngram": list(ngram),
                "count": count,
                "reference_count": max_count,
                "reference": counts.index(max_count) if max_count else None,
                "clipped": min(count, max_count),
            }
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


def count_overlap(hypothesis: Tokens, reference: Tokens, order: int) -> dict[str, int]:
    """Return the number of clipped matches with one reference and both texts' n-gram totals."""
    counts = [count_ngrams(tokens, order) for tokens in (hypothesis, reference)]
    numbers = [(counts[0] & counts[1]).total(), *(one.total() for one in counts)]
    return dict(zip(COUNT_KEYS, numbers, strict=True))


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
    tokens: Tokens, tables: Sequence[Sequence[Any]], orders: Sequence[int] | None = None
) -> list[dict[str, Any]]:
    """Return, for each token, the longest matched n-gram that covers it.

    orders: orders of the tables (default: 1, 2, ...). Keys of the result: longest (order of the
    n-gram, 0 for none), start (its position), clipped (orders in which the token was clipped).

    If an n-gram is clipped, its first occurrences are treated as the matches. BLEU does not define
    which occurrences match, only how many of them do.
    """
    covers: list[dict[str, Any]] = [{"longest": 0, "start": None, "clipped": []} for _ in tokens]
    for order, table in zip(orders or range(1, 1 + len(tables)), tables, strict=True):
        remaining = {tuple(row["ngram"]): (row["clipped"], row["reference_count"]) for row in table}
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
        order["ngrams"] = clip_ngrams(tokens, references, order["order"])
        for row in order["ngrams"]:
            if row["reference"] is not None:
                row["reference"] = numbers[row["reference"]]
        tables.append(order["ngrams"])
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
    counters: list[dict[str, Counter[Ngram]]] = [
        {kind: Counter() for kind in ("clipped", "unmatched", "missing")} for _ in system["orders"]
    ]
    overlap_sums: list[Counter[str]] = [Counter() for _ in system["orders"]]
    chosen_references: Counter[int] = Counter()
    looked_into = 0
    limit = None if case.recall else MAX_EXAMINED_SEGMENTS
    for hypothesis, segment_references in islice(
        iter_segments(case.hypothesis, case.references), limit
    ):
        numbers, texts = zip(*enumerate_references(segment_references), strict=True)
        tokens, references = split(hypothesis), list(map(split, texts))
        _, (closest_index, *_) = choose_reference_length(
            len(tokens), list(map(len, references)), rule, tie
        )
        is_examined = looked_into < MAX_EXAMINED_SEGMENTS
        if is_examined:
            looked_into += 1
            chosen_references[numbers[closest_index]] += 1
        for order, counter, overlap in zip(system["orders"], counters, overlap_sums, strict=True):
            n = order["order"]
            for row in clip_ngrams(tokens, references, n) if is_examined else ():
                if row["count"] > row["clipped"]:
                    kind = "clipped" if row["clipped"] else "unmatched"
                    counter[kind][tuple(row["ngram"])] += row["count"] - row["clipped"]
            for ngram, count in find_missing_ngrams(tokens, references, n) if is_examined else ():
                counter["missing"][ngram] += count
            if case.recall:
                overlap.update(count_overlap(tokens, references[closest_index], n))
    for order, counter, overlap in zip(system["orders"], counters, overlap_sums, strict=True):
        order |= {
            kind: list_top_ngrams(found, MAX_LISTED_NGRAMS) for kind, found in counter.items()
        }
        if case.recall:
            order["recall"] = [{"reference": None, **compute_recall(overlap)}]
    system["looked_into"] = looked_into
    system["reference_choice"] = {
        "rule": rule,
        "tie": tie,
        "segments": {str(number): count for number, count in sorted(chosen_references.items())},
    }


def compute_recall(overlap: Mapping[str, int]) -> dict[str, Any]:
    """Return the recall and the F-measure, computed from the counts of matches and n-grams."""
    matches, hypothesis_total, total = (overlap[key] for key in COUNT_KEYS)
    return {
        "matches": matches,
        "total": total,
        "recall": matches / total if total else 0.0,
        "f": 2 * matches / (hypothesis_total + total) if hypothesis_total + total else 0.0,
    }
