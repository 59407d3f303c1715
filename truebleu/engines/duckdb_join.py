"""Hypotheses and references of two relations brought together by an id, and what has no partner."""

from __future__ import annotations

from truebleu._kernel import InputError
from truebleu.engines.duckdb_files import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

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
    given, the references; a0, b0, a1, b1 ... the least and the greatest value of each column to
    group by that an id has, n0, n1 ... whether it has null; c0, c1 ... the values of those that the
    references have.
    """

    def __init__(
        self,
        hypotheses: DuckDBPyRelation,
        references: DuckDBPyRelation,
        on: Sequence[str],
        by: Sequence[str],
    ) -> None:
        _check_types(hypotheses, references, on)
        self._on = on
        self._by = by
        self.within = [name for name in by if name in hypotheses.columns and name not in on]
        others = [name for name in by if name not in hypotheses.columns]
        names = [f"i{number}" for number in range(len(on))]
        groups = [f"g{number}" for number in range(len(self.within))]
        theirs = [f"c{number}" for number in range(len(others))]
        self._ids = ", ".join(names)
        hypotheses = _renamed(hypotheses, [*on, *self.within], [*names, *groups])
        references = _renamed(references, [*on, *others], [*names, *theirs])
        keys = ", ".join([self._ids, *groups])
        of_group = hypotheses.aggregate(f"{keys}, count(*) AS k", keys)
        ends = [
            f"min({g}) AS a{i}, max({g}) AS b{i}, bool_or({g} IS NULL) AS n{i}"
            for i, g in enumerate(groups)
        ]
        left = of_group.aggregate(
            ", ".join([self._ids, "sum(k)::BIGINT AS made", "max(k) AS most", *ends]), self._ids
        )
        values = [f"any_value({c}) AS {c}" for c in theirs]
        right = references.aggregate(
            ", ".join([self._ids, "count(*) AS given", *values]), self._ids
        )
        # An id that one side alone has is shown as that side has it.
        alike = left.types[: len(on)] == right.types[: len(on)]
        text = "" if alike else "::VARCHAR"
        either = [f"coalesce(h.{name}{text}, r.{name}{text}) AS {name}" for name in names]
        rest = ["made", "most", "given", *theirs]
        rest += [f"{end}{number}" for number in range(len(groups)) for end in "abn"]
        both = left.set_alias("h").join(
            right.set_alias("r"), _conditions(left, right, names), how="outer"
        )
        self._table = both.project(", ".join([*either, *rest]))
        self._of_segments = theirs
        self.counts = self._counted()

    def _counted(self) -> dict[str, int]:
        counts = {kind: f"count(*) FILTER ({test})" for kind, test in KINDS.items()}
        counts["rows"] = "coalesce(sum(made) FILTER (given IS NULL), 0)::BIGINT"
        counts["known"] = "count(given)"
        counts["spread"] = f"max(made) FILTER ({JOINED}) - min(made) FILTER ({JOINED})"
        # Columns that say more of a row than which segment it is of: which system made it.
        for number in range(len(self.within)):
            a, b, n = (f"{end}{number}" for end in "abn")
            varied = f"{a} IS DISTINCT FROM {b} OR {n} AND {a} IS NOT NULL"
            counts[f"varied {number}"] = f"count(*) FILTER ({varied})"
        row = self._table.aggregate(", ".join(counts.values())).fetchall()[0]
        return dict(zip(counts, row, strict=True))

    def first(self, kind: str, table: DuckDBPyRelation | None = None) -> str:
        """The first of the ids of a kind, or for which a condition holds."""
        chosen = (table or self._table).filter(KINDS.get(kind, kind))
        return _list(chosen.project(self._ids).order(self._ids).limit(SHOWN).fetchall())

    def uneven(self) -> tuple[int, str]:
        """The number of ids with fewer hypotheses than others, and the first of them.

        Only ids are compared that agree in all that belongs to a segment: test sets and domains may
        have other systems.
        """
        if not self.counts["spread"]:
            return 0, ""
        alike = [f"i{i}" for i, name in enumerate(self._on) if name in self._by]
        alike += self._of_segments
        alike += [f"a{i}" for i in range(len(self.within)) if not self.counts[f"varied {i}"]]
        parts = f"PARTITION BY {', '.join(alike)}" if alike else ""
        table = self._table.filter(JOINED).project(f"*, max(made) OVER ({parts}) AS usual")
        (count,) = table.filter("made < usual").aggregate("count(*)").fetchall()[0]
        return count, self.first("made < usual", table) if count else ""

    def check(self, unjoined: str = "raise") -> str:
        """The rows that cannot be joined, counted in words; nothing if all can.

        Raises InputError for ids that a group has twice, and unless `unjoined` is "skip" for ids
        that one side has alone, or that have fewer hypotheses than others have. Only ids and groups
        are read.
        """
        counts, name = self.counts, " and ".join(self._on)
        if counts["twice_given"]:
            raise InputError(
                f"{name}: {_count(counts['twice_given'])} more than once among the references "
                f"({self.first('twice_given')}); an id has one row of references, and several "
                "references are columns of it, or a list"
            )
        if counts["twice_made"]:
            groups = ", ".join(self.within)
            where = f"in one group of {groups}" if groups else "among the hypotheses"
            raise InputError(
                f"{name}: {_count(counts['twice_made'])} more than once {where} "
                f"({self.first('twice_made')}); if there are several systems in the table, "
                "group by the column that tells which (by='system', --by system)"
            )
        told = []
        if rows := counts["rows"]:
            told.append(
                f"{rows} hypothes{'es have' if rows > 1 else 'is has'} an id that no reference has "
                f"({self.first('lonely')})"
            )
        if counts["unanswered"]:
            told.append(
                f"{counts['unanswered']} of {counts['known']} references without a hypothesis "
                f"({self.first('unanswered')})"
            )
        uneven, first = self.uneven()
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


def _renamed(table: DuckDBPyRelation, names: list[str], called: list[str]) -> DuckDBPyRelation:
    """Columns of a table by other names."""
    pairs = zip(map(quoted, names), called, strict=True)
    return table.project(", ".join(f"{name} AS {new}" for name, new in pairs))


def _check_types(left: DuckDBPyRelation, right: DuckDBPyRelation, on: Sequence[str]) -> None:
    """Raises InputError for ids that cannot be compared."""
    for name, ours, theirs in _types(left, right, on):
        kinds = {_comparable(ours), _comparable(theirs)}
        if len(kinds) > 1 and not kinds & {"VARCHAR", '"NULL"'}:
            raise InputError(
                f"{name}: {ours} among the hypotheses and {theirs} among the references, which "
                "cannot be compared; expected ids of one type, or text on one side"
            )


def _types(
    left: DuckDBPyRelation, right: DuckDBPyRelation, on: Sequence[str]
) -> list[tuple[str, str, str]]:
    """Columns that both have, and their types on each side."""
    ours, theirs = (dict(zip(side.columns, side.types, strict=True)) for side in (left, right))
    return [(name, str(ours[name]), str(theirs[name])) for name in on]


def _comparable(kind: str) -> str:
    """A name for all types that DuckDB compares with this one."""
    if kind in NUMBERS or kind.startswith("DECIMAL"):
        return "number"
    return "time" if kind.startswith(("DATE", "TIMESTAMP")) else kind.partition("(")[0]


def _conditions(left: DuckDBPyRelation, right: DuckDBPyRelation, on: Sequence[str]) -> str:
    """The condition that joined rows meet."""
    terms = []
    for name, *kinds in _types(left, right, on):
        # A number in one file is text in another: CSV has nothing else.
        text = "::VARCHAR" if kinds[0] != kinds[1] and "VARCHAR" in kinds else ""
        terms.append(f"h.{quoted(name)}{text} = r.{quoted(name)}{text}")
    return " AND ".join(terms)


def _count(ids: int) -> str:
    return "1 id is there" if ids == 1 else f"{ids} ids are there"


def _list(rows: list[tuple[Any, ...]]) -> str:
    """The first of some ids."""
    texts = [
        ", ".join("null" if value is None else str(value)[:40] for value in row) for row in rows
    ]
    several = len(rows[0]) > 1 if rows else False
    shown = [f"({text})" if several else text for text in texts]
    return f"the first: {', '.join(shown)}" if len(shown) == SHOWN else ", ".join(shown)
