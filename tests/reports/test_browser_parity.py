"""All computed and displayed numbers of the page equal Python's, for all settings."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from browser_report import PythonNumbers
from closeness import near

from truebleu import BLEU, CHRF
from truebleu.reports import report

pytestmark = pytest.mark.thorough

SUBSET = (0, 3, 4, 17, 31, 77, 90, 127)

# Setting number, parameters changed in the page, and the corresponding metric in Python.
CHANGES = [
    (0, {"smoothing": "none"}, BLEU(smoothing="none")),
    (0, {"smoothing": "floor"}, BLEU(smoothing="floor")),
    (
        0,
        {"smoothing": "floor", "smoothing_value": 0.5},
        BLEU(smoothing="floor", smoothing_value=0.5),
    ),
    (0, {"smoothing": "add-k", "smoothing_value": 2}, BLEU(smoothing="add-k", smoothing_value=2)),
    (0, {"max_order": 1}, BLEU(max_order=1)),
    (0, {"max_order": 3, "weights": "0.5,0.25,0.25"}, BLEU(max_order=3, weights=(0.5, 0.25, 0.25))),
    (0, {"weights": "0.1,0.2,0.3,0.4"}, BLEU(weights=(0.1, 0.2, 0.3, 0.4))),
    (0, {"effective_order": "yes"}, BLEU(effective_order=True)),
    (0, {"effective_order": "no"}, BLEU(effective_order=False)),
    (0, {"max_order": 6}, BLEU(max_order=6)),
    # With several references, β may change the selected reference, which requires the texts.
    (1, {"beta": 3}, CHRF(beta=3)),
    (1, {"char_order": 3, "word_order": 2}, CHRF(char_order=3, word_order=2)),
    # URLs may contain invalid parameters.
    (0, {"max_order": 9}, BLEU()),
    (0, {"weights": "1,2"}, BLEU()),
    (0, {"smoothing": "constructor", "beta": 3}, BLEU()),
]


# ---- displayed numbers ----


def read_data_values(place):
    """Return the exact numbers of an element in their order."""
    return [float(v) for v in place.locator("data").evaluate_all("all => all.map(d => d.value)")]


def make_url(view, setting, **state):
    return f"#{view}?{urlencode({'setting': setting, **state})}"


def find_metric_cells(page, setting):
    """Return the system names of the overview table with the cells of one setting."""
    page.locator("main .overview").wait_for()
    rows = page.locator("main .overview tbody tr")
    return [
        (row.locator("bdi").inner_text(), row.locator(f"[data-measure='{setting}']"))
        for row in rows.all()
    ]


def test_system_scores_equal_python(example, open_report):
    sheet = open_report(example.path)
    for number, metric in example.settings:
        python = PythonNumbers(metric, example.hypotheses, example.references)
        tab = sheet.navigate(make_url("summary", number))
        rows = find_metric_cells(tab, number)
        assert len(rows) == 3
        for name, cells in rows:
            score, *delta = read_data_values(cells)
            assert score == near(python.corpus(name)), (metric, name)
            if name != "birch":
                assert delta[0] == near(python.corpus(name) - python.corpus("birch"))


def test_subset_scores_equal_python(example, open_report):
    sheet = open_report(example.path)
    only = ",".join(str(i + 1) for i in SUBSET)
    for number, metric in example.settings:
        python = PythonNumbers(metric, example.hypotheses, example.references)
        tab = sheet.navigate(make_url("segments", number, only=only))
        tab.locator(".subset", has_text=f"{len(SUBSET)} of 128").wait_for()
        a, b = (python.corpus(name, SUBSET) for name in ("birch", "cedar"))
        assert read_data_values(tab.locator(".subset")) == near([a, b, b - a]), metric


def test_segment_numbers_equal_python(example, open_report):
    sheet = open_report(example.path)
    for number, metric in example.settings:
        python = PythonNumbers(metric, example.hypotheses, example.references)
        for i in (0, 17, 127):
            tab = sheet.navigate(make_url("segments", number, seg=i + 1))
            tab.get_by_role("heading", name=f"Segment {i + 1}").wait_for()
            scores = {
                heading.locator("bdi").inner_text(): read_data_values(heading)[0]
                for heading in tab.locator(".detail h3:has(.score)").all()
            }
            assert scores == {name: near(python.segments[name][i]) for name in example.systems}
            walk = read_data_values(tab.locator(".detail .walk"))
            if hasattr(metric, "alignment"):
                continue
            delta, influence = walk[-2:]
            a, b = (python.segments[name][i] for name in ("birch", "cedar"))
            assert delta == near(b - a), (metric, i)
            assert influence == near(python.influence("birch", "cedar", i)), (metric, i)
            # The last row of the calculation is the score.
            assert walk[-4:-2] == near([a, b])


@pytest.mark.parametrize(("setting", "changes", "metric"), CHANGES, ids=lambda x: str(x)[:40])
def test_changed_parameters_equal_python(example, open_report, setting, changes, metric):
    python = PythonNumbers(metric, example.hypotheses, example.references)
    sheet = open_report(example.path, make_url("summary", setting, **changes))
    notice = sheet.page.locator(".notice").inner_text()
    if metric == example.metrics[setting]:
        assert not notice
    elif changes != {"effective_order": "no"}:
        assert "not the reported score" in notice
        assert str(metric.signature(2)) in notice
    for name, cells in find_metric_cells(sheet.page, setting):
        assert read_data_values(cells)[0] == near(python.corpus(name))
    only = ",".join(str(i + 1) for i in SUBSET)
    tab = sheet.navigate(make_url("segments", setting, only=only, seg=18, **changes))
    tab.locator(".subset", has_text=f"{len(SUBSET)} of 128").wait_for()
    a, b = (python.corpus(name, SUBSET) for name in ("birch", "cedar"))
    assert read_data_values(tab.locator(".subset")) == near([a, b, b - a])
    score = read_data_values(tab.locator(".detail h3:has(.score)").first)[0]
    assert score == near(python.segments["birch"][17])


def test_last_calculation_step_equals_python(example, open_report):
    """The calculation in the view Why ends with the scores."""
    sheet = open_report(example.path)
    for number, metric in example.settings[:3]:
        python = PythonNumbers(metric, example.hypotheses, example.references)
        tab = sheet.navigate(make_url("why", number))
        table = tab.locator("main section:has(h2:text-is('From counts to the score')) table").first
        values = read_data_values(table.locator("tbody tr").last)
        a, b = (python.corpus(name) for name in ("birch", "cedar"))
        assert values == near([a, b, b - a]), metric


def test_chrf_with_single_reference_equals_python(example, open_report):
    references = [first for first, _ in example.references]
    chrf_report = report(
        example.hypotheses, references, metrics=["chrf++"], samples=20, confidence=20
    )
    sheet = open_report(chrf_report)
    for changes in ({"beta": 3}, {"beta": 0.5, "char_order": 3}, {"word_order": 0}):
        metric = CHRF(**{"word_order": 2, **changes})
        python = PythonNumbers(metric, example.hypotheses, references)
        tab = sheet.navigate(make_url("summary", 0, **changes))
        tab.locator(".notice", has_text=str(metric.signature(1))).wait_for()
        for name, cells in find_metric_cells(tab, 0):
            assert read_data_values(cells)[0] == near(python.corpus(name)), changes
