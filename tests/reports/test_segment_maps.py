"""Re-segmented systems in reports: method, coverage, flags, boundaries and maps."""

from __future__ import annotations

import struct

import pytest
from page_parser import Page
from playwright_or_skip import expect

import truebleu as tb
from truebleu.reports import report
from truebleu.resegmentation.resegment import SegmentFacts

REFERENCES = [
    "the ferry leaves at nine",
    "we take the first train to the old harbour",
    "it rains",
    "nobody saw the captain again",
]
# The second reference has no text, and the third too much.
TEXTS = {
    "sea": "the ferry leaves at nine it rains and rains and rains on every day of this long year",
    "land": "",
    "port": "nobody saw the captain again",
}
DOCUMENTS = ["sea", "land", "sea", "port"]


@pytest.fixture(scope="module")
def resegmentation():
    return tb.resegment(TEXTS, REFERENCES, "as-wer", documents=DOCUMENTS)


@pytest.fixture(scope="module")
def saved_report(resegmentation):
    systems = {"talk": resegmentation, "lines": REFERENCES}
    return report(systems, REFERENCES, documents=DOCUMENTS, check_text=False)


def test_manifest_has_method_coverage_and_lengths(saved_report, resegmentation):
    parsed = Page(saved_report.to_bytes())
    names = [system["name"] for system in parsed.manifest["systems"]]
    entries = dict(zip(names, parsed.manifest["resegmentation"], strict=True))
    assert entries["lines"] is None
    entry = entries["talk"]
    assert entry["text"] == str(resegmentation)
    assert entry["problems"] == resegmentation.problems
    assert entry["covered"] == resegmentation.covered
    assert entry["documents"] == ["sea", "land", "port"]
    facts = resegmentation.facts
    assert struct.unpack("<16I", parsed.blocks[entry["block"]]) == (
        *(0, 1, 0, 2),
        *(one.reference_units for one in facts),
        *(one.hypothesis_units for one in facts),
        *(one.equal for one in facts),
    )
    (label,) = parsed.manifest["labels"]
    flags = [label["values"][i] for i in parsed.indices(label["block"])]
    assert flags == ["no flag", "empty", "added, far", "no flag"]
    # Readable without JavaScript.
    assert f"Re-segmented: talk: {resegmentation}." in parsed.text


def test_flags_are_added_to_labels_from_a_file(resegmentation, tmp_path):
    (tmp_path / "labels.tsv").write_text("domain\na\na\nb\nb\n", encoding="utf-8")
    systems = {"talk": resegmentation, "lines": REFERENCES}
    made = report(systems, REFERENCES, labels=tmp_path / "labels.tsv", check_text=False)
    names = [label["name"] for label in Page(made.to_bytes()).manifest["labels"]]
    assert names == ["domain", "segments of talk"]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((6, 0, 0, 0), []),
        ((0, 0, 0, 3), ["empty"]),
        ((0, 0, 0, 2), []),
        ((4, 0, 9, 0), ["added"]),
        ((4, 0, 0, 9), ["missing"]),
        ((4, 0, 0, 4), []),
        ((1, 5, 0, 0), ["far"]),
        ((1, 0, 0, 9), ["missing", "far"]),
    ],
)
def test_flags_follow_from_counts(counts, expected):
    assert SegmentFacts("", 0, 0, *counts).flags == expected


@pytest.mark.thorough
def test_segments_show_flags_and_words_of_neighbours(saved_report, open_report):
    tab = open_report(saved_report).navigate("#segments?seg=3")
    texts = tab.locator("aside.detail .texts section").filter(has_text="talk")
    assert texts.locator(".segment-flag").all_text_contents() == ["added", "far"]
    # The second segment is of another document.
    before = texts.locator(".neighbour").all_text_contents()
    assert before == ["the ferry leaves at nine │ "]
    listed = tab.locator(".row .segment-flag").all_text_contents()
    assert sorted(listed) == ["added", "empty", "far"]


@pytest.mark.thorough
def test_filter_selects_segments_by_one_of_their_flags(saved_report, open_report):
    tab = open_report(saved_report).navigate("#segments?label=0:1")
    expect(tab.locator(".subset strong").first).to_have_text("1")
    expect(tab.locator(".chips")).to_contain_text("segments of talk: empty")


@pytest.mark.thorough
def test_map_draws_each_segment_and_opens_it(saved_report, open_report):
    tab = open_report(saved_report).navigate("#pictures?picture=map")
    tab.get_by_label("By", exact=True).select_option(label="land")
    assert tab.locator("main figure").count() == 1
    parts = tab.locator("main figure svg .part-of-map")
    assert (parts.count(), tab.locator("main figure svg .flagged").count()) == (1, 1)
    assert parts.nth(0).get_attribute("aria-label") == (
        "segment 2: 9 units of the reference, 0 units of the text, 0 equal; empty"
    )
    parts.nth(0).focus()
    tab.keyboard.press("Enter")
    tab.locator("aside.detail h2").wait_for()
    assert tab.locator("aside.detail h2").inner_text().startswith("Segment 2")


@pytest.mark.thorough
def test_summary_states_method_and_coverage(saved_report, open_report, resegmentation):
    tab = open_report(saved_report).navigate("#summary")
    text = tab.locator("main.view").inner_text()
    assert f"talk: {resegmentation}." in text
    assert "1 segment is empty" in text
