"""Conversion of user inputs to rows for scoring: connections, tables, joins and streams."""

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
from truebleu.engines.common_api import abbreviate_names, format_error, parse_release
from truebleu.engines.duckdb_files import (
    DELIMITERS,
    TableFiles,
    clean_message,
    find_corrupt_file,
    find_named_file,
    quote_name,
)
from truebleu.text.argument_checks import check_choice, suggest_names
from truebleu.text.operating_system import make_temporary_folder
from truebleu.text.segments import expand_home, get_table_format
from truebleu.text.terminal_layout import format_id

# A relation, SQL, a table name or files.
TableInput = DuckDBPyRelation | str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

# First release that streams Arrow batches without pyarrow and with little memory.
STREAMING_RELEASE = (2, 0)
BATCH_ROWS = 65536

# DuckDB's text types, and its numeric types. Ids of two numeric types can be compared.
TEXT_TYPES = ("VARCHAR", "JSON", '"NULL"')
NUMERIC_TYPES = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
)

# A table name, optionally qualified with schema and database.
TABLE_NAME = re.compile(r'(\w+|"([^"]|"")+")(\.(\w+|"([^"]|"")+")){0,2}')

# Interval between progress reports.
PROGRESS_SECONDS = 0.2

# Default memory limit of a new connection: a fixed amount, and an amount per thread.
MEMORY_MIB = (256, 128)

MAX_LISTED_IDS = 3

# Advice on DuckDB's errors, keyed by a pattern of the message.
ERROR_ADVICE = {
    "failed to offload|No space left": "DuckDB's temporary folder is full (set TMPDIR to another "
    "folder, or use memory='4GB' or --memory 4GB to spill less data): ",
    "Out of Memory|failed to allocate": "DuckDB reached its memory limit (set memory='4GB', "
    "--memory 4GB, or the connection's memory_limit): ",
}


# ---- connections ----


def check_connection(connection: object) -> None:
    """Raise TypeError if `connection` is neither None nor a DuckDB connection."""
    if connection is not None and not isinstance(connection, DuckDBPyConnection):
        raise TypeError(
            "connection: expected a DuckDB connection (duckdb.connect('my.db')), found "
            f"{type(connection).__name__}"
        )


@contextmanager
def open_connection(
    connection: DuckDBPyConnection | None,
    *,
    memory: str | None,
    threads: int,
    ordered: bool = False,
) -> Iterator[DuckDBPyConnection]:
    """Yield the user's connection, or a new connection with a memory limit.

    A new connection can read files, but it cannot download anything or read Python variables.
    ordered: keep the order of rows.
    """
    if connection is not None:
        yield connection
        return
    with make_temporary_folder() as folder:
        settings: dict[str, Any] = {
            "memory_limit": memory or f"{MEMORY_MIB[0] + MEMORY_MIB[1] * threads}MiB",
            "temp_directory": os.path.join(folder, "spilled"),
            "threads": threads,
            "preserve_insertion_order": ordered,
            "python_enable_replacements": False,
            "autoinstall_known_extensions": False,
        }
        try:
            new_connection = duckdb.connect(":memory:", config=settings)
        except duckdb.Error as error:
            expected = f"memory={memory!r}: expected a size such as 384MB or 2GB; "
            prefix = f"{expected}DuckDB" if memory else "DuckDB"
            raise InputError(f"{prefix}: {clean_message(error)}") from None
        with new_connection:
            # DuckDB computes progress only if its progress bar is enabled.
            new_connection.execute(
                "SET enable_progress_bar = true; SET enable_progress_bar_print = false"
            )
            yield new_connection


