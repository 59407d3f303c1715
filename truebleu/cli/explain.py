"""`truebleu explain`: step-by-step explanation of a sentence-level or corpus-level score.

examples:
  truebleu explain --hypothesis "the cat the cat on the mat" --reference "the cat is on the mat"
      explain the score of a sentence; a second text after --hypothesis is compared with it

  truebleu explain --hypothesis "the the the the" --reference "the cat is on the mat" --textbook
      compute BLEU as textbooks do, without smoothing

  truebleu explain ref.a.en ref.b.en -i cedar.en --segment 17
      explain the score of segment 17

  truebleu explain ref.a.en ref.b.en -i cedar.en --segment 17 -m ter
      show the edit operations of TER; chrF, NIST and GLEU can also be explained

  truebleu explain reference.en -i talk.en --resegment as-wer --segment 17
      also show where the segment begins and ends in the text, and whether other places tie

  truebleu explain reference.en -i cedar.en birch.en -o difference.html
      explain the difference between two systems, as an HTML page
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from truebleu.cli import common_options as shared
from truebleu.cli import input_files as files
from truebleu.cli import metric_options
from truebleu.cli.common_options import Command, OptionGroup, make_integer_type
from truebleu.cli.output import Results, UsageError
from truebleu.explanation import explain
from truebleu.explanation.explanation_builder import check_metric

EXPLAIN_OPTIONS = OptionGroup(
    "explanation",
    """
    --hypothesis TEXT...    explain the score of this text, or the difference between two texts
    -r --reference TEXT...  use these texts as the references of --hypothesis
    -n --segment N          explain only segment N of the files, counting from 1
    --recall                also show BLEU's clipped recall and F-measure
    -src --source FILE      read the source of each segment from FILE, for metrics such as SARI;
                            with --hypothesis, the source itself
    --textbook              compute BLEU as textbooks do: split at white space, do not smooth, leave
                            out orders for which the text is too short, and show BLEU-1 to BLEU-4
    """,
    segment={"type": make_integer_type(1, sys.maxsize)},
)


# Options, keyed by the parameter name at the beginning of an error message.
EXPLAIN_FLAGS = {"metric": "-m/--metrics", "recall": "--recall", "textbook": "--textbook"}


def run(options: argparse.Namespace) -> None:
    """Explain a score and write the explanation."""
    output = Results(options)
    output.check_display_options()
    metric = metric_options.select_single_metric(options)
    if options.textbook and getattr(options, "--smoothing", "none") != "none":
        raise UsageError("--textbook and --smoothing are mutually exclusive")
    # Check the metric before reading files, so that errors appear early.
    with shared.reraise_as_usage_error("-m/--metrics", EXPLAIN_FLAGS):
        check_metric(metric, recall=options.recall, textbook=options.textbook)
    has_texts = options.hypothesis is not None or options.reference is not None
    hypotheses, references, arguments = (_read_texts if has_texts else _read_files)(options)
    explanation = explain(
        hypotheses,
        references,
        metric,
        recall=options.recall,
        textbook=options.textbook,
        check_text=False,
        **arguments,
    )
    with output:
        output.write_view(explanation)


def _read_texts(options: argparse.Namespace) -> tuple[Mapping[str, Any], Any, dict[str, Any]]:
    hypotheses: Sequence[str] = options.hypothesis or ()
    file_options = ("references", "input", "segment", "resegment", "docs", "hyp_docs", "test_set")
    problem = (
        f"and {'--hypothesis' if hypotheses else '--reference'} TEXT are mutually exclusive. Use "
        "--hypothesis TEXT and --reference TEXT for texts, and REF and -i HYP for files"
    )
    shared.refuse_options(options, file_options, problem)
    if options.reference is None:
        raise UsageError("--hypothesis has no effect without --reference TEXT")
    if len(hypotheses) not in (1, 2):
        raise UsageError(
            f"--hypothesis: expected one or two texts, found {len(hypotheses)}. Put each text in "
            "quotation marks"
        )
    metric_options.warn_about_signatures(options, len(options.reference), {})
    names = ("hypothesis",) if len(hypotheses) == 1 else ("first", "second")
    arguments = {"source": options.source}
    return dict(zip(names, hypotheses, strict=True)), options.reference, arguments


def _read_files(options: argparse.Namespace) -> tuple[Mapping[str, Any], Any, dict[str, Any]]:
    if options.input is None and any(
        " " in name and not os.path.exists(name) for name in options.references
    ):
        raise UsageError(
            "to explain text given on the command line, use --hypothesis TEXT --reference TEXT"
        )
    if options.docs is not None and options.resegment is None:
        raise UsageError("--docs has no effect without --resegment")
    inputs = files.Inputs(options)
    if len(inputs.systems) > 2:
        raise UsageError(f"-i/--input: expected one or two systems, found {len(inputs.systems)}")
    arguments = {"segment": options.segment, "workers": options.threads, "source": inputs.source}
    return inputs.systems, inputs.read_references(), arguments


COMMAND = Command(
    "truebleu explain REF... -i HYP [HYP] [options]\n"
    "       truebleu explain --hypothesis TEXT [TEXT] --reference TEXT... [options]",
    __doc__,
    lambda words: [
        *files.list_input_groups(words),
        OptionGroup("documents", files.DOCUMENTS),
        EXPLAIN_OPTIONS,
        *metric_options.list_metric_groups(words),
        shared.make_output_group(shared.VIEW_FORMATS, "text", shared.COLOR, digits=2),
        shared.RUNNING,
    ],
    run,
)
