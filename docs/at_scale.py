"""Build the page docs/at-scale.md: the cost and the statistics of billions of rows.

The costs are estimated from benchmarks/results.json, which has measurements on fewer rows.
"""

from __future__ import annotations

import json
from math import sqrt
from pathlib import Path
from statistics import median

from calibration import BUCKET_TESTS, RESULTS
from page_helpers import fill_template, format_table

from truebleu import BLEU
from truebleu.engines import Sums

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks" / "results.json"
SEGMENTS = 1_000_000_000
SYSTEMS = 100
PARTITION = 128 << 20
"""Bytes of text per partition: Spark's default for uncompressed files."""

FILES = "1 M pairs, two files, "
RAY = "BLEU on Ray Data, "


def build_page() -> str:
    """Return the page docs/at-scale.md."""
    results = json.loads(BENCHMARKS.read_text(encoding="utf-8"))
    rows = results["rows"]
    machine = results["machine"]
    bytes_a_segment = _find_row(rows, f"{FILES}private")["figures"]["input_bytes"] / 1e6
    text = bytes_a_segment * SEGMENTS
    partitions = -(-text // PARTITION)
    row_bytes = _measure_state_bytes()
    return fill_template(
        "at-scale",
        systems=SYSTEMS,
        segments_of_system=SEGMENTS // SYSTEMS,
        segments=SEGMENTS,
        text_gigabytes=text / 1e9,
        bytes_a_segment=bytes_a_segment,
        machine=f"{machine['processor']}, {machine['python']}",
        costs=_format_costs(rows),
        spark_speedup=_find_speedup(rows, "Spark, 2 executors"),
        ray_blocks_speedup=_find_speedup(
            rows, f"{RAY}2 workers with twice the rows, against 1, bl"
        ),
        ray_parquet_speedup=_find_speedup(
            rows, f"{RAY}2 workers with twice the rows, against 1, Parquet"
        ),
        partitions=partitions,
        states=partitions * SYSTEMS,
        row_bytes=row_bytes,
        sums_megabytes=partitions * SYSTEMS * row_bytes / 1e6,
        groups_kilobytes=SYSTEMS * row_bytes / 1e3,
        buckets_megabytes=SYSTEMS * 1000 * row_bytes / 1e6,
        duckdb_peak=_format_peak_memory(rows, "DuckDB"),
        polars_peak=_format_peak_memory(rows, "Polars, file by file"),
        polars_scan_peak=_format_peak_memory(rows, "Polars, peak"),
        # A token and the following space have about six bytes, and a pair has two texts.
        largest=text / 2 / 6,
        **_summarize_buckets(),
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


def _find_speedup(rows: list[dict[str, Any]], work: str) -> str:
    """Return the throughput of two workers relative to one worker, such as "1.87"."""
    return str(_find_row(rows, work)["ratio"]).removesuffix(" ×")


def _format_costs(rows: list[dict[str, Any]]) -> str:
    """Return the table of the costs per row, each extrapolated to a billion rows."""
    files = _find_row(rows, f"{FILES}whole process")["figures"]
    parquet = _find_row(rows, "Parquet, 1 M rows")["figures"]
    spark, ray = _find_row(rows, "Spark, "), _find_row(rows, f"{RAY}warm")["figures"]
    chrf = _find_row(rows, f"chrF, {FILES}whole process")["figures"]
    million = 10**6
    measured: list[tuple[str, int, float]] = [
        ("BLEU, lines of text", million, _compute_nanoseconds(files["truebleu"], million)),
        ("chrF, lines of text", million, _compute_nanoseconds(chrf["truebleu"], million)),
        ("BLEU, Parquet, DuckDB", million, _compute_nanoseconds(parquet["duckdb"], million)),
        ("BLEU, Parquet, Polars", million, _compute_nanoseconds(parquet["polars"], million)),
    ]
    after_warm_up = "all processes, after warm-up"
    if spark["figures"]:
        count = int(spark["work"].split()[1]) * million
        cost = median(spark["figures"]["runs"]["stats"])
        measured.append((f"BLEU, Parquet, Spark ({after_warm_up})", count, cost))
    if ray:
        workers = ray["2 workers"]
        cost = workers["parquet, stats"]["nanoseconds_a_row"]
        measured.append((f"BLEU, Parquet, Ray Data ({after_warm_up})", workers["rows"], cost))
    cost = _compute_nanoseconds(files["sacrebleu, sample"], 20_000)
    measured.append(("BLEU, lists of strings, sacreBLEU", 20_000, cost))
    header = ["work", "rows measured", "processor time per row", "hours per billion rows"]
    cells = [
        (work, f"{count:,}", f"{cost:,.0f} ns", f"{cost * SEGMENTS / 1e9 / 3600:.2f}")
        for work, count, cost in measured
    ]
    return format_table(header, cells)


def _compute_nanoseconds(costs: dict[str, list[float]], row_count: int) -> float:
    return median(costs["processor_seconds"]) * 1e9 / row_count


def _format_peak_memory(rows: list[dict[str, Any]], engine: str) -> str:
    figures = _find_row(rows, f"Parquet, 8 M rows, {engine}")["figures"]
    eight, one = (figures[name] / 2**20 for name in ("peak_bytes", "peak_bytes_of_1_M"))
    return f"{eight:.0f} MiB for 8 million rows and {one:.0f} MiB for 1 million"


def _measure_state_bytes() -> float:
    """Return the number of bytes that a state table needs per group in Arrow's layout."""
    import pyarrow as pa

    sums = Sums((BLEU(),), by="system")
    names = [f"system {number:03}" for number in range(SYSTEMS)]
    text = ["a b c d"] * SYSTEMS
    sums.update(pa.table({"system": names, "hyp": text, "ref": text}))
    return pa.table(sums).nbytes / SYSTEMS


def _summarize_buckets() -> dict[str, object]:
    """Return the template's values about the calibration of tests of hash buckets."""
    result = json.loads(RESULTS["buckets"].read_text(encoding="utf-8"))
    trials, levels = result["null_trials"], result["levels"]
    rows = []
    for count in result["buckets"]:
        widths, rejections = result["widths"][str(count)], result["rejections"][str(count)]
        ratios = [f"{mean:.3f} ± {deviation:.3f}" for mean, deviation in widths.values()]
        shares = [f"{100 * n / trials:.1f}%" for test in BUCKET_TESTS for n in rejections[test]]
        rows.append((f"{count:,}", *ratios, f"{1 / sqrt(2 * count):.3f}", *shares))
    header = [
        *("buckets", "standard error of a difference (ratio)", "interval width (ratio)"),
        "1 / √(2B)",
        *(f"`{test}` at {100 * level:.0f}%" for test in BUCKET_TESTS for level in levels),
    ]
    return {
        "pool": result["pool"],
        "pairs": ", ".join(result["pairs"]),
        "result_systems": " and ".join(result["systems"]),
        "width_trials": result["width_trials"],
        "trials": trials,
        "test_segments": result["segments"],
        "level": 100 * levels[0],
        "level_error": 100 * sqrt(levels[0] * (1 - levels[0]) / trials),
        "buckets": format_table(header, rows, left_aligned=0),
    }
