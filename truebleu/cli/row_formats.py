"""The formats of rows, by the names that `-f` takes: one class each."""

from __future__ import annotations

from truebleu.cli.rows import JSON, CommaSeparated, JSONLines, TabSeparated, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from truebleu.cli.output import Output
    from truebleu.cli.rows import Rows, Table
    from truebleu.cli.style import Style


def _parquet(output: Output, style: Style, table: Table) -> Rows:
    from truebleu.cli.parquet import parquet

    return parquet(output, style, table)


FORMATS: dict[str, Callable[[Output, Style, Table], Rows]] = {
    "text": Text,
    "tsv": TabSeparated,
    "csv": CommaSeparated,
    "json": JSON,
    "jsonl": JSONLines,
    "parquet": _parquet,
}
