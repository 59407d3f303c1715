"""The parts of a NIST score: the information of matched n-grams, and the penalty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import log
from typing import TYPE_CHECKING, Any

from truebleu.explanation import naive_bleu, ngram_layout
from truebleu.explanation.naive_bleu import Case, Ngram, Tokens, tokens
from truebleu.rendering.elements import Block, Heading, Paragraph, Table
from truebleu.rendering.equations import Equation, join_nodes
from truebleu.rendering.number_format import format_compact, format_number
from truebleu.rendering.view import Content
from truebleu.text.terminal_layout import format_count

if TYPE_CHECKING:
    from truebleu.metrics.nist import NIST
    from truebleu.metrics.python_metric import PythonScore

TOKEN = "token"


def information(references: Sequence[Tokens], max_order: int, *, zero: bool) -> dict[Ngram, float]:
    """Information of n-grams, in bits: log₂ of the count of the history over the own count.

    zero: whether an n-gram behind the lone token 0 has no history, as in mteval.
    """
    counted: Counter[Ngram] = Counter()
    for reference in references:
        for order in range(1, max_order + 1):
            counted.update(naive_bleu.ngrams(reference, order))
    words = sum(map(len, references))
    lone = {("0",), ("",)} if zero else set()
    return {
        ngram: log((words if history in lone or not history else counted[history]) / own) / log(2)
        for ngram, own in counted.items()
        for history in [ngram[:-1]]
    }


def of_pair(case: Case[NIST, PythonScore]) -> dict[str, Any]:
    """The explanation of one hypothesis and its references."""
    metric = case.metric
    mine, *others = (tokens(metric, text) for text in case.texts)
    bits = information(others, metric.max_order, zero=metric.variant == "mteval")
    system = of_corpus(case)
    tables = [naive_bleu.clipped(mine, others, order["order"]) for order in system["orders"]]
    for order, table in zip(system["orders"], tables, strict=True):
        order["ngrams"] = [
            {
                "ngram": list(row.ngram),
                "count": row.times,
                "clipped": row.clipped,
                "information": bits.get(row.ngram),
            }
            for row in table
        ]
    return {**system, "tokens": mine, "cover": naive_bleu.cover(mine, tables)}


def of_corpus(case: Case[NIST, PythonScore]) -> dict[str, Any]:
    """The explanation of a corpus."""
    known = case.score.details()
    totals = case.score.row[2 + 2 * case.metric.max_order :]
    return {
        "orders": [
            {"order": order, "information": part * max(1, total), "total": total, "part": part}
            for order, (part, total) in enumerate(zip(known["information"], totals, strict=True), 1)
        ],
        "information": sum(known["information"]),
        **{key: known[key] for key in ("penalty", "hypothesis_length", "reference_length")},
        "fraction": case.score.fraction,
    }


def parts(system: Content) -> dict[str, float]:
    """The numbers by which systems are compared, beside the score."""
    return {name: system[name] for name in ("information", "penalty")}


# ---- blocks ----


def formula(system: Content, parameters: Content) -> list[Equation]:  # noqa: ARG001
    """The information per n-gram of each order, added up, and the penalty."""
    c, r = format_compact(system["hypothesis_length"]), format_compact(system["reference_length"])
    penalty = format_number(system["penalty"])
    if system["penalty"] == 1:
        lines: list[Equation] = [("penalty", f"1, because {c} ≥ {r}")]
    elif not system["penalty"]:
        lines = [("penalty", "0, because there are no tokens")]
    else:
        # β is such that two thirds of the length give 1/2.
        beta = format_number(log(0.5) / log(1.5) ** 2)
        squared = ("row", f"{beta} · ", ("paren", ("ln", ("frac", c, r))), ("sup", "", "2"))
        lines = [("penalty", ("row", ("exp", squared), f" = {penalty}"))]
    terms = [
        ("frac", format_number(order["information"], 2), str(max(1, order["total"])))
        for order in system["orders"]
    ]
    return [
        *lines,
        ("NIST", ("row", "penalty · ", ("sum", "n"), ("frac", "information", "n-grams"))),
        ("", ("row", f"{penalty} · ", ("paren", join_nodes(terms, " + ")))),
        ("", f"{penalty} · {format_number(system['information'])}"),
        ("", format_number(system["fraction"])),
    ]


def blocks(content: Content, system: Content, level: int) -> Iterator[Block]:
    """One system: what matched n-grams tell, and the length."""
    if "tokens" in system:
        columns = {"hypothesis": "count", "clipped": "clipped", "bits": "information"}
        for order in system["orders"]:
            told = f"{order['information']:.2f} bits"
            yield from ngram_layout.table(order, level, told, columns)
    yield Heading(level, "Information of matched n-grams")
    rows = [
        [
            str(order["order"]),
            format_number(order["information"], 2),
            f"{order['total']:,}",
            format_number(order["part"]),
        ]
        for order in system["orders"]
    ]
    yield Table.from_text_rows(["order", "bits", "n-grams", "bits per n-gram"], rows)
    yield Paragraph(
        "The information of an n-gram is log₂ of how often its first words occur in the references "
        "over how often all of them do: rare words, and words that are hard to foresee, count more."
    )
    yield Heading(level, "Length")
    mean = "on average " if len(content.get("references", ())) != 1 else ""
    yield Paragraph(
        f"The hypothesis has {format_count(system['hypothesis_length'], TOKEN)}, the "
        f"reference {mean}"
        f"{format_compact(system['reference_length'])}."
    )


def reading(content: Content, system: Content) -> str:  # noqa: ARG001
    """The meaning of such a score."""
    return (
        ". There is no upper bound, and longer texts get higher scores: what an n-gram tells is "
        "counted in the references of the text itself."
    )
