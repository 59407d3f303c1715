"""`truebleu score` and `segments` read tables: columns, groups, joins, errors."""

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


def compute_expected_score(system, metric=None, domain=None):
    """Return the expected score of a system, computed in Python."""
    selected_rows = [i for i in range(COUNT) if domain in (None, DOMAINS[i])]
    hyp = [HYPOTHESES[system][i] for i in selected_rows]
    return (metric or truebleu.BLEU()).score(hyp, [REFERENCES[i] for i in selected_rows])


@pytest.fixture
def columnar_files(tmp_path, monkeypatch):
    """Write one table with all columns, separate tables, and a table with a column per system."""
    monkeypatch.chdir(tmp_path)
    column_values = {
        "id": IDS * 2,
        "system": [name for name in SYSTEMS for _ in IDS],
        "domain": DOMAINS * 2,
        "hyp": [text for name in SYSTEMS for text in HYPOTHESES[name]],
        "ref": REFERENCES * 2,
    }
    combined_table = pa.table(column_values)
    pq.write_table(combined_table, "both.parquet")
    pq.write_table(combined_table.select(["id", "system", "hyp"]), "hyps.parquet")
    references = pa.table({"id": IDS, "ref": REFERENCES, "domain": DOMAINS})
    pq.write_table(references.take(list(range(COUNT))[::-1]), "refs.parquet")
    pq.write_table(pa.table({**HYPOTHESES, "ref": REFERENCES}), "wide.parquet")
    for name in SYSTEMS:
        table = pa.table({"id": IDS, "hyp": HYPOTHESES[name]})
        pq.write_table(table, f"{name}.parquet")
    with open("both.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(
            [list(column_values), *zip(*column_values.values(), strict=True)]
        )
    with open("both.tsv", "w", encoding="utf-8") as file:
        lines = [list(column_values), *zip(*column_values.values(), strict=True)]
        file.writelines("\t".join(map(str, row)) + "\n" for row in lines)
    lines = "".join(json.dumps(row) + "\n" for row in combined_table.to_pylist())
    with open("both.jsonl", "w", encoding="utf-8") as file:
        file.write(lines)
    with gzip.open("both.ndjson.gz", "wt", encoding="utf-8") as file:
        file.write(lines)
    with gzip.open("both.csv.gz", "wb") as file, open("both.csv", "rb") as source:
        file.write(source.read())
    with open("both.json", "w", encoding="utf-8") as file:
        json.dump(combined_table.to_pylist(), file)
    return tmp_path


def read_group_scores(result):
    """Return the scores in JSON output, a dictionary per system, group and metric."""
    assert result.status == 0, result
    content = json.loads(result.output)
    assert content.pop("truebleu_score") == 1
    return content.pop("scores")


def remove_system(rows):
    """Return the rows without the system name, which is a table or column name."""
    return [{name: value for name, value in row.items() if name != "system"} for row in rows]


# ---- locations of texts ----


FILES = ["parquet", "csv", "csv.gz", "tsv", "jsonl", "ndjson.gz", "json"]


@pytest.mark.parametrize("end", FILES)
def test_score_reads_texts_from_one_table(columnar_files, truebleu_command, end):
    rows = read_group_scores(truebleu_command("score", f"both.{end}", "--by", "system", "domain"))
    assert [(row["group"], row["segments"]) for row in rows] == [
        ({"system": system, "domain": domain}, count)
        for system in SYSTEMS
        for domain, count in (("chat", 20), ("news", 40))
    ]
    for row in rows:
        expected = compute_expected_score(row["group"]["system"], domain=row["group"]["domain"])
        assert row["score"] == expected.value
        assert row["signature"] == str(expected.signature)


def test_score_without_groups_covers_all_rows(columnar_files, truebleu_command):
    (row,) = read_group_scores(truebleu_command("score", "both.parquet"))
    hyp = [text for name in SYSTEMS for text in HYPOTHESES[name]]
    expected = truebleu.bleu(hyp, REFERENCES * 2).to_dict()
    assert row.pop("system") == "both", "the table names the system, not its column hyp"
    assert row.items() >= expected.items()


def test_join_matches_hypotheses_and_references_by_id(columnar_files, truebleu_command):
    arguments = ["refs.parquet", "-i", "hyps.parquet", "--join", "id", "--by", "system", "domain"]
    rows = read_group_scores(truebleu_command("score", *arguments))
    assert [row["system"] for row in rows] == [row["group"]["system"] for row in rows]
    expected = read_group_scores(
        truebleu_command("score", "both.parquet", "--by", "system", "domain")
    )
    assert remove_system(rows) == remove_system(expected)


