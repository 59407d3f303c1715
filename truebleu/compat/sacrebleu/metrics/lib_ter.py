"""Edits with shifts, as Tercom counts them: the algorithm of TER, in Python."""

from __future__ import annotations

import math
from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Row = list[tuple[int, str]]
    # A word → what may follow it, and its row.
    Node = dict[str, tuple["Node", Row]]

# Tercom's limits: how many words are shifted at most and how far, and how many cells around the
# diagonal are worked out in each row.
_MAX_SHIFT_SIZE = 10
_MAX_SHIFT_DIST = 50
_BEAM_WIDTH = 25

# sacreBLEU's own: how many shifts are tried for a segment.
_MAX_SHIFT_CANDIDATES = 1000

# How many rows are remembered for one reference.
_MOST_ROWS = 10000

_INSERT, _DELETE, _KEEP, _REPLACE, _NONE = "i", "d", " ", "s", "x"
_UNREACHED = (int(1e16), _NONE)
_FLIPPED = str.maketrans(_INSERT + _DELETE, _DELETE + _INSERT)


def translation_edit_rate(words_hyp: list[str], words_ref: list[str]) -> tuple[int, int]:
    """How many edits make the reference of the hypothesis, and the length of the reference.

    An edit inserts, deletes or replaces a word, or shifts some to another place. The shift that
    spares most is done first, again and again until none spares any.
    """
    if not words_ref:
        return len(words_hyp), 0
    distance = BeamEditDistance(words_ref)
    shifts, tried = 0, 0
    while True:
        spared, shifted, tried = _best_shift(words_hyp, words_ref, distance, tried)
        if tried >= _MAX_SHIFT_CANDIDATES or spared <= 0:
            break
        shifts, words_hyp = shifts + 1, shifted
    return shifts + distance(words_hyp)[0], len(words_ref)


def _best_shift(
    words_h: list[str], words_r: list[str], distance: BeamEditDistance, tried: int
) -> tuple[int, list[str], int]:
    """How many edits the best shift spares, the words after it, and how many were tried by then."""
    before, trace = distance(words_h)
    align, ref_err, hyp_err = trace_to_alignment(trace.translate(_FLIPPED))
    best: tuple[int, int, int, int, list[str]] | None = None
    for start_h, start_r, length in _equal_runs(words_h, words_r):
        # Nothing is gained where either side is right, or by a shift into the run itself.
        if not any(hyp_err[start_h : start_h + length]):
            continue
        if not any(ref_err[start_r : start_r + length]):
            continue
        if start_h <= align[start_r] < start_h + length:
            continue
        for target in _targets(align, start_r, length):
            shifted = _shift(words_h, start_h, length, target)
            # Ties go to the longest run, then to the earliest, then to the earliest target.
            spared = before - distance(shifted)[0]
            candidate = (spared, length, -start_h, -target, shifted)
            tried += 1
            if best is None or candidate > best:
                best = candidate
        if tried >= _MAX_SHIFT_CANDIDATES:
            break
    return (0, words_h, tried) if best is None else (best[0], best[4], tried)


def _equal_runs(words_h: list[str], words_r: list[str]) -> Iterator[tuple[int, int, int]]:
    """Starts and length of each run of words that both have, and that is not too far away."""
    for start_h in range(len(words_h)):
        first = max(0, start_h - _MAX_SHIFT_DIST)
        for start_r in range(first, min(len(words_r), start_h + _MAX_SHIFT_DIST + 1)):
            longest = min(len(words_h) - start_h, len(words_r) - start_r, _MAX_SHIFT_SIZE)
            for length in range(1, longest + 1):
                if words_h[start_h + length - 1] != words_r[start_r + length - 1]:
                    break
                yield start_h, start_r, length


def _targets(align: dict[int, int], start_r: int, length: int) -> Iterator[int]:
    """The places in the hypothesis that a run could be shifted to, each once in a row."""
    places = [-1]
    for position in range(start_r - 1, start_r + length):
        if position == -1:
            places.append(0)
        elif position in align:
            places.append(align[position] + 1)
        else:
            break
    return (place for previous, place in pairwise(places) if place != previous)


