"""A history as HTML: a page of its own, or a part of a notebook. Drawn as SVG, without script."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape

from truebleu.explanation.document import visible
from truebleu.explanation.html import PAGE_STYLE
from truebleu.explanation.html import STYLE as COMMON
from truebleu.history import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from truebleu.explanation.document import Table
    from truebleu.history import History
    from truebleu.history.series import Series

STYLE = """
.truebleu.history { --trend: #0059b3; }
@media (prefers-color-scheme: dark) { .truebleu.history { --trend: #79b8ff; } }
.truebleu.history th, .truebleu.history td { white-space: nowrap; }
.truebleu.history .note { white-space: normal; min-width: 12rem; }
.truebleu.history svg { display: block; width: 100%; max-width: 44rem; height: auto;
  margin: .5rem 0; }
.truebleu.history svg text { font-size: 12px; fill: var(--soft); }
.truebleu.history svg .grid { stroke: var(--line); stroke-width: 1; }
.truebleu.history svg .trend { stroke: var(--trend); stroke-width: 2; fill: none; }
.truebleu.history svg .interval { stroke: var(--trend); stroke-width: 1; opacity: .5; }
.truebleu.history svg circle { fill: var(--trend); }
@media print { .truebleu.history svg { break-inside: avoid; } }
"""

WIDTH, HEIGHT = 704, 200
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 12, 28

# Nothing from anywhere, and this style alone.
POLICY = "default-src 'none'; style-src '{}'; base-uri 'none'; form-action 'none'"


def page(history: History, digits: int) -> str:
    """A whole page."""
    style = f"{PAGE_STYLE}{COMMON}{STYLE}"
    hashed = f"sha256-{b64encode(sha256(style.encode()).digest()).decode()}"
    names = ", ".join(dict.fromkeys(group.followed for group in history.groups))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY.format(hashed)}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(f'{names}: score history' if names else 'Score history')}</title>\n"
        f"<style>{style}</style>\n</head>\n<body>\n{_main(history, digits)}</body>\n</html>\n"
    )


def fragment(history: History, digits: int) -> str:
    """A part of a page, with its own style."""
    return f"<style>{COMMON}{STYLE}</style>\n{_main(history, digits)}"


def _main(history: History, digits: int) -> str:
    blocks = "\n".join(_blocks(history, digits))
    return f'<main class="truebleu history">\n{blocks}\n</main>\n'


def _blocks(history: History, digits: int) -> Iterator[str]:
    yield "<h1>Score history</h1>"
    if not history.groups:
        yield f"<p>{text.NOTHING}</p>"
    for group in history.groups:
        yield f"<h2>{_text(text.title(group))}</h2>"
        if group.warning is not None:
            yield f'<p class="caution">{_text(group.warning)}.</p>'
        for series in group.series:
            if series.differs:
                yield f"<h3>{_text(series.label)}</h3>"
            if len(series.entries) > 1:
                yield drawing(series, digits)
            yield _table(text.table(series, digits))
            yield f"<p>{_text(text.said(series))}; times are UTC.</p>"
            signature = _text(series.signature).replace("|", "|<wbr>")
            yield f'<p class="signature">{signature}</p>'


def _text(content: str) -> str:
    return escape(visible(content), quote=True)


def _table(made: Table) -> str:
    def kind(i: int) -> str:
        name = "number" if i in made.numbers else "note" if made.header[i] == "note" else ""
        return f' class="{name}"' if name else ""

    head = "".join(
        f'<th scope="col"{kind(i)}>{_text(cell)}</th>' for i, cell in enumerate(made.header)
    )
    rows = "\n".join(
        f"<tr>{''.join(f'<td{kind(i)}>{_cell(str(cell))}</td>' for i, cell in enumerate(row))}</tr>"
        for row in made.rows
    )
    return (
        f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table></div>"
    )


def _cell(content: str) -> str:
    # Names and notes are of any script.
    return f"<bdi>{_text(content)}</bdi>" if content else ""


def drawing(series: Series, digits: int) -> str:
    """The scores as a line, in the order of time, each as far from the next."""
    points = series.points
    ends = [
        end
        for point in points
        for end in (point.entry.score, point.entry.low, point.entry.high)
        if end is not None
    ]
    low, high = min(ends), max(ends)
    span = high - low or 1.0

    def x(i: int) -> str:
        return f"{LEFT + i * (WIDTH - LEFT - RIGHT) / (len(points) - 1):.1f}"

    def y(value: float) -> str:
        share = (value - low) / span if high > low else 0.5
        return f"{TOP + (1 - share) * (HEIGHT - TOP - BOTTOM):.1f}"

    parts = []
    for value in dict.fromkeys((low, (low + high) / 2, high)):
        at = y(value)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at}" y2="{at}"/>')
        parts.append(
            f'<text x="{LEFT - 8}" y="{float(at) + 4:.1f}" text-anchor="end">'
            f"{value:.{digits}f}</text>"
        )
    for i, anchor in ((0, "start"), (len(points) - 1, "end")):
        day = text.when(points[i])[:10]
        parts.append(f'<text x="{x(i)}" y="{HEIGHT - 8}" text-anchor="{anchor}">{day}</text>')
    for i, point in enumerate(points):
        if point.entry.low is not None and point.entry.high is not None:
            parts.append(
                f'<line class="interval" x1="{x(i)}" x2="{x(i)}" '
                f'y1="{y(point.entry.low)}" y2="{y(point.entry.high)}"/>'
            )
    line = " ".join(f"{x(i)},{y(point.entry.score)}" for i, point in enumerate(points))
    parts.append(f'<polyline class="trend" points="{line}"/>')
    for i, point in enumerate(points):
        told = ", ".join(
            filter(None, (text.when(point), f"{point.entry.score!r}", point.entry.note))
        )
        parts.append(
            f'<circle cx="{x(i)}" cy="{y(point.entry.score)}" r="4">'
            f"<title>{_text(told)}</title></circle>"
        )
    first, last = (f"{points[i].entry.score:.{digits}f}" for i in (0, -1))
    label = f"{len(points):,} scores, from {first} to {last}; the table below has all"
    return (
        f'<svg role="img" aria-label="{_text(label)}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'preserveAspectRatio="xMidYMid meet">{"".join(parts)}</svg>'
    )
