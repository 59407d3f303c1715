"""A comparison as LaTeX tables for a paper that uses booktabs."""

from __future__ import annotations

from truebleu.comparison import document
from truebleu.comparison.document import Cell
from truebleu.explanation.latex import escaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from truebleu.comparison.document import Forest, Grid

PREAMBLE = (
    "% Needs \\usepackage{booktabs}; names beyond Latin also need XeLaTeX or LuaLaTeX and a font "
    "that has them."
)
# What `escaped` leaves, and TeX's fonts have not.
SYMBOLS = str.maketrans({"↓": r"$\downarrow$", "≤": r"$\le$", "–": "--", "⁹": r"$^9$"})


def render(content: Mapping[str, Any], *, digits: int | None = None, short: bool = False) -> str:
    """All of it; first a summary for the paper if there are several metrics and systems."""
    blocks = [PREAMBLE]
    if document.has_summary(content):
        blocks.append(f"% Scores alone.\n{table([document.summary(content, digits)])}")
        blocks.append("\\par\\bigskip\n% Everything.")
    grids = [grid.without_drawings() for grid in document.grids(content, digits)]
    blocks.append(table(grids))
    blocks.append("\n".join(f"% {line}" for line in _said(content, short=short)))
    return "\n\n".join(blocks) + "\n"


def _said(content: Mapping[str, Any], *, short: bool) -> Iterator[str]:
    """What is said of the tables, for whoever writes the caption."""
    yield document.title(content)
    yield from document.sentences(content)
    yield from document.signatures(content, short=short)


def table(grids: Sequence[Grid]) -> str:
    """Grids of the same columns, below each other in one table."""
    columns = "".join("l" if column.left else "r" for column in grids[0].columns)
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    for i, grid in enumerate(grids):
        lines += [r"\midrule"] if i else []
        rows = [[_cell(Cell(column.header)) for column in grid.columns]]
        rows += [[_cell(cell) for cell in row] for row in grid.rows]
        left = [column.left for column in grid.columns]
        header, *body = _aligned(rows, left)
        lines += [header, r"\midrule", *body]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _aligned(rows: Sequence[Sequence[str]], left: Sequence[bool]) -> list[str]:
    """Rows whose cells stand below each other in the source as well."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        " & ".join(
            cell.ljust(width) if to else cell.rjust(width)
            for cell, width, to in zip(row, widths, left, strict=True)
        )
        + r" \\"
        for row in rows
    ]


def _cell(cell: Cell | Forest) -> str:
    assert isinstance(cell, Cell)
    text = _escaped(document.visible(cell.text))
    if cell.mark == "best" and text:
        text = rf"\textbf{{{text}}}"
    return text + (rf"\textsuperscript{{{_escaped(cell.raised)}}}" if cell.raised else "")


def _escaped(text: str) -> str:
    return escaped(text).translate(SYMBOLS)
