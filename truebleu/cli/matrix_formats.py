"""Matrices and rows of pairs as text, tab- or comma-separated values, JSON, Parquet or .npy."""

from __future__ import annotations

import sys
from array import array

from truebleu.cli.options import UsageError
from truebleu.cli.output import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, Protocol

    from truebleu.cli.output import Output
    from truebleu.cli.tables import Style
    from truebleu.matrix import Matrix

    class Rows(Protocol):
        """Takes rows of scores."""

        def write(self, first: int, rows: Matrix) -> None:
            """Writes rows, of which the first has this number from 0."""

        def finish(self) -> None:
            """Writes what comes last."""

    class Records(Protocol):
        """Takes rows of different things."""

        def write(self, rows: Sequence[tuple[Any, ...]]) -> None:
            """Writes rows."""

        def finish(self) -> None:
            """Writes what comes last."""


NAMES = ("text", "tsv", "csv", "json", "jsonl", "parquet", "npy")


def matrix(
    form: str, output: Output, style: Style, shape: tuple[int, int], code: str, signature: str
) -> Rows:
    """The writer of a matrix of that shape, with numbers of a type code of `array`."""
    if form == "npy":
        return Numpy(output, shape, code)
    if form == "parquet":
        return _ParquetMatrix(output, signature)
    if form == "json":
        return _JSONMatrix(output, style, shape, signature)
    if form == "jsonl":
        return _JSONLinesMatrix(output, style)
    if form == "text":
        return _TextMatrix(output, style, shape, signature)
    return _SeparatedMatrix(output, style, shape, "\t" if form == "tsv" else ",")


def triangle(
    form: str,
    output: Output,
    style: Style,
    name: str,
    pairs: int,
    code: str,
    signature: str,
) -> Rows:
    """The writer of pairs of a line and a later one.

    It takes all lines but the last as hypotheses, block by block, each with the references that
    come after the first line of the block.
    """
    if form == "npy":
        return _NumpyTriangle(output, (pairs,), code)
    columns = {"hypothesis": int, "reference": int, name: float}
    return _TriangleRecords(records(form, output, style, columns, signature, code=code))


def records(
    form: str,
    output: Output,
    style: Style,
    columns: Mapping[str, type],
    signature: str,
    *,
    code: str = "d",
) -> Records:
    """The writer of rows with columns of such types; the float one is the score."""
    if form == "parquet":
        return _ParquetRecords(output, columns, code, signature)
    if style.score_only:
        return _Scores(output, style, columns, form)
    if form == "json":
        return _JSONRecords(output, style, columns)
    if form == "jsonl":
        return _JSONLinesRecords(output, style, columns)
    if form == "text":
        return _TextRecords(output, style, columns, signature)
    return _SeparatedRecords(output, style, columns, form)


# ---- matrices ----


class Numpy:
    """NumPy's .npy, version 1.0: a header of text, then the numbers as they lie in memory."""

    def __init__(self, output: Output, shape: tuple[int, ...], code: str) -> None:
        if output.is_terminal:
            raise UsageError("-f/--format: a terminal cannot show npy; name a file with -o")
        self._output = output
        self._code = code
        order = "<" if sys.byteorder == "little" else ">"
        kind = f"{order}f{array(code).itemsize}"
        header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape!r}, }}"
        # The numbers start at a multiple of 64 bytes.
        room = -(len(header) + 11) % 64
        text = (header + " " * room + "\n").encode()
        self._header = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text

    def write(self, first: int, rows: Matrix) -> None:  # noqa: ARG002
        """Writes rows."""
        self._start()
        self._output.write_bytes(memoryview(rows).cast("B"))

    def finish(self) -> None:
        """Writes what comes last."""
        self._start()

    def _start(self) -> None:
        self._output.write_bytes(self._header)
        self._header = b""


class _NumpyTriangle(Numpy):
    """Of the first row all numbers, of the second all but one, of the third all but two ..."""

    def write(self, first: int, rows: Matrix) -> None:  # noqa: ARG002
        """Writes rows."""
        self._start()
        numbers = memoryview(rows).cast("B")
        width, size = rows.shape[1], array(self._code).itemsize
        for i in range(len(rows)):
            self._output.write_bytes(numbers[(i * width + i) * size : (i + 1) * width * size])


class _TriangleRecords:
    """The same as rows of two numbers and a score."""

    def __init__(self, rows: Records) -> None:
        self._rows = rows

    def write(self, first: int, rows: Matrix) -> None:
        """Writes rows."""
        for i, row in enumerate(rows):
            number = first + i + 1
            pairs = enumerate(row[i:], number + 1)
            self._rows.write([(number, other, score) for other, score in pairs])

    def finish(self) -> None:
        """Writes what comes last."""
        self._rows.finish()


