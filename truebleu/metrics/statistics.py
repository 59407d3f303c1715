"""Statistics: the table of integers that every score is made of, and the ways to fold it."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Self, overload

from truebleu._kernel import InputError, Scores, Table, sealed, unsealed
from truebleu.metrics.scores import html_table
from truebleu.text import argument_checks
from truebleu.text.argument_checks import load_json

# The saved format is a frame (kernel/src/checksummed_frame.rs): the line "truebleu statistics 2", a
# line of JSON, zero bytes up to a multiple of 64, the rows as little-endian 64-bit integers, and
# the XXH3 checksum of all these bytes. A program in any language can map the file, and nothing in
# it is executable. The JSON has "columns", "fingerprint", "references" and "segments".
FRAME_KIND = "statistics"

# The number of rows shown in a notebook, beside their sum.
MAX_SHOWN_ROWS = 10


class Statistics(Table):
    """A row of integers for each segment: n segments × k named columns, 64-bit.

    What a metric counts in the text of a segment is its row. Rows of disjoint sets of segments
    add up to the row of all of them, exactly and in any order, so documents, threads, files and
    machines can be counted apart and merged.

    The table is read-only and speaks the buffer protocol and Arrow: `numpy.asarray(table)` and
    `polars.DataFrame(table)` read it without truebleu depending on either.

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
            raise ValueError(f"{len(columns)} names for {table.width} columns")
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
        """The metric and those of its parameters that decide the integers, in words.

        Only tables with the same fingerprint can be merged.
        """
        return self._fingerprint

    @property
    def references(self) -> int | str | None:
        """The number of references per segment; "var" if it varies."""
        return self._references

    @property
    def shape(self) -> tuple[int, int]:
        """Segments × columns."""
        return (len(self), self.width)

    def sum(self) -> Statistics:
        """One row, the sum of all."""
        return self._with_table(self.total())

    def groups(self, by: Iterable[Hashable]) -> dict[Any, Statistics]:
        """The sum of each group's rows, as one-row tables, in order of first appearance.

        `by` has a key for each segment: the document it belongs to, its length bucket …

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
        """The rows of each group, in order of first appearance; `by` as for `groups`.

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
        """One column, by name."""
        if name not in self._columns:
            raise KeyError(f"no column '{name}'; there are {', '.join(self._columns)}")
        return self.values_of(self._columns.index(name))

    @overload
    def __getitem__(self, index: str) -> list[int]: ...
    @overload
    def __getitem__(self, index: int | slice | Sequence[int] | Sequence[bool]) -> Statistics: ...
    def __getitem__(
        self, index: str | int | slice | Sequence[int] | Sequence[bool]
    ) -> list[int] | Statistics:
        """Rows: one, a slice, those that a mask of truth values chooses, or those numbered.

        Or a column, by its name: `statistics["matches_1"]`.
        """
        if isinstance(index, str):
            return self.column(index)
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step == 1:
                return self._with_table(self.range(start, max(start, stop)))
            return self._with_table(self.pick(list(range(start, stop, step))))
        position = _as_integer(index)
        if position is not None:
            row = resolve_index("segment", position, len(self))
            return self._with_table(self.range(row, row + 1))
        assert not isinstance(index, int)
        # NumPy's and others' truth values and integers become Python's.
        selection: list[Any] = getattr(index, "tolist", lambda: list(index))()
        if set(map(type, selection)) == {bool}:
            if len(selection) != len(self):
                raise IndexError(f"a mask of {len(selection)} for {len(self)} segments")
            return self._with_table(self.filter(selection))
        rows = [resolve_index("segment", item.__index__(), len(self)) for item in selection]
        return self._with_table(self.pick(rows))

    def __add__(self, other: Statistics) -> Statistics:
        """This table's segments and then the other's."""
        if not isinstance(other, Statistics):
            return NotImplemented
        if self._fingerprint != other._fingerprint or self._columns != other._columns:
            raise InputError(
                "these statistics were made with different parameters and cannot be merged: "
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
        return f"Statistics({len(self)} segments x {self.width} columns, {self._fingerprint})"

    def _repr_html_(self) -> str:
        rows: list[list[object]]
        rows = [
            [i, *row]
            for i, row in enumerate(self.range(0, min(MAX_SHOWN_ROWS, len(self))).tolist())
        ]
        rows += [["…"]] if len(self) > MAX_SHOWN_ROWS else []
        rows.append(["sum", *self.total().tolist()[0]])
        return html_table(
            f"Statistics: {len(self):,} segments × {self.width} columns, {self._fingerprint}",
            rows,
            ["", *self._columns],
        )

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """The table as an Arrow array of structures (PyCapsule protocol)."""
        return self.arrow_array(list(self._columns))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table as an Arrow stream of one batch (PyCapsule protocol)."""
        return self.arrow_stream(list(self._columns))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_from_header, (self._header(), self.to_bytes()))

    def _header(self) -> dict[str, Any]:
        return {
            "columns": list(self._columns),
            "fingerprint": self._fingerprint,
            "references": self._references,
            "segments": len(self),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the table to a file, whole or not at all.

        The format is described at the top of truebleu/metrics/statistics.py.
        """
        import json

        from truebleu.text.operating_system import write_atomically

        write_atomically(path, sealed(FRAME_KIND, json.dumps(self._header()), self.to_bytes()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Reads a table that `save` wrote.

        Raises InputError for what is not, byte for byte, a file that it wrote. Whether the
        integers are those of a metric is checked where a metric makes scores of them.
        """
        name = os.fspath(path)
        with open(path, "rb") as file:
            header, data = unsealed(FRAME_KIND, str(name), file.read())
        try:
            checked = _checked_header(load_json(header))
        except ValueError as error:
            raise InputError(
                f"{name!s}: the header of the table cannot be read: {error}; save it again"
            ) from None
        expected = 8 * checked["segments"] * len(checked["columns"])
        if len(data) != expected:
            raise InputError(
                f"{name!s}: {len(data)} bytes of rows where {expected} are announced; save it again"
            )
        return _from_header(checked, data)  # type: ignore[return-value]


def _checked_header(header: Any) -> dict[str, Any]:
    """The header of a saved table, if it is one; ValueError says what is not."""
    if not isinstance(header, dict):
        raise ValueError(f"{header!r:.60} is no JSON object")
    columns, references = header.get("columns"), header.get("references", "")
    if not isinstance(columns, list) or not columns or not all(isinstance(c, str) for c in columns):
        raise ValueError(f"columns are {columns!r:.60}")
    if not isinstance(header.get("fingerprint"), str):
        raise ValueError(f"the fingerprint is {header.get('fingerprint')!r:.60}")
    is_count = type(references) is int and references > 0
    if not is_count and references not in (None, "var"):
        raise ValueError(f"references are {references!r:.60}")
    segments = header.get("segments")
    if type(segments) is not int or segments < 0:
        raise ValueError(f"segments are {segments!r:.60}")
    return header


def _from_header(header: dict[str, Any], data: bytes) -> Statistics:
    return Statistics(
        Table.from_bytes(data, len(header["columns"])),
        columns=header["columns"],
        fingerprint=header["fingerprint"],
        references=header["references"],
    )


def resolve_index(subject: str, index: int, count: int) -> int:
    """An index from 0, which may count from the end if it is negative."""
    if not -count <= index < count:
        raise IndexError(f"{subject} {index} of {count}; they are counted from 0")
    return index % count


def _as_integer(value: object) -> int | None:
    """An integer of any kind as Python's; None for what is no integer."""
    try:
        return value.__index__()  # type: ignore[attr-defined, no-any-return]
    except (AttributeError, TypeError):
        # NumPy's arrays have the method, and no index.
        return None


def _describe_difference(fingerprint: str, other: str) -> str:
    pairs = zip(fingerprint.split("|"), other.split("|"), strict=False)
    different = [f"{a} and {b}" for a, b in pairs if a != b]
    return ", ".join(different) or f"{fingerprint} and {other}"


def _format_scores_as_html(scores: Scores) -> str:
    rows = [
        *enumerate(scores[:MAX_SHOWN_ROWS]),
        *([("…",)] if len(scores) > MAX_SHOWN_ROWS else []),
    ]
    return html_table(f"Scores: {len(scores):,} segments", rows)


# The kernel, which makes them, knows no HTML.
Scores._repr_html_ = _format_scores_as_html  # type: ignore[attr-defined]
