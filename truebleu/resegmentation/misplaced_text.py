"""Text that the alignment, which keeps the order, cannot place: repeated and moved text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

# A loop is a run of this many units that occurs this many times, without overlaps.
LOOP_LENGTH, LOOP_COUNT = 8, 3
# Phrases that recur after more units than this are normal.
MAX_LOOP_DISTANCE = 60
# A segment has moved if it shares at least this number, and this share, of its pairs of adjacent
# units with text in another place. None of 4,500 segments of WMT22's outputs meets these
# conditions; if documents are rotated, 6 of 10 displaced segments do.
MIN_PAIRS, MIN_PAIR_SHARE = 3, 0.3
# Frequent pairs do not locate a segment.
MAX_POSITIONS = 50


def find_loops(
    keys: Sequence[str], segments: Sequence[int], references: Sequence[Sequence[str]]
) -> set[int]:
    """Return the segments of runs of units that the text repeats and the references do not.

    >>> keys = "so it goes on and on and on".split() * 3
    >>> find_loops(keys, [0] * len(keys), [["so", "it", "goes", "on"]])
    {0}
    """
    repeated = _find_repeated_runs(keys)
    if not repeated:
        return set()
    expected = _find_repeated_runs([key for reference in references for key in reference])
    return {
        segments[index]
        for run, starts in repeated.items()
        if run not in expected
        for start in starts
        for index in range(start, start + LOOP_LENGTH)
    }


def _find_repeated_runs(keys: Sequence[str]) -> dict[tuple[str, ...], list[int]]:
    """Return the starts of each run that occurs often enough within short distances."""
    starts_by_run: dict[tuple[str, ...], list[int]] = {}
    repeated = {}
    # Every unit of a loop occurs at least as often as the loop.
    frequent = {key for key, count in Counter(keys).items() if count >= LOOP_COUNT}
    is_frequent = bytes(map(frequent.__contains__, keys))
    for match in re.finditer(b"(?=\1{%d})" % LOOP_LENGTH, is_frequent):
        start = match.start()
        run = tuple(keys[start : start + LOOP_LENGTH])
        starts = starts_by_run.setdefault(run, [])
        distance = start - starts[-1] if starts else LOOP_LENGTH
        if distance < LOOP_LENGTH:
            continue
        if distance > MAX_LOOP_DISTANCE and run not in repeated:
            starts.clear()
        starts.append(start)
        if len(starts) >= LOOP_COUNT:
            repeated[run] = starts
    return repeated


def find_moved_segments(
    keys: Sequence[str],
    is_equal: Callable[[int], bool],
    segments: Sequence[int],
    references: Sequence[Sequence[str]],
    unpaired: Sequence[int],
) -> list[int]:
    """Return the segments whose reference matches another place of the text better than its own.

    Args:
        keys: the units of the text.
        is_equal: returns whether the unit at an index is paired with an equal unit of the
            reference.
        segments: the segment of each unit.
        references: the units of the reference of each segment.
        unpaired: the segments to examine, which do not match their own place.
    """
    if not unpaired:
        return []
    pairs_by_segment = {number: set(pairwise(references[number])) for number in unpaired}
    positions: dict[tuple[str, str], list[int]] = {
        pair: [] for pairs in pairs_by_segment.values() for pair in pairs
    }
    for index, pair in enumerate(pairwise(keys)):
        # Text that matches its own place has not moved.
        if pair in positions and not (is_equal(index) and is_equal(index + 1)):
            positions[pair].append(index)
    moved = []
    for number, reference_pairs in pairs_by_segment.items():
        found = [
            (index, pair)
            for pair in reference_pairs
            if len(positions[pair]) <= MAX_POSITIONS
            for index in positions[pair]
        ]
        elsewhere = sorted(one for one in found if segments[one[0]] != number)
        own = {pair for index, pair in found if segments[index] == number}
        best = _count_in_window(elsewhere, len(references[number]))
        if best >= max(MIN_PAIRS, MIN_PAIR_SHARE * len(reference_pairs)) and best > len(own):
            moved.append(number)
    return moved


def _count_in_window(found: Sequence[tuple[int, tuple[str, str]]], length: int) -> int:
    """Return the largest number of different pairs in a window of a number of units."""
    best = first = 0
    counts: dict[tuple[str, str], int] = {}
    for index, pair in found:
        counts[pair] = counts.get(pair, 0) + 1
        while found[first][0] < index - length:
            left = found[first][1]
            counts[left] -= 1
            if not counts[left]:
                del counts[left]
            first += 1
        best = max(best, len(counts))
    return best
