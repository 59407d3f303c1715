"""The agreement view: chart, caption and links to segments for two metrics."""

from __future__ import annotations

import random
import re

import pytest
from browser_report import measure_box
from paths import read_example_lines
from playwright_or_skip import expect
from test_browser_sizes import TIMEOUT_MILLISECONDS, make_texts

import truebleu as tb

pytestmark = pytest.mark.thorough

BLEU_TO_TER = "#agreement?across=0&up=2"


def compare_preferences(example, first, second):
    """Return which of birch (A) and cedar (B) each metric prefers, per segment."""
    marks = []
    for metric in (first, second):
        birch, cedar = (
            metric.segments(example.hypotheses[name], example.references)
            for name in ("birch", "cedar")
        )
        better, worse = "ab" if metric.LOWER_IS_BETTER else "ba"
        deltas = [b - a for a, b in zip(birch, cedar, strict=True)]
        marks.append([better if x > 1e-9 else worse if x < -1e-9 else "=" for x in deltas])
    return ["".join(pair) for pair in zip(*marks, strict=True)]


@pytest.fixture
def agreement_tab(example, open_report):
    return open_report(example.path, BLEU_TO_TER).page


@pytest.fixture(scope="module")
def external_scores_report(tmp_path_factory):
    """Return a report with external scores that reverse the order of the systems."""
    dice = random.Random(11)
    names = {"birch": 0.8, "cedar": 0.6, "aspen": 0.9, "alder": 0.4}
    scores = {
        "<b>X</b>": {
            name: [round(dice.gauss(mean, 0.1), 4) for _ in range(128)]
            for name, mean in names.items()
        }
    }
    path = tmp_path_factory.mktemp("given") / "given.html"
    reference = read_example_lines("de-en/reference.a.en")
    systems = {name: read_example_lines(f"de-en/{name}.en") for name in names if name != "alder"}
    systems["alder"] = [line.rpartition(" ")[0] for line in reference]
    options = {"metrics": ["bleu", "chrf"], "samples": 300, "confidence": 200, "scores": scores}
    tb.report(systems, reference, path=path, **options)
    return path, scores


def test_agreement_counts_equal_python(example, agreement_tab):
    bleu, _, ter = example.metrics
    kinds = compare_preferences(example, tb.BLEU(effective_order=True), ter)
    assert bleu == tb.BLEU()
    agreement_tab.get_by_text("As a table").click()
    cells = agreement_tab.locator(".chart details td").all_text_contents()
    expected = [kinds.count(x + y) for y in "b=a" for x in "a=b"]
    assert [int(cell.split()[0]) for cell in cells] == expected
    assert sum(expected) == 128
    caption = agreement_tab.locator("figcaption").text_content()
    # Cedar has letter A, because it is best. The baseline is B.
    assert f"Both prefer A in {kinds.count('bb')} segments" in caption
    assert f"both prefer B in {kinds.count('aa')} segments" in caption
    ties = sum("=" in kind for kind in kinds)
    assert f"{ties} segments are ties by at least one" in caption


def test_corners_name_preferred_system(agreement_tab):
    corners = agreement_tab.locator(".chart svg .inside").all_text_contents()
    disagreements = [text for text in corners if text.startswith("they disagree")]
    assert [text for text in corners if not text.isdigit()] == [
        *("BLEU: B, TER: A", disagreements[0], "both prefer A"),
        *("both prefer B", "BLEU: A, TER: B", disagreements[1]),
    ]
    # Lower TER is better, so its axis is reversed: A is better at the top.
    axis = agreement_tab.locator(".chart .tick").all_text_contents()
    numbers = [float(text.replace("−", "-")) for text in axis]
    up = numbers[numbers.index(max(numbers[:5])) + 1 :]
    assert up == sorted(up, reverse=True)
    expect(agreement_tab.get_by_text("The axis of TER is reversed")).to_be_visible()


