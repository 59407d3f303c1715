"""The parts of a BLEU score: counts, smoothing, precisions, lengths, and the reasons."""

from __future__ import annotations

import sys
from math import exp, fsum, log

from truebleu.metrics.bleu_formula import SMALL, TINY
from truebleu.views.explanation import counting
from truebleu.views.explanation import ngrams as found
from truebleu.views.explanation.bleu_blocks import blocks, compared, formula, reading
from truebleu.views.explanation.counting import tokens
from truebleu.views.rendering.numbers import ngrams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from truebleu.metrics.bleu import BLEU, BLEUScore
    from truebleu.views.explanation.counting import Tokens

# The customary reading of a BLEU score between 0 and 1: each band starts where the last one ends.
BANDS = (
    (0.1, "almost useless"),
    (0.4, "quality varies"),
    (0.6, "high quality"),
    (float("inf"), "often better than human"),
)
CONVENTION = (
    "This is a convention for corpora and not a measurement: nobody has shown that these limits "
    "hold for your language, your text or a single sentence."
)

__all__ = [
    "blocks",
    "compared",
    "difference",
    "formula",
    "of_corpus",
    "of_pair",
    "reading",
    "tokens",
]

TOKEN = "token"

# The value of BLEU's parameter `aggregate` that makes a corpus' score a mean.
SEGMENTS = "segments"


def of_pair(
    metric: BLEU,
    score: BLEUScore,
    hypothesis: Any,
    given: Sequence[tuple[int, Any]],
    *,
    recall: bool = False,
) -> dict[str, Any]:
    """The explanation of one hypothesis and its references."""
    system = _system(metric, score, segment=True)
    numbers, texts = zip(*given, strict=True)
    references = [tokens(metric, text) for text in texts]
    _add_words(system, metric, tokens(metric, hypothesis), references, numbers, recall=recall)
    return system


def of_corpus(
    metric: BLEU, score: BLEUScore, hypotheses: Any, references: Any, *, recall: bool = False
) -> dict[str, Any]:
    """The explanation of a corpus."""
    averaged = metric.aggregate == SEGMENTS
    system = _system(metric, score, segment=averaged, averaged=averaged)
    digest = found.Digest(
        counting.splitter(metric.tokenize, metric.lowercase),
        range(1, metric.max_order + 1),
        metric.parameters["reference_length"],
        metric.parameters["tie"],
        recall=recall,
    )
    digest.read(hypotheses, references).add_to(system)
    return system


def _system(
    metric: BLEU, score: BLEUScore, *, segment: bool, averaged: bool = False
) -> dict[str, Any]:
    """A score and the steps to it, without the words."""
    orders = _orders(metric, score, segment=segment)
    zero = None if averaged else _why_zero(score, orders)
    logs = [order["weight"] * order["log"] for order in orders if order["log"] is not None]
    mean = None if zero or averaged else fsum([*logs, _units(metric, orders)])
    fraction = score.fraction
    return {
        "fraction": fraction,
        "published": score.published,
        "hypothesis_length": score.hypothesis_length,
        "reference_length": score.reference_length,
        "brevity_penalty": score.brevity_penalty,
        "orders": orders,
        "log_mean": mean,
        "geometric_mean": None if averaged else 0.0 if mean is None else exp(mean),
        "averaged": averaged,
        "zero": zero,
        "reading": {"band": _band(fraction), "convention": CONVENTION},
    }


def _units(metric: BLEU, orders: list[dict[str, Any]]) -> float:
    """The addition of weights that do not sum to 1: sacreBLEU's arithmetic is in per cent."""
    if metric.arithmetic != "sacrebleu" or metric.weights is None:
        return 0.0
    whole = fsum(order["weight"] for order in orders)
    return 0.0 if abs(whole - 1) < 1e-9 else (whole - 1) * log(100)


def _band(fraction: float) -> dict[str, Any]:
    low = 0.0
    for high, words in BANDS:
        if fraction < high:
            return {"from": low, "to": None if high > 1 else high, "words": words}
        low = high
    raise AssertionError(fraction)


