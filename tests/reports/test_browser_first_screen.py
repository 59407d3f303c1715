"""The first screen: best system, table of all metrics and forest plot, without scrolling."""

from __future__ import annotations

import re

import pytest
from browser_report import measure_box
from paths import read_example_lines
from playwright_or_skip import expect

from truebleu.comparison import overview
from truebleu.rendering.number_format import format_p_value
from truebleu.reports import report

pytestmark = pytest.mark.thorough

# Minus sign in tables.
MINUS_SIGN = "−"


@pytest.fixture(scope="module")
def five_systems(tmp_path_factory):
    """Return a report of five systems and three metrics; the last system, the baseline, is best."""
    cedar, birch = (read_example_lines(f"de-en/{name}.en") for name in ("cedar", "birch"))
    pairs = list(zip(birch, cedar, strict=True))
    systems = {
        "aspen": read_example_lines("de-en/aspen.en"),
        "birch": birch,
        "a system with a long name": [b if i % 4 else c for i, (b, c) in enumerate(pairs)],
        "JDExploreAcademy": [b if i % 2 else c for i, (b, c) in enumerate(pairs)],
        "cedar": cedar,
    }
    five_system_report = report(
        systems,
        read_example_lines("de-en/reference.a.en"),
        metrics=["bleu", "chrf", "ter"],
        baseline="cedar",
        samples=200,
        confidence=200,
        title="Five systems",
    )
    path = tmp_path_factory.mktemp("five") / "five.html"
    five_system_report.save(path)
    return path, five_system_report.to_dict()


def format_signed(value, digits=2, sign=True):
    return f"{value:{'+' if sign else ''}.{digits}f}".replace("-", MINUS_SIGN)


def test_first_screen_fits_without_scrolling(five_systems, open_report):
    path, _ = five_systems
    tab = open_report(path, viewport={"width": 1440, "height": 900}).page
    for place in (".lead", ".overview", ".legend-of-table", ".forest-plot"):
        box = measure_box(tab.locator(f"main.view {place}").first)
        assert box["y"] + box["height"] <= 900, place
        assert box["x"] + box["width"] <= 1440, place
    # The table itself needs no scroll bar.
    assert tab.locator(".overview").evaluate("e => e.scrollWidth <= e.clientWidth")


def test_lead_equals_static_sentence(five_systems, open_report):
    path, manifest = five_systems
    tab = open_report(path).page
    expected_text = overview.format_headline(manifest["comparison"])
    assert expected_text.startswith("A cedar, the baseline, is best of 5 systems: ")
    assert "chrF2 and TER rank the same system first. On WMT23, human judges" in expected_text
    lead_text = tab.locator("main.view .lead").inner_text()
    # The letter badge is not followed by a space.
    assert re.sub(r"\s+", "", lead_text) == expected_text.replace(" ", "")


def test_overview_table_equals_comparison(five_systems, open_report):
    path, manifest = five_systems
    tab = open_report(path).page
    content = manifest["comparison"]
    rows = tab.locator(".overview tbody tr")
    order = [system["name"] for system in content["systems"]]
    assert rows.locator("bdi").all_text_contents() == order
    for row, system in zip(rows.all(), content["systems"], strict=True):
        cells = [re.sub(r"\s+", " ", t) for t in row.locator("td").all_inner_texts()]
        assert len(cells) == 9
        for i, metric in enumerate(content["metrics"]):
            score = system["scores"][metric["name"]]
            score_text, delta_text, cluster = cells[3 * i : 3 * i + 3]
            low, high = (
                format_signed(score["interval"][end], sign=False) for end in ("low", "high")
            )
            assert score_text == f"{score['score']:.2f} [{low}, {high}]"
            assert cluster == str(score["cluster"])
            delta_entry = score["difference"]
            if delta_entry is None:
                assert delta_text == "baseline"
                continue
            p = f"p {format_p_value(delta_entry['p'])}"
            low, high = (format_signed(delta_entry["interval"][end]) for end in ("low", "high"))
            star = "*" if delta_entry["significant"] else ""
            assert delta_text == f"{format_signed(delta_entry['value'])}{star} {p} [{low}, {high}]"
            best = row.locator("td").nth(3 * i).locator("strong").count()
            assert bool(best) == (score["rank"] == 1)


def test_baseline_can_be_changed(five_systems, open_report):
    path, manifest = five_systems
    tab = open_report(path).page
    tab.get_by_label("Baseline D birch", exact=True).check()
    expect(tab.get_by_label("Baseline", exact=True)).to_have_value("3")
    row = tab.locator(".overview tbody tr", has_text="cedar")
    pairs = {(p["metric"], p["first"], p["second"]): p for p in manifest["comparison"]["pairs"]}
    pair = pairs["BLEU", "cedar", "birch"]
    expect(row.locator("td").nth(1)).to_contain_text(format_signed(pair["value"]))
    low, high = (format_signed(pair["interval"][end]) for end in ("low", "high"))
    expect(row.locator("td").nth(1)).to_contain_text(f"[{low}, {high}]")
    expect(tab.locator("main.view .forest-plot")).to_have_attribute(
        "aria-label", "Differences from D birch with 95% intervals."
    )
    # The best system does not depend on the baseline.
    expect(tab.locator("main.view .lead")).to_contain_text("cedar, the baseline, is best")


