"""Comparison of systems in tables: equality with files, groups, buckets, reports."""

from __future__ import annotations

import json
import random

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import truebleu
from truebleu.comparison import Comparisons
from truebleu.engines import bucket_of
from truebleu.engines import duckdb as engine

WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "saw", "some", "dogs", "near", "trees"]
SEGMENTS = 120


def generate_texts(share: float) -> list[str]:
    reference_generator, word_generator = random.Random(7), random.Random(share)
    lines = [reference_generator.choices(WORDS, k=12) for _ in range(SEGMENTS)]
    return [
        " ".join(w if word_generator.random() > share else "x" for w in words) for words in lines
    ]


REFERENCES = generate_texts(0)
SYSTEMS = {"A": generate_texts(0.2), "B": generate_texts(0.3)}
DOMAINS = ["news" if i % 2 else "chat" for i in range(SEGMENTS)]


@pytest.fixture(scope="module")
def table_folder(tmp_path_factory):
    """Write a long table, separate tables, a wide table, and text files."""
    table_folder = tmp_path_factory.mktemp("tables")
    rows = [
        {"id": i, "system": name, "hyp": hyps[i], "ref": REFERENCES[i], "domain": DOMAINS[i]}
        for name, hyps in SYSTEMS.items()
        for i in range(SEGMENTS)
    ]
    long = pa.Table.from_pylist(rows)
    pq.write_table(long, table_folder / "long.parquet")
    # One system has its rows in another order.
    order = list(range(SEGMENTS, 2 * SEGMENTS))
    random.Random(3).shuffle(order)
    hypotheses = long.take([*range(SEGMENTS), *order]).select(["id", "system", "hyp"])
    pq.write_table(hypotheses, table_folder / "hypotheses.parquet")
    pq.write_table(
        long.slice(0, SEGMENTS).select(["id", "ref", "domain"]), table_folder / "refs.parquet"
    )
    wide = pa.table({"ref": REFERENCES, **SYSTEMS})
    pq.write_table(wide, table_folder / "wide.parquet")
    for name, lines in {"ref": REFERENCES, **SYSTEMS}.items():
        (table_folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    return table_folder


@pytest.fixture
def run_compare(read_json, table_folder, monkeypatch):
    """Return a function that compares systems of tables in their folder."""
    monkeypatch.chdir(table_folder)
    return lambda words: read_json("compare", *words.split(), "-f", "json")


TEXT_FILE_WORDS = "ref.txt -i A.txt B.txt"
LONG = "long.parquet --by system"
JOINED = "refs.parquet -i hypotheses.parquet --join id --by system"


@pytest.mark.parametrize(
    "words",
    [f"{LONG} --join id", JOINED, "wide.parquet --hyp-column A B"],
    ids=["long", "joined", "wide"],
)
def test_tables_give_same_comparison_as_text_files(run_compare, words):
    metrics = "-m bleu chrf"
    assert run_compare(f"{words} {metrics}") == run_compare(f"{TEXT_FILE_WORDS} {metrics}")


def test_baseline_option_works_with_tables(run_compare):
    content = run_compare(f"{LONG} --join id --baseline B")
    assert content == run_compare(f"{TEXT_FILE_WORDS} --baseline B")


def test_within_compares_in_each_group(run_compare):
    content = run_compare(f"{LONG} --join id --within domain")
    assert content["within"] == ["domain"]
    domains = [{"domain": "chat"}, {"domain": "news"}]
    assert [group["group"] for group in content["groups"]] == domains
    for group in content["groups"]:
        rows = [i for i in range(SEGMENTS) if DOMAINS[i] == group["group"]["domain"]]
        systems = {name: [hyps[i] for i in rows] for name, hyps in SYSTEMS.items()}
        expected = truebleu.compare(systems, [REFERENCES[i] for i in rows])
        assert group["comparison"] == expected.to_dict()
    comparisons = Comparisons(content)
    assert len(comparisons) == 2
    assert [list(group) for group in comparisons] == [["A", "B"]] * 2


def test_every_format_has_all_groups(truebleu_command, table_folder, monkeypatch):
    monkeypatch.chdir(table_folder)
    words = ("compare", *LONG.split(), "--join", "id", "--within", "domain", "-f")
    header, *lines = truebleu_command(*words, "tsv").output.splitlines()
    assert header.startswith("domain\tmetric\tsystem\t")
    assert [line.split("\t")[:3] for line in lines] == [
        [domain, "BLEU", system] for domain in ("chat", "news") for system in ("A", "B")
    ]
    for form in ("text", "html"):
        output = truebleu_command(*words, form).output
        assert output.count("2 systems, 60 segments") == 2, form
        assert "chat: 2 systems" in output
    for form in ("markdown", "latex"):
        output = truebleu_command(*words, form).output
        titles = [output.index(f"{name} (60 segments)") for name in ("chat", "news")]
        assert titles == sorted(titles), "groups are sections of one table"
        assert output.count("BLEU ") + output.count("BLEU|") == 3, "header, caption, signature"


def test_bucket_comparison_equals_engine(run_compare, table_folder):
    options = "--bucket id 40 -m bleu chrf"
    content = run_compare(f"{LONG} {options}")
    filled = len({bucket_of(number, 40) for number in range(SEGMENTS)})
    assert (content["segments"], content["buckets"]) == (SEGMENTS, filled)
    assert content["test"]["resampled"] == content["intervals"]["resampled"] == "buckets"
    results = engine.compare(
        table_folder / "long.parquet", bucket=("id", 40), metrics=["bleu", "chrf"], resamples=1000
    )
    for name, metric in (("bleu", "BLEU"), ("chrf", "chrF2")):
        by_name = {entry["name"]: entry["scores"][metric] for entry in content["systems"]}
        assert by_name["B"]["difference"]["p"] == results[name].differences["B"].p
        assert by_name["A"]["score"] == truebleu.metric(name).score(SYSTEMS["A"], REFERENCES).value
        interval = results[name].intervals["A"]
        assert by_name["A"]["interval"]["low"] == interval.low
        difference = by_name["B"]["difference"]
        assert difference["wins"] + difference["ties"] + difference["losses"] == filled
    assert run_compare(f"{JOINED} {options}") == content


def test_buckets_can_be_combined_with_groups(run_compare):
    content = run_compare(f"{LONG} --bucket id 10 --within domain")
    assert [entry["comparison"]["segments"] for entry in content["groups"]] == [60, 60]
    assert [entry["comparison"]["buckets"] for entry in content["groups"]] == [10, 10]


def test_report_of_tables_equals_report_of_files(truebleu_command, table_folder, monkeypatch):
    monkeypatch.chdir(table_folder)
    first, second = (
        truebleu_command("report", *words.split(), "-o", "-", "--title", "Two systems").output
        for words in (f"{LONG} --join id", TEXT_FILE_WORDS)
    )
    assert "truebleu compare long.parquet --by system --join id" in first
    # Only the commands and file names differ.
    assert abs(len(first) - len(second)) < 2000


LONG = "long.parquet --by system"


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (LONG, 2, "--by needs segment ids"),
        ("long.parquet --join id", 1, "0 occurs more than once for long"),
        ("ref.txt -i A.txt --within domain", 2, "--within needs tables"),
        (f"{LONG} --bucket id one", 2, "an id column and a number of buckets, 2 or more, such as"),
        (f"{LONG} --bucket id 1", 2, "2 or more"),
        (f"{LONG} --join id --scores X=x.tsv", 2, "--scores does not support tables"),
        ("long.parquet --by sytem --join id", 1, "no column 'sytem'; did you mean 'system'?"),
        (f"{LONG} --join id --within domian", 1, "no column 'domian'; did you mean 'domain'?"),
        (f"{LONG} --bucket id --test bs-sacrebleu", 2, "--resample: test 'bs-sacrebleu' supports"),
    ],
)
def test_wrong_arguments_give_error(read_error, table_folder, words, status, message):
    assert message in read_error(status, "compare", *words.split(), cwd=table_folder)


