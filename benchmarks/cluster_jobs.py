"""Jobs that measure truebleu on Ray and Spark, which have separate environments.

Each job starts the engine, runs its contenders in turn after a warm-up, and returns the seconds of
every run: of the processors for all processes, including the driver, and elapsed. The contenders
include the kernel without the engine, and the engine's own cost of passing the rows to Python.

The time to start an engine and its workers is excluded; so is disk time, because the files stay in
memory. The preparation of each run, such as reading footers, is included.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import corpus
from measure import list_process_tree, time_warm_calls

if TYPE_CHECKING:
    from collections.abc import Callable

SPARK_FILES = 16
GROUPS = 71
BLOCK = 125_000
"""Number of rows of a block in memory, which one task of Ray counts, and of a file: 27 MB."""


# ---- Ray ----


def measure_ray(workers: int, rounds: int, rows: int) -> Callable[[], Any]:
    """Measure over `rows` rows per worker.

    A worker has one processor: the driver and all Ray processes together may use one processor per
    worker. Ray's Parquet reader decodes in extra threads. Without the limit, one worker would also
    use a second, idle processor, while two workers would have to share it.
    """
    import pyarrow.parquet as pq
    import ray
    import ray.data

    from truebleu.engines import Sums
    from truebleu.engines import ray as engine

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:workers])
    files = _write_rows(corpus.CACHE / "ray", 8 * BLOCK, 8)
    tables = [pq.read_table(path, columns=["hyp", "ref"]) for path in files]
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
        "parquet": lambda: ray.data.read_parquet(str(_link_files(files, count))),
    }

    def pass_rows(source: str) -> None:
        """Pass every block to Python, and return only the number of rows."""
        row_counts = sources[source]().map_batches(
            lambda table: {"rows": [table.num_rows]},
            batch_format="pyarrow",
            batch_size=None,
            zero_copy_batch=True,
        )
        batches = row_counts.iter_batches(batch_size=None)
        assert sum(sum(batch["rows"]) for batch in batches) == count * BLOCK

    def count_rows(source: str) -> None:
        assert engine.sums(sources[source]()).segments == count * BLOCK

    def count_share(first: int) -> None:
        sums = Sums("bleu")
        for number in range(first, count, workers):
            sums.update(tables[number % len(tables)])

    def run_kernel() -> None:
        """Count the rows without Ray, with one thread per worker."""
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(count_share, range(workers)))

    contenders: dict[str, Callable[[], None]] = {"kernel": run_kernel}
    for source in sources:
        contenders[f"{source}, rows"] = partial(pass_rows, source)
        contenders[f"{source}, stats"] = partial(count_rows, source)
    return lambda: {"rows": count * BLOCK, "seconds": time_warm_calls(rounds, contenders)}


def _write_rows(folder: Path, rows: int, files: int) -> list[Path]:
    """Return Parquet files of this number of rows, which are written once."""
    corpus.write_parquet(folder, rows, files)
    return sorted(folder.glob("*.parquet"))


def _link_files(files: list[Path], count: int) -> Path:
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


# ---- Spark ----


def measure_spark_overhead(rows: int, runs: int) -> Callable[[], Any]:
    """Measure Spark in addition to the kernel, with one core.

    transfer: Spark passes the rows to Python, which drops them. stats: the rows are summed by
    system. kernel: `Sums` counts the same rows in memory, without Spark.
    """
    # Functions inside of functions reach the workers, which cannot import this module.
    import pyarrow.parquet as pq

    from truebleu.engines import Sums, spark

    folder = _write_spark_rows(rows)
    in_memory = pq.read_table(folder)

    def drop_rows(batches):  # type: ignore[no-untyped-def]
        import pyarrow as pa

        yield pa.record_batch({"n": [sum(batch.num_rows for batch in batches)]})

    frame = _start_session("local[1]").read.parquet(str(folder))
    contenders: dict[str, Callable[[], Any]] = {
        "transfer": lambda: frame.mapInArrow(drop_rows, "n long").collect(),
        "stats": lambda: spark.stats(frame, by="system").collect(),
        "kernel": lambda: Sums("bleu", by="system").update(in_memory),
    }
    return lambda: time_warm_calls(runs, contenders, warm_ups=2)


def measure_spark_groups(rows: int, runs: int) -> Callable[[], Any]:
    """Measure sums and scores of groups, with Spark's default settings.

    Spark shuffles to 200 partitions, so Python work in each partition would dominate the cost.
    """
    from pyspark.sql import functions

    from truebleu.engines import spark

    session = _start_session("local[2]", partitions=200)
    frame = session.read.parquet(str(_write_spark_rows(rows)))
    frame = frame.withColumn("domain", functions.monotonically_increasing_id() % GROUPS)
    contenders: dict[str, Callable[[], Any]] = {
        "sums": lambda: spark.sums(frame, by="domain"),
        "score": lambda: spark.score(frame, by="domain").collect(),
    }
    return lambda: time_warm_calls(runs, contenders, warm_ups=2)


def measure_spark_scaling(executors: int, rows: int, runs: int) -> Callable[[], Any]:
    """Measure this number of rows per executor; each executor has one core.

    kernel: the kernel counts the same number of rows in concurrent processes without Spark, which
    shows how much of the cores is available.
    """
    from truebleu.engines import spark

    folder = str(_write_spark_rows(rows))
    frame = _start_session(f"local-cluster[{executors},1,2048]").read.parquet(*[folder] * executors)
    spark.stats(frame, by="system").collect()
    _pin_executors(executors)

    def count_rows() -> None:
        states = spark.stats(frame, by="system").collect()
        assert sum(row.segments for row in states) == executors * rows

    command = [sys.executable, __file__, folder]

    def run_kernel() -> list[float]:
        running = [
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(executors)
        ]
        return [json.loads(process.communicate()[0]) for process in running]

    return lambda: {
        **time_warm_calls(runs, {"stats": count_rows}),
        "kernel": {"elapsed": [max(run_kernel()) for _ in range(runs)]},
    }


def time_kernel(folder: str) -> float:
    """Return the elapsed seconds for which the kernel counts the rows in memory three times."""
    import pyarrow.parquet as pq

    from truebleu.engines import Sums

    in_memory = pq.read_table(folder)
    start = time.perf_counter()
    for _ in range(3):
        Sums("bleu", by="system").update(in_memory)
    return time.perf_counter() - start


def _write_spark_rows(rows: int) -> Path:
    return _write_rows(corpus.CACHE / f"spark-{rows}", rows, SPARK_FILES)[0].parent


def _start_session(master: str, partitions: int = 4) -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master)
    for name, value in {
        "executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
        "driver.bindAddress": "127.0.0.1",
        "driver.host": "127.0.0.1",
        "driver.memory": "2g",
        "executor.memory": "2g",
        "ui.enabled": "false",
        "ui.showConsoleProgress": "false",
        "sql.files.maxPartitionBytes": "16m",
        "sql.shuffle.partitions": str(partitions),
    }.items():
        builder = builder.config(f"spark.{name}", value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def _pin_executors(executors: int) -> None:
    """Pin each executor and its Python workers to one core."""
    java = [process for process in list_process_tree(os.getpid()) if _is_executor(process)]
    assert len(java) == executors
    for core, executor in zip(sorted(os.sched_getaffinity(0)), java, strict=False):
        for process in list_process_tree(executor):
            for thread in Path(f"/proc/{process}/task").iterdir():
                os.sched_setaffinity(int(thread.name), {core})


def _is_executor(process: int) -> bool:
    command = Path(f"/proc/{process}/cmdline").read_bytes()
    return b"CoarseGrainedExecutorBackend" in command


if __name__ == "__main__":
    print(json.dumps(time_kernel(sys.argv[1])))