def _orders(metric: BLEU, score: BLEUScore, *, segment: bool) -> list[dict[str, Any]]:
    """The contribution of each order: counts, smoothing, precision, weight, logarithm."""
    given = metric.parameters
    hopeless = (given["no_match"] == "zero" and not any(score.matches)) or (
        given["no_match"] == "any-zero" and not all(score.matches)
    )
    orders = []
    zeros = 0
    counts = zip(score.matches, score.totals, score.precisions, strict=True)
    for number, (matches, total, precision) in enumerate(counts, 1):
        zeros += matches == 0 and total > 0
        smoothed = None if hopeless else _smoothed(metric, number, matches, total, zeros)
        state = "counts"
        if hopeless:
            state = "not used" if matches else "makes it 0"
        elif total == 0 and smoothed is None:
            missing = metric.missing(segment=segment)
            state = {"one": "counts as 1", "drop": "left out"}.get(missing, "makes it 0")
        elif precision == 0 and metric.arithmetic not in GUARDED:
            state = "skipped" if metric.arithmetic == "nltk" else "makes it 0"
        entering = precision / 100
        if metric.arithmetic in GUARDED and smoothed is not None:
            entering = smoothed["numerator"] / smoothed["denominator"]
        orders.append(
            {
                "order": number,
                "matches": matches,
                "total": total,
                "smoothed": smoothed,
                "precision": precision,
                "state": state,
                "weight": 0.0,
                "log": _log(entering, state),
            }
        )
    _weigh(metric, orders)
    return orders


# The arithmetics that guard each logarithm, so that no order is without one.
GUARDED = ("codenn", "allennlp")


def _log(precision: float, state: str) -> float | None:
    if state == "counts" and precision:
        return log(precision)
    return 0.0 if state == "counts as 1" else None


def _weigh(metric: BLEU, orders: list[dict[str, Any]]) -> None:
    """Gives each order its weight in the mean."""
    kept = sum(order["state"] != "left out" for order in orders)
    weights = metric.weights
    if weights is None:
        weights = (1 / max(kept, 1),) * kept
    elif metric.arithmetic != "sacrebleu":
        weights = weights[:kept]
    elif kept < len(weights) and sum(weights[:kept]):
        whole = sum(weights[:kept])
        weights = tuple(weight / whole for weight in weights[:kept])
    # Only orders at the end can be left out.
    for order, weight in zip(orders, weights, strict=False):
        order["weight"] = weight


def _smoothed(
    metric: BLEU, order: int, matches: int, total: int, zeros: int
) -> dict[str, Any] | None:
    """The numerator and denominator that smoothing makes of an order's counts, where it acts."""
    value = 0.0 if metric.smoothing_value is None else metric.smoothing_value
    kind = metric.smoothing
    if metric.arithmetic == "codenn":
        added = value if order > 1 else 0.0
        parts = (matches + added + TINIEST, total + added + TINIEST)
        how = f"{added:g} is added to matches and n-grams, and to both the smallest number there is"
        return None if matches and not added else _made(*parts, how)
    if metric.arithmetic == "allennlp":
        how = f"{value:g} is added to matches and n-grams, against division by 0"
        return _made(matches + value, total + value, how)
    if kind == "add-k-all" or (order > 1 and kind in ("add-k", "add-k-tiny")):
        how = f"{value:g} is added to matches and n-grams"
        return _made(matches + value, total + value, how) if total + value else None
    if kind == "epsilon":
        how = "1e-15 is added to the matches and 1e-9 to the n-grams, against division by 0"
        return _made(matches + TINY, total + SMALL, how)
    if matches or not total:
        return None
    match kind:
        case "exp":
            how = f"no match counts as 1/{2**zeros} of one, half as much for each such order"
            return _made(1, 2**zeros * total, how)
        case "floor":
            return _made(value, total, f"no match counts as {value:g} of one")
        case "tiny":
            return _made(TINIEST, 1, "the precision is the smallest positive number there is")
        case "add-k-tiny":
            return _made(TINIEST, total, "no match counts as the smallest positive number there is")
    return None


