"""The base of all metrics: Metric, Score, and the Signature that names a metric and makes it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, ClassVar, Self

from truebleu._kernel import InputError, __version__
from truebleu.text import checks
from truebleu.text.record import Picklable

if TYPE_CHECKING:
    from truebleu._kernel import Scores
    from truebleu.metrics.parameters import Parameter
    from truebleu.text.languages import Language

# The definition that signatures name: the program whose numbers these are.
SACREBLEU_VERSION = "2.6.0"

# Fields that say what was scored, or how sure the score is, but do not change the metric; and
# sacreBLEU's short names of them.
CIRCUMSTANCES = {
    "nrefs": "#",
    "bs": "bs",
    "ar": "ar",
    "seed": "rs",
    "resample": "resample",
    "runs": "runs",
    "test": "t",
    "lang": "l",
    "origlang": "o",
    "subset": "S",
    "domain": "domain",
    "documents": "documents",
    "refs": "refs",
    "version": "v",
    "by": "by",
}


class MetricFailedError(InputError):
    """A metric cannot score this: its own program failed, or the text is not for it.

    Other metrics are none the worse.
    """


class MetricMissingError(MetricFailedError, ImportError):
    """A metric needs what is not installed; the message says what installs it."""


class Metric:
    """A metric with its parameters: frozen, hashable, equal if its parameters are.

    A subclass declares its parameters (see `parameters`), says in `FIELDS` in which order
    signatures have them, and keeps them in its constructor (`_keep`).
    """

    __slots__ = ("_values",)

    NAME: ClassVar[str]
    PARAMETERS: ClassVar[tuple[Parameter[Any], ...]] = ()
    # The default and the check of each parameter.
    _CHECKS: ClassVar[dict[str, tuple[Any, Callable[[Any], Any]]]] = {}
    # The fields of signatures, in sacreBLEU's order; those that are not here follow.
    FIELDS: ClassVar[tuple[str, ...]] = ()
    # Fields with a constant value, and their short forms.
    CONSTANTS: ClassVar[dict[str, tuple[str, str]]] = {}
    # The prefix of its options on the command line.
    PREFIX: ClassVar[str] = ""
    LOWER_IS_BETTER: ClassVar[bool] = False
    # The score of a perfect match; None if there is no such bound.
    BOUND: ClassVar[float | None] = 100.0
    # The worst possible score; None if there is no such bound.
    WORST: ClassVar[float | None] = 0.0
    # The number of decimals to print.
    DIGITS: ClassVar[int] = 1
    # True if the numbers are those of sacreBLEU; signatures then name its version.
    OF_SACREBLEU: ClassVar[bool] = False
    # Names that are public beside the parameters, in the order of `dir()`.
    PUBLIC: ClassVar[tuple[str, ...]] = (
        *("score", "sentence", "segments", "matrix", "triangle", "top_k"),
        "expected",
        *("statistics", "from_statistics", "scores", "columns", "fingerprint"),
        *("name", "parameters", "signature", "warnings"),
    )

    def __init_subclass__(cls) -> None:
        """Make properties and documentation of the parameters."""
        super().__init_subclass__()
        if "PARAMETERS" in vars(cls):  # else they are those of the class above
            above = (p for base in cls.__bases__ for p in getattr(base, "PARAMETERS", ()))
            own = {p.name: p for p in above if p.inherited} | {p.name: p for p in cls.PARAMETERS}
            inherited = [p for p in own.values() if p not in cls.PARAMETERS]
            cls.PARAMETERS = (*cls.PARAMETERS, *inherited)
        declared = cls.PARAMETERS
        if "PARAMETERS" in vars(cls):
            cls._CHECKS = {p.name: (p.default, p.checked) for p in declared}
            for parameter in declared:
                made = property(parameter.getter(), parameter.refuse, doc=parameter.help)
                setattr(cls, parameter.name, made)
        if not declared or vars(cls).get("__doc__") is None:
            return
        # The sentences of help stand behind the first paragraphs, before the example.
        head, mark, example = (cls.__doc__ or "").partition("\n    >>> ")
        told = "\n".join(f"    {p.name}: {p.documented}." for p in declared)
        cls.__doc__ = f"{head.rstrip()}\n\n{told}\n{mark}{example}"

    def __new__(cls, *_: Any, **given: Any) -> Self:
        """Refuses unknown parameters, and names the nearest known one."""
        if not given.keys() <= cls._CHECKS.keys():
            raise TypeError(unknown_parameter(cls, min(given.keys() - cls._CHECKS.keys())))
        return object.__new__(cls)

    def __init__(self, **given: Any) -> None:
        self._keep(given)

    def _keep(self, given: Mapping[str, Any]) -> None:
        """Check and keep the parameters of a constructor; those that are not given have defaults.

        given: values by name, as the constructor's `locals()` has them. Other names are ignored.
        """
        # Defaults need no check, and most values are.
        self._values = {
            name: value if (value := given.get(name, default)) is default else checked(value)
            for name, (default, checked) in self._CHECKS.items()
        }

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """The metric of the parameters that a function was given: its `locals()`."""
        kept = cls._CHECKS.items()
        changed = {name: given[name] for name, one in kept if given[name] is not one[0]}
        return cls(**changed, **given["unknown"])

    @classmethod
    def from_fields(cls, fields: Mapping[str, str]) -> Self:
        """The metric that a signature's fields name, without those of `CIRCUMSTANCES`."""
        for key, (value, _) in cls.CONSTANTS.items():
            if fields.get(key, value) != value:
                raise ValueError(f"{key}:{fields[key]}: {cls.NAME} has {key}:{value} alone")
        given: dict[str, Any] = {}
        for parameter in cls.PARAMETERS:
            if parameter.key in fields:
                try:
                    given[parameter.name] = parameter.read(fields[parameter.key])
                except ValueError as error:
                    raise ValueError(f"{parameter.key}: {error}") from None
        return cls(**given)

    @classmethod
    def implied(cls, name: str) -> dict[str, str] | None:
        """The fields that a score's name implies; None if it is no name of this metric."""
        return {} if name.lower() == cls.NAME.lower() else None

    @classmethod
    def short_names(cls) -> dict[str, str]:
        """The fields of its signatures, and their short forms."""
        constants = {key: short for key, (_, short) in cls.CONSTANTS.items()}
        return {**CIRCUMSTANCES, **constants, **{p.key: p.short for p in cls.PARAMETERS}}

    def _fields(self, *, segment: bool | None) -> dict[str, str]:  # noqa: ARG002
        """The fields of the parameters: for a corpus, for one segment, or None for the metric."""
        fields = {key: value for key, (value, _) in self.CONSTANTS.items()}
        for parameter in self.PARAMETERS:
            value = self._values[parameter.name]
            if parameter.silent:
                continue
            if not parameter.optional or value != parameter.default:
                fields[parameter.key] = parameter.written(value)
        return fields

    def signature(
        self, references: int | str | None = None, *, segment: bool | None = False
    ) -> Signature:
        """A complete description of the computation, enough to reproduce it.

        references: how many there are per segment, or "var".
        segment: True for the score of one; None for the metric, whatever it will score.
        """
        own = self._fields(segment=segment)
        fields = {} if references is None else {"nrefs": str(references)}
        fields |= {key: own[key] for key in self.FIELDS if key in own}
        fields |= own
        if self.OF_SACREBLEU:
            fields["version"] = SACREBLEU_VERSION
        return Signature(self, {**fields, "by": f"truebleu-{__version__}"})

    @property
    def name(self) -> str:
        """The name of the score, with parameters where that is the convention, as in chrF2++."""
        return self.NAME

    @property
    def bound(self) -> float | None:
        """The score of a perfect match; None if there is no such bound."""
        return self.BOUND

    @property
    def lower_is_better(self) -> bool:
        """True if a better system has a lower score, as with error rates."""
        return self.LOWER_IS_BETTER

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is unusual about the parameters, in a sentence each; most metrics have none."""
        return ()

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters and their values."""
        return dict(self._values)

    def with_parameters(self, **changed: Any) -> Self:
        """The same metric with some parameters changed."""
        return type(self)(**{**self._values, **changed})

    # ---- languages ----

    def splits(self, script: str) -> bool:
        """Return whether the metric's tokens divide text in a script of `languages.UNSPLIT`.

        True for a metric without a tokenizer, which counts characters or has a model.
        """
        from truebleu.text import languages

        tokenize = self._values.get("tokenize")
        return tokenize is None or languages.splits(tokenize, script)

    def splitting(self, script: str) -> dict[str, Any]:
        """Return the parameters that make the metric split a script; empty if none does."""
        from truebleu.text import languages

        has_tokenizer = "tokenize" in self._values
        return {"tokenize": languages.UNSPLIT[script].ways[0]} if has_tokenizer else {}

    def in_language(self, language: Language, given: Collection[str] = ()) -> Self:
        """Return the metric with the parameters that its original has for a language.

        given: the parameters that the user has set, which stay as they are.
        """
        own = self._CHECKS.get("tokenize", (None,))[0]
        # Text for "none" comes with tokens; jiwer and ROUGE have no tokenizers of languages.
        picked = language.tokenizer
        fits = own in ("13a", "jiwer", "rouge") and (own == "13a" or picked != "13a")
        is_default = self._values.get("tokenize") == own
        if not (fits and is_default) or "tokenize" in given:
            return self
        return self.with_parameters(tokenize=picked)

    # ---- the verbs ----

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

    # ---- a value ----

    def __dir__(self) -> list[str]:
        return [*self.PUBLIC, *self._values]

    def __str__(self) -> str:
        """The signature, with the metric's name: it makes the metric again."""
        return f"{self.name}|{self.signature(segment=None)}"

    def __repr__(self) -> str:
        given = [
            f"{p.name}={self._values[p.name]!r}"
            for p in self.PARAMETERS
            if self._values[p.name] != p.default
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    @property
    def _key(self) -> Any:
        """The parameters in a form that is equal for metrics of the same signature."""
        return tuple(self._values.values())

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return bool(self._key == other._key)

    def __hash__(self) -> int:
        return hash((type(self), self._key))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_made, (type(self), self._values))


