"""Keyboard control, URLs and exports of the page."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from browser_report import PythonNumbers, download_file
from playwright_or_skip import expect, only_chromium

from truebleu import Comparison

pytestmark = pytest.mark.thorough

# Describes the focused element: position and name, inside the page or not, visible focus, size.
DESCRIBE_FOCUS = """() => {
  const e = document.activeElement, box = e.getBoundingClientRect();
  const name = e.getAttribute("aria-label") ?? e.labels?.[0]?.textContent ?? e.textContent;
  const {outlineStyle, outlineWidth} = getComputedStyle(e);
  // In a picture a frame is drawn instead of an outline, or a knob is filled.
  const part = query => e.querySelector(query) ?? document.body;
  const marked = outlineStyle !== "none" && outlineWidth !== "0px" ||
    getComputedStyle(part(":scope > .back")).stroke !== "none" ||
    getComputedStyle(part(":scope > .knob")).strokeWidth === "3px";
  const place = [...document.querySelectorAll("*")].indexOf(e);
  return [`${place} ${e.tagName} ${name}`, e !== document.body, marked, box.width, box.height];
}"""


def press_keys(tab, *keys):
    for key in keys:
        tab.keyboard.press(key)


def locate_heading(tab, number):
    return tab.get_by_role("heading", name=re.compile(rf"^Segment {number}\b"))


@pytest.fixture
def tab(example, open_report):
    return open_report(example.path).page


@pytest.fixture
def segments_view(example, open_report):
    return open_report(example.path, "#segments?sort=number").page


# ---- navigation between views ----


def test_each_view_has_a_key(tab):
    rail = tab.locator("nav a").evaluate_all(
        "all => all.map(a => [a.title, a.getAttribute('href').slice(1).split('?')[0]])"
    )
    keys = [title.split()[1] for title, _ in rail]
    assert len(set(keys)) == len(keys)
    assert keys[:3] == ["s", "w", "e"]
    for key, (_, view) in zip(keys[::-1], rail[::-1], strict=True):
        press_keys(tab, "g", key)
        expect(tab.locator(f"main.view.{view}")).to_be_visible()
        expect(tab.locator("nav [aria-current=page]")).to_have_attribute("title", f"g {key}")
        expect(tab.locator("main.view h1").first).to_be_attached()


def test_tab_key_shows_focus_in_each_view(example, open_report):
    for view in open_report(example.path).views:
        # Use a new browser tab per view, because the Tab key leaves the page at its end.
        tab = open_report(example.path, f"#{view}").page
        tab.locator("a").first.focus()
        seen = set()
        for _ in range(60):
            tab.keyboard.press("Tab")
            name, inside, marked, wide, high = tab.evaluate(DESCRIBE_FOCUS)
            if not inside or name in seen:
                break
            seen.add(name)
            assert marked, f"{view}: {name} has no visible focus"
            assert wide > 0, name
            assert high > 0, name
        assert len(seen) > 10, view


def test_skip_link_is_first(tab):
    tab.keyboard.press("Tab")
    expect(tab.get_by_role("link", name="Skip to content")).to_be_focused()
    tab.keyboard.press("Enter")
    expect(tab.locator("main.view")).to_be_focused()


# ---- segment list ----


def test_keys_move_open_and_close_segments(segments_view):
    press_keys(segments_view, "j", "j", "k", "Enter")
    expect(locate_heading(segments_view, 2)).to_be_visible()
    press_keys(segments_view, "j")
    expect(locate_heading(segments_view, 3)).to_be_visible()
    press_keys(segments_view, "k", "k")
    expect(locate_heading(segments_view, 1)).to_be_visible()
    press_keys(segments_view, "Escape")
    expect(segments_view.locator(".detail")).to_be_hidden()
    # The list has the focus, so arrow keys move in it.
    press_keys(segments_view, "ArrowDown", "ArrowDown", "Enter")
    expect(locate_heading(segments_view, 3)).to_be_visible()


def test_grid_keys_move_active_row(segments_view):
    segments_view.locator(".grid").focus()
    active = segments_view.locator('.row[aria-selected="true"] .c-number > span').first
    expect(active).to_have_text("1")
    press_keys(segments_view, "End")
    expect(active).to_have_text("128")
    press_keys(segments_view, "PageUp")
    expect(active).not_to_have_text("128")
    press_keys(segments_view, "Home")
    expect(active).to_have_text("1")
    press_keys(segments_view, "PageDown", "ArrowUp")
    expect(active).not_to_have_text("1")
    grid = segments_view.locator(".grid")
    expect(grid).to_have_attribute("aria-rowcount", "129")
    selected = segments_view.locator('.row[aria-selected="true"]')
    expect(grid).to_have_attribute("aria-activedescendant", selected.get_attribute("id"))


def test_search_key_opens_segment_list(tab):
    # The key opens the list from any view.
    press_keys(tab, "/")
    box = tab.get_by_role("searchbox")
    expect(box).to_be_focused()
    tab.keyboard.type("bridge")
    expect(tab.locator(".subset")).to_contain_text("of 128 segments")
    # Typed letters are not shortcuts.
    expect(box).to_have_value("bridge")
    press_keys(tab, "Escape")
    expect(box).not_to_be_focused()
    # Wait longer than the search delay: the text stays, though browsers clear fields on Escape.
    tab.wait_for_timeout(200)
    expect(box).to_have_value("bridge")
    expect(tab.locator(".chips button").first).to_contain_text("bridge")


def test_filter_panel_works_by_keyboard(segments_view, example):
    press_keys(segments_view, "f")
    panel = segments_view.locator("#filters")
    expect(panel).to_be_visible()
    expect(segments_view.get_by_label("Better")).to_be_focused()
    segments_view.keyboard.press("ArrowDown")
    expect(segments_view.locator(".chips")).to_contain_text("better")
    segments_view.get_by_label("Document").focus()
    segments_view.keyboard.press("ArrowDown")
    expect(segments_view.locator(".chips")).to_contain_text("document")
    low = segments_view.get_by_label("Reference length (tokens), from")
    low.focus()
    segments_view.keyboard.type("12")
    segments_view.keyboard.press("Enter")
    expect(segments_view.locator(".chips")).to_contain_text("Reference length (tokens) ≥ 12")
    press_keys(segments_view, "Escape")
    press_keys(segments_view, "f")
    expect(panel).to_be_hidden()


def test_sort_menu_works_by_keyboard(segments_view):
    press_keys(segments_view, "s")
    expect(segments_view.get_by_role("menu")).to_be_visible()
    press_keys(segments_view, "ArrowDown", "ArrowDown", "Enter")
    expect(segments_view.get_by_role("menu")).to_be_hidden()
    deltas = segments_view.locator(".rows .row").evaluate_all(
        "rows => rows.sort((a, b) => a.dataset.position - b.dataset.position)"
        ".map(r => Number(r.querySelector('.c-delta').textContent.replace('−', '-')))"
    )
    assert deltas == sorted(deltas, reverse=True)
    # A click on a header sorts, too.
    segments_view.get_by_role("button", name=re.compile("Influence")).focus()
    press_keys(segments_view, "Enter")
    header = segments_view.get_by_role("columnheader", name=re.compile("Influence"))
    expect(header).to_have_attribute("aria-sort", "descending")


def test_keys_select_systems(segments_view):
    a, b = (segments_view.get_by_label(name) for name in ("Baseline", "Compared system"))
    expect(a).to_have_value("1")
    press_keys(segments_view, "3")
    expect(b).to_have_value("2")
    press_keys(segments_view, "x")
    expect(a).to_have_value("2")
    expect(b).to_have_value("1")
    press_keys(segments_view, "b")
    expect(a).to_have_value("0")
    expect(b).to_have_value("1")
    press_keys(segments_view, "3")
    expect(b).to_have_value("2")


def test_keys_change_highlight_mode(segments_view):
    press_keys(segments_view, "Enter")
    expect(locate_heading(segments_view, 1)).to_be_visible()
    modes = ("Diff B–A", "Diff with reference", "Tokens", "Matches")
    for key, name in zip("ddtm", modes, strict=True):
        press_keys(segments_view, key)
        expect(segments_view.locator(".modes [aria-pressed=true]")).to_have_text(name)


def test_tokens_are_reached_by_keyboard(segments_view):
    press_keys(segments_view, "Enter")
    token = segments_view.locator(".detail [data-token]").first
    token.focus()
    info = segments_view.locator(".token-info")
    expect(info).to_contain_text(f"“{token.inner_text()}”")
    press_keys(segments_view, "ArrowRight")
    expect(segments_view.locator(".detail [data-token]").nth(1)).to_be_focused()


def test_keys_select_random_segment_and_document(segments_view, example):
    press_keys(segments_view, "r")
    expect(segments_view.locator(".detail h2")).to_be_visible()
    press_keys(segments_view, "Escape", "Home", "]")
    second = next(i for i, d in enumerate(example.documents) if d != example.documents[0])
    active = segments_view.locator('.row[aria-selected="true"] .c-number > span').first
    expect(active).to_have_text(str(second + 1))
    press_keys(segments_view, "[")
    expect(active).to_have_text("1")


def test_key_copies_link(segments_view):
    segments_view.context.grant_permissions(["clipboard-read", "clipboard-write"])
    press_keys(segments_view, "j", "j", "Enter", "y")
    expect(segments_view.locator("#toast")).to_have_text("Link copied")
    copied = segments_view.evaluate("() => navigator.clipboard.readText()")
    assert copied == segments_view.url
    assert copied.endswith("seg=3")


def test_shortcuts_can_be_disabled(tab):
    press_keys(tab, "?")
    dialog = tab.get_by_role("dialog")
    text = dialog.inner_text()
    for key in ("Enter", "Escape", *"jk/fsbxdmtr[]y?"):
        assert dialog.locator("kbd", has_text=re.compile(f"^{re.escape(key)}$")).count(), key
    assert "compare this system with the baseline" in text
    box = dialog.get_by_label("Single-key shortcuts")
    box.focus()
    press_keys(tab, "Space", "Escape")
    expect(dialog).to_be_hidden()
    press_keys(tab, "g", "e")
    expect(tab.locator("main.view.summary")).to_be_visible()
    tab.reload()
    tab.locator("html[data-ready]").wait_for(state="attached")
    press_keys(tab, "g", "e", "x")
    expect(tab.locator("main.view.summary")).to_be_visible()


@only_chromium
def test_theme_can_be_changed(tab):
    background = "() => getComputedStyle(document.body).backgroundColor"
    tab.emulate_media(color_scheme="dark")
    dark = tab.evaluate(background)
    tab.emulate_media(color_scheme="light")
    light = tab.evaluate(background)
    assert dark != light
    tab.get_by_role("button", name="Theme: auto").focus()
    press_keys(tab, "Enter", "Enter")
    assert tab.evaluate(background) == dark
    tab.reload()
    expect(tab.get_by_role("button", name="Theme: dark")).to_be_visible()


# ---- URLs ----


def test_browser_history_restores_views(tab):
    press_keys(tab, "g", "e")
    expect(tab.locator("main.view.segments")).to_be_visible()
    second = tab.locator('.row[data-position="1"] .c-number > span').first.inner_text()
    press_keys(tab, "j", "Enter")
    expect(locate_heading(tab, second)).to_be_visible()
    tab.evaluate("history.back()")
    expect(tab.locator(".detail")).to_be_hidden()
    tab.evaluate("history.back()")
    expect(tab.locator("main.view.summary")).to_be_visible()
    tab.evaluate("history.forward()")
    tab.evaluate("history.forward()")
    expect(locate_heading(tab, second)).to_be_visible()


PAGE_STATES = [
    "#summary?setting=1",
    "#why?a=aspen&b=cedar&smoothing=floor",
    "#segments?find=die+Br%C3%BCcke&in=source&sort=-%7Cdelta%7C&seg=2",
    "#segments?outcome=b&range=length:10:20&label=0:1&panel=true&mode=tokens&seg=5",
    "#segments?sample=7",
]


@pytest.mark.parametrize("state", PAGE_STATES)
def test_url_restores_state(example, open_report, state):
    """The same URL shows the same content in a new tab."""
    first = open_report(example.path)
    first.navigate(state)
    second = open_report(example.path, state)
    for sheet in (first, second):
        expect(sheet.page.locator("main.view")).to_be_visible()
        expect(sheet.page.locator("main.view")).not_to_contain_text("interval …")
    for _ in range(100):
        texts = [sheet.page.locator("#app").inner_text() for sheet in (first, second)]
        if texts[0] == texts[1]:
            break
        # A list adds or removes rows one frame after its height changes.
        second.page.wait_for_timeout(50)
    assert texts[0] == texts[1]
    # The page's own URL leads to the same view.
    second.page.evaluate("() => document.activeElement?.blur()")
    assert second.page.url.partition("#")[2].partition("?")[0] == state[1:].partition("?")[0]


# ---- exports ----


def test_saved_comparison_equals_python(example, open_report, saves):
    content = example.report.to_dict()["comparison"]
    sheet = open_report(example.path)
    tab = sheet.navigate("#exports?format=json")
    name, text = download_file(tab, tab.get_by_role("button", name="Save", exact=True).first, saves)
    assert name == "comparison.json"
    assert json.loads(text) == content
    tab = sheet.navigate("#exports?format=csv")
    name, text = download_file(tab, tab.get_by_role("button", name="Save", exact=True).first, saves)
    assert name == "comparison.csv"
    assert text == Comparison(content).csv()


@pytest.mark.parametrize(("form", "ending"), [("latex", "tex"), ("markdown", "md")])
def test_saved_table_equals_command_line(example, open_report, saves, form, ending):
    tab = open_report(example.path).navigate(f"#exports?format={form}")
    name, text = download_file(tab, tab.get_by_role("button", name="Save", exact=True).first, saves)
    assert name == f"comparison.{ending}"
    assert text == getattr(Comparison(example.report.to_dict()["comparison"]), form)()


@pytest.mark.parametrize("width", [390, 1440])
def test_exported_table_is_not_cut(example, open_report, width):
    tab = open_report(example.path).navigate("#exports?format=latex")
    tab.set_viewport_size({"width": width, "height": 900})
    hidden = tab.locator("main.view .given").first.evaluate("e => e.scrollWidth - e.clientWidth")
    assert hidden == 0, "long lines are wrapped"


@pytest.mark.parametrize("number", [0, 1, 2])
def test_saved_segments_equal_python(example, open_report, saves, number):
    """Check the exact score, difference and influence of each segment, and its texts."""
    python = PythonNumbers(example.metrics[number], example.hypotheses, example.references)
    sheet = open_report(example.path)
    tab = sheet.navigate(f"#exports?setting={number}&sort=-delta")
    name, text = download_file(tab, tab.get_by_role("button", name="Save as JSON Lines"), saves)
    assert name == "segments.jsonl"
    entries = [json.loads(line) for line in text.split("\n")[:-1]]
    deltas = [entry["difference"] for entry in entries]
    assert deltas == sorted(deltas, reverse=True)
    entries.sort(key=lambda entry: entry["segment"])
    assert [entry["segment"] for entry in entries] == list(range(1, 129))
    for i, entry in enumerate(entries):
        assert entry["source"] == example.source[i]
        assert entry["references"] == example.references[i]
        assert entry["document"] == example.documents[i]
        assert entry["labels"] == {"length": example.labels["length"][i]}
        for system in entry["systems"]:
            assert system["text"] == example.hypotheses[system["name"]][i]
            assert abs(system["score"] - python.segments[system["name"]][i]) <= 1e-9
        difference = python.segments["cedar"][i] - python.segments["birch"][i]
        assert abs(entry["difference"] - difference) <= 1e-9
        assert abs(entry["influence"] - python.influence("birch", "cedar", i)) <= 1e-9
    name, text = download_file(tab, tab.get_by_role("button", name="Save as TSV"), saves)
    assert name == "segments.tsv"
    head, *rows = csv.reader(io.StringIO(text), delimiter="\t")
    assert len(rows) == 128
    assert head[:3] == ["segment", "document", "length"]
    assert {row[head.index("Source")] for row in rows} == set(example.source)


def test_saved_segments_are_those_listed(example, open_report, saves):
    sheet = open_report(example.path)
    tab = sheet.navigate("#segments?only=5,3,99&sort=number")
    expect(tab.locator(".subset strong").first).to_have_text("3")
    press_keys(tab, "g", "x")
    _, text = download_file(tab, tab.get_by_role("button", name="Save as JSON Lines"), saves)
    assert [json.loads(line)["segment"] for line in text.split("\n")[:-1]] == [3, 5, 99]
