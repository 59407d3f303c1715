"""Statistics: the table of integers from which scores are computed."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Self, overload

from truebleu._kernel import InputError, Scores, Table, sealed, unsealed
from truebleu.metrics.scores import format_html_table
from truebleu.text import argument_checks
from truebleu.text.argument_checks import load_json
from truebleu.text.terminal_layout import format_count

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
            raise InputError(
                "statistics with different parameters cannot be merged: "
                f"{_describe_difference(self._fingerprint, other._fingerprint)}"
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
        return format_html_table(
            f"Statistics: {len(self):,} segments × {self.width} columns, {self._fingerprint}",
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

        The top of truebleu/metrics/statistics.py describes the format.
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


def _describe_difference(fingerprint: str, other_fingerprint: str) -> str:
    pairs = zip(fingerprint.split("|"), other_fingerprint.split("|"), strict=False)
    different = [f"{a} and {b}" for a, b in pairs if a != b]
    return ", ".join(different) or f"{fingerprint} and {other_fingerprint}"


def _format_scores_as_html(scores: Scores) -> str:
    rows = [
        *enumerate(scores[:MAX_SHOWN_ROWS]),
        *([("…",)] if len(scores) > MAX_SHOWN_ROWS else []),
    ]
    return format_html_table(f"Scores: {len(scores):,} segments", rows)


# The kernel defines the class without HTML output.
Scores._repr_html_ = _format_scores_as_html  # type: ignore[attr-defined]
