"""Blocks as Markdown, with tables as GitHub reads them."""

from __future__ import annotations

from truebleu.views.rendering import blocks, lines
from truebleu.views.rendering.equations import as_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from truebleu.views.rendering.blocks import Block, Cell, Table

# Text in fences is set as it is; lines of this many characters fit most columns.
WIDTH = 78

# What Markdown, and the HTML in it, would take for markup.
MARKUP = str.maketrans({character: f"\\{character}" for character in r"\`*_[]<>|#~$&"})


def render(made: Iterable[Block], level: int = 1) -> str:
    """All of it; its title is a heading of that level."""
    parts = [_block(block, level) for block in made]
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block, level: int) -> str:
    match block:
        case blocks.Heading():
            return f"{'#' * min(block.level + level - 1, 6)} {escaped(block.text)}"
        case blocks.Paragraph():
            text = escaped(block.text)
            form = {"signature": code(block.text), "caution": f"> {text}", "lead": f"**{text}**"}
            return form.get(block.kind, text)
        case blocks.Table():
            return table(block)
        case blocks.Words():
            drawn = ["".join(text for text, _ in line) for line in lines.words(block, WIDTH)]
            parts = [f"{escaped(block.label)}:", _fenced(drawn), escaped(block.legend)]
            return "\n\n".join(part for part in parts if part)
        case blocks.Chart():
            return _fenced(lines.chart(block, WIDTH))
        case blocks.Facts():
            return "\n".join(f"- {escaped(name)}: {_cell(cell)}" for name, cell in block.pairs)
        case _:
            return _fenced(as_text(block.equations))


def table(block: Table) -> str:
    """A table, with numbers to the right."""
    columns, written = block.written()
    rows = [[_cell(cell) for cell in row] for row in written]
    header = [escaped(column.header) for column in columns]
    widths = [max(3, *map(len, cells)) for cells in zip(header, *rows, strict=True)]
    left = [column.left for column in columns]
    rule = ["-" * w if to else "-" * (w - 1) + ":" for w, to in zip(widths, left, strict=True)]

    def line(cells: Sequence[str]) -> str:
        made = [
            cell.ljust(width) if to else cell.rjust(width)
            for cell, width, to in zip(cells, widths, left, strict=True)
        ]
        return f"| {' | '.join(made)} |"

    return "\n".join(line(cells) for cells in (header, rule, *rows))


def _cell(cell: Cell) -> str:
    # A bar ends a cell even inside code.
    if cell.code and cell.text:
        return code(cell.text).replace("|", "\\|")
    text = escaped(cell.text).replace("\\|", "&#124;")
    raised = f"<sup>{escaped(cell.raised)}</sup>" if cell.raised else ""
    strong = "**" if cell.mark == "best" and text else ""
    return f"{strong}{text}{strong}{raised}"


def code(content: str) -> str:
    """Code between as many backticks as it takes."""
    runs = _runs(content)
    ticks = "`" * next(n for n in range(1, len(runs) + 2) if n not in runs)
    space = " " if content[:1] == "`" or content[-1:] == "`" else ""
    return f"{ticks}{space}{content}{space}{ticks}"


def _fenced(drawn: Iterable[str]) -> str:
    """Lines that are set as they are."""
    body = "\n".join(line.rstrip() for line in drawn)
    ticks = "`" * max(3, *(run + 1 for run in _runs(body)), 3)
    return f"{ticks}text\n{body}\n{ticks}"


def _runs(content: str) -> list[int]:
    import re

    return list(map(len, re.findall("`+", content)))


def escaped(content: str) -> str:
    """Text in which nothing is markup."""
    return content.translate(MARKUP)
