"""The page's views of analysis: the parts of a difference, and what can be taken away."""

import csv
import io
import json
import math
import random
import shutil
import statistics
import subprocess

import pytest

from truebleu import BLEU, CHRF, Comparison, report
from truebleu.reports import browser_kernel, html_page
from truebleu.reports.html_page import strip_comments

REFERENCES = ["the cat is on the mat today", "nobody was there at all", "it was a long day"] * 8
GOOD = ["the cat is on the mat today", "nobody was here at all", "it was one long day"] * 8
POOR = ["a cat is on the mat", "nobody was here", "long day it was"] * 8


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Gives what the viewer's functions make of some cases."""
    node = shutil.which("node")
    if not node:
        pytest.skip("no Node here to run the viewer's functions")
    folder = tmp_path_factory.mktemp("viewer")
    (folder / "package.json").write_text('{"type": "module"}')
    for module in sorted((html_page.PACKAGE_FOLDER / "viewer").glob("*.js")):
        (folder / module.name).write_text(strip_comments(module.read_text("utf-8")), "utf-8")
    script = html_page.PACKAGE_FOLDER.parents[1] / "tests" / "reports" / "analysis.mjs"

    def run(**cases):
        command = [node, script, folder, browser_kernel.KERNEL_PATH]
        done = subprocess.run(
            command, input=json.dumps(cases), capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)

    return run


def split(metric, a, b, changes=None):
    """A case: two systems by a metric."""
    if not browser_kernel.load_kernel_blocks():
        pytest.skip("the package was built without the kernel for pages")
    setting = {
        "id": "0",
        "metric": metric.NAME,
        "name": metric.NAME,
        "signature": str(metric.signature(1)),
        "higher_is_better": True,
        "parameters": metric.parameters,
        "recipe": browser_kernel.kernel_settings(metric),
        "columns": list(metric.columns),
    }
    rows = [metric.statistics(h, REFERENCES).total().tolist()[0] for h in (a, b)]
    return {"setting": setting, "changes": changes or {}, "rows": rows}


# ---- what a difference is made of ----


@pytest.mark.parametrize(
    ("parameters", "changes"),
    [
        ({}, {}),
        ({"max_order": 2}, {}),
        ({"smoothing": "add-k"}, {}),
        ({"smoothing": "floor", "lowercase": True}, {}),
        ({"weights": (0.4, 0.3, 0.2, 0.1)}, {}),
        ({"weights": (1.0, 1.0, 1.0, 1.0)}, {}),
        ({"arithmetic": "nltk"}, {}),
        ({}, {"max_order": 3, "smoothing": "add-k-all"}),
        ({}, {"effective_order": True}),
    ],
)
def test_the_parts_add_up_to_the_difference(run, parameters, changes):
    [got] = run(splits=[split(BLEU(**parameters), POOR, GOOD, changes)])["splits"]
    assert not got["reason"]
    a, b = got["scores"]
    assert a < b
    assert math.isclose(sum(p["log"] for p in got["parts"]), math.log(b / a), abs_tol=1e-9)
    assert math.isclose(sum(p["points"] for p in got["parts"]), b - a, abs_tol=1e-9)
    orders = changes.get("max_order", parameters.get("max_order", 4))
    named = [p["name"] for p in got["parts"]]
    assert named == ["length (BP)", *(f"{n}-grams" for n in range(1, orders + 1))]


def test_scores_without_a_logarithm_or_a_product_are_not_split(run):
    nothing = ["xyz"] * len(REFERENCES)
    cases = [
        split(BLEU(), nothing, GOOD),
        split(BLEU(aggregate="segments"), POOR, GOOD),
        split(CHRF(), POOR, GOOD),
    ]
    for got in run(splits=cases)["splits"]:
        assert got["parts"] == []
        assert got["reason"]


def test_equal_scores_have_parts_of_nothing(run):
    [got] = run(splits=[split(BLEU(), GOOD, GOOD)])["splits"]
    assert [p["points"] for p in got["parts"]] == [0] * 5


# ---- tables ----


def test_floats_are_written_as_python_writes_them(run):
    dice = random.Random(3)
    numbers = [0.0, 1.0, -2.5, 1e-4, 9.999e-05, 1e15, 1e16, 1.5e22, 5e-324, 1e-10, 123456789.125]
    numbers += [dice.uniform(-1, 1) * 10.0 ** dice.randint(-12, 20) for _ in range(3000)]
    assert run(floats=numbers)["floats"] == [repr(number) for number in numbers]


@pytest.fixture(scope="module")
def content():
    systems = {"good": GOOD, "=poor|_%": POOR, "@néw\u200b": GOOD[1:] + GOOD[:1]}
    made = report(systems, REFERENCES, metrics=["bleu", "chrf", "ter"], samples=200, confidence=200)
    return made.to_dict()["comparison"]


