"""Layout of pages at the widths of phones, tablets and desktops, with long system names."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from browser_report import measure_box
from paths import read_example_lines
from playwright_or_skip import expect
from test_browser_accessibility import OPEN_STATES

import truebleu as tb
from truebleu.comparison.history import Entry, History, Input

pytestmark = pytest.mark.thorough

WIDTHS = (320, 390, 1024, 1440)
LONG_NAMES = {
    "Transformer-big with back-translation and noisy channel reranking": "birch",
    "ensemble_of_eight_models_trained_for_three_hundred_thousand_steps": "cedar",
    "aspen": "aspen",
}

# Elements whose text is cut, unless an ellipsis shows it and a title contains the text.
FIND_CUT_TEXTS = """() => {
  const found = [];
  const name = e => `${e.outerHTML.slice(0, 100)} (${e.scrollWidth} > ${e.clientWidth})`;
  for (const e of document.querySelectorAll("main *, header *")) {
    if (!e.checkVisibility() || e.closest(".unseen, .skip, svg, math, .head .c-text")) continue;
    const style = getComputedStyle(e), hidden = /hidden|clip/.test(style.overflowX);
    if (e.matches("select") && !e.title) found.push(name(e));
    if (!hidden || !e.clientWidth || e.scrollWidth <= e.clientWidth + 1) continue;
    const titled = e.closest("[title]") ?? e.querySelector("[title]");
    if (style.textOverflow !== "ellipsis" || !titled) found.push(name(e));
  }
  for (const picture of document.querySelectorAll("main svg")) {
    const box = picture.getBoundingClientRect();
    for (const text of picture.querySelectorAll("text")) {
      const {left, right, width} = text.getBoundingClientRect();
      if (width && (left < box.left - 6 || right > box.right + 6)) found.push(text.textContent);
    }
  }
  return found;
}"""

# Tables that are wider than their container, and whether the hint above them is visible.
FIND_WIDE_TABLES = """() => [...document.querySelectorAll("main .table, main .scroll")]
  .filter(e => e.checkVisibility() && e.querySelector(":scope > table"))
  .map(e => [e.scrollWidth > e.clientWidth + 1,
    parseFloat(getComputedStyle(e.firstElementChild, "::before").paddingBottom) > 10,
    e.textContent.slice(0, 60)])"""


@pytest.fixture(scope="module")
def long_names_report(tmp_path_factory):
    path = tmp_path_factory.mktemp("long") / "long.html"
    tb.report(
        {name: read_example_lines(f"de-en/{file}.en") for name, file in LONG_NAMES.items()},
        read_example_lines("de-en/reference.a.en"),
        source=read_example_lines("de-en/source.de"),
        documents=read_example_lines("de-en/documents.txt"),
        metrics=["bleu", "chrf", "ter"],
        samples=50,
        confidence=50,
        path=path,
    )
    return path


@pytest.fixture(scope="module")
def static_pages(tmp_path_factory):
    """Return pages without script: a comparison, a history and two explanations."""
    folder = tmp_path_factory.mktemp("static")
    systems = {name: read_example_lines(f"de-en/{file}.en") for name, file in LONG_NAMES.items()}
    references = read_example_lines("de-en/reference.a.en")
    comparison = tb.compare(systems, references, metrics=["bleu", "chrf", "ter"], samples=50)
    entries = [
        Entry(
            time=datetime(2026, 1, day, 3, 4, 5, tzinfo=UTC),
            system=name,
            metric="BLEU",
            score=20.0 + day,
            signature="nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0",
            segments=128,
            hypothesis=Input(name, "0" * 64),
            references=(Input("reference.a.en", "1" * 64),),
        )
        for day, name in enumerate(systems, 1)
    ]
    pages = {
        "comparison": comparison.html(),
        "history": History(entries).html(),
        "sentence": tb.explain(systems["aspen"][0], [references[0]]).html(),
        "corpus": tb.explain(systems["aspen"], references).html(),
    }
    for name, page in pages.items():
        (folder / f"{name}.html").write_text(page, "utf-8")
    return sorted(folder.iterdir())


@pytest.mark.parametrize("width", WIDTHS)
def test_views_fit_the_window(long_names_report, open_report, width):
    """Only tables scroll sideways, and only the view scrolls down."""
    sheet = open_report(long_names_report, viewport={"width": width, "height": 800})
    for place in [f"#{view}" for view in sheet.views] + list(OPEN_STATES.values()):
        tab = sheet.navigate(place)
        excess = tab.evaluate(
            "() => [document.documentElement, document.querySelector('main.view')]"
            ".map(e => e.scrollWidth - e.clientWidth)"
        )
        assert max(excess) <= 0, (place, excess)
        high = tab.evaluate("document.documentElement.scrollHeight - innerHeight")
        assert high <= 0, (place, high)
        assert not tab.evaluate(FIND_CUT_TEXTS), place
        for is_wide, has_hint, text in tab.evaluate(FIND_WIDE_TABLES):
            assert is_wide == has_hint, (place, text)


@pytest.mark.parametrize("width", WIDTHS)
def test_static_pages_fit_the_window(static_pages, long_names_report, open_report, width):
    viewport = {"width": width, "height": 800}
    summary = long_names_report.with_name("summary.html")
    text = long_names_report.read_text("utf-8")
    # The same page without its scripts, so that the test can measure it.
    start, end = text.index("<script"), text.index("</body>")
    summary.write_text(text[:start] + text[end:], "utf-8")
    for path in [*static_pages, summary]:
        tab = open_report(path, wait=False, viewport=viewport).page
        tab.evaluate("() => document.querySelectorAll('details').forEach(d => d.open = true)")
        excess = tab.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert excess <= 0, path.name
        assert not tab.evaluate(FIND_CUT_TEXTS), path.name
        for is_wide, has_hint, table in tab.evaluate(FIND_WIDE_TABLES):
            assert is_wide == has_hint, (path.name, table)


# ---- order of the segments ----


def read_column(tab, name):
    """Return the visible numbers of a column, from the top of the list."""
    texts = tab.locator(".rows .row").evaluate_all(
        f"""rows => rows.sort((a, b) => a.dataset.position - b.dataset.position)
          .map(row => row.querySelector('{name}').textContent.replace('−', '-'))"""
    )
    return [float(text) for text in texts]


def test_segments_open_with_largest_differences(example, open_report):
    tab = open_report(example.path, "#segments").page
    differences = [abs(value) for value in read_column(tab, ".c-delta")]
    assert differences == sorted(differences, reverse=True)
    metric = tb.BLEU(effective_order=True)
    scores = [metric.segments(example.hypotheses[s], example.references) for s in example.systems]
    # Birch is the baseline, and cedar has the best score.
    largest = max(abs(b - a) for a, b in zip(*scores[:2], strict=True))
    assert differences[0] == pytest.approx(largest, abs=0.05)
    expect(tab.get_by_role("button", name="Sort: largest |Δ| first")).to_be_visible()
    header = tab.get_by_role("columnheader", name=re.compile(r"\|Δ\|"))
    expect(header).to_have_attribute("aria-sort", "descending")


@pytest.mark.parametrize(
    ("metric", "title", "is_reversed"),
    [("bleu", "BLEU of A, lowest first", False), ("ter", "TER of A, highest first", True)],
)
def test_segments_of_single_system_open_with_worst_scores(open_report, metric, title, is_reversed):
    hypotheses, references = (read_example_lines(f"de-en/{n}.en") for n in ("birch", "reference.a"))
    single = tb.report({"birch": hypotheses}, references, metrics=[metric], confidence=20)
    tab = open_report(single, "#segments").page
    expect(tab.get_by_role("button", name=f"Sort: {title}")).to_be_visible()
    scores = read_column(tab, ".c-score")
    assert scores == sorted(scores, reverse=is_reversed)


def test_file_order_can_be_chosen(example, open_report):
    tab = open_report(example.path, "#segments").page
    tab.get_by_role("button", name="Sort: ").click()
    tab.get_by_role("menuitemradio", name="file order").click()
    expect(tab.get_by_role("button", name="Sort: file order")).to_be_visible()
    assert read_column(tab, ".c-number > span")[:3] == [1, 2, 3]


# Widths of the names that the two selections of systems show, and of their text areas.
MEASURE_SELECTED_NAMES = """() => ["a", "b"].map(choice => {
  const e = document.querySelector(`.choices select[data-choice=${choice}]`);
  const text = document.createElement("span"), style = getComputedStyle(e);
  text.textContent = e.selectedOptions[0].text;
  text.style.cssText = `position: absolute; white-space: nowrap; font: ${style.font}`;
  document.body.append(text);
  const arrow = 16, padding = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
  return [text.getBoundingClientRect().width, e.clientWidth - padding - arrow];
})"""


@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_selected_names_of_wmt_files_are_not_cut(open_report, width):
    prefix = "generaltest2022.zh-en.hyp."
    names = {f"{prefix}JDExploreAcademy": "birch", f"{prefix}CUNI-DocTransformer": "cedar"}
    wmt_report = tb.report(
        {name: read_example_lines(f"de-en/{file}.en") for name, file in names.items()},
        read_example_lines("de-en/reference.a.en"),
        samples=20,
        confidence=20,
    )
    tab = open_report(wmt_report, viewport={"width": width, "height": 844}).page
    measured = tab.evaluate(MEASURE_SELECTED_NAMES)
    assert len(measured) == 2
    assert all(text <= area for text, area in measured)


def test_phone_shows_deltas_next_to_the_names(example, open_report):
    tab = open_report(example.path, "#why", viewport={"width": 390, "height": 844}).page
    for name in ("Steps to BLEU", "All settings"):
        head = tab.get_by_role("table", name=name).locator("thead th").nth(1)
        expect(head).to_have_text(re.compile(r"^Δ"))
        assert head.evaluate("e => e.getBoundingClientRect().right") <= 390, name


def test_tablet_shows_deltas_after_the_scores(example, open_report):
    tab = open_report(example.path, "#why", viewport={"width": 1024, "height": 768}).page
    heads = tab.get_by_role("table", name="Steps to BLEU").locator("thead th")
    expect(heads.last).to_have_text("Δ")


def test_phone_shows_all_columns_above_the_texts(example, open_report):
    tab = open_report(example.path, "#segments", viewport={"width": 390, "height": 800}).page
    row = tab.locator('.row[data-position="0"]')
    numbers = [row.locator(f".{name}").first for name in ("c-score", "c-influence", "c-ratio")]
    text = measure_box(row.locator(".c-text"))
    for number in numbers:
        expect(number).to_be_visible()
        box = measure_box(number)
        assert box["y"] + box["height"] <= text["y"] + 1
    assert text["width"] > 330
