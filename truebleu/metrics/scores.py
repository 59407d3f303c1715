"""Results of metrics: statistics, scores, and signatures that reproduce their computation.

Statistics are the table of integers from which scores are computed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partialmethod
from itertools import chain, repeat
from operator import add, ge, gt, le, lt, mul, sub, truediv
from typing import TYPE_CHECKING, Any, ClassVar, Self, overload

from truebleu._kernel import InputError, Scores, Table, sealed, unsealed
from truebleu.text import argument_checks
from truebleu.text.argument_checks import Picklable, format_json, load_json
from truebleu.text.terminal_layout import format_count

# Signature fields for the scored data and confidence intervals, which do not change the metric,
# with sacreBLEU's short names.
CONTEXT_FIELDS = {
    "nrefs": "#",
    "bs": "bs",
    "ar": "ar",
    "seed": "rs",
    "resample": "resample",
    "runs": "runs",
    "reseg": "sg",
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

# NLTK's BLEU is a tiny positive number instead of 0 if a precision is 0.
PRINTED_AS_ZERO = 1e-9


class Signature(Picklable):
    """Metric parameters in sacreBLEU's format, and the program that computed the score.

    >>> from truebleu import BLEU
    >>> signature = BLEU(tokenize="intl").signature(references=1)
    >>> print(signature)  # doctest: +ELLIPSIS
    nrefs:1|case:mixed|eff:no|tok:intl|smooth:exp|version:2.6.0|by:truebleu-...
    >>> Signature.parse(str(signature)).metric()
    BLEU(tokenize='intl', effective_order=False)
    """

    __slots__ = ("_fields", "_metric", "_name")

    # Set by the registry, which knows all metrics and imports this module.
    parser: ClassVar[Callable[[str], Signature]]

    def __init__(self, metric: Any, fields: Mapping[str, str], name: str | None = None) -> None:
        self._metric = metric
        self._fields = dict(fields)
        # Name of a score composed of the metric's scores, such as self-BLEU.
        self._name = name

    @property
    def name(self) -> str:
        """The name of the score, such as "BLEU" or "chrF2++"."""
        return self._name or str(self._metric.name)

    @property
    def fields(self) -> dict[str, str]:
        """The names and values of the fields, in printed order."""
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
        """Return the signature with fields for resampling, in sacreBLEU's order.

        The unit of resampling is added unless it is the segment.

        >>> from truebleu import BLEU
        >>> print(BLEU().signature(references=1).with_resampling(bs=1000, seed=12345).short())
        ... # doctest: +ELLIPSIS
        #:1|bs:1000|rs:12345|c:mixed|e:no|tok:13a|s:exp|v:2.6.0|by:truebleu-...
        """
        fields = {"bs": bs, "ar": ar, "seed": "none" if seed is None else seed}
        known_fields = {name: str(value) for name, value in fields.items() if value is not None}
        if resample != "segments":
            known_fields["resample"] = resample
        return self._insert_fields_after(("nrefs",), known_fields)

    def with_runs(self, runs: str) -> Signature:
        """Return the signature with the number of runs over which the score is averaged."""
        return self._insert_fields_after(("nrefs",), {"runs": runs})

    def with_test_set(self, test_set: Mapping[str, str]) -> Signature:
        """Return the signature with the fields of a test set, such as test, lang and origlang.

        >>> from truebleu import BLEU
        >>> signature = BLEU().signature(references=1)
        >>> print(signature.with_test_set({"test": "wmt22", "lang": "en-de"}))  # doctest: +ELLIPSIS
        nrefs:1|test:wmt22|lang:en-de|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0|by:truebleu-...
        """
        if not test_set:
            return self
        return self._insert_fields_after(
            ("nrefs", "bs", "ar", "seed", "resample", "runs"), test_set
        )

    def _insert_fields_after(
        self, preceding: Sequence[str], added_fields: Mapping[str, str]
    ) -> Signature:
        """Return the signature with fields added after the `preceding` fields that it contains."""
        preceding_fields = {name: self._fields[name] for name in preceding if name in self._fields}
        return Signature(
            self._metric, {**preceding_fields, **added_fields, **self._fields}, self._name
        )

    def with_last_fields(self, fields: Mapping[str, str]) -> Signature:
        """Return the signature with these fields at the end, such as version and program."""
        rest = {name: value for name, value in self._fields.items() if name not in fields}
        return Signature(self._metric, {**rest, **fields}, self._name)

    def short(self) -> str:
        """Return the short form: "#:1|c:mixed|e:no|tok:13a|s:exp|v:2.6.0|by:truebleu-0.1.0"."""
        short = self._metric.get_short_names()
        return "|".join(f"{short.get(name, name)}:{value}" for name, value in self._fields.items())

    @classmethod
    def parse(cls, text: str) -> Signature:
        """Parse the signature from printed output.

        Accepts the output of truebleu and sacreBLEU 2.x, in long or short form, and of sacreBLEU
        1.x, with plus signs. The metric's name may precede it, and the score may follow. Raises
        ValueError for unknown fields, because they may change the score.
        """
        return cls.parser(text)

    @classmethod
    def shorten(cls, name: str, fields: str) -> str:
        """Return the short form of a metric's signature, or its full form if it cannot be parsed.

        Signatures with custom tokenizers or from later releases cannot be parsed.
        """
        try:
            return cls.parse(f"{name}|{fields}").short()
        except ValueError:
            return fields

    def metric(self) -> Any:
        """Return the metric that this signature describes."""
        if self._name is not None:
            raise ValueError(
                f"{self._name} is a composite score of {self._metric}; "
                "it cannot be converted to a metric"
            )
        fields = {k: v for k, v in self._fields.items() if k not in CONTEXT_FIELDS}
        return type(self._metric).from_fields(
            {**(self._metric.fields_from_name(self.name) or {}), **fields}
        )


def split_signature(text: str) -> tuple[str, dict[str, str]]:
    """Split a printed signature into the preceding name, which may be empty, and its fields."""
    argument_checks.check_string("signature", text, "a str")
    # Some programs print "sacreBLEU signature: nrefs:1|...".
    before, mark, rest = text.partition("ignature:")
    body = (rest if mark else before).partition(" = ")[0].strip()
    old = ":" not in body and "." in body.partition("+")[2]
    separator, colon = ("+", ".") if old else ("|", ":")
    parts = body.split(separator)
    name = parts.pop(0) if colon not in parts[0] else ""
    pairs = [part.partition(colon) for part in parts if part]
    wrong = [f"{key}{mark}{value}" for key, mark, value in pairs if not mark]
    if wrong or not (name or pairs):
        problem = f"{wrong[0]!r} has no value" if wrong else "it has no fields"
        raise ValueError(
            f"'{text}' is not a signature: {problem} "
            "(expected a text like nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0)"
        )
    fields: dict[str, str] = {}
    for key, _, value in pairs:
        if fields.setdefault(key, value) != value:
            raise ValueError(f"'{text}' contains both {key}:{fields[key]} and {key}:{value}")
    if "numrefs" in fields:  # sacreBLEU 1.x
        fields["nrefs"] = fields.pop("numrefs")
    return name, fields


# Names of score attributes in other packages, for messages.
_FOREIGN_ATTRIBUTES = {
    **dict.fromkeys(("score", "bleu", "bleu_score", "item", "compute"), ".value"),
    "bp": ".brevity_penalty",
    **dict.fromkeys(("sys_len", "hyp_len", "translation_length"), ".hypothesis_length"),
    **dict.fromkeys(("ref_len", "ref_length"), ".reference_length"),
    "length_ratio": ".ratio",
    "precision": ".precisions",
    "counts": ".matches",
    "num_edits": ".edits",
}


def list_distinctions(signatures: Sequence[Signature]) -> list[str]:
    """Return the fields of each signature that differ between the signatures, as text.

    >>> from truebleu import BLEU
    >>> list_distinctions([BLEU().signature(), BLEU(tokenize="intl").signature()])
    ['tok:13a', 'tok:intl']
    """
    fields = [signature.fields for signature in signatures]
    names = dict.fromkeys(chain.from_iterable(fields))
    differing = [name for name in names if len({values.get(name) for values in fields}) > 1]
    return [
        " ".join(f"{name}:{values[name]}" for name in differing if name in values)
        for values in fields
    ]


class _ForeignName:
    """Attribute of another package's class, which raises AttributeError with the equivalent.

    A method `__getattr__` would raise the error, too, but slow down the access to all attributes.
    """

    def __init__(self, name: str, equivalent: str) -> None:
        self.name, self.equivalent = name, equivalent

    def __get__(self, _: Any, owner: type) -> Any:
        attribute = self.equivalent.removeprefix(".")
        # Not every class has the attribute, such as `brevity_penalty`.
        is_missing = attribute.isidentifier() and not hasattr(owner, attribute)
        hint = "" if is_missing else f"; use {self.equivalent}"
        raise AttributeError(f"{owner.__name__} has no attribute '{self.name}'{hint}")


class ForeignNameFilter(type):
    """Metaclass that hides attributes which raise AttributeError from `help()` and completion."""

    def __dir__(cls) -> list[str]:
        return [name for name in super().__dir__() if hasattr(cls, name)]


# Error messages show the type of a wrong argument: "expected a str, not type".
ForeignNameFilter.__name__ = "type"


def add_foreign_names(cls: type, equivalents: Mapping[str, str]) -> None:
    """Make attributes of other packages' classes raise errors that name the equivalents."""
    for name, equivalent in equivalents.items():
        setattr(cls, name, _ForeignName(name, equivalent))


