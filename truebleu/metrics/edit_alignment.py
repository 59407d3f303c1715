"""The edits that an error rate counts, token by token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from truebleu import _kernel
from truebleu._kernel import InputError
from truebleu.metrics.ter_alignment import Alignment, Operation
from truebleu.text import argument_checks
from truebleu.text.terminal_layout import format_count

KINDS = {"h": "match", "s": "substitution", "d": "deletion", "i": "insertion"}


class EditAlignment(Alignment):
    """The edits of one segment. Immutable; `print` draws it.

    Its fields are those of TER's `Alignment`, without shifts. As is the custom of error rates, the
    hypothesis is what was made of the reference: a deletion is a token that only the reference has,
    an insertion one that only the hypothesis has.
    """

    __slots__ = ()

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """Hits, substitutions, deletions, insertions."""
        kinds = [kind for kind, _, _ in self.operations]
        hits, substitutions, deletions, insertions = map(kinds.count, KINDS.values())
        return hits, substitutions, deletions, insertions

    @property
    def value(self) -> float:
        """The segment's error rate."""
        _, _, _, insertions = self.counts
        length = len(self.reference)
        return 100.0 * (self.edits / length if length else insertions)

    def sides(self) -> tuple[str, str]:
        """The rows of a drawing, from the top."""
        return "reference", "hypothesis"

    def title(self) -> str:
        """The error rate and the numbers of edits."""
        kinds = list(KINDS.values())[1:]
        edits = ", ".join(
            format_count(n, kind) for n, kind in zip(self.counts[1:], kinds, strict=True)
        )
        length = format_count(len(self.reference), "token")
        return f"{self.value:.2f}: {edits}; {length} in the reference"


def align(metric: Any, hypothesis: str, references: str | Sequence[str | None]) -> EditAlignment:
    """The alignment of one segment with the reference by which `metric` scores it."""
    given = [references] if isinstance(references, str) else references
    texts = [hypothesis, *(text for text in given if text is not None)]
    if any(not isinstance(text, str) for text in texts):
        wrong = next(text for text in texts if not isinstance(text, str))
        raise TypeError(f"expected a str, not {argument_checks.describe_type(wrong, '')}")
    if len(texts) == 1:
        raise InputError("segment 1 has no reference")
    words = tuple(metric.tokens(hypothesis))
    found: list[tuple[float, EditAlignment]] = []
    for number, text in enumerate(given):
        if text is not None:
            alignment = _aligned(words, tuple(metric.tokens(text)), number)
            score = metric.from_statistics(alignment.counts).value
            found.append((score if metric.lower_is_better else -score, alignment))
    return min(found, key=lambda one: one[0])[1]


def _aligned(words: tuple[str, ...], others: tuple[str, ...], number: int) -> EditAlignment:
    known: dict[str, int] = {}
    ours, theirs = (
        [known.setdefault(token, len(known)) for token in tokens] for tokens in (words, others)
    )
    operations = []
    i = j = 0
    for letter in _kernel.edits(theirs, ours):
        mine, other = letter != "d", letter != "i"
        operations.append(Operation(KINDS[letter], i if mine else None, j if other else None))
        i += mine
        j += other
    return EditAlignment(words, others, number, (), tuple(operations), float(len(others)))
