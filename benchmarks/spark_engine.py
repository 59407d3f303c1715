"""Cost of Spark in addition to the kernel, and the gain from a second executor.

Spark has a separate environment (`make engines` creates it), so measurements run in a process of
that environment: `python benchmarks/spark_engine.py NAME ARGUMENT...` prints JSON, and
`benchmark_table.py` turns it into rows.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import corpus
from measure import find_python, list_process_tree, tree_seconds

if TYPE_CHECKING:
    from collections.abc import Callable

FILES = 16
ROWS = 4_000_000
# Few rows and many groups, for which Spark's work per partition dominates.
FEW_ROWS, GROUPS = 125_000, 71


def measure_in_spark(name: str, *arguments: object) -> dict[str, Any]:
    """Run a function of this file in Spark's environment; return its result and the medians."""
    python = str(find_python("pyspark"))
    path = os.pathsep.join([str(corpus.ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [python, __file__, name, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "PYSPARK_PYTHON": python},
    )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    medians = {work: statistics.median(runs) for work, runs in result["runs"].items()}
    return {**result, "median": medians}


# ---- in Spark's environment ----


def measure_overhead(rows: str, runs: str) -> dict[str, Any]:
    """Return the processor time of all processes in nanoseconds per row, after warm-up.

    transfer: Spark passes the rows to Python, which drops them. stats: the rows are summed by
    system. kernel: `Sums` counts the same rows in memory, without Spark.
    """
    import pyarrow.parquet as pq

    from truebleu.engines import spark
    from truebleu.engines.aggregates import Sums

    folder = make_rows_table(int(rows))
    in_memory = pq.read_table(folder)
    session = _start_session("local[1]")
    frame = session.read.parquet(str(folder))
    seconds_by_work = _measure_warm(
        int(runs),
        {
            "transfer": lambda: frame.mapInArrow(_make_dropper(), "n long").collect(),
            "stats": lambda: spark.stats(frame, by="system").collect(),
            "kernel": lambda: Sums("bleu", by="system").update(in_memory),
        },
    )
    session.stop()
    nanoseconds_by_work = {
        name: [1e9 * seconds / int(rows) for seconds in of] for name, of in seconds_by_work.items()
    }
    return {"runs": nanoseconds_by_work, "load": os.getloadavg()[0]}


def measure_groups(rows: str, runs: str) -> dict[str, Any]:
    """Return the processor time for sums and for scores of groups, with Spark's defaults.

    Spark shuffles to 200 partitions, so Python work in each partition would dominate the cost.
    """
    from pyspark.sql import functions

    from truebleu.engines import spark

    session = _start_session("local[2]", partitions=None)
    frame = session.read.parquet(str(make_rows_table(int(rows))))
    frame = frame.withColumn("domain", functions.monotonically_increasing_id() % GROUPS)
    seconds_by_work = _measure_warm(
        int(runs),
        {
            "sums": lambda: spark.sums(frame, by="domain"),
            "score": lambda: spark.score(frame, by="domain").collect(),
        },
    )
    partitions = session.conf.get("spark.sql.shuffle.partitions")
    session.stop()
    return {"runs": seconds_by_work, "partitions": partitions, "load": os.getloadavg()[0]}


def _measure_warm(runs: int, works: dict[str, Callable[[], Any]]) -> dict[str, list[float]]:
    """Return the processor time of each run in seconds, after two runs that warm up Java."""
    seconds_by_work: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(runs + 2):
        for name, work in works.items():
            before = tree_seconds()
            work()
            if turn >= 2:
                seconds_by_work[name].append(tree_seconds() - before)
    return seconds_by_work


def measure_scaling(rows: str, runs: str) -> dict[str, Any]:
    """Measure the same number of rows per executor with one and two executors.

    alone: the kernel counts the same number of rows in one process and in two concurrent processes,
    which shows how much of two cores is available. processor: the processor time of all processes
    in seconds, with one and with two executors.
    """
    from truebleu.engines import spark

    elapsed_by_work: dict[str, list[float]] = {}
    processor: dict[str, list[float]] = {}
    folder = make_rows_table(int(rows))
    for executors in (1, 2):
        session = _start_session(f"local-cluster[{executors},1,2048]")
        frame = session.read.parquet(*[str(folder)] * executors)
        spark.stats(frame, by="system").collect()
        _pin_executors(executors)
        for turn in range(int(runs) + 1):
            start, before = time.perf_counter(), tree_seconds()
            states = spark.stats(frame, by="system").collect()
            if turn:
                name = f"executors {executors}"
                elapsed_by_work.setdefault(name, []).append(time.perf_counter() - start)
                processor.setdefault(name, []).append(tree_seconds() - before)
        assert sum(row.segments for row in states) == executors * int(rows)
        session.stop()
    for processes in (1, 2):
        command = [sys.executable, __file__, "measure_kernel", rows]
        for _ in range(int(runs)):
            running = [
                subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
                for _ in range(processes)
            ]
            took = [json.loads(process.communicate()[0])["elapsed"] for process in running]
            elapsed_by_work.setdefault(f"alone {processes}", []).append(max(took))
    return {"runs": elapsed_by_work, "processor": processor, "load": os.getloadavg()[0]}


def measure_kernel(rows: str) -> dict[str, Any]:
    """Return the elapsed seconds for which the kernel counts the rows in memory three times."""
    import pyarrow.parquet as pq

    from truebleu.engines.aggregates import Sums

    in_memory = pq.read_table(make_rows_table(int(rows)))
    start = time.perf_counter()
    for _ in range(3):
        Sums("bleu", by="system").update(in_memory)
    return {"elapsed": time.perf_counter() - start}


def make_rows_table(rows: int) -> Path:
    """Return Parquet files with system, hypothesis and reference, which are written once."""
    folder = corpus.CACHE / f"spark-{rows}"
    corpus.write_parquet(folder, rows, FILES)
    return folder


def _start_session(master: str, *, partitions: int | None = 4) -> Any:
    from pyspark.sql import SparkSession

    path = os.environ["PYTHONPATH"]
    builder = (
        SparkSession.builder.master(master)
        .config("spark.executorEnv.PYTHONPATH", path)
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "2g")
        .config("spark.executor.memory", "2g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.files.maxPartitionBytes", "16m")
    )
    if partitions is not None:
        builder = builder.config("spark.sql.shuffle.partitions", str(partitions))
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def _make_dropper() -> Any:
    def dropped(batches):  # type: ignore[no-untyped-def]
        import pyarrow as pa

        rows = 0
        for batch in batches:
            rows += batch.num_rows
        yield pa.record_batch({"n": [rows]})

    return dropped


# ---- processes ----


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
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
