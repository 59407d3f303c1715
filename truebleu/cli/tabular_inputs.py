"""Tables as input: scores of systems and groups, and comparisons of systems."""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from truebleu._kernel import InputError
from truebleu.cli.common_options import OptionGroup
from truebleu.cli.input_files import (
    choose_system_names,
    drop_duplicates,
    make_table_group,
    split_system_name,
)
from truebleu.cli.metric_options import warn_about_signatures
from truebleu.cli.output import Progress, UnavailableError, UsageError, print_message
from truebleu.metrics.base import Metric
from truebleu.text.argument_checks import Record, is_whole_number
from truebleu.text.terminal_layout import format_count, format_id

if TYPE_CHECKING:
    from truebleu.engines.aggregates import Sums


class TableSystem(Record):
    """The files and the column that contain the hypotheses of one system."""

    name: str
    data: list[str]
    hyp: str
    references: list[str] | None
    """The files with references, or None if each row contains its references."""


# The types of the extra columns as an empty Arrow stream (None without columns), the names of the
# text columns, and a function that yields rows as `duckdb_inputs.select_rows` returns them.
OpenTable = tuple[Any, list[str], Callable[[int], Iterator[list[tuple[Any, ...]]]]]


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
            for option in () if paired else ("join", "unjoined"):
                if getattr(options, option):
                    raise UsageError(f"--{option} has no effect without -i/--input")
            names = hypothesis_columns
            if names == ["hyp"]:
                # The column name "hyp" does not name a system, but the table does.
                names = [name_table(options.references)]
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
                if any(
                    os.path.exists(path) and os.path.samefile(options.output, path)
                    for path in find_table_files(name)
                ):
                    raise UsageError(f"-o/--output: {options.output} is also an input file")

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
                text_columns = engine.disambiguate_text_columns(text_columns)
            read_batches = partial(
                engine.fetch_rows, connection, relation, text_columns, extra_columns
            )
            quoted_names = [quote_name(name) for name in extra_columns]
            columns = relation.limit(0).project(", ".join(quoted_names)) if quoted_names else None
            yield columns, text_columns, read_batches

    @property
    def system_name(self) -> str:
        """The name of the result column that contains the systems."""
        return next(name for name in ("system", "input", "-i") if name not in self.by)


def name_table(paths: Sequence[str]) -> str:
    """Return a table's name, derived from the file name or, for several files, the folder name.

    >>> name_table(["runs/cedar.parquet"]), name_table(["cedar/*.parquet"])
    ('cedar', 'cedar')
    """
    from truebleu.text.system_names import derive_system_name

    is_pattern = any(mark in os.path.basename(paths[0]) for mark in "*?[")
    path = os.path.dirname(paths[0]) if is_pattern or len(paths) > 1 else paths[0]
    return derive_system_name(os.path.basename(os.path.abspath(path or os.curdir)))


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
            print_message("warning", f"{f'{system}: ' if system else ''}{warning.message}")


# The id of a segment, or the key of a group or system.
Key = tuple[Any, ...]
# Hypothesis and references of each segment, by segment id, for one system in one group.
Rows = dict[Key, tuple[str, Any]]
# The default number of hash buckets. It determines interval widths with an error of about 2%.
BUCKETS = 1000

BY_HELP = "read the system of each row from these columns"
COMPARE_BY_HELP = f"{BY_HELP}; for text files, add scores per document or reference"


def make_comparison_table_group() -> OptionGroup:
    """Return the options for tables in commands that compare systems."""
    table_group = make_table_group(COMPARE_BY_HELP)
    return OptionGroup(
        table_group.title,
        *table_group.options,
        """
        --within NAME...       compare the systems separately in each group of rows with equal
                               values in these columns
        --bucket NAME...       aggregate segments into N hash buckets of the id column NAME, and
                               resample buckets, for tables of any size: --bucket NAME N
                               (default: 1000 buckets)
        """,
        description=table_group.description,
    )


def read_systems(
    options: argparse.Namespace, progress: Progress
) -> dict[Key, tuple[dict[str, list[str]], list[Any]]]:
    """Return the hypotheses of each system and the references, per group.

    Segments are in the order of the first system. All texts are kept in memory. Raise InputError
    for nulls, for duplicate or missing ids, and for different references of the same segment.
    """
    tables = Tables(options, paired=True)
    if tables.by and not tables.join:
        raise UsageError(
            "--by needs segment ids to match the rows of different systems. Name their column with "
            f"--join{' or --bucket' if hasattr(options, 'bucket') else ''}"
        )
    systems_by_group: dict[Key, dict[str, Rows]] = {}
    nulls = 0
    for system in tables.systems:
        activity = f"reading {system.name}"
        for number, (key, system_key, id_, hyp, refs) in enumerate(
            _read_rows(options, tables, system), 1
        ):
            if number % 100_000 == 0:
                progress(activity, number)
            if hyp is None or refs is None:
                nulls += 1
                continue
            name = format_system_name(
                tables.get_system_label(system) if system_key else system.name, system_key
            )
            rows = systems_by_group.setdefault(key, {}).setdefault(name, {})
            segment = id_ or (number,)
            if segment in rows:
                raise InputError(
                    f"{' and '.join(tables.join)}: {format_id(segment)} occurs more than once "
                    f"for {name}. If the table has several systems, name their column with --by"
                )
            rows[segment] = hyp, refs
    if nulls and options.nulls != "skip":
        raise InputError(
            f"{format_count(nulls, 'row')} without a hypothesis or a reference. Use --nulls skip "
            "to skip them"
        )
    if nulls and not options.quiet:
        print_message(
            "warning", f"skipped {format_count(nulls, 'row')} without a hypothesis or a reference"
        )
    if not systems_by_group:
        raise InputError("the tables contain no segments")
    dropped_count = 0
    texts_by_group = {}
    for key in sorted(systems_by_group, key=_make_sort_key):
        dropped_count += _keep_common_segments(systems_by_group[key], tables, options)
        first = next(iter(systems_by_group[key].values()))
        texts_by_group[key] = (
            {
                name: [hyp for hyp, _ in rows.values()]
                for name, rows in systems_by_group[key].items()
            },
            [refs for _, refs in first.values()],
        )
    if dropped_count and not options.quiet:
        message = f"skipped {format_count(dropped_count, 'segment')} missing from some systems"
        print_message("warning", message)
    return texts_by_group


