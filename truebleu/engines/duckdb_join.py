"""Hypotheses and references of two relations brought together by an id, and what has no partner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from truebleu._kernel import InputError
from truebleu.engines.duckdb_files import quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

# Types of numbers, which compare with each other.
NUMBERS = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
)

# How many ids a message shows.
SHOWN = 3

# What may be wrong with an id, in terms of the columns of `_Ids`.
KINDS = {
    "lonely": "given IS NULL",
    "unanswered": "made IS NULL",
    "twice_given": "given > 1",
    "twice_made": "most > 1",
}
JOINED = "made IS NOT NULL AND given IS NOT NULL"


def joined(
    hypotheses: DuckDBPyRelation,
    references: DuckDBPyRelation,
    on: Sequence[str],
    texts: Sequence[str],
    others: Sequence[str],
    *,
    order: bool = False,
) -> DuckDBPyRelation:
    """Columns of hypotheses and the references that have the same id.

    texts: the hypotheses' column, then the references', which come out as `apart` calls them.
    others: the hypotheses' if both have them. With `order`, in the order of the hypotheses.
    """
    conditions, ours = _conditions(hypotheses, references, on), set(hypotheses.columns)
    if order:
        hypotheses = hypotheses.project("*, row_number() OVER () AS truebleu_row")
    hyp, *refs = texts
    columns = {hyp: f"h.{quoted(hyp)}"}
    for name, called in zip(refs, apart(texts)[1:], strict=True):
        columns[called] = f"r.{quoted(name)} AS {quoted(called)}"
    for name in others:
        columns.setdefault(name, f"{'h' if name in ours else 'r'}.{quoted(name)}")
    chosen = ", ".join(columns.values()) + (", h.truebleu_row" if order else "")
    both = hypotheses.set_alias("h").join(references.set_alias("r"), conditions)
    found = both.project(chosen)
    if not order:
        return found
    return found.order("truebleu_row").project(", ".join(map(quoted, columns)))


def apart(texts: Sequence[str]) -> list[str]:
    """Names of columns of text: the references' may be that of the hypotheses, in another table."""
    hyp, *refs = texts
    return [hyp, *(f"{name} (references)" if name == hyp else name for name in refs)]


