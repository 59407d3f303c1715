"""Two pictures as SVG: systems by people and metric, and how often people agree by difference.

They have their own colours as attributes, and follow a dark page through `currentColor`: a page's
policy allows no style but its own. Points are ellipses, because a page's style colours circles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any

from truebleu.rendering.html import escape_html
from truebleu.rendering.number_format import choose_ticks

Content = Mapping[str, Any]
WIDTH, HEIGHT = 640, 420
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 34, 52
# Colours that the colour-blind tell apart, on white and on black (Okabe and Ito 2008).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
# The metrics that a page draws at most, each with both pictures.
MAX_CHARTS = 4
LETTER, LINE = 6.0, 12.0


class Plane:
    """A rectangle with values along both sides."""

    def __init__(self, across: Sequence[float], up: Sequence[float]) -> None:
        self.across = _span(across)
        self.up = _span(up)

    def x(self, value: float) -> float:
        """Return the horizontal position of a value."""
        low, high = self.across
        return LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """Return the vertical position of a value."""
        low, high = self.up
        return HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    def axes(self, across: str, up: str) -> list[str]:
        """Lines, their values and their names."""
        bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
        parts = [
            _line(LEFT, bottom, right, bottom),
            _line(LEFT, TOP, LEFT, bottom),
            _text((LEFT + right) / 2, HEIGHT - 10, across, "middle"),
        ]
        turned = f"translate(16 {(TOP + bottom) / 2:.0f}) rotate(-90)"
        parts.append(f'<text transform="{turned}" text-anchor="middle">{escape_html(up)}</text>')
        for value in choose_ticks(*self.across):
            parts.append(_line(self.x(value), bottom, self.x(value), bottom + 4))
            parts.append(_text(self.x(value), bottom + 18, f"{value:g}", "middle"))
        for value in choose_ticks(*self.up):
            parts.append(_line(LEFT - 4, self.y(value), LEFT, self.y(value)))
            parts.append(_text(LEFT - 8, self.y(value) + 4, f"{value:g}", "end"))
        return parts


def _span(values: Sequence[float]) -> tuple[float, float]:
    """Return the range of values with a margin."""
    finite_values = [value for value in values if isfinite(value)] or [0.0]
    low, high = min(finite_values), max(finite_values)
    margin = (high - low) * 0.06 or abs(high) * 0.06 or 1.0
    return low - margin, high + margin


def _line(x1: float, y1: float, x2: float, y2: float, attributes: str = "") -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        f'stroke="currentColor"{attributes}/>'
    )


def _text(x: float, y: float, text: str, anchor: str = "start", attributes: str = "") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{attributes}>'
        f"{escape_html(text)}</text>"
    )


def _drawing(title: str, description: str, parts: Sequence[str]) -> str:
    head = _text(LEFT, 18, title, attributes=' font-size="13" font-weight="bold"')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" '
        f'aria-label="{escape_html(description)}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" '
        'font-family="sans-serif" font-size="11" fill="currentColor">'
        f"<title>{escape_html(description)}</title>"
        f"{head}{''.join(parts)}</svg>"
    )


def scatter(content: Content, metric: str) -> str:
    """Return a scatter plot of systems by human and metric score, with one colour per set."""
    points = [
        (one["set"], one["system"], one["human"], one["scores"][metric])
        for one in content["systems"]
        if isfinite(one["human"]) and isfinite(one["scores"][metric])
    ]
    sets = list(dict.fromkeys(name for name, *_ in points))
    gold = ", ".join(dict.fromkeys(one["gold"] for one in content["sets"]))
    plane = Plane([p[3] for p in points], [p[2] for p in points])
    parts = plane.axes(metric, f"people ({gold})")
    occupied: list[tuple[float, float, float, float]] = [
        (plane.x(own) - 5, plane.y(human) - 5, plane.x(own) + 5, plane.y(human) + 5)
        for _, _, human, own in points
    ]
    for name, system, human, metric_score in sorted(points, key=lambda point: -point[2]):
        x, y = plane.x(metric_score), plane.y(human)
        colour = COLOURS[sets.index(name) % len(COLOURS)]
        tooltip = f"{system}, {name}: people {human:.4g}, {metric} {metric_score:.4g}"
        parts.append(
            f'<ellipse cx="{x:.1f}" cy="{y:.1f}" rx="4" ry="4" fill="{colour}">'
            f"<title>{escape_html(tooltip)}</title></ellipse>"
        )
        label_position = _free(x, y, len(system) * LETTER, occupied)
        if label_position is not None:
            parts.append(_text(*label_position, system, attributes=' font-size="10"'))
    if len(sets) > 1:
        for i, name in enumerate(sets):
            legend_x = WIDTH - RIGHT - 90 * (len(sets) - i)
            parts.append(
                f'<ellipse cx="{legend_x}" cy="14" rx="4" ry="4" '
                f'fill="{COLOURS[i % len(COLOURS)]}"/>'
            )
            parts.append(_text(legend_x + 8, 18, name))
    tooltip = f"{len(points)} systems by {metric} and by people's scores"
    return _drawing(f"{metric} and people", tooltip, parts)


def _free(
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


def agreement(content: Content, metric: str) -> str:
    """Return a chart of how often people agree with a difference, by its size."""
    bins: list[Mapping[str, Any]] = [o for o in content["agreement"] if o["metric"] == metric]
    ends = [one[end] for one in bins for end in ("low", "high")]
    plane = Plane([0.0, *ends], [0.0, 100.0])
    plane.up = (0.0, 105.0)
    plane.across = (0.0, plane.across[1])
    parts = plane.axes(f"difference in {metric} between two systems", "people agree, %")
    chance = plane.y(50.0)
    parts.append(
        _line(LEFT, chance, WIDTH - RIGHT, chance, ' stroke-dasharray="4 4" opacity="0.5"')
    )
    parts.append(_text(WIDTH - RIGHT, chance - 4, "a coin", "end"))
    for bin_ in bins:
        share = 100 * bin_["agree"] / bin_["pairs"]
        low, high = plane.x(bin_["low"]), plane.x(bin_["high"])
        tooltip = (
            f"{bin_['low']:.3g} to {bin_['high']:.3g}: people agree on {bin_['agree']} of "
            f"{bin_['pairs']} pairs ({share:.0f} %)"
        )
        y = plane.y(share)
        parts.append(_line(low, y, high, y, ' stroke-width="2"'))
        parts.append(
            f'<ellipse cx="{(low + high) / 2:.1f}" cy="{y:.1f}" rx="5" ry="5" fill="{COLOURS[0]}">'
            f"<title>{escape_html(tooltip)}</title></ellipse>"
        )
        parts.append(_text((low + high) / 2, y - 9, f"{share:.0f} %", "middle"))
    pairs = sum(one["pairs"] for one in bins)
    tooltip = f"how often people agree with a difference in {metric}, of {pairs} pairs of systems"
    return _drawing(f"What difference in {metric} do people notice?", tooltip, parts)


PICTURES: Mapping[str, Callable[[Content, str], str]] = {
    "scatter": scatter,
    "agreement": agreement,
}


def into_page(page: str, content: Content) -> str:
    """Return a page with both charts of the metrics that truebleu computes, and of the first."""
    if not content["systems"]:
        return page
    pictures = f"<h2>Pictures</h2>\n{figures(content)}\n</main>"
    return pictures.join(page.rsplit("</main>", 1))


def figures(content: Content) -> str:
    """Return both charts of up to `MAX_CHARTS` metrics, those that truebleu computes first."""
    rows = content["metrics"]
    names = [row["name"] for row in rows if row["signature"]]
    names += [row["name"] for row in rows if row["name"] not in names]
    return "\n".join(
        f"<figure>{picture(content, name)}</figure>"
        for name in names[:MAX_CHARTS]
        for picture in PICTURES.values()
    )
