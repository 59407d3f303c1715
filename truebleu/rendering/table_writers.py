"""Tables as text, TSV, CSV, JSON, JSON lines, Parquet and NumPy files.

Row writers write the columns of a table in batches, so that a table may be larger than memory.
"""

from __future__ import annotations

import io
import sys
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import repeat
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from truebleu.text.argument_checks import JSON_VERSION, Record, format_json
from truebleu.text.terminal_layout import (
    cut_text,
    escape_invisible,
    escape_unprintable,
    measure_width,
    pad_text,
    shorten_text,
)

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from typing_extensions import Buffer

# Characters that start a formula in spreadsheets.
FORMULA = ("=", "+", "-", "@")

# Characters that would end a cell or a line of tab-separated values.
ESCAPED = str.maketrans({"\t": r"\t", "\r": r"\r", "\n": r"\n"})


def render_delimited(
    columns: Sequence[str], rows: Iterable[Mapping[str, Any]], separator: str = ","
) -> str:
    """Return a header and one line per row. Missing values are empty.

    An apostrophe precedes text that a spreadsheet would interpret as a formula. Invisible
    characters are escaped.
    """
    lines = [separator.join(columns)]
    for row in rows:
        cells = []
        for value in map(row.get, columns):
            text = escape_invisible(value) if isinstance(value, str) else value
            if isinstance(text, str) and text.startswith(FORMULA):
                text = f"'{text}"
            cells.append(format_cell(text, separator))
        lines.append(separator.join(cells))
    return "".join(f"{line}\n" for line in lines)


def format_cell(value: Any, separator: str) -> str:
    r"""Format a value, quoting special characters in CSV, and escaping tabs and line ends in TSV.

    >>> print(format_cell("a, b", ","), format_cell("a\tb", "\t"), format_cell(0.1, ","))
    "a, b" a\tb 0.1
    """
    if value is None:
        return ""
    text = ("no", "yes")[value] if isinstance(value, bool) else str(value)
    if separator == "\t":
        return text.translate(ESCAPED)
    if any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


# ---- row writers ----

# Width of text that is not printed on a terminal, and minimum width of a column of texts.
DEFAULT_WIDTH, MIN_TEXT_WIDTH = 100, 20


class TableSpec(Record):
    """Columns and metadata of a table to write.

    kind: name of the table in the JSON version key.
    column_names: names of all columns.
    score_names: columns with scores, the only ones that --score-only writes.
    percentage_names: score columns to which --scale applies.
    text_names: columns with text or with values from input tables; other columns are numbers.
    statistic_names: columns with the statistics of the scores.
    shortened_names: the last columns; aligned text output cuts their texts to the width.
    metadata: facts about the table, such as signatures.
    flat_names: names for the elements of a score column that contains lists.
    arrow_types: types of the columns from input tables, as an Arrow stream without rows.
    shape: shape of the scores, for NumPy.
    type_code: number type of the scores, as a type code of `array`.
    """

    kind: str
    column_names: Sequence[str]
    score_names: Sequence[str]
    percentage_names: Collection[str] = ()
    text_names: Collection[str] = ()
    statistic_names: Collection[str] = ()
    shortened_names: Collection[str] = ()
    metadata: Mapping[str, Any] = MappingProxyType({})
    flat_names: Sequence[str] = ()
    arrow_types: Any = None
    shape: tuple[int, ...] = ()
    type_code: str = "d"

    @property
    def version_field(self) -> dict[str, int]:
        """The JSON field whose name contains the kind of table and whose value is the version."""
        return {f"truebleu_{self.kind}": JSON_VERSION}


class RowWriter:
    """Base class of writers that write the rows of a table to an output, `cli.output.Results`."""

    # Recommended number of rows per call of `write`.
    BATCH_ROWS = 8192
    # Warnings about the text. Set them before calling `finish`.
    warnings: Sequence[Mapping[str, Any]] = ()

    def __init__(self, output: Any, table: TableSpec) -> None:
        self.output = output
        self.table = table

    def write(self, columns: Sequence[Any]) -> None:
        """Write rows that are passed as columns: lists, ranges, repeats, scores or statistics."""
        raise NotImplementedError

    def finish(self) -> None:
        """Write the end of the output."""


