"""A member of the family, and what differs between members in a word each."""

from __future__ import annotations

from truebleu.metrics.bleu import BLEU

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence
    from typing import Any

    from truebleu._kernel import Scores
    from truebleu.metrics.base import Metric, Score
    from truebleu.text.inputs import Hypotheses, References


class Member:
    """A published implementation: what it computes, where it is met, how it surprises."""

    __slots__ = ("citation", "defect", "digits", "metric", "name", "quirks", "title", "used")

    name: str
    """What `truebleu.family` calls it."""
    title: str
    """What its users call it."""
    metric: Metric
    """What it computes: parameters of `BLEU`, or a metric of its own."""
    used: str
    """Where it is met."""
    quirks: str
    """What surprises, in a sentence or two; empty if nothing does."""
    defect: str
    """A mistake of the program, which the member makes as well; empty if none is known."""
    citation: str
    """The paper or the program."""
    digits: int | None
    """How many digits it prints after the point; None if it gives all."""

    def __init__(
        self,
        name: str,
        title: str,
        metric: Metric,
        *,
        used: str,
        citation: str,
        quirks: str = "",
        defect: str = "",
        digits: int | None = None,
    ) -> None:
        for field, value in {
            "name": name,
            "title": title,
            "metric": metric,
            "used": used,
            "quirks": quirks,
            "defect": defect,
            "citation": citation,
            "digits": digits,
        }.items():
            object.__setattr__(self, field, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"members are frozen, {name} as well")

    def __repr__(self) -> str:
        return f"<{self.name}: {self.metric!r}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Member):
            return NotImplemented
        return self.name == other.name and self.metric == other.metric

    def __hash__(self) -> int:
        return hash((self.name, self.metric))

    @property
    def single_reference(self) -> bool:
        """Whether it is defined for one reference only."""
        return self.metric.parameters.get("reference_length") == "single"

    @property
    def scale(self) -> float:
        """100 if it gives per cent, 1 if fractions (or, as NIST, what has no upper bound)."""
        return self.metric.scale if isinstance(self.metric, BLEU) else 1.0

    @property
    def differences(self) -> list[str]:
        """What differs from sacreBLEU's default, in a word each."""
        return differences(self.metric)

    def printed(self, score: Score) -> str:
        """The number as this implementation prints it, in its own scale."""
        number = getattr(score, "published", score.value)
        return repr(number) if self.digits is None else f"{number:.{self.digits}f}"

    def to_dict(self) -> dict[str, Any]:
        """Everything, in words and numbers."""
        return {
            "name": self.name,
            "title": self.title,
            "used": self.used,
            "quirks": self.quirks,
            "defect": self.defect,
            "citation": self.citation,
            "digits": self.digits,
            "scale": self.scale,
            "single_reference": self.single_reference,
            "differences": self.differences,
            "metric": repr(self.metric),
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


# What does not change the score, or only its last digit.
_UNSAID = ("scale", "arithmetic", "empty_brevity", "smoothing_value")


def differences(metric: Metric) -> list[str]:
    """What differs from the metric's default, in a word each.

    >>> differences(BLEU("none", lowercase=True, smoothing="floor", max_order=2))
    ['tokens as given', 'lower case', 'smoothing floor 0.1', 'max order 2']
    """
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
