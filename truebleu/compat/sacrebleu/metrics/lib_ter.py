"""Edits with shifts, as Tercom counts them, and the edit distance within Tercom's beam."""

from __future__ import annotations

import math
from functools import cache
from operator import itemgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from truebleu.metrics.ter import TER

    Row = list[tuple[int, str]]

# Cells around the diagonal that are computed in each row.
_BEAM_WIDTH = 25

_INSERT, _DELETE, _KEEP, _REPLACE, _NONE = "i", "d", " ", "s", "x"
_UNREACHED = (int(1e16), _NONE)


@cache
def _metric() -> TER:
    from truebleu.metrics.ter import TER

    return TER(case_sensitive=True)


def translation_edit_rate(words_hyp: Sequence[str], words_ref: Sequence[str]) -> tuple[int, int]:
    """The number of edits that turn the hypothesis into the reference, and the reference's length.

    An edit inserts, deletes or replaces a word, or shifts some to another place. The search for
    shifts has Tercom's limits, and sacreBLEU's.
    """
    from truebleu.compat._tokens import texts

    if not words_ref:
        return len(words_hyp), 0
    return _metric().sentence(*texts([words_hyp, words_ref])).edits, len(words_ref)


def trace_to_alignment(trace: str) -> tuple[dict[int, int], list[int], list[int]]:
    """The alignment in a trace of edits, and the positions of each side that are wrong.

    trace: " " for a word kept, "s" replaced, "i" only in the hypothesis, "d" only in the reference.
    Returns the hypothesis position of each reference position, then a 1 for each error in the
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
    """The edit distance from a reference, computed near the diagonal, with the trace of edits."""

    def __init__(self, words_ref: Sequence[str]) -> None:
        self._words_ref = words_ref

    def __call__(self, words_hyp: Sequence[str]) -> tuple[int, str]:
        """The distance and its edits: " " keeps, "s" replaces, "i" inserts, "d" deletes."""
        rows: list[Row] = [[(at, _INSERT) for at in range(len(self._words_ref) + 1)]]
        for number, word in enumerate(words_hyp, 1):
            rows.append(self._row(rows[-1], word, number, len(words_hyp)))
        return rows[-1][-1][0], self._trace(rows)

    def _row(self, above: Row, word: str, number: int, length: int) -> Row:
        """The row of a word: the least cost for each reference position, and the edit to it."""
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
            same = word == ref[at - 1]
            # The first of equal costs is taken.
            row[at] = min(
                _UNREACHED,
                (above[at - 1][0] + (not same), _KEEP if same else _REPLACE),
                (delete, _DELETE),
                (row[at - 1][0] + 1, _INSERT),
                key=itemgetter(0),
            )
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
