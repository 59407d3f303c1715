"""SubER, the subtitle edit rate: words, breaks and times of subtitles in one number.

Patrick Wilken, Panayota Georgakopoulou and Evgeny Matusov (2022): SubER, a metric for automatic
evaluation of subtitle quality. IWSLT. Scores and counts equal those of SubER 0.4.0.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from math import ceil, floor, inf
from typing import Any

from truebleu import _kernel
from truebleu.resegmentation.subtitles import BLOCK_END, LINE_END, Block, read_subtitles
from truebleu.resegmentation.token_units import (
    SUBER_TOKENIZERS,
    remove_punctuation,
    split_like_suber,
)
from truebleu.text.argument_checks import check_choice
from truebleu.text.terminal_layout import format_count

BREAKS = (LINE_END, BLOCK_END)
NO_PUNCTUATION = str.maketrans("", "", string.punctuation + "…")
MAX_SHIFT_LENGTH, MAX_SHIFT_DISTANCE, MAX_CANDIDATES = 10, 50, 1000
BEAM_WIDTH = 100
PAIR, INSERTION, DELETION = "pair", "insertion", "deletion"


@dataclass(frozen=True, slots=True)
class SubERScore:
    """The edits that turn the reference into the subtitles of a system, by kind.

    Insertions are words or breaks that only the system has. Substitutions of breaks replace the end
    of a line by the end of a block or vice versa. A shift moves up to ten words and breaks at once.
    """

    reference_words: int = 0
    reference_breaks: int = 0
    shifts: int = 0
    word_deletions: int = 0
    break_deletions: int = 0
    word_insertions: int = 0
    break_insertions: int = 0
    word_substitutions: int = 0
    break_substitutions: int = 0

    def __add__(self, other: SubERScore) -> SubERScore:
        names = [field.name for field in fields(self)]
        return SubERScore(*(getattr(self, name) + getattr(other, name) for name in names))

    @property
    def edits(self) -> int:
        """The number of edits of all kinds."""
        counts: dict[str, int] = asdict(self)
        return sum(counts.values()) - self.reference_length

    @property
    def reference_length(self) -> int:
        """The number of words and breaks in the reference."""
        return self.reference_words + self.reference_breaks

    @property
    def value(self) -> float:
        """The score: edits per 100 words and breaks in the reference. Lower is better."""
        if not self.reference_length:
            return 100.0 if self.edits else 0.0
        return self.edits / self.reference_length * 100

    def __str__(self) -> str:
        counts = format_count(self.edits, "edit"), format_count(self.reference_length, "token")
        return f"SubER = {self.value:.2f} ({', '.join(counts)})"


@dataclass(frozen=True, slots=True)
class _Token:
    """A word or a break, with the times of its subtitle."""

    text: str
    start: float
    end: float

    @property
    def is_break(self) -> bool:
        return self.text in BREAKS


def suber(
    hypothesis: Any, reference: Any, *, cased: bool = False, language: str | None = None
) -> SubERScore:
    """Return the subtitle edit rate of a system's subtitles, with the edits by kind.

    Words and breaks are aligned as in TER with shifts, but only within subtitles that overlap in
    time.

    Args:
        hypothesis: the system's subtitle file, .srt or .vtt.
        reference: the reference subtitle file.
        cased: compare case and punctuation (SubER-cased). Without it, both are ignored.
        language: "zh", "ja" or "ko" to split words by sacreBLEU's tokenizer of that language, as
            SubER's --language does.

    Raises:
        InputError: a file is invalid. The message names the line.
    """
    if language is not None:
        check_choice("language", language, SUBER_TOKENIZERS)
    total = SubERScore()
    blocks = [read_subtitles(file).blocks for file in (hypothesis, reference)]
    for part in _split_at_pauses(*blocks):
        tokens = [
            [token for block in side for token in _list_tokens(block, language, cased=cased)]
            for side in part
        ]
        total += _count_edits(*tokens)
    return total


def _split_at_pauses(
    hypothesis: list[Block], reference: list[Block]
) -> Iterator[tuple[list[Block], list[Block]]]:
    """Yield the blocks between times at which neither side shows a subtitle."""
    entries = sorted(
        [(block.start, 0, block) for block in reference]
        + [(block.start, 1, block) for block in hypothesis],
        key=lambda entry: entry[:2],
    )
    part: tuple[list[Block], list[Block]] = [], []
    latest_end = -inf
    for start, is_hypothesis, block in entries:
        if any(part) and start >= latest_end:
            yield part
            part = [], []
        part[not is_hypothesis].append(block)
        latest_end = max(latest_end, block.end)
    if any(part):
        yield part


def _list_tokens(block: Block, language: str | None, *, cased: bool) -> Iterator[_Token]:
    """Yield the words of a block, normalized or split as TER does, and its breaks."""
    for number, line in enumerate(block.lines, 1):
        for word in line.split():
            lowered = word.lower()
            tokens = [lowered.translate(NO_PUNCTUATION) or lowered]
            if language is not None:
                tokens = list(
                    split_like_suber(language, word if cased else remove_punctuation(lowered))
                )
            elif cased:
                tokens, *_ = _kernel.ter_alignment(
                    word,
                    word,
                    normalized=True,
                    no_punct=False,
                    asian_support=False,
                    case_sensitive=True,
                )
            for text in tokens:
                yield _Token(text, block.start, block.end)
        yield _Token(BLOCK_END if number == len(block.lines) else LINE_END, block.start, block.end)


def _count_edits(hypothesis: list[_Token], reference: list[_Token]) -> SubERScore:
    """Shift tokens while that reduces the edit distance, then count the edits by kind."""
    table = _EditTable(hypothesis, reference)
    order = list(range(len(hypothesis)))
    shifts = candidates = 0
    while reference:
        saved, shifted, candidates = _find_best_shift(table, order, candidates)
        if candidates >= MAX_CANDIDATES or saved <= 0:
            break
        order, shifts = shifted, shifts + 1
    counts = dict.fromkeys((field.name for field in fields(SubERScore)), 0)
    counts["shifts"] = shifts
    for kind, row, column in (
        table.trace(order) if reference else ((DELETION, row, 0) for row in range(len(hypothesis)))
    ):
        if kind == DELETION:
            # The token is only in the hypothesis.
            name = "break" if hypothesis[order[row]].is_break else "word"
            counts[f"{name}_insertions"] += 1
            continue
        name = "break" if reference[column].is_break else "word"
        counts[f"reference_{name}s"] += 1
        if kind == INSERTION:
            counts[f"{name}_deletions"] += 1
        elif table.costs[order[row]][column]:
            counts[f"{name}_substitutions"] += 1
    return SubERScore(**counts)


class _EditTable:
    """Edit distances, within a beam, between reorderings of the hypothesis and the reference."""

    def __init__(self, hypothesis: Sequence[_Token], reference: Sequence[_Token]) -> None:
        self.width = len(reference)
        # The cost of each pair: 0 if equal, infinite if the pair is not allowed.
        self.costs = []
        for token in hypothesis:
            costs = []
            for other in reference:
                # Both tokens are breaks or both are words, and their subtitles overlap.
                overlaps = (token.start < other.end) == (other.start < token.end)
                is_allowed = overlaps and token.is_break == other.is_break
                costs.append((0 if token.text == other.text else 1) if is_allowed else inf)
            self.costs.append(costs)
        self._order: list[int] = []
        first_row: list[float] = list(range(self.width + 1))
        self._rows = [(first_row, [INSERTION] * (self.width + 1))]

    def fill(self, order: list[int]) -> float:
        """Compute the rows of an order, and return the edit distance.

        Rows are reused for the leading tokens that the order shares with the previous order.
        """
        shared = 0
        while shared < len(self._order) and self._order[shared] == order[shared]:
            shared += 1
        del self._rows[shared + 1 :]
        self._order = list(order)
        count = len(order)
        ratio = self.width / count if count else 1
        beam = BEAM_WIDTH if ratio / 2 <= BEAM_WIDTH else ceil(ratio / 2 + BEAM_WIDTH)
        for row in range(shared + 1, count + 1):
            above, _ = self._rows[-1]
            costs = self.costs[order[row - 1]]
            distances: list[float] = [inf] * (self.width + 1)
            steps = [""] * (self.width + 1)
            centre = floor(row * ratio)
            end = self.width + 1 if row == count else min(self.width + 1, centre + beam)
            for column in range(max(0, centre - beam), end):
                best, step = inf, ""
                if column and above[column - 1] + costs[column - 1] < best:
                    best, step = above[column - 1] + costs[column - 1], PAIR
                if above[column] + 1 < best:
                    best, step = above[column] + 1, DELETION
                if column and distances[column - 1] + 1 < best:
                    best, step = distances[column - 1] + 1, INSERTION
                distances[column], steps[column] = best, step
            self._rows.append((distances, steps))
        return self._rows[-1][0][-1]

    def trace(self, order: list[int]) -> list[tuple[str, int, int]]:
        """Return the steps of a cheapest path, each with its kind, row and column."""
        self.fill(order)
        row, column = len(order), self.width
        path = []
        while row or column:
            step = self._rows[row][1][column]
            row -= step != INSERTION
            column -= step != DELETION
            path.append((step, row, column))
        return path[::-1]


def _find_best_shift(
    table: _EditTable, order: list[int], candidates: int
) -> tuple[float, list[int], int]:
    """Return the edits that the best shift saves, the shifted order, and the candidates so far."""
    path = table.trace(order)
    distance = table.fill(order)
    targets: dict[int, int] = {}
    has_error, reference_has_error = [True] * len(order), [True] * table.width
    last_row = -1
    for step, row, column in path:
        if step != INSERTION:
            last_row = row
        if step != DELETION:
            targets[column] = last_row
        if step == PAIR and not table.costs[order[row]][column]:
            has_error[row] = reference_has_error[column] = False
    best: tuple[float, int, int, int] | None = None
    best_order = order
    for start, reference_start, length in _list_equal_runs(table, order):
        is_wrong = any(has_error[start : start + length])
        reference_run = reference_has_error[reference_start : reference_start + length]
        is_inside = start <= targets[reference_start] < start + length
        if not is_wrong or not any(reference_run) or is_inside:
            continue
        last_target = -1
        for column in range(reference_start - 1, reference_start + length):
            target = 0 if column == -1 else targets[column] + 1
            if target == last_target:
                continue
            last_target = target
            # A target in the run moves the run later, by the target's distance from its start.
            rest = order[:start] + order[start + length :]
            place = target - length if target > start + length else target
            shifted = rest[:place] + order[start : start + length] + rest[place:]
            candidates += 1
            saved = distance - table.fill(shifted)
            candidate = (saved, length, -start, -target)
            if best is None or candidate > best:
                best, best_order = candidate, shifted
        if candidates >= MAX_CANDIDATES:
            break
    return (best[0] if best else 0), best_order, candidates


def _list_equal_runs(table: _EditTable, order: list[int]) -> Iterator[tuple[int, int, int]]:
    """Yield each run of equal tokens as (hypothesis start, reference start, length)."""
    for start in range(len(order)):
        first = max(0, start - MAX_SHIFT_DISTANCE)
        for column in range(first, min(table.width, start + MAX_SHIFT_DISTANCE + 1)):
            longest = min(MAX_SHIFT_LENGTH, len(order) - start, table.width - column)
            for length in range(longest):
                if table.costs[order[start + length]][column + length]:
                    break
                yield start, column, length + 1