class Score(Picklable, metaclass=ForeignNameFilter):
    """Immutable score with its components. It can be converted to a number.

    `float(score)`, `round(score, 2)` and `f"{score:.2f}"` work. Scores can be compared with numbers
    and with scores of the same signature.

    Each component in `details` is also an attribute, such as BLEU's `brevity_penalty` and TER's
    `edits`. F-scores have a `precision` and a `recall`: `value` is the F-score of ROUGE, BERTScore,
    chrF and NGram-F on a 0-100 scale, like both components. METEOR's components are on its
    program's 0-1 scale. GLEU is the smaller of precision and recall; its statistics do not contain
    the larger value.

    >>> from truebleu import CHRF
    >>> score = CHRF().sentence("the cat sat on the mat", "the cat is on the mat today")
    >>> round(score.precision, 2), round(score.recall, 2), round(score.value, 2)
    (64.09, 50.55, 52.78)
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the metric."""
        raise NotImplementedError

    @property
    def value(self) -> float:
        """The score on sacreBLEU's scale, 0-100."""
        raise NotImplementedError

    @property
    def signature(self) -> Signature:
        """The signature: settings that reproduce the computation."""
        raise NotImplementedError

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences that warn about unusual properties of the score."""
        return ()

    @property
    def verbose(self) -> str:
        """The text that sacreBLEU prints after the number."""
        return ""

    def details(self) -> dict[str, Any]:
        """Return the components of the score, for `to_dict`."""
        return {}

    @property
    def is_percentage(self) -> bool:
        """True if the score is a percentage, which `--scale 1` shows on a 0-1 scale."""
        return True

    @property
    def fraction(self) -> float:
        """The score on a 0-1 scale, as defined in papers."""
        # sacreBLEU scores a perfect match as 100.00000000000004.
        return 1.0 if 100 < self.value < 100.0001 else self.value / 100

    # ---- conversion to numbers, and comparison ----

    __iter__ = None

    def __getitem__(self, key: object) -> Any:
        raise TypeError(f"{type(self).__name__} is not a dictionary. Use .value or .to_dict()")

    def __float__(self) -> float:
        return self.value

    def __round__(self, digits: int | None = None) -> float:
        return round(self.value, digits)

    def __format__(self, form: str) -> str:
        return format(self.value, form) if form else str(self)

    def _apply(self, operation: Callable[[float, float], Any], other: object) -> Any:
        """Compare or combine the score with a number, or with a score of the same signature."""
        if isinstance(other, int | float):
            return operation(self.value, other)
        if not isinstance(other, Score):
            return NotImplemented
        if (self.name, self.signature) != (other.name, other.signature):
            raise TypeError(
                "scores with different signatures cannot be compared: "
                f"{self.name}|{self.signature} and {other.name}|{other.signature}"
            )
        return operation(self.value, other.value)

    __lt__ = partialmethod(_apply, lt)
    __le__ = partialmethod(_apply, le)
    __gt__ = partialmethod(_apply, gt)
    __ge__ = partialmethod(_apply, ge)
    # Differences, sums and means of scores are numbers.
    __add__ = __radd__ = partialmethod(_apply, add)
    __sub__ = partialmethod(_apply, sub)
    __rsub__ = partialmethod(_apply, lambda value, other: other - value)
    __mul__ = __rmul__ = partialmethod(_apply, mul)
    __truediv__ = partialmethod(_apply, truediv)

    def __int__(self) -> int:
        return int(self.value)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int | float):
            return self.value == other
        if not isinstance(other, Score):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.value)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __dir__(self) -> list[str]:
        return dir(type(self))

    # ---- text form ----

    def __str__(self) -> str:
        return self.format()

    def __repr__(self) -> str:
        return f"<{self.format()}>"

    def _repr_html_(self) -> str:
        rows = {**self.details(), "signature": str(self.signature)}
        return format_html_table(f"{self.name} = {self.value:.2f}", rows.items())

    def format(
        self,
        width: int = 2,
        *,
        score_only: bool = False,
        signature: bool | str = False,
    ) -> str:
        """Return the score on one line in sacreBLEU's format, with `width` decimal places.

        signature: True for the long form before the score, "short" for the short form.
        """
        number = f"{self.value:.{width}f}"
        if score_only:
            return number
        name = self.name
        if signature:
            name += f"|{self.signature.short() if signature == 'short' else self.signature}"
        return f"{name} = {number} {self.verbose}".rstrip()

    def to_dict(self) -> dict[str, Any]:
        """Return sacreBLEU's JSON keys and values, the score at full precision, and the details."""
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
        """Return `to_dict` as JSON."""
        return format_json(self.to_dict(), indent=1)


