"""What the metrics share that are relatives of BLEU but no setting of its parameters."""

from __future__ import annotations

from truebleu import inputs, tokenizers
from truebleu._kernel import InputError, Scores, __version__
from truebleu.metric import Metric, Score, Signature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, ClassVar, Self

_CASE: dict[object, str] = {False: "mixed", True: "lc", "ascii": "ascii", "after": "after"}


class Hook(Metric):
    """A metric that counts in Python: a few parameters, a row a segment, a formula.

    A subclass names its signature's fields and their parameters in `FIELDS`, and has `_rows` (what
    is counted of each segment) and `_value` (the score of the rows of one or more segments, as the
    original program gives it). `SCALE` makes of that number the one that is printed.
    """

    __slots__ = ()

    SCALE: ClassVar[float] = 100.0
    FIELDS: ClassVar[dict[str, str]] = {}

    def __init__(self, **values: Any) -> None:
        tokenizers.check(values["tokenize"])
        if values["lowercase"] not in _CASE:
            known = [case for case in _CASE if isinstance(case, str)]
            nearest = tokenizers.nearest(str(values["lowercase"]), known)
            raise ValueError(f"unknown lowercase {values['lowercase']!r}{nearest}")
        super().__init__(**values)

    def _rows(
        self, hypotheses: inputs.Hypotheses, references: inputs.References, workers: int
    ) -> tuple[list[Any], int | str | None]:
        """What is counted of each segment, and how many references they have."""
        raise NotImplementedError

    def _value(self, rows: Sequence[Any]) -> tuple[float, dict[str, Any]]:
        """The score of these segments together, and what it was made of."""
        raise NotImplementedError

    def _tokens(
        self, hypotheses: inputs.Hypotheses, references: inputs.References
    ) -> Iterator[tuple[list[Any], list[list[Any]]]]:
        return inputs.tokenized(
            hypotheses,
            references,
            tokenize=self._values["tokenize"],
            lowercase=self._values["lowercase"],
        )

    def score(
        self, hypotheses: inputs.Hypotheses, references: inputs.References, *, workers: int = 1
    ) -> HookScore:
        """The score of a corpus. Arguments as for `BLEU.score`."""
        rows, count = self._rows(hypotheses, references, workers)
        value, details = self._value(rows)
        return HookScore(self, value, details, count)

    def sentence(self, hypothesis: str, references: str | Sequence[str | None]) -> HookScore:
        """The score of one segment."""
        one = references if isinstance(references, str) else tuple(references)
        rows, count = self._rows((hypothesis,), (one,), 1)
        value, details = self._value(rows)
        return HookScore(self, value, details, count, segment=True)

    def segments(
        self, hypotheses: inputs.Hypotheses, references: inputs.References, *, workers: int = 1
    ) -> Scores:
        """The score of each segment: n numbers, in the scale of `Score.value`."""
        rows, _ = self._rows(hypotheses, references, workers)
        return Scores([self.SCALE * value for value in self._each(rows)])

    def _each(self, rows: Sequence[Any]) -> list[float]:
        """The score of each of these segments, as the original program gives it."""
        values = []
        for number, row in enumerate(rows, 1):
            try:
                values.append(self._value([row])[0])
            except InputError as error:
                raise InputError(f"segment {number}: {error}") from None
        return values

    def signature(self, references: int | str | None = None, *, segment: bool = False) -> Signature:  # noqa: ARG002
        """What is computed, so that anyone can compute it again."""
        fields = {"nrefs": str(references)} if references is not None else {}
        fields |= {
            "case": _CASE[self._values["lowercase"]],
            "tok": tokenizers.label(self._values["tokenize"]),
        }
        for field, parameter in self.FIELDS.items():
            fields[field] = _printed(self._values[parameter])
        return Signature(self.NAME, {**fields, "by": f"truebleu-{__version__}"}, self.SHORT_NAMES)

    @classmethod
    def from_fields(cls, fields: Mapping[str, str]) -> Self:
        """The metric that a signature's fields name."""
        values = {}
        if "case" in fields:
            cases = {printed: case for case, printed in _CASE.items()}
            if fields["case"] not in cases:
                raise ValueError(f"case:{fields['case']} is none of {', '.join(cases)}")
            values["lowercase"] = cases[fields["case"]]
        if "tok" in fields:
            values["tokenize"] = fields["tok"]
        for field, parameter in cls.FIELDS.items():
            if field in fields:
                values[parameter] = cls._parsed(parameter, fields[field])
        return cls(**values)

    @classmethod
    def _parsed(cls, parameter: str, text: str) -> Any:
        """A parameter's value from print, by the type of its default."""
        default = cls.PARAMETERS[parameter]
        if isinstance(default, bool):
            if text not in ("yes", "no"):
                raise ValueError(f"{parameter}:{text} is none of yes, no")
            return text == "yes"
        return type(default)(text)


def whole(name: str, value: object, least: int, most: int) -> int:
    """A parameter that must be an integer in these bounds."""
    if not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{name}={value!r}: an integer from {least} to {most} is meant")
    return value


def _printed(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return repr(value) if isinstance(value, float) else str(value)


class HookScore(Score):
    """The score of such a metric, with what it was made of."""

    __slots__ = ("_details", "_metric", "_published", "_references", "_segment")

    def __init__(
        self,
        metric: Hook,
        published: float,
        details: Mapping[str, Any],
        references: int | str | None,
        *,
        segment: bool = False,
    ) -> None:
        self._metric = metric
        self._published = published
        self._details = dict(details)
        self._references = references
        self._segment = segment

    @property
    def name(self) -> str:
        """The name of the metric."""
        return self._metric.NAME

    @property
    def published(self) -> float:
        """The score as the original program gives it, to the last bit where that can be."""
        return self._published

    @property
    def value(self) -> float:
        """The score as it is printed: 0-100 for most, NIST as it is."""
        return self._metric.SCALE * self._published

    @property
    def fraction(self) -> float:
        """The score as papers define it, which is what the original program gives."""
        return self._published

    @property
    def signature(self) -> Signature:
        """What was computed, so that anyone can compute it again."""
        return self._metric.signature(self._references, segment=self._segment)

    def details(self) -> dict[str, Any]:
        """What the score was made of."""
        return dict(self._details)


def count_references(counts: set[int]) -> int | str | None:
    """How many references the segments had; "var" if it varied."""
    if not counts:
        return None
    return next(iter(counts)) if len(counts) == 1 else "var"
