"""Explanation of BLEU: counts, smoothing, precisions and lengths."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from math import exp, fsum, log
from typing import Any

from truebleu import _kernel
from truebleu.explanation import naive_bleu, ngram_layout
from truebleu.explanation.naive_bleu import ExplanationCase, split_text
from truebleu.metrics.bleu import BLEU, USE_INSTEAD, BLEUScore
from truebleu.rendering.elements import Block, Heading, Paragraph, Table
from truebleu.rendering.equations import Equation, Node, add_nodes
from truebleu.rendering.number_format import (
    MINUS,
    NumberFormatter,
    format_compact,
    format_number,
    make_formatter,
    make_signed_formatter,
    name_ngrams,
)
from truebleu.rendering.view import Content
from truebleu.text.terminal_layout import format_count

# Conventional interpretation of BLEU on a 0-1 scale; each band ends where the next band starts.
BANDS = {
    0.0: "almost useless",
    0.1: "quality varies",
    0.4: "high quality",
    0.6: "often better than human",
}
CONVENTION = (
    "This is a convention for corpora, not a measurement. There is no evidence that these limits "
    "hold for your language, your text or a single sentence."
)

# Value of BLEU's parameter `aggregate` that makes the corpus score a mean of segment scores.
SEGMENTS = "segments"
SMALLEST_FLOAT = sys.float_info.min
# pycocoevalcap's guards against division by 0, and MultiWOZ's offset of counts and precisions.
TINY, SMALL = 1e-15, 1e-9
OFFSET = 1e-7


def explain_segment(case: ExplanationCase[BLEU, BLEUScore]) -> dict[str, Any]:
    """Return the explanation of a segment."""
    metric, system = case.metric, _describe_system(case, segment=True)
    numbers = [number for number, _ in case.references]
    hypothesis_tokens, *reference_tokens = (split_text(metric, text) for text in case.texts)
    naive_bleu.add_ngrams_to_segment(system, hypothesis_tokens, reference_tokens, numbers)
    for order in system["orders"] if case.recall else ():
        order["recall"] = [
            {
                "reference": number,
                **naive_bleu.compute_recall(
                    naive_bleu.count_overlap(hypothesis_tokens, reference, order["order"])
                ),
            }
            for number, reference in zip(numbers, reference_tokens, strict=True)
        ]
    rule, tie = metric.parameters["reference_length"], metric.parameters["tie"]
    lengths = list(map(len, reference_tokens))
    _, closest_references = naive_bleu.choose_reference_length(
        len(hypothesis_tokens), lengths, rule, tie
    )
    system["reference_choice"] = {
        "rule": rule,
        "tie": tie,
        "references": [numbers[i] for i in closest_references],
        "lengths": lengths,
    }
    return system


def explain_corpus(case: ExplanationCase[BLEU, BLEUScore]) -> dict[str, Any]:
    """Return the explanation of a corpus."""
    averaged = case.metric.aggregate == SEGMENTS
    system = _describe_system(case, segment=averaged, averaged=averaged)
    naive_bleu.add_ngrams_to_corpus(system, case)
    return system


def _describe_system(
    case: ExplanationCase[BLEU, BLEUScore], *, segment: bool, averaged: bool = False
) -> dict[str, Any]:
    """Return a score and the steps of its computation, without n-grams."""
    metric, score = case.metric, case.score
    orders = _describe_orders(metric, score, segment=segment)
    zero_reason = None if averaged else _explain_zero_score(score, orders)
    logs = [order["weight"] * order["log"] for order in orders if order["log"] is not None]
    log_mean = (
        None if zero_reason or averaged else fsum([*logs, _get_weight_correction(metric, orders)])
    )
    fraction = score.fraction
    low = max(start for start in BANDS if start <= fraction)
    high = min((start for start in BANDS if start > fraction), default=None)
    return {
        "fraction": fraction,
        "published": score.published,
        "hypothesis_length": score.hypothesis_length,
        "reference_length": score.reference_length,
        "brevity_penalty": score.brevity_penalty,
        "orders": orders,
        "log_mean": log_mean,
        "geometric_mean": None if averaged else 0.0 if log_mean is None else exp(log_mean),
        "averaged": averaged,
        "zero": zero_reason,
        "reading": {
            "band": {"from": low, "to": high, "words": BANDS[low]},
            "convention": CONVENTION,
        },
    }


def _get_weight_correction(metric: BLEU, orders: list[dict[str, Any]]) -> float:
    """Return the term that sacreBLEU's percentages add to ln BLEU if weights do not sum to 1."""
    if metric.arithmetic != "sacrebleu" or metric.weights is None:
        return 0.0
    weight_sum = fsum(order["weight"] for order in orders)
    return 0.0 if abs(weight_sum - 1) < 1e-9 else (weight_sum - 1) * log(100)


