"""Options that several commands have, and what they mean."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from truebleu.cli.declared import HELP, Group, whole_number
from truebleu.cli.declared import options as declared
from truebleu.cli.output import UsageError
from truebleu.text.checks import DEFAULT_SEED, MOST_WORKERS, parse_number

if TYPE_CHECKING:
    from truebleu.cli.declared import Option

OUTPUT, COLOR, SCORE_ONLY = declared(
    """
    -o --output FILE  write to FILE, whole or not at all
    --color WHEN      colour text: auto (on a terminal, with the library rich), always, never
    -b --score-only   only the scores
    """,
    color={"choices": ("auto", "always", "never"), "default": "auto"},
)


def _threads(text: str) -> int:
    number = whole_number(0, MOST_WORKERS)(text)
    if number or not hasattr(os, "sched_getaffinity"):
        return number or os.cpu_count() or 1
    return len(os.sched_getaffinity(0))


# The digits without -w where scores are rows.
DIGITS = "1 for a person; all of them for a program"
THREADS, QUIET = declared(
    """
    --threads N  threads (1); 0 for one per core
    -q --quiet   no warnings, notes or progress
    """,
    threads={"type": _threads, "default": 1},
)
RUNNING = Group("running", THREADS, QUIET, HELP)
LOG = Group(
    "log",
    """
    --log FILE          add a line of JSON for each score to FILE: when, what, how, hashes of text
    --log-name NAME...  the name to follow each system by, where its file's name changes
    --log-note TEXT     a remark to keep with these scores
    --log-report WHERE  the report of these scores, a file or an address: truebleu history links
                        to it
    """,
    about="truebleu history shows how scores changed.",
)


def output(formats: Sequence[str], piped: str, *more: Option, digits: str = "") -> Group:
    """The form and the place of results.

    piped: the format where nobody watches; digits: those without -w.
    """
    usual = "text" if piped == "text" else f"text on a terminal, otherwise {piped}"
    names = ", ".join(formats)
    return Group(
        "output",
        f"-f --format NAME  {names} ({usual}, unless the name of FILE says it)",
        OUTPUT,
        *([f"-w --width N  digits after the point ({digits})"] if digits else []),
        *(["-sh --short  short signatures"] if digits else []),
        *more,
        defaults={"formats": formats, "piped": piped},
        format={"choices": formats},
        width={"type": whole_number(0, 100)},
    )


# ---- resampling ----

RESAMPLES = 1000
# More would be a slip of the finger.
samples = whole_number(1, 10_000_000)


def level_of(text: str) -> float:
    """A confidence level."""
    try:
        level = parse_number(text)
    except ValueError:
        level = -1.0
    if not 0 < level < 1:
        raise ValueError(f"expected a number between 0 and 1, such as 0.95, not '{text}'")
    return level


def seed_of(text: str) -> int | None:
    """A seed, or None for a different one each time."""
    if text.lower() == "none":
        return None
    from truebleu.text.checks import SEED_BITS

    return whole_number(0, 2**SEED_BITS - 1)(text)


# What intervals and tests draw: an option of commands that know documents.
RESAMPLE = declared(
    """
    --resample WHAT        what intervals and tests draw and exchange: segments (the default), or
                           whole documents, whose segments are alike (--docs, or the test set's)
    """,
    resample={"choices": ("segments", "documents"), "default": "segments"},
)
INTERVALS = declared(
    """
    -ci --confidence [N]   intervals of N bootstrap resamples (1000)
    -cin --confidence-n N  the same, with --confidence
    --level X              confidence level (0.95)
    --seed N               of random numbers (12345); none for a different one each time
    """,
    confidence={"type": samples, "const": RESAMPLES},
    confidence_n={"type": samples},
    level={"type": level_of, "default": 0.95},
    seed={"type": seed_of, "default": DEFAULT_SEED},
)


def resamples(options: argparse.Namespace) -> int | None:
    """The number of resamples for intervals; None if none was given."""
    number: int | None = options.confidence
    if options.confidence_n is None:
        return number
    if number not in (None, RESAMPLES, options.confidence_n):
        raise UsageError("--confidence and --confidence-n name different numbers")
    return int(options.confidence_n)