def to_values(column: Any) -> Any:
    """Return the values of a column."""
    if isinstance(column, list | range | tuple | repeat):
        return column
    # Statistics columns have `values_of`; scores and arrays have `tolist`.
    return column.values_of(0) if hasattr(column, "values_of") else column.tolist()


class _LineWriter(RowWriter):
    """Base class of writers that write a line per row."""

    SEPARATOR = "\t"
    # Template of a cell that contains a list of scores.
    LIST_TEMPLATE = "{}"
    IS_EXACT = True
    # Text that precedes the first row.
    _opening = ""

    def __init__(self, output: Any, table: TableSpec) -> None:
        super().__init__(output, table)
        self.names = table.score_names if output.score_only else table.column_names
        self._flat_names = table.score_names if table.flat_names else ()
        # Formatters by column. Columns without one contain numbers.
        self._formatters: dict[str, Callable[[Any], str]] = {}
        for name in self.names:
            if name in table.text_names:
                self._formatters[name] = self.format_cell
            elif name in table.score_names:
                self._formatters[name] = self._make_score_formatter(name)
        self._template = self.make_template()
        self.start()

    def start(self) -> None:
        """Prepare the beginning of the output."""

    def format_cell(self, value: Any) -> str:
        """Format a text for an output line."""
        raise NotImplementedError

    def _make_score_formatter(self, name: str) -> Callable[[Any], str]:
        """Return the formatter of a score column. Exact formats use --scale with --score-only."""
        output = self.output
        is_scaled = name in self.table.percentage_names and output.scale == 1
        if not self.IS_EXACT:
            return partial(output.format_score, is_percentage=is_scaled)
        formatter = str if output.width is None else f"{{:.{output.width}f}}".format
        return (lambda value: formatter(value / 100)) if is_scaled else formatter

    def make_template(self) -> str:
        return self.SEPARATOR.join(["%s"] * len(self.names)) + "\n"

    @property
    def header(self) -> list[str]:
        """The names of all columns, with a name for each element of a list of scores."""
        return [
            flat_name
            for name in self.names
            for flat_name in (self.table.flat_names if name in self._flat_names else [name])
        ]

    def format_lines(self, columns: Sequence[Any]) -> Iterable[str]:
        cells: list[Iterable[Any]] = []
        for name, column in zip(self.table.column_names, columns, strict=True):
            formatter = self._formatters.get(name)
            if name not in self.names:
                continue
            if formatter is None:
                cells.append(to_values(column))
            elif name in self._flat_names:
                lists = (self.SEPARATOR.join(map(formatter, to_values(row))) for row in column)
                cells.append(map(self.LIST_TEMPLATE.format, lists))
            elif isinstance(column, repeat):
                cells.append(repeat(formatter(next(column))))
            else:
                cells.append(map(formatter, to_values(column)))
        return map(self._template.__mod__, zip(*cells, strict=False))

    def write(self, columns: Sequence[Any]) -> None:
        self.output.write(self._opening + "".join(self.format_lines(columns)))
        self._opening = ""

    def finish(self) -> None:
        self.output.write(self._opening)


class TSVWriter(_LineWriter):
    """Writer of a header and tab-separated values."""

    def format_cell(self, value: Any) -> str:
        """Format a text as a cell, quoted or escaped where the format requires it."""
        return format_cell(value, self.SEPARATOR)

    def start(self) -> None:
        """Prepare the header, which precedes the first row."""
        cells = map(self.format_cell, self.header)
        self._opening = "" if self.output.score_only else self.SEPARATOR.join(cells) + "\n"


class CSVWriter(TSVWriter):
    """Writer of a header and comma-separated values (RFC 4180)."""

    SEPARATOR = ","


class JSONLinesWriter(_LineWriter):
    """Writer of one JSON object per line, each with a version field."""

    SEPARATOR = ", "
    LIST_TEMPLATE = "[{}]"
    HAS_VERSION = True

    def format_cell(self, value: Any) -> str:
        """Format a value as JSON."""
        return to_json(to_finite_json(value))

    def make_template(self) -> str:
        """Return the template of an object, or only of the scores with --score-only."""
        if self.output.score_only:
            return "%s\n" if len(self.names) == 1 else f"[{', '.join(['%s'] * len(self.names))}]\n"
        version = to_json(self.table.version_field)[1:-1] if self.HAS_VERSION else ""
        pairs = [f"{to_json(name).replace('%', '%%')}: %s" for name in self.names]
        return f"{{{', '.join(filter(None, [version, *pairs]))}}}\n"


