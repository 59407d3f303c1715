"""What metrics give: scores, and signatures that name the computation and make it again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from operator import ge, gt, le, lt
from typing import Any, ClassVar

from truebleu.text.record import Picklable

# Fields that say what was scored, or how sure the score is, but do not change the metric; and
# sacreBLEU's short names of them.
CONTEXT_FIELDS = {
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

# NLTK's BLEU is not 0 but a tiny positive number where a precision is 0.
PRINTED_AS_ZERO = 1e-9


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
    parser: ClassVar[Callable[[str], Signature]]

    def __init__(self, metric: Any, fields: Mapping[str, str], name: str | None = None) -> None:
        self._metric = metric
        self._fields = dict(fields)
        # The name of a score composed of scores of the metric, such as self-BLEU.
        self._name = name

    @property
    def name(self) -> str:
        """The name of the score: "BLEU", "chrF2++"."""
        return self._name or str(self._metric.name)

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

    def with_resampling(
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
        >>> print(BLEU().signature(references=1).with_resampling(bs=1000, seed=12345).short())
        ... # doctest: +ELLIPSIS
        #:1|bs:1000|rs:12345|c:mixed|e:no|tok:13a|s:exp|v:2.6.0|by:truebleu-...
        """
        fields = {"bs": bs, "ar": ar, "seed": "none" if seed is None else seed}
        known_fields = {name: str(value) for name, value in fields.items() if value is not None}
        if resample != "segments":
            known_fields["resample"] = resample
        return self._insert_after(("nrefs",), known_fields)

    def with_runs(self, runs: str) -> Signature:
        """The same, with the number of runs that the score is the mean of."""
        return self._insert_after(("nrefs",), {"runs": runs})

    def with_test_set(self, test_set: Mapping[str, str]) -> Signature:
        """The same, with the test set that was scored: test, lang, origlang and so on.

        >>> from truebleu import BLEU
        >>> signature = BLEU().signature(references=1)
        >>> print(signature.with_test_set({"test": "wmt22", "lang": "en-de"}))  # doctest: +ELLIPSIS
        nrefs:1|test:wmt22|lang:en-de|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0|by:truebleu-...
        """
        return self._insert_after(("nrefs", "bs", "ar", "seed", "resample", "runs"), test_set)

    def _insert_after(self, preceding: Sequence[str], added_fields: Mapping[str, str]) -> Signature:
        """The same with more fields, behind those that sacreBLEU has before them."""
        preceding_fields = {name: self._fields[name] for name in preceding if name in self._fields}
        return Signature(
            self._metric, {**preceding_fields, **added_fields, **self._fields}, self._name
        )

    def with_last_fields(self, fields: Mapping[str, str]) -> Signature:
        """The same with these fields in the end: the version and the program of the numbers."""
        rest = {name: value for name, value in self._fields.items() if name not in fields}
        return Signature(self._metric, {**rest, **fields}, self._name)

    def short(self) -> str:
        """The short form: "#:1|c:mixed|e:no|tok:13a|s:exp|v:2.6.0|by:truebleu-0.1.0"."""
        short = self._metric.map_short_names()
        return "|".join(f"{short.get(name, name)}:{value}" for name, value in self._fields.items())

    @classmethod
    def parse(cls, text: str) -> Signature:
        """A signature from print, whoever printed it.

        It may be truebleu's, sacreBLEU 2.x's, long or short, or sacreBLEU 1.x's with plus signs;
        the metric's name may stand before it and the score behind it. Raises ValueError for a
        field that is not known, because it may change the score.
        """
        return cls.parser(text)

    @classmethod
    def shorten(cls, name: str, fields: str) -> str:
        """The short form of the signature of a metric; the same if it is not known.

        So it is for a tokenizer of somebody's own, or of a later version.
        """
        try:
            return cls.parse(f"{name}|{fields}").short()
        except ValueError:
            return fields

    def metric(self) -> Any:
        """The metric that this signature names."""
        if self._name is not None:
            raise ValueError(f"{self._name} is made of scores of {self._metric}, and is no metric")
        fields = {k: v for k, v in self._fields.items() if k not in CONTEXT_FIELDS}
        return type(self._metric).from_fields(
            {**(self._metric.fields_from_name(self.name) or {}), **fields}
        )


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

    def _compared(self, other: object, holds: Callable[[float, float], bool]) -> bool:
        if isinstance(other, int | float):
            return holds(self.value, other)
        if not isinstance(other, Score):
            return NotImplemented  # type: ignore[no-any-return]
        if (self.name, self.signature) != (other.name, other.signature):
            raise TypeError(
                "scores of different signatures do not compare: "
                f"{self.name}|{self.signature} and {other.name}|{other.signature}"
            )
        return holds(self.value, other.value)

    def __lt__(self, other: object) -> bool:
        return self._compared(other, lt)

    def __le__(self, other: object) -> bool:
        return self._compared(other, le)

    def __gt__(self, other: object) -> bool:
        return self._compared(other, gt)

    def __ge__(self, other: object) -> bool:
        return self._compared(other, ge)

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
        from truebleu.text.json_writer import format_json

        return format_json(self.to_dict(), indent=1)


def unpack_row(row: bytes) -> list[int]:
    """The row of one segment, of which the kernel gives the bytes."""
    return memoryview(row).cast("q").tolist()


class TableScore(Score):
    """A score: a row of statistics, and the result of the metric's formula."""

    __slots__ = ("_metric", "_packed_row", "_references", "_segment", "_value")

    # The attributes to show.
    DETAILS: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        metric: Any,
        row: Sequence[int],
        references: int | str | None,
        segment: bool = False,
        value: float | None = None,
    ) -> None:
        self._metric = metric
        # The row; or its bytes, as the kernel gives that of one segment: few are ever looked at.
        self._packed_row = row
        self._references = references
        self._segment = segment
        self._value: float = metric._value(row, segment=segment) if value is None else value  # noqa: SLF001

    @property
    def name(self) -> str:
        """The metric's name, with the parameters that are part of it: "chrF2++", "TER"."""
        return self._metric.name  # type: ignore[no-any-return]

    @property
    def value(self) -> float:
        """The score, to sacreBLEU's last bit."""
        return self._value

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is unusual about the score, in a sentence each; most scores have none."""
        return self._metric.warnings  # type: ignore[no-any-return]

    def details(self) -> dict[str, Any]:
        """The components of the score."""
        values = ((name, getattr(self, name)) for name in self.DETAILS)
        return {name: list(own) if isinstance(own, tuple) else own for name, own in values}

    @property
    def zero_reason(self) -> str:
        """The reason why the score is 0, and what to use instead; empty for other scores.

        >>> from truebleu import BLEU
        >>> BLEU(max_order=2).score(["yes"], ["yes"]).zero_reason
        'no hypothesis has 2 tokens, and BLEU needs n-grams of each order up to 2; ...'
        """
        if abs(self.value) >= PRINTED_AS_ZERO:
            return ""
        return self._metric.zero_reason(self._row, segment=self._segment)  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        given = (self._metric, self.row, self._references, self._segment, self._value)
        return type(self), given

    @property
    def _row(self) -> Sequence[int]:
        given = self._packed_row
        if isinstance(given, bytes):
            given = self._packed_row = unpack_row(given)
        return given

    @property
    def row(self) -> tuple[int, ...]:
        """The statistics that it is made of, in the order of the metric's columns."""
        return tuple(self._row)

    @property
    def signature(self) -> Signature:
        """A complete description of the computation, enough to reproduce it."""
        return self._metric.signature(self._references, segment=self._segment)  # type: ignore[no-any-return]


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
