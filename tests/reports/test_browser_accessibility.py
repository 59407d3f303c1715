"""Accessibility of all views: axe-core in several appearances, scrolling and target sizes."""

from __future__ import annotations

import pytest
from axe_core import APPEARANCES, find_violations

pytestmark = pytest.mark.thorough

# States of views with open panels.
OPEN_STATES = {
    "segment": "#segments?seg=3",
    "tokens": "#segments?seg=17&mode=tokens",
    "differences": "#segments?seg=17&mode=diff",
    "filters": "#segments?panel=true&outcome=b&find=the",
    "nothing": "#segments?find=there+is+no+such+text",
    "chrF": "#segments?setting=1&seg=2",
    "TER": "#segments?setting=2&seg=2",
    "why chrF": "#why?setting=1",
    "changed": "#why?smoothing=floor&max_order=3",
    "TER's summary": "#summary?setting=2&a=aspen&b=birch",
}


@pytest.mark.parametrize("appearance", APPEARANCES)
def test_axe_finds_no_serious_violation(example, open_report, axe, appearance):
    sheet = open_report(example.path, script=axe, **APPEARANCES[appearance])
    places = {view: f"#{view}" for view in sheet.views} | OPEN_STATES
    violations = {}
    for name, place in places.items():
        violations |= {
            f"{name}: {rule}": nodes
            for rule, nodes in find_violations(sheet.navigate(place)).items()
        }
    sheet.navigate("#summary")
    sheet.page.keyboard.press("?")
    sheet.page.get_by_role("dialog").wait_for()
    violations |= {f"help: {rule}": nodes for rule, nodes in find_violations(sheet.page).items()}
    assert not violations


def test_static_summary_has_no_serious_violation(example, browser, axe):
    """Check the static summary without its scripts, because axe itself needs JavaScript."""
    context = browser.new_context()
    tab = context.new_page()
    text = example.path.read_text("utf-8")
    start, end = text.index("<script"), text.index("</body>")
    tab.set_content(text[:start] + text[end:])
    tab.evaluate(f"() => {{ {axe} }}")
    assert not find_violations(tab)
    context.close()


def test_fitting_tables_have_no_scroll_bar(example, open_report):
    """At 1360 pixels, no table of the summary needs a scroll bar."""
    sheet = open_report(example.path)
    for place in ("#summary", "#ngrams", "#documents"):
        tables = sheet.navigate(place).locator("main .table")
        for i in range(tables.count()):
            # Folded tables have no size.
            if not tables.nth(i).is_visible():
                continue
            wide, room, bar = tables.nth(i).evaluate(
                "t => [t.scrollWidth, t.clientWidth, t.offsetHeight - t.clientHeight]"
            )
            assert wide <= room, (place, i)
            assert bar == 0, (place, i)


def test_targets_are_at_least_24_pixels(example, open_report):
    """Controls outside of text are at least 24 pixels high and wide (WCAG 2.5.8)."""
    sheet = open_report(example.path)
    find_small_targets = """() => [...document.querySelectorAll("button, select, input, a[href]")]
      .filter(e => e.checkVisibility() && !e.matches(".skip"))
      .filter(e => getComputedStyle(e).display !== "inline")
      // A box is ticked by its label, too.
      .map(e => [e, /checkbox|radio/.test(e.type) ? e.closest("label") : e])
      .map(([e, place]) => [e, place.getBoundingClientRect()])
      .filter(([, box]) => box.width && (box.height < 23.5 || box.width < 23.5))
      .map(([e, box]) => `${e.outerHTML.slice(0, 120)} ${box.width}x${box.height}`)"""
    for place in [f"#{view}" for view in sheet.views] + list(OPEN_STATES.values()):
        assert not sheet.navigate(place).evaluate(find_small_targets), place
