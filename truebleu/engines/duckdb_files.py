"""Conversion of Parquet, CSV, TSV and JSON files to DuckDB relations without changing text."""

from __future__ import annotations

import codecs
import glob
import os
import re
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from truebleu._kernel import InputError
from truebleu.engines.common_api import abbreviate_names, format_error
from truebleu.text.argument_checks import read_csv
from truebleu.text.segments import NO_TABLE_FILES, File, expand_home, get_table_format

if TYPE_CHECKING:  # the command line calls `find_table_files` without DuckDB
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

# Delimiter and quote character per format. TSV does not use quotes: fields contain neither tabs nor
# line endings, and quotation marks are text.
DELIMITERS = {"csv": (",", '"'), "tsv": ("\t", "")}

# Null marker that no file contains, so that every CSV field is text, even an empty field.
NULL_MARKER = "\x01no file contains this\x02"

# Types that DuckDB infers for JSON strings.
TEXT_LIKE_TYPES = ("VARCHAR", "DATE", "TIME", "TIMESTAMP", "UUID", "INTERVAL", "BLOB", "JSON")

# Prefixes of message lines with advice on DuckDB's options, which truebleu's users cannot set.
ADVICE_PREFIXES = (
    *("Possible", "Potential", "Candidate", "* ", "Try setting", "If you are", "LINE "),
    "This can happen when reading multiple",
)

# Maximum row size of CSV and JSON files. DuckDB allocates buffers of about this size.
MAX_ROW_BYTES = 32 << 20

# SQL condition that is true if a Parquet schema column contains strings, lists or only nulls.
TEXT_COLUMN_CONDITION = (
    "coalesce(converted_type, '') IN ('UTF8', 'ENUM', 'JSON', 'LIST') "
    "OR regexp_matches(coalesce(logical_type::VARCHAR, ''), '^(String|Null|List|Enum|Json)')"
)


