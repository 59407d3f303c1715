"""Scores of texts in tables, by group or by row."""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from truebleu._kernel import InputError
from truebleu.cli.input_files import (
    check_output_differs,
    choose_system_names,
    drop_duplicates,
    split_system_name,
)
from truebleu.cli.metric_options import warn_about_signatures
from truebleu.cli.output import Results, UnavailableError, UsageError, print_message
from truebleu.cli.progress import Progress
from truebleu.cli.score_writers import ScoreResult
from truebleu.cli.segment_writers import Metrics, SegmentScores, SegmentWriter
from truebleu.metrics.base import Corpus, Metric
from truebleu.metrics.joint_counting import compute_batch_statistics
from truebleu.text.record import Record

if TYPE_CHECKING:
    from truebleu.engines.aggregates import Sums


class TableSystem(Record):
    """Files and column that contain the hypotheses of one system."""

    name: str
    data: list[str]
    hyp: str
    references: list[str] | None
    """The files with references, or None if each row contains its references."""


class OpenTable(Record):
    """An open table. Each row contains a hypothesis, references and extra columns.

    The rows are in the form that `duckdb_inputs.select_rows` returns.
    """

    arrow_types: Any
    """The types of extra columns, as an Arrow stream without rows, or None if there are none."""
    text_columns: list[str]
    """The names of the text columns."""
    read_batches: Callable[[int], Iterator[list[tuple[Any, ...]]]]


class Tables:
    """Tables named on a command line.

    paired: whether --join can match rows of the same table.
    """

    def __init__(self, options: argparse.Namespace, *, paired: bool = False) -> None:
        self.options = options
        self.by: list[str] = list(dict.fromkeys(options.by or ()))
        self.join: list[str] = options.join or []
        self.refs: list[str] = options.ref_column or ["ref"]
        if len(self.refs) > 1:
            warn_about_signatures(options, len(self.refs), {})
        hypothesis_columns: list[str] = list(dict.fromkeys(options.hyp_column or ["hyp"]))
        if options.input is None:
            if self.join and not paired:
                raise UsageError("--join has no effect without -i/--input")
            # The column name "hyp" does not name a system, but the table does.
            names = (
                [name_table(options.references)]
                if hypothesis_columns == ["hyp"]
                else hypothesis_columns
            )
            self.systems = [
                TableSystem(name, options.references, hyp, None)
                for name, hyp in zip(names, hypothesis_columns, strict=True)
            ]
        else:
            if not self.join:
                raise UsageError(
                    "-i/--input needs an id column to match the rows of HYP and REF. Name it with "
                    "--join, or omit -i if REF contains the hypotheses"
                )
            words = drop_duplicates(options, "-i/--input", options.input)
            named_paths = [split_system_name(word) for word in words]
            inputs = choose_system_names(named_paths)
            self.systems = [
                TableSystem(
                    name
                    if len(hypothesis_columns) == 1
                    else (hyp if len(inputs) == 1 else f"{name}: {hyp}"),
                    [data],
                    hyp,
                    options.references,
                )
                for name, (_, data) in zip(inputs, named_paths, strict=True)
                for hyp in hypothesis_columns
            ]
        if options.output is not None and os.path.isfile(options.output):
            from truebleu.engines.duckdb_files import find_table_files

            inputs = [split_system_name(word)[1] for word in options.input or ()]
            for name in [*options.references, *inputs]:
                check_output_differs(options, find_table_files(name))

    def get_system_label(self, system: TableSystem) -> str:
        """Return the system name for messages, or an empty string if there is only one system."""
        return system.name if len(self.systems) > 1 else ""

    def aggregate_system(
        self,
        system: TableSystem,
        group_columns: Sequence[str],
        metrics: Sequence[Metric[Any]],
        progress: Progress,
        bucket: tuple[str, int] | None = None,
    ) -> Sums:
        """Return the aggregated statistics of a system, and warn about skipped rows."""
        options, name = self.options, self.get_system_label(system)
        with forward_warnings(options, name):
            aggregates: Sums = import_duckdb_engine().sums(
                system.data,
                system.hyp,
                self.refs,
                by=tuple(group_columns),
                bucket=bucket,
                metrics=list(metrics),
                nulls=options.nulls or "raise",
                references=system.references,
                on=self.join if system.references is not None else None,
                unjoined=options.unjoined or "raise",
                memory=options.memory,
                workers=options.threads,
                progress=None
                if progress.is_silent
                else partial(progress.report_fraction, f"reading {name}".rstrip()),
            )
            aggregates.check()
            aggregates.warn()
        return aggregates

    @contextmanager
    def open_rows(self, system: TableSystem, extra_columns: Sequence[str]) -> Iterator[OpenTable]:
        """Open a system's table, whose rows are in file order and include the extra columns."""
        import_duckdb_engine()
        from truebleu.engines import duckdb_inputs as engine
        from truebleu.engines.duckdb_files import quote_name
        from truebleu.engines.duckdb_inputs import disambiguate_text_columns

        options, text_columns = self.options, [system.hyp, *self.refs]
        with (
            forward_warnings(options, self.get_system_label(system)),
            engine.open_connection(
                None, memory=options.memory, threads=options.threads, ordered=True
            ) as connection,
            engine.translate_errors([*system.data, *(system.references or [])]),
        ):
            relation = engine.select_rows(
                connection,
                system.data,
                text_columns,
                extra_columns,
                references=system.references,
                on=self.join if system.references is not None else (),
                unjoined=options.unjoined or "raise",
                ordered=True,
            )
            if system.references is not None:
                text_columns = disambiguate_text_columns(text_columns)
            read_batches = partial(
                engine.fetch_rows, connection, relation, text_columns, extra_columns
            )
            quoted_names = [quote_name(name) for name in extra_columns]
            yield OpenTable(
                relation.limit(0).project(", ".join(quoted_names)) if quoted_names else None,
                text_columns,
                read_batches,
            )

    @property
    def system_name(self) -> str:
        """The name of the result column that contains the systems."""
        return next(name for name in ("system", "input", "-i") if name not in self.by)


