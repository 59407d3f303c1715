"""The NIST score: n-gram matches weighted by their information.

George Doddington (2002): Automatic evaluation of machine translation quality using n-gram
co-occurrence statistics. HLT. Scores match mteval-v11b to v14, or NLTK.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from math import exp, log
from typing import Any

from truebleu._kernel import Scores
from truebleu.metrics import parameters as p
from truebleu.metrics.base import PARTS_PER_TOKEN, Corpus, CountedRows
from truebleu.metrics.python_metric import PythonMetric
from truebleu.text import tokenizers

# Perl and NLTK compute base-2 logarithms as quotients; `math.log2` differs in the last bit.
_LN_2 = log(2)

# Information is an integer in units of 2^-52 bits, so that sums are exact. Two columns hold its
# high part and its low 32 bits.
UNITS_PER_BIT, LOW_BITS = 2.0**52, 32


class NIST(PythonMetric):
    """NIST score, which has no upper bound; good systems score 5 to 12.

    NIST = Σₙ (Σ info(g) over matched n-grams g) / (n-grams of the hypotheses) · penalty, where
    info(w₁…wₙ) = log₂(count(w₁…wₙ₋₁) / count(w₁…wₙ)) is counted in all references of the corpus.
    Segment scores therefore depend on the corpus: `segments` weights n-grams by all references,
    like mteval's `-d 2`, and `sentence` only by the references of its segment.

    >>> hypothesis = "It is a guide to action which ensures that the military always obeys"
    >>> reference = "It is a guide to action that ensures that the military will forever heed"
    >>> print(NIST("none").sentence(hypothesis, reference))
    NIST = 2.87
    """

    __slots__ = ()

    NAME = "NIST"
    CITATIONS = ("doddington-2002-automatic",)
    ZERO_REASON = (
        "no n-gram matches, or matching n-grams have no information, as happens with few or short "
        "references; chrF (-m chrf) suits short text better"
    )
    PREFIX = "nist-"
    SCALE = 1.0
    BOUND = None
    DIGITS = 3
    NON_ADDITIVE_REASON = (
        "NIST weights n-grams by all references of the corpus, so partial results cannot be "
        "combined"
    )
    tokenize: p.Parameter[tokenizers.Tokenize] = p.Tokenizer()
    _: KW_ONLY
    lowercase: p.Parameter[bool | str] = p.declare_lowercase()
    max_order: p.Parameter[int] = p.WholeNumber(
        5, "the largest n-gram order", key="order", short="ord", hints=("order", "n", "N")
    )
    variant: p.Parameter[str] = p.Choice(
        "mteval",
        "the implementation of NIST",
        {
            "mteval": "mteval-v11b to v14, which treat the history 0 of an n-gram as missing, "
            "because 0 is false in Perl",
            "doddington": "mteval without this exception",
            "nltk": "NLTK, which uses the best reference for each segment and order instead of "
            "all references",
        },
        short="var",
    )

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names of the metric's statistics.

        The information of matched n-grams per order is in units of 2^-20 bits, with a remainder in
        units of 2^-52 bits. The reference length is the mean over references, in token fractions.
        """
        orders = range(1, self.max_order + 1)
        return (
            "hypothesis_length",
            "reference_length_parts",
            *(f"information_{order}" for order in orders),
            *(f"information_rest_{order}" for order in orders),
            *(f"totals_{order}" for order in orders),
        )

    @property
    def _column_limits(self) -> tuple[tuple[str, int, str], ...]:
        # An n-gram has fewer than 64 bits of information.
        parts = (("information", 64 << 20), ("information_rest", 1 << 32))
        return tuple(
            (f"{part}_{order}", limit, f"totals_{order}")
            for part, limit in parts
            for order in range(1, self.max_order + 1)
        )

    def _make_pair_scorer(
        self,
        workers: int,  # noqa: ARG002
    ) -> Callable[[Sequence[Any], Sequence[Any]], Scores]:
        # Segments of a corpus are weighted by all references, but pairs only by their reference.
        return lambda texts, others: Scores(
            [self.sentence(text, other).value for text, other in zip(texts, others, strict=True)]
        )

    def _count_rows(self, corpus: Corpus) -> CountedRows:
        counter = _NgramCounter(self.max_order)
        for hypothesis, references in self._tokenize_segments(corpus.hypotheses, corpus.references):
            counter.add_segment(hypothesis, references)
        bits = counter.compute_information(zero_is_false=self.variant == "mteval")
        rows = []
        for segment in counter.segments:
            (segment.set_nltk_bits if self.variant == "nltk" else segment.set_clipped_bits)(bits)
            lengths = segment.best or segment.lengths
            parts = [round(weight * UNITS_PER_BIT) for weight in segment.information]
            row = [segment.length, round(sum(lengths) * PARTS_PER_TOKEN / len(lengths))]
            row += [part >> LOW_BITS for part in parts]
            row += [part % (1 << LOW_BITS) for part in parts]
            rows.append([*row, *(max(0, segment.length - n) for n in range(self.max_order))])
        return rows, [len(segment.lengths) for segment in counter.segments]

    def _apply_formula(self, row: Sequence[int], *, segment: bool) -> tuple[float, dict[str, Any]]:  # noqa: ARG002
        high, low = (row[2 + i * self.max_order : 2 + (i + 1) * self.max_order] for i in (0, 1))
        # NLTK adds rounded numbers, so the last bits of its scores depend on the order of segments;
        # these sums are exact.
        sums = [
            ((above << LOW_BITS) + below) / UNITS_PER_BIT
            for above, below in zip(high, low, strict=True)
        ]
        length, reference_parts, totals = row[0], row[1], row[2 + 2 * self.max_order :]
        # NLTK adds the lengths once per order, which affects the last bit.
        factor = self.max_order if self.variant == "nltk" else 1
        # The penalty is 1/2 at 2/3 of the mean reference length, and 1 at or above it.
        mean_length = reference_parts * factor / PARTS_PER_TOKEN
        ratio = length * factor / mean_length if mean_length else 1.0
        penalty = max(min(ratio, 1.0), 0.0)
        if 0 < ratio < 1:
            penalty = exp(log(0.5) / log(1.5) ** 2 * log(ratio) ** 2)
        # mteval and NLTK divide by 0 if no hypothesis is long enough.
        parts = [weight / max(1, total) for weight, total in zip(sums, totals, strict=True)]
        precision = 0.0
        for part in parts:
            precision += part
        return precision * penalty, {
            "information": parts,
            "penalty": penalty,
            "hypothesis_length": length,
            "reference_length": reference_parts / PARTS_PER_TOKEN,
        }


