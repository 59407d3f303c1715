"""What every metric shares: Metric, Score, and the Signature that names a metric and makes it."""

from __future__ import annotations

from truebleu._kernel import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, ClassVar, Self, TypedDict

    from truebleu._kernel import Scores

    class Summary(TypedDict):
        """What the kernel says of a run beside its rows (kernel/src/observe.rs)."""

        segments: int
        # The fewest and the most that a segment had.
        references: tuple[int, int] | None
        # Hypotheses that end in " .": how many, and the first of them, counted from 1.
        tokenized: tuple[int, list[int]]
        # How many hypotheses equal their first reference.
        identical: int
        # The inputs that start with a byte-order mark: 0 the hypotheses, 1 the first reference.
        marked: list[int]
        # How many "characters" the first hypotheses have, and how many of them each script has.
        scripts: dict[str, int]


# The definition that signatures name: the program whose numbers these are.
SACREBLEU_VERSION = "2.6.0"

# sacreBLEU's short names of fields that every metric has. A metric adds its own.
SHORT_NAMES = {
    "nrefs": "#",
    "bs": "bs",
    "ar": "ar",
    "seed": "rs",
    "test": "t",
    "lang": "l",
    "origlang": "o",
    "subset": "S",
    "version": "v",
    "by": "by",
}

# Fields that say what was scored, or how sure the score is, but do not change the metric.
CIRCUMSTANCES = ("nrefs", "bs", "ar", "seed", "test", "lang", "origlang", "subset", "version", "by")

METRICS: dict[str, type[Metric]] = {}


