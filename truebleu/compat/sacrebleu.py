"""sacreBLEU with truebleu's kernel: importing this module installs the accelerator.

All names refer to sacreBLEU's own objects (`truebleu.compat.sacrebleu.corpus_bleu is
sacrebleu.corpus_bleu`). Import submodules from sacreBLEU, such as `sacrebleu.metrics`. The commands
`truebleu-sacrebleu` and `python -m truebleu.compat.sacrebleu` run sacreBLEU's command.
"""

from __future__ import annotations

import os
import sys

from truebleu.compat import install
from truebleu.compat.patches import defer_import

# Attributes for the import system, which must not be taken from the original package.
_HIDDEN_ATTRIBUTES = ("__path__", "__file__", "__spec__", "__loader__", "__package__")


def __getattr__(name: str) -> object:
    if name in _HIDDEN_ATTRIBUTES:  # with __path__, Python would load submodules twice
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import sacrebleu

    return getattr(sacrebleu, name)


def __dir__() -> list[str]:
    import sacrebleu

    return dir(sacrebleu)


def main() -> None:
    """Run sacreBLEU's command line with the arguments of this process."""
    from sacrebleu.sacrebleu import main as run

    try:
        run()  # type: ignore[no-untyped-call]
    finally:
        try:
            if sys.stdout is not None:
                sys.stdout.flush()
        except OSError as error:
            # Otherwise, Python would retry at exit, and return status 120 instead of 1.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(f"truebleu-sacrebleu: standard output: {error.strerror}")


try:
    # sacreBLEU locks files and prints tables rarely. Importing these packages takes 30 ms.
    with defer_import("portalocker"), defer_import("tabulate", "tabulate"):
        install("sacrebleu")
except ImportError as missing:
    if __name__ != "__main__":
        raise
    sys.exit(str(missing))

if __name__ == "__main__":
    main()
