"""Blocks as HTML: a page of its own, or a part of a page or notebook. No script, nothing loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path

from truebleu.rendering import elements, html_escape, svg_chart
from truebleu.rendering.elements import (
    Cell,
    Column,
    Drawn,
    Forest,
    Panel,
    Range,
    Table,
    Words,
)
from truebleu.rendering.equations import as_mathml
from truebleu.rendering.number_format import MINUS, fixed, signed, ticks

escaped = html_escape.escaped

# Tables with more rows than this start folded, if they can be.
SHOWN = 24

# Everything in it is under one class: in a notebook there are other styles around it. Colours go
# with numbers, stars and signs that say the same, and are those that the colour-blind tell apart.
# What it says of tables outweighs what notebooks say of theirs, whichever comes first.
STYLE = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
# Notebooks style tables and code by selectors as long as theirs; none is of more weight than an id,
# which this one has without asking for it.
PART_STYLE = STYLE.replace(".truebleu", ":is(.truebleu, #truebleu)")
PAGE_STYLE = """
:root { color-scheme: light dark; }
body { margin: 0; background: #ffffff; }
@media (prefers-color-scheme: dark) { body { background: #12161f; } }
"""

# Nothing from anywhere, and this style alone.
POLICY = "default-src 'none'; style-src '{}'; base-uri 'none'; form-action 'none'"


def page(title: str, made: Iterable[Drawn]) -> str:
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


def fragment(made: Iterable[Drawn]) -> str:
    """A part of a page, with its own style, as notebooks show it."""
    return f"<style>{PART_STYLE}</style>\n{body(made, 'div')}"


def body(made: Iterable[Drawn], element: str = "main") -> str:
    """A part of a page that has the style."""
    inner = "\n".join(map(_block, made))
    return f'<{element} class="truebleu">\n{inner}\n</{element}>\n'


def hashed(text: str) -> str:
    """The hash of a style or script, as content-security policies have it."""
    from base64 import b64encode
    from hashlib import sha256

    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _block(block: Drawn) -> str:
    match block:
        case elements.Forest():
            return _forest(block)
        case elements.Fold():
            inner = "\n".join(map(_block, block.blocks))
            return f"<details><summary>{escape(block.text)}</summary>\n{inner}\n</details>"
        case elements.Heading():
            return f"<h{block.level}>{escape(block.text)}</h{block.level}>"
        case elements.Paragraph():
            text = escape(block.text)
            if block.kind == "signature":
                text = text.replace("|", "|<wbr>")
            return f"<p{_class('' if block.kind == 'plain' else block.kind)}>{text}</p>"
        case elements.Table():
            return _table(block)
        case elements.Words():
            return _words(block)
        case elements.Chart():
            return svg_chart.drawn(block)
        case elements.Facts():
            # Not a list of terms: notebooks have a style of their own for these.
            rows = (
                f'<tr><th scope="row">{escaped(name)}</th><td>{_content(cell)}</td></tr>\n'
                for name, cell in block.pairs
            )
            return f'<table class="facts"><tbody>\n{"".join(rows)}</tbody></table>'
        case _:
            return f'<div class="math">{as_mathml(block.equations)}</div>'


def _class(*names: str) -> str:
    given = " ".join(name for name in names if name)
    return f' class="{given}"' if given else ""


# ---- tables ----


def _table(block: Table) -> str:
    """A table, with intervals drawn; a long one is folded."""
    head = _heads(block.columns)
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
        f"<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table></div>"
    )
    if not block.fold or len(block.rows) <= SHOWN:
        return made
    return f"<details><summary>{escaped(block.fold)}</summary>\n{made}\n</details>"


def _heads(columns: Sequence[Column]) -> str:
    """One row of headers, or two, where some have another above them."""
    from itertools import groupby

    if not any(column.over for column in columns):
        return f"<tr>{''.join(_head(column) for column in columns)}</tr>"
    upper = []
    for over, same in groupby(columns, lambda column: column.over):
        if over:
            span = len(list(same))
            upper.append(f'<th scope="colgroup" colspan="{span}" class="over">{escape(over)}</th>')
        else:
            upper += (_head(column, ' rowspan="2"') for column in same)
    lower = "".join(_head(column) for column in columns if column.over)
    return f"<tr>{''.join(upper)}</tr>\n<tr>{lower}</tr>"


def _head(column: Column, more: str = "") -> str:
    header = column.full or column.header
    if not header:
        # A header without text tells a screen reader nothing.
        return f"<td{more}></td>"
    about = f' title="{escaped(column.about)}"' if column.about else ""
    kind = _class("words-column" if column.left else "full" if column.full else "")
    return f'<th scope="col"{kind}{about}{more}>{escape(header)}</th>'


def _cell(cell: Cell | Range, column: Column) -> str:
    if isinstance(cell, Range):
        return f'<td class="drawing">{drawing(cell)}</td>'
    return f"<td{_class('words-column' if column.left else '', cell.mark)}>{_content(cell)}</td>"


def _content(cell: Cell) -> str:
    text = escape(cell.text)
    if cell.code and text:
        return f"<code>{text.replace('|', '|<wbr>')}</code>"
    raised = f"<sup>{escape(cell.raised)}</sup>" if cell.raised else ""
    beside = f" <small>{escape(cell.beside)}</small>" if cell.beside else ""
    below = f"<br><small>{escape(cell.below)}</small>" if cell.below else ""
    if cell.mark == "best":
        text = f"<strong>{text}</strong>"
    if html_escape.leads(cell.href):
        text = f'<a href="{escaped(cell.href)}" rel="noreferrer">{text}</a>'
    # Names are of any script.
    return f"{text if text.isascii() else f'<bdi>{text}</bdi>'}{raised}{beside}{below}"


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


# How large a panel of a forest plot is, and how far its axis goes beyond what is drawn.
PANEL, ROW, AXIS, MARGIN = 250, 24, 22, 0.04


def _forest(block: Forest) -> str:
    """A forest plot as a table of pictures: where these are not shown, their numbers are."""
    axes = [_axis(panel) for panel in block.panels]
    heads = "".join(f'<th scope="col">{escape(panel.title)}</th>' for panel in block.panels)
    rows = []
    for i, name in enumerate(block.names):
        cells = "".join(
            f'<td class="drawing">{_panel(panel, axis, i)}</td>'
            for panel, axis in zip(block.panels, axes, strict=True)
        )
        rows.append(f'<tr><th scope="row">{_content(elements.Cell(name))}</th>{cells}</tr>')
    feet = "".join(f'<td class="drawing">{_feet(*axis)}</td>' for axis in axes)
    body = "\n".join(rows)
    return (
        '<div class="scroll" role="region" aria-label="Forest plot" tabindex="0">'
        '<table class="forest-plot">\n'
        f"<caption>{escape(block.caption)}</caption>\n<thead><tr><td></td>{heads}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody>\n<tfoot><tr><td></td>{feet}</tr></tfoot></table></div>"
    )


def _axis(panel: Panel) -> tuple[Callable[[float], str], list[float]]:
    """Where a value lies across a panel, and the round values of its axis."""
    reached = [end for ends in panel.ranges if ends is not None for end in ends]
    reached += [0.0] if panel.zero else []
    low, high = min(reached), max(reached)
    room = (high - low) * MARGIN or abs(high) * MARGIN or 1.0
    low, high = low - room, high + room

    def at(value: float) -> str:
        share = (value - low) / (high - low)
        return f"{8 + (1 - share if panel.backwards else share) * (PANEL - 16):.1f}"

    return at, ticks(low, high)


def _svg(height: int, parts: Iterable[str], mark: str = "") -> str:
    return (
        f'<svg aria-hidden="true" width="{PANEL}" height="{height}" '
        f'viewBox="0 0 {PANEL} {height}"{_class(mark)}>{"".join(parts)}</svg>'
    )


def _panel(panel: Panel, axis: tuple[Callable[[float], str], list[float]], row: int) -> str:
    """A row of a panel."""
    at, values = axis
    middle = ROW // 2
    ends = panel.ranges[row]
    parts = []
    if ends is not None:
        # On hover; and all that a notebook leaves of a picture while it is not trusted.
        write = fixed(1) if max(map(abs, ends)) >= 1 else fixed(4)
        low, value, high = map(signed(write) if panel.zero else write, ends)
        parts.append(f"<title>{value} [{low}, {high}]</title>")
    parts += [
        f'<line class="rule" x1="{at(value)}" x2="{at(value)}" y1="0" y2="{ROW}"/>'
        for value in values
    ]
    if panel.zero:
        parts.append(f'<line class="zero" x1="{at(0.0)}" x2="{at(0.0)}" y1="0" y2="{ROW}"/>')
    if ends is not None:
        low, value, high = map(at, ends)
        parts.append(f'<line x1="{low}" x2="{high}" y1="{middle}" y2="{middle}"/>')
        parts += (
            f'<line x1="{end}" x2="{end}" y1="{middle - 4}" y2="{middle + 4}"/>'
            for end in (low, high)
        )
        sure = bool(panel.marks[row]) or not panel.zero
        parts.append(f'<circle{_class("" if sure else "open")} cx="{value}" cy="{middle}" r="4"/>')
    elif panel.zero:
        x = float(at(0.0))
        parts.append(f'<path d="M{x:.1f} {middle - 5}l5 5l-5 5l-5 -5z"/>')
    return _svg(ROW, parts, panel.marks[row])


def _feet(at: Callable[[float], str], values: Sequence[float]) -> str:
    """The axis below a panel. Spaces keep its numbers apart where the picture is taken away."""
    parts = [f'<line class="zero" x1="4" x2="{PANEL - 4}" y1="1" y2="1"/>']
    for value in values:
        parts.append(f'<line class="zero" x1="{at(value)}" x2="{at(value)}" y1="1" y2="5"/>')
        text = f"{value:g}".replace("-", MINUS)
        parts.append(f' <text x="{at(value)}" y="18" text-anchor="middle">{text}</text> ')
    return _svg(AXIS, parts)


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