add_foreign_names(Score, _FOREIGN_ATTRIBUTES)


class DetailedScore(Score):
    """Score whose components, such as `recall`, are in a dict. They are attributes, too."""

    __slots__ = ()

    _details: dict[str, Any]

    def details(self) -> dict[str, Any]:
        """Return the components of the score."""
        return dict(self._details)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name[0] != "_" and name in self._details:
                return self._details[name]
            return super().__getattribute__(name)  # raises AttributeError again

    def __dir__(self) -> list[str]:
        return [*{*super().__dir__(), *self._details}]


def unpack_row(row: bytes) -> list[int]:
    """Decode the row of a segment from the kernel's bytes."""
    return memoryview(row).cast("q").tolist()


class TableScore(Score):
    """Score from a row of statistics and the metric's formula."""

    __slots__ = ("_data_fields", "_metric", "_packed_row", "_references", "_segment", "_value")

    # Names of the attributes in `details`.
    DETAILS: ClassVar[tuple[str, ...]] = ()
    # Set only for texts that have such fields.
    _data_fields: dict[str, str]

    def __init__(
        self,
        metric: Any,
        row: Sequence[int],
        references: int | str | None,
        segment: bool = False,
        value: float | None = None,
    ) -> None:
        self._metric = metric
        # The row of a segment stays in the kernel's bytes until it is used, which is rare.
        self._packed_row = row
        self._references = references
        self._segment = segment
        self._value: float = metric._compute_score(row, segment=segment) if value is None else value  # noqa: SLF001

    @property
    def is_percentage(self) -> bool:
        """True if the metric's scores are percentages."""
        return bool(self._metric.is_percentage)

    @property
    def name(self) -> str:
        """The metric's name, including parameters that are part of it, as in "chrF2++"."""
        return self._metric.name  # type: ignore[no-any-return]

    @property
    def value(self) -> float:
        """The score, identical to sacreBLEU's to the last bit."""
        return self._value

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences that warn about unusual properties of the score."""
        return self._metric.warnings  # type: ignore[no-any-return]

    def details(self) -> dict[str, Any]:
        """Return the components of the score."""
        values = ((name, getattr(self, name)) for name in self.DETAILS)
        return {name: list(v) if isinstance(v, tuple) else v for name, v in values}

    @property
    def zero_reason(self) -> str:
        """The reason for a score of 0 and what to use instead, or "" for other scores.

        >>> from truebleu import BLEU
        >>> BLEU(max_order=2).score(["yes"], ["yes"]).zero_reason
        'no hypothesis has 2 tokens, but BLEU needs n-grams of each order up to 2; ...'
        """
        if abs(self.value) >= PRINTED_AS_ZERO:
            return ""
        return self._metric.explain_zero_score(self._row, segment=self._segment)  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (self._metric, self.row, self._references, self._segment, self._value)
        fields = self._get_data_fields()
        return type(self), arguments, *([(None, {"_data_fields": fields})] if fields else [])

    def with_data_fields(self, fields: Mapping[str, str]) -> Self:
        """Return the score with more signature fields about the scored text, such as "reseg"."""
        score = type(self)(self._metric, self._row, self._references, self._segment, self._value)
        score._data_fields = dict(fields)  # noqa: SLF001
        return score

    def _get_data_fields(self) -> dict[str, str]:
        return getattr(self, "_data_fields", {})

    @property
    def _row(self) -> Sequence[int]:
        row = self._packed_row
        if isinstance(row, bytes):
            row = self._packed_row = unpack_row(row)
        return row

    @property
    def row(self) -> tuple[int, ...]:
        """The statistics of the score, in the order of the metric's columns."""
        return tuple(self._row)

    @property
    def signature(self) -> Signature:
        """The signature: settings that reproduce the computation."""
        signature: Signature = self._metric.signature(self._references, segment=self._segment)
        return signature.with_test_set(self._get_data_fields())