@contextmanager
def report_progress(
    connection: DuckDBPyConnection, progress: Callable[[float], None] | None
) -> Iterator[None]:
    """Call `progress` regularly with the fraction of the data that DuckDB has read."""
    if progress is None:
        yield
        return
    done = Event()

    def poll_progress() -> None:
        while not done.wait(PROGRESS_SECONDS):
            percent = connection.query_progress()
            if percent >= 0:
                progress(percent / 100)

    thread = Thread(target=poll_progress, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@contextmanager
def translate_errors(data: TableInput) -> Iterator[None]:
    """Convert DuckDB errors in a block of code to InputErrors that name the files."""
    try:
        yield
    except InputError as error:
        # DuckDB failed while the kernel read its stream.
        match = re.search(r"Arrow stream failed with status \d+: (.*)", str(error), re.DOTALL)
        if match is None:
            raise
        raise _convert_duckdb_error(data, match[1]) from None
    except duckdb.Error as error:
        raise _convert_duckdb_error(data, str(error)) from None


def _convert_duckdb_error(data: TableInput, message: str) -> InputError:
    """Return an InputError for a DuckDB message, with the user's file names."""
    if isinstance(data, DuckDBPyRelation):
        data = data.sql_query()
    if isinstance(data, str) and not _is_path(data):
        sql = data
        label, files = "", [word for word in re.findall(r"'([^']+)'", sql) if _is_path(word)]
    else:
        inputs = data if isinstance(data, list | tuple) else [data]
        files = [os.fspath(name) for name in inputs if isinstance(name, str | os.PathLike)]
        label = abbreviate_names(files) if files else ""
    if "required extension 'httpfs" in message:
        advice = "reading URLs requires a connection with DuckDB's extension httpfs; pass it as "
        return InputError(f"{label}{': ' if label else ''}{advice}connection=")
    if "Cannot combine LEFT and RIGHT" in message:
        return InputError(
            "hypotheses and references use different connections. Pass the relation's connection "
            "as connection=, and the other input as a file, SQL or a relation of that connection."
        )
    help = next((text for sign, text in ERROR_ADVICE.items() if re.search(sign, message)), "")  # noqa: A001
    location = find_named_file(message) or ("" if help else find_corrupt_file(files)) or label
    return InputError(format_error(location, f"{help}{clean_message(message, location)}"))


# ---- tables ----


def select_rows(
    connection: DuckDBPyConnection,
    data: TableInput,
    text_columns: Sequence[str],
    extra_columns: Sequence[str],
    *,
    references: TableInput | None = None,
    on: Sequence[str] = (),
    unjoined: str = "raise",
    ordered: bool = False,
) -> DuckDBPyRelation:
    """Select the required columns of hypotheses and references.

    text_columns: the hypothesis column, then the reference columns. In a join, the result has the
        names that `disambiguate_text_columns` returns. extra_columns: other columns.
    """
    check_choice("unjoined", unjoined, ("raise", "skip"))
    if (references is None) != (not on):
        raise ValueError(
            "references and on: expected both (to join hypotheses and references by id) or neither"
        )
    hyp, *refs = text_columns
    hypothesis_table = _open_table(connection, data)
    if references is not None:
        reference_table = _open_table(connection, references)
        listed, listed_in_references = list(hypothesis_table.columns), reference_table.columns
        # A column that neither table lists may be in later JSON rows, or be the column "filename".
        left_extras = [
            name
            for name in extra_columns
            if name in listed
            or (name not in listed_in_references and _has_column(hypothesis_table, name))
        ]
        right_extras = [name for name in extra_columns if name not in left_extras]
    with translate_errors(data):
        if references is None:
            rows = _select_columns(hypothesis_table, text_columns, extra_columns, refs)
        else:
            left = _select_columns(hypothesis_table, [hyp], [*on, *left_extras], ())
            right = _select_columns(reference_table, refs, [*on, *right_extras], refs, listed)
            rows = _join_tables(left, right, on, text_columns, extra_columns, ordered=ordered)
            unmatched = _check_ids(left, right, on, extra_columns, unjoined)
            if unmatched:
                warnings.warn(f"unmatched rows were omitted: {unmatched}", stacklevel=4)
            text_columns = disambiguate_text_columns(text_columns)
        for name, type_name in zip(rows.columns, map(str, rows.types), strict=True):
            is_reference = name in text_columns[1:]
            base = re.sub(r"\[\d*\]$", "", type_name) if is_reference else type_name
            if name in text_columns and base not in TEXT_TYPES and not base.startswith("ENUM"):
                lists = " or lists of strings" if is_reference else ""
                raise InputError(f"column '{name}' is of type {type_name}; expected strings{lists}")
        return rows


def stream_batches(relation: DuckDBPyRelation) -> Any:
    """Convert a relation to a stream of Arrow batches, without loading all rows at once."""
    if parse_release(duckdb.__version__) >= STREAMING_RELEASE:
        return relation
    if find_spec("pyarrow") is None:
        raise ImportError(
            f"DuckDB {duckdb.__version__} requires pyarrow for streaming: pip install pyarrow, or "
            "install DuckDB 2.0 or newer"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return relation.fetch_arrow_reader(BATCH_ROWS)


def fetch_rows(
    connection: DuckDBPyConnection,
    relation: DuckDBPyRelation,
    text_columns: Sequence[str],
    extra_columns: Sequence[str],
    batch_rows: int,
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield batches of rows: the hypothesis, its references, and the extra columns.

    References are a string if there is one reference column of strings, otherwise a tuple, or None
    if a row has none. Each batch has at most `batch_rows` rows, and pyarrow is not required.
    """
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    hyp, *refs = text_columns
    columns = [quote_name(hyp), quote_name(refs[0])]
    has_tuples = len(refs) > 1 or types[refs[0]].endswith("]")
    if has_tuples:
        reference_lists = " || ".join(
            f"coalesce({quote_name(name)}::VARCHAR[], [])"
            if types[name].endswith("]")
            else f"[{quote_name(name)}::VARCHAR]"
            for name in refs
        )
        has_text = f"list_aggregate({reference_lists}, 'count') > 0"
        columns[1] = f"CASE WHEN {has_text} THEN {reference_lists} END"
    zoned_type = "TIMESTAMP WITH TIME ZONE"
    zoned = {i for i, name in enumerate(extra_columns, 2) if types[name] == zoned_type}
    # DuckDB would require pytz to convert timestamps with a time zone.
    columns += (
        f"make_timestamp(epoch_us({quote_name(name)}))" if i in zoned else quote_name(name)
        for i, name in enumerate(extra_columns, 2)
    )
    projection = relation.project(", ".join(f"{sql} AS c{i}" for i, sql in enumerate(columns)))
    # Fetching from the relation would read all rows first.
    result = connection.execute(projection.sql_query())
    while batch := result.fetchmany(batch_rows):
        for number, row in enumerate(batch if has_tuples or zoned else ()):
            cells = list(row)
            if has_tuples and row[1] is not None:
                cells[1] = tuple(row[1])
            for i in zoned:
                cells[i] = row[i] and row[i].replace(tzinfo=UTC)
            batch[number] = tuple(cells)
        yield batch


def _open_table(connection: DuckDBPyConnection, data: TableInput) -> TableFiles | DuckDBPyRelation:
    """Return a `TableFiles` object for files, or a relation for any other input."""
    if isinstance(data, DuckDBPyRelation):
        return data
    if not isinstance(data, str):
        if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
            return connection.from_arrow(data)
        is_list = isinstance(data, list | tuple) and bool(data)
        for item in data if is_list else [data]:  # type: ignore[union-attr]
            if not isinstance(item, str | os.PathLike):
                raise TypeError(
                    "expected a DuckDB relation, SQL, files or an Arrow table, found "
                    f"{type(item).__name__}{' in a list' if is_list else ''}"
                )
        return TableFiles(data, connection)
    is_table_name, is_file_path = bool(TABLE_NAME.fullmatch(data)), _is_path(data)
    # In the user's connection, a table name has priority over a folder, but not over a file.
    if is_file_path and (get_table_format(data) or not is_table_name):
        return TableFiles(data, connection)
    with translate_errors(data):
        if is_table_name:
            try:
                return connection.table(data)
            except duckdb.CatalogException as error:
                if is_file_path:
                    return TableFiles(data, connection)
                raise InputError(
                    f"{clean_message(error)} (and there is no file or folder {data}). Pass "
                    "the table's connection as connection=."
                ) from None
        relation = connection.sql(data)
    if relation is None:
        raise InputError(f"{data!r:.80}: expected SQL that returns rows, such as SELECT")
    return relation


def _is_path(text: str) -> bool:
    """Return whether a string is a file name or a pattern rather than SQL."""
    sql = re.match(r"\s*(select|from|with|values|table|describe|pivot)\b", text, re.IGNORECASE)
    return sql is None and (get_table_format(text) is not None or os.path.isdir(expand_home(text)))


def _has_column(table: TableFiles | DuckDBPyRelation, name: str) -> bool:
    """Return whether a table has a column, or the column is "filename"."""
    return table.has_column(name) if isinstance(table, TableFiles) else name in table.columns


def _select_columns(
    table: TableFiles | DuckDBPyRelation,
    text_columns: Sequence[str],
    extra_columns: Sequence[str],
    refs: Sequence[str],
    other_table_columns: Sequence[str] = (),
) -> DuckDBPyRelation:
    """Select columns of a table. Error messages also suggest names in `other_table_columns`."""
    for name in [*text_columns, *extra_columns]:
        if _has_column(table, name):
            continue
        prefix = f"{table.label}: " if isinstance(table, TableFiles) else ""
        available = dict.fromkeys([*table.columns, *other_table_columns])
        problem = f"{prefix}no column '{name}'{suggest_names(name, list(available))}"
        if isinstance(table, TableFiles) and table.format in DELIMITERS and len(available) == 1:
            separator_name = {"csv": "commas", "tsv": "tabs"}[table.format]
            problem += f"; expected column names separated by {separator_name} in the first line"
        outer, _, inner = name.partition(".")
        if inner and _has_column(table, outer):
            problem += f". To read a field of '{outer}', use SQL: SELECT {name} AS ... FROM ..."
        raise InputError(problem)
    if isinstance(table, TableFiles):
        return table.select_columns(text_columns, extra_columns, refs)
    return table.project(", ".join(map(quote_name, dict.fromkeys([*text_columns, *extra_columns]))))


# ---- joins ----


def disambiguate_text_columns(text_columns: Sequence[str]) -> list[str]:
    """Return the text column names, with references renamed if they share the hypotheses' name."""
    hyp, *refs = text_columns
    return [hyp, *(f"{name} (references)" if name == hyp else name for name in refs)]


def _join_tables(
    hypotheses: DuckDBPyRelation,
    references: DuckDBPyRelation,
    on: Sequence[str],
    text_columns: Sequence[str],
    extra_columns: Sequence[str],
    *,
    ordered: bool,
) -> DuckDBPyRelation:
    """Join hypotheses and references with equal ids.

    text_columns: the hypothesis column, then the reference columns, which
        `disambiguate_text_columns` renames. extra_columns: other columns; if both tables have one,
        the hypotheses' column is used. ordered: keep the order of the hypotheses.

    Raises InputError for ids that cannot be compared.
    """
    hypothesis_types, reference_types = (
        dict(zip(table.columns, map(str, table.types), strict=True))
        for table in (hypotheses, references)
    )
    terms = []
    for name in on:
        id_types = (hypothesis_types[name], reference_types[name])
        type_classes = {
            "number"
            if id_type in NUMERIC_TYPES or id_type.startswith("DECIMAL")
            else "time"
            if id_type.startswith(("DATE", "TIMESTAMP"))
            else id_type.partition("(")[0]
            for id_type in id_types
        }
        if len(type_classes) > 1 and not type_classes & {"VARCHAR", '"NULL"'}:
            raise InputError(
                f"{name}: cannot compare {id_types[0]} ids of hypotheses with {id_types[1]} ids of "
                "references (expected equal types, or text in one table)"
            )
        # Compare as text, because CSV files contain numbers as text.
        cast = "::VARCHAR" if id_types[0] != id_types[1] and "VARCHAR" in id_types else ""
        terms.append(f"h.{quote_name(name)}{cast} = r.{quote_name(name)}{cast}")
    hyp, *refs = text_columns
    columns = {hyp: f"h.{quote_name(hyp)}"}
    for name, output_name in zip(refs, disambiguate_text_columns(text_columns)[1:], strict=True):
        columns[output_name] = f"r.{quote_name(name)} AS {quote_name(output_name)}"
    for name in extra_columns:
        columns.setdefault(name, f"{'h' if name in hypothesis_types else 'r'}.{quote_name(name)}")
    if ordered:
        hypotheses = hypotheses.project("*, row_number() OVER () AS truebleu_row")
    joined = hypotheses.set_alias("h").join(references.set_alias("r"), " AND ".join(terms))
    selection = ", ".join(columns.values())
    if not ordered:
        return joined.project(selection)
    ordered_rows = joined.project(f"{selection}, h.truebleu_row").order("truebleu_row")
    return ordered_rows.project(", ".join(map(quote_name, columns)))


def _aggregate_ids(
    hypotheses: DuckDBPyRelation,
    references: DuckDBPyRelation,
    ids: dict[str, str],
    groups: dict[str, str],
    reference_groups: dict[str, str],
) -> DuckDBPyRelation:
    """Return a table with one row per id in either table.

    Columns: i0, i1 ...: the id; hypothesis_count, reference_count: the numbers of rows with it;
    max_group_count: the largest number of hypotheses in one group; g0, g1 ...: the lowest value
    of each hypothesis key; v0, v1 ...: whether the key varies; c0, c1 ...: each reference key.
    """

    def select_id_columns(
        table: DuckDBPyRelation, columns: dict[str, str], is_hypothesis: bool
    ) -> DuckDBPyRelation:
        names = (*ids, *groups, *reference_groups)
        expressions = [
            f"{quote_name(columns[n]) if n in columns else 'NULL'} AS {n}" for n in names
        ]
        return table.project(", ".join([*expressions, f"{is_hypothesis} AS is_hypothesis"]))

    all_rows = select_id_columns(hypotheses, ids | groups, True).union(
        select_id_columns(references, ids | reference_groups, False)
    )
    # Null ids, and ids that contain a null, match nothing.
    null_id = f"if({' OR '.join(f'{name} IS NULL' for name in ids)}, is_hypothesis, NULL)"
    keys = ", ".join([*ids, *groups, "is_hypothesis", "null_id"])
    values = [f"any_value({name}) AS {name}" for name in reference_groups]
    by_group = all_rows.project(f"*, {null_id} AS null_id").aggregate(
        ", ".join([keys, "count(*) AS row_count", *values]), keys
    )
    for number, name in enumerate(groups):
        null = f"bool_or({name} IS NULL) FILTER (is_hypothesis)"
        varied = f"min({name}) IS DISTINCT FROM max({name}) OR {null} AND count({name}) > 0"
        values += [f"min({name}) AS {name}", f"({varied}) AS v{number}"]
    values += [
        "sum(row_count) FILTER (is_hypothesis)::BIGINT AS hypothesis_count",
        "max(row_count) FILTER (is_hypothesis) AS max_group_count",
        "sum(row_count) FILTER (NOT is_hypothesis) AS reference_count",
    ]
    by_id = f"{', '.join(ids)}, null_id"
    return by_group.aggregate(", ".join([by_id, *values]), by_id)


def _check_ids(
    hypotheses: DuckDBPyRelation,
    references: DuckDBPyRelation,
    on: Sequence[str],
    by: Sequence[str],
    unjoined: str,
) -> str:
    """Describe the rows that cannot be joined, or return an empty string if there are none.

    Raises InputError for ids that are repeated within a group. Unless `unjoined` is "skip", it also
    raises InputError for unmatched ids, and for ids with fewer hypotheses than other ids.
    Only ids and groups are read.
    """
    hypothesis_keys = [name for name in by if name in hypotheses.columns and name not in on]
    ids = {f"i{number}": name for number, name in enumerate(on)}
    groups = {f"g{number}": name for number, name in enumerate(hypothesis_keys)}
    reference_keys = (name for name in by if name not in hypotheses.columns)
    reference_groups = {f"c{number}": name for number, name in enumerate(reference_keys)}
    table = _aggregate_ids(hypotheses, references, ids, groups, reference_groups)

    def format_first_ids(condition: str, table: DuckDBPyRelation = table) -> str:
        """Format the first ids for which a condition holds."""
        id_columns = ", ".join(ids)
        selected = table.filter(condition).project(id_columns).order(id_columns)
        rows = selected.limit(MAX_LISTED_IDS).fetchall()
        texts = [f"({format_id(id_)})" if len(ids) > 1 else format_id(id_) for id_ in rows]
        return f"{'the first: ' * (len(texts) == MAX_LISTED_IDS)}{', '.join(texts)}"

    is_joined = "hypothesis_count IS NOT NULL AND reference_count IS NOT NULL"
    columns = [
        "count(*) FILTER (reference_count > 1)",
        "count(*) FILTER (max_group_count > 1)",
        "coalesce(sum(hypothesis_count) FILTER (reference_count IS NULL), 0)::BIGINT",
        "count(reference_count)",
        "count(*) FILTER (hypothesis_count IS NULL)",
        f"max(hypothesis_count) FILTER ({is_joined}) - min(hypothesis_count) FILTER ({is_joined})",
        *(f"count(*) FILTER (v{number})" for number, _ in enumerate(groups)),
    ]
    counts = table.aggregate(", ".join(columns)).fetchall()[0]
    repeated_references, repeated_hypotheses, unreferenced = counts[:3]
    reference_total, unused_references, spread, *varying = counts[3:]
    name = " and ".join(on)
    if repeated_references:
        raise InputError(
            f"{name}: {_describe_repeated_ids(repeated_references)} in the references "
            f"({format_first_ids('reference_count > 1')}). Put several references for an id into "
            "several columns, or into a list."
        )
    if repeated_hypotheses:
        location = (
            f"one group of {', '.join(hypothesis_keys)}" if hypothesis_keys else "the hypotheses"
        )
        raise InputError(
            f"{name}: {_describe_repeated_ids(repeated_hypotheses)} in {location} "
            f"({format_first_ids('max_group_count > 1')}). If the table has several systems, group "
            "by the system column (by='system', --by system)."
        )
    problems = []
    if unreferenced:
        subject = f"{unreferenced} {'hypotheses' if unreferenced > 1 else 'hypothesis'}"
        problems.append(
            f"{subject} without a reference ({format_first_ids('reference_count IS NULL')})"
        )
    if unused_references:
        problems.append(
            f"{unused_references} of {reference_total} references without a hypothesis "
            f"({format_first_ids('hypothesis_count IS NULL')})"
        )
    if spread:
        # Columns with one value for all hypotheses of an id describe the segment.
        shared_columns = [id_column for id_column, name in ids.items() if name in by]
        shared_columns += reference_groups
        shared_columns += [
            column for column, varies in zip(groups, varying, strict=True) if not varies
        ]
        partition = f"PARTITION BY {', '.join(shared_columns)}" if shared_columns else ""
        # Compare counts only within these groups, because test sets may have different systems.
        joined_ids = table.filter(is_joined).project(
            f"*, max(hypothesis_count) OVER ({partition}) AS expected_count"
        )
        condition = "hypothesis_count < expected_count"
        (fewer,) = joined_ids.filter(condition).aggregate("count(*)").fetchall()[0]
        if fewer:
            examples = format_first_ids(condition, joined_ids)
            problems.append(
                f"{_describe_id_count(fewer)} with fewer hypotheses than others ({examples})"
            )
    if problems and unjoined != "skip":
        raise InputError(
            f"{name}: {'; '.join(problems)}; every system needs each segment exactly once. Use "
            "unjoined='skip' (--unjoined skip) to score only the matching rows."
        )
    return f"{name}: {'; '.join(problems)}" if problems else ""


def _describe_id_count(count: int) -> str:
    return "1 id" if count == 1 else f"{count} ids"


def _describe_repeated_ids(count: int) -> str:
    return f"{_describe_id_count(count)} {'is' if count == 1 else 'are'} repeated"
