"""`truebleu segments`: a row for each segment, in memory that does not grow with their number.

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

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from truebleu.cli import common_options as shared
from truebleu.cli import input_files as files
from truebleu.cli import metric_options, table_options
from truebleu.cli.common_options import Command, Group
from truebleu.cli.output import Results, raise_if_failed
from truebleu.cli.progress import Progress
from truebleu.cli.row_formats import FORMATS
from truebleu.cli.segment_writers import Writer
from truebleu.metrics import text_warnings
from truebleu.metrics.base import Corpus
from truebleu.metrics.joint_counting import count_batches, count_scorable

if TYPE_CHECKING:
    from truebleu._kernel import Summary
    from truebleu.metrics.joint_counting import FailedMetrics


def groups(words: Sequence[str]) -> Iterator[Group]:
    """The options of `truebleu segments`."""
    yield from files.groups(words)
    yield from metric_options.groups(words)
    yield Group("more", files.SOURCE)
    yield table_options.group("columns that stand beside the scores")
    yield shared.output(list(FORMATS), "jsonl", shared.SCORE_ONLY, digits=shared.DIGITS)
    yield shared.RUNNING


def run(options: argparse.Namespace) -> None:
    """Scores each segment of each system and writes the rows."""
    metrics = metric_options.metrics(options)
    output = Results(options)
    if output.score_only and options.format is None and output.form == "jsonl":
        output.form = "tsv"
    if table_options.are_meant(options):
        from truebleu.cli import tabular_scores

        tabular_scores.segments(options, metrics, output)
        return
    inputs = files.Inputs(options)
    expected = sum(files.expected(file) or 0 for file in inputs.systems.values())
    seen: dict[str, Summary] = {}
    zeros = text_warnings.ZeroSegments()
    failed: FailedMetrics = {}
    with output, Progress(quiet=options.quiet) as progress:
        # What may fail is counted before the first row, whose columns depend on it.
        fallible = any(metric.FALLIBLE for metric in metrics)
        known = _counted(options, inputs, metrics, failed) if fallible else None
        metrics = {metric: name for metric, name in metrics.items() if metric not in failed}
        warnings = partial(
            text_warnings.warn_about_texts,
            references=list(map(files.path_of, inputs.reference_columns)),
            metrics={metric: name or metric.name for metric, name in metrics.items()},
            language=metric_options.known_tag(options),
        )
        writer = Writer(metrics, output, several=len(inputs.systems) > 1, test_set=inputs.signature)
        done = 0
        for system, hypotheses in inputs.systems.items():
            first = 1
            corpus = Corpus(hypotheses, inputs.references(), options.threads, inputs.source)
            pieces = count_batches(list(metrics), corpus, writer.AT_ONCE)
            for counted, noticed in pieces if known is None else known[system]:
                count = len(counted[0][1])
                if system not in seen:
                    # Scripts are known from the beginning of the text, before its first row.
                    found = warnings({system: noticed})
                    output.warn((one for one in found if is_early(one)), shown=False)
                for metric, (table, scored) in zip(metrics, counted, strict=True):
                    zeros.add(system, metric, table, scored)
                writer.write(system, range(first, first + count), counted)
                first += count
                done += count
                if not output.is_terminal:
                    progress("scoring segments", done, expected)
                seen[system] = text_warnings.merge_summaries(seen.get(system), noticed)
        found = [*warnings(seen), *zeros.warnings()]
        writer.finish(found)
        output.warn((one for one in found if not is_early(one)), shown=False)
    raise_if_failed(failed.values())


def is_early(warning: Mapping[str, Any]) -> bool:
    """Return whether the beginning of a text is enough to know a warning about it."""
    return bool(warning["kind"] == "language")


def _counted(
    options: argparse.Namespace, inputs: files.Inputs, metrics: Iterable[Any], failed: FailedMetrics
) -> dict[str, list[Any]]:
    """All segments of each system as one piece, by the metrics that can score all systems."""
    found = {}
    for system, hypotheses in inputs.systems.items():
        left = [metric for metric in metrics if metric not in failed]
        corpus = Corpus(hypotheses, inputs.references(), options.threads, inputs.source)
        called = system if len(inputs.systems) > 1 else ""
        tables, seen = count_scorable(left, corpus, failed, called)
        left = [metric for metric in left if metric not in failed]
        found[system] = dict(zip(left, tables, strict=True)), seen

    def scored(tables: dict[Any, Any]) -> list[Any]:
        kept = ((metric, table) for metric, table in tables.items() if metric not in failed)
        return [(table, metric.segment_scores(table)) for metric, table in kept]

    return {system: [(scored(tables), seen)] for system, (tables, seen) in found.items()}


COMMAND = Command("truebleu segments REF... -i HYP... [options]", __doc__, groups, run)
