"""Blocks as HTML: a page of its own, or a part of a page or notebook. No script, nothing loaded."""

from __future__ import annotations

from html import escape
from pathlib import Path

from truebleu.text.layout import visible
from truebleu.views.rendering import blocks
from truebleu.views.rendering.blocks import Range
from truebleu.views.rendering.equations import as_mathml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from truebleu.views.rendering.blocks import Block, Cell, Chart, Column, Table, Words

# Tables with more rows than this start folded, if they can be.
SHOWN = 24

# Everything in it is under one class: in a notebook there are other styles around it. Colours go
# with numbers, stars and signs that say the same, and are those that the colour-blind tell apart.
STYLE = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
PAGE_STYLE = """
:root { color-scheme: light dark; }
body { margin: 0; background: #ffffff; }
@media (prefers-color-scheme: dark) { body { background: #12161f; } }
"""

# Nothing from anywhere, and this style alone.
POLICY = "default-src 'none'; style-src '{}'; base-uri 'none'; form-action 'none'"


def page(title: str, made: Iterable[Block]) -> str:
    """A whole page."""
    style = PAGE_STYLE + STYLE
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY.format(hashed(style))}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"{body(made)}</body>\n</html>\n"
    )


def fragment(made: Iterable[Block]) -> str:
    """A part of a page, with its own style, as notebooks show it."""
    return f"<style>{STYLE}</style>\n{body(made, 'div')}"


def body(made: Iterable[Block], element: str = "main") -> str:
    """A part of a page that has the style."""
    inner = "\n".join(map(_block, made))
    return f'<{element} class="truebleu">\n{inner}\n</{element}>\n'


def hashed(text: str) -> str:
    """The hash of a style or script, as content-security policies have it."""
    from base64 import b64encode
    from hashlib import sha256

    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def escaped(text: object) -> str:
    r"""Text that is nothing but text in HTML, between tags and in quoted attributes.

    What does not show, or is no character, is written as in Python.

    >>> print(escaped('<b title="x">\0'))
    &lt;b title=&quot;x&quot;&gt;\x00
    """
    return escape(visible(str(text)), quote=True)


def _block(block: Block) -> str:
    match block:
        case blocks.Heading():
            return f"<h{block.level}>{escape(block.text)}</h{block.level}>"
        case blocks.Paragraph():
            text = escape(block.text)
            if block.kind == "signature":
                text = text.replace("|", "|<wbr>")
            return f"<p{_class('' if block.kind == 'plain' else block.kind)}>{text}</p>"
        case blocks.Table():
            return _table(block)
        case blocks.Words():
            return _words(block)
        case blocks.Chart():
            return _chart(block)
        case blocks.Facts():
            rows = (f"<dt>{escaped(n)}</dt><dd>{_content(cell)}</dd>\n" for n, cell in block.pairs)
            return f"<dl>\n{''.join(rows)}</dl>"
        case _:
            return f'<div class="math">{as_mathml(block.equations)}</div>'


def _class(*names: str) -> str:
    given = " ".join(name for name in names if name)
    return f' class="{given}"' if given else ""


# ---- tables ----


def _table(block: Table) -> str:
    """A table, with intervals drawn; a long one is folded."""
    head = "".join(map(_head, block.columns))
    rows = []
    for number, row in enumerate(block.rows, 1):
        cells = "".join(
            _cell(cell, column) for cell, column in zip(row, block.columns, strict=True)
        )
        sums = block.sums and number == len(block.rows)
        rows.append(f"<tr{_class('sum' if sums else '')}>{cells}</tr>")
    body = "\n".join(rows)
    caption = f"<caption>{escape(block.caption)}</caption>\n" if block.caption else ""
    # Whoever has no mouse scrolls by keyboard.
    about = f' aria-label="{escaped(block.caption) or "table"}"'
    made = (
        f'<div class="scroll" role="region"{about} tabindex="0"><table>\n{caption}'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>"
    )
    if not block.fold or len(block.rows) <= SHOWN:
        return made
    return f"<details><summary>{escaped(block.fold)}</summary>\n{made}\n</details>"


def _head(column: Column) -> str:
    if not column.header:
        # A header without text tells a screen reader nothing.
        return "<td></td>"
    about = f' title="{escaped(column.about)}"' if column.about else ""
    return (
        f'<th scope="col"{_class("words-column" if column.left else "")}{about}>'
        f"{escape(column.header)}</th>"
    )


def _cell(cell: Cell | Range, column: Column) -> str:
    if isinstance(cell, Range):
        return f'<td class="drawing">{drawing(cell)}</td>'
    return f"<td{_class('words-column' if column.left else '', cell.mark)}>{_content(cell)}</td>"