def _describe_orders(metric: BLEU, score: BLEUScore, *, segment: bool) -> list[dict[str, Any]]:
    parameters = metric.parameters
    is_always_zero = (parameters["no_match"] == "zero" and not any(score.matches)) or (
        parameters["no_match"] == "any-zero" and not all(score.matches)
    )
    orders, zeros = [], 0
    counts = zip(score.matches, score.totals, score.precisions, strict=True)
    for order_number, (matches, total, precision) in enumerate(counts, 1):
        zeros += matches == 0 and total > 0
        smoothed = (
            None
            if is_always_zero
            else _describe_smoothing(metric, order_number, matches, total, zeros)
        )
        state = "counts"
        if is_always_zero:
            state = "not used" if matches else "makes it 0"
        elif total == 0 and smoothed is None:
            missing = metric.resolve_missing_order(segment=segment)
            state = {"one": "counts as 1", "drop": "left out"}.get(missing, "makes it 0")
        elif precision == 0 and metric.arithmetic not in GUARDED_ARITHMETICS:
            state = "skipped" if metric.arithmetic == "nltk" else "makes it 0"
        used_precision = precision / 100
        if metric.arithmetic in GUARDED_ARITHMETICS and smoothed is not None:
            used_precision = smoothed["numerator"] / smoothed["denominator"]
        log_precision = 0.0 if state == "counts as 1" else None
        if state == "counts" and used_precision:
            log_precision = log(used_precision)
        orders.append(
            {
                "order": order_number,
                "matches": matches,
                "total": total,
                "smoothed": smoothed,
                "precision": precision,
                "state": state,
                "weight": 0.0,
                "log": log_precision,
            }
        )
    # Set the weight of each order in the geometric mean.
    used_count = sum(order["state"] != "left out" for order in orders)
    weights = metric.weights
    if weights is None:
        weights = (1 / max(used_count, 1),) * used_count
    elif metric.arithmetic != "sacrebleu":
        weights = weights[:used_count]
    elif used_count < len(weights) and (weight_sum := float(sum(weights[:used_count]))):
        weights = tuple(weight / weight_sum for weight in weights[:used_count])
    # Only the highest orders can be skipped, so the first orders have the first weights.
    for order, weight in zip(orders, weights, strict=False):
        order["weight"] = weight
    return orders


# Values of BLEU's `arithmetic` that avoid ln 0, so that each order has a logarithm.
GUARDED_ARITHMETICS = ("codenn", "allennlp")


def _describe_smoothing(
    metric: BLEU, order: int, matches: int, total: int, zero_orders: int
) -> dict[str, Any] | None:
    """Return an order's smoothed numerator and denominator, or None if it is not smoothed."""
    value, kind = metric.smoothing_value or 0.0, metric.smoothing
    smoothing: tuple[float, float, str] | None = None
    if metric.arithmetic == "codenn":
        added = value if order > 1 else 0.0
        explanation = (
            f"{added:g} and the smallest positive number are added to the match and n-gram counts"
        )
        if added or not matches:
            added += SMALLEST_FLOAT
            smoothing = (matches + added, total + added, explanation)
    elif metric.arithmetic == "allennlp":
        explanation = f"{value:g} is added to the match and n-gram counts, to avoid division by 0"
        smoothing = (matches + value, total + value, explanation)
    elif kind == "add-k-all" or (order > 1 and kind in ("add-k", "add-k-tiny")):
        explanation = f"{value:g} is added to the match and n-gram counts"
        if total + value:
            smoothing = (matches + value, total + value, explanation)
    elif kind == "epsilon":
        explanation = (
            "1e-15 is added to the matches and 1e-9 to the n-grams, to avoid division by 0"
        )
        smoothing = (matches + TINY, total + SMALL, explanation)
    elif kind == "offset":
        explanation = "1e-7 is added to the n-gram count and to the precision"
        smoothing = (matches + OFFSET * (total + OFFSET), total + OFFSET, explanation)
    elif total and not matches:
        halved = f"1/{2**zero_orders}, halved for each order without matches"
        smallest = "zero matches count as the smallest positive number"
        smoothing = {
            "exp": (1, 2**zero_orders * total, f"zero matches count as {halved}"),
            "floor": (value, total, f"zero matches count as {value:g}"),
            "tiny": (SMALLEST_FLOAT, 1, "the precision is the smallest positive number"),
            "add-k-tiny": (SMALLEST_FLOAT, total, smallest),
        }.get(kind)
    return smoothing and dict(zip(("numerator", "denominator", "how"), smoothing, strict=True))


