"""sacreBLEU's command as a process: `truebleu-sacrebleu`, `python -m truebleu.compat.sacrebleu`."""

import gc
import os
import sys


def main() -> None:
    """Run the command line of this process."""
    # It is about to end, and has nothing to gain from collecting garbage.
    gc.disable()
    from truebleu.text.termination import raise_at_signals

    from .sacrebleu import main as run

    raise_at_signals()
    try:
        run()
    finally:
        flush_or_fail()
    gc.freeze()


def flush_or_fail() -> None:
    """Write the rest of standard output; end with status 1 if that fails.

    Python would try once more when it ends, and give status 120.
    """
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


if __name__ == "__main__":
    main()
