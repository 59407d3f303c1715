"""Accelerators that make the installed sacreBLEU and NLTK packages use truebleu's kernel.

    import truebleu.compat

    truebleu.compat.install("sacrebleu")

Functions, classes, messages, signatures and datasets of the original package do not change; only
counting and resampling run in the kernel. The original code handles calls that the kernel does not
support. An installation affects one process: also call `install` in each worker process.
"""

from __future__ import annotations

import warnings
from types import ModuleType

__all__ = ["install", "uninstall"]

# First and last supported release per package.
RELEASES = {"sacrebleu": ((2, 3, 1), (2, 6, 0)), "nltk": ((3, 8, 1), (3, 10, 999))}
NAMES = {"sacrebleu": "sacreBLEU", "nltk": "NLTK"}
_warned: set[str] = set()


def install(name: str) -> None:
    """Make an installed package use the kernel in this process.

    name: "sacrebleu" for sacreBLEU 2.3.1 to 2.6.0; "nltk" for BLEU and chrF of NLTK 3.8.1 to 3.10.

    Names imported from sacreBLEU before this call are also accelerated. NLTK's `corpus_bleu` and
    `corpus_chrf` are accelerated only if they are imported afterwards. A second call has no effect.
    Raises ImportError if the package is missing, and ValueError for an unknown name. For an
    unsupported release it warns once and changes nothing.
    """
    accelerator = _load_accelerator(name)
    try:
        release = accelerator.find_release()
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        requirement = "truebleu[sacrebleu]" if name == "sacrebleu" else name
        raise ImportError(
            f"{NAMES[name]} is not installed. Install it with: pip install '{requirement}'",
            name=name,
        ) from None
    first, last = RELEASES[name]
    numbers = release.split(".")
    if all(map(str.isdecimal, numbers)) and first <= tuple(map(int, numbers)) <= last:
        accelerator.install()
    elif name not in _warned:
        _warned.add(name)
        # 999 stands for any number in the last supported release.
        limits = (".".join(str(n) for n in one if n != 999) for one in (first, last))
        warnings.warn(
            f"unsupported {NAMES[name]} {release} (expected {' to '.join(limits)}); it runs "
            "without acceleration",
            stacklevel=2,
        )


def uninstall(name: str) -> None:
    """Restore the original functions if `install` has replaced them."""
    _load_accelerator(name).uninstall()


def _load_accelerator(name: str) -> ModuleType:
    if name not in RELEASES:
        from truebleu.text.argument_checks import suggest_names

        raise ValueError(f"unknown package {name!r}{suggest_names(str(name), RELEASES)}")
    if name == "nltk":
        from truebleu.compat import nltk

        return nltk
    from truebleu.compat import sacrebleu_kernel

    return sacrebleu_kernel
