"""A comparison as HTML: a page of its own, or a part of a notebook. No script."""

from __future__ import annotations

from html import escape

from truebleu.comparison import document
from truebleu.comparison.document import Cell, Forest
from truebleu.explanation.html import PAGE_STYLE
from truebleu.explanation.html import STYLE as COMMON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from truebleu.comparison.document import Grid

# Stars and letters say the same without colour; colours are those that the colour-blind tell apart.
STYLE = """
.truebleu.comparison { max-width: 72rem; --better: #0059b3; --worse: #a84300; }
@media (prefers-color-scheme: dark) {
  .truebleu.comparison { --better: #79b8ff; --worse: #ffb27a; } }
.truebleu.comparison th, .truebleu.comparison td { padding: .2rem .6rem; white-space: nowrap; }
.truebleu.comparison td.drawing { padding: 0 .6rem; vertical-align: middle; }
.truebleu.comparison sup { font-size: .7em; line-height: 0; color: var(--soft); }
.truebleu.comparison .best { font-weight: 700; }
.truebleu.comparison .better { color: var(--better); font-weight: 600; }
.truebleu.comparison .worse { color: var(--worse); font-weight: 600; }
.truebleu.comparison .baseline { color: var(--soft); font-style: italic; }
.truebleu.comparison svg { display: block; color: var(--soft); }
.truebleu.comparison svg.better { color: var(--better); }
.truebleu.comparison svg.worse { color: var(--worse); }
.truebleu.comparison svg line { stroke: currentColor; stroke-width: 1.5; }
.truebleu.comparison svg .zero { stroke: var(--line); stroke-width: 1; }
.truebleu.comparison svg circle { fill: currentColor; }
"""
# How large an interval is drawn.
WIDTH, HEIGHT = 140, 34


def page(content: Mapping[str, Any], *, digits: int | None = None, short: bool = False) -> str:
    """A whole page."""
    title = escape(", ".join(system["name"] for system in content["systems"]))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{PAGE_STYLE}</style>\n</head>\n<body>\n"
        f"{fragment(content, digits=digits, short=short)}</body>\n</html>\n"
    )


def fragment(content: Mapping[str, Any], *, digits: int | None = None, short: bool = False) -> str:
    """A part of a page, with its own style."""
    blocks = "\n".join(_blocks(content, digits, short=short))
    style = f"<style>{COMMON}{STYLE}</style>"
    return f'{style}\n<main class="truebleu comparison">\n{blocks}\n</main>\n'


def _blocks(content: Mapping[str, Any], digits: int | None, *, short: bool) -> Iterator[str]:
    yield f"<h1>{escape(document.title(content))}</h1>"
    if document.has_summary(content):
        yield table(document.summary(content, digits), "Scores")
    for grid in document.grids(content, digits):
        yield table(grid, grid.metric)
    for sentence in document.sentences(content):
        yield f"<p>{escape(sentence)}</p>"
    for signature in document.signatures(content, short=short):
        text = escape(document.visible(signature)).replace("|", "|<wbr>")
        yield f'<p class="signature">{text}</p>'


def table(grid: Grid, caption: str) -> str:
    """A grid, with intervals drawn."""
    head = "".join(
        f'<th scope="col"{_class("" if column.left else "number")}>{_text(column.header)}</th>'
        for column in grid.columns
    )
    rows = []
    for row in grid.rows:
        cells = [
            _cell(cell, left=column.left) for cell, column in zip(row, grid.columns, strict=True)
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    body = "\n".join(rows)
    return (
        f'<h2>{_text(caption)}</h2>\n<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def _text(text: str) -> str:
    return escape(document.visible(text))


def _class(*names: str) -> str:
    given = " ".join(name for name in names if name)
    return f' class="{given}"' if given else ""


def _cell(cell: Cell | Forest, *, left: bool) -> str:
    if isinstance(cell, Forest):
        return f'<td class="drawing">{drawing(cell)}</td>'
    raised = f"<sup>{escape(cell.raised)}</sup>" if cell.raised else ""
    # Names are of any script.
    text = f"<bdi>{_text(cell.text)}</bdi>" if left else _text(cell.text)
    return f"<td{_class('' if left else 'number', cell.mark)}>{text}{raised}</td>"


def drawing(forest: Forest) -> str:
    """An interval as a line with a point on it; another line is at 0."""
    inner = WIDTH - 12

    def at(value: float) -> str:
        return f"{6 + forest.place(value, inner):.1f}"

    middle = HEIGHT // 2
    zero = at(0.0)
    parts = [f'<line class="zero" x1="{zero}" x2="{zero}" y1="0" y2="{HEIGHT}"/>']
    if forest.interval is not None:
        low, value, high = map(at, forest.interval)
        parts.append(f'<line x1="{low}" x2="{high}" y1="{middle}" y2="{middle}"/>')
        parts.append(f'<circle cx="{value}" cy="{middle}" r="3.5"/>')
    return (
        f'<svg aria-hidden="true" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}"{_class(forest.mark)}>{"".join(parts)}</svg>'
    )
