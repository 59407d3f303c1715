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
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from truebleu._kernel import InputError, Scores
from truebleu.cli import common_options as shared
from truebleu.cli import input_files as files
from truebleu.cli import metric_options
from truebleu.cli.common_options import Command, OptionGroup
from truebleu.cli.output import Progress, Results, UsageError, print_message, raise_if_failed
from truebleu.metrics import text_warnings
from truebleu.metrics.base import Corpus, Metric
from truebleu.metrics.joint_counting import compute_batch_statistics, compute_statistics_or_errors
from truebleu.metrics.scores import Statistics
from truebleu.rendering.table_writers import ROW_FORMATS, RowWriter, TableSpec
from truebleu.text.segments import make_rereadable
from truebleu.text.system_names import ShortNames, format_path
from truebleu.text.terminal_layout import escape_unprintable

if TYPE_CHECKING:
    from truebleu._kernel import Summary
    from truebleu.metrics.joint_counting import FailedMetrics


def list_segment_groups(words: Sequence[str]) -> Iterator[OptionGroup]:
    """Yield the option groups of `truebleu segments`."""
    yield from files.list_input_groups(words)
    yield from metric_options.list_metric_groups(words)
    yield OptionGroup("more", files.SOURCE, files.DOCUMENTS)
    yield files.make_table_group("copy these columns to the results")
    (statistics,) = shared.parse_options(
        "--statistics  in tsv and csv, add matches, lengths and other statistics of each score "
        "(json, jsonl and parquet always contain them)"
    )
    further_options = (shared.SCORE_ONLY, statistics)
    yield shared.make_output_group(list(FORMATS), "jsonl", *further_options, digits=1)
    yield shared.RUNNING


def run(options: argparse.Namespace) -> None:
    """Score all segments of each system and write the scores."""
    metrics = metric_options.select_metrics(options)
    output = Results(options)
    output.select_line_format(options, ("sacrebleu",))
    if options.statistics and (
        output.score_only or output.form not in REQUESTED_STATISTICS_FORMATS
    ):
        cause = "-b/--score-only" if output.score_only else f"-f {output.form}"
        raise UsageError(f"--statistics has no effect with {cause}")
    output.check_scale()
    output.check_short(("tsv", "csv", "jsonl"))
    if files.uses_tables(options):
        write_table_segments(options, metrics, output)
        return
    if options.docs is not None and options.resegment is None:
        raise UsageError("--docs has no effect without --resegment")
    inputs = files.Inputs(options)
    if options.output is None:
        inputs.check_line_counts()
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
                    # Warnings about the language need only the first batch.
                    first_warnings = find_warnings({system: summary})
                    first_warnings = [one for one in first_warnings if one["kind"] == "language"]
                    output.print_warnings(first_warnings, in_results=False)
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
        later_warnings = [warning for warning in warnings if warning["kind"] != "language"]
        output.print_warnings(later_warnings, in_results=False)
    if writer.shows_texts and output.short_names and not options.quiet:
        print_message("note", output.short_names.note)
    raise_if_failed(failed.values())


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
    return {
        system: [
            (
                [
                    (table, metric.segment_scores(table))
                    for metric, table in tables.items()
                    if metric not in failed
                ],
                seen,
            )
        ]
        for system, (tables, seen) in tables_by_system.items()
    }


# ---- writer ----

Metrics = Mapping[Metric[Any], str | None]
# For a batch of segments: the statistics and scores per metric, and the extra columns per metric.
SegmentScores = Sequence[tuple[Statistics, Scores]]
ExtraColumns = Sequence[Sequence[Any]]


# "sacrebleu" is the format of `sacrebleu --sentence-level`.
FORMATS = (*(name for name in ROW_FORMATS if name != "npy"), "sacrebleu")
# Formats that always contain the statistics, and formats that contain them on request.
STATISTICS_FORMATS, REQUESTED_STATISTICS_FORMATS = ("json", "jsonl", "parquet"), ("tsv", "csv")