def test_each_table_is_a_system(columnar_files, truebleu_command):
    rows = read_group_scores(
        truebleu_command(
            "score", "refs.parquet", "-i", *(f"{s}.parquet" for s in SYSTEMS), "--join", "id"
        )
    )
    assert [(row["group"], row["score"]) for row in rows] == [
        ({"system": system}, compute_expected_score(system).value) for system in SYSTEMS
    ]


def test_single_hypothesis_column_gives_single_score(columnar_files, truebleu_command):
    result = truebleu_command("score", "wide.parquet", "--hyp-column", "cedar", "-f", "sacrebleu")
    expected = compute_expected_score("cedar")
    assert result.output == f"{expected.format(1, signature=True)}\n"


def test_several_reference_columns_are_several_references(columnar_files, truebleu_command):
    arguments = ["wide.parquet", "--hyp-column", "birch", "--ref-column", "ref", "cedar"]
    references = list(zip(REFERENCES, HYPOTHESES["cedar"], strict=True))
    expected = truebleu.bleu(HYPOTHESES["birch"], references)
    (row,) = read_group_scores(truebleu_command("score", *arguments))
    assert row["score"] == expected.value


def test_pattern_or_folder_selects_many_files(columnar_files, truebleu_command):
    (columnar_files / "parts").mkdir()
    table = pq.read_table("both.parquet")
    for number in range(4):
        pq.write_table(table.slice(30 * number, 30), f"parts/{number}.parquet")
    expected = read_group_scores(truebleu_command("score", "both.parquet", "--by", "system"))
    for name in ("parts/*.parquet", "parts", "parts/"):
        assert read_group_scores(truebleu_command("score", name, "--by", "system")) == expected
    parts = [f"parts/{number}.parquet" for number in range(4)]
    assert read_group_scores(truebleu_command("score", *parts, "--by", "system")) == expected


# ---- metrics and formats ----


def test_metric_options_apply_to_tables(columnar_files, truebleu_command):
    arguments = ["both.parquet", "--by", "system", "-tok", "intl", "-lc", "-s", "floor"]
    metric = truebleu.BLEU("intl", lowercase=True, smoothing="floor")
    for row in read_group_scores(truebleu_command("score", *arguments)):
        assert row["score"] == compute_expected_score(row["group"]["system"], metric).value


def test_metrics_of_tables_keep_their_names(columnar_files, truebleu_command):
    metrics = ["bleu", "BLEU|tok:intl", "mteval-v13a"]
    result = truebleu_command("score", "both.parquet", "-m", *metrics, "-f", "tsv")
    header = result.output.splitlines()[0].split("\t")
    assert header[1:4] == ["BLEU tok:13a", "BLEU tok:intl", "mteval-v13a"]


@pytest.mark.parametrize("form", ["latex", "markdown"])
def test_table_for_paper_has_a_section_per_group(columnar_files, truebleu_command, form):
    arguments = ["both.parquet", "--by", "system", "domain", "-m", "bleu", "-f", form, "-w", "3"]
    output = truebleu_command("score", *arguments).output
    titles = [output.index(title) for title in ("chat (20 segments)", "news (40 segments)")]
    for start, domain in zip(titles, ("chat", "news"), strict=True):
        for system in SYSTEMS:
            value = f"{compute_expected_score(system, None, domain).value:.3f}"
            row = next(line for line in output[start:].splitlines() if system in line)
            assert value in row


@pytest.mark.parametrize("form", ["text", "csv", "tsv"])
def test_every_format_has_a_row_per_group(columnar_files, truebleu_command, form):
    arguments = ["both.parquet", "--by", "system", "domain", "-m", "bleu", "chrf", "-f", form]
    result = truebleu_command("score", *arguments, "-w", "3")
    assert result.status == 0, result
    lines = [line for line in result.output.splitlines() if "birch" in line or "cedar" in line]
    assert len(lines) == 4
    separator = {"csv": ",", "tsv": "\t"}.get(form)
    for line, (system, domain, count) in zip(
        lines, [(s, d, n) for s in SYSTEMS for d, n in (("chat", 20), ("news", 40))], strict=True
    ):
        cells = [cell.strip(" \\") for cell in line.split(separator)]
        cells = [cell for cell in cells if cell]
        values = [
            compute_expected_score(system, metric, domain).value
            for metric in (None, truebleu.CHRF())
        ]
        assert cells[:5] == [system, domain, str(count), *(f"{value:.3f}" for value in values)]
    assert "segments" in result.output.lower()
    assert "nrefs:1" in result.output


