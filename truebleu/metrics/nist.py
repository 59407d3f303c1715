"""The NIST score: n-gram matches weighted by their information.

George Doddington (2002): Automatic evaluation of machine translation quality using n-gram
co-occurrence statistics. HLT. Scores match mteval-v11b to v14, or NLTK.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY
from itertools import chain
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
        segments = list(self._tokenize_segments(corpus.hypotheses, corpus.references))
        orders = range(1, self.max_order + 1)
        frequency: Counter[tuple[Any, ...]] = Counter()
        for tokens in chain.from_iterable(references for _, references in segments):
            for n in orders:
                frequency.update(tokenizers.iterate_ngrams(tokens, n))
        word_count = sum(n for ngram, n in frequency.items() if len(ngram) == 1)
        # Histories that count as missing: "0" and an empty string are false in Perl.
        missing_histories = {(), ("0",), ("",)} if self.variant == "mteval" else {()}

        def compute_information(ngram: tuple[Any, ...]) -> float:
            history = ngram[:-1]
            count = word_count if history in missing_histories else frequency[history]
            return log(count / frequency[ngram]) / _LN_2

        rows = []
        for hypothesis, references in segments:
            lengths, best_lengths, information = list(map(len, references)), [], []
            for n in orders:
                counts = tokenizers.count_ngrams(hypothesis, n)
                reference_counts = [tokenizers.count_ngrams(tokens, n) for tokens in references]
                if self.variant != "nltk":
                    # Counter's union would copy the counts for each reference.
                    largest: Counter[tuple[Any, ...]] = Counter()
                    for ngram, m in chain.from_iterable(one.items() for one in reference_counts):
                        largest[ngram] = max(m, largest[ngram])
                    reference_counts = [largest]
                weights = [
                    sum(compute_information(ngram) * m for ngram, m in (counts & one).items())
                    for one in reference_counts
                ]
                if self.variant == "nltk":  # the most precise reference
                    total = max(0, len(hypothesis) - n + 1)
                    precisions = [weight / total if total else 0 for weight in weights]
                    _, weight, length = max(zip(precisions, weights, lengths, strict=True))
                    best_lengths.append(length)
                    weights = [weight]
                information += weights
            lengths = best_lengths or lengths
            parts = [round(weight * UNITS_PER_BIT) for weight in information]
            row = [len(hypothesis), round(sum(lengths) * PARTS_PER_TOKEN / len(lengths))]
            row += [part >> LOW_BITS for part in parts]
            row += [part % (1 << LOW_BITS) for part in parts]
            rows.append([*row, *(max(0, len(hypothesis) - n) for n in range(self.max_order))])
        return rows, [len(references) for _, references in segments]

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