class TableFiles:
    """Files of one format that a connection reads as one table.

    `names` are files, folders of files (such as Spark's output) and patterns (`*`, `?`, `[a-z]`,
    `**` for nested folders). Every file must have all selected columns.
    """

    def __init__(
        self,
        names: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        connection: DuckDBPyConnection,
    ) -> None:
        name_list = [names] if isinstance(names, str | os.PathLike) else names
        self.names = [os.fspath(name) for name in name_list]
        # Description of the files for messages.
        printable_names = [os.fsencode(n).decode("utf-8", "replace") for n in self.names]
        self.label = abbreviate_names(printable_names)
        path_by_target: dict[str, str] = {}
        for path in (path for name in self.names for path in find_table_files(name)):
            target = os.path.realpath(path)
            if target in path_by_target:
                message = (
                    f"{path} is the same file as {path_by_target[target]}; it is read only once"
                )
                warnings.warn(message, stacklevel=3)
            path_by_target.setdefault(target, path)
        self.paths = list(path_by_target.values())
        formats = sorted({get_table_format(path) or "other" for path in self.paths})
        if len(formats) != 1 or formats == ["other"]:
            raise InputError(
                f"{self.label}: expected files of one format (Parquet, CSV, TSV or JSON, by file "
                f"extension), found {' and '.join(formats)}"
            )
        (self.format,) = formats
        if self.format != "parquet":
            # Spark writes empty files for empty partitions, and DuckDB reads the columns of a CSV
            # table from its first file.
            self.paths = [path for path in self.paths if not _is_empty_file(path)]
            if not self.paths:
                raise InputError(f"{self.label}: no rows to score; the file is empty")
        self._connection = connection
        self._is_sampled = True
        self._column_types = self._read_column_types()

    @property
    def columns(self) -> list[str]:
        """The column names."""
        return list(self._column_types)

    def has_column(self, name: str) -> bool:
        """Return whether a column exists. In JSON files, any row may define the column."""
        if name not in self._column_types and self.format == "json" and self._is_sampled:
            self._is_sampled = False
            self._column_types = self._read_column_types()
        return name in self._column_types or name == "filename"

    def select_columns(
        self,
        text_columns: Sequence[str],
        other_columns: Sequence[str],
        list_columns: Sequence[str] = (),
    ) -> DuckDBPyRelation:
        """Return a relation with text columns and other columns, without reordering the rows.

        The names must be in `columns`, or "filename". `list_columns` may contain lists of strings.
        """
        columns = {name: quote_name(name) for name in (*text_columns, *other_columns)}
        options = {"filename": "true"} if "filename" in columns else {}
        self._check_duplicate_names(columns)
        if self.format == "json":
            types = {}
            for name, column_type in self._column_types.items():
                if name in text_columns:
                    columns[name] = _format_json_text(name, column_type, name in list_columns)
                    types[name] = "JSON"
                elif name in columns:
                    # Keep strings that are not scored as strings, even if they look like dates.
                    is_text = column_type.startswith(TEXT_LIKE_TYPES) or {*"(["} & {*column_type}
                    types[name] = "VARCHAR" if is_text else column_type
            fields = (f"{quote_name(name)}: {quote_string(kind)}" for name, kind in types.items())
            options["columns"] = f"{{{', '.join(fields)}}}"
        elif self.format == "parquet" and self._has_differing_types(columns, text_columns):
            options["union_by_name"] = "true"
        selection = ", ".join(columns.values())
        return self._run_query(f"SELECT {selection} FROM {self._format_reader_call(options)}")

    def _read_column_types(self) -> dict[str, str]:
        """Return a dict from column names to DuckDB's type names."""
        relation = self._run_query(f"FROM {self._format_reader_call({})}")
        types = dict(zip(relation.columns, map(str, relation.types), strict=True))
        if self.format == "json" and types == {"json": "JSON"}:
            raise InputError(f"{self.label}: expected JSON objects, one per line or in one array")
        return types

    def _has_differing_types(
        self, column_names: Iterable[str], text_columns: Sequence[str]
    ) -> bool:
        """Return whether a column has different types in the files, such as null and string.

        Raises InputError for a file that lacks a column, because its rows would be null, and for a
        file whose text column has another type, because DuckDB would convert it to strings.
        """
        if len(self.paths) == 1:
            return False
        # Columns that are not in any file are partition columns from folder names.
        name_condition = f"lower(name) IN ({_quote_strings(name.lower() for name in column_names)})"
        type_count = "count(DISTINCT concat_ws(' ', type, converted_type, logical_type))"
        differing_columns = self._run_query(
            "SELECT min(name), list(DISTINCT file_name), "
            f"list(DISTINCT file_name) FILTER ({TEXT_COLUMN_CONDITION}) "
            f"FROM parquet_schema({self._path_list}) WHERE {name_condition} "
            f"GROUP BY lower(name) HAVING {type_count} > 1"
        ).fetchall()
        text_names = {name.lower() for name in text_columns}
        for name, files, text_files in differing_columns:
            lacking_files = sorted({*self.paths} - {*files})
            if lacking_files:
                problem = f"no column '{name}' (expected the columns of {min(files)})"
                raise InputError(format_error(abbreviate_names(lacking_files), problem))
            non_text_files = sorted({*files} - {*(text_files or files)})
            if non_text_files and name.lower() in text_names:
                problem = f"column '{name}' is not text (expected strings, as in {min(text_files)})"
                raise InputError(format_error(abbreviate_names(non_text_files), problem))
        return bool(differing_columns)

    def _check_duplicate_names(self, columns: Iterable[str]) -> None:
        """Raise InputError for duplicate column names, which DuckDB would rename.

        Only the first file is checked, because DuckDB reads the columns from it.
        """
        for name in columns:
            if f"{name}_1" not in self._column_types or self.format == "json":
                continue
            if self.format == "parquet":
                first = quote_string(glob.escape(self.paths[0]))
                rows = self._run_query(f"SELECT name FROM parquet_schema({first})").fetchall()
                names = [column for (column,) in rows]
            else:
                names = _read_header(self.paths[0], self.format)
            if (count := names.count(name)) > 1:
                problem = f"duplicate column '{name}' ({count} times). Rename all but one."
                raise InputError(f"{self.paths[0]}: {problem}")

    def _run_query(self, sql: str) -> DuckDBPyRelation:
        import duckdb

        try:
            return self._connection.sql(sql)
        except duckdb.Error as error:
            location = find_named_file(str(error)) or self.label
            problem = clean_message(error, location)
            if "sniffing file" in problem:
                location, problem = self._find_csv_error() or (location, problem)
            raise InputError(format_error(location, f"cannot read the file: {problem}")) from None

    def _find_csv_error(self) -> tuple[str, str] | None:
        """Return the first invalid CSV file, with a description of its error."""
        import duckdb

        for path in self.paths:
            try:
                header = _read_header(path, self.format)
            except (InputError, OSError):
                return path, "invalid UTF-8"
            columns = ", ".join(f"'c{number}': 'VARCHAR'" for number in range(len(header)))
            options = {"auto_detect": "false", "columns": f"{{{columns}}}"}
            scan = _format_csv_call(f"[{quote_string(glob.escape(path))}]", self.format, options)
            try:
                self._connection.sql(f"SELECT count(*) FROM {scan}").fetchall()
            except duckdb.Error as error:
                problem = clean_message(error)
                if "invalid state" in problem:
                    problem = "mixed line endings: \\n and \\r\\n (expected only one kind)"
                return path, problem
        return None

    @property
    def _path_list(self) -> str:
        """SQL list of the paths, escaped because DuckDB interprets them as patterns."""
        return f"[{_quote_strings(map(glob.escape, self.paths))}]"

    def _format_reader_call(self, options: dict[str, str]) -> str:
        """Format the SQL that reads the files."""
        if self.format == "parquet":
            return _format_table_function("read_parquet", self._path_list, options)
        if self.format in DELIMITERS:
            return _format_csv_call(self._path_list, self.format, options | {"all_varchar": "true"})
        arrays = (".json", ".json.gz", ".json.zst")
        is_auto = any(path.lower().endswith(arrays) for path in self.paths)
        options["format"] = "'auto'" if is_auto else "'newline_delimited'"
        options["maximum_object_size"] = str(MAX_ROW_BYTES)
        if not self._is_sampled:
            options |= {"sample_size": "-1", "maximum_sample_files": str(len(self.paths))}
        return _format_table_function("read_json", self._path_list, options)


