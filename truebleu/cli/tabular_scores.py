"""Scores of what is in tables: by groups, or row by row."""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from truebleu._kernel import InputError
from truebleu.cli.input_files import check_output, drop_repeated, file_of
from truebleu.cli.output import Results, UnavailableError, UsageError, complain
from truebleu.cli.progress import Progress
from truebleu.cli.score_writers import Scored
from truebleu.cli.segment_writers import Counted, Metrics, Writer
from truebleu.metrics.base import Corpus, Metric
from truebleu.metrics.joint_counting import count_batches
from truebleu.text.record import Record
from truebleu.text.terminal_layout import shorten_names

if TYPE_CHECKING:
    from truebleu.engines.aggregates import Sums


class System(Record):
    """One system's hypotheses: where they are, and in which column."""

    name: str
    data: list[str]
    hyp: str
    references: list[str] | None
    """Where they are; None if they are in the same rows."""


class Opened(Record):
    """Rows that can be read, some at once: hypothesis, references, the columns carried along.

    As `duckdb_rows.rows_of` has them.
    """

    types: Any
    """Those of what is carried along, as an Arrow stream of no rows; None if nothing is."""
    texts: list[str]
    """The names of the columns of text."""
    some: Callable[[int], Iterator[list[tuple[Any, ...]]]]


class Tables:
    """The tables of a command line.

    paired: --join may name the id by which rows of one table are paired.
    """

    def __init__(self, options: argparse.Namespace, *, paired: bool = False) -> None:
        self.options = options
        self.by: list[str] = list(dict.fromkeys(options.by or ()))
        self.join: list[str] = options.join or []
        self.refs: list[str] = options.ref_column or ["ref"]
        hyps: list[str] = list(dict.fromkeys(options.hyp_column or ["hyp"]))
        if options.input is None:
            if self.join and not paired:
                raise UsageError("--join: there is nothing to join; name a table with -i")
            self.systems = [System(hyp, options.references, hyp, None) for hyp in hyps]
        else:
            if not self.join:
                raise UsageError(
                    "-i/--input: rows of tables have no order to rely on; name the id that both "
                    "have with --join, or leave out -i if hypotheses and references are in one"
                )
            named = drop_repeated(options, "-i/--input", options.input)
            inputs = shorten_names([file_of(name, "utf-8").path for name in named])
            self.systems = [
                System(
                    name if len(hyps) == 1 else (hyp if len(inputs) == 1 else f"{name}: {hyp}"),
                    [data],
                    hyp,
                    options.references,
                )
                for name, data in zip(inputs, named, strict=True)
                for hyp in hyps
            ]
        if options.output is not None and os.path.isfile(options.output):
            from truebleu.engines.duckdb_files import find_table_files

            for name in [*options.references, *(options.input or ())]:
                check_output(options, find_table_files(name))

    def label(self, system: System) -> str:
        """The name of a system where there are several, for messages."""
        return system.name if len(self.systems) > 1 else ""

    def sums(
        self,
        system: System,
        by: Sequence[str],
        metrics: Sequence[Metric[Any]],
        progress: Progress,
        bucket: tuple[str, int] | None = None,
    ) -> Sums:
        """The sums of a system's rows, with a warning of those that are left out."""
        options, name = self.options, self.label(system)
        with told_warnings(options, name):
            found: Sums = duckdb_engine().sums(
                system.data,
                system.hyp,
                self.refs,
                by=tuple(by),
                bucket=bucket,
                metrics=list(metrics),
                nulls=options.nulls or "raise",
                references=system.references,
                on=self.join if system.references is not None else None,
                unjoined=options.unjoined or "raise",
                memory=options.memory,
                workers=options.threads,
                progress=None
                if progress.silent
                else partial(progress.share, f"reading {name}".rstrip()),
            )
            found.check()
            found.warn()
        return found

    @contextmanager
    def rows(self, system: System, carried: Sequence[str]) -> Iterator[Opened]:
        """The rows of a system in the order of its files: texts and columns carried along."""
        duckdb_engine()
        from truebleu.engines import duckdb_inputs as engine
        from truebleu.engines.duckdb_files import quote_identifier
        from truebleu.engines.duckdb_inputs import disambiguate_text_columns

        options, texts = self.options, [system.hyp, *self.refs]
        with (
            told_warnings(options, self.label(system)),
            engine.open_connection(
                None, memory=options.memory, threads=options.threads, ordered=True
            ) as connection,
            engine.translate_errors([*system.data, *(system.references or [])]),
        ):
            relation = engine.select_rows(
                connection,
                system.data,
                texts,
                carried,
                references=system.references,
                on=self.join if system.references is not None else (),
                unjoined=options.unjoined or "raise",
                ordered=True,
            )
            if system.references is not None:
                texts = disambiguate_text_columns(texts)
            some = partial(engine.fetch_rows, connection, relation, texts, carried)
            own = [quote_identifier(name) for name in carried]
            yield Opened(relation.limit(0).project(", ".join(own)) if own else None, texts, some)

    @property
    def system_name(self) -> str:
        """The name of the column that says which system a row is of."""
        return next(name for name in ("system", "input", "-i") if name not in self.by)


