"""`truebleu segments`: sentence-level scores with constant memory use.

examples:
  truebleu segments reference.en -i system.en -f text
      print the number, score and text of each segment; -f sacrebleu prints lines like
      sacrebleu -sl

  truebleu segments reference.en -i cedar.en birch.en -m bleu,chrf -f tsv -o segments.tsv
      write a table with segment numbers, systems and scores; --statistics adds
      matches, lengths and other statistics of each score

  truebleu segments reference.en -i system.en -f tsv | sort -k3n | head
      list the segments with the lowest scores

  truebleu segments refs.parquet -i outputs.parquet --join id --by system -o segments.parquet
      join tables of hypotheses and references by an id, and write scores with id and system
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from truebleu.cli import common_options as shared
from truebleu.cli import input_files as files
from truebleu.cli import metric_options, table_options
from truebleu.cli.common_options import Command, OptionGroup
from truebleu.cli.output import Results, UsageError, print_message, raise_if_failed
from truebleu.cli.progress import Progress
from truebleu.cli.segment_writers import FORMATS, REQUESTED_STATISTICS_FORMATS, SegmentWriter
from truebleu.metrics import text_warnings
from truebleu.metrics.base import Corpus
from truebleu.metrics.joint_counting import compute_batch_statistics, compute_statistics_or_errors
from truebleu.text.segments import make_rereadable
from truebleu.text.system_names import ShortNames, format_path

if TYPE_CHECKING:
    from truebleu._kernel import Summary
    from truebleu.metrics.joint_counting import FailedMetrics


STATISTICS = (
    "--statistics  in tsv and csv, add matches, lengths and other statistics of each score (json, "
    "jsonl and parquet always contain them)"
)


def list_segment_groups(words: Sequence[str]) -> Iterator[OptionGroup]:
    """Yield the option groups of `truebleu segments`."""
    yield from files.list_input_groups(words)
    yield from metric_options.list_metric_groups(words)
    yield OptionGroup("more", files.SOURCE)
    yield table_options.make_table_group("copy these columns to the results")
    further_options = (shared.SCORE_ONLY, *shared.parse_options(STATISTICS))
    yield shared.make_output_group(list(FORMATS), "jsonl", *further_options, digits=shared.DIGITS)
    yield shared.RUNNING


def run(options: argparse.Namespace) -> None:
    """Score all segments of each system and write the scores."""
    metrics = metric_options.select_metrics(options)
    output = Results(options)
    if output.score_only and options.format is None and output.form == "jsonl":
        output.form = "tsv"
    if output.score_only and output.form == "sacrebleu":
        raise UsageError("-b/--score-only cannot be combined with -f sacrebleu; use text or tsv")
    if options.statistics and (
        output.score_only or output.form not in REQUESTED_STATISTICS_FORMATS
    ):
        cause = "-b/--score-only" if output.score_only else f"-f {output.form}"
        raise UsageError(f"--statistics has no effect with {cause}")
    output.check_scale()
    if table_options.uses_tables(options):
        from truebleu.cli import tabular_scores

        tabular_scores.write_segments(options, metrics, output)
        return
    inputs = files.Inputs(options)
    output.short_names = ShortNames(inputs.systems)
    expected = sum(files.estimate_line_count(file) or 0 for file in inputs.systems.values())
    seen: dict[str, Summary] = {}
    zeros = text_warnings.ZeroSegments()
    failed: FailedMetrics = {}
    with output, Progress(quiet=options.quiet) as progress:
        # Compute metrics that may fail first, because only successful metrics get columns.
        fallible = any(metric.FALLIBLE for metric in metrics)
        precomputed = _score_all_segments(options, inputs, metrics, failed) if fallible else None
        metrics = {metric: name for metric, name in metrics.items() if metric not in failed}
        find_warnings = partial(
            text_warnings.warn_about_texts,
            references=list(map(format_path, inputs.reference_columns)),
            metrics={metric: name or metric.name for metric, name in metrics.items()},
            language=metric_options.get_language_tag(options),
        )
        writer = SegmentWriter(
            metrics,
            output,
            has_several_systems=len(inputs.systems) > 1,
            test_set=inputs.signature,
            statistics=options.statistics,
        )
        if writer.shows_texts:
            inputs.systems = {name: make_rereadable(file) for name, file in inputs.systems.items()}
        done = 0
        for system, hypotheses in inputs.systems.items():
            shown_name = output.short_names.shorten(system) if writer.shows_texts else system
            first = 1
            lines = hypotheses.read_lines() if writer.shows_texts else None
            corpus = Corpus(hypotheses, inputs.read_references(), options.threads, inputs.source)
            pieces = compute_batch_statistics(list(metrics), corpus, writer.BATCH_ROWS)
            for segment_scores, summary in pieces if precomputed is None else precomputed[system]:
                count = len(segment_scores[0][1])
                if system not in seen:
                    # Warnings about the script need only the first batch.
                    warnings = find_warnings({system: summary})
                    output.print_warnings(
                        (warning for warning in warnings if needs_only_first_batch(warning)),
                        in_results=False,
                    )
                for metric, (table, scores) in zip(metrics, segment_scores, strict=True):
                    zeros.add_segments(system, metric, table, scores)
                texts = None if lines is None else list(islice(lines, count))
                numbers = range(first, first + count)
                writer.write([shown_name] * count, numbers, segment_scores, texts=texts)
                first += count
                done += count
                if not output.is_terminal:
                    progress("scoring segments", done, expected)
                seen[system] = text_warnings.merge_summaries(seen.get(system), summary)
        warnings = [*find_warnings(seen), *zeros.list_warnings()]
        writer.finish(warnings)
        output.print_warnings(
            (warning for warning in warnings if not needs_only_first_batch(warning)),
            in_results=False,
        )
    if writer.shows_texts and output.short_names and not options.quiet:
        print_message("note", output.short_names.note)
    raise_if_failed(failed.values())


def needs_only_first_batch(warning: Mapping[str, Any]) -> bool:
    """Return whether the first batch of segments is enough to issue a warning."""
    return bool(warning["kind"] == "language")


def _score_all_segments(
    options: argparse.Namespace, inputs: files.Inputs, metrics: Iterable[Any], failed: FailedMetrics
) -> dict[str, list[Any]]:
    """Return all segment scores per system, for the metrics that can score all systems."""
    tables_by_system = {}
    for system, hypotheses in inputs.systems.items():
        remaining_metrics = [metric for metric in metrics if metric not in failed]
        corpus = Corpus(hypotheses, inputs.read_references(), options.threads, inputs.source)
        label = system if len(inputs.systems) > 1 else ""
        tables, seen = compute_statistics_or_errors(remaining_metrics, corpus, failed, label)
        remaining_metrics = [metric for metric in remaining_metrics if metric not in failed]
        tables_by_system[system] = dict(zip(remaining_metrics, tables, strict=True)), seen

    def score_tables(tables: dict[Any, Any]) -> list[Any]:
        remaining_tables = (
            (metric, table) for metric, table in tables.items() if metric not in failed
        )
        return [(table, metric.segment_scores(table)) for metric, table in remaining_tables]

    return {
        system: [(score_tables(tables), seen)]
        for system, (tables, seen) in tables_by_system.items()
    }


COMMAND = Command("truebleu segments REF... -i HYP... [options]", __doc__, list_segment_groups, run)
