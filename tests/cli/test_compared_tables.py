"""Systems in tables: compared as those in files are, inside groups, in buckets, in a report."""

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


def texts(share: float) -> list[str]:
    dice, other = random.Random(7), random.Random(share)
    made = [dice.choices(WORDS, k=12) for _ in range(SEGMENTS)]
    return [" ".join(w if other.random() > share else "x" for w in words) for words in made]


REFERENCES = texts(0)
SYSTEMS = {"A": texts(0.2), "B": texts(0.3)}
DOMAINS = ["news" if i % 2 else "chat" for i in range(SEGMENTS)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One long table, references and hypotheses apart, a wide table, and lines of text."""
    made = tmp_path_factory.mktemp("tables")
    rows = [
        {"id": i, "system": name, "hyp": hyps[i], "ref": REFERENCES[i], "domain": DOMAINS[i]}
        for name, hyps in SYSTEMS.items()
        for i in range(SEGMENTS)
    ]
    long = pa.Table.from_pylist(rows)
    pq.write_table(long, made / "long.parquet")
    # The rows of one system in another order.
    order = list(range(SEGMENTS, 2 * SEGMENTS))
    random.Random(3).shuffle(order)
    hypotheses = long.take([*range(SEGMENTS), *order]).select(["id", "system", "hyp"])
    pq.write_table(hypotheses, made / "hypotheses.parquet")
    pq.write_table(long.slice(0, SEGMENTS).select(["id", "ref", "domain"]), made / "refs.parquet")
    wide = pa.table({"ref": REFERENCES, **SYSTEMS})
    pq.write_table(wide, made / "wide.parquet")
    for name, lines in {"ref": REFERENCES, **SYSTEMS}.items():
        (made / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    return made


@pytest.fixture
def compare(truebleu_command, folder, monkeypatch):
    monkeypatch.chdir(folder)

    def asked(*words: str) -> dict:
        done = truebleu_command("compare", *words, "-f", "json")
        assert done.status == 0, done.error
        return json.loads(done.output)

    return asked


OF_LINES = ("ref.txt", "-i", "A.txt", "B.txt", "-m", "bleu", "chrf")


@pytest.mark.parametrize(
    "words",
    [
        ("long.parquet", "--by", "system", "--join", "id"),
        ("refs.parquet", "-i", "hypotheses.parquet", "--join", "id", "--by", "system"),
        ("wide.parquet", "--hyp-column", "A", "B"),
    ],
    ids=["long", "joined", "wide"],
)
def test_systems_in_tables_are_compared_as_those_in_files(compare, words):
    assert compare(*words, "-m", "bleu", "chrf") == compare(*OF_LINES)


def test_another_baseline(compare):
    words = ("long.parquet", "--by", "system", "--join", "id", "--baseline", "B")
    assert compare(*words) == compare(*OF_LINES[:4], "--baseline", "B")


def test_inside_groups(compare, truebleu_command, folder):
    words = ("long.parquet", "--by", "system", "--join", "id", "--within", "domain")
    found = compare(*words)
    assert found["within"] == ["domain"]
    assert [one["group"] for one in found["groups"]] == [{"domain": "chat"}, {"domain": "news"}]
    for one in found["groups"]:
        chosen = [i for i in range(SEGMENTS) if DOMAINS[i] == one["group"]["domain"]]
        systems = {name: [hyps[i] for i in chosen] for name, hyps in SYSTEMS.items()}
        expected = truebleu.compare(systems, [REFERENCES[i] for i in chosen])
        assert one["comparison"] == expected.to_dict()
    made = Comparisons(found)
    assert len(made) == 2
    assert [list(one) for one in made] == [["A", "B"]] * 2
    lines = truebleu_command("compare", *words, "-f", "tsv").output.splitlines()
    assert lines[0].startswith("domain\tmetric\tsystem\t")
    assert [line.split("\t")[:3] for line in lines[1:]] == [
        ["chat", "BLEU", "A"],
        ["chat", "BLEU", "B"],
        ["news", "BLEU", "A"],
        ["news", "BLEU", "B"],
    ]
    for form in ("text", "markdown", "latex", "html"):
        told = truebleu_command("compare", *words, "-f", form).output
        assert told.count("2 systems, 60 segments") == 2, form
        assert "chat: 2 systems" in told or form == "latex"


def test_buckets_are_those_of_the_engine(compare, folder):
    words = ("long.parquet", "--by", "system", "--bucket", "id", "40", "-m", "bleu", "chrf")
    found = compare(*words)
    filled = len({bucket_of(number, 40) for number in range(SEGMENTS)})
    assert (found["segments"], found["buckets"]) == (SEGMENTS, filled)
    assert found["test"]["resampled"] == found["intervals"]["resampled"] == "buckets"
    results = engine.compare(
        folder / "long.parquet", bucket=("id", 40), metrics=["bleu", "chrf"], resamples=1000
    )
    for name, metric in (("bleu", "BLEU"), ("chrf", "chrF2")):
        by_name = {one["name"]: one["scores"][metric] for one in found["systems"]}
        assert by_name["B"]["difference"]["p"] == results[name].differences["B"].p
        assert by_name["A"]["score"] == truebleu.metric(name).score(SYSTEMS["A"], REFERENCES).value
        interval = results[name].intervals["A"]
        assert by_name["A"]["interval"]["low"] == interval.low
        difference = by_name["B"]["difference"]
        assert difference["wins"] + difference["ties"] + difference["losses"] == filled
    joined = compare(
        *("refs.parquet", "-i", "hypotheses.parquet", "--join", "id", "--by", "system"),
        *words[3:],
    )
    assert joined == found


def test_buckets_inside_groups(compare):
    words = ("--by", "system", "--bucket", "id", "10", "--within", "domain")
    found = compare("long.parquet", *words)
    assert [one["comparison"]["segments"] for one in found["groups"]] == [60, 60]
    assert [one["comparison"]["buckets"] for one in found["groups"]] == [10, 10]


def test_a_wide_table_in_buckets(compare, folder):
    numbered = pq.read_table(folder / "wide.parquet")
    numbered = numbered.append_column("id", pa.array(range(SEGMENTS)))
    pq.write_table(numbered, folder / "numbered.parquet")
    found = compare("numbered.parquet", "--hyp-column", "A", "B", "--bucket", "id", "40")
    words = ("--by", "system", "--bucket", "id", "40")
    assert found == compare("long.parquet", *words)


def test_a_report_of_tables(truebleu_command, folder, monkeypatch):
    monkeypatch.chdir(folder)
    pages = []
    for words in (("long.parquet", "--by", "system", "--join", "id"), OF_LINES[:4]):
        done = truebleu_command("report", *words, "-o", "page.html", "--title", "Two systems")
        assert done.status == 0, done.error
        pages.append((folder / "page.html").read_text())
    assert "truebleu compare long.parquet --by system --join id" in pages[0]
    # Everything but the commands and the names of files is the same.
    assert abs(len(pages[0]) - len(pages[1])) < 2000


WRONG = {
    "no ids": (("long.parquet", "--by", "system"), 2, "name the column of ids with --join"),
    "no systems": (("long.parquet", "--join", "id"), 1, "0 is there more than once for hyp"),
    "files": (("ref.txt", "-i", "A.txt", "--within", "domain"), 2, "--within is for tables"),
    "buckets": (
        ("long.parquet", "--by", "system", "--bucket", "id", "one"),
        2,
        "--bucket: expected the column of ids and a number of buckets, 2 or more, as --bucket id",
    ),
    "few buckets": (("long.parquet", "--by", "system", "--bucket", "id", "1"), 2, "2 or more"),
    "scores": (
        ("long.parquet", "--by", "system", "--join", "id", "--scores", "X=x.tsv"),
        2,
        "--scores: not with tables",
    ),
    "a column": (
        ("long.parquet", "--by", "sytem", "--join", "id"),
        1,
        "no column 'sytem'; did you mean 'system'?",
    ),
    "a group": (
        ("long.parquet", "--by", "system", "--join", "id", "--within", "domian"),
        1,
        "no column 'domian'; did you mean 'domain'?",
    ),
    "sacreBLEU's test": (
        ("long.parquet", "--by", "system", "--bucket", "id", "--test", "bs-sacrebleu"),
        2,
        "--resample: test 'bs-sacrebleu' supports only 'segments'",
    ),
}


@pytest.mark.parametrize(("words", "status", "told"), WRONG.values(), ids=WRONG)
def test_what_is_wrong(truebleu_command, folder, monkeypatch, words, status, told):
    monkeypatch.chdir(folder)
    done = truebleu_command("compare", *words)
    assert done.status == status
    assert told in done.error
    assert done.output == ""


def altered(folder, sql: str) -> str:
    with duckdb.connect() as connection:
        long = connection.read_parquet(str(folder / "long.parquet"))
        table = connection.sql(sql.format("long")).to_arrow_table()
        del long
    pq.write_table(table, folder / "altered.parquet")
    return "altered.parquet"


ALTERED = {
    "lacking": (
        "SELECT * FROM {} WHERE system = 'A' OR id <> 17",
        "id: 1 segment that not every system has: B has no 17",
        "1 segment that not every system has left out",
    ),
    "null": (
        "SELECT * REPLACE (if(system = 'A' AND id = 17, NULL, hyp) AS hyp) FROM {}",
        "1 row without a hypothesis or a reference; every row needs both",
        None,
    ),
    "other references": (
        "SELECT * REPLACE (if(system = 'A' AND id = 17, 'x', ref) AS ref) FROM {}",
        "A and B have different references for 17",
        None,
    ),
}


@pytest.mark.parametrize(("sql", "told", "left_out"), ALTERED.values(), ids=ALTERED)
def test_segments_that_do_not_fit(truebleu_command, compare, folder, sql, told, left_out):
    name = altered(folder, sql)
    words = (name, "--by", "system", "--join", "id")
    done = truebleu_command("compare", *words)
    assert (done.status, done.output) == (1, "")
    assert told in done.error
    assert len(done.error) <= 300
    if left_out is not None:
        done = truebleu_command("compare", *words, "--unjoined", "skip", "-f", "json")
        assert left_out in done.error
        kept = [i for i in range(SEGMENTS) if i != 17]
        expected = truebleu.compare(
            {name: [hyps[i] for i in kept] for name, hyps in SYSTEMS.items()},
            [REFERENCES[i] for i in kept],
        )
        assert json.loads(done.output) == expected.to_dict()


def test_nulls_are_left_out_of_all_systems(truebleu_command, folder, monkeypatch):
    monkeypatch.chdir(folder)
    name = altered(folder, ALTERED["null"][0])
    words = ("--by", "system", "--join", "id", "--nulls", "skip", "--unjoined", "skip")
    done = truebleu_command("compare", name, *words, "-f", "json")
    assert "1 row without a hypothesis or a reference left out" in done.error
    assert json.loads(done.output)["segments"] == SEGMENTS - 1


def test_lists_of_references(compare, folder):
    lists = [[ref, "a cat sat"] for ref in REFERENCES]
    table = pa.table({"refs": lists, **SYSTEMS})
    pq.write_table(table, folder / "lists.parquet")
    found = compare("lists.parquet", "--ref-column", "refs", "--hyp-column", "A", "B")
    assert found == truebleu.compare(SYSTEMS, list(map(tuple, lists))).to_dict()
