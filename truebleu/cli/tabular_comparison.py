"""Systems that are in tables, to be compared: rows of one segment side by side, or in buckets."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from truebleu._kernel import InputError
from truebleu.cli import table_options
from truebleu.cli.common_options import Group
from truebleu.cli.output import UsageError, complain
from truebleu.cli.progress import Progress
from truebleu.cli.tabular_scores import System, Tables
from truebleu.comparison.comparison_request import Request
from truebleu.engines.common_api import format_id
from truebleu.text.argument_checks import is_whole_number
from truebleu.text.terminal_layout import format_count

# The id of a segment, and the key of a group.
Key = tuple[Any, ...]
# A system's rows inside a group: the hypothesis and the references of each segment, by its id.
Rows = dict[Key, tuple[str, Any]]
# The number of buckets, where none is said: intervals of so many are certain to 2 %.
BUCKETS = 1000

BY = "the columns that say which system a row is of"


def group() -> Group:
    """The options of tables that are compared."""
    of_tables = table_options.group(BY)
    return Group(
        of_tables.title,
        *of_tables.options,
        """
        --within NAME...       compare the systems inside each group of rows that agree in these
                               columns
        --bucket NAME...       NAME N: keep sums of N buckets (1000) of segments, by a hash of this
                               id, in place of segments: for tables of any size; buckets are drawn
        """,
        about=of_tables.about,
    )


def systems(
    options: argparse.Namespace, progress: Progress
) -> dict[Key, tuple[dict[str, list[str]], list[Any]]]:
    """The systems inside each group, in the order of the segments of the first, and references.

    All texts are kept. Raises InputError for nulls, for an id that a system has twice or that not
    all systems have, and for references that differ between systems.
    """
    tables = Tables(options, paired=True)
    if tables.by and not tables.join:
        raise UsageError(
            "--by: rows of several systems are one segment where their ids agree; name the column "
            "of ids with --join, or compare buckets of them with --bucket"
        )
    found: dict[Key, dict[str, Rows]] = {}
    nulls = 0
    for system in tables.systems:
        doing = f"reading {system.name}"
        for number, (key, ours, id_, hyp, refs) in enumerate(_rows(options, tables, system), 1):
            if number % 100_000 == 0:
                progress(doing, number)
            if hyp is None or refs is None:
                nulls += 1
                continue
            name = _name(tables.label(system) if ours else system.name, ours)
            rows = found.setdefault(key, {}).setdefault(name, {})
            segment = id_ or (number,)
            if segment in rows:
                raise InputError(
                    f"{' and '.join(tables.join)}: {format_id(segment)} is there more than once "
                    f"for {name}; if there are several systems in the table, --by names the column "
                    "that says which"
                )
            rows[segment] = hyp, refs
    if nulls and options.nulls != "skip":
        raise InputError(
            f"{format_count(nulls, 'row')} without a hypothesis or a reference; every row "
            "needs both, and "
            "--nulls skip leaves out such segments"
        )
    if nulls and not options.quiet:
        complain(
            "warning", f"{format_count(nulls, 'row')} without a hypothesis or a reference left out"
        )
    if not found:
        raise InputError("rows: no segments at all; there is nothing to compare")
    left_out = 0
    made = {}
    for key in sorted(found, key=_sorted):
        left_out += _keep_common(found[key], tables, options)
        first = next(iter(found[key].values()))
        made[key] = (
            {name: [hyp for hyp, _ in rows.values()] for name, rows in found[key].items()},
            [refs for _, refs in first.values()],
        )
    if left_out and not options.quiet:
        told = f"{format_count(left_out, 'segment')} that not every system has left out"
        complain("warning", told)
    return made


def _rows(
    options: argparse.Namespace, tables: Tables, system: System
) -> Iterator[tuple[Key, Key, Key, str | None, Any]]:
    """For each row the key of its group, that of its system, its id, hypothesis and references."""
    parts = [getattr(options, "within", None) or [], tables.by, tables.join]
    carried = list(dict.fromkeys(name for names in parts for name in names))
    with tables.rows(system, carried) as rows:
        places = [[2 + carried.index(name) for name in names] for names in parts]
        for some in rows.some(1 << 16):
            for row in some:
                key, ours, id_ = (tuple(row[at] for at in part) for part in places)
                yield key, ours, id_, row[0], row[1]


def _name(table: str, key: Key) -> str:
    """The name of a system: that of its table, its key in it, or both."""
    told = "/".join("null" if part is None else str(part) for part in key)
    return ": ".join(filter(None, (table, told)))


def _keep_common(found: dict[str, Rows], tables: Tables, options: argparse.Namespace) -> int:
    """Keeps the segments that all systems have, in the order of the first; how many are lost."""
    (first, expected), *others = found.items()
    common = [id_ for id_ in expected if all(id_ in rows for _, rows in others)]
    every = dict.fromkeys(id_ for rows in found.values() for id_ in rows)
    lost = len(every) - len(common)
    if lost and options.unjoined != "skip":
        odd = next(id_ for id_ in every if any(id_ not in rows for rows in found.values()))
        lacking = next(name for name, rows in found.items() if odd not in rows)
        named = " and ".join(tables.join) or "row"
        raise InputError(
            f"{named}: {format_count(lost, 'segment')} that not every system has: {lacking} has no "
            f"{format_id(odd)}; systems are compared on the same segments. --unjoined skip "
            "compares those that all have"
        )
    for name, rows in found.items():
        for id_ in common:
            if rows[id_][1] != expected[id_][1]:
                raise InputError(
                    f"{first} and {name} have different references for {format_id(id_)}; systems "
                    "are compared by the same references"
                )
        found[name] = {id_: rows[id_] for id_ in common}
    return lost


def _sorted(key: Key) -> Any:
    """Null first, then by value; what does not compare by its text."""
    return [(part is not None, type(part).__name__, str(part)) for part in key]


# ---- buckets ----


def in_buckets(
    options: argparse.Namespace, metrics: Sequence[Any], progress: Progress
) -> dict[Key, tuple[dict[str, None], Any]]:
    """The systems inside each group, and what was counted of their buckets."""
    from truebleu.engines.hash_buckets import collect_buckets

    tables = Tables(options, paired=True)
    within = list(dict.fromkeys(getattr(options, "within", None) or ()))
    by = [*within, *(name for name in tables.by if name not in within)]
    parts: dict[Key, dict[str, Any]] = {}
    for system in tables.systems:
        name = tables.label(system)
        sums = tables.sums(system, by, metrics, progress, _bucket(options.bucket))
        for key, part in sums.split(tuple(within)).items():
            for ours, own in part.split(tuple(tables.by)).items():
                called = _name(name if name or ours else system.name, ours)
                parts.setdefault(key, {})[called] = own
    return {
        key: (dict.fromkeys(named), collect_buckets(named))
        for key, named in sorted(parts.items(), key=lambda one: _sorted(one[0]))
    }


def _bucket(words: Sequence[str]) -> tuple[str, int]:
    """The column of ids, and the number of buckets."""
    name, *more = words
    if len(more) > 1 or (more and not (is_whole_number(more[0]) and 1 < int(more[0]) < 2**31)):
        raise UsageError(
            f"--bucket: expected the column of ids and a number of buckets, 2 or more, as "
            f"--bucket id {BUCKETS}, not '{' '.join(words)}'"
        )
    return name, int(more[0]) if more else BUCKETS


# ---- requests ----


def requests(
    options: argparse.Namespace,
    metrics: Mapping[Any, str | None],
    progress: Progress,
    made: Callable[..., Request],
) -> Iterator[tuple[dict[str, Any], Request]]:
    """A request for each group, with its key.

    made: makes a request of systems, references and further arguments.
    """
    within = list(dict.fromkeys(getattr(options, "within", None) or ()))
    if getattr(options, "bucket", None):
        for key, (names, buckets) in in_buckets(options, list(metrics), progress).items():
            yield dict(zip(within, key, strict=True)), made(names, None, buckets=buckets)
        return
    for key, (named, references) in systems(options, progress).items():
        yield dict(zip(within, key, strict=True)), made(named, references)
