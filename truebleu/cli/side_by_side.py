"""References side by side in one file, as sacreBLEU's --num-refs has them."""

from __future__ import annotations

from truebleu import _kernel
from truebleu._kernel import InputError
from truebleu.files import File

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# How many lines are read at once. Whichever column is asked for first reads for all.
LINES = 1000


def side_by_side(file: File, columns: int) -> list[File]:
    """The references that a file has in so many tab-separated columns, to be read in step.

    White space at the end of a line is no reference, and further tabs are the last reference's.
    """
    rows = _Rows(file, columns)
    return [_Column(rows, number) for number in range(columns)]


class _Rows:
    """The lines of a file, and what was read of each column but not yet asked for."""

    def __init__(self, file: File, columns: int) -> None:
        self.file = file
        self._columns = columns
        self._waiting: list[list[str]] = [[] for _ in range(columns)]
        self._lines: Iterator[tuple[int, str]] | None = None

    def read(self, column: int) -> bytes:
        """Some lines of one column; nothing at the end."""
        if not self._waiting[column]:
            self._read_more()
        lines, self._waiting[column] = self._waiting[column], []
        return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")

    def _read_more(self) -> None:
        if self._lines is None:
            self._lines = enumerate(self.file.lines(), 1)
        for _, (number, line) in zip(range(LINES), self._lines, strict=False):
            fields = line.rstrip().split("\t", self._columns - 1)
            if len(fields) != self._columns:
                raise InputError(
                    f"{self.file.label('references')}, line {number}: {len(fields)} "
                    f"tab-separated references, where {self._columns} are meant"
                )
            for waiting, field in zip(self._waiting, fields, strict=True):
                waiting.append(field)


class _Column(File):
    """One column of rows that are read together."""

    __slots__ = ("_number", "_rows")

    def __init__(self, rows: _Rows, number: int) -> None:
        super().__init__(rows.file.path, number + 1, rows.file.encoding)
        self._rows = rows
        self._number = number

    def lines(self) -> Iterator[str]:
        """The lines of the column as strings."""
        while piece := self._rows.read(self._number):
            yield from piece.decode("utf-8", "surrogatepass").split("\n")[:-1]

    def source(self, role: str) -> _kernel.Source:
        """The lines of the column, for the kernel."""
        return _kernel.stream(lambda _: self._rows.read(self._number), self.label(role))