def _content(cell: Cell) -> str:
    text = escape(cell.text)
    if cell.code and text:
        return f"<code>{text.replace('|', '|<wbr>')}</code>"
    raised = f"<sup>{escape(cell.raised)}</sup>" if cell.raised else ""
    # Names are of any script.
    return f"{text if text.isascii() else f'<bdi>{text}</bdi>'}{raised}"


# How large an interval is drawn.
WIDTH, HEIGHT = 140, 34


def drawing(one: Range) -> str:
    """An interval as a line with a point on it; another line is at 0."""
    inner = WIDTH - 12

    def at(value: float) -> str:
        return f"{6 + one.place(value, inner):.1f}"

    middle = HEIGHT // 2
    zero = at(0.0)
    parts = [f'<line class="zero" x1="{zero}" x2="{zero}" y1="0" y2="{HEIGHT}"/>']
    if one.interval is not None:
        low, value, high = map(at, one.interval)
        parts.append(f'<line x1="{low}" x2="{high}" y1="{middle}" y2="{middle}"/>')
        parts.append(f'<circle cx="{value}" cy="{middle}" r="3.5"/>')
    return (
        f'<svg aria-hidden="true" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}"{_class(one.mark)}>{"".join(parts)}</svg>'
    )


# ---- words ----


def _words(block: Words) -> str:
    """Tokens, coloured by strength, with their marks behind them."""
    made = []
    for i, token in enumerate(block.tokens):
        strength = f"m{block.strengths[i]}" if block.strengths else ""
        title = f' title="{escaped(block.tips[i])}"' if block.tips else ""
        mark = f"<sub>{escape(block.marks[i])}</sub>" if block.marks and block.marks[i] else ""
        names = _class("word", strength, "cut" if i in block.cut else "")
        made.append(f"<span{names}{title}>{escape(token)}{mark}</span>")
    text = "\n".join(made) or "(none)"
    legend = block.legend.replace("Below each token", "The small sign behind each token")
    legend = f'<span class="label">{escape(legend)}</span>' if legend else ""
    return (
        f'<div class="words" dir="auto"><span class="label">{escape(block.label)}</span>\n{text}\n'
        f"{legend}</div>"
    )


# ---- charts ----

CHART_WIDTH, CHART_HEIGHT = 704, 200
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 12, 28


def _chart(block: Chart) -> str:
    """Values as a line, with their intervals and the days of the first and the last."""
    points = block.points
    known = ((point.value, point.low, point.high) for point in points)
    ends = [end for values in known for end in values if end is not None]
    low, high = min(ends), max(ends)

    def x(i: int) -> str:
        return f"{LEFT + i * (CHART_WIDTH - LEFT - RIGHT) / max(1, len(points) - 1):.1f}"

    def y(value: float) -> str:
        share = (value - low) / (high - low) if high > low else 0.5
        return f"{TOP + (1 - share) * (CHART_HEIGHT - TOP - BOTTOM):.1f}"

    parts = []
    right = CHART_WIDTH - RIGHT
    for value in dict.fromkeys((low, (low + high) / 2, high)):
        at = y(value)
        parts.append(f'<line class="zero" x1="{LEFT}" x2="{right}" y1="{at}" y2="{at}"/>')
        parts.append(
            f'<text x="{LEFT - 8}" y="{float(at) + 4:.1f}" text-anchor="end">'
            f"{value:.{block.digits}f}</text>"
        )
    for i, anchor in ((0, "start"), (len(points) - 1, "end")):
        parts.append(
            f'<text x="{x(i)}" y="{CHART_HEIGHT - 8}" text-anchor="{anchor}">'
            f"{escaped(points[i].when)}</text>"
        )
    for i, point in enumerate(points):
        if point.low is not None and point.high is not None:
            parts.append(
                f'<line class="interval" x1="{x(i)}" x2="{x(i)}" '
                f'y1="{y(point.low)}" y2="{y(point.high)}"/>'
            )
    line = " ".join(f"{x(i)},{y(point.value)}" for i, point in enumerate(points))
    parts.append(f'<polyline points="{line}"/>')
    parts += [
        f'<circle cx="{x(i)}" cy="{y(point.value)}" r="4">'
        f"<title>{escaped(point.about)}</title></circle>"
        for i, point in enumerate(points)
    ]
    first, last = (f"{points[i].value:.{block.digits}f}" for i in (0, -1))
    label = f"{len(points):,} scores, from {first} to {last}; the table below has all"
    return (
        f'<svg class="chart" role="img" aria-label="{escaped(label)}" '
        f'viewBox="0 0 {CHART_WIDTH} {CHART_HEIGHT}" preserveAspectRatio="xMidYMid meet">'
        f"{''.join(parts)}</svg>"
    )
