"""DuckDB: sums of relations, SQL and files are exact, in bounded memory."""

import csv
import gzip
import json
import random
import warnings
from pathlib import Path

import pytest

pytest.importorskip("duckdb", reason="DuckDB is not installed")
pytest.importorskip("pyarrow", reason="the cases are made with pyarrow")

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from backports import zstd
from contract import (
    CASES,
    METRICS,
    Rows,
    check_every_function,
    check_every_metric,
    make_rows,
    run_script,
)

import truebleu
from truebleu import InputError
from truebleu.engines import Sums, duckdb_inputs
from truebleu.engines import duckdb as engine

# Session settings that change the layout of text.
SETTINGS = {
    "plain": "SET arrow_large_buffer_size = false",
    "large": "SET arrow_large_buffer_size = true",
    "views": "SET arrow_output_version = '1.4'",
    "list views": "SET arrow_output_list_view = true",
    "lossless": "SET arrow_lossless_conversion = true",
}


@pytest.fixture
def connection():
    with duckdb.connect() as connection:
        yield connection


def run_at_once(batches, **options) -> Sums:
    with duckdb.connect() as connection:
        table = pa.Table.from_batches(batches)
        return engine.sums(connection.from_arrow(table), **options)


def run_in_parts(batches, **options) -> Sums:
    """Sum each batch separately, and merge the sums."""
    parts = []
    with duckdb.connect() as connection:
        for batch in batches:
            relation = connection.from_arrow(pa.Table.from_batches([batch]))
            parts.append(engine.sums(relation, **options))
    first, *remaining = parts
    for part in remaining:
        first.merge(part)
    return first


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("run", [run_at_once, run_in_parts], ids=["at once", "in parts"])
def test_contract(case, run):
    case(run)


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("case", ["layouts_of_strings", "lists_of_references", "nulls_skipped"])
def test_every_session_layout(setting, case):
    def run(batches, **options):
        with duckdb.connect() as connection:
            connection.execute(setting)
            return engine.sums(connection.from_arrow(pa.Table.from_batches(batches)), **options)

    CASES[case](run)


def score_groups(*arguments, by="system", **options) -> dict:
    """Return the BLEU scores by key."""
    rows = engine.corpus_bleu(*arguments, by=by, **options).fetchall()
    if isinstance(by, str):
        return {key: score for key, score, *_ in rows}
    return {row[: len(by)]: row[len(by)] for row in rows}


# ---- kinds of data ----


TEXT = make_rows(20, 400)
TEXT = Rows(TEXT.hyp, TEXT.ref, [f"{i % 3}" for i in range(400)])


@pytest.fixture
def table():
    ids = list(range(400))
    return pa.table({"id": ids, "system": TEXT.group, "hyp": TEXT.hyp, "ref": TEXT.ref})


@pytest.fixture
def data_folder(table, tmp_path):
    """Return the table as four Parquet files, and as CSV and JSON lines."""
    for number in range(4):
        pq.write_table(table.slice(number * 100, 100), tmp_path / f"part-{number}.parquet")
    with duckdb.connect() as connection:
        relation = connection.from_arrow(table)
        relation.write_csv(str(tmp_path / "table.csv.gz"), compression="gzip", quoting=1)
        relation.create_view("view")
        connection.execute(f"COPY view TO '{tmp_path}/table.jsonl' (FORMAT json)")
    return tmp_path


EXPECTED = truebleu.BLEU().score(TEXT.hyp, TEXT.ref)


@pytest.mark.parametrize("name", ["part-*.parquet", "table.csv.gz", "table.jsonl"])
def test_files_by_name_and_pattern(data_folder, name, monkeypatch):
    monkeypatch.setenv("HOME", str(data_folder))
    path = data_folder / name
    for files in (path, str(path), [path], f"~/{name}"):
        assert engine.corpus_bleu(files) == EXPECTED


def test_spark_output_folder(data_folder):
    (data_folder / "_SUCCESS").touch()
    (data_folder / "table.csv.gz").unlink()
    (data_folder / "table.jsonl").unlink()
    (data_folder / ".part-0.parquet.crc").touch()
    failed = data_folder / "_temporary" / "0"
    failed.mkdir(parents=True)
    (failed / "part-0.parquet").write_bytes((data_folder / "part-0.parquet").read_bytes())
    assert engine.corpus_bleu(data_folder) == EXPECTED
    assert engine.corpus_bleu(str(data_folder)) == EXPECTED


def test_pattern_matching_folders_with_file_names(data_folder):
    for number in range(4):
        (data_folder / f"{number}.parquet").mkdir()
        (data_folder / f"part-{number}.parquet").rename(
            data_folder / f"{number}.parquet" / "0.parquet"
        )
    assert engine.corpus_bleu(data_folder / "*.parquet") == EXPECTED
    assert engine.corpus_bleu(data_folder / "**" / "*.parquet") == EXPECTED


