"""The viewer's analysis functions: parts of a difference, exports, charts and agreement."""

import csv
import io
import math
import random
import statistics

import pytest
from encoded_texts import describe_setting

from truebleu import BLEU, CHRF, Comparison, cite, report

REFERENCES = ["the cat is on the mat today", "nobody was there at all", "it was a long day"] * 8
GOOD = ["the cat is on the mat today", "nobody was here at all", "it was one long day"] * 8
POOR = ["a cat is on the mat", "nobody was here", "long day it was"] * 8


@pytest.fixture(scope="module")
def run(run_modules):
    return lambda **cases: run_modules("analysis.mjs", cases)


def make_split_case(metric, a, b, changes=None):
    """Return a test case that splits the difference of two systems by a metric."""
    rows = [metric.statistics(h, REFERENCES).total().tolist()[0] for h in (a, b)]
    return {"setting": describe_setting(metric, 1), "changes": changes or {}, "rows": rows}


# ---- parts of a difference ----


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
def test_parts_sum_to_bleu_difference(run, parameters, changes):
    [result] = run(splits=[make_split_case(BLEU(**parameters), POOR, GOOD, changes)])["splits"]
    assert not result["reason"]
    a, b = result["scores"]
    assert a < b
    assert math.isclose(sum(p["log"] for p in result["parts"]), math.log(b / a), abs_tol=1e-9)
    assert math.isclose(sum(p["points"] for p in result["parts"]), b - a, abs_tol=1e-9)
    orders = changes.get("max_order", parameters.get("max_order", 4))
    names = [p["name"] for p in result["parts"]]
    assert names == ["length (BP)", *(f"{n}-grams" for n in range(1, orders + 1))]


def test_metric_without_logarithm_or_product_has_no_parts(run):
    unrelated_texts = ["xyz"] * len(REFERENCES)
    cases = [
        make_split_case(BLEU(), unrelated_texts, GOOD),
        make_split_case(BLEU(aggregate="segments"), POOR, GOOD),
        make_split_case(CHRF(), POOR, GOOD),
    ]
    for result in run(splits=cases)["splits"]:
        assert result["parts"] == []
        assert result["reason"]


def test_equal_scores_have_zero_parts(run):
    [result] = run(splits=[make_split_case(BLEU(), GOOD, GOOD)])["splits"]
    assert [p["points"] for p in result["parts"]] == [0] * 5


# ---- tables ----


def test_float_format_equals_python_repr(run):
    dice = random.Random(3)
    numbers = [0.0, 1.0, -2.5, 1e-4, 9.999e-05, 1e15, 1e16, 1.5e22, 5e-324, 1e-10, 123456789.125]
    numbers += [dice.uniform(-1, 1) * 10.0 ** dice.randint(-12, 20) for _ in range(3000)]
    assert run(floats=numbers)["floats"] == [repr(number) for number in numbers]


@pytest.fixture(scope="module")
def manifest():
    systems = {"good": GOOD, "=poor|_%": POOR, "@néw\u200b": GOOD[1:] + GOOD[:1]}
    options = {"metrics": ["bleu", "chrf", "ter"], "samples": 200, "confidence": 200}
    return report(systems, REFERENCES, **options).to_dict()


@pytest.fixture(scope="module")
def content(manifest):
    return manifest["comparison"]


@pytest.mark.parametrize(("separator", "write"), [(",", Comparison.csv), ("\t", Comparison.tsv)])
def test_delimited_export_equals_compare(run, content, separator, write):
    [result] = run(comparisons=[[content, separator]])["comparisons"]
    assert result["rows"] == write(Comparison(content))


def test_unsafe_export_keeps_formulas(run, content):
    [result] = run(comparisons=[[content, ","]])["comparisons"]
    safe, plain = (
        {row["system"] for row in csv.DictReader(io.StringIO(result[key]))}
        for key in ("rows", "unsafe")
    )
    assert safe == {"good", "'=poor|_%", "'@néw\\u200b"}
    assert plain == {"good", "=poor|_%", "@néw\\u200b"}