def test_special_characters_in_group_names_are_escaped(columnar_files, truebleu_command):
    names = ['a,"b"', "tab\there", "a|b", "50%_&", None]
    pq.write_table(pa.table({"hyp": ["x"] * 5, "ref": ["x"] * 5, "name": names}), "names.parquet")
    arguments = ["score", "names.parquet", "--by", "name"]
    rows = list(csv.DictReader(truebleu_command(*arguments, "-f", "csv").output.splitlines()))
    assert {row["name"] for row in rows} == {name or "" for name in names}
    rows = truebleu_command(*arguments, "-f", "tsv").output.splitlines()
    assert {len(line.split("\t")) for line in rows} == {len(rows[0].split("\t"))}
    assert {row["group"]["name"] for row in read_group_scores(truebleu_command(*arguments))} == set(
        names
    )
    assert "a&#124;b" in truebleu_command(*arguments, "-f", "markdown").output
    assert r"50\%\_\&" in truebleu_command(*arguments, "-f", "latex").output


def test_nan_and_infinity_can_be_group_keys(columnar_files, truebleu_command):
    """NaN does not equal itself, and JSON does not support it."""
    numbers = [float("nan"), -0.0, 0.0, None, float("inf"), float("nan")]
    pq.write_table(
        pq.read_table("both.parquet").slice(0, 6).append_column("k", [numbers]), "k.parquet"
    )
    result = truebleu_command("score", "k.parquet", "--by", "k", "-f", "tsv")
    rows = list(csv.DictReader(result.output.splitlines(), delimiter="\t"))
    assert [(row["k"], row["segments"]) for row in rows] == [
        ("", "1"), ("0.0", "2"), ("inf", "1"), ("nan", "2")
    ]  # fmt: skip
    groups = [
        row["group"]["k"]
        for row in read_group_scores(truebleu_command("score", "k.parquet", "--by", "k"))
    ]
    assert groups == [None, 0.0, "inf", "nan"]
    result = truebleu_command("segments", "k.parquet", "--by", "k", "-f", "json")
    cells = [row["k"] for row in json.loads(result.output, parse_constant=pytest.fail)["rows"]]
    assert cells == ["nan", 0.0, 0.0, None, "inf", "nan"]


def test_score_only_writes_only_scores(columnar_files, truebleu_command):
    result = truebleu_command("score", "both.parquet", "--by", "system", "-b", "-f", "csv")
    assert result.output.split() == [
        repr(compute_expected_score(system).value) for system in SYSTEMS
    ]


# ---- segments ----


def expected_segments(system):
    return truebleu.BLEU().segments(HYPOTHESES[system], REFERENCES).tolist()


@pytest.mark.parametrize("end", FILES)
@pytest.mark.parametrize("form", ["tsv", "csv", "json"])
def test_segments_writes_rows_in_file_order(columnar_files, truebleu_command, end, form):
    result = truebleu_command("segments", f"both.{end}", "--by", "system", "id", "-f", form)
    assert result.status == 0, result
    lines = result.output.splitlines()
    if form == "json":
        rows = json.loads(result.output)["rows"]
        assert list(rows[0])[:5] == ["segment", "system", "id", "BLEU", "hypothesis_length"]
    else:
        rows = list(csv.DictReader(lines, delimiter={"csv": ",", "tsv": "\t"}[form]))
    assert [int(row["segment"]) for row in rows] == [*range(1, 2 * COUNT + 1)]
    assert [row["system"] for row in rows] == [name for name in SYSTEMS for _ in IDS]
    assert [int(row["id"]) for row in rows] == IDS * 2
    scores = [value for system in SYSTEMS for value in expected_segments(system)]
    assert [float(row["BLEU"]) for row in rows] == scores


def test_joined_segments_keep_order_of_hypotheses(columnar_files, truebleu_command):
    arguments = ["refs.parquet", "-i", "hyps.parquet", "--join", "id", "--by", "system", "domain"]
    result = truebleu_command("segments", *arguments)
    rows = [json.loads(line) for line in result.output.splitlines()]
    assert [row["id"] for row in rows] == IDS * 2
    assert [row["domain"] for row in rows] == DOMAINS * 2
    scores = [value for system in SYSTEMS for value in expected_segments(system)]
    assert [row["BLEU"] for row in rows] == scores


