"""Sums: totals of statistics for each group and metric, which engines exchange instead of text."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal, Self, TypedDict

from truebleu import _kernel
from truebleu._kernel import InputError
from truebleu.metrics.accumulator import require_additive
from truebleu.metrics.base import Metric, count_references
from truebleu.metrics.statistics import Statistics
from truebleu.text import argument_checks
from truebleu.text.argument_checks import load_json

Columns = str | Sequence[str] | None
Metrics = str | Metric | Sequence[str | Metric]
Nulls = Literal["raise", "skip"]

# The columns of a state beside its keys. The rows of the same keys and the same fingerprint add
# up: the fewest and the most references by min and max, all others by sum.
COLUMNS = (
    "fingerprint",
    "segments",
    "null_hypotheses",
    "null_references",
    "fewest_references",
    "most_references",
    "statistics",
)

# `Sums.to_bytes` returns a frame of this name (kernel/src/checksummed_frame.rs): a line of JSON,
# the kernel's state table (kernel/src/groups/state_table.rs), and a checksum of both.
SENT = "sums"

# Stands for all groups together.
ALL: Any = object()

# Keys as Python has them, by the type as the Arrow C data interface writes it: dates in days, times
# in microseconds, both since 1970.
KEY_TYPES: dict[str, Callable[[int], Any]] = {
    "tdD": lambda days: date(1970, 1, 1) + timedelta(days),
    "ttu": lambda micros: (datetime.min + timedelta(microseconds=micros)).time(),
    "tsu:": lambda micros: datetime(1970, 1, 1) + timedelta(microseconds=micros),
    "tsu:UTC": lambda micros: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros),
    "tDu": lambda micros: timedelta(microseconds=micros),
}


class SumsOptions(TypedDict, total=False):
    """The options of `Sums` that `sums` and `stats` of every engine take."""

    by: Columns
    metrics: Metrics
    nulls: Nulls
    bucket: tuple[str, int] | None


class Sums:
    """Totals of statistics for each group and metric: what engines exchange instead of text.

    metrics: a metric that is a formula of sums (BLEU, chrF, TER), a name as the command line has
        it ("bleu", "chrf++"), or several.
    hyp: the name of the column of hypotheses: strings of any layout, or dictionaries of them.
    ref: the column of references: the same, or lists of them; or the names of several columns. A
        null in a list, or in one of several columns, is a reference that is missing.
    by: the column, or the columns, that make groups; null makes a group of its own.
    nulls: rows without a hypothesis, or without any reference: "raise" refuses them when a score is
        asked for, "skip" leaves them out. Both count them.
    bucket: the name of a column of ids and a number of buckets: another key, "bucket", into which
        a segment comes by its id (`bucket_of`), for `intervals` and `compare`.
    workers: threads.

    Sums of disjoint parts of the data add up to those of all of it (`merge`), exactly and in any
    order. They are tables for whoever reads Arrow (`__arrow_c_stream__`), so that engines can add
    them up themselves, and they pickle.

    >>> sums = Sums("bleu", by="system")
    >>> sums.columns
    ('hyp', 'ref', 'system')
    """

    by: tuple[str, ...]
    """The columns that make groups."""
    bucket: tuple[str, int] | None
    """The column of ids, and the number of buckets."""

    def __init__(
        self,
        metrics: Metrics = "bleu",
        *,
        hyp: str = "hyp",
        ref: str | Sequence[str] = "ref",
        by: Columns = None,
        nulls: Nulls = "raise",
        bucket: tuple[str, int] | None = None,
        workers: int = 1,
    ) -> None:
        self.workers = argument_checks.check_workers(workers)
        argument_checks.check_choice("nulls", nulls, ("raise", "skip"))
        if not isinstance(hyp, str):
            raise TypeError(f"hyp: expected the name of a column, not {hyp!r:.40}")
        self._hyp = hyp
        self._ref = names("ref", ref)
        if not self._ref:
            raise ValueError("ref: no column; at least one of references is needed")
        self._single = isinstance(by, str)
        self.by = names("by", by)
        self._nulls = nulls
        self.bucket = _checked_bucket(bucket)
        reserved = COLUMNS if bucket is None else ("bucket", *COLUMNS)
        for name in self.by:
            if name in reserved or self.by.count(name) > 1:
                why = "is named twice" if name not in reserved else "is a column of the sums"
                raise ValueError(f"by: '{name}' {why}; rename the column")
        is_one = isinstance(metrics, str) or not hasattr(metrics, "__iter__")
        self._metrics: dict[str, Metric[Any]] = {}
        for one in [metrics] if is_one else metrics:  # type: ignore[union-attr]
            metric = require_additive(one)
            label = one if isinstance(one, str) else metric.name
            if self._metrics.setdefault(label, metric) != metric:
                self._metrics[repr(metric)] = metric
        if not self._metrics:
            raise ValueError("metrics: none at all")
        # Metrics that differ in their formula alone share what is counted.
        counted = {metric.fingerprint: metric for metric in self._metrics.values()}
        self._places = {fingerprint: place for place, fingerprint in enumerate(counted)}
        parts = [(key, metric.constraints, counter(metric)) for key, metric in counted.items()]
        self._sums = _kernel.Groups(parts, hyp, list(self._ref), list(self.by), self.bucket)

    @property
    def metrics(self) -> tuple[Metric[Any], ...]:
        """The metrics."""
        return tuple(self._metrics.values())

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the metrics in results: the names given, or their own."""
        return tuple(self._metrics)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that `update` reads, each once."""
        bucket = (self.bucket[0],) if self.bucket else ()
        return tuple(dict.fromkeys((self._hyp, *self._ref, *self.by, *bucket)))

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The columns of keys in the table of the sums."""
        return (*self.by, "bucket") if self.bucket else self.by

    def spawn(self) -> Sums:
        """Sums of the same kind, of nothing yet: for another part of the data."""
        return Sums(**self._options())

    # ---- what is added ----

    def update(self, frame: Any) -> Self:
        """Adds the rows of a table; all of them or, if an error is raised, none.

        frame: whatever gives rows by the Arrow PyCapsule protocol: a RecordBatch, a Table, a
            RecordBatchReader, a Polars or pandas data frame, a DuckDB relation. A stream is read
            batch by batch, in memory that does not grow with it.

        Raises InputError for columns that are missing or of another type, naming them, and for
        text that is not UTF-8, naming the row.
        """
        self._sums.update(given(frame, "rows", self.columns), self.workers)
        return self

    def merge(self, other: Sums) -> Self:
        """Adds the sums of another part of the data. Raises InputError if they do not add up."""
        if not isinstance(other, Sums):
            raise TypeError(f"expected Sums, not {type(other).__name__}; merge_state takes tables")
        if other is self:
            return self.merge_bytes(self.to_bytes())
        self._check_kind(other._kind())
        self._sums.merge(other._sums)
        return self

    __iadd__ = merge

    def merge_bytes(self, data: bytes) -> Self:
        """Adds the sums of another part of the data, as `to_bytes` gave them."""
        header, content = _kernel.unsealed(SENT, "sums", data)
        kind, formats = _checked_header(header)
        self._check_kind(kind)
        self._sums.read_bytes(formats, content)
        return self

    def _kind(self) -> dict[str, Any]:
        """The properties that sums must share to add up."""
        return {
            "metrics": list(self._places),
            "keys": list(self.key_columns),
            "buckets": self.bucket[1] if self.bucket else None,
        }

    def _check_kind(self, theirs: Mapping[str, Any]) -> None:
        for what, mine in self._kind().items():
            if mine != (other := theirs.get(what)):
                told, found = (
                    ", ".join(map(str, value if isinstance(value, list) else [value])) or "none"
                    for value in (mine or [], other or [])
                )
                raise InputError(f"sums of different {what} cannot be merged: {told}, and {found}")

    def merge_state(self, table: Any) -> Self:
        """Adds the rows of a table of sums, as `__arrow_c_stream__` gives it and engines add it up.

        The columns may stand in any order, with others beside them; integers may have other
        widths, strings and lists other layouts. Raises InputError for what is no such table, for
        sums of other metrics, and if a row of a metric is missing.
        """
        if isinstance(table, Sums):
            return self.merge(table)
        self._sums.read(given(table, "state", (*self.key_columns, *COLUMNS)))
        return self

    # ---- what comes of it ----

    @property
    def segments(self) -> int:
        """The number of segments counted: rows with a hypothesis and a reference."""
        return self._sums.counted()[0]

    @property
    def nulls(self) -> dict[str, int]:
        """The number of rows without a hypothesis, and without a reference, by column."""
        _, hypotheses, references, _ = self._sums.counted()
        return {self._hyp: hypotheses, ", ".join(self._ref): references}

    @property
    def keys(self) -> list[Any]:
        """The groups in canonical order: by the first column of their keys, null first.

        Values if `by` is the name of one column, tuples if it is several or there are buckets.
        Dates, times and decimals are those of Python, moments of a zone in UTC.
        """
        return [self._key(key) for key, _ in _groups(self._sums)]

    def __len__(self) -> int:
        """The number of groups."""
        return len(self._sums)

    def check(self) -> None:
        """Raises InputError for nulls, unless they are skipped, and if nothing was counted."""
        nulls = self.nulls
        if self._nulls == "raise" and any(nulls.values()):
            first = self._sums.first_null
            where = f" (the first that is known is row {first})" if first else ""
            raise InputError(
                f"{told_nulls(nulls)}{where}; every row needs a hypothesis and a reference, and "
                "nulls='skip' (--nulls skip) leaves out those without"
            )
        if not self.segments:
            rows = "; all rows are null" if any(nulls.values()) else ""
            raise InputError(f"rows: no segments at all; there is nothing to score{rows}")

    def warn(self) -> None:
        """Warns whoever called this package if rows were left out, with their number by column."""
        told = ", ".join(f"{count} in {name}" for name, count in self.nulls.items() if count)
        if told:
            frame, level = sys._getframe(), 1  # noqa: SLF001
            while frame.f_back and frame.f_globals.get("__name__", "").startswith("truebleu."):
                frame, level = frame.f_back, level + 1
            warnings.warn(f"rows with null values were left out: {told}", stacklevel=level)

    def where(self, chosen: Callable[..., bool] | None = None, /, **values: Any) -> Sums:
        """The sums of some groups.

        values: for a column of the keys the value, or a list of the values, that it has in them.
        chosen: a function that is given the key, a column an argument, and says yes or no.

        >>> sums = Sums("bleu", by=("system", "domain"))
        >>> len(sums.where(system="A", domain=["news", "chat"]))
        0

        Raises ValueError for a column that there is not.
        """
        wanted = {
            self._place(name): list(value)
            if isinstance(value, list | tuple | set | frozenset)
            else [value]
            for name, value in values.items()
        }
        places = [
            place
            for place, (key, _) in enumerate(_groups(self._sums))
            if all(any(_is_same(key[at], one) for one in some) for at, some in wanted.items())
            and (chosen is None or chosen(*key))
        ]
        return self._rolled_up(places, self.key_columns)

    def rolled_up(self, by: Columns = None) -> Sums:
        """The sums of coarser groups: by some columns of the keys, or of all groups together.

        Buckets stay if "bucket" is named. For coarser values of a key (months of days), compute
        these in the engine's table of sums, and read it with `merge_state`.

        Raises ValueError for a column that there is not.
        """
        return self._rolled_up(range(len(self)), names("by", by), isinstance(by, str))

    def split(self, by: Columns) -> dict[Any, Sums]:
        """For each key of these columns the sums of its groups, by the other columns.

        The keys are as `keys` has them, in their order.
        """
        columns = names("by", by)
        at = [self._place(name) for name in columns]
        # Not-a-number equals nothing, and is one key all the same.
        parts: dict[str, tuple[Any, list[int]]] = {}
        for place, (key, _) in enumerate(_groups(self._sums)):
            part = tuple(key[one] for one in at)
            shown = part[0] if isinstance(by, str) else part
            parts.setdefault(repr(part), (shown, []))[1].append(place)
        rest = [name for name in self.key_columns if name not in columns]
        return {key: self._rolled_up(places, rest) for key, places in parts.values()}

    def _place(self, name: str) -> int:
        if name not in self.key_columns:
            known = ", ".join(self.key_columns) or "none"
            raise ValueError(f"{name}: these sums have no such column; they have {known}")
        return self.key_columns.index(name)

    def _rolled_up(
        self, places: Iterable[int], columns: Sequence[str], single: bool = False
    ) -> Sums:
        """The groups at some places in canonical order, by some columns of their keys."""
        at = [self._place(name) for name in columns]
        if "bucket" in columns:
            at.sort()
        by = tuple(self.key_columns[place] for place in at if place < len(self.by))
        single = single or (self._single and by == self.by)
        options = self._options()
        options["by"] = by[0] if single and len(by) == 1 else by
        options["bucket"] = self.bucket if len(self.by) in at else None
        coarse = Sums(**options)
        coarse._sums = self._sums.rolled_up(list(places), at)
        return coarse

    def table(self) -> ScoreTable:
        """The score of each group that has a segment, as a table for whoever reads Arrow.

        Columns: those of `by`, "metric" if there are several, "score" (0-100), "segments",
        "signature". Rows are in the order of `keys`. Raises what `check` raises.
        """
        self.check()
        if self.bucket:
            return self.rolled_up(self.by).table()
        several = len(self._metrics) > 1
        own = [*(["metric"] if several else []), "score", "segments", "signature"]
        if taken := [name for name in self.by if name in own]:
            raise InputError(f"by: '{taken[0]}' is a column of the result; rename the column")
        filled = [place for place, size in enumerate(self.group_segments()) if size]
        rows = [
            (place, label, score)
            for place, by_label in zip(filled, self._scores().values(), strict=True)
            for label, score in by_label.items()
        ]
        beside = [("metric", [label for _, label, _ in rows])] if several else []
        beside.append(("signature", [str(score.signature) for *_, score in rows]))
        places, scores = [place for place, *_ in rows], [score.value for *_, score in rows]
        return ScoreTable(self._sums, places, scores, beside)

    def score(self, key: Any = ALL) -> Any:
        """The score of a group; of all groups together if no key is given.

        A Score; with several metrics a dict from the name of each. Buckets are added up. Raises
        what `check` raises, KeyError for a group that there is not.
        """
        if key is ALL:
            self.check()
            return self.rolled_up().scores()[()]
        scores = self.scores()
        for known, score in scores.items():
            if _is_same(known, key):
                return score
        told = ", ".join(map(repr, list(scores)[:10]))
        raise KeyError(f"no group {key!r} has a segment; there are {told}")

    def scores(self) -> dict[Any, Any]:
        """The score of each group that has a segment, by its key; see `keys` and `score`."""
        self.check()
        if self.bucket:
            return self.rolled_up(self.by).scores()
        several = len(self._metrics) > 1
        return {
            self._key(key): by_label if several else by_label[self.labels[0]]
            for key, by_label in self._scores().items()
        }

    def _scores(self) -> dict[tuple[Any, ...], dict[str, Any]]:
        """The scores of each group that has a segment, by label."""
        groups = _groups(self._sums)
        found: dict[tuple[Any, ...], Any] = {key: {} for key, (count, *_) in groups if count}
        for label, metric in self._metrics.items():
            rows = self._sums.statistics(self._places[metric.fingerprint]).tolist()
            for row, (key, (segments, _, _, references)) in zip(rows, groups, strict=True):
                if segments:
                    seen: Any = {"segments": segments, "references": references}
                    metric.check_summary(seen, None)
                    found[key][label] = metric.score_from_row(row, count_references(references))
        return found

    def statistics(self, metric: str | Metric | None = None) -> Statistics:
        """The totals of one metric, a row a group in the order of `keys`.

        metric: a metric or its label; None if there is only one.
        """
        if metric is None and len(self._metrics) > 1:
            raise ValueError(f"metric: which of {', '.join(self._metrics)}?")
        for label, own in self._metrics.items():
            if metric is None or metric in (label, own):
                return Statistics(
                    self._sums.statistics(self._places[own.fingerprint]),
                    columns=own.columns,
                    fingerprint=own.fingerprint,
                    references=count_references(self._sums.counted()[3]),
                )
        raise ValueError(f"metric: no {metric!r}; there are {', '.join(self._metrics)}")

    def group_segments(self) -> list[int]:
        """The number of segments of each group, in the order of `keys`."""
        return [segments for _, (segments, *_) in self._sums.groups()]

    def _key(self, key: tuple[Any, ...]) -> Any:
        return key[0] if self._single and len(key) == 1 else key

    # ---- how it travels ----

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table of the sums, in canonical order, as an Arrow stream (PyCapsule protocol).

        A row has a group's totals of one metric: the columns of its key, those of `COLUMNS`.
        """
        return self._sums.arrow_stream()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """The same as an Arrow array of structures."""
        return self._sums.arrow_array()

    def to_bytes(self) -> bytes:
        """The sums as bytes: the same for any order of updates and merges, and any partition."""
        signatures: dict[str, str] = {}
        for metric in self._metrics.values():
            signatures.setdefault(metric.fingerprint, str(metric.signature()))
        header = {
            **self._kind(),
            "signatures": list(signatures.values()),
            "formats": self._sums.formats,
        }
        return _kernel.sealed(SENT, json.dumps(header), self._sums.to_bytes())

    @classmethod
    def from_bytes(cls, data: bytes, metrics: Metrics | None = None) -> Sums:
        """The sums that `to_bytes` wrote.

        metrics: those that they were made with; needed for a tokenizer of one's own, which no
            signature can name. The names of columns of text are not kept, nor what was to be done
            with nulls: they are "hyp", "ref", and "raise".

        Raises InputError for bytes that are damaged, and for sums of other metrics.
        """
        header, _ = _kernel.unsealed(SENT, "sums", data)
        kind, _ = _checked_header(header)
        try:
            buckets = kind["buckets"]
            by = tuple(kind["keys"][: None if buckets is None else -1])
            made = cls(
                kind["signatures"] if metrics is None else metrics,
                by=by[0] if len(by) == 1 else by,
                bucket=buckets and ("id", buckets),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"sums: these cannot be made from their header ({error}); name their metrics: "
                "Sums.from_bytes(data, metrics)"
            ) from None
        return made.merge_bytes(data)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (self._options(), self.to_bytes()))

    def _options(self) -> dict[str, Any]:
        return {
            "metrics": [
                label if label not in (metric.name, repr(metric)) else metric
                for label, metric in self._metrics.items()
            ],
            "hyp": self._hyp,
            "ref": self._ref,
            "by": self.by[0] if self._single and self.by else self.by,
            "nulls": self._nulls,
            "bucket": self.bucket,
            "workers": self.workers,
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sums):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        by = f" by {', '.join(self.key_columns)}" if self.key_columns else ""
        labels = ", ".join(self._metrics)
        return f"<Sums of {labels}: {self.segments} segments, {len(self)} groups{by}>"


class ScoreTable:
    """Scores of groups as a table, which Arrow readers take as often as they like."""

    def __init__(self, sums: _kernel.Groups, *columns: Any) -> None:
        self._sums = sums
        self._columns = columns

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._columns[0])

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table as an Arrow stream (PyCapsule protocol)."""
        return self._sums.scored(*self._columns)


