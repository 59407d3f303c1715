"""Rows of columns as text, TSV, CSV, JSON or JSON lines, some at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import repeat
from math import isfinite
from types import MappingProxyType
from typing import Any

from truebleu.cli.output import VERSION, Results, printable
from truebleu.text import json_writer
from truebleu.text.record import Record


class Table(Record):
    """A table to be written: the names of its columns, and what is said of all rows.

    kind: what JSON is called, which says its version.
    names: of the columns.
    scores: those that are scores, which alone --score-only writes; a column of lists of scores has
        a name for each place in `flat`.
    texts: those that are text, or come from elsewhere; all others are numbers.
    statistics: those that scores were made of.
    about: what is said of the whole table.
    types: what columns from elsewhere are, as an Arrow stream of no rows.
    shape, code: of the scores alone, for NumPy, and the type code of `array` that they have.
    """

    kind: str
    names: Sequence[str]
    scores: Sequence[str]
    texts: Collection[str] = ()
    statistics: Collection[str] = ()
    about: Mapping[str, Any] = MappingProxyType({})
    flat: Sequence[str] = ()
    types: Any = None
    shape: tuple[int, ...] = ()
    code: str = "d"

    @property
    def version(self) -> dict[str, int]:
        """The key of JSON that says what it is, and its version."""
        return {f"truebleu_{self.kind}": VERSION}


class Rows:
    """Writes the rows of a table to an output."""

    # How many rows should come at a time.
    AT_ONCE = 8192
    # The warnings about the text, known at the end.
    warnings: Sequence[Mapping[str, Any]] = ()

    def __init__(self, output: Results, table: Table) -> None:
        self.output = output
        self.table = table

    def write(self, columns: Sequence[Any]) -> None:
        """Writes rows, column by column: lists, ranges, scores, columns of statistics, repeats."""
        raise NotImplementedError

    def finish(self) -> None:
        """Writes what comes last."""


def listed(column: Any) -> Any:
    """The values of a column."""
    if isinstance(column, list | range | tuple | repeat):
        return column
    # One column of a table of statistics, or something that NumPy reads.
    return column.values_of(0) if hasattr(column, "values_of") else column.tolist()


class _Filled(Rows):
    """Lines that are a template filled with the values of each row."""

    SEPARATOR = "\t"
    EXACT = True

    def __init__(self, output: Results, table: Table) -> None:
        super().__init__(output, table)
        # The columns that are written, those of lists of scores, and the name of each cell.
        self.names = table.scores if output.score_only else table.names
        self._flat = table.scores if table.flat else ()
        lists = [table.flat if name in self._flat else [name] for name in self.names]
        self.header = [name for names in lists for name in names]
        self._texts = {
            name: self.joined if name in table.scores else self.cell
            for name in (*table.texts, *self._flat)
        }
        self._template = self.template() + "\n"
        self.start()

    def start(self) -> None:
        """Writes what comes first."""

    def cell(self, value: Any) -> str:
        """A text, as it stands in a line."""
        raise NotImplementedError

    def number(self, value: float) -> str:
        """A score, as it stands in a line."""
        return self.output.exact(value) if self.EXACT else self.output.rounded(value)

    def joined(self, values: Sequence[float]) -> str:
        """Scores in a row."""
        return self.SEPARATOR.join(map(self.number, listed(values)))

    def place(self, name: str) -> str:
        """The place of a column in the template."""
        digits = self.output.width if self.EXACT else self.output.digits
        is_number = name in self.table.scores and name not in self._flat
        return f"%.{digits}f" if is_number and digits is not None else "%s"

    def template(self) -> str:
        """The template of a line."""
        return self.SEPARATOR.join(map(self.place, self.names))

    def lines(self, columns: Sequence[Any]) -> Iterable[str]:
        """The lines of some rows."""
        cells = []
        for name, column in zip(self.table.names, columns, strict=True):
            if name in self.names:
                made = self._texts.get(name)
                if made is None:
                    cells.append(listed(column))
                elif isinstance(column, repeat):
                    cells.append(repeat(made(next(column))))
                else:
                    cells.append(map(made, column))
        return map(self._template.__mod__, zip(*cells, strict=False))

    def write(self, columns: Sequence[Any]) -> None:
        """Writes rows."""
        self.output.write("".join(self.lines(columns)))


class TabSeparated(_Filled):
    """A header, and a line of tab-separated values per row."""

    def cell(self, value: Any) -> str:
        """A text, as it stands in a line."""
        from truebleu.rendering.delimited import format_cell

        return format_cell(value, self.SEPARATOR)

    def start(self) -> None:
        """Writes the header."""
        if not self.output.score_only:
            self.output.write(self.SEPARATOR.join(map(self.cell, self.header)) + "\n")


class CommaSeparated(TabSeparated):
    """A header, and a line of comma-separated values per row, as RFC 4180 has it."""

    SEPARATOR = ","


class JSONLines(_Filled):
    """A JSON object on a line per row, which says its version."""

    def cell(self, value: Any) -> str:
        """A text, as JSON."""
        return as_json(plain(value))

    def joined(self, values: Sequence[float]) -> str:
        """Scores in a list."""
        return f"[{', '.join(map(self.number, listed(values)))}]"

    def template(self) -> str:
        """An object, or of scores alone the scores."""
        places = [self.place(name) for name in self.names]
        if self.output.score_only:
            return places[0] if len(places) == 1 else f"[{', '.join(places)}]"
        names = [as_json(name).replace("%", "%%") for name in self.names]
        pairs = [f"{name}: {place}" for name, place in zip(names, places, strict=True)]
        return f"{{{', '.join([*self.before(), *pairs])}}}"

    def before(self) -> list[str]:
        """The first pairs of each object."""
        return [f"{as_json(name)}: {value}" for name, value in self.table.version.items()]


class JSON(JSONLines):
    """One object: its version, what is said of all rows, and an object per row."""

    def start(self) -> None:
        """Writes all but the rows."""
        head = as_json({**self.table.version, **self.table.about})[:-1] + ', "rows": ['
        self._before = "[\n" if self.output.score_only else f"{head}\n"

    def before(self) -> list[str]:
        """Rows say nothing of versions."""
        return []

    def write(self, columns: Sequence[Any]) -> None:
        """Writes rows, with commas between them."""
        text = ",\n".join(line[:-1] for line in self.lines(columns))
        if text:
            self.output.write(self._before + text)
            self._before = ",\n"

    def finish(self) -> None:
        """Writes the end of the list."""
        before = "\n" if self._before == ",\n" else self._before
        told = f', "warnings": {as_json(list(self.warnings))}' if self.warnings else ""
        self.output.write(before + ("]\n" if self.output.score_only else f"]{told}}}\n"))


class Text(_Filled):
    """Columns for a person, with the signatures below; numbers are rounded."""

    SEPARATOR = "  "
    EXACT = False

    def start(self) -> None:
        """Waits for rows, which decide how wide columns are."""
        self._widths: list[int] = []

    def cell(self, value: Any) -> str:
        """A text on one line."""
        return "" if value is None else printable(str(value))

    def write(self, columns: Sequence[Any]) -> None:
        """Writes rows."""
        if self.output.score_only:
            super().write(columns)
            return
        rows = [
            [cell for pair in zip(self.names, row, strict=True) for cell in self._cells(*pair)]
            for row in zip(*map(listed, columns), strict=False)
        ]
        if not self._widths:
            rows.insert(0, self.header)
            # Scores that come later may be wider; the widest but for TER's is 100.0.
            widest = len(self.output.rounded(100.0)) if self._flat else 6
            self._widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
            first = len(self.names) - 1 if self._flat else 0
            self._widths[first:] = [max(width, widest) for width in self._widths[first:]]
        left = [name in self.table.texts for name in self.header]
        for row in rows:
            cells = [
                cell.ljust(width) if is_text else cell.rjust(width)
                for cell, width, is_text in zip(row, self._widths, left, strict=True)
            ]
            self.output.write(self.SEPARATOR.join(cells).rstrip() + "\n")

    def _cells(self, name: str, value: Any) -> list[str]:
        if name in self._flat:
            return [self.number(one) for one in value]
        return [self.number(value) if name in self.table.scores else self.cell(value)]

    def finish(self) -> None:
        """Writes the signatures."""
        if not self.output.score_only:
            told = self.table.about.get("signatures", {})
            self.output.write("".join(["\n", *(f"{n}|{s}\n" for n, s in told.items())]))


def as_json(value: Any) -> str:
    """A value as JSON."""
    return json_writer.format_json(value, default=str)


def plain(value: Any) -> Any:
    """A value for JSON, which has no word for what is not a finite number: that is a string."""
    return str(value) if isinstance(value, float) and not isfinite(value) else value