def test_delta_table_raises_error(data_folder):
    (data_folder / "_delta_log").mkdir()
    with pytest.raises(InputError, match=r"cannot read the folder of a Delta table"):
        engine.corpus_bleu(data_folder)


def test_sql_over_files_without_connection(data_folder):
    sql = f"SELECT hyp, ref FROM '{data_folder}/part-*.parquet' WHERE system = '1'"
    indices = [i for i in range(400) if TEXT.group[i] == "1"]
    expected = truebleu.BLEU().score([TEXT.hyp[i] for i in indices], [TEXT.ref[i] for i in indices])
    assert engine.corpus_bleu(sql) == expected


def test_sql_and_tables_of_connection(connection, table):
    connection.register("mine", table)
    assert engine.corpus_bleu("mine", connection=connection) == EXPECTED
    assert engine.corpus_bleu("FROM mine", connection=connection) == EXPECTED
    assert engine.corpus_bleu(connection.sql("FROM mine")) == EXPECTED


def test_table_takes_precedence_over_folder(connection, table, data_folder, monkeypatch):
    monkeypatch.chdir(data_folder)
    (data_folder / "mine").mkdir()
    (data_folder / "part-0.parquet").rename(data_folder / "mine" / "part-0.parquet")
    folder_score = engine.corpus_bleu("mine", connection=connection)
    assert folder_score == truebleu.BLEU().score(TEXT.hyp[:100], TEXT.ref[:100])
    connection.register("mine", table)
    assert engine.corpus_bleu("mine", connection=connection) == EXPECTED
    assert engine.corpus_bleu("./mine", connection=connection) == folder_score


def test_dictionary_tokenizer(connection):
    texts = ["その日は朝から雨が降っていました。", "傘がなかったので、駅で待ちました。"]
    rows = ", ".join(f"('{hyp}', '{ref}')" for hyp, ref in zip(texts, texts[::-1], strict=True))
    sql = f"SELECT * FROM (VALUES {rows}) AS t(hyp, ref)"
    expected = truebleu.BLEU(tokenize="ja-mecab", smoothing="add-k").score(texts, texts[::-1])
    score = engine.corpus_bleu(sql, connection=connection, tokenize="ja-mecab", smoothing="add-k")
    assert score == expected
    assert expected.value > 0


# ---- text columns ----


@pytest.mark.parametrize("end", ["csv", "tsv", "jsonl"])
def test_text_columns_are_always_strings(tmp_path, end):
    """Include dates, numbers, NULL, comments, quotes, blanks, line endings and empty text."""
    texts = ["2022-01-01", "007", "NULL", "# no comment", 'say "a, b"', "  blanks ", "two\nlines"]
    texts += ["", "1e5", "true", "null", "\\N", "naïve 北京", "10:30:00", "{}", "'", '"a" b']
    path = tmp_path / f"texts.{end}"
    if end == "csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["hyp", "ref"], *zip(texts, texts, strict=True)])
    elif end == "tsv":
        texts.remove("two\nlines")
        path.write_text("hyp\tref\n" + "".join(f"{text}\t{text}\n" for text in texts))
    else:
        lines = [json.dumps({"hyp": text, "ref": text}) for text in texts]
        path.write_text("".join(f"{line}\n" for line in lines))
    # Each text is also its reference.
    metric = truebleu.CHRF(whitespace=True)
    sums = engine.sums(path, metrics=metric, by="hyp")
    assert sorted(sums.keys) == sorted(texts)
    assert sums.score() == metric.score(texts, texts)


def test_date_columns_stay_strings(tmp_path):
    """DuckDB would infer the type DATE."""
    path = tmp_path / "dates.jsonl"
    path.write_text('{"hyp": "2022-1-1", "ref": "2022-1-1", "by": "2022-1-1"}\n')
    sums = engine.sums(path, by="by")
    assert (sums.keys, sums.score().hypothesis_length) == (["2022-1-1"], 5)


def test_json_lists_and_strings_of_references(tmp_path):
    path = tmp_path / "mixed.jsonl"
    path.write_text(
        '{"hyp": "a b c d e", "ref": ["x", "a b c d"]}\n{"hyp": "a b", "ref": "a b"}\n'
        '{"hyp": "c", "ref": [null, "c"]}\n'
    )
    references = [("x", "a b c d"), "a b", (None, "c")]
    assert engine.corpus_bleu(path) == truebleu.bleu(["a b c d e", "a b", "c"], references)


@pytest.mark.parametrize("hyp", ["[1]", "5", '{"a": 1}', "true", '["a", "b"]'])
def test_non_text_json_raises_error(tmp_path, hyp):
    path = tmp_path / "wrong.jsonl"
    path.write_text(f'{{"hyp": "a", "ref": "b"}}\n{{"hyp": {hyp}, "ref": "b"}}\n')
    with pytest.raises(InputError, match=r"column hyp: expected a string, found a JSON"):
        engine.corpus_bleu(path)