@pytest.mark.parametrize("separator", [",", "\t"])
def test_values_with_separators_are_those_of_compare(run, content, separator):
    [got] = run(comparisons=[[content, separator]])["comparisons"]
    assert got["rows"] == (
        Comparison(content).csv() if separator == "," else Comparison(content).tsv()
    )


def test_formulas_are_left_as_they_are_on_request(run, content):
    [got] = run(comparisons=[[content, ","]])["comparisons"]
    safe, plain = (
        {row["system"] for row in csv.DictReader(io.StringIO(got[key]))}
        for key in ("rows", "unsafe")
    )
    assert safe == {"good", "'=poor|_%", "'@néw\\u200b"}
    assert plain == {"good", "=poor|_%", "@néw\\u200b"}


def test_names_are_text_in_tables_for_papers(run, content):
    [got] = run(comparisons=[[content, ","]])["comparisons"]
    assert r"=poor\textbar{}\_\%" in got["latex"]
    assert got["latex"].count(r"\begin{tabular}") == got["latex"].count(r"\bottomrule") == 3
    assert r"=poor&#124;\_%" in got["markdown"]
    rows = [line for line in got["markdown"].splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in rows}) == 1


def test_a_report_of_one_system_has_its_tables(run):
    content = report({"good": GOOD}, REFERENCES, confidence=100).to_dict()["comparison"]
    [got] = run(comparisons=[[content, ","]])["comparisons"]
    assert got["rows"] == Comparison(content).csv()
    assert "Δ" not in got["markdown"]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@a", "\t=1", "\r=1", "＝1"])
def test_text_of_segments_is_no_formula(run, text):
    [[safe, plain]] = run(guarded=[text])["guarded"]
    assert safe.lstrip('"').startswith("'")
    assert not plain.lstrip('"').startswith("'")


def test_text_of_segments_comes_back(run):
    dice = random.Random(5)
    texts = [
        "".join(dice.choices("ab\t\"'\n\r,=é🙂\u2028", k=dice.randint(1, 9))) for _ in range(500)
    ]
    for text, [_, plain] in zip(texts, run(guarded=texts)["guarded"], strict=True):
        assert list(csv.reader(io.StringIO(plain, newline=""), delimiter="\t")) == [[text]]


# ---- charts ----


@pytest.mark.parametrize(
    ("low", "high", "about", "wanted"),
    [(0, 10, 5, [0, 2, 4, 6, 8, 10]), (-0.3, 0.3, 6, [-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3])],
)
def test_axes_have_round_numbers(run, low, high, about, wanted):
    assert run(ticks=[[low, high, about]])["ticks"] == [wanted]


# ---- two metrics ----


def test_what_two_metrics_say_of_segments(run):
    dice = random.Random(9)
    x = [dice.choice([-2.5, -1.0, 0.0, 0.0, 1.0, 3.25]) * dice.random() for _ in range(400)]
    y = [v / 2 + dice.choice([-1.0, 0.0, 0.0, 1.0]) * dice.random() for v in x]
    [got] = run(agreements=[[x, y]])["agreements"]

    def which(v):
        return "b" if v > 0 else "a" if v < 0 else "="

    kinds = [which(one) + which(other) for one, other in zip(x, y, strict=True)]
    assert got["counts"] == {kind: kinds.count(kind) for kind in kinds}
    assert got["correlation"] == pytest.approx(statistics.correlation(x, y), abs=1e-12)
    wide, tall = (math.sqrt(math.fsum(v * v for v in column) / 400) for column in (x, y))
    apart = {
        i: min(abs(x[i]) / wide, abs(y[i]) / tall) for i in range(400) if kinds[i] in {"ab", "ba"}
    }
    assert sorted(got["disagreements"]) == sorted(apart)
    sizes = [apart[i] for i in got["disagreements"]]
    assert sizes == pytest.approx(sorted(sizes, reverse=True), rel=1e-9)


def test_metrics_that_say_nothing_have_no_correlation(run):
    [none, whole] = run(agreements=[[[0, 0, 0], [1, 2, 3]], [[1, 2, 4], [-2, -4, -8]]])[
        "agreements"
    ]
    assert none["correlation"] is None
    assert none["disagreements"] == []
    assert none["ends"] == [1, 3], "an axis has a length"
    assert whole["correlation"] == pytest.approx(-1)
    assert whole["disagreements"] == [2, 1, 0]


def test_a_few_far_away_do_not_press_all_others_together(run):
    near = [math.sin(i) for i in range(500)]
    [got] = run(agreements=[[[*near, 400.0], near]])["agreements"]
    assert 1 < got["ends"][0] < 2
    assert got["ends"][1] == max(map(abs, near))
