"""`truebleu score` and `segments` read tables: columns by name, groups, joins, what is wrong."""

import csv
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

pytest.importorskip("duckdb", reason="DuckDB is not installed")
pytest.importorskip("pyarrow", reason="the tables are made with pyarrow")

import pyarrow as pa
import pyarrow.parquet as pq
from contract import make_rows

import truebleu

SYSTEMS = ("birch", "cedar")
COUNT = 60
TEXT = make_rows(30, 2 * COUNT)
REFERENCES = TEXT.ref[:COUNT]
HYPOTHESES = {"birch": TEXT.hyp[:COUNT], "cedar": TEXT.hyp[COUNT:]}
DOMAINS = ["news" if i % 3 else "chat" for i in range(COUNT)]
IDS = list(range(100, 100 + COUNT))


def score(system, metric=None, domain=None):
    """What the command must print, by the package."""
    chosen = [i for i in range(COUNT) if domain in (None, DOMAINS[i])]
    hyp = [HYPOTHESES[system][i] for i in chosen]
    return (metric or truebleu.BLEU()).score(hyp, [REFERENCES[i] for i in chosen])


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """One table with everything, hypotheses and references apart, and a column a system."""
    monkeypatch.chdir(tmp_path)
    each = {
        "id": IDS * 2,
        "system": [name for name in SYSTEMS for _ in IDS],
        "domain": DOMAINS * 2,
        "hyp": [text for name in SYSTEMS for text in HYPOTHESES[name]],
        "ref": REFERENCES * 2,
    }
    both = pa.table(each)
    pq.write_table(both, "both.parquet")
    pq.write_table(both.select(["id", "system", "hyp"]), "hyps.parquet")
    references = pa.table({"id": IDS, "ref": REFERENCES, "domain": DOMAINS})
    pq.write_table(references.take(list(range(COUNT))[::-1]), "refs.parquet")
    pq.write_table(pa.table({**HYPOTHESES, "ref": REFERENCES}), "wide.parquet")
    for name in SYSTEMS:
        table = pa.table({"id": IDS, "hyp": HYPOTHESES[name]})
        pq.write_table(table, f"{name}.parquet")
    with open("both.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(each), *zip(*each.values(), strict=True)])
    with open("both.tsv", "w", encoding="utf-8") as file:
        lines = [list(each), *zip(*each.values(), strict=True)]
        file.writelines("\t".join(map(str, row)) + "\n" for row in lines)
    lines = "".join(json.dumps(row) + "\n" for row in both.to_pylist())
    with open("both.jsonl", "w", encoding="utf-8") as file:
        file.write(lines)
    with gzip.open("both.ndjson.gz", "wt", encoding="utf-8") as file:
        file.write(lines)
    with gzip.open("both.csv.gz", "wb") as file, open("both.csv", "rb") as source:
        file.write(source.read())
    with open("both.json", "w", encoding="utf-8") as file:
        json.dump(both.to_pylist(), file)
    return tmp_path


def scored(result):
    """The scores of an output in JSON, a dict per system, group and metric."""
    assert result.status == 0, result
    found = json.loads(result.output)
    assert found.pop("truebleu_score") == 1
    return found.pop("scores")


def without_system(rows):
    """Rows without the name of the table or the column that hypotheses were read from."""
    return [{name: value for name, value in row.items() if name != "system"} for row in rows]


# ---- where texts are ----


FILES = ["parquet", "csv", "csv.gz", "tsv", "jsonl", "ndjson.gz", "json"]


@pytest.mark.parametrize("end", FILES)
def test_both_texts_in_one_table(tables, truebleu_command, end):
    found = scored(truebleu_command("score", f"both.{end}", "--by", "system", "domain"))
    assert [(row["group"], row["segments"]) for row in found] == [
        ({"system": system, "domain": domain}, count)
        for system in SYSTEMS
        for domain, count in (("chat", 20), ("news", 40))
    ]
    for row in found:
        expected = score(row["group"]["system"], domain=row["group"]["domain"])
        assert row["score"] == expected.value
        assert row["signature"] == str(expected.signature)


def test_all_rows_are_one_score_without_groups(tables, truebleu_command):
    (found,) = scored(truebleu_command("score", "both.parquet"))
    hyp = [text for name in SYSTEMS for text in HYPOTHESES[name]]
    expected = truebleu.bleu(hyp, REFERENCES * 2).to_dict()
    assert found.pop("system") == "hyp"
    assert found.items() >= expected.items()


def test_hypotheses_and_references_joined_by_an_id(tables, truebleu_command):
    arguments = ["refs.parquet", "-i", "hyps.parquet", "--join", "id", "--by", "system", "domain"]
    found = scored(truebleu_command("score", *arguments))
    assert {row["system"] for row in found} == {"hyps.parquet"}
    both = scored(truebleu_command("score", "both.parquet", "--by", "system", "domain"))
    assert without_system(found) == without_system(both)


def test_a_table_a_system(tables, truebleu_command):
    found = scored(
        truebleu_command(
            "score", "refs.parquet", "-i", *(f"{s}.parquet" for s in SYSTEMS), "--join", "id"
        )
    )
    assert [(row["group"], row["score"]) for row in found] == [
        ({"system": system}, score(system).value) for system in SYSTEMS
    ]


def test_a_column_a_system(tables, truebleu_command):
    found = scored(truebleu_command("score", "wide.parquet", "--hyp-column", *SYSTEMS))
    assert [(row["group"], row["score"]) for row in found] == [
        ({"system": system}, score(system).value) for system in SYSTEMS
    ]


def test_one_column_of_hypotheses_is_one_score(tables, truebleu_command):
    result = truebleu_command("score", "wide.parquet", "--hyp-column", "cedar", "-f", "text")
    expected = score("cedar")
    assert result.output == f"{expected.format(1, signature=True)}\n"


def test_several_columns_of_references(tables, truebleu_command):
    arguments = ["wide.parquet", "--hyp-column", "birch", "--ref-column", "ref", "cedar"]
    references = list(zip(REFERENCES, HYPOTHESES["cedar"], strict=True))
    expected = truebleu.bleu(HYPOTHESES["birch"], references)
    (found,) = scored(truebleu_command("score", *arguments))
    assert found["score"] == expected.value


def test_many_files_by_a_pattern_or_a_folder(tables, truebleu_command):
    (tables / "parts").mkdir()
    table = pq.read_table("both.parquet")
    for number in range(4):
        pq.write_table(table.slice(30 * number, 30), f"parts/{number}.parquet")
    expected = scored(truebleu_command("score", "both.parquet", "--by", "system"))
    for name in ("parts/*.parquet", "parts", "parts/"):
        assert scored(truebleu_command("score", name, "--by", "system")) == expected
    parts = [f"parts/{number}.parquet" for number in range(4)]
    assert scored(truebleu_command("score", *parts, "--by", "system")) == expected


# ---- metrics and formats ----


def test_several_metrics(tables, truebleu_command):
    metrics = [truebleu.BLEU(), truebleu.CHRF(word_order=2), truebleu.TER()]
    arguments = ["both.parquet", "--by", "system", "-m", "bleu", "chrf++", "ter", "--threads", "2"]
    found = scored(truebleu_command("score", *arguments))
    assert [(row["name"], row["group"]["system"], row["score"]) for row in found] == [
        (metric.name, system, score(system, metric).value)
        for system in SYSTEMS
        for metric in metrics
    ]


def test_options_of_metrics(tables, truebleu_command):
    arguments = ["both.parquet", "--by", "system", "-tok", "intl", "-lc", "-s", "floor"]
    metric = truebleu.BLEU("intl", lowercase=True, smoothing="floor")
    for row in scored(truebleu_command("score", *arguments)):
        assert row["score"] == score(row["group"]["system"], metric).value


@pytest.mark.parametrize("form", ["text", "csv", "tsv", "latex", "markdown"])
def test_a_row_a_group_in_every_format(tables, truebleu_command, form):
    arguments = ["both.parquet", "--by", "system", "domain", "-m", "bleu", "chrf", "-f", form]
    result = truebleu_command("score", *arguments, "-w", "3")
    assert result.status == 0, result
    lines = [line for line in result.output.splitlines() if "birch" in line or "cedar" in line]
    assert len(lines) == 4
    separator = {"csv": ",", "tsv": "\t", "latex": "&", "markdown": "|"}.get(form)
    for line, (system, domain, count) in zip(
        lines,
        [(s, d, n) for s in SYSTEMS for d, n in (("chat", 20), ("news", 40))],
        strict=True,
    ):
        cells = [cell.strip(" \\") for cell in line.split(separator)]
        cells = [cell for cell in cells if cell]
        values = [score(system, metric, domain).value for metric in (None, truebleu.CHRF())]
        assert cells[:5] == [system, domain, str(count), *(f"{value:.3f}" for value in values)]
    assert "segments" in result.output.lower()
    assert "nrefs:1" in result.output


def test_groups_that_mean_something_to_a_format(tables, truebleu_command):
    names = ['a,"b"', "tab\there", "a|b", "50%_&", None]
    pq.write_table(pa.table({"hyp": ["x"] * 5, "ref": ["x"] * 5, "name": names}), "names.parquet")
    arguments = ["score", "names.parquet", "--by", "name"]
    found = list(csv.DictReader(truebleu_command(*arguments, "-f", "csv").output.splitlines()))
    assert {row["name"] for row in found} == {name or "" for name in names}
    found = truebleu_command(*arguments, "-f", "tsv").output.splitlines()
    assert {len(line.split("\t")) for line in found} == {len(found[0].split("\t"))}
    assert {row["group"]["name"] for row in scored(truebleu_command(*arguments))} == set(names)
    assert "a&#124;b" in truebleu_command(*arguments, "-f", "markdown").output
    assert r"50\%\_\&" in truebleu_command(*arguments, "-f", "latex").output


def test_groups_of_numbers_that_are_none(tables, truebleu_command):
    """NaN equals nothing, not even itself, and JSON has no word for it."""
    numbers = [float("nan"), -0.0, 0.0, None, float("inf"), float("nan")]
    pq.write_table(
        pq.read_table("both.parquet").slice(0, 6).append_column("k", [numbers]), "k.parquet"
    )
    result = truebleu_command("score", "k.parquet", "--by", "k", "-f", "tsv")
    found = list(csv.DictReader(result.output.splitlines(), delimiter="\t"))
    assert [(row["k"], row["segments"]) for row in found] == [
        ("", "1"), ("0.0", "2"), ("inf", "1"), ("nan", "2")
    ]  # fmt: skip
    groups = [
        row["group"]["k"] for row in scored(truebleu_command("score", "k.parquet", "--by", "k"))
    ]
    assert groups == [None, 0.0, "inf", "nan"]
    result = truebleu_command("segments", "k.parquet", "--by", "k", "-f", "json")
    cells = [row["k"] for row in json.loads(result.output, parse_constant=pytest.fail)["rows"]]
    assert cells == ["nan", 0.0, 0.0, None, "inf", "nan"]


def test_one_group_is_a_table_as_well(tables, truebleu_command):
    pq.write_table(pa.table({"hyp": ["a"], "ref": ["a"], "year": [2026]}), "one.parquet")
    found = scored(truebleu_command("score", "one.parquet", "--by", "year"))
    assert [row["group"] for row in found] == [{"year": 2026}]
    text = truebleu_command("score", "one.parquet", "--by", "year", "-f", "text").output
    assert ["year", "segments", "BLEU"] in [line.split()[:3] for line in text.splitlines()]


def test_only_the_scores(tables, truebleu_command):
    result = truebleu_command("score", "both.parquet", "--by", "system", "-b", "-f", "csv")
    assert result.output.split() == [repr(score(system).value) for system in SYSTEMS]


def test_csv_of_lines_of_text(write, truebleu_command, tmp_path):
    """The new format has what tab-separated values have."""
    write("ref", REFERENCES[:5])
    write("a, b", HYPOTHESES["birch"][:5])
    arguments = ["score", tmp_path / "ref", "-i", tmp_path / "a, b"]
    rows = [
        list(csv.reader(truebleu_command(*arguments, "-f", form).output.splitlines(), dialect))
        for form, dialect in (("csv", "excel"), ("tsv", "excel-tab"))
    ]
    assert rows[0] == rows[1]
    assert rows[0][1][0] == "a, b"


# ---- segments ----


def expected_segments(system):
    return truebleu.BLEU().segments(HYPOTHESES[system], REFERENCES).tolist()


@pytest.mark.parametrize("end", FILES)
@pytest.mark.parametrize("form", ["tsv", "csv", "json"])
def test_a_row_a_segment_in_the_order_of_the_file(tables, truebleu_command, end, form):
    result = truebleu_command("segments", f"both.{end}", "--by", "system", "id", "-f", form)
    assert result.status == 0, result
    lines = result.output.splitlines()
    if form == "json":
        found = json.loads(result.output)["rows"]
        assert list(found[0])[:5] == ["segment", "input", "system", "id", "BLEU"]
    else:
        found = list(csv.DictReader(lines, delimiter={"csv": ",", "tsv": "\t"}[form]))
    assert [int(row["segment"]) for row in found] == [*range(1, 2 * COUNT + 1)]
    assert [row["system"] for row in found] == [name for name in SYSTEMS for _ in IDS]
    assert [int(row["id"]) for row in found] == IDS * 2
    scores = [value for system in SYSTEMS for value in expected_segments(system)]
    assert [float(row["BLEU"]) for row in found] == scores


def test_segments_joined_by_an_id_keep_the_order_of_hypotheses(tables, truebleu_command):
    arguments = ["refs.parquet", "-i", "hyps.parquet", "--join", "id", "--by", "system", "domain"]
    result = truebleu_command("segments", *arguments)
    found = [json.loads(line) for line in result.output.splitlines()]
    assert [row["id"] for row in found] == IDS * 2
    assert [row["domain"] for row in found] == DOMAINS * 2
    scores = [value for system in SYSTEMS for value in expected_segments(system)]
    assert [row["BLEU"] for row in found] == scores


def test_segments_of_a_column_a_system(tables, truebleu_command):
    result = truebleu_command("segments", "wide.parquet", "--hyp-column", *SYSTEMS, "-f", "tsv")
    found = list(csv.DictReader(result.output.splitlines(), delimiter="\t"))
    assert [row["system"] for row in found] == [name for name in SYSTEMS for _ in IDS]
    scores = [value for system in SYSTEMS for value in expected_segments(system)]
    assert [float(row["BLEU"]) for row in found] == scores


def test_segments_as_text(tables, truebleu_command):
    text = truebleu_command("segments", "both.parquet", "--by", "system", "-f", "text", "-b")
    values = [(name, value) for name in SYSTEMS for value in expected_segments(name)]
    assert text.output == "".join(f"{name}\t{value:.1f}\n" for name, value in values)


def test_segments_as_parquet_keep_the_types_of_columns(tables, truebleu_command):
    import datetime as dt

    days = [dt.date(2026, 1, 1 + i) if i else None for i in range(3)]
    table = pa.table({"hyp": ["a"] * 3, "ref": ["a"] * 3, "day": days, "n": pa.array([1, 2, 3])})
    pq.write_table(table, "days.parquet")
    result = truebleu_command("segments", "days.parquet", "--by", "day", "n", "-o", "out.parquet")
    assert result.status == 0, result
    found = pq.read_table("out.parquet")
    assert found.column_names[:5] == ["segment", "system", "day", "n", "BLEU"]
    assert found["day"].to_pylist() == days
    assert found.schema.field("n").type == pa.int64()
    assert b"signature" in found.schema.metadata


def test_times_in_a_zone_stand_beside_segments(tables, truebleu_command):
    noon = datetime(2026, 11, 22, 12, tzinfo=UTC)
    times = pa.array([noon, None, noon], pa.timestamp("us", "UTC"))
    pq.write_table(
        pq.read_table("both.parquet").slice(0, 3).append_column("at", times), "at.parquet"
    )
    result = truebleu_command("segments", "at.parquet", "--by", "at", "-f", "tsv")
    assert result.status == 0, result
    cells = [row["at"] for row in csv.DictReader(result.output.splitlines(), delimiter="\t")]
    assert cells == ["2026-11-22 12:00:00+00:00", "", "2026-11-22 12:00:00+00:00"]
    result = truebleu_command("segments", "at.parquet", "--by", "at", "-o", "out.parquet")
    assert result.status == 0, result
    assert pq.read_table("out.parquet")["at"].to_pylist() == [noon, None, noon]


def test_text_beside_its_segments(tables, truebleu_command):
    """A column of text is carried along as well, and both sides' may be called the same."""
    result = truebleu_command("segments", "both.parquet", "--by", "ref", "hyp", "-f", "json")
    found = json.loads(result.output)["rows"]
    assert [row["hyp"] for row in found] == [text for name in SYSTEMS for text in HYPOTHESES[name]]
    assert [row["ref"] for row in found] == REFERENCES * 2
    for name, column in (("refs", "ref"), ("cedar", "hyp")):
        table = pq.read_table(f"{name}.parquet")
        names = ["text" if name == column else name for name in table.column_names]
        pq.write_table(table.rename_columns(names), f"{name}.text.parquet")
    sides = ["refs.text.parquet", "-i", "cedar.text.parquet", "--join", "id"]
    columns = ["--hyp-column", "text", "--ref-column", "text"]
    result = truebleu_command("segments", *sides, *columns, "--by", "text", "-f", "json")
    found = json.loads(result.output)["rows"]
    assert [row["text"] for row in found] == HYPOTHESES["cedar"]
    expected = truebleu.BLEU().segments(HYPOTHESES["cedar"], REFERENCES).tolist()
    assert [row["BLEU"] for row in found] == expected
    (found,) = scored(truebleu_command("score", *sides, *columns))
    assert found["score"] == score("cedar").value


def test_segments_of_many_batches_as_parquet(tables, truebleu_command):
    """More rows than are written at once."""
    count = 70_000
    table = {"hyp": ["a b"] * count, "ref": ["a b"] * count, "id": [*range(count)]}
    pq.write_table(pa.table(table), "many.parquet")
    done = truebleu_command("segments", "many.parquet", "--by", "id", "-o", "out.parquet", "-b")
    assert (done.status, done.error) == (0, "")
    found = pq.read_table("out.parquet")
    assert found["id"].to_pylist() == [*range(count)]
    assert found["segment"].to_pylist() == [*range(1, count + 1)]


def test_parquet_needs_pyarrow(tables):
    """It is said before a row is scored, and nothing is left behind."""
    done = run_python(
        "import sys; sys.modules['pyarrow'] = None\nfrom truebleu.cli import main\n"
        "sys.exit(main(['segments', 'both.parquet', '-o', 'out.parquet']))",
    )
    assert done.returncode == 1
    assert done.stderr == "truebleu: error: -f parquet needs pyarrow: pip install pyarrow\n"
    assert not Path("out.parquet").exists()


def test_segments_of_list_columns(tables, truebleu_command):
    several = [[text, None, "x"] for text in REFERENCES]
    pq.write_table(pa.table({"hyp": HYPOTHESES["birch"], "ref": several}), "lists.parquet")
    result = truebleu_command("segments", "lists.parquet", "-b", "-f", "tsv")
    references = [tuple(refs) for refs in several]
    expected = truebleu.BLEU().segments(HYPOTHESES["birch"], references).tolist()
    assert [float(line) for line in result.output.split()] == expected


def test_a_column_named_like_one_of_the_results(tables, truebleu_command):
    table = pq.read_table("both.parquet").rename_columns(["segment", "BLEU", "d", "hyp", "ref"])
    pq.write_table(table, "named.parquet")
    result = truebleu_command("segments", "named.parquet", "--by", "segment", "-f", "tsv")
    assert result.output.startswith("row\tsystem\tsegment\tBLEU\t")
    result = truebleu_command("segments", "named.parquet", "--by", "BLEU")
    assert (result.status, result.output) == (2, "")
    assert "--by BLEU: the results have a column of that name" in result.error


# ---- nulls and what cannot be joined ----


@pytest.fixture
def nulls(tables):
    table = {"id": [1, 2, 3, 4], "hyp": ["a b", None, "c", "d"], "ref": ["a b", "b", None, "d"]}
    pq.write_table(pa.table(table), "nulls.parquet")


@pytest.mark.parametrize("command", ["score", "segments"])
def test_nulls_are_an_error_that_counts_them(nulls, truebleu_command, command):
    result = truebleu_command(command, "nulls.parquet", "-o", "out.json")
    assert result.status == 1
    assert "'hyp' is null in 1 row, 'ref' is null in 1 row" in result.error
    assert "row 2" in result.error
    assert not Path("out.json").exists()


def test_nulls_can_be_left_out(nulls, truebleu_command):
    result = truebleu_command("score", "nulls.parquet", "--nulls", "skip")
    (found,) = scored(result)
    assert found["score"] == truebleu.bleu(["a b", "d"], ["a b", "d"]).value
    assert "omitted: 1 in hyp, 1 in ref" in result.error
    result = truebleu_command("segments", "nulls.parquet", "--nulls", "skip", "--by", "id")
    found = [json.loads(line) for line in result.output.splitlines()]
    assert [(row["segment"], row["id"]) for row in found] == [(1, 1), (4, 4)]
    assert "left out: 'hyp' is null in 1 row, 'ref' is null in 1 row" in result.error
    quiet = truebleu_command("score", "nulls.parquet", "--nulls", "skip", "-q")
    assert quiet.error == ""


def test_ids_that_cannot_be_joined(tables, truebleu_command):
    pq.write_table(pq.read_table("refs.parquet").slice(2), "fewer.parquet")
    arguments = ["fewer.parquet", "-i", "hyps.parquet", "--join", "id", "--by", "system"]
    for command in ("score", "segments"):
        result = truebleu_command(command, *arguments)
        assert (result.status, result.output) == (1, "")
        assert "4 hypotheses without a reference (158, 159)" in result.error
        result = truebleu_command(command, *arguments, "--unjoined", "skip")
        assert result.status == 0
        assert "4 hypotheses without a reference" in result.error


# ---- what is wrong ----


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (["both.parquet", "--hyp-column", "hpy"], 1, "no column 'hpy'; did you mean 'hyp'?"),
        (["both.parquet", "--by", "sytem"], 1, "no column 'sytem'; did you mean 'system'?"),
        (["both.parquet", "--hyp-column", "id"], 1, "int64|BIGINT"),
        (["none.parquet"], 1, "none.parquet: No such file"),
        (["none*.parquet"], 1, r"none\*.parquet: no file matches this pattern"),
        (["empty.parquet"], 1, "no segments"),
        (["broken.parquet"], 1, "broken.parquet"),
        (["refs.parquet", "-i", "hyps.parquet"], 2, "name the id that both have with --join"),
        (["both.parquet", "--join", "id"], 2, "there is nothing to join"),
        (
            ["both.parquet", "text.txt"],
            2,
            "text.txt is a file of lines and both.parquet is a table",
        ),
        (["text.txt", "-i", "text.txt", "--by", "x"], 2, "--by is for tables"),
        (["both.parquet", "-nr", "2"], 2, "--ref-column"),
        (["both.parquet", "-e", "latin-1"], 2, "tables are UTF-8"),
        (["both.parquet", "--nulls", "drop"], 2, "unknown 'drop'"),
        (["both.parquet", "--memory", "lots"], 1, r"\(--memory\): expected a size such as 384MB"),
        (["nothing"], 1, r"nothing: no \.parquet, .* files in this directory"),
        (["both.parquet", "nothing"], 1, r"nothing: no \.parquet"),
        (["s3://bucket/a.parquet"], 1, "expected a local file"),
        (
            ["refs.parquet", "-i", "hyps.parquet", "--join", "id"],
            1,
            "60 ids repeated",
        ),
        (["both.parquet", "-o", "both.parquet", "-f", "json"], 2, "is an input as well"),
    ],
)
@pytest.mark.parametrize("command", ["score", "segments"])
def test_mistakes(tables, truebleu_command, command, arguments, status, told):
    import re

    pq.write_table(pq.read_table("both.parquet").slice(0, 0), "empty.parquet")
    (tables / "broken.parquet").write_bytes((tables / "both.parquet").read_bytes()[:500])
    (tables / "text.txt").write_text("a\n")
    (tables / "nothing").mkdir()
    before = (tables / "both.parquet").read_bytes()
    result = truebleu_command(command, *arguments)
    assert result.status == status, result
    assert re.search(told, result.error), result
    assert result.error.count("\n") == 1
    assert "Traceback" not in result.error
    assert (tables / "both.parquet").read_bytes() == before


