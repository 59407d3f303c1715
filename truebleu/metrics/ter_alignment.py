"""Alignments for TER: shifts, then edit operations per word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from truebleu import _kernel
from truebleu.text import argument_checks
from truebleu.text.terminal_layout import measure_width, pad_text

OPERATION_KINDS = {"m": "match", "s": "substitution", "d": "deletion", "i": "insertion"}

# Marks under edited words, as in tercom.
EDIT_MARKS = {"match": "", "substitution": "S", "deletion": "D", "insertion": "I"}


class Shift(NamedTuple):
    """Adjacent hypothesis words that are moved together, which counts as one edit.

    start, length: zero-based position of the words before this shift, and their number.
    target: zero-based position of the first word after this shift.
    """

    start: int
    length: int
    target: int


class Operation(NamedTuple):
    """Edit operation on one word.

    kind: "match", "substitution" (by a reference word), "deletion" (of a word that the reference
        lacks at this position), or "insertion" (of a word that only the reference has).
    hypothesis: index of the word in the hypothesis before all shifts, or None for an insertion.
    reference: index of the word in the reference, or None for a deletion.
    """

    kind: str
    hypothesis: int | None
    reference: int | None


class Alignment(NamedTuple):
    """Immutable edit operations of one segment. `print` draws their alignment.

    hypothesis: tokens of the hypothesis before the shifts.
    reference: tokens of the first reference with the fewest edits.
    reference_index: zero-based index of this reference among the arguments.
    shifts: the shifts, in the order in which they are applied.
    operations: the operations on words, in the order of the reference and the shifted hypothesis.
    reference_length: mean length of all references.
    """

    hypothesis: tuple[str, ...]
    reference: tuple[str, ...]
    reference_index: int
    shifts: tuple[Shift, ...]
    operations: tuple[Operation, ...]
    reference_length: float

    @property
    def edits(self) -> int:
        """The number of edits: shifts and operations other than matches."""
        return len(self.shifts) + sum(kind != "match" for kind, _, _ in self.operations)

    @property
    def order(self) -> tuple[int, ...]:
        """The original indices of the hypothesis words, in their order after the shifts."""
        return tuple(place for _, place, _ in self.operations if place is not None)

    @property
    def shifted(self) -> tuple[str, ...]:
        """The hypothesis after the shifts."""
        return tuple(self.hypothesis[place] for place in self.order)

    @property
    def value(self) -> float:
        """The score of the segment."""
        if not self.reference_length:
            return 100.0 if self.edits else 0.0
        return 100 * (self.edits / self.reference_length)

    def list_moves(self) -> list[tuple[Shift, tuple[str, ...]]]:
        """Return each shift with the words that it moves."""
        words = list(self.hypothesis)
        return [(shift, tuple(_move_items(words, *shift))) for shift in self.shifts]

    def list_row_names(self) -> tuple[str, str]:
        """Return the row names of the drawing, from top to bottom."""
        return "hypothesis", "reference"

    def format_title(self) -> str:
        """Return a title with the score and the number of edits."""
        edits = f"{self.edits} edit{'' if self.edits == 1 else 's'}"
        words = f"{self.reference_length:g} word{'' if self.reference_length == 1 else 's'}"
        return f"TER {self.value:.2f}: {edits} for {words}"

    def __str__(self) -> str:
        """Return a drawing of the shifts, the shifted hypothesis, the reference and edit marks."""
        lines = [self.format_title()]
        for (start, _, target), block in self.list_moves():
            direction = "left" if target < start else "right"
            distance = abs(target - start)
            lines.append(f'shift      "{" ".join(block)}" by {distance} to the {direction}')
        rows = dict.fromkeys(("hypothesis", "reference", ""), "")
        for kind, i, j in self.operations:
            hypothesis_word = "" if i is None else self.hypothesis[i]
            reference_word = "" if j is None else self.reference[j]
            width = max(measure_width(hypothesis_word), measure_width(reference_word), 1)
            words = hypothesis_word, reference_word, EDIT_MARKS[kind]
            for row, word in zip(rows, words, strict=True):
                rows[row] += f" {pad_text(word, width)}"
        drawn_rows = (f"{name:10}{rows[name]}".rstrip() for name in (*self.list_row_names(), ""))
        return "\n".join([*lines, *filter(None, drawn_rows)])


def _move_items(items: list[Any], start: int, length: int, target: int) -> list[Any]:
    """Move adjacent items within a list in place, and return the moved items."""
    block = items[start : start + length]
    del items[start : start + length]
    items[target:target] = block
    return block


def align_ter(
    hypothesis: str, references: str | Sequence[str | None], parameters: Mapping[str, bool]
) -> Alignment:
    """Return the alignment of one segment. parameters: the parameters of `TER`."""
    if not isinstance(hypothesis, str):
        raise TypeError(
            f"hypothesis: expected a str, not {argument_checks.describe_type(hypothesis, '')}"
        )
    tokens, reference_tokens, best, shifts, letters = _kernel.ter_alignment(
        hypothesis, references, **parameters
    )
    order = list(range(len(tokens)))
    for shift in shifts:
        _move_items(order, *shift)
    operations = []
    hypothesis_places, reference_places = iter(order), iter(range(len(reference_tokens[best])))
    for letter in letters:
        i = None if letter == "i" else next(hypothesis_places)
        j = None if letter == "d" else next(reference_places)
        operations.append(Operation(OPERATION_KINDS[letter], i, j))
    # The kernel skips missing references; convert its index to an index of the argument.
    reference_texts = [references] if isinstance(references, str) else references
    present = [number for number, text in enumerate(reference_texts) if text is not None]
    return Alignment(
        hypothesis=tuple(tokens),
        reference=tuple(reference_tokens[best]),
        reference_index=present[best],
        shifts=tuple(Shift(*shift) for shift in shifts),
        operations=tuple(operations),
        reference_length=sum(map(len, reference_tokens)) / len(reference_tokens),
    )
