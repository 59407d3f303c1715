"""Pictures of all segments: their numbers, axes, legends, and what keyboard and pointer reach."""

from __future__ import annotations

import json
import math
import random
import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from browser_report import downloaded
from closeness import near
from playwright_or_skip import expect

import truebleu as tb
from truebleu import reports as package
from truebleu.reports import report

pytestmark = pytest.mark.thorough

VIEWER = Path(package.__file__).parent / "viewer"
KINDS = ("scatter", "spread", "ratio", "course", "all", "groups", "metrics")


def number(text: str) -> float:
    return float(text.replace("−", "-").replace("+", "").replace(",", ""))


def cells(tab) -> list[list[str]]:
    """The picture's table."""
    tab.locator("main figure details").first.evaluate("d => { d.open = true; }")
    return tab.locator("main figure tbody tr").evaluate_all(
        "rows => rows.map(r => [...r.cells].map(c => c.textContent))"
    )


def exact(tab) -> list[list[float]]:
    """Its numbers, with all their digits."""
    return tab.locator("main figure tbody tr").evaluate_all(
        "rows => rows.map(r => [...r.querySelectorAll('data')].map(d => Number(d.value)))"
    )


def shown(tab) -> int:
    tab.locator("main.view.segments").wait_for()
    expect(tab.locator(".subset")).to_contain_text("segments")
    return int(tab.locator(".subset strong").first.inner_text().replace(",", ""))


# ---- every picture ----


@pytest.mark.parametrize("kind", KINDS)
def test_every_picture_has_axes_a_legend_a_table_and_an_svg(example, opened, saves, kind):
    tab = opened(example.path).go(f"#pictures?picture={kind}")
    figure = tab.locator("main figure")
    names = figure.locator("svg text.name").all_text_contents()
    ticks = figure.locator("svg text.tick").all_text_contents()
    assert len(ticks) >= 4
    # The titles of both axes, one of which is turned.
    assert figure.locator("svg text.name[transform*=rotate]").count() == 1
    assert len(names) >= 4
    assert len(cells(tab)) >= 2
    _, text = downloaded(tab, figure.get_by_role("button", name="Save as SVG"), saves)
    assert text.startswith("<svg")
    assert "tabindex" not in text
    assert "class=" not in text


@pytest.mark.parametrize("kind", KINDS)
def test_the_keyboard_reaches_every_place_and_its_segments(example, opened, kind):
    tab = opened(example.path).go(f"#pictures?picture={kind}")
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


def test_a_cell_of_the_scatter_leads_to_its_segments(example, opened):
    sheet = opened(example.path)
    tab = sheet.go("#pictures?picture=scatter")
    place = tab.locator("main figure .reach")
    for steps in (0, 3, 9):
        tab = sheet.go("#pictures?picture=scatter")
        place.focus()
        tab.keyboard.press("Home")
        for _ in range(steps):
            tab.keyboard.press("ArrowUp")
        told = place.get_attribute("aria-label")
        count = int(re.search(r": (\d+) segment", told)[1])
        tab.keyboard.press("Enter")
        expect(tab.locator(".subset strong").first).to_have_text(str(count))
    sheet.go("#pictures?picture=scatter")
    total = sum(int(cell) for row in cells(tab) for cell in row[1:] if cell)
    assert total == len(example.source)


def test_an_area_by_keyboard_and_by_pointer(example, opened):
    sheet = opened(example.path)
    tab = sheet.go("#pictures?picture=scatter")
    place = tab.locator("main figure .reach")
    place.focus()
    tab.keyboard.press("Home")
    for _ in range(2):
        tab.keyboard.press("Shift+ArrowRight")
    tab.keyboard.press("Shift+ArrowUp")
    told = place.get_attribute("aria-label")
    count = int(re.search(r": (\d+) segment", told)[1])
    assert count > 1
    tab.keyboard.press("Enter")
    expect(tab.locator(".subset strong").first).to_have_text(str(count))
    expect(tab.locator(".chips button")).to_have_count(3)
    sheet.go("#pictures?picture=scatter")
    box = tab.locator("main figure svg").bounding_box()
    tab.mouse.move(box["x"] + box["width"] * 0.1, box["y"] + box["height"] * 0.1)
    tab.mouse.down()
    tab.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.6, steps=4)
    told = tab.locator(".readout").inner_text()
    tab.mouse.up()
    count = int(re.search(r": (\d+) segment", told)[1])
    expect(tab.locator(".subset strong").first).to_have_text(str(count))
    scores = [
        tb.BLEU().segments(example.hypotheses[name], example.references)
        for name in ("birch", "cedar")
    ]
    low, high, bottom, top = map(float, re.findall(r"\d+\.?\d*", told.split(":")[0]))
    inside = sum(low <= x <= high and bottom <= y <= top for x, y in zip(*scores, strict=True))
    assert inside == count


def test_from_ten_thousand_segments_on_they_are_hexagons(opened):
    draw = random.Random(1)
    words = ["one", "two", "three", "four", "five", "six"]
    references = [" ".join(draw.choices(words, k=8)) for _ in range(10_000)]
    systems = {
        name: [" ".join(w if draw.random() < p else "x" for w in r.split()) for r in references]
        for name, p in {"a": 0.8, "b": 0.9}.items()
    }
    page = report(systems, references, samples=10, confidence=None)
    tab = opened(page).go("#pictures?picture=scatter")
    assert tab.locator("main figure svg path.dot").count() > 3
    assert tab.locator("main figure svg path.points").count() == 0
    legend = tab.locator("main figure svg text.name", has_text="segments").all_text_contents()
    assert any(re.fullmatch(r"[\d,]+–[\d,]+ segments", text) for text in legend)


