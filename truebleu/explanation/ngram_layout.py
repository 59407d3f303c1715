"""Layout of n-grams: tokens with their longest matches, and tables and lists of n-grams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from truebleu.rendering.elements import Block, Cell, Heading, MarkedTokens, Paragraph, Table
from truebleu.rendering.number_format import format_number, make_formatter, name_ngrams
from truebleu.rendering.view import Content
from truebleu.text.terminal_layout import format_count

LEGEND = "Below each token: length of the longest matching n-gram that contains it (-: none{0})."
CLIPPING_LEGEND = "; !: clipped n-gram"

MAX_LISTED_NGRAMS = 12


def mark_tokens(system: Content, token_name: str) -> MarkedTokens:
    """Return the tokens of a hypothesis, each marked with the length of its longest match."""
    cover = system["cover"]
    clipped_indices = {i for i, one in enumerate(cover) if one["clipped"]}
    tips = []
    for token_cover in cover:
        longest = token_cover["longest"]
        tip = f"longest match: {format_count(longest, token_name)}" if longest else "no match"
        orders = ", ".join(map(str, token_cover["clipped"]))
        tips.append(f"{tip}; clipped in order {orders}" if orders else tip)
    return MarkedTokens(
        f"Hypothesis, {format_count(len(system['tokens']), token_name)}",
        system["tokens"],
        [f"{one['longest'] or '-'}{'!' if one['clipped'] else ''}" for one in cover],
        [min(one["longest"], 4) for one in cover],
        clipped_indices,
        tips,
        LEGEND.format(CLIPPING_LEGEND if clipped_indices else "") if cover else "",
    )


def build_match_tables(
    system: Content, level: int, has_several_references: bool = False
) -> Iterator[Block]:
    """Yield a table of matches for each order."""
    columns = {"hypothesis": "count", "reference": "reference_count"}
    if has_several_references:
        columns["which"] = "reference"
    columns["clipped"] = "clipped"
    for order in system["orders"]:
        sums = {"count": str(order["total"]), "clipped": str(order["matches"])}
        summary = f"{order['matches']} of {order['total']} match"
        yield from build_ngram_table(order, level, summary, columns, sums)
        if order["missing"] and order["ngrams"]:
            in_references = ", but in every reference" if has_several_references else ""
            missing_ngrams = format_ngrams(order["missing"], MAX_LISTED_NGRAMS)
            yield Paragraph(f"Missing from the hypothesis{in_references}: {missing_ngrams}.")


def build_ngram_table(
    order: Content,
    level: int,
    summary: str,
    columns: Mapping[str, str],
    sums: Mapping[str, str] | None = None,
) -> Iterator[Block]:
    """Yield a heading and a table of the n-grams of an order. `columns` maps headers to keys."""
    kind = name_ngrams(order["order"])
    yield Heading(level, f"{kind.capitalize()}: {summary}")
    if not order["ngrams"]:
        yield Paragraph(f"The hypothesis is too short for {kind}.")
        return
    rows: list[list[str | Cell]] = [
        [
            Cell(" ".join(row["ngram"]), code=True),
            *(_format_cell(row[key]) for key in columns.values()),
        ]
        for row in order["ngrams"]
    ]
    if sums is not None:
        rows.append(["", *(sums.get(key, "") for key in columns.values())])
    fold = f"Show all {len(order['ngrams'])} {kind}"
    header = [name_ngrams(order["order"], 1), *columns]
    yield Table.from_text_rows(header, rows, fold=fold, has_total_row=sums is not None)


def _format_cell(value: Any) -> str:
    if isinstance(value, int):
        return str(value)
    return "" if value is None else format_number(value, 2)


def format_ngrams(entries: Sequence[Content], limit: int, space: str = " ") -> str:
    """Join n-grams and their counts (if above 1) with commas, abbreviating long lists."""
    parts = [
        f"“{space.join(entry['ngram'])}”" + (f" ×{entry['count']}" if entry["count"] > 1 else "")
        for entry in entries[:limit]
    ]
    remaining = len(entries) - limit
    return ", ".join(parts) + (f" and {remaining} more" if remaining > 0 else "")


def format_fraction(system: Content) -> str:
    """Return a phrase that gives the score on the other scale, 0-1 or 0-100."""
    if system.get("scale") == 1:
        return f", or {make_formatter(2)(100 * system['score'])} on a 0-100 scale"
    return f", or {format_number(system['fraction'])} on a 0-1 scale"


def describe_examined_part(system: Content, prefix: str) -> Iterator[Block]:
    """Yield a note if only the first segments of a corpus were examined."""
    if system.get("looked_into", 0) < system.get("segments", 0):
        yield Paragraph(f"{prefix} the first {format_count(system['looked_into'], 'segment')}:")


DIFFERENCE_KINDS = (
    ("clipped", "n-grams that occur more often than in any reference"),
    ("unmatched", "n-grams that are not in any reference"),
    ("missing", "n-grams that every reference contains, but not the hypothesis"),
)


def build_frequent_ngrams(system: Content, level: int) -> Iterator[Block]:
    """Yield lists of the most frequent clipped, unmatched and missing n-grams."""
    first = "the first " if system["looked_into"] < system["segments"] else ""
    examined = f"In {first}{format_count(system['looked_into'], 'segment')}"
    for kind, meaning in DIFFERENCE_KINDS:
        yield Heading(level, f"Most frequent {kind} n-grams")
        yield Paragraph(f"{examined}: {meaning}.")
        for order in system["orders"]:
            name = name_ngrams(order["order"])
            ngram_list = format_ngrams(order[kind], len(order[kind])) or "none"
            yield Paragraph(f"{name.capitalize()}: {ngram_list}.")
