"""Pages with unusual texts, without network or script, in print and in a frame."""

from __future__ import annotations

import pytest
from encoded_texts import encode_utf16
from playwright_or_skip import expect, only_chromium

from truebleu.reports import report

pytestmark = pytest.mark.thorough

# Name, text, and the titles of the marks that represent invisible characters.
TEXTS = {
    "Arabic": ("القطة جلست على السجادة ٣٫٥ BLEU", ()),
    "Hebrew": ("החתול ישב (על) השטיח, 100% English", ()),
    "Chinese": ("猫坐在垫子上。", ()),
    "Japanese": ("猫がマットの上に座った。ｶﾅ", ()),
    "Korean": ("고양이가 매트 위에 앉았다", ()),
    "Thai": ("แมวนั่งบนเสื่อ", ()),
    "emoji": ("👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 1️⃣ 🇩🇪", ()),
    "combining": ("e\u0301 a\u0323\u0307 Z\u0351\u036b\u0343\u036a a\u20dd", ()),
    "Devanagari": ("बिल्ली चटाई पर बैठी", ()),
    "long": ("word " * 2000, ()),
    "unbroken": ("x" * 10_000, ()),
    "empty": ("", ()),
    "white space": ("  a\tb\u00a0c\u3000d  ", ("U+0009", "U+00A0")),
    "surrogates": ("a \ud800 b\udfff\udc00 c", ("U+D800", "U+DFFF", "U+DC00")),
    "carriage return": ("a\rb\r", ("U+000D",)),
    "line separators": ("a\u2028b\u2029c\x85d\x0be", ("U+2028", "U+2029", "U+0085", "U+000B")),
    "nul": ("a\0b", ("U+0000",)),
    "unseen": ("a\u200bb\u2060c\ufeffd\u00ade\u202ef", ("U+200B", "U+2060", "U+FEFF", "U+202E")),
    "private": ("\ue000\U000f0000\uffff\U0010ffff", ()),
    "replacement": ("\ufffd a", ()),
}


@pytest.fixture(scope="module")
def unusual_texts_report():
    all_texts = [text for text, _ in TEXTS.values()]
    return report(
        {"same": all_texts, "turned": [" ".join(t.split(" ")[::-1]) for t in all_texts]},
        [[f"{text} .", "猫 the cat"] for text in all_texts],
        source=all_texts,
        documents=list(TEXTS),
        metrics=["bleu", "chrf"],
        also=["tokenize=char"],
        samples=20,
        confidence=20,
    )


# Text of an element with the marks replaced by the invisible characters.
READ_CODE_UNITS = """node => {
  const copy = node.cloneNode(true), codes = [];
  for (const mark of copy.querySelectorAll(".mark"))
    mark.replaceWith(String.fromCodePoint(parseInt(mark.title.slice(2), 16)));
  return copy.textContent.split("").map(c => c.charCodeAt(0));
}"""


@pytest.mark.parametrize("mode", ["plain", "match", "diff", "ref"])
def test_any_text_is_shown_completely(unusual_texts_report, open_report, mode):
    sheet = open_report(unusual_texts_report)
    for i, (name, (text, marks)) in enumerate(TEXTS.items()):
        tab = sheet.navigate(f"#segments?seg={i + 1}&mode={mode}")
        tab.get_by_role("heading", name=f"Segment {i + 1}").wait_for()
        section = tab.locator(".detail section").filter(has=tab.locator("h3 bdi", has_text="same"))
        place = section.locator(".text")
        if not text:
            assert place.inner_text() == "(empty)"
            continue
        titles = set(place.locator(".mark").evaluate_all("all => all.map(m => m.title)"))
        assert titles >= set(marks), name
        # A mark for a line separator is followed by a line end.
        codes = place.evaluate(READ_CODE_UNITS)
        expected_codes = encode_utf16(text.replace("\u2028", "\u2028\n"))
        if mode != "plain":  # These modes do not show white space at the end.
            expected_codes = encode_utf16(text.replace("\u2028", "\u2028\n").rstrip())
            codes = codes[: len(expected_codes)]
        assert codes == expected_codes, name