def find_table_files(name: str) -> list[str]:
    """Return the files that a path, folder or pattern refers to."""
    name = expand_home(name)
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", name):
        raise InputError(
            f"{name}: expected a local file, found a URL. Download it, or read it in Python with a "
            "connection that has DuckDB's extension httpfs: "
            'truebleu.engines.duckdb.corpus_bleu(connection.sql("FROM ..."))'
        )
    if os.path.isdir(name):
        if os.path.isdir(os.path.join(name, "_delta_log")):
            raise InputError(
                f"{name}: cannot read the folder of a Delta table, because it may contain files of "
                "other versions. Pass the current files, or read the table in Python with a "
                "connection that has DuckDB's extension delta."
            )
        paths = []
        for path in glob.glob(os.path.join(glob.escape(name), "**"), recursive=True):
            # Spark starts the names of metadata files and failed jobs' folders with _ or a dot.
            path_parts = os.path.relpath(path, name).split(os.sep)
            is_hidden = any(part.startswith(("_", ".")) and "=" not in part for part in path_parts)
            if os.path.isfile(path) and not is_hidden and get_table_format(path):
                paths.append(path)
        if not paths:
            raise InputError(f"{name}: {NO_TABLE_FILES}")
    elif os.path.exists(name) or not glob.has_magic(name):
        open(name, "rb").close()  # raises an error that names an unreadable folder
        return [name]
    else:
        matching = glob.glob(name, recursive=True)
        paths = [path for path in matching if os.path.isfile(path)]
        # Spark writes tables into folders that are named like files, such as out.parquet.
        folders = [path for path in matching if os.path.isdir(path) and get_table_format(path)]
        paths += [path for folder in folders for path in find_table_files(folder)]
        if not paths:
            raise InputError(f"{name}: no file matches this pattern")
    return sorted(set(paths))


def _is_empty_file(path: str) -> bool:
    """Return whether a file, after decompression, contains only line endings."""
    with suppress(InputError, OSError):
        if os.path.getsize(path) <= 64:
            return not File(path).read_bytes().removeprefix(codecs.BOM_UTF8).strip()
    return False


def _read_header(path: str, file_format: str) -> list[str]:
    """Return the header fields of a CSV or TSV file. Raises InputError for invalid UTF-8."""
    separator, quote = DELIMITERS[file_format]
    lines = (f"{line}\n" for line in File(path).read_lines())
    rows = read_csv(path, lines, delimiter=separator, quotechar=quote or None)
    return next(rows, (1, []))[1]