def test_segments_writes_rows_per_hypothesis_column(columnar_files, truebleu_command):
    result = truebleu_command("segments", "wide.parquet", "--hyp-column", *SYSTEMS, "-f", "tsv")
    rows = list(csv.DictReader(result.output.splitlines(), delimiter="\t"))
    assert [row["system"] for row in rows] == [name for name in SYSTEMS for _ in IDS]
    scores = [value for system in SYSTEMS for value in expected_segments(system)]
    assert [float(row["BLEU"]) for row in rows] == scores


def test_segments_writes_text(columnar_files, truebleu_command):
    text = truebleu_command("segments", "both.parquet", "--by", "system", "-f", "text", "-b")
    values = [value for name in SYSTEMS for value in expected_segments(name)]
    assert text.output == "".join(f"{value:.1f}\n" for value in values)
    table = truebleu_command("segments", "both.parquet", "--by", "system", "-f", "text").output
    assert table.splitlines()[0].split() == ["segment", "system", "BLEU", "text"]
    assert table.count("BLEU|") == 1


def test_parquet_output_keeps_column_types(columnar_files, truebleu_command):
    import datetime as dt

    days = [dt.date(2026, 1, 1 + i) if i else None for i in range(3)]
    table = pa.table({"hyp": ["a"] * 3, "ref": ["a"] * 3, "day": days, "n": pa.array([1, 2, 3])})
    pq.write_table(table, "days.parquet")
    result = truebleu_command("segments", "days.parquet", "--by", "day", "n", "-o", "out.parquet")
    assert result.status == 0, result
    output_table = pq.read_table("out.parquet")
    assert output_table.column_names[:5] == ["segment", "system", "day", "n", "BLEU"]
    assert output_table["day"].to_pylist() == days
    assert output_table.schema.field("n").type == pa.int64()
    assert b"signature" in output_table.schema.metadata


def test_times_with_zone_are_copied_to_results(columnar_files, truebleu_command):
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


def test_text_columns_are_copied_to_results(columnar_files, truebleu_command):
    """Text columns can be copied, and both tables can use the same column name."""
    result = truebleu_command("segments", "both.parquet", "--by", "ref", "hyp", "-f", "json")
    rows = json.loads(result.output)["rows"]
    assert [row["hyp"] for row in rows] == [text for name in SYSTEMS for text in HYPOTHESES[name]]
    assert [row["ref"] for row in rows] == REFERENCES * 2
    for name, column in (("refs", "ref"), ("cedar", "hyp")):
        table = pq.read_table(f"{name}.parquet")
        names = ["text" if name == column else name for name in table.column_names]
        pq.write_table(table.rename_columns(names), f"{name}.text.parquet")
    sides = ["refs.text.parquet", "-i", "cedar.text.parquet", "--join", "id"]
    columns = ["--hyp-column", "text", "--ref-column", "text"]
    result = truebleu_command("segments", *sides, *columns, "--by", "text", "-f", "json")
    rows = json.loads(result.output)["rows"]
    assert [row["text"] for row in rows] == HYPOTHESES["cedar"]
    expected = truebleu.BLEU().segments(HYPOTHESES["cedar"], REFERENCES).tolist()
    assert [row["BLEU"] for row in rows] == expected
    (rows,) = read_group_scores(truebleu_command("score", *sides, *columns))
    assert rows["score"] == compute_expected_score("cedar").value


def test_parquet_output_has_all_batches(columnar_files, truebleu_command):
    """The table has more rows than one batch."""
    count = 70_000
    table = {"hyp": ["a b"] * count, "ref": ["a b"] * count, "id": [*range(count)]}
    pq.write_table(pa.table(table), "many.parquet")
    done = truebleu_command("segments", "many.parquet", "--by", "id", "-o", "out.parquet", "-b")
    assert (done.status, done.error) == (0, "")
    output_table = pq.read_table("out.parquet")
    assert output_table["id"].to_pylist() == [*range(count)]
    assert output_table["segment"].to_pylist() == [*range(1, count + 1)]


def test_parquet_without_pyarrow_fails_before_scoring(columnar_files):
    """The error comes before scoring and leaves no file."""
    done = run_script(
        "import sys; sys.modules['pyarrow'] = None\nfrom truebleu.cli import main\n"
        "sys.exit(main(['segments', 'both.parquet', '-o', 'out.parquet']))"
    )
    assert done.returncode == 1
    assert done.stderr == "truebleu: error: -f parquet needs pyarrow: pip install pyarrow\n"
    assert not Path("out.parquet").exists()


