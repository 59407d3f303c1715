"""Benchmarks of DuckDB, Polars, Spark, Ray and Arrow tables."""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

import corpus
from benchmark_table import (
    MEBIBYTE,
    PEER_SAMPLE,
    Comparison,
    Row,
    benchmark,
    check_agreement,
    format_seconds,
    make_score_job,
)
from bleu_rows import IDLE_ENOUGH
from measure import find_python, make_job, run_in_turn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOPIC = "Tables and engines"
FILES = 8
TIMES = 8
ENGINES = {"duckdb": "DuckDB", "polars": "Polars", "polars by file": "Polars, file by file"}

# Groupings of a table's rows: string layout, columns, buckets, description.
GROUPINGS: tuple[tuple[str, tuple[str, ...], int, str], ...] = (
    ("string", (), 0, "no groups"),
    ("string", ("system",), 0, "8 groups"),
    ("large_string", ("system",), 0, "8 groups, large_string"),
    ("string_view", ("system",), 0, "8 groups, string_view"),
    ("dictionary", ("system",), 0, "8 groups, dictionary"),
    ("string", ("system",), 1000, "8 groups × 1,000 buckets"),
    ("string", ("id",), 0, "125,000 groups"),
)

RAY_ROWS = 8_000_000
"""Number of rows per worker; with Parquet files, about six seconds of its time."""
SPARK_ROWS = 4_000_000
SPARK_FEW_ROWS = 125_000
"""Few rows with many groups, for which Spark's work per partition dominates."""


@benchmark(TOPIC)
def tables(runs: int) -> Iterator[Comparison | Row]:
    """Score Parquet files of 1 M and 8 M rows with DuckDB and Polars; measure time and memory."""
    if sys.platform != "linux":
        yield Row("Parquet", "kernel + ≤ 0.7 µs per row", "not measured: needs Linux's /proc")
        return
    million, eight_million = _write_tables()
    rows = corpus.load_million().segments
    kernel_job = make_job("score_table", "kernel", million)
    kernel = run_in_turn(runs, {"kernel": kernel_job})["kernel"]
    nanoseconds = 1e9 * kernel.processor / rows
    peer_job = make_job("score_parquet_by_sacrebleu", PEER_SAMPLE, million)
    for name, title in ENGINES.items():
        one, eight = (make_job("score_table", name, each) for each in (million, eight_million))
        yield Comparison(
            f"Parquet, 1 M rows, {title}",
            one,
            "pyarrow and sacreBLEU",
            peer_job,
            units=(1, PEER_SAMPLE / rows),
            tolerance=None,
            suffixes=("", f" ({PEER_SAMPLE:,} rows, linear)"),
        )
        costs = run_in_turn(runs, {"1 M": one, "8 M": eight})
        check_agreement(title, kernel.result, costs["1 M"].result)
        small_peak, peak = (cost.peak for cost in costs.values())
        beyond = [
            1e9 * cost.processor / count / rows - nanoseconds
            for cost, count in zip(costs.values(), (1, TIMES), strict=True)
        ]
        yield Row(
            f"Parquet, 8 M rows, {title}, beyond the kernel",
            "≤ 700 ns per row",
            f"{beyond[1]:.0f} ns per row ({beyond[0]:.0f} at 1 M)",
            f"kernel {nanoseconds:.0f} ns per row",
            met=max(beyond) <= 700,
            figures={**costs, "kernel": kernel},
        )
        yield Row(
            f"Parquet, 8 M rows, {title}, peak resident memory",
            "≤ 400 MiB, flat from 1 M",
            f"{peak / MEBIBYTE:.0f} MiB ({small_peak / MEBIBYTE:.0f} MiB at 1 M)",
            met=peak <= min(400 * MEBIBYTE, 1.25 * small_peak),
            figures={"peak_bytes": peak, "peak_bytes_of_1_M": small_peak},
            note=f"{title} reads ahead and frees memory late; file by file, memory is constant.",
        )


def _write_tables() -> tuple[Path, Path]:
    """Return folders with 1 M and 8 M rows; the second contains eight links to each file."""
    one_million, eight_million = (
        corpus.CACHE / name for name in ("table-million", "table-eight-million")
    )
    corpus.write_parquet(one_million, corpus.load_million().segments, FILES)
    if not eight_million.exists():
        eight_million.mkdir()
        for path in one_million.iterdir():
            for copy_number in range(TIMES):
                os.link(path, eight_million / f"{path.stem}-{copy_number}.parquet")
    return one_million, eight_million


@benchmark(TOPIC)
def engine_core(runs: int) -> Iterator[Row]:
    """Compute sums over 1 M rows in memory; measure the time in addition to metric.score."""
    million = corpus.load_million()
    jobs = {"score": make_score_job(million.files, source="arrow")}
    for layout, by, bucket, name in GROUPINGS:
        jobs[name] = make_job("sum_groups", layout, by, bucket, *million.files)
    costs = run_in_turn(runs, jobs)
    base = costs.pop("score")
    for name, cost in costs.items():
        check_agreement(f"Sums ({name})", base.result, cost.result)
        beyond = 1e9 * (cost.processor - base.processor) / million.segments
        yield Row(
            f"Sums, 1 M rows in Arrow, {name}: beyond metric.score",
            "≤ 200 ns per row",
            f"{beyond:.0f} ns per row",
            f"metric.score {format_seconds(base.processor / million.segments)} per row",
            f"{cost.processor / base.processor:.2f} ×",
            beyond <= 200,
            {"sums": cost, "score": base},
        )


