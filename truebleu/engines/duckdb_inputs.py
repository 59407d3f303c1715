"""From what people pass to the rows that are scored: connections, tables, joins, streams."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC
from importlib.util import find_spec
from threading import Event, Thread
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection, DuckDBPyRelation

from truebleu._kernel import InputError
from truebleu.engines.common_api import release, several, shown, told
from truebleu.engines.duckdb_files import SEPARATED, Files, culprit, damaged, quoted, said
from truebleu.text.argument_checks import check_choice, suggest_names
from truebleu.text.operating_system import temporary_folder
from truebleu.text.segments import expand_home, get_table_format

# A relation, SQL, the name of a table, files.
Data = DuckDBPyRelation | str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

# Before this release an Arrow stream without pyarrow was the whole result, or large parts of it.
STREAMS = (2, 0)
ROWS_AT_ONCE = 65536

# What DuckDB calls text, and types of numbers, which compare with each other.
TEXT = ("VARCHAR", "JSON", '"NULL"')
NUMBERS = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
)

# The name of a table, with those of its schema and database.
TABLE = re.compile(r'(\w+|"([^"]|"")+")(\.(\w+|"([^"]|"")+")){0,2}')

# Seconds from one report of progress to the next.
EVERY = 0.2

# For a connection of our own: what it needs anyway, and what each thread needs, in MiB.
MEMORY = (256, 128)

# How many ids a message shows.
SHOWN = 3

# What helps where DuckDB says one of these things.
HELP = {
    "failed to offload|No space left": "DuckDB's folder for what does not fit into memory is full "
    "(TMPDIR names another; with memory='4GB', --memory 4GB, less goes there): ",
    "Out of Memory|failed to allocate": "DuckDB needs more memory than it may use (memory='4GB', "
    "--memory 4GB; or a connection with another memory_limit): ",
}


# ---- connections ----


def check_connection(connection: object) -> None:
    """Raises TypeError for what is no connection, unless it is None."""
    if connection is not None and not isinstance(connection, DuckDBPyConnection):
        raise TypeError(
            "connection: expected a DuckDB connection (duckdb.connect('my.db')), not "
            f"{type(connection).__name__}"
        )


@contextmanager
def opened(
    connection: DuckDBPyConnection | None,
    *,
    memory: str | None,
    threads: int,
    ordered: bool = False,
) -> Iterator[DuckDBPyConnection]:
    """A connection: the one that is given, or one of our own, which keeps to its memory.

    Ours reads files, downloads nothing, and knows no Python variables. `ordered`: rows keep their
    order.
    """
    if connection is not None:
        yield connection
        return
    with temporary_folder() as folder:
        settings: dict[str, Any] = {
            "memory_limit": memory or f"{MEMORY[0] + MEMORY[1] * threads}MiB",
            "temp_directory": os.path.join(folder, "spilled"),
            "threads": threads,
            "preserve_insertion_order": ordered,
            "python_enable_replacements": False,
            "autoinstall_known_extensions": False,
        }
        try:
            own = duckdb.connect(":memory:", config=settings)
        except duckdb.Error as error:
            expected = f"memory={memory!r} (--memory): expected a size, like 384MB or 2GB; "
            says = f"{expected}DuckDB says" if memory else "DuckDB"
            raise InputError(f"{says}: {said(error)}") from None
        with own:
            # What it counts for a bar of its own is asked for by `progress`.
            own.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
            yield own


@contextmanager
def watched(
    connection: DuckDBPyConnection, progress: Callable[[float], None] | None
) -> Iterator[None]:
    """Tells now and then how much has been read."""
    if progress is None:
        yield
        return
    done = Event()

    def watch() -> None:
        while not done.wait(EVERY):
            percent = connection.query_progress()
            if percent >= 0:
                progress(percent / 100)

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@contextmanager
def reading(data: Data) -> Iterator[None]:
    """Says what DuckDB says is wrong as an InputError that names files."""
    message = None
    try:
        yield
    except InputError as error:
        # What DuckDB says while the kernel reads its stream.
        found = re.search(r"the Arrow stream failed with status \d+: (.*)", str(error), re.DOTALL)
        if found is None:
            raise
        message = found[1]
    except duckdb.Error as error:
        message = str(error)
    if message is not None:
        raise _of_duckdb(data, message)


def _of_duckdb(data: Data, message: str) -> InputError:
    """DuckDB's error as one of ours, with the names of files as they are given or stand in SQL."""
    if isinstance(data, DuckDBPyRelation):
        data = data.sql_query()
    if isinstance(data, str) and not _is_path(data):
        sql = data
        label, files = "", [word for word in re.findall(r"'([^']+)'", sql) if _is_path(word)]
    else:
        some = data if isinstance(data, list | tuple) else [data]
        files = [os.fspath(name) for name in some if isinstance(name, str | os.PathLike)]
        label = several(files) if files else ""
    if "required extension 'httpfs" in message:
        what = "addresses are read by a connection that has DuckDB's httpfs: give it with "
        return InputError(f"{label}{': ' if label else ''}{what}connection=")
    if "Cannot combine LEFT and RIGHT" in message:
        return InputError(
            "hypotheses and references are of different connections: give the relation's own with "
            "connection=, and the other side as a file, SQL or a relation of it"
        )
    help = next((text for sign, text in HELP.items() if re.search(sign, message)), "")  # noqa: A001
    where = culprit(message) or ("" if help else damaged(files)) or label
    return InputError(told(where, f"{help}{said(message, where)}"))


