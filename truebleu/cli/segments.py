"""`truebleu segments`: a row for each segment, in memory that does not grow with their number."""

from __future__ import annotations

from truebleu.cli import columnar, doubts
from truebleu.cli import options as shared
from truebleu.cli.output import Output
from truebleu.cli.progress import Progress
from truebleu.cli.rows import FORMATS, Piece, columns
from truebleu.cli.tables import Style

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from truebleu.metric import Summary

EXAMPLES = """\
examples:
  truebleu segments reference.en -i system.en
      a line for each segment, as sacrebleu -sl prints it

  truebleu segments reference.en -i cedar.en birch.en -f tsv -o segments.tsv
      segment, system, BLEU and what it was counted from, for programs that read tables

  truebleu segments reference.en -i system.en -f tsv | sort -k2n | head
      the worst segments, with their numbers

  truebleu segments refs.parquet -i outputs.parquet --join id --by system -o segments.parquet
      hypotheses and references in different tables, joined by an id; id and system beside scores
"""


def add_options(parser: shared.Parser) -> None:
    """Adds what `truebleu segments` knows."""
    shared.add_inputs(parser)
    shared.add_metric(parser)
    columnar.add_options(parser, "columns that stand beside the scores")
    shared.add_output(parser, FORMATS)


def run(options: argparse.Namespace) -> None:
    """Scores each segment of each system and writes the rows."""
    metric, *more = shared.metrics(options)
    if more:
        raise shared.UsageError("-m/--metrics: one metric at a time")
    style = Style(options.width, score_only=options.score_only, short=options.short)
    make = FORMATS[shared.form(options, FORMATS)]
    if columnar.are_meant(options):
        from truebleu.cli import columnar_scores

        columnar_scores.segments(options, metric, style, make)
        return
    inputs = shared.Inputs(options)
    several = len(inputs.systems) > 1
    seen: dict[str, Summary] = {}
    with Output(options.output) as output, Progress(quiet=options.quiet) as progress:
        rows = make(output, style, columns(metric, style, several=several))
        for system, hypotheses in inputs.systems.items():
            first = 1
            for statistics, scores, noticed in metric.pieces(
                hypotheses,
                inputs.references(),
                workers=shared.threads(options),
                segments=rows.AT_ONCE,
            ):
                name = system if several else None
                rows.write(Piece(metric, name, first, scores, statistics))
                first += len(scores)
                if not output.is_terminal:
                    progress(first - 1)
                seen[system] = doubts.merged(seen.get(system), noticed)
        rows.finish()
    if not options.quiet:
        doubts.warn(doubts.of_text(seen, inputs.reference_names, shared.tokenizer(options)))


COMMAND = shared.Command("truebleu segments REF... -i HYP... [options]", EXAMPLES, add_options, run)
