"""Description of a family member: metric, origin, quirks and differences from sacreBLEU."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

from truebleu._kernel import Scores
from truebleu.metrics.base import Metric, Score
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.scores import TableScore
from truebleu.text import argument_checks
from truebleu.text.argument_checks import Record
from truebleu.text.corpus_inputs import Hypotheses, References

# Parameters that change nothing but the scale or the last digits of a score.
_OMITTED_PARAMETERS = ("published_scale", "arithmetic", "empty_brevity", "smoothing_value")


class Member(Record):
    """Published BLEU implementation: its metric, typical use and quirks."""

    name: str
    """The name in `truebleu.family`."""
    title: str
    """The name of the original program or function."""
    metric: Metric[TableScore]
    """The metric that computes the score: `BLEU` with its parameters, or another metric."""
    quirks: str = ""
    """A description of unexpected behaviour, in one or two sentences, or an empty string."""
    used: str
    """The typical use of the implementation."""
    citations: tuple[str, ...]
    """The papers or programs to cite, as keys of `truebleu.text.citations`."""
    digits: int | None = None
    """The number of decimal places that the original program prints, or None for full precision."""
    defect: str = ""
    """A known bug of the original program that truebleu reproduces, or an empty string."""

    def __repr__(self) -> str:
        return f"<{self.name}: {self.metric!r}>"

    @property
    def citation(self) -> str:
        """The papers or programs to cite, with authors, years and titles."""
        from truebleu.text.citations import get_work

        return "; ".join(get_work(key).reference for key in self.citations)

    @property
    def single_reference(self) -> bool:
        """True if the implementation supports only one reference per segment."""
        return self.metric.parameters.get("reference_length") == "single"

    @property
    def scale(self) -> float:
        """The scale: 100 for percentages, 1 for fractions and for scores without an upper bound."""
        return self.metric.published_scale if isinstance(self.metric, BLEU) else 1.0

    @property
    def differences(self) -> list[str]:
        """Short descriptions of the differences from sacreBLEU's default.

        >>> metric = BLEU("none", lowercase=True, smoothing="floor", max_order=2)
        >>> Member("", "", metric, used="", citations=()).differences
        ['pretokenized', 'lower case', 'smoothing floor 0.1', 'order 2']
        """
        metric = self.metric
        descriptions = [] if isinstance(metric, BLEU) else [metric.NAME.replace("-BLEU", "")]
        for parameter in metric.PARAMETERS:
            value = metric.parameters[parameter.name]
            if value == parameter.default or parameter.name in _OMITTED_PARAMETERS:
                continue
            description = parameter.format_label(value)
            number = getattr(metric, "smoothing_value", None)
            if parameter.name == "smoothing" and number is not None:
                description += f" {number:g}"
            descriptions.append(description)
        return descriptions

    def format_score(self, score: Score) -> str:
        """Return the score as the original implementation prints it, on its scale."""
        number = getattr(score, "published", score.value)
        return repr(number) if self.digits is None else f"{number:.{self.digits}f}"

    def to_dict(self) -> dict[str, Any]:
        """Return all fields and properties as JSON-compatible values."""
        return {
            **super().to_dict(),
            "metric": repr(self.metric),
            "citation": self.citation,
            "citations": list(self.citations),
            "scale": self.scale,
            "single_reference": self.single_reference,
            "differences": self.differences,
            "signature": str(self.metric.signature()),
        }

    @argument_checks.explain_keywords
    def score(
        self,
        hypotheses: Hypotheses,
        references: References,
        *,
        workers: int = 1,
        check_text: bool = True,
    ) -> Score:
        """Return the corpus score. See `BLEU.score` for the arguments."""
        return self.metric.score(hypotheses, references, workers=workers, check_text=check_text)

    def sentence(self, hypothesis: str, references: str | Sequence[str | None]) -> Score:
        """Return the score of one segment. See `BLEU.sentence` for the arguments."""
        return self.metric.sentence(hypothesis, references)

    def segments(
        self, hypotheses: Hypotheses, references: References, *, workers: int = 1
    ) -> Sequence[float] | Scores:
        """Return the score of each segment (0-100). See `BLEU.segments` for the arguments."""
        return self.metric.segments(hypotheses, references, workers=workers)

    def documents(
        self,
        hypotheses: Hypotheses,
        references: References,
        by: Iterable[Hashable],
        *,
        workers: int = 1,
    ) -> dict[Any, Score]:
        """Return the score of each document, as `mteval -d 1` prints it.

        A document score is based on the summed counts of the document's segments.

        by: the document key of each segment.
        """
        table = self.metric.statistics(hypotheses, references, workers=workers)
        return {key: self.metric.from_statistics(part) for key, part in table.groups(by).items()}


def make_members(*rows: tuple[Any, ...], **shared_fields: Any) -> Iterator[Member]:
    """Yield one member per row of (name, title, metric[, quirks]), adding the shared fields."""
    for row in rows:
        yield Member(*row, **shared_fields)
