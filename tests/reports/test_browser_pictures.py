"""Charts of all segments: numbers, axes, legends, keyboard and pointer control."""

from __future__ import annotations

import math
import random
import re
import statistics
from itertools import pairwise

import pytest
from browser_report import download_file, measure_box
from closeness import near
from playwright_or_skip import expect

import truebleu as tb
from truebleu.reports import report

pytestmark = pytest.mark.thorough

CHART_KINDS = ("scatter", "spread", "ratio", "course", "all", "groups", "metrics", "systems")


def parse_number(text: str) -> float:
    return float(text.replace("−", "-").replace("+", "").replace(",", ""))


def read_table_cells(tab) -> list[list[str]]:
    """Return the text of the cells in the chart's table."""
    tab.locator("main figure details").first.evaluate("d => { d.open = true; }")
    return tab.locator("main figure tbody tr").evaluate_all(
        "rows => rows.map(r => [...r.cells].map(c => c.textContent))"
    )


def read_exact_values(tab) -> list[list[float]]:
    """Return the exact numbers in the chart's table."""
    return tab.locator("main figure tbody tr").evaluate_all(
        "rows => rows.map(r => [...r.querySelectorAll('data')].map(d => Number(d.value)))"
    )


def count_shown_segments(tab) -> int:
    tab.locator("main.view.segments").wait_for()
    expect(tab.locator(".subset")).to_contain_text("segments")
    return int(tab.locator(".subset strong").first.inner_text().replace(",", ""))


# ---- all charts ----


@pytest.mark.parametrize("kind", CHART_KINDS)
def test_each_chart_has_axes_legend_table_and_svg(example, open_report, saves, kind):
    tab = open_report(example.path).navigate(f"#pictures?picture={kind}")
    figure = tab.locator("main figure")
    names = figure.locator("svg text.name").all_text_contents()
    ticks = figure.locator("svg text.tick").all_text_contents()
    assert len(ticks) >= 4
    # Both axes have titles, one of them rotated.
    assert figure.locator("svg text.name[transform*=rotate]").count() == 1
    assert len(names) >= 4
    assert len(read_table_cells(tab)) >= 2
    _, text = download_file(tab, figure.get_by_role("button", name="Save as SVG"), saves)
    assert text.startswith("<svg")
    assert "tabindex" not in text
    assert "class=" not in text


def test_menu_names_the_compared_systems(example, open_report):
    tab = open_report(example.path).navigate("#pictures?a=aspen&b=cedar")
    first = tab.get_by_label("Picture").locator("option").first
    assert first.text_content() == "Scores of C and A per segment"


@pytest.mark.parametrize("kind", CHART_KINDS)
def test_keyboard_reaches_all_chart_places(example, open_report, kind):
    tab = open_report(example.path).navigate(f"#pictures?picture={kind}")
    place = tab.locator("main figure .reach")
    place.focus()
    first = place.get_attribute("aria-label")
    expect(tab.locator(".readout")).to_have_text(first)
    seen = {first}
    tab.keyboard.press("End")
    seen.add(place.get_attribute("aria-label"))
    for key in ("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown") * 3:
        tab.keyboard.press(key)
        seen.add(place.get_attribute("aria-label"))
    assert len(seen) > 2
    tab.keyboard.press("Home")
    assert place.get_attribute("aria-label") == first
    if kind == "metrics":
        tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Enter")
    expect(tab.locator("main.view.agreement, main.view.segments")).to_be_visible()


# ---- A against B ----


def test_scatter_cell_links_to_its_segments(example, open_report):
    sheet = open_report(example.path)
    tab = sheet.navigate("#pictures?picture=scatter")
    place = tab.locator("main figure .reach")
    for steps in (0, 3, 9):
        tab = sheet.navigate("#pictures?picture=scatter")
        place.focus()
        tab.keyboard.press("Home")
        for _ in range(steps):
            tab.keyboard.press("ArrowUp")
        label = place.get_attribute("aria-label")
        count = int(re.search(r": (\d+) segment", label)[1])
        tab.keyboard.press("Enter")
        expect(tab.locator(".subset strong").first).to_have_text(str(count))
    sheet.navigate("#pictures?picture=scatter")
    total = sum(int(cell) for row in read_table_cells(tab) for cell in row[1:] if cell)
    assert total == len(example.source)


