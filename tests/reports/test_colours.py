"""Colours of the page: contrast, and distinctness for colour-blind readers."""

import itertools
import math
import re

import pytest

from truebleu.rendering import html
from truebleu.reports import html_page

CSS = (html_page.PACKAGE_FOLDER / "page.css").read_text(encoding="utf-8")
SYSTEM_COLOURS = re.findall(r"--c\d: (#\w{6});", CSS)
PAPER = re.search(r"--paper: light-dark\((#\w+), (#\w+)\)", CSS).groups()


def find_colour_pair(name):
    """Return a colour for light and for dark screens."""
    return re.search(rf"--{name}: light-dark\((#\w+), (#\w+)\)", CSS).groups()


# Machado, Oliveira and Fernandes (2009): complete deficiencies, for linear RGB.
VISION_MATRICES = {
    "all": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def multiply(matrix, vector):
    return [sum(x * y for x, y in zip(row, vector, strict=True)) for row in matrix]


def to_linear_rgb(colour):
    if len(colour) == 4:
        colour = "#" + "".join(c * 2 for c in colour[1:])
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]


def compute_contrast(first, second):
    """Return the contrast ratio of two colours (WCAG 2)."""
    light = [
        multiply([[0.2126, 0.7152, 0.0722]], to_linear_rgb(c))[0] + 0.05 for c in (first, second)
    ]
    return max(light) / min(light)


def to_lab(rgb):
    """Convert linear RGB to CIE L*a*b* at D65."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = multiply(to_xyz, [min(1, max(0, c)) for c in rgb])
    x, y, z = (
        t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116
        for t in (v / white for v, white in zip(xyz, (0.9505, 1, 1.089), strict=True))
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def compute_distance(first, second):
    """Return the smallest distance of two colours over all kinds of vision (ΔE 1976)."""
    colours = to_linear_rgb(first), to_linear_rgb(second)
    return min(
        math.dist(*(to_lab(multiply(matrix, colour)) for colour in colours))
        for matrix in VISION_MATRICES.values()
    )


def test_system_colours_are_distinguishable():
    assert len(SYSTEM_COLOURS) == 6
    for first, second in itertools.combinations(SYSTEM_COLOURS, 2):
        assert compute_distance(first, second) > 20, (first, second)


def test_better_and_worse_colours_are_distinguishable():
    for first, second, paper in zip(
        find_colour_pair("better"), find_colour_pair("worse"), PAPER, strict=True
    ):
        assert compute_distance(first, second) > 35
        for colour in (first, second):
            assert compute_contrast(colour, paper) >= 4.5
            assert min(compute_distance(colour, system) for system in SYSTEM_COLOURS) > 14


@pytest.mark.parametrize("name", ["better", "worse"])
def test_static_pages_have_same_colours(name):
    assert f"--{name}: light-dark({', '.join(find_colour_pair(name))});" in html.STYLE


def test_badge_letters_have_enough_contrast():
    dark = set(re.findall(r"\.badge\.sys-(\d)(?=[^{}]*\{ color: #10141c; \})", CSS))
    for number, colour in enumerate(SYSTEM_COLOURS):
        letter_colour = "#10141c" if str(number) in dark else "#ffffff"
        assert compute_contrast(colour, letter_colour) >= 4.5, colour