def test_no_part_of_a_file_is_left_when_rows_cannot_be_read(tables, truebleu_command):
    """Rows of the first file are scored, the second is damaged."""
    (tables / "parts").mkdir()
    data = bytearray((tables / "both.parquet").read_bytes())
    (tables / "parts" / "0.parquet").write_bytes(data)
    data[100:600] = bytes(500)
    (tables / "parts" / "1.parquet").write_bytes(data)
    for form in ("tsv", "csv", "json", "parquet"):
        result = truebleu_command("segments", "parts", "-f", form, "-o", "out")
        assert result.status == 1, result
        assert "parts" in result.error
        assert not (tables / "out").exists()
    assert not list(tables.glob(".truebleu*"))


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_an_interrupt_leaves_no_temporary_folder(tables):
    """Joins that spill leave gigabytes in it."""
    table = pq.read_table("both.parquet")
    pq.write_table(pa.concat_tables([table] * 2000), "large.parquet")
    (tables / "temporary").mkdir()
    command = [sys.executable, "-m", "truebleu", "score", *["large.parquet"] * 50, "-m", "chrf++"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(tables / "temporary")},
    )
    # Python tries the folder with a file of its own first.
    while process.poll() is None and not list((tables / "temporary").glob("truebleu-*")):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == -signal.SIGINT
    assert not list((tables / "temporary").iterdir())


