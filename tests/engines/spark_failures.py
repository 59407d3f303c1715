"""A cluster of two executors that fail in the middle of jobs: `python spark_failures.py [hosts]`.

Prints a line of JSON for each way to fail: what happened, and whether the table of sums is that of
one machine, byte for byte. The executors are processes of their own, with one core each, that get
the package by `spark.executorEnv.PYTHONPATH`, as a cluster gets it by its list of libraries.

With `hosts` they seem to be on two machines, 127.0.0.1 and 127.0.0.2 (Linux answers to both):
Spark copies a slow task to another machine only.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path

from truebleu.engines import spark
from truebleu.engines.sums import Sums

ROOT = Path(__file__).resolve().parents[2]
PARTITIONS = 8
STUCK_SECONDS = 60
"""So long a task is stuck, unless it is killed because a copy of it was faster."""


def main(*arguments: str) -> None:
    table = rows()
    whole = {"by": "system", "metrics": ["bleu", "chrf"]}
    expected = Sums(**whole).update(table)
    with ExitStack() as stack:
        hosts = "hosts" in arguments
        master = stack.enter_context(two_hosts()) if hosts else "local-cluster[2,1,1024]"
        session = cluster(master)
        stack.callback(session.stop)
        frame = session.createDataFrame(table).repartition(PARTITIONS)
        for happen in ON_TWO_HOSTS if hosts else ON_ONE_HOST:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            start = time.monotonic()
            found = happen(frame, whole, folder)
            events = [path.name.split() for path in Path(folder).iterdir()]
            report = {
                "failure": happen.__name__,
                "same": found.to_bytes() == expected.to_bytes(),
                "segments": found.segments,
                "tasks begun": sum(event[0] == "begun" for event in events),
                "tasks done": sum(event[0] == "done" for event in events),
                "executors": len({event[1] for event in events if event[0] == "begun"}),
                "struck": ["struck"] in events,
                "seconds": round(time.monotonic() - start, 1),
            }
            sys.stdout.write(json.dumps(report) + "\n")
            sys.stdout.flush()


def cluster(master: str):
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
        # A copy of a task is started when half of the others are done.
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
def two_hosts():
    """A standalone cluster: a master, and a worker at each of two addresses."""
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
            for host in ("127.0.0.1", "127.0.0.2"):
                limits = ("--cores", "1", "--memory", "1g", "--work-dir", f"{folder}/{host}")
                start("worker.Worker", host, *limits, url)
            yield url
        finally:
            for process in reversed(processes):
                process.terminate()
            for process in processes:
                process.wait()


def rows():
    """Some thousand rows of the example systems, in an order in which every partition has all."""
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


# ---- what can happen to a job ----


def nothing(frame, whole, folder):
    return spark.sums(frame.mapInArrow(saboteur(folder, "nobody"), frame.schema), **whole)


def python_worker_killed(frame, whole, folder):
    return spark.sums(frame.mapInArrow(saboteur(folder, "python"), frame.schema), **whole)


def executor_killed(frame, whole, folder):
    return spark.sums(frame.mapInArrow(saboteur(folder, "executor"), frame.schema), **whole)


def executor_killed_after_counting(frame, whole, folder):
    """The sums that it had counted are lost with it, and are counted again elsewhere."""
    watched = frame.mapInArrow(saboteur(folder, "nobody"), frame.schema)
    states = spark.stats(watched, **whole)
    states = states.mapInArrow(saboteur(folder, "executor", watched=False), states.schema)
    return Sums(**whole).merge_state(states.toArrow())


def task_copied(frame, whole, folder):
    """A task that is stuck is run a second time beside it, and the first to end counts."""
    return spark.sums(frame.mapInArrow(saboteur(folder, "stuck"), frame.schema), **whole)


ON_ONE_HOST = (nothing, python_worker_killed, executor_killed, executor_killed_after_counting)
ON_TWO_HOSTS = (task_copied,)


def saboteur(folder: str, kind: str, *, watched: bool = True):
    """Passes rows on; one task of all strikes, once, when it comes to its second batch or the end.

    It is pickled by value, with all that it uses. What happened is left in `folder` as names of
    files: "begun EXECUTOR ID", "done EXECUTOR ID", "struck".
    """
    seconds = STUCK_SECONDS

    def run(batches):
        import os
        import signal
        import time
        from pathlib import Path

        # Python worker <- daemon <- executor
        executor = int(Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[1])
        task = f"{executor} {os.getpid()}-{time.monotonic_ns()}"

        def mark(name: str) -> bool:
            try:
                os.close(os.open(os.path.join(folder, name), os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return False
            return True

        def strike() -> None:
            if kind == "nobody" or not mark("struck"):
                return
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
