"""sacreBLEU with truebleu's kernel: importing this installs the accelerator.

All names are sacreBLEU's own (`truebleu.compat.sacrebleu.corpus_bleu is sacrebleu.corpus_bleu`);
import its modules by their own names, such as `sacrebleu.metrics`. As a command,
`truebleu-sacrebleu` or `python -m truebleu.compat.sacrebleu`, it runs sacreBLEU's command.
"""

from __future__ import annotations

import os
import sys

from truebleu.compat import install

# Attributes of the original package that are not names for its users.
_OWN = ("__path__", "__file__", "__spec__", "__loader__", "__package__")


def __getattr__(name: str) -> object:
    if name in _OWN:  # with a __path__, submodules would be loaded twice
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import sacrebleu

    return getattr(sacrebleu, name)


def __dir__() -> list[str]:
    import sacrebleu

    return dir(sacrebleu)


def main() -> None:
    """Run sacreBLEU's command line, with the words of this process."""
    from sacrebleu.sacrebleu import main as run

    try:
        run()  # type: ignore[no-untyped-call]
    finally:
        _flush_or_fail()


def _flush_or_fail() -> None:
    """Write the rest of standard output, and end with status 1 if that fails.

    Otherwise Python would try again when it ends, and give status 120.
    """
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(f"truebleu-sacrebleu: standard output: {error.strerror}")


try:
    install("sacrebleu")
except ImportError as missing:
    if __name__ != "__main__":
        raise
    sys.exit(str(missing))

if __name__ == "__main__":
    main()