# ---- tables ----


def rows(
    connection: DuckDBPyConnection,
    data: Data,
    texts: Sequence[str],
    others: Sequence[str],
    *,
    references: Data | None = None,
    on: Sequence[str] = (),
    unjoined: str = "raise",
    ordered: bool = False,
) -> DuckDBPyRelation:
    """The columns that are needed, of hypotheses and references.

    texts: the hypotheses' column, then the references', all of them of text, which come out as
        `apart` calls them if they are joined. others: further ones.
    """
    check_choice("unjoined", unjoined, ("raise", "skip"))
    if (references is None) != (not on):
        raise ValueError(
            "references and on: give both, to join hypotheses and references by an id, or neither"
        )
    hyp, *refs = texts
    found = _table(connection, data)
    if references is not None:
        theirs = _table(connection, references)
        known, elsewhere = list(found.columns), list(theirs.columns)
        # What neither is known to have may be in later rows of JSON, or be the name of the file.
        here = [n for n in others if n in known or (n not in elsewhere and _has(found, n))]
        there = [name for name in others if name not in here]
    with reading(data):
        if references is None:
            made = _chosen(found, texts, others, refs)
        else:
            left = _chosen(found, [hyp], [*on, *here], ())
            right = _chosen(theirs, refs, [*on, *there], refs, known)
            made = _joined(left, right, on, texts, others, ordered=ordered)
            odd = _check_ids(left, right, on, others, unjoined)
            if odd:
                warnings.warn(f"what cannot be joined is left out: {odd}", stacklevel=4)
            texts = apart(texts)
        for name, kind in zip(made.columns, map(str, made.types), strict=True):
            base = re.sub(r"\[\d*\]$", "", kind) if name in texts[1:] else kind
            if name in texts and base not in TEXT and not base.startswith("ENUM"):
                also = " or lists of them" if name in texts[1:] else ""
                raise InputError(f"column '{name}' is of type {kind}; expected strings{also}")
        return made


