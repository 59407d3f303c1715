"""N-grams as blocks: tokens by their longest match, tables of n-grams, the most frequent ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from truebleu.rendering.elements import Block, Cell, Heading, MarkedTokens, Paragraph, Table
from truebleu.rendering.number_format import format_number, name_ngrams
from truebleu.rendering.view import Content
from truebleu.text.terminal_layout import format_count

LEGEND = (
    "Below each token: the length of the longest matching n-gram that it is in (- for none{0})."
)
CUT = "; ! marks an n-gram that occurs more often than it may count"

# So many n-grams are listed in a sentence.
MOST = 12


def words(system: Content, token: str) -> MarkedTokens:
    """The tokens of a hypothesis, each with the length of the longest match that it is in."""
    cover = system["cover"]
    cut = {i for i, one in enumerate(cover) if one["clipped"]}
    tips = []
    for one in cover:
        longest = one["longest"]
        tip = f"longest match: {format_count(longest, token)}" if longest else "no match"
        orders = ", ".join(map(str, one["clipped"]))
        tips.append(f"{tip}; clipped in order {orders}" if orders else tip)
    return MarkedTokens(
        f"Hypothesis, {format_count(len(system['tokens']), token)}",
        system["tokens"],
        [f"{one['longest'] or '-'}{'!' if one['clipped'] else ''}" for one in cover],
        [min(one["longest"], 4) for one in cover],
        cut,
        tips,
        LEGEND.format(CUT if cut else "") if cover else "",
    )


def tables(system: Content, level: int, *, several: bool = False) -> Iterator[Block]:
    """The matches of each order; `several` references may have them."""
    columns = {"hypothesis": "count", "reference": "reference_count"}
    if several:
        columns["which"] = "reference"
    columns["clipped"] = "clipped"
    for order in system["orders"]:
        sums = {"count": str(order["total"]), "clipped": str(order["matches"])}
        told = f"{order['matches']} of {order['total']} match"
        yield from table(order, level, told, columns, sums)
        if order["missing"] and order["ngrams"]:
            where = ", and in every reference" if several else ""
            missing = listed(order["missing"], MOST)
            yield Paragraph(f"Missing from the hypothesis{where}: {missing}.")


def table(
    order: Content,
    level: int,
    told: str,
    columns: Mapping[str, str],
    sums: Mapping[str, str] | None = None,
) -> Iterator[Block]:
    """A heading and a table of the n-grams of an order; `columns` names what is known of each."""
    kind = name_ngrams(order["order"])
    yield Heading(level, f"{kind.capitalize()}: {told}")
    if not order["ngrams"]:
        yield Paragraph(f"The hypothesis is too short to have {kind}.")
        return
    rows: list[list[str | Cell]] = [
        [Cell(" ".join(row["ngram"]), code=True), *(_known(row[key]) for key in columns.values())]
        for row in order["ngrams"]
    ]
    if sums is not None:
        rows.append(["", *(sums.get(key, "") for key in columns.values())])
    fold = f"Show all {len(order['ngrams'])} {kind}"
    header = [name_ngrams(order["order"], 1), *columns]
    yield Table.from_text_rows(header, rows, fold=fold, has_total_row=sums is not None)


def _known(value: Any) -> str:
    if isinstance(value, int):
        return str(value)
    return "" if value is None else format_number(value, 2)


def listed(entries: Sequence[Content], most: int, space: str = " ") -> str:
    """N-grams in a row, with how often if more than once."""
    parts = [
        f"“{space.join(entry['ngram'])}”" + (f" ×{entry['count']}" if entry["count"] > 1 else "")
        for entry in entries[:most]
    ]
    more = len(entries) - most
    return ", ".join(parts) + (f" and {more} more" if more > 0 else "")


def share(system: Content) -> str:
    """A score as papers have it, behind the one in per cent."""
    return f", or {format_number(system['fraction'])} between 0 and 1"


def first_segments(system: Content, what: str) -> Iterator[Block]:
    """Says that not all segments of a corpus were looked into, if so it is."""
    if system.get("looked_into", 0) < system.get("segments", 0):
        yield Paragraph(f"{what} the first {system['looked_into']:,} segments:")


KINDS = (
    ("clipped", "occur more often than in a reference"),
    ("unmatched", "are in no reference"),
    ("missing", "are missing from the hypothesis"),
)


def most_frequent(system: Content, level: int) -> Iterator[Block]:
    """The n-grams of a corpus that were most often clipped, unmatched and missing."""
    first = "the first " if system["looked_into"] < system["segments"] else ""
    looked = f"Of {first}{system['looked_into']:,} segments"
    for kind, meaning in KINDS:
        yield Heading(level, f"Most frequent {kind} n-grams")
        yield Paragraph(f"{looked}: those that {meaning}.")
        for order in system["orders"]:
            name = name_ngrams(order["order"])
            told = listed(order[kind], len(order[kind])) or "none"
            yield Paragraph(f"{name.capitalize()}: {told}.")
