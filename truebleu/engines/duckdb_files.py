"""Parquet, CSV and JSON files as relations of DuckDB, in which no text is guessed to be a date."""

from __future__ import annotations

import glob
import os

from truebleu._kernel import InputError
from truebleu.files import table_format

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from duckdb import DuckDBPyConnection, DuckDBPyRelation

    Names = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

# A field of a CSV file is text, an empty one too: nothing that is written there is null.
NEVER = "\x01this is in no file\x02"

# What DuckDB says of JSON strings which look like something else.
LIKE_TEXT = ("VARCHAR", "DATE", "TIME", "TIMESTAMP", "UUID", "INTERVAL", "BLOB")


# How the lines begin with which DuckDB's advice on options does.
ADVICE = ("Possible", "Potential", "Candidate", "* ", "Try setting", "If you are", "LINE ")


class Files:
    """Files of one format that are read as one table, one after the other, in a connection.

    `names` are files, folders of them (as Spark writes them) and patterns (`*`, `?`, `[a-z]`, `**`
    for folders at any depth). All of them have the columns that are asked for.
    """

    def __init__(self, names: Names, connection: DuckDBPyConnection) -> None:
        given = [names] if isinstance(names, str | os.PathLike) else list(names)
        self.names = [os.fspath(name) for name in given]
        self.paths = [path for name in self.names for path in found(name)]
        formats = sorted({table_format(path) or "other" for path in self.paths})
        if len(formats) != 1 or formats == ["other"]:
            raise InputError(
                f"{self.label}: the files of a table are all Parquet, all CSV or all JSON (by "
                f"the ends of their names), and these are {' and '.join(formats)}"
            )
        (self.format,) = formats
        self._connection = connection
        self._types = self._described()

    @property
    def label(self) -> str:
        """What messages call the files."""
        return ", ".join(os.fsencode(name).decode("utf-8", "replace") for name in self.names)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._types)

    def relation(
        self, texts: Sequence[str], others: Sequence[str], lists: Sequence[str] = ()
    ) -> DuckDBPyRelation:
        """Columns of text, and others of whatever type they are, in the order of the files.

        The names are among `columns`, or "filename". `lists` are columns that may have lists of
        strings.
        """
        named = [*dict.fromkeys([*texts, *others])]
        if self.format != "json":
            chosen = ", ".join(map(quoted, named))
            return self._query(f"SELECT {chosen} FROM {self._scan(named='filename' in named)}")
        types = {
            name: "JSON" if name in texts else _of_json(self._types[name])
            for name in named
            if name != "filename"
        }
        chosen = ", ".join(
            _json_text(name, self._types[name], lists=name in lists)
            if name in texts
            else quoted(name)
            for name in named
        )
        return self._query(f"SELECT {chosen} FROM {self._scan(types, named='filename' in named)}")

    def _described(self) -> dict[str, str]:
        """The columns, and their types."""
        relation = self._query(f"FROM {self._scan(named=False)}")
        return dict(zip(relation.columns, map(str, relation.types), strict=True))

    def _query(self, sql: str) -> DuckDBPyRelation:
        import duckdb

        try:
            return self._connection.sql(sql)
        except duckdb.Error as error:
            raise InputError(f"{self.label} cannot be read: {said(error)}") from None

    def _scan(self, types: dict[str, str] | None = None, *, named: bool) -> str:
        """The files, as SQL."""
        # DuckDB takes names for patterns as well.
        files = f"[{', '.join(literal(glob.escape(path)) for path in self.paths)}]"
        options = {"filename": "true"} if named else {}
        match self.format:
            case "parquet":
                options |= {"hive_types_autocast": "false"}
                return _call("read_parquet", files, options)
            case "csv":
                # RFC 4180, with a header. Left to guess, DuckDB would take a line of text that
                # starts with # for a comment, and a column of years for numbers.
                options |= {"header": "true", "delim": "','", "quote": "'\"'", "escape": "'\"'"}
                options |= {"all_varchar": "true", "skip": "0", "comment": "''"}
                options |= {"nullstr": literal(NEVER), "hive_types_autocast": "false"}
                return _call("read_csv", files, options)
        lines = not all(path.lower().endswith((".json", ".json.gz")) for path in self.paths)
        options |= {"format": "'newline_delimited'" if lines else "'auto'"}
        options |= {"hive_types_autocast": "false"}
        if types is not None:
            of_type = (f"{quoted(name)}: {literal(kind)}" for name, kind in types.items())
            options |= {"columns": f"{{{', '.join(of_type)}}}"}
        return _call("read_json", files, options)


