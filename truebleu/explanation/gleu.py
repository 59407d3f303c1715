"""Explanation of GLEU: matches divided by the larger number of n-grams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from truebleu.explanation import naive_bleu, ngram_layout
from truebleu.explanation.naive_bleu import COUNT_KEYS, ExplanationCase, Tokens, split_text
from truebleu.metrics.gleu import GLEU
from truebleu.metrics.python_metric import PythonScore
from truebleu.rendering.elements import Block, Heading, Paragraph, Table
from truebleu.rendering.equations import Equation
from truebleu.rendering.number_format import format_number
from truebleu.rendering.view import Content
from truebleu.text.segments import iter_segments


def explain_segment(case: ExplanationCase[GLEU, PythonScore]) -> dict[str, Any]:
    """Return the explanation of a segment with the reference that gives the best score."""
    hypothesis_tokens, *reference_tokens = (split_text(case.metric, text) for text in case.texts)
    best_index, orders = _find_best_reference(case.metric, hypothesis_tokens, reference_tokens)
    number, _ = case.references[best_index]
    system = {**_describe_system(case.score, orders), "reference": number}
    naive_bleu.add_ngrams_to_segment(
        system, hypothesis_tokens, [reference_tokens[best_index]], [number]
    )
    return system


def explain_corpus(case: ExplanationCase[GLEU, PythonScore]) -> dict[str, Any]:
    """Return the explanation of a corpus, with n-gram counts from the first segments."""
    metric = case.metric
    split = naive_bleu.make_splitter(metric.tokenize, metric.lowercase)
    orders = range(metric.min_order, metric.max_order + 1)
    empty = [{"order": order, **dict.fromkeys(COUNT_KEYS, 0)} for order in orders]
    system = _describe_system(case.score, empty)
    first_segments = islice(
        iter_segments(case.hypothesis, case.references), naive_bleu.MAX_EXAMINED_SEGMENTS
    )
    for hypothesis, segment_references in first_segments:
        reference_tokens = [
            split(text) for _, text in naive_bleu.enumerate_references(segment_references)
        ]
        _, segment_orders = _find_best_reference(metric, split(hypothesis), reference_tokens)
        for order, segment_order in zip(system["orders"], segment_orders, strict=True):
            for key in COUNT_KEYS:
                order[key] += segment_order[key]
    naive_bleu.add_ngrams_to_corpus(system, case)
    del system["reference_choice"]  # GLEU chooses references by score, not by length.
    return system


def _find_best_reference(
    metric: GLEU, hypothesis: Tokens, references: Sequence[Tokens]
) -> tuple[int, list[dict[str, Any]]]:
    """Return the index and the counts of the reference with the highest score."""
    best_index, best_ratio, best_orders = 0, -1.0, []
    for i, reference in enumerate(references):
        orders = [
            {"order": n, **naive_bleu.count_overlap(hypothesis, reference, n)}
            for n in range(metric.min_order, metric.max_order + 1)
        ]
        matches, *totals = (sum(order[key] for order in orders) for key in COUNT_KEYS)
        reference_ratio = matches / max(totals) if any(totals) else -0.5
        if reference_ratio > best_ratio:
            best_index, best_ratio, best_orders = i, reference_ratio, orders
    return best_index, best_orders


def _describe_system(score: PythonScore, orders: list[dict[str, Any]]) -> dict[str, Any]:
    return {"fraction": score.fraction, **score.details(), "orders": orders}


def get_components(system: Content) -> dict[str, float]:
    """Return the score components that a comparison of two systems shows."""
    return {"matches": system["matches"], "n-grams": system["totals"]}


# ---- layout ----


def build_formula(system: Content, parameters: Content) -> list[Equation]:  # noqa: ARG001
    """Return the formula: matches divided by the larger number of n-grams."""
    if not system["totals"]:
        return [("GLEU", "0, because there are no n-grams")]
    return [
        ("GLEU", "min(P, R)"),
        ("", ("frac", "matches", "larger number of n-grams")),
        ("", ("frac", str(system["matches"]), str(system["totals"]))),
        ("", format_number(system["fraction"])),
    ]


def build_layout(content: Content, system: Content, level: int) -> Iterator[Block]:  # noqa: ARG001
    """Yield the n-grams and the counts of each order."""
    if "tokens" in system:
        yield from ngram_layout.build_match_tables(system, level)
    yield Heading(level, "Matches of all orders")
    orders = system["orders"]
    rows = [[str(order["order"]), *(f"{order[key]:,}" for key in COUNT_KEYS)] for order in orders]
    sums = [sum(order[key] for order in orders) for key in COUNT_KEYS]
    rows.append(["total", *(f"{one:,}" for one in sums)])
    header = ("order", "matches", "hypothesis n-grams", "reference n-grams")
    yield Table.from_text_rows(header, rows, has_total_row=True)
    if "tokens" not in system:
        yield Paragraph(
            "For the corpus score, the larger number of n-grams is chosen per segment, and these "
            "numbers are summed."
        )
        yield from ngram_layout.build_frequent_ngrams(system, level)


def describe_score(content: Content, system: Content) -> str:  # noqa: ARG001
    """Return the score on a 0-1 scale, with its definition."""
    definition = "the minimum of precision and recall over n-grams of all orders"
    return f"{ngram_layout.format_fraction(system)}: {definition}."
