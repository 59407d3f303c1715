"""Values over time as SVG: a line with points and intervals, both axes with what they are of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from truebleu.rendering.html_escape import escaped, leads

if TYPE_CHECKING:
    from truebleu.rendering.elements import Chart, Point

WIDTH, HEIGHT = 704, 244
LEFT, RIGHT, TOP, BOTTOM = 74, 16, 30, 46

# How far apart days stand on the axis, and how wide a letter is.
DAYS, LETTER = 90.0, 6.5


def drawn(block: Chart) -> str:
    """The chart. Points that lead somewhere are links."""
    points = block.points
    known = ((point.value, point.low, point.high) for point in points)
    ends = [end for values in known for end in values if end is not None]
    low, high = min(ends), max(ends)
    across = places(points)

    def y(value: float) -> str:
        share = (value - low) / (high - low) if high > low else 0.5
        return f"{TOP + (1 - share) * (HEIGHT - TOP - BOTTOM):.1f}"

    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = _legend(points)
    for value in dict.fromkeys((low, (low + high) / 2, high)):
        at = y(value)
        parts.append(f'<line class="zero" x1="{LEFT}" x2="{right}" y1="{at}" y2="{at}"/>')
        parts.append(_text(LEFT - 8, float(at) + 4, f"{value:.{block.digits}f}", "end"))
    parts += _days(points, across)
    parts.append(_text((LEFT + right) / 2, HEIGHT - 6, "time (UTC)", "middle"))
    name = escaped(block.name or "score")
    turned = f"translate(14 {(TOP + bottom) / 2:.0f}) rotate(-90)"
    parts.append(f'<text transform="{turned}" text-anchor="middle">{name}</text>')
    for place, point in zip(across, points, strict=True):
        if point.low is not None and point.high is not None:
            parts.append(
                f'<line class="interval" x1="{place:.1f}" x2="{place:.1f}" '
                f'y1="{y(point.low)}" y2="{y(point.high)}"/>'
            )
    line = " ".join(
        f"{place:.1f},{y(point.value)}" for place, point in zip(across, points, strict=True)
    )
    parts.append(f'<polyline points="{line}"/>')
    parts += [
        _point(point, place, y(point.value)) for place, point in zip(across, points, strict=True)
    ]
    first, last = (f"{points[i].value:.{block.digits}f}" for i in (0, -1))
    label = f"{len(points):,} scores, from {first} to {last}; the table below has all"
    # What is within a picture that is one to a screen reader cannot be reached.
    role = "group" if any(leads(point.href) for point in points) else "img"
    return (
        f'<svg class="chart" role="{role}" aria-label="{escaped(label)}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="xMidYMid meet">'
        f"{''.join(parts)}</svg>"
    )


def places(points: Sequence[Point]) -> list[float]:
    """Where points lie across, by their time; if they all have the same, one beside the next."""
    first, last = (pick(point.seconds for point in points) for pick in (min, max))
    room = WIDTH - LEFT - RIGHT
    if last > first:
        return [LEFT + room * (point.seconds - first) / (last - first) for point in points]
    return [LEFT + room * i / max(1, len(points) - 1) for i in range(len(points))]


def _days(points: Sequence[Point], across: Sequence[float]) -> list[str]:
    """The day of the first and the last, and of those between that have room."""
    parts: list[str] = []
    taken = [across[0], across[-1]]
    bottom = HEIGHT - BOTTOM
    for i, (place, point) in enumerate(zip(across, points, strict=True)):
        end = i in (0, len(points) - 1)
        if not end and min(abs(place - other) for other in taken) < DAYS:
            continue
        taken.append(place)
        anchor = "middle" if not end else "start" if i == 0 else "end"
        parts.append(
            f'<line class="zero" x1="{place:.1f}" x2="{place:.1f}" y1="{bottom}" '
            f'y2="{bottom + 5}"/>'
        )
        parts.append(_text(place, bottom + 18, point.when, anchor))
    return parts


def _legend(points: Sequence[Point]) -> list[str]:
    """What points and lines stand for."""
    parts = [f'<circle cx="{LEFT + 5}" cy="11" r="4"/>', _text(LEFT + 14, 15, "score")]
    if any(point.low is not None for point in points):
        at = LEFT + 14 + 7 * LETTER + 14
        parts.append(f'<line class="interval" x1="{at}" x2="{at}" y1="4" y2="18"/>')
        parts.append(_text(at + 8, 15, "interval"))
    return parts


def _point(point: Point, x: float, y: str) -> str:
    about = escaped(point.about)
    circle = f'<circle cx="{x:.1f}" cy="{y}" r="4"><title>{about}</title></circle>'
    if not leads(point.href):
        return circle
    return f'<a href="{escaped(point.href)}" aria-label="{about}: its report">{circle}</a>'


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escaped(text)}</text>'