def test_report_has_the_tables_of_the_command_line(manifest):
    comparison = Comparison(manifest["comparison"])
    assert manifest["bibtex"] == cite(comparison).bibtex()
    assert manifest["setup"] == cite(comparison).text()
    assert manifest["tables"] == {"latex": comparison.latex(), "markdown": comparison.markdown()}


def test_single_system_has_tables(run):
    content = report({"good": GOOD}, REFERENCES, confidence=100).to_dict()["comparison"]
    [result] = run(comparisons=[[content, ","]])["comparisons"]
    assert result["rows"] == Comparison(content).csv()


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@a", "\t=1", "\r=1", "＝1"])
def test_segment_text_is_escaped_as_formula(run, text):
    [[safe, plain]] = run(guarded=[text])["guarded"]
    assert safe.lstrip('"').startswith("'")
    assert not plain.lstrip('"').startswith("'")


def test_segment_text_survives_csv_round_trip(run):
    dice = random.Random(5)
    characters = "ab\t\"'\n\r,=é🙂\u2028"
    texts = ["".join(dice.choices(characters, k=dice.randint(1, 9))) for _ in range(500)]
    for text, [_, plain] in zip(texts, run(guarded=texts)["guarded"], strict=True):
        assert list(csv.reader(io.StringIO(plain, newline=""), delimiter="\t")) == [[text]]


# ---- charts ----


@pytest.mark.parametrize(
    ("low", "high", "approximate_count", "expected_ticks"),
    [(0, 10, 5, [0, 2, 4, 6, 8, 10]), (-0.3, 0.3, 6, [-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3])],
)
def test_axis_ticks_are_round_numbers(run, low, high, approximate_count, expected_ticks):
    assert run(ticks=[[low, high, approximate_count]])["ticks"] == [expected_ticks]


# ---- two metrics ----


def test_metric_agreement_equals_python(run):
    dice = random.Random(9)
    x = [dice.choice([-2.5, -1.0, 0.0, 0.0, 1.0, 3.25]) * dice.random() for _ in range(400)]
    y = [v / 2 + dice.choice([-1.0, 0.0, 0.0, 1.0]) * dice.random() for v in x]
    [result] = run(agreements=[[x, y]])["agreements"]

    def preferred_system(v):
        return "b" if v > 0 else "a" if v < 0 else "="

    pairs = zip(map(preferred_system, x), map(preferred_system, y), strict=True)
    kinds = list(map("".join, pairs))
    assert result["counts"] == {kind: kinds.count(kind) for kind in kinds}
    assert result["correlation"] == pytest.approx(statistics.correlation(x, y), abs=1e-12)
    x_scale, y_scale = (math.sqrt(math.fsum(v * v for v in column) / 400) for column in (x, y))
    disagreement = {
        i: min(abs(x[i]) / x_scale, abs(y[i]) / y_scale)
        for i in range(400)
        if kinds[i] in {"ab", "ba"}
    }
    assert sorted(result["disagreements"]) == sorted(disagreement)
    sizes = [disagreement[i] for i in result["disagreements"]]
    assert sizes == pytest.approx(sorted(sizes, reverse=True), rel=1e-9)


def test_constant_metric_has_no_correlation(run):
    columns = [[0, 0, 0], [1, 2, 3]], [[1, 2, 4], [-2, -4, -8]]
    [constant, opposite] = run(agreements=columns)["agreements"]
    assert constant["correlation"] is None
    assert constant["disagreements"] == []
    assert constant["ends"] == [1, 3], "an axis has a length"
    assert opposite["correlation"] == pytest.approx(-1)
    assert opposite["disagreements"] == [2, 1, 0]


def test_outlier_does_not_compress_axis(run):
    near = [math.sin(i) for i in range(500)]
    [result] = run(agreements=[[[*near, 400.0], near]])["agreements"]
    assert 1 < result["ends"][0] < 2
    assert result["ends"][1] == max(map(abs, near))