def add_cumulative_scores(content: dict[str, Any], metric: BLEU) -> None:
    """Mark an explanation as a textbook example, and add the BLEU of orders 1 to n for each n.

    The scores are between 0 and 1. They are not added for custom weights, means of segment scores,
    or omitted orders.
    """
    content["textbook"] = True
    for system in content["systems"] if metric.weights is None else ():
        # Rows contain the reference length as an integer, in units of 1 / length_unit token.
        reference_length = round(system["reference_length"] * metric.length_unit)
        matches, totals = (
            [order[key] for order in system["orders"]] for key in ("matches", "total")
        )
        for n, order in enumerate(() if system["averaged"] else system["orders"], 1):
            formula = metric.with_parameters(max_order=n).make_formula(
                segment=content["kind"] != "corpus"
            )
            row = [system["hypothesis_length"], reference_length, *matches[:n], *totals[:n]]
            (score,) = formula.scores(_kernel.Table.from_rows([row], len(row)))
            if order["state"] != "left out":
                order["cumulative"] = score / metric.natural_scale


def _explain_zero_score(score: BLEUScore, orders: list[dict[str, Any]]) -> str | None:
    if score.value:
        return None
    if not score.hypothesis_length:
        return "the hypothesis has no tokens"
    if not any(score.matches):
        return "no word of the hypothesis is in a reference, so smoothing does not apply"
    zero_orders = [order for order in orders if order["state"] == "makes it 0"]
    if not zero_orders:
        return "the product is too small to be represented"
    first = zero_orders[0]
    name = name_ngrams(first["order"])
    if not first["total"]:
        short = f"the hypothesis is too short to have any {name}, so the product is 0"
        return f"{short}; {USE_INSTEAD}"
    return f"none of the {name} match, so the product of the precisions is 0"


def split_difference(
    metric: BLEU, first: dict[str, Any], second: dict[str, Any], *, corpus: bool
) -> dict[str, Any]:
    """Split the difference of two log scores into parts: the brevity penalty and each order.

    ln BLEU is a sum, so its difference is the sum of the differences of its terms. The difference
    in points is divided in the same proportions (the logarithmic mean makes the parts add up).
    """
    score_difference = second["score"] - first["score"]
    reason = None
    if corpus and metric.aggregate == SEGMENTS:
        reason = "the scores are means of segment scores, which cannot be split into orders"
    elif zero := [system["name"] for system in (first, second) if not system["score"]]:
        reason = (
            f"{' and '.join(zero)} {'score' if len(zero) > 1 else 'scores'} 0, which has no "
            "logarithm"
        )
    if reason is not None:
        empty_fields = dict.fromkeys(("log_difference", "brevity", "orders", "weights"))
        return {**empty_fields, "orders": [], "zero": reason}
    log_difference = log(second["score"]) - log(first["score"])
    # Score points per unit of the score's logarithm, or the limit of this ratio for equal scores.
    points_per_log_unit = score_difference / log_difference if log_difference else first["score"]

    def build_part(log_part: float) -> dict[str, float]:
        return {"log": log_part, "points": log_part * points_per_log_unit}

    def get_log_term(order: dict[str, Any]) -> float:
        return order["weight"] * order["log"] if order["log"] is not None else 0.0

    first_weights, second_weights = (
        _get_weight_correction(metric, system["orders"]) for system in (first, second)
    )
    weight_difference = second_weights - first_weights
    return {
        "log_difference": log_difference,
        "brevity": build_part(log(second["brevity_penalty"]) - log(first["brevity_penalty"])),
        "orders": [
            {"order": one["order"], **build_part(get_log_term(other) - get_log_term(one))}
            for one, other in zip(first["orders"], second["orders"], strict=True)
        ],
        "weights": build_part(weight_difference) if weight_difference else None,
        "zero": None,
    }


