"""Readers of JSON, CSV and scores from elsewhere: bad input is one error with file and line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isnan
from typing import Any

from truebleu._kernel import InputError
from truebleu.text import checks

# Sums of squares of larger scores may be infinite.
MAX_SCORE = 1e100


def load_json(text: str | bytes) -> Any:
    """Return the value of JSON. Raises ValueError, also for JSON that is nested too deeply."""
    import json

    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def parse_json(text: str, path: str, line: int = 1) -> Any:
    """Return the value of JSON from a line of a file on. Raises InputError with the place."""
    try:
        return load_json(text)
    except ValueError as error:
        number = line + getattr(error, "lineno", 1) - 1
        column = f", column {error.colno}" if hasattr(error, "colno") else ""
        problem = str(getattr(error, "msg", error))
        raise InputError(f"{path}, line {number}{column}: not JSON: {problem}") from None


def read_csv(path: str, lines: Iterable[str], **form: Any) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of each line of CSV, one row per line.

    form: as for `csv.reader`. Raises InputError for a quote that is not closed in its line, and
    for a field of more than 131,072 characters.
    """
    import csv

    reader = csv.reader(lines, strict=True, **form)
    while True:
        number = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problem = str(error)
        else:
            problem = "" if reader.line_num == number else "a quoted field has several lines"
        if problem:
            raise InputError(
                f"{path}, line {number}: not CSV with one row per line: {problem}. Is a quote not "
                "closed?"
            )
        yield number, cells


def to_score(value: Any) -> float:
    """Return a score as a float, which may be a NaN that is not text.

    Raises ValueError for anything else.

    >>> to_score("1.5"), to_score("1e101")
    Traceback (most recent call last):
    ValueError: expected a number from -1e+100 to 1e+100
    """
    is_nan = isinstance(value, float) and isnan(value)
    score = value if is_nan else checks.read_number(value)
    if abs(score) > MAX_SCORE:
        raise ValueError(f"expected a number from {-MAX_SCORE:g} to {MAX_SCORE:g}")
    return score


def first_unbounded(scores: Iterable[float]) -> int | None:
    """Return the index of the first score that is infinite or too large; None if there is none."""
    large = map(MAX_SCORE.__lt__, map(abs, scores))
    return next((i for i, is_large in enumerate(large) if is_large), None)