@benchmark(TOPIC)
def ray(runs: int) -> Iterator[Row]:
    """Compute BLEU on Ray Data; compare with Ray's own cost, and two workers with one."""
    python = find_python("ray")
    if python is None:
        yield Row("BLEU on Ray Data", "", "not measured: needs Ray (make engines)")
        return
    results: dict[int, list[Any]] = {1: [], 2: []}
    for workers in (1, 2, 2, 1):  # balances slow changes of the load
        job = make_job(
            "cluster_jobs.measure_ray",
            workers,
            max(1, runs // 2),
            RAY_ROWS,
            python=python,
            # Ray's defaults for machines with many processors are lowered, as docs/engines.md
            # advises: processes per job that read footers (32), and Parquet bytes per task
            # (128 MiB). With only a few tasks, workers would end unevenly.
            RAY_DATA_PARQUET_FOOTER_NUM_ACTORS=str(workers),
            RAY_DATA_PARQUET_BIN_PACKING_BYTES=str(32 * MEBIBYTE),
            RAY_USAGE_STATS_ENABLED="0",
        )
        results[workers].append(json.loads(job().output))

    def compute_median(workers: int, name: str, kind: str) -> float:
        """Return the median seconds per row."""
        each = results[workers]
        seconds = [one for result in each for one in result["seconds"][name][kind]]
        return float(median(seconds) / each[0]["rows"])

    per_row = partial(compute_median, 2, kind="processor")
    speed_up = {
        name: compute_median(1, name, "elapsed") / compute_median(2, name, "elapsed")
        for name in results[1][0]["seconds"]
    }
    kernel = 1e9 * per_row("kernel")
    for source, title in (("memory", "blocks in memory"), ("parquet", "Parquet files")):
        stats, rows = (1e9 * per_row(f"{source}, {name}") for name in ("stats", "rows"))
        yield Row(
            f"BLEU on Ray Data, warm, beyond the kernel, processor time of all processes, {title}",
            "",
            f"{stats - kernel:.0f} ns per row",
            f"only rows to Python: {rows:.0f} ns per row (kernel: {kernel:.0f})",
            f"{(stats - kernel) / rows:.2f} ×",
            figures={"rows": results[2][0]["rows"], "nanoseconds_a_row": stats},
        )
        ratio, rate = speed_up[f"{source}, stats"], compute_median(2, f"{source}, stats", "elapsed")
        yield Row(
            f"BLEU on Ray Data, 2 workers with twice the rows, against 1, {title}",
            "≥ 1.7 ×",
            f"{1e-6 / rate:.2f} M rows/s",
            f"the kernel alone in 2 threads, against 1: {speed_up['kernel']:.2f} ×",
            f"{ratio:.2f} ×",
            ratio >= 1.7,
            {"1 worker": results[1], "2 workers": results[2]},
        )


@benchmark(TOPIC)
def spark(runs: int) -> Iterator[Row]:
    """Measure the cost of Spark in addition to the kernel; compare two executors with one."""
    python = find_python("pyspark")
    if python is None:
        yield Row("Spark", "", "not measured: needs Spark (make engines)")
        return

    def measure(name: str, *arguments: int) -> Any:
        job = make_job(
            f"cluster_jobs.measure_spark_{name}",
            *arguments,
            runs,
            python=python,
            PYSPARK_PYTHON=str(python),
        )
        return json.loads(job().output)

    cost = measure("overhead", SPARK_ROWS)
    transfer, stats, kernel = (
        1e9 * median(cost[name]["processor"]) / SPARK_ROWS
        for name in ("transfer", "stats", "kernel")
    )
    yield Row(
        f"Spark, {SPARK_ROWS // 1_000_000} M rows, sums by system, beyond the kernel, per row",
        "≤ 1.3 × moving the rows to Python",
        f"{stats - kernel:.0f} ns",
        f"moving {transfer:.0f} ns (kernel {kernel:.0f} ns)",
        f"{(stats - kernel) / transfer:.2f} ×",
        stats - kernel <= 1.3 * transfer,
        {**cost, "rows": SPARK_ROWS, "nanoseconds_a_row": stats},
    )
    cost = measure("groups", SPARK_FEW_ROWS)
    sums, scores = (median(cost[name]["processor"]) for name in ("sums", "score"))
    yield Row(
        f"Spark's defaults, {SPARK_FEW_ROWS:,} rows, scores of 71 groups",
        "≤ 1.3 × sums",
        format_seconds(scores),
        f"sums {format_seconds(sums)}; 200 partitions of a shuffle",
        f"{scores / sums:.2f} ×",
        scores <= 1.3 * sums,
        cost,
    )
    one, two = costs = [measure("scaling", executors, SPARK_ROWS) for executors in (1, 2)]
    one_seconds, two_seconds = (median(each["stats"]["elapsed"]) for each in costs)
    alone = [median(each["kernel"]["elapsed"]) for each in costs]
    possible, ratio = 2 * alone[0] / alone[1], 2 * one_seconds / two_seconds
    yield Row(
        "Spark, 2 executors of one core each for twice the rows, elapsed",
        "≥ 1.7 × the rows per second",
        format_seconds(two_seconds),
        f"1 executor {format_seconds(one_seconds)}; "
        f"2 processes of the kernel at once reach {possible:.2f} ×",
        f"{ratio:.2f} ×",
        None if possible < IDLE_ENOUGH and ratio < 1.7 else ratio >= 1.7,
        {"1 executor": one, "2 executors": two},
    )
