"""`truebleu history`: how scores changed over time."""

from __future__ import annotations

import os

from truebleu.cli import options as shared
from truebleu.cli.output import Output, complain
from truebleu.cli.parser import Command, UsageError
from truebleu.cli.show import check_exact, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from truebleu.cli.parser import Parser

EXAMPLES = """\
examples:
  truebleu score reference.en -i system.en --log scores.jsonl --log-note "more data"
  truebleu history scores.jsonl
      every score so far, as a drawing and a table

  truebleu history scores.jsonl --metric BLEU -o history.html
      a page with the trend, to be sent around
"""

FORMATS = ("text", "json", "markdown", "latex", "csv", "tsv", "html")


def add_options(parser: Parser, words: Sequence[str]) -> None:  # noqa: ARG001
    """Adds what `truebleu history` knows."""
    group = parser.add_argument_group("input")
    group.add_argument("log", metavar="FILE", help="a log that truebleu score --log has written")
    group.add_argument(
        "--metric", metavar="NAME", nargs="+", action="extend", help="only these metrics"
    )
    group.add_argument(
        "--system", metavar="NAME", nargs="+", action="extend", help="only these systems or names"
    )
    group = shared.add_format(parser, FORMATS, "text", color=True)
    shared.add_numbers(group, "2; all of them in json, csv and tsv")
    shared.add_running(parser, threads=False)


def run(options: argparse.Namespace) -> None:
    """Reads the log and draws it."""
    from truebleu.views.history import history

    form = shared.form(options)
    check_exact(form, options)
    output = options.output
    both = output is not None and all(map(os.path.isfile, (output, options.log)))
    if both and os.path.samefile(output, options.log):
        raise UsageError(f"-o/--output: {output} is the log itself")
    read = history(options.log, metric=options.metric, system=options.system)
    with Output(output) as made:
        show(read, made, options, form)
    if output is None or options.quiet:
        return
    for group in read.groups:
        if group.warning is not None:
            complain("note", f"{group.followed}, {group.metric}: {group.warning}")


COMMAND = Command("truebleu history FILE [options]", EXAMPLES, add_options, run)
