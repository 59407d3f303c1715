"""The rows of what runs where the data is: DuckDB, Polars, Spark, Ray, Arrow tables, and Node."""

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
from benchmark_table import MEBIBYTE, PEER_SAMPLE, Row, agree, benchmark, beside, shown
from bleu_rows import IDLE_ENOUGH
from measure import Cost, Costs, in_turn, job, process, python_with

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = 8
TIMES = 8
ENGINES = {"duckdb": "DuckDB", "polars": "Polars", "polars by file": "Polars, file by file"}

# What the rows of a table are grouped by: layout of strings, columns, buckets, and what it is.
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
    """BLEU of Parquet files of 1 M and 8 M rows by DuckDB and Polars: time and memory."""
    if sys.platform != "linux":
        yield Row("Parquet", "kernel + ≤ 0.7 µs per row", "not measured: needs Linux's /proc")
        return
    million, eight_million = _parquet()
    runs = min(runs, 3)
    costs = in_turn(
        runs,
        {"kernel": partial(job, "score_table_in_memory", million)}
        | {name: partial(job, "score_table", name, million) for name in ENGINES},
    )
    sample = in_turn(1, {"pyarrow": partial(job, "sacrebleu_parquet", PEER_SAMPLE, million)})
    rows = corpus.million().segments
    peer = sample["pyarrow"].processor * rows / PEER_SAMPLE
    score, _ = json.loads(costs["kernel"].output)
    for name, title in ENGINES.items():
        value, _ = json.loads(costs[name].output)
        if value != score:
            raise SystemExit(f"benchmarks: {title} gave {value}, and the kernel {score}")
        own, kernel = costs[name].processor, costs["kernel"].processor
        beyond = (own - kernel) / rows * 1e6
        yield beside(
            f"Parquet, 1 M rows, {title}",
            own,
            "pyarrow and sacreBLEU",
            peer,
            target="kernel + ≤ 0.7 µs per row",
            measured=f"kernel + {beyond:.2f} µs per row",
            about=f" ({PEER_SAMPLE:,} rows, linear); kernel {shown(kernel / rows)} per row",
            met=beyond <= 0.7,
            figures={**costs, **sample},
        )
        eight = in_turn(runs, {name: partial(job, "score_table", name, eight_million)})
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
            else f"{title} reads ahead and frees memory late; file by file it stays flat",
        )


def _parquet() -> tuple[Path, Path]:
    """The folders of 1 M and 8 M rows: eight files, and the same under eight names each."""
    one, eight = (corpus.CACHE / name for name in ("table-million", "table-eight-million"))
    corpus.parquet(one, corpus.million().segments, FILES)
    if not eight.exists():
        eight.mkdir()
        for path in one.iterdir():
            for again in range(TIMES):
                os.link(path, eight / f"{path.stem}-{again}.parquet")
    return one, eight


@benchmark
def engine_core(runs: int) -> Iterator[Row]:
    """Sums over 1 M rows of a table in memory, beyond what metric.score takes for the same."""
    million = corpus.million()
    costs = in_turn(
        runs,
        {"score": partial(job, "score_in_memory", "arrow", "BLEU", "{}", *million.files)}
        | {
            name: partial(job, "sums", layout, by, buckets, *million.files)
            for layout, by, buckets, name in GROUPINGS
        },
    )
    base = costs.pop("score")
    for name, cost in costs.items():
        agree(f"Sums ({name})", base, cost)
        beyond = 1e9 * (cost.processor - base.processor) / million.segments
        yield Row(
            f"Sums, 1 M rows in Arrow, {name}: beyond metric.score",
            "≤ 200 ns per row",
            f"{beyond:.0f} ns per row",
            f"metric.score {shown(base.processor / million.segments)} per row",
            f"{cost.processor / base.processor:.2f} ×",
            beyond <= 200,
            {"sums": cost, "score": base},
        )


