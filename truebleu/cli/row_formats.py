"""Writers of rows by format name, for `-f`."""

from __future__ import annotations

from collections.abc import Callable

from truebleu.cli.output import Results
from truebleu.cli.row_writers import (
    CSVWriter,
    JSONLinesWriter,
    JSONWriter,
    RowWriter,
    TableSpec,
    TextWriter,
    TSVWriter,
)


def _make_parquet_writer(output: Results, table: TableSpec) -> RowWriter:
    from truebleu.cli.binary_writers import ParquetWriter

    return ParquetWriter(output, table)


FORMATS: dict[str, Callable[[Results, TableSpec], RowWriter]] = {
    "text": TextWriter,
    "tsv": TSVWriter,
    "csv": CSVWriter,
    "json": JSONWriter,
    "jsonl": JSONLinesWriter,
    "parquet": _make_parquet_writer,
}
