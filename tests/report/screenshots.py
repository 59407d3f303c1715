"""Pictures of every view of the example data's report, light and dark: `make screenshots`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from conftest import BROWSERS
from pages import Example

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
SIZES = {"": (1360, 850), "narrow-": (390, 780)}


def main(folder: Path) -> None:
    """Writes a picture for each view, each way to look at it, and what stands in place of script."""
    import os
    import shutil

    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise SystemExit("Pictures of the report need Chromium (Debian: apt-get install chromium).")
    with tempfile.TemporaryDirectory() as made, sync_playwright() as playwright:
        example = Example(Path(made))
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
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
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/screenshots"))
