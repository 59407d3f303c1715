"""`truebleu score`: a number for each system."""

from __future__ import annotations

from truebleu.cli import columnar, doubts, log, resampling, tables
from truebleu.cli import options as shared
from truebleu.cli.output import Output, complain
from truebleu.cli.progress import Progress
from truebleu.counted import together

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

    from truebleu.counted import Counted
    from truebleu.metric import Score, Summary
    from truebleu.statistics import Statistics

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

  truebleu score reference.en -i system.en --log scores.jsonl --log-note "more data"
      kept in a log, whose trend truebleu history scores.jsonl shows

  truebleu score outputs.parquet --hyp-column hyp --ref-column ref --by system domain
      a table with both texts in its rows, larger than memory or not; a row a system and domain

  truebleu score refs.parquet -i 'outputs/*.parquet' --join id --by system
      hypotheses and references in different tables, joined by an id

  truebleu score table.csv --hyp-column cedar birch --ref-column ref.a ref.b
      a column a system, and two columns of references
"""


def add_options(parser: shared.Parser) -> None:
    """Adds what `truebleu score` knows."""
    shared.add_inputs(parser)
    shared.add_metric(parser)
    group = parser.add_argument_group("intervals")
    resampling.add_confidence(group, "print an interval of N bootstrap resamples (1000)")
    resampling.add_level_and_seed(group, "the interval")
    columnar.add_options(parser, "a score for each group of rows that agree in these columns")
    log.add_options(parser)
    shared.add_output(parser, tables.FORMATS)


def run(options: argparse.Namespace) -> None:
    """Scores each system and writes the numbers."""
    metrics = shared.metrics(options)
    if columnar.are_meant(options):
        from truebleu.cli import columnar_scores

        style = _style(options)
        render = tables.FORMATS[shared.form(options, tables.FORMATS)]
        with Output(options.output) as output:
            with Progress(quiet=options.quiet) as progress:
                found = columnar_scores.score(options, metrics, progress)
            output.write(render(found, style))
        return
    inputs = shared.Inputs(options)
    threads = shared.threads(options)
    resamples = resampling.resamples(options)
    kept = log.log_of(options, inputs)
    results: list[tuple[str, list[Score]]] = []
    seen: dict[str, Summary] = {}
    style = _style(options)
    render = tables.FORMATS[shared.form(options, tables.FORMATS)]
    with Output(options.output) as output:
        with Progress(quiet=options.quiet) as progress:
            for system, hypotheses in inputs.systems.items():
                references = inputs.references()
                if kept is not None:
                    hypotheses, references = kept.reading(system, hypotheses, references)  # noqa: PLW2901
                statistics, seen[system] = together(
                    metrics,
                    hypotheses,
                    references,
                    workers=threads,
                    progress=progress,
                    totals=resamples is None,
                )
                scores: list[Score] = [
                    metric.from_statistics(table)
                    for metric, table in zip(metrics, statistics, strict=True)
                ]
                if resamples is not None:
                    scores = _estimated(metrics, statistics, scores, options, resamples)
                results.append((system, scores))
            if kept is not None:
                # Before anything is printed: whoever reads that may go before its end.
                kept.add(results, seen)
        output.write(render(results, style))
    if resamples is not None and len(results) > 1 and not options.quiet:
        complain(
            "note",
            "intervals that overlap say little about a difference; truebleu compare tests it",
        )
    if not options.quiet:
        doubts.warn(
            doubts.of_text(seen, inputs.reference_names, shared.tokenizer(options))
            + doubts.of_systems(inputs.systems, dict(results))
        )


def _style(options: argparse.Namespace) -> tables.Style:
    return tables.Style(options.width, score_only=options.score_only, short=options.short)


def _estimated(
    metrics: Sequence[Counted[Any]],
    tables: Sequence[Statistics],
    scores: Sequence[Score],
    options: argparse.Namespace,
    resamples: int,
) -> list[Score]:
    """Scores with their intervals."""
    from truebleu.significance import Measure, intervals

    measures = [Measure(metric, {"": table}) for metric, table in zip(metrics, tables, strict=True)]
    ranges = intervals(
        measures,
        resamples=resamples,
        seed=options.seed,
        level=options.level,
        workers=shared.threads(options),
    )
    return [
        resampling.Estimated(score, of_metric[""])
        for score, of_metric in zip(scores, ranges, strict=True)
    ]


COMMAND = shared.Command("truebleu score REF... -i HYP... [options]", EXAMPLES, add_options, run)
