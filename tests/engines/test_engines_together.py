"""Sums of the same rows are equal in different engines, because they treat keys identically."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from contract import make_rows, run_script

import truebleu
from truebleu import InputError
from truebleu.engines import Sums
from truebleu.engines import duckdb as of_duckdb
from truebleu.engines import polars as polars_engine

TEXT = make_rows(21, 60)
BERLIN = timezone(timedelta(hours=1))
# Key values, and the Parquet types that can store them.
KEYS = {
    "moments": (
        [datetime(2026, 1, 31, 23, 30, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=BERLIN), None],
        [pa.timestamp("ms", "UTC"), pa.timestamp("us", "Europe/Berlin"), pa.timestamp("ns", "UTC")],
    ),
    "clocks": (
        [datetime(2026, 1, 31, 23, 30), datetime(1960, 2, 1), None],
        [pa.timestamp("ms"), pa.timestamp("us"), pa.timestamp("ns")],
    ),
    "dates": ([date(2026, 1, 31), date(1960, 2, 1), None], [pa.date32()]),
    "times": ([time(1, 2, 3, 4), time(0), None], [pa.time64("us")]),
    "decimals": (
        [Decimal("1.50"), Decimal(-7), None],
        [pa.decimal128(9, 2), pa.decimal128(18, 3), pa.decimal128(38, 4)],
    ),
    "truth values": ([True, False, None], [pa.bool_()]),
    "numbers": ([0.0, -0.0, float("nan"), 1.5, None], [pa.float64()]),
    "single numbers": ([0.5, float("nan"), -0.0, None], [pa.float32()]),
    "whole numbers": ([3, -4, None], [pa.int64(), pa.int32(), pa.int16()]),
    "strings": (["a", "", "北京", None], [pa.string(), pa.large_string()]),
    "dictionaries": (["a", "", "北京", None], [pa.dictionary(pa.int32(), pa.string())]),
    "bytes": ([b"a", b"", b"\xff", None], [pa.binary()]),
    "nothing": ([None], [pa.null()]),
}
CASES = [(name, values, kind) for name, (values, kinds) in KEYS.items() for kind in kinds]


@pytest.mark.parametrize(
    ("name", "values", "kind"), CASES, ids=[f"{name} {key_type}" for name, _, key_type in CASES]
)
def test_keys_are_equal_in_every_engine(tmp_path, name, values, kind):
    keys = [values[i % len(values)] for i in range(len(TEXT.hyp))]
    table = pa.table({"hyp": TEXT.hyp, "ref": TEXT.ref, "key": pa.array(keys, kind)})
    pq.write_table(table, tmp_path / "rows.parquet")
    arrow_sums = Sums(by="key").update(table)
    engine_sums = [
        of_duckdb.sums(tmp_path / "rows.parquet", by="key"),
        polars_engine.sums(pl.scan_parquet(tmp_path / "rows.parquet"), by="key"),
    ]
    for sums in engine_sums:
        assert sums.keys == arrow_sums.keys or "numbers" in name
        assert sums.group_segments() == arrow_sums.group_segments()
        # DuckDB reads columns that contain only nulls as integers.
        assert sums == arrow_sums or name == "nothing"
        assert arrow_sums.spawn().merge(sums).merge(arrow_sums).segments == 2 * len(keys)
    frame = polars_engine.score(pl.scan_parquet(tmp_path / "rows.parquet"), by="key")
    relation = of_duckdb.score(tmp_path / "rows.parquet", by="key")
    assert frame.columns == relation.columns == ["key", "score", "segments", "signature"]
    assert frame["score"].to_list() == [score for (score,) in relation.project("score").fetchall()]


def test_partition_folder_names_are_keys(tmp_path):
    table = pa.table({"hyp": TEXT.hyp, "ref": TEXT.ref})
    for start, names in (
        (0, "year=2026/day=2026-01-02/by=A"),
        (30, "year=2025/day=2025-02-03/by=b"),
    ):
        folder = tmp_path / "rows" / names
        folder.mkdir(parents=True)
        pq.write_table(table.slice(start, 30), folder / "0.parquet")
    key_columns = ("year", "day", "by")
    duckdb_sums = of_duckdb.sums(tmp_path / "rows", by=key_columns)
    polars_sums = polars_engine.sums(pl.scan_parquet(tmp_path / "rows"), by=key_columns)
    assert duckdb_sums.keys == [(2025, date(2025, 2, 3), "b"), (2026, date(2026, 1, 2), "A")]
    assert duckdb_sums == polars_sums
    assert duckdb_sums.merge(polars_sums).group_segments() == [60, 60]


def test_daily_sums_of_two_engines_roll_up_to_months():
    """Merge daily sums of two engines, and roll them up in either engine."""
    days = [date(2026, 1, 1) + timedelta(i) for i in range(len(TEXT.hyp))]
    frame = pl.DataFrame({"hyp": TEXT.hyp, "ref": TEXT.ref, "day": days})
    with duckdb.connect() as connection:
        early = connection.from_arrow(frame.head(25).to_arrow())
        sums = of_duckdb.sums(early, by="day", metrics=["bleu", "chrf"], connection=connection)
        sums.merge(polars_engine.sums(frame.tail(-25), by="day", metrics=["bleu", "chrf"]))
        assert sums.keys == days
        # In Polars ...
        months = pl.DataFrame(sums).with_columns(month=pl.col("day").dt.truncate("1mo"))
        coarse = Sums(["bleu", "chrf"], by="month").merge_state(months)
        # ... and in DuckDB.
        states = connection.from_arrow(sums)
        in_sql = states.project("*, date_trunc('month', day)::DATE AS month")
        assert Sums(["bleu", "chrf"], by="month").merge_state(in_sql) == coarse
    assert coarse.keys == [date(2026, 1, 1), date(2026, 2, 1), date(2026, 3, 1)]
    for month in coarse.keys:
        rows = frame.filter(pl.col("day").dt.truncate("1mo") == month)
        texts = rows["hyp"].to_list(), rows["ref"].to_list()
        assert coarse.score(month) == {"bleu": truebleu.bleu(*texts), "chrf": truebleu.chrf(*texts)}
    assert coarse.roll_up() == sums.roll_up()
    assert coarse.score() == sums.score()


# Faults of one file of many, and a pattern for the error message.
FAULTS = {
    "truncated": "[mM]agic|PAR1",
    "emptied": "too small|size|footer",
    "spoilt": "thrift|TProtocol",
    "of numbers": "hyp",
    "of bytes": "hyp",
    "without a column": "hyp",
}
READ_BY = {
    "DuckDB, a folder": lambda paths: of_duckdb.score(paths[0].parent, by="system"),
    "DuckDB, a list": lambda paths: of_duckdb.score(paths, by="system"),
    "Polars, a scan": lambda paths: polars_engine.score(pl.scan_parquet(paths), by="system"),
    "Polars, scans": lambda paths: polars_engine.score(map(pl.scan_parquet, paths), by="system"),
}


@pytest.mark.parametrize("read", READ_BY.values(), ids=READ_BY)
@pytest.mark.parametrize(("fault", "message"), FAULTS.items(), ids=FAULTS)
def test_error_names_the_damaged_file_in_one_line(fault, message, read, tmp_path):
    folder = tmp_path / ("a name so long that a list of it is no message " * 3)
    folder.mkdir()
    paths = [folder / f"part-{number:03}.parquet" for number in range(120)]
    table = pa.table({"system": ["A", "B"], "hyp": ["a b c", "x"], "ref": ["a b c", "y"]})
    for path in paths:
        pq.write_table(table, path)
    culprit, content = paths[77], paths[77].read_bytes()
    if fault.startswith("of "):
        odd = pa.array([1, 2] if fault == "of numbers" else [b"a", b"b"])
        pq.write_table(table.set_column(1, "hyp", odd), culprit)
    elif fault == "without a column":
        pq.write_table(table.drop_columns(["hyp"]), culprit)
    else:
        spoilt = content[:20] + bytes(40) + content[60:]
        culprit.write_bytes(
            {"truncated": content[: len(content) // 2], "emptied": b"", "spoilt": spoilt}[fault]
        )
    with pytest.raises(InputError, match=f"part-077.parquet.*({message})") as raised:
        read(paths)
    assert len(str(raised.value)) <= 300
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["DuckDB", "Polars"])
def test_missing_package_error_names_extra(name):
    module = name.lower()
    code = f"import sys; sys.modules[{module!r}] = None\nimport truebleu.engines.{module}"
    assert f"needs {name}: pip install 'truebleu[{module}]'" in run_script(code).stderr


@pytest.mark.thorough
@pytest.mark.parametrize("engine", [of_duckdb, polars_engine], ids=["DuckDB", "Polars"])
def test_50_megabyte_row(engine, tmp_path):
    long = pa.table({"hyp": ["word " * 10_000_000, "a b"], "ref": ["a b"] * 2})
    pq.write_table(long, tmp_path / "rows.parquet")
    data = tmp_path / "rows.parquet"
    score = engine.score(data if engine is of_duckdb else pl.scan_parquet(data))
    assert score.hypothesis_length == 10_000_002


SYSTEMS = pl.DataFrame(
    {
        "hyp": TEXT.hyp,
        "ref": TEXT.ref,
        "system": ["A", "B"] * 30,
        "domain": ["news"] * 20 + ["chat"] * 40,
        "id": [i // 2 for i in range(60)],
    }
)


def test_sums_can_be_selected_split_and_rolled_up():
    options = {"metrics": ["bleu", "ter"]}
    sums = polars_engine.sums(SYSTEMS, by=["system", "domain"], **options)
    assert sums.where(system="A").keys == [("A", "chat"), ("A", "news")]
    assert sums.where(system=["A", "C"], domain={"news"}).keys == [("A", "news")]
    assert sums.where(lambda system, domain: system > domain[:1].upper()).keys == []
    assert sums.where(system="C").segments == 0
    with pytest.raises(ValueError, match=r"unknown key column 'sytem' .*one of: system, domain"):
        sums.where(sytem="A")
    coarse = sums.roll_up("system")
    assert coarse == polars_engine.sums(SYSTEMS, by="system", **options)
    assert coarse.keys == ["A", "B"]
    assert sums.roll_up(["domain", "system"]).keys[0] == ("chat", "A")
    assert sums.roll_up() == polars_engine.sums(SYSTEMS, **options)
    parts = sums.split("domain")
    assert list(parts) == ["chat", "news"]
    for domain, part in parts.items():
        domain_rows = SYSTEMS.filter(pl.col("domain") == domain)
        assert part == polars_engine.sums(domain_rows, by=("system",), **options)
    assert parts["chat"].merge(parts["news"]).roll_up() == sums.roll_up()


@pytest.mark.parametrize("by", [None, "system", ["system", "domain"]], ids=str)
@pytest.mark.parametrize(
    "metrics", ["bleu", ["chrf++", truebleu.BLEU(tokenize="char", max_order=2)], "wer"], ids=str
)
def test_sums_round_trip_through_bytes(metrics, by):
    sums = polars_engine.sums(SYSTEMS, by=by, metrics=metrics, bucket=("id", 5))
    restored = Sums.from_bytes(sums.to_bytes())
    assert (restored, restored.keys) == (sums, sums.keys)
    assert [m.fingerprint for m in restored.metrics] == [m.fingerprint for m in sums.metrics]
    assert Sums.from_bytes(sums.to_bytes(), metrics) == sums


def test_custom_metric_is_needed_to_read_its_sums():
    custom_metric = truebleu.BLEU(tokenize=str.split)
    sums = polars_engine.sums(SYSTEMS, metrics=custom_metric)
    assert Sums.from_bytes(sums.to_bytes(), custom_metric).score() == sums.score()
    with pytest.raises(InputError, match=r"Pass them: Sums\.from_bytes\(data, metrics\)"):
        Sums.from_bytes(sums.to_bytes())
    with pytest.raises(InputError, match="sums with different metrics"):
        Sums.from_bytes(sums.to_bytes(), "bleu")


@pytest.mark.parametrize("engine", [polars_engine, of_duckdb], ids=["Polars", "DuckDB"])
def test_systems_are_compared_within_groups(engine):
    data = SYSTEMS if engine is polars_engine else duckdb.from_arrow(SYSTEMS.to_arrow())
    options = {"bucket": ("id", 6), "metrics": ["bleu", "chrf"], "randomizations": 50}
    connection = {} if engine is polars_engine else {"connection": duckdb.default_connection()}
    comparisons = engine.compare(data, within="domain", **options, **connection)
    assert list(comparisons) == ["chat", "news"]
    for domain, by_metric in comparisons.items():
        domain_rows = SYSTEMS.filter(pl.col("domain") == domain)
        expected = polars_engine.compare(domain_rows, **options)
        for name in ("bleu", "chrf"):
            assert by_metric[name].differences == expected[name].differences
    incomplete = SYSTEMS.filter((pl.col("domain") == "chat") | (pl.col("id") > 2))[1:]
    incomplete = incomplete.filter((pl.col("id") != 4) | (pl.col("system") == "A"))
    with pytest.raises(InputError, match=r"^news: "):
        polars_engine.compare(incomplete, within="domain", **options)