def test_csv_columns_match_by_name_in_each_file(tmp_path):
    (tmp_path / "a.csv").write_text("id,hyp,ref\n1,a b,c d\n")
    (tmp_path / "b.csv").write_text("ref,hyp,id\nc d,a b,2\n")
    sums = engine.sums(tmp_path / "*.csv", by=["hyp", "ref"])
    assert sums.keys == [("a b", "c d")]
    (tmp_path / "c.csv").write_text("ref,hyp\nc d,a b\n")
    with pytest.raises(InputError, match=r'c\.csv.*"id" is missing'):
        engine.sums(tmp_path / "*.csv")


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_files_with_different_column_types(tmp_path, table, order):
    """Pandas writes a column of None without a type."""
    halves = [table.slice(0, 200), table.slice(200, 200)]
    nulls, texts = pa.nulls(200), pa.array(["news"] * 200)
    for number, half in zip(order, halves, strict=True):
        half = half.append_column("domain", nulls if half is halves[0] else texts)  # noqa: PLW2901
        half = half.append_column("more", nulls if half is halves[0] else half["ref"])  # noqa: PLW2901
        half = half.set_column(0, "id", half["id"].cast(pa.int32() if number else pa.int64()))  # noqa: PLW2901
        pq.write_table(half, tmp_path / f"{number}.parquet")
    scores = score_groups(tmp_path, ref=["ref", "more"], by="domain")
    assert list(scores) == [None, "news"]
    assert list(scores.values()) == [
        truebleu.BLEU().score(half["hyp"], half["ref"]).value for half in halves
    ]
    assert sorted(score_groups(tmp_path, by="id")) == list(range(400))
    pq.write_table(halves[0], tmp_path / "2.parquet")
    with pytest.raises(InputError, match=r"2\.parquet.*domain|domain.*2\.parquet"):
        score_groups(tmp_path, by="domain")


@pytest.mark.parametrize("end", ["csv", "csv.gz", "csv.zst", "jsonl", "jsonl.gz"])
def test_empty_files_among_full_ones(tmp_path, end):
    """Spark writes such files for empty partitions; here the first file is empty."""
    full = b"hyp,ref\na b c d,a b c d\n"
    if end.startswith("jsonl"):
        full = b'{"hyp": "a b c d", "ref": "a b c d"}\n'
    (tmp_path / f"part-0.{end}").write_bytes(compress(b"", end))
    with pytest.raises(InputError, match=rf"part-0\.{end}: no rows to score; the file is empty"):
        engine.corpus_bleu(tmp_path / f"part-0.{end}")
    (tmp_path / f"part-1.{end}").write_bytes(compress(full, end))
    (tmp_path / f"part-2.{end}").write_bytes(compress(b"\n", end))
    assert engine.corpus_bleu(tmp_path) == truebleu.bleu(["a b c d"], ["a b c d"])


def compress(data: bytes, end: str) -> bytes:
    if end.endswith(".gz"):
        return gzip.compress(data)
    if end.endswith(".zst"):
        return zstd.compress(data)
    return data


@pytest.mark.parametrize("end", ["json", "json.gz", "json.zst"])
def test_json_arrays_and_json_lines_together(tmp_path, end):
    array = compress(b'[{"hyp": "a b c d", "ref": "a b c d"}]', end)
    (tmp_path / f"0.{end}").write_bytes(array)
    (tmp_path / "1.jsonl").write_text('{"hyp": "a b c x", "ref": "a b c d"}\n')
    assert engine.corpus_bleu(tmp_path) == truebleu.bleu(["a b c d", "a b c x"], ["a b c d"] * 2)


@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_duplicate_columns_raise_error(tmp_path, end):
    path = tmp_path / f"a.{end}"
    if end == "csv":
        path.write_text("hyp,hyp,ref\nx,a,a\n")
    else:
        arrays = [pa.array([text]) for text in "xaa"]
        pq.write_table(pa.Table.from_arrays(arrays, ["hyp", "hyp", "ref"]), path)
    with pytest.raises(InputError, match=r"duplicate column 'hyp' \(2 times\). Rename all but one"):
        engine.corpus_bleu(path)


@pytest.mark.thorough
@pytest.mark.parametrize("end", ["csv", "jsonl"])
def test_ten_megabyte_segments(tmp_path, end):
    """`test_50_megabyte_row` reads a Parquet file."""
    hyp, ref = "the cat sat on a mat, " * 480_000, "the cat sat on the mat, " * 440_000
    line = json.dumps({"hyp": hyp, "ref": ref})
    path = tmp_path / f"long.{end}"
    path.write_text(f'hyp,ref\n"{hyp}","{ref}"\n' if end == "csv" else f"{line}\n")
    assert engine.corpus_bleu(path) == truebleu.bleu([hyp], [ref])


def test_too_long_rows_raise_error(tmp_path):
    (tmp_path / "a.csv").write_text(f"hyp,ref\n{'a ' * (17 << 20)},a\n")
    with pytest.raises(InputError, match="a row is larger than 32 MiB"):
        engine.corpus_bleu(tmp_path / "a.csv")


