"""A metric that reads the source beside hypothesis and references: every verb takes it."""

from __future__ import annotations

from truebleu.metrics.python_metric import PythonMetric

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from truebleu._kernel import Scores
    from truebleu.metrics.python_metric import PythonScore
    from truebleu.metrics.statistics import Statistics
    from truebleu.text import inputs


class SourceMetric(PythonMetric):
    """A metric of hypotheses, references and sources, one source per segment."""

    __slots__ = ()

    NEEDS_SOURCE = True

    def score(  # type: ignore[override]
        self,
        hypotheses: inputs.Hypotheses,
        references: inputs.References,
        sources: inputs.Hypotheses,
        *,
        workers: int = 1,
    ) -> PythonScore:
        """The score of a corpus. Arguments as for `BLEU.score`, and a source for each segment."""
        return self.from_statistics(
            self.statistics(hypotheses, references, sources, workers=workers)
        )

    def statistics(  # type: ignore[override]
        self,
        hypotheses: inputs.Hypotheses,
        references: inputs.References,
        sources: inputs.Hypotheses,
        *,
        workers: int = 1,
    ) -> Statistics:
        """The table of what was counted, a row per segment. Arguments as for `score`."""
        return self.count(hypotheses, references, sources=sources, workers=workers)[0]

    def segments(  # type: ignore[override]
        self,
        hypotheses: inputs.Hypotheses,
        references: inputs.References,
        sources: inputs.Hypotheses,
        *,
        workers: int = 1,
    ) -> Scores:
        """The score of each segment, 0-100. Arguments as for `score`."""
        return self.segment_scores(
            self.statistics(hypotheses, references, sources, workers=workers)
        )

    def sentence(  # type: ignore[override]
        self, hypothesis: str, references: str | Sequence[str | None], source: str
    ) -> PythonScore:
        """The score of one segment."""
        return self._sentence_of(hypothesis, references, (source,))
