"""Token alignments for word and character error rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from truebleu import _kernel
from truebleu._kernel import InputError
from truebleu.metrics.ter_alignment import Alignment, Operation
from truebleu.text import argument_checks
from truebleu.text.terminal_layout import format_count

EDIT_KINDS = {"h": "match", "s": "substitution", "d": "deletion", "i": "insertion"}


class EditAlignment(Alignment):
    """Immutable edit operations of one segment. `print` draws their alignment.

    It has the fields of TER's `Alignment`, without shifts. Error rates describe edits from
    reference to hypothesis: a deletion is a token found only in the reference, and an insertion a
    token found only in the hypothesis.
    """

    __slots__ = ()

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """The number of hits, substitutions, deletions and insertions."""
        kinds = [kind for kind, _, _ in self.operations]
        hits, substitutions, deletions, insertions = map(kinds.count, EDIT_KINDS.values())
        return hits, substitutions, deletions, insertions

    @property
    def value(self) -> float:
        """The segment's error rate."""
        _, _, _, insertions = self.counts
        length = len(self.reference)
        return 100.0 * (self.edits / length if length else insertions)

    def list_row_names(self) -> tuple[str, str]:
        """Return the row names of the drawing, from top to bottom."""
        return "reference", "hypothesis"

    def format_title(self) -> str:
        """Return a title with the error rate and the number of edits of each kind."""
        kinds = list(EDIT_KINDS.values())[1:]
        edits = ", ".join(
            format_count(n, kind) for n, kind in zip(self.counts[1:], kinds, strict=True)
        )
        length = format_count(len(self.reference), "token")
        return f"{self.value:.2f}: {edits}; {length} in the reference"


def align_edits(
    metric: Any, hypothesis: str, references: str | Sequence[str | None]
) -> EditAlignment:
    """Return the alignment of one segment with the reference that `metric` selects."""
    reference_texts = [references] if isinstance(references, str) else references
    texts = [hypothesis, *(text for text in reference_texts if text is not None)]
    for wrong in (text for text in texts if not isinstance(text, str)):
        raise TypeError(f"expected a str, not {argument_checks.describe_type(wrong, '')}")
    if len(texts) == 1:
        raise InputError("segment 1 has no reference")
    hypothesis_tokens = tuple(metric.tokenize_text(hypothesis))
    candidates: list[tuple[float, EditAlignment]] = []
    for number, text in enumerate(reference_texts):
        if text is not None:
            alignment = _align_tokens(hypothesis_tokens, tuple(metric.tokenize_text(text)), number)
            score = metric.from_statistics(alignment.counts).value
            candidates.append((score if metric.lower_is_better else -score, alignment))
    return min(candidates, key=lambda one: one[0])[1]


def _align_tokens(
    hypothesis: tuple[str, ...], reference: tuple[str, ...], number: int
) -> EditAlignment:
    token_ids: dict[str, int] = {}
    hypothesis_ids, reference_ids = (
        [token_ids.setdefault(token, len(token_ids)) for token in tokens]
        for tokens in (hypothesis, reference)
    )
    operations = []
    hypothesis_places, reference_places = iter(range(len(hypothesis))), iter(range(len(reference)))
    for letter in _kernel.edits(reference_ids, hypothesis_ids):
        i = None if letter == "d" else next(hypothesis_places)
        j = None if letter == "i" else next(reference_places)
        operations.append(Operation(EDIT_KINDS[letter], i, j))
    length = float(len(reference))
    return EditAlignment(hypothesis, reference, number, (), tuple(operations), length)