@dataclass(slots=True)
class _SegmentCounts:
    """N-gram counts of a segment and its references, keyed by n-gram ID."""

    length: int
    lengths: list[int]
    hypothesis_counts: list[dict[int, int]]
    reference_counts: list[Counter[int]]
    information: list[float] = field(default_factory=list)
    # The length of NLTK's best reference for each order.
    best: list[int] = field(default_factory=list)

    def set_clipped_bits(self, bits: Sequence[float]) -> None:
        """Set the information of matches, which are clipped to the largest reference count."""
        max_counts: dict[int, int] = {}
        for reference in self.reference_counts:
            for i, n in reference.items():
                max_counts[i] = max(n, max_counts.get(i, 0))
        self.information = [
            sum(bits[i] * min(n, max_counts.get(i, 0)) for i, n in order.items())
            for order in self.hypothesis_counts
        ]

    def set_nltk_bits(self, bits: Sequence[float]) -> None:
        """Set the information as NLTK does: per order, from the most precise reference."""
        for n, order in enumerate(self.hypothesis_counts):
            total = max(0, self.length - n)
            candidates = []
            for reference, length in zip(self.reference_counts, self.lengths, strict=True):
                weight = sum(
                    bits[i] * min(count, reference[i]) for i, count in order.items() if reference[i]
                )
                candidates.append((weight / total if total else 0, weight, total, length))
            _, weight, _, length = max(candidates)
            self.information.append(weight)
            self.best.append(length)


class _NgramCounter:
    """Counter of all references' n-grams. An n-gram ID identifies a history and a last token."""

    def __init__(self, max_order: int) -> None:
        self.max_order = max_order
        self.word_count = 0
        self.token_ids: dict[Any, int] = {}
        self.ngram_ids: dict[tuple[int, int], int] = {}
        self.history_ids: list[int] = []
        self.frequency: Counter[int] = Counter()
        self.segments: list[_SegmentCounts] = []

    def add_segment(self, hypothesis: Sequence[Any], references: Sequence[Sequence[Any]]) -> None:
        """Count the n-grams of a segment, starting with its references."""
        reference_counts = [self.count_reference_ngrams(tokens) for tokens in references]
        hypothesis_counts = list(self.count_hypothesis_ngrams(hypothesis))
        self.segments.append(
            _SegmentCounts(
                len(hypothesis), list(map(len, references)), hypothesis_counts, reference_counts
            )
        )

    def count_reference_ngrams(self, tokens: Sequence[Any]) -> Counter[int]:
        """Return a reference's n-gram counts after adding them to the corpus counts."""
        self.word_count += len(tokens)
        token_ids, numbers, history = self.token_ids, self.ngram_ids, self.history_ids
        words = [token_ids.setdefault(token, len(token_ids)) for token in tokens]
        previous = [-1] * len(words)
        ngrams: list[int] = []
        for n in range(self.max_order):
            current = []
            for key in zip(previous, words[n:], strict=False):
                number = numbers.get(key)
                if number is None:
                    number = numbers[key] = len(history)
                    history.append(key[0])
                current.append(number)
            ngrams += current
            previous = current
        self.frequency.update(ngrams)
        return Counter(ngrams)

    def count_hypothesis_ngrams(self, tokens: Sequence[Any]) -> Iterator[dict[int, int]]:
        """Yield, per order, the counts of hypothesis n-grams that occur in references."""
        words = [self.token_ids.get(token, -1) for token in tokens]
        previous = [-1] * len(words)
        for n in range(self.max_order):
            # The ID -2 marks n-grams that no reference contains, and their continuations.
            previous = [
                self.ngram_ids.get(key, -2) for key in zip(previous, words[n:], strict=False)
            ]
            counts = Counter(previous)
            del counts[-2]
            yield counts

    def compute_information(self, *, zero_is_false: bool) -> list[float]:
        """Return the information of each n-gram in bits, treating "0" as false if requested."""
        ignored = {-1}
        if zero_is_false:
            # An empty string is false in Perl, too.
            firsts = (
                self.ngram_ids.get((-1, self.token_ids.get(token, -1))) for token in ("0", "")
            )
            ignored |= {first for first in firsts if first is not None}
        bits = []
        for number, history in enumerate(self.history_ids):
            history_count = self.word_count if history in ignored else self.frequency[history]
            bits.append(log(history_count / self.frequency[number]) / _LN_2)
        return bits