@benchmark
def ray(runs: int) -> Iterator[Row]:
    """BLEU on Ray Data beside Ray's own cost, and with two workers beside one."""
    work = "BLEU on Ray Data, warm, beyond the kernel, processor time of all processes"
    scaling = "BLEU on Ray Data, 2 workers with twice the rows, against 1"
    if python_with("ray") is None:
        for name, target in ((work, ""), (scaling, "≥ 1.7 ×")):
            yield Row(name, target, "not measured: needs Ray (make engines)")
        return
    one, two = ray_engine.measure(max(1, min(runs, 5) // 2))
    kernel = two["kernel"]["nanoseconds_a_row"]
    for source, what in (("memory", "blocks in memory"), ("parquet", "Parquet files")):
        ours, own = (two[f"{source}, {name}"]["nanoseconds_a_row"] for name in ("stats", "rows"))
        yield Row(
            f"{work}, {what}",
            "",
            f"{ours - kernel:.0f} ns per row",
            f"rows to Python and no more: {own:.0f} ns per row (kernel: {kernel:.0f})",
            f"{(ours - kernel) / own:.2f} ×",
            figures={"2 workers": two},
        )
        first, second = (found[f"{source}, stats"]["rows_a_second"] for found in (one, two))
        possible = two["kernel"]["rows_a_second"] / one["kernel"]["rows_a_second"]
        load = [found["load_before_and_after"] for found in (one, two)]
        yield Row(
            f"{scaling}, {what}",
            "≥ 1.7 ×",
            f"{second / 1e6:.2f} M rows/s",
            f"1 worker: {first / 1e6:.2f} M rows/s; the kernel alone in 2 threads, "
            f"against 1: {possible:.2f} ×",
            f"{second / first:.2f} ×",
            second >= 1.7 * first,
            {"1 worker": one, "2 workers": two},
            f"load average before and after: 1 worker {load[0]}, 2 workers {load[1]}",
        )


@benchmark
def spark(runs: int) -> Iterator[Row]:
    """Spark beyond the kernel, beside its own cost of moving rows; two executors against one."""
    number, few = spark_engine.ROWS, spark_engine.FEW_ROWS
    beyond = f"Spark, {number // 1_000_000} M rows, sums by system, beyond the kernel, per row"
    weak = "Spark, 2 executors of one core each for twice the rows, elapsed"
    groups = f"Spark's defaults, {few:,} rows, scores of {spark_engine.GROUPS} groups"
    if python_with("pyspark") is None:
        for work in (beyond, groups, weak):
            yield Row(work, "", "not measured: needs Spark (make engines)")
        return
    cost = spark_engine.measured("overhead", number, runs)
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
    cost = spark_engine.measured("by_groups", few, runs)
    sums, scores = (cost["median"][name] for name in ("sums", "score"))
    about = f"; {cost['partitions']} partitions of a shuffle"
    yield beside(groups, scores, "sums", sums, most=1.3, about=about, figures=cost)
    cost = spark_engine.measured("scaling", number, runs)
    one, two = (cost["median"][f"executors {count}"] for count in (1, 2))
    possible = 2 * cost["median"]["alone 1"] / cost["median"]["alone 2"]
    yield Row(
        weak,
        "≥ 1.7 × the rows per second",
        shown(two),
        f"1 executor {shown(one)}; 2 processes of the kernel at once reach {possible:.2f} ×",
        f"{2 * one / two:.2f} ×",
        None if possible < IDLE_ENOUGH and 2 * one < 1.7 * two else 2 * one >= 1.7 * two,
        cost,
    )


@benchmark
def javascript(runs: int) -> Iterator[Row]:
    """A test set under Node by the package for npm, beside the npm package bleu-score."""
    text = corpus.test_set()
    work = f"{text.segments:,} segments of text, Node, one warm process"
    folder = _node_packages()
    if folder is None:
        yield Row(work, "beside bleu-score", "not measured: needs Node, npm and bleu-score")
        return
    script = shutil.copyfile(HERE / "packed.mjs", folder / "packed.mjs")
    printed = process(("node", str(script), str(runs), *map(str, text.files))).output
    results, costs = (json.loads(printed)[name] for name in ("results", "costs"))
    for own, other in zip(results["segments"], results["bleu-score"], strict=True):
        if not math.isclose(own, other, rel_tol=1e-9, abs_tol=1e-9):
            raise SystemExit(f"benchmarks: bleu-score gives {other}, truebleu {own}")
    figures = {
        name: Costs(tuple(Cost(run["processor"], run["elapsed"]) for run in each))
        for name, each in costs.items()
    }
    for name, what in {
        "segments": "each segment's BLEU, tokens as they stand",
        "score": "corpus BLEU, tokens as they stand",
        "score 13a": "corpus BLEU, 13a",
    }.items():
        yield beside(
            f"{work}: {what}, elapsed",
            figures[name].elapsed,
            "bleu-score",
            figures["bleu-score"].elapsed,
            figures=figures if name == "segments" else {},
            note="the peer has segments' scores alone, of one reference and without a tokenizer",
        )


def _node_packages() -> Path | None:
    """A folder with the package and its peer; None where they cannot be had."""
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
