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
from truebleu.metrics.base import PARTS, Corpus, Rows
from truebleu.metrics.python_metric import PythonMetric
from truebleu.text import tokenizers

# A logarithm to the base 2 is a quotient in Perl, in NLTK and here; log2 differs in the last bit.
_LN_2 = log(2)

# Information is counted in parts of 2^-52 bits, so that it adds up exactly, in two columns: what
# is above 32 of these bits, and what is below.
UNIT, LOW = 2.0**52, 32


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
    lowercase: p.Parameter[bool | str] = p.lowercase()
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
    def _limits(self) -> tuple[tuple[str, int, str], ...]:
        # An n-gram has less than 64 bits of information.
        parts = (("information", 64 << 20), ("information_rest", 1 << 32))
        return tuple(
            (f"{part}_{order}", most, f"totals_{order}")
            for part, most in parts
            for order in range(1, self.max_order + 1)
        )

    def _scores_of_pairs(
        self,
        workers: int,  # noqa: ARG002
    ) -> Callable[[Sequence[Any], Sequence[Any]], Scores]:
        # A segment of a corpus is weighed with the whole corpus, a pair by itself.
        return lambda texts, others: Scores(
            [self.sentence(text, other).value for text, other in zip(texts, others, strict=True)]
        )

    def _rows(self, corpus: Corpus) -> Rows:
        segments = list(self._weighted(corpus))
        numbers = [len(one.lengths) for one in segments]
        return [self._row(one) for one in segments], (min(numbers), max(numbers))

    def _weighted(self, corpus: Corpus) -> Iterator[_Segment]:
        """Each segment with the information of its matched n-grams, order by order."""
        counted = _Counted(self.max_order)
        for hypothesis, others in self._tokens(corpus.hypotheses, corpus.references):
            counted.add(hypothesis, others)
        bits = counted.information(zero=self.variant == "mteval")
        for segment in counted.segments:
            (segment.choose if self.variant == "nltk" else segment.clip)(bits)
            yield segment

    def _row(self, segment: _Segment) -> list[int]:
        lengths = segment.best or segment.lengths
        parts = [round(weight * UNIT) for weight in segment.information]
        return [
            segment.length,
            round(sum(lengths) * PARTS / len(lengths)),
            *(part >> LOW for part in parts),
            *(part % (1 << LOW) for part in parts),
            *(max(0, segment.length - n) for n in range(self.max_order)),
        ]

    def zero_reason(self, row: Sequence[int], *, segment: bool) -> str:  # noqa: ARG002
        """Return why the score of a row is 0, and what to use instead."""
        return (
            "no n-gram matches, or those that match carry no information, as in references that "
            "are too few or too short; chrF (-m chrf) suits short text better"
        )

    def _formula(self, row: Sequence[int], *, segment: bool) -> tuple[float, dict[str, Any]]:  # noqa: ARG002
        high, low = (row[2 + i * self.max_order : 2 + (i + 1) * self.max_order] for i in (0, 1))
        # Exact sums. NLTK adds rounded numbers, so its last bits depend on the order of segments.
        sums = [((above << LOW) + below) / UNIT for above, below in zip(high, low, strict=True)]
        length, reference_parts, totals = row[0], row[1], row[2 + 2 * self.max_order :]
        # NLTK adds the lengths up once for each order, which decides the last bit.
        times = self.max_order if self.variant == "nltk" else 1
        penalty = _penalty(length * times, reference_parts * times / PARTS)
        # mteval and NLTK divide by 0 where no hypothesis is long enough.
        parts = [weight / max(1, total) for weight, total in zip(sums, totals, strict=True)]
        precision = 0.0
        for part in parts:
            precision += part
        return precision * penalty, {
            "information": parts,
            "penalty": penalty,
            "hypothesis_length": length,
            "reference_length": reference_parts / PARTS,
        }


def _penalty(hypothesis_length: int, reference_length: float) -> float:
    """1/2 for a hypothesis two thirds as long as the mean reference, 1 for one as long."""
    ratio = hypothesis_length / reference_length if reference_length else 1.0
    if not 0 < ratio < 1:
        return max(min(ratio, 1.0), 0.0)
    beta = log(0.5) / log(1.5) ** 2
    return exp(beta * log(ratio) ** 2)