class Metric:
    """A metric with its parameters: frozen, hashable, equal if its parameters are.

    A subclass names its parameters in `PARAMETERS` (with their defaults), its signature's fields
    in `SHORT_NAMES`, and says how to make itself from such fields.
    """

    __slots__ = ("_values",)

    NAME: ClassVar[str]
    PARAMETERS: ClassVar[dict[str, Any]]
    SHORT_NAMES: ClassVar[dict[str, str]]
    LOWER_IS_BETTER: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        if "NAME" in cls.__dict__:  # what several metrics share has none
            METRICS[cls.NAME.lower()] = cls

    def __init__(self, **values: Any) -> None:
        self._values = values

    @classmethod
    def from_fields(cls, fields: Mapping[str, str]) -> Self:
        """The metric that a signature's fields name, without those of `CIRCUMSTANCES`."""
        raise NotImplementedError

    @classmethod
    def implied(cls, name: str) -> dict[str, str] | None:
        """The fields that a score's name implies; None if it is no name of this metric."""
        return {} if name.lower() == cls.NAME.lower() else None

    def score(self, hypotheses: Any, references: Any, *, workers: int = 1) -> Score:
        """The score of a corpus."""
        raise NotImplementedError

    def sentence(self, hypothesis: str, references: Any) -> Score:
        """The score of one segment."""
        raise NotImplementedError

    def segments(
        self, hypotheses: Any, references: Any, *, workers: int = 1
    ) -> Sequence[float] | Scores:
        """The score of each segment."""
        raise NotImplementedError

    def signature(self, references: int | str | None = None, *, segment: bool = False) -> Signature:
        """What is computed, so that anyone can compute it again."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """What a score is called: the metric's name, with its parameters if the field has it so."""
        return self.NAME

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters and their values."""
        return dict(self._values)

    def __repr__(self) -> str:
        given = ", ".join(
            f"{name}={value!r}"
            for name, value in self._values.items()
            if value != self.PARAMETERS[name]
        )
        return f"{type(self).__name__}({given})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._values == other._values

    def __hash__(self) -> int:
        return hash((type(self), *self._values.values()))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_make, (type(self), self._values))


def _make(cls: type[Metric], values: dict[str, Any]) -> Metric:
    return cls(**values)


def given(metric: Any) -> Metric:
    """What was given as a metric, if it is one; otherwise TypeError says what is meant."""
    if isinstance(metric, Metric):
        return metric
    said = f"the class {metric.__name__}" if isinstance(metric, type) else type(metric).__name__
    # A member of the family has one.
    its_own = isinstance(getattr(metric, "metric", None), Metric)
    hint = f"; {metric.name!r} has it as .metric" if its_own else ""
    raise TypeError(f"metric: a metric such as truebleu.CHRF() is meant, not {said}{hint}")


class Signature:
    """The parameters of a metric as sacreBLEU prints them, and the program that computed them.

    >>> from truebleu import BLEU
    >>> signature = BLEU(tokenize="intl").signature(references=1)
    >>> print(signature)  # doctest: +ELLIPSIS
    nrefs:1|case:mixed|eff:no|tok:intl|smooth:exp|version:2.6.0|by:truebleu-...
    >>> Signature.parse(str(signature)).metric()
    BLEU(tokenize='intl', effective_order=False)
    """

    __slots__ = ("_fields", "_name", "_short")

    def __init__(self, name: str, fields: Mapping[str, str], short: Mapping[str, str]) -> None:
        self._name = name
        self._fields = dict(fields)
        self._short = {**SHORT_NAMES, **short}

    @property
    def name(self) -> str:
        """The name of the metric, "BLEU"."""
        return self._name

    @property
    def fields(self) -> dict[str, str]:
        """Names and values, in the order they are printed."""
        return dict(self._fields)

    def __getitem__(self, field: str) -> str:
        return self._fields[field]

    def __contains__(self, field: str) -> bool:
        return field in self._fields

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __str__(self) -> str:
        return "|".join(f"{name}:{value}" for name, value in self._fields.items())

    def __repr__(self) -> str:
        return f"Signature({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Signature):
            return NotImplemented
        return self._name == other._name and self._fields == other._fields

    def __hash__(self) -> int:
        return hash((self._name, str(self)))

    def resampled(self, *, bs: int | None = None, ar: int | None = None, seed: object) -> Signature:
        """The same, with how often and from which seed was resampled, where sacreBLEU has it.

        >>> from truebleu import BLEU
        >>> print(BLEU().signature(references=1).resampled(bs=1000, seed=12345).short())
        ... # doctest: +ELLIPSIS
        #:1|bs:1000|rs:12345|c:mixed|e:no|tok:13a|s:exp|v:2.6.0|by:truebleu-...
        """
        rest = dict(self._fields)
        first = {name: rest.pop(name) for name in ("nrefs",) if name in rest}
        fields = {"bs": bs, "ar": ar, "seed": "none" if seed is None else seed}
        known = {name: str(value) for name, value in fields.items() if value is not None}
        return Signature(self._name, {**first, **known, **rest}, self._short)

    def short(self) -> str:
        """The short form: "#:1|c:mixed|e:no|tok:13a|s:exp|v:2.6.0|by:truebleu-0.1.0"."""
        return "|".join(f"{self._short[name]}:{value}" for name, value in self._fields.items())

    @classmethod
    def parse(cls, text: str) -> Signature:
        """A signature from print, whoever printed it.

        It may be truebleu's, sacreBLEU 2.x's, long or short, or sacreBLEU 1.x's with plus signs;
        the metric's name may stand before it and the score behind it. Raises ValueError for a
        field that is not known, because it may change the score.
        """
        if not isinstance(text, str):
            raise TypeError(f"a signature is a str, not {type(text).__name__}")
        body = text.strip().partition(" = ")[0].strip()
        old = ":" not in body and "." in body.partition("+")[2]
        separator, colon = ("+", ".") if old else ("|", ":")
        parts = body.split(separator)
        name = parts.pop(0) if colon not in parts[0] else ""
        pairs = [part.partition(colon) for part in parts if part]
        wrong = [f"{key}{mark}{value}" for key, mark, value in pairs if not mark]
        if wrong or not (name or pairs):
            raise ValueError(
                f"'{text}' is not a signature: {wrong[0] if wrong else 'nothing'!r} has no value; "
                "a signature looks like nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
            )
        given: dict[str, str] = {}
        for key, _, value in pairs:
            if given.setdefault(key, value) != value:
                raise ValueError(f"'{text}' says both {key}:{given[key]} and {key}:{value}")
        if "numrefs" in given:  # sacreBLEU 1.x
            given["nrefs"] = given.pop("numrefs")
        metric, implied = _named(name, given)
        given = {**implied, **given}
        names = {**SHORT_NAMES, **metric.SHORT_NAMES}
        long = {short: long for long, short in names.items()} | {long: long for long in names}
        unknown = [key for key in given if key not in long]
        if unknown:
            raise ValueError(
                f"'{text}': {metric.NAME} has no field '{unknown[0]}'; there are {', '.join(names)}"
            )
        fields: dict[str, str] = {}
        for key, value in given.items():
            if fields.setdefault(long[key], value) != value:
                raise ValueError(
                    f"'{text}' says both {long[key]}:{fields[long[key]]} and {key}:{value}"
                )
        return cls(metric.NAME, fields, metric.SHORT_NAMES)

    def metric(self) -> Metric:
        """The metric that this signature names."""
        fields = {k: v for k, v in self._fields.items() if k not in CIRCUMSTANCES}
        return METRICS[self._name.lower()].from_fields(fields)


def _named(name: str, fields: Mapping[str, str]) -> tuple[type[Metric], dict[str, str]]:
    """The metric a signature is of, by its name, or without one by the fields only it has.

    With it come the fields that the name implies.
    """
    if name:
        for metric in METRICS.values():
            implied = metric.implied(name)
            if implied is not None:
                return metric, implied
        raise ValueError(f"unknown metric '{name}'; there are {', '.join(_names())}")
    for metric in METRICS.values():
        own = {*metric.SHORT_NAMES, *metric.SHORT_NAMES.values()}
        if all(key in own or key in CIRCUMSTANCES or key in SHORT_NAMES.values() for key in fields):
            return metric, {}
    return METRICS["bleu"], {}


def _names() -> list[str]:
    return [metric.NAME for metric in METRICS.values()]


def metric(signature: str) -> Metric:
    """The metric that a printed signature names, whoever printed it.

    >>> metric("nrefs:1|case:lc|eff:no|tok:intl|smooth:exp|version:2.6.0")
    BLEU(tokenize='intl', lowercase=True, effective_order=False)
    >>> metric("BLEU+case.mixed+numrefs.1+smooth.exp+tok.zh+version.1.4.14 = 27.3")
    BLEU(tokenize='zh')
    """
    return Signature.parse(signature).metric()


class Score:
    """A score, and what it was made of. Immutable; `float(score)` is the number."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the metric."""
        raise NotImplementedError

    @property
    def value(self) -> float:
        """The score as sacreBLEU prints it, 0–100."""
        raise NotImplementedError

    @property
    def signature(self) -> Signature:
        """What was computed, so that anyone can compute it again."""
        raise NotImplementedError

    @property
    def verbose(self) -> str:
        """What sacreBLEU prints behind the number."""
        return ""

    def details(self) -> dict[str, Any]:
        """What the score was made of, for `to_dict`."""
        return {}

    @property
    def fraction(self) -> float:
        """The score between 0 and 1, as papers define it."""
        return self.value / 100

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return self.format()

    def __repr__(self) -> str:
        return f"<{self.format()}>"

    def format(
        self,
        width: int = 2,
        *,
        score_only: bool = False,
        signature: bool | str = False,
    ) -> str:
        """One line, as sacreBLEU prints it, with `width` digits after the point.

        The signature stands in front if wanted: True for the long one, "short" for the short one.
        """
        number = f"{self.value:.{width}f}"
        if score_only:
            return number
        name = self.name
        if signature:
            name += f"|{self.signature.short() if signature == 'short' else self.signature}"
        return f"{name} = {number} {self.verbose}".rstrip()

    def to_dict(self) -> dict[str, Any]:
        """Everything: sacreBLEU's JSON keys first, the score in full precision, then details."""
        return {
            "name": self.name,
            "score": self.value,
            "signature": str(self.signature),
            **({"verbose_score": self.verbose} if self.verbose else {}),
            **self.signature.fields,
            "fraction": self.fraction,
            **self.details(),
        }

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        import json

        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Score):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.name, self.value))


def own_signature(
    name: str, fields: Mapping[str, str | None], short: Mapping[str, str]
) -> Signature:
    """A signature of truebleu's making: the fields that have a value, then who computed it."""
    known = {key: value for key, value in fields.items() if value is not None}
    by = {"version": SACREBLEU_VERSION, "by": f"truebleu-{__version__}"}
    return Signature(name, {**known, **by}, short)
