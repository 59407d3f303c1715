"""Draw charts as SVG: values over time with intervals, and points on two axes."""

from __future__ import annotations

from collections.abc import Sequence

from truebleu.rendering.elements import Chart, Point, Scatter
from truebleu.rendering.html_escape import escape_html, is_safe_link
from truebleu.rendering.number_format import choose_ticks, format_compact

WIDTH, HEIGHT, SCATTER_HEIGHT = 704, 244, 400
LEFT, RIGHT, TOP, BOTTOM = 74, 16, 30, 46

# Minimum distance between dates on the axis, and approximate width of a letter, in pixels.
MIN_LABEL_DISTANCE, LETTER_WIDTH = 90.0, 6.5


def render_chart_svg(block: Chart) -> str:
    """Render the chart as SVG. Points with a URL become links."""
    points = block.points
    point_values = ((point.value, point.low, point.high) for point in points)
    ends = [end for values in point_values for end in values if end is not None]
    low, high = min(ends), max(ends)
    x_positions = compute_x_positions(points)
    places = list(zip(x_positions, points, strict=True))

    def scale_y(value: float) -> str:
        share = (value - low) / (high - low) if high > low else 0.5
        return f"{TOP + (1 - share) * (HEIGHT - TOP - BOTTOM):.1f}"

    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = [f'<circle cx="{LEFT + 5}" cy="11" r="4"/>', render_svg_text(LEFT + 14, 15, "score")]
    if any(point.low is not None for point in points):
        legend_x = LEFT + 14 + 7 * LETTER_WIDTH + 14
        parts.append(f'<line class="interval" x1="{legend_x}" x2="{legend_x}" y1="4" y2="18"/>')
        parts.append(render_svg_text(legend_x + 8, 15, "interval"))
    for value in dict.fromkeys((low, (low + high) / 2, high)):
        line_y = scale_y(value)
        parts.append(f'<line class="zero" x1="{LEFT}" x2="{right}" y1="{line_y}" y2="{line_y}"/>')
        parts.append(
            render_svg_text(LEFT - 8, float(line_y) + 4, f"{value:.{block.digits}f}", "end")
        )
    parts += _render_day_labels(points, x_positions)
    parts.append(render_svg_text((LEFT + right) / 2, HEIGHT - 6, "time (UTC)", "middle"))
    name = escape_html(block.name or "score")
    rotation = f"translate(14 {(TOP + bottom) / 2:.0f}) rotate(-90)"
    parts.append(f'<text transform="{rotation}" text-anchor="middle">{name}</text>')
    for x, point in places:
        if point.low is not None and point.high is not None:
            parts.append(
                f'<line class="interval" x1="{x:.1f}" x2="{x:.1f}" '
                f'y1="{scale_y(point.low)}" y2="{scale_y(point.high)}"/>'
            )
    line = " ".join(f"{x:.1f},{scale_y(point.value)}" for x, point in places)
    parts.append(f'<polyline points="{line}"/>')
    for x, point in places:
        tooltip = escape_html(point.tooltip)
        y = scale_y(point.value)
        circle = f'<circle cx="{x:.1f}" cy="{y}" r="4"><title>{tooltip}</title></circle>'
        if is_safe_link(point.href):
            label = f"{tooltip}: its report"
            circle = f'<a href="{escape_html(point.href)}" aria-label="{label}">{circle}</a>'
        parts.append(circle)
    first, last = (f"{points[i].value:.{block.digits}f}" for i in (0, -1))
    label = f"{len(points):,} scores, from {first} to {last}. The table below lists them."
    # Screen readers cannot reach links within the role "img".
    role = "group" if any(is_safe_link(point.href) for point in points) else "img"
    return (
        f'<svg class="chart" role="{role}" aria-label="{escape_html(label)}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="xMidYMid meet">'
        f"{''.join(parts)}</svg>"
    )


