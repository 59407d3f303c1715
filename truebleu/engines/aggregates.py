"""Aggregated statistics per group and metric that engines transfer instead of text."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any, Literal, Self, TypedDict

from truebleu import _kernel
from truebleu._kernel import InputError
from truebleu.metrics.accumulator import require_additive_metric
from truebleu.metrics.base import Metric, summarize_reference_count
from truebleu.metrics.scores import Statistics
from truebleu.text import argument_checks
from truebleu.text.argument_checks import load_json
from truebleu.text.terminal_layout import format_count

ColumnNames = str | Sequence[str] | None
MetricSpecs = str | Metric | Sequence[str | Metric]
NullPolicy = Literal["raise", "skip"]

# Columns of a state table after its key columns. To merge rows with equal keys and fingerprints,
# take the minimum and maximum of the reference counts, and the sums of all other columns.
STATE_COLUMNS = (
    "fingerprint",
    "segments",
    "null_hypotheses",
    "null_references",
    "fewest_references",
    "most_references",
    "statistics",
)

# Name of the frame that `Sums.to_bytes` returns (kernel/src/checksummed_frame.rs): a line of JSON,
# the kernel's state table (kernel/src/groups/state_table.rs), and a checksum of both.
FRAME_NAME = "sums"

# Default `key` of `Sums.score`, which selects all groups together.
ALL_GROUPS: Any = object()

# Conversions of keys to Python values, keyed by the format in the Arrow C data interface. Dates are
# days since 1970, and timestamps are microseconds since 1970.
KEY_CONVERTERS: dict[str, Callable[[int], Any]] = {
    "tdD": lambda days: date(1970, 1, 1) + timedelta(days),
    "ttu": lambda micros: (datetime.min + timedelta(microseconds=micros)).time(),
    "tsu:": lambda micros: datetime(1970, 1, 1) + timedelta(microseconds=micros),
    "tsu:UTC": lambda micros: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros),
    "tDu": lambda micros: timedelta(microseconds=micros),
}


class SumsOptions(TypedDict, total=False):
    """Options of `Sums` that the functions `sums` and `stats` of every engine accept."""

    by: ColumnNames
    source: str | None
    metrics: MetricSpecs
    nulls: NullPolicy
    bucket: tuple[str, int] | None


class Sums:
    """Aggregated statistics per group and metric that engines transfer instead of text.

    metrics: a metric computed from summed statistics (BLEU, chrF, TER), its command-line name
        ("bleu", "chrf++"), or several of them.
    hyp: the name of the hypothesis column. It contains strings in any Arrow layout, or
        dictionary-encoded strings.
    ref: the name of the reference column, with strings or lists of strings, or the names of several
        columns. A null in a list, or in one of several columns, is a missing reference.
    source: the name of the source column, for metrics that read sources (SARI). All metrics must
        then read them.
    by: the column or columns to group by. Null keys form a group.
    nulls: the treatment of rows without a hypothesis, a source or any reference. "raise" raises an
        error when a score is computed, and "skip" omits the rows. Both options count the rows.
    bucket: the name of an id column and a number of buckets. Adds the key "bucket", computed from
        each segment's id (`bucket_of`), for `intervals` and `compare`.
    workers: the number of threads.

    Sums of disjoint parts of the data can be merged (`merge`). The result is exact and does not
    depend on the order. Sums can be pickled, and engines can read and aggregate them as Arrow
    tables (`__arrow_c_stream__`).

    >>> sums = Sums("bleu", by="system")
    >>> sums.columns
    ('hyp', 'ref', 'system')
    """

    by: tuple[str, ...]
    """Names of the columns to group by."""
    bucket: tuple[str, int] | None
    """Name of the id column, and the number of hash buckets."""

    def __init__(
        self,
        metrics: MetricSpecs = "bleu",
        *,
        hyp: str = "hyp",
        ref: str | Sequence[str] = "ref",
        source: str | None = None,
        by: ColumnNames = None,
        nulls: NullPolicy = "raise",
        bucket: tuple[str, int] | None = None,
        workers: int = 1,
    ) -> None:
        self.workers = argument_checks.check_workers(workers)
        argument_checks.check_choice("nulls", nulls, ("raise", "skip"))
        for role, name in (("hyp", hyp), ("source", source)):
            if not isinstance(name, str) and (role == "hyp" or name is not None):
                raise TypeError(f"{role}: expected a column name, found {name!r:.40}")
        self._hyp, self._source = hyp, source
        self._ref = as_column_names("ref", ref)
        if not self._ref:
            raise ValueError("ref: expected at least one reference column, found none")
        self._has_bare_keys = isinstance(by, str)
        self.by = as_column_names("by", by)
        self._null_policy = nulls
        self.bucket = _validate_bucket(bucket)
        reserved = STATE_COLUMNS if bucket is None else ("bucket", *STATE_COLUMNS)
        for name in self.by:
            if name in reserved:
                raise ValueError(f"by: '{name}' is the name of a result column; rename it")
            if self.by.count(name) > 1:
                raise ValueError(f"by: duplicate column '{name}'")
        is_single_metric = isinstance(metrics, str) or not hasattr(metrics, "__iter__")
        self._metrics: dict[str, Metric[Any]] = {}
        for metric_spec in [metrics] if is_single_metric else metrics:  # type: ignore[union-attr]
            metric = require_additive_metric(metric_spec, has_sources=source is not None)
            label = metric_spec if isinstance(metric_spec, str) else metric.name
            if self._metrics.setdefault(label, metric) != metric:
                self._metrics[repr(metric)] = metric
        if not self._metrics:
            raise ValueError("metrics: expected at least one metric, found none")
        # Metrics that differ only in their formula share the aggregated statistics.
        distinct = {metric.fingerprint: metric for metric in self._metrics.values()}
        self._kernel_index = {fingerprint: index for index, fingerprint in enumerate(distinct)}
        counters = [(key, m.constraints, make_row_counter(m)) for key, m in distinct.items()]
        self._groups = _kernel.Groups(
            counters, hyp, list(self._ref), list(self.by), self.bucket, source=source
        )

    @property
    def metrics(self) -> tuple[Metric[Any], ...]:
        """The metrics, in the order in which they were passed."""
        return tuple(self._metrics.values())

    @property
    def labels(self) -> tuple[str, ...]:
        """The metric names used in results: the names that were passed, or the default names."""
        return tuple(self._metrics)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that `update` reads, without duplicates."""
        bucket = (self.bucket[0],) if self.bucket else ()
        source = () if self._source is None else (self._source,)
        return tuple(dict.fromkeys((self._hyp, *self._ref, *source, *self.by, *bucket)))

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The key columns of the state table."""
        return (*self.by, "bucket") if self.bucket else self.by

    def spawn(self) -> Sums:
        """Return empty sums with the same options, for a different part of the data."""
        return Sums(**self._get_init_arguments())

    # ---- adding data ----

    def update(self, frame: Any) -> Self:
        """Add the rows of a table. If an error is raised, no row is added.

        frame: any object that supports the Arrow PyCapsule protocol: a RecordBatch, a Table, a
            RecordBatchReader, a Polars or pandas data frame, a DuckDB relation. A stream is read
            batch by batch, in constant memory.

        Raises InputError naming the columns that are missing or have the wrong type. Text that is
        not valid UTF-8 raises InputError naming the row.
        """
        self._groups.update(to_kernel_frame(frame, "rows", self.columns), self.workers)
        return self

    def merge(self, other: Sums) -> Self:
        """Add the sums of a different part of the data. Raises InputError for incompatible sums."""
        if not isinstance(other, Sums):
            raise TypeError(
                f"expected Sums, found {type(other).__name__}; use merge_state for tables"
            )
        if other is self:
            return self.merge_bytes(self.to_bytes())
        self._check_mergeable(other._get_merge_properties())
        self._groups.merge(other._groups)
        return self

    __iadd__ = merge

    def merge_bytes(self, data: bytes) -> Self:
        """Add the sums of a different part of the data, serialized by `to_bytes`."""
        header, content = _kernel.unsealed(FRAME_NAME, "sums", data)
        properties, formats = _parse_header(header)
        self._check_mergeable(properties)
        self._groups.read_bytes(formats, content)
        return self

    def _get_merge_properties(self) -> dict[str, Any]:
        """Return the properties that two `Sums` must have in common to be merged."""
        return {
            "metrics": list(self._kernel_index),
            "keys": list(self.key_columns),
            "buckets": self.bucket[1] if self.bucket else None,
        }

    def _check_mergeable(self, other_properties: Mapping[str, Any]) -> None:
        for name, expected in self._get_merge_properties().items():
            if expected != (actual := other_properties.get(name)):
                expected_text, actual_text = (
                    ", ".join(map(str, value if isinstance(value, list) else [value])) or "none"
                    for value in (expected or [], actual or [])
                )
                raise InputError(
                    f"sums with different {name} cannot be merged "
                    f"(expected {expected_text}, found {actual_text})"
                )

    def merge_state(self, table: Any) -> Self:
        """Add the rows of a state table that `Sums` exported or an engine aggregated.

        The columns may be in any order, and other columns are ignored. Any integer width and any
        Arrow layout of strings and lists is accepted. Raises InputError for any other table, for
        sums of different metrics, and if a metric's row is missing.
        """
        if isinstance(table, Sums):
            return self.merge(table)
        self._groups.read(to_kernel_frame(table, "state", (*self.key_columns, *STATE_COLUMNS)))
        return self

    # ---- results ----

    @property
    def segments(self) -> int:
        """The number of segments: rows with a hypothesis and a reference."""
        return self._groups.counted()[0]

    @property
    def nulls(self) -> dict[str, int]:
        """The number of rows with a null hypothesis or source, and of rows without references."""
        _, hypotheses, references, _ = self._groups.counted()
        first = self._hyp if self._source is None else f"{self._hyp}, {self._source}"
        return {first: hypotheses, ", ".join(self._ref): references}

    @property
    def keys(self) -> list[Any]:
        """The group keys in canonical order: sorted by the first key column, null first.

        Keys are plain values if `by` is a single column name and there are no buckets. Otherwise
        they are tuples. Dates, times and decimals are Python objects. Timestamps with a time zone
        are in UTC.
        """
        return [self._to_public_key(key) for key, _ in _read_groups(self._groups)]

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self._groups)

    def check(self) -> None:
        """Raise InputError if there are no segments, or if there are nulls that are not skipped."""
        nulls = self.nulls
        if self._null_policy == "raise" and any(nulls.values()):
            first = self._groups.first_null
            location = f" (first known: row {first})" if first else ""
            raise InputError(
                f"{describe_nulls(nulls)}{location}; every row needs a hypothesis and a reference. "
                "Use nulls='skip' (--nulls skip) to omit incomplete rows."
            )
        if not self.segments:
            suffix = ", all rows are null" if any(nulls.values()) else ""
            raise InputError(f"rows: no segments to score{suffix}")

    def warn(self) -> None:
        """Warn about omitted rows: state their number per column, and point to the user's code."""
        null_counts = ", ".join(f"{count} in {name}" for name, count in self.nulls.items() if count)
        if null_counts:
            frame, level = sys._getframe(), 1  # noqa: SLF001
            while frame.f_back and frame.f_globals.get("__name__", "").startswith("truebleu."):
                frame, level = frame.f_back, level + 1
            warnings.warn(f"rows with null values were omitted: {null_counts}", stacklevel=level)

    def where(self, predicate: Callable[..., bool] | None = None, /, **values: Any) -> Sums:
        """Return the sums of selected groups.

        values: the value, or a list of values, to select for a key column.
        predicate: a function that receives the key, one argument per column, and returns whether to
            select the group.

        >>> sums = Sums("bleu", by=("system", "domain"))
        >>> len(sums.where(system="A", domain=["news", "chat"]))
        0

        Raises ValueError for an unknown column.
        """
        accepted = {
            self._find_key_index(n): v if isinstance(v, list | tuple | set | frozenset) else [v]
            for n, v in values.items()
        }
        group_indices = [
            index
            for index, (key, _) in enumerate(_read_groups(self._groups))
            if all(any(_keys_are_equal(key[i], x) for x in xs) for i, xs in accepted.items())
            and (predicate is None or predicate(*key))
        ]
        return self._select_groups(group_indices, self.key_columns)

    def roll_up(self, by: ColumnNames = None) -> Sums:
        """Return sums grouped by fewer key columns or, without columns, the sums of all groups.

        Buckets are kept if "bucket" is one of the columns. To group by coarser values (months
        instead of days), compute them in the engine's state table and read it with `merge_state`.

        Raises ValueError for an unknown column.
        """
        return self._select_groups(range(len(self)), as_column_names("by", by), isinstance(by, str))

    def split(self, by: ColumnNames) -> dict[Any, Sums]:
        """Return the sums for each key of these columns, grouped by the remaining key columns.

        The types and the order of the keys are the same as in `keys`.
        """
        columns = as_column_names("by", by)
        key_indices = [self._find_key_index(name) for name in columns]
        # Compare keys by their repr, because NaN is not equal to itself but forms one key.
        groups_by_key: dict[str, tuple[Any, list[int]]] = {}
        for index, (key, _) in enumerate(_read_groups(self._groups)):
            split_key = tuple(key[i] for i in key_indices)
            public_key = split_key[0] if isinstance(by, str) else split_key
            groups_by_key.setdefault(repr(split_key), (public_key, []))[1].append(index)
        other_keys = [name for name in self.key_columns if name not in columns]
        return {key: self._select_groups(g, other_keys) for key, g in groups_by_key.values()}

    def _find_key_index(self, name: str) -> int:
        if name not in self.key_columns:
            available = ", ".join(self.key_columns) or "none"
            raise ValueError(f"unknown key column '{name}' (expected one of: {available})")
        return self.key_columns.index(name)

    def _select_groups(
        self, group_indices: Iterable[int], columns: Sequence[str], use_bare_keys: bool = False
    ) -> Sums:
        """Aggregate the groups at these canonical indices, keeping only some key columns."""
        key_indices = [self._find_key_index(name) for name in columns]
        if "bucket" in columns:
            key_indices.sort()
        keys = tuple(self.key_columns[index] for index in key_indices if index < len(self.by))
        use_bare_keys = use_bare_keys or (self._has_bare_keys and keys == self.by)
        options = self._get_init_arguments()
        options["by"] = keys[0] if use_bare_keys and len(keys) == 1 else keys
        options["bucket"] = self.bucket if len(self.by) in key_indices else None
        coarse = Sums(**options)
        coarse._groups = self._groups.rolled_up(list(group_indices), key_indices)
        return coarse

    def table(self) -> ScoreTable:
        """Return the score of each group that has a segment, as an Arrow-compatible table.

        Columns: the columns of `by`, "metric" if there are several metrics, "score" (0-100),
        "segments" and "signature". Rows are in the order of `keys`. Raises the errors of `check`.
        """
        self.check()
        if self.bucket:
            return self.roll_up(self.by).table()
        has_several_metrics = len(self._metrics) > 1
        metric_column = ["metric"] if has_several_metrics else []
        result_columns = [*metric_column, "score", "segments", "signature"]
        if conflicts := [name for name in self.by if name in result_columns]:
            raise InputError(f"by: '{conflicts[0]}' is the name of a result column; rename it")
        nonempty_groups = [index for index, size in enumerate(self.group_segments()) if size]
        scores_by_group = self._compute_scores_by_group().values()
        rows = [
            (index, label, score)
            for index, by_label in zip(nonempty_groups, scores_by_group, strict=True)
            for label, score in by_label.items()
        ]
        extra_columns = [("metric", [label for _, label, _ in rows])] if has_several_metrics else []
        extra_columns.append(("signature", [str(score.signature) for *_, score in rows]))
        group_indices, scores = [index for index, *_ in rows], [score.value for *_, score in rows]
        return ScoreTable(self._groups, group_indices, scores, extra_columns)

    def score(self, key: Any = ALL_GROUPS) -> Any:
        """Return the score of a group, or of all groups together if no key is given.

        The result is a Score, or a dict of scores by metric name if there are several metrics.
        Buckets are merged. Raises the errors of `check`, and KeyError for an unknown group.
        """
        if key is ALL_GROUPS:
            self.check()
            return self.roll_up().scores()[()]
        scores = self.scores()
        for group_key, score in scores.items():
            if _keys_are_equal(group_key, key):
                return score
        available = ", ".join(map(repr, list(scores)[:10]))
        raise KeyError(f"no group {key!r} with segments (expected one of: {available})")

    def scores(self) -> dict[Any, Any]:
        """Return the score of each group that has a segment, by key. See `keys` and `score`."""
        self.check()
        if self.bucket:
            return self.roll_up(self.by).scores()
        has_several_metrics = len(self._metrics) > 1
        return {
            self._to_public_key(key): by_label if has_several_metrics else by_label[self.labels[0]]
            for key, by_label in self._compute_scores_by_group().items()
        }

    def _compute_scores_by_group(self) -> dict[tuple[Any, ...], dict[str, Any]]:
        """Return the scores of each group that has a segment, by label."""
        groups = _read_groups(self._groups)
        scores_by_key: dict[tuple[Any, ...], Any] = {
            key: {} for key, (count, *_) in groups if count
        }
        for label, metric in self._metrics.items():
            rows = self._groups.statistics(self._kernel_index[metric.fingerprint]).tolist()
            for row, (key, (segments, _, _, references)) in zip(rows, groups, strict=True):
                if segments:
                    seen: Any = {"segments": segments, "references": references}
                    metric.check_summary(seen, None)
                    scores_by_key[key][label] = metric.score_from_row(
                        row, summarize_reference_count(references)
                    )
        return scores_by_key

    def statistics(self, metric: str | Metric | None = None) -> Statistics:
        """Return the statistics of one metric, one row per group in the order of `keys`.

        metric: a metric or its label; may be None if there is only one metric.
        """
        if metric is None and len(self._metrics) > 1:
            raise ValueError(f"metric: expected one of {', '.join(self._metrics)}, found None")
        for label, candidate in self._metrics.items():
            if metric is None or metric in (label, candidate):
                return Statistics(
                    self._groups.statistics(self._kernel_index[candidate.fingerprint]),
                    columns=candidate.columns,
                    fingerprint=candidate.fingerprint,
                    references=summarize_reference_count(self._groups.counted()[3]),
                )
        raise ValueError(f"unknown metric {metric!r} (expected one of: {', '.join(self._metrics)})")

    def group_segments(self) -> list[int]:
        """Return the number of segments of each group, in the order of `keys`."""
        return [segments for _, (segments, *_) in self._groups.groups()]

    def _to_public_key(self, key: tuple[Any, ...]) -> Any:
        return key[0] if self._has_bare_keys and len(key) == 1 else key

    # ---- serialization ----

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the state table, in canonical order, as an Arrow stream (PyCapsule protocol).

        Each row has the key columns of a group, then `STATE_COLUMNS` for one metric.
        """
        return self._groups.arrow_stream()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Export the state table as an Arrow struct array (PyCapsule protocol)."""
        return self._groups.arrow_array()

    def to_bytes(self) -> bytes:
        """Serialize the sums to bytes that are independent of update order and partitioning."""
        signatures: dict[str, str] = {}
        for metric in self._metrics.values():
            signatures.setdefault(metric.fingerprint, str(metric.signature()))
        header = {
            **self._get_merge_properties(),
            "signatures": list(signatures.values()),
            "formats": self._groups.formats,
            **({} if self._source is None else {"sources": True}),
        }
        return _kernel.sealed(FRAME_NAME, json.dumps(header), self._groups.to_bytes())

    @classmethod
    def from_bytes(cls, data: bytes, metrics: MetricSpecs | None = None) -> Sums:
        """Restore sums from the output of `to_bytes`.

        metrics: the metrics of the sums. Required if one has a user-defined tokenizer, which no
            signature can describe. The names of text columns and the null policy are not stored:
            they are reset to "hyp", "ref", "source" (for metrics that read sources) and "raise".

        Raises InputError for corrupt data, and for sums of different metrics.
        """
        properties, _ = _parse_header(_kernel.unsealed(FRAME_NAME, "sums", data)[0])
        try:
            buckets = properties["buckets"]
            group_columns = tuple(properties["keys"][: None if buckets is None else -1])
            sums = cls(
                properties["signatures"] if metrics is None else metrics,
                by=group_columns[0] if len(group_columns) == 1 else group_columns,
                bucket=buckets and ("id", buckets),
                source="source" if properties.get("sources") else None,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"sums: the header does not describe the metrics ({error}). Pass them: "
                "Sums.from_bytes(data, metrics)"
            ) from None
        return sums.merge_bytes(data)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore_sums, (self._get_init_arguments(), self.to_bytes()))

    def _get_init_arguments(self) -> dict[str, Any]:
        return {
            "metrics": [
                label if label not in (metric.name, repr(metric)) else metric
                for label, metric in self._metrics.items()
            ],
            "hyp": self._hyp,
            "ref": self._ref,
            "source": self._source,
            "by": self.by[0] if self._has_bare_keys and self.by else self.by,
            "nulls": self._null_policy,
            "bucket": self.bucket,
            "workers": self.workers,
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sums):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        key_list = f" by {', '.join(self.key_columns)}" if self.key_columns else ""
        labels = ", ".join(self._metrics)
        counts = f"{format_count(self.segments, 'segment')}, {format_count(len(self), 'group')}"
        return f"<Sums of {labels}: {counts}{key_list}>"


