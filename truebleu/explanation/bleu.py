"""The parts of a BLEU score: counts, smoothing, precisions, lengths, and the reasons."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from math import exp, fsum, log
from typing import Any

from truebleu.explanation import naive_bleu, ngram_layout
from truebleu.explanation.naive_bleu import Case, tokens
from truebleu.metrics.bleu import BLEU, USE_INSTEAD, BLEUScore
from truebleu.metrics.bleu_formula import SMALL, TINY
from truebleu.rendering.elements import Block, Heading, Paragraph, Table
from truebleu.rendering.equations import Equation, Node, join_nodes
from truebleu.rendering.number_format import (
    MINUS,
    NumberFormatter,
    fixed_formatter,
    format_compact,
    format_number,
    name_ngrams,
    signed_formatter,
)
from truebleu.rendering.view import Content
from truebleu.text.terminal_layout import format_count

# The customary reading of a BLEU score between 0 and 1: each band ends where the next one starts.
BANDS = {
    0.0: "almost useless",
    0.1: "quality varies",
    0.4: "high quality",
    0.6: "often better than human",
}
CONVENTION = (
    "This is a convention for corpora and not a measurement: nobody has shown that these limits "
    "hold for your language, your text or a single sentence."
)

TOKEN = "token"

# The value of BLEU's parameter `aggregate` that makes a corpus' score a mean.
SEGMENTS = "segments"


def of_pair(case: Case[BLEU, BLEUScore]) -> dict[str, Any]:
    """The explanation of one hypothesis and its references."""
    metric, system = case.metric, _system(case, segment=True)
    numbers = [number for number, _ in case.references]
    mine, *references = (tokens(metric, text) for text in case.texts)
    naive_bleu.add_to_segment(system, mine, references, numbers)
    for order in system["orders"] if case.recall else ():
        order["recall"] = [
            {
                "reference": number,
                **naive_bleu.shares(*naive_bleu.overlap(mine, reference, order["order"])),
            }
            for number, reference in zip(numbers, references, strict=True)
        ]
    rule, tie = metric.parameters["reference_length"], metric.parameters["tie"]
    lengths = list(map(len, references))
    _, chosen = naive_bleu.reference_length(len(mine), lengths, rule, tie)
    system["reference_choice"] = {
        "rule": rule,
        "tie": tie,
        "references": [numbers[i] for i in chosen],
        "lengths": lengths,
    }
    return system


def of_corpus(case: Case[BLEU, BLEUScore]) -> dict[str, Any]:
    """The explanation of a corpus."""
    averaged = case.metric.aggregate == SEGMENTS
    system = _system(case, segment=averaged, averaged=averaged)
    naive_bleu.add_to_corpus(system, case)
    return system


def _system(
    case: Case[BLEU, BLEUScore], *, segment: bool, averaged: bool = False
) -> dict[str, Any]:
    """A score and the steps to it, without the words."""
    metric, score = case.metric, case.score
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
    low = max(start for start in BANDS if start <= fraction)
    high = min((start for start in BANDS if start > fraction), default=None)
    return {"from": low, "to": high, "words": BANDS[low]}


def _orders(metric: BLEU, score: BLEUScore, *, segment: bool) -> list[dict[str, Any]]:
    """The contribution of each order: counts, smoothing, precision, weight, logarithm."""
    given = metric.parameters
    hopeless = (given["no_match"] == "zero" and not any(score.matches)) or (
        given["no_match"] == "any-zero" and not all(score.matches)
    )
    orders = []
    zeros = 0
    counts = zip(score.matches, score.totals, score.precisions, strict=True)
    for place, (matches, total, precision) in enumerate(counts, 1):
        zeros += matches == 0 and total > 0
        smoothed = None if hopeless else _smoothed(metric, place, matches, total, zeros)
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
                "order": place,
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
    value, kind = metric.smoothing_value or 0.0, metric.smoothing
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
    name = name_ngrams(first["order"])
    if not first["total"]:
        short = f"the hypothesis is too short to have any {name}, and a product with 0 is 0"
        return f"{short}; {USE_INSTEAD}"
    return f"none of the {name} match, and a product with 0 is 0"


def difference(
    metric: BLEU, first: dict[str, Any], second: dict[str, Any], *, corpus: bool
) -> dict[str, Any]:
    """The difference of two scores' logarithms, split into brevity penalty and orders.

    ln BLEU is a sum, so its difference is one too, term by term. Each term's part of the
    difference in points is in the same proportion (the logarithmic mean makes them add up).
    """
    difference = second["score"] - first["score"]
    why = None
    if corpus and metric.aggregate == SEGMENTS:
        why = "the scores are means of the segments' scores, and have no split into orders"
    elif zero := [system["name"] for system in (first, second) if not system["score"]]:
        why = (
            f"{' and '.join(zero)} {'score' if len(zero) > 1 else 'scores'} 0, and 0 has no "
            "logarithm that a difference could be split of"
        )
    if why is not None:
        nothing = dict.fromkeys(("log_difference", "brevity", "orders", "weights"))
        return {**nothing, "orders": [], "zero": why}
    whole = log(second["score"]) - log(first["score"])
    # Points for a unit of the logarithm; the limit where both scores are the same.
    points = difference / whole if whole else first["score"]

    def part(delta: float) -> dict[str, float]:
        return {"log": delta, "points": delta * points}

    def term(order: dict[str, Any]) -> float:
        return order["weight"] * order["log"] if order["log"] is not None else 0.0

    units = _units(metric, second["orders"]) - _units(metric, first["orders"])
    return {
        "log_difference": whole,
        "brevity": part(log(second["brevity_penalty"]) - log(first["brevity_penalty"])),
        "orders": [
            {"order": one["order"], **part(term(other) - term(one))}
            for one, other in zip(first["orders"], second["orders"], strict=True)
        ],
        "weights": part(units) if units else None,
        "zero": None,
    }


# ---- blocks ----


def blocks(content: Content, system: Content, level: int) -> Iterator[Block]:
    """One system: its n-grams, or those that a corpus has most of, precisions and length."""
    if "tokens" in system:
        several = len(content["references"]) > 1
        yield from ngram_layout.tables(system, level, several=several)
    yield Heading(level, "Precisions")
    yield from _precisions(system)
    yield from _recall(system, level)
    if "tokens" not in system:
        yield from ngram_layout.most_frequent(system, level)
    yield Heading(level, "Length")
    yield Paragraph(_length(content, system))


def _precisions(system: Content) -> Iterator[Block]:
    orders = system["orders"]
    header = ["order", "matches", "precision", "weight", "ln p"]
    smoothed = any(order["smoothed"] for order in orders)
    if smoothed:
        header.insert(2, "smoothed")
    rows = []
    for order in orders:
        row = [str(order["order"]), f"{order['matches']}/{order['total']}"]
        if smoothed:
            row.append(_fraction(order["smoothed"]))
        rows.append([*row, _precision(order), format_compact(order["weight"]), _logarithm(order)])
    yield Table.from_text_rows(header, rows, text_columns=())
    yield from (Paragraph(note) for note in map(_note, orders) if note)


def _recall(system: Content, level: int) -> Iterator[Block]:
    """Clipped recall and F-measure, if they were asked for."""
    orders = system["orders"]
    if "recall" not in orders[0]:
        return
    yield Heading(level, "Recall, which BLEU does not use")
    several = len(orders[0]["recall"]) > 1
    header = ["order", *(["reference"] if several else []), "matches", "recall", "F"]
    rows = []
    for order in orders:
        for one in order["recall"]:
            which = [str(one["reference"])] if several else []
            counts = f"{one['matches']}/{one['total']}"
            rows.append(
                [
                    str(order["order"]),
                    *which,
                    counts,
                    format_number(one["recall"]),
                    format_number(one["f"]),
                ]
            )
    yield Table.from_text_rows(header, rows, text_columns=())
    yield Paragraph(
        "Recall is clipped like precision, reference by reference, and F is the harmonic mean of "
        "both. BLEU has its brevity penalty instead."
    )


def _fraction(smoothed: Content | None) -> str:
    if smoothed is None:
        return ""
    if smoothed["denominator"] == 1:
        return f"{smoothed['numerator']:.3g}"
    return f"{format_compact(smoothed['numerator'])}/{format_compact(smoothed['denominator'])}"


def _precision(order: Content) -> str:
    written = {"left out": "left out", "counts as 1": "1"}
    return written.get(order["state"]) or format_number(order["precision"] / 100)


def _logarithm(order: Content) -> str:
    if order["state"] == "makes it 0":
        return f"{MINUS}∞"
    return "" if order["log"] is None else format_number(order["log"])


NOTES = {
    "left out": "is left out: there are no {} in the hypothesis",
    "counts as 1": "counts as precision 1: there are no {} in the hypothesis",
    "skipped": "is skipped, as NLTK skips a precision of 0 that smoothing left",
}


def _note(order: Content) -> str:
    """A sentence on smoothing or leaving out of an order."""
    note = NOTES.get(order["state"], "").format(name_ngrams(order["order"]))
    if order["smoothed"]:
        note = f"is smoothed: {order['smoothed']['how']}"
    return note and f"Order {order['order']} {note}."


RULES = {
    "closest": "the closest in length to the hypothesis",
    "shortest": "the shortest",
    "longest": "the longest",
    "average": "the mean of all",
    "average-truncated": "the mean of all, truncated",
    "single": "the only one",
}


def _length(content: Content, system: Content) -> str:
    c, r = system["hypothesis_length"], system["reference_length"]
    choice = system["reference_choice"]
    text = (
        f"The hypothesis has {format_count(c, 'token')}; the effective reference length is "
        f"{format_number(r)}. "
    )
    if content["kind"] == "corpus":
        text = (
            f"All hypotheses have {format_count(c, 'token')}; the effective reference "
            "length, summed over "
            f"all segments, is {format_number(r)}. "
        )
        if len(choice["segments"]) > 1:
            first, *more = choice["segments"].items()
            text += f"Reference {first[0]} gave the length of {first[1]} segments"
            text += "".join(f", reference {i} of {n}" for i, n in more) + ". "
    elif len(choice["lengths"]) > 1:
        lengths = ", ".join(map(str, choice["lengths"]))
        rule = RULES[choice["rule"]]
        if choice["rule"].startswith("average"):
            text += f"It is {rule} ({lengths}). "
        else:
            which = " and ".join(map(str, choice["references"]))
            plural = "s" if len(choice["references"]) > 1 else ""
            text += f"It is that of reference{plural} {which}, {rule} ({lengths}). "
            near = {abs(length - c) for length in choice["lengths"] if length != r}
            if choice["rule"] == "closest" and abs(r - c) in near:
                text += f"Of lengths that are equally close, the {choice['tie']} counts. "
    penalty = format_number(system["brevity_penalty"])
    if system["brevity_penalty"] == 1:
        return f"{text}There is no brevity penalty: BP = 1."
    if c < r:
        return f"{text}What falls short of it is penalized: BP = {penalty}."
    return f"{text}The brevity penalty is {penalty}."


def reading(content: Content, system: Content) -> str:  # noqa: ARG001
    """The customary reading of scores of such a size."""
    band = system["reading"]["band"]
    low, high = format_number(band["from"], 1), band["to"]
    limits = f"between {low} and {format_number(high, 1)}" if high is not None else f"above {low}"
    if not band["from"]:
        limits = f"below {format_number(high, 1)}"
    told = f"By custom, scores {limits} are read as “{band['words']}”."
    return f"{ngram_layout.share(system)}. {told}"


def compared(content: Content, write: NumberFormatter) -> Iterator[Block]:
    """Two systems beside each other, and where the difference comes from."""
    one, systems = content["comparison"], content["systems"]
    rows = [
        [
            system["name"],
            write(system["score"]),
            *map(_precision, system["orders"]),
            format_number(system["brevity_penalty"]),
        ]
        for system in systems
    ]
    orders = [f"p{order['order']}" for order in systems[0]["orders"]]
    yield Table.from_text_rows(["system", "BLEU", *orders, "BP"], rows)
    yield Heading(2, "Where the difference comes from")
    points, logs = signed_formatter(write), signed_formatter(fixed_formatter(4))
    names = f"from {one['first']} to {one['second']}"
    if one["zero"] is not None:
        difference = points(one["difference"])
        yield Paragraph(
            f"The difference {names} is {difference}, and it is not split: {one['zero']}."
        )
        return
    yield Paragraph(
        f"The difference {names} is {points(one['difference'])} points, or "
        f"{logs(one['log_difference'])} in the logarithm. The logarithm of BLEU is a sum, so its "
        "difference splits exactly; the points are shared out in the same proportion."
    )
    first, second = ([order["weight"] for order in system["orders"]] for system in systems)
    if first != second:
        yield Paragraph(
            "The two means are over different orders, so what an order adds is partly its weight."
        )
    parts = [("brevity penalty", one["brevity"])]
    parts += [(f"order {order['order']}", order) for order in one["orders"]]
    if one["weights"] is not None:
        parts.append(("weights that do not sum to 1", one["weights"]))
    split = [[name, logs(part["log"]), points(part["points"])] for name, part in parts]
    split.append(["together", logs(one["log_difference"]), points(one["difference"])])
    yield Table.from_text_rows(["part", "Δ ln BLEU", "points"], split, has_total_row=True)


# ---- the formula ----


def _counted(order: Content) -> Node:
    return ("frac", str(order["matches"]), str(order["total"]))


def _entering(order: Content) -> Node:
    """The precision of an order as it enters the formula."""
    if order["state"] == "counts as 1":
        return "1"
    smoothed = order["smoothed"]
    if smoothed is None:
        return _counted(order)
    if smoothed["denominator"] == 1 and smoothed["numerator"] < 1e-300:
        return f"{smoothed['numerator']:.3g}"
    # pycocoevalcap's guards do not show among four digits.
    return ("frac", *(format_compact(smoothed[part]) for part in ("numerator", "denominator")))


def formula(system: Content, parameters: Content) -> list[Equation]:
    """The formula of a system's score, line by line."""
    brevity = _brevity(system, parameters)
    result = format_number(system["fraction"])
    if system["averaged"]:
        return [*brevity, ("BLEU", f"mean of the segments' scores = {result}")]
    summand: Node = ("row", ("sum", "n"), ("sub", "w", "n"), " ", ("ln", ("sub", "p", "n")))
    general: Node = ("row", "BP · ", ("exp", summand))
    lines: list[Equation] = [*brevity, ("BLEU", general)]
    if system["zero"] is not None:
        # Of an order without n-grams 0/0 is taken for 0.
        zero: list[Equation] = [
            (("sub", "p", str(order["order"])), ("row", _counted(order), " = 0"))
            for order in system["orders"]
            if order["state"] == "makes it 0"
        ]
        return [*lines, *zero[:1], ("", "0")]
    bp = format_number(system["brevity_penalty"])
    sums = format_number(system["log_mean"])
    return [
        *lines,
        ("", ("row", f"{bp} · ", ("exp", _terms(system["orders"])))),
        ("", ("row", f"{bp} · ", ("exp", sums))),
        ("", f"{bp} · {format_number(system['geometric_mean'])}"),
        ("", result),
    ]