def render_scatter_svg(block: Scatter) -> str:
    """Render named points on two axes as SVG."""
    right, bottom = WIDTH - RIGHT, SCATTER_HEIGHT - BOTTOM
    ranges = []
    for values in ([x for _, x, _ in block.points], [y for _, _, y in block.points]):
        margin = 0.12 * (max(values) - min(values)) or 1.0
        ranges.append((min(values) - margin, max(values) + margin))
    (left_value, right_value), (low, high) = ranges

    def scale_x(value: float) -> float:
        return LEFT + (right - LEFT) * (value - left_value) / (right_value - left_value)

    def scale_y(value: float) -> float:
        return bottom - (bottom - TOP) * (value - low) / (high - low)

    parts = []
    for value in choose_ticks(left_value, right_value, 6):
        x = scale_x(value)
        parts.append(f'<line class="zero" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{bottom}"/>')
        parts.append(render_svg_text(x, bottom + 18, format_compact(value), "middle"))
    for value in choose_ticks(low, high):
        y = scale_y(value)
        parts.append(f'<line class="zero" x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(render_svg_text(LEFT - 8, y + 4, format_compact(value), "end"))
    middle = (LEFT + right) / 2
    parts.append(render_svg_text(middle, SCATTER_HEIGHT - 6, block.across, "middle"))
    rotation = f"translate(14 {(TOP + bottom) / 2:.0f}) rotate(-90)"
    parts.append(
        f'<text transform="{rotation}" text-anchor="middle">{escape_html(block.up)}</text>'
    )
    places = [(name, scale_x(x), scale_y(y)) for name, x, y in block.points]
    line = " ".join(f"{places[i][1]:.1f},{places[i][2]:.1f}" for i in block.line)
    parts.append(f'<polyline stroke-dasharray="5 4" points="{line}"/>')
    for name, x, y in places:
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>')
        # The line rises to the right, so names below their points do not cross it.
        fits = x + 10 + LETTER_WIDTH * len(name) <= WIDTH
        anchor = "start" if fits else "end"
        parts.append(render_svg_text(x + (8 if fits else -8), y + 15, name, anchor))
    label = escape_html(f"{block.up} and {block.across}. The table lists the scores.")
    return (
        f'<svg class="chart" role="img" aria-label="{label}" '
        f'viewBox="0 0 {WIDTH} {SCATTER_HEIGHT}" preserveAspectRatio="xMidYMid meet">'
        f"{''.join(parts)}</svg>"
    )


def compute_x_positions(points: Sequence[Point]) -> list[float]:
    """Return the positions of points, placed by time, or spaced equally if all times are equal."""
    first, last = (pick(point.seconds for point in points) for pick in (min, max))
    available_width = WIDTH - LEFT - RIGHT
    if last > first:
        return [
            LEFT + available_width * (point.seconds - first) / (last - first) for point in points
        ]
    return [LEFT + available_width * i / max(1, len(points) - 1) for i in range(len(points))]


def _render_day_labels(points: Sequence[Point], x_positions: Sequence[float]) -> list[str]:
    """Return labels for the first and last dates and, if they fit, for dates in between."""
    parts: list[str] = []
    label_positions = [x_positions[0], x_positions[-1]]
    bottom = HEIGHT - BOTTOM
    for i, (x, point) in enumerate(zip(x_positions, points, strict=True)):
        end = i in (0, len(points) - 1)
        if not end and min(abs(x - other) for other in label_positions) < MIN_LABEL_DISTANCE:
            continue
        label_positions.append(x)
        anchor = "middle" if not end else "start" if i == 0 else "end"
        parts.append(
            f'<line class="zero" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 5}"/>'
        )
        parts.append(render_svg_text(x, bottom + 18, point.when, anchor))
    return parts


def render_svg_text(
    x: float, y: float, text: str, anchor: str = "start", attributes: str = ""
) -> str:
    """Render a line of text, with further attributes."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{attributes}>'
        f"{escape_html(text)}</text>"
    )
