"""From what people pass to the rows that are scored: connections, tables, joins, streams."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import duckdb

from truebleu._kernel import InputError
from truebleu.engines.duckdb_files import SEPARATED, Files, culprit, damaged, quoted, said
from truebleu.engines.duckdb_join import Ids, apart, joined
from truebleu.engines.functions import release, several, told
from truebleu.text.checks import nearest, one_of
from truebleu.text.segments import at_home, table_format

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

    # A relation, SQL, the name of a table, files.
    Data = DuckDBPyRelation | str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

# Before this release an Arrow stream without pyarrow was the whole result, or large parts of it.
STREAMS = (2, 0)
ROWS_AT_ONCE = 65536

# What DuckDB calls text.
TEXT = ("VARCHAR", "JSON", '"NULL"')

# The name of a table, with those of its schema and database.
TABLE = re.compile(r'(\w+|"([^"]|"")+")(\.(\w+|"([^"]|"")+")){0,2}')

# Seconds from one report of progress to the next.
EVERY = 0.2

# For a connection of our own: what it needs anyway, and what each thread needs.
MEMORY = (256, 128)


def check_connection(connection: object) -> None:
    """Raises TypeError for what is no connection, unless it is None."""
    if connection is not None and not isinstance(connection, duckdb.DuckDBPyConnection):
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
    limit = memory or f"{MEMORY[0] + MEMORY[1] * threads}MiB"
    from truebleu.text.system import temporary_folder

    with temporary_folder() as folder:
        settings: dict[str, Any] = {
            "memory_limit": limit,
            "temp_directory": os.path.join(folder, "spilled"),
            "threads": threads,
            "preserve_insertion_order": ordered,
            "python_enable_replacements": False,
            "autoinstall_known_extensions": False,
        }
        try:
            own = duckdb.connect(":memory:", config=settings)
        except duckdb.Error as error:
            raise InputError(
                f"memory={memory!r} (--memory): expected a size, like 384MB or 2GB; DuckDB says: "
                f"{said(error)}"
                if memory
                else f"DuckDB: {said(error)}"
            ) from None
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
    from threading import Event, Thread

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
    try:
        yield
    except InputError as error:
        # What DuckDB says while the kernel reads its stream.
        found = re.search(r"the Arrow stream failed with status \d+: (.*)", str(error), re.DOTALL)
        if found is None:
            raise
        raise _wrong(data, found[1]) from None
    except duckdb.Error as error:
        raise _wrong(data, str(error)) from None


def _wrong(data: Data, message: str) -> InputError:
    """DuckDB's error as one of ours."""
    advice, where = "", _label(data)
    begin = f"{where}: " if where else ""
    if "failed to offload" in message or "No space left" in message:
        advice = (
            "DuckDB's folder for what does not fit into memory is full (TMPDIR names another; with "
            "memory='4GB', --memory 4GB, less goes there): "
        )
    elif "Out of Memory" in message or "failed to allocate" in message:
        advice = (
            "DuckDB needs more memory than it may use (memory='4GB', --memory 4GB; or a connection "
            "with another memory_limit): "
        )
    elif "required extension 'httpfs" in message:
        return InputError(
            f"{begin}addresses are read by a connection that has DuckDB's httpfs: give it "
            "with connection="
        )
    elif "Cannot combine LEFT and RIGHT" in message:
        return InputError(
            "hypotheses and references are of different connections: give the relation's own with "
            "connection=, and the other side as a file, SQL or a relation of it"
        )
    where = culprit(message) or ("" if advice else damaged(_files(data))) or _label(data)
    return InputError(told(where, f"{advice}{said(message, where)}"))


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
    one_of("unjoined", unjoined, ("raise", "skip"))
    hyp, *refs = texts
    if (references is None) != (not on):
        raise ValueError(
            "references and on: give both, to join hypotheses and references by an id, or neither"
        )
    if references is None:
        with reading(data):
            return _of_text(_chosen(_table(connection, data), texts, others, refs), texts)
    ours, theirs = _table(connection, data), _table(connection, references)
    known, elsewhere = list(ours.columns), list(theirs.columns)
    # What neither is known to have may be in later rows of JSON, or be the name of the file.
    here = [
        name for name in others if name in known or (name not in elsewhere and _has(ours, name))
    ]
    with reading(data):
        left = _chosen(ours, [hyp], [*on, *here], ())
        there = [name for name in others if name not in here]
        right = _chosen(theirs, refs, [*on, *there], refs, known)
        both = joined(left, right, on, texts, others, order=ordered)
        found = Ids(left, right, on, others).check(unjoined)
        if found:
            warnings.warn(f"what cannot be joined is left out: {found}", stacklevel=4)
        return _of_text(both, apart(texts))


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
    from datetime import UTC

    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
    hyp, *refs = texts
    parts = [(quoted(name), kinds[name].endswith("]")) for name in refs]
    columns = [quoted(hyp), parts[0][0]]
    tuples = len(parts) > 1 or parts[0][1]
    if tuples:
        every = " || ".join(
            f"coalesce({name}::VARCHAR[], [])" if own else f"[{name}::VARCHAR]"
            for name, own in parts
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


def _of_text(relation: DuckDBPyRelation, texts: Sequence[str]) -> DuckDBPyRelation:
    """The relation. Raises InputError for columns of text that are of another type."""
    for name, kind in zip(relation.columns, map(str, relation.types), strict=True):
        base = re.sub(r"\[\d*\]$", "", kind) if name in texts[1:] else kind
        if name in texts and base not in TEXT and not base.startswith("ENUM"):
            also = " or lists of them" if name in texts[1:] else ""
            raise InputError(f"column '{name}' is of type {kind}; expected strings{also}")
    return relation


def _table(connection: DuckDBPyConnection, data: Data) -> Files | DuckDBPyRelation:
    """Files, or a relation of whatever else was passed."""
    if isinstance(data, duckdb.DuckDBPyRelation):
        return data
    if not isinstance(data, str):
        if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
            return connection.from_arrow(data)
        several = isinstance(data, list | tuple) and bool(data)
        given: Sequence[object] = list(data) if several else [data]  # type: ignore[arg-type]
        for each in given:
            if not isinstance(each, str | os.PathLike):
                raise TypeError(
                    "expected a DuckDB relation, SQL, files or an Arrow table, not "
                    f"{type(each).__name__}{' in a list' if several else ''}"
                )
        return Files(data, connection)
    named, path = bool(TABLE.fullmatch(data)), _is_path(data)
    # A folder may be called as a table is, which the caller's own connection has; a file is not.
    if path and (table_format(data) or not named):
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
    return sql is None and (table_format(text) is not None or os.path.isdir(at_home(text)))


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
        told = f"{where}no column '{name}'{nearest(name, list(known))}"
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


def _files(data: Data) -> list[str]:
    """The names of the files, as they are given or stand in SQL."""
    if isinstance(data, duckdb.DuckDBPyRelation):
        data = data.sql_query()
    if isinstance(data, str) and not _is_path(data):
        return [word for word in re.findall(r"'([^']+)'", data) if _is_path(word)]
    given = data if isinstance(data, list | tuple) else [data]
    return [os.fspath(name) for name in given if isinstance(name, str | os.PathLike)]


def _label(data: Data) -> str:
    """The beginning of a message that quotes DuckDB."""
    if isinstance(data, list | tuple):
        return several([*map(os.fspath, data)])
    named = isinstance(data, os.PathLike) or (isinstance(data, str) and _is_path(data))
    return os.fspath(data) if named else ""  # type: ignore[arg-type]