class ScoreTable:
    """Table of group scores that Arrow readers can read repeatedly."""

    def __init__(self, sums: _kernel.Groups, *columns: Any) -> None:
        self._groups = sums
        self._columns = columns

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._columns[0])

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the table as an Arrow stream (PyCapsule protocol)."""
        return self._groups.scored(*self._columns)


def bucket_of(identity: str | bytes | int, buckets: int) -> int:
    """Return the hash bucket of a segment id. Every engine computes the same bucket.

    The bucket is the 64-bit FNV-1a hash of the id's bytes, finalized as in splitmix64, modulo
    `buckets`. The bytes are the UTF-8 encoding of a string, or the 8 little-endian bytes of an
    integer (two's complement). The same computation in Python:

    >>> def hash_bytes(data):
    ...     value, mask = 0xCBF29CE484222325, 2**64 - 1
    ...     for byte in data:
    ...         value = (value ^ byte) * 0x100000001B3 & mask
    ...     value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & mask
    ...     value = (value ^ value >> 27) * 0x94D049BB133111EB & mask
    ...     return value ^ value >> 31
    >>> hash_bytes("seg-17".encode()) % 1000 == bucket_of("seg-17", 1000)
    True
    >>> hash_bytes((17).to_bytes(8, "little", signed=True)) % 1000 == bucket_of(17, 1000)
    True
    """
    return _kernel.bucket(identity, buckets)


def _restore_sums(options: dict[str, Any], data: bytes) -> Sums:
    return Sums(**options).merge_bytes(data)


def _read_groups(sums: _kernel.Groups) -> list[Any]:
    """Return the kernel's groups, with their keys as Python objects."""
    converters = [KEY_CONVERTERS.get(arrow_format) for arrow_format in sums.formats or ()]
    if not any(converters):
        return sums.groups()
    groups = []
    for key, n in sums.groups():
        components = list(key)
        for i, convert in enumerate(converters):
            if convert is not None and key[i] is not None:
                with suppress(OverflowError):  # dates outside Python's range stay integers
                    components[i] = convert(key[i])
        groups.append((tuple(components), n))
    return groups


def _keys_are_equal(first: Any, second: Any) -> bool:
    """Return whether two keys are equal or both NaN."""
    return bool(first == second or (first != first and second != second))  # noqa: PLR0124


def as_column_names(parameter: str, names: Any) -> tuple[str, ...]:
    """Convert column names (one name, several names or None) to a tuple."""
    column_names = (names,) if isinstance(names, str) else () if names is None else names
    is_iterable = hasattr(column_names, "__iter__")
    if not is_iterable or not all(isinstance(name, str) for name in column_names):
        raise TypeError(f"{parameter}: expected column names, found {names!r:.40}")
    return tuple(column_names)


def _validate_bucket(bucket: Any) -> tuple[str, int] | None:
    match bucket:
        case None:
            return None
        case (str(name), int(count)) if 1 < count < 2**31:
            return name, count
    raise ValueError(
        f"bucket={bucket!r:.40}: expected an id column and a number of buckets (at least 2), for "
        "example ('id', 1000)"
    )


def to_kernel_frame(frame: Any, label: str, required_columns: Sequence[str]) -> _kernel.Frame:
    """Return the kernel's view of an Arrow table.

    Raises TypeError for objects that are not tables, and InputError for missing columns.
    """
    if not hasattr(frame, "__arrow_c_stream__") and not hasattr(frame, "__arrow_c_array__"):
        raise TypeError(
            f"{label}: expected a RecordBatch, Table, RecordBatchReader or data frame (any object "
            f"with __arrow_c_stream__), found {type(frame).__name__}"
        )
    kernel_frame = _kernel.Frame(frame, label)
    for name in required_columns:
        if name not in kernel_frame.names:
            suggestion = argument_checks.suggest_names(name, kernel_frame.names)
            raise InputError(f"no column '{name}'{suggestion}")
    return kernel_frame


def make_row_counter(metric: Any) -> object:
    """Return the kernel metric or Python function that computes a metric's row statistics."""
    if metric.reads_text:
        return metric._kernel  # noqa: SLF001
    if metric.NEEDS_SOURCE:
        return partial(_count_with_sources, metric)
    return lambda *texts, **options: metric.count(*texts, **options, is_part=True)[0]


def _count_with_sources(metric: Any, sources: Any, texts: Any) -> Statistics:
    """Return the row statistics of a metric that reads sources.

    texts: the hypothesis of each segment, followed by its references.
    """
    hypotheses, references = [one for one, *_ in texts], [tuple(others) for _, *others in texts]
    return metric.count(hypotheses, references, sources=sources, is_part=True)[0]  # type: ignore[no-any-return]


def describe_nulls(nulls: Mapping[str, int]) -> str:
    """Describe the number of null rows per column."""
    return ", ".join(
        f"'{name}' is null in {count} row{'s' * (count > 1)}"
        for name, count in nulls.items()
        if count
    )


def _parse_header(header: str) -> tuple[dict[str, Any], list[str] | None]:
    """Return the properties of serialized sums, and the Arrow formats of their keys."""
    try:
        properties = dict(load_json(header))
        formats = properties.pop("formats")
    except (ValueError, KeyError, TypeError):
        properties, formats = {}, ()
    are_strings = isinstance(formats, list) and all(
        isinstance(key_format, str) for key_format in formats
    )
    if formats is not None and not are_strings:
        raise InputError("sums: invalid header. Recreate the sums with Sums.to_bytes.")
    return properties, formats