class JSONWriter(JSONLinesWriter):
    """Writer of one JSON object with a version, metadata, and a list of rows."""

    HAS_VERSION = False

    def start(self) -> None:
        """Prepare the beginning of the object, which precedes the first row."""
        head = to_json({**self.table.version_field, **self.table.metadata})[:-1] + ', "rows": ['
        self._separator = "[\n" if self.output.score_only else f"{head}\n"

    def write(self, columns: Sequence[Any]) -> None:
        """Write rows separated by commas."""
        text = ",\n".join(line[:-1] for line in self.format_lines(columns))
        if text:
            self.output.write(self._separator + text)
            self._separator = ",\n"

    def finish(self) -> None:
        """Write the end of the object, with the warnings."""
        opening = "\n" if self._separator == ",\n" else self._separator
        warnings_field = f', "warnings": {to_json(list(self.warnings))}' if self.warnings else ""
        self.output.write(opening + ("]\n" if self.output.score_only else f"]{warnings_field}}}\n"))


class TextWriter(_LineWriter):
    """Writer of aligned text columns with rounded numbers, followed by the signatures."""

    SEPARATOR = "  "
    IS_EXACT = False

    def start(self) -> None:
        """Defer the header until the first rows determine the column widths."""
        self._widths: list[int] = []

    def format_cell(self, value: Any) -> str:
        """Format a text on one line, and None as an empty string."""
        return "" if value is None else escape_unprintable(str(value))

    def write(self, columns: Sequence[Any]) -> None:
        """Write rows, preceded by the header on the first call."""
        if self.output.score_only:
            super().write(columns)
            return
        table, max_width = self.table, self.output.get_width(DEFAULT_WIDTH)
        cell_columns: list[Iterable[str]] = []
        for name, column in zip(self.names, columns, strict=True):
            formatter = self._formatters.get(name, self.format_cell)
            if name in self._flat_names:
                cell_columns += zip(*(map(formatter, row) for row in column), strict=True)
                continue
            cells = map(formatter, to_values(column))
            if name in table.text_names and name not in table.shortened_names:
                cells = map(partial(shorten_text, width=max_width // 3), cells)
            cell_columns.append(cells)
        rows: list[Sequence[str]] = list(zip(*cell_columns, strict=False))
        header = self.header
        if not self._widths:
            rows.insert(0, header)
            self._widths = self._measure_columns(rows, max_width)
        for row in rows:
            line = ""
            for cell, width, name in zip(row, self._widths, header, strict=True):
                text = cell
                if name in table.shortened_names:
                    # Names of later systems may be wider than their column.
                    text = cut_text(cell, max(1, min(width, max_width - measure_width(line))))
                line += pad_text(text, width, right=name not in table.text_names)
                line += self.SEPARATOR
            self.output.write(line.rstrip() + "\n")

    def _measure_columns(self, rows: Iterable[Sequence[str]], max_width: int) -> list[int]:
        # Later scores may be wider, so reserve space for 100.0. Only TER can exceed 100.
        min_width = (
            len(self.output.format_score(100.0, is_percentage=False)) if self._flat_names else 6
        )
        widths = [max(map(measure_width, cells)) for cells in zip(*rows, strict=True)]
        first = len(self.names) - 1 if self._flat_names else 0
        widths[first:] = [max(width, min_width) for width in widths[first:]]
        shortened_count = len(self.table.shortened_names)
        if shortened_count:
            free_width = max_width - 2 * (len(widths) - 1) - sum(widths[:-shortened_count])
            text_width = max(MIN_TEXT_WIDTH, free_width // shortened_count)
            widths[-shortened_count:] = [text_width] * shortened_count
        return widths

    def finish(self) -> None:
        """Write the signatures."""
        if not self.output.score_only:
            signatures = self.table.metadata.get("signatures", {})
            self.output.write("".join(["\n", *(f"{n}|{s}\n" for n, s in signatures.items())]))


def to_json(value: Any) -> str:
    """Convert a value to JSON text."""
    return format_json(value, default=str)


def to_finite_json(value: Any) -> Any:
    """Convert a value for JSON. NaN and infinite numbers become strings."""
    return str(value) if isinstance(value, float) and not isfinite(value) else value


class ParquetWriter(RowWriter):
    """Writer that streams rows to a Parquet file and stores signatures in its metadata."""

    BATCH_ROWS = 65536

    def __init__(self, output: Any, table: TableSpec) -> None:
        try:
            import pyarrow as pa
            import pyarrow.parquet  # importing it later, while DuckDB reads rows, would fail
        except ImportError:
            raise ImportError("-f parquet needs pyarrow: pip install pyarrow") from None
        super().__init__(output, table)
        self._writer: pq.ParquetWriter | None = None
        types = () if table.arrow_types is None else pa.table(table.arrow_types).schema
        self._types = {field.name: field.type for field in types}

    @property
    def metadata(self) -> dict[str, str]:
        """The file's metadata: the signature, or a JSON list of signatures for several metrics."""
        signatures = self.table.metadata.get("signatures", {})
        entries = [f"{name}|{signature}" for name, signature in signatures.items()]
        return {"signature": entries[0] if len(entries) == 1 else to_json(entries)}

    def write(self, columns: Sequence[Any]) -> None:
        """Write rows."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        count = next(len(column) for column in columns if not isinstance(column, repeat))
        omitted_names = self.table.statistic_names if self.output.score_only else ()
        rows = pa.table(
            {
                name: self._to_arrow_array(name, column, count)
                for name, column in zip(self.table.column_names, columns, strict=True)
                if name not in omitted_names
            }
        )
        if self._writer is None:
            schema = rows.schema.with_metadata(self.metadata)
            self._writer = pq.ParquetWriter(_ArrowSink(self.output), schema)
        self._writer.write_table(rows)

    def _to_arrow_array(self, name: str, column: Any, count: int) -> pa.Array:
        import pyarrow as pa

        if isinstance(column, repeat):
            value = next(column)
            value = escape_unprintable(value) if isinstance(value, str) else value
            return pa.repeat(pa.scalar(value), count)
        if hasattr(column, "typecode"):
            arrow_type = {"q": pa.int64(), "f": pa.float32(), "d": pa.float64()}[column.typecode]
            return pa.Array.from_buffers(arrow_type, len(column), [None, pa.py_buffer(column)])
        if hasattr(column, "values_of"):
            return pa.record_batch(_StatisticsColumn(column)).column(0)
        default_type = pa.int64() if isinstance(column, range) else None
        if default_type is None and name in self.table.text_names:
            default_type = pa.string()
        return pa.array(column, self._types.get(name, default_type))

    def finish(self) -> None:
        """Write the file footer."""
        if self._writer is not None:
            self._writer.close()


class _StatisticsColumn:
    """Adapter that exports one column of statistics to Arrow."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self._table.arrow_array(["column"])  # type: ignore[no-any-return]


class _ArrowSink(io.RawIOBase):
    """File object with the method `tell`, which pyarrow calls even for pipes."""

    def __init__(self, output: Any) -> None:
        super().__init__()
        self._output = output
        self._byte_count = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._byte_count

    def write(self, data: Buffer) -> int:
        size = memoryview(data).nbytes
        self._output.write_bytes(data)
        self._byte_count += size
        return size


class NumpyWriter(RowWriter):
    """Writer of NumPy files (.npy, version 1.0): a text header, then the raw scores.

    The scores are the last column, which must be contiguous in memory.
    """

    def __init__(self, output: Any, table: TableSpec) -> None:
        super().__init__(output, table)
        order = "<" if sys.byteorder == "little" else ">"
        dtype = f"{order}f{array(table.type_code).itemsize}"
        header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {table.shape!r}, }}"
        # The .npy format aligns the data to 64 bytes.
        padding = -(len(header) + 11) % 64
        text = (header + " " * padding + "\n").encode()
        output.write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text)

    def write(self, columns: Sequence[Any]) -> None:
        """Write rows."""
        self.output.write_bytes(memoryview(columns[-1]).cast("B"))


# Writers for the option -f, keyed by format name.
ROW_FORMATS: dict[str, Callable[[Any, TableSpec], RowWriter]] = {
    "text": TextWriter,
    "tsv": TSVWriter,
    "csv": CSVWriter,
    "json": JSONWriter,
    "jsonl": JSONLinesWriter,
    "parquet": ParquetWriter,
    "npy": NumpyWriter,
}
