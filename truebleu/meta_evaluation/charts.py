"""Two SVG charts: systems by human and metric score, and agreement by score difference.

Colours are attributes, because a page's content security policy does not allow further styles.
`currentColor` adapts to dark pages. Points are ellipses, because a page's style colours circles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any

from truebleu.rendering.html import escape_html
from truebleu.rendering.number_format import choose_ticks
from truebleu.rendering.svg_chart import render_svg_text
from truebleu.rendering.view import Content

# The charts are small, so that their text is legible on phones.
WIDTH, HEIGHT = 440, 320
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 34, 50
# Colours that colour-blind readers can distinguish on white and on black (Okabe and Ito 2008).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
# Maximum number of metrics on a page. Each metric has two charts.
MAX_CHARTS = 4
LETTER, LINE = 6.0, 12.0


class Plane:
    """The plot area of a chart, with a horizontal and a vertical axis."""

    def __init__(self, across: Sequence[float], up: Sequence[float]) -> None:
        ranges = []
        for values in (across, up):
            finite_values = [value for value in values if isfinite(value)] or [0.0]
            low, high = min(finite_values), max(finite_values)
            margin = (high - low) * 0.06 or abs(high) * 0.06 or 1.0
            ranges.append((low - margin, high + margin))
        self.across, self.up = ranges

    def get_x(self, value: float) -> float:
        """Return the horizontal position of a value."""
        low, high = self.across
        return LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def get_y(self, value: float) -> float:
        """Return the vertical position of a value."""
        low, high = self.up
        return HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    def draw_axes(self, x_title: str, y_title: str) -> list[str]:
        """Return the lines, tick labels and titles of both axes."""
        bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
        parts = [
            _draw_line(LEFT, bottom, right, bottom),
            _draw_line(LEFT, TOP, LEFT, bottom),
            render_svg_text((LEFT + right) / 2, HEIGHT - 10, x_title, "middle"),
        ]
        turned = f"translate(16 {(TOP + bottom) / 2:.0f}) rotate(-90)"
        y_text = escape_html(y_title)
        parts.append(f'<text transform="{turned}" text-anchor="middle">{y_text}</text>')
        for value in choose_ticks(*self.across):
            parts.append(_draw_line(self.get_x(value), bottom, self.get_x(value), bottom + 4))
            parts.append(render_svg_text(self.get_x(value), bottom + 18, f"{value:g}", "middle"))
        for value in choose_ticks(*self.up):
            parts.append(_draw_line(LEFT - 4, self.get_y(value), LEFT, self.get_y(value)))
            parts.append(render_svg_text(LEFT - 8, self.get_y(value) + 4, f"{value:g}", "end"))
        return parts


def _draw_line(x1: float, y1: float, x2: float, y2: float, attributes: str = "") -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        f'stroke="currentColor"{attributes}/>'
    )


def _assemble_svg(title: str, description: str, parts: Sequence[str]) -> str:
    head = render_svg_text(LEFT, 18, title, attributes=' font-size="13" font-weight="bold"')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" '
        f'aria-label="{escape_html(description)}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" '
        'font-family="sans-serif" font-size="12" fill="currentColor">'
        f"<title>{escape_html(description)}</title>"
        f"{head}{''.join(parts)}</svg>"
    )


def draw_scatter_plot(content: Content, metric: str) -> str:
    """Return a scatter plot of systems by human and metric score, with one colour per set."""
    points = [
        (one["set"], one["system"], one["human"], one["scores"][metric])
        for one in content["systems"]
        if isfinite(one["human"]) and isfinite(one["scores"][metric])
    ]
    sets = list(dict.fromkeys(name for name, *_ in points))
    gold = ", ".join(dict.fromkeys(one["gold"] for one in content["sets"]))
    plane = Plane([p[3] for p in points], [p[2] for p in points])
    parts = plane.draw_axes(metric, f"human score ({gold})")
    occupied: list[tuple[float, float, float, float]] = [
        (plane.get_x(own) - 5, plane.get_y(human) - 5, plane.get_x(own) + 5, plane.get_y(human) + 5)
        for _, _, human, own in points
    ]
    for name, system, human, metric_score in sorted(points, key=lambda point: -point[2]):
        x, y = plane.get_x(metric_score), plane.get_y(human)
        colour = COLOURS[sets.index(name) % len(COLOURS)]
        tooltip = f"{system}, {name}: human {human:.4g}, {metric} {metric_score:.4g}"
        parts.append(
            f'<ellipse cx="{x:.1f}" cy="{y:.1f}" rx="4" ry="4" fill="{colour}">'
            f"<title>{escape_html(tooltip)}</title></ellipse>"
        )
        label_position = _find_label_position(x, y, len(system) * LETTER, occupied)
        if label_position is not None:
            parts.append(render_svg_text(*label_position, system, attributes=' font-size="10"'))
    if len(sets) > 1:
        for i, name in enumerate(sets):
            legend_x = WIDTH - RIGHT - 90 * (len(sets) - i)
            parts.append(
                f'<ellipse cx="{legend_x}" cy="14" rx="4" ry="4" '
                f'fill="{COLOURS[i % len(COLOURS)]}"/>'
            )
            parts.append(render_svg_text(legend_x + 8, 18, name))
    tooltip = f"{len(points)} systems by {metric} and human score"
    return _assemble_svg(f"{metric} and human scores", tooltip, parts)


def _find_label_position(
    x: float, y: float, width: float, occupied: list[tuple[float, float, float, float]]
) -> tuple[float, float] | None:
    """Return a free position for a label next to a point, or None."""
    for dx, dy in ((7, 4), (-7 - width, 4), (-width / 2, -8), (-width / 2, 16), (7, -8), (7, 16)):
        box = (x + dx, y + dy - LINE + 2, x + dx + width, y + dy + 2)
        inside = box[0] >= LEFT and box[2] <= WIDTH - 2 and box[1] >= TOP - 10
        if inside and not any(
            box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
            for other in occupied
        ):
            occupied.append(box)
            return x + dx, y + dy
    return None


def draw_agreement_chart(content: Content, metric: str) -> str:
    """Return a chart of how often human scores confirm metric differences of each size."""
    bins: list[Mapping[str, Any]] = [o for o in content["agreement"] if o["metric"] == metric]
    ends = [one[end] for one in bins for end in ("low", "high")]
    plane = Plane([0.0, *ends], [0.0, 100.0])
    plane.up = (0.0, 105.0)
    plane.across = (0.0, plane.across[1])
    parts = plane.draw_axes(
        f"difference in {metric} between two systems", "agreement with human scores (%)"
    )
    chance = plane.get_y(50.0)
    parts.append(
        _draw_line(LEFT, chance, WIDTH - RIGHT, chance, ' stroke-dasharray="4 4" opacity="0.5"')
    )
    parts.append(render_svg_text(WIDTH - RIGHT, chance - 4, "coin toss", "end"))
    occupied: list[tuple[float, float]] = []
    for bin_ in bins:
        share = 100 * bin_["agree"] / bin_["pairs"]
        low, high = plane.get_x(bin_["low"]), plane.get_x(bin_["high"])
        tooltip = (
            f"{bin_['low']:.3g} to {bin_['high']:.3g}: human scores agree on {bin_['agree']} of "
            f"{bin_['pairs']} pairs ({share:.0f}%)"
        )
        y = plane.get_y(share)
        parts.append(_draw_line(low, y, high, y, ' stroke-width="2"'))
        parts.append(
            f'<ellipse cx="{(low + high) / 2:.1f}" cy="{y:.1f}" rx="5" ry="5" fill="{COLOURS[0]}">'
            f"<title>{escape_html(tooltip)}</title></ellipse>"
        )
        # Labels of close bins may overlap, so some are omitted. Tooltips show all shares.
        x = max((low + high) / 2, LEFT + 20)
        for label_y in (y - 9, y + 20):
            if all(abs(x - a) > 40 or abs(label_y - b) > LINE for a, b in occupied):
                occupied.append((x, label_y))
                parts.append(render_svg_text(x, label_y, f"{share:.0f}%", "middle"))
                break
    pairs = sum(one["pairs"] for one in bins)
    tooltip = f"agreement of human scores on {pairs} system pairs, by difference in {metric}"
    return _assemble_svg(f"What difference in {metric} do people notice?", tooltip, parts)


PICTURES: Mapping[str, Callable[[Content, str], str]] = {
    "scatter": draw_scatter_plot,
    "agreement": draw_agreement_chart,
}


def render_charts(content: Content) -> str:
    """Return both charts of up to `MAX_CHARTS` metrics, truebleu's own metrics first."""
    rows = content["metrics"]
    names = [row["name"] for row in rows if row["signature"]]
    names += [row["name"] for row in rows if row["name"] not in names]
    return "\n".join(
        f"<figure>{picture(content, name)}</figure>"
        for name in names[:MAX_CHARTS]
        for picture in PICTURES.values()
    )
