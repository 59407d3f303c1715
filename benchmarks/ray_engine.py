"""What truebleu costs on Ray, beside Ray's own cost of handing the same rows to Python.

`python ray_engine.py WORKERS ROUNDS ROWS` starts Ray with so many workers and prints JSON, for
`measure` to read. A round runs each contender once over ROWS rows a worker; what counts is the
processor time of all processes of Ray, those of the driver among them, and the elapsed time.

A worker has one processor: the driver and all that Ray starts are kept to as many as there are
workers. Ray's reader of Parquet decodes in threads of its own, so that one worker would use a
second processor too if that had nothing else to do, and two would have to share it.

What Ray does for a machine of many processors is set for one of few, as docs/engines.md advises.
Starting Ray and its workers is left out (the first round is not counted), and so is the disk: the
files stay in memory. What each job does before it counts, such as reading footers, is in.
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
from measure import process, python_with, tree_clock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BLOCK = 125_000
"""Rows of a block in memory, which is what one task counts, and of a file: 27 MB of text."""

ROWS = 8_000_000
"""Rows a worker: of Parquet files, some six seconds of its time."""

SMALL = {
    # Ray starts so many processes to read footers, 32 by default, for each job.
    "RAY_DATA_PARQUET_FOOTER_NUM_ACTORS": "{workers}",
    # Bytes of Parquet that a task reads, 128 MiB by default: few tasks end at different times.
    "RAY_DATA_PARQUET_BIN_PACKING_BYTES": str(32 * 2**20),
    "RAY_USAGE_STATS_ENABLED": "0",
}
"""Ray's settings for a machine of few processors."""

CONTENDERS = ("kernel", "memory, rows", "memory, stats", "parquet, rows", "parquet, stats")


def measure(rounds: int, rows: int = ROWS) -> tuple[dict[str, Any], dict[str, Any]]:
    """What `main` found with one worker and with two, in fresh Pythons that take turns."""
    found: dict[int, list[dict[str, Any]]] = {1: [], 2: []}
    for workers in (1, 2, 2, 1):  # what else the machine does may grow or shrink meanwhile
        command = (str(python_with("ray")), __file__, *map(str, (workers, rounds, rows)))
        settings = {name: value.format(workers=workers) for name, value in SMALL.items()}
        report = process(command, **settings)
        found[workers].append(json.loads(report.output.splitlines()[-1]))
    return _figures(found[1]), _figures(found[2])


def _figures(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The medians of each contender: nanoseconds of processor time per row, rows per second."""
    rows = found[0]["rows"]
    figures: dict[str, Any] = {name: found[0][name] for name in ("rows", "workers", "processors")}
    for name in CONTENDERS:
        processor, elapsed = (
            [seconds for each in found for seconds in each[name][kind]]
            for kind in ("processor", "elapsed")
        )
        figures[name] = {
            "nanoseconds_a_row": statistics.median(processor) / rows * 1e9,
            "rows_a_second": rows / statistics.median(elapsed),
            "elapsed": elapsed,
        }
    figures["load_before_and_after"] = [each["load_before_and_after"] for each in found]
    return figures


def main(workers: int, rounds: int, rows: int) -> None:
    """Measure in this process, and print what was found."""
    import ray
    import ray.data

    from truebleu.engines import Sums
    from truebleu.engines import ray as engine

    load = os.getloadavg()[0]
    processors = _keep_to(workers)
    tables, files = _blocks()
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    # It shares processors out among the steps of a dataset, and of two it leaves one idle.
    context.op_resource_reservation_enabled = False
    ray.init(num_cpus=workers, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    count = -(-rows * workers // BLOCK)
    blocks = [ray.put(table) for table in tables]
    sources = {
        "memory": lambda: ray.data.from_arrow_refs([blocks[i % len(blocks)] for i in range(count)]),
        "parquet": lambda: ray.data.read_parquet(str(_folder(files, count))),
    }

    def passed(source: str) -> int:
        """Every block is given to Python, which looks at nothing."""
        counted = sources[source]().map_batches(
            _number, batch_format="pyarrow", batch_size=None, zero_copy_batch=True
        )
        return sum(sum(batch["rows"]) for batch in counted.iter_batches(batch_size=None))

    def share(first: int) -> int:
        sums = Sums("bleu")
        for number in range(first, count, workers):
            sums.update(tables[number % len(tables)])
        return sums.segments

    def kernel() -> int:
        """Without Ray, in a thread a worker."""
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
    with tree_clock() as processor_seconds:
        for number in range(rounds + 1):
            for name, work in works.items():
                processor, start = processor_seconds(), time.perf_counter()
                counted = work()
                elapsed = time.perf_counter() - start
                processor = processor_seconds() - processor
                if counted != count * BLOCK:
                    raise SystemExit(f"{counted} rows, expected {count * BLOCK}")
                if number:  # The first round starts workers and reads files for the first time.
                    figures[name]["processor"].append(round(processor, 3))
                    figures[name]["elapsed"].append(round(elapsed, 3))
    figures["load_before_and_after"] = [round(load, 2), round(os.getloadavg()[0], 2)]
    ray.shutdown()
    print(json.dumps(figures))


def _keep_to(workers: int) -> int | None:
    """Keep this process, and all that it starts, to a processor a worker; how many they are."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:workers])
    return len(os.sched_getaffinity(0))


def _number(table: Any) -> dict[str, list[int]]:
    return {"rows": [table.num_rows]}


def _folder(files: list[Path], count: int) -> Path:
    """A folder of so many files, the same ones over and over.

    Ray looks at several paths with several threads, and they disturb each other's imports if
    aiohttp is not installed.
    """
    folder = files[0].parent / str(count)
    folder.mkdir(exist_ok=True)
    for number in range(count):
        path = folder / f"{number:04}.parquet"
        if not path.exists():
            os.link(files[number % len(files)], path)
    return folder


def _blocks() -> tuple[list[Any], list[Path]]:
    """A million rows as eight tables, and as eight Parquet files of the same."""
    import pyarrow.parquet as pq

    folder = corpus.CACHE / "ray"
    corpus.parquet(folder, 8 * BLOCK, 8)
    files = sorted(folder.glob("*.parquet"))
    return [pq.read_table(path, columns=["hyp", "ref"]) for path in files], files


if __name__ == "__main__":
    import sys

    main(*map(int, sys.argv[1:]))
