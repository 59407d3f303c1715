"""A metric whose rows are counted in Python, or by an inner metric, and whose formula is Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from truebleu._kernel import InputError, Scores, Table
from truebleu.metrics.base import Corpus, TableMetric
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.scores import TableScore
from truebleu.text import inputs

if TYPE_CHECKING:
    from truebleu._kernel import ScriptSummary, Summary
    from truebleu.metrics.base import Rows
    from truebleu.metrics.statistics import Statistics


class PythonScore(TableScore):
    """The score of such a metric, and its components."""

    __slots__ = ("_details",)

    def __init__(
        self,
        metric: PythonMetric,
        row: Sequence[int],
        references: int | str | None,
        segment: bool = False,
        value: float | None = None,
        details: dict[str, Any] | None = None,
    ) -> None:
        """value: in the scale of the original program; it counts with the details alone."""
        if details is None:
            value, details = metric._formula(row, segment=segment)  # noqa: SLF001
        super().__init__(metric, row, references, segment, value)
        self._details = details

    @property
    def published(self) -> float:
        """The score as the original program gives it, to the last bit where that can be."""
        return self._value

    @property
    def value(self) -> float:
        """The score as it is printed: 0-100 for most, NIST as it is."""
        return self._metric.SCALE * self._value  # type: ignore[no-any-return]

    @property
    def fraction(self) -> float:
        """The score as papers define it, which is what the original program gives."""
        return self._value

    def details(self) -> dict[str, Any]:
        """The components of the score."""
        return dict(self._details)


class PythonMetric(TableMetric[PythonScore]):
    """A metric with a row of integers per segment (`_rows`), and a formula of sums (`_formula`).

    The formula gives the score as the original program does, and its components; `SCALE` times
    that number is printed.
    """

    __slots__ = ()

    FIELDS: ClassVar[tuple[str, ...]] = ("case", "tok")
    SCALE: ClassVar[float] = 100.0
    SCORE: ClassVar[type[PythonScore]] = PythonScore
    _plain = False

    def _prepare(self) -> None:
        """Prepare nothing: no kernel counts this."""

    @property
    def reads_text(self) -> bool:
        """False: the text is read in Python."""
        return False

    def _scan(self, _: Corpus) -> None:
        return None

    def sentence(self, hypothesis: str, references: str | Sequence[str | None]) -> PythonScore:
        """The score of one segment."""
        return self._sentence_of(hypothesis, references)

    def _rows(self, corpus: Corpus) -> Rows:
        raise NotImplementedError

    def _formula(self, row: Sequence[int], *, segment: bool) -> tuple[float, dict[str, Any]]:
        """The score of a row, of a segment or of a corpus, and its components."""
        raise NotImplementedError

    def _tokens(
        self, hypotheses: inputs.Hypotheses, references: inputs.References
    ) -> Iterator[tuple[list[Any], list[list[Any]]]]:
        """The tokens of each segment and of its references."""
        return inputs.tokenized(hypotheses, references, **self._splitting)

    def _counted(self, corpus: Corpus, **parameters: Any) -> Rows:
        """The rows that a BLEU with this metric's tokens, and these parameters, counts."""
        metric = BLEU(**self._splitting, **parameters)
        statistics, seen = metric.count(
            corpus.hypotheses, corpus.references, workers=corpus.workers
        )
        return statistics.tolist(), seen["references"] or (1, 1)

    def _count(self, corpus: Corpus) -> tuple[Table, Summary]:
        rows, numbers = self._rows(corpus)
        table = Table.from_rows(rows, len(self.columns))
        return table.total() if corpus.totals else table, {
            "segments": len(rows),
            "references": numbers,
            "tokenized": (0, []),
            "identical": 0,
            "marked": [],
            "empty": [],
            "decomposed": [],
            "tabs": [],
            "characters": (0, 0),
            "scripts": {},
            "han": [],
            "reference_text": {
                "segments": 0,
                "characters": 0,
                "words": 0,
                "accented": 0,
                "scripts": {},
            },
        }

    def reference_text(self, corpus: Corpus, seen: Summary) -> ScriptSummary:  # noqa: ARG002
        """Return what the kernel notices in the references, which this metric reads in Python."""
        return BLEU("none").count(corpus.hypotheses, corpus.references)[1]["reference_text"]

    def _formulas(self, table: Table, *, segment: bool) -> Iterator[tuple[float, dict[str, Any]]]:
        for number, row in enumerate(table.tolist(), 1):
            try:
                yield self._formula(row, segment=segment)
            except InputError as error:
                raise InputError(f"segment {number}: {error}" if segment else str(error)) from None

    def _scores(self, table: Table, *, segment: bool) -> Scores:
        return Scores([self.SCALE * value for value, _ in self._formulas(table, segment=segment)])


class SourceMetric(PythonMetric):
    """A metric that may read a source beside each segment: every verb takes it."""

    __slots__ = ()

    NEEDS_SOURCE = True

    def score(
        self,
        hypotheses: inputs.Hypotheses,
        references: inputs.References,
        sources: inputs.Hypotheses | None = None,
        *,
        workers: int = 1,
    ) -> PythonScore:
        """The score of a corpus. Arguments as for `BLEU.score`, and a source for each segment."""
        return self._score(self._corpus(hypotheses, references, workers, sources, totals=True))

    def statistics(
        self,
        hypotheses: inputs.Hypotheses,
        references: inputs.References,
        sources: inputs.Hypotheses | None = None,
        *,
        workers: int = 1,
    ) -> Statistics:
        """The table of what was counted, a row per segment. Arguments as for `score`."""
        return self.counted(Corpus(hypotheses, references, workers, sources))[0]

    def segments(
        self,
        hypotheses: inputs.Hypotheses,
        references: inputs.References,
        sources: inputs.Hypotheses | None = None,
        *,
        workers: int = 1,
    ) -> Scores:
        """The score of each segment, 0-100. Arguments as for `score`."""
        return self._segments(self._corpus(hypotheses, references, workers, sources))

    def sentence(
        self, hypothesis: str, references: str | Sequence[str | None], source: str | None = None
    ) -> PythonScore:
        """The score of one segment."""
        return self._sentence_of(hypothesis, references, None if source is None else (source,))


def ngrams(tokens: Sequence[Any], order: int) -> Counter[tuple[Any, ...]]:
    """The counts of the n-grams of this order, in the order of their first appearance."""
    return Counter(zip(*(tokens[i:] for i in range(order)), strict=False))