def _shift(words: list[str], start: int, length: int, target: int) -> list[str]:
    """The words with a run moved before the word that is at `target`."""
    run, rest = words[start : start + length], words[:start] + words[start + length :]
    # Behind the run, places are counted without it, but for those that touch it.
    at = target - length if target > start + length else target
    return rest[:at] + run + rest[at:]


def trace_to_alignment(trace: str) -> tuple[dict[int, int], list[int], list[int]]:
    """What a trace of edits aligns, and which positions of each side are wrong.

    trace: " " for a word kept, "s" replaced, "i" only in the hypothesis, "d" only in the reference.
    Gives the hypothesis position of each reference position, then a 1 for each error in the
    reference, then in the hypothesis.
    """
    align: dict[int, int] = {}
    ref_err: list[int] = []
    hyp_err: list[int] = []
    for edit in trace:
        if edit not in (_KEEP, _REPLACE, _INSERT, _DELETE):
            raise ValueError(f"unknown operation {edit!r}")
        wrong = 0 if edit == _KEEP else 1
        if edit != _DELETE:
            hyp_err.append(wrong)
        if edit != _INSERT:
            ref_err.append(wrong)
            align[len(ref_err) - 1] = len(hyp_err) - 1
    return align, ref_err, hyp_err


class BeamEditDistance:
    """The edit distance from a reference, worked out near the diagonal, with the trace of edits."""

    def __init__(self, words_ref: Sequence[str]) -> None:
        self._words_ref = words_ref
        # Shifted hypotheses begin alike: rows are kept by the words up to them and, because the
        # diagonal depends on it, by the length of the hypothesis.
        self._rows: dict[int, Node] = {}
        self._remembered = 0

    def __call__(self, words_hyp: Sequence[str]) -> tuple[int, str]:
        """The distance, and an edit a letter: " " keeps, "s" replaces, "i" inserts, "d" deletes."""
        first: Row = [(at, _INSERT) for at in range(len(self._words_ref) + 1)]
        rows, node = [first], self._rows.setdefault(len(words_hyp), {})
        for number, word in enumerate(words_hyp, 1):
            if word in node:
                node, row = node[word]
            else:
                below: Node = {}
                row = self._row(rows[-1], word, number, len(words_hyp))
                if self._remembered < _MOST_ROWS:
                    node[word] = (below, row)
                    self._remembered += 1
                node = below
            rows.append(row)
        return rows[-1][-1][0], self._trace(rows)

    def _row(self, above: Row, word: str, number: int, length: int) -> Row:
        """The row of a word: for each reference position the least cost, and the edit to it."""
        ref = self._words_ref
        ratio = len(ref) / length
        # The beam widens where a row would not touch the next one.
        beam = _BEAM_WIDTH if ratio / 2 <= _BEAM_WIDTH else math.ceil(ratio / 2 + _BEAM_WIDTH)
        diagonal = math.floor(number * ratio)
        stop = len(ref) + 1
        if number < length:
            stop = min(stop, diagonal + beam)
        row = [_UNREACHED] * (len(ref) + 1)
        for at in range(max(0, diagonal - beam), stop):
            delete = above[at][0] + 1
            if at == 0:
                row[0] = (delete, _DELETE)
                continue
            best = _UNREACHED
            same = word == ref[at - 1]
            # In this order: the first of equal costs is taken.
            for edit in (
                (above[at - 1][0] + (not same), _KEEP if same else _REPLACE),
                (delete, _DELETE),
                (row[at - 1][0] + 1, _INSERT),
            ):
                if edit[0] < best[0]:
                    best = edit
            row[at] = best
        return row

    def _trace(self, rows: list[Row]) -> str:
        """The edits along the way back from the last cell."""
        edits = []
        row, at = len(rows) - 1, len(self._words_ref)
        while row > 0 or at > 0:
            edit = rows[row][at][1]
            edits.append(edit)
            row -= edit != _INSERT
            at -= edit != _DELETE
        return "".join(reversed(edits))
