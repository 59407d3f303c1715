"""Parquet, CSV, TSV and JSON files as relations of DuckDB, in which text stays text."""

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
from truebleu.engines.common_api import several, told
from truebleu.text.argument_checks import read_csv
from truebleu.text.segments import NO_TABLE_FILES, File, expand_home, get_table_format

if TYPE_CHECKING:  # the command line asks for `found` before it knows whether DuckDB is there
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

# What separates and quotes the fields of a line. TSV has no quotes: tabs and ends of lines are
# not in fields, and a mark of quotation is text.
SEPARATED = {"csv": (",", '"'), "tsv": ("\t", "")}

# A field of a CSV file is text, an empty one too: nothing that is written there is null.
NEVER = "\x01this is in no file\x02"

# What DuckDB says of JSON strings which look like something else.
LIKE_TEXT = ("VARCHAR", "DATE", "TIME", "TIMESTAMP", "UUID", "INTERVAL", "BLOB", "JSON")

# How the lines begin with which DuckDB's advice on options does.
ADVICE = (
    *("Possible", "Potential", "Candidate", "* ", "Try setting", "If you are", "LINE "),
    "This can happen when reading multiple",
)

# The longest row of a CSV or JSON file in bytes; DuckDB keeps buffers of about this size.
LONGEST_ROW = 32 << 20

# Of a column in the footer of a Parquet file: it has strings, lists, or nothing but null.
IS_TEXT = (
    "coalesce(converted_type, '') IN ('UTF8', 'ENUM', 'JSON', 'LIST') "
    "OR regexp_matches(coalesce(logical_type::VARCHAR, ''), '^(String|Null|List|Enum|Json)')"
)


