"""Render rows as comma- or tab-separated values, with all numbers at full precision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from truebleu.text.terminal_layout import escape_invisible

# Characters that start a formula in spreadsheets.
FORMULA = ("=", "+", "-", "@")

# Characters that would end a cell or a line of tab-separated values.
ESCAPED = str.maketrans({"\t": r"\t", "\r": r"\r", "\n": r"\n"})


def render_delimited(
    columns: Sequence[str], rows: Iterable[Mapping[str, Any]], separator: str = ","
) -> str:
    """Return a header and one line per row. Missing values are empty.

    An apostrophe precedes text that a spreadsheet would interpret as a formula. Invisible
    characters are escaped.
    """
    lines = [separator.join(columns)]
    lines += [
        separator.join(
            format_cell(_guard_formula(row.get(column)), separator) for column in columns
        )
        for row in rows
    ]
    return "".join(f"{line}\n" for line in lines)


def format_cell(value: Any, separator: str) -> str:
    r"""Format a value, quoting special characters in CSV, and escaping tabs and line ends in TSV.

    >>> print(format_cell("a, b", ","), format_cell("a\tb", "\t"), format_cell(0.1, ","))
    "a, b" a\tb 0.1
    """
    if value is None:
        return ""
    text = ("no", "yes")[value] if isinstance(value, bool) else str(value)
    if separator == "\t":
        return text.translate(ESCAPED)
    if any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _guard_formula(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = escape_invisible(value)
    return f"'{text}" if text.startswith(FORMULA) else text