def test_json_columns_that_only_late_rows_have(tmp_path):
    lines = ['{"hyp": "a b c d", "ref": "a b c d"}\n'] * 50_000
    lines += ['{"hyp": "a b c d", "ref": "x", "more": "a b c d", "system": "late"}\n'] * 5
    (tmp_path / "a.jsonl").write_text("".join(lines))
    sums = engine.sums(tmp_path / "a.jsonl", ref=["ref", "more"], by="system")
    assert dict(zip(sums.keys, sums.group_segments(), strict=True)) == {None: 50_000, "late": 5}
    assert {score.value for score in sums.scores().values()} == {100.00000000000004}
    with pytest.raises(InputError, match="no column 'moar'; did you mean 'more'"):
        engine.corpus_bleu(tmp_path / "a.jsonl", ref="moar")


# ---- joins ----


@pytest.fixture
def tables_to_join():
    """Return two systems' hypotheses by id, and references with domains in another order."""
    dice = random.Random(4)
    ids = list(range(200))
    references = [TEXT.ref[i] for i in ids]
    hypotheses = [(i, system, TEXT.hyp[i + 200 * system]) for system in (0, 1) for i in ids]
    dice.shuffle(hypotheses)
    columns = list(zip(*hypotheses, strict=True))
    left = pa.table({"id": columns[0], "system": columns[1], "hyp": columns[2]})
    order = dice.sample(ids, 200)
    right = pa.table(
        {"id": order, "ref": [references[i] for i in order], "domain": [i % 2 for i in order]}
    )
    return left, right


def join_groups(hypotheses, references, on="id", **options) -> dict:
    """Return the BLEU scores by key of hypotheses and references that are joined by id."""
    return score_groups(hypotheses, references=references, on=on, **options)


def join_by_hand(tables_to_join):
    left, right = tables_to_join
    rows = {row["id"]: row for row in right.to_pylist()}
    return pa.Table.from_pylist([row | rows[row["id"]] for row in left.to_pylist()])


@pytest.fixture
def expected_scores(tables_to_join):
    return score_groups(join_by_hand(tables_to_join))


def test_join_by_id(tables_to_join, tmp_path):
    left, right = tables_to_join
    table = join_by_hand(tables_to_join)
    expected = Sums(METRICS, by=("system", "domain")).update(table).to_bytes()
    options = {"by": ["system", "domain"], "metrics": METRICS, "on": "id"}
    assert engine.sums(left, references=right, **options).to_bytes() == expected
    pq.write_table(left, tmp_path / "left.parquet")
    pq.write_table(right, tmp_path / "right.parquet")
    sums = engine.sums(tmp_path / "left.parquet", references=tmp_path / "right.parquet", **options)
    assert sums.to_bytes() == expected
    with duckdb.connect() as connection:
        relations = [connection.from_arrow(side_table) for side_table in tables_to_join]
        sums = engine.sums(relations[0], references=relations[1], connection=connection, **options)
    assert sums.to_bytes() == expected


def test_csv_ids_match_numbers(tables_to_join, expected_scores, connection, tmp_path):
    left, right = tables_to_join
    connection.from_arrow(right).write_csv(str(tmp_path / "right.csv"))
    assert join_groups(left, tmp_path / "right.csv") == expected_scores


def test_join_with_equal_text_column_names(tables_to_join, expected_scores, tmp_path):
    left, right = tables_to_join
    pq.write_table(left.rename_columns(["id", "system", "text"]), tmp_path / "left.parquet")
    pq.write_table(right.rename_columns(["id", "text", "domain"]), tmp_path / "right.parquet")
    names = {"hyp": "text", "ref": "text", "references": tmp_path / "right.parquet", "on": "id"}
    assert score_groups(tmp_path / "left.parquet", **names) == expected_scores
    by_text = engine.sums(tmp_path / "left.parquet", by=["system", "text"], **names)
    assert by_text.score() == engine.corpus_bleu(join_by_hand(tables_to_join))
    gaps = pa.array([None, *right["ref"].to_pylist()[1:]])
    pq.write_table(pa.table({"id": right["id"], "text": gaps}), tmp_path / "right.parquet")
    with pytest.raises(InputError, match=r"'text \(references\)' is null in 2 rows"):
        score_groups(tmp_path / "left.parquet", **names)


def test_filename_is_the_hypothesis_file(tables_to_join, expected_scores, tmp_path):
    left, right = tables_to_join
    pq.write_table(right, tmp_path / "right.parquet")
    for system in (0, 1):
        system_rows = left.filter(pc.equal(left["system"], system))
        pq.write_table(system_rows, tmp_path / f"left-{system}.parquet")
    scores = join_groups(tmp_path / "left-*.parquet", tmp_path / "right.parquet", by="filename")
    assert [Path(name).name for name in scores] == ["left-0.parquet", "left-1.parquet"]
    assert list(scores.values()) == list(expected_scores.values())