class _SeparatedMatrix:
    """A header with the references' numbers, and a line for each hypothesis."""

    def __init__(self, output: Output, style: Style, shape: tuple[int, int], mark: str) -> None:
        self._output = output
        self._style = style
        self._mark = mark
        names = ["hypothesis", *map(str, range(1, shape[1] + 1))]
        self._header = "" if style.score_only else mark.join(names) + "\n"

    def write(self, first: int, rows: Matrix) -> None:
        """Writes rows."""
        self._output.write(self._header)
        self._header = ""
        for number, row in enumerate(rows, first + 1):
            cells = map(self._style.exact, row)
            line = self._mark.join(cells if self._style.score_only else [str(number), *cells])
            self._output.write(f"{line}\n")

    def finish(self) -> None:
        """Nothing comes last."""


class _JSONMatrix:
    """One object, with a list of scores for each hypothesis."""

    def __init__(
        self, output: Output, style: Style, shape: tuple[int, int], signature: str
    ) -> None:
        import json

        self._output = output
        self._style = style
        name, _, rest = signature.partition("|")
        about = {"metric": name, "signature": rest, "hypotheses": shape[0], "references": shape[1]}
        head = json.dumps(about, ensure_ascii=False)[:-1] + ', "scores": '
        self._before, self._end = ("[\n", "]\n") if style.score_only else (head + "[\n", "]}\n")

    def write(self, first: int, rows: Matrix) -> None:  # noqa: ARG002
        """Writes rows."""
        for row in rows:
            self._output.write(f"{self._before}[{', '.join(map(self._style.exact, row))}]")
            self._before = ",\n"

    def finish(self) -> None:
        """Writes what comes last."""
        self._output.write(f"\n{self._end}")


class _JSONLinesMatrix:
    """An object on a line for each hypothesis."""

    def __init__(self, output: Output, style: Style) -> None:
        self._output = output
        self._style = style

    def write(self, first: int, rows: Matrix) -> None:
        """Writes rows."""
        for number, row in enumerate(rows, first + 1):
            scores = f"[{', '.join(map(self._style.exact, row))}]"
            if not self._style.score_only:
                scores = f'{{"hypothesis": {number}, "scores": {scores}}}'
            self._output.write(f"{scores}\n")

    def finish(self) -> None:
        """Nothing comes last."""


class _TextMatrix:
    """A table for a person, with the signature below."""

    def __init__(
        self, output: Output, style: Style, shape: tuple[int, int], signature: str
    ) -> None:
        self._output = output
        self._style = style
        self._signature = signature
        self._first = len(str(shape[0]))
        # The widest score but for TER's is 100.0.
        self._width = max(len(style.rounded(100.0)), len(str(shape[1])))
        numbers = (f"{number:>{self._width}}" for number in range(1, shape[1] + 1))
        self._header = "  ".join([" " * self._first, *numbers]) + "\n"

    def write(self, first: int, rows: Matrix) -> None:
        """Writes rows."""
        bare = self._style.score_only
        self._output.write("" if bare else self._header)
        self._header = ""
        for number, row in enumerate(rows, first + 1):
            cells = [f"{self._style.rounded(score):>{self._width}}" for score in row]
            start = [] if bare else [f"{number:>{self._first}}"]
            self._output.write("  ".join([*start, *cells]) + "\n")

    def finish(self) -> None:
        """Writes the signature."""
        if not self._style.score_only:
            self._output.write(f"\n{self._signature}\n")


class _ParquetMatrix:
    """A row for each hypothesis: its number, and a list of scores."""

    def __init__(self, output: Output, signature: str) -> None:
        from truebleu.cli.parquet import table

        self._table = table(output, {"signature": signature})

    def write(self, first: int, rows: Matrix) -> None:
        """Writes rows."""
        numbers = array("q", range(first + 1, first + len(rows) + 1))
        self._table.write({"hypothesis": numbers, "scores": rows})

    def finish(self) -> None:
        """Writes where in the file everything is."""
        self._table.finish()


# ---- rows ----


class _Rows:
    """What writers of rows share."""

    def __init__(self, output: Output, style: Style, columns: Mapping[str, type]) -> None:
        self.output = output
        self.style = style
        self.columns = columns

    def cells(self, row: tuple[Any, ...]) -> list[str]:
        """The values of a row as text."""
        exact = self.style.exact
        return [exact(value) if isinstance(value, float) else str(value) for value in row]

    def finish(self) -> None:
        """Nothing comes last."""


