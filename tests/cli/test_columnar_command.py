"""`truebleu score` and `segments` read tables: columns, groups, joins, errors."""

import csv
import datetime as dt
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
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


@pytest.fixture(autouse=True)
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
        pq.write_table(pa.table({"id": IDS, "hyp": HYPOTHESES[name]}), f"{name}.parquet")
    rows = [list(column_values), *zip(*column_values.values(), strict=True)]
    with open("both.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    Path("both.tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in rows), "utf-8")
    lines = "".join(json.dumps(row) + "\n" for row in combined_table.to_pylist())
    Path("both.jsonl").write_text(lines, "utf-8")
    Path("both.ndjson.gz").write_bytes(gzip.compress(lines.encode()))
    Path("both.csv.gz").write_bytes(gzip.compress(Path("both.csv").read_bytes()))
    Path("both.json").write_text(json.dumps(combined_table.to_pylist()), "utf-8")
    return tmp_path


@pytest.fixture
def score_table(read_json):
    """Return a function that returns a dictionary per system, group and metric."""

    def run(words):
        content = read_json("score", *words.split())
        assert content.pop("truebleu_score") == 1
        return content.pop("scores")

    return run


@pytest.fixture
def list_segments(truebleu_command):
    """Return a function that returns the rows of `truebleu segments` as tab-separated values."""

    def run(words):
        result = truebleu_command("segments", *words.split(), "-f", "tsv")
        assert result.status == 0, result
        return list(csv.DictReader(result.output.splitlines(), delimiter="\t"))

    return run


def remove_system(rows):
    """Return the rows without the system name, which is a table or column name."""
    return [{name: value for name, value in row.items() if name != "system"} for row in rows]


# ---- locations of texts ----


FILES = ["parquet", "csv", "csv.gz", "tsv", "jsonl", "ndjson.gz", "json"]


@pytest.mark.parametrize("end", FILES)
def test_score_reads_texts_from_one_table(score_table, end):
    rows = score_table(f"both.{end} --by system domain")
    assert [(row["group"], row["segments"]) for row in rows] == [
        ({"system": system, "domain": domain}, count)
        for system in SYSTEMS
        for domain, count in (("chat", 20), ("news", 40))
    ]
    for row in rows:
        expected = compute_expected_score(row["group"]["system"], domain=row["group"]["domain"])
        assert row["score"] == expected.value
        assert row["signature"] == str(expected.signature)


def test_score_without_groups_covers_all_rows(score_table):
    (row,) = score_table("both.parquet")
    hyp = [text for name in SYSTEMS for text in HYPOTHESES[name]]
    assert row.pop("system") == "both", "the table names the system, not its column hyp"
    assert row.items() >= truebleu.bleu(hyp, REFERENCES * 2).to_dict().items()


def test_join_matches_hypotheses_and_references_by_id(score_table):
    rows = score_table("refs.parquet -i hyps.parquet --join id --by system domain")
    assert [row["system"] for row in rows] == [row["group"]["system"] for row in rows]
    expected = score_table("both.parquet --by system domain")
    assert remove_system(rows) == remove_system(expected)


def test_join_can_have_several_columns(score_table):
    table = pq.read_table("both.parquet").select(["domain", "id", "system", "hyp"])
    pq.write_table(table.filter([i % 3 > 0 for i in range(2 * COUNT)]), "more.parquet")
    words = "--join domain id --by domain system --unjoined skip"
    rows = score_table(f"refs.parquet -i more.parquet {words}")
    expected = [compute_expected_score(system, None, "news").value for system in SYSTEMS]
    assert [row["score"] for row in rows] == expected


def test_each_table_is_a_system(score_table):
    rows = score_table("refs.parquet -i birch.parquet cedar.parquet --join id")
    assert [(row["group"], row["score"]) for row in rows] == [
        ({"system": system}, compute_expected_score(system).value) for system in SYSTEMS
    ]


def test_single_hypothesis_column_gives_single_score(truebleu_command):
    result = truebleu_command("score", "wide.parquet", "--hyp-column", "cedar", "-f", "sacrebleu")
    assert result.output == f"{compute_expected_score('cedar').format(1, signature=True)}\n"


