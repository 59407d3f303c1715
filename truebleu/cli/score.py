"""`truebleu score`: corpus-level scores of systems with one or more metrics.

examples:
  truebleu score reference.en -i system.en
      score one system; print the score and its parts on a terminal, or exact JSON if output is
      piped; -f sacrebleu prints the line that sacreBLEU prints

  truebleu score ref.a.zh ref.b.zh -i cedar.zh birch.zh -tok zh -f latex -o scores.tex
      score two systems against two references, and write a table for a paper

  truebleu score reference.en -i system.en -m bleu,chrf,ter,nist
      compute four metrics and read the text only once

  zcat system.txt.gz | truebleu score table.tsv#3 -lc -b
      score standard input against the third column of a table, in lower case; print only the score

  truebleu score reference.en -i system.en --docs documents.txt --by document
      also score each document

  truebleu score reference.en -i system.en --log scores.jsonl --log-note "more data"
      append the score to a log; show its trend with truebleu history scores.jsonl

  truebleu score outputs.parquet --hyp-column hyp --ref-column ref --by system domain
      read a table of any size with hypotheses and references; score each system and domain

  truebleu score refs.parquet -i 'outputs/*.parquet' --join id --by system
      join tables of hypotheses and references by an id

  truebleu score table.csv --hyp-column cedar birch --ref-column ref.a ref.b
      read two systems and two references from the columns of a table
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from truebleu.cli import common_options as shared
from truebleu.cli import input_files as files
from truebleu.cli import metric_options, score_writers
from truebleu.cli.common_options import Command, OptionGroup
from truebleu.cli.output import Progress, Results, UsageError, print_message, raise_if_failed
from truebleu.cli.score_writers import ScoreResult
from truebleu.metrics import text_warnings
from truebleu.metrics.base import Corpus, Metric
from truebleu.metrics.joint_counting import compute_statistics_or_errors
from truebleu.metrics.scores import Statistics
from truebleu.text.record import Record
from truebleu.text.segments import (
    File,
    hash_file,
    hash_texts,
    make_rereadable,
    read_reference_streams,
)
from truebleu.text.system_names import format_path

if TYPE_CHECKING:
    from truebleu._kernel import Summary
    from truebleu.metrics.joint_counting import FailedMetrics
    from truebleu.significance import Interval


def list_score_groups(words: Sequence[str]) -> Iterator[OptionGroup]:
    """Yield the option groups of `truebleu score`."""
    yield from files.list_input_groups(words)
    yield from metric_options.list_metric_groups(words)
    yield OptionGroup("more", files.SOURCE, f"{files.DOCUMENTS}, for --by document or --resample")
    yield OptionGroup("intervals", *shared.INTERVALS, *shared.RESAMPLE)
    yield files.make_table_group(
        "score each group of rows that have equal values in these columns; for text files, "
        "--by document scores each document of --docs"
    )
    yield shared.LOG
    yield shared.PAPER
    display_options = (shared.COLOR, shared.SCORE_ONLY)
    yield shared.make_output_group(score_writers.FORMATS, "json", *display_options, digits=1)
    yield shared.RUNNING


def run(options: argparse.Namespace) -> None:
    """Score each system and write the scores."""
    metrics = metric_options.select_metrics(options)
    output = Results(options)
    output.select_line_format(options, ("sacrebleu", "json", "markdown", "latex", "html"))
    output.check_scale()
    paper = shared.get_paper_options(options, output.form)
    if files.uses_tables(options):
        from truebleu.cli import tabular_inputs

        with output:
            with Progress(quiet=options.quiet) as progress:
                scores = tabular_inputs.score_tables(options, list(metrics), progress)
            score_writers.write_scores(scores, metrics, output, paper=paper)
        if not options.quiet:
            for line in dict.fromkeys(line for result in scores for line in result.score.warnings):
                print_message("warning", line)
        return
    inputs = files.Inputs(options)
    _check_document_options(options, inputs)
    scorer = SystemScorer(options, metrics, inputs, shared.get_resample_count(options), {}, {})
    logger = _open_log(options, inputs)
    results: list[ScoreResult] = []
    with output:
        with Progress(quiet=options.quiet) as progress:
            for system in inputs.systems:
                results += scorer.score_system(system, logger, progress)
            results = [result for result in results if result.metric not in scorer.failed]
            metrics = scorer.remaining_metrics
            if logger is not None:
                # Log before printing, because a closed pipe ends the command.
                logger.append_scores(results, scorer.seen)
        by_system = {
            name: [
                result.score
                for result in results
                if result.system == name and result.is_corpus_score
            ]
            for name in inputs.systems
        }
        references = list(map(format_path, inputs.reference_columns))
        warnings = text_warnings.warn_about_texts(
            scorer.seen,
            references,
            {metric: name or metric.name for metric, name in metrics.items()},
            metric_options.get_language_tag(options),
        )
        warnings += text_warnings.warn_about_identical_outputs(
            inputs.systems, lambda name, earlier: by_system[name] == by_system[earlier]
        )
        warnings += text_warnings.warn_about_line_breaks(result.score for result in results)
        score_writers.write_scores(
            results, metrics, output, warnings, data=inputs.describe(), paper=paper
        )
    if scorer.resamples is not None and len(inputs.systems) > 1 and not options.quiet:
        print_message(
            "note",
            "overlapping intervals say little about a difference; test it with truebleu compare",
        )
    raise_if_failed(scorer.failed.values())


def _check_document_options(options: argparse.Namespace, inputs: files.Inputs) -> None:
    """Raise UsageError for missing document names, and for options without effect."""
    resamples_documents = options.resample == "documents"
    has_documents = files.get_documents(options, inputs) is not None
    for option, is_used in (
        ("--resample documents", resamples_documents),
        ("--by document", "document" in (options.by or ())),
    ):
        if is_used and not has_documents:
            raise UsageError(f"{option} needs document names; use --docs")
    if resamples_documents and shared.get_resample_count(options) is None:
        raise UsageError("--resample has no effect without --confidence")
    if options.docs is not None and not files.uses_documents(options):
        raise UsageError(files.UNUSED_DOCUMENTS)


def _open_log(options: argparse.Namespace, inputs: files.Inputs) -> ScoreLogger | None:
    """Return the logger, or None without --log. Invalid logs are rejected before scoring."""
    if options.log is not None:
        return ScoreLogger(options, inputs)
    flags = {"log_name": "--log-name", "log_note": "--log-note", "log_report": "--log-report"}
    shared.refuse_options(options, flags, "has no effect without --log")
    return None


class ScoreLogger:
    """Logger that appends scores to a log, with hashes of the input texts."""

    def __init__(self, options: argparse.Namespace, inputs: files.Inputs) -> None:
        from truebleu.comparison.score_log import check_log_is_appendable

        systems = len(inputs.systems)
        names: list[str | None] = options.log_name or [None] * systems
        if len(names) != systems:
            raise UsageError(
                f"--log-name: {len(names)} names for {systems} systems (expected one per system)"
            )
        if options.output and os.path.realpath(options.log) == os.path.realpath(options.output):
            raise UsageError(f"--log: {options.log} is also the output file (-o). Use two files")
        check_log_is_appendable(options.log)
        self._options = options
        self._names = dict(zip(inputs.systems, names, strict=True))
        # Path and hash of the output of each system and of the references.
        self._inputs: dict[str, list[tuple[str, str]]] = {}

    def add_inputs(
        self, system: str, hypotheses: File, columns: Sequence[File], references: Any
    ) -> None:
        """Store the hashes of a system's inputs, which must be rereadable.

        columns: the reference files or columns. With --num-refs, `references` contains a row
            per segment.
        """
        if isinstance(references[0], File):
            hashes = list(map(hash_file, references))
        else:
            hashes = list(map(hash_texts, read_reference_streams(references)))
        self._inputs[system] = [
            ("standard input" if file.path == "-" else file.path, digest)
            for file, digest in zip(
                [hypotheses, *columns], [hash_file(hypotheses), *hashes], strict=False
            )
        ]

    def append_scores(
        self, results: Sequence[ScoreResult], summaries: Mapping[str, Mapping[str, Any]]
    ) -> None:
        """Append the corpus scores of all systems to the log, or leave it unchanged on failure."""
        from truebleu.comparison.score_log import Entry, Input, append_log_entries, get_log_time

        time = get_log_time()
        inputs = {
            system: [Input(*file) for file in files] for system, files in self._inputs.items()
        }
        entries = (
            Entry(
                time=time,
                system=result.system,
                metric=result.score.name,
                score=result.score.value,
                signature=str(result.signature),
                segments=summaries[result.system]["segments"],
                hypothesis=inputs[result.system][0],
                references=tuple(inputs[result.system][1:]),
                name=self._names[result.system],
                note=self._options.log_note,
                report=self._options.log_report,
                low=result.interval_ends.get("low"),
                high=result.interval_ends.get("high"),
            )
            for result in results
            if result.is_corpus_score
        )
        append_log_entries(self._options.log, entries)


class SystemScorer(Record):
    """Scorer that computes corpus and group scores of each system."""

    options: argparse.Namespace
    metrics: Mapping[Metric[Any], str | None]
    inputs: files.Inputs
    resamples: int | None
    seen: dict[str, Summary]
    failed: FailedMetrics
    """The metrics that failed for a system, with their errors."""

    @property
    def remaining_metrics(self) -> dict[Metric[Any], str | None]:
        """The metrics that have not failed, with the names that -m uses for them."""
        return {metric: name for metric, name in self.metrics.items() if metric not in self.failed}

    def score_system(
        self, system: str, logger: ScoreLogger | None, progress: Progress
    ) -> list[ScoreResult]:
        """Return the corpus scores and group scores of a system."""
        hypotheses: Any = self.inputs.systems[system]
        references = self.inputs.read_references()
        if logger is not None:
            hypotheses = make_rereadable(hypotheses, on_disk=True)
            references = make_rereadable(references, on_disk=True)
            logger.add_inputs(system, hypotheses, self.inputs.reference_columns, references)
        expected = (
            None if progress.is_silent else files.estimate_line_count(self.inputs.systems[system])
        )
        has_several_systems = len(self.inputs.systems) > 1
        activity = f"reading {system}" if has_several_systems else "reading segments"
        keeps_totals_only = self.resamples is None and not self.options.by
        corpus = Corpus(
            hypotheses,
            references,
            self.options.threads,
            self.inputs.source,
            progress=lambda count: progress(activity, count, expected),
            totals=keeps_totals_only,
        )
        label = system if has_several_systems else ""
        tables, self.seen[system] = compute_statistics_or_errors(
            list(self.remaining_metrics), corpus, self.failed, label
        )
        scripts = text_warnings.compute_script_shares(self.seen[system])
        groups = self._get_groups(len(tables[0])) if self.options.by else []

        def make_result(
            metric: Metric[Any], name: str | None, table: Statistics, **fields: Any
        ) -> ScoreResult:
            return ScoreResult(
                system,
                name or metric.name,
                metric.from_statistics(table),
                metric.DIGITS,
                metric=metric,
                test_set=self.inputs.signature,
                **fields,
            )

        # A table of totals has one row, so its length is not the number of segments.
        segments = self.seen[system]["segments"]
        intervals = self._compute_intervals(tables, progress)
        table_metrics = list(self.remaining_metrics.items())
        return [
            make_result(*one, table, interval=interval, scripts=scripts, segments=segments)
            for one, table, interval in zip(table_metrics, tables, intervals, strict=True)
        ] + [
            make_result(*one, part, group={"system": system, **dict(labels)}, segments=len(part))
            for one, table in zip(table_metrics, tables, strict=True)
            for labels, part in (table.parts(groups).items() if groups else ())
        ]

    def _get_groups(self, segment_count: int) -> list[tuple[tuple[str, str], ...]]:
        """Return the --by labels of each segment, as pairs of a name and a value."""
        labels = self.inputs.get_labels(segment_count)
        names = list(dict.fromkeys(self.options.by))
        for name in names:
            if name not in labels:
                test_set = self.inputs.test_set
                owner = "the text files have" if test_set is None else f"{test_set.name} has"
                raise UsageError(f"--by: {owner} no label '{name}' (expected {', '.join(labels)})")
        label_rows = zip(*(labels[name] for name in names), strict=True)
        return [tuple(zip(names, values, strict=True)) for values in label_rows]

    def _get_document_indices(self, segments: int) -> list[int] | None:
        """Return the document index of each segment, or None if documents are not resampled."""
        if self.options.resample == "segments":
            return None
        from truebleu.comparison import segment_labels

        documents = segment_labels.read_document_names(
            files.get_documents(self.options, self.inputs), segments
        )
        is_first_system = len(self.seen) == 1
        if len(documents.names) == segments > 1 and is_first_system and not self.options.quiet:
            from truebleu.comparison.comparison_notes import describe_single_segments

            print_message("note", describe_single_segments(segments))
        return documents.indices

    def _compute_intervals(
        self, tables: Sequence[Statistics], progress: Progress
    ) -> Sequence[Interval | None]:
        """Return the confidence interval of each metric's score, or None without intervals."""
        if self.resamples is None:
            return [None] * len(tables)
        from truebleu.significance import Measure, bootstrap_intervals

        measures = [
            Measure(metric, {"": table})
            for metric, table in zip(self.remaining_metrics, tables, strict=True)
        ]
        ranges = bootstrap_intervals(
            measures,
            documents=self._get_document_indices(len(tables[0])),
            resamples=self.resamples,
            seed=self.options.seed,
            level=self.options.level,
            workers=self.options.threads,
            progress=None if progress.is_silent else lambda *done: progress("resampling", *done),
        )
        return [metric_intervals[""] for metric_intervals in ranges]


COMMAND = Command("truebleu score REF... -i HYP... [options]", __doc__, list_score_groups, run)