def _brevity(system: Content, parameters: Content) -> list[Equation]:
    c, r = system["hypothesis_length"], system["reference_length"]
    value = format_number(system["brevity_penalty"])
    form = parameters["brevity_penalty"]
    if form == "none":
        return [("BP", "1, for this metric has none")]
    if system["brevity_penalty"] == 1:
        return [("BP", f"1, because {c} ≥ {format_number(r)}")]
    if not c and form == "standard":
        return [("BP", f"{value}, because there are no tokens")]
    more = 1 if form == "plus-one" else 0
    lengths = ("frac", format_number(r + more), format_number(c + more))
    return [("BP", ("row", ("exp", ("row", f"1 {MINUS} ", lengths)), f" = {value}"))]


def _terms(orders: Sequence[Content]) -> Node:
    """Σ wₙ ln pₙ with the numbers; one weight for all stands before the bracket."""
    used = [order for order in orders if order["state"] in ("counts", "counts as 1")]
    weights = [order["weight"] for order in used]
    logs: list[Node] = [("ln", _entering(order)) for order in used]
    if len(set(weights)) != 1:
        parts = [
            ("row", f"{format_compact(w)} ", node) for w, node in zip(weights, logs, strict=True)
        ]
        return join_nodes(parts, " + ")
    summed = join_nodes(logs, " + ")
    if weights[0] == 1:
        return summed
    whole = round(1 / weights[0]) if weights[0] else 0
    equal = whole and abs(1 / whole - weights[0]) < 1e-12
    weight: Node = ("frac", "1", str(whole)) if equal else format_compact(weights[0])
    return ("row", weight, " ", ("paren", summed))
