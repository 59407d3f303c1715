"""`truebleu history`: how scores changed over time.

examples:
  truebleu score reference.en -i system.en --log scores.jsonl --log-note "more data"
  truebleu history scores.jsonl
      every score so far, as a drawing and a table

  truebleu history scores.jsonl -m bleu -o history.html
      a page with the trend, to be sent around
"""

from __future__ import annotations

import argparse

from truebleu.cli import common_options as shared
from truebleu.cli import metric_options
from truebleu.cli.common_options import Command, Group
from truebleu.cli.input_files import check_output
from truebleu.cli.output import Results, complain

INPUT = Group(
    "input",
    """
    log FILE              a log that truebleu score --log has written
    -m --metrics NAME...  only these metrics: as truebleu score takes them, or as the log has them
    --system NAME...      only these systems or names
    """,
    metrics={"completes": metric_options.names_to_complete},
)


def run(options: argparse.Namespace) -> None:
    """Reads the log and draws it."""
    from truebleu.comparison.history import history

    output = Results(options)
    output.check_exact()
    check_output(options, [options.log], "the log itself")
    read = history(options.log, metric=metric_options.asked(options.metrics), system=options.system)
    with output:
        output.show(read)
    if options.output is None or options.quiet:
        return
    for group in read.groups:
        if group.warning is not None:
            complain("note", f"{group.tracked_name}, {group.metric}: {group.warning}")


COMMAND = Command(
    "truebleu history FILE [options]",
    __doc__,
    lambda _: [INPUT, shared.view_output(2, shared.TABLE_FORMATS), shared.RUNNING_QUIETLY],
    run,
)
