"""What is explained of a GLEU score: matches over the larger of the two numbers of n-grams."""

from __future__ import annotations

from truebleu.text.segments import pairs
from truebleu.views.explanation import counting, ngram_blocks
from truebleu.views.explanation import ngrams as found
from truebleu.views.rendering.blocks import Cell, Column, Equations, Heading, Paragraph, Table
from truebleu.views.rendering.equations import as_text
from truebleu.views.rendering.numbers import number, signed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from truebleu.metrics.gleu import GLEU
    from truebleu.metrics.python_metric import PythonScore
    from truebleu.views.explanation.counting import Tokens
    from truebleu.views.rendering.blocks import Block
    from truebleu.views.rendering.equations import Equation
    from truebleu.views.rendering.numbers import Write

    Content = Mapping[str, Any]

TOKEN = "token"


def tokens(metric: GLEU, text: Any) -> list[str]:
    """The tokens that are counted."""
    return counting.splitter(metric.tokenize, metric.lowercase)(text)


def of_pair(
    metric: GLEU, score: PythonScore, hypothesis: Any, references: Sequence[Any], *, recall: bool
) -> dict[str, Any]:
    """What there is to say of one hypothesis and the reference that it is scored against."""
    del recall  # it is a part of GLEU
    given = [(number, text) for number, text in enumerate(references, 1) if text is not None]
    mine = tokens(metric, hypothesis)
    chosen, orders = _best(metric, mine, [tokens(metric, text) for _, text in given])
    number, text = given[chosen]
    system = {**_system(score), "orders": orders, "reference": number}
    found.add_to_segment(system, mine, [tokens(metric, text)], [number])
    return system


def of_corpus(
    metric: GLEU, score: PythonScore, hypotheses: Any, references: Any, *, recall: bool
) -> dict[str, Any]:
    """What there is to say of a corpus; the counts of each order are of the first segments."""
    del recall
    split = counting.splitter(metric.tokenize, metric.lowercase)
    orders = range(metric.min_order, metric.max_order + 1)
    system = {**_system(score), "orders": [_order(n, 0, 0, 0) for n in orders]}
    for i, (hypothesis, others) in enumerate(pairs(hypotheses, references)):
        if i == found.LOOKED_INTO:
            break
        theirs = [split(text) for text in others if text is not None]
        _, counted = _best(metric, split(hypothesis), theirs)
        for order, more in zip(system["orders"], counted, strict=True):
            for key in ("matches", "total", "reference_total"):
                order[key] += more[key]
    found.Digest(split, orders).read(hypotheses, references).add_to(system)
    del system["reference_choice"]  # GLEU's is by the score, not by the length
    return system


def _best(
    metric: GLEU, mine: Tokens, references: Sequence[Tokens]
) -> tuple[int, list[dict[str, Any]]]:
    """The number of the reference with the highest score, from 0, and its counts."""
    best, ratio, kept = 0, -1.0, []
    for i, theirs in enumerate(references):
        orders = [
            _order(
                n,
                counting.matches_of(mine, theirs, n),
                max(0, len(mine) - n + 1),
                max(0, len(theirs) - n + 1),
            )
            for n in range(metric.min_order, metric.max_order + 1)
        ]
        matches, total, others = (
            sum(order[key] for order in orders) for key in ("matches", "total", "reference_total")
        )
        larger = max(total, others)
        own = matches / larger if larger else -0.5
        if own > ratio:
            best, ratio, kept = i, own, orders
    return best, kept


def _order(order: int, matches: int, total: int, reference_total: int) -> dict[str, Any]:
    return {
        "order": order,
        "matches": matches,
        "total": total,
        "reference_total": reference_total,
    }


def _system(score: PythonScore) -> dict[str, Any]:
    known = score.details()
    system = {"fraction": score.fraction, "matches": known["matches"], "totals": known["totals"]}
    system["formula"] = as_text(_formula(system))
    return system


def difference(
    metric: GLEU,  # noqa: ARG001
    first: dict[str, Any],
    second: dict[str, Any],
    *,
    corpus: bool,  # noqa: ARG001
) -> dict[str, Any]:
    """The differences of matches and n-grams."""
    return {name: second[name] - first[name] for name in ("matches", "totals")}


# ---- blocks ----


def _formula(system: Content) -> list[Equation]:
    if not system["totals"]:
        return [("GLEU", "0, because there are no n-grams")]
    return [
        ("GLEU", "min(P, R)"),
        ("", ("frac", "matches", "the larger number of n-grams")),
        ("", ("frac", str(system["matches"]), str(system["totals"]))),
        ("", number(system["fraction"])),
    ]


def blocks(content: Content, system: Content, level: int) -> Iterator[Block]:
    """One system: its words, the counts of each order, and the formula."""
    if "tokens" in system:
        if len(content["references"]) > 1:
            yield Paragraph(
                f"It is scored against reference {system['reference']}, which gives the best score."
            )
        yield ngram_blocks.words(system)
        yield from ngram_blocks.tables(system, level, several=False)
    yield Heading(level, "Matches of all orders")
    keys = ("matches", "total", "reference_total")
    rows = [
        [str(order["order"]), *(f"{order[key]:,}" for key in keys)] for order in system["orders"]
    ]
    sums = [sum(order[key] for order in system["orders"]) for key in keys]
    rows.append(["together", *(f"{one:,}" for one in sums)])
    header = ("order", "matches", "n-grams of the hypothesis", "n-grams of the reference")
    columns = [Column(name, "more" if i else "", left=not i) for i, name in enumerate(header)]
    yield Table(columns, [list(map(Cell, row)) for row in rows], sums=True)
    if "tokens" not in system:
        yield Paragraph(
            "A corpus adds up the larger number of each segment, which may be of the hypothesis in "
            "one and of the reference in another."
        )
        yield from ngram_blocks.most_frequent(system, level)
    yield Heading(level, "The formula")
    yield Equations(_formula(system))


def compared(content: Content, write: Write) -> Iterator[Block]:
    """Two systems beside each other."""
    rows = [
        [system["name"], write(system["score"]), f"{system['matches']:,}", f"{system['totals']:,}"]
        for system in content["systems"]
    ]
    one = content["comparison"]
    rows.append(
        [
            "difference",
            signed(write)(one["difference"]),
            f"{one['matches']:+,}",
            f"{one['totals']:+,}",
        ]
    )
    made = Table.of(["system", "GLEU", "matches", "n-grams"], rows)
    made.sums = True
    yield made


def reading(content: Content, write: Write) -> Iterator[Block]:
    """What the score is between 0 and 1."""
    for system in content["systems"]:
        name = f"{system['name']}: " if len(content["systems"]) > 1 else ""
        yield Paragraph(
            f"{name}GLEU = {write(system['score'])}, or {number(system['fraction'])} between 0 and "
            "1: the smaller of precision and recall over n-grams of all orders together."
        )
