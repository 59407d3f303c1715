"""Render blocks as Markdown, with tables in GitHub's syntax."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from truebleu.rendering import elements, text_layout
from truebleu.rendering.elements import Cell, Column, PaperBlock, PaperTable
from truebleu.rendering.equations import as_text
from truebleu.text.terminal_layout import pad_columns

# Fenced text is not wrapped; lines of this length fit most pages.
WIDTH = 78

# Characters that are markup in Markdown or embedded HTML.
MARKUP = str.maketrans({character: f"\\{character}" for character in r"\`*_[]<>|#~$&"})


def render_markdown(blocks: Iterable[PaperBlock], level: int = 1) -> str:
    """Render blocks as Markdown. The title is a heading of the given level."""
    parts = [_render_markdown_block(block, level) for block in blocks]
    return "\n\n".join(part for part in parts if part) + "\n"


def _render_markdown_block(block: PaperBlock, level: int) -> str:
    match block:
        case elements.Heading():
            return f"{'#' * min(block.level + level - 1, 6)} {escape_markdown(block.text)}"
        case elements.Paragraph():
            text = escape_markdown(block.text)
            form = {
                "signature": render_code(block.text),
                "caution": f"> {text}",
                "lead": f"**{text}**",
            }
            return form.get(block.kind, text)
        case elements.Table():
            rows = [list(map(_render_markdown_cell, row)) for row in block.rows]
            return _join_table_rows(block.columns, [one.header for one in block.columns], rows)
        case elements.PaperTable():
            return _render_paper_table(block)
        case elements.MarkedTokens():
            token_lines = [
                "".join(text for text, _ in line)
                for line in text_layout.lay_out_tokens(block, WIDTH)
            ]
            parts = [
                f"{escape_markdown(block.label)}:",
                _fence_lines(token_lines),
                escape_markdown(block.legend),
            ]
            return "\n\n".join(part for part in parts if part)
        case elements.Chart():
            return _fence_lines(text_layout.lay_out_chart(block, WIDTH))
        case elements.Facts():
            return "\n".join(
                f"- {escape_markdown(name)}: {_render_markdown_cell(cell)}"
                for name, cell in block.pairs
            )
        case _:
            return _fence_lines(as_text(block.equations))


def _join_table_rows(
    columns: Sequence[Column], headers: Sequence[str], rows: Iterable[Sequence[str]]
) -> str:
    """Return the lines of a table, with its header and the rule that aligns the columns."""
    right = {i for i, column in enumerate(columns) if not column.is_left_aligned}
    lines = pad_columns([[*map(escape_markdown, headers)], ["---"] * len(columns), *rows], right)
    for i, cell in enumerate(lines[1]):
        lines[1][i] = "-" * (len(cell) - 1) + (":" if i in right else "-")
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _render_paper_table(block: PaperTable) -> str:
    """Return a table below its caption, which pandoc recognizes by the word "Table"."""
    rows = []
    for title, section_rows in block.sections:
        if title:
            rows.append([f"**{escape_markdown(title)}**", *[""] * (len(block.columns) - 1)])
        rows += [[_render_markdown_cell(cell) for cell in row] for row in section_rows]
    headers = [column.long_header or column.header for column in block.columns]
    caption = " ".join(map(_render_note, block.caption))
    table = _join_table_rows(block.columns, headers, rows)
    return "\n\n".join([f"Table: {caption}", table, *map(_render_note, block.footnotes)])


def _render_note(note: elements.Paragraph) -> str:
    return render_code(note.text) if note.kind == "signature" else escape_markdown(note.text)


def _render_markdown_cell(cell: Cell) -> str:
    # A vertical bar ends a cell even inside code.
    if cell.code and cell.text:
        return render_code(cell.text).replace("|", "\\|")
    text = escape_markdown(cell.text).replace("\\|", "&#124;")
    raised = f"<sup>{escape_markdown(cell.raised)}</sup>" if cell.raised else ""
    strong = "**" if cell.mark == "best" and text else ""
    return f"{strong}{text}{strong}{raised}"


def render_code(content: str) -> str:
    """Enclose code in a sufficient number of backticks."""
    run_lengths = list(map(len, re.findall("`+", content)))
    ticks = "`" * next(n for n in range(1, len(run_lengths) + 2) if n not in run_lengths)
    space = " " if content[:1] == "`" or content[-1:] == "`" else ""
    return f"{ticks}{space}{content}{space}{ticks}"


def _fence_lines(lines: Iterable[str]) -> str:
    body = "\n".join(line.rstrip() for line in lines)
    ticks = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", body)), 3)
    return f"{ticks}text\n{body}\n{ticks}"


def escape_markdown(content: str) -> str:
    """Return text with markup escaped."""
    return content.translate(MARKUP)
