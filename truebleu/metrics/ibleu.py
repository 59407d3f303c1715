"""iBLEU for paraphrases, which rewards similarity to references and difference from the source.

Hong Sun and Ming Zhou (2012): Joint learning of a dual SMT system for paraphrase generation. ACL.
The paper does not specify BLEU's settings. Nitin Madnani's (2011) viewer of the same name is
unrelated: it computes BLEU, which is the family member `ibleu-viewer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any

from truebleu._kernel import InputError
from truebleu.metrics import parameters as p
from truebleu.metrics.base import Corpus, CountedRows
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.python_metric import SourceMetric
from truebleu.text import tokenizers


class IBLEU(SourceMetric):
    """iBLEU (Sun and Zhou 2012): alpha · BLEU(h, references) - (1 - alpha) · BLEU(h, source).

    It needs the sources. For the score of the viewer iBLEU (Madnani 2011), use `ibleu-viewer`.

    >>> print(IBLEU().score(["the cat sat here"], ["the cat sat here"], ["the cat sat down"]))
    iBLEU = 68.11
    """

    __slots__ = ("_bleu",)

    NAME = "iBLEU"
    NAMESAKE = "For the score of the viewer iBLEU (Madnani 2011), use ibleu-viewer"
    CITATIONS = ("sun-zhou-2012-joint",)
    WORST = None
    PREFIX = "ibleu-"
    SCALE = 1.0  # the formula already uses percentages
    is_percentage = True
    tokenize: p.Parameter[tokenizers.Tokenize] = p.Tokenizer()
    _: KW_ONLY
    lowercase: p.Parameter[bool | str] = p.declare_lowercase()
    alpha: p.Parameter[float] = p.Number(
        0.8, "the weight of the references; 0.7 to 0.9 in the literature", maximum=1, short="al"
    )
    max_order: p.Parameter[int] = p.WholeNumber(
        4, "the largest n-gram order", key="order", short="ord", optional=True
    )

    def _prepare(self) -> None:
        self._bleu = BLEU(self.tokenize, lowercase=self.lowercase, max_order=self.max_order)

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names: BLEU's columns for the references, then for the source."""
        return (*self._bleu.columns, *(f"source_{column}" for column in self._bleu.columns))

    @property
    def _column_limits(self) -> tuple[tuple[str, int, str], ...]:
        limits = self._bleu._column_limits  # noqa: SLF001
        source_limits = ((f"source_{column}", n, f"source_{other}") for column, n, other in limits)
        return (*limits, *source_limits)

    def _count_rows(self, corpus: Corpus) -> CountedRows:
        def count(hypotheses: Any, references: Any) -> CountedRows:
            compared = Corpus(hypotheses, references, corpus.workers)
            return self._count_bleu_rows(compared, max_order=self.max_order)

        rows, numbers = count(corpus.hypotheses, corpus.references)
        source_rows, source_reference_counts = self._count_sources(corpus, count)
        if source_reference_counts != (1, 1):
            raise InputError("sources: expected one source per segment, not several")
        return [[*pair[0], *pair[1]] for pair in zip(rows, source_rows, strict=True)], numbers

    def explain_zero_score(self, row: Sequence[int], *, segment: bool) -> str:
        """Return the reason why the BLEU score against the references is 0."""
        return self._bleu.explain_zero_score(row[: len(self._bleu.columns)], segment=segment)

    def _apply_formula(self, row: Sequence[int], *, segment: bool) -> tuple[float, dict[str, Any]]:
        half = len(self._bleu.columns)
        reference_bleu, source_bleu = (
            self._bleu.score_from_row(part, None, segment=segment).value
            for part in (row[:half], row[half:])
        )
        alpha = self._values["alpha"]
        value = alpha * reference_bleu - (1 - alpha) * source_bleu
        return value, {"references": reference_bleu, "sources": source_bleu}