# ---- numbers ----


def test_groups_have_the_scores_of_their_segments(example, opened):
    sheet = opened(example.path)
    tab = sheet.go("#pictures?picture=groups&picture_by=document")
    names = [row[0] for row in cells(tab)]
    for name, values in list(zip(names, exact(tab), strict=True))[:4]:
        inside = [i for i, document in enumerate(example.documents) if document == name]
        for system, value in zip(example.systems, values, strict=True):
            wanted = tb.bleu(
                [example.hypotheses[system][i] for i in inside],
                [example.references[i] for i in inside],
            )
            assert value == near(wanted.value)
    sheet.go("#pictures?picture=all&picture_by=label0")
    kinds = example.labels["length"]
    for name, values in zip([row[0] for row in cells(tab)], exact(tab), strict=True):
        inside = [i for i, kind in enumerate(kinds) if kind == name]
        wanted = [
            tb.bleu([texts[i] for i in inside], [example.references[i] for i in inside]).value
            for texts in example.hypotheses.values()
        ]
        assert values == near(wanted)


def test_the_course_ends_at_the_difference_of_all(example, opened):
    tab = opened(example.path).go("#pictures?picture=course")
    rows = exact(tab)
    birch, cedar = (
        tb.bleu(example.hypotheses[name], example.references).value for name in ("birch", "cedar")
    )
    assert rows[-1][1] == near(cedar - birch)
    assert rows[0][0] == rows[0][1]


def test_metrics_agree_as_far_as_python_says(example, opened):
    tab = opened(example.path).go("#pictures?picture=metrics")
    rows = dict(zip([row[0] for row in cells(tab)], exact(tab), strict=True))
    deltas = []
    for metric in (tb.BLEU(), tb.TER()):
        one, other = (
            metric.segments(example.hypotheses[name], example.references)
            for name in ("birch", "cedar")
        )
        sign = -1 if metric.lower_is_better else 1
        deltas.append([sign * (y - x) for x, y in zip(one, other, strict=True)])
    means = [sum(column) / len(column) for column in deltas]
    x, y = ([v - m for v in column] for column, m in zip(deltas, means, strict=True))
    r = sum(a * b for a, b in zip(x, y, strict=True)) / math.sqrt(
        sum(a * a for a in x) * sum(b * b for b in y)
    )
    assert rows["BLEU and TER"] == [pytest.approx(r, abs=1e-9)]
    up_down = sum(a > 0 > b for a, b in zip(*deltas, strict=True))
    link = tab.locator("main figure tbody tr", has_text="BLEU and TER").get_by_role("link").first
    link.click()
    expect(tab.locator(".chips")).to_contain_text("BLEU prefers B, TER A")
    assert shown(tab) == up_down


def test_one_system_has_the_pictures_that_need_no_second(opened):
    texts = [f"the {i} cats sat on a mat of {i}" for i in range(40)]
    tab = opened(report({"only": texts}, texts, confidence=None)).go("#pictures")
    options = tab.get_by_label("Picture").locator("option").all_inner_texts()
    assert options == [
        "How scores are spread", "How length ratios are spread", "All systems in buckets",
    ]  # fmt: skip


# ---- without a browser ----


def counted(cases):
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node")
    script = Path(__file__).with_name("pictures.mjs")
    done = subprocess.run(
        [node, script, VIEWER], input=json.dumps(cases), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_each_point_is_in_the_nearest_hexagon():
    draw = random.Random(2)
    x, y = ([draw.uniform(0, 300) for _ in range(500)] for _ in range(2))
    [found] = counted({"hexagons": [[x, y, 8]], "densities": [], "blocks": []})["hexagons"]
    assert sum(one["n"] for one in found) == 500
    nearest: dict[tuple[float, float], int] = {}
    for point in zip(x, y, strict=True):
        middle = min(found, key=lambda one: math.dist(point, (one["x"], one["y"])))
        assert math.dist(point, (middle["x"], middle["y"])) <= 8.01
        key = middle["x"], middle["y"]
        nearest[key] = nearest.get(key, 0) + 1
    assert nearest == {(one["x"], one["y"]): one["n"] for one in found}


def test_a_density_is_one_in_all():
    draw = random.Random(3)
    middle = [min(100, max(0, draw.gauss(50, 10))) for _ in range(2000)]
    cases = {"hexagons": [], "densities": [[middle, 0, 100], [[100] * 50, 0, 100], [[], 0, 100]]}
    bell, ties, none = counted({**cases, "blocks": []})["densities"]
    step = 100 / (len(bell) - 1)
    assert sum(bell) * step == pytest.approx(1)
    assert bell.index(max(bell)) * step == pytest.approx(50, abs=4)
    assert sum(ties) * step == pytest.approx(1)
    assert ties.index(max(ties)) == len(ties) - 1
    assert set(none) == {0}


def test_blocks_are_all_segments_in_turn():
    for n, blocks in zip(
        (1, 9, 128, 2037, 100_000),
        counted({"hexagons": [], "densities": [], "blocks": [1, 9, 128, 2037, 100_000]})["blocks"],
        strict=True,
    ):
        assert blocks[0][0] == 0
        assert blocks[-1][1] == n
        assert all(a[1] == b[0] for a, b in pairwise(blocks))
        assert len(blocks) <= 40
