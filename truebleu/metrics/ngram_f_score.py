"""Precision, recall and F-score of n-grams."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from truebleu.metrics import parameters as p
from truebleu.metrics.base import Metric
from truebleu.metrics.scores import OverlapScore, compute_percentage
from truebleu.text import tokenizers

__all__ = ["NGramF", "NGramFScore"]


class NGramFScore(OverlapScore):
    """F-score of n-grams and its components."""

    __slots__ = ()

    PLACES = (1, 2, 0)
    DETAILS = (
        *("precision", "recall", "precisions", "recalls"),
        *("matches", "hypothesis_totals", "reference_totals"),
    )

    @property
    def precision(self) -> float:
        """The percentage of hypothesis n-grams that match."""
        return compute_percentage(sum(self.matches), sum(self.hypothesis_totals))

    @property
    def recall(self) -> float:
        """The percentage of reference n-grams that are matched."""
        return compute_percentage(sum(self.matches), sum(self.reference_totals))


class NGramF(Metric[NGramFScore]):
    """F-score of n-grams, with precision and recall, from the counts that BLEU uses.

    Matches are clipped as in BLEU, and the tokens are BLEU's. Precision is matches divided by
    hypothesis n-grams, and recall is matches divided by reference n-grams. Counts are summed over
    orders and segments before dividing. With several references, each segment uses the first
    reference with the best score.

    ROUGE-N splits text differently, into lower-cased runs of a-z and 0-9, which may be stemmed. Its
    corpus score is the mean of segment scores. If the tokens are equal, so are the segment scores.

    >>> score = NGramF(2).score(["the cat sat on the mat"], ["the cat is on the mat today"])
    >>> print(score)
    NGram-F = 54.55
    >>> round(score.precision, 2), round(score.recall, 2)
    (60.0, 50.0)
    """

    __slots__ = ()

    NAME = "NGram-F"
    CITATIONS = ("truebleu",)
    SCORE = NGramFScore
    PREFIX = "ngram-f-"
    FIELDS = ("case", "tok", "orders", "beta")
    orders: p.Orders = p.Orders((1,), "the n-gram orders; counts of several orders are summed")
    beta: p.Parameter[float] = p.Number(
        1, "β, the weight of recall relative to precision", maximum=1e100, integers=True, short="b"
    )
    _: KW_ONLY
    tokenize: p.Parameter[tokenizers.Tokenize] = p.Tokenizer()
    lowercase: p.Parameter[bool | str] = p.declare_lowercase()

    def build_kernel_settings(self) -> dict[str, Any]:
        """Return the metric settings for the kernel."""
        factor = float(self.beta) ** 2
        return {
            "metric": "ngram_f",
            **self._build_lexer_settings(),
            "orders": self.orders,
            "factor": factor,
        }

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names of the metric's statistics: three per order."""
        parts = ("matches", "hypothesis", "reference")
        return tuple(f"{part}_{order}" for order in self.orders for part in parts)

    @property
    def _column_limits(self) -> tuple[tuple[str, int, str], ...]:
        sides = ("hypothesis", "reference")
        return tuple((f"matches_{n}", 1, f"{side}_{n}") for n in self.orders for side in sides)
