"""A member of the family, and what differs between members in a word each."""

from __future__ import annotations

from truebleu import family_tokenizers as others
from truebleu.bleu import BLEU, SMOOTHING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence
    from typing import Any

    from truebleu._kernel import Scores
    from truebleu.inputs import Hypotheses, References
    from truebleu.metric import Metric, Score


class Member:
    """A published implementation: what it computes, where it is met, how it surprises."""

    __slots__ = ("citation", "digits", "metric", "name", "quirks", "title", "used")

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
        digits: int | None = None,
    ) -> None:
        for field, value in {
            "name": name,
            "title": title,
            "metric": metric,
            "used": used,
            "quirks": quirks,
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

    @property
    def expression(self) -> str:
        """The metric as Python that makes it."""
        text = repr(self.metric)
        tokenize = self.metric.parameters.get("tokenize")
        if callable(tokenize):
            text = text.replace(repr(tokenize), f"family_tokenizers.{tokenize.__name__}")
        return text

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
            "citation": self.citation,
            "digits": self.digits,
            "scale": self.scale,
            "single_reference": self.single_reference,
            "differences": self.differences,
            "metric": self.expression,
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
        if not isinstance(self.metric, BLEU):
            raise TypeError(f"{self.name} has no scores of documents")
        table = self.metric.statistics(hypotheses, references, workers=workers)
        return {key: self.metric.from_statistics(one) for key, one in table.groups(by).items()}


# In a word each: what a value of a parameter is called where members are compared.
_WORDS: dict[tuple[str, object], str] = {
    ("lowercase", True): "lower case",
    ("lowercase", "ascii"): "lower case a-z",
    ("lowercase", "after"): "lower case after",
    ("smoothing", "none"): "unsmoothed",
    ("smoothing", "tiny"): "tiny for 0",
    ("smoothing", "epsilon"): "guards",
    ("effective_order", True): "effective order",
    ("missing_order", "one"): "missing = 1",
    ("missing_order", "at-least-one"): "one n-gram at least",
    ("missing_order", "drop"): "effective order",
    ("no_match", "smoothed"): "no match > 0",
    ("no_match", "any-zero"): "any 0 = 0",
    ("reference_length", "single"): "one reference",
    ("reference_length", "average"): "mean length",
    ("reference_length", "average-truncated"): "whole mean length",
    ("brevity_penalty", "plus-one"): "lengths + 1",
    ("brevity_penalty", "none"): "no brevity penalty",
    ("aggregate", "segments"): "mean of segments",
}

# What does not change the score, or only its last digit.
_UNSAID = ("scale", "arithmetic", "empty_brevity", "smoothing_value")


def differences(metric: Metric) -> list[str]:
    """What differs from the metric's default, in a word each.

    >>> differences(BLEU("none", lowercase=True, smoothing="floor", max_order=2))
    ['tokens as given', 'lower case', 'floor 0.1', 'order 2']
    """
    words = [] if isinstance(metric, BLEU) else [metric.NAME.replace("-BLEU", "")]
    for name, value in metric.parameters.items():
        if value == metric.PARAMETERS[name] or name in _UNSAID:
            continue
        if name == "tokenize" and (isinstance(metric, BLEU) or value != "none"):
            words.append("tokens as given" if value == "none" else f"tokens {_label(value)}")
        elif (name, value) in _WORDS:
            words.append(_WORDS[name, value])
        elif name == "smoothing":
            number = metric.parameters["smoothing_value"] or SMOOTHING[value]
            words.append(value if number is None else f"{value} {number:g}")
        elif name == "context":
            words.append("mixes in the last segment")
        elif name == "reference_length":
            words.append(f"{value} reference")
        elif name == "tie":
            words.append(f"{value} of ties")
        elif name == "max_order":
            words.append(f"order {value}")
        elif name == "brevity_penalty":
            words.append(f"{value} brevity")
        elif name == "weights":
            words.append("weights " + ",".join(f"{weight:g}" for weight in value))
        elif name != "tokenize":
            words.append(f"{name} {value}")
    return words


def _label(tokenize: Any) -> str:
    """A tokenizer's name, short."""
    if isinstance(tokenize, str):
        return tokenize
    names = {tokenizer: name for name, tokenizer in others.TOKENIZERS.items()}
    return names.get(tokenize) or str(getattr(tokenize, "__name__", tokenize))
