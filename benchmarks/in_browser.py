"""Speed and memory of an open report: paint, list, sort, search, scrolling.

`measure_page` returns the figures of one page. BUDGETS lists the targets by number of segments, and
`make bench ROWS=report` checks them.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import corpus

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Debian's name comes first.
BROWSERS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")

MEGABYTE = 1e6

# Name: unit, and the limits for 1,000, 10,000 and 100,000 segments (two systems, one reference, a
# source).
BUDGETS: dict[str, tuple[str, dict[int, float]]] = {
    "file": ("MB", {1_000: 1, 10_000: 3, 100_000: 15}),
    "first paint": ("ms", {1_000: 300, 10_000: 300, 100_000: 300}),
    "list usable": ("ms", {1_000: 500, 10_000: 800, 100_000: 1500}),
    "sort": ("ms", {1_000: 20, 10_000: 20, 100_000: 150}),
    "search": ("ms", {1_000: 20, 10_000: 20, 100_000: 50}),
    # Two frames take at least 33.4 ms; with one missed frame, they take 50 ms.
    "scroll p95": ("ms", {1_000: 49, 10_000: 49, 100_000: 49}),
    "memory": ("MB", {1_000: 40, 10_000: 40, 100_000: 150}),
    "interval of 9 in 10": ("ms", {1_000: 200, 10_000: 200, 100_000: 1000}),
    "other tokenizer": ("ms", {1_000: 150, 10_000: 150}),
}

SORT = """name => {
  const button = [...document.querySelectorAll(".head button")].find(b => b.title.includes(name));
  const start = performance.now();
  button.click();
  document.querySelector(".grid").getBoundingClientRect();
  return performance.now() - start;
}"""

# Measures the time from the change of the URL until the list shows the results.
FILTER = """where => new Promise(done => {
  let start;
  addEventListener("hashchange", () => { start = performance.now(); }, {capture: true, once: true});
  addEventListener("hashchange", () => setTimeout(() => {
    document.querySelector("main").getBoundingClientRect();
    done(performance.now() - start);
  }), {once: true});
  location.hash = where;
})"""

SCROLL = """async () => {
  const grid = document.querySelector(".grid"), frame = () => new Promise(requestAnimationFrame);
  const times = [];
  for (let i = 0, at = 1; i < 60; i++) {
    at = (at * 7919 + 13) % 104729;
    const start = performance.now();
    grid.scrollTop = at / 104729 * (grid.scrollHeight - grid.clientHeight);
    await frame();
    await frame();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[Math.floor(0.95 * times.length)];
}"""


def write_report_page(folder: Path, segments: int) -> Path:
    """Write a report on two systems with a source, as `truebleu report` does; return its path."""
    import truebleu as tb

    text = corpus.load_four_references().head(segments)
    # Outputs of other systems serve as the second system and as the source.
    reference, second_reference, source, _ = text.references
    path = folder / f"report-{segments}.html"
    tb.report(
        {"one": text.hypotheses, "two": second_reference}, reference, source=source, path=path
    )
    return path


@contextmanager
def start_chromium() -> Iterator[Any]:
    """Yield a running browser, or None if no browser can be started."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        yield None
        return
    # Chromium's sandbox does not work for root, and containers run as root.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


def measure_page(browser: Any, path: Path, segments: int, runs: int = 3) -> dict[str, float]:
    """Return the figures of a page in the units of BUDGETS, as the minimum over several runs.

    All figures except sizes are elapsed times, which other work on the machine only increases.
    """
    measurements = [_measure_once(browser, path, segments) for _ in range(runs)]
    return {name: min(one[name] for one in measurements) for name in measurements[0]}


def format_figures(figures: dict[str, float]) -> str:
    """Return the figures with their units, as one line."""
    return ", ".join(
        f"{name} {_format_number(figures[name])} {BUDGETS[name][0]}" for name in figures
    )


def get_limits(segments: int) -> dict[str, float]:
    """Return the limit of each figure for a report on this number of segments."""
    return {name: most[segments] for name, (_, most) in BUDGETS.items() if segments in most}


def _format_number(x: float) -> str:
    return f"{x:.1f}" if x < 10 and x % 1 else f"{x:.0f}"


def _measure_once(browser: Any, path: Path, segments: int) -> dict[str, float]:
    context = browser.new_context(viewport={"width": 1360, "height": 850})
    context.add_init_script(
        """new MutationObserver((_, self) => {
          if (document.documentElement?.dataset.ready) {
            self.disconnect();
            requestAnimationFrame(() => { window.usable = performance.now(); });
          }
        }).observe(document, {attributes: true, subtree: true});"""
    )
    tab = context.new_page()
    tab.set_default_timeout(120_000)
    tab.goto(f"{path.as_uri()}#segments")
    tab.locator("html[data-ready]").wait_for(state="attached")
    tab.locator(".rows .row").first.wait_for()
    tab.wait_for_timeout(200)
    figures = {"file": path.stat().st_size / MEGABYTE}
    figures["first paint"] = tab.evaluate(
        "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"
    )
    figures["list usable"] = tab.evaluate("() => window.usable")
    figures["sort"] = tab.evaluate(SORT, "difference between the segment")
    figures["search"] = max(
        tab.evaluate(FILTER, f"#segments?find={word}") for word in ("house", "e")
    )
    tab.evaluate(FILTER, "#segments")
    figures["scroll p95"] = tab.evaluate(SCROLL)
    session = context.new_cdp_session(tab)
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")
    figures["memory"] = (used["usedSize"] + used["backingStorageSize"]) / MEGABYTE
    start = tab.evaluate("() => performance.now()")
    tab.evaluate(FILTER, "#segments?range=length:4:")
    tab.locator(".subset", has_text="bootstrap").wait_for()
    figures["interval of 9 in 10"] = tab.evaluate("() => performance.now()") - start
    if segments <= 10_000:
        start = tab.evaluate("() => performance.now()")
        tab.evaluate(FILTER, "#why?tokenize=char")
        tab.locator(".notice", has_text="tok:char").wait_for()
        figures["other tokenizer"] = tab.evaluate("() => performance.now()") - start
    context.close()
    return figures
