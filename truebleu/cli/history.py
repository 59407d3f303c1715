"""`truebleu history`: trend of the scores in a log.

examples:
  truebleu score reference.en -i system.en --log scores.jsonl --log-note "more data"
  truebleu history scores.jsonl
      show all scores in the log as a chart and a table

  truebleu history scores.jsonl -m bleu -o history.html
      write an HTML page with the trend
"""

from __future__ import annotations

import argparse

from truebleu.cli import common_options as shared
from truebleu.cli import metric_options
from truebleu.cli.common_options import Command, OptionGroup
from truebleu.cli.output import Results, print_message

INPUT = OptionGroup(
    "input",
    """
    log FILE              read this log, written by truebleu score --log
    -m --metrics NAME...  show only these metrics, named as in truebleu score or in the log
    --system NAME...      show only these systems or log names
    """,
    metrics={"completes": metric_options.list_metric_completions},
)


def run(options: argparse.Namespace) -> None:
    """Read the log and write its history."""
    from truebleu.comparison.history import history

    output = Results(options)
    output.check_display_options()
    score_history = history(
        options.log, metric=metric_options.parse_names(options.metrics), system=options.system
    )
    with output:
        output.write_view(score_history)
    if options.output is None or options.quiet:
        return
    for group in score_history.groups:
        if group.warning is not None:
            print_message("note", f"{group.tracked_name}, {group.metric}: {group.warning}")


COMMAND = Command(
    "truebleu history FILE [options]",
    __doc__,
    lambda _: [
        INPUT,
        shared.make_output_group(shared.TABLE_FORMATS, "text", shared.COLOR, digits=2),
        shared.RUNNING_QUIETLY,
    ],
    run,
)
