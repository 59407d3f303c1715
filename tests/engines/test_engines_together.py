"""Sums that different engines made of the same rows are the same: keys mean one thing in all."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from contract import rows

import truebleu
from truebleu import InputError
from truebleu.engines import Sums
from truebleu.engines import duckdb as of_duckdb
from truebleu.engines import polars as of_polars

TEXT = rows(21, 60)
BERLIN = timezone(timedelta(hours=1))
# For each kind of key values, and the types in which Parquet may hold them.
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
    ("name", "values", "kind"), CASES, ids=[f"{name} {kind}" for name, _, kind in CASES]
)
def test_a_key_is_the_same_in_every_engine(tmp_path, name, values, kind):
    keys = [values[i % len(values)] for i in range(len(TEXT.hyp))]
    table = pa.table({"hyp": TEXT.hyp, "ref": TEXT.ref, "key": pa.array(keys, kind)})
    pq.write_table(table, tmp_path / "rows.parquet")
    plain = Sums(by="key").update(table)
    made = [
        of_duckdb.sums(tmp_path / "rows.parquet", by="key"),
        of_polars.sums(pl.scan_parquet(tmp_path / "rows.parquet"), by="key"),
    ]
    for sums in made:
        assert sums.keys == plain.keys or "numbers" in name
        assert sums.group_segments() == plain.group_segments()
        # DuckDB has no columns of nothing but null: they are whole numbers there.
        assert sums == plain or name == "nothing"
        assert plain.spawn().merge(sums).merge(plain).segments == 2 * len(keys)
    frame = of_polars.score(pl.scan_parquet(tmp_path / "rows.parquet"), by="key")
    relation = of_duckdb.score(tmp_path / "rows.parquet", by="key")
    assert frame.columns == relation.columns == ["key", "score", "segments", "signature"]
    assert frame["score"].to_list() == [score for (score,) in relation.project("score").fetchall()]


def test_names_of_folders_are_the_keys_that_engines_read_by_default(tmp_path):
    for number, names in enumerate(
        ["year=2026/day=2026-01-02/by=A", "year=2025/day=2025-02-03/by=b"]
    ):
        folder = tmp_path / "rows" / names
        folder.mkdir(parents=True)
        some = slice(30 * number, 30 * number + 30)
        pq.write_table(
            pa.table({"hyp": TEXT.hyp[some], "ref": TEXT.ref[some]}), folder / "0.parquet"
        )
    by = ("year", "day", "by")
    one = of_duckdb.sums(tmp_path / "rows", by=by)
    other = of_polars.sums(pl.scan_parquet(tmp_path / "rows"), by=by)
    assert one.keys == [(2025, date(2025, 2, 3), "b"), (2026, date(2026, 1, 2), "A")]
    assert one == other
    assert one.merge(other).group_segments() == [60, 60]


def test_days_become_months_across_two_engines():
    """Sums by day of two engines are merged, and rolled up in either of them."""
    days = [date(2026, 1, 1) + timedelta(i) for i in range(len(TEXT.hyp))]
    frame = pl.DataFrame({"hyp": TEXT.hyp, "ref": TEXT.ref, "day": days})
    with duckdb.connect() as connection:
        early = connection.from_arrow(frame.head(25).to_arrow())
        sums = of_duckdb.sums(early, by="day", metrics=["bleu", "chrf"], connection=connection)
        sums.merge(of_polars.sums(frame.tail(-25), by="day", metrics=["bleu", "chrf"]))
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
        chosen = [i for i, day in enumerate(days) if day.replace(day=1) == month]
        hyp, ref = [TEXT.hyp[i] for i in chosen], [TEXT.ref[i] for i in chosen]
        assert coarse.score(month) == {
            "bleu": truebleu.bleu(hyp, ref),
            "chrf": truebleu.chrf(hyp, ref),
        }
    assert coarse.roll_up() == sums.roll_up()
    assert coarse.score() == sums.score()


# What becomes of one file of many, and a word of what is said of it.
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
    "Polars, a scan": lambda paths: of_polars.score(pl.scan_parquet(paths), by="system"),
    "Polars, scans": lambda paths: of_polars.score(map(pl.scan_parquet, paths), by="system"),
}


@pytest.mark.parametrize("read", READ_BY.values(), ids=READ_BY)
@pytest.mark.parametrize(("fault", "told"), FAULTS.items(), ids=FAULTS)
def test_one_bad_file_of_many_is_named_in_a_line(fault, told, read, tmp_path):
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
    with pytest.raises(InputError, match=f"part-077.parquet.*({told})") as raised:
        read(paths)
    assert len(str(raised.value)) <= 300
    assert "\n" not in str(raised.value)


@pytest.mark.thorough
@pytest.mark.parametrize("engine", [of_duckdb, of_polars], ids=["DuckDB", "Polars"])
def test_a_row_of_50_megabytes(engine, tmp_path):
    long = pa.table({"hyp": ["word " * 10_000_000, "a b"], "ref": ["a b"] * 2})
    pq.write_table(long, tmp_path / "rows.parquet")
    data = tmp_path / "rows.parquet"
    found = engine.score(data if engine is of_duckdb else pl.scan_parquet(data))
    assert found.hypothesis_length == 10_000_002


SYSTEMS = pl.DataFrame(
    {
        "hyp": TEXT.hyp,
        "ref": TEXT.ref,
        "system": ["A", "B"] * 30,
        "domain": ["news"] * 20 + ["chat"] * 40,
        "id": [i // 2 for i in range(60)],
    }
)


def test_sums_can_be_chosen_split_and_rolled_up():
    sums = of_polars.sums(SYSTEMS, by=["system", "domain"], metrics=["bleu", "ter"])
    assert sums.where(system="A").keys == [("A", "chat"), ("A", "news")]
    assert sums.where(system=["A", "C"], domain={"news"}).keys == [("A", "news")]
    assert sums.where(lambda system, domain: system > domain[:1].upper()).keys == []
    assert sums.where(system="C").segments == 0
    with pytest.raises(
        ValueError, match=r"unknown key column 'sytem' \(expected one of: system, dom"
    ):
        sums.where(sytem="A")
    coarse = sums.roll_up("system")
    assert coarse == of_polars.sums(SYSTEMS, by="system", metrics=["bleu", "ter"])
    assert coarse.keys == ["A", "B"]
    assert sums.roll_up(["domain", "system"]).keys[0] == ("chat", "A")
    assert sums.roll_up() == of_polars.sums(SYSTEMS, metrics=["bleu", "ter"])
    parts = sums.split("domain")
    assert list(parts) == ["chat", "news"]
    for domain, part in parts.items():
        alone = SYSTEMS.filter(pl.col("domain") == domain)
        assert part == of_polars.sums(alone, by=("system",), metrics=["bleu", "ter"])
    whole = parts["chat"].merge(parts["news"])
    assert whole.roll_up() == sums.roll_up()


def test_sums_come_back_from_bytes():
    for metrics in ("bleu", ["chrf++", truebleu.BLEU(tokenize="char", max_order=2)], "wer"):
        for by in (None, "system", ["system", "domain"]):
            sums = of_polars.sums(SYSTEMS, by=by, metrics=metrics, bucket=("id", 5))
            back = Sums.from_bytes(sums.to_bytes())
            assert back == sums
            assert back.keys == sums.keys
            assert [m.fingerprint for m in back.metrics] == [m.fingerprint for m in sums.metrics]
            assert Sums.from_bytes(sums.to_bytes(), metrics) == sums
    own = truebleu.BLEU(tokenize=str.split)
    sums = of_polars.sums(SYSTEMS, metrics=own)
    assert Sums.from_bytes(sums.to_bytes(), own).score() == sums.score()
    with pytest.raises(InputError, match=r"Pass them: Sums\.from_bytes\(data, metrics\)"):
        Sums.from_bytes(sums.to_bytes())
    with pytest.raises(InputError, match="sums with different metrics"):
        Sums.from_bytes(sums.to_bytes(), "bleu")


@pytest.mark.parametrize("engine", [of_polars, of_duckdb], ids=["Polars", "DuckDB"])
def test_systems_are_compared_inside_groups(engine):
    data = SYSTEMS if engine is of_polars else duckdb.from_arrow(SYSTEMS.to_arrow())
    options = {"bucket": ("id", 6), "metrics": ["bleu", "chrf"], "randomizations": 50}
    connection = {} if engine is of_polars else {"connection": duckdb.default_connection()}
    found = engine.compare(data, within="domain", **options, **connection)
    assert list(found) == ["chat", "news"]
    for domain, by_metric in found.items():
        alone = SYSTEMS.filter(pl.col("domain") == domain)
        expected = of_polars.compare(alone, **options)
        for name in ("bleu", "chrf"):
            assert by_metric[name].differences == expected[name].differences
    lacking = SYSTEMS.filter((pl.col("domain") == "chat") | (pl.col("id") > 2))[1:]
    lacking = lacking.filter((pl.col("id") != 4) | (pl.col("system") == "A"))
    with pytest.raises(InputError, match=r"^news: "):
        of_polars.compare(lacking, within="domain", **options)
