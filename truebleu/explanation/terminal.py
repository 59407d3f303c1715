"""An explanation in a terminal, drawn by the library rich."""

from __future__ import annotations

from rich import box
from rich.console import Group
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from truebleu.explanation import document, equations, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from rich.console import RenderableType

    from truebleu.explanation.document import Block, Ngram, Table, Words

# By the length of the longest match; the number below a word says the same without colour.
STYLES = ("dim", "cyan", "green", "bold green", "bold green reverse")


def render(content: Mapping[str, Any]) -> Group:
    """The whole explanation."""
    return Group(*(_block(block) for block in document.of_content(content)))


def _block(block: Block) -> RenderableType:
    match block:
        case document.Heading():
            style = ("bold reverse", "bold", "bold")[block.level - 1]
            return Text(f" {block.text} " if block.level == 1 else block.text, style=style)
        case document.Paragraph():
            style = {"code": "dim", "caution": "yellow"}.get(block.kind, "")
            return Padding(Text(block.text, style=style), (0, 0, 1, 0))
        case document.Table():
            return _table(block)
        case document.Words():
            return Padding(_words(block), (0, 0, 1, 0))
        case _:
            lines = Text("\n".join(equations.as_text(block.equations)))
            return Padding(lines, (0, 0, 1, 2))


def _table(block: Table) -> RichTable:
    made = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    for i, header in enumerate(block.header):
        made.add_column(Text(header), justify="right" if i in block.numbers else "left")
    for row in block.rows:
        made.add_row(*map(_cell, row), style="" if row[0] else "bold")
    return made


def _cell(cell: str | Ngram) -> Text:
    return Text(text.joined(cell), style="cyan" if isinstance(cell, tuple) else "")


def _words(block: Words) -> Text:
    """Tokens with the length of their longest match behind them."""
    made = Text()
    made.append(f"{block.label}\n", style="dim")
    for i, token in enumerate(block.tokens):
        if block.longest is None:
            made.append(f"{token} ")
            continue
        longest = block.longest[i]
        cut = bool(block.clipped and block.clipped[i])
        style = STYLES[min(longest, 4)] + (" underline" if cut else "")
        made.append(token, style=style)
        made.append(f"{_small(longest)} ", style="dim")
    if not block.tokens:
        made.append("(none)")
    if block.longest is not None and block.tokens:
        note = "\nThe small number: the length of the longest matching n-gram that a token is in"
        if any(block.clipped or ()):
            note += "; underlined: in an n-gram that occurs more often than it may count"
        made.append(f"{note}.", style="dim")
    return made


def _small(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