class _SeparatedRecords(_Rows):
    """A header, and a line for each row."""

    def __init__(
        self, output: Output, style: Style, columns: Mapping[str, type], form: str
    ) -> None:
        super().__init__(output, style, columns)
        self._line = _csv_line if form == "csv" else _tsv_line
        self._header = self._line(list(columns))

    def write(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Writes rows."""
        self.output.write(self._header + "".join(self._line(self.cells(row)) for row in rows))
        self._header = ""


# What would end a cell or a line; all else stays as it is, other spaces too.
ESCAPED = str.maketrans({"\t": r"\t", "\r": r"\r", "\n": r"\n"})


def _tsv_line(cells: list[str]) -> str:
    return "\t".join(cell.translate(ESCAPED) for cell in cells) + "\n"


def _csv_line(cells: list[str]) -> str:
    quoted = (
        '"' + cell.replace('"', '""') + '"' if any(mark in cell for mark in '",\r\n') else cell
        for cell in cells
    )
    return ",".join(quoted) + "\n"


class _JSONLinesRecords(_Rows):
    """An object on a line for each row."""

    def write(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Writes an object on a line for each row."""
        self.output.write("".join(f"{line}\n" for line in self.objects(rows)))

    def objects(self, rows: Sequence[tuple[Any, ...]]) -> Iterable[str]:
        """An object for each row."""
        import json

        names = [json.dumps(name) for name in self.columns]
        for row in rows:
            values = (
                json.dumps(value, ensure_ascii=False) if isinstance(value, str) else cell
                for value, cell in zip(row, self.cells(row), strict=True)
            )
            pairs = (f"{name}: {value}" for name, value in zip(names, values, strict=True))
            yield "{" + ", ".join(pairs) + "}"


class _JSONRecords(_JSONLinesRecords):
    """A list with an object for each row."""

    _before = "[\n"

    def write(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Writes an object on a line for each row."""
        for line in self.objects(rows):
            self.output.write(self._before + line)
            self._before = ",\n"

    def finish(self) -> None:
        """Writes the end of the list."""
        self.output.write("[]\n" if self._before == "[\n" else "\n]\n")


class _TextRecords(_Rows):
    """Columns for a person; of candidates the text alone, as a file of hypotheses has it."""

    def __init__(
        self, output: Output, style: Style, columns: Mapping[str, type], signature: str
    ) -> None:
        super().__init__(output, style, columns)
        self._signature = signature
        self._only_text = "text" in columns
        self._is_first = True

    def write(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Writes rows."""
        if self._only_text:
            self.output.write("".join(f"{row[-1]}\n" for row in rows))
            return
        rounded = self.style.rounded
        lines = [
            [rounded(value) if isinstance(value, float) else printable(str(value)) for value in row]
            for row in rows
        ]
        if self._is_first:
            lines.insert(0, list(self.columns))
            self._is_first = False
        for cells in lines:
            pairs = zip(cells, self.columns.items(), strict=True)
            texts = [
                cell if kind is str else cell.rjust(max(len(name), 6))
                for cell, (name, kind) in pairs
            ]
            self.output.write("  ".join(texts).rstrip() + "\n")

    def finish(self) -> None:
        """Writes the signature."""
        if not self._only_text:
            self.output.write(f"\n{self._signature}\n")


class _Scores(_Rows):
    """Nothing but scores, a line each."""

    def __init__(
        self, output: Output, style: Style, columns: Mapping[str, type], form: str
    ) -> None:
        super().__init__(output, style, columns)
        self._place = list(columns.values()).index(float)
        self._show = style.rounded if form == "text" else style.exact

    def write(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Writes rows."""
        self.output.write("".join(f"{self._show(row[self._place])}\n" for row in rows))


class _ParquetRecords:
    """A column for each."""

    def __init__(
        self, output: Output, columns: Mapping[str, type], code: str, signature: str
    ) -> None:
        from truebleu.cli.parquet import table

        self._table = table(output, {"signature": signature})
        self._codes = {name: {int: "q", float: code}.get(kind) for name, kind in columns.items()}

    def write(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Writes rows."""
        columns = zip(*rows, strict=True) if rows else ([] for _ in self._codes)
        self._table.write(
            {
                name: list(column) if code is None else array(code, column)
                for (name, code), column in zip(self._codes.items(), columns, strict=True)
            }
        )

    def finish(self) -> None:
        """Writes where in the file everything is."""
        self._table.finish()
