"""The instructions that each case of the growth suite takes, at four sizes, counted by valgrind.

`python tests/growth/instruction_counts.py [NAME ...]` prints them as a table, for all cases or for
the cases whose names contain one of these words.

A process under callgrind does the work. It calls `getppid`, which nothing else does, before and
after each piece; callgrind writes its counts at each call, and restarts at 0.
"""

import gc
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, pairwise
from pathlib import Path

from cases import CASES, prepare

ROOT = Path(__file__).resolve().parents[2]
# By how much the work may grow when the text doubles.
MAX_GROWTH = 2.5
# Too few instructions to show growth: object creation, memory allocation.
NEGLIGIBLE_INSTRUCTIONS = 300_000


def lacking() -> str:
    """Why nothing can be counted here, in a sentence; nothing if it can."""
    if shutil.which("valgrind") is None:
        return "valgrind is not installed, which counts instructions"
    return ""


def count_instructions(names: list[str], folder: Path) -> dict[str, list[int]]:
    """Return the instructions of each case: with next to nothing, and at its sizes."""
    prepare(folder, names)
    processes = min(os.cpu_count() or 1, len(names))
    shares = [names[i::processes] for i in range(processes)]
    folders = [folder / str(i) for i in range(processes)]
    with ThreadPoolExecutor(processes) as pool:
        counts_by_name = dict(
            chain(*(part.items() for part in pool.map(counted_apart, shares, folders)))
        )
    return {name: counts_by_name[name] for name in names}


def counted_apart(names: list[str], folder: Path) -> dict[str, list[int]]:
    """Return the same, by one process, which leaves its counts in a folder."""
    folder.mkdir()
    command = ["valgrind", "--tool=callgrind", "--dump-before=getppid", "--dump-line=no"]
    command += [f"--callgrind-out-file={folder}/counts", "--quiet"]
    command += [sys.executable, __file__, "--in-valgrind", str(folder.parent), *names]
    # Seeds of Python's own tables; threads of others.
    environment = os.environ | {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
    places = [str(ROOT), str(Path(__file__).parent), *filter(None, [environment.get("PYTHONPATH")])]
    environment["PYTHONPATH"] = os.pathsep.join(places)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"valgrind ended with {done.returncode}:\n{done.stderr[-4000:]}")
    measures = [amount(folder / f"counts.{2 + 2 * i}") for i in range(4 * len(names))]
    return {name: measures[4 * i : 4 * i + 4] for i, name in enumerate(names)}


def amount(file: Path) -> int:
    """Return the instructions in what callgrind wrote."""
    total = re.search(r"^(?:totals|summary): (\d+)", file.read_text(errors="replace"), re.MULTILINE)
    return int(total[1]) if total else 0


def ratios(counts: list[int]) -> list[float]:
    """By how much the work grew at each doubling, without what the smallest text takes."""
    empty, *rest = counts
    net = [max(count - empty, NEGLIGIBLE_INSTRUCTIONS) for count in rest]
    return [more / less for less, more in pairwise(net)]


def run(folder: Path, names: list[str]) -> None:
    """Run the cases; called under valgrind."""
    for name in names:
        case = CASES[name]
        # Once before it is counted: modules are imported, tables made.
        case.make(case.empty, folder)()
        for size in (case.empty, *case.sizes):
            work = case.make(size, folder)
            # Existing objects are not traversed again by the garbage collector.
            gc.collect()
            gc.freeze()
            os.getppid()
            work()
            os.getppid()


def main() -> None:
    selected_words = sys.argv[1:]
    names = [
        name for name in CASES if not selected_words or any(word in name for word in selected_words)
    ]
    with tempfile.TemporaryDirectory() as folder:
        counts_by_name = count_instructions(names, Path(folder))
    print("| case | sizes | millions of instructions | growth per doubling |")
    print("|---|---|---|---|")
    for name, counts in counts_by_name.items():
        millions = ", ".join(f"{count / 1e6:,.2f}" for count in counts)
        growth = ", ".join(f"{ratio:.2f}" for ratio in ratios(counts))
        print(f"| {name} | {', '.join(map(str, CASES[name].sizes))} | {millions} | {growth} |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--in-valgrind"]:
        run(Path(sys.argv[2]), sys.argv[3:])
    else:
        main()
