"""Tests that run the code of the documentation pages about engines from top to bottom.

The Spark and Ray examples run in the tests of these engines, if they are installed.
"""

import pytest

pytest.importorskip("polars", reason="Polars is not installed")
pytest.importorskip("duckdb", reason="DuckDB is not installed")
pytest.importorskip("pyarrow", reason="the page asks for pyarrow")

import page_code

BIRCH, CEDAR = 29.961152617056065, 46.951677283144946


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """Return the Python names after creating the page's tables."""
    monkeypatch.chdir(tmp_path)
    return page_code.make_tables(tmp_path)


@pytest.fixture
def tables_at_scale(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return page_code.make_tables(tmp_path, "at-scale")


def test_serialization_example(tables):
    scores = page_code.run_section_code("## Which data is transferred?", tables)["part"].scores()
    assert {system: by_metric["bleu"].value for system, by_metric in scores.items()} == {
        "aspen": pytest.approx(11.01, abs=0.01),
        "birch": BIRCH,
        "cedar": CEDAR,
    }


def test_month_example(tables):
    names = page_code.run_section_code("## The functions of an engine", tables)
    assert [str(month) for month in names["months"]["month"].unique().sort()] == [
        "2026-10-01",
        "2026-11-01",
    ]


def test_duckdb_example(tables):
    names = page_code.run_section_code("### DuckDB", tables)
    assert dict(names["sums"]("outputs.parquet", by="system").scores())["cedar"] == CEDAR
    names["connection"].close()


def test_polars_example(tables):
    names = page_code.run_section_code("### Polars", tables)
    birch_rows = names["frame"].filter(system="birch")
    assert names["corpus_bleu"](birch_rows).value == BIRCH
    names["connection"].close()


def test_bucket_example(tables_at_scale):
    names = page_code.run_section_code("## Significance at scale", tables_at_scale, "at-scale")
    low, high = (
        getattr(names["intervals"](names["sums"])["cedar"], end) for end in ("low", "high")
    )
    assert low < CEDAR < high


@pytest.mark.filterwarnings("ignore:Iceberg scan planning")
def test_lake_example(tables_at_scale):
    """The section compares each sum with the sum of the plain frame."""
    pytest.importorskip("deltalake", reason="deltalake is not installed")
    pytest.importorskip("pyiceberg", reason="pyiceberg is not installed")
    names = page_code.run_section_code("## Delta Lake and Iceberg", tables_at_scale, "at-scale")
    assert dict(names["expected"].scores())["cedar"] == CEDAR


@pytest.mark.parametrize(
    "words", page_code.extract_commands("### From the command line"), ids=" ".join
)
def test_command_example(words, tables, tmp_path, truebleu_command):
    done = truebleu_command(*words, cwd=tmp_path)
    assert done.status == 0, done.errors
    if "-o" in words:
        assert (tmp_path / words[-1]).stat().st_size
    else:
        assert done.output


def test_page_shows_every_table_command():
    shown_commands = {words[0] for words in page_code.extract_commands("### From the command line")}
    assert shown_commands == {"score", "segments", "compare", "report"}
