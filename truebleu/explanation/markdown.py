"""An explanation as Markdown, with tables as GitHub reads them."""

from __future__ import annotations

from truebleu.explanation import document, equations, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from truebleu.explanation.document import Block, Ngram, Table

# Text in fences is set as it is; lines of this many characters fit most columns.
WIDTH = 78


def render(content: Mapping[str, Any], level: int = 1) -> str:
    """The whole explanation; its title is a heading of that level."""
    blocks = (_block(block, level) for block in document.of_content(content))
    return "\n\n".join(blocks) + "\n"


def _block(block: Block, level: int) -> str:
    match block:
        case document.Heading():
            return f"{'#' * min(block.level + level - 1, 6)} {escaped(block.text)}"
        case document.Paragraph():
            if block.kind == "code":
                return code(block.text)
            return f"> {escaped(block.text)}" if block.kind == "caution" else escaped(block.text)
        case document.Table():
            return "\n".join(table(block))
        case document.Words():
            legend = "\n".join(text.legend(block, 10_000)).strip()
            parts = [f"{escaped(block.label)}:", fenced(text.marked(block, WIDTH)), escaped(legend)]
            return "\n\n".join(part for part in parts if part)
        case _:
            return fenced(equations.as_text(block.equations))


def table(block: Table) -> Iterator[str]:
    """A table, with numbers to the right."""
    yield _row([escaped(cell) for cell in block.header])
    yield _row(["--:" if i in block.numbers else "---" for i in range(len(block.header))])
    for row in block.rows:
        yield _row([_cell(cell) for cell in row])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: str | Ngram) -> str:
    # A bar ends a cell even inside code.
    made = code(" ".join(cell)) if isinstance(cell, tuple) else escaped(cell)
    return made.replace("\\|", "|").replace("|", "\\|")


def code(content: str) -> str:
    """Code between as many backticks as it takes."""
    runs = [len(run) for run in _runs(content)]
    ticks = "`" * next(n for n in range(1, len(runs) + 2) if n not in runs)
    space = " " if content[:1] == "`" or content[-1:] == "`" else ""
    return f"{ticks}{space}{content}{space}{ticks}"


def fenced(lines: Iterator[str] | Sequence[str]) -> str:
    """Lines that are set as they are."""
    body = "\n".join(lines)
    ticks = "`" * max(3, *(len(run) + 1 for run in _runs(body)), 3)
    return f"{ticks}text\n{body}\n{ticks}"


def _runs(content: str) -> list[str]:
    import re

    return re.findall("`+", content)


# What Markdown, and the HTML in it, would take for markup.
MARKUP = str.maketrans({character: f"\\{character}" for character in r"\`*_[]<>|#~$&"})


def escaped(content: str) -> str:
    """Text in which nothing is markup."""
    return content.translate(MARKUP)