def _made(cls: type[Metric], values: dict[str, Any]) -> Metric:
    return cls(**values)


def unknown_parameter(cls: type[Metric], name: str) -> str:
    """The message about a keyword argument that a metric does not have."""
    for parameter in cls.PARAMETERS:
        if name in parameter.hints:
            return f"{cls.__name__} has no parameter '{name}'; it is called '{parameter.name}' here"
    names = [parameter.name for parameter in cls.PARAMETERS]
    return f"{cls.__name__} has no parameter '{name}'{checks.nearest(name, names)}"


class Signature(Picklable):
    """The parameters of a metric as sacreBLEU prints them, and the program that computed them.

    >>> from truebleu import BLEU
    >>> signature = BLEU(tokenize="intl").signature(references=1)
    >>> print(signature)  # doctest: +ELLIPSIS
    nrefs:1|case:mixed|eff:no|tok:intl|smooth:exp|version:2.6.0|by:truebleu-...
    >>> Signature.parse(str(signature)).metric()
    BLEU(tokenize='intl', effective_order=False)
    """

    __slots__ = ("_fields", "_metric", "_name")

    # The registry, which knows all metrics, is above this module and puts its reader here.
    reader: ClassVar[Callable[[str], Signature]]

    def __init__(self, metric: Metric, fields: Mapping[str, str], name: str | None = None) -> None:
        self._metric = metric
        self._fields = dict(fields)
        # The name of a score composed of scores of the metric, such as self-BLEU.
        self._name = name

    @property
    def name(self) -> str:
        """The name of the score: "BLEU", "chrF2++"."""
        return self._name or self._metric.name

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
        return f"Signature({f'{self.name}|{self}'!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Signature):
            return NotImplemented
        return self.name == other.name and self._fields == other._fields

    def __hash__(self) -> int:
        return hash((self.name, str(self)))

    def resampled(
        self,
        *,
        bs: int | None = None,
        ar: int | None = None,
        seed: object,
        resample: str = "segments",
    ) -> Signature:
        """The same, with how often and from which seed was resampled, where sacreBLEU has it.

        What was resampled is said if it is not segments, as in sacreBLEU.

        >>> from truebleu import BLEU
        >>> print(BLEU().signature(references=1).resampled(bs=1000, seed=12345).short())
        ... # doctest: +ELLIPSIS
        #:1|bs:1000|rs:12345|c:mixed|e:no|tok:13a|s:exp|v:2.6.0|by:truebleu-...
        """
        fields = {"bs": bs, "ar": ar, "seed": "none" if seed is None else seed}
        known = {name: str(value) for name, value in fields.items() if value is not None}
        if resample != "segments":
            known["resample"] = resample
        return self._with(("nrefs",), known)

    def of_runs(self, runs: str) -> Signature:
        """The same, with the number of runs that the score is the mean of."""
        return self._with(("nrefs",), {"runs": runs})

    def on(self, test_set: Mapping[str, str]) -> Signature:
        """The same, with the test set that was scored: test, lang, origlang and so on.

        >>> from truebleu import BLEU
        >>> signature = BLEU().signature(references=1)
        >>> print(signature.on({"test": "wmt22", "lang": "en-de"}))  # doctest: +ELLIPSIS
        nrefs:1|test:wmt22|lang:en-de|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0|by:truebleu-...
        """
        return (
            self._with(("nrefs", "bs", "ar", "seed", "resample", "runs"), test_set)
            if test_set
            else self
        )

    def _with(self, before: Sequence[str], more: Mapping[str, str]) -> Signature:
        """The same with more fields, behind those that stand before them in sacreBLEU's."""
        rest = dict(self._fields)
        first = {name: rest.pop(name) for name in before if name in rest}
        return Signature(self._metric, {**first, **more, **rest}, self._name)

    def ending(self, fields: Mapping[str, str]) -> Signature:
        """The same with these fields in the end: the version and the program of the numbers."""
        rest = {name: value for name, value in self._fields.items() if name not in fields}
        return Signature(self._metric, {**rest, **fields}, self._name)

    def short(self) -> str:
        """The short form: "#:1|c:mixed|e:no|tok:13a|s:exp|v:2.6.0|by:truebleu-0.1.0"."""
        short = self._metric.short_names()
        return "|".join(f"{short.get(name, name)}:{value}" for name, value in self._fields.items())

    @classmethod
    def parse(cls, text: str) -> Signature:
        """A signature from print, whoever printed it.

        It may be truebleu's, sacreBLEU 2.x's, long or short, or sacreBLEU 1.x's with plus signs;
        the metric's name may stand before it and the score behind it. Raises ValueError for a
        field that is not known, because it may change the score.
        """
        return cls.reader(text)

    @classmethod
    def shortened(cls, name: str, fields: str) -> str:
        """The short form of the signature of a metric; the same if it is not known.

        So it is for a tokenizer of somebody's own, or of a later version.
        """
        try:
            return cls.parse(f"{name}|{fields}").short()
        except ValueError:
            return fields

    def metric(self) -> Metric:
        """The metric that this signature names."""
        if self._name is not None:
            raise ValueError(f"{self._name} is made of scores of {self._metric}, and is no metric")
        fields = {k: v for k, v in self._fields.items() if k not in CIRCUMSTANCES}
        return type(self._metric).from_fields({**(self._metric.implied(self.name) or {}), **fields})