def _read_rows(
    options: argparse.Namespace, tables: Tables, system: TableSystem
) -> Iterator[tuple[Key, Key, Key, str | None, Any]]:
    """Yield the group key, system key, segment id, hypothesis and references of each row."""
    parts = [getattr(options, "within", None) or [], tables.by, tables.join]
    key_columns = list(dict.fromkeys(name for names in parts for name in names))
    with tables.open_rows(system, key_columns) as (_, _, read_batches):
        key_positions = [[2 + key_columns.index(name) for name in names] for names in parts]
        for batch in read_batches(1 << 16):
            for row in batch:
                key, system_key, id_ = (
                    tuple(row[position] for position in part) for part in key_positions
                )
                yield key, system_key, id_, row[0], row[1]


def format_system_name(table: str, key: Key) -> str:
    """Return the name of a system: the name of its table, its key in the table, or both."""
    key_text = "/".join("null" if part is None else str(part) for part in key)
    return ": ".join(filter(None, (table, key_text)))


def _keep_common_segments(
    rows_by_system: dict[str, Rows], tables: Tables, options: argparse.Namespace
) -> int:
    """Drop segments that are missing from some systems, and return their number."""
    (first, expected), *other_systems = rows_by_system.items()
    common = [id_ for id_ in expected if all(id_ in rows for _, rows in other_systems)]
    all_ids = dict.fromkeys(id_ for rows in rows_by_system.values() for id_ in rows)
    lost = len(all_ids) - len(common)
    if lost and options.unjoined != "skip":
        missing_id, incomplete_system = next(
            (id_, name)
            for id_ in all_ids
            for name, rows in rows_by_system.items()
            if id_ not in rows
        )
        id_columns = " and ".join(tables.join) or "row"
        raise InputError(
            f"{id_columns}: {format_count(lost, 'segment')} missing from some systems, such as "
            f"{format_id(missing_id)} from {incomplete_system}. Use --unjoined skip to skip them"
        )
    for name, rows in rows_by_system.items():
        for id_ in common:
            if rows[id_][1] != expected[id_][1]:
                raise InputError(
                    f"{first} and {name} have different references for {format_id(id_)}; a "
                    "comparison needs the same references"
                )
        rows_by_system[name] = {id_: rows[id_] for id_ in common}
    return lost


def _make_sort_key(key: Key) -> Any:
    """Return a key that sorts nulls first, and other values by type and text."""
    return [(part is not None, type(part).__name__, str(part)) for part in key]


# ---- buckets ----


def aggregate_buckets(
    options: argparse.Namespace, metrics: Sequence[Any], progress: Progress
) -> dict[Key, tuple[dict[str, None], Any]]:
    """Return the system names and the bucket statistics, per group."""
    from truebleu.engines.hash_buckets import collect_buckets

    tables = Tables(options, paired=True)
    within = list(dict.fromkeys(getattr(options, "within", None) or ()))
    group_columns = [*within, *(name for name in tables.by if name not in within)]
    parts: dict[Key, dict[str, Any]] = {}
    for system in tables.systems:
        name = tables.get_system_label(system)
        sums = tables.aggregate_system(
            system, group_columns, metrics, progress, _parse_bucket_option(options.bucket)
        )
        for key, part in sums.split(tuple(within)).items():
            for system_key, system_part in part.split(tuple(tables.by)).items():
                system_name = format_system_name(
                    name if name or system_key else system.name, system_key
                )
                parts.setdefault(key, {})[system_name] = system_part
    return {
        key: (dict.fromkeys(id_columns), collect_buckets(id_columns))
        for key, id_columns in sorted(parts.items(), key=lambda entry: _make_sort_key(entry[0]))
    }


def _parse_bucket_option(words: Sequence[str]) -> tuple[str, int]:
    name, *count_words = words
    if len(count_words) > 1 or (
        count_words and not (is_whole_number(count_words[0]) and 1 < int(count_words[0]) < 2**31)
    ):
        raise UsageError(
            "--bucket: expected an id column and a number of buckets, 2 or more, such as "
            f"--bucket id {BUCKETS}, found '{' '.join(words)}'"
        )
    return name, int(count_words[0]) if count_words else BUCKETS