def test_area_selection_works_by_keyboard_and_pointer(example, open_report):
    sheet = open_report(example.path)
    tab = sheet.navigate("#pictures?picture=scatter")
    place = tab.locator("main figure .reach")
    place.focus()
    tab.keyboard.press("Home")
    for _ in range(2):
        tab.keyboard.press("Shift+ArrowRight")
    tab.keyboard.press("Shift+ArrowUp")
    label = place.get_attribute("aria-label")
    count = int(re.search(r": (\d+) segment", label)[1])
    assert count > 1
    tab.keyboard.press("Enter")
    expect(tab.locator(".subset strong").first).to_have_text(str(count))
    expect(tab.locator(".chips button")).to_have_count(3)
    sheet.navigate("#pictures?picture=scatter")
    box = measure_box(tab.locator("main figure svg"))
    tab.mouse.move(box["x"] + box["width"] * 0.1, box["y"] + box["height"] * 0.1)
    tab.mouse.down()
    tab.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.6, steps=4)
    label = tab.locator(".readout").inner_text()
    tab.mouse.up()
    count = int(re.search(r": (\d+) segment", label)[1])
    expect(tab.locator(".subset strong").first).to_have_text(str(count))
    scores = [
        tb.BLEU().segments(example.hypotheses[name], example.references)
        for name in ("birch", "cedar")
    ]
    low, high, bottom, top = map(float, re.findall(r"\d+\.?\d*", label.split(":")[0]))
    inside = sum(low <= x <= high and bottom <= y <= top for x, y in zip(*scores, strict=True))
    assert inside == count


def test_ten_thousand_segments_are_drawn_as_hexagons(open_report):
    draw = random.Random(1)
    words = ["one", "two", "three", "four", "five", "six"]
    references = [" ".join(draw.choices(words, k=8)) for _ in range(10_000)]
    systems = {
        name: [" ".join(w if draw.random() < p else "x" for w in r.split()) for r in references]
        for name, p in {"a": 0.8, "b": 0.9}.items()
    }
    page = report(systems, references, samples=10, confidence=None)
    tab = open_report(page).navigate("#pictures?picture=scatter")
    assert tab.locator("main figure svg path.dot").count() > 3
    assert tab.locator("main figure svg path.points").count() == 0
    legend = tab.locator("main figure svg text.name", has_text="segments").all_text_contents()
    assert any(re.fullmatch(r"[\d,]+–[\d,]+ segments", text) for text in legend)


# ---- numbers ----


@pytest.mark.parametrize(
    ("picture", "labels"),
    [("groups&picture_by=document", "documents"), ("all&picture_by=label0", "length")],
)
def test_group_scores_equal_python(example, open_report, picture, labels):
    tab = open_report(example.path).navigate(f"#pictures?picture={picture}")
    labels = example.documents if labels == "documents" else example.labels[labels]

    def score(system, name=None):
        inside = [i for i, label in enumerate(labels) if name in (None, label)]
        texts = example.hypotheses[system], example.references
        return tb.bleu(*([column[i] for i in inside] for column in texts)).value

    ranked_systems = sorted(example.systems, key=score, reverse=True)
    names = [row[0] for row in read_table_cells(tab)]
    for name, values in zip(names, read_exact_values(tab), strict=True):
        assert values == near([score(system, name) for system in ranked_systems]), name


def test_delta_by_position_ends_at_total_delta(example, open_report):
    tab = open_report(example.path).navigate("#pictures?picture=course")
    rows = read_exact_values(tab)
    birch, cedar = (
        tb.bleu(example.hypotheses[name], example.references).value for name in ("birch", "cedar")
    )
    assert rows[-1][1] == near(cedar - birch)
    assert rows[0][0] == rows[0][1]


def test_metric_correlation_equals_python(example, open_report):
    tab = open_report(example.path).navigate("#pictures?picture=metrics")
    rows = dict(zip([row[0] for row in read_table_cells(tab)], read_exact_values(tab), strict=True))
    deltas = []
    for metric in (tb.BLEU(), tb.TER()):
        first_scores, second_scores = (
            metric.segments(example.hypotheses[name], example.references)
            for name in ("birch", "cedar")
        )
        sign = -1 if metric.lower_is_better else 1
        deltas.append([sign * (y - x) for x, y in zip(first_scores, second_scores, strict=True)])
    correlation = statistics.correlation(*deltas)
    assert rows["BLEU and TER"] == [pytest.approx(correlation, abs=1e-9)]
    up_down = sum(a > 0 > b for a, b in zip(*deltas, strict=True))
    link = tab.locator("main figure tbody tr", has_text="BLEU and TER").get_by_role("link").first
    link.click()
    expect(tab.locator(".chips")).to_contain_text("BLEU prefers A, TER B")
    assert count_shown_segments(tab) == up_down


