"""`truebleu meta`: human scores and metric scores from files, and all output formats."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET

import pytest
from paths import EXAMPLES

import truebleu as tb

FOLDER = EXAMPLES / "de-en"
REFERENCE = FOLDER / "reference.a.en"
SYSTEMS = ("aspen", "birch", "cedar")


@pytest.fixture
def human_scores(write):
    """Write human scores equal to chrF rounded to multiples of five, with missing scores."""
    lines = []
    for name in SYSTEMS:
        values = tb.CHRF().segments(FOLDER / f"{name}.en", REFERENCE)
        for i, value in enumerate(values):
            lines.append(f"{name}\t{'None' if i % 7 == 3 else float(5 * round(value / 5))}")
    return write("people.seg.score", lines)


@pytest.fixture
def evaluate(human_scores, read_json):
    """Return a function that evaluates metrics on the example systems and returns its result."""
    return lambda *options: read_json(*make_arguments(human_scores, *options), "-f", "json")


def make_arguments(human_scores, *options):
    outputs = [FOLDER / f"{name}.en" for name in SYSTEMS]
    return ["meta", "--human", human_scores, REFERENCE, "-i", *outputs, *options]


def test_metrics_that_read_no_reference_need_none(human_scores, tmp_path, read_json, read_error):
    program = tmp_path / "length.py"
    program.write_text("import sys\nfor line in open(sys.argv[1], 'rb'):\n    print(len(line))\n")
    arguments = make_arguments(human_scores, "-src", FOLDER / "source.de", "-m")
    arguments.remove(REFERENCE)
    name = f"command:length={sys.executable} {program} {{hyp}}"
    content = read_json(*arguments, name, "-f", "json")
    assert [row["name"] for row in content["metrics"]] == ["length"]
    assert "missing REF" in read_error(2, *arguments, "bleu")


def test_metrics_are_computed_and_correlated(human_scores, evaluate):
    content = evaluate("-m", "bleu", "chrf", "ter")
    rows = {row["name"]: row for row in content["metrics"]}
    assert set(rows) == {"BLEU", "chrF2", "TER"}
    # The human scores are rounded chrF scores.
    agreement = {name: row["scores"]["human:seg:pearson"]["value"] for name, row in rows.items()}
    assert max(agreement, key=agreement.get) == "chrF2"
    assert min(agreement.values()) > 0
    assert rows["TER"]["lower_is_better"]
    assert all(row["signature"] for row in rows.values())
    text = tb.EvaluatedText({name: FOLDER / f"{name}.en" for name in SYSTEMS}, REFERENCE)
    python = tb.meta_evaluate(human_scores, [tb.BLEU(), tb.CHRF(), tb.TER()], text=text)
    assert python.to_dict() == content
    assert tb.MetaEvaluation.from_json(python.to_json()) == python


def test_metric_scores_are_read_from_files(human_scores, write, read_json):
    text = human_scores.read_text(encoding="utf-8").replace("None", "0")
    scores = write("other.score", text.splitlines())
    words = ("--scores", f"X={scores}", f"Y={scores}", "--level", "seg")
    statistics = ("--statistic", "pearson", "acc-eq", "-f", "json")
    content = read_json("meta", "--human", human_scores, *words, *statistics)
    for row in content["metrics"]:
        assert row["scores"]["human:seg:pearson"]["value"] == pytest.approx(1.0)
        assert row["scores"]["human:seg:acc-eq"]["value"] == 1.0


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "csv", "tsv", "html"])
def test_every_format_is_written(human_scores, form, truebleu_command):
    options = ["-m", "bleu", "chrf", "--significance", 100, "--confidence", 50, "-f", form]
    result = truebleu_command(*make_arguments(human_scores, *options))
    assert (result.status, result.error) == (0, "")
    assert "BLEU" in result.output
    assert "chrF2" in result.output
    if form == "html":
        assert result.output.count("<svg xmlns") == 4
        assert "<script" not in result.output
    if form in ("csv", "tsv"):
        header, *lines = result.output.splitlines()
        assert header.split("," if form == "csv" else "\t") == list(tb.MetaEvaluation.COLUMNS)
        assert len(lines) == 2 * 4


@pytest.mark.parametrize("picture", ["scatter", "agreement"])
def test_svg_charts_name_systems(human_scores, picture, truebleu_command):
    options = ("-m", "bleu", "chrf", "-f", "svg", "--picture", picture, "--of", "BLEU")
    result = truebleu_command(*make_arguments(human_scores, *options))
    assert (result.status, result.error) == (0, "")
    svg = ET.fromstring(result.output)
    assert svg.tag.endswith("svg")
    text = " ".join(svg.itertext())
    assert "BLEU" in text
    assert picture == "agreement" or all(name in text for name in SYSTEMS)


def test_documents_and_domains_group_scores(evaluate, write):
    number = len(REFERENCE.read_text(encoding="utf-8").splitlines())
    domains = write("domains", ["news" if i % 2 else "talk" for i in range(number)])
    options = ["-m", "bleu", "--docs", FOLDER / "documents.txt", "--domains", domains]
    content = evaluate(*options, "--by", "domain")
    assert {entry["name"] for entry in content["sets"]} == {"human/talk", "human/news"}
    (row,) = evaluate(*options, "--level", "doc", "--statistic", "pearson")["metrics"]
    assert set(row["scores"]) == {"human:doc:pearson"}
    options += ["--confidence", "50", "--resample", "documents", "--level", "seg"]
    correlation = evaluate(*options)["metrics"][0]["scores"]["human:seg:pearson"]
    assert correlation["interval"]["over"] == "documents"


@pytest.mark.parametrize(
    ("extra_options", "message"),
    [
        ("--human p", "missing metric; use --scores"),
        ("", "human scores: expected either --human FILE or --tree DIR"),
        ("--human p -m chrf", "computing metrics needs REF and -i HYP"),
        ("--human p --tree .", "either --human FILE or --tree DIR"),
        ("--human p --scores x", "expected NAME=FILE"),
        ("--human p --scores x=p x=p", "duplicate name 'x'"),
        ("--human p --scores x=p --epsilon -1", "--epsilon: expected a number of 0 or more"),
        (
            "p -i a=p b=p --human p --scores BLEU=p -m bleu",
            "--scores: duplicate metric name 'BLEU'",
        ),
        ("--human p -t wmt23", "has no effect without --tree"),
        ("--human p --columns row=x --scores x=p", "expected system=NAME"),
        ("--human p --mqm-weights 5 --scores x=p", "expected ERROR:WEIGHT"),
        ("--human p --correction holm --scores x=p", "has no effect without --significance"),
        ("--tree . --scores x=p", "--tree are mutually exclusive"),
        ("--human p --statistic r", "unknown value 'r'"),
    ],
)
def test_wrong_command_line_gives_one_line_error(extra_options, message, write, read_error):
    folder = write("p", ["a 1", "b 2", "c 3"]).parent
    assert message in read_error(2, "meta", *extra_options.split(), cwd=folder)


def test_missing_system_in_metric_scores_is_an_error(write, read_error):
    human, scores = write("p", ["a 1", "b 2", "c 3"]), write("x", ["a 1", "b 2"])
    error = read_error(1, "meta", "--human", human, "--scores", f"X={scores}", "--level", "sys")
    assert "X, human: no scores for 1 system with human scores: c" in error


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        # Segment scores of metrics are averaged, but human scores are system scores.
        (["a 1", "a 2", "b 1", "b 1", "c 1", "c 2"], [], ""),
        (
            ["a 1", "b 1", "c 1"],
            ["--statistic", "pearson"],
            "no value for X: all metric scores, or all human scores, are equal",
        ),
    ],
)
def test_system_scores_are_correlated_if_they_differ(
    scores, options, message, write, truebleu_command
):
    human, metric = write("p", ["a 1", "b 2", "c 3"]), write("x", scores)
    words = ("meta", "--human", human, "--scores", f"X={metric}", "--level", "sys", *options)
    result = truebleu_command(*words)
    assert (result.status, result.error) == (0, "")
    assert message in " ".join(result.output.split())


def test_extra_segments_are_refused(human_scores, write, read_error):
    first, *rest = human_scores.read_text(encoding="utf-8").splitlines()
    longer = write("longer.score", [first, f"{first.split()[0]}\t1", *rest])
    error = read_error(1, "meta", "--human", human_scores, "--scores", f"X={longer}")
    assert "(exceptions: aspen)" in error


def test_numbered_segments_are_matched_by_number(write, read_json):
    """Only some segments have human scores, in arbitrary order."""
    judged_segments = (5, 2, 9, 7)
    lines = ["system\tmqm_avg_score\tseg_id"]
    for name in SYSTEMS:
        values = list(tb.BLEU().segments(FOLDER / f"{name}.en", REFERENCE))
        lines += [f"{name}\t{values[i - 1]!r}\t{i}" for i in judged_segments]
    options = ("-m", "bleu", "--level", "seg", "--statistic", "pearson", "-f", "json")
    content = read_json(*make_arguments(write("mqm.tsv", lines), *options))
    correlation = content["metrics"][0]["scores"]["human:seg:pearson"]
    assert correlation["cells"] == 4 * len(SYSTEMS)
    assert correlation["value"] == pytest.approx(1.0)
