"""`truebleu history`: how scores changed over time."""

from __future__ import annotations

import os

from truebleu.cli import options as shared
from truebleu.cli.output import Output, complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from truebleu.history import History

EXAMPLES = """\
examples:
  truebleu score reference.en -i system.en --log scores.jsonl --log-note "more data"
  truebleu history scores.jsonl
      every score so far, as a drawing and a table

  truebleu history scores.jsonl --metric BLEU -o history.html
      a page with the trend, to be sent around
"""

# What a format is made by; with digits, if numbers are rounded in it.
FORMATS: dict[str, Callable[[History, int], str]] = {
    "text": lambda history, digits: history.text(_columns(), digits=digits),
    "json": lambda history, _: history.to_json() + "\n",
    "csv": lambda history, _: history.csv(),
    "markdown": lambda history, digits: history.markdown(digits=digits),
    "html": lambda history, digits: history.html(digits=digits),
}
EXACT = ("json", "csv")


def add_options(parser: shared.Parser) -> None:
    """Adds what `truebleu history` knows."""
    group = parser.add_argument_group("input")
    group.add_argument("log", metavar="FILE", help="a log that truebleu score --log has written")
    group.add_argument(
        "--metric", metavar="NAME", nargs="+", action="extend", help="only these metrics"
    )
    group.add_argument(
        "--system", metavar="NAME", nargs="+", action="extend", help="only these systems or names"
    )
    group = parser.add_argument_group("output")
    group.add_argument(
        *("-f", "--format"),
        metavar="NAME",
        type=shared.one_of(FORMATS),
        choices=list(FORMATS),
        help=f"{', '.join(FORMATS)} (text on a terminal, otherwise json, unless the name of "
        "FILE says it)",
    )
    group.add_argument(
        *("-o", "--output"), metavar="FILE", help="write to FILE, whole or not at all"
    )
    group.add_argument(
        *("-w", "--width"),
        metavar="N",
        type=shared.whole_number(0, 100),
        help="digits after the point (2; json and csv have all)",
    )
    group.add_argument(*("-q", "--quiet"), action="store_true", help="no warnings")
    parser.add_help_option(group)


def run(options: argparse.Namespace) -> None:
    """Reads the log and draws it."""
    from truebleu.history import history

    form = shared.form(options, FORMATS)
    if form in EXACT and options.width is not None:
        raise shared.UsageError(f"-w/--width: {form} has every number in full")
    output = options.output
    if (
        output is not None
        and all(map(os.path.isfile, (output, options.log)))
        and (os.path.samefile(output, options.log))
    ):
        raise shared.UsageError(f"-o/--output: {output} is the log itself")
    read = history(options.log, metric=options.metric, system=options.system)
    with Output(output) as made:
        made.write(FORMATS[form](read, 2 if options.width is None else options.width))
    if output is None or options.quiet:
        return
    for group in read.groups:
        if group.warning is not None:
            complain("note", f"{group.followed}, {group.metric}: {group.warning}")


def _columns() -> int:
    """How wide the terminal is."""
    from shutil import get_terminal_size

    return min(get_terminal_size((100, 24)).columns, 160)


COMMAND = shared.Command("truebleu history FILE [options]", EXAMPLES, add_options, run)
