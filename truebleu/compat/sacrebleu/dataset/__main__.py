"""`python -m truebleu.compat.sacrebleu.dataset`: a table of the test sets, or a check of them.

--dump prints a table in Markdown; --check downloads every archive and compares its sum.
"""

from __future__ import annotations

import re
import sys

from . import DATASETS

# The least widths of the columns.
NAME, DESCRIPTION = 30, 115


def dump() -> None:
    """Prints the names of the test sets and their descriptions."""
    print(f"| {'Dataset':<{NAME}} | {'Description':<{DESCRIPTION}} |")
    print(f"| {'-' * NAME} | {'-' * DESCRIPTION} |")
    for name, dataset in DATASETS.items():
        description = re.sub(r"(https?://\S+)", r"[URL](\1)", str(dataset.description))
        print(f"| {name:<{NAME}} | {description:<{DESCRIPTION}} |")


def check() -> None:
    """Downloads all archives, and prints those whose sums differ from the catalogue's."""
    from truebleu.testsets.check import fetched

    sums: dict[str, str] = {}
    for dataset in DATASETS.values():
        sums |= dict(zip(dataset.data or (), dataset.md5 or (), strict=True))
    for address, expected in sums.items():
        print("Downloading ", address)
        if fetched(address)[1] != expected:
            print("MD5 check failed for", address)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--dump", *_]:
            dump()
        case ["--check", *_]:
            check()
        case []:
            print(f"Usage: {sys.argv[0]} --check | --dump")
            sys.exit(1)
