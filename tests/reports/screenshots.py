"""Pictures of every view of the example's report, compared with accepted ones: `make screenshots`.

What is kept of an accepted picture is a line of tests/reports/accepted.json: where it gets
lighter to the right and downwards, and its colours, both on a coarse grid. That sees what moves,
vanishes or changes colour, is 40 KB for all of them, and does not mind how letters are smoothed.
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

ACCEPTED = Path(__file__).with_name("accepted.json")

# Beside the views themselves.
MORE = {
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

# The README and the site show these, light and dark; copies of them are in docs/.
DOCS = {"report-summary": "#summary", "report-segment": "#segments?sort=-influence&seg=118"}

# The grid of what gets lighter, and that of the colours.
GRID, COLOURS = 16, 6
# How many of the 512 comparisons may differ, and a part of a colour by how much of 255.
MOVED, SHIFTED = 26, 24


def main(folder: Path, *, accept: bool) -> int:
    """Writes all pictures, and says which are not as they were accepted; or accepts them."""
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    path = executable("chromium")
    if path is None:
        raise SystemExit("Pictures of the report need Chromium (Debian: apt-get install chromium).")
    made = {}
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        example = Example(Path(place), None, 1000)
        browser = launched(playwright, "chromium", path)
        for scheme in SCHEMES:
            for width, height in SIZES.items():
                for name, picture in pictures(browser, example.path, scheme, width, height):
                    made[f"{name}-{width}-{scheme}"] = picture
        for scheme, ending in zip(SCHEMES, ("", "-dark"), strict=True):
            context = browser.new_context(
                color_scheme=scheme, viewport={"width": 1360, "height": 700}
            )
            for name, where in DOCS.items():
                picture = smaller(taken(context, example.path, where))
                (folder / f"{name}{ending}.png").write_bytes(picture)
            context.close()
        browser.close()
    for name, picture in made.items():
        (folder / f"{name}.png").write_bytes(picture)
    told = {name: kept(picture) for name, picture in sorted(made.items())}
    print(f"{len(told)} pictures in {folder}")  # noqa: T201
    if accept:
        lines = (f"{json.dumps(name)}: {json.dumps(line)}" for name, line in told.items())
        ACCEPTED.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
        return 0
    known = json.loads(ACCEPTED.read_text("utf-8")) if ACCEPTED.exists() else {}
    wrong = differences(known, told)
    for line in wrong:
        print(line)  # noqa: T201
    if wrong:
        print("Look at them; `make screenshots ACCEPT=1` accepts what is there.")  # noqa: T201
    return int(bool(wrong))


def pictures(browser, path, scheme, width, height):
    """A picture of every view, and of the page without script, by its name."""
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
    for name, where in ({view: f"#{view}" for view in views} | MORE).items():
        yield name, taken(context, path, where)
    context.close()
    context = browser.new_context(java_script_enabled=False, **options)
    tab = context.new_page()
    tab.goto(path.as_uri())
    yield "static", tab.screenshot()
    context.close()


def taken(context, path, where):
    """A picture of an address, when nothing changes any more: intervals come from a worker."""
    tab = context.new_page()
    tab.goto(f"{path.as_uri()}{where}")
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


# ---- what is kept of a picture ----


def kept(picture: bytes) -> list[str]:
    """Where a picture gets lighter, and its colours, as hexadecimal digits."""
    with Image.open(io.BytesIO(picture)) as image:
        colours = image.convert("RGB").resize((COLOURS, COLOURS), Image.Resampling.BOX)
        grey = image.convert("L")
        bits = []
        for wide, high in ((GRID + 1, GRID), (GRID, GRID + 1)):
            light = grey.resize((wide, high), Image.Resampling.BOX).tobytes()
            right, down = (1, 0) if wide > high else (0, 1)
            bits += [
                # Plain paper is as light as its neighbour, and stays so.
                light[(y + down) * wide + x + right] > light[y * wide + x] + 2
                for y in range(GRID)
                for x in range(GRID)
            ]
        number = int("".join("01"[bit] for bit in bits), 2)
        return [f"{number:0{len(bits) // 4}x}", colours.tobytes().hex()]


def differences(known: dict[str, list[str]], told: dict[str, list[str]]) -> list[str]:
    """What is not as it was accepted, a sentence each."""
    wrong = [f"{name}: accepted, and no longer made" for name in sorted(set(known) - set(told))]
    for name, (shape, colours) in told.items():
        if name not in known:
            wrong.append(f"{name}: new")
            continue
        moved = (int(shape, 16) ^ int(known[name][0], 16)).bit_count()
        pairs = zip(bytes.fromhex(colours), bytes.fromhex(known[name][1]), strict=True)
        shifted = max(abs(a - b) for a, b in pairs)
        if moved > MOVED or shifted > SHIFTED:
            wrong.append(f"{name}: {moved} of 512 places moved, a colour by {shifted} of 255")
    return wrong


def smaller(picture: bytes) -> bytes:
    """A PNG with 256 of its colours, which is a fifth of the size."""
    with Image.open(io.BytesIO(picture)) as image:
        few = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
        out = io.BytesIO()
        few.save(out, "PNG", optimize=True)
        return out.getvalue()


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if word != "--accept"]
    place = Path(given[0] if given else "build/screenshots")
    sys.exit(main(place, accept="--accept" in sys.argv))