def test_column_named_like_result_column_is_refused(columnar_files, truebleu_command):
    table = pq.read_table("both.parquet").rename_columns(["segment", "BLEU", "d", "hyp", "ref"])
    pq.write_table(table, "named.parquet")
    result = truebleu_command("segments", "named.parquet", "--by", "segment", "-f", "tsv")
    assert result.output.startswith("row\tsystem\tsegment\tBLEU\n")
    result = truebleu_command("segments", "named.parquet", "--by", "BLEU")
    assert (result.status, result.output) == (2, "")
    assert "--by: the results already have a column 'BLEU'" in result.error


# ---- nulls and unmatched rows ----


@pytest.fixture
def null_table(columnar_files):
    table = {"id": [1, 2, 3, 4], "hyp": ["a b", None, "c", "d"], "ref": ["a b", "b", None, "d"]}
    pq.write_table(pa.table(table), "nulls.parquet")


@pytest.mark.parametrize("command", ["score", "segments"])
def test_nulls_give_error_with_count(null_table, truebleu_command, command):
    result = truebleu_command(command, "nulls.parquet", "-o", "out.json")
    assert result.status == 1
    assert "'hyp' is null in 1 row, 'ref' is null in 1 row" in result.error
    assert "row 2" in result.error
    assert not Path("out.json").exists()


def test_nulls_skip_skips_rows(null_table, truebleu_command):
    result = truebleu_command("score", "nulls.parquet", "--nulls", "skip")
    (rows,) = read_group_scores(result)
    assert rows["score"] == truebleu.bleu(["a b", "d"], ["a b", "d"]).value
    assert "omitted: 1 in hyp, 1 in ref" in result.error
    result = truebleu_command("segments", "nulls.parquet", "--nulls", "skip", "--by", "id")
    rows = [json.loads(line) for line in result.output.splitlines()]
    assert [(row["segment"], row["id"]) for row in rows] == [(1, 1), (4, 4)]
    assert (
        "skipped rows with null values: 'hyp' is null in 1 row, 'ref' is null in 1 row"
        in result.error
    )
    quiet = truebleu_command("score", "nulls.parquet", "--nulls", "skip", "-q")
    assert quiet.error == ""


def test_unmatched_ids_give_error_or_are_skipped(columnar_files, truebleu_command):
    pq.write_table(pq.read_table("refs.parquet").slice(2), "fewer.parquet")
    arguments = ["fewer.parquet", "-i", "hyps.parquet", "--join", "id", "--by", "system"]
    for command in ("score", "segments"):
        result = truebleu_command(command, *arguments)
        assert (result.status, result.output) == (1, "")
        assert "4 hypotheses without a reference (158, 159)" in result.error
        result = truebleu_command(command, *arguments, "--unjoined", "skip")
        assert result.status == 0
        assert "4 hypotheses without a reference" in result.error


# ---- errors ----


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ("both.parquet --hyp-column hpy", 1, "no column 'hpy'; did you mean 'hyp'?"),
        ("both.parquet --by sytem", 1, "no column 'sytem'; did you mean 'system'?"),
        ("both.parquet --hyp-column id", 1, "int64|BIGINT"),
        ("none.parquet", 1, "none.parquet: No such file"),
        ("none*.parquet", 1, r"none\*.parquet: no file matches this pattern"),
        ("empty.parquet", 1, "no segments"),
        ("broken.parquet", 1, "broken.parquet"),
        ("refs.parquet -i hyps.parquet", 2, "needs an id column"),
        ("both.parquet --join id", 2, "--join has no effect without -i"),
        ("both.parquet text.txt", 2, "text.txt is a text file and both.parquet is a table"),
        ("text.txt -i text.txt --by x", 2, "--by needs tables"),
        ("both.parquet -nr 2", 2, "--ref-column"),
        ("both.parquet -e latin-1", 2, "Tables must be UTF-8"),
        ("both.parquet --nulls drop", 2, "unknown value 'drop'"),
        ("both.parquet --memory lots", 2, "--memory: expected a size such as 384MB"),
        ("both.parquet --memory 1x", 2, "or 2GB, found '1x'"),
        ("nothing", 1, r"nothing: no \.parquet, .* files in this folder"),
        ("both.parquet nothing", 1, r"nothing: no \.parquet"),
        ("s3://bucket/a.parquet", 1, "expected a local file"),
        ("refs.parquet -i hyps.parquet --join id", 1, "60 ids are repeated"),
        ("both.parquet -o both.parquet -f json", 2, "is also an input file"),
    ],
)
@pytest.mark.parametrize("command", ["score", "segments"])
def test_wrong_arguments_give_one_line_error(
    columnar_files, truebleu_command, command, arguments, status, message
):
    import re

    pq.write_table(pq.read_table("both.parquet").slice(0, 0), "empty.parquet")
    (columnar_files / "broken.parquet").write_bytes(
        (columnar_files / "both.parquet").read_bytes()[:500]
    )
    (columnar_files / "text.txt").write_text("a\n")
    (columnar_files / "nothing").mkdir()
    before = (columnar_files / "both.parquet").read_bytes()
    result = truebleu_command(command, *arguments.split())
    assert result.status == status, result
    assert re.search(message, result.error), result
    assert result.error.count("\n") == 1
    assert "Traceback" not in result.error
    assert (columnar_files / "both.parquet").read_bytes() == before


