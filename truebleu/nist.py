"""The NIST score: n-gram matches weighted by how much the n-gram tells.

George Doddington (2002): Automatic evaluation of machine translation quality using n-gram
co-occurrence statistics. HLT. As mteval-v11b to v14 compute it, and as NLTK does.
"""

from __future__ import annotations

from collections import Counter
from math import exp, fsum, log

from truebleu.hook import Hook, count_references, whole
from truebleu.tokenizers import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from truebleu import inputs, tokenizers

# A logarithm to the base 2 is a quotient in Perl, in NLTK and here; log2 differs in the last bit.
_LN_2 = log(2)

VARIANTS = ("mteval", "doddington", "nltk")


class NIST(Hook):
    """The NIST score. There is no upper bound; good systems get 5 to 12.

    NIST = Σₙ (Σ info(g) over matched n-grams g) / (n-grams of the hypotheses) · penalty, where
    info(w₁…wₙ) = log₂(count(w₁…wₙ₋₁) / count(w₁…wₙ)) is counted in all references of the corpus.
    The score of a segment therefore depends on the corpus: `segments` weighs with the whole
    corpus, as mteval's `-d 2`, and `sentence` with that one segment's references.

    tokenize, lowercase: as for `BLEU`. mteval lower-cases unless it is told not to (`-c`).
    max_order: the longest n-grams.
    variant: "mteval" is mteval-v11b's to v14's score, in which an n-gram behind the lone token "0"
        counts as if it had no history, because Perl takes "0" for false; "doddington" is without
        that; "nltk" is NLTK's, which takes of several references the best for each segment and
        order instead of matching in all.

    >>> hypothesis = "It is a guide to action which ensures that the military always obeys"
    >>> reference = "It is a guide to action that ensures that the military will forever heed"
    >>> print(NIST("none").sentence(hypothesis, reference))
    NIST = 2.87
    """

    __slots__ = ()

    NAME = "NIST"
    SCALE = 1.0
    PARAMETERS = {  # noqa: RUF012
        "tokenize": "13a",
        "lowercase": False,
        "max_order": 5,
        "variant": "mteval",
    }
    FIELDS = {"order": "max_order", "variant": "variant"}  # noqa: RUF012
    SHORT_NAMES = {"case": "c", "tok": "tok", "order": "ord", "variant": "var"}  # noqa: RUF012

    def __init__(
        self,
        tokenize: tokenizers.Tokenize = "13a",
        *,
        lowercase: bool | str = False,
        max_order: int = 5,
        variant: str = "mteval",
    ) -> None:
        if variant not in VARIANTS:
            raise ValueError(f"unknown variant {variant!r}{nearest(str(variant), VARIANTS)}")
        super().__init__(
            tokenize=tokenize,
            lowercase=lowercase,
            max_order=whole("max_order", max_order, 1, 16),
            variant=variant,
        )

    @property
    def max_order(self) -> int:
        """The length of the longest n-grams."""
        return self._values["max_order"]  # type: ignore[no-any-return]

    @property
    def variant(self) -> str:
        """Whose NIST score it is."""
        return self._values["variant"]  # type: ignore[no-any-return]

    def _rows(
        self,
        hypotheses: inputs.Hypotheses,
        references: inputs.References,
        workers: int,  # noqa: ARG002
    ) -> tuple[list[Any], int | str | None]:
        nltk = self.variant == "nltk"
        seen = _Seen(self.max_order)
        segments: list[Any] = []
        numbers = set()
        for hypothesis, others in self._tokens(hypotheses, references):
            numbers.add(len(others))
            counted = [seen.reference(tokens) for tokens in others]
            lengths = [len(tokens) for tokens in others]
            found = list(seen.hypothesis(hypothesis))
            if nltk:
                segments.append((len(hypothesis), lengths, found, counted))
            else:
                segments.append((len(hypothesis), lengths, _clipped(found, counted)))
        information = seen.information(zero=self.variant == "mteval")
        if nltk:
            rows: list[Any] = [self._best(information, *segment) for segment in segments]
        else:
            rows = [_Row(information, *segment) for segment in segments]
        return rows, count_references(numbers)

    def _value(self, rows: Sequence[Any]) -> tuple[float, dict[str, Any]]:
        return self._nltk(rows) if self.variant == "nltk" else self._mteval(rows)

    def _mteval(self, rows: Sequence[_Row]) -> tuple[float, dict[str, Any]]:
        hypothesis_length = sum(row.length for row in rows)
        # mteval divides all references' words by their number, the same for all segments there.
        numbers = {len(row.lengths) for row in rows}
        words = sum(sum(row.lengths) for row in rows)
        if len(numbers) == 1:
            reference_length = words / numbers.pop()
        else:
            reference_length = fsum(sum(row.lengths) / len(row.lengths) for row in rows)
        penalty = _penalty(hypothesis_length, reference_length)
        parts = []
        for n in range(self.max_order):
            # An exact sum, so that the order of segments does not matter.
            weight = fsum(
                row.information[i] * count for row in rows for i, count in row.matches[n].items()
            )
            parts.append(weight / max(1, sum(max(0, row.length - n) for row in rows)))
        return sum(parts) * penalty, {
            "information": parts,
            "penalty": penalty,
            "hypothesis_length": hypothesis_length,
            "reference_length": reference_length,
        }

    def _best(
        self,
        information: Sequence[float],
        length: int,
        lengths: Sequence[int],
        found: Sequence[dict[int, int]],
        counted: Sequence[Counter[int]],
    ) -> list[tuple[float, float, int, int, int]]:
        """NLTK's row: for each order the best reference's precision, information, total, length."""
        best = []
        for n, order in enumerate(found):
            total = max(0, length - n)
            candidates = []
            for reference, reference_length in zip(counted, lengths, strict=True):
                weight = sum(
                    information[i] * min(count, reference[i])
                    for i, count in order.items()
                    if reference[i]
                )
                candidates.append((weight / total if total else 0, weight, total, reference_length))
            best.append((*max(candidates), length))
        return best

    def _nltk(
        self, rows: Sequence[Sequence[tuple[float, float, int, int, int]]]
    ) -> tuple[float, dict[str, Any]]:
        parts = []
        reference_length = hypothesis_length = 0
        for n in range(self.max_order):
            weight: float = 0
            total = 0
            for row in rows:
                _, numerator, denominator, reference, hypothesis = row[n]
                weight += numerator
                total += denominator
                reference_length += reference
                hypothesis_length += hypothesis
            # NLTK divides by 0 where no hypothesis is long enough.
            parts.append(weight / total if total else 0.0)
        precision: float = 0
        for part in parts:
            precision += part
        penalty = _penalty(hypothesis_length, reference_length)
        return precision * penalty, {
            "information": parts,
            "penalty": penalty,
            # NLTK adds the lengths up once for each order.
            "hypothesis_length": hypothesis_length // self.max_order,
            "reference_length": reference_length / self.max_order,
        }


