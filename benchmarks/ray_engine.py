"""Cost of truebleu on Ray, against Ray's cost of passing the same rows to Python.

`python ray_engine.py WORKERS ROUNDS ROWS` starts Ray with WORKERS workers and prints JSON, which
`measure` reads. A round runs each contender once over ROWS rows per worker. It measures the
processor time of all Ray processes, the driver's included, and the elapsed time.

A worker has one processor: the driver and all Ray processes together may use one processor per
worker. Ray's Parquet reader decodes in extra threads. Without the limit, one worker would also use
a second, idle processor, while two workers would have to share it.

Ray's defaults for machines with many processors are lowered, as docs/engines.md advises.
The time to start Ray and its workers is excluded, because the first round is not counted. So is
disk time, because the files stay in memory. The preparation of each job, such as reading footers,
is included.
"""

from __future__ import annotations

import json
import logging
import os
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import corpus
from measure import find_python, run_process, start_tree_clock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BLOCK = 125_000
"""Number of rows of a block in memory, which one task counts, and of a file: 27 MB of text."""

ROWS = 8_000_000
"""Number of rows per worker; with Parquet files, about six seconds of its time."""

SMALL = {
    # Number of processes that Ray starts per job to read footers; the default is 32.
    "RAY_DATA_PARQUET_FOOTER_NUM_ACTORS": "{workers}",
    # Parquet bytes per task (default: 128 MiB). With only a few tasks, workers would end unevenly.
    "RAY_DATA_PARQUET_BIN_PACKING_BYTES": str(32 * 2**20),
    "RAY_USAGE_STATS_ENABLED": "0",
}
"""Ray's settings for a machine with few processors."""

CONTENDERS = ("kernel", "memory, rows", "memory, stats", "parquet, rows", "parquet, stats")


def measure_workers(rounds: int, rows: int = ROWS) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the results with one and with two workers, in processes that take turns."""
    results_by_workers: dict[int, list[dict[str, Any]]] = {1: [], 2: []}
    for workers in (1, 2, 2, 1):  # balances slow changes of the load
        command = (str(find_python("ray")), __file__, *map(str, (workers, rounds, rows)))
        settings = {name: value.format(workers=workers) for name, value in SMALL.items()}
        report = run_process(command, **settings)
        results_by_workers[workers].append(json.loads(report.output.splitlines()[-1]))
    return _compute_medians(results_by_workers[1]), _compute_medians(results_by_workers[2])


def _compute_medians(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Return each contender's median times per row, and its median throughput."""
    rows = results[0]["rows"]
    figures: dict[str, Any] = {name: results[0][name] for name in ("rows", "workers", "processors")}
    for name in CONTENDERS:
        processor, elapsed = (
            [seconds for each in results for seconds in each[name][kind]]
            for kind in ("processor", "elapsed")
        )
        figures[name] = {
            "nanoseconds_a_row": statistics.median(processor) / rows * 1e9,
            "rows_a_second": rows / statistics.median(elapsed),
            "elapsed": elapsed,
        }
    figures["load_before_and_after"] = [each["load_before_and_after"] for each in results]
    return figures


def main(workers: int, rounds: int, rows: int) -> None:
    """Measure in this process, and print the results."""
    import ray
    import ray.data

    from truebleu.engines import Sums
    from truebleu.engines import ray as engine

    load = os.getloadavg()[0]
    processors = _limit_processors(workers)
    tables, files = _load_blocks()
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    # Ray reserves processors for each step of a dataset, which leaves one of two processors idle.
    context.op_resource_reservation_enabled = False
    ray.init(num_cpus=workers, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    count = -(-rows * workers // BLOCK)
    blocks = [ray.put(table) for table in tables]
    sources = {
        "memory": lambda: ray.data.from_arrow_refs([blocks[i % len(blocks)] for i in range(count)]),
        "parquet": lambda: ray.data.read_parquet(str(_make_data_folder(files, count))),
    }

    def passed(source: str) -> int:
        """Pass every block to Python, and return only the number of rows."""
        row_counts = sources[source]().map_batches(
            _count_table_rows, batch_format="pyarrow", batch_size=None, zero_copy_batch=True
        )
        return sum(sum(batch["rows"]) for batch in row_counts.iter_batches(batch_size=None))

    def share(first: int) -> int:
        sums = Sums("bleu")
        for number in range(first, count, workers):
            sums.update(tables[number % len(tables)])
        return sums.segments

    def kernel() -> int:
        """Count the rows without Ray, with one thread per worker."""
        with ThreadPoolExecutor(workers) as pool:
            return sum(pool.map(share, range(workers)))

    works: dict[str, Callable[[], int]] = {
        "kernel": kernel,
        "memory, rows": lambda: passed("memory"),
        "memory, stats": lambda: engine.sums(sources["memory"]()).segments,
        "parquet, rows": lambda: passed("parquet"),
        "parquet, stats": lambda: engine.sums(sources["parquet"]()).segments,
    }
    figures: dict[str, Any] = {
        "rows": count * BLOCK,
        "workers": workers,
        "processors": processors,
        **{name: {"processor": [], "elapsed": []} for name in works},
    }
    with start_tree_clock() as processor_seconds:
        for number in range(rounds + 1):
            for name, work in works.items():
                processor, start = processor_seconds(), time.perf_counter()
                row_count = work()
                elapsed = time.perf_counter() - start
                processor = processor_seconds() - processor
                if row_count != count * BLOCK:
                    raise SystemExit(f"{row_count} rows, expected {count * BLOCK}")
                if number:  # The first round starts workers and reads files for the first time.
                    figures[name]["processor"].append(round(processor, 3))
                    figures[name]["elapsed"].append(round(elapsed, 3))
    figures["load_before_and_after"] = [round(load, 2), round(os.getloadavg()[0], 2)]
    ray.shutdown()
    print(json.dumps(figures))


def _limit_processors(workers: int) -> int | None:
    """Limit this process and its children to one processor per worker; return the number used."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:workers])
    return len(os.sched_getaffinity(0))


def _count_table_rows(table: Any) -> dict[str, list[int]]:
    return {"rows": [table.num_rows]}


def _make_data_folder(files: list[Path], count: int) -> Path:
    """Return a folder with `count` links to the files, in turn.

    A list of paths does not work: Ray would inspect the paths in several threads, which disturb
    each other's imports if aiohttp is not installed.
    """
    folder = files[0].parent / str(count)
    folder.mkdir(exist_ok=True)
    for number in range(count):
        path = folder / f"{number:04}.parquet"
        if not path.exists():
            os.link(files[number % len(files)], path)
    return folder


def _load_blocks() -> tuple[list[Any], list[Path]]:
    """Return a million rows as eight tables, and the eight Parquet files with the same rows."""
    import pyarrow.parquet as pq

    folder = corpus.CACHE / "ray"
    corpus.write_parquet(folder, 8 * BLOCK, 8)
    files = sorted(folder.glob("*.parquet"))
    return [pq.read_table(path, columns=["hyp", "ref"]) for path in files], files


if __name__ == "__main__":
    import sys

    main(*map(int, sys.argv[1:]))
