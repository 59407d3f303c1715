"""Layout of the edit operations of TER and of error rates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from truebleu.metrics.ter_alignment import EDIT_MARKS, Alignment
from truebleu.rendering.elements import Block, Cell, Heading, MarkedTokens, Paragraph, Table
from truebleu.rendering.view import Content
from truebleu.text.terminal_layout import format_count


def describe_alignment(alignment: Alignment) -> dict[str, Any]:
    """Return the fields of an explanation that describe an alignment."""
    return {
        "hypothesis": list(alignment.hypothesis),
        "reference": list(alignment.reference),
        "shifts": [
            {**shift._asdict(), "words": list(block)} for shift, block in alignment.list_moves()
        ],
        "operations": [one._asdict() for one in alignment.operations],
    }


def build_edit_layout(
    alignment: Content, level: int, token: str, sides: tuple[str, str]
) -> Iterator[Block]:
    """Yield the hypothesis (also after shifts, if there are any) and the list of edits.

    sides: ("hypothesis", "reference") for TER, which edits the hypothesis, and the reverse for
        error rates.
    """
    hypothesis = alignment["hypothesis"]
    operations = alignment["operations"]
    # The hypothesis tokens show these edits; the other edits are only in the reference tokens.
    own_edits, other_edits = "D: deleted", "insertions"
    if sides[0] == "reference":
        own_edits, other_edits = "I: inserted", "deletions"
    shown_operations = [one for one in operations if one["hypothesis"] is not None]
    label = f"Hypothesis, {format_count(len(hypothesis), token)}"
    if alignment["shifts"]:
        yield MarkedTokens(label, hypothesis)
        label = "After the shifts"
    yield MarkedTokens(
        label,
        [hypothesis[one["hypothesis"]] for one in shown_operations],
        [EDIT_MARKS[one["kind"]] for one in shown_operations],
        [4 if one["kind"] == "match" else 0 for one in shown_operations],
        {i for i, one in enumerate(shown_operations) if one["kind"] != "match"},
        [one["kind"] for one in shown_operations],
        f"Below each token: S: substituted, {own_edits}. The table also lists the {other_edits}."
        if shown_operations
        else "",
    )
    rows: list[list[str | Cell]] = []
    for shift in alignment["shifts"]:
        direction = "left" if shift["target"] < shift["start"] else "right"
        distance = abs(shift["target"] - shift["start"])
        words = Cell(" ".join(shift["words"]), code=True)
        rows.append(["shift", words, f"by {distance} to the {direction}"])
    for operation in operations:
        if operation["kind"] != "match":
            side_words = (
                "" if operation[side] is None else alignment[side][operation[side]]
                for side in sides
            )
            rows.append([operation["kind"], *(Cell(word, code=True) for word in side_words)])
    yield Heading(level, "Edit operations")
    if rows:
        yield Table.from_text_rows(["edit", sides[0], "becomes"], rows, (0, 1, 2))
    else:
        yield Paragraph("None: the hypothesis equals the reference.")