def test_several_reference_columns_are_several_references(score_table):
    (row,) = score_table("wide.parquet --hyp-column birch --ref-column ref cedar")
    references = list(zip(REFERENCES, HYPOTHESES["cedar"], strict=True))
    assert row["score"] == truebleu.bleu(HYPOTHESES["birch"], references).value


def test_pattern_or_folder_selects_many_files(score_table, columnar_files):
    (columnar_files / "parts").mkdir()
    table = pq.read_table("both.parquet")
    names = [f"parts/{number}.parquet" for number in range(4)]
    for number, name in enumerate(names):
        pq.write_table(table.slice(30 * number, 30), name)
    expected = score_table("both.parquet --by system")
    for words in ("parts/*.parquet", "parts", "parts/", " ".join(names)):
        assert score_table(f"{words} --by system") == expected


# ---- metrics and formats ----


def test_metric_options_apply_to_tables(score_table):
    metric = truebleu.BLEU("intl", lowercase=True, smoothing="floor")
    for row in score_table("both.parquet --by system -tok intl -lc -s floor"):
        assert row["score"] == compute_expected_score(row["group"]["system"], metric).value


def test_metrics_of_tables_keep_their_names(columnar_files, truebleu_command):
    metrics = ["bleu", "BLEU|tok:intl", "mteval-v13a"]
    result = truebleu_command("score", "both.parquet", "-m", *metrics, "-f", "tsv")
    header = result.output.splitlines()[0].split("\t")
    assert header[1:4] == ["BLEU tok:13a", "BLEU tok:intl", "mteval-v13a"]


@pytest.mark.parametrize("form", ["latex", "markdown"])
def test_table_for_paper_has_a_section_per_group(truebleu_command, form):
    words = f"both.parquet --by system domain -m bleu -f {form} -w 3"
    output = truebleu_command("score", *words.split()).output
    titles = [output.index(title) for title in ("chat (20 segments)", "news (40 segments)")]
    for start, domain in zip(titles, ("chat", "news"), strict=True):
        for system in SYSTEMS:
            value = f"{compute_expected_score(system, None, domain).value:.3f}"
            row = next(line for line in output[start:].splitlines() if system in line)
            assert value in row


@pytest.mark.parametrize(("form", "separator"), [("text", None), ("csv", ","), ("tsv", "\t")])
def test_every_format_has_a_row_per_group(truebleu_command, form, separator):
    words = f"both.parquet --by system domain -m bleu chrf -f {form} -w 3"
    output = truebleu_command("score", *words.split()).output
    rows = [line.split(separator) for line in output.splitlines() if re.search("birch|cedar", line)]
    expected = []
    for system in SYSTEMS:
        for domain, count in (("chat", "20"), ("news", "40")):
            scores = [compute_expected_score(system, m, domain) for m in (None, truebleu.CHRF())]
            expected.append([system, domain, count, *(f"{score.value:.3f}" for score in scores)])
    assert [row[:5] for row in rows] == expected
    assert "segments" in output.lower()
    assert "nrefs:1" in output


def test_special_characters_in_group_names_are_escaped(score_table, truebleu_command):
    names = ['a,"b"', "tab\there", "a|b", "50%_&", None]
    pq.write_table(pa.table({"hyp": ["x"] * 5, "ref": ["x"] * 5, "name": names}), "names.parquet")
    assert {row["group"]["name"] for row in score_table("names.parquet --by name")} == set(names)
    csv_text, tsv, markdown, latex = (
        truebleu_command("score", "names.parquet", "--by", "name", "-f", form).output
        for form in ("csv", "tsv", "markdown", "latex")
    )
    rows = csv.DictReader(csv_text.splitlines())
    assert {row["name"] for row in rows} == {name or "" for name in names}
    assert len({line.count("\t") for line in tsv.splitlines()}) == 1
    assert "a&#124;b" in markdown
    assert r"50\%\_\&" in latex


