"""Error spans in a report: placement, counts, the page and the documentation."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from browser_report import download_file
from page_parser import Page
from paths import ROOT

import truebleu as tb
from truebleu.cli import main

REFERENCES = ["the cat is on the mat now", "nobody was there at all 😀 today"]
SOURCE = ["die Katze ist jetzt auf der Matte", "niemand war heute dort 😀"]
SYSTEMS = {
    "good": ["the cat is on the mat now", "nobody was there at all 😀 now"],
    "poor": ["a dog is on the mat now", "nobody were at all 😀 today"],
}
MQM_HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
CATEGORY = "Accuracy/Mistranslation"


def mqm_row(system, segment, rater, target, category, severity, source=None):
    source = SOURCE[segment] if source is None else source
    return f"{system}\td\t1\t{segment + 1}\t{rater}\t{source}\t{target}\t{category}\t{severity}\n"


ROWS = [
    mqm_row("good", 0, "r1", SYSTEMS["good"][0], "No-error", "No-error"),
    mqm_row("poor", 0, "r1", "a <v>dog</v> is on the mat now", CATEGORY, "Major"),
    mqm_row("poor", 0, "r1", "a dog is on the <v>mat</v> now", "Fluency/Punctuation", "Minor"),
    mqm_row("poor", 0, "r2", "<v>a dog</v> is on the mat now", CATEGORY, "critical"),
    mqm_row("poor", 1, "r2", "nobody were at all <v>😀</v> today", "Style", "Neutral"),
    mqm_row(
        *("poor", 1, "r2", SYSTEMS["poor"][1], "Accuracy/Omission", "Minor"),
        source="niemand war heute <v>dort</v> 😀",
    ),
    mqm_row("poor", 1, "r1", "of another set", "No-error", "No-error"),
    mqm_row("other", 1, "r1", "of another system", "No-error", "No-error"),
]


@pytest.fixture
def mqm(tmp_path):
    path = tmp_path / "mqm.tsv"
    path.write_text(MQM_HEADER + "".join(ROWS), encoding="utf-8")
    return path


@pytest.fixture
def report_with_spans(tmp_path):
    def make(spans, **options):
        if isinstance(spans, str):
            path = tmp_path / "spans.data"
            path.write_text(spans, encoding="utf-8")
            spans = path
        options = {"source": SOURCE, "confidence": None, "check_text": False} | options
        return tb.report(SYSTEMS, REFERENCES, spans=spans, **options)

    return make


def read_entry(report):
    return report.to_dict()["spans"]


def test_annotations_are_counted_by_system_category_and_weight(report_with_spans, mqm):
    entry = read_entry(report_with_spans(mqm))
    assert (entry["name"], entry["format"]) == ("mqm.tsv", "MQM")
    assert (entry["annotations"], entry["unmatched"]) == (4, 1)
    assert entry["annotators"] == ["r1", "r2"]
    assert [tuple(one.values()) for one in entry["counts"]] == [
        ("poor", CATEGORY, "major", 1, 5.0),
        ("poor", "Fluency/Punctuation", "minor", 1, 0.1),
        ("poor", CATEGORY, "critical", 1, 0),
        ("poor", "Style", "neutral", 1, 0),
        ("poor", "Accuracy/Omission", "minor", 1, 1.0),
    ]
    good, poor = entry["systems"]
    assert (good["segments"], good["mqm"], good["error_characters"]) == (1, 0.0, 0)
    # Segment 1: (5.1 + 0) / 2 annotators; segment 2: 1.
    assert (poor["segments"], poor["mqm"]) == (2, pytest.approx((2.55 + 1) / 2))


def test_share_of_errors_outside_matched_4_grams(report_with_spans, mqm):
    # "a dog" (4 letters) is outside; "mat" is in "is on the mat", the emoji in "at all 😀 today".
    poor = read_entry(report_with_spans(mqm))["systems"][1]
    assert (poor["error_characters"], poor["outside"], poor["unlocated"]) == (8, 4, 0)


def test_label_filters_segments_by_their_worst_error(report_with_spans, mqm):
    labels = {one["name"]: one["values"] for one in report_with_spans(mqm).to_dict()["labels"]}
    assert labels == {
        "error spans": ["major errors", "only minor errors"],
        "error spans of good": ["no errors", "not annotated"],
        "error spans of poor": ["major errors", "only minor errors"],
    }


@pytest.mark.parametrize(
    ("segments", "places"),
    [
        # Names, or numbers of another set: in order, per source.
        (["c1", "c2", "c4"], [0, 1, 3]),
        (["4", "5", "7"], [0, 1, 3]),
        # Numbers that fit all texts.
        (["1", "2", "4"], [0, 1, 3]),
        (["4", "2"], [3, 1]),
    ],
)
def test_equal_texts_are_assigned_by_source_and_by_number_or_order(tmp_path, segments, places):
    texts, sources = ["yes", "yes", "no", "yes"], ["ja", "doch", "nein", "ja"]
    rows = [
        f"A\td\t1\t{segment}\tr1\t{sources[place]}\t<v>yes</v>\tx\tMajor\n"
        for segment, place in zip(segments, places, strict=True)
    ]
    path = tmp_path / "mqm.tsv"
    path.write_text(MQM_HEADER + "".join(rows), encoding="utf-8")
    options = {"source": sources, "confidence": None, "check_text": False}
    report = tb.report({"A": texts}, ["yes"] * 4, spans=path, **options)
    assert [place for place, *_ in list_places(report)] == places


RATING = 'poor\tNone\npoor\t{"errors": [{"start": 19, "end": 20, "severity": "major"}]}\tr1\n'
APPRAISE = (
    "ann,poor,{},TGT,deu,eng,5,{},False,"
    '"[{{""start_i"":0,""end_i"":5,""severity"":""minor""}}]",1,2\n'
)


def list_places(report):
    return [row[:5] for row in json.loads(report._data.extra_blocks["spans"])]


def test_ratings_belong_to_the_segments_in_order(report_with_spans):
    assert list_places(report_with_spans(RATING)) == [[1, 1, 0, 19, 20]]


@pytest.mark.parametrize(("number", "first", "segment"), [("1", 1, 0), ("1", 0, 1), ("0", 0, 0)])
def test_appraise_numbers_start_at_the_stated_number(
    report_with_spans, tmp_path, number, first, segment
):
    path = tmp_path / "a.csv"
    path.write_text(APPRAISE.format(number, "talk#poor"), encoding="utf-8")
    report = report_with_spans(tb.read_spans(path, first=first))
    assert list_places(report) == [[segment, 1, 0, 0, 6]]


@pytest.mark.parametrize(
    ("spans", "options", "message"),
    [
        (RATING.replace("poor", "bad"), {}, "expected errors of good, poor, found errors of bad"),
        (RATING.replace("20", "99"), {}, "spans.data, line 2: the span from 19 to 99 is outside"),
        (
            RATING + "poor\tNone\n" + RATING.splitlines(True)[1],
            {},
            "line 4: expected one of 2 segments of poor, found segment 4",
        ),
        (MQM_HEADER + ROWS[-2], {}, "none of its texts is a text of good, poor"),
        (APPRAISE.format("1", "talk"), {}, "the number of the first segment is unknown"),
        (RATING, {"metrics": [tb.BLEU(unicode_form="nfc")]}, "positions do not fit normalized"),
        (3, {}, "spans: expected a file or read_spans(file), found 3"),
    ],
)
def test_unusable_spans_give_a_clear_error(report_with_spans, spans, options, message):
    with pytest.raises((tb.InputError, ValueError, TypeError)) as error:
        report_with_spans(spans, **options)
    assert message in str(error.value)


def test_static_page_has_the_table(report_with_spans, mqm):
    text = " ".join(Page(report_with_spans(mqm).html()).text.split())
    assert "SystemSegmentsMQMErrors outside matches A good10.00– B poor21.7750.0%" in text
    assert "Style0 (0.0)1 (0.0) all errors0 (0.0)5 (6.1)" in text
    assert "4 annotations from mqm.tsv. 1 annotation of other texts left out." in text


def test_redacted_report_has_counts_but_no_positions(report_with_spans, mqm):
    report = report_with_spans(mqm, redact_text=True)
    assert read_entry(report)["block"] is None
    assert 'data-block="spans"' not in report.html()


def test_report_without_spans_has_none(report_with_spans):
    assert read_entry(tb.report(SYSTEMS, REFERENCES, confidence=None, check_text=False)) is None


@pytest.fixture
def corpus_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, lines in {"ref": REFERENCES, "src": SOURCE, **SYSTEMS}.items():
        Path(f"{name}.en").write_text("\n".join(lines) + "\n", encoding="utf-8")


REPORT = ["report", "ref.en", "-i", "good.en", "poor.en", "-o", "r.html"]


def test_command_adds_the_spans_and_counts_other_texts(corpus_files, mqm, capsys):
    assert main([*REPORT, "-src", "src.en", "--spans", str(mqm)]) == 0
    assert "--spans: 1 annotation of other texts" in capsys.readouterr().err
    page = Path("r.html").read_text("utf-8")
    assert 'data-block="spans"' in page
    assert "truebleu report ref.en -i good.en poor.en -src src.en --spans mqm.tsv" in page


def test_command_warns_about_a_rare_similar_name(corpus_files, mqm, capsys):
    mqm.write_text(mqm.read_text("utf-8").replace("\nother", "\nPooor"), encoding="utf-8")
    assert main([*REPORT, "-src", "src.en", "--spans", str(mqm)]) == 0
    message = "mqm.tsv: left out 1 segment of 'Pooor', which is not a system; did you mean 'poor'?"
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--spans", "none.tsv"], "none.tsv"),
        (["--first-segment", "1"], "--first-segment has no effect without --spans"),
        (["--spans", "a.csv"], "State it with --first-segment N"),
    ],
)
def test_command_rejects_unusable_spans(corpus_files, words, message, capsys):
    Path("a.csv").write_text(APPRAISE.format("1", "talk"), encoding="utf-8")
    assert main([*REPORT, *words]) != 0
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error
    assert main([*REPORT, "--spans", "a.csv", "--first-segment", "1", "-q"]) == 0


def test_page_of_the_documentation_runs_in_an_empty_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "how-to" / "error-spans.md").read_text("utf-8")
    names: dict[str, object] = {}
    for language, code in re.findall(r"^```(\w*)\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        if language == "python":
            exec(code, names)
            printed = re.findall(r"^# (.*)", code, re.MULTILINE)
            assert capsys.readouterr().out.splitlines() == printed
        else:
            assert main(shlex.split(code)[1:]) == 0
            assert not capsys.readouterr().out
    assert Path("report.html").stat().st_size > 100_000


# ---- the page in a browser ----


@pytest.fixture
def opened(open_report, report_with_spans, mqm):
    expect = pytest.importorskip("playwright.sync_api").expect
    sheet = open_report(report_with_spans(mqm, metrics=["bleu", "chrf"]), "#segments?seg=1")
    return sheet, sheet.page, expect


@pytest.mark.thorough
def test_errors_are_underlined_per_annotator_and_listed(opened):
    _, tab, _ = opened
    poor = tab.locator(".texts section").filter(has=tab.locator("h3", has_text="poor"))
    marked = poor.locator(".text .error").evaluate_all(
        "all => all.map(e => [e.textContent, e.className, e.title])"
    )
    for expected in (
        ["dog", "error severity-2 lane-0", f"major · {CATEGORY} · r1"],
        ["mat", "error severity-1 lane-0", "minor · Fluency/Punctuation · r1"],
        ["a", "error severity-3 lane-1", f"critical · {CATEGORY} · r2"],
    ):
        assert expected in marked
    # The text is unchanged.
    assert poor.locator(".text").inner_text() == SYSTEMS["poor"][0]
    assert poor.locator(".errors li").all_inner_texts() == [
        f"major “dog” {CATEGORY} r1",
        "minor “mat” Fluency/Punctuation r1",
        f"critical “a dog” {CATEGORY} r2",
    ]
    # Two lines of different patterns.
    styles = poor.locator(".text .error").evaluate_all(
        "all => all.map(e => getComputedStyle(e))"
        ".map(s => `${s.textDecorationStyle} ${s.textUnderlineOffset}`)"
    )
    assert set(styles) >= {"solid 7px", "dotted 7px", "double 12px"}


@pytest.mark.thorough
def test_layers_of_errors_and_matches_are_switched_separately(opened):
    _, tab, expect = opened
    button = tab.get_by_role("button", name="Errors", exact=True)
    expect(button).to_have_attribute("aria-pressed", "true")
    assert tab.locator(".texts .m4").count() > 0
    tab.get_by_role("button", name="Plain", exact=True).click()
    expect(tab.locator(".texts .m4")).to_have_count(0)
    assert tab.locator(".text .error").count() > 0
    button.click()
    expect(tab.locator(".text .error")).to_have_count(0)
    expect(tab.locator(".errors")).to_have_count(0)
    tab.get_by_role("button", name="Matches", exact=True).click()
    assert tab.locator(".texts .m4").count() > 0
    expect(tab.locator(".text .error")).to_have_count(0)


@pytest.mark.thorough
def test_source_errors_are_in_the_source_and_astral_positions_fit(opened):
    sheet, tab, expect = opened
    sheet.navigate("#segments?seg=2")
    source = tab.locator(".texts section").first
    expect(source.locator(".text .error")).to_have_text("dort")
    listed = re.compile("B.*minor “dort” Accuracy/Omission")
    expect(source.locator(".errors li")).to_have_text(listed)
    poor = tab.locator(".texts section").filter(has=tab.locator("h3", has_text="poor"))
    expect(poor.locator(".text .error")).to_have_text("😀")


@pytest.mark.thorough
def test_missing_text_stands_after_the_text(open_report, report_with_spans):
    pytest.importorskip("playwright.sync_api")
    rating = RATING.replace('"start": 19, "end": 20', '"start": -1, "end": -1')
    tab = open_report(report_with_spans(rating), "#segments?seg=2").page
    poor = tab.locator(".texts section").filter(has=tab.locator("h3", has_text="poor"))
    assert poor.locator(".text").inner_text() == f"{SYSTEMS['poor'][1]} [missing]"
    assert poor.locator(".errors li").all_inner_texts() == ["major [missing] r1"]


@pytest.mark.thorough
def test_summary_links_to_segments_with_major_errors(opened):
    sheet, tab, expect = opened
    sheet.navigate("#summary")
    expect(tab.locator("main .spans")).to_contain_text("all errors")
    tab.get_by_role("link", name="Segments with major errors").click()
    expect(tab.locator(".subset")).to_contain_text("1 of 2 segments")
    expect(tab.locator(".chips")).to_contain_text("error spans: major errors")


@pytest.mark.thorough
def test_saved_segments_contain_the_spans(opened, saves):
    sheet, tab, _ = opened
    sheet.navigate("#exports")
    button = tab.get_by_role("button", name="Save as JSON Lines")
    lines = [json.loads(line) for line in download_file(tab, button, saves)[1].splitlines()]
    systems = {one["segment"]: one["systems"] for one in lines}
    assert systems[1][1]["spans"] == [
        [2, 5, "major", CATEGORY, "r1"],
        [16, 19, "minor", "Fluency/Punctuation", "r1"],
        [0, 5, "critical", CATEGORY, "r2"],
    ]
    assert systems[2][1]["spans"] == [[19, 20, "neutral", "Style", "r2"]]
    assert systems[2][1]["source_spans"] == [[18, 22, "minor", "Accuracy/Omission", "r2"]]
    assert systems[1][0]["spans"] == []


@pytest.mark.thorough
@pytest.mark.parametrize("width", [1440, 390])
def test_page_does_not_scroll_sideways(open_report, report_with_spans, mqm, width):
    sheet = open_report(
        report_with_spans(mqm), "#segments?seg=1", viewport={"width": width, "height": 900}
    )
    for fragment in ("#segments?seg=1", "#summary"):
        tab = sheet.navigate(fragment)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert tab.locator("#view").evaluate("e => e.scrollWidth - e.clientWidth") <= 0