class SegmentWriter:
    """Writer of segment scores as rows, or as lines in sacreBLEU's format."""

    def __init__(
        self,
        metrics: Metrics,
        output: Results,
        *,
        has_several_systems: bool,
        system_column: str = "system",
        extra_names: Sequence[str] = (),
        arrow_types: Any = None,
        test_set: Mapping[str, str] = MappingProxyType({}),
        statistics: bool = False,
    ) -> None:
        self.shows_texts = output.form == "text"
        """True if each row shows the hypothesis."""
        self._has_statistics = statistics or output.form in STATISTICS_FORMATS
        self.metrics = metrics
        self.test_set = test_set
        self.output = output
        self.has_several_systems = has_several_systems
        self._rows: RowWriter | None = None
        if output.form == "sacrebleu":
            self.BATCH_ROWS = RowWriter.BATCH_ROWS
            return
        scores = [name or metric.name for metric, name in metrics.items()]
        prefixes = [""] if len(metrics) == 1 else [f"{name}_" for name in scores]
        statistic_names = [
            f"{prefix}{column}"
            for metric, prefix in zip(metrics, prefixes, strict=True)
            for column in metric.segment_detail_names
            if self._has_statistics
        ]
        number_column = "row" if "segment" in extra_names else "segment"
        systems = [system_column] if has_several_systems or not self.shows_texts else []
        names = [number_column, *systems, *extra_names, *scores]
        names += ["text"] if self.shows_texts else statistic_names
        duplicates = [name for name in extra_names if names.count(name) > 1]
        if duplicates:
            raise UsageError(f"--by: the results already have a column '{duplicates[0]}'")
        # The name of the score and the signature of each metric.
        self._signatures = {
            name: self._format_signature(metric)
            for name, metric in zip(scores, metrics, strict=True)
        }
        table = TableSpec(
            "segments",
            names,
            score_names=scores,
            percentage_names=[
                name for name, metric in zip(scores, metrics, strict=True) if metric.is_percentage
            ],
            text_names=[*systems, *extra_names, "text"],
            statistic_names=statistic_names,
            shortened_names=["text"] if self.shows_texts else [],
            metadata={"signatures": self._signatures},
            arrow_types=arrow_types,
        )
        self._rows = output.make_row_writer(table)
        self.BATCH_ROWS = self._rows.BATCH_ROWS

    def write(
        self,
        systems: Sequence[Any],
        numbers: Sequence[int],
        segment_scores: SegmentScores,
        extra_columns: ExtraColumns = (),
        *,
        texts: Sequence[str] | None = None,
    ) -> None:
        """Write a batch of segments with the system of each segment, and extra columns.

        texts: the hypotheses; only needed if `shows_texts`.
        """
        if self._rows is None:
            self._write_lines(systems, segment_scores, extra_columns)
            return
        if self.shows_texts:
            # The number of references is not known before the first batch.
            for score, metric, (table, _) in zip(
                self._signatures, self.metrics, segment_scores, strict=True
            ):
                self._signatures[score] = self._format_signature(metric, table.references)
        details = (
            column
            for metric, (table, _) in zip(self.metrics, segment_scores, strict=True)
            if self._has_statistics
            for column in metric.compute_segment_details(table)
        )
        names = [None if one is None else escape_unprintable(str(one)) for one in systems]
        has_system = self.has_several_systems or not self.shows_texts
        self._rows.write(
            [
                numbers,
                *([names] if has_system else []),
                *extra_columns,
                *(metric_scores for _, metric_scores in segment_scores),
                *([texts] if self.shows_texts else details),
            ]
        )

    def _format_signature(self, metric: Metric[Any], *references: Any) -> str:
        """Return the signature of a metric. Omit the number of references if it is unknown."""
        signature = metric.signature(*references, segment=True)
        return self.output.format_signature(signature.with_test_set(self.test_set))

    def finish(self, warnings: Sequence[Mapping[str, Any]] = ()) -> None:
        """Write the end of the output, which in JSON includes the warnings about the text."""
        if self._rows is not None:
            self._rows.warnings = warnings
            self._rows.finish()

    def _write_lines(
        self, systems: Sequence[Any], segment_scores: SegmentScores, extra_columns: ExtraColumns
    ) -> None:
        """Write a line per segment and metric, like sacreBLEU's --sentence-level."""
        output = self.output
        columns_before = [systems, *extra_columns] if self.has_several_systems else extra_columns
        rows_before = zip(*columns_before, strict=True) if columns_before else repeat(())
        prefixes = (
            "".join(
                "\t" if cell is None else f"{escape_unprintable(str(cell))}\t" for cell in cells
            )
            for cells in rows_before
        )
        parts = []
        for metric, (statistics, scores) in zip(self.metrics, segment_scores, strict=True):
            references = statistics.references
            head = f"{metric.name}|{self._format_signature(metric, references)}"
            lines = []
            for row, value in zip(statistics.tolist(), scores.tolist(), strict=True):
                score = metric.score_from_row(row, references, segment=True, value=value)
                number = output.format_score(value, is_percentage=metric.is_percentage)
                lines.append(f"{head} = {number} {output.format_details(score)}".rstrip())
            parts.append(lines)
        line_groups = zip(zip(*parts, strict=True), prefixes, strict=False)
        self.output.write(
            "".join(
                f"{prefix}{line}\n" for group_lines, prefix in line_groups for line in group_lines
            )
        )