def write_altered_table(table_folder, sql: str) -> str:
    with duckdb.connect() as connection:
        long = connection.read_parquet(str(table_folder / "long.parquet"))
        table = connection.sql(sql.format("long")).to_arrow_table()
        del long
    pq.write_table(table, table_folder / "altered.parquet")
    return "altered.parquet"


ALTERED = {
    "lacking": (
        "SELECT * FROM {} WHERE system = 'A' OR id <> 17",
        "id: 1 segment missing from some systems, such as 17 from B",
        "skipped 1 segment missing from some systems",
    ),
    "null": (
        "SELECT * REPLACE (if(system = 'A' AND id = 17, NULL, hyp) AS hyp) FROM {}",
        "1 row without a hypothesis or a reference. Use --nulls skip",
        None,
    ),
    "other references": (
        "SELECT * REPLACE (if(system = 'A' AND id = 17, 'x', ref) AS ref) FROM {}",
        "A and B have different references for 17",
        None,
    ),
}


@pytest.mark.parametrize(("sql", "message", "note"), ALTERED.values(), ids=ALTERED)
def test_mismatched_segments_give_error_or_are_skipped(
    truebleu_command, read_error, table_folder, sql, message, note
):
    words = ("compare", write_altered_table(table_folder, sql), "--by", "system", "--join", "id")
    error = read_error(1, *words, cwd=table_folder)
    assert message in error
    assert len(error) <= 280
    if note is not None:
        result = truebleu_command(*words, "--unjoined", "skip", "-f", "json", cwd=table_folder)
        assert note in result.error
        kept_rows = [i for i in range(SEGMENTS) if i != 17]
        systems = {name: [hyps[i] for i in kept_rows] for name, hyps in SYSTEMS.items()}
        expected = truebleu.compare(systems, [REFERENCES[i] for i in kept_rows])
        assert json.loads(result.output) == expected.to_dict()


def test_nulls_are_skipped_in_all_systems(truebleu_command, table_folder):
    name = write_altered_table(table_folder, ALTERED["null"][0])
    words = ("--by", "system", "--join", "id", "--nulls", "skip", "--unjoined", "skip")
    result = truebleu_command("compare", name, *words, "-f", "json", cwd=table_folder)
    assert "skipped 1 row without a hypothesis or a reference" in result.error
    assert json.loads(result.output)["segments"] == SEGMENTS - 1


def test_reference_lists_are_several_references(run_compare, table_folder):
    lists = [[ref, "a cat sat"] for ref in REFERENCES]
    table = pa.table({"refs": lists, **SYSTEMS})
    pq.write_table(table, table_folder / "lists.parquet")
    content = run_compare("lists.parquet --ref-column refs --hyp-column A B")
    assert content == truebleu.compare(SYSTEMS, list(map(tuple, lists))).to_dict()