def bucket_of(identity: str | bytes | int, buckets: int) -> int:
    """The bucket of a segment with this id, the same in every program.

    The 64-bit FNV-1a hash of the id's bytes, finished as splitmix64 does, modulo `buckets`. The
    bytes are a string's UTF-8, or an integer's 8 in little-endian order (two's complement). In
    Python:

    >>> def hashed(data):
    ...     value, most = 0xCBF29CE484222325, 2**64 - 1
    ...     for byte in data:
    ...         value = (value ^ byte) * 0x100000001B3 & most
    ...     value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & most
    ...     value = (value ^ value >> 27) * 0x94D049BB133111EB & most
    ...     return value ^ value >> 31
    >>> hashed("seg-17".encode()) % 1000 == bucket_of("seg-17", 1000)
    True
    >>> hashed((17).to_bytes(8, "little", signed=True)) % 1000 == bucket_of(17, 1000)
    True
    """
    return _kernel.bucket(identity, buckets)


def _restored(options: dict[str, Any], data: bytes) -> Sums:
    return Sums(**options).merge_bytes(data)


def _groups(sums: _kernel.Groups) -> list[Any]:
    """The kernel's groups, with their keys as Python has them."""
    converts = [KEY_TYPES.get(form) for form in sums.formats or ()]
    if not any(converts):
        return sums.groups()

    def convert(to_python: Callable[[int], Any] | None, value: Any) -> Any:
        try:
            return value if to_python is None or value is None else to_python(value)
        except OverflowError:  # Python has no date so far away
            return value

    return [(tuple(map(convert, converts, key)), counted) for key, counted in sums.groups()]


