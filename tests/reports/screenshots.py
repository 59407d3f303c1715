"""Compare screenshots of all views of the example report with accepted ones: `make screenshots`.

Each accepted screenshot has a fingerprint in tests/reports/accepted.json: the places where it gets
lighter to the right and downwards, and its colours, both on a coarse grid. A fingerprint detects
elements that move, vanish or change colour, but ignores font smoothing. All of them need 40 KB.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
from pathlib import Path

from browser_report import Example
from browsers import executable, launched
from PIL import Image

ACCEPTED_PATH = Path(__file__).with_name("accepted.json")

# States to capture in addition to the plain views.
EXTRA_VIEWS = {
    "segment": "#segments?seg=17",
    "segment-tokens": "#segments?seg=17&mode=tokens",
    "segment-differences": "#segments?seg=17&mode=diff",
    "segment-chrf": "#segments?seg=17&setting=1",
    "segment-ter": "#segments?seg=17&setting=2",
    "segments-filters": "#segments?panel=true&outcome=b&find=the&sort=-influence",
    "why-other": "#why?smoothing=floor&max_order=3",
}
SIZES = {1440: 900, 1024: 768, 390: 844}
SCHEMES = ("light", "dark")

# The README and the site show these images in light and dark; docs/ contains copies.
DOCUMENTATION_VIEWS = {
    "report-summary": "#summary",
    "report-segment": "#segments?sort=-influence&seg=118",
}

# Sizes of the grids for brightness changes and for colours.
SHAPE_GRID, COLOUR_GRID = 16, 6
# Tolerances: differing cells of 512, and difference of a colour channel (0 to 255).
MAX_MOVED_CELLS, MAX_COLOUR_SHIFT = 26, 24


def main(folder: Path, *, accept: bool) -> int:
    """Write all screenshots, then report the differences from the accepted ones or accept them."""
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    path = executable("chromium")
    if path is None:
        raise SystemExit("Pictures of the report need Chromium (Debian: apt-get install chromium).")
    screenshots = {}
    with tempfile.TemporaryDirectory() as target_folder, sync_playwright() as playwright:
        example = Example(Path(target_folder), None, 1000)
        browser = launched(playwright, "chromium", path)
        for scheme in SCHEMES:
            for width, height in SIZES.items():
                for name, picture in take_view_screenshots(
                    browser, example.path, scheme, width, height
                ):
                    screenshots[f"{name}-{width}-{scheme}"] = picture
        for scheme, suffix in zip(SCHEMES, ("", "-dark"), strict=True):
            context = browser.new_context(
                color_scheme=scheme, viewport={"width": 1360, "height": 700}
            )
            for name, fragment in DOCUMENTATION_VIEWS.items():
                picture = reduce_colours(take_stable_screenshot(context, example.path, fragment))
                (folder / f"{name}{suffix}.png").write_bytes(picture)
            context.close()
        browser.close()
    for name, picture in screenshots.items():
        (folder / f"{name}.png").write_bytes(picture)
    fingerprints = {name: fingerprint(picture) for name, picture in sorted(screenshots.items())}
    print(f"{len(fingerprints)} pictures in {folder}")  # noqa: T201
    if accept:
        lines = (f"{json.dumps(name)}: {json.dumps(line)}" for name, line in fingerprints.items())
        ACCEPTED_PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
        return 0
    accepted = json.loads(ACCEPTED_PATH.read_text("utf-8")) if ACCEPTED_PATH.exists() else {}
    problems = describe_differences(accepted, fingerprints)
    for line in problems:
        print(line)  # noqa: T201
    if problems:
        print("Look at them; `make screenshots ACCEPT=1` accepts what is there.")  # noqa: T201
    return int(bool(problems))


def take_view_screenshots(browser, path, scheme, width, height):
    """Yield the name and screenshot of each view, and of the page without script."""
    options = {"color_scheme": scheme, "reduced_motion": "reduce"}
    options["viewport"] = {"width": width, "height": height}
    context = browser.new_context(**options)
    tab = context.new_page()
    tab.goto(path.as_uri())
    tab.locator("html[data-ready]").wait_for(state="attached")
    views = tab.locator("nav a").evaluate_all(
        "all => all.map(a => a.getAttribute('href').slice(1).split('?')[0])"
    )
    tab.close()
    for name, fragment in ({view: f"#{view}" for view in views} | EXTRA_VIEWS).items():
        yield name, take_stable_screenshot(context, path, fragment)
    context.close()
    context = browser.new_context(java_script_enabled=False, **options)
    tab = context.new_page()
    tab.goto(path.as_uri())
    yield "static", tab.screenshot()
    context.close()


def take_stable_screenshot(context, path, fragment):
    """Return a screenshot of a view once it is stable, because a worker computes the intervals."""
    tab = context.new_page()
    tab.goto(f"{path.as_uri()}{fragment}")
    tab.locator("html[data-ready]").wait_for(state="attached")
    before = b""
    for _ in range(20):
        tab.wait_for_timeout(300)
        picture = tab.screenshot()
        if picture == before:
            break
        before = picture
    tab.close()
    return picture


# ---- fingerprints ----


def fingerprint(picture: bytes) -> list[str]:
    """Return the brightness changes and the colours of an image as hexadecimal digits."""
    with Image.open(io.BytesIO(picture)) as image:
        colours = image.convert("RGB").resize((COLOUR_GRID, COLOUR_GRID), Image.Resampling.BOX)
        grey = image.convert("L")
        bits = []
        for width, height in ((SHAPE_GRID + 1, SHAPE_GRID), (SHAPE_GRID, SHAPE_GRID + 1)):
            brightness = grey.resize((width, height), Image.Resampling.BOX).tobytes()
            right, down = (1, 0) if width > height else (0, 1)
            bits += [
                # The threshold ignores uniform areas.
                brightness[(y + down) * width + x + right] > brightness[y * width + x] + 2
                for y in range(SHAPE_GRID)
                for x in range(SHAPE_GRID)
            ]
        number = int("".join("01"[bit] for bit in bits), 2)
        return [f"{number:0{len(bits) // 4}x}", colours.tobytes().hex()]


def describe_differences(
    accepted: dict[str, list[str]], current: dict[str, list[str]]
) -> list[str]:
    """Return a sentence for each difference from the accepted fingerprints."""
    problems = [
        f"{name}: accepted, and no longer made" for name in sorted(set(accepted) - set(current))
    ]
    for name, (shape, colours) in current.items():
        if name not in accepted:
            problems.append(f"{name}: new")
            continue
        moved = (int(shape, 16) ^ int(accepted[name][0], 16)).bit_count()
        pairs = zip(bytes.fromhex(colours), bytes.fromhex(accepted[name][1]), strict=True)
        shifted = max(abs(a - b) for a, b in pairs)
        if moved > MAX_MOVED_CELLS or shifted > MAX_COLOUR_SHIFT:
            problems.append(f"{name}: {moved} of 512 places moved, a colour by {shifted} of 255")
    return problems


def reduce_colours(picture: bytes) -> bytes:
    """Return a PNG with 256 colours, which has a fifth of the size."""
    with Image.open(io.BytesIO(picture)) as image:
        reduced = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
        buffer = io.BytesIO()
        reduced.save(buffer, "PNG", optimize=True)
        return buffer.getvalue()


if __name__ == "__main__":
    folders = [word for word in sys.argv[1:] if word != "--accept"]
    target_folder = Path(folders[0] if folders else "build/screenshots")
    sys.exit(main(target_folder, accept="--accept" in sys.argv))
