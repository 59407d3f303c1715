"""The formats of rows, by the names that `-f` takes."""

from __future__ import annotations

from collections.abc import Callable

from truebleu.cli.output import Results
from truebleu.cli.row_writers import (
    JSON,
    CommaSeparated,
    JSONLines,
    Rows,
    Table,
    TabSeparated,
    Text,
)


def _parquet(output: Results, table: Table) -> Rows:
    from truebleu.cli.binary_writers import Parquet

    return Parquet(output, table)


FORMATS: dict[str, Callable[[Results, Table], Rows]] = {
    "text": Text,
    "tsv": TabSeparated,
    "csv": CommaSeparated,
    "json": JSON,
    "jsonl": JSONLines,
    "parquet": _parquet,
}
