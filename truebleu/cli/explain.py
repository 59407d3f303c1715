"""`truebleu explain`: a score worked through, of one pair, one segment, or a whole corpus.

examples:
  truebleu explain "the cat the cat on the mat" --reference "the cat is on the mat"
      one pair, given as text; a second text before --reference is compared with the first

  truebleu explain ref.a.en ref.b.en -i cedar.en --segment 17
      one line of some files

  truebleu explain ref.a.en ref.b.en -i cedar.en --segment 17 -m ter
      the edits that make it a reference; chrF, NIST and GLEU are explained, too

  truebleu explain reference.en -i cedar.en birch.en -o difference.html
      where the difference of two systems comes from, as a page for a browser
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from truebleu.cli import common_options as shared
from truebleu.cli import input_files as files
from truebleu.cli import metric_options
from truebleu.cli.common_options import Command, Group, whole_number
from truebleu.cli.output import Results, UsageError
from truebleu.explanation import explain
from truebleu.explanation.explanation_builder import check_metric

WHAT = Group(
    "what is explained",
    """
    -r --reference TEXT...  references of one pair that is given as text
    -n --segment N          only the Nth segment of the files, counted from 1
    --recall                show BLEU's clipped recall and F-measure, too
    """,
    about="With --reference, REF is the hypothesis itself, or two, as text.",
    segment={"type": whole_number(1, sys.maxsize)},
)


def run(options: argparse.Namespace) -> None:
    """Explains a score and writes it."""
    output = Results(options)
    output.check_exact()
    metric = metric_options.one(options)
    # What cannot be explained is refused before anything is read.
    with shared.as_usage("-m/--metrics", {"metric": "-m/--metrics"}):
        check_metric(metric, recall=options.recall)
    hypotheses, references, more = (_files if options.reference is None else _pair)(options)
    first, second = (*hypotheses, None)[:2]
    explanation = explain(first, references, metric, second=second, recall=options.recall, **more)
    with output:
        output.show(explanation)


def _pair(options: argparse.Namespace) -> tuple[Sequence[Any], Any, dict[str, Any]]:
    """One hypothesis or two, references and options, of text on the command line."""
    for name, given in (("-i/--input", options.input), ("-n/--segment", options.segment)):
        if given is not None:
            raise UsageError(f"{name} is for files, and --reference for text; give one")
    hypotheses: Sequence[str] = options.references
    if len(hypotheses) not in (1, 2):
        raise UsageError(
            f"{len(hypotheses)} hypotheses; give one, or two to compare, each in quotation marks, "
            "before --reference"
        )
    return hypotheses, options.reference, {}


def _files(options: argparse.Namespace) -> tuple[Sequence[Any], Any, dict[str, Any]]:
    """The same of files, or of one line of them."""
    if options.input is None and any(
        " " in name and not os.path.exists(name) for name in options.references
    ):
        raise UsageError("for a pair that is given as text, put --reference before the text")
    inputs = files.Inputs(options)
    if len(inputs.systems) > 2:
        raise UsageError(f"{len(inputs.systems)} systems; give one, or two to compare")
    more: dict[str, Any] = {"segment": options.segment, "workers": options.threads}
    if len(inputs.systems) == 2:
        more["names"] = list(inputs.systems)
    return list(inputs.systems.values()), inputs.references(), more


COMMAND = Command(
    "truebleu explain REF... -i HYP [HYP] [options]\n"
    "       truebleu explain HYPOTHESIS [HYPOTHESIS] --reference TEXT... [options]",
    __doc__,
    lambda words: [
        *files.groups(words),
        WHAT,
        *metric_options.groups(words),
        shared.view_output(2),
        shared.RUNNING,
    ],
    run,
)