class Ids:
    """A table of the ids of both sides, a row each, and what is counted in it.

    Its columns: i0, i1 ... the id; made, the hypotheses that have it, and most, those of one group;
    given, the references; g0, g1 ... a value of each column to group by that its hypotheses have,
    v0, v1 ... whether there are several; c0, c1 ... the values of those that the references have.
    """

    def __init__(
        self,
        hypotheses: DuckDBPyRelation,
        references: DuckDBPyRelation,
        on: Sequence[str],
        by: Sequence[str],
    ) -> None:
        self._on = on
        self._within = [name for name in by if name in hypotheses.columns and name not in on]
        ids = {f"i{number}": name for number, name in enumerate(on)}
        groups = {f"g{number}": name for number, name in enumerate(self._within)}
        others = (name for name in by if name not in hypotheses.columns)
        theirs = {f"c{number}": name for number, name in enumerate(others)}
        self._ids = ", ".join(ids)

        def side(table: DuckDBPyRelation, own: dict[str, str], ours: bool) -> DuckDBPyRelation:
            chosen = [
                f"{quoted(own[name]) if name in own else 'NULL'} AS {name}"
                for name in (*ids, *groups, *theirs)
            ]
            return table.project(", ".join([*chosen, f"{ours} AS ours"]))

        rows = side(hypotheses, ids | groups, True).union(side(references, ids | theirs, False))
        # Ids that are null, or that have a null in them, join nothing.
        alone = f"if({' OR '.join(f'{name} IS NULL' for name in ids)}, ours, NULL)"
        keys = ", ".join([*ids, *groups, "ours", "alone"])
        values = [f"any_value({name}) AS {name}" for name in theirs]
        of_groups = rows.project(f"*, {alone} AS alone").aggregate(
            ", ".join([keys, "count(*) AS k", *values]), keys
        )
        for number, name in enumerate(groups):
            null = f"bool_or({name} IS NULL) FILTER (ours)"
            varied = f"min({name}) IS DISTINCT FROM max({name}) OR {null} AND count({name}) > 0"
            values += [f"min({name}) AS {name}", f"({varied}) AS v{number}"]
        values += [
            "sum(k) FILTER (ours)::BIGINT AS made",
            "max(k) FILTER (ours) AS most",
            "sum(k) FILTER (NOT ours) AS given",
        ]
        by_id = f"{self._ids}, alone"
        self._table = of_groups.aggregate(", ".join([by_id, *values]), by_id)
        counts = {kind: f"count(*) FILTER ({test})" for kind, test in KINDS.items()}
        counts["rows"] = "coalesce(sum(made) FILTER (given IS NULL), 0)::BIGINT"
        counts["known"] = "count(given)"
        counts["spread"] = f"max(made) FILTER ({JOINED}) - min(made) FILTER ({JOINED})"
        counts |= {name: f"count(*) FILTER (v{number})" for number, name in enumerate(groups)}
        row = self._table.aggregate(", ".join(counts.values())).fetchall()[0]
        self._counts = dict(zip(counts, row, strict=True))
        # What all hypotheses of an id have alike says which segment it is of.
        self._alike = [f"i{number}" for number, name in enumerate(on) if name in by]
        self._alike += [*theirs, *(name for name in groups if not self._counts[name])]

    def _first(self, kind: str, table: DuckDBPyRelation | None = None) -> str:
        """The first of the ids of a kind, or for which a condition holds."""
        chosen = (table or self._table).filter(KINDS.get(kind, kind))
        return _list(chosen.project(self._ids).order(self._ids).limit(SHOWN).fetchall())

    def _uneven(self) -> tuple[int, str]:
        """The number of ids with fewer hypotheses than others, and the first of them.

        Only ids are compared that agree in all that belongs to a segment: test sets and domains may
        have other systems.
        """
        if not self._counts["spread"]:
            return 0, ""
        parts = f"PARTITION BY {', '.join(self._alike)}" if self._alike else ""
        table = self._table.filter(JOINED).project(f"*, max(made) OVER ({parts}) AS usual")
        (count,) = table.filter("made < usual").aggregate("count(*)").fetchall()[0]
        return count, self._first("made < usual", table) if count else ""

    def check(self, unjoined: str = "raise") -> str:
        """The rows that cannot be joined, counted in words; nothing if all can.

        Raises InputError for ids that a group has twice, and unless `unjoined` is "skip" for ids
        that one side has alone, or that have fewer hypotheses than others have. Only ids and groups
        are read.
        """
        counts, name = self._counts, " and ".join(self._on)
        if counts["twice_given"]:
            raise InputError(
                f"{name}: {_count(counts['twice_given'])} more than once among the references "
                f"({self._first('twice_given')}); an id has one row of references, and several "
                "references are columns of it, or a list"
            )
        if counts["twice_made"]:
            groups = ", ".join(self._within)
            where = f"in one group of {groups}" if groups else "among the hypotheses"
            raise InputError(
                f"{name}: {_count(counts['twice_made'])} more than once {where} "
                f"({self._first('twice_made')}); if there are several systems in the table, "
                "group by the column that tells which (by='system', --by system)"
            )
        told = []
        if rows := counts["rows"]:
            told.append(
                f"{rows} hypothes{'es have' if rows > 1 else 'is has'} an id that no reference has "
                f"({self._first('lonely')})"
            )
        if counts["unanswered"]:
            told.append(
                f"{counts['unanswered']} of {counts['known']} references without a hypothesis "
                f"({self._first('unanswered')})"
            )
        uneven, first = self._uneven()
        if uneven:
            told.append(
                f"{uneven} id{'s have' if uneven > 1 else ' has'} fewer hypotheses than others "
                f"({first})"
            )
        if not told:
            return ""
        message = f"{name}: {'; '.join(told)}"
        if unjoined != "skip":
            raise InputError(
                f"{message}; every segment of every system should be there once. "
                "unjoined='skip' (--unjoined skip) scores what can be joined"
            )
        return message


def _comparable(kind: str) -> str:
    """A name for all types that DuckDB compares with this one."""
    if kind in NUMBERS or kind.startswith("DECIMAL"):
        return "number"
    return "time" if kind.startswith(("DATE", "TIMESTAMP")) else kind.partition("(")[0]


def _conditions(left: DuckDBPyRelation, right: DuckDBPyRelation, on: Sequence[str]) -> str:
    """The condition that joined rows meet. Raises InputError for ids that cannot be compared."""
    terms = []
    types = [dict(zip(side.columns, map(str, side.types), strict=True)) for side in (left, right)]
    for name in on:
        ours, theirs = (kinds[name] for kinds in types)
        compared = {_comparable(ours), _comparable(theirs)}
        if len(compared) > 1 and not compared & {"VARCHAR", '"NULL"'}:
            raise InputError(
                f"{name}: {ours} among the hypotheses and {theirs} among the references, which "
                "cannot be compared; expected ids of one type, or text on one side"
            )
        # A number in one file is text in another: CSV has nothing else.
        text = "::VARCHAR" if ours != theirs and "VARCHAR" in (ours, theirs) else ""
        terms.append(f"h.{quoted(name)}{text} = r.{quoted(name)}{text}")
    return " AND ".join(terms)


def _count(ids: int) -> str:
    return "1 id is there" if ids == 1 else f"{ids} ids are there"


def shown(id_: Sequence[Any]) -> str:
    """An id for a message."""
    return ", ".join("null" if part is None else str(part)[:40] for part in id_)


def _list(rows: list[tuple[Any, ...]]) -> str:
    """The first of some ids."""
    texts = list(map(shown, rows))
    several = len(rows[0]) > 1 if rows else False
    told = ", ".join(f"({text})" if several else text for text in texts)
    return f"the first: {told}" if len(texts) == SHOWN else told