class Files:
    """Files of one format that are read as one table, one after the other, in a connection.

    `names` are files, folders of them (as Spark writes them) and patterns (`*`, `?`, `[a-z]`, `**`
    for folders at any depth). All of them have the columns that are asked for.
    """

    def __init__(
        self,
        names: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        connection: DuckDBPyConnection,
    ) -> None:
        given = [names] if isinstance(names, str | os.PathLike) else names
        self.names = [os.fspath(name) for name in given]
        # The name of the files in messages.
        self.label = several([os.fsencode(n).decode("utf-8", "replace") for n in self.names])
        known: dict[str, str] = {}
        for path in (path for name in self.names for path in found(name)):
            place = os.path.realpath(path)
            if place in known:
                same = f"{path} is the same file as {known[place]}, and its rows count once"
                warnings.warn(same, stacklevel=3)
            known.setdefault(place, path)
        self.paths = list(known.values())
        formats = sorted({get_table_format(path) or "other" for path in self.paths})
        if len(formats) != 1 or formats == ["other"]:
            raise InputError(
                f"{self.label}: the files of a table are all Parquet, all CSV, all TSV or "
                f"all JSON (by the ends of their names), and these are {' and '.join(formats)}"
            )
        (self.format,) = formats
        if self.format != "parquet":
            # Spark leaves empty files for empty partitions, and DuckDB takes the columns of a CSV
            # table from its first file.
            self.paths = [path for path in self.paths if not _is_empty(path)]
            if not self.paths:
                raise InputError(f"{self.label}: empty; there is nothing to score")
        self._connection = connection
        self._sampled = True
        self._types = self._described()

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._types)

    def has(self, name: str) -> bool:
        """True if there is a column of that name. All rows of JSON are searched for it."""
        if name not in self._types and self.format == "json" and self._sampled:
            self._sampled = False
            self._types = self._described()
        return name in self._types or name == "filename"

    def relation(
        self, texts: Sequence[str], others: Sequence[str], lists: Sequence[str] = ()
    ) -> DuckDBPyRelation:
        """Columns of text, and others of whatever type they are, in the order of the files.

        The names are among `columns`, or "filename". `lists` are columns that may have lists of
        strings.
        """
        columns = {name: quoted(name) for name in (*texts, *others)}
        options = {"filename": "true"} if "filename" in columns else {}
        self._check_names(columns)
        if self.format == "json":
            types = {}
            for name, kind in self._types.items():
                if name in texts:
                    columns[name] = _json_text(name, kind, name in lists)
                    types[name] = "JSON"
                elif name in columns:
                    # A string that is no text to score stays one, whatever it looks like.
                    is_text = kind.startswith(LIKE_TEXT) or "(" in kind or "[" in kind
                    types[name] = "VARCHAR" if is_text else kind
            of_type = (f"{quoted(name)}: {literal(kind)}" for name, kind in types.items())
            options["columns"] = f"{{{', '.join(of_type)}}}"
        elif self.format == "parquet" and len(self.paths) > 1 and self._differ(columns, texts):
            options["union_by_name"] = "true"
        return self._query(f"SELECT {', '.join(columns.values())} FROM {self._scan(options)}")

    def _described(self) -> dict[str, str]:
        """The columns, and their types."""
        relation = self._query(f"FROM {self._scan({})}")
        types = dict(zip(relation.columns, map(str, relation.types), strict=True))
        if self.format == "json" and types == {"json": "JSON"}:
            raise InputError(
                f"{self.label}: no rows with named values; expected JSON objects, one per line "
                "or in one array"
            )
        return types

    def _differ(self, names: Iterable[str], texts: Sequence[str]) -> bool:
        """True if columns differ in type between Parquet files: null in one, strings in another.

        Raises InputError for a file that lacks one, because united its rows would be null, and for
        a file whose texts are of another type, which DuckDB would turn into strings.
        """
        # Those that no file has are names of folders.
        meant = f"lower(name) IN ({_literals(name.lower() for name in names)})"
        kinds = "count(DISTINCT concat_ws(' ', type, converted_type, logical_type))"
        inside = self._query(
            "SELECT min(name), list(DISTINCT file_name), "
            f"list(DISTINCT file_name) FILTER ({IS_TEXT}) FROM parquet_schema({self._listed}) "
            f"WHERE {meant} GROUP BY lower(name) HAVING {kinds} > 1"
        ).fetchall()
        known = {name.lower() for name in texts}
        for name, files, textual in inside:
            lacking = sorted({*self.paths} - {*files})
            if lacking:
                raise InputError(
                    told(several(lacking), f"no column '{name}', which {min(files)} has")
                )
            odd = sorted({*files} - {*(textual or files)})
            if odd and name.lower() in known:
                like = min(textual)
                raise InputError(
                    told(several(odd), f"column '{name}' holds no strings, as it does in {like}")
                )
        return bool(inside)

    def _check_names(self, columns: Iterable[str]) -> None:
        """Raises InputError if several columns have a name, of which DuckDB renames all but one.

        Only the first file is looked at, as DuckDB takes the columns from it.
        """
        for name in columns:
            if f"{name}_1" not in self._types or self.format == "json":
                continue
            if self.format == "parquet":
                first = literal(glob.escape(self.paths[0]))
                rows = self._query(f"SELECT name FROM parquet_schema({first})").fetchall()
                names = [column for (column,) in rows]
            else:
                names = _header(self.paths[0], self.format)
            if names.count(name) > 1:
                raise InputError(
                    f"{self.paths[0]}: {names.count(name)} columns are called '{name}'; rename "
                    "all but one"
                )

    def _query(self, sql: str) -> DuckDBPyRelation:
        import duckdb

        try:
            return self._connection.sql(sql)
        except duckdb.Error as error:
            where = culprit(str(error)) or self.label
            what = said(error, where)
            if "sniffing file" in what:
                where, what = self._csv_fault() or (where, what)
            raise InputError(told(where, f"cannot be read: {what}")) from None

    def _csv_fault(self) -> tuple[str, str] | None:
        """The first CSV file that is no such, and what is wrong with it in which line."""
        import duckdb

        for path in self.paths:
            try:
                header = _header(path, self.format)
            except (InputError, OSError):
                return path, "it is not UTF-8"
            columns = ", ".join(f"'c{number}': 'VARCHAR'" for number in range(len(header)))
            options = {"auto_detect": "false", "columns": f"{{{columns}}}"}
            scan = _separated(f"[{literal(glob.escape(path))}]", self.format, options)
            try:
                self._connection.sql(f"SELECT count(*) FROM {scan}").fetchall()
            except duckdb.Error as error:
                told = said(error)
                if "invalid state" in told:
                    told = "some lines end in \\n, others in \\r\\n; expected one of them"
                return path, told
        return None

    @property
    def _listed(self) -> str:
        """The names of the files, as SQL. DuckDB takes them for patterns."""
        return f"[{_literals(map(glob.escape, self.paths))}]"

    def _scan(self, options: dict[str, str]) -> str:
        """The files, as SQL."""
        if self.format == "parquet":
            return _call("read_parquet", self._listed, options)
        if self.format in SEPARATED:
            return _separated(self._listed, self.format, options | {"all_varchar": "true"})
        arrays = (".json", ".json.gz", ".json.zst")
        is_auto = any(path.lower().endswith(arrays) for path in self.paths)
        options["format"] = "'auto'" if is_auto else "'newline_delimited'"
        options["maximum_object_size"] = str(LONGEST_ROW)
        if not self._sampled:
            options |= {"sample_size": "-1", "maximum_sample_files": str(len(self.paths))}
        return _call("read_json", self._listed, options)