class OverlapScore(TableScore):
    """Score from n-gram counts per order: hypothesis n-grams, reference n-grams and matches."""

    __slots__ = ()

    # Positions of hypothesis n-grams, reference n-grams and matches in the columns of each order.
    PLACES: ClassVar[tuple[int, int, int]] = (0, 1, 2)

    @property
    def hypothesis_totals(self) -> tuple[int, ...]:
        """The number of n-grams per order in the hypotheses (for chrF, characters, then words)."""
        return tuple(self._row[self.PLACES[0] :: 3])

    @property
    def reference_totals(self) -> tuple[int, ...]:
        """The number of n-grams per order in the selected references."""
        return tuple(self._row[self.PLACES[1] :: 3])

    @property
    def matches(self) -> tuple[int, ...]:
        """The clipped matches of each order."""
        return tuple(self._row[self.PLACES[2] :: 3])

    @property
    def precisions(self) -> tuple[float, ...]:
        """The percentage of hypothesis n-grams that match, per order."""
        return tuple(map(compute_percentage, self.matches, self.hypothesis_totals))

    @property
    def recalls(self) -> tuple[float, ...]:
        """The percentage of reference n-grams that are matched, per order."""
        return tuple(map(compute_percentage, self.matches, self.reference_totals))


def compute_percentage(part: int, total: int) -> float:
    """Return a number as a percentage of a total, or 0 if the total is 0."""
    return 100.0 * part / total if total else 0.0


