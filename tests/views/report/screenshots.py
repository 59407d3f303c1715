"""Pictures of every view of the example data's report, light and dark: `make screenshots`."""

from __future__ import annotations

import os
import shutil
import struct
import sys
import tempfile
import zlib
from collections import Counter
from pathlib import Path

from conftest import BROWSERS
from opened import Example

SIGNATURE = b"\x89PNG\r\n\x1a\n"

Pixel = tuple[int, int, int]

# Extras the views themselves.
MORE = {
    "segment": "#segments?seg=17",
    "segment-tokens": "#segments?seg=17&mode=tokens",
    "segment-differences": "#segments?seg=17&mode=diff",
    "segment-chrf": "#segments?seg=17&setting=1",
    "segment-ter": "#segments?seg=17&setting=2",
    "segments-filters": "#segments?panel=true&outcome=b&find=the&sort=-influence",
    "why-other": "#why?smoothing=floor&max_order=3",
}
SIZES = {"": (1360, 850), "narrow-": (390, 780)}

# The README shows these; copies of them are in docs/.
README = {"report-summary": "#summary", "report-segment": "#segments?sort=-influence&seg=118"}


def main(folder: Path) -> None:
    """Writes a picture for each view, in light and dark, wide and narrow, and without script."""
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise SystemExit("Pictures of the report need Chromium (Debian: apt-get install chromium).")
    with tempfile.TemporaryDirectory() as made, sync_playwright() as playwright:
        example = Example(Path(made), None, 1000)
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(
            executable_path=path, args=arguments, ignore_default_args=["--hide-scrollbars"]
        )
        for scheme in ("light", "dark"):
            for size, (width, height) in SIZES.items():
                context = browser.new_context(
                    color_scheme=scheme, viewport={"width": width, "height": height}
                )
                tab = context.new_page()
                tab.goto(example.path.as_uri())
                tab.locator("html[data-ready]").wait_for(state="attached")
                views = tab.locator("nav a").evaluate_all(
                    "all => all.map(a => a.getAttribute('href').slice(1).split('?')[0])"
                )
                for name, where in ({view: f"#{view}" for view in views} | MORE).items():
                    tab.goto("about:blank")
                    tab.goto(f"{example.path.as_uri()}{where}")
                    tab.locator("html[data-ready]").wait_for(state="attached")
                    # Intervals are computed in the background.
                    tab.wait_for_timeout(400)
                    tab.screenshot(path=folder / f"{size}{name}-{scheme}.png")
                context.close()
            context = browser.new_context(color_scheme=scheme, java_script_enabled=False)
            tab = context.new_page()
            tab.goto(example.path.as_uri())
            tab.screenshot(path=folder / f"static-{scheme}.png", full_page=True)
            context.close()
        browser.close()
        # Scroll bars are no part of what is told there.
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        tab = browser.new_page(viewport={"width": 1360, "height": 700}, color_scheme="light")
        for name, where in README.items():
            tab.goto("about:blank")
            tab.goto(f"{example.path.as_uri()}{where}")
            tab.locator("html[data-ready]").wait_for(state="attached")
            tab.wait_for_timeout(400)
            (folder / f"{name}.png").write_bytes(smaller(tab.screenshot()))
        browser.close()
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}")  # noqa: T201


# ---- pictures with 256 colours, a fifth of the size ----


def smaller(picture: bytes) -> bytes:
    """A PNG with 256 of its colours; the others, which are the edges of letters, become those."""
    width, height, rows = _pixels(picture)
    counts = Counter(pixel for row in rows for pixel in row)
    palette = [colour for colour, _ in counts.most_common(192)]
    far = {
        colour: min(_distance(colour, known) for known in palette)
        for colour, count in counts.items()
        if count > 3
    }
    # Then those that are least like any other, so that what is small keeps its colour.
    while len(palette) < 256 and far:
        palette.append(max(far, key=far.__getitem__))
        far = {c: min(d, _distance(c, palette[-1])) for c, d in far.items() if c != palette[-1]}
    place = {c: min(range(len(palette)), key=lambda i: _distance(palette[i], c)) for c in counts}
    data = b"".join(b"\0" + bytes(place[pixel] for pixel in row) for row in rows)
    chunks = {
        b"IHDR": struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0),
        b"PLTE": b"".join(bytes(colour) for colour in palette),
        b"IDAT": zlib.compress(data, 9),
        b"IEND": b"",
    }
    written = SIGNATURE
    for kind, content in chunks.items():
        check = zlib.crc32(kind + content)
        written += struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)
    return written


def _distance(a: Pixel, b: Pixel) -> int:
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


def _pixels(picture: bytes) -> tuple[int, int, list[list[Pixel]]]:
    """Width, height and pixels of a PNG with 8 bits a channel, as browsers write them."""
    at, packed = len(SIGNATURE), b""
    width = height = channels = 0
    while at < len(picture):
        length, kind = struct.unpack_from(">I4s", picture, at)
        content = picture[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack_from(">IIBB", content)
            channels = {2: 3, 6: 4}[colour]
            assert depth == 8
        elif kind == b"IDAT":
            packed += content
        at += length + 12
    raw = zlib.decompress(packed)
    stride = width * channels
    above = [0] * stride
    rows = []
    for y in range(height):
        kind, line = (
            raw[y * (stride + 1)],
            bytearray(raw[y * (stride + 1) + 1 : (y + 1) * (stride + 1)]),
        )
        for i in range(stride):
            left = line[i - channels] if i >= channels else 0
            corner = above[i - channels] if i >= channels else 0
            line[i] = (line[i] + _predicted(kind, left, above[i], corner)) & 255
        rows.append([(line[i], line[i + 1], line[i + 2]) for i in range(0, stride, channels)])
        above = line
    return width, height, rows


def _predicted(kind: int, left: int, up: int, corner: int) -> int:
    """What a filter of PNG expects of a byte."""
    if kind < 4:
        return (0, left, up, (left + up) // 2)[kind]
    guess = left + up - corner
    return min((left, up, corner), key=lambda x: abs(guess - x))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/screenshots"))