def found(name: str) -> list[str]:
    """The files that a name means: itself, those in the folder, or those that match the pattern."""
    name = expand_home(name)
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", name):
        raise InputError(
            f"{name}: files of this machine are read. Fetch it, or read it in Python by a "
            "connection that has DuckDB's httpfs: "
            'truebleu.engines.duckdb.corpus_bleu(connection.sql("FROM ..."))'
        )
    if os.path.isdir(name):
        if os.path.isdir(os.path.join(name, "_delta_log")):
            raise InputError(
                f"{name}: a Delta table, in whose folder there may be files of other versions of "
                "it; name its files, or read it in Python by a connection that has "
                "DuckDB's extension delta"
            )
        paths = []
        for path in glob.glob(os.path.join(glob.escape(name), "**"), recursive=True):
            # Spark marks what is no data with _ or a dot: its own notes, folders of jobs that
            # failed.
            parts = os.path.relpath(path, name).split(os.sep)
            hidden = any(part.startswith(("_", ".")) and "=" not in part for part in parts)
            if os.path.isfile(path) and not hidden and get_table_format(path):
                paths.append(path)
        if not paths:
            raise InputError(f"{name}: {NO_TABLE_FILES}")
    elif os.path.exists(name) or not glob.has_magic(name):
        open(name, "rb").close()  # gives Python's own error, with the name, if it cannot be read
        return [name]
    else:
        matching = glob.glob(name, recursive=True)
        paths = [path for path in matching if os.path.isfile(path)]
        # Spark's tables are folders that are called like files.
        folders = [path for path in matching if os.path.isdir(path) and get_table_format(path)]
        paths += [path for folder in folders for path in found(folder)]
        if not paths:
            raise InputError(f"{name}: no file matches this pattern")
    return sorted(set(paths))


def _is_empty(path: str) -> bool:
    """True if a file, compressed or not, holds nothing but line ends."""
    with suppress(InputError, OSError):
        if os.path.getsize(path) <= 64:
            return not File(path).read_bytes().removeprefix(codecs.BOM_UTF8).strip()
    return False


def _header(path: str, form: str) -> list[str]:
    """The fields of a CSV or TSV file's first line. Raises InputError for what is no UTF-8."""
    separator, quote = SEPARATED[form]
    lines = (f"{line}\n" for line in File(path).read_lines())
    rows = read_csv(path, lines, delimiter=separator, quotechar=quote or None)
    return next(rows, (1, []))[1]