TINIEST = sys.float_info.min


def _made(numerator: float, denominator: float, how: str) -> dict[str, Any]:
    return {"numerator": numerator, "denominator": denominator, "how": how}


def _why_zero(score: BLEUScore, orders: list[dict[str, Any]]) -> str | None:
    """The reason for a score of 0; None for any other score."""
    if score.value:
        return None
    if not score.hypothesis_length:
        return "the hypothesis has no tokens"
    if not any(score.matches):
        return "not one word of the hypothesis is in a reference, and then no smoothing helps"
    zero = [order for order in orders if order["state"] == "makes it 0"]
    if not zero:
        return "the product is too small for a number"
    first = zero[0]
    name = ngrams(first["order"])
    if not first["total"]:
        return f"the hypothesis is too short to have any {name}, and a product with 0 is 0"
    return f"none of the {name} match, and a product with 0 is 0"


def _add_words(
    system: dict[str, Any],
    metric: BLEU,
    tokens: Tokens,
    references: Sequence[Tokens],
    numbers: Sequence[int],
    *,
    recall: bool,
) -> None:
    """Adds tokens, n-grams, lengths and what covers what to the explanation of one segment."""
    found.add_to_segment(system, tokens, references, numbers)
    for order in system["orders"] if recall else ():
        order["recall"] = [
            {"reference": number, **found.recall(tokens, reference, order["order"])}
            for number, reference in zip(numbers, references, strict=True)
        ]
    given = metric.parameters
    rule, tie = given["reference_length"], given["tie"]
    lengths = [len(reference) for reference in references]
    _, chosen = counting.reference_length(len(tokens), lengths, rule, tie)
    system["reference_choice"] = {
        "rule": rule,
        "tie": tie,
        "references": [numbers[i] for i in chosen],
        "lengths": lengths,
    }


def difference(
    metric: BLEU, first: dict[str, Any], second: dict[str, Any], *, corpus: bool
) -> dict[str, Any]:
    """The difference of two scores' logarithms, split into brevity penalty and orders.

    ln BLEU is a sum, so its difference is one too, term by term. Each term's part of the
    difference in points is in the same proportion (the logarithmic mean makes them add up).
    """
    difference = second["score"] - first["score"]
    comparison: dict[str, Any] = {
        "log_difference": None,
        "brevity": None,
        "orders": [],
        "weights": None,
        "zero": None,
    }
    if corpus and metric.aggregate == SEGMENTS:
        comparison["zero"] = (
            "the scores are means of the segments' scores, and have no split into orders"
        )
        return comparison
    zero = [system["name"] for system in (first, second) if not system["score"]]
    if zero:
        comparison["zero"] = (
            f"{' and '.join(zero)} {'score' if len(zero) > 1 else 'scores'} 0, and 0 has no "
            "logarithm that a difference could be split of"
        )
        return comparison
    whole = log(second["score"]) - log(first["score"])
    # Points for a unit of the logarithm; the limit where both scores are the same.
    points = difference / whole if whole else first["score"]

    def part(delta: float) -> dict[str, float]:
        return {"log": delta, "points": delta * points}

    def term(order: dict[str, Any]) -> float:
        return order["weight"] * order["log"] if order["log"] is not None else 0.0

    brevity = log(second["brevity_penalty"]) - log(first["brevity_penalty"])
    comparison["log_difference"] = whole
    comparison["brevity"] = part(brevity)
    comparison["orders"] = [
        {"order": one["order"], **part(term(other) - term(one))}
        for one, other in zip(first["orders"], second["orders"], strict=True)
    ]
    units = _units(metric, second["orders"]) - _units(metric, first["orders"])
    comparison["weights"] = part(units) if units else None
    return comparison