def test_nan_and_infinity_can_be_group_keys(score_table, truebleu_command):
    """NaN does not equal itself, and JSON does not support it."""
    numbers = [float("nan"), -0.0, 0.0, None, float("inf"), float("nan")]
    table = pq.read_table("both.parquet").slice(0, 6)
    pq.write_table(table.append_column("k", [numbers]), "k.parquet")
    rows = score_table("k.parquet --by k")
    assert [row["group"]["k"] for row in rows] == [None, 0.0, "inf", "nan"]
    assert [row["segments"] for row in rows] == [1, 2, 1, 2]
    output = truebleu_command("score", "k.parquet", "--by", "k", "-f", "csv").output
    assert [row["k"] for row in csv.DictReader(output.splitlines())] == ["", "0.0", "inf", "nan"]
    result = truebleu_command("segments", "k.parquet", "--by", "k", "-f", "json")
    cells = [row["k"] for row in json.loads(result.output, parse_constant=pytest.fail)["rows"]]
    assert cells == ["nan", 0.0, 0.0, None, "inf", "nan"]


def test_warning_about_zero_scores_names_the_groups(truebleu_command):
    rows = {"id": [*range(7), 9], "hyp": ["a"] * 7 + ["b c d e"], "ref": ["b c d e"] * 8}
    pq.write_table(pa.table(rows), "zero.parquet")
    result = truebleu_command("score", "zero.parquet", "--by", "id", "-f", "tsv")
    names = ", ".join(f"zero (id {i})" for i in range(5))
    assert f"warning: {names} and 2 more: BLEU is 0 because" in result.error


def test_score_only_writes_only_scores(truebleu_command):
    result = truebleu_command("score", "both.parquet", "--by", "system", "-b", "-f", "csv")
    assert result.output.split() == [repr(compute_expected_score(one).value) for one in SYSTEMS]


# ---- segments ----


SEGMENT_SCORES = {
    name: truebleu.BLEU().segments(HYPOTHESES[name], REFERENCES).tolist() for name in SYSTEMS
}


ALL_SEGMENT_SCORES = [*SEGMENT_SCORES["birch"], *SEGMENT_SCORES["cedar"]]


@pytest.mark.parametrize("end", FILES)
@pytest.mark.parametrize("form", ["tsv", "csv", "json"])
def test_segments_writes_rows_in_file_order(truebleu_command, end, form):
    result = truebleu_command("segments", f"both.{end}", "--by", "system", "id", "-f", form)
    assert result.status == 0, result
    if form == "json":
        rows = json.loads(result.output)["rows"]
        assert list(rows[0])[:5] == ["segment", "system", "id", "BLEU", "hypothesis_length"]
    else:
        delimiter = {"csv": ",", "tsv": "\t"}[form]
        rows = list(csv.DictReader(result.output.splitlines(), delimiter=delimiter))
    assert [int(row["segment"]) for row in rows] == [*range(1, 2 * COUNT + 1)]
    assert [row["system"] for row in rows] == [name for name in SYSTEMS for _ in IDS]
    assert [int(row["id"]) for row in rows] == IDS * 2
    assert [float(row["BLEU"]) for row in rows] == ALL_SEGMENT_SCORES


def test_joined_segments_keep_order_of_hypotheses(list_segments):
    rows = list_segments("refs.parquet -i hyps.parquet --join id --by system id domain")
    assert [int(row["id"]) for row in rows] == IDS * 2
    assert [row["domain"] for row in rows] == DOMAINS * 2
    assert [float(row["BLEU"]) for row in rows] == ALL_SEGMENT_SCORES


def test_segments_writes_rows_per_hypothesis_column(list_segments):
    rows = list_segments("wide.parquet --hyp-column birch cedar")
    assert [row["system"] for row in rows] == [name for name in SYSTEMS for _ in IDS]
    assert [float(row["BLEU"]) for row in rows] == ALL_SEGMENT_SCORES


def test_segments_writes_text(truebleu_command):
    words = ("segments", "both.parquet", "--by", "system", "-f", "text")
    scores = truebleu_command(*words, "-b").output
    assert scores == "".join(f"{value:.1f}\n" for value in ALL_SEGMENT_SCORES)
    table = truebleu_command(*words).output
    assert table.splitlines()[0].split() == ["segment", "system", "BLEU", "text"]
    assert table.count("BLEU|") == 1


