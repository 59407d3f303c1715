"""A comparison as Markdown, with tables as GitHub reads them."""

from __future__ import annotations

from truebleu.comparison import document
from truebleu.comparison.document import Cell
from truebleu.explanation.markdown import code, escaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from truebleu.comparison.document import Forest, Grid


def render(content: Mapping[str, Any], *, digits: int | None = None, short: bool = False) -> str:
    """All of it; a summary first if there are several metrics and systems."""
    return "\n\n".join(_blocks(content, digits, short=short)) + "\n"


def _blocks(content: Mapping[str, Any], digits: int | None, *, short: bool) -> Iterator[str]:
    yield f"{escaped(document.title(content))}."
    if document.has_summary(content):
        yield table(document.summary(content, digits))
    for grid in document.grids(content, digits):
        yield table(grid.without_drawings())
    for sentence in document.sentences(content):
        yield escaped(sentence)
    signatures = document.signatures(content, short=short)
    if signatures:
        yield "\n".join(f"- {code(signature)}" for signature in signatures)


def table(grid: Grid) -> str:
    """A grid, with numbers to the right."""
    rows = [[_cell(cell) for cell in row] for row in grid.rows]
    header = [_cell(Cell(column.header)) for column in grid.columns]
    widths = [max(3, *map(len, cells)) for cells in zip(header, *rows, strict=True)]
    left = [column.left for column in grid.columns]
    rule = ["-" * w if to else "-" * (w - 1) + ":" for w, to in zip(widths, left, strict=True)]

    def line(cells: Sequence[str]) -> str:
        made = [
            cell.ljust(width) if to else cell.rjust(width)
            for cell, width, to in zip(cells, widths, left, strict=True)
        ]
        return f"| {' | '.join(made)} |"

    return "\n".join(line(cells) for cells in (header, rule, *rows))


def _cell(cell: Cell | Forest) -> str:
    assert isinstance(cell, Cell)
    # A bar ends a cell even inside code.
    text = escaped(document.visible(cell.text)).replace("\\|", "&#124;")
    raised = f"<sup>{escaped(cell.raised)}</sup>" if cell.raised else ""
    strong = "**" if cell.mark == "best" and text else ""
    return f"{strong}{text}{strong}{raised}"
