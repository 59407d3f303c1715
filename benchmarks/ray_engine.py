"""What truebleu costs on Ray, beside Ray's own cost of handing the same rows to Python.

`python ray_engine.py WORKERS ROUNDS ROWS` starts Ray with so many processors and prints JSON, for
`measure` to read. A round runs each contender once over ROWS rows a worker; what counts is the
processor time of all processes of Ray, those of the driver among them, and the elapsed time.
"""

from __future__ import annotations

import json
import logging
import os
import statistics
import time
from typing import TYPE_CHECKING, Any

import corpus
from measure import process, python_with, tree_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

BLOCK = 125_000
"""Rows of a block, which is what one task counts: about 27 MB of text."""

CONTENDERS = ("kernel", "memory, rows", "memory, stats", "parquet, rows", "parquet, stats")


def measure(workers: int, rounds: int, rows: int) -> dict[str, Any]:
    """The medians of each contender, in a fresh Python: seconds a million rows, rows a second."""
    command = (str(python_with("ray")), __file__, *map(str, (workers, rounds, rows)))
    report = process(command, RAY_USAGE_STATS_ENABLED="0")
    figures: dict[str, Any] = json.loads(report.output.splitlines()[-1])
    return figures


def rows(runs: int) -> Iterator[dict[str, Any]]:
    """What the rows of the table say."""
    work = "BLEU on Ray Data, warm, beyond the kernel, processor time of all processes"
    scaling = "BLEU on Ray Data, 2 workers with twice the rows, against 1"
    if python_with("ray") is None:
        for name, target in ((work, ""), (scaling, "≥ 1.7 ×")):
            yield {
                "work": name,
                "target": target,
                "measured": "not measured: needs Ray (make engines)",
            }
        return
    rounds = min(runs, 5)
    one, two = (measure(workers, rounds, 4_000_000) for workers in (1, 2))
    kernel = two["kernel"]["nanoseconds_a_row"]
    for source, told in (("memory", "blocks in memory"), ("parquet", "Parquet files")):
        ours, own = (two[f"{source}, {name}"]["nanoseconds_a_row"] for name in ("stats", "rows"))
        yield {
            "work": f"{work}, {told}",
            "target": "",
            "measured": f"{ours - kernel:.0f} ns a row",
            "peer": f"rows to Python and no more: {own:.0f} ns a row (kernel: {kernel:.0f})",
            "ratio": f"{(ours - kernel) / own:.2f} ×",
            "figures": {"2 workers": two},
        }
        first, second = (found[f"{source}, stats"]["rows_a_second"] for found in (one, two))
        processor = [found["load_before_and_after"] for found in (one, two)]
        yield {
            "work": f"{scaling}, {told}",
            "target": "≥ 1.7 ×",
            "measured": f"{second / 1e6:.2f} M rows/s",
            "peer": f"1 worker: {first / 1e6:.2f} M rows/s",
            "ratio": f"{second / first:.2f} ×",
            "met": second >= 1.7 * first,
            "figures": {"1 worker": one, "2 workers": two},
            "note": f"load average before and after: {processor[0]}, {processor[1]}",
        }


def main(workers: int, rounds: int, rows: int) -> None:
    """Measure in this process, and print what was found."""
    import ray
    import ray.data

    from truebleu.engines import Sums
    from truebleu.engines import ray as engine

    load = os.getloadavg()[0]
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
        "parquet": lambda: ray.data.read_parquet(
            str(_folder(files, count)), override_num_blocks=count
        ),
    }

    def passed(source: str) -> int:
        """Every block is given to Python, which looks at nothing."""
        counted = sources[source]().map_batches(
            _number, batch_format="pyarrow", batch_size=None, zero_copy_batch=True
        )
        return sum(sum(batch["rows"]) for batch in counted.iter_batches(batch_size=None))

    def kernel() -> int:
        sums = Sums("bleu")
        for number in range(count // workers):
            sums.update(tables[number % len(tables)])
        return sums.segments * workers

    works: dict[str, Callable[[], int]] = {
        "kernel": kernel,
        "memory, rows": lambda: passed("memory"),
        "memory, stats": lambda: engine.stats(sources["memory"]()).segments,
        "parquet, rows": lambda: passed("parquet"),
        "parquet, stats": lambda: engine.stats(sources["parquet"]()).segments,
    }
    costs: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    for number in range(rounds + 1):
        for name, work in works.items():
            cost = _cost(work, count * BLOCK)
            if number:  # The first round starts workers and reads files for the first time.
                costs[name].append(cost)
    figures: dict[str, Any] = {"rows": count * BLOCK, "workers": workers}
    for name, runs in costs.items():
        share = workers if name == "kernel" else 1  # it has counted one worker's rows
        figures[name] = {
            "nanoseconds_a_row": statistics.median(cost * share for cost, _ in runs)
            / (count * BLOCK)
            * 1e9,
            "rows_a_second": count * BLOCK / share / statistics.median(time for _, time in runs),
            "elapsed": [round(time, 3) for _, time in runs],
        }
    figures["load_before_and_after"] = [round(load, 2), round(os.getloadavg()[0], 2)]
    ray.shutdown()
    print(json.dumps(figures))


def _number(table: Any) -> dict[str, list[int]]:
    return {"rows": [table.num_rows]}


def _cost(work: Callable[[], int], rows: int) -> tuple[float, float]:
    """Seconds of processor time of this process and those below it, and elapsed."""
    processor, start = tree_seconds(), time.perf_counter()
    counted = work()
    elapsed = time.perf_counter() - start
    if counted != rows:
        raise SystemExit(f"{counted} rows where {rows} are meant")
    return tree_seconds() - processor, elapsed


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
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = corpus.million()
    columns = [pa.array(list(corpus.read_lines(path))) for path in text.files]
    table = pa.table(dict(zip(("hyp", "ref"), columns, strict=True)))
    tables = [table.slice(first, BLOCK) for first in range(0, len(table), BLOCK)]
    folder = corpus.CACHE / "ray"
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{number}.parquet" for number in range(len(tables))]
    for path, part in zip(files, tables, strict=True):
        if not path.exists():
            pq.write_table(part, path)
    return tables, files


if __name__ == "__main__":
    import sys

    main(*map(int, sys.argv[1:]))
