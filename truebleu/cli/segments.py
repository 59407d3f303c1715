"""`truebleu segments`: a row for each segment, in memory that does not grow with their number."""

from __future__ import annotations

from truebleu._kernel import InputError
from truebleu.cli import inputs as files
from truebleu.cli import metric_options, table_options, text_warnings
from truebleu.cli import options as shared
from truebleu.cli.output import Output
from truebleu.cli.parser import Command
from truebleu.cli.progress import Progress
from truebleu.cli.rows import FORMATS
from truebleu.cli.segment_rows import Writer
from truebleu.cli.style import Style
from truebleu.metrics.table_metric import pieces_together

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from truebleu._kernel import Summary
    from truebleu.cli.parser import Parser

EXAMPLES = """\
examples:
  truebleu segments reference.en -i system.en
      a line for each segment, as sacrebleu -sl prints it

  truebleu segments reference.en -i cedar.en birch.en -m bleu,chrf -f tsv -o segments.tsv
      segment, system, both scores and what they were counted from, for programs that read tables

  truebleu segments reference.en -i system.en -f tsv | sort -k3n | head
      the worst segments, with their numbers

  truebleu segments refs.parquet -i outputs.parquet --join id --by system -o segments.parquet
      hypotheses and references in different tables, joined by an id; id and system beside scores
"""


def add_options(parser: Parser, words: Sequence[str]) -> None:
    """Adds what `truebleu segments` knows."""
    files.add_options(parser)
    metric_options.add(parser, words)
    group = parser.add_argument_group("more")
    files.add_source(group, "the source of each segment, for metrics that need it")
    table_options.add(parser, "columns that stand beside the scores")
    group = shared.add_format(parser, list(FORMATS), "jsonl")
    shared.add_numbers(group, "1 for a person; all of them for a program")
    shared.add_score_only(group)
    shared.add_running(parser)


def run(options: argparse.Namespace) -> None:
    """Scores each segment of each system and writes the rows."""
    metrics = metric_options.metrics(options)
    style = Style(options)
    form = shared.form(options)
    if options.score_only and options.format is None and form == "jsonl":
        form = "tsv"
    if table_options.are_meant(options):
        from truebleu.cli import table_scores

        table_scores.refuse_sources(metrics)
        table_scores.segments(options, metrics, style, form)
        return
    inputs = files.Inputs(options)
    metric_options.check_source(metrics, inputs.source)
    expected = inputs.expected() or 0
    seen: dict[str, Summary] = {}
    with Output(options.output) as output, Progress(quiet=options.quiet) as progress:
        writer = Writer(metrics, output, style, form, several=len(inputs.systems) > 1)
        done = 0
        for system, hypotheses in inputs.systems.items():
            first = 1
            try:
                for counted, noticed in pieces_together(
                    list(metrics),
                    hypotheses,
                    inputs.references(),
                    workers=shared.threads(options),
                    segments=writer.AT_ONCE,
                    sources=inputs.source,
                ):
                    count = len(counted[0][1])
                    writer.write(system, range(first, first + count), counted)
                    first += count
                    done += count
                    if not output.is_terminal:
                        progress("scoring segments", done, expected * len(inputs.systems))
                    seen[system] = text_warnings.merged(seen.get(system), noticed)
            except InputError as error:
                raise inputs.nothing_came(error) from None
        writer.finish()
    if not options.quiet:
        tokenize = metric_options.tokenizer(metrics)
        text_warnings.warn(text_warnings.of_text(seen, inputs.reference_names, tokenize))


COMMAND = Command("truebleu segments REF... -i HYP... [options]", EXAMPLES, add_options, run)
