"""The command line, a command a file: each declares its options and does what they ask for."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line, that of this process if none is given, and gives the exit status.

    0: done. 1: the data are wrong, or something could not be read or written. 2: the command line
    is wrong. Each is said in one line on standard error.
    """
    if arguments is not None:
        from truebleu.cli.commands import status_of

        return status_of(list(arguments))
    # A process that is about to end has nothing to gain from collecting garbage, not even while it
    # imports what it needs.
    gc.disable()
    from truebleu.cli.commands import status_of
    from truebleu.text.system import raise_at_signals

    raise_at_signals()
    status = status_of(sys.argv[1:])
    # Without freeze() Python would look at every object once more as it ends, for a tenth of the
    # time that the whole process takes on a test set.
    # DuckDB complains of what is left of it.
    if "duckdb" not in sys.modules:
        gc.freeze()
    return status