def found(name: str) -> list[str]:
    """The files that a name means: itself, those in the folder, or those that match the pattern."""
    if os.path.isdir(name):
        inside = glob.glob(os.path.join(glob.escape(name), "**"), recursive=True)
        paths = [path for path in inside if _is_data(path)]
        if not paths:
            raise InputError(f"{name}: no .parquet, .csv, .jsonl or .json files in this folder")
    elif os.path.exists(name) or not glob.has_magic(name):
        open(name, "rb").close()  # gives Python's own error, with the name, if it cannot be read
        return [name]
    else:
        paths = [path for path in glob.glob(name, recursive=True) if os.path.isfile(path)]
        if not paths:
            raise InputError(f"{name}: no file matches this pattern")
    return sorted(paths)


def _is_data(path: str) -> bool:
    # Spark marks what is no data with _ or a dot.
    hidden = os.path.basename(path).startswith(("_", "."))
    return os.path.isfile(path) and not hidden and table_format(path) is not None


def quoted(name: str) -> str:
    """A name, for SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A string, for SQL."""
    return "'" + text.replace("'", "''") + "'"


def said(error: Exception) -> str:
    """What DuckDB says is wrong, on one line, without its advice on options that it has."""
    kept = []
    for line in map(str.strip, str(error).splitlines()):
        if line.startswith(ADVICE):
            break
        if line and not line.startswith("Original Line"):
            kept.append(line)
    text = " ".join(kept)
    kind, colon, rest = text.partition(" Error: ")
    text = rest if colon and len(kind) < 30 else text
    return text if len(text) <= 300 else f"{text[:300]} ..."


def _call(function: str, files: str, options: dict[str, str]) -> str:
    return (
        f"{function}({', '.join([files, *(f'{name}={value}' for name, value in options.items())])})"
    )


def _of_json(kind: str) -> str:
    """The type to read a column as that is no text to score: a string stays one."""
    return (
        "VARCHAR" if kind.startswith((*LIKE_TEXT, "JSON")) or "(" in kind or "[" in kind else kind
    )


def _json_text(name: str, kind: str, *, lists: bool) -> str:
    """A column of JSON values as strings, or where it has lists as these; others are refused."""
    column = quoted(name)
    strings = f"json_type({column}) = 'VARCHAR'"
    wrong = literal(f"column {name}: a JSON ")
    wrong += f" || lower(json_type({column})) || ' where "
    if lists and (kind.endswith("[]") or kind == "JSON"):
        wrong += "a string or a list of strings is meant: '"
        others = _sql_list(("ARRAY", "OBJECT", "BIGINT", "UBIGINT", "DOUBLE", "BOOLEAN"))
        of_strings = f"NOT list_has_any(json_type({column}, '$[*]'), {others})"
        list_there = f"json_type({column}) = 'ARRAY' AND {of_strings}"
        cases = [
            f"WHEN {strings} THEN [{column}->>'$']",
            f"WHEN {list_there} THEN json_extract_string({column}, '$[*]')",
        ]
    else:
        wrong += "a string is meant: '"
        cases = [f"WHEN {strings} THEN {column}->>'$'"]
    wrong += f" || left({column}::VARCHAR, 60)"
    cases.insert(0, f"WHEN {column} IS NULL OR json_type({column}) = 'NULL' THEN NULL")
    return f"CASE {' '.join(cases)} ELSE error({wrong}) END AS {column}"


def _sql_list(words: Iterable[str]) -> str:
    return f"[{', '.join(map(literal, words))}]"
