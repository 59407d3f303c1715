"""The list of a thousand segments, and of a hundred thousand: whole, sorted, searched, light.

What opening such a page costs in time and memory is measured by `make bench ROWS=report`.
"""

from __future__ import annotations

import re
from itertools import cycle, islice

import pytest
from browser_report import read_example_lines
from playwright_or_skip import expect

import truebleu as tb
from truebleu.reports import html_page

pytestmark = pytest.mark.thorough

# Milliseconds; what is waited for takes some ten of them, unless the machine is busy.
TIMEOUT_MILLISECONDS = 60_000


def make_texts(name: str, segments: int) -> list[str]:
    """As many lines of the example data, no two of them alike."""
    texts = islice(cycle(read_example_lines(f"de-en/{name}.en")), segments)
    return [f"{text} Number {i}." for i, text in enumerate(texts)]


@pytest.mark.parametrize("segments", [1_000, 10_000, 100_000])
def test_list_works_with_many_segments(open_report, tmp_path, segments):
    birch, cedar, reference = (
        make_texts(name, segments) for name in ("birch", "cedar", "reference.a")
    )
    path = tmp_path / "many.html"
    tb.report({"birch": birch, "cedar": cedar}, reference, path=path)
    # The viewer, and what is left of text so much alike when it is packed.
    assert path.stat().st_size < 800_000 + 110 * segments
    tab = open_report(path).go("#segments")
    tab.set_default_timeout(TIMEOUT_MILLISECONDS)

    # All of them are there, and the last can be reached.
    grid = tab.locator(".grid")
    expect(grid).to_have_attribute("aria-rowcount", f"{segments + 1}")
    grid.focus()
    tab.keyboard.press("End")
    last = tab.locator('.row[aria-selected="true"] .c-number > span').first
    expect(last).to_have_text(
        re.compile(f"^{segments}$|^{segments:,}$"), timeout=TIMEOUT_MILLISECONDS
    )

    # The largest difference comes first.
    metric = tb.BLEU(effective_order=True)
    scores = [metric.segments(system, reference) for system in (birch, cedar)]
    largest = max(abs(b - a) for a, b in zip(*scores, strict=True))
    tab.keyboard.press("Home")
    tab.locator(".head button[title*='difference of the segment']").click()
    first = tab.locator('.row[data-position="0"] .c-delta')
    delta_text = re.compile(f"^[+−]?{re.escape(f'{largest:.1f}')}$")
    expect(first).to_have_text(delta_text, timeout=TIMEOUT_MILLISECONDS)

    # What is searched is found, all of it.
    texts = zip(birch, cedar, reference, strict=True)
    match_count = sum("bridge" in " ".join(text).lower() for text in texts)
    tab.keyboard.press("/")
    tab.keyboard.type("bridge")
    subset_text = re.compile(f"^{match_count:,} of {segments:,} segments")
    expect(tab.locator(".subset")).to_have_text(subset_text, timeout=TIMEOUT_MILLISECONDS)


def test_viewer_is_at_most_345_kilobytes():
    """Beside a kernel of some 300 KB when packed, and the texts, no page notices more of it."""
    viewer = html_page.report_viewer()
    assert len(viewer.css.encode()) + len(viewer.script.encode()) <= 345_000
