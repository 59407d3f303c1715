"""Keys of groups as Python has them: dates and times of what the kernel counts since 1970."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def maker(form: str) -> Callable[[Any], Any]:
    """The function that turns a key of the kernel into Python's; None stays None.

    form: the type, as the Arrow C data interface writes it: dates in days, times in microseconds.
        A number stays where Python has no date so far away.
    """
    if not form.startswith("t"):
        return lambda value: value
    from datetime import UTC, date, datetime, timedelta

    convert: dict[str, Callable[[int], Any]] = {
        "tdD": lambda days: date(1970, 1, 1) + timedelta(days),
        "ttu": lambda micros: (datetime.min + timedelta(microseconds=micros)).time(),
        "tsu:": lambda micros: datetime(1970, 1, 1) + timedelta(microseconds=micros),
        "tsu:UTC": lambda micros: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros),
        "tDu": lambda micros: timedelta(microseconds=micros),
    }

    def made(value: Any) -> Any:
        try:
            return None if value is None else convert[form](value)
        except OverflowError:
            return value

    return made
