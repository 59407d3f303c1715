"""`truebleu meta`: human scores and metric scores from files, and all output formats."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET

import pytest
from paths import EXAMPLES

import truebleu as tb
from truebleu.cli import main

FOLDER = EXAMPLES / "de-en"
REFERENCE = FOLDER / "reference.a.en"
SYSTEMS = ("aspen", "birch", "cedar")


@pytest.fixture
def human_scores(tmp_path):
    """Write human scores equal to chrF rounded to multiples of five, with missing scores."""
    lines = []
    for name in SYSTEMS:
        values = tb.CHRF().segments(FOLDER / f"{name}.en", REFERENCE)
        for i, value in enumerate(values):
            lines.append(f"{name}\t{'None' if i % 7 == 3 else float(5 * round(value / 5))}\n")
    path = tmp_path / "people.seg.score"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def make_arguments(human_scores, *options):
    outputs = [str(FOLDER / f"{name}.en") for name in SYSTEMS]
    return [
        "meta",
        "--human",
        str(human_scores),
        str(REFERENCE),
        "-i",
        *outputs,
        *map(str, options),
    ]


def run_meta(capsys, arguments):
    status = main(arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def read_table(capsys, arguments):
    status, out, err = run_meta(capsys, [*arguments, "-f", "json"])
    assert (status, err) == (0, "")
    return json.loads(out)


def test_metrics_that_read_no_reference_need_none(human_scores, tmp_path, capsys):
    program = tmp_path / "length.py"
    program.write_text("import sys\nfor line in open(sys.argv[1], 'rb'):\n    print(len(line))\n")
    arguments = make_arguments(human_scores, "-src", FOLDER / "source.de", "-m")
    arguments.remove(str(REFERENCE))
    name = f"command:length={sys.executable} {program} {{hyp}}"
    content = read_table(capsys, [*arguments, name])
    assert [row["name"] for row in content["metrics"]] == ["length"]
    status, _, error = run_meta(capsys, [*arguments, "bleu"])
    assert status == 2
    assert "missing REF" in error


def test_metrics_are_computed_and_correlated(human_scores, capsys):
    content = read_table(capsys, make_arguments(human_scores, "-m", "bleu", "chrf", "ter"))
    rows = {row["name"]: row for row in content["metrics"]}
    assert set(rows) == {"BLEU", "chrF2", "TER"}
    # The human scores are rounded chrF scores.
    agreement = {name: row["scores"]["human:seg:pearson"]["value"] for name, row in rows.items()}
    assert max(agreement, key=agreement.get) == "chrF2"
    assert rows["TER"]["lower_is_better"]
    for row in rows.values():
        assert row["signature"]
        assert row["scores"]["human:seg:pearson"]["value"] > 0
    python = tb.meta_evaluate(
        human_scores,
        [tb.BLEU(), tb.CHRF(), tb.TER()],
        text=tb.EvaluatedText({name: FOLDER / f"{name}.en" for name in SYSTEMS}, REFERENCE),
    )
    assert python.to_dict() == content
    assert tb.MetaEvaluation.from_json(python.to_json()) == python


def test_metric_scores_are_read_from_files(human_scores, tmp_path, capsys):
    lines = human_scores.read_text(encoding="utf-8").replace("None", "0")
    score_file = tmp_path / "other.score"
    score_file.write_text(lines, encoding="utf-8")
    arguments = [
        "meta",
        "--human",
        str(human_scores),
        "--scores",
        f"X={score_file}",
        f"Y={score_file}",
    ]
    content = read_table(capsys, [*arguments, "--level", "seg", "--statistic", "pearson", "acc-eq"])
    for row in content["metrics"]:
        assert row["scores"]["human:seg:pearson"]["value"] == pytest.approx(1.0)
        assert row["scores"]["human:seg:acc-eq"]["value"] == 1.0


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "csv", "tsv", "html"])
def test_every_format_is_written(human_scores, form, capsys, tmp_path):
    options = ["-m", "bleu", "chrf", "--significance", 100, "--confidence", 50, "-f", form]
    status, out, err = run_meta(capsys, make_arguments(human_scores, *options))
    assert (status, err) == (0, "")
    assert "BLEU" in out
    assert "chrF2" in out
    if form == "html":
        assert out.count("<svg xmlns") == 4
        assert "<script" not in out
    if form in ("csv", "tsv"):
        separator = "," if form == "csv" else "\t"
        header, *lines = out.splitlines()
        assert header.split(separator) == list(tb.MetaEvaluation.COLUMNS)
        assert len(lines) == 2 * 4


@pytest.mark.parametrize("picture", ["scatter", "agreement"])
def test_svg_charts_name_systems(human_scores, picture, capsys):
    status, out, err = run_meta(
        capsys,
        make_arguments(
            human_scores, "-m", "bleu", "chrf", "-f", "svg", "--picture", picture, "--of", "BLEU"
        ),
    )
    assert (status, err) == (0, "")
    svg = ET.fromstring(out)
    assert svg.tag.endswith("svg")
    text = " ".join(svg.itertext())
    assert "BLEU" in text
    if picture == "scatter":
        assert all(name in text for name in SYSTEMS)


def test_documents_and_domains_group_scores(human_scores, tmp_path, capsys):
    number = len(REFERENCE.read_text(encoding="utf-8").splitlines())
    domains = tmp_path / "domains"
    domains.write_text("".join(f"{'news' if i % 2 else 'talk'}\n" for i in range(number)))
    options = ["-m", "bleu", "--docs", FOLDER / "documents.txt", "--domains", domains]
    content = read_table(capsys, make_arguments(human_scores, *options, "--by", "domain"))
    assert {entry["name"] for entry in content["sets"]} == {"human/talk", "human/news"}
    content = read_table(
        capsys, make_arguments(human_scores, *options, "--level", "doc", "--statistic", "pearson")
    )
    (row,) = content["metrics"]
    assert set(row["scores"]) == {"human:doc:pearson"}
    options += ["--confidence", 50, "--resample", "documents"]
    content = read_table(capsys, make_arguments(human_scores, *options, "--level", "seg"))
    correlation = content["metrics"][0]["scores"]["human:seg:pearson"]
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
        ("--human p -t wmt23", "has no effect without --tree"),
        ("--human p --columns row=x --scores x=p", "expected system=NAME"),
        ("--human p --mqm-weights 5 --scores x=p", "expected ERROR:WEIGHT"),
        ("--human p --correction holm --scores x=p", "has no effect without --significance"),
        ("--tree . --scores x=p", "--tree are mutually exclusive"),
        ("--human p --statistic r", "unknown value 'r'"),
    ],
)
def test_wrong_command_line_gives_one_line_error(
    extra_options, message, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p").write_text("a 1\nb 2\nc 3\n", encoding="utf-8")
    status, out, err = run_meta(capsys, ["meta", *extra_options.split()])
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err


@pytest.mark.parametrize(
    ("scores", "options", "status", "message"),
    [
        ("a 1\nb 2\n", [], 1, "X, human: no scores for 1 system with human scores: c"),
        # Segment scores of metrics are averaged, but human scores are system scores.
        ("a 1\na 2\nb 1\nb 1\nc 1\nc 2\n", [], 0, ""),
        (
            "a 1\nb 1\nc 1\n",
            ["--statistic", "pearson"],
            0,
            "no value for X: all metric scores, or all human scores, are equal",
        ),
    ],
)
def test_mismatched_metric_scores_give_error(
    scores, options, status, message, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p").write_text("a 1\nb 2\nc 3\n", encoding="utf-8")
    (tmp_path / "x").write_text(scores, encoding="utf-8")
    make_arguments = ["meta", "--human", "p", "--scores", "X=x", "--level", "sys", "-o", "out.txt"]
    correlation, _, err = run_meta(capsys, [*make_arguments, *options])
    out = tmp_path / "out.txt"
    assert (correlation, out.exists()) == (status, status == 0)
    assert message in " ".join((err if status else out.read_text("utf-8")).split())
    assert err.count("\n") == (1 if status else 0)


def test_extra_segments_are_refused(human_scores, tmp_path, capsys):
    longer = tmp_path / "longer.score"
    first, *rest = human_scores.read_text(encoding="utf-8").splitlines(keepends=True)
    longer.write_text("".join([first, f"{first.split()[0]}\t1\n", *rest]), encoding="utf-8")
    status, _, err = run_meta(
        capsys, ["meta", "--human", str(human_scores), "--scores", f"X={longer}"]
    )
    assert status == 1
    assert "(exceptions: aspen)" in err


def test_numbered_segments_are_matched_by_number(tmp_path, capsys):
    """Only some segments have human scores, in arbitrary order."""
    judged_segments = (5, 2, 9, 7)
    lines = ["system\tmqm_avg_score\tseg_id"]
    for name in SYSTEMS:
        values = list(tb.BLEU().segments(FOLDER / f"{name}.en", REFERENCE))
        lines += [f"{name}\t{values[i - 1]!r}\t{i}" for i in judged_segments]
    path = tmp_path / "mqm.tsv"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    content = read_table(
        capsys, make_arguments(path, "-m", "bleu", "--level", "seg", "--statistic", "pearson")
    )
    correlation = content["metrics"][0]["scores"]["human:seg:pearson"]
    assert correlation["cells"] == 4 * len(SYSTEMS)
    assert correlation["value"] == pytest.approx(1.0)
