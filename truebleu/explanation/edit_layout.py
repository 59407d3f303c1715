"""Edits word by word, as the explanations of TER and of the error rates show them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from truebleu.metrics.ter_alignment import EDIT_MARKS, Alignment
from truebleu.rendering.elements import Block, Cell, Heading, MarkedTokens, Paragraph, Table
from truebleu.rendering.view import Content
from truebleu.text.terminal_layout import format_count


def content(alignment: Alignment) -> dict[str, Any]:
    """What an explanation says of an alignment."""
    return {
        "hypothesis": list(alignment.hypothesis),
        "reference": list(alignment.reference),
        "shifts": [
            {**shift._asdict(), "words": list(block)} for shift, block in alignment.list_moves()
        ],
        "operations": [one._asdict() for one in alignment.operations],
    }


def blocks(alignment: Content, level: int, token: str, sides: tuple[str, str]) -> Iterator[Block]:
    """The hypothesis as it was and, if words moved, after the shifts; then each edit.

    sides: which side becomes which: "hypothesis" and "reference" in TER, where edits are made to
        the hypothesis, and the other way round in error rates.
    """
    mine = alignment["hypothesis"]
    operations = alignment["operations"]
    # The edits that the tokens of the hypothesis show; the others only the reference has.
    here, elsewhere = "D deleted", "insertions"
    if sides[0] == "reference":
        here, elsewhere = "I inserted", "deletions"
    told = [one for one in operations if one["hypothesis"] is not None]
    label = f"Hypothesis, {format_count(len(mine), token)}"
    if alignment["shifts"]:
        yield MarkedTokens(label, mine)
        label = "After the shifts"
    yield MarkedTokens(
        label,
        [mine[one["hypothesis"]] for one in told],
        [EDIT_MARKS[one["kind"]] for one in told],
        [4 if one["kind"] == "match" else 0 for one in told],
        {i for i, one in enumerate(told) if one["kind"] != "match"},
        [one["kind"] for one in told],
        f"Below each token: S is substituted, {here}; {elsewhere} are in the table."
        if told
        else "",
    )
    rows: list[list[str | Cell]] = []
    for shift in alignment["shifts"]:
        way = "left" if shift["target"] < shift["start"] else "right"
        far = abs(shift["target"] - shift["start"])
        words = Cell(" ".join(shift["words"]), code=True)
        rows.append(["shift", words, f"by {far} to the {way}"])
    for one in operations:
        if one["kind"] != "match":
            both = ("" if one[side] is None else alignment[side][one[side]] for side in sides)
            rows.append([one["kind"], *(Cell(word, code=True) for word in both)])
    yield Heading(level, "Each edit")
    if rows:
        yield Table.from_text_rows(["edit", sides[0], "becomes"], rows, (0, 1, 2))
    else:
        yield Paragraph("None: the hypothesis is the reference.")