def test_incomparable_ids_raise_error(tables_to_join):
    left, right = tables_to_join
    days = pa.array(right["id"].to_pylist(), pa.int32()).cast(pa.date32())
    right = right.set_column(0, "id", days)
    with pytest.raises(InputError, match="id: cannot compare BIGINT ids of hypotheses with DATE"):
        join_groups(left, right)


def test_different_connections_raise_error(tables_to_join, expected_scores, connection, tmp_path):
    left, right = tables_to_join
    pq.write_table(right, tmp_path / "right.parquet")
    relation = connection.from_arrow(left)
    options = {"references": tmp_path / "right.parquet", "on": "id", "by": "system"}
    with pytest.raises(InputError, match=r"different connections. Pass .* connection="):
        engine.corpus_bleu(relation, **options)
    assert score_groups(relation, connection=connection, **options) == expected_scores


def test_join_by_several_columns(tables_to_join, expected_scores):
    left, right = (
        side.append_column("part", pa.array([i // 10 for i in side["id"].to_pylist()])).set_column(
            0, "id", pa.array([i % 10 for i in side["id"].to_pylist()])
        )
        for side in tables_to_join
    )
    assert join_groups(left, right, on=["part", "id"]) == expected_scores


def test_unmatched_ids_raise_error(tables_to_join):
    left, right = tables_to_join
    remaining_references = right.filter(pc.greater_equal(right["id"], 3))
    with pytest.raises(InputError) as raised:
        join_groups(left, remaining_references)
    assert str(raised.value).startswith(
        "id: 6 hypotheses without a reference (the first: 0, 1, 2); every system needs each segment"
    )
    extra = pa.concat_tables([right, pa.table({"id": [7000], "ref": ["x"], "domain": [0]})])
    with pytest.raises(InputError, match=r"1 of 201 references without a hypothesis \(7000\)"):
        join_groups(left, extra)


def test_incomplete_system_raises_error(tables_to_join):
    """A score of fewer segments would not be comparable."""
    left, right = tables_to_join
    incomplete = left.filter(pc.or_(pc.equal(left["system"], 0), pc.greater(left["id"], 0)))
    with pytest.raises(InputError, match=r"1 id with fewer hypotheses than others \(0\)"):
        join_groups(incomplete, right)
    # A system name may be null.
    names = pa.array([{0: "a", 1: None}[system] for system in incomplete["system"].to_pylist()])
    with pytest.raises(InputError, match=r"1 id with fewer hypotheses than others \(0\)"):
        join_groups(incomplete.set_column(1, "system", names), right)


def test_test_sets_may_have_different_systems(tables_to_join):
    """Columns that describe the segment define which systems are comparable."""
    left, right = tables_to_join
    table = join_by_hand(tables_to_join)
    # System 1 has translated only domain 0.
    is_translated = pc.or_(pc.equal(table["system"], 0), pc.equal(table["domain"], 0))
    expected = score_groups(table.filter(is_translated), by=["system", "domain"])
    assert len(expected) == 3
    options = {"on": "id", "by": ["system", "domain"], "references": right}
    assert score_groups(left.filter(is_translated), **options) == expected
    with_domain = table.filter(is_translated).drop_columns(["ref"])
    assert score_groups(with_domain, **options) == expected
    with pytest.raises(InputError, match="100 ids with fewer hypotheses than others"):
        join_groups(left.filter(is_translated), right)
    options["on"] = ["domain", "id"]
    assert score_groups(with_domain, **options) == expected
    with pytest.raises(InputError, match="1 id with fewer hypotheses than others"):
        engine.corpus_bleu(with_domain.slice(1), **options)


@pytest.mark.parametrize(
    "name", ["row_count", "hypothesis_count", "i0", "h", "r", "g0", "max_group_count", "null_id"]
)
def test_id_column_may_have_internal_names(tables_to_join, name):
    left, right = (side.rename_columns([name, *side.column_names[1:]]) for side in tables_to_join)
    assert len(join_groups(left, right, on=name, by=["system", "domain"])) == 4


def test_unmatched_rows_can_be_skipped_with_warning(tables_to_join):
    left, right = tables_to_join
    remaining_references = right.filter(pc.greater_equal(right["id"], 3))
    with pytest.warns(UserWarning, match="6 hypotheses without a reference"):
        scores = join_groups(left, remaining_references, unjoined="skip")
    table = join_by_hand(tables_to_join)
    table = table.filter(pc.greater_equal(table["id"], 3))
    assert scores == score_groups(table)


def test_repeated_ids_raise_error(tables_to_join):
    left, right = tables_to_join
    with pytest.raises(InputError, match=r"200 ids are repeated in the hypotheses"):
        engine.corpus_bleu(left, references=right, on="id")
    twice = pa.concat_tables([right, right.slice(5, 1)])
    with pytest.raises(InputError, match=r"1 id is repeated in the references"):
        join_groups(left, twice, unjoined="skip")


def test_null_ids_are_unmatched(tables_to_join):
    left, right = tables_to_join
    ids = [None if i == 0 else i for i in left["id"].to_pylist()]
    with pytest.raises(InputError, match=r"hypotheses without a reference \(null\)"):
        join_groups(left.set_column(0, "id", pa.array(ids)), right)


@pytest.fixture
def large_files(connection, tmp_path):
    """Return files of hypotheses and references to join, which need more than 100 MB of memory."""
    for name, order in (("hyp", "id + 3"), ("ref", "id + 5")):
        rows = f"SELECT i AS id, repeat(md5(i::VARCHAR), 8) AS {name} FROM range(400000) t(i)"
        query = f"COPY ({rows} ORDER BY hash({order})) TO '{tmp_path}/{name}.parquet'"
        connection.execute(query)
    return tmp_path / "hyp.parquet", tmp_path / "ref.parquet"


@pytest.mark.thorough
def test_large_join_spills_to_disk(large_files):
    hyp, ref = large_files
    options = {"tokenize": "none", "max_order": 1, "memory": "100MB"}
    score = engine.corpus_bleu(hyp, references=ref, on="id", **options)
    assert (round(score.value), score.hypothesis_length) == (100, 400_000)


# ---- invalid input ----


def test_full_disk_gives_one_line_error(large_files, connection, tmp_path):
    """DuckDB gives the same message for a full disk and for a limit on temporary files."""
    hyp, ref = large_files
    connection.execute(
        f"SET temp_directory='{tmp_path}/spilled'; SET memory_limit='100MB'; "
        "SET max_temp_directory_size='2MB'; SET threads=1"
    )
    with pytest.raises(InputError, match=r"temporary folder is full \(set TMPDIR") as raised:
        engine.sums(hyp, references=ref, on="id", connection=connection)
    assert len(str(raised.value)) <= 300
    assert "\n" not in str(raised.value)


def test_struct_fields_require_sql(tmp_path):
    path = tmp_path / "nested.parquet"
    pq.write_table(pa.table({"hyp": ["a b c d"], "texts": [{"en": "a b c d"}]}), path)
    with pytest.raises(InputError, match=r"To read a field of 'texts', use SQL: SELECT tex"):
        engine.corpus_bleu(path, ref="texts.en")
    with pytest.raises(InputError, match=r"'texts' is of type STRUCT\(en VARCHAR\); expected"):
        engine.corpus_bleu(path, ref="texts")
    score = engine.corpus_bleu(f"SELECT hyp, texts.en AS ref FROM '{path}'")
    assert score == truebleu.bleu(["a b c d"], ["a b c d"])


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT 1 hyp, 'b' ref", "column 'hyp' is of type INTEGER; expected strings"),
        ("SELECT 'a' hyp, [1] ref", r"'ref' is of type INTEGER\[\]; expected strings or"),
        ("SELECT ['a'] hyp, 'a' ref", "'hyp' is of type VARCHAR"),
        ("SELECT * FROM nowhere", "nowhere"),
        ("CREATE TABLE t (hyp VARCHAR)", "no column 'hyp'|no rows"),
    ],
)
def test_sql_without_text_raises_error(sql, message):
    with pytest.raises(InputError, match=message):
        engine.corpus_bleu(sql)