def test_count_links_to_its_segments(example, agreement_tab):
    kinds = compare_preferences(example, tb.BLEU(effective_order=True), example.metrics[2])
    agreement_tab.locator("figcaption a").nth(3).click()
    expect(agreement_tab.locator("main.view.segments")).to_be_visible()
    expect(agreement_tab.locator(".chips")).to_contain_text("BLEU prefers A, TER B")
    subset_text = f"{kinds.count('ba')} of 128 segments"
    expect(agreement_tab.locator(".subset")).to_contain_text(subset_text)
    segment_numbers = agreement_tab.locator(".row .c-number > span:first-child").all_text_contents()
    assert sorted(int(number) for number in segment_numbers if number.isdigit()) == [
        i for i, kind in enumerate(kinds, 1) if kind == "ba"
    ]
    agreement_tab.locator(".chips button").first.click()
    expect(agreement_tab.locator(".subset")).to_contain_text("128 segments")


def test_worst_disagreement_opens_by_keyboard(example, agreement_tab):
    kinds = compare_preferences(example, tb.BLEU(effective_order=True), example.metrics[2])
    links = agreement_tab.locator("main section tbody th a").all_text_contents()
    numbers = [int(text) for text in links]
    assert sorted(numbers) == [i for i, kind in enumerate(kinds, 1) if kind in {"ab", "ba"}]
    agreement_tab.locator("main section tbody th a").first.focus()
    agreement_tab.keyboard.press("Enter")
    heading = agreement_tab.get_by_role("heading", name=re.compile(rf"^Segment {numbers[0]}\b"))
    expect(heading).to_be_visible()
    agreement_tab.evaluate("history.back()")
    expect(agreement_tab.locator("main.view.agreement")).to_be_visible()
    assert BLEU_TO_TER in agreement_tab.url


def test_click_opens_nearest_segment(agreement_tab):
    ring = measure_box(agreement_tab.locator(".chart .ring").first)
    number = agreement_tab.locator("main section tbody th a").first.text_content()
    agreement_tab.mouse.click(ring["x"] + ring["width"] / 2, ring["y"] + ring["height"] / 2)
    heading = agreement_tab.get_by_role("heading", name=re.compile(rf"^Segment {number}\b"))
    expect(heading).to_be_visible()


def test_metrics_and_systems_can_be_selected(agreement_tab):
    agreement_tab.get_by_role("combobox", name="Up", exact=True).select_option(label="chrF2")
    expect(agreement_tab.locator("figcaption strong")).to_have_text("Δ BLEU and Δ chrF2")
    assert "up=1" in agreement_tab.url
    # Selecting the other axis' metric swaps the two metrics.
    agreement_tab.get_by_role("combobox", name="Across").select_option(label="chrF2")
    expect(agreement_tab.locator("figcaption strong")).to_have_text("Δ chrF2 and Δ BLEU")
    agreement_tab.get_by_role("button", name="Swap the two metrics").click()
    expect(agreement_tab.locator("figcaption strong")).to_have_text("Δ BLEU and Δ chrF2")
    agreeing_count = agreement_tab.locator("figcaption a").first.text_content()
    agreement_tab.keyboard.press("x")
    expect(agreement_tab.locator("figcaption a").nth(1)).to_have_text(agreeing_count)


def test_external_scores_are_plotted(open_report, external_scores_report):
    path, scores = external_scores_report
    [(name, columns)] = scores.items()
    tab = open_report(path, "#agreement?up=c2").page
    expect(tab.locator("figcaption strong")).to_have_text(f"Δ BLEU and Δ {name}")
    row = tab.locator("main section tbody tr").first
    segment = int(row.locator("th").text_content()) - 1
    # By default, the view compares the baseline with the best system by BLEU.
    difference = columns["alder"][segment] - columns["birch"][segment]
    delta = row.locator("td data").nth(1)
    assert float(delta.get_attribute("value")) == pytest.approx(difference, abs=1e-12)
    expect(delta).to_have_text(re.compile(r"^[+−]0\.\d{5}$"))