def name_table(paths: Sequence[str]) -> str:
    """Return the name of a table from its file name, or of several files from their folder.

    >>> name_table(["runs/cedar.parquet"]), name_table(["cedar/*.parquet"])
    ('cedar', 'cedar')
    """
    from truebleu.text.system_names import derive_system_name

    is_pattern = any(mark in os.path.basename(paths[0]) for mark in "*?[")
    path = os.path.dirname(paths[0]) if is_pattern or len(paths) > 1 else paths[0]
    return derive_system_name(os.path.basename(os.path.abspath(path or os.curdir)))


def score_tables(
    options: argparse.Namespace, metrics: Sequence[Metric[Any]], progress: Progress
) -> list[ScoreResult]:
    """Return the scores of each system and group for each metric."""
    tables = Tables(options)
    results: list[ScoreResult] = []
    for system in tables.systems:
        sums = tables.aggregate_system(system, tables.by, metrics, progress)
        label = {tables.system_name: system.name} if tables.get_system_label(system) else {}
        results += _score_groups(sums, label, system.name)
    return results


def _score_groups(sums: Sums, label: Mapping[str, object], system: str) -> Iterator[ScoreResult]:
    """Yield the scores of each group."""
    # Groups with only nulls have no score. Do not look up keys, because NaN does not equal itself.
    sizes = [segments for segments in sums.group_segments() if segments]
    for (key, group_scores), segments in zip(sums.scores().items(), sizes, strict=True):
        keys = {**label, **dict(zip(sums.by, key, strict=True))}
        # A group column named "system" names the systems; several tables may have equal names.
        name = system
        if "system" in sums.by:
            key_text = "null" if keys["system"] is None else str(keys["system"])
            name = f"{system}: {key_text}" if label else key_text
        for score in group_scores.values() if isinstance(group_scores, dict) else [group_scores]:
            group_fields = {"group": keys, "segments": segments} if keys else {}
            yield ScoreResult(name, score.name, score, **group_fields)


def import_duckdb_engine() -> Any:
    """Return the DuckDB engine. Raise UnavailableError if DuckDB is missing."""
    try:
        from truebleu.engines import duckdb
    except ImportError:
        raise UnavailableError(
            "reading tables needs DuckDB: pip install 'truebleu[duckdb]'"
        ) from None
    return duckdb


@contextmanager
def forward_warnings(options: argparse.Namespace, system: str) -> Iterator[None]:
    """Print Python warnings as command-line messages."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        if issubclass(warning.category, UserWarning) and not options.quiet:
            print_message(
                "warning", f"{system}: {warning.message}" if system else str(warning.message)
            )


# ---- segments ----


def write_segments(options: argparse.Namespace, metrics: Metrics, output: Results) -> None:
    """Write a row per segment, in file order."""
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
            with tables.open_rows(system, extra_names) as rows:
                writer = writer or SegmentWriter(
                    metrics,
                    output,
                    has_several_systems=len(tables.systems) > 1 or system_position is not None,
                    system_column=tables.system_name if system_position is None else "system",
                    extra_names=written_names,
                    arrow_types=rows.arrow_types,
                    statistics=options.statistics,
                )
                source = rows.read_batches(writer.BATCH_ROWS)
                batches = _score_batches(source, metrics, rows.text_columns, options)
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
    """Yield the row numbers, hypotheses, statistics and extra columns of each batch of rows.

    text_columns: names of the text columns.
    """
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
