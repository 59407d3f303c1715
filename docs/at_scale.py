"""Build the page docs/at-scale.md: the cost and the statistics of billions of rows.

The costs are estimated from benchmarks/results.json, which has measurements on fewer rows.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

from calibration import BUCKET_TESTS, RESULTS
from page_helpers import fill_template

from truebleu import BLEU
from truebleu.engines import Sums

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks" / "results.json"
SEGMENTS = 1_000_000_000
SYSTEMS = 100
PARTITION = 128 << 20
"""Bytes of text per partition: Spark's default for uncompressed files."""

FILES = "1 M pairs, two files, "
RAY = "BLEU on Ray Data, "
WARM = "all processes, after warm-up"


def build_page() -> str:
    """Return the page docs/at-scale.md."""
    results = json.loads(BENCHMARKS.read_text(encoding="utf-8"))
    rows = results["rows"]
    bytes_per_segment = _find_row(rows, f"{FILES}private")["figures"]["input_bytes"] / 1e6
    two_workers = f"{RAY}2 workers with twice the rows, against 1, "
    peaks = {
        engine: _find_row(rows, f"Parquet, 8 M rows, {engine}, peak")["figures"]
        for engine in ("DuckDB", "Polars, file by file", "Polars")
    }
    return fill_template(
        "at-scale",
        systems=SYSTEMS,
        segments=SEGMENTS,
        text=bytes_per_segment * SEGMENTS,
        partition=PARTITION,
        bytes_per_segment=bytes_per_segment,
        machine=results["machine"],
        costs=_list_costs(rows),
        spark_speedup=_find_row(rows, "Spark, 2 executors")["ratio"],
        ray_blocks_speedup=_find_row(rows, f"{two_workers}bl")["ratio"],
        ray_parquet_speedup=_find_row(rows, f"{two_workers}Parquet")["ratio"],
        row_bytes=_measure_state_bytes(),
        peaks=peaks,
        buckets=json.loads(RESULTS["buckets"].read_text(encoding="utf-8")),
        BUCKET_TESTS=BUCKET_TESTS,
    )


def _find_row(rows: list[dict[str, Any]], work: str) -> dict[str, Any]:
    """Return the first measured benchmark whose work starts with this text.

    Spark and Ray may not be installed, so their rows may be missing.
    """
    for row in rows:
        if row["work"].startswith(work) and row["figures"]:
            return row
    if work.startswith(("Spark", RAY)):
        return {"figures": {}, "ratio": "(not measured)"}
    raise LookupError(f"{BENCHMARKS}: no measured row {work!r}. Run make bench.")


def _list_costs(rows: list[dict[str, Any]]) -> list[tuple[str, int, float]]:
    """Return kinds of work, each with the number of measured rows and the nanoseconds per row."""
    million, sample = 10**6, 20_000
    costs = []
    for name, count, work, contender in (
        ("BLEU, lines of text", million, f"{FILES}whole process", "truebleu"),
        ("chrF, lines of text", million, f"chrF, {FILES}whole process", "truebleu"),
        ("BLEU, Parquet, DuckDB", million, "Parquet, 1 M rows, DuckDB", "truebleu"),
        ("BLEU, Parquet, Polars", million, "Parquet, 1 M rows, Polars", "truebleu"),
        ("BLEU, lists of strings, sacreBLEU", sample, f"{FILES}whole process", "sacrebleu"),
    ):
        seconds = _find_row(rows, work)["figures"][contender]["processor_seconds"]
        costs.append((name, count, 1e9 * median(seconds) / count))
    for name, work in (("Spark", "Spark, "), ("Ray Data", f"{RAY}warm")):
        figures = [row["figures"] for row in rows if row["work"].startswith(work)]
        if figures := [each for each in figures if "nanoseconds_a_row" in each]:
            cost = figures[-1]["nanoseconds_a_row"]
            costs.insert(-1, (f"BLEU, Parquet, {name} ({WARM})", figures[-1]["rows"], cost))
    return costs


def _measure_state_bytes() -> float:
    """Return the number of bytes that a state table needs per group in Arrow's layout."""
    import pyarrow as pa

    names = [f"system {number:03}" for number in range(SYSTEMS)]
    text = ["a b c d"] * SYSTEMS
    table = pa.table({"system": names, "hyp": text, "ref": text})
    return pa.table(Sums((BLEU(),), by="system").update(table)).nbytes / SYSTEMS
