"""`python -m truebleu.testsets check`: whether the catalogue's addresses have what it says.

With `--head`, servers are only asked whether they have the files. For somebody with internet, and
time: it prints each archive's size and sums, as registry.json has them.
"""

from __future__ import annotations

import sys

from truebleu.testsets.check import check

if __name__ == "__main__":
    match sys.argv[1:]:
        case ["check", *options] if set(options) <= {"--head"}:
            sys.exit(check(is_head="--head" in options))
        case _:
            print("usage: python -m truebleu.testsets check [--head]", file=sys.stderr)
            sys.exit(2)