def test_options_of_lines_that_tables_have_not(tables, truebleu_command):
    for option in (["-ci"], ["--log", "scores.jsonl"]):
        result = truebleu_command("score", "both.parquet", *option)
        assert result.status == 2
        assert "not with tables" in result.error


def test_commands_that_read_lines_say_so(tables, truebleu_command):
    result = truebleu_command("explain", "both.parquet", "-i", "hyps.parquet")
    assert result.status == 2
    told = "is a table, which truebleu score, segments, compare and report read; truebleu explain"
    assert told in result.error


def run_python(script):
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )


def test_without_duckdb_it_is_said_what_to_install(tables):
    script = (
        "import sys; sys.modules['duckdb'] = None\n"
        "from truebleu.cli import main\nsys.exit(main(['score', 'both.parquet']))"
    )
    done = run_python(script)
    assert done.returncode == 1
    assert "not installed: pip install 'truebleu[duckdb]'" in done.stderr


def test_lines_of_text_load_no_duckdb(tables):
    (tables / "text.txt").write_text("a\n")
    script = (
        "import sys\nfrom truebleu.cli import main\n"
        "main(['score', 'text.txt', '-i', 'text.txt', '-q'])\n"
        "print(*(name for name in ('duckdb', 'truebleu.engines') if name in sys.modules))"
    )
    done = run_python(script)
    assert done.stdout.splitlines()[-1] == "", done.stdout + done.stderr


