"""Render blocks as HTML pages or fragments, without scripts or external resources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path

from truebleu.rendering import elements, html_escape, svg_chart
from truebleu.rendering.elements import Cell, Column, Forest, HtmlBlock, MarkedTokens, Panel, Table
from truebleu.rendering.equations import as_mathml
from truebleu.rendering.number_format import (
    MINUS,
    choose_ticks,
    make_formatter,
    make_signed_formatter,
)

escape_html = html_escape.escape_html

# Foldable tables with more rows than this are initially folded.
MAX_UNFOLDED_ROWS = 24

# All rules are limited to one class, so that they do not affect the rest of a notebook. Colours
# only repeat what numbers, stars and signs show, and colour-blind readers can distinguish them.
# Rules for tables have a higher specificity than a notebook's rules.
BASE_STYLE = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
STYLE = BASE_STYLE + Path(__file__).with_name("explanation.css").read_text(encoding="utf-8")
# An id in the selector outweighs the long selectors of notebooks, even if no element has this id.
PART_STYLE = STYLE.replace(".truebleu", ":is(.truebleu, #truebleu)")
PAGE_STYLE = """
:root { color-scheme: light dark; }
body { margin: 0; background: #ffffff; }
@media (prefers-color-scheme: dark) { body { background: #12161f; } }
"""

# Forbid all resources except this style.
POLICY = "default-src 'none'; style-src '{}'; base-uri 'none'; form-action 'none'"


def render_page(title: str, blocks: Iterable[HtmlBlock]) -> str:
    """Return a complete HTML page."""
    style = PAGE_STYLE + STYLE
    policy = POLICY.format(hash_for_csp(style))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape_html(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"{render_body(blocks)}</body>\n</html>\n"
    )


def render_fragment(blocks: Iterable[HtmlBlock]) -> str:
    """Return an HTML fragment that includes its style, for a notebook."""
    return f"<style>{PART_STYLE}</style>\n{render_body(blocks, 'div')}"


def render_body(blocks: Iterable[HtmlBlock], element: str = "main") -> str:
    """Return the HTML of blocks inside an element to which the style applies."""
    inner = "\n".join(map(_render_html_block, blocks))
    return f'<{element} class="truebleu">\n{inner}\n</{element}>\n'


def hash_for_csp(text: str) -> str:
    """Return the hash of a style or script for a content security policy."""
    from base64 import b64encode
    from hashlib import sha256

    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _render_html_block(block: HtmlBlock) -> str:
    match block:
        case elements.Forest():
            return _render_forest(block)
        case elements.Scatter():
            caption = f'<p class="legend">{escape(block.caption)}</p>'
            return f"{svg_chart.render_scatter_svg(block)}\n{caption}"
        case elements.Fold():
            inner = "\n".join(map(_render_html_block, block.blocks))
            return f"<details><summary>{escape(block.text)}</summary>\n{inner}\n</details>"
        case elements.Heading():
            return f"<h{block.level}>{escape(block.text)}</h{block.level}>"
        case elements.Paragraph():
            text = escape(block.text)
            if block.kind == "signature":
                text = text.replace("|", "|<wbr>")
            return f"<p{_format_class('' if block.kind == 'plain' else block.kind)}>{text}</p>"
        case elements.Table():
            return _render_html_table(block)
        case elements.MarkedTokens():
            return _render_html_tokens(block)
        case elements.Chart():
            return svg_chart.render_chart_svg(block)
        case elements.Facts():
            # Notebooks restyle definition lists, so use a table instead.
            rows = (
                f'<tr><th scope="row">{escape_html(name)}</th>'
                f"<td>{_render_cell_content(cell)}</td></tr>\n"
                for name, cell in block.pairs
            )
            return f'<table class="facts"><tbody>\n{"".join(rows)}</tbody></table>'
        case _:
            return f'<div class="math">{as_mathml(block.equations)}</div>'


def _format_class(*names: str) -> str:
    class_names = " ".join(name for name in names if name)
    return f' class="{class_names}"' if class_names else ""


# ---- tables ----


def _render_html_table(block: Table) -> str:
    """Return a table, folded if it is long."""
    head = _render_headers(block.columns)
    rows = []
    for number, row in enumerate(block.rows, 1):
        cells = "".join(
            f"<td{_format_class('words-column' if column.is_left_aligned else '', cell.mark)}>"
            f"{_render_cell_content(cell)}</td>"
            for cell, column in zip(row, block.columns, strict=False)
        )
        sums = block.has_total_row and number == len(block.rows)
        rows.append(f"<tr{_format_class('sum' if sums else '')}>{cells}</tr>")
    body = "\n".join(rows)
    caption = f"<caption>{escape(block.caption)}</caption>\n" if block.caption else ""
    # Focusable regions can be scrolled with the keyboard.
    label = f' aria-label="{escape_html(block.caption) or "table"}"'
    table_html = (
        f'<div class="scroll" role="region"{label} tabindex="0"><table>\n{caption}'
        f"<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table></div>"
    )
    if not block.fold or len(block.rows) <= MAX_UNFOLDED_ROWS:
        return table_html
    return f"<details><summary>{escape_html(block.fold)}</summary>\n{table_html}\n</details>"


def _render_headers(columns: Sequence[Column]) -> str:
    from itertools import groupby

    if not any(column.group_header for column in columns):
        return f"<tr>{''.join(_render_header(column) for column in columns)}</tr>"
    upper = []
    for over, same in groupby(columns, lambda column: column.group_header):
        if over:
            span = len(list(same))
            upper.append(f'<th scope="colgroup" colspan="{span}" class="over">{escape(over)}</th>')
        else:
            upper += (_render_header(column, ' rowspan="2"') for column in same)
    lower = "".join(_render_header(column) for column in columns if column.group_header)
    return f"<tr>{''.join(upper)}</tr>\n<tr>{lower}</tr>"


def _render_header(column: Column, attributes: str = "") -> str:
    header = column.long_header or column.header
    if not header:
        # Empty header cells confuse screen readers.
        return f"<td{attributes}></td>"
    title = f' title="{escape_html(column.tooltip)}"' if column.tooltip else ""
    kind = _format_class(
        "words-column" if column.is_left_aligned else "full" if column.long_header else ""
    )
    return f'<th scope="col"{kind}{title}{attributes}>{escape(header)}</th>'


def _render_cell_content(cell: Cell) -> str:
    text = escape(cell.text)
    if cell.code and text:
        return f"<code>{text.replace('|', '|<wbr>')}</code>"
    raised = f"<sup>{escape(cell.raised)}</sup>" if cell.raised else ""
    suffix = f" <small>{escape(cell.suffix)}</small>" if cell.suffix else ""
    second_line = f"<br><small>{escape(cell.second_line)}</small>" if cell.second_line else ""
    if cell.mark == "best":
        text = f"<strong>{text}</strong>"
    if html_escape.is_safe_link(cell.href):
        text = f'<a href="{escape_html(cell.href)}" rel="noreferrer">{text}</a>'
    # Names may be in a right-to-left script.
    return f"{text if text.isascii() else f'<bdi>{text}</bdi>'}{raised}{suffix}{second_line}"


# Sizes in a forest plot, in pixels. The margin of an axis is a share of its range.
PANEL_WIDTH, ROW_HEIGHT, AXIS_HEIGHT, AXIS_MARGIN = 250, 24, 22, 0.04


def _render_forest(block: Forest) -> str:
    """Render a forest plot as a table of pictures, which shows numbers if pictures are hidden."""
    axes = [_build_axis(panel) for panel in block.panels]
    heads = "".join(f'<th scope="col">{escape(panel.title)}</th>' for panel in block.panels)
    rows = []
    for i, name in enumerate(block.names):
        cells = "".join(
            f'<td class="drawing">{_render_panel_row(panel, axis, i)}</td>'
            for panel, axis in zip(block.panels, axes, strict=True)
        )
        rows.append(
            f'<tr><th scope="row">{_render_cell_content(elements.Cell(name))}</th>{cells}</tr>'
        )
    axis_cells = "".join(f'<td class="drawing">{_render_axis(*axis)}</td>' for axis in axes)
    body = "\n".join(rows)
    return (
        '<div class="scroll" role="region" aria-label="Forest plot" tabindex="0">'
        '<table class="forest-plot">\n'
        f"<caption>{escape(block.caption)}</caption>\n<thead><tr><td></td>{heads}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody>\n<tfoot><tr><td></td>{axis_cells}</tr></tfoot></table></div>"
    )


def _build_axis(panel: Panel) -> tuple[Callable[[float], str], list[float]]:
    """Return a function that maps values to positions in a panel, and the values to label."""
    interval_ends = [end for ends in panel.ranges if ends is not None for end in ends]
    interval_ends += [0.0] if panel.includes_zero else []
    low, high = min(interval_ends), max(interval_ends)
    margin = (high - low) * AXIS_MARGIN or abs(high) * AXIS_MARGIN or 1.0
    low, high = low - margin, high + margin

    def scale_value(value: float) -> str:
        share = (value - low) / (high - low)
        return f"{8 + (1 - share if panel.is_reversed else share) * (PANEL_WIDTH - 16):.1f}"

    return scale_value, choose_ticks(low, high)


def _render_svg(height: int, parts: Iterable[str], mark: str = "") -> str:
    return (
        f'<svg aria-hidden="true" width="{PANEL_WIDTH}" height="{height}" '
        f'viewBox="0 0 {PANEL_WIDTH} {height}"{_format_class(mark)}>{"".join(parts)}</svg>'
    )


def _render_panel_row(
    panel: Panel, axis: tuple[Callable[[float], str], list[float]], row: int
) -> str:
    scale_value, values = axis
    middle = ROW_HEIGHT // 2
    ends = panel.ranges[row]
    parts = []
    if ends is not None:
        # This text is shown on hover, and instead of the picture in untrusted notebooks.
        write = make_formatter(1) if max(map(abs, ends)) >= 1 else make_formatter(4)
        low, value, high = map(make_signed_formatter(write) if panel.includes_zero else write, ends)
        parts.append(f"<title>{value} [{low}, {high}]</title>")
    parts += [
        f'<line class="rule" x1="{x}" x2="{x}" y1="0" y2="{ROW_HEIGHT}"/>'
        for x in map(scale_value, values)
    ]
    x = scale_value(0.0)
    if panel.includes_zero:
        parts.append(f'<line class="zero" x1="{x}" x2="{x}" y1="0" y2="{ROW_HEIGHT}"/>')
    if ends is not None:
        low, value, high = map(scale_value, ends)
        parts.append(f'<line x1="{low}" x2="{high}" y1="{middle}" y2="{middle}"/>')
        parts += (
            f'<line x1="{end}" x2="{end}" y1="{middle - 4}" y2="{middle + 4}"/>'
            for end in (low, high)
        )
        is_filled = bool(panel.marks[row]) or not panel.includes_zero
        parts.append(
            f'<circle{_format_class("" if is_filled else "open")} cx="{value}" cy="{middle}" '
            'r="4"/>'
        )
    elif panel.includes_zero:
        parts.append(f'<path d="M{x} {middle - 5}l5 5l-5 5l-5 -5z"/>')
    return _render_svg(ROW_HEIGHT, parts, panel.marks[row])


def _render_axis(scale_value: Callable[[float], str], values: Sequence[float]) -> str:
    """Return the axis below a panel. Spaces separate its numbers if pictures are hidden."""
    parts = [f'<line class="zero" x1="4" x2="{PANEL_WIDTH - 4}" y1="1" y2="1"/>']
    for value in values:
        x = scale_value(value)
        parts.append(f'<line class="zero" x1="{x}" x2="{x}" y1="1" y2="5"/>')
        text = f"{value:g}".replace("-", MINUS)
        parts.append(f' <text x="{x}" y="18" text-anchor="middle">{text}</text> ')
    return _render_svg(AXIS_HEIGHT, parts)


# ---- marked tokens ----


def _render_html_tokens(block: MarkedTokens) -> str:
    token_spans = []
    for i, token in enumerate(block.tokens):
        strength = f"m{block.strengths[i]}" if block.strengths else ""
        title = f' title="{escape_html(block.tips[i])}"' if block.tips else ""
        mark = f"<sub>{escape(block.marks[i])}</sub>" if block.marks and block.marks[i] else ""
        names = _format_class("word", strength, "cut" if i in block.underlined else "")
        token_spans.append(f"<span{names}{title}>{escape(token)}{mark}</span>")
    text = "\n".join(token_spans) or "(none)"
    legend = block.legend.replace("Below each token", "The small sign after each token")
    legend = f'<span class="label">{escape(legend)}</span>' if legend else ""
    return (
        f'<div class="words" dir="auto"><span class="label">{escape(block.label)}</span>\n{text}\n'
        f"{legend}</div>"
    )
