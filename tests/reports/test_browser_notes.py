"""Notes: storage, export and import, filters, and narrow screens."""

from __future__ import annotations

import json

import pytest
from browser_report import download_file, measure_box, type_text
from playwright_or_skip import expect

from truebleu.reports import report

pytestmark = pytest.mark.thorough

HOSTILE_NOTE = "<img src=x onerror=alert(1)>"
TEXTS = ["the cat sat", "nobody was there", "it rains"] * 10


@pytest.fixture
def notes_report(tmp_path):
    path = tmp_path / "notes.html"
    report({"one": TEXTS, "two": TEXTS[::-1]}, TEXTS, confidence=None, test=None, path=path)
    return path


def add_note(tab):
    """Bookmark segment 2, with a tag and a note that looks like markup."""
    detail = tab.locator(".detail")
    detail.get_by_role("button", name="Bookmark").click()
    expect(detail.get_by_role("button", name="Bookmarked")).to_be_visible()
    tag = detail.get_by_label("Add an error tag")
    type_text(tag, "omission")
    tag.press("Enter")
    expect(detail.get_by_role("button", name="Remove the tag omission")).to_be_visible()
    note = detail.get_by_label("Note", exact=True)
    type_text(note, HOSTILE_NOTE)
    note.blur()


def test_notes_persist_filter_and_appear_in_list(notes_report, open_report):
    tab = open_report(notes_report, "#segments?seg=2").page
    add_note(tab)
    tab.reload()
    detail = tab.locator(".detail")
    expect(detail.get_by_label("Note", exact=True)).to_have_value(HOSTILE_NOTE)
    for kind in ("bookmarked", "tagged", "noted", "any"):
        tab.evaluate(f"location.hash = '#segments?noted={kind}'")
        expect(tab.locator(".subset strong").first).to_have_text("1")
    expect(tab.locator(".rows .row").first).to_contain_text("★ 2")
    tab.evaluate("location.hash = '#notes'")
    expect(tab.locator("main.view.notes tbody")).to_contain_text(HOSTILE_NOTE)
    tab.get_by_role("link", name="2", exact=True).click()
    assert "only=2&about=shortlist" in tab.url


@pytest.mark.parametrize("is_same_report", [True, False])
def test_notes_of_other_report_list_conflicts(
    notes_report, open_report, saves, tmp_path, is_same_report
):
    tab = open_report(notes_report, "#segments?seg=2").page
    add_note(tab)
    tab.evaluate("location.hash = '#notes'")
    _, text = download_file(tab, tab.get_by_role("button", name="Save to file"), saves)
    notes = json.loads(text)
    assert notes["systems"] == ["one", "two"]
    assert set(notes["data_hash"]) == {"one", "two", "reference"}
    assert notes["segments"] == [
        {"segment": 2, "bookmark": True, "tags": ["omission"], "note": HOSTILE_NOTE}
    ]
    if not is_same_report:
        notes["systems"] = ["one", HOSTILE_NOTE]
        notes["data_hash"]["one"] = "0"
        notes["segments"].append({"segment": 99, "bookmark": True})
    file = tmp_path / "notes.json"
    file.write_text(json.dumps(notes), encoding="utf-8")
    other_tab = open_report(notes_report, "#notes").page
    expect(other_tab.locator("main.view.notes .facts")).to_contain_text("0 segments")
    other_tab.locator("input[type=file]").set_input_files(file)
    if not is_same_report:
        box = other_tab.locator("dialog")
        expect(box).to_contain_text("Different data: one.")
        expect(box).to_contain_text(f"Systems not in this report: {HOSTILE_NOTE}.")
        expect(box).to_contain_text("1 entry for segments not in this report.")
        box.get_by_role("button", name="Import matching entries").click()
    expect(other_tab.locator("main.view.notes .facts")).to_contain_text("1 segment with")
    button = other_tab.get_by_role("button", name="Save the shortlist as TSV")
    rows = download_file(other_tab, button, saves)[1].splitlines()
    assert rows[0].startswith("segment\tbookmark\ttags\tnote\t")
    assert rows[1].startswith(f"2\tyes\tomission\t{HOSTILE_NOTE}\t")


def test_blocked_storage_is_reported(notes_report, open_report):
    blocked = "Storage.prototype.setItem = () => { throw new Error('no'); };"
    tab = open_report(notes_report, "#segments?seg=2", script=blocked).page
    add_note(tab)
    tab.evaluate("location.hash = '#notes'")
    expect(tab.locator("main.view.notes .facts")).to_contain_text("This browser cannot store them")


def test_invalid_notes_file_is_refused(notes_report, open_report, tmp_path):
    file = tmp_path / "no.json"
    file.write_text("{")
    tab = open_report(notes_report, "#notes").page
    tab.locator("input[type=file]").set_input_files(file)
    expect(tab.locator("dialog")).to_contain_text("This is not a truebleu notes file.")


def test_narrow_list_shows_delta_and_second_score(notes_report, open_report):
    tab = open_report(notes_report, "#segments", viewport={"width": 390, "height": 800}).page
    row = tab.locator(".rows .row").first
    for cell in (row.locator(".c-score").nth(1), row.locator(".c-delta")):
        box = measure_box(cell)
        assert 0 < box["x"] + box["width"] <= 390
