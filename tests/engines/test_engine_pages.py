"""What the pages about engines show runs from top to bottom, as a reader of them runs it.

What they show of Spark and Ray runs in the tests of these, where they are installed.
"""

import pytest

pytest.importorskip("polars", reason="Polars is not installed")
pytest.importorskip("duckdb", reason="DuckDB is not installed")
pytest.importorskip("pyarrow", reason="the page asks for pyarrow")

import page_code

BIRCH, CEDAR = 29.961152617056065, 46.951677283144946


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """The names of Python where the tables have been made."""
    monkeypatch.chdir(tmp_path)
    return page_code.make_tables(tmp_path)


def test_sums_travel(tables):
    scores = page_code.run_python("## What travels", tables)["part"].scores()
    assert {system: of["bleu"].value for system, of in scores.items()} == {
        "aspen": pytest.approx(11.01, abs=0.01),
        "birch": BIRCH,
        "cedar": CEDAR,
    }


def test_days_become_months(tables):
    made = page_code.run_python("## The functions of an engine", tables)
    assert [str(month) for month in made["months"]["month"].unique().sort()] == [
        "2026-10-01",
        "2026-11-01",
    ]


def test_duckdb(tables):
    made = page_code.run_python("### DuckDB", tables)
    assert dict(made["sums"]("outputs.parquet", by="system").scores())["cedar"] == CEDAR
    made["connection"].close()


def test_polars(tables):
    made = page_code.run_python("### Polars", tables)
    both = made["frame"].filter(system="birch")
    assert made["corpus_bleu"](both).value == BIRCH
    made["connection"].close()


def test_buckets(tables):
    made = page_code.run_python("## Significance at scale", tables, "at-scale")
    low, high = (getattr(made["intervals"](made["sums"])["cedar"], end) for end in ("low", "high"))
    assert low < CEDAR < high


@pytest.mark.parametrize("words", page_code.commands("### From the command line"), ids=" ".join)
def test_a_command(words, tables, tmp_path, truebleu_command):
    done = truebleu_command(*words, cwd=tmp_path)
    assert done.status == 0, done.errors
    if "-o" in words:
        assert (tmp_path / words[-1]).stat().st_size
    else:
        assert done.output


def test_every_command_that_reads_tables_is_shown():
    shown = {words[0] for words in page_code.commands("### From the command line")}
    assert shown == {"score", "segments", "compare", "report"}