def test_arrays_of_references_are_read(connection):
    fixed = connection.sql("SELECT 'a b c d' hyp, ['a b', 'a b c d']::VARCHAR[2] ref")
    assert engine.corpus_bleu(fixed) == truebleu.bleu(["a b c d"], [["a b", "a b c d"]])


def test_skipped_nulls_give_warning(connection):
    relation = connection.sql("FROM (VALUES ('a', 'a'), (NULL, 'b'), ('c', NULL)) t(hyp, ref)")
    with pytest.warns(UserWarning, match="omitted: 1 in hyp, 1 in ref") as warned:
        assert engine.corpus_bleu(relation, nulls="skip").hypothesis_length == 1
    assert warned[0].filename == __file__


def test_unreadable_files_raise_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        engine.corpus_bleu(tmp_path / "none.parquet")
    with pytest.raises(InputError, match="no file matches this pattern"):
        engine.corpus_bleu(tmp_path / "*.parquet")
    with pytest.raises(InputError, match=r"no \.parquet, \.csv, \.tsv, \.jsonl or \.json files"):
        engine.corpus_bleu(tmp_path)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(InputError, match=r"broken.parquet: cannot read the file: .*broken.parquet"):
        engine.corpus_bleu(tmp_path / "broken.parquet")
    (tmp_path / "other.csv").write_text("hyp,ref\na,b\n")
    with pytest.raises(InputError, match="expected files of one format"):
        engine.corpus_bleu([tmp_path / "broken.parquet", tmp_path / "other.csv"])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("1.csv", b"hyp,ref,x\na,b,c\na,b\n", "Line: 3 Expected Number of Columns: 3 Found: 2"),
        ("1.csv", b"hyp,ref\na,b\na,b,c\n", "Line: 3 Expected Number of Columns: 2 Found: 3"),
        ("1.csv", b'hyp,ref\n"a,b\n', "Line: 2 .*unterminated quote"),
        ("1.csv", b"hyp,ref\na,b\r\nc,d\n", r"mixed line endings: \\n and \\r\\n"),
        ("1.csv", b"hyp;ref\na;b\n", "no column 'hyp'.*; expected column names separated by comma"),
        ("1.csv", "hyp,ref\nä,b\n".encode("utf-16"), "invalid UTF-8"),
        ("1.csv", "hyp,ref\nä,b\n".encode("latin-1"), "utf-8"),
        ("1.json", b"[]", r"1\.json: expected JSON"),
    ],
)
def test_invalid_csv_or_json_raises_error(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as raised:
        engine.corpus_bleu(tmp_path / name)
    assert name in str(raised.value)
    assert "sniffing" not in str(raised.value)


def test_error_while_streaming_names_file(tmp_path):
    lines = ['{"hyp": "a", "ref": "a"}\n'] * 50_000 + ['{"hyp": "a", "ref": 5}\n']
    (tmp_path / "a.jsonl").write_text("".join(lines))
    with pytest.raises(InputError) as raised:
        engine.corpus_bleu(tmp_path / "a.jsonl")
    path = tmp_path / "a.jsonl"
    assert str(raised.value) == f"{path}: column ref: expected a string, found a JSON number: 5"


@pytest.mark.parametrize("name", ["https://x.org/a.parquet", "s3://bucket/*.csv.gz"])
def test_urls_raise_error(name):
    with pytest.raises(InputError, match=r"expected a local file, found a URL\. .* httpfs"):
        engine.corpus_bleu(name)
    with pytest.raises(InputError, match=r"httpfs; pass it as connection="):
        engine.corpus_bleu(f"SELECT hyp, ref FROM '{name}'")


def test_table_names(connection, table):
    connection.from_arrow(table).create_view("source")
    connection.execute('CREATE TABLE "my ""table""" AS FROM source')
    assert engine.corpus_bleu('"my ""table"""', connection=connection) == EXPECTED
    with pytest.raises(InputError, match=r"outputs does not exist.* as connection="):
        engine.corpus_bleu("outputs")
    with pytest.raises(TypeError, match=r"expected a DuckDB connection .*, found str"):
        engine.corpus_bleu("outputs", connection="my.db")
    with pytest.raises(TypeError, match="found dict in a list"):
        engine.corpus_bleu([{"hyp": "a", "ref": "a"}])
    with duckdb.connect() as closed_connection:
        relation = closed_connection.from_arrow(table)
    with pytest.raises(InputError, match="closed"):
        engine.corpus_bleu(relation)


def test_new_connection_does_not_read_python_variables():
    data = pa.table({"hyp": ["a"], "ref": ["a"]})  # noqa: F841
    with pytest.raises(InputError, match="data"):
        engine.corpus_bleu("SELECT * FROM data")


def test_invalid_arguments_raise_error(table):
    with pytest.raises(ValueError, match="references and on"):
        engine.corpus_bleu(table, on="id")
    with pytest.raises(TypeError, match="relation"):
        engine.corpus_bleu(5)
    with pytest.raises(ValueError, match="unjoined"):
        engine.corpus_bleu(table, unjoined="sometimes")
    with pytest.raises(InputError, match=r"[Mm]emory"):
        engine.corpus_bleu("SELECT 'a' hyp, 'b' ref", memory="lots")


def test_progress_is_reported(tmp_path, monkeypatch):
    path = tmp_path / "rows.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT repeat(md5(i::VARCHAR), 4) AS hyp, hyp AS ref FROM range(300000) t(i)) "
            f"TO '{path}' (ROW_GROUP_SIZE 20000)"
        )
    monkeypatch.setattr(duckdb_inputs, "PROGRESS_SECONDS", 0.001)
    fractions = []
    engine.sums(path, progress=fractions.append)
    assert fractions == sorted(fractions)
    assert len(set(fractions)) > 1
    assert all(0 <= fraction <= 1 for fraction in fractions)


