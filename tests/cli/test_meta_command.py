"""`truebleu meta`: people's scores and metrics from files, and every form of the table."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest
from paths import EXAMPLES

import truebleu as tb
from truebleu.cli import main

FOLDER = EXAMPLES / "de-en"
REFERENCE = FOLDER / "reference.a.en"
SYSTEMS = ("aspen", "birch", "cedar")


@pytest.fixture
def people(tmp_path):
    """Scores that follow chrF, in steps of five, with some segments that nobody rated."""
    lines = []
    for name in SYSTEMS:
        values = tb.CHRF().segments(FOLDER / f"{name}.en", REFERENCE)
        for i, value in enumerate(values):
            lines.append(f"{name}\t{'None' if i % 7 == 3 else float(5 * round(value / 5))}\n")
    path = tmp_path / "people.seg.score"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def words(people, *more):
    outputs = [str(FOLDER / f"{name}.en") for name in SYSTEMS]
    return ["meta", "--human", str(people), str(REFERENCE), "-i", *outputs, *map(str, more)]


def run(capsys, arguments):
    status = main(arguments)
    said = capsys.readouterr()
    return status, said.out, said.err


def table_of(capsys, arguments):
    status, out, err = run(capsys, [*arguments, "-f", "json"])
    assert (status, err) == (0, "")
    return json.loads(out)


def test_truebleu_scores_then_correlates(people, capsys):
    content = table_of(capsys, words(people, "-m", "bleu", "chrf", "ter"))
    rows = {row["name"]: row for row in content["metrics"]}
    assert set(rows) == {"BLEU", "chrF2", "TER"}
    # People here judge segments as chrF does.
    agreement = {name: row["scores"]["human:seg:pearson"]["value"] for name, row in rows.items()}
    assert max(agreement, key=agreement.get) == "chrF2"
    assert rows["TER"]["lower_is_better"]
    for row in rows.values():
        assert row["signature"]
        assert row["scores"]["human:seg:pearson"]["value"] > 0
    python = tb.meta_evaluate(
        people,
        [tb.BLEU(), tb.CHRF(), tb.TER()],
        text=tb.EvaluatedText({name: FOLDER / f"{name}.en" for name in SYSTEMS}, REFERENCE),
    )
    assert python.to_dict() == content
    assert tb.MetaEvaluation.from_json(python.to_json()) == python


def test_both_are_given(people, tmp_path, capsys):
    lines = people.read_text(encoding="utf-8").replace("None", "0")
    other = tmp_path / "other.score"
    other.write_text(lines, encoding="utf-8")
    arguments = ["meta", "--human", str(people), "--scores", f"X={other}", f"Y={other}"]
    content = table_of(capsys, [*arguments, "--level", "seg", "--statistic", "pearson", "acc-eq"])
    for row in content["metrics"]:
        assert row["scores"]["human:seg:pearson"]["value"] == pytest.approx(1.0)
        assert row["scores"]["human:seg:acc-eq"]["value"] == 1.0


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "csv", "tsv", "html"])
def test_every_form(people, form, capsys, tmp_path):
    more = ["-m", "bleu", "chrf", "--significance", 100, "--confidence", 50, "-f", form]
    status, out, err = run(capsys, words(people, *more))
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
def test_pictures_are_svg_with_the_systems_named(people, picture, capsys):
    status, out, err = run(
        capsys,
        words(people, "-m", "bleu", "chrf", "-f", "svg", "--picture", picture, "--of", "BLEU"),
    )
    assert (status, err) == (0, "")
    drawn = ET.fromstring(out)
    assert drawn.tag.endswith("svg")
    said = " ".join(drawn.itertext())
    assert "BLEU" in said
    if picture == "scatter":
        assert all(name in said for name in SYSTEMS)


def test_documents_and_domains(people, tmp_path, capsys):
    number = len(REFERENCE.read_text(encoding="utf-8").splitlines())
    domains = tmp_path / "domains"
    domains.write_text("".join(f"{'news' if i % 2 else 'talk'}\n" for i in range(number)))
    more = ["-m", "bleu", "--docs", FOLDER / "documents.txt", "--domains", domains]
    content = table_of(capsys, words(people, *more, "--by", "domain"))
    assert {one["name"] for one in content["sets"]} == {"human/talk", "human/news"}
    content = table_of(capsys, words(people, *more, "--level", "doc", "--statistic", "pearson"))
    (row,) = content["metrics"]
    assert set(row["scores"]) == {"human:doc:pearson"}
    more += ["--confidence", 50, "--resample", "documents"]
    content = table_of(capsys, words(people, *more, "--level", "seg"))
    found = content["metrics"][0]["scores"]["human:seg:pearson"]
    assert found["interval"]["over"] == "documents"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--human", "p"], "no metric: give scores"),
        ([], "name people's scores: --human FILE, or --tree DIR"),
        (["--human", "p", "-m", "chrf"], "they are computed of REF and -i HYP"),
        (["--human", "p", "--tree", "."], "one of both"),
        (["--human", "p", "--scores", "x"], "expected NAME=FILE"),
        (["--human", "p", "--scores", "x=p", "x=p"], "x is there twice"),
        (["--human", "p", "-t", "wmt23"], "for the folders that --tree names"),
        (["--human", "p", "--columns", "row=x", "--scores", "x=p"], "expected system=NAME"),
        (["--human", "p", "--mqm-weights", "5", "--scores", "x=p"], "expected ERROR:WEIGHT"),
        (["--human", "p", "--correction", "holm", "--scores", "x=p"], "nothing is tested"),
        (["--tree", ".", "--scores", "x=p"], "the folders of --tree have text and scores"),
        (["--human", "p", "--statistic", "r"], "unknown 'r'"),
    ],
)
def test_a_wrong_command_line_is_told_in_one_line(more, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p").write_text("a 1\nb 2\nc 3\n", encoding="utf-8")
    status, out, err = run(capsys, ["meta", *more])
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err


@pytest.mark.parametrize(
    ("scores", "options", "status", "message"),
    [
        ("a 1\nb 2\n", [], 1, "X, human: no scores of 1 system that people judged: c"),
        # The means of segments are compared with people's scores of whole systems.
        ("a 1\na 2\nb 1\nb 1\nc 1\nc 2\n", [], 0, ""),
        (
            "a 1\nb 1\nc 1\n",
            ["--statistic", "pearson"],
            0,
            "no value for X: all of its scores, or people's, are the same",
        ),
    ],
)
def test_metric_scores_of_other_shapes(
    scores, options, status, message, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p").write_text("a 1\nb 2\nc 3\n", encoding="utf-8")
    (tmp_path / "x").write_text(scores, encoding="utf-8")
    words = ["meta", "--human", "p", "--scores", "X=x", "--level", "sys", "-o", "out.txt"]
    found, _, err = run(capsys, [*words, *options])
    out = tmp_path / "out.txt"
    assert (found, out.exists()) == (status, status == 0)
    assert message in " ".join((err if status else out.read_text("utf-8")).split())
    assert err.count("\n") == (1 if status else 0)


def test_extra_segments_are_refused(people, tmp_path, capsys):
    longer = tmp_path / "longer.score"
    first, *rest = people.read_text(encoding="utf-8").splitlines(keepends=True)
    longer.write_text("".join([first, f"{first.split()[0]}\t1\n", *rest]), encoding="utf-8")
    status, _, err = run(capsys, ["meta", "--human", str(people), "--scores", f"X={longer}"])
    assert status == 1
    assert "differ" in err


def test_numbered_segments_find_their_places(tmp_path, capsys):
    """Of the segments of a text only some were judged, in any order."""
    chosen = (5, 2, 9, 7)
    lines = ["system\tmqm_avg_score\tseg_id"]
    for name in SYSTEMS:
        values = list(tb.BLEU().segments(FOLDER / f"{name}.en", REFERENCE))
        lines += [f"{name}\t{values[i - 1]!r}\t{i}" for i in chosen]
    path = tmp_path / "mqm.tsv"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    content = table_of(
        capsys, words(path, "-m", "bleu", "--level", "seg", "--statistic", "pearson")
    )
    found = content["metrics"][0]["scores"]["human:seg:pearson"]
    assert found["cells"] == 4 * len(SYSTEMS)
    assert found["value"] == pytest.approx(1.0)