# ---- layout ----


def build_layout(content: Content, system: Content, level: int) -> Iterator[Block]:
    """Yield the n-grams (for a corpus, only the most frequent), the precisions and the lengths."""
    if "tokens" in system:
        has_several = len(content["references"]) > 1
        yield from ngram_layout.build_match_tables(system, level, has_several)
    yield Heading(level, "Precisions")
    yield from _build_precision_table(system)
    yield from _build_recall_table(system, level)
    if "tokens" not in system:
        yield from ngram_layout.build_frequent_ngrams(system, level)
    yield Heading(level, "Length")
    yield Paragraph(_describe_lengths(content, system))


def _build_precision_table(system: Content) -> Iterator[Block]:
    orders = system["orders"]
    columns: dict[str, Callable[[Content], str]] = {
        "order": lambda order: str(order["order"]),
        "matches": lambda order: f"{order['matches']}/{order['total']}",
        "smoothed": lambda order: _format_fraction(order["smoothed"]),
        "precision": _format_precision,
        "weight": lambda order: format_compact(order["weight"]),
        "ln p": _format_logarithm,
        "BLEU up to n": lambda order: (
            format_number(order["cumulative"]) if "cumulative" in order else ""
        ),
    }
    if not any(order["smoothed"] for order in orders):
        del columns["smoothed"]
    if "cumulative" not in orders[0]:
        del columns["BLEU up to n"]
    rows = [[format_cell(order) for format_cell in columns.values()] for order in orders]
    yield Table.from_text_rows(list(columns), rows, text_columns=())
    for order in orders:
        note = NOTES.get(order["state"], "").format(name_ngrams(order["order"]))
        if order["smoothed"]:
            note = f"is smoothed: {order['smoothed']['how']}"
        if note:
            yield Paragraph(f"Order {order['order']} {note}.")


def _build_recall_table(system: Content, level: int) -> Iterator[Block]:
    """Yield the clipped recall and the F-measure if they were requested."""
    orders = system["orders"]
    if "recall" not in orders[0]:
        return
    yield Heading(level, "Recall (not used by BLEU)")
    header = ["order", "reference", "matches", "recall", "F"]
    rows = [
        [
            str(order["order"]),
            str(recall["reference"]),
            f"{recall['matches']}/{recall['total']}",
            *(format_number(recall[key]) for key in ("recall", "f")),
        ]
        for order in orders
        for recall in order["recall"]
    ]
    if len(orders[0]["recall"]) == 1:
        header.remove("reference")
        rows = [[order, *others] for order, _, *others in rows]
    yield Table.from_text_rows(header, rows, text_columns=())
    yield Paragraph(
        "Recall is clipped like precision, for each reference. F is the harmonic mean of precision "
        "and recall. BLEU uses the brevity penalty instead of recall."
    )


def _format_fraction(smoothed: Content | None) -> str:
    if smoothed is None:
        return ""
    if smoothed["denominator"] == 1:
        return f"{smoothed['numerator']:.3g}"
    return f"{format_compact(smoothed['numerator'])}/{format_compact(smoothed['denominator'])}"


def _format_precision(order: Content) -> str:
    special_values = {"left out": "skipped", "counts as 1": "1"}
    return special_values.get(order["state"]) or format_number(order["precision"] / 100)


def _format_logarithm(order: Content) -> str:
    if order["state"] == "makes it 0":
        return f"{MINUS}∞"
    return "" if order["log"] is None else format_number(order["log"])


NOTES = {
    "left out": "is skipped: the hypothesis has no {}",
    "counts as 1": "has precision 1: the hypothesis has no {}",
    "skipped": "is skipped, because NLTK skips precisions of 0 that remain after smoothing",
}