# ---- sentence-level scores ----


def test_expression_scores_rows(connection, table):
    relation = connection.from_arrow(table)
    column = engine.sentence_bleu("hyp", "ref", connection=connection, smoothing="floor")
    rows = relation.select(column.alias("score")).fetchall()
    expected = truebleu.BLEU(smoothing="floor").segments(TEXT.hyp, TEXT.ref).tolist()
    assert [row[0] for row in rows] == expected
    # The function can be used repeatedly.
    assert relation.select(column.alias("score")).fetchall() == rows
    for make, metric in ((engine.sentence_chrf, "chrf"), (engine.sentence_ter, "ter")):
        rows = relation.select(make(connection=connection).alias("score")).fetchall()
        expected = getattr(truebleu, metric.upper())().segments(TEXT.hyp, TEXT.ref).tolist()
        assert [row[0] for row in rows] == expected


def test_sql_functions_score_rows_and_keep_nulls(connection):
    engine.register(connection)
    rows = connection.sql(
        "SELECT chrf(h, r), ter(h, r), bleu(h, r) "
        "FROM (VALUES ('a b', 'a b'), (NULL, 'x'), ('x', NULL), ('', 'x')) t(h, r)"
    ).fetchall()
    assert rows[1:3] == [(None,) * 3] * 2
    assert [round(value) for value in rows[0]] == [100, 0, 100]
    assert [round(value) for value in rows[3]] == [0, 100, 0]
    engine.register(connection, {"own": truebleu.BLEU(lowercase=True)})
    assert connection.sql("SELECT own('A', 'a') > 99.9").fetchall() == [(True,)]
    engine.register(connection, {"own": "chrf++"})
    assert connection.sql("SELECT own('a', 'a') > 99.9").fetchall() == [(True,)]
    with pytest.raises(TypeError, match="metric: expected a metric"):
        engine.register(connection, {"own": 3})


