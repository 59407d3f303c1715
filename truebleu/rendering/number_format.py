"""Readable numbers: suitable digits, a true minus sign, and percentages on a 0-1 scale."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

# A function that formats the numbers of a metric.
NumberFormatter = Callable[[float], str]
MINUS = "−"


def format_number(value: float, digits: int = 4) -> str:
    """Format a number with `digits` decimals, or with more if all of them would be 0.

    >>> format_number(0.7420905), format_number(1), format_number(-1e-9), format_number(1.0)
    ('0.7421', '1', '−1e-09', '1')
    """
    if float(value).is_integer() and abs(value) < 1e15:
        text = f"{value:.0f}"
    elif abs(value) < 0.5 * 10**-digits:
        text = f"{value:.2g}"
    else:
        text = f"{value:.{digits}f}"
    return text.replace("-", MINUS, 1) if value < 0 else text


def format_compact(value: float) -> str:
    """Format a number without trailing zeros, for formulas.

    >>> format_compact(0.25), format_compact(10)
    ('0.25', '10')
    """
    text = format_number(value)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def choose_ticks(low: float, high: float, target_count: int = 4) -> list[float]:
    """Return about `target_count` round numbers between two numbers.

    >>> choose_ticks(-7, 24), choose_ticks(0, 0.031)
    ([0.0, 10.0, 20.0], [0.0, 0.01, 0.02, 0.03])
    """
    from math import ceil, floor, log10

    step = 10.0 ** floor(log10((high - low) / target_count))
    max_count = target_count * 1.5
    step = next(
        step * times for times in (1, 2, 5, 10) if (high - low) / (step * times) <= max_count
    )
    return [
        round(number * step, 12) + 0.0 for number in range(ceil(low / step), floor(high / step) + 1)
    ]


def make_formatter(digits: int) -> NumberFormatter:
    """Return a formatter with a fixed number of decimals.

    >>> make_formatter(1)(-0.04), make_formatter(1)(-0.06)
    ('0.0', '−0.1')
    """

    def format_value(value: float) -> str:
        text = f"{value:.{digits}f}"
        return text.lstrip("-") if not float(text) else text.replace("-", MINUS)

    return format_value


def make_signed_formatter(format_value: NumberFormatter) -> NumberFormatter:
    """Return a formatter that adds a plus sign to positive numbers.

    >>> list(map(make_signed_formatter(make_formatter(2)), (0.5, 0.001)))
    ['+0.50', '0.00']
    """

    def format_signed(value: float) -> str:
        text = format_value(value)
        return f"+{text}" if value > 0 and text.strip("0.") else text

    return format_signed


def format_p_value(p: float | None) -> str:
    """Format a p-value with four decimals. None becomes an empty string.

    >>> [format_p_value(p) for p in (0.11298870112988701, 9.999e-7, 1.0, 0.00004)]
    ['0.1130', '<0.0001', '1', '<0.0001']
    """
    if p is None:
        return ""
    if p == 1:
        return "1"
    return f"{p:.4f}" if p >= 0.00005 else "<0.0001"


def format_percent(share: float) -> str:
    """Format a share as a percentage, without unnecessary digits.

    >>> format_percent(0.95), format_percent(0.999)
    ('95%', '99.9%')
    """
    return f"{round(100 * share, 10):g}%"


def format_segments_needed(segments: int | None) -> str:
    """Format a number of segments to two significant digits. None becomes an empty string.

    >>> [format_segments_needed(n) for n in (38, 3925, 8_701_186, None)]
    ['38', '3,900', '> 1 million', '']
    """
    if segments is None:
        return ""
    if segments > 10**6:
        return "> 1 million"
    step = 10 ** max(0, len(str(segments)) - 2)
    return f"{(segments + step // 2) // step * step:,}"


def name_ngrams(order: int, count: int = 2) -> str:
    """Return the usual name for n-grams of the given order.

    >>> name_ngrams(2), name_ngrams(5, 1)
    ('bigrams', '5-gram')
    """
    name = {1: "unigram", 2: "bigram", 3: "trigram"}.get(order, f"{order}-gram")
    return name if count == 1 else f"{name}s"


# ---- scales ----

# The scales on which percentages can be shown, given as their maximum. Contents of views are always
# on the documented scale of each metric: a layout divides percentages (`Metric.is_percentage`) by
# 100 for a 0-1 scale. Other metrics, such as NIST, keep their scale.
SCALES = (100, 1)
# Number of additional decimals on a 0-1 scale.
MORE_DIGITS = 2


def check_scale(scale: Any) -> int:
    """Return a scale after checking that it is 100 or 1."""
    if isinstance(scale, bool) or scale not in SCALES:
        raise ValueError(f"scale: expected 100 or 1, found {scale!r}")
    return int(scale)


def rescale(content: Any, names: Collection[str], *, is_score: bool = False) -> Any:
    """Return a copy of JSON-compatible contents with the numbers under some keys divided by 100.

    names: the keys of numbers, and of lists of numbers, to divide at any depth.

    >>> rescale({"score": 41.5, "interval": {"low": 40, "high": None}, "p": 0.5}, ("score", "low"))
    {'score': 0.415, 'interval': {'low': 0.4, 'high': None}, 'p': 0.5}
    """
    if isinstance(content, Mapping):
        return {
            name: rescale(value, names, is_score=name in names) for name, value in content.items()
        }
    if isinstance(content, list):
        return [rescale(value, names, is_score=is_score) for value in content]
    is_number = isinstance(content, int | float) and not isinstance(content, bool)
    return content / 100 if is_score and is_number else content