def test_text_stays_within_the_page(unusual_texts_report, open_report):
    for width in (320, 1440):
        sheet = open_report(unusual_texts_report, viewport={"width": width, "height": 800})
        for i, name in enumerate(TEXTS):
            tab = sheet.navigate(f"#segments?seg={i + 1}")
            tab.get_by_role("heading", name=f"Segment {i + 1}").wait_for()
            wide = tab.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0, (name, width)
            over = tab.locator(".detail .scroll").evaluate("d => d.scrollWidth - d.clientWidth")
            assert over <= 0, (name, width)


def test_search_finds_any_script(unusual_texts_report, open_report):
    sheet = open_report(unusual_texts_report)
    searches = {"Arabic": "السجادة", "Chinese": "垫子", "emoji": "👩‍👩‍👧‍👦", "Thai": "นั่ง"}
    for name, search_text in searches.items():
        tab = sheet.navigate("#segments")
        tab.get_by_role("searchbox").fill(search_text)
        expect(tab.locator(".subset strong").first).to_have_text("1")
        expect(tab.locator(".rows .row .doc")).to_have_text(name)


# ---- requirements ----


def test_static_summary_works_without_script(example, open_report):
    tab = open_report(example.path, wait=False, java_script_enabled=False).page
    text = tab.locator("main#static").inner_text()
    assert "Three systems" in text
    manifest = example.report.to_dict()
    metrics = manifest["comparison"]["metrics"]
    for metric, setting in zip(metrics, manifest["settings"], strict=False):
        assert metric["signature"] in text
        for score in setting["scores"].values():
            assert f"{score:.1f}" in text
    assert tab.locator("#app").is_hidden()


def test_settings_contain_the_signatures_of_all_metrics(open_report, tmp_path):
    texts = ["the cat sat on the mat", "it rains today"]
    made = report({"a": texts}, [texts[0], "it rains"], metrics=["bleu", "nist"])
    made.save(tmp_path / "report.html")
    settings = open_report(tmp_path / "report.html").page.locator("main.view dl")
    for metric in ("BLEU|nrefs:1", "NIST|nrefs:1"):
        expect(settings).to_contain_text(metric)


def test_summary_is_readable_before_blocks_are_unpacked(example):
    page = example.path.read_bytes()
    assert page.index(b'<main id="static">') < page.index(b"<script")


@only_chromium
def test_print_view_has_first_segments(example, open_report):
    sheets = open_report(example.path).page.pdf()
    assert sheets.startswith(b"%PDF")
    assert len(sheets) > 20_000
    tab = open_report(example.path).page
    tab.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    tab.emulate_media(media="print")
    printed = tab.locator("#printed")
    expect(printed).to_be_visible()
    text = printed.inner_text()
    assert "20 of 128 segments: largest |Δ| first" in text
    assert "From counts to the score" in text
    expect(tab.locator("nav")).to_be_hidden()
    tab.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert printed.count() == 0


def test_notebook_frame_isolates_report(example, open_report, tmp_path):
    """The frame of `show` works in a page of another program, without URL or storage."""
    path = tmp_path / "notebook.html"
    path.write_text(
        f"<!doctype html><title>own</title>{example.report.show()._repr_html_()}", "utf-8"
    )
    sheet = open_report(path, wait=False)
    frame = sheet.page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for(state="attached")
    expect(frame.locator("main.view h1")).to_have_text("Three systems")
    frame.get_by_role("link", name="Segments", exact=True).click()
    frame.locator(".rows .row").first.click()
    expect(frame.locator(".detail h2")).to_contain_text("Segment ")
    frame.get_by_role("button", name="Theme: auto").click()
    expect(frame.get_by_role("button", name="Theme: light")).to_be_visible()
    assert sheet.page.title() == "own"
