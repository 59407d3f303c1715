"""Comparison of systems in tables. It joins the rows of each segment or uses hash buckets."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from truebleu._kernel import InputError
from truebleu.cli import table_options
from truebleu.cli.common_options import OptionGroup
from truebleu.cli.output import UsageError, print_message
from truebleu.cli.progress import Progress
from truebleu.cli.tabular_scores import Tables, TableSystem
from truebleu.comparison.comparison_request import Request
from truebleu.engines.common_api import format_id
from truebleu.text.argument_checks import is_whole_number
from truebleu.text.terminal_layout import format_count

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
    table_group = table_options.make_table_group(COMPARE_BY_HELP)
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
            "--join or --bucket"
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
            name = _format_system_name(
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
    with tables.open_rows(system, key_columns) as rows:
        key_positions = [[2 + key_columns.index(name) for name in names] for names in parts]
        for batch in rows.read_batches(1 << 16):
            for row in batch:
                key, system_key, id_ = (
                    tuple(row[position] for position in part) for part in key_positions
                )
                yield key, system_key, id_, row[0], row[1]


def _format_system_name(table: str, key: Key) -> str:
    """Return the name of a system: its table, its key in the table, or both."""
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
        missing_id = next(
            id_ for id_ in all_ids if any(id_ not in rows for rows in rows_by_system.values())
        )
        incomplete_system = next(
            name for name, rows in rows_by_system.items() if missing_id not in rows
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
    """Return a key that sorts nulls first, then by type and text."""
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
                system_name = _format_system_name(
                    name if name or system_key else system.name, system_key
                )
                parts.setdefault(key, {})[system_name] = system_part
    return {
        key: (dict.fromkeys(id_columns), collect_buckets(id_columns))
        for key, id_columns in sorted(parts.items(), key=lambda entry: _make_sort_key(entry[0]))
    }


def _parse_bucket_option(words: Sequence[str]) -> tuple[str, int]:
    """Return the id column and the number of buckets of --bucket."""
    name, *count_words = words
    if len(count_words) > 1 or (
        count_words and not (is_whole_number(count_words[0]) and 1 < int(count_words[0]) < 2**31)
    ):
        raise UsageError(
            "--bucket: expected an id column and a number of buckets, 2 or more, such as "
            f"--bucket id {BUCKETS}, found '{' '.join(words)}'"
        )
    return name, int(count_words[0]) if count_words else BUCKETS


# ---- requests ----


def build_requests(
    options: argparse.Namespace,
    metrics: Mapping[Any, str | None],
    progress: Progress,
    make_request: Callable[..., Request],
) -> Iterator[tuple[dict[str, Any], Request]]:
    """Yield the key and the comparison request of each group.

    make_request: function that makes a request from systems, references and other arguments.
    """
    within = list(dict.fromkeys(getattr(options, "within", None) or ()))
    if getattr(options, "bucket", None):
        for key, (names, buckets) in aggregate_buckets(options, list(metrics), progress).items():
            yield dict(zip(within, key, strict=True)), make_request(names, None, buckets=buckets)
        return
    for key, (id_columns, references) in read_systems(options, progress).items():
        yield dict(zip(within, key, strict=True)), make_request(id_columns, references)
