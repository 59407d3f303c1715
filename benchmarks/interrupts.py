"""How soon Ctrl-C is heard: for each kind of long work the time from the signal to the exception.

    python benchmarks/interrupts.py [TIMES [WORDS OF A CASE ...]]

prints a table. The cases are those of tests/long_work.py, and some more that need much memory.
"""

from __future__ import annotations

import random
import signal
import statistics
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

import long_work  # type: ignore[import-not-found]

LINE = "line = 'the cat, sat on the mat: é ' * 7_000_000"
LARGE = {
    f"one line of 200 MB, {tokenizer}": (
        LINE,
        "totals",
        f"tb.bleu([line], [['a b']], tokenize={tokenizer!r}, lowercase={lowercase})",
    )
    for tokenizer, lowercase in (("13a", False), ("intl", True), ("zh", False), ("char", True))
} | {
    "one line of 200 MB as a list of tokens": (
        LINE,
        "tokenize",
        "_kernel.tokenize(line, '13a', 'python')",
    ),
}


def used(process: int) -> int:
    """Nanoseconds of processor time that all threads of a process have taken so far."""
    tasks = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks)


def reaction(case: str, delay: float) -> tuple[float, float] | None:
    """Seconds from the signal to the end of the call, and of the process' own processor time.

    None if the signal came before the call or after it. On a machine with other work the second
    is what counts.
    """
    process = long_work.child(case)
    try:
        assert process.stdout is not None
        if process.stdout.readline() != "started\n":
            return None
        time.sleep(delay)
        before, sent = used(process.pid), time.perf_counter()
        process.send_signal(signal.SIGINT)
        told = process.stdout.readline().split()
        took = time.perf_counter() - sent
    finally:
        process.kill()
        process.wait()
    if told[:1] != ["c_exception"]:
        return None
    return took, max(0, int(told[1]) - before) / 1e9


def main() -> None:
    """Measures each case a few times, at some moments of its work."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    long_work.CASES.update(LARGE)
    rng = random.Random(1)
    print(f"{'':48} {'':>7} {'until it ends':>19} {'processor time':>19}")
    print(f"{'work':48} {'heard':>7}" + 2 * f" {'median':>9} {'largest':>9}")
    for case in long_work.CASES:
        if not all(word in case for word in sys.argv[2:]):
            continue
        most = 0.4 if case in LARGE else 2.0
        tries = (reaction(case, rng.uniform(0.02, most)) for _ in range(times))
        known = [seconds for seconds in tries if seconds is not None]
        line = f"{case:48} {len(known):>3} / {times}"
        for seconds in zip(*known, strict=True):
            line += f" {statistics.median(seconds):8.3f}s {max(seconds):8.3f}s"
        print(line, flush=True)


if __name__ == "__main__":
    main()
