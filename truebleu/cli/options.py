"""Options that several commands have, and what they mean."""

from __future__ import annotations

import os

from truebleu.cli.output import is_terminal
from truebleu.cli.parser import HELP, Group, Option, UsageError, whole_number
from truebleu.text.checks import MOST_WORKERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

# What the end of a file's name says of its format.
SUFFIXES = {
    ".txt": "text",
    ".tex": "latex",
    ".md": "markdown",
    **{f".{name}": name for name in ("json", "jsonl", "tsv", "csv", "html", "parquet", "npy")},
}

OUTPUT = Option("-o --output", "FILE", "write to FILE, whole or not at all")
COLOR = Option(
    "--color",
    "WHEN",
    "colour text: auto (on a terminal, with the library rich), always, never",
    choices=("auto", "always", "never"),
    default="auto",
)
SHORT = Option("-sh --short", None, "short signatures")
SCORE_ONLY = Option("-b --score-only", None, "only the scores")
THREADS = Option(
    "--threads",
    "N",
    "threads (1); 0 for one per core",
    type=whole_number(0, MOST_WORKERS),
    default=1,
)
QUIET = Option("-q --quiet", None, "no warnings, notes or progress")
RUNNING = Group("running", THREADS, QUIET, HELP)


def output(formats: Sequence[str], piped: str, *more: Option, digits: str = "") -> Group:
    """The form and the place of results; `digits` are those without -w."""
    usual = "text" if piped == "text" else f"text on a terminal, otherwise {piped}"
    told = f"{', '.join(formats)} ({usual}, unless the name of FILE says it)"
    named = Option("-f --format", "NAME", told, choices=formats)
    width = Option(
        "-w --width", "N", f"digits after the point ({digits})", type=whole_number(0, 100)
    )
    return Group("output", named, OUTPUT, *((width, SHORT) if digits else ()), *more)


def threads(options: argparse.Namespace) -> int:
    """The number of threads to use."""
    if options.threads:
        return options.threads  # type: ignore[no-any-return]
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def form(options: argparse.Namespace) -> str:
    """The format of results: as asked for, as the name of the file says, or as the reader is."""
    if options.format is not None:
        return options.format  # type: ignore[no-any-return]
    if options.output is None:
        return "text" if is_terminal() else str(options.piped)
    suffix = os.path.splitext(options.output)[1].lower()
    if not suffix or options.output.startswith("/dev/"):
        return str(options.piped)
    named = SUFFIXES.get(suffix, suffix)
    if named == "jsonl" and named not in options.formats:
        named = "json"
    if named not in options.formats:
        raise UsageError(
            f"-o/--output: {options.output}: no format {named}; there are "
            f"{', '.join(options.formats)}, and -f says which"
        )
    return named


# ---- resampling ----

RESAMPLES = 1000
# More would be a slip of the finger.
samples = whole_number(1, 10_000_000)


def _level(text: str) -> float:
    from argparse import ArgumentTypeError

    try:
        level = float(text)
    except ValueError:
        level = -1.0
    if not 0 < level < 1:
        raise ArgumentTypeError(f"expected a number between 0 and 1, such as 0.95, not '{text}'")
    return level


def _seed(text: str) -> int | None:
    if text.lower() == "none":
        return None
    from truebleu.text.checks import SEED_BITS

    return whole_number(0, 2**SEED_BITS - 1)(text)


INTERVALS = (
    Option(
        "-ci --confidence",
        "[N]",
        "intervals of N bootstrap resamples (1000)",
        type=samples,
        const=RESAMPLES,
    ),
    Option("-cin --confidence-n", "N", "the same, with --confidence", type=samples),
    Option("--level", "X", "confidence level (0.95)", type=_level, default=0.95),
    Option(
        "--seed",
        "N",
        "of random numbers (12345); none for a different one each time",
        type=_seed,
        default=12345,
    ),
)


def resamples(options: argparse.Namespace) -> int | None:
    """The number of resamples for intervals; None if none was given."""
    number: int | None = options.confidence
    if options.confidence_n is None:
        return number
    if number not in (None, RESAMPLES, options.confidence_n):
        raise UsageError("--confidence and --confidence-n name different numbers")
    return int(options.confidence_n)