# ---- tables ----


def write_table_segments(options: argparse.Namespace, metrics: Metrics, output: Results) -> None:
    """Write a row per segment, in file order."""
    from truebleu.cli.tabular_inputs import Tables

    tables = Tables(options)
    extra_names = list(dict.fromkeys([*tables.join, *tables.by]))
    written_names, system_position = extra_names, None
    if "system" in tables.by and len(tables.systems) == 1:
        # This column contains the system of each row.
        system_position = extra_names.index("system")
        written_names = [name for name in extra_names if name != "system"]
    writer: SegmentWriter | None = None
    with output, Progress(quiet=options.quiet) as progress:
        for system in tables.systems:
            with tables.open_rows(system, extra_names) as (arrow_types, text_columns, read_batches):
                writer = writer or SegmentWriter(
                    metrics,
                    output,
                    has_several_systems=len(tables.systems) > 1 or system_position is not None,
                    system_column=tables.system_name if system_position is None else "system",
                    extra_names=written_names,
                    arrow_types=arrow_types,
                    statistics=options.statistics,
                )
                source = read_batches(writer.BATCH_ROWS)
                batches = _score_batches(source, metrics, text_columns, options)
                for numbers, texts, segment_scores, extra_columns in batches:
                    columns = list(extra_columns)
                    names = (
                        [system.name] * len(numbers)
                        if system_position is None
                        else columns.pop(system_position)
                    )
                    writer.write(names, numbers, segment_scores, columns, texts=texts)
                    if not output.is_terminal:
                        progress("scoring rows", numbers[-1])
        assert writer is not None
        writer.finish()


def _score_batches(
    source: Iterator[list[tuple[Any, ...]]],
    metrics: Metrics,
    text_columns: Sequence[str],
    options: argparse.Namespace,
) -> Iterator[tuple[list[int], list[str], SegmentScores, Sequence[Sequence[Any]]]]:
    """Yield the row numbers, hypotheses, statistics and extra columns of each batch of rows."""
    from truebleu.engines.aggregates import describe_nulls

    count, scored, nulls = 0, 0, [0, 0]
    first_null = None
    for rows in source:
        numbers, complete_rows = [], []
        for number, row in enumerate(rows, count + 1):
            missing = (row[0] is None, row[1] is None)
            if not any(missing):
                numbers.append(number)
                complete_rows.append(row)
                continue
            first_null = first_null or number
            nulls = [so_far + is_null for so_far, is_null in zip(nulls, missing, strict=True)]
        count += len(rows)
        # After the first null, count all nulls without scoring.
        if not complete_rows or (first_null and options.nulls != "skip"):
            continue
        hypotheses, references, *extra_columns = map(list, zip(*complete_rows, strict=True))
        corpus = Corpus(hypotheses, references, options.threads)
        for segment_scores, _ in compute_batch_statistics(
            list(metrics), corpus, len(complete_rows)
        ):
            scored += len(segment_scores[0][1])
            yield numbers, hypotheses, segment_scores, extra_columns
    null_counts = describe_nulls({text_columns[0]: nulls[0], ", ".join(text_columns[1:]): nulls[1]})
    if null_counts and options.nulls != "skip":
        raise InputError(
            f"{null_counts} (first in row {first_null}); every row needs a hypothesis and a "
            "reference. Use --nulls skip to skip incomplete rows"
        )
    if null_counts:
        warnings.warn(f"skipped rows with null values: {null_counts}", stacklevel=2)
    if not scored:
        raise InputError("the tables contain no segments")


COMMAND = Command("truebleu segments REF... -i HYP... [options]", __doc__, list_segment_groups, run)