def _penalty(hypothesis_length: int, reference_length: float) -> float:
    """1/2 for a hypothesis two thirds as long as the mean reference, 1 for one as long."""
    ratio = hypothesis_length / reference_length if reference_length else 1.0
    if not 0 < ratio < 1:
        return max(min(ratio, 1.0), 0.0)
    beta = log(0.5) / log(1.5) ** 2
    return exp(beta * log(ratio) ** 2)


def _clipped(
    found: Sequence[dict[int, int]], counted: Sequence[Counter[int]]
) -> list[dict[int, int]]:
    """For each order, the n-grams of a hypothesis, at most as many as in one of the references."""
    if len(counted) == 1:
        only = counted[0]
        return [{i: min(n, only[i]) for i, n in order.items() if i in only} for order in found]
    return [
        {i: min(n, max([reference.get(i, 0) for reference in counted])) for i, n in order.items()}
        for order in found
    ]


class _Row:
    """What mteval counts in one segment."""

    __slots__ = ("information", "length", "lengths", "matches")

    def __init__(
        self,
        information: Sequence[float],
        length: int,
        lengths: Sequence[int],
        matches: Sequence[dict[int, int]],
    ) -> None:
        self.length = length
        self.lengths = lengths
        self.matches = matches
        self.information = information


class _Seen:
    """The n-grams of all references, as numbers: an n-gram is its history and its last token."""

    def __init__(self, max_order: int) -> None:
        self.max_order = max_order
        self.words = 0
        self.tokens: dict[Any, int] = {}
        self.numbers: dict[tuple[int, int], int] = {}
        self.history: list[int] = []
        self.frequency: Counter[int] = Counter()

    def reference(self, tokens: Sequence[Any]) -> Counter[int]:
        """How often each n-gram is in a reference, after counting them for the corpus."""
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
        """What each n-gram tells, in bits, by number; `zero` for Perl's idea of a history "0"."""
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
