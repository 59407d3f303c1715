"""The parts of an F-score: of n-grams, or of the longest common subsequence, as in ROUGE-L."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from truebleu.explanation import naive_bleu, ngram_layout
from truebleu.explanation.naive_bleu import Case, Tokens
from truebleu.rendering.elements import Block, Heading, Paragraph, Table
from truebleu.rendering.number_format import format_number, name_ngrams
from truebleu.rendering.view import Content

if TYPE_CHECKING:
    from truebleu.rendering.equations import Equation

TOKEN = "token"
CHOSEN = "Of the references, number {} has the best score."
COUNTS = ("matches", "total", "reference_total")


def tokens(metric: Any, text: Any) -> list[str]:
    """The tokens that are counted, stems if the metric takes them."""
    if metric.NAME == "ROUGE":
        found: list[str] = metric.tokenize_text(text)
        return found
    return naive_bleu.tokens(metric, text)


def of_pair(case: Case[Any, Any]) -> dict[str, Any]:
    """The explanation of one hypothesis and the reference that it scores best against."""
    metric, (text, *others) = case.metric, case.texts
    scores = [metric.sentence(text, [other]).value for other in others]
    chosen = scores.index(max(scores))
    number, _ = case.references[chosen]
    split = partial(tokens, metric)
    mine, theirs = split(text), split(others[chosen])
    orders = [
        {"order": n, **dict(zip(COUNTS, naive_bleu.overlap(mine, theirs, n), strict=True))}
        for n in _orders(metric)
    ]
    system = {**_system(case), "orders": orders, "reference": number}
    if orders:
        naive_bleu.add_to_segment(system, mine, [theirs], [number])
        return system
    common = None if "\n" in (text + others[chosen]).strip("\n") else _common(mine, theirs)
    counts = (None if common is None else len(common), len(mine), len(theirs))
    return {
        **system,
        **dict(zip(COUNTS, counts, strict=True)),
        "tokens": mine,
        "common": common,
    }


def of_corpus(case: Case[Any, Any]) -> dict[str, Any]:
    """The explanation of a corpus."""
    system = _system(case)
    if case.metric.NAME == "ROUGE":
        return {**system, "orders": []}
    score = case.score
    columns = (score.matches, score.hypothesis_totals, score.reference_totals)
    return {
        **system,
        "orders": [
            {"order": order, **dict(zip(COUNTS, counts, strict=True))}
            for order, *counts in zip(_orders(case.metric), *columns, strict=True)
        ],
    }


def _orders(metric: Any) -> Sequence[int]:
    """The lengths of the n-grams; none for a subsequence."""
    if metric.NAME != "ROUGE":
        orders: Sequence[int] = metric.orders
        return orders
    return [int(metric.type)] if metric.type.isdecimal() else []


def _system(case: Case[Any, Any]) -> dict[str, Any]:
    details = case.score.details()
    return {
        "measure": case.score.name,
        "fraction": case.score.fraction,
        "precision": details["precision"],
        "recall": details["recall"],
        "beta": case.metric.parameters.get("beta", 1),
    }


def _common(mine: Tokens, theirs: Tokens) -> list[str]:
    """One of the longest sequences of tokens that both have in this order."""
    lengths = [[0] * (len(theirs) + 1) for _ in range(len(mine) + 1)]
    for i, token in enumerate(mine, 1):
        for j, other in enumerate(theirs, 1):
            best = max(lengths[i - 1][j], lengths[i][j - 1])
            lengths[i][j] = lengths[i - 1][j - 1] + 1 if token == other else best
    i, j, found = len(mine), len(theirs), []
    while i and j:
        if mine[i - 1] == theirs[j - 1]:
            i, j = i - 1, j - 1
            found.append(mine[i])
        elif lengths[i - 1][j] >= lengths[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return found[::-1]


def parts(system: Content) -> dict[str, float]:
    """The numbers by which systems are compared, beside the score."""
    return {name: system[name] for name in ("precision", "recall")}


# ---- blocks ----


def formula(system: Content, parameters: Content) -> list[Equation]:  # noqa: ARG001
    """Precision and recall of the counts, and the F-score of both; of ROUGE's corpus the mean."""
    name, score = system["measure"], format_number(system["score"], 2)
    if not system["orders"] and "total" not in system:
        return [(name, "the mean of the segments' F-scores"), ("", score)]
    lines: list[Equation] = []
    counts = [_sum(system, key) for key in COUNTS]
    if None not in counts:
        matches, total, reference_total = map(str, counts)
        for part, whole in (("precision", total), ("recall", reference_total)):
            known = f" = {format_number(system[part], 2)} %"
            lines.append((part[0].upper(), ("row", ("frac", matches, whole), known)))
        if not counts[1] or not counts[2]:
            return [(name, f"{score}, because there is nothing to count in one of the two")]
    square = system["beta"] ** 2
    above, below = "2 · P · R", "P + R"
    if square != 1:
        above, below = f"(1 + {square:g}) · P · R", f"{square:g} · P + R"
    return [*lines, (name, ("frac", above, below)), ("", score)]


def _sum(system: Content, key: str) -> Any:
    return sum(order[key] for order in system["orders"]) if system["orders"] else system[key]


def blocks(content: Content, system: Content, level: int) -> Iterator[Block]:
    """One system: its n-grams, or what both texts have in order; and the counts."""
    if "cover" in system:
        yield from ngram_layout.tables(system, level)
    if system.get("common") is not None:
        found = system["common"]
        yield Heading(level, f"The longest common subsequence: {len(found)}")
        yield Paragraph(f"In both texts, in this order: {' '.join(found) or 'nothing'}.")
    rows = [
        [name_ngrams(order["order"]), *(f"{order[key]:,}" for key in COUNTS)]
        for order in system["orders"]
    ]
    if "total" in system:
        known = ("" if system[key] is None else f"{system[key]:,}" for key in COUNTS)
        rows.append(["subsequence", *known])
    if rows:
        yield Heading(level, "Counts")
        yield Table.from_text_rows(("", "matches", "of the hypothesis", "of the reference"), rows)
    elif content["kind"] == "corpus":
        both = (f"{name} {format_number(system[name], 2)} %" for name in ("precision", "recall"))
        yield Paragraph(f"The means of the segments: {', '.join(both)}.")


def reading(content: Content, system: Content) -> str:  # noqa: ARG001
    """The score between 0 and 1, and its meaning."""
    return f"{ngram_layout.share(system)}: the harmonic mean of precision and recall."
