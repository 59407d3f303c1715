"""Keys of groups as Python has them: dates, times and decimals of what Arrow stores."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta
    from typing import Any

# How many of a unit a second has.
SECOND = {"s": 1, "m": 10**3, "u": 10**6, "n": 10**9}


def maker(form: str) -> Callable[[Any], Any]:
    """The function that turns a stored Arrow value into Python's; None stays None.

    form: the type, as the Arrow C data interface writes it. The stored number stays where Python
        has no value for it: finer, or too far away.
    """
    if not form.startswith(("d:", "t")):
        return lambda value: value
    convert = (_decimal if form.startswith("d:") else _temporal)(form)

    def made(value: Any) -> Any:
        try:
            return None if value is None else convert(value)
        except OverflowError:
            return value

    return made


def _decimal(form: str) -> Callable[[int], Any]:
    from decimal import Context, Decimal

    _, scale, *_ = map(int, form.removeprefix("d:").split(","))
    exact = Context(prec=100)
    return lambda value: Decimal(value).scaleb(-scale, exact)


def _temporal(form: str) -> Callable[[int], Any]:
    from datetime import UTC, date, datetime, timedelta, timezone

    if form in ("tdD", "tdm"):  # days, or the same in milliseconds
        unit = "days" if form == "tdD" else "milliseconds"
        return lambda value: date(1970, 1, 1) + timedelta(**{unit: value})
    kind, unit, zone = form[1], form[2], form[4:]
    a_second = SECOND[unit]

    def duration(value: int) -> timedelta:
        micros, rest = divmod(value * 10**6, a_second)
        if rest:
            raise OverflowError("finer than a microsecond")
        return timedelta(microseconds=micros)

    if kind == "D":
        return duration
    if kind == "t":
        return lambda value: (datetime.min + duration(value)).time()
    if not zone:
        return lambda value: datetime(1970, 1, 1) + duration(value)
    where: Any = UTC
    if zone[0] in "+-":
        hours, minutes = zone[1:].split(":")
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        where = timezone(-offset if zone[0] == "-" else offset)
    elif zone != "UTC":
        from zoneinfo import ZoneInfo

        where = ZoneInfo(zone)
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return lambda value: (epoch + duration(value)).astimezone(where)
