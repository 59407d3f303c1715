"""Word alignment by minimum edit distance, with ties resolved as in SubER."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import takewhile
from math import isqrt

INSERTION, SHARED, DELETION = -1, 0, 1


def align_words(
    reference: Sequence[Hashable], hypothesis: Sequence[Hashable]
) -> tuple[list[int | None], list[int], int]:
    """Align two lists of words.

    Returns, for each hypothesis word, the paired reference word or None, and the number of
    reference words up to its pair, or before the word if it has no pair; and the edit distance.

    The common beginning and end are paired. Between them, the path is followed from its end: a
    run of insertions or deletions continues while that is optimal. Otherwise, equal words are
    paired, then different words; then a word is inserted, then deleted. The order of
    python-Levenshtein 0.12.0 is the same.

    The columns of the table are bit vectors (Myers, 1999). Of n columns, about the square root of n
    are kept, and the others are recomputed when the path reaches them.

    >>> align_words("a b c d".split(), "a x c c d".split())
    ([0, None, 1, 2, 3], [1, 1, 2, 3, 4], 2)
    """
    pairs_of_words = zip(reference, hypothesis, strict=False)
    start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs_of_words))
    shorter = min(len(reference), len(hypothesis)) - start
    reversed_pairs = zip(
        reversed(reference[len(reference) - shorter :]),
        reversed(hypothesis[len(hypothesis) - shorter :]),
        strict=True,
    )
    shared_end = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], reversed_pairs))
    row, column = len(reference) - shared_end, len(hypothesis) - shared_end
    pairs: list[int | None] = [None] * len(hypothesis)
    pairs[:start] = range(start)
    pairs[column:] = range(row, len(reference))
    before = [1 + (index or 0) for index in pairs]
    table = _Table(reference[start:row], hypothesis[start:column])
    errors, direction = 0, SHARED
    while row > start and column > start:
        deletes, inserts, is_diagonal_equal = table.get_column(column - start - 1)
        bit = row - start - 1
        can_delete, can_insert = deletes >> bit & 1, inserts >> bit & 1
        is_equal = reference[row - 1] == hypothesis[column - 1]
        is_pair = False
        if (direction == INSERTION and can_insert) or (direction == DELETION and can_delete):
            pass
        elif is_equal or not is_diagonal_equal >> bit & 1:
            direction, is_pair = SHARED, True
        else:
            direction = INSERTION if can_insert else DELETION
        errors += not (is_pair and is_equal)
        if direction != DELETION:
            column -= 1
            pairs[column] = row - 1 if is_pair else None
            before[column] = row
        if direction != INSERTION:
            row -= 1
    before[start:column] = [row] * (column - start)
    return pairs, before, errors + row + column - 2 * start


class _Table:
    """The table of edit distances between two lists of words, as bit vectors.

    In each column, the bits of a reference word say whether deleting that word is optimal, whether
    inserting the column's word is optimal, and whether the distance equals the distance without
    both words.
    """

    def __init__(self, reference: Sequence[Hashable], hypothesis: Sequence[Hashable]) -> None:
        self._hypothesis = hypothesis
        self._all_bits = (1 << len(reference)) - 1
        positions: dict[Hashable, bytearray] = {}
        for index, word in enumerate(reference):
            if word not in positions:
                positions[word] = bytearray(len(reference) // 8 + 1)
            positions[word][index // 8] |= 1 << index % 8
        self._matches = {word: int.from_bytes(bits, "little") for word, bits in positions.items()}
        self._block_length = isqrt(len(hypothesis)) + 1
        # The vertical differences +1 and -1 before each block of columns.
        self._block_starts = [(self._all_bits, 0)]
        self._block, self._columns = -1, list[tuple[int, int, int]]()
        for block in range(len(hypothesis) // self._block_length):
            self._block_starts.append(self._compute_block(block))

    def get_column(self, index: int) -> tuple[int, int, int]:
        """Return the bit vectors of the column for a hypothesis word."""
        block = index // self._block_length
        if block != self._block:
            self._compute_block(block)
        return self._columns[index % self._block_length]

    def _compute_block(self, block: int) -> tuple[int, int]:
        """Compute the columns of a block, and return the vertical differences after it."""
        self._block, self._columns = block, []
        all_bits = self._all_bits
        up, down = self._block_starts[block]
        first = block * self._block_length
        for word in self._hypothesis[first : first + self._block_length]:
            match = self._matches.get(word, 0)
            equal = (((match & up) + up ^ up) | match | down) & all_bits
            right = down | all_bits & ~(equal | up)
            shifted = right << 1 | 1
            up, down = ((equal & up) << 1 | ~(equal | shifted)) & all_bits, shifted & equal
            self._columns.append((up, right, equal))
        return up, down
