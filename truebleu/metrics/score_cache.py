"""Numbers of dear metrics, kept by content: the same text is not scored twice.

A file of the cache has the numbers of one system, eight bytes each; its name is a sum of what
decides them: the metric with its programs, and all text. Numbers that took less than a millisecond
a segment are not kept.
"""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from time import perf_counter

from truebleu.text import download
from truebleu.text.operating_system import write_atomically
from truebleu.text.record import Record

# Changes when files of an earlier release could no longer be read.
VERSION = "1"


class CacheSettings(Record):
    """Whether numbers are kept, and above how many seconds a segment."""

    is_enabled: bool = True
    min_seconds_per_segment: float = 1e-3


# `--no-cache` of a command line changes them for the process.
cache_settings = CacheSettings()


def find_score_cache() -> str:
    """Where numbers are kept; it may not exist."""
    return os.path.join(download.get_cache_folder(), "companions")


def load_or_compute(
    parts: Iterable[str], segments: int, width: int, compute: Callable[[], Sequence[float]]
) -> Sequence[float]:
    """The numbers that the parts decide, from the cache or computed; those that took long are kept.

    parts: what decides the numbers. width: how many numbers each segment has.
    """
    if not cache_settings.is_enabled or os.environ.get("TRUEBLEU_NO_CACHE"):
        return compute()
    path = os.path.join(find_score_cache(), f"{_hash_parts(parts)}.f64")
    cached_numbers = _read_numbers(path, segments * width)
    if cached_numbers is not None:
        return cached_numbers
    start = perf_counter()
    numbers = compute()
    if perf_counter() - start > cache_settings.min_seconds_per_segment * segments:
        # A full disk is no reason to lose a score.
        with suppress(OSError):
            os.makedirs(find_score_cache(), exist_ok=True)
            write_atomically(path, array("d", numbers).tobytes())
    return numbers


def _read_numbers(path: str, count: int) -> Sequence[float] | None:
    """The numbers of a file; None if it is not there, or not of as many."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError:
        return None
    return array("d", content) if len(content) == 8 * count else None


def _hash_parts(parts: Iterable[str]) -> str:
    """The sum of all that decides the numbers."""
    digest = hashlib.sha256(VERSION.encode())
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()
