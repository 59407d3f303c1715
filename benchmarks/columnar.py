"""Rows on tables: Parquet files by DuckDB and Polars, beside the kernel alone and Python's loop.

The million pairs of `corpus.million` are written once to eight Parquet files, of columns id,
system, hyp and ref. Eight million rows are the same files under eight names each.
"""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from typing import TYPE_CHECKING

import corpus
from measure import Costs, in_turn, job
from rows import MEBIBYTE, PEER_SAMPLE, Row, benchmark

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILES = 8
TIMES = 8
ENGINES = {
    "duckdb": "DuckDB",
    "polars": "Polars",
    "polars by file": "Polars, file by file",
}


@benchmark
def tables(runs: int) -> Iterator[Row]:
    """BLEU of Parquet files of 1 M and 8 M rows by DuckDB and Polars: time and memory."""
    if sys.platform != "linux":
        yield Row("Parquet", "kernel + ≤ 0.7 µs per row", "not measured: needs Linux's /proc")
        return
    million, eight_million = parquet()
    runs = min(runs, 3)
    contenders = {name: partial(job, "score_table", name, million) for name in ENGINES}
    costs = in_turn(runs, {"kernel": partial(job, "score_table_in_memory", million), **contenders})
    sample = in_turn(1, {"pyarrow": partial(job, "sacrebleu_parquet", PEER_SAMPLE, million)})
    rows = corpus.million().segments
    score = json.loads(costs["kernel"].output)[0]
    for name, title in ENGINES.items():
        value, _ = json.loads(costs[name].output)
        if value != score:
            raise SystemExit(f"benchmarks: {title} gave {value}, and the kernel {score}")
        own, kernel = costs[name].processor, costs["kernel"].processor
        beyond = (own - kernel) / rows * 1e6
        peer = sample["pyarrow"].processor * rows / PEER_SAMPLE
        yield Row(
            f"Parquet, 1 M rows, {title}",
            "kernel + ≤ 0.7 µs per row",
            f"kernel + {beyond:.2f} µs per row",
            f"kernel {kernel / rows * 1e6:.2f} µs per row, in memory; pyarrow and sacreBLEU "
            f"{peer:.0f} s ({PEER_SAMPLE:,} rows, linear)",
            f"{peer / own:.0f} × faster",
            beyond <= 0.7,
            {**costs, **sample},
        )
        eight = in_turn(runs, {name: partial(job, "score_table", name, eight_million)})
        rss, peak = (_peak(each[name]) for each in (costs, eight))
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
            else f"{title} reads ahead and frees memory late; file by file it stays flat "
            "(docs/engines.md)",
        )


def _peak(costs: Costs) -> int:
    """The largest of all runs."""
    return max(int(json.loads(run.output)[1]) for run in costs.runs)


def parquet() -> tuple[Path, Path]:
    """The folders of 1 M and 8 M rows."""
    text = corpus.million()
    one, eight = (corpus.CACHE / name for name in ("table-million", "table-eight-million"))
    if not one.exists():
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = [list(corpus.read_lines(path)) for path in text.files]
        unfinished = one.with_suffix(".part")
        unfinished.mkdir(parents=True, exist_ok=True)
        each = text.segments // FILES
        for number in range(FILES):
            chosen = slice(number * each, (number + 1) * each)
            ids = range(text.segments)[chosen]
            table = pa.table(
                {
                    "id": pa.array(ids, pa.int64()),
                    "system": [f"system {i % 8}" for i in ids],
                    "hyp": columns[0][chosen],
                    "ref": columns[1][chosen],
                }
            )
            pq.write_table(table, unfinished / f"{number}.parquet", compression="zstd")
        unfinished.rename(one)
    if not eight.exists():
        eight.mkdir()
        for number in range(FILES):
            for again in range(TIMES):
                os.link(one / f"{number}.parquet", eight / f"{number}-{again}.parquet")
    return one, eight
