"""An explanation as plain text."""

from __future__ import annotations

from truebleu.explanation import document, equations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from truebleu.explanation.document import Block, Ngram, Table, Words


def render(content: Mapping[str, Any], width: int = 80) -> str:
    """The whole explanation."""
    return "".join(f"{line}\n" for line in _spaced(content, width))


def _spaced(content: Mapping[str, Any], width: int) -> Iterator[str]:
    for i, block in enumerate(document.of_content(content)):
        if i:
            yield ""
        yield from lines(block, width)


def lines(block: Block, width: int) -> Iterator[str]:
    """The lines of one block."""
    match block:
        case document.Heading():
            yield block.text
            yield ("=" if block.level == 1 else "-") * cells(block.text)
        case document.Paragraph():
            yield from [block.text] if block.kind == "code" else wrapped(block.text, width)
        case document.Table():
            yield from table(block)
        case document.Words():
            yield f"{block.label}:"
            yield from marked(block, width)
            yield from legend(block, width)
        case document.Equations():
            yield from (f"  {line}" for line in equations.as_text(block.equations))


def cells(text: str) -> int:
    """How many places of a terminal a text takes."""
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in text)


def wrapped(text: str, width: int) -> list[str]:
    """A paragraph in lines; n-grams may be broken between words only."""
    from textwrap import wrap

    return wrap(text, width, break_long_words=False, break_on_hyphens=False)


def joined(cell: str | Ngram) -> str:
    """A cell as text."""
    return " ".join(cell) if isinstance(cell, tuple) else cell


def table(block: Table) -> Iterator[str]:
    """A table with a rule under its header."""
    rows = [list(block.header), *([joined(cell) for cell in row] for row in block.rows)]
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]

    def line(row: Sequence[str]) -> str:
        parts = []
        for i, (cell, width) in enumerate(zip(row, widths, strict=True)):
            space = " " * (width - cells(cell))
            parts.append(space + cell if i in block.numbers else cell + space)
        return "  ".join(parts).rstrip()

    yield line(rows[0])
    yield "  ".join("-" * width for width in widths)
    yield from map(line, rows[1:])


def marked(block: Words, width: int) -> Iterator[str]:
    """Tokens in lines; below each the order of its longest match, and ! if it was clipped."""
    above, below = " ", " "
    for i, token in enumerate(block.tokens):
        mark = _mark(block, i)
        space = max(cells(token), len(mark))
        if len(above) > 1 and cells(above) + space + 1 > width:
            yield above.rstrip()
            if block.longest is not None:
                yield below.rstrip()
            above, below = " ", " "
        above += f" {token}{' ' * (space - cells(token))}"
        below += f" {mark:<{space}}"
    yield above.rstrip() or "  (none)"
    if block.longest is not None and block.tokens:
        yield below.rstrip()


def _mark(block: Words, i: int) -> str:
    if block.longest is None:
        return ""
    clipped = "!" if block.clipped and block.clipped[i] else ""
    return f"{block.longest[i] or '-'}{clipped}"


def legend(block: Words, width: int) -> Iterator[str]:
    """What the marks below tokens mean, if there are any."""
    if block.longest is None or not block.tokens:
        return
    yield ""
    text = "Below each token: the length of the longest matching n-gram that it is in (- for none)"
    if any(block.clipped or ()):
        text += "; ! marks an n-gram that occurs more often than it may count"
    yield from wrapped(f"{text}.", width)
