"""The parts of a GLEU score: matches over the larger of the two numbers of n-grams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from truebleu.explanation import naive_bleu, ngram_layout
from truebleu.explanation.naive_bleu import Case, Tokens, tokens
from truebleu.rendering.elements import Block, Heading, Paragraph, Table
from truebleu.rendering.number_format import format_number
from truebleu.rendering.view import Content
from truebleu.text.segments import iter_segments

if TYPE_CHECKING:
    from truebleu.metrics.gleu import GLEU
    from truebleu.metrics.python_metric import PythonScore
    from truebleu.rendering.equations import Equation

TOKEN = "token"
COUNTS = ("matches", "total", "reference_total")


def of_pair(case: Case[GLEU, PythonScore]) -> dict[str, Any]:
    """The explanation of one hypothesis and the reference that it is scored against."""
    mine, *others = (tokens(case.metric, text) for text in case.texts)
    chosen, orders = _best(case.metric, mine, others)
    number, _ = case.references[chosen]
    system = {**_system(case.score, orders), "reference": number}
    naive_bleu.add_to_segment(system, mine, [others[chosen]], [number])
    return system


def of_corpus(case: Case[GLEU, PythonScore]) -> dict[str, Any]:
    """The explanation of a corpus; the counts of each order are of the first segments."""
    metric = case.metric
    split = naive_bleu.splitter(metric.tokenize, metric.lowercase)
    orders = range(metric.min_order, metric.max_order + 1)
    empty = [{"order": order, **dict.fromkeys(COUNTS, 0)} for order in orders]
    system = _system(case.score, empty)
    some = islice(iter_segments(case.hypothesis, case.references), naive_bleu.LOOKED_INTO)
    for hypothesis, others in some:
        theirs = [split(text) for _, text in naive_bleu.present(others)]
        _, counted = _best(metric, split(hypothesis), theirs)
        for order, more in zip(system["orders"], counted, strict=True):
            for key in COUNTS:
                order[key] += more[key]
    naive_bleu.add_to_corpus(system, case)
    del system["reference_choice"]  # GLEU's is by the score, not by the length
    return system


def _best(
    metric: GLEU, mine: Tokens, references: Sequence[Tokens]
) -> tuple[int, list[dict[str, Any]]]:
    """The number of the reference with the highest score, from 0, and its counts."""
    best, ratio, kept = 0, -1.0, []
    for i, theirs in enumerate(references):
        orders = [
            {"order": n, **dict(zip(COUNTS, naive_bleu.overlap(mine, theirs, n), strict=True))}
            for n in range(metric.min_order, metric.max_order + 1)
        ]
        matches, *totals = (sum(order[key] for order in orders) for key in COUNTS)
        own = matches / max(totals) if any(totals) else -0.5
        if own > ratio:
            best, ratio, kept = i, own, orders
    return best, kept


def _system(score: PythonScore, orders: list[dict[str, Any]]) -> dict[str, Any]:
    return {"fraction": score.fraction, **score.details(), "orders": orders}


def parts(system: Content) -> dict[str, float]:
    """The numbers by which systems are compared, beside the score."""
    return {"matches": system["matches"], "n-grams": system["totals"]}


# ---- blocks ----


def formula(system: Content, parameters: Content) -> list[Equation]:  # noqa: ARG001
    """Matches over the larger number of n-grams."""
    if not system["totals"]:
        return [("GLEU", "0, because there are no n-grams")]
    return [
        ("GLEU", "min(P, R)"),
        ("", ("frac", "matches", "the larger number of n-grams")),
        ("", ("frac", str(system["matches"]), str(system["totals"]))),
        ("", format_number(system["fraction"])),
    ]


def blocks(content: Content, system: Content, level: int) -> Iterator[Block]:  # noqa: ARG001
    """One system: its n-grams, and the counts of each order."""
    if "tokens" in system:
        yield from ngram_layout.tables(system, level)
    yield Heading(level, "Matches of all orders")
    orders = system["orders"]
    rows = [[str(order["order"]), *(f"{order[key]:,}" for key in COUNTS)] for order in orders]
    sums = [sum(order[key] for order in orders) for key in COUNTS]
    rows.append(["together", *(f"{one:,}" for one in sums)])
    header = ("order", "matches", "n-grams of the hypothesis", "n-grams of the reference")
    yield Table.from_text_rows(header, rows, has_total_row=True)
    if "tokens" not in system:
        yield Paragraph(
            "A corpus adds up the larger number of each segment, which may be of the hypothesis in "
            "one and of the reference in another."
        )
        yield from ngram_layout.most_frequent(system, level)


def reading(content: Content, system: Content) -> str:  # noqa: ARG001
    """The score between 0 and 1, and its meaning."""
    what = "the smaller of precision and recall over n-grams of all orders together"
    return f"{ngram_layout.share(system)}: {what}."