def test_sql_functions_accept_lists_and_several_references(connection):
    engine.register(connection)
    rows = connection.sql(
        "SELECT bleu(h, r), bleu(h, [r, s]), bleu(h, r, s), bleu(h, [NULL, s]), bleu(h, NULL), "
        "bleu(h, []) FROM (VALUES ('a b c d', 'x', 'a b c d e'), ('a b', 'a b', NULL)) t(h, r, s)"
    ).fetchall()
    bleu, hyp = truebleu.BLEU(), ["a b c d", "a b"]
    single_scores, reference_sets = bleu.segments(hyp, ["x", "a b"]), [("x", "a b c d e"), ("a b",)]
    multi_scores = bleu.segments(hyp, reference_sets)
    second_reference_score = bleu.sentence("a b c d", "a b c d e").value
    assert rows == [
        (single_scores[0], multi_scores[0], multi_scores[0], second_reference_score, None, None),
        (single_scores[1], multi_scores[1], multi_scores[1], None, None, None),
    ]
    with pytest.raises(duckdb.Error, match="bleu: expected a hypothesis and at least"):
        connection.sql("SELECT bleu('a')").fetchall()
    with pytest.raises(duckdb.Error, match="found an Arrow column of int32"):
        connection.sql("SELECT bleu('a', 3)").fetchall()


def test_score_relation_can_be_read_repeatedly(data_folder, connection):
    scores = engine.score(data_folder / "part-*.parquet", by="system", metric="chrf")
    assert scores.columns == ["system", "score", "segments", "signature"]
    assert scores.fetchall() == scores.fetchall()
    maximum = duckdb.sql("SELECT max(score) FROM scores").fetchall()
    assert maximum == [(max(score for _, score, *_ in scores.fetchall()),)]
    files = str(data_folder / "part-*.parquet")
    states = engine.stats(files, by="system", connection=connection)
    renamed_states = states.project("*, system || '!' AS loud")
    coarse = Sums(by="loud").merge_state(renamed_states)
    assert len(coarse) == len(scores.fetchall())
    assert coarse.roll_up() == engine.sums(files)


@pytest.mark.thorough
def test_every_function_with_every_metric(connection):
    def arrow(relation):
        return relation.to_arrow_table()

    check_every_function(engine, connection.from_arrow, arrow, connection=connection)


# ---- optional packages ----


def test_pyarrow_is_optional(data_folder, table):
    script = f"""
import sys
sys.modules["pyarrow"] = None
from truebleu.engines import duckdb as engine
print(engine.sums("{data_folder}/part-*.parquet", by="system").to_bytes().hex())
print(engine.sums("{data_folder}/table.csv.gz", by="system").to_bytes().hex())
joined = {{"references": "SELECT id, ref FROM '{data_folder}/part-*.parquet'", "on": "id"}}
print(engine.sums("{data_folder}/table.jsonl", by="system", **joined).to_bytes().hex())
try:
    engine.register()
except ImportError as error:
    print(error)
"""
    done = run_script(script)
    message = "DuckDB needs pyarrow and NumPy to pass columns to Python functions: "
    expected = [Sums(by="system").update(table).to_bytes().hex()] * 3
    assert done.stderr == ""
    assert done.stdout.splitlines() == [*expected, f"{message}pip install pyarrow"]


def test_older_releases_stream_with_pyarrow(monkeypatch, table):
    """Before 2.0 DuckDB's Arrow stream was the complete result."""
    monkeypatch.setattr(duckdb, "__version__", "1.4.4")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert engine.corpus_bleu(table) == EXPECTED
    monkeypatch.setattr(duckdb_inputs, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install pyarrow, or install DuckDB 2"):
        engine.corpus_bleu(table)


@pytest.mark.thorough
def test_every_metric_is_supported_or_rejected():
    def relation(hyp, ref):
        return duckdb.from_arrow(pa.table({"hyp": hyp, "ref": ref}))

    def by_row(hyp, ref, metric):
        rows = relation(hyp, ref).select(engine.sentence("hyp", "ref", metric=metric))
        return [score for (score,) in rows.fetchall()]

    check_every_metric(lambda hyp, ref, m: engine.score(relation(hyp, ref), metric=m))
    check_every_metric(by_row, by_row=True)