def find_corrupt_file(names: Iterable[str]) -> str:
    """Return the first corrupt Parquet file, which DuckDB's errors do not always name."""
    import duckdb

    with suppress(InputError, OSError), duckdb.connect() as connection:
        for path in (path for name in names for path in find_table_files(name)):
            if get_table_format(path) == "parquet":
                rows = f"read_parquet({quote_string(glob.escape(path))}) AS rows"
                try:
                    connection.execute(f"SELECT max(hash(rows)) FROM {rows}").fetchall()
                except duckdb.Error:
                    return path
    return ""


# ---- SQL and DuckDB's messages ----


def quote_name(name: str) -> str:
    """Return a column or table name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def quote_string(text: str) -> str:
    """Return a string as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def _quote_strings(strings: Iterable[str]) -> str:
    return ", ".join(map(quote_string, strings))


def _format_table_function(function: str, files: str, options: dict[str, str]) -> str:
    arguments = [files, *(f"{name}={value}" for name, value in options.items())]
    return f"{function}({', '.join(arguments)})"


def _format_csv_call(files: str, file_format: str, options: dict[str, str]) -> str:
    """Format the call that reads CSV (RFC 4180) or TSV files with a header.

    If DuckDB detected the options, it would treat lines of text that start with # as comments, and
    a column of years as numbers.
    """
    separator, quote = map(quote_string, DELIMITERS[file_format])
    return _format_table_function(
        "read_csv",
        files,
        {
            "header": "true",
            "delim": separator,
            "quote": quote,
            "escape": quote,
            "skip": "0",
            "comment": "''",
            "nullstr": quote_string(NULL_MARKER),
            "max_line_size": str(MAX_ROW_BYTES),
            "buffer_size": str(MAX_ROW_BYTES),
            **options,
        },
    )


def _format_json_text(name: str, column_type: str, allow_lists: bool) -> str:
    """Return SQL that extracts JSON strings and, if allowed, lists, but rejects other types."""
    column = quote_name(name)
    json_type = f"json_type({column})"
    string, expected = f"{column}->>'$'", "a string"
    cases = {
        f"{column} IS NULL OR {json_type} = 'NULL'": "NULL",
        f"{json_type} = 'VARCHAR'": string,
    }
    if allow_lists and (column_type.endswith("[]") or column_type == "JSON"):
        other_types = "['ARRAY', 'OBJECT', 'BIGINT', 'UBIGINT', 'DOUBLE', 'BOOLEAN']"
        has_only_strings = f"NOT list_has_any(json_type({column}, '$[*]'), {other_types})"
        cases[f"{json_type} = 'VARCHAR'"] = f"[{string}]"
        cases[f"{json_type} = 'ARRAY' AND {has_only_strings}"] = (
            f"json_extract_string({column}, '$[*]')"
        )
        expected = "a string or a list of strings"
    found_type = f"if({json_type} IN ('BIGINT', 'UBIGINT', 'DOUBLE'), 'number', lower({json_type}))"
    message = quote_string(f"column {name}: expected {expected}, found a JSON ")
    message += f" || {found_type} || ': ' || left({column}::VARCHAR, 60)"
    branches = " ".join(f"WHEN {test} THEN {value}" for test, value in cases.items())
    return f"CASE {branches} ELSE error({message}) END AS {column}"


def clean_message(error: Exception | str, path: str = "") -> str:
    """Return DuckDB's error message on one line, without advice on DuckDB's options.

    path: a path that the caller prints before the message; the message repeats only its file name.
    """
    lines = []
    message = str(error).replace(path, os.path.basename(path)) if path else str(error)
    for line in map(str.strip, message.splitlines()):
        if line.startswith(ADVICE_PREFIXES):
            break
        # Lists of mismatched files are long; `find_named_file` returns the relevant file.
        if line and not line.startswith(("Original Line", "Main file", "Current file")):
            lines.append(line)
    text = " ".join(lines)
    if "maximum_object_size" in text or "Maximum line size" in text:
        return f"a row is larger than {MAX_ROW_BYTES >> 20} MiB. Use Parquet, which has no limit."
    kind, colon, rest = text.partition(" Error: ")
    return format_error("", rest if colon and len(kind) < 30 else text)


def find_named_file(message: str) -> str:
    """Return the path of the file that a DuckDB message names, or an empty string."""
    match = re.search(r"\b[Ff]ile ['\"]([^'\"]+)['\"]|Current file: (.*)", message)
    return (match[1] or match[2]) if match else ""
