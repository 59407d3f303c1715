"""`truebleu score`: a number for each system."""

from __future__ import annotations

from truebleu.cli import doubts, tables
from truebleu.cli import options as shared
from truebleu.cli.output import Output
from truebleu.cli.progress import Progress
from truebleu.counted import together

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from truebleu.cli.tables import Results
    from truebleu.metric import Summary

EXAMPLES = """\
examples:
  truebleu score reference.en -i system.en
      one system: sacreBLEU's line on a terminal, JSON with every digit in a pipe

  truebleu score ref.a.zh ref.b.zh -i cedar.zh birch.zh -tok zh -f latex -o scores.tex
      two systems against two references, as a table for a paper

  truebleu score reference.en -i system.en -m bleu chrf ter
      three metrics from one reading of the text

  zcat system.txt.gz | truebleu score table.tsv#3 -lc -b
      standard input against the third column of a table, lower-cased; only the number
"""


def add_options(parser: shared.Parser) -> None:
    """Adds what `truebleu score` knows."""
    shared.add_inputs(parser)
    shared.add_metric(parser)
    shared.add_output(parser, tables.FORMATS)


def run(options: argparse.Namespace) -> None:
    """Scores each system and writes the numbers."""
    metrics = shared.metrics(options)
    inputs = shared.Inputs(options)
    threads = shared.threads(options)
    results: Results = []
    seen: dict[str, Summary] = {}
    style = tables.Style(options.width, score_only=options.score_only, short=options.short)
    render = tables.FORMATS[shared.form(options, tables.FORMATS)]
    with Output(options.output) as output, Progress(quiet=options.quiet) as progress:
        for system, hypotheses in inputs.systems.items():
            totals, seen[system] = together(
                metrics,
                hypotheses,
                inputs.references(),
                workers=threads,
                progress=progress,
                totals=True,
            )
            scores = [
                metric.from_statistics(sums) for metric, sums in zip(metrics, totals, strict=True)
            ]
            results.append((system, scores))
        output.write(render(results, style))
    if not options.quiet:
        doubts.warn(
            doubts.of_text(seen, inputs.reference_names, shared.tokenizer(options))
            + doubts.of_systems(inputs.systems, dict(results))
        )


COMMAND = shared.Command("truebleu score REF... -i HYP... [options]", EXAMPLES, add_options, run)
