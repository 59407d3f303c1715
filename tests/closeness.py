"""Comparison of results that were computed with another mathematical library."""

from __future__ import annotations

import math

import pytest


def is_close(first: object, second: object) -> bool:
    """Return whether two results of JSON are equal, floats to 12 digits and integers exactly."""
    if isinstance(first, float) or isinstance(second, float):
        numbers = isinstance(first, int | float) and isinstance(second, int | float)
        return numbers and math.isclose(first, second, rel_tol=1e-12, abs_tol=1e-12)
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(is_close(first[k], second[k]) for k in first)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(is_close, first, second))
    return first == second


def near(value):
    """Return a value that equals the same number, or list of numbers, of a page to 12 digits."""
    return pytest.approx(
        list(value) if not isinstance(value, float | int) else value, rel=1e-12, abs=1e-10
    )
