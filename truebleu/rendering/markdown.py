"""Blocks as Markdown, with tables as GitHub reads them."""

from __future__ import annotations

from collections.abc import Iterable

from truebleu.rendering import elements, text_layout
from truebleu.rendering.elements import Block, Cell, Table
from truebleu.rendering.equations import as_text
from truebleu.text.terminal_layout import pad_columns

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
        case elements.Heading():
            return f"{'#' * min(block.level + level - 1, 6)} {escaped(block.text)}"
        case elements.Paragraph():
            text = escaped(block.text)
            form = {"signature": code(block.text), "caution": f"> {text}", "lead": f"**{text}**"}
            return form.get(block.kind, text)
        case elements.Table():
            return table(block)
        case elements.Words():
            drawn = ["".join(text for text, _ in line) for line in text_layout.words(block, WIDTH)]
            parts = [f"{escaped(block.label)}:", _fenced(drawn), escaped(block.legend)]
            return "\n\n".join(part for part in parts if part)
        case elements.Chart():
            return _fenced(text_layout.chart(block, WIDTH))
        case elements.Facts():
            return "\n".join(f"- {escaped(name)}: {_cell(cell)}" for name, cell in block.pairs)
        case _:
            return _fenced(as_text(block.equations))


def table(block: Table) -> str:
    """A table, with numbers to the right."""
    heads, written = block.written()
    right = {i for i, column in enumerate(heads) if not column.left}
    header = [escaped(column.header) for column in heads]
    rule = ["---"] * len(heads)
    rows = pad_columns([header, rule, *([_cell(cell) for cell in row] for row in written)], right)
    for i, cell in enumerate(rows[1]):
        rows[1][i] = "-" * (len(cell) - 1) + (":" if i in right else "-")
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


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