def stream(relation: DuckDBPyRelation) -> Any:
    """A relation as a stream of Arrow batches that is never whole in memory."""
    if release(duckdb.__version__) >= STREAMS:
        return relation
    if find_spec("pyarrow") is None:
        raise ImportError(
            f"DuckDB {duckdb.__version__} gives a stream with pyarrow only: pip install pyarrow, "
            "or DuckDB 2.0 or newer"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return relation.fetch_arrow_reader(ROWS_AT_ONCE)


def rows_of(
    connection: DuckDBPyConnection,
    relation: DuckDBPyRelation,
    texts: Sequence[str],
    carried: Sequence[str],
    at_once: int,
) -> Iterator[list[tuple[Any, ...]]]:
    """The hypothesis of each row, its references, and the columns that are carried along.

    References are a string if one column of strings has them, else a tuple; None if a row has none.
    So many rows come at once, without pyarrow and never all of them.
    """
    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
    hyp, *refs = texts
    columns = [quoted(hyp), quoted(refs[0])]
    tuples = len(refs) > 1 or kinds[refs[0]].endswith("]")
    if tuples:
        every = " || ".join(
            f"coalesce({quoted(name)}::VARCHAR[], [])"
            if kinds[name].endswith("]")
            else f"[{quoted(name)}::VARCHAR]"
            for name in refs
        )
        columns[1] = f"CASE WHEN list_aggregate({every}, 'count') > 0 THEN {every} END"
    zoned = {i for i, name in enumerate(carried, 2) if kinds[name] == "TIMESTAMP WITH TIME ZONE"}
    # For the time in a zone DuckDB wants pytz, which only it needs.
    columns += (
        f"make_timestamp(epoch_us({quoted(name)}))" if place in zoned else quoted(name)
        for place, name in enumerate(carried, 2)
    )
    chosen = relation.project(", ".join(f"{sql} AS c{i}" for i, sql in enumerate(columns)))

    def made(place: int, cell: Any) -> Any:
        if cell is None or (place != 1 and place not in zoned):
            return cell
        return cell.replace(tzinfo=UTC) if place in zoned else tuple(cell) if tuples else cell

    # A relation would read all rows first.
    result = connection.execute(chosen.sql_query())
    while found := result.fetchmany(at_once):
        plain = not (tuples or zoned)
        yield found if plain else [tuple(map(made, range(len(row)), row)) for row in found]


def _table(connection: DuckDBPyConnection, data: Data) -> Files | DuckDBPyRelation:
    """Files, or a relation of whatever else was passed."""
    if isinstance(data, DuckDBPyRelation):
        return data
    if not isinstance(data, str):
        if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
            return connection.from_arrow(data)
        several = isinstance(data, list | tuple) and bool(data)
        for each in data if several else [data]:  # type: ignore[union-attr]
            if not isinstance(each, str | os.PathLike):
                raise TypeError(
                    "expected a DuckDB relation, SQL, files or an Arrow table, not "
                    f"{type(each).__name__}{' in a list' if several else ''}"
                )
        return Files(data, connection)
    named, path = bool(TABLE.fullmatch(data)), _is_path(data)
    # A folder may be called as a table is, which the caller's own connection has; a file is not.
    if path and (get_table_format(data) or not named):
        return Files(data, connection)
    with reading(data):
        if named:
            try:
                return connection.table(data)
            except duckdb.CatalogException as error:
                if path:
                    return Files(data, connection)
                raise InputError(
                    f"{said(error)} (nor is there a file or folder {data}; a table needs its "
                    "connection: connection=...)"
                ) from None
        found = connection.sql(data)
    if found is None:
        raise InputError(f"{data!r:.80}: this SQL gives no rows; expected a SELECT")
    return found


def _is_path(text: str) -> bool:
    """Whether text is the name of a file, or a pattern, rather than SQL."""
    sql = re.match(r"\s*(select|from|with|values|table|describe|pivot)\b", text, re.IGNORECASE)
    return sql is None and (get_table_format(text) is not None or os.path.isdir(expand_home(text)))


def _has(table: Files | DuckDBPyRelation, name: str) -> bool:
    """True if there is such a column, or if it is the name of the file."""
    return table.has(name) if isinstance(table, Files) else name in table.columns


def _chosen(
    table: Files | DuckDBPyRelation,
    texts: Sequence[str],
    others: Sequence[str],
    refs: Sequence[str],
    elsewhere: Sequence[str] = (),
) -> DuckDBPyRelation:
    """Columns of a table; `elsewhere` are names that the other table has, for messages."""
    for name in [*texts, *others]:
        if _has(table, name):
            continue
        where = f"{table.label}: " if isinstance(table, Files) else ""
        known = dict.fromkeys([*table.columns, *elsewhere])
        told = f"{where}no column '{name}'{suggest_names(name, list(known))}"
        if isinstance(table, Files) and table.format in SEPARATED and len(known) == 1:
            between = {"csv": "commas", "tsv": "tabs"}[table.format]
            told += f"; the first line has the names, with {between} between them"
        outer, _, inner = name.partition(".")
        if inner and _has(table, outer):
            told += f"; for a field of '{outer}' give SQL in Python: SELECT {name} AS ... FROM ..."
        raise InputError(told)
    if isinstance(table, Files):
        return table.relation(texts, others, refs)
    return table.project(", ".join(map(quoted, dict.fromkeys([*texts, *others]))))


# ---- joins ----


def apart(texts: Sequence[str]) -> list[str]:
    """Names of columns of text: the references' may be that of the hypotheses, in another table."""
    hyp, *refs = texts
    return [hyp, *(f"{name} (references)" if name == hyp else name for name in refs)]


def _joined(
    hypotheses: DuckDBPyRelation,
    references: DuckDBPyRelation,
    on: Sequence[str],
    texts: Sequence[str],
    others: Sequence[str],
    *,
    ordered: bool,
) -> DuckDBPyRelation:
    """Columns of hypotheses and the references that have the same id.

    texts: the hypotheses' column, then the references', which come out as `apart` calls them.
    others: the hypotheses' if both have them. With `ordered`, in the order of the hypotheses.
    Raises InputError for ids that cannot be compared.
    """
    types, theirs = (
        dict(zip(side.columns, map(str, side.types), strict=True))
        for side in (hypotheses, references)
    )
    terms = []
    for name in on:
        kinds = (types[name], theirs[name])
        compared = {
            "number"
            if kind in NUMBERS or kind.startswith("DECIMAL")
            else "time"
            if kind.startswith(("DATE", "TIMESTAMP"))
            else kind.partition("(")[0]
            for kind in kinds
        }
        if len(compared) > 1 and not compared & {"VARCHAR", '"NULL"'}:
            raise InputError(
                f"{name}: {kinds[0]} among the hypotheses and {kinds[1]} among the references, "
                "which cannot be compared; expected ids of one type, or text on one side"
            )
        # A number in one file is text in another: CSV has nothing else.
        text = "::VARCHAR" if kinds[0] != kinds[1] and "VARCHAR" in kinds else ""
        terms.append(f"h.{quoted(name)}{text} = r.{quoted(name)}{text}")
    hyp, *refs = texts
    columns = {hyp: f"h.{quoted(hyp)}"}
    for name, called in zip(refs, apart(texts)[1:], strict=True):
        columns[called] = f"r.{quoted(name)} AS {quoted(called)}"
    for name in others:
        columns.setdefault(name, f"{'h' if name in types else 'r'}.{quoted(name)}")
    if ordered:
        hypotheses = hypotheses.project("*, row_number() OVER () AS truebleu_row")
    both = hypotheses.set_alias("h").join(references.set_alias("r"), " AND ".join(terms))
    chosen = ", ".join(columns.values())
    if not ordered:
        return both.project(chosen)
    found = both.project(f"{chosen}, h.truebleu_row").order("truebleu_row")
    return found.project(", ".join(map(quoted, columns)))


def _table_of_ids(
    hypotheses: DuckDBPyRelation,
    references: DuckDBPyRelation,
    ids: dict[str, str],
    groups: dict[str, str],
    theirs: dict[str, str],
) -> DuckDBPyRelation:
    """A table of the ids of both sides, a row each.

    Its columns: i0, i1 ... the id; made, the hypotheses that have it, and most, those of one group;
    given, the references; g0, g1 ... a value of each column to group by that its hypotheses have,
    v0, v1 ... whether there are several; c0, c1 ... the values of those that the references have.
    """

    def side(table: DuckDBPyRelation, own: dict[str, str], ours: bool) -> DuckDBPyRelation:
        names = (*ids, *groups, *theirs)
        chosen = [f"{quoted(own[n]) if n in own else 'NULL'} AS {n}" for n in names]
        return table.project(", ".join([*chosen, f"{ours} AS ours"]))

    both = side(hypotheses, ids | groups, True).union(side(references, ids | theirs, False))
    # Ids that are null, or that have a null in them, join nothing.
    alone = f"if({' OR '.join(f'{name} IS NULL' for name in ids)}, ours, NULL)"
    keys = ", ".join([*ids, *groups, "ours", "alone"])
    values = [f"any_value({name}) AS {name}" for name in theirs]
    of_groups = both.project(f"*, {alone} AS alone").aggregate(
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
    by_id = f"{', '.join(ids)}, alone"
    return of_groups.aggregate(", ".join([by_id, *values]), by_id)


def _check_ids(
    hypotheses: DuckDBPyRelation,
    references: DuckDBPyRelation,
    on: Sequence[str],
    by: Sequence[str],
    unjoined: str,
) -> str:
    """The rows that cannot be joined, counted in words; nothing if all can.

    Raises InputError for ids that a group has twice, and unless `unjoined` is "skip" for ids
    that one side has alone, or that have fewer hypotheses than others have. Only ids and groups
    are read.
    """
    within = [name for name in by if name in hypotheses.columns and name not in on]
    ids = {f"i{number}": name for number, name in enumerate(on)}
    groups = {f"g{number}": name for number, name in enumerate(within)}
    others = (name for name in by if name not in hypotheses.columns)
    theirs = {f"c{number}": name for number, name in enumerate(others)}
    table = _table_of_ids(hypotheses, references, ids, groups, theirs)

    def first(test: str, table: DuckDBPyRelation = table) -> str:
        """The first of the ids for which a condition holds."""
        some = ", ".join(ids)
        found = table.filter(test).project(some).order(some).limit(SHOWN).fetchall()
        texts = [f"({shown(id_)})" if len(ids) > 1 else shown(id_) for id_ in found]
        return f"{'the first: ' * (len(texts) == SHOWN)}{', '.join(texts)}"

    joined = "made IS NOT NULL AND given IS NOT NULL"
    columns = [
        *("count(*) FILTER (given > 1)", "count(*) FILTER (most > 1)"),
        *("coalesce(sum(made) FILTER (given IS NULL), 0)::BIGINT", "count(given)"),
        "count(*) FILTER (made IS NULL)",
        f"max(made) FILTER ({joined}) - min(made) FILTER ({joined})",
        *(f"count(*) FILTER (v{number})" for number, _ in enumerate(groups)),
    ]
    row = table.aggregate(", ".join(columns)).fetchall()[0]
    (twice_given, twice_made, lonely, known, unanswered, spread), varied = row[:6], row[6:]
    name = " and ".join(on)
    if twice_given:
        raise InputError(
            f"{name}: {_count(twice_given, 'is', 'are')} there more than once among the references "
            f"({first('given > 1')}); an id has one row of references, and several "
            "references are columns of it, or a list"
        )
    if twice_made:
        where = f"in one group of {', '.join(within)}" if within else "among the hypotheses"
        raise InputError(
            f"{name}: {_count(twice_made, 'is', 'are')} there more than once {where} "
            f"({first('most > 1')}); if there are several systems in the table, "
            "group by the column that tells which (by='system', --by system)"
        )
    odd = []
    if lonely:
        have = "hypotheses have" if lonely > 1 else "hypothesis has"
        odd.append(f"{lonely} {have} an id that no reference has ({first('given IS NULL')})")
    if unanswered:
        odd.append(
            f"{unanswered} of {known} references without a hypothesis ({first('made IS NULL')})"
        )
    if spread:
        # What all hypotheses of an id have alike says which segment it is of.
        alike = [column for column, name in ids.items() if name in by] + list(theirs)
        alike += [column for column, varies in zip(groups, varied, strict=True) if not varies]
        parts = f"PARTITION BY {', '.join(alike)}" if alike else ""
        # Only such ids are compared: test sets and domains may have other systems.
        usual = table.filter(joined).project(f"*, max(made) OVER ({parts}) AS usual")
        (fewer,) = usual.filter("made < usual").aggregate("count(*)").fetchall()[0]
        if fewer:
            than = f"fewer hypotheses than others ({first('made < usual', usual)})"
            odd.append(f"{_count(fewer, 'has', 'have')} {than}")
    if odd and unjoined != "skip":
        raise InputError(
            f"{name}: {'; '.join(odd)}; every segment of every system should be there once. "
            "unjoined='skip' (--unjoined skip) scores what can be joined"
        )
    return f"{name}: {'; '.join(odd)}" if odd else ""


def _count(ids: int, one: str, more: str) -> str:
    return f"1 id {one}" if ids == 1 else f"{ids} ids {more}"