REFERENCE_LENGTH_RULES = {
    "closest": "the closest to the hypothesis length",
    "shortest": "the shortest",
    "longest": "the longest",
    "average": "the mean",
    "average-truncated": "the truncated mean",
    "single": "the only one",
}


def _describe_lengths(content: Content, system: Content) -> str:
    c, r = system["hypothesis_length"], system["reference_length"]
    choice = system["reference_choice"]
    text = (
        f"The hypothesis has {format_count(c, 'token')}; the effective reference length is "
        f"{format_number(r)}. "
    )
    if content["kind"] == "corpus":
        text = (
            f"All hypotheses have {format_count(c, 'token')}; the effective reference length, "
            f"summed over all segments, is {format_number(r)}. "
        )
        if len(choice["segments"]) > 1:
            (first, count), *other_counts = choice["segments"].items()
            segments = format_count(count, "segment")
            text += f"Reference {first} determines the length for {segments}"
            text += "".join(f", reference {i} of {n}" for i, n in other_counts) + ". "
    elif len(choice["lengths"]) > 1:
        lengths = ", ".join(map(str, choice["lengths"]))
        rule = REFERENCE_LENGTH_RULES[choice["rule"]]
        if choice["rule"].startswith("average"):
            text += f"This is {rule} of the reference lengths ({lengths}). "
        else:
            numbers = " and ".join(map(str, choice["references"]))
            plural = "s" if len(choice["references"]) > 1 else ""
            text += f"This is the length of reference{plural} {numbers}, {rule} ({lengths}). "
            other_distances = {abs(length - c) for length in choice["lengths"] if length != r}
            if choice["rule"] == "closest" and abs(r - c) in other_distances:
                text += f"For ties, the {choice['tie']} length is used. "
    penalty = format_number(system["brevity_penalty"])
    if system["brevity_penalty"] == 1:
        return f"{text}There is no brevity penalty: BP = 1."
    if c < r:
        return f"{text}The hypothesis is shorter, so BP = {penalty}."
    return f"{text}The brevity penalty is {penalty}."


def describe_score(content: Content, system: Content) -> str:  # noqa: ARG001
    """Return the score on a 0-1 scale with its conventional interpretation."""
    band = system["reading"]["band"]
    low, high = format_number(band["from"], 1), band["to"]
    limits = f"between {low} and {format_number(high, 1)}" if high is not None else f"above {low}"
    if not band["from"]:
        limits = f"below {format_number(high, 1)}"
    band_sentence = f"By convention, scores {limits} mean “{band['words']}”."
    return f"{ngram_layout.format_fraction(system)}. {band_sentence}"


def build_comparison(content: Content, format_score: NumberFormatter) -> Iterator[Block]:
    """Yield the comparison of two systems and the parts of their difference."""
    comparison, systems = content["comparison"], content["systems"]
    rows = [
        [
            system["name"],
            format_score(system["score"]),
            *map(_format_precision, system["orders"]),
            format_number(system["brevity_penalty"]),
        ]
        for system in systems
    ]
    orders = [f"p{order['order']}" for order in systems[0]["orders"]]
    yield Table.from_text_rows(["system", "BLEU", *orders, "BP"], rows)
    yield Heading(2, "Parts of the difference")
    points, logs = map(make_signed_formatter, (format_score, make_formatter(4)))
    names = f"from {comparison['first']} to {comparison['second']}"
    if comparison["zero"] is not None:
        difference = points(comparison["difference"])
        yield Paragraph(
            f"The difference {names} is {difference}. It cannot be split: {comparison['zero']}."
        )
        return
    yield Paragraph(
        f"The difference {names} is {points(comparison['difference'])} points, or "
        f"{logs(comparison['log_difference'])} in ln BLEU. ln BLEU is a sum, so its difference "
        "is the sum of these parts. The points are divided in the same proportions."
    )
    first, second = ([order["weight"] for order in system["orders"]] for system in systems)
    if first != second:
        yield Paragraph(
            "The two means use different orders, so the parts include differences in weights."
        )
    parts = [("brevity penalty", comparison["brevity"])]
    parts += [(f"order {order['order']}", order) for order in comparison["orders"]]
    if comparison["weights"] is not None:
        parts.append(("weights that do not sum to 1", comparison["weights"]))
    rows_of_parts = [[name, logs(part["log"]), points(part["points"])] for name, part in parts]
    total = (logs(comparison["log_difference"]), points(comparison["difference"]))
    rows_of_parts.append(["total", *total])
    yield Table.from_text_rows(["part", "Δ ln BLEU", "points"], rows_of_parts, has_total_row=True)


