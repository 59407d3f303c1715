"""`truebleu score`: a score for each system, by one metric or several.

examples:
  truebleu score reference.en -i system.en
      one system: sacreBLEU's line on a terminal, JSON with every digit in a pipe

  truebleu score ref.a.zh ref.b.zh -i cedar.zh birch.zh -tok zh -f latex -o scores.tex
      two systems against two references, as a table for a paper

  truebleu score reference.en -i system.en -m bleu,chrf,ter,nist
      four metrics from one reading of the text

  zcat system.txt.gz | truebleu score table.tsv#3 -lc -b
      standard input against the third column of a table, lower-cased; only the number

  truebleu score reference.en -i system.en --docs documents.txt
      the score of each document, too

  truebleu score reference.en -i system.en --log scores.jsonl --log-note "more data"
      kept in a log, whose trend truebleu history scores.jsonl shows

  truebleu score outputs.parquet --hyp-column hyp --ref-column ref --by system domain
      a table with both texts in its rows, larger than memory or not; a row per system and domain

  truebleu score refs.parquet -i 'outputs/*.parquet' --join id --by system
      hypotheses and references in different tables, joined by an id

  truebleu score table.csv --hyp-column cedar birch --ref-column ref.a ref.b
      a column per system, and two columns of references
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from truebleu.cli import common_options as shared
from truebleu.cli import input_files as files
from truebleu.cli import metric_options, score_writers, table_options
from truebleu.cli.common_options import Command, Group
from truebleu.cli.output import Results, UsageError, complain, raise_if_failed
from truebleu.cli.progress import Progress
from truebleu.cli.score_writers import Scored
from truebleu.metrics import text_warnings
from truebleu.metrics.base import Corpus, Metric
from truebleu.metrics.joint_counting import count_scorable
from truebleu.metrics.statistics import Statistics
from truebleu.text.record import Record

if TYPE_CHECKING:
    from truebleu._kernel import Summary
    from truebleu.cli.log_entries import Logging
    from truebleu.metrics.joint_counting import FailedMetrics
    from truebleu.significance import Interval


def groups(words: Sequence[str]) -> Iterator[Group]:
    """The options of `truebleu score`."""
    yield from files.groups(words)
    yield from metric_options.groups(words)
    yield Group("more", files.SOURCE, files.DOCUMENTS)
    yield Group("intervals", *shared.INTERVALS, *shared.RESAMPLE)
    yield table_options.group("a score for each group of rows that agree in these columns")
    yield shared.LOG
    digits = f"{shared.DIGITS}: json, tsv, csv"
    more = (shared.COLOR, shared.SCORE_ONLY)
    yield shared.output(score_writers.FORMATS, "json", *more, digits=digits)
    yield shared.RUNNING


def run(options: argparse.Namespace) -> None:
    """Scores each system and writes the numbers."""
    metrics = metric_options.metrics(options)
    output = Results(options)
    score_writers.adjust(output, options)
    if table_options.are_meant(options):
        from truebleu.cli import tabular_scores

        with output:
            with Progress(quiet=options.quiet) as progress:
                found = tabular_scores.score(options, list(metrics), progress)
            score_writers.write(found, metrics, output)
        if not options.quiet:
            for line in dict.fromkeys(line for one in found for line in one.score.warnings):
                complain("warning", line)
        return
    inputs = files.Inputs(options)
    if options.resample == "documents" and files.documents_of(options, inputs) is None:
        raise UsageError("--resample: documents, and there are none; name them with --docs")
    if options.resample == "documents" and shared.resamples(options) is None:
        raise UsageError("--resample: it is for intervals; ask for them with --confidence")
    work = Work(options, metrics, inputs, shared.resamples(options), {}, {})
    kept = _log_of(options, inputs)
    results: list[Scored] = []
    with output:
        with Progress(quiet=options.quiet) as progress:
            for system in inputs.systems:
                results += work.score(system, kept, progress)
            results = [one for one in results if one.metric not in work.failed]
            metrics = work.left
            if kept is not None:
                # Before anything is printed: whoever reads that may go before its end.
                kept.add(results, work.seen)
        by_system = {
            name: [one.score for one in results if one.system == name and one.is_whole]
            for name in inputs.systems
        }
        references = list(map(files.path_of, inputs.reference_columns))
        warnings = text_warnings.warn_about_texts(
            work.seen,
            references,
            {metric: name or metric.name for metric, name in metrics.items()},
            metric_options.known_tag(options),
        )
        warnings += text_warnings.warn_about_same_output(inputs.systems, by_system)
        score_writers.write(results, metrics, output, warnings, test_set=inputs.test_set)
    if work.resamples is not None and len(inputs.systems) > 1 and not options.quiet:
        complain(
            "note",
            "intervals that overlap say little about a difference; truebleu compare tests it",
        )
    raise_if_failed(work.failed.values())


def _log_of(options: argparse.Namespace, inputs: files.Inputs) -> Logging | None:
    """The log that was asked for. What is wrong with it is said before anything is scored."""
    if options.log is not None:
        from truebleu.cli.log_entries import Logging

        return Logging(options, inputs)
    for name in ("log_name", "log_note", "log_report"):
        if getattr(options, name) is not None:
            flag = name.replace("_", "-")
            raise UsageError(f"--{flag}: there is no log; name one with --log FILE")
    return None


class Work(Record):
    """The work on each system's text."""

    options: argparse.Namespace
    metrics: Mapping[Metric[Any], str | None]
    inputs: files.Inputs
    resamples: int | None
    seen: dict[str, Summary]
    failed: FailedMetrics
    """The metrics that could not score some system, and why."""

    @property
    def left(self) -> dict[Metric[Any], str | None]:
        """The metrics that have not failed, and what each was asked for as."""
        return {metric: name for metric, name in self.metrics.items() if metric not in self.failed}

    def score(self, system: str, kept: Logging | None, progress: Progress) -> list[Scored]:
        """The scores of a system by each metric, and those of its documents."""
        hypotheses: Any = self.inputs.systems[system]
        references = self.inputs.references()
        if kept is not None:
            once = all(one.reads_text for one in self.metrics)
            columns = self.inputs.reference_columns
            hypotheses, references = kept.reading(
                system, hypotheses, columns, references, once=once
            )
        expected = None if progress.silent else files.expected(self.inputs.systems[system])
        several = len(self.inputs.systems) > 1
        doing = f"reading {system}" if several else "reading segments"
        totals = self.resamples is None and self.inputs.documents is None
        totals = totals and not getattr(self.options, "by", None)
        corpus = Corpus(
            hypotheses,
            references,
            self.options.threads,
            self.inputs.source,
            progress=lambda count: progress(doing, count, expected),
            totals=totals,
        )
        called = system if several else ""
        tables, self.seen[system] = count_scorable(list(self.left), corpus, self.failed, called)
        metrics = self.left
        found = zip(metrics.items(), tables, self._intervals(tables, progress), strict=True)
        scripts = text_warnings.compute_script_shares(self.seen[system])

        def scored(metric: Metric[Any], name: str | None, table: Statistics, **more: Any) -> Any:
            on = self.inputs.signature
            return _scored(system, metric, name, table, test_set=on, **more)

        results = [
            scored(*of, table, interval=interval, scripts=scripts) for of, table, interval in found
        ]
        if self.inputs.documents is not None:
            from truebleu.comparison import segment_labels

            known = segment_labels.read_document_names(self.inputs.documents, len(tables[0]))
            results += [
                scored(*of, part, document=known.names[i])
                for of, table in zip(metrics.items(), tables, strict=True)
                for i, part in table.parts(known.indices).items()
            ]
        test_set = self.inputs.test_set
        groups = [] if test_set is None else test_set.groups(self.options.by)
        return results + [
            scored(*of, part, group={"system": system, **group})
            for of, table in zip(metrics.items(), tables, strict=True)
            for group, part in _grouped(table, groups)
        ]

    def _drawn(self, segments: int) -> list[int] | None:
        """The document of each segment, if documents are to be drawn."""
        if self.options.resample == "segments":
            return None
        from truebleu.comparison import segment_labels

        return segment_labels.read_document_names(
            files.documents_of(self.options, self.inputs), segments
        ).indices

    def _intervals(
        self, tables: Sequence[Statistics], progress: Progress
    ) -> Sequence[Interval | None]:
        """The interval of each metric's score, if they were asked for."""
        if self.resamples is None:
            return [None] * len(tables)
        from truebleu.significance import Measure, bootstrap_intervals

        measures = [
            Measure(metric, {"": table}) for metric, table in zip(self.left, tables, strict=True)
        ]
        ranges = bootstrap_intervals(
            measures,
            documents=self._drawn(len(tables[0])),
            resamples=self.resamples,
            seed=self.options.seed,
            level=self.options.level,
            workers=self.options.threads,
            progress=None if progress.silent else lambda *done: progress("resampling", *done),
        )
        return [of_metric[""] for of_metric in ranges]


def _grouped(
    table: Statistics, groups: Sequence[dict[str, str]]
) -> Iterator[tuple[dict[str, str], Statistics]]:
    """The rows of each group; `groups` says of each row what it is called."""
    if groups:
        for values, part in table.parts(tuple(group.values()) for group in groups).items():
            yield dict(zip(groups[0], values, strict=True)), part


def _scored(
    system: str, metric: Metric[Any], name: str | None, table: Statistics, **more: Any
) -> score_writers.Scored:
    """The score of a table; `name` is what the metric was asked for as."""
    score = metric.from_statistics(table)
    return score_writers.Scored(
        system,
        name or metric.name,
        score,
        metric.DIGITS,
        segments=len(table),
        metric=metric,
        **more,
    )


COMMAND = Command("truebleu score REF... -i HYP... [options]", __doc__, groups, run)
