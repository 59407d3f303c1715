"""Benchmarks of DuckDB, Polars, Spark, Ray, Arrow tables, and Node."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import corpus
import ray_engine
import spark_engine
from benchmark_table import (
    MEBIBYTE,
    PEER_SAMPLE,
    Row,
    benchmark,
    check_agreement,
    compare_times,
    format_seconds,
)
from bleu_rows import IDLE_ENOUGH
from measure import Cost, Costs, find_python, run_in_turn, run_job, run_process

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = 8
TIMES = 8
ENGINES = {"duckdb": "DuckDB", "polars": "Polars", "polars by file": "Polars, file by file"}

# Groupings of a table's rows: string layout, columns, buckets, description.
GROUPINGS = (
    ("string", "", 0, "no groups"),
    ("string", "system", 0, "8 groups"),
    ("large_string", "system", 0, "8 groups, large_string"),
    ("string_view", "system", 0, "8 groups, string_view"),
    ("dictionary", "system", 0, "8 groups, dictionary"),
    ("string", "system", 1000, "8 groups × 1,000 buckets"),
    ("string", "id", 0, "125,000 groups"),
)

NPM_PEER = "bleu-score@1.0.4"
HERE = Path(__file__).parent


@benchmark
def tables(runs: int) -> Iterator[Row]:
    """Score Parquet files of 1 M and 8 M rows with DuckDB and Polars; measure time and memory."""
    if sys.platform != "linux":
        yield Row("Parquet", "kernel + ≤ 0.7 µs per row", "not measured: needs Linux's /proc")
        return
    million, eight_million = _write_tables()
    runs = min(runs, 3)
    costs = run_in_turn(
        runs,
        {"kernel": partial(run_job, "score_table_in_memory", million)}
        | {name: partial(run_job, "score_table", name, million) for name in ENGINES},
    )
    sample = run_in_turn(
        1, {"pyarrow": partial(run_job, "score_parquet_by_sacrebleu", PEER_SAMPLE, million)}
    )
    rows = corpus.load_million().segments
    peer = sample["pyarrow"].processor * rows / PEER_SAMPLE
    score, _ = json.loads(costs["kernel"].output)
    for name, title in ENGINES.items():
        value, _ = json.loads(costs[name].output)
        if value != score:
            raise SystemExit(f"benchmarks: {title} returned {value}, the kernel returned {score}")
        own_seconds, kernel = costs[name].processor, costs["kernel"].processor
        beyond = (own_seconds - kernel) / rows * 1e6
        yield compare_times(
            f"Parquet, 1 M rows, {title}",
            own_seconds,
            "pyarrow and sacreBLEU",
            peer,
            target="kernel + ≤ 0.7 µs per row",
            measured=f"kernel + {beyond:.2f} µs per row",
            about=f" ({PEER_SAMPLE:,} rows, linear); "
            f"kernel {format_seconds(kernel / rows)} per row",
            met=beyond <= 0.7,
            figures={**costs, **sample},
        )
        eight = run_in_turn(runs, {name: partial(run_job, "score_table", name, eight_million)})
        rss, peak = (
            max(int(json.loads(run.output)[1]) for run in each[name].runs)
            for each in (costs, eight)
        )
        beyond = (eight[name].processor / TIMES - kernel) / rows * 1e6
        flat = peak <= 1.25 * rss
        yield Row(
            f"Parquet, 8 M rows, {title}, peak resident memory",
            "≤ 400 MiB, flat from 1 M",
            f"{peak / MEBIBYTE:.0f} MiB ({rss / MEBIBYTE:.0f} MiB at 1 M); "
            f"kernel + {beyond:.2f} µs per row",
            met=peak <= 400 * MEBIBYTE and flat and beyond <= 0.7,
            figures={**eight, "peak_bytes": peak, "peak_bytes_of_1_M": rss},
            note=""
            if flat
            else f"{title} reads ahead and frees memory late; file by file, memory is constant",
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


@benchmark
def engine_core(runs: int) -> Iterator[Row]:
    """Compute sums over 1 M rows in memory; measure the time in addition to metric.score."""
    million = corpus.load_million()
    costs = run_in_turn(
        runs,
        {"score": partial(run_job, "score_in_memory", "arrow", "BLEU", "{}", *million.files)}
        | {
            name: partial(run_job, "sum_groups", layout, by, buckets, *million.files)
            for layout, by, buckets, name in GROUPINGS
        },
    )
    base = costs.pop("score")
    for name, cost in costs.items():
        check_agreement(f"Sums ({name})", base, cost)
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


@benchmark
def ray(runs: int) -> Iterator[Row]:
    """Compute BLEU on Ray Data; compare with Ray's own cost, and two workers with one."""
    work = "BLEU on Ray Data, warm, beyond the kernel, processor time of all processes"
    scaling = "BLEU on Ray Data, 2 workers with twice the rows, against 1"
    if find_python("ray") is None:
        for name, target in ((work, ""), (scaling, "≥ 1.7 ×")):
            yield Row(name, target, "not measured: needs Ray (make engines)")
        return
    one_worker, two_workers = ray_engine.measure_workers(max(1, min(runs, 5) // 2))
    kernel = two_workers["kernel"]["nanoseconds_a_row"]
    for source, source_name in (("memory", "blocks in memory"), ("parquet", "Parquet files")):
        statistics_cost, transfer_cost = (
            two_workers[f"{source}, {name}"]["nanoseconds_a_row"] for name in ("stats", "rows")
        )
        yield Row(
            f"{work}, {source_name}",
            "",
            f"{statistics_cost - kernel:.0f} ns per row",
            f"only rows to Python: {transfer_cost:.0f} ns per row (kernel: {kernel:.0f})",
            f"{(statistics_cost - kernel) / transfer_cost:.2f} ×",
            figures={"2 workers": two_workers},
        )
        first, second = (
            found[f"{source}, stats"]["rows_a_second"] for found in (one_worker, two_workers)
        )
        possible = two_workers["kernel"]["rows_a_second"] / one_worker["kernel"]["rows_a_second"]
        load = [found["load_before_and_after"] for found in (one_worker, two_workers)]
        yield Row(
            f"{scaling}, {source_name}",
            "≥ 1.7 ×",
            f"{second / 1e6:.2f} M rows/s",
            f"1 worker: {first / 1e6:.2f} M rows/s; the kernel alone in 2 threads, "
            f"against 1: {possible:.2f} ×",
            f"{second / first:.2f} ×",
            second >= 1.7 * first,
            {"1 worker": one_worker, "2 workers": two_workers},
            f"load average before and after: 1 worker {load[0]}, 2 workers {load[1]}",
        )


@benchmark
def spark(runs: int) -> Iterator[Row]:
    """Measure the cost of Spark in addition to the kernel; compare two executors with one."""
    number, few_rows = spark_engine.ROWS, spark_engine.FEW_ROWS
    beyond = f"Spark, {number // 1_000_000} M rows, sums by system, beyond the kernel, per row"
    weak = "Spark, 2 executors of one core each for twice the rows, elapsed"
    groups = f"Spark's defaults, {few_rows:,} rows, scores of {spark_engine.GROUPS} groups"
    if find_python("pyspark") is None:
        for work in (beyond, groups, weak):
            yield Row(work, "", "not measured: needs Spark (make engines)")
        return
    cost = spark_engine.measure_in_spark("measure_overhead", number, runs)
    transfer, stats, kernel = (cost["median"][name] for name in ("transfer", "stats", "kernel"))
    yield Row(
        beyond,
        "≤ 1.3 × moving the rows to Python",
        f"{stats - kernel:.0f} ns",
        f"moving {transfer:.0f} ns (kernel {kernel:.0f} ns)",
        f"{(stats - kernel) / transfer:.2f} ×",
        stats - kernel <= 1.3 * transfer,
        cost,
    )
    cost = spark_engine.measure_in_spark("measure_groups", few_rows, runs)
    sums, scores = (cost["median"][name] for name in ("sums", "score"))
    note = f"; {cost['partitions']} partitions of a shuffle"
    yield compare_times(groups, scores, "sums", sums, max_ratio=1.3, about=note, figures=cost)
    cost = spark_engine.measure_in_spark("measure_scaling", number, runs)
    one_executor, two_executors = (cost["median"][f"executors {count}"] for count in (1, 2))
    possible = 2 * cost["median"]["alone 1"] / cost["median"]["alone 2"]
    yield Row(
        weak,
        "≥ 1.7 × the rows per second",
        format_seconds(two_executors),
        f"1 executor {format_seconds(one_executor)}; "
        f"2 processes of the kernel at once reach {possible:.2f} ×",
        f"{2 * one_executor / two_executors:.2f} ×",
        None
        if possible < IDLE_ENOUGH and 2 * one_executor < 1.7 * two_executors
        else 2 * one_executor >= 1.7 * two_executors,
        cost,
    )


@benchmark
def javascript(runs: int) -> Iterator[Row]:
    """Score a test set under Node with the npm package; compare with npm's bleu-score."""
    text = corpus.load_test_set()
    work = f"{text.segments:,} segments of text, Node, one warm process"
    folder = _install_node_packages()
    if folder is None:
        yield Row(work, "compared with bleu-score", "not measured: needs Node, npm and bleu-score")
        return
    script = shutil.copyfile(HERE / "packed.mjs", folder / "packed.mjs")
    printed = run_process(("node", str(script), str(runs), *map(str, text.files))).output
    results, costs = (json.loads(printed)[name] for name in ("results", "costs"))
    for own_score, peer_score in zip(results["segments"], results["bleu-score"], strict=True):
        if not math.isclose(own_score, peer_score, rel_tol=1e-9, abs_tol=1e-9):
            raise SystemExit(
                f"benchmarks: bleu-score returned {peer_score}, truebleu returned {own_score}"
            )
    figures = {
        name: Costs(tuple(Cost(run["processor"], run["elapsed"]) for run in each))
        for name, each in costs.items()
    }
    for name, title in {
        "segments": "each segment's BLEU, tokens as they stand",
        "score": "corpus BLEU, tokens as they stand",
        "score 13a": "corpus BLEU, 13a",
    }.items():
        yield compare_times(
            f"{work}: {title}, elapsed",
            figures[name].elapsed,
            "bleu-score",
            figures["bleu-score"].elapsed,
            figures=figures if name == "segments" else {},
            note="the peer only scores segments, with one reference and without a tokenizer",
        )


def _install_node_packages() -> Path | None:
    """Return a folder with the package and its peer, or None if they cannot be installed."""
    if not shutil.which("npm"):
        return None
    build = [sys.executable, str(HERE.parent / "npm" / "build.py")]
    if subprocess.run(build, check=False, stdout=subprocess.DEVNULL).returncode:
        return None
    [packed] = (HERE.parent / "build" / "npm").glob("truebleu-*.tgz")
    folder = HERE.parent / "build" / "bench-npm"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private": true, "type": "module"}', encoding="utf-8")
    install = ["npm", "install", "--no-save", "--no-audit", "--no-fund", str(packed), NPM_PEER]
    done = subprocess.run(install, check=False, cwd=folder, stdout=subprocess.DEVNULL)
    return None if done.returncode else folder