def format_html_table(
    title: str, rows: Iterable[Sequence[object]], header: Sequence[object] = ()
) -> str:
    """Return an HTML table for notebooks. The first cell of a row is its header."""
    from html import escape

    def format_row(cells: Iterable[object], first_tag: str = "th", tag: str = "td") -> str:
        cell_html = "".join(
            f"<{name} style='text-align:left'>{escape(_format_component(cell))}</{name}>"
            for cell, name in zip(cells, chain((first_tag,), repeat(tag)), strict=False)
        )
        return f"<tr>{cell_html}</tr>"

    head = format_row(header, "td", "th") if header else ""
    return f"<b>{escape(title)}</b><table>{head}{''.join(map(format_row, rows))}</table>"


def _format_component(value: object) -> str:
    """Return the text of a score component."""
    if isinstance(value, list | tuple):
        return ", ".join(map(_format_component, value))
    return f"{value:.4g}" if isinstance(value, float) and not value.is_integer() else str(value)


# Saved files are frames (kernel/src/checksummed_frame.rs): the line "truebleu statistics 2", a line
# of JSON, zero bytes up to a multiple of 64, the rows as little-endian 64-bit integers, and the
# XXH3 checksum of all these bytes. Any program can map the file, and it contains no executable
# code. The JSON has "columns", "fingerprint", "references" and "segments".
FRAME_KIND = "statistics"