def damaged(names: Iterable[str]) -> str:
    """The first of some Parquet files that cannot be read; of a spoilt page DuckDB names none."""
    import duckdb

    with suppress(InputError, OSError), duckdb.connect() as own:
        for path in (path for name in names for path in found(name)):
            if get_table_format(path) == "parquet":
                rows = f"read_parquet({literal(glob.escape(path))}) AS rows"
                try:
                    own.execute(f"SELECT max(hash(rows)) FROM {rows}").fetchall()
                except duckdb.Error:
                    return path
    return ""


# ---- SQL, and what DuckDB says of it ----


def quoted(name: str) -> str:
    """A name, for SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A string, for SQL."""
    return "'" + text.replace("'", "''") + "'"


def _literals(words: Iterable[str]) -> str:
    return ", ".join(map(literal, words))


def _call(function: str, files: str, options: dict[str, str]) -> str:
    arguments = [files, *(f"{name}={value}" for name, value in options.items())]
    return f"{function}({', '.join(arguments)})"


def _separated(files: str, form: str, options: dict[str, str]) -> str:
    """The call that reads CSV (RFC 4180) or TSV with a header.

    Left to guess, DuckDB would take a line of text that starts with # for a comment, and a column
    of years for numbers.
    """
    separator, quote = map(literal, SEPARATED[form])
    return _call(
        "read_csv",
        files,
        {
            "header": "true",
            "delim": separator,
            "quote": quote,
            "escape": quote,
            "skip": "0",
            "comment": "''",
            "nullstr": literal(NEVER),
            "max_line_size": str(LONGEST_ROW),
            "buffer_size": str(LONGEST_ROW),
            **options,
        },
    )


def _json_text(name: str, kind: str, lists: bool) -> str:
    """A column of JSON values as strings, or where it has lists as these; others are refused."""
    column = quoted(name)
    there = f"json_type({column})"
    string, expected = f"{column}->>'$'", "a string"
    cases = {f"{column} IS NULL OR {there} = 'NULL'": "NULL", f"{there} = 'VARCHAR'": string}
    if lists and (kind.endswith("[]") or kind == "JSON"):
        others = "['ARRAY', 'OBJECT', 'BIGINT', 'UBIGINT', 'DOUBLE', 'BOOLEAN']"
        of_strings = f"NOT list_has_any(json_type({column}, '$[*]'), {others})"
        cases[f"{there} = 'VARCHAR'"] = f"[{string}]"
        cases[f"{there} = 'ARRAY' AND {of_strings}"] = f"json_extract_string({column}, '$[*]')"
        expected = "a string or a list of strings"
    told = literal(f"column {name}: expected {expected}, not a JSON ")
    told += f" || if({there} IN ('BIGINT', 'UBIGINT', 'DOUBLE'), 'number', lower({there}))"
    told += f" || ': ' || left({column}::VARCHAR, 60)"
    tests = " ".join(f"WHEN {test} THEN {value}" for test, value in cases.items())
    return f"CASE {tests} ELSE error({told}) END AS {column}"


def said(error: Exception | str, where: str = "") -> str:
    """DuckDB's error message on one line, without its advice on options that it has.

    where: a path that stands before it, of which the name of the file is enough.
    """
    kept = []
    message = str(error).replace(where, os.path.basename(where)) if where else str(error)
    for line in map(str.strip, message.splitlines()):
        if line.startswith(ADVICE):
            break
        # The files of a mismatch are long; `culprit` has the one that it is about.
        if line and not line.startswith(("Original Line", "Main file", "Current file")):
            kept.append(line)
    text = " ".join(kept)
    if "maximum_object_size" in text or "Maximum line size" in text:
        return f"a row has more than {LONGEST_ROW >> 20} MiB; in a Parquet file it may"
    kind, colon, rest = text.partition(" Error: ")
    return told("", rest if colon and len(kind) < 30 else text)


def culprit(message: str) -> str:
    """The file that a message of DuckDB is about; mostly it names one."""
    found = re.search(r"\b[Ff]ile ['\"]([^'\"]+)['\"]|Current file: (.*)", message)
    return (found[1] or found[2]) if found else ""