def test_single_system_has_charts_without_comparison(open_report):
    texts = [f"the {i} cats sat on a mat of {i}" for i in range(40)]
    tab = open_report(report({"only": texts}, texts, confidence=None)).navigate("#pictures")
    options = tab.get_by_label("Picture").locator("option").all_inner_texts()
    assert options == [
        "Distribution of scores", "Distribution of length ratios", "All systems by bin",
    ]  # fmt: skip


# ---- without a browser ----


REFERENCES = ["the ferry leaves at nine", "we take the first train", "it rains again today"] * 7
OUTPUTS = {
    "slow": REFERENCES,
    "fast": ["the ferry goes at nine", "we take the first bus", "it rains today"] * 7,
    "poor": ["a boat", "the train", "rain again today"] * 7,
}
LAGS = {"slow": 1900.0, "fast": 700.0, "poor": 1200.0}


def test_systems_by_quality_and_latency_have_pareto_line(open_report):
    scores = {"LAAL": {name: [lag] * len(REFERENCES) for name, lag in LAGS.items()}}
    made = report(OUTPUTS, REFERENCES, metrics=["bleu", "chrf"], scores=scores, check_text=False)
    tab = open_report(made).navigate("#pictures?picture=systems")
    # Latency comes first, because lower values are better.
    options = tab.get_by_label("By", exact=True).locator("option").all_text_contents()
    assert options == ["LAAL", "chrF2"]
    rows = {row[0].split()[-1]: row[1:] for row in read_table_cells(tab)}
    on_line = {name: row[2] for name, row in rows.items()}
    assert on_line == {"slow": "yes", "fast": "yes", "poor": ""}
    assert {name: parse_number(row[1]) for name, row in rows.items()} == LAGS
    bleu = {name: round(tb.bleu(text, REFERENCES).value, 2) for name, text in OUTPUTS.items()}
    assert {name: parse_number(row[0]) for name, row in rows.items()} == bleu
    assert tab.locator("main figure svg circle.knot").count() == 3
    # From the fast to the slow system.
    assert tab.locator("main figure svg path.series.pareto").last.get_attribute("d").count("L") == 1


def test_points_fall_into_nearest_hexagon(run_modules):
    draw = random.Random(2)
    x, y = ([draw.uniform(0, 300) for _ in range(500)] for _ in range(2))
    [hexagons] = run_modules("pictures.mjs", {"hexagons": [[x, y, 8]]})["hexagons"]
    assert sum(hexagon["n"] for hexagon in hexagons) == 500
    nearest: dict[tuple[float, float], int] = {}
    for point in zip(x, y, strict=True):
        middle = min(hexagons, key=lambda hexagon: math.dist(point, (hexagon["x"], hexagon["y"])))
        assert math.dist(point, (middle["x"], middle["y"])) <= 8.01
        key = middle["x"], middle["y"]
        nearest[key] = nearest.get(key, 0) + 1
    assert nearest == {(hexagon["x"], hexagon["y"]): hexagon["n"] for hexagon in hexagons}


def test_density_integrates_to_one(run_modules):
    draw = random.Random(3)
    middle = [min(100, max(0, draw.gauss(50, 10))) for _ in range(2000)]
    cases = {"densities": [[middle, 0, 100], [[100] * 50, 0, 100], [[], 0, 100]]}
    bell, ties, none = run_modules("pictures.mjs", cases)["densities"]
    step = 100 / (len(bell) - 1)
    assert sum(bell) * step == pytest.approx(1)
    assert bell.index(max(bell)) * step == pytest.approx(50, abs=4)
    assert sum(ties) * step == pytest.approx(1)
    assert ties.index(max(ties)) == len(ties) - 1
    assert set(none) == {0}


def test_blocks_cover_all_segments_in_order(run_modules):
    sizes = [1, 9, 128, 2037, 100_000]
    blocks_by_size = run_modules("pictures.mjs", {"blocks": sizes})["blocks"]
    for n, blocks in zip(sizes, blocks_by_size, strict=True):
        assert blocks[0][0] == 0
        assert blocks[-1][1] == n
        assert all(a[1] == b[0] for a, b in pairwise(blocks))
        assert len(blocks) <= 40