def score(
    options: argparse.Namespace, metrics: Sequence[Metric[Any]], progress: Progress
) -> list[Scored]:
    """The score of each system and group by each metric."""
    tables = Tables(options)
    results: list[Scored] = []
    for system in tables.systems:
        sums = tables.sums(system, tables.by, metrics, progress)
        label = {tables.system_name: system.name} if tables.label(system) else {}
        results += _of_groups(sums, label, system.name)
    return results


def _of_groups(sums: Sums, label: Mapping[str, object], system: str) -> Iterator[Scored]:
    """The scores of each group."""
    # Groups of nulls alone have no score. Keys are not looked up: a key that is no number (NaN)
    # equals nothing.
    sizes = [segments for segments in sums.group_segments() if segments]
    for (key, found), segments in zip(sums.scores().items(), sizes, strict=True):
        keys = {**label, **dict(zip(sums.by, key, strict=True))}
        for one in found.values() if isinstance(found, dict) else [found]:
            more = {"group": keys, "segments": segments} if keys else {}
            yield Scored(system, one.name, one, **more)


def duckdb_engine() -> Any:
    """The engine, if DuckDB is there."""
    try:
        from truebleu.engines import duckdb
    except ImportError:
        raise UnavailableError(
            "tables are read by DuckDB, which is not installed: pip install 'truebleu[duckdb]'"
        ) from None
    return duckdb


@contextmanager
def told_warnings(options: argparse.Namespace, system: str) -> Iterator[None]:
    """Says warnings as the command line says them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        if issubclass(warning.category, UserWarning) and not options.quiet:
            complain("warning", f"{system}: {warning.message}" if system else str(warning.message))


# ---- segments ----


def segments(options: argparse.Namespace, metrics: Metrics, output: Results) -> None:
    """Writes a row for each segment, in the order of the files."""
    tables = Tables(options)
    carried = list(dict.fromkeys([*tables.join, *tables.by]))
    writer: Writer | None = None
    with output, Progress(quiet=options.quiet) as progress:
        for system in tables.systems:
            with tables.rows(system, carried) as rows:
                writer = writer or Writer(
                    metrics,
                    output,
                    several=len(tables.systems) > 1,
                    system=tables.system_name,
                    carried=carried,
                    types=rows.types,
                )
                source = rows.some(writer.AT_ONCE)
                pieces = _pieces(source, metrics, rows.texts, options)
                for numbers, counted, further in pieces:
                    writer.write(system.name, numbers, counted, further)
                    if not output.is_terminal:
                        progress("scoring rows", numbers[-1])
        assert writer is not None
        writer.finish()


def _pieces(
    source: Iterator[list[tuple[Any, ...]]],
    metrics: Metrics,
    names: Sequence[str],
    options: argparse.Namespace,
) -> Iterator[tuple[list[int], Counted, Sequence[Sequence[Any]]]]:
    """The numbers of rows, what was counted of them, and the columns that are carried along.

    names: of the columns of text.
    """
    from truebleu.engines.aggregates import describe_nulls

    count, scored, nulls = 0, 0, [0, 0]
    first_null = None
    for rows in source:
        numbers, kept = [], []
        for number, row in enumerate(rows, count + 1):
            missing = (row[0] is None, row[1] is None)
            if not any(missing):
                numbers.append(number)
                kept.append(row)
                continue
            first_null = first_null or number
            nulls = [so_far + is_null for so_far, is_null in zip(nulls, missing, strict=True)]
        count += len(rows)
        # After the first null, all of them are counted and nothing is scored any more.
        if not kept or (first_null and options.nulls != "skip"):
            continue
        hypotheses, references, *further = map(list, zip(*kept, strict=True))
        corpus = Corpus(hypotheses, references, options.threads)
        for counted, _ in count_batches(list(metrics), corpus, len(kept)):
            scored += len(counted[0][1])
            yield numbers, counted, further
    told = describe_nulls({names[0]: nulls[0], ", ".join(names[1:]): nulls[1]})
    if told and options.nulls != "skip":
        raise InputError(
            f"{told} (the first is row {first_null}); every row needs a hypothesis and "
            "a reference, and --nulls skip leaves out those without"
        )
    if told:
        warnings.warn(f"rows with null values were left out: {told}", stacklevel=2)
    if not scored:
        raise InputError("rows: no segments at all; there is nothing to score")
