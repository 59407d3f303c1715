"""Accelerators for sacreBLEU and NLTK: the installed packages count in truebleu's kernel.

    import truebleu.compat

    truebleu.compat.install("sacrebleu")

Functions, classes, messages, signatures and data sets stay those of the original; only counting and
resampling change place. Where the kernel cannot count a call, the original does. An installation
holds for one process: call `install` in each worker process, too.
"""

from __future__ import annotations

import warnings
from types import ModuleType

__all__ = ["install", "uninstall"]

# The supported releases of each package, the first and the last.
RELEASES = {"sacrebleu": ((2, 3, 1), (2, 6, 0)), "nltk": ((3, 8, 1), (3, 10, 999))}
NAMES = {"sacrebleu": "sacreBLEU", "nltk": "NLTK"}
_warned: set[str] = set()


def install(name: str) -> None:
    """Make an installed package count in the kernel, in this process.

    name: "sacrebleu" for sacreBLEU 2.3.1 to 2.6.0; "nltk" for BLEU and chrF of NLTK 3.8.1 to 3.10.

    sacreBLEU's names that were imported before are accelerated, too; NLTK's `corpus_bleu` and
    `corpus_chrf` only if they are imported afterwards. Installing again does nothing. Raises
    ImportError if the package is missing, ValueError for an unknown name; warns once, and changes
    nothing, if the release is unknown.
    """
    accelerator = _accelerator(name)
    try:
        release = accelerator.installed_release()
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        wanted = "truebleu[sacrebleu]" if name == "sacrebleu" else name
        raise ImportError(
            f"{NAMES[name]} is not installed. Install it with: pip install '{wanted}'", name=name
        ) from None
    first, last = RELEASES[name]
    numbers = release.split(".")
    if all(map(str.isdecimal, numbers)) and first <= tuple(map(int, numbers)) <= last:
        accelerator.install()
    elif name not in _warned:
        _warned.add(name)
        warnings.warn(
            f"this truebleu does not know {NAMES[name]} {release} (expected a release from "
            f"{_text(first)} to {_text(last)}); it runs unaccelerated",
            stacklevel=2,
        )


def uninstall(name: str) -> None:
    """Put the original functions back. Without an installation, do nothing."""
    _accelerator(name).uninstall()


def _accelerator(name: str) -> ModuleType:
    if name not in RELEASES:
        from truebleu.text.argument_checks import suggest_names

        raise ValueError(f"unknown package {name!r}{suggest_names(str(name), RELEASES)}")
    if name == "nltk":
        from truebleu.compat import nltk

        return nltk
    from truebleu.compat import sacrebleu_kernel

    return sacrebleu_kernel


def _text(release: tuple[int, ...]) -> str:
    return ".".join(str(number) for number in release if number != 999)
