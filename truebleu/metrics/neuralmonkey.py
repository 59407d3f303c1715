"""Neural Monkey's BLEU, which does not clip matches.

Jindřich Helcl and Jindřich Libovický (2017): Neural Monkey, an open-source tool for sequence
learning. The Prague Bulletin of Mathematical Linguistics 107; neuralmonkey/evaluators/bleu.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from itertools import groupby
from math import exp, log
from typing import Any

from truebleu.metrics import parameters as p
from truebleu.metrics.base import Corpus, CountedRows
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.python_metric import PythonMetric
from truebleu.text import tokenizers


class NeuralMonkeyBLEU(PythonMetric):
    """Neural Monkey's BLEU, whose precisions can exceed 1.

    Each distinct n-gram of a hypothesis adds its largest count in a reference to the matches, even
    if the hypothesis has it only once. Orders without matches count as 1/2, 1/4, ... of a match.
    Orders without n-grams have a precision of 1. Neural Monkey expects tokenized text.

    >>> print(NeuralMonkeyBLEU(max_order=1).sentence("the x", "the the the"))
    NeuralMonkey-BLEU = 90.98
    """

    __slots__ = ()

    NAME = "NeuralMonkey-BLEU"
    CITATIONS = ("helcl-libovicky-2017-neural",)
    PREFIX = "neuralmonkey-"
    tokenize: p.Parameter[tokenizers.Tokenize] = p.Tokenizer("none")
    _: KW_ONLY
    lowercase: p.Parameter[bool | str] = p.declare_lowercase()
    max_order: p.Parameter[int] = p.WholeNumber(
        4, "the largest n-gram order", key="order", short="ord"
    )
    deduplicate: p.Parameter[bool] = p.Flag(
        "remove adjacent repeated words of hypotheses", key="dedup", short="dd"
    )

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names: the lengths, then the matches and totals of each order."""
        return BLEU(max_order=self.max_order).columns

    def _count_rows(self, corpus: Corpus) -> CountedRows:
        rows, reference_counts = [], []
        for words, references in self._tokenize_segments(corpus.hypotheses, corpus.references):
            hypothesis = [word for word, _ in groupby(words)] if self.deduplicate else words
            c = len(hypothesis)
            row = [c, min(map(len, references), key=lambda length: abs(length - c))]
            for n in range(1, self.max_order + 1):
                counts = [tokenizers.count_ngrams(tokens, n) for tokens in references]
                ngrams = tokenizers.count_ngrams(hypothesis, n)
                row.append(sum(max(other[ngram] for other in counts) for ngram in ngrams))
            row += [max(0, c - n) for n in range(self.max_order)]
            rows.append(row)
            reference_counts.append(len(references))
        return rows, reference_counts

    def _apply_formula(self, row: Sequence[int], *, segment: bool) -> tuple[float, dict[str, Any]]:  # noqa: ARG002
        orders = self.max_order
        c, r, matches, totals = row[0], row[1], row[2 : 2 + orders], row[2 + orders :]
        log_score, divisor = 0.0, 1.0
        for matched, total in zip(matches, totals, strict=True):
            precision = matched / total if total else 1.0
            if not precision:
                divisor *= 2
                precision = 1 / (divisor * total)
            log_score += 1 / orders * log(precision)
        value = exp(log_score + min(1 - r / c, 0)) if c else 0.0
        details = {"matches": list(matches), "totals": list(totals)}
        return value, {**details, "hypothesis_length": c, "reference_length": r}
