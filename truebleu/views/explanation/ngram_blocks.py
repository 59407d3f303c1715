"""N-grams as blocks: tokens by their longest match, tables of n-grams, the most frequent ones."""

from __future__ import annotations

from truebleu.text.layout import count
from truebleu.views.rendering.blocks import Cell, Column, Heading, Paragraph, Table, Words
from truebleu.views.rendering.numbers import ngrams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from truebleu.views.rendering.blocks import Block

    Content = Mapping[str, Any]

LEGEND = (
    "Below each token: the length of the longest matching n-gram that it is in (- for none{0})."
)
CUT = "; ! marks an n-gram that occurs more often than it may count"

# So many n-grams are listed in a sentence.
MOST = 12


def words(system: Content, token: str = "token", what: str = "Hypothesis") -> Words:
    """The tokens of a hypothesis, each with the length of the longest match that it is in."""
    cover = system["cover"]
    cut = [i for i, one in enumerate(cover) if one["clipped"]]
    tips = []
    for one in cover:
        longest = one["longest"]
        tip = f"longest match: {count(longest, token)}" if longest else "no match"
        orders = ", ".join(map(str, one["clipped"]))
        tips.append(f"{tip}; clipped in order {orders}" if orders else tip)
    return Words(
        f"{what}, {count(len(system['tokens']), token)}",
        system["tokens"],
        [f"{one['longest'] or '-'}{'!' if one['clipped'] else ''}" for one in cover],
        [min(one["longest"], 4) for one in cover],
        cut,
        tips,
        LEGEND.format(CUT if cut else ""),
    )


def tables(system: Content, level: int, *, several: bool) -> Iterator[Block]:
    """A heading and a table of n-grams for each order; `several` references may have them."""
    for order in system["orders"]:
        yield from _table(order, level, several=several)


def _table(order: Content, level: int, *, several: bool) -> Iterator[Block]:
    kind = ngrams(order["order"])
    told = f"{order['matches']} of {order['total']} match"
    yield Heading(level, f"{kind[0].upper()}{kind[1:]}: {told}")
    if not order["ngrams"]:
        yield Paragraph(f"The hypothesis is too short to have {kind}.")
        return
    header = [ngrams(order["order"], 1), "hypothesis", "reference", "clipped"]
    if several:
        header.insert(3, "which")
    rows = []
    for row in order["ngrams"]:
        cells = [Cell(" ".join(row["ngram"]), code=True), Cell(str(row["count"]))]
        cells.append(Cell(str(row["reference_count"])))
        if several:
            cells.append(Cell("" if row["reference"] is None else str(row["reference"])))
        rows.append([*cells, Cell(str(row["clipped"]))])
    sums = ["", str(order["total"]), "", *([""] if several else []), str(order["matches"])]
    columns = [Column(name, "more" if i else "", left=not i) for i, name in enumerate(header)]
    fold = f"Show all {len(rows)} {kind}"
    yield Table(columns, [*rows, list(map(Cell, sums))], fold=fold, sums=True)
    if order["missing"]:
        where = ", and in every reference" if several else ""
        yield Paragraph(f"Missing from the hypothesis{where}: {listed(order['missing'], MOST)}.")


def listed(entries: Sequence[Content], most: int) -> str:
    """N-grams in a row, with how often if more than once."""
    parts = [
        f"“{' '.join(entry['ngram'])}”" + (f" ×{entry['count']}" if entry["count"] > 1 else "")
        for entry in entries[:most]
    ]
    more = len(entries) - most
    return ", ".join(parts) + (f" and {more} more" if more > 0 else "")


KINDS = (
    ("clipped", "occur more often than in a reference"),
    ("unmatched", "are in no reference"),
    ("missing", "are missing from the hypothesis"),
)


def most_frequent(system: Content, level: int) -> Iterator[Block]:
    """The n-grams of a corpus that were most often clipped, unmatched and missing."""
    looked = f"Of {system['looked_into']:,} segments"
    if system["looked_into"] < system["segments"]:
        looked = f"Of the first {system['looked_into']:,} segments"
    for kind, meaning in KINDS:
        yield Heading(level, f"Most frequent {kind} n-grams")
        yield Paragraph(f"{looked}: those that {meaning}.")
        for order in system["orders"]:
            name = ngrams(order["order"])
            told = listed(order[kind], len(order[kind])) or "none"
            yield Paragraph(f"{name[0].upper()}{name[1:]}: {told}.")