def test_header_click_sorts_systems(five_systems, open_report):
    path, manifest = five_systems
    tab = open_report(path).page
    names = tab.locator(".overview tbody bdi")
    tab.locator(".overview").get_by_role("button", name="System").click()
    sorted_names = ["a system with a long name", "aspen", "birch", "cedar", "JDExploreAcademy"]
    assert names.all_text_contents() == sorted_names
    tab.locator(".overview").get_by_role("button", name="score").nth(2).click()
    systems = manifest["comparison"]["systems"]
    scores = {system["name"]: system["scores"]["TER"]["score"] for system in systems}
    assert names.all_text_contents() == sorted(scores, key=scores.get)
    tab.locator(".overview").get_by_role("button", name="score").nth(2).click()
    assert names.all_text_contents() == sorted(scores, key=scores.get, reverse=True)


def test_forest_plot_has_panel_per_metric(five_systems, open_report):
    path, manifest = five_systems
    tab = open_report(path).page
    plot = tab.locator("main.view .forest-plot").first
    panels = plot.get_by_role("group")
    labels = panels.evaluate_all("all => all.map(g => g.getAttribute('aria-label'))")
    assert labels == ["Δ BLEU from A", "Δ chrF2 from A", "Δ TER from A"]
    for k, metric in enumerate(manifest["comparison"]["metrics"]):
        panel = panels.nth(k)
        points = panel.locator("circle")
        assert points.count() == 4
        # All systems are worse than the baseline, and better is to the right.
        base = measure_box(panel.locator(".base"))["x"]
        for point in points.all():
            assert measure_box(point)["x"] < base, metric["name"]
        texts = panel.locator(".tick").all_text_contents()
        ticks = [float(text.replace(MINUS_SIGN, "-")) for text in texts]
        assert len(ticks) >= 3
        assert ticks == sorted(ticks)
        assert 0 in ticks
    tab.locator("main.view").get_by_text("As a table").click()
    assert tab.locator("main.view figure tbody tr").count() == 5


def test_metric_details_unfold(five_systems, open_report):
    path, _ = five_systems
    tab = open_report(path).page
    folds = tab.locator("main.view details.metric")
    expect(folds).to_have_count(3)
    expect(folds.first.locator("section")).to_have_count(0)
    folds.first.locator("summary").click()
    expect(folds.first).to_contain_text("segments needed for 80% power")
    expect(folds.first).to_contain_text("brevity penalty")
    matrix = folds.first.get_by_role("table", name="Δ BLEU, row − column")
    expect(matrix.locator("tbody tr")).to_have_count(5)
    # The URL stores the open sections, so they survive a reload.
    tab.reload()
    expect(folds.first).to_contain_text("brevity penalty")
    folds.first.locator("summary").click()
    expect(folds.first.locator("section")).to_have_count(0)


def test_unreported_setting_has_separate_sentence(example, open_report):
    tab = open_report(example.path, "#summary?max_order=2").page
    expect(tab.locator("main.view .lead")).to_contain_text(
        re.compile(r"cedar has the best BLEU.*: \d")
    )
    expect(tab.locator("main.view .lead")).to_contain_text("These scores were not tested")
    assert "significant at" not in tab.locator("main.view .lead").inner_text()
    expect(tab.locator(".overview thead")).to_contain_text("BLEU ↑, changed")
    # An unreported setting precedes the reported ones.
    tab = open_report(example.path, "#summary?setting=3").page
    expect(tab.locator(".overview th.over").first).to_contain_text("not compared")


def test_single_system_has_scores_with_intervals(open_report):
    single_report = report(
        {"cedar": read_example_lines("de-en/cedar.en")},
        read_example_lines("de-en/reference.a.en"),
        confidence=200,
    )
    tab = open_report(single_report).page
    assert tab.locator("main.view .lead").inner_text().split("cedar ")[1].startswith("scores ")
    assert tab.locator(".overview td").count() == 1
    assert tab.locator("main.view .forest-plot circle").count() == 1
    assert tab.locator(".overview input").count() == 0


# ---- narrow ----


def test_1024_pixels_keep_names_on_a_line(five_systems, open_report):
    path, _ = five_systems
    tab = open_report(path, viewport={"width": 1024, "height": 768}).page
    for name in tab.locator(".overview bdi").all():
        assert name.evaluate("e => e.getClientRects().length") == 1
    view = tab.locator("main.view")
    assert view.evaluate("e => e.scrollWidth <= e.clientWidth")
    # Shadows at the edges disappear if there is no more content.
    attachment = tab.locator(".overview").evaluate("e => getComputedStyle(e).backgroundAttachment")
    assert attachment == "local, local, scroll, scroll"


def test_390_pixels_show_best_delta_and_p(five_systems, open_report):
    path, _ = five_systems
    tab = open_report(path, viewport={"width": 390, "height": 844}).page
    expect(tab.locator(".overview")).to_be_visible()
    assert tab.locator("main.view").evaluate("e => e.scrollWidth <= e.clientWidth")
    for row in tab.locator(".overview tbody tr").all():
        for cell in (row.locator(".badge"), row.locator("td").nth(0), row.locator("td").nth(1)):
            box = measure_box(cell)
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390
    expect(tab.locator(".overview tbody tr").nth(1).locator("td").nth(1)).to_contain_text("p ")
    box = measure_box(tab.locator(".overview tbody tr").first)
    assert box["y"] + box["height"] <= 844


@pytest.mark.parametrize("width", [390, 1024])
def test_narrow_static_summary_fits(five_systems, open_report, width):
    path, _ = five_systems
    size = {"width": width, "height": 844}
    tab = open_report(path, wait=False, java_script_enabled=False, viewport=size).page
    rows = tab.locator("#static table").first.locator("tbody tr")
    for row in rows.all():
        for place in range(4):
            box = measure_box(row.locator("td").nth(place))
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
        # Names do not wrap.
        assert measure_box(row.locator("td").nth(1))["height"] < 60
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
