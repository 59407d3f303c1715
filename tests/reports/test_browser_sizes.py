"""Segment lists of up to 100,000 segments: completeness, sorting, search and size.

`make bench ROWS=report` measures the time and memory that such a page needs.
"""

from __future__ import annotations

import re
from itertools import cycle, islice

import pytest
from paths import read_example_lines
from playwright_or_skip import expect

import truebleu as tb
from truebleu.reports import html_page

pytestmark = pytest.mark.thorough

# Operations take about ten milliseconds, unless the machine is busy.
TIMEOUT_MILLISECONDS = 60_000


def make_texts(name: str, segments: int) -> list[str]:
    """Return distinct lines made from the example data."""
    texts = islice(cycle(read_example_lines(f"de-en/{name}.en")), segments)
    return [f"{text} Number {i}." for i, text in enumerate(texts)]


@pytest.mark.parametrize("segments", [1_000, 10_000, 100_000])
def test_list_works_with_many_segments(open_report, tmp_path, segments):
    birch, cedar, reference = (
        make_texts(name, segments) for name in ("birch", "cedar", "reference.a")
    )
    path = tmp_path / "many.html"
    tb.report({"birch": birch, "cedar": cedar}, reference, path=path)
    # Size of the viewer, plus the compressed texts, which are similar to each other.
    assert path.stat().st_size < 800_000 + 110 * segments
    sheet = open_report(path, "#segments")
    tab = sheet.page
    tab.set_default_timeout(TIMEOUT_MILLISECONDS)

    # The largest difference comes first.
    metric = tb.BLEU(effective_order=True)
    scores = [metric.segments(system, reference) for system in (birch, cedar)]
    largest = max(abs(b - a) for a, b in zip(*scores, strict=True))
    first = tab.locator('.row[data-position="0"] .c-delta')
    delta_text = re.compile(f"^[+−]?{re.escape(f'{largest:.1f}')}$")
    expect(first).to_have_text(delta_text, timeout=TIMEOUT_MILLISECONDS)

    # The list is complete, and its last segment can be reached.
    sheet.navigate("#segments?sort=number")
    grid = tab.locator(".grid")
    expect(grid).to_have_attribute("aria-rowcount", f"{segments + 1}")
    grid.focus()
    tab.keyboard.press("End")
    last = tab.locator('.row[aria-selected="true"] .c-number > span').first
    expect(last).to_have_text(
        re.compile(f"^{segments}$|^{segments:,}$"), timeout=TIMEOUT_MILLISECONDS
    )

    # The search finds all matches.
    texts = zip(birch, cedar, reference, strict=True)
    match_count = sum("bridge" in " ".join(text).lower() for text in texts)
    tab.keyboard.press("/")
    tab.keyboard.type("bridge")
    subset_text = re.compile(f"^{match_count:,} of {segments:,} segments")
    expect(tab.locator(".subset")).to_have_text(subset_text, timeout=TIMEOUT_MILLISECONDS)


def test_viewer_is_at_most_380_kilobytes():
    """The viewer stays small compared with the kernel (about 300 KB compressed) and the texts."""
    viewer = html_page.load_report_viewer()
    assert len(viewer.css.encode()) + len(viewer.script.encode()) <= 380_000
