"""Google's GLEU: the minimum of precision and recall over n-grams of all orders together.

Yonghui Wu et al. (2016): Google's neural machine translation system, section 4.3. arXiv:1609.08144.
It differs from the GLEU for grammatical error correction (gec_gleu.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any

from truebleu.metrics import parameters as p
from truebleu.metrics.base import Corpus, CountedRows
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.python_metric import PythonMetric
from truebleu.text import tokenizers


class GLEU(PythonMetric):
    """Google's GLEU: the minimum of precision and recall over n-grams of all orders together.

    With several references, the best score is used. Corpus scores sum the match and n-gram counts
    of segments; there is no brevity penalty. Scores match NLTK's `gleu_score` and Hugging Face's
    `google_bleu`.

    >>> metric = GLEU(tokenize="none")
    >>> print(metric.sentence("the cat sat on the mat", ["the cat is on the mat", "a cat sat"]))
    GLEU = 50.00
    """

    __slots__ = ()

    NAME = "GLEU"
    CITATIONS = ("wu-etal-2016-google",)
    PREFIX = "gleu-"
    columns = ("matches", "totals")
    _column_limits = (("matches", 1, "totals"),)
    tokenize: p.Parameter[tokenizers.Tokenize] = p.Tokenizer()
    _: KW_ONLY
    lowercase: p.Parameter[bool | str] = p.declare_lowercase()
    min_order: p.Parameter[int] = p.WholeNumber(
        1, "the smallest n-gram order", key="least", short="mn", hints=("min_len",)
    )
    max_order: p.Parameter[int] = p.WholeNumber(
        4,
        "the largest n-gram order",
        key="order",
        short="ord",
        hints=("order", "n", "N", "max_len"),
    )

    def _prepare(self) -> None:
        if self.min_order > self.max_order:
            raise ValueError(f"min_order={self.min_order} is above max_order={self.max_order}")

    def _count_rows(self, corpus: Corpus) -> CountedRows:
        min_order, max_order = self.min_order, self.max_order
        segments = list(self._tokenize_segments(corpus.hypotheses, corpus.references))
        reference_counts = [len(references) for _, references in segments]
        # Compare the hypothesis with each reference separately, using the match counts of
        # single-reference BLEU.
        pairs = [(tokens, other) for tokens, references in segments for other in references]
        metric = BLEU("none", max_order=max_order)
        statistics = metric.statistics(*zip(*pairs, strict=True), workers=corpus.workers)
        table = iter(statistics.tolist())
        rows = []
        for number in reference_counts:
            best = [0, 0]
            for _ in range(number):
                row = next(table)
                matched = sum(row[1 + min_order : 2 + max_order])
                hypothesis_total = sum(row[1 + min_order + max_order :])
                reference_total = sum(
                    max(0, row[1] - order) for order in range(min_order - 1, max_order)
                )
                total = max(hypothesis_total, reference_total)
                # The first of several equally good references is used. A reference is skipped if
                # neither it nor the hypothesis has n-grams.
                if total and (not best[1] or matched / total > best[0] / best[1]):
                    best = [matched, total]
            rows.append(best)
        return rows, reference_counts

    def _apply_formula(self, row: Sequence[int], *, segment: bool) -> tuple[float, dict[str, Any]]:  # noqa: ARG002
        matched, total = row
        return (matched / total if total else 0.0), {"matches": matched, "totals": total}
