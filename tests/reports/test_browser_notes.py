"""Notes of a reader: kept, saved, read into another report, filtered by; and narrow screens."""

from __future__ import annotations

import json

import pytest
from browser_report import downloaded, typed
from playwright_or_skip import expect

from truebleu.reports import report

pytestmark = pytest.mark.thorough

EVIL = "<img src=x onerror=alert(1)>"
TEXTS = ["the cat sat", "nobody was there", "it rains"] * 10


@pytest.fixture
def made(tmp_path):
    path = tmp_path / "notes.html"
    report({"one": TEXTS, "two": TEXTS[::-1]}, TEXTS, confidence=None, test=None, path=path)
    return path


def noted(tab):
    """Bookmarks segment 2, with a tag and a note that would be markup elsewhere."""
    detail = tab.locator(".detail")
    detail.get_by_role("button", name="Bookmark").click()
    expect(detail.get_by_role("button", name="Bookmarked")).to_be_visible()
    tag = detail.get_by_label("Add an error tag")
    typed(tag, "omission")
    tag.press("Enter")
    expect(detail.get_by_role("button", name="Remove the tag omission")).to_be_visible()
    note = detail.get_by_label("Note", exact=True)
    typed(note, EVIL)
    note.blur()


def test_notes_are_kept_filtered_by_and_listed(made, opened):
    tab = opened(made, "#segments?seg=2").page
    noted(tab)
    tab.reload()
    detail = tab.locator(".detail")
    expect(detail.get_by_label("Note", exact=True)).to_have_value(EVIL)
    for kind in ("bookmarked", "tagged", "noted", "any"):
        tab.evaluate(f"location.hash = '#segments?noted={kind}'")
        expect(tab.locator(".subset strong").first).to_have_text("1")
    expect(tab.locator(".rows .row").first).to_contain_text("★ 2")
    tab.evaluate("location.hash = '#notes'")
    expect(tab.locator("main.view.notes tbody")).to_contain_text(EVIL)
    tab.get_by_role("link", name="2", exact=True).click()
    assert "only=2&about=shortlist" in tab.url


@pytest.mark.parametrize("own", [True, False])
def test_a_file_of_notes_says_what_does_not_fit(made, opened, saves, tmp_path, own):
    tab = opened(made, "#segments?seg=2").page
    noted(tab)
    tab.evaluate("location.hash = '#notes'")
    _, text = downloaded(tab, tab.get_by_role("button", name="Save as a file"), saves)
    told = json.loads(text)
    assert told["systems"] == ["one", "two"]
    assert set(told["data_hash"]) == {"one", "two", "reference"}
    assert told["segments"] == [
        {"segment": 2, "bookmark": True, "tags": ["omission"], "note": EVIL}
    ]
    if not own:
        told["systems"] = ["one", EVIL]
        told["data_hash"]["one"] = "0"
        told["segments"].append({"segment": 99, "bookmark": True})
    file = tmp_path / "notes.json"
    file.write_text(json.dumps(told), encoding="utf-8")
    other = opened(made, "#notes").page
    expect(other.locator("main.view.notes .facts")).to_contain_text("0 segments")
    other.locator("input[type=file]").set_input_files(file)
    if not own:
        box = other.locator("dialog")
        expect(box).to_contain_text("Other data: one.")
        expect(box).to_contain_text(f"Systems that this report does not have: {EVIL}.")
        expect(box).to_contain_text("1 entry of segments that this report does not have.")
        box.get_by_role("button", name="Take what fits").click()
    expect(other.locator("main.view.notes .facts")).to_contain_text("1 segment with")
    button = other.get_by_role("button", name="Save the shortlist as TSV")
    rows = downloaded(other, button, saves)[1].splitlines()
    assert rows[0].startswith("segment\tbookmark\ttags\tnote\t")
    assert rows[1].startswith(f"2\tyes\tomission\t{EVIL}\t")


def test_a_browser_that_keeps_nothing_says_so(made, opened):
    blocked = "Storage.prototype.setItem = () => { throw new Error('no'); };"
    tab = opened(made, "#segments?seg=2", script=blocked).page
    noted(tab)
    tab.evaluate("location.hash = '#notes'")
    expect(tab.locator("main.view.notes .facts")).to_contain_text("This browser does not keep them")


def test_what_is_no_file_of_notes_is_refused(made, opened, tmp_path):
    file = tmp_path / "no.json"
    file.write_text("{")
    tab = opened(made, "#notes").page
    tab.locator("input[type=file]").set_input_files(file)
    expect(tab.locator("dialog")).to_contain_text("This is no file of notes.")


def test_a_narrow_list_has_delta_and_b(made, opened):
    tab = opened(made, "#segments", viewport={"width": 390, "height": 800}).page
    row = tab.locator(".rows .row").first
    for cell in (row.locator(".c-score").nth(1), row.locator(".c-delta")):
        box = cell.bounding_box()
        assert box is not None
        assert 0 < box["x"] + box["width"] <= 390
