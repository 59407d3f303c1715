"""`truebleu score`: a number for each system."""

from __future__ import annotations

import sys

from truebleu.cli import doubts, resampling, tables
from truebleu.cli import options as shared
from truebleu.cli.output import Output, complain
from truebleu.cli.progress import Progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from truebleu.bleu import BLEU
    from truebleu.cli.tables import Results
    from truebleu.files import File
    from truebleu.metric import Score, Summary

EXAMPLES = """\
examples:
  truebleu score reference.en -i system.en
      one system: sacreBLEU's line on a terminal, JSON with every digit in a pipe

  truebleu score ref.a.zh ref.b.zh -i cedar.zh birch.zh -tok zh -f latex -o scores.tex
      two systems against two references, as a table for a paper

  zcat system.txt.gz | truebleu score table.tsv#3 -lc -b
      standard input against the third column of a table, lower-cased; only the number
"""


def add_options(parser: shared.Parser) -> None:
    """Adds what `truebleu score` knows."""
    shared.add_inputs(parser)
    shared.add_metric(parser)
    group = parser.add_argument_group("intervals")
    resampling.add_confidence(group, "print an interval of N bootstrap resamples (1000)")
    resampling.add_level_and_seed(group, "the interval")
    shared.add_output(parser, tables.FORMATS)


def run(options: argparse.Namespace) -> None:
    """Scores each system and writes the numbers."""
    metrics = shared.metrics(options)
    inputs = shared.Inputs(options)
    threads = shared.threads(options)
    resamples = resampling.resamples(options)
    results: Results = []
    seen: dict[str, Summary] = {}
    style = tables.Style(options.width, score_only=options.score_only, short=options.short)
    render = tables.FORMATS[shared.form(options, tables.FORMATS)]
    with Output(options.output) as output, Progress(quiet=options.quiet) as progress:
        for system, hypotheses in inputs.systems.items():
            scores: list[Score] = []
            for metric in metrics:
                references = inputs.references()
                if resamples is not None:
                    score, seen[system] = _estimated(
                        metric, hypotheses, references, options, resamples, threads
                    )
                else:
                    score, seen[system] = metric.observed(
                        hypotheses, references, workers=threads, progress=progress
                    )
                scores.append(score)
            results.append((system, scores))
        output.write(render(results, style))
    if resamples is not None and len(results) > 1 and not options.quiet:
        complain(
            "note",
            "intervals that overlap say little about a difference; truebleu compare tests it",
        )
    if not options.quiet:
        doubts.warn(
            doubts.of_text(seen, inputs.reference_names, options.tokenize)
            + doubts.of_systems(inputs.systems, dict(results))
        )


def _estimated(
    metric: BLEU,
    hypotheses: File,
    references: list[File],
    options: argparse.Namespace,
    resamples: int,
    threads: int,
) -> tuple[Score, Summary]:
    """A score with its interval, and what was noticed of the text."""
    from truebleu.significance import Measure, intervals

    ((table, _, seen),) = metric.pieces(
        hypotheses, references, workers=threads, segments=sys.maxsize
    )
    measure = Measure(metric, {"": table})
    (ranges,) = intervals(
        [measure], resamples=resamples, seed=options.seed, level=options.level, workers=threads
    )
    return resampling.Estimated(metric.from_statistics(table), ranges[""]), seen


COMMAND = shared.Command("truebleu score REF... -i HYP... [options]", EXAMPLES, add_options, run)
