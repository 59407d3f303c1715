"""Layout of the boundaries of a re-segmented segment."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from truebleu.rendering.elements import Block, Cell, Heading, MarkedTokens, Paragraph, Table
from truebleu.rendering.number_format import make_formatter, make_signed_formatter
from truebleu.rendering.view import Content

BAR = "│"
NO_UNIT = "–"
UNIT_LEGEND = (
    "Below each token: the unit of the reference, = if it is equal, and – if there is none."
)


def build_boundary_layout(number: int, facts: Content, level: int) -> Iterator[Block]:
    """Yield the text around the segment, the units at its boundaries, and the costs of moves."""
    yield Heading(level, f"Boundaries of segment {number}")
    document = f" of document {facts['document']}" if facts["document"] is not None else ""
    place = f"Characters {facts['start'] + 1:,} to {facts['end']:,} of the text{document}"
    if facts["start"] == facts["end"]:
        place = f"No text, at character {facts['start']:,} of the text{document}"
    flags = f" Flags: {', '.join(facts['flags'])}." if facts["flags"] else ""
    yield Paragraph(f"{place}, divided by {facts['method']}.{flags}")
    tokens: list[str] = []
    strengths: list[int] = []
    for segment, words in groupby(facts["stream"], lambda word: word["segment"]):
        texts = [word["text"] for word in words]
        tokens += [BAR, *texts] if tokens else texts
        strengths += [0] * (len(tokens) - len(strengths) - len(texts))
        strengths += [4 if segment == number else 0] * len(texts)
    yield MarkedTokens("Text around the segment", tokens, (), strengths)
    for boundary in facts["boundaries"]:
        before, after = boundary["segments"]
        edits = [*boundary["before"], None, *boundary["after"]]
        yield MarkedTokens(
            f"{boundary['side'].capitalize()}, between segments {before} and {after}",
            [BAR if edit is None else edit["hypothesis"] or NO_UNIT for edit in edits],
            [
                BAR
                if edit is None
                else "="
                if edit["kind"] == "match"
                else edit["reference"] or NO_UNIT
                for edit in edits
            ],
            [4 if edit is not None and edit["kind"] == "match" else 0 for edit in edits],
            legend=UNIT_LEGEND if boundary is facts["boundaries"][-1] else "",
        )
    yield from _build_moves(facts)


def _build_moves(facts: Content) -> Iterator[Block]:
    """Yield a table of the other places of the boundaries, by one word."""
    rows: list[list[str | Cell]] = []
    is_count = facts["cost"] == "errors"
    format_change = make_signed_formatter(make_formatter(0 if is_count else 2))
    for boundary in facts["boundaries"]:
        for move in boundary["moves"]:
            difference = move["difference"] if is_count else -move["difference"]
            rows.append(
                [
                    boundary["side"],
                    Cell(move["text"], code=True),
                    "{} → {}".format(*move["segments"]),
                    format_change(difference),
                    "close" if difference == 0 else "",
                ]
            )
    if not rows:
        return
    unit = "errors" if is_count else "similarity"
    yield Paragraph(
        "Cost of the next best boundaries, one word to the left or to the right. A close boundary "
        f"is a tie: it has the same {unit}."
    )
    yield Table.from_text_rows(["boundary", "word", "segments", unit, ""], rows, (0, 1, 2, 4))