def test_damaged_table_leaves_no_partial_output(columnar_files, truebleu_command):
    """The first file is valid and the second one is damaged."""
    (columnar_files / "parts").mkdir()
    data = bytearray((columnar_files / "both.parquet").read_bytes())
    (columnar_files / "parts" / "0.parquet").write_bytes(data)
    data[100:600] = bytes(500)
    (columnar_files / "parts" / "1.parquet").write_bytes(data)
    for form in ("tsv", "csv", "json", "parquet"):
        result = truebleu_command("segments", "parts", "-f", form, "-o", "out")
        assert result.status == 1, result
        assert "parts" in result.error
        assert not (columnar_files / "out").exists()
    assert not list(columnar_files.glob(".truebleu*"))


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_interrupt_removes_temporary_folder(columnar_files):
    """Large joins use gigabytes in the temporary folder."""
    table = pq.read_table("both.parquet")
    pq.write_table(pa.concat_tables([table] * 2000), "large.parquet")
    (columnar_files / "temporary").mkdir()
    command = [sys.executable, "-m", "truebleu", "score", *["large.parquet"] * 50, "-m", "chrf++"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(columnar_files / "temporary")},
    )
    # Python creates a test file in the temporary folder first.
    while process.poll() is None and not list((columnar_files / "temporary").glob("truebleu-*")):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == -signal.SIGINT
    assert not list((columnar_files / "temporary").iterdir())


def test_text_file_options_are_refused_for_tables(columnar_files, truebleu_command):
    for option in (["-ci"], ["--log", "scores.jsonl"]):
        result = truebleu_command("score", "both.parquet", *option)
        assert result.status == 2
        assert "does not support tables" in result.error


def test_explain_refuses_tables(columnar_files, truebleu_command):
    result = truebleu_command("explain", "both.parquet", "-i", "hyps.parquet")
    assert result.status == 2
    message = "truebleu explain does not read tables; use truebleu score, segments, compare"
    assert message in result.error


def run_script(script):
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )


def test_missing_duckdb_gives_installation_hint(columnar_files):
    script = (
        "import sys; sys.modules['duckdb'] = None\n"
        "from truebleu.cli import main\nsys.exit(main(['score', 'both.parquet']))"
    )
    done = run_script(script)
    assert done.returncode == 1
    assert "reading tables needs DuckDB: pip install 'truebleu[duckdb]'" in done.stderr


def test_text_files_do_not_import_duckdb(columnar_files):
    (columnar_files / "text.txt").write_text("a\n")
    script = (
        "import sys\nfrom truebleu.cli import main\n"
        "main(['score', 'text.txt', '-i', 'text.txt', '-q'])\n"
        "print(*(name for name in ('duckdb', 'truebleu.engines') if name in sys.modules))"
    )
    done = run_script(script)
    assert done.stdout.splitlines()[-1] == "", done.stdout + done.stderr


# ---- published scores ----


def test_table_gives_published_scores_of_wmt22(wmt22, tmp_path, truebleu_command):
    """One table has the systems of three language pairs; another one has references by id."""
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
    rows = read_group_scores(
        truebleu_command(
            *["score", tmp_path / "refs.parquet", "-i", tmp_path / "hyps.parquet"],
            *["--join", "pair", "id", "--by", "pair", "system", "-m", "bleu", "chrf"],
        )
    )
    scores = {(row["group"]["pair"], row["group"]["system"], row["name"]): row for row in rows}
    for row in published:
        key = (f"{row['pair']} {row['reference_order']}", row["system"], row["metric"])
        assert scores[key]["score"] == pytest.approx(float(row["published_score"]), rel=1e-14)
    assert len(scores) > 100
