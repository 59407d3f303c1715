"""Cache of expensive metrics' scores, keyed by content.

A cache file contains the numbers of one system, eight bytes each. Its name is a checksum of the
metric, its programs and all text. Numbers whose computation takes less than a millisecond per
segment are not cached.
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

# Part of the cache key, which changes when files of earlier releases become invalid.
VERSION = "1"
# Numbers are cached if a segment takes longer.
MIN_SECONDS_PER_SEGMENT = 1e-3
# The option `--no-cache` sets this variable for the process.
is_enabled = True


def load_or_compute_numbers(
    parts: Iterable[str], segments: int, width: int, compute_numbers: Callable[[], Sequence[float]]
) -> Sequence[float]:
    """Return numbers from the cache, or compute them and cache them if the computation was slow.

    parts: all data that determines the numbers. width: how many numbers a segment has.
    """
    if not is_enabled or os.environ.get("TRUEBLEU_NO_CACHE"):
        return compute_numbers()
    digest = hashlib.sha256(VERSION.encode())
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(data) + data)
    folder = os.path.join(download.get_cache_folder(), "companions")
    path = os.path.join(folder, f"{digest.hexdigest()}.f64")
    cached_numbers = _read_numbers(path, segments * width)
    if cached_numbers is not None:
        return cached_numbers
    start = perf_counter()
    numbers = compute_numbers()
    if perf_counter() - start > MIN_SECONDS_PER_SEGMENT * segments:
        # A full disk must not prevent scoring.
        with suppress(OSError):
            os.makedirs(folder, exist_ok=True)
            write_atomically(path, array("d", numbers).tobytes())
    return numbers


def _read_numbers(path: str, count: int) -> Sequence[float] | None:
    """Return the numbers in a file, or None if it is missing or has an unexpected size."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError:
        return None
    return array("d", content) if len(content) == 8 * count else None
