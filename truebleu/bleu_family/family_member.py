"""A member of the family, and its differences from sacreBLEU's default."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, Self

from truebleu._kernel import Scores
from truebleu.metrics.base import Metric, Score
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.scores import TableScore
from truebleu.text.corpus_inputs import Hypotheses, References
from truebleu.text.record import Record

# These do not change the score, or only its last digit.
_UNSAID = ("scale", "arithmetic", "empty_brevity", "smoothing_value")


class Member(Record):
    """A published implementation: what it computes, where it is met, how it surprises."""

    name: str
    """The name in `truebleu.family`."""
    title: str
    """The name that its users know."""
    metric: Metric[TableScore]
    """The computation: parameters of `BLEU`, or a metric of its own."""
    quirks: str = ""
    """Surprises, in a sentence or two; empty if there are none."""
    used: str
    """Where it is used."""
    citation: str
    """The paper or the program."""
    digits: int | None = None
    """The digits after the point that it prints; None if it prints all."""
    defect: str = ""
    """A mistake of the program, which the member makes as well; empty if none is known."""

    def __repr__(self) -> str:
        return f"<{self.name}: {self.metric!r}>"

    @property
    def single_reference(self) -> bool:
        """True if it is defined for one reference only."""
        return self.metric.parameters.get("reference_length") == "single"

    @property
    def scale(self) -> float:
        """100 if it gives per cent, 1 if fractions (or, as NIST, what has no upper bound)."""
        return self.metric.scale if isinstance(self.metric, BLEU) else 1.0

    @property
    def differences(self) -> list[str]:
        """The differences from sacreBLEU's default, in a few words each.

        >>> metric = BLEU("none", lowercase=True, smoothing="floor", max_order=2)
        >>> Member("", "", metric, used="", citation="").differences
        ['tokens as given', 'lower case', 'smoothing floor 0.1', 'order 2']
        """
        metric = self.metric
        words = [] if isinstance(metric, BLEU) else [metric.NAME.replace("-BLEU", "")]
        for parameter in metric.PARAMETERS:
            value = metric.parameters[parameter.name]
            if value == parameter.default or parameter.name in _UNSAID:
                continue
            word = parameter.label(value)
            number = getattr(metric, "smoothing_value", None)
            if parameter.name == "smoothing" and number is not None:
                word += f" {number:g}"
            words.append(word)
        return words

    def split_by(self, tokenize: str) -> Self:
        """The member with another tokenizer in the place of 13a; as it is without 13a."""
        if self.metric.parameters.get("tokenize") != "13a":
            return self
        return self.replace(metric=self.metric.with_parameters(tokenize=tokenize))

    def printed(self, score: Score) -> str:
        """The number as this implementation prints it, in its own scale."""
        number = getattr(score, "published", score.value)
        return repr(number) if self.digits is None else f"{number:.{self.digits}f}"

    def to_dict(self) -> dict[str, Any]:
        """Everything, in words and numbers."""
        return {
            **super().to_dict(),
            "metric": repr(self.metric),
            "scale": self.scale,
            "single_reference": self.single_reference,
            "differences": self.differences,
            "signature": str(self.metric.signature()),
        }

    def score(self, hypotheses: Hypotheses, references: References, *, workers: int = 1) -> Score:
        """The score of a corpus, as `BLEU.score`."""
        return self.metric.score(hypotheses, references, workers=workers)

    def sentence(self, hypothesis: str, references: str | Sequence[str | None]) -> Score:
        """The score of one segment, as `BLEU.sentence`."""
        return self.metric.sentence(hypothesis, references)

    def segments(
        self, hypotheses: Hypotheses, references: References, *, workers: int = 1
    ) -> Sequence[float] | Scores:
        """The score of each segment, 0-100, as `BLEU.segments`."""
        return self.metric.segments(hypotheses, references, workers=workers)

    def documents(
        self,
        hypotheses: Hypotheses,
        references: References,
        by: Iterable[Hashable],
        *,
        workers: int = 1,
    ) -> dict[Any, Score]:
        """The score of each document, of its segments' summed counts, as `mteval -d 1` prints.

        by: for each segment the document that it belongs to.
        """
        table = self.metric.statistics(hypotheses, references, workers=workers)
        return {key: self.metric.from_statistics(one) for key, one in table.groups(by).items()}


def group(*rows: tuple[Any, ...], **shared: Any) -> Iterator[Member]:
    """Members with values in common, each from its name, title, metric and perhaps quirks."""
    for row in rows:
        yield Member(*row, **shared)
