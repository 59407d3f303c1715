"""Explanation of NIST: the information of matched n-grams, and the length penalty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import log
from typing import Any

from truebleu.explanation import naive_bleu, ngram_layout
from truebleu.explanation.naive_bleu import ExplanationCase, Ngram, Tokens, split_text
from truebleu.metrics.nist import NIST
from truebleu.metrics.python_metric import PythonScore
from truebleu.rendering.elements import Block, Heading, Paragraph, Table
from truebleu.rendering.equations import Equation, add_nodes
from truebleu.rendering.number_format import format_compact, format_number
from truebleu.rendering.view import Content
from truebleu.text.terminal_layout import format_count
from truebleu.text.tokenizers import count_ngrams


def compute_information(
    references: Sequence[Tokens], max_order: int, *, zero_is_false: bool
) -> dict[Ngram, float]:
    """Return the information of n-grams in bits: log₂(count of the history / count of the n-gram).

    zero_is_false: whether to treat the token 0 as a missing history, as mteval does.
    """
    ngram_counts: Counter[Ngram] = Counter()
    for reference in references:
        for order in range(1, max_order + 1):
            ngram_counts.update(count_ngrams(reference, order))
    token_count = sum(map(len, references))
    missing_histories: set[Ngram] = {(), ("0",), ("",)} if zero_is_false else {()}
    information = {}
    for ngram, count in ngram_counts.items():
        history = ngram[:-1]
        history_count = token_count if history in missing_histories else ngram_counts[history]
        information[ngram] = log(history_count / count) / log(2)
    return information


def explain_segment(case: ExplanationCase[NIST, PythonScore]) -> dict[str, Any]:
    """Return the explanation of a segment."""
    metric = case.metric
    hypothesis_tokens, *reference_tokens = (split_text(metric, text) for text in case.texts)
    bits = compute_information(
        reference_tokens, metric.max_order, zero_is_false=metric.variant == "mteval"
    )
    system = explain_corpus(case)
    numbers = [number for number, _ in case.references]
    naive_bleu.add_ngrams_to_segment(system, hypothesis_tokens, reference_tokens, numbers)
    for order in system["orders"]:
        for row in order["ngrams"]:
            row["information"] = bits.get(tuple(row["ngram"]))
    return system


def explain_corpus(case: ExplanationCase[NIST, PythonScore]) -> dict[str, Any]:
    """Return the explanation of a corpus."""
    details = case.score.details()
    totals = case.score.row[2 + 2 * case.metric.max_order :]
    return {
        "orders": [
            {"order": order, "information": part * max(1, total), "total": total, "part": part}
            for order, (part, total) in enumerate(
                zip(details["information"], totals, strict=True), 1
            )
        ],
        "information": sum(details["information"]),
        **{key: details[key] for key in ("penalty", "hypothesis_length", "reference_length")},
        "fraction": case.score.fraction,
    }


def get_components(system: Content) -> dict[str, float]:
    """Return the score components that a comparison of two systems shows."""
    return {name: system[name] for name in ("information", "penalty")}


# ---- layout ----


def build_formula(system: Content, parameters: Content) -> list[Equation]:  # noqa: ARG001
    """Return the formula: the penalty times the sum of the information per n-gram."""
    c, r = format_compact(system["hypothesis_length"]), format_compact(system["reference_length"])
    penalty = format_number(system["penalty"])
    if system["penalty"] == 1:
        lines: list[Equation] = [("penalty", f"1, because {c} ≥ {r}")]
    elif not system["penalty"]:
        lines = [("penalty", "0, because there are no tokens")]
    else:
        # β makes the penalty 1/2 if the hypothesis is two thirds as long as the reference.
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
        ("", ("row", f"{penalty} · ", ("paren", add_nodes(terms)))),
        ("", f"{penalty} · {format_number(system['information'])}"),
        ("", format_number(system["fraction"])),
    ]


def build_layout(content: Content, system: Content, level: int) -> Iterator[Block]:
    """Yield the information of matched n-grams and the lengths of the texts."""
    if "tokens" in system:
        columns = {"hypothesis": "count", "clipped": "clipped", "bits": "information"}
        for order in system["orders"]:
            summary = f"{order['information']:.2f} bits"
            yield from ngram_layout.build_ngram_table(order, level, summary, columns)
    yield Heading(level, "Information of matched n-grams")
    rows = []
    for order in system["orders"]:
        bits, part = format_number(order["information"], 2), format_number(order["part"])
        rows.append([str(order["order"]), bits, f"{order['total']:,}", part])
    yield Table.from_text_rows(["order", "bits", "n-grams", "bits per n-gram"], rows)
    yield Paragraph(
        "The information of an n-gram is log₂(a/b): its first n − 1 words occur a times in the "
        "references, and the n-gram b times. Rare and unexpected words carry more information."
    )
    yield Heading(level, "Length")
    mean = "a mean of " if len(content.get("references", ())) != 1 else ""
    yield Paragraph(
        f"The hypothesis has {format_count(system['hypothesis_length'], 'token')}; the "
        f"reference has {mean}{format_compact(system['reference_length'])}."
    )


def describe_score(content: Content, system: Content) -> str:  # noqa: ARG001
    """Return a sentence that describes the scale of the score."""
    return (
        ". There is no upper bound. Longer texts get higher scores, because the information is "
        "estimated from the text's references."
    )
