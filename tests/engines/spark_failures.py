"""A cluster of two executors that fail in the middle of jobs: `python spark_failures.py [hosts]`.

Prints one line of JSON per kind of failure: the events, and whether the sums are byte-identical to
the sums of one machine. On a slow machine the failure may not occur as planned (for example, the
killed executor had not counted anything); the job is then repeated a few times. The executors are
separate processes with one core each. They find the package through
`spark.executorEnv.PYTHONPATH`, as clusters find it through their list of libraries.

With `hosts` the executors appear to be on two machines, 127.0.0.1 and 127.0.0.2 (Linux answers on
both): Spark copies a slow task only to another machine.

`python spark_failures.py stream` kills the driver of two streams in the middle of a batch, and
restarts it. It prints one line of JSON with the batches that ran and whether the sums are right.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path

from truebleu.engines import spark
from truebleu.engines.aggregates import Sums

ROOT = Path(__file__).resolve().parents[2]
PARTITIONS = 8
STUCK_SECONDS = 120
"""Duration of a stuck task, unless Spark kills it because a copy was faster."""
ATTEMPTS = 3
START_SECONDS = 300
"""Time limit for starting a cluster, or for restarting an executor."""


SUMS_OPTIONS = {"by": "system", "metrics": ["bleu", "chrf"]}


def main(*arguments: str) -> None:
    if "stream" in arguments:
        run_killed_streams(*arguments[1:])
        return
    table, options = make_rows(), SUMS_OPTIONS
    expected = Sums(**options).update(table)
    with ExitStack() as stack:
        hosts = "hosts" in arguments
        master = stack.enter_context(run_two_host_cluster()) if hosts else "local-cluster[2,1,1024]"
        session = start_cluster(master)
        stack.callback(session.stop)
        frame = session.createDataFrame(table).repartition(PARTITIONS)
        for fail, has_happened in (ON_TWO_HOSTS if hosts else ON_ONE_HOST).items():
            start, same = time.monotonic(), []
            while len(same) < ATTEMPTS:
                wait_for_two_executors(session)
                folder = stack.enter_context(tempfile.TemporaryDirectory())
                sums = fail(frame, options, folder)
                same.append(sums.to_bytes() == expected.to_bytes())
                seen = count_events(folder)
                if has_happened(seen):
                    break
            report = {
                "failure": fail.__name__,
                "equal": all(same),
                "happened": has_happened(seen),
                "attempts": len(same),
                "segments": sums.segments,
                **seen,
                "seconds": round(time.monotonic() - start, 1),
            }
            sys.stdout.write(json.dumps(report) + "\n")
            sys.stdout.flush()


def count_events(folder: str) -> dict[str, int]:
    """Count the events that the saboteur recorded: tasks, and the outcome of the sabotaged task."""
    seen = [path.name.split() for path in Path(folder).iterdir()]
    begun, done, struck = (
        [event[1:] for event in seen if event[0] == kind] for kind in ("begun", "done", "struck")
    )
    victims = {partition for *_, partition in struck}
    return {
        "struck": len(struck),
        "struck ended": sum(task in done for task in struck),
        "struck begun": sum(partition in victims for *_, partition in begun),
        "partitions": len({partition for *_, partition in begun}),
        "tasks begun": len(begun),
        "tasks done": len(done),
        "executors": len({executor for executor, *_ in begun}),
    }


def wait_for_two_executors(session) -> None:
    """Wait until both executors run, because one may have been killed or not started."""
    deadline = time.monotonic() + START_SECONDS
    # The list includes the driver.
    while session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() != 3:
        if time.monotonic() > deadline:
            raise SystemExit(f"there are not two executors after {START_SECONDS} seconds")
        time.sleep(0.2)


def start_cluster(master: str):
    from pyspark.sql import SparkSession

    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    session = (
        SparkSession.builder.master(master)
        .config("spark.executorEnv.PYTHONPATH", path)
        .config("spark.executor.memory", "1g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "100")
        # Slow executors must not count as dead; dead ones close their connection.
        .config("spark.network.timeout", "1200s")
        .config("spark.python.authenticate.socketTimeout", "300s")
        # Spark starts a copy of a task when half of the other tasks are done.
        .config("spark.speculation", "true")
        .config("spark.speculation.interval", "100ms")
        .config("spark.speculation.quantile", "0.5")
        .config("spark.speculation.multiplier", "2")
        .config("spark.speculation.minTaskRuntime", "1s")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    return session


@contextmanager
def run_two_host_cluster():
    """Run a standalone cluster: a master, and a worker at each of two addresses."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"spark://127.0.0.1:{port}"
    home = Path(find_spec("pyspark").origin).parent
    processes = []
    with tempfile.TemporaryDirectory() as folder:

        def start(name: str, host: str, *arguments: str) -> None:
            command = [home / "bin" / "spark-class", f"org.apache.spark.deploy.{name}"]
            processes.append(
                subprocess.Popen(
                    [*command, "--host", host, "--webui-port", "0", *arguments],
                    env={**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": host},
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )

        try:
            start("master.Master", "127.0.0.1", "--port", str(port))
            wait_for_port(port, processes[0])
            for host in ("127.0.0.1", "127.0.0.2"):
                limits = ("--cores", "1", "--memory", "1g", "--work-dir", f"{folder}/{host}")
                start("worker.Worker", host, *limits, url)
            yield url
        finally:
            for process in reversed(processes):
                process.terminate()
            for process in processes:
                process.wait()


def wait_for_port(port: int, process: subprocess.Popen) -> None:
    """Wait for the master's port: workers that start earlier retry for only a minute."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=10).close()
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("Spark's master does not start") from None
            time.sleep(0.2)
        else:
            return


def make_rows():
    """Create several thousand rows of the example systems, mixed in every partition."""
    import pyarrow as pa

    folder = ROOT / "examples" / "de-en"
    lines = {path.stem: path.read_text("utf-8").splitlines() for path in folder.glob("*.en")}
    references = [lines["reference.a"], lines["reference.b"]]
    data = [
        (system, hyp, list(refs))
        for _ in range(4000 // (3 * len(references[0])) + 1)
        for system in ("aspen", "birch", "cedar")
        for hyp, *refs in zip(lines[system], *references, strict=True)
    ]
    columns = dict(zip(("system", "hyp", "ref"), zip(*data, strict=True), strict=True))
    return pa.table(columns)


# ---- failures of streams ----

FILES = 4


def run_killed_streams(folder: str = "", doomed: str = "") -> None:
    """Run this script three times on a folder and kill it twice; with a folder, run the streams."""
    if folder:
        run_streams(Path(folder), doomed)
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        table = make_rows()
        step = len(table) // FILES + 1
        for number in range(FILES):
            (Path(folder) / "rows").mkdir(exist_ok=True)
            path = Path(folder) / "rows" / f"{number}.parquet"
            pq.write_table(table.slice(number * step, step), path)
            os.utime(path, (number, number))  # a stream takes the oldest first
        command = [sys.executable, __file__, "stream", folder]
        codes = [
            subprocess.run([*command, doomed], stdout=subprocess.DEVNULL, check=False).returncode
            for doomed in ("batch 1", "latest 2", "nothing")
        ]
        expected = Sums(**SUMS_OPTIONS).update(table)
        batch_states = pq.read_table(Path(folder) / "batches")
        latest_states = json.loads((Path(folder) / "latest.json").read_text("utf-8"))
        latest_states = pa.Table.from_pylist(
            list(latest_states.values()), pa.table(expected).schema
        )
        report = {
            "codes": codes,
            "batches": (Path(folder) / "log").read_text("utf-8").splitlines(),
            "batch sums": Sums(**SUMS_OPTIONS).merge_state(batch_states).to_bytes()
            == expected.to_bytes(),
            "latest sums": Sums(**SUMS_OPTIONS).merge_state(latest_states).to_bytes()
            == expected.to_bytes(),
        }
        sys.stdout.write(json.dumps(report) + "\n")


def run_streams(folder: Path, doomed: str) -> None:
    """Write the sums of each batch by its number, and the latest sums of all batches."""
    session = start_cluster("local[2]")
    stream = (
        session.readStream.schema("system string, hyp string, ref array<string>")
        .option("maxFilesPerTrigger", 1)
        .parquet(str(folder / "rows"))
    )

    def log_written(name: str, number: int) -> None:
        """Log a written batch. If the process is killed here, Spark repeats the batch."""
        with (folder / "log").open("a") as log:
            log.write(f"{name} {number}\n")
        if doomed == f"{name} {number}":
            os.kill(session.sparkContext._gateway.proc.pid, signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGKILL)

    def write_batch_states(batch, number):
        states = spark.stats(batch, **SUMS_OPTIONS)
        states.write.mode("overwrite").parquet(str(folder / "batches" / f"batch={number}"))
        log_written("batch", number)

    def update_latest_states(batch, number):
        path = folder / "latest.json"
        states = json.loads(path.read_text("utf-8")) if path.exists() else {}
        for row in batch.toArrow().to_pylist():
            states[f"{row['system']} {row['fingerprint']}"] = row
        path.with_suffix(".part").write_text(json.dumps(states), "utf-8")
        path.with_suffix(".part").rename(path)
        log_written("latest", number)

    for data, mode, call in (
        (stream, "append", write_batch_states),
        (spark.stats(stream, **SUMS_OPTIONS), "update", update_latest_states),
    ):
        writer = data.writeStream.outputMode(mode).foreachBatch(call).trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(folder / f"of {call.__name__}")).start()
        query.awaitTermination()
    session.stop()


# ---- failures of jobs ----


def nothing(frame, options, folder):
    return spark.sums(frame.mapInArrow(make_saboteur(folder, "none"), frame.schema), **options)


def python_worker_killed(frame, options, folder):
    return spark.sums(frame.mapInArrow(make_saboteur(folder, "python"), frame.schema), **options)


def executor_killed(frame, options, folder):
    return spark.sums(frame.mapInArrow(make_saboteur(folder, "executor"), frame.schema), **options)


def executor_killed_after_counting(frame, options, folder):
    """Kill an executor whose sums are then lost, and counted again elsewhere."""
    watched_frame = frame.mapInArrow(make_saboteur(folder, "none"), frame.schema)
    states = spark.stats(watched_frame, **options)
    states = states.mapInArrow(make_saboteur(folder, "executor", watched=False), states.schema)
    return Sums(**options).merge_state(states.toArrow())


def task_copied(frame, options, folder):
    """Let a task hang, so that Spark runs a copy and uses the first result."""
    return spark.sums(frame.mapInArrow(make_saboteur(folder, "stuck"), frame.schema), **options)


def was_repeated(seen) -> bool:
    """Return whether the sabotaged task failed, and another task processed its partition."""
    return seen["struck"] == 1 and not seen["struck ended"] and seen["struck begun"] > 1


# Failures, with conditions on the events that show whether the failure occurred.
ON_ONE_HOST = {
    nothing: lambda seen: seen["struck"] == 0,
    python_worker_killed: was_repeated,
    executor_killed: lambda seen: was_repeated(seen) and seen["executors"] > 1,
    # Lost sums were counted again.
    executor_killed_after_counting: lambda seen: (
        seen["struck"] == 1 and seen["tasks done"] > seen["partitions"]
    ),
}
ON_TWO_HOSTS = {task_copied: was_repeated}


def make_saboteur(folder: str, kind: str, *, watched: bool = True):
    """Return a function that passes rows through, where one task fails once.

    The task fails at its second batch or at the end. The function is pickled by value. It records
    events as names of files in `folder`: "begun EXECUTOR ID PARTITION", "done EXECUTOR ID
    PARTITION", and "struck EXECUTOR ID PARTITION" for the task that creates the file "first".
    """
    seconds = STUCK_SECONDS

    def run(batches):
        import os
        import signal
        import time
        from pathlib import Path

        from pyspark import TaskContext

        # Python worker <- daemon <- executor
        executor = int(Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[1])
        task = f"{executor} {os.getpid()}-{time.monotonic_ns()} {TaskContext.get().partitionId()}"

        def mark(name: str) -> None:
            Path(folder, name).touch(exist_ok=False)

        def strike() -> None:
            if kind == "none":
                return
            try:
                Path(folder, "first").touch(exist_ok=False)
            except FileExistsError:
                return
            mark(f"struck {task}")
            if kind == "python":
                os.kill(os.getpid(), signal.SIGKILL)
            if kind == "executor":
                os.kill(executor, signal.SIGKILL)
            time.sleep(seconds)

        if watched:
            mark(f"begun {task}")
        seen = 0
        for batch in batches:
            seen += 1
            if seen == 2:
                strike()
            yield batch
        if seen:
            strike()
        if watched:
            mark(f"done {task}")

    return run


if __name__ == "__main__":
    main(*sys.argv[1:])