def test_nothing_but_results_and_messages_is_printed(tables, truebleu_command):
    """No progress, no warnings of libraries, nothing at the end of the process."""
    result = truebleu_command("score", "both.csv", "--by", "system")
    assert (result.status, result.error) == (0, "")


# ---- the real thing ----


def test_published_scores_of_wmt22_from_a_table(wmt22, tmp_path, truebleu_command):
    """Every system of three language pairs in one table, references by id in another."""
    with (wmt22 / "published_scores.tsv").open(encoding="utf-8", newline="") as file:
        published = [
            row
            for row in csv.DictReader(file, delimiter="\t")
            if row["pair"] in ("de-en", "en-cs", "uk-en")
            and row["tokenizer"] in ("13a", "-")
            and row["reproducible"] == "yes"
        ]
    hypotheses = {"pair": [], "system": [], "id": [], "hyp": []}
    references = {"pair": [], "id": [], "ref": [], "order": []}
    seen = set()
    for row in published:
        refs, hyp = row["ref_files"].split(","), row["hyp_file"]
        pair = f"{row['pair']} {row['reference_order']}"
        if (pair, row["system"]) not in seen:
            seen.add((pair, row["system"]))
            lines = (wmt22 / hyp).read_text(encoding="utf-8").split("\n")[:-1]
            hypotheses["pair"] += [pair] * len(lines)
            hypotheses["system"] += [row["system"]] * len(lines)
            hypotheses["id"] += range(len(lines))
            hypotheses["hyp"] += lines
        if pair not in seen:
            seen.add(pair)
            sides = [(wmt22 / ref).read_text(encoding="utf-8").split("\n")[:-1] for ref in refs]
            references["pair"] += [pair] * len(sides[0])
            references["id"] += range(len(sides[0]))
            references["ref"] += [list(side) for side in zip(*sides, strict=True)]
            references["order"] += [row["reference_order"]] * len(sides[0])
    pq.write_table(pa.table(hypotheses), tmp_path / "hyps.parquet")
    pq.write_table(pa.table(references), tmp_path / "refs.parquet")
    found = scored(
        truebleu_command(
            *["score", tmp_path / "refs.parquet", "-i", tmp_path / "hyps.parquet"],
            *["--join", "pair", "id", "--by", "pair", "system", "-m", "bleu", "chrf"],
        )
    )
    scores = {(row["group"]["pair"], row["group"]["system"], row["name"]): row for row in found}
    for row in published:
        key = (f"{row['pair']} {row['reference_order']}", row["system"], row["metric"])
        assert scores[key]["score"] == pytest.approx(float(row["published_score"]), rel=1e-14)
    assert len(scores) > 100