def test_summary_links_opposite_winners_to_segments(open_report, external_scores_report):
    path, scores = external_scores_report
    name = next(iter(scores))
    tab = open_report(path, "#summary").page
    notes = tab.locator(".opposed")
    assert notes.count() == 6
    expect(notes.nth(2)).to_be_visible()
    expect(notes.nth(3)).to_be_hidden()
    tab.get_by_text("3 more pairs of systems on which metrics disagree").click()
    expect(notes.nth(5)).to_be_visible()
    text = notes.first.text_content()
    assert re.match(r"BLEU \(\+[\d.]+, p = [\d.]+\) and chrF2 \(.*\) prefer alder to cedar, ", text)
    assert f"{name} prefers cedar (+0." in text
    # The note must not be repeated at the end.
    note = text.removesuffix(" Show the segments")
    assert tab.locator("main.view").text_content().count(note) == 1
    rows = tab.locator(".overview tbody tr")
    clusters = {
        row.locator("bdi").inner_text(): "".join(row.locator("td").all_inner_texts()[2::3])
        for row in rows.all()
    }
    assert clusters == {"alder": "114", "cedar": "223", "birch": "332", "aspen": "441"}
    # External scores have a details section.
    tab.locator("main.view").get_by_text(f"{name} ↑ in detail").click()
    expect(tab.get_by_role("table", name=f"Systems by {name}")).to_be_visible()
    notes.first.get_by_role("link").click()
    expect(tab.locator("figcaption strong")).to_have_text(f"Δ BLEU and Δ {name}")


@pytest.mark.parametrize(
    ("names", "metrics"), [(("birch", "cedar"), ["bleu"]), (("birch",), ["bleu", "ter"])]
)
def test_views_without_contents_are_left_out(open_report, names, metrics):
    """Links to these views still open them."""
    systems = {name: read_example_lines(f"de-en/{name}.en") for name in names}
    options = {"metrics": metrics, "samples": 9, "confidence": 9}
    example_report = tb.report(systems, read_example_lines("de-en/reference.a.en"), **options)
    sheet = open_report(example_report)
    tab = sheet.page
    titles = {"Agreement": "agreement", "Documents": "documents", "Terms": "terms"}
    assert not titles.keys() & set(tab.locator("nav a").all_inner_texts())
    tab.keyboard.press("?")
    expect(tab.locator("dialog")).to_contain_text("Segments")
    assert not titles.keys() & set(tab.locator("dialog td").all_inner_texts())
    tab.keyboard.press("Escape")
    for title, view in titles.items():
        sheet.navigate(f"#{view}")
        expect(tab.locator("main.view h1")).to_have_text(title)
        message = "This report has no data for this view."
        expect(tab.locator("main.view .empty")).to_have_text(message)


def test_unknown_metric_in_url_shows_first_two(example, open_report):
    tab = open_report(example.path, "#agreement?across=99&up=constructor&apart=-3").page
    expect(tab.locator("figcaption strong")).to_have_text("Δ BLEU and Δ chrF2")
    tab = open_report(example.path, "#segments?split=0:9:ab").page
    expect(tab.locator(".subset")).to_contain_text("128 segments")


def test_fifty_thousand_segments_are_drawn_as_squares(open_report, tmp_path):
    systems = {name: make_texts(name, 50_000) for name in ("birch", "cedar")}
    path = tmp_path / "many.html"
    options = {"metrics": ["bleu", "wer"], "test": "bs", "samples": 20, "confidence": 20}
    tb.report(systems, make_texts("reference.a", 50_000), path=path, **options)
    tab = open_report(path, "#agreement").page
    tab.set_default_timeout(TIMEOUT_MILLISECONDS)
    shapes = tab.locator(".chart svg *")
    assert shapes.count() < 150, "a few paths, not a shape for each segment"
    tab.get_by_text("As a table").click()
    cells = tab.locator(".chart details td").all_text_contents()
    assert sum(int(cell.split()[0].replace(",", "")) for cell in cells) == 50_000
    assert tab.locator("main section tbody tr").count() == 20
    tab.get_by_role("button", name="Show 20 more").click()
    expect(tab.locator("main section tbody tr")).to_have_count(40)