def test_parquet_output_keeps_column_types(list_segments, truebleu_command):
    noon = dt.datetime(2026, 11, 22, 12, tzinfo=dt.UTC)
    columns = {
        "day": [dt.date(2026, 1, 1 + i) if i else None for i in range(3)],
        "at": pa.array([noon, None, noon], pa.timestamp("us", "UTC")),
        "n": pa.array([1, 2, 3]),
    }
    pq.write_table(pa.table({"hyp": ["a"] * 3, "ref": ["a"] * 3, **columns}), "days.parquet")
    words = ["days.parquet", "--by", "day", "at", "n"]
    assert truebleu_command("segments", *words, "-o", "out.parquet").status == 0
    output_table = pq.read_table("out.parquet")
    assert output_table.column_names[:6] == ["segment", "system", "day", "at", "n", "BLEU"]
    assert output_table["day"].to_pylist() == columns["day"]
    assert output_table["at"].to_pylist() == [noon, None, noon]
    assert output_table.schema.field("n").type == pa.int64()
    assert b"signature" in output_table.schema.metadata
    cells = [row["at"] for row in list_segments(" ".join(words))]
    assert cells == ["2026-11-22 12:00:00+00:00", "", "2026-11-22 12:00:00+00:00"]


def test_text_columns_are_copied_to_results(read_json, score_table):
    """Text columns can be copied, and both tables can use the same column name."""
    rows = read_json("segments", "both.parquet", "--by", "ref", "hyp", "-f", "json")["rows"]
    assert [row["hyp"] for row in rows] == [text for name in SYSTEMS for text in HYPOTHESES[name]]
    assert [row["ref"] for row in rows] == REFERENCES * 2
    for name, column in (("refs", "ref"), ("cedar", "hyp")):
        table = pq.read_table(f"{name}.parquet").rename_columns({column: "text"})
        pq.write_table(table, f"{name}.text.parquet")
    words = "refs.text.parquet -i cedar.text.parquet --join id --hyp-column text --ref-column text"
    rows = read_json("segments", *words.split(), "--by", "text", "-f", "json")["rows"]
    assert [row["text"] for row in rows] == HYPOTHESES["cedar"]
    assert [row["BLEU"] for row in rows] == SEGMENT_SCORES["cedar"]
    (row,) = score_table(words)
    assert row["score"] == compute_expected_score("cedar").value


def test_parquet_output_has_all_batches(truebleu_command):
    """The table has more rows than one batch."""
    count = 70_000
    table = {"hyp": ["a b"] * count, "ref": ["a b"] * count, "id": [*range(count)]}
    pq.write_table(pa.table(table), "many.parquet")
    done = truebleu_command("segments", "many.parquet", "--by", "id", "-o", "out.parquet", "-b")
    assert (done.status, done.error) == (0, "")
    output_table = pq.read_table("out.parquet")
    assert output_table["id"].to_pylist() == [*range(count)]
    assert output_table["segment"].to_pylist() == [*range(1, count + 1)]


@pytest.mark.parametrize(
    ("package", "words", "message"),
    [
        ("pyarrow", "segments both.parquet -o out.parquet", "-f parquet needs pyarrow: pip inst"),
        ("duckdb", "score both.parquet", "reading tables needs DuckDB: pip install 'truebleu[du"),
    ],
)
def test_missing_package_gives_installation_hint_before_scoring(package, words, message):
    done = run_script(
        f"import sys; sys.modules['{package}'] = None\n"
        f"from truebleu.cli import main\nsys.exit(main({words.split()}))"
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"truebleu: error: {message}")
    assert not Path("out.parquet").exists()


def test_column_named_like_result_column_is_refused(truebleu_command, read_error):
    table = pq.read_table("both.parquet").rename_columns(["segment", "BLEU", "d", "hyp", "ref"])
    pq.write_table(table, "named.parquet")
    result = truebleu_command("segments", "named.parquet", "--by", "segment", "-f", "tsv")
    assert result.output.startswith("row\tsystem\tsegment\tBLEU\n")
    error = read_error(2, "segments", "named.parquet", "--by", "BLEU")
    assert error.startswith("--by: the results already have a column 'BLEU'")


# ---- nulls and unmatched rows ----


