"""The NIST score: n-gram matches weighted by their information.

George Doddington (2002): Automatic evaluation of machine translation quality using n-gram
co-occurrence statistics. HLT. As mteval-v11b to v14 compute it, and as NLTK does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY
from math import exp, log
from typing import Any

from truebleu._kernel import Scores
from truebleu.metrics import parameters as p
from truebleu.metrics.base import PARTS_PER_TOKEN, Corpus, CountedRows
from truebleu.metrics.python_metric import PythonMetric
from truebleu.text import tokenizers

# A logarithm to the base 2 is a quotient in Perl, in NLTK and here; log2 differs in the last bit.
_LN_2 = log(2)

# Information is counted in parts of 2^-52 bits, so that it adds up exactly, in two columns: what
# is above 32 of these bits, and what is below.
UNITS_PER_BIT, LOW_BITS = 2.0**52, 32


class NIST(PythonMetric):
    """The NIST score. There is no upper bound; good systems get 5 to 12.

    NIST = Σₙ (Σ info(g) over matched n-grams g) / (n-grams of the hypotheses) · penalty, where
    info(w₁…wₙ) = log₂(count(w₁…wₙ₋₁) / count(w₁…wₙ)) is counted in all references of the corpus.
    The score of a segment therefore depends on the corpus: `segments` weighs with the whole
    corpus, as mteval's `-d 2`, and `sentence` with that one segment's references.

    >>> hypothesis = "It is a guide to action which ensures that the military always obeys"
    >>> reference = "It is a guide to action that ensures that the military will forever heed"
    >>> print(NIST("none").sentence(hypothesis, reference))
    NIST = 2.87
    """

    __slots__ = ()

    NAME = "NIST"
    PREFIX = "nist-"
    SCALE = 1.0
    BOUND = None
    DIGITS = 3
    NOT_ADDITIVE = (
        "NIST weighs n-grams by all references of the corpus, so the sums of parts do not add up"
    )
    tokenize: p.Parameter[tokenizers.Tokenize] = p.Tokenizer()
    _: KW_ONLY
    lowercase: p.Parameter[bool | str] = p.declare_lowercase()
    max_order: p.Parameter[int] = p.WholeNumber(5, "the longest n-grams", key="order", short="ord")
    variant: p.Parameter[str] = p.Choice(
        "mteval",
        "whose NIST score",
        {
            "mteval": "mteval-v11b's to v14's, in which an n-gram behind the lone token 0 "
            "counts as if it had no history, because Perl takes 0 for false",
            "doddington": "without that",
            "nltk": "NLTK's, which takes of several references the best for each segment and "
            "order instead of matching in all",
        },
        short="var",
    )

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of this metric's statistics.

        The information of the matched n-grams of each order is in parts of 2^-20 bits, with the
        rest in parts of 2^-52; the length of several references is their mean, in parts of a token.
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
        # An n-gram has less than 64 bits of information.
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
        # A segment of a corpus is weighed with the whole corpus, a pair by itself.
        return lambda texts, others: Scores(
            [self.sentence(text, other).value for text, other in zip(texts, others, strict=True)]
        )

    def _count_rows(self, corpus: Corpus) -> CountedRows:
        segments = list(self._weigh_segments(corpus))
        reference_counts = [len(one.lengths) for one in segments]
        return [self._make_row(one) for one in segments], (
            min(reference_counts),
            max(reference_counts),
        )

    def _weigh_segments(self, corpus: Corpus) -> Iterator[_SegmentCounts]:
        """Each segment with the information of its matched n-grams, order by order."""
        counter = _NgramCounter(self.max_order)
        for hypothesis, references in self._tokenize_segments(corpus.hypotheses, corpus.references):
            counter.add_segment(hypothesis, references)
        bits = counter.compute_information(zero=self.variant == "mteval")
        for segment in counter.segments:
            (segment.choose if self.variant == "nltk" else segment.clip)(bits)
            yield segment

    def _make_row(self, segment: _SegmentCounts) -> list[int]:
        lengths = segment.best or segment.lengths
        parts = [round(weight * UNITS_PER_BIT) for weight in segment.information]
        return [
            segment.length,
            round(sum(lengths) * PARTS_PER_TOKEN / len(lengths)),
            *(part >> LOW_BITS for part in parts),
            *(part % (1 << LOW_BITS) for part in parts),
            *(max(0, segment.length - n) for n in range(self.max_order)),
        ]

    def zero_reason(self, row: Sequence[int], *, segment: bool) -> str:  # noqa: ARG002
        """Return why the score of a row is 0, and what to use instead."""
        return (
            "no n-gram matches, or those that match carry no information, as in references that "
            "are too few or too short; chrF (-m chrf) suits short text better"
        )

    def _apply_formula(self, row: Sequence[int], *, segment: bool) -> tuple[float, dict[str, Any]]:  # noqa: ARG002
        high, low = (row[2 + i * self.max_order : 2 + (i + 1) * self.max_order] for i in (0, 1))
        # Exact sums. NLTK adds rounded numbers, so its last bits depend on the order of segments.
        sums = [
            ((above << LOW_BITS) + below) / UNITS_PER_BIT
            for above, below in zip(high, low, strict=True)
        ]
        length, reference_parts, totals = row[0], row[1], row[2 + 2 * self.max_order :]
        # NLTK adds the lengths up once for each order, which decides the last bit.
        factor = self.max_order if self.variant == "nltk" else 1
        penalty = _compute_length_penalty(
            length * factor, reference_parts * factor / PARTS_PER_TOKEN
        )
        # mteval and NLTK divide by 0 where no hypothesis is long enough.
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


def _compute_length_penalty(hypothesis_length: int, reference_length: float) -> float:
    """1/2 for a hypothesis two thirds as long as the mean reference, 1 for one as long."""
    ratio = hypothesis_length / reference_length if reference_length else 1.0
    if not 0 < ratio < 1:
        return max(min(ratio, 1.0), 0.0)
    beta = log(0.5) / log(1.5) ** 2
    return exp(beta * log(ratio) ** 2)


class _SegmentCounts:
    """One segment: its n-grams and those of its references, by number, for each order."""

    __slots__ = (
        "best",
        "hypothesis_counts",
        "information",
        "length",
        "lengths",
        "reference_counts",
    )

    def __init__(
        self,
        length: int,
        lengths: list[int],
        hypothesis_counts: list[dict[int, int]],
        reference_counts: list[Counter[int]],
    ) -> None:
        self.length = length
        self.lengths = lengths
        self.hypothesis_counts = hypothesis_counts
        self.reference_counts = reference_counts
        self.information: list[float] = []
        # The length of NLTK's best reference of each order.
        self.best: list[int] = []

    def clip(self, bits: Sequence[float]) -> None:
        """Information of n-grams that match, each at most as often as in one of the references."""
        max_counts: dict[int, int] = {}
        for reference in self.reference_counts:
            for i, n in reference.items():
                max_counts[i] = max(n, max_counts.get(i, 0))
        self.information = [
            sum(bits[i] * min(n, max_counts.get(i, 0)) for i, n in order.items())
            for order in self.hypothesis_counts
        ]

    def choose(self, bits: Sequence[float]) -> None:
        """NLTK's: for each order, the reference with the highest precision."""
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
    """The n-grams of all references, as numbers: an n-gram is its history and its last token."""

    def __init__(self, max_order: int) -> None:
        self.max_order = max_order
        self.word_count = 0
        self.token_ids: dict[Any, int] = {}
        self.ngram_ids: dict[tuple[int, int], int] = {}
        self.history_ids: list[int] = []
        self.frequency: Counter[int] = Counter()
        self.segments: list[_SegmentCounts] = []

    def add_segment(self, hypothesis: Sequence[Any], references: Sequence[Sequence[Any]]) -> None:
        """Counts a segment, its references first."""
        reference_counts = [self.count_reference(tokens) for tokens in references]
        hypothesis_counts = list(self.count_hypothesis(hypothesis))
        self.segments.append(
            _SegmentCounts(
                len(hypothesis), list(map(len, references)), hypothesis_counts, reference_counts
            )
        )

    def count_reference(self, tokens: Sequence[Any]) -> Counter[int]:
        """The counts of the n-grams of a reference, which are added to those of the corpus."""
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

    def count_hypothesis(self, tokens: Sequence[Any]) -> Iterator[dict[int, int]]:
        """For each order, how often each n-gram known from references is in a hypothesis."""
        words = [self.token_ids.get(token, -1) for token in tokens]
        previous = [-1] * len(words)
        for n in range(self.max_order):
            # -2 is an n-gram that no reference has, and neither has any that it begins.
            previous = [
                self.ngram_ids.get(key, -2) for key in zip(previous, words[n:], strict=False)
            ]
            counts = Counter(previous)
            del counts[-2]
            yield counts

    def compute_information(self, *, zero: bool) -> list[float]:
        """The information of each n-gram, in bits; `zero` for Perl's reading of a history "0"."""
        ignored = {-1}
        if zero:
            # Perl takes an empty text for false as well.
            firsts = (
                self.ngram_ids.get((-1, self.token_ids.get(token, -1))) for token in ("0", "")
            )
            ignored |= {first for first in firsts if first is not None}
        return list(self._compute_bits(ignored))

    def _compute_bits(self, ignored: set[int]) -> Iterable[float]:
        for number, history in enumerate(self.history_ids):
            history_count = self.word_count if history in ignored else self.frequency[history]
            yield log(history_count / self.frequency[number]) / _LN_2