def _is_same(one: Any, other: Any) -> bool:
    """True if two keys are equal, or both are not-a-number."""
    return bool(one == other or (one != one and other != other))  # noqa: PLR0124


def names(role: str, given: Any) -> tuple[str, ...]:
    """The names of columns: of one, of several, or none for None."""
    several = (given,) if isinstance(given, str) else () if given is None else given
    if not hasattr(several, "__iter__") or not all(isinstance(name, str) for name in several):
        raise TypeError(f"{role}: expected the names of columns, not {given!r:.40}")
    return tuple(several)


def _checked_bucket(bucket: Any) -> tuple[str, int] | None:
    match bucket:
        case None:
            return None
        case (str(name), int(count)) if 1 < count < 2**31:
            return name, count
    raise ValueError(
        f"bucket={bucket!r:.40}: expected the name of a column of ids and a number of buckets, "
        "2 or more: ('id', 1000)"
    )


def given(frame: Any, what: str, columns: Sequence[str]) -> _kernel.Frame:
    """A table, for the kernel. Raises TypeError for what is none, InputError if columns lack."""
    if not hasattr(frame, "__arrow_c_stream__") and not hasattr(frame, "__arrow_c_array__"):
        raise TypeError(
            f"{what}: {type(frame).__name__} does not speak Arrow; expected a RecordBatch, a "
            "Table, a reader of them or a data frame (anything with __arrow_c_stream__)"
        )
    taken = _kernel.Frame(frame, what)
    for name in columns:
        if name not in taken.names:
            raise InputError(
                f"no column '{name}'{argument_checks.suggest_names(name, taken.names)}"
            )
    return taken


def counter(metric: Any) -> object:
    """The counter of rows: the kernel's own metric, or a function of texts."""
    if metric.reads_text:
        return metric._kernel  # noqa: SLF001
    return lambda *texts, **options: metric.count(*texts, **options, is_part=True)[0]


def told_nulls(nulls: Mapping[str, int]) -> str:
    """The number of null rows, by column, in words."""
    return ", ".join(
        f"'{name}' is null in {count} row{'s' * (count > 1)}"
        for name, count in nulls.items()
        if count
    )


def _checked_header(header: str) -> tuple[dict[str, Any], list[str] | None]:
    """What sums say of themselves, and the formats of their keys."""
    try:
        kind = dict(load_json(header))
        formats = kind.pop("formats")
    except (ValueError, KeyError, TypeError):
        kind, formats = {}, ()
    strings = isinstance(formats, list) and all(isinstance(one, str) for one in formats)
    if formats is not None and not strings:
        raise InputError("sums: the header is not one that Sums.to_bytes writes; make them again")
    return kind, formats