@pytest.fixture
def null_table():
    table = {"id": [1, 2, 3, 4], "hyp": ["a b", None, "c", "d"], "ref": ["a b", "b", None, "d"]}
    pq.write_table(pa.table(table), "nulls.parquet")


@pytest.mark.parametrize("command", ["score", "segments"])
def test_nulls_give_error_with_count(null_table, read_error, command):
    error = read_error(1, command, "nulls.parquet", "-o", "out.json")
    assert "'hyp' is null in 1 row, 'ref' is null in 1 row" in error
    assert "row 2" in error
    assert not Path("out.json").exists()


def test_nulls_skip_skips_rows(null_table, truebleu_command):
    words = ("nulls.parquet", "--nulls", "skip")
    result = truebleu_command("score", *words)
    (row,) = json.loads(result.output)["scores"]
    assert row["score"] == truebleu.bleu(["a b", "d"], ["a b", "d"]).value
    assert "omitted: 1 in hyp, 1 in ref" in result.error
    assert truebleu_command("score", *words, "-q").error == ""
    result = truebleu_command("segments", *words, "--by", "id")
    rows = [json.loads(line) for line in result.output.splitlines()]
    assert [(row["segment"], row["id"]) for row in rows] == [(1, 1), (4, 4)]
    note = "skipped rows with null values: 'hyp' is null in 1 row, 'ref' is null in 1 row"
    assert note in result.error


@pytest.mark.parametrize("command", ["score", "segments"])
def test_unmatched_ids_give_error_or_are_skipped(truebleu_command, read_error, command):
    pq.write_table(pq.read_table("refs.parquet").slice(2), "fewer.parquet")
    words = (command, "fewer.parquet", "-i", "hyps.parquet", "--join", "id", "--by", "system")
    assert "4 hypotheses without a reference (158, 159)" in read_error(1, *words)
    result = truebleu_command(*words, "--unjoined", "skip")
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
        ("both.parquet --unjoined skip", 2, "--unjoined has no effect without -i"),
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
def test_wrong_arguments_give_one_line_error(read_error, command, arguments, status, message):
    pq.write_table(pq.read_table("both.parquet").slice(0, 0), "empty.parquet")
    before = Path("both.parquet").read_bytes()
    Path("broken.parquet").write_bytes(before[:500])
    Path("text.txt").write_text("a\n")
    Path("nothing").mkdir()
    error = read_error(status, command, *arguments.split())
    assert re.search(message, error), error
    assert Path("both.parquet").read_bytes() == before


@pytest.mark.parametrize("form", ["tsv", "csv", "json", "parquet"])
def test_damaged_table_leaves_no_partial_output(columnar_files, read_error, form):
    """The first file is valid and the second one is damaged."""
    Path("parts").mkdir()
    data = bytearray(Path("both.parquet").read_bytes())
    Path("parts/0.parquet").write_bytes(data)
    data[100:600] = bytes(500)
    Path("parts/1.parquet").write_bytes(data)
    assert "parts" in read_error(1, "segments", "parts", "-f", form, "-o", "out")
    assert not Path("out").exists()
    assert not list(columnar_files.glob(".truebleu*"))


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_interrupt_removes_temporary_folder(columnar_files):
    """Large joins use gigabytes in the temporary folder."""
    table = pq.read_table("both.parquet")
    pq.write_table(pa.concat_tables([table] * 2000), "large.parquet")
    folder = columnar_files / "temporary"
    folder.mkdir()
    command = [sys.executable, "-m", "truebleu", "score", *["large.parquet"] * 50, "-m", "chrf++"]
    environment = {**os.environ, "TMPDIR": str(folder)}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    # Python creates a test file in the temporary folder first.
    while process.poll() is None and not list(folder.glob("truebleu-*")):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == -signal.SIGINT
    assert not list(folder.iterdir())


def run_script(script):
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )


def test_text_files_do_not_import_duckdb():
    Path("text.txt").write_text("a\n")
    done = run_script(
        "import sys\nfrom truebleu.cli import main\n"
        "main(['score', 'text.txt', '-i', 'text.txt', '-q'])\n"
        "print(*(name for name in ('duckdb', 'truebleu.engines') if name in sys.modules))"
    )
    assert done.stdout.splitlines()[-1] == "", done.stdout + done.stderr
