"""A metric whose rows the kernel counts: BLEU, chrF, TER and others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from truebleu import _kernel
from truebleu._kernel import Table, strings
from truebleu.metrics.table_metric import COMPENSATED, Corpus, S, TableMetric
from truebleu.text import inputs, tokenizers

if TYPE_CHECKING:
    from truebleu._kernel import Metric as Compiled
    from truebleu._kernel import Scan, Scores, Summary
    from truebleu.metrics.table_metric import Pairs, Set

new = object.__new__


class KernelMetric(TableMetric[S]):
    """A metric whose rows the kernel counts, and whose scores are an `S`.

    A subclass makes `_kernel` in its constructor, names the `columns`, and the class of its scores.
    """

    __slots__ = ("_direct", "_kernel")

    OF_SACREBLEU = True

    _kernel: Compiled
    # True if the kernel has the formula, too.
    _plain = True
    # True if the kernel's answer is all that there is to the score of one segment.
    _direct: bool

    def asked(self) -> dict[str, Any]:
        """What the kernel is asked for: its name of the metric, and the parameters it takes."""
        raise NotImplementedError

    def _prepare(self) -> None:
        """Make the kernel's counter, behind the check of parameters."""
        self._direct = self.unicode_form is None
        self._kernel = self._compiled()

    def _compiled(self, **changes: Any) -> Compiled:
        asked = self.asked() | changes
        return getattr(_kernel.Metric, asked.pop("metric"))(**asked)  # type: ignore[no-any-return]

    @property
    def recipe(self) -> dict[str, Any]:
        """What a kernel elsewhere is asked for, as in a page.

        It counts what this one counts if the metric `reads_text`, with a tokenizer that it has.
        """
        return self.asked()

    @property
    def reads_text(self) -> bool:
        """True if the kernel reads the text itself; other metrics can then share the reading."""
        return self._direct

    def _scan(self, corpus: Corpus) -> Scan:
        return inputs.scan(
            self._kernel,
            corpus.hypotheses,
            corpus.references,
            workers=corpus.workers,
            **self._splitting,
        )

    def _count(self, corpus: Corpus) -> tuple[Table, Summary]:
        run = self._scan(corpus)
        return run.totals(corpus.progress) if corpus.totals else run.table()

    def sentence(self, hypothesis: str, references: str | Sequence[str | None]) -> S:
        """The score of one segment.

        >>> from truebleu import BLEU
        >>> BLEU().sentence("a cat on a mat", ["a cat on the mat", "the cat"]).precisions
        (80.0, 50.0, 33.333333333333336, 25.0)
        """
        if not self._direct:
            return self._indirect_sentence(hypothesis, references)
        try:
            value, row, count = self._kernel.sentence(hypothesis, references)
        except TypeError:
            return self._sentence_of(hypothesis, references)
        # The constructor would take as long as reading the text.
        score: Any = new(self.SCORE)
        score._metric = self  # noqa: SLF001
        score._given = row  # noqa: SLF001
        score._references = count  # noqa: SLF001
        score._segment = True  # noqa: SLF001
        score._value = value  # noqa: SLF001
        return score  # type: ignore[no-any-return]

    def _indirect_sentence(self, hypothesis: Any, references: Any) -> S:
        """The score of one segment that is more, or less, than what the kernel says."""
        return self._sentence_of(hypothesis, references)

    def _segments(self, corpus: Corpus) -> Scores:
        if not self._plain:
            return super()._segments(corpus)
        scores, seen = self._kernel.segments(self._scan(corpus))
        self.check(seen, corpus.hypotheses)
        return scores

    def _value(self, row: Sequence[int], *, segment: bool) -> float:
        """The score of one row."""
        return self._scores(Table.from_rows([row], len(row)), segment=segment)[0]

    def _scores(self, table: Table, *, segment: bool) -> Scores:
        return self._kernel.scores(table, corpus=not segment)

    def _pairs(
        self, hypotheses: inputs.Hypotheses, references: inputs.Hypotheses | None, workers: int
    ) -> Pairs:
        if not self._plain:
            return super()._pairs(hypotheses, references, workers)
        hypotheses, references = self._normalized(hypotheses, references)
        return inputs.pairs(
            self._kernel, hypotheses, references, workers=workers, **self._splitting
        )

    def means_of_sets(
        self,
        hypotheses: Sequence[str],
        references: Sequence[str] | None,
        sets: Sequence[Set],
        *,
        workers: int = 1,
    ) -> Scores | None:
        """As for all metrics; None where the kernel has only a part of this one."""
        if not (self._plain and self.reads_text):
            return None
        others = None if references is None else strings(tuple(references), "references")
        own = strings(tuple(hypotheses), "hypotheses")
        return self._kernel.expected(own, others, sets, COMPENSATED, workers)


class TokenMetric(KernelMetric[S]):
    """Such a metric of tokens, with the parameters `tokenize` and `lowercase`."""

    __slots__ = ("_in_kernel",)

    OF_SACREBLEU = False

    def _prepare(self) -> None:
        super()._prepare()
        self._direct = self._direct and self._in_kernel

    def _lexing(self) -> dict[str, str]:
        """The kernel's tokenizer and lower-casing; what Python tokenizes reaches it as tokens."""
        tokenize, lowercase = self._values["tokenize"], self._values["lowercase"]
        self._in_kernel = tokenizers.in_kernel(tokenize, lowercase)
        tokenizer = str(tokenize) if self._in_kernel else "none"
        return {"tokenizer": tokenizer, "lowercase": tokenizers.LOWERCASE[lowercase]}
