"""Groups of options that several commands have, and what they mean."""

from __future__ import annotations

import os

from truebleu.cli.output import is_terminal
from truebleu.cli.parser import Parser, UsageError, one_of, whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

# What the end of a file's name says of its format.
SUFFIXES = {
    ".txt": "text",
    ".json": "json",
    ".jsonl": "jsonl",
    ".tsv": "tsv",
    ".csv": "csv",
    ".tex": "latex",
    ".md": "markdown",
    ".html": "html",
    ".parquet": "parquet",
    ".npy": "npy",
}

# More would be a slip of the finger, not a machine.
MOST_THREADS = 1024


def add_format(
    parser: Parser, formats: Sequence[str], piped: str, *, color: bool = False
) -> argparse._ArgumentGroup:
    """Adds the form and the place of results; `piped` is the format where nobody watches."""
    group = parser.add_argument_group("output")
    usual = "text" if piped == "text" else f"text on a terminal, otherwise {piped}"
    group.add_argument(
        *("-f", "--format"),
        metavar="NAME",
        type=one_of(formats),
        choices=list(formats),
        help=f"{', '.join(formats)} ({usual}, unless the name of FILE says it)",
    )
    parser.set_defaults(formats=formats, piped=piped)
    group.add_argument(
        *("-o", "--output"), metavar="FILE", help="write to FILE, whole or not at all"
    )
    if color:
        whens = ("auto", "always", "never")
        group.add_argument(
            "--color",
            metavar="WHEN",
            type=one_of(whens),
            choices=list(whens),
            default="auto",
            help="colour text: auto (on a terminal, with the library rich), always, never",
        )
    return group


def add_numbers(group: argparse._ArgumentGroup, digits: str) -> None:
    """Adds how numbers and signatures are printed; `digits` are those without -w."""
    group.add_argument(
        *("-w", "--width"),
        metavar="N",
        type=whole_number(0, 100),
        help=f"digits after the point ({digits})",
    )
    group.add_argument(*("-sh", "--short"), action="store_true", help="short signatures")


def add_score_only(group: argparse._ArgumentGroup) -> None:
    """Adds that nothing but scores is printed."""
    group.add_argument(*("-b", "--score-only"), action="store_true", help="only the scores")


def add_running(parser: Parser, *, threads: bool = True) -> None:
    """Adds threads, warnings and help."""
    group = parser.add_argument_group("running")
    if threads:
        group.add_argument(
            "--threads",
            metavar="N",
            type=whole_number(0, MOST_THREADS),
            default=1,
            help="threads (1); 0 for one per core",
        )
    group.add_argument(
        *("-q", "--quiet"), action="store_true", help="no warnings, notes or progress"
    )
    parser.add_help_option(group)


def threads(options: argparse.Namespace) -> int:
    """How many threads to use."""
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


def add_confidence(group: argparse._ArgumentGroup, text: str) -> None:
    """Adds the number of resamples for intervals."""
    group.add_argument(
        *("-ci", "--confidence"), metavar="N", nargs="?", type=samples, const=RESAMPLES, help=text
    )
    group.add_argument(
        *("-cin", "--confidence-n"), metavar="N", type=samples, help="the same, with --confidence"
    )


def add_level_and_seed(group: argparse._ArgumentGroup, what: str) -> None:
    """Adds the level of intervals, and the seed."""
    group.add_argument("--level", metavar="X", type=_level, default=0.95, help=f"of {what} (0.95)")
    group.add_argument(
        "--seed",
        metavar="N",
        type=_seed,
        default=12345,
        help="of random numbers (12345); none for another each time",
    )


def resamples(options: argparse.Namespace) -> int | None:
    """How many resamples there should be for intervals; None if it was not said."""
    number: int | None = options.confidence
    if options.confidence_n is None:
        return number
    if number not in (None, RESAMPLES, options.confidence_n):
        raise UsageError("--confidence and --confidence-n name different numbers")
    return int(options.confidence_n)


def _level(text: str) -> float:
    from argparse import ArgumentTypeError

    try:
        level = float(text)
    except ValueError:
        level = -1.0
    if not 0 < level < 1:
        raise ArgumentTypeError(f"'{text}' is not a number between 0 and 1")
    return level


def _seed(text: str) -> int | None:
    if text.lower() == "none":
        return None
    from truebleu.text.checks import SEED_BITS

    return whole_number(0, 2**SEED_BITS - 1)(text)