# Maximum number of rows that a notebook displays, in addition to their sum.
MAX_SHOWN_ROWS = 10


class Statistics(Table):
    """Table of a metric's counts: n segments × k named columns of 64-bit integers.

    Rows of disjoint sets of segments add up exactly and in any order. Documents, files and parts of
    a corpus can therefore be counted separately, on different threads or machines, and merged.

    The table is read-only and supports the buffer protocol and Arrow: `numpy.asarray(table)` and
    `polars.DataFrame(table)` work without a dependency on either library.

    >>> from truebleu import BLEU
    >>> table = BLEU(max_order=2).statistics(["a b c", "a b"], ["a b d", "a c"])
    >>> table.columns
    ('hypothesis_length', 'reference_length', 'matches_1', 'matches_2', 'totals_1', 'totals_2')
    >>> table.tolist()
    [[3, 3, 2, 1, 3, 2], [2, 2, 1, 0, 2, 1]]
    >>> table.sum().tolist()
    [[5, 5, 3, 1, 5, 3]]
    """

    __slots__ = ("_columns", "_fingerprint", "_references")

    def __init__(
        self,
        table: Table,
        *,
        columns: Sequence[str],
        fingerprint: str,
        references: int | str | None = None,
    ) -> None:
        if len(columns) != table.width:
            raise ValueError(f"expected {table.width} column names, found {len(columns)}")
        self._columns = tuple(columns)
        self._fingerprint = fingerprint
        self._references = references

    def _with_table(self, table: Table) -> Statistics:
        return Statistics(
            table,
            columns=self._columns,
            fingerprint=self._fingerprint,
            references=self._references,
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._columns

    @property
    def fingerprint(self) -> str:
        """The metric and the parameters that determine the integers, as text.

        Only tables with equal fingerprints can be merged.
        """
        return self._fingerprint

    @property
    def references(self) -> int | str | None:
        """The number of references per segment, or "var" if it varies."""
        return self._references

    @property
    def shape(self) -> tuple[int, int]:
        """The number of segments and the number of columns."""
        return (len(self), self.width)

    def sum(self) -> Statistics:
        """Return the sum of all rows as a one-row table."""
        return self._with_table(self.total())

    def groups(self, by: Iterable[Hashable]) -> dict[Any, Statistics]:
        """Return the sum of each group's rows, as one-row tables, in order of first appearance.

        by: one key per segment, such as its document or its length range.

        >>> from truebleu import BLEU
        >>> metric = BLEU(max_order=1)
        >>> table = metric.statistics(["a", "b", "c"], ["a", "b", "d"])
        >>> for key, total in table.groups(["news", "chat", "news"]).items():
        ...     print(key, metric.from_statistics(total).format(score_only=True))
        news 50.00
        chat 100.00
        """
        numbers: dict[Hashable, int] = {}
        keys = argument_checks.check_segment_keys("groups", by, len(self))
        group_numbers = [numbers.setdefault(key, len(numbers)) for key in keys]
        sums = self.group_totals(group_numbers, len(numbers))
        return {key: self._with_table(sums.range(i, i + 1)) for key, i in numbers.items()}

    def parts(self, by: Iterable[Hashable]) -> dict[Any, Statistics]:
        """Return the rows of each group, in order of first appearance. See `groups` for `by`.

        >>> from truebleu import BLEU
        >>> table = BLEU(max_order=1).statistics(["a", "b", "c"], ["a", "b", "d"])
        >>> {key: len(rows) for key, rows in table.parts(["news", "chat", "news"]).items()}
        {'news': 2, 'chat': 1}
        """
        rows: dict[Hashable, list[int]] = {}
        for row, key in enumerate(argument_checks.check_segment_keys("parts", by, len(self))):
            rows.setdefault(key, []).append(row)
        return {key: self._with_table(self.pick(chosen)) for key, chosen in rows.items()}

    def column(self, name: str) -> list[int]:
        """Return the column with the given name."""
        if name not in self._columns:
            raise KeyError(f"no column '{name}' (expected one of {', '.join(self._columns)})")
        return self.values_of(self._columns.index(name))

    @overload
    def __getitem__(self, index: str) -> list[int]: ...
    @overload
    def __getitem__(self, index: int | slice | Sequence[int] | Sequence[bool]) -> Statistics: ...
    def __getitem__(
        self, index: str | int | slice | Sequence[int] | Sequence[bool]
    ) -> list[int] | Statistics:
        """Return rows, selected by an index, a slice, a boolean mask or a sequence of indices.

        A name selects a column: `statistics["matches_1"]`.
        """
        if isinstance(index, str):
            return self.column(index)
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step == 1:
                return self._with_table(self.range(start, max(start, stop)))
            return self._with_table(self.pick(list(range(start, stop, step))))
        try:
            # NumPy arrays have `__index__`, but most cannot be converted.
            row = resolve_index("segment", index.__index__(), len(self))  # type: ignore[union-attr]
            return self._with_table(self.range(row, row + 1))
        except (AttributeError, TypeError):
            pass
        assert not isinstance(index, int)
        # Convert booleans and integers of NumPy and other libraries to Python's own types.
        selection: list[Any] = getattr(index, "tolist", lambda: list(index))()
        if set(map(type, selection)) == {bool}:
            if len(selection) != len(self):
                raise IndexError(
                    f"mask: expected one value per segment ({len(self)}), found {len(selection)}"
                )
            return self._with_table(self.filter(selection))
        rows = [resolve_index("segment", item.__index__(), len(self)) for item in selection]
        return self._with_table(self.pick(rows))

    def __add__(self, other: Statistics) -> Statistics:
        """Return this table's segments, followed by the segments of the other table."""
        if not isinstance(other, Statistics):
            return NotImplemented
        if self._fingerprint != other._fingerprint or self._columns != other._columns:
            fingerprints = self._fingerprint, other._fingerprint
            pairs = zip(*(one.split("|") for one in fingerprints), strict=False)
            difference = ", ".join(f"{a} and {b}" for a, b in pairs if a != b)
            raise InputError(
                "statistics with different parameters cannot be merged: "
                f"{difference or ' and '.join(fingerprints)}"
            )
        merged = self._with_table(self.concatenated(other))
        if not len(self):
            merged._references = other._references
        elif len(other) and self._references != other._references:
            is_known = None not in (self._references, other._references)
            merged._references = "var" if is_known else None
        return merged

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Statistics):
            return NotImplemented
        return (
            self._fingerprint == other._fingerprint
            and self._columns == other._columns
            and self.same(other)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        rows = format_count(len(self), "segment")
        return f"Statistics({rows} x {self.width} columns, {self._fingerprint})"

    def _repr_html_(self) -> str:
        rows: list[list[object]]
        rows = [
            [i, *row]
            for i, row in enumerate(self.range(0, min(MAX_SHOWN_ROWS, len(self))).tolist())
        ]
        rows += [["…"]] if len(self) > MAX_SHOWN_ROWS else []
        rows.append(["sum", *self.total().tolist()[0]])
        segments = format_count(len(self), "segment")
        return format_html_table(
            f"Statistics: {segments} × {self.width} columns, {self._fingerprint}",
            rows,
            ["", *self._columns],
        )

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Return the table as an Arrow struct array (PyCapsule protocol)."""
        return self.arrow_array(list(self._columns))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the table as an Arrow stream of one batch (PyCapsule protocol)."""
        return self.arrow_stream(list(self._columns))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_from_header, (self._make_header(), self.to_bytes()))

    def _make_header(self) -> dict[str, Any]:
        return {
            "columns": list(self._columns),
            "fingerprint": self._fingerprint,
            "references": self._references,
            "segments": len(self),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file. After an error, the file is unchanged.

        A comment above `FRAME_KIND` in truebleu/metrics/scores.py describes the format.
        """
        import json

        from truebleu.text.operating_system import write_atomically

        write_atomically(path, sealed(FRAME_KIND, json.dumps(self._make_header()), self.to_bytes()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a table written by `save`.

        Raises InputError for files that were changed or not written by `save`. Metrics check the
        integers when they compute scores.
        """
        name = os.fspath(path)
        with open(path, "rb") as file:
            header, data = unsealed(FRAME_KIND, str(name), file.read())
        try:
            checked = _validate_header(load_json(header))
        except ValueError as error:
            raise InputError(
                f"{name!s}: invalid table header: {error}. Save the table again."
            ) from None
        expected = 8 * checked["segments"] * len(checked["columns"])
        if len(data) != expected:
            raise InputError(
                f"{name!s}: expected {expected} bytes of rows, found {len(data)}. Save the table "
                "again."
            )
        return _from_header(checked, data)  # type: ignore[return-value]


def _validate_header(header: Any) -> dict[str, Any]:
    """Return the header of a saved table if it is valid; otherwise, raise ValueError."""
    if not isinstance(header, dict):
        raise ValueError(f"expected a JSON object, not {header!r:.60}")
    columns, references = header.get("columns"), header.get("references", "")
    if not isinstance(columns, list) or not columns or not all(isinstance(c, str) for c in columns):
        raise ValueError(f"columns: expected a list of names, not {columns!r:.60}")
    if not isinstance(header.get("fingerprint"), str):
        raise ValueError(f"fingerprint: expected a str, not {header.get('fingerprint')!r:.60}")
    is_count = type(references) is int and references > 0
    if not is_count and references not in (None, "var"):
        raise ValueError(f"references: expected a count or 'var', not {references!r:.60}")
    segments = header.get("segments")
    if type(segments) is not int or segments < 0:
        raise ValueError(f"segments: expected a count, not {segments!r:.60}")
    return header


def _from_header(header: dict[str, Any], data: bytes) -> Statistics:
    return Statistics(
        Table.from_bytes(data, len(header["columns"])),
        columns=header["columns"],
        fingerprint=header["fingerprint"],
        references=header["references"],
    )


def resolve_index(subject: str, index: int, count: int) -> int:
    """Return a zero-based index. Negative indices count from the end."""
    if not -count <= index < count:
        raise IndexError(f"{subject} {index} is out of range for {count} (the first is 0)")
    return index % count


def _format_scores_as_html(scores: Scores) -> str:
    rows = [
        *enumerate(scores[:MAX_SHOWN_ROWS]),
        *([("…",)] if len(scores) > MAX_SHOWN_ROWS else []),
    ]
    return format_html_table(f"Scores: {format_count(len(scores), 'segment')}", rows)


# The kernel defines the class without HTML output.
Scores._repr_html_ = _format_scores_as_html  # type: ignore[attr-defined]
