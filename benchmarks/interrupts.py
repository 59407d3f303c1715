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

import long_work

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


def reaction(case: str, delay: float) -> float | None:
    """Seconds from the signal to the end of the call; None if the signal came too early or late."""
    process = long_work.child(case)
    try:
        assert process.stdout is not None
        if process.stdout.readline() != "started\n":
            return None
        time.sleep(delay)
        sent = time.perf_counter()
        process.send_signal(signal.SIGINT)
        told = process.stdout.readline()
        took = time.perf_counter() - sent
    finally:
        process.kill()
        process.wait()
    return took if told == "c_exception\n" else None


def main() -> None:
    """Measures each case a few times, at some moments of its work."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    long_work.CASES.update(LARGE)
    rng = random.Random(1)
    print(f"{'work':48} {'heard':>7} {'median':>9} {'largest':>9}")
    for case in long_work.CASES:
        if not all(word in case for word in sys.argv[2:]):
            continue
        most = 0.4 if case in LARGE else 2.0
        found = [reaction(case, rng.uniform(0.02, most)) for _ in range(times)]
        known = [took for took in found if took is not None]
        if known:
            figures = f"{statistics.median(known):8.3f}s {max(known):8.3f}s"
        else:
            figures = f"{'-':>9} {'-':>9}"
        print(f"{case:48} {len(known):>3} / {times} {figures}", flush=True)


if __name__ == "__main__":
    main()
