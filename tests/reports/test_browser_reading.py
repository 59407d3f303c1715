"""Reading a report: names in URLs, highlights, text direction, glossary and filters."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from browser_report import measure_box
from playwright_or_skip import expect

from truebleu import TextWarning
from truebleu.reports import report

pytestmark = pytest.mark.thorough

HOSTILE_NAME = "<img src=x onerror=alert(1)>"
SOURCE = [
    "Der Zug nach Köln kam um 9 Uhr.",
    "Die IT fehlt heute.",
    "Ein Haus, kein Zug.",
    "So.",
] * 30
REFERENCES = [
    *("The train to Cologne came at nine.", "We have no IT department today."),
    *("A house, no train.", "So it goes."),
] * 30
GOOD = ["The train to Cologne came at 9.", "No IT today.", "A house, not a train.", "So."] * 30
POOR = ["The trains to Cologne came.", "It is not here.", "A house, not a bus.", "So."] * 30
GLOSSARY = {"Zug": "train", "IT": "IT", "Haus": "house", HOSTILE_NAME: HOSTILE_NAME}


@pytest.fixture(scope="module")
def example_report(tmp_path_factory):
    """Return a report with a glossary and a system name that needs escaping in URLs."""
    path = tmp_path_factory.mktemp("reading") / "reading.html"
    report(
        {"a & b": GOOD, "poor": POOR, "third": [*REFERENCES[:-1], "nothing"]},
        REFERENCES,
        source=SOURCE,
        terms=GLOSSARY,
        samples=50,
        confidence=50,
        baseline="a & b",
        languages=("de", "en"),
        path=path,
    )
    return path


def locate_subset_count(tab):
    return tab.locator(".subset strong").first


def read_marks(tab, kind="found"):
    """Return the texts of the highlights in the visible rows."""
    rows = tab.locator(f".rows .row mark.{kind}")
    return rows.all_inner_texts()


# ---- names in URLs ----


def test_url_names_systems(example_report, open_report):
    tab = open_report(example_report, "#segments?a=poor&b=a+%26+b").page
    expect(tab.get_by_label("Baseline", exact=True)).to_have_value("2")
    expect(tab.get_by_label("Compared system")).to_have_value("1")
    tab.get_by_label("Compared system").select_option("0")
    assert tab.url.endswith("#segments?a=poor")
    tab.locator("#view").focus()
    tab.keyboard.press("x")
    assert tab.url.endswith("#segments?a=third&b=poor")
    expect(tab.locator(".notice")).to_be_hidden()


@pytest.mark.parametrize("name", ["elsewhere", "1", HOSTILE_NAME])
def test_unknown_system_in_url_is_reported(example_report, open_report, name):
    tab = open_report(example_report, f"#segments?b={quote(name)}").page
    notice = tab.locator(".notice")
    expect(notice).to_contain_text(f"The URL names systems that are not in this report: “{name}”.")
    expect(notice).to_contain_text("Showing")
    notice.get_by_role("button", name="Keep these").click()
    expect(notice).to_be_hidden()
    assert "b=" not in tab.url


# ---- highlights in the list ----


def test_search_matches_are_highlighted_in_list(example_report, open_report):
    tab = open_report(example_report, "#segments?find=TRAIN").page
    expect(locate_subset_count(tab)).to_have_text("60")
    assert {text.lower() for text in read_marks(tab)} == {"train"}
    tab = open_report(example_report, "#segments?find=train&case=true&in=reference").page
    expect(locate_subset_count(tab)).to_have_text("60")
    lines = tab.locator(".rows .row").first.locator(".line")
    assert "train" in lines.nth(1).inner_text()
    assert [lines.nth(i).locator("mark").count() for i in (1, 2)] == [1, 0]


def test_pattern_matches_are_highlighted(example_report, open_report):
    tab = open_report(example_report, "#segments?regex=true&find=t.a.n").page
    expect(tab.locator(".rows mark.found").first).to_be_visible()
    assert set(read_marks(tab)) == {"train"}


def test_ngram_is_highlighted_in_list(example_report, open_report):
    tab = open_report(example_report, "#segments?holds=The+train&mark=The+train").page
    expect(locate_subset_count(tab)).to_have_text("30")
    assert set(read_marks(tab)) == {"The train"}


def test_match_beyond_the_edge_is_scrolled_into_view(open_report, tmp_path):
    texts = ["many words " * 60 + "needle at the end", "short"] * 20
    path = tmp_path / "long.html"
    report({"one": texts}, texts, confidence=None, path=path)
    tab = open_report(path, "#segments?find=needle").page
    expect(locate_subset_count(tab)).to_have_text("20")
    mark = tab.locator(".rows .row mark.found").first
    expect(mark).to_have_text("needle")
    line, place = measure_box(mark.locator("xpath=..")), measure_box(mark)
    assert line["x"] <= place["x"] < place["x"] + place["width"] <= line["x"] + line["width"] + 1


# ---- directions ----


def test_text_direction_follows_majority_of_letters(open_report, tmp_path):
    hebrew = ["Windows היא מערכת הפעלה", "שלום עולם", "NASA"] * 10
    english = ["Windows is an operating system", "hello world", "NASA"] * 10
    path = tmp_path / "hebrew.html"
    report({"one": hebrew}, hebrew, source=english, confidence=None, path=path)
    tab = open_report(path, "#segments?seg=1").page
    row = tab.locator(".rows .row").first
    directions = [element.get_attribute("dir") for element in row.locator(".preview").all()]
    assert directions == ["ltr", "rtl", "rtl"]
    directions = [element.get_attribute("dir") for element in tab.locator(".detail p.text").all()]
    assert directions == ["ltr", "rtl", "rtl"]


# ---- the glossary ----


def test_terms_view_equals_python_and_links_to_segments(example_report, open_report):
    tab = open_report(example_report, "#terms?b=poor").page
    view = tab.locator("main.view.terms")
    expect(view).to_contain_text("4 terms of given terms: found")
    rows = view.locator("table").first.locator("tbody tr").all_inner_texts()
    assert [row.split("\t")[-3:] for row in rows] == [
        ["120", "0", "100.0%"],
        ["120", "0", "100.0%"],
        ["30", "90", "25.0%"],
    ]
    expect(view).to_contain_text("1 term does not occur in the source.")
    view.get_by_role("link", name="90").click()
    expect(locate_subset_count(tab)).to_have_text("90")
    expect(tab.locator(".chips")).to_contain_text("a term missed by C")


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("terms=in", 90),
        ("terms=in&term=Zug", 60),
        ("terms=used-a&term=Zug", 60),
        ("terms=missed-b&term=Zug", 60),
        ("terms=used-b", 30),
        ("terms=missed-b&term=IT", 30),
        ("terms=missed-a", 0),
        ("terms=differ", 90),
        ("b=third&terms=missed-b", 0),
        ("terms=nonsense", 120),
    ],
)
def test_filters_by_terms(example_report, open_report, query, left):
    tab = open_report(example_report, f"#segments?b=poor&{query}").page
    expect(locate_subset_count(tab)).to_have_text(str(left))


def test_terms_are_highlighted_and_missed_terms_listed(example_report, open_report):
    tab = open_report(example_report, "#segments?seg=1&mode=plain").page
    detail = tab.locator(".detail")
    assert detail.locator("mark.term-of:not(.used)").all_inner_texts() == ["Zug"]
    assert set(detail.locator("mark.used").all_inner_texts()) == {"train"}
    expect(detail).to_contain_text("Missed terms: Zug → train")
    tab = open_report(example_report, "#segments?b=poor&terms=in").page
    assert "Zug" in read_marks(tab, "term-of")
    tab.get_by_role("button", name="Filters").click()
    tab.get_by_label("Terms").select_option("missed-b")
    expect(tab.locator(".chips")).to_contain_text("a term missed by C")


# ---- rules ----


@pytest.mark.parametrize(
    ("rule", "left"), [("numbers", 30), ("-numbers", 90), ("names", 60), ("-names", 60)]
)
def test_filters_by_rule(example_report, open_report, rule, left):
    tab = open_report(example_report, f"#segments?rule={rule}").page
    expect(locate_subset_count(tab)).to_have_text(str(left))
    expect(tab.locator(".chips button")).to_have_count(1)


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize(("count", "label"), [(1, "ref"), (2, "ref 2 of 2")])
def test_list_shows_and_names_the_closest_reference(open_report, tmp_path, width, count, label):
    path = tmp_path / "references.html"
    # The second reference equals the output of one of the systems.
    rows = [[reference, good][:count] for reference, good in zip(REFERENCES, GOOD, strict=True)]
    report({"good": GOOD, "poor": POOR}, rows, path=path, samples=9)
    size = {"width": width, "height": 844}
    sheet = open_report(path, "#segments?sort=number", viewport=size)
    line = sheet.page.locator(".row .line").first
    expect(line.locator(".mark-line")).to_have_text(label)
    expect(line.locator(".preview")).to_have_text(rows[0][-1])
    mark, text = (measure_box(line.locator(name)) for name in (".mark-line", ".preview"))
    assert mark["x"] + mark["width"] <= text["x"]


@pytest.mark.parametrize(("query", "segment"), [("house", 3), ("zebra", None), ("train", 1)])
def test_search_that_hides_open_segment_opens_first_match(
    example_report, open_report, query, segment
):
    tab = open_report(example_report, "#segments?sort=number&seg=1").page
    detail = tab.locator("aside.detail")
    expect(detail.locator("h2")).to_have_text("Segment 1")
    tab.get_by_label("Search the texts").fill(query)
    if segment is None:
        expect(detail).to_be_hidden()
        assert "seg=" not in tab.url
    else:
        expect(detail.locator("h2")).to_have_text(f"Segment {segment}")
        assert f"seg={segment}" in tab.url


@pytest.mark.parametrize("mark", ["<unk>", "&quot;", "no@@ thing"])
def test_warning_about_marks_links_to_all_their_segments(open_report, tmp_path, mark):
    path = tmp_path / "marks.html"
    marked = [f"{text} {mark} {i}" if i % 2 else text for i, text in enumerate(GOOD)]
    with pytest.warns(TextWarning):
        report({"marked": marked, "poor": POOR}, REFERENCES, path=path, samples=9)
    tab = open_report(path).page
    note = tab.locator(".opposed", has_text="such as")
    note.get_by_role("link", name="Show all segments").click()
    expect(tab.locator(".subset")).to_contain_text(f"{len(GOOD) // 2} of {len(GOOD)} segments")
