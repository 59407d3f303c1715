"""Precision, recall and F-score of n-grams: how much of either text is in the other."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from truebleu.metrics import parameters as p
from truebleu.metrics.base import Metric
from truebleu.metrics.scores import TableScore
from truebleu.text import tokenizers

__all__ = ["NGramF", "NGramFScore"]


class NGramFScore(TableScore):
    """An F-score of n-grams, and its parts."""

    __slots__ = ()

    DETAILS = (
        *("precision", "recall", "precisions", "recalls"),
        *("matches", "hypothesis_totals", "reference_totals"),
    )

    @property
    def matches(self) -> tuple[int, ...]:
        """The clipped matches of each order."""
        return tuple(self._row[0::3])

    @property
    def hypothesis_totals(self) -> tuple[int, ...]:
        """The n-grams of each order in the hypotheses."""
        return tuple(self._row[1::3])

    @property
    def reference_totals(self) -> tuple[int, ...]:
        """The n-grams of each order in the references: of several, in the one that counts."""
        return tuple(self._row[2::3])

    @property
    def precision(self) -> float:
        """The share of the hypotheses' n-grams that match, in per cent."""
        return _divide_to_percent(sum(self.matches), sum(self.hypothesis_totals))

    @property
    def recall(self) -> float:
        """The share of the references' n-grams that are matched, in per cent."""
        return _divide_to_percent(sum(self.matches), sum(self.reference_totals))

    @property
    def precisions(self) -> tuple[float, ...]:
        """The precision of each order, in per cent."""
        return tuple(map(_divide_to_percent, self.matches, self.hypothesis_totals))

    @property
    def recalls(self) -> tuple[float, ...]:
        """The recall of each order, in per cent."""
        return tuple(map(_divide_to_percent, self.matches, self.reference_totals))


class NGramF(Metric[NGramFScore]):
    """The F-score of n-grams, with its precision and recall, from BLEU's own counts.

    Matches are clipped as BLEU's, in BLEU's tokens. Precision is over the n-grams of the
    hypotheses, recall over those of the references; several orders are added up before either is
    computed, and so are the segments of a corpus. Of several references the one with the best
    score of its segment counts, of equally good ones the first.

    ROUGE-N is the F-score of other words: it keeps lower-cased runs of a-z and 0-9 alone, stems
    them if asked to, and a corpus is the mean of its segments. On the same tokens a segment's score
    is the same.

    >>> score = NGramF(2).score(["the cat sat on the mat"], ["the cat is on the mat today"])
    >>> print(score)
    NGram-F = 54.55
    >>> round(score.precision, 2), round(score.recall, 2)
    (60.0, 50.0)
    """

    __slots__ = ()

    NAME = "NGram-F"
    SCORE = NGramFScore
    PREFIX = "ngram-f-"
    FIELDS = ("case", "tok", "orders", "beta")
    orders: p.Orders = p.Orders(
        (1,), "the lengths of the n-grams: one, or several that are added up"
    )
    beta: p.Parameter[float] = p.Number(
        1, "β, the weight of recall relative to precision", maximum=1e100, integers=True, short="b"
    )
    _: KW_ONLY
    tokenize: p.Parameter[tokenizers.Tokenize] = p.Tokenizer()
    lowercase: p.Parameter[bool | str] = p.declare_lowercase()

    def build_kernel_settings(self) -> dict[str, Any]:
        """What the kernel is asked for."""
        factor = float(self.beta) ** 2
        return {
            "metric": "ngram_f",
            **self._build_lexer_settings(),
            "orders": self.orders,
            "factor": factor,
        }

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of this metric's statistics: three per order."""
        parts = ("matches", "hypothesis", "reference")
        return tuple(f"{part}_{order}" for order in self.orders for part in parts)

    @property
    def _column_limits(self) -> tuple[tuple[str, int, str], ...]:
        sides = ("hypothesis", "reference")
        return tuple((f"matches_{n}", 1, f"{side}_{n}") for n in self.orders for side in sides)


def _divide_to_percent(numerator: int, denominator: int) -> float:
    return 100.0 * numerator / denominator if denominator else 0.0