class _Segment:
    """One segment: its n-grams and those of its references, by number, for each order."""

    __slots__ = ("best", "counted", "found", "information", "length", "lengths")

    def __init__(
        self,
        length: int,
        lengths: list[int],
        found: list[dict[int, int]],
        counted: list[Counter[int]],
    ) -> None:
        self.length = length
        self.lengths = lengths
        self.found = found
        self.counted = counted
        self.information: list[float] = []
        # The length of NLTK's best reference of each order.
        self.best: list[int] = []

    def clip(self, bits: Sequence[float]) -> None:
        """Information of n-grams that match, each at most as often as in one of the references."""
        most: dict[int, int] = {}
        for reference in self.counted:
            for i, n in reference.items():
                most[i] = max(n, most.get(i, 0))
        self.information = [
            sum(bits[i] * min(n, most.get(i, 0)) for i, n in order.items()) for order in self.found
        ]

    def choose(self, bits: Sequence[float]) -> None:
        """NLTK's: for each order, the reference with the highest precision."""
        for n, order in enumerate(self.found):
            total = max(0, self.length - n)
            candidates = []
            for reference, length in zip(self.counted, self.lengths, strict=True):
                weight = sum(
                    bits[i] * min(count, reference[i]) for i, count in order.items() if reference[i]
                )
                candidates.append((weight / total if total else 0, weight, total, length))
            _, weight, _, length = max(candidates)
            self.information.append(weight)
            self.best.append(length)


class _Counted:
    """The n-grams of all references, as numbers: an n-gram is its history and its last token."""

    def __init__(self, max_order: int) -> None:
        self.max_order = max_order
        self.words = 0
        self.tokens: dict[Any, int] = {}
        self.numbers: dict[tuple[int, int], int] = {}
        self.history: list[int] = []
        self.frequency: Counter[int] = Counter()
        self.segments: list[_Segment] = []

    def add(self, hypothesis: Sequence[Any], others: Sequence[Sequence[Any]]) -> None:
        """Counts a segment, its references first."""
        counted = [self.reference(tokens) for tokens in others]
        found = list(self.hypothesis(hypothesis))
        self.segments.append(_Segment(len(hypothesis), list(map(len, others)), found, counted))

    def reference(self, tokens: Sequence[Any]) -> Counter[int]:
        """The counts of the n-grams of a reference, which are added to those of the corpus."""
        self.words += len(tokens)
        of_token, numbers, history = self.tokens, self.numbers, self.history
        words = [of_token.setdefault(token, len(of_token)) for token in tokens]
        before = [-1] * len(words)
        every: list[int] = []
        for n in range(self.max_order):
            now = []
            for key in zip(before, words[n:], strict=False):
                number = numbers.get(key)
                if number is None:
                    number = numbers[key] = len(history)
                    history.append(key[0])
                now.append(number)
            every += now
            before = now
        self.frequency.update(every)
        return Counter(every)

    def hypothesis(self, tokens: Sequence[Any]) -> Iterator[dict[int, int]]:
        """For each order, how often each n-gram known from references is in a hypothesis."""
        words = [self.tokens.get(token, -1) for token in tokens]
        before = [-1] * len(words)
        for n in range(self.max_order):
            # -2 is an n-gram that no reference has, and neither has any that it begins.
            before = [self.numbers.get(key, -2) for key in zip(before, words[n:], strict=False)]
            counts = Counter(before)
            del counts[-2]
            yield counts

    def information(self, *, zero: bool) -> list[float]:
        """The information of each n-gram, in bits; `zero` for Perl's reading of a history "0"."""
        ignored = {-1}
        if zero:
            # Perl takes an empty text for false as well.
            firsts = (self.numbers.get((-1, self.tokens.get(token, -1))) for token in ("0", ""))
            ignored |= {first for first in firsts if first is not None}
        return list(self._bits(ignored))

    def _bits(self, ignored: set[int]) -> Iterable[float]:
        for number, history in enumerate(self.history):
            many = self.words if history in ignored else self.frequency[history]
            yield log(many / self.frequency[number]) / _LN_2
