"""Explanation of F-scores for n-grams or for the longest common subsequence (ROUGE-L)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from truebleu.explanation import naive_bleu, ngram_layout
from truebleu.explanation.naive_bleu import COUNT_KEYS, ExplanationCase, Tokens
from truebleu.rendering.elements import Block, Heading, Paragraph, Table
from truebleu.rendering.equations import Equation
from truebleu.rendering.number_format import format_number, name_ngrams
from truebleu.rendering.view import Content
from truebleu.text.terminal_layout import format_count

# Components that have the scale of the score.
PERCENTAGES = ("precision", "recall")


def split_text(metric: Any, text: Any) -> list[str]:
    """Split a text into the tokens that a metric counts, or into stems if it counts stems."""
    if metric.NAME == "ROUGE":
        return metric.tokenize_text(text)  # type: ignore[no-any-return]
    return naive_bleu.split_text(metric, text)


def explain_segment(case: ExplanationCase[Any, Any]) -> dict[str, Any]:
    """Return the explanation of a segment with the reference that gives the best score."""
    metric, text = case.metric, case.hypothesis
    number, reference = naive_bleu.find_best_reference(metric, text, case.references)
    hypothesis_tokens, reference_tokens = (split_text(metric, one) for one in (text, reference))
    orders = [
        {"order": n, **naive_bleu.count_overlap(hypothesis_tokens, reference_tokens, n)}
        for n in _get_orders(metric)
    ]
    system = {**_describe_system(case), "orders": orders, "reference": number}
    if orders:
        naive_bleu.add_ngrams_to_segment(system, hypothesis_tokens, [reference_tokens], [number])
        return system
    common_tokens = matches = None
    if "\n" not in (text + reference).strip("\n"):
        common_tokens = _find_common_subsequence(hypothesis_tokens, reference_tokens)
        matches = len(common_tokens)
    counts = (matches, len(hypothesis_tokens), len(reference_tokens))
    system |= dict(zip(COUNT_KEYS, counts, strict=True))
    return {**system, "tokens": hypothesis_tokens, "common": common_tokens}


def explain_corpus(case: ExplanationCase[Any, Any]) -> dict[str, Any]:
    """Return the explanation of a corpus."""
    system = _describe_system(case)
    if case.metric.NAME == "ROUGE":
        return {**system, "orders": []}
    score = case.score
    columns = (score.matches, score.hypothesis_totals, score.reference_totals)
    keys = ("order", *COUNT_KEYS)
    rows = zip(_get_orders(case.metric), *columns, strict=True)
    return {**system, "orders": [dict(zip(keys, row, strict=True)) for row in rows]}


def _get_orders(metric: Any) -> Sequence[int]:
    """Return the n-gram orders of a metric. ROUGE-L has none."""
    if metric.NAME == "ROUGE":
        return [int(metric.type)] if metric.type.isdecimal() else []
    return metric.orders  # type: ignore[no-any-return]


def _describe_system(case: ExplanationCase[Any, Any]) -> dict[str, Any]:
    details = case.score.details()
    return {
        "measure": case.score.name,
        "fraction": case.score.fraction,
        "precision": details["precision"],
        "recall": details["recall"],
        "beta": case.metric.parameters.get("beta", 1),
    }


def _find_common_subsequence(hypothesis: Tokens, reference: Tokens) -> list[str]:
    lengths = [[0] * (len(reference) + 1) for _ in range(len(hypothesis) + 1)]
    for i, token in enumerate(hypothesis, 1):
        for j, reference_token in enumerate(reference, 1):
            best = max(lengths[i - 1][j], lengths[i][j - 1])
            lengths[i][j] = lengths[i - 1][j - 1] + 1 if token == reference_token else best
    i, j, common_tokens = len(hypothesis), len(reference), []
    while i and j:
        if hypothesis[i - 1] == reference[j - 1]:
            i, j = i - 1, j - 1
            common_tokens.append(hypothesis[i])
        elif lengths[i - 1][j] >= lengths[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return common_tokens[::-1]


def get_components(system: Content) -> dict[str, float]:
    """Return the score components that a comparison of two systems shows."""
    return {name: system[name] for name in PERCENTAGES}


# ---- layout ----


def build_formula(system: Content, parameters: Content) -> list[Equation]:  # noqa: ARG001
    """Return the formulas for precision, recall and F-score or, for a ROUGE corpus, the mean."""
    unit, digits = _get_unit(system)
    name, score = system["measure"], format_number(system["score"], digits)
    if not system["orders"] and "total" not in system:
        return [(name, "mean of segment F-scores"), ("", score)]
    lines: list[Equation] = []
    counts = [
        sum(order[key] for order in system["orders"]) if system["orders"] else system[key]
        for key in COUNT_KEYS
    ]
    if None not in counts:
        matches, total, reference_total = map(str, counts)
        for label_key, total_count in (("precision", total), ("recall", reference_total)):
            result = f" = {format_number(system[label_key], digits)}{unit}"
            lines.append((label_key[0].upper(), ("row", ("frac", matches, total_count), result)))
        if not counts[1] or not counts[2]:
            return [(name, f"{score}, because one of the texts is empty")]
    square = system["beta"] ** 2
    numerator, denominator = "2 · P · R", "P + R"
    if square != 1:
        numerator, denominator = f"(1 + {square:g}) · P · R", f"{square:g} · P + R"
    return [*lines, (name, ("frac", numerator, denominator)), ("", score)]


def _get_unit(system: Content) -> tuple[str, int]:
    """Return the unit of precision, recall and score, and their number of decimals."""
    return ("", 4) if system.get("scale") == 1 else (" %", 2)


def build_layout(content: Content, system: Content, level: int) -> Iterator[Block]:
    """Yield the n-grams or the longest common subsequence, and the counts."""
    if "cover" in system:
        yield from ngram_layout.build_match_tables(system, level)
    if system.get("common") is not None:
        common_tokens = system["common"]
        yield Heading(
            level, f"Longest common subsequence: {format_count(len(common_tokens), 'token')}"
        )
        tokens = " ".join(common_tokens) or "none"
        yield Paragraph(f"Tokens in both texts, in the same order: {tokens}.")
    rows = [
        [name_ngrams(order["order"]), *(f"{order[key]:,}" for key in COUNT_KEYS)]
        for order in system["orders"]
    ]
    if "total" in system:
        cells = ("" if system[key] is None else f"{system[key]:,}" for key in COUNT_KEYS)
        rows.append(["subsequence", *cells])
    if rows:
        yield Heading(level, "Counts")
        yield Table.from_text_rows(("", "matches", "in hypothesis", "in reference"), rows)
    elif content["kind"] == "corpus":
        unit, digits = _get_unit(system)
        means = (f"{name} {format_number(system[name], digits)}{unit}" for name in PERCENTAGES)
        yield Paragraph(f"Means over segments: {', '.join(means)}.")


def describe_score(content: Content, system: Content) -> str:  # noqa: ARG001
    """Return the score on a 0-1 scale, with its definition."""
    return f"{ngram_layout.format_fraction(system)}: the harmonic mean of precision and recall."