def split_signature(text: str) -> tuple[str, dict[str, str]]:
    """A printed signature as the name before it, which may be empty, and its fields as printed."""
    if not isinstance(text, str):
        raise TypeError(f"a signature is a str, not {type(text).__name__}")
    # As in "sacreBLEU signature: nrefs:1|...".
    before, mark, rest = text.partition("ignature:")
    body = (rest if mark else before).partition(" = ")[0].strip()
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
    fields: dict[str, str] = {}
    for key, _, value in pairs:
        if fields.setdefault(key, value) != value:
            raise ValueError(f"'{text}' says both {key}:{fields[key]} and {key}:{value}")
    if "numrefs" in fields:  # sacreBLEU 1.x
        fields["nrefs"] = fields.pop("numrefs")
    return name, fields


# The names of attributes of scores in sacreBLEU.
_ELSEWHERE = {
    "score": "value",
    "bp": "brevity_penalty",
    "sys_len": "hypothesis_length",
    "ref_len": "reference_length",
    "ref_length": "reference_length",
    "counts": "matches",
    "num_edits": "edits",
}


class Score(Picklable):
    """A score and its components. Immutable, and a number where that is safe.

    `float(score)`, `round(score, 2)`, `f"{score:.2f}"`; it compares with numbers, and with scores
    of the same signature.
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the metric."""
        raise NotImplementedError

    @property
    def value(self) -> float:
        """The score as sacreBLEU prints it, 0-100."""
        raise NotImplementedError

    @property
    def signature(self) -> Signature:
        """A complete description of the computation, enough to reproduce it."""
        raise NotImplementedError

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is unusual about the score, in a sentence each; most scores have none."""
        return ()

    @property
    def verbose(self) -> str:
        """The text that sacreBLEU prints after the number."""
        return ""

    def details(self) -> dict[str, Any]:
        """The components of the score, for `to_dict`."""
        return {}

    @property
    def fraction(self) -> float:
        """The score between 0 and 1, as papers define it."""
        # A perfect match is 100.00000000000004 in sacreBLEU.
        return 1.0 if 100 < self.value < 100.0001 else self.value / 100

    # ---- a number ----

    def __float__(self) -> float:
        return self.value

    def __round__(self, digits: int | None = None) -> float:
        return round(self.value, digits)

    def __format__(self, form: str) -> str:
        return format(self.value, form) if form else str(self)

    def _comparable(self, other: object) -> float | None:
        """The number to compare with; None for what is none."""
        if isinstance(other, int | float):
            return other
        if not isinstance(other, Score):
            return None
        if (self.name, self.signature) != (other.name, other.signature):
            raise TypeError(
                "scores of different signatures do not compare: "
                f"{self.name}|{self.signature} and {other.name}|{other.signature}"
            )
        return other.value

    def __lt__(self, other: object) -> bool:
        number = self._comparable(other)
        return NotImplemented if number is None else self.value < number

    def __le__(self, other: object) -> bool:
        number = self._comparable(other)
        return NotImplemented if number is None else self.value <= number

    def __gt__(self, other: object) -> bool:
        number = self._comparable(other)
        return NotImplemented if number is None else self.value > number

    def __ge__(self, other: object) -> bool:
        number = self._comparable(other)
        return NotImplemented if number is None else self.value >= number

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int | float):
            return self.value == other
        if not isinstance(other, Score):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.value)

    def __getattr__(self, name: str) -> Any:
        own = _ELSEWHERE.get(name, "")
        hint = f"; it is .{own} here" if hasattr(type(self), own) else ""
        raise AttributeError(f"{type(self).__name__} has no attribute '{name}'{hint}")

    # ---- as text ----

    def __str__(self) -> str:
        return self.format()

    def __repr__(self) -> str:
        return f"<{self.format()}>"

    def _repr_html_(self) -> str:
        rows = {**self.details(), "signature": str(self.signature)}
        return html_table(f"{self.name} = {self.value:.2f}", rows.items())

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
            **({"warnings": list(self.warnings)} if self.warnings else {}),
        }

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        from truebleu.text.json_text import written

        return written(self.to_dict(), indent=1)


def html_table(title: str, rows: Iterable[Sequence[object]], header: Sequence[object] = ()) -> str:
    """A small table for a notebook; the first cell of a row says what the row is."""
    from html import escape

    def line(cells: Iterable[object], name: str = "th", rest: str = "td") -> str:
        made = "".join(
            f"<{kind} style='text-align:left'>{escape(_shown(cell))}</{kind}>"
            for cell, kind in zip(cells, chain((name,), repeat(rest)), strict=False)
        )
        return f"<tr>{made}</tr>"

    head = line(header, "td", "th") if header else ""
    return f"<b>{escape(title)}</b><table>{head}{''.join(map(line, rows))}</table>"


def _shown(value: object) -> str:
    """A component of a score, as text."""
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value))
    return f"{value:.4g}" if isinstance(value, float) and not value.is_integer() else str(value)