# ---- the formula ----


def _build_match_fraction(order: Content) -> Node:
    return ("frac", str(order["matches"]), str(order["total"]))


def _build_effective_precision(order: Content) -> Node:
    """Return the precision of an order as the formula uses it."""
    if order["state"] == "counts as 1":
        return "1"
    smoothed = order["smoothed"]
    if smoothed is None:
        return _build_match_fraction(order)
    if smoothed["denominator"] == 1 and smoothed["numerator"] < 1e-300:
        return f"{smoothed['numerator']:.3g}"
    # The values that pycocoevalcap adds are too small for four digits.
    return ("frac", *(format_compact(smoothed[part]) for part in ("numerator", "denominator")))


def build_formula(system: Content, parameters: Content) -> list[Equation]:
    """Return the computation of a system's score, line by line."""
    brevity = _build_brevity_penalty(system, parameters)
    result = format_number(system["fraction"])
    if system["averaged"]:
        return [*brevity, ("BLEU", f"mean of segment scores = {result}")]
    summand: Node = ("row", ("sum", "n"), ("sub", "w", "n"), " ", ("ln", ("sub", "p", "n")))
    general: Node = ("row", "BP · ", ("exp", summand))
    lines: list[Equation] = [*brevity, ("BLEU", general)]
    if system["zero"] is not None:
        # Orders without n-grams show 0/0 = 0.
        zero_lines: list[Equation] = [
            (("sub", "p", str(order["order"])), ("row", _build_match_fraction(order), " = 0"))
            for order in system["orders"]
            if order["state"] == "makes it 0"
        ]
        return [*lines, *zero_lines[:1], ("", "0")]
    bp = format_number(system["brevity_penalty"])
    sums = format_number(system["log_mean"])
    return [
        *lines,
        ("", ("row", f"{bp} · ", ("exp", _build_log_sum(system["orders"])))),
        ("", ("row", f"{bp} · ", ("exp", sums))),
        ("", f"{bp} · {format_number(system['geometric_mean'])}"),
        ("", result),
    ]


def _build_brevity_penalty(system: Content, parameters: Content) -> list[Equation]:
    c, r = system["hypothesis_length"], system["reference_length"]
    value = format_number(system["brevity_penalty"])
    form = parameters["brevity_penalty"]
    if form == "none":
        return [("BP", "1, because this metric has no brevity penalty")]
    if system["brevity_penalty"] == 1:
        return [("BP", f"1, because {c} ≥ {format_number(r)}")]
    if not c and form == "standard":
        return [("BP", f"{value}, because there are no tokens")]
    length_offset = 1 if form == "plus-one" else 0
    lengths = ("frac", format_number(r + length_offset), format_number(c + length_offset))
    return [("BP", ("row", ("exp", ("row", f"1 {MINUS} ", lengths)), f" = {value}"))]


def _build_log_sum(orders: Sequence[Content]) -> Node:
    """Return the sum Σ wₙ ln pₙ with its numbers inserted, and a common weight factored out."""
    used = [order for order in orders if order["state"] in ("counts", "counts as 1")]
    weights = [order["weight"] for order in used]
    logs: list[Node] = [("ln", _build_effective_precision(order)) for order in used]
    if len(set(weights)) != 1:
        parts = [
            ("row", f"{format_compact(w)} ", node) for w, node in zip(weights, logs, strict=True)
        ]
        return add_nodes(parts)
    summed = add_nodes(logs)
    if weights[0] == 1:
        return summed
    denominator = round(1 / weights[0]) if weights[0] else 0
    is_unit_fraction = denominator and abs(1 / denominator - weights[0]) < 1e-12
    weight: Node = (
        ("frac", "1", str(denominator)) if is_unit_fraction else format_compact(weights[0])
    )
    return ("row", weight, " ", ("paren", summed))
