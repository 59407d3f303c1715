"""BLEU's formula with the numbers put in, line by line."""

from __future__ import annotations

from truebleu.views.rendering.equations import between
from truebleu.views.rendering.numbers import MINUS, number, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from truebleu.views.rendering.equations import Equation, Node


def precision(order: Mapping[str, Any]) -> Node:
    """The precision of an order as it enters the formula."""
    if order["state"] == "counts as 1":
        return "1"
    smoothed = order["smoothed"]
    if smoothed is None:
        return ("frac", str(order["matches"]), str(order["total"]))
    if smoothed["denominator"] == 1 and smoothed["numerator"] < 1e-300:
        return f"{smoothed['numerator']:.3g}"
    # pycocoevalcap's guards do not show among four digits.
    return ("frac", *(short(smoothed[part]) for part in ("numerator", "denominator")))


def of(system: Mapping[str, Any], parameters: Mapping[str, Any]) -> list[Equation]:
    """The formula of a system's score, line by line."""
    brevity = _brevity(system, parameters)
    result = number(system["fraction"])
    if system["averaged"]:
        return [*brevity, ("BLEU", f"mean of the segments' scores = {result}")]
    summand: Node = ("row", ("sum", "n"), ("sub", "w", "n"), " ", ("ln", ("sub", "p", "n")))
    general: Node = ("row", "BP · ", ("exp", summand))
    lines: list[Equation] = [*brevity, ("BLEU", general)]
    if system["zero"] is not None:
        lines += _zero(system)
        return [*lines, ("", "0")]
    bp = number(system["brevity_penalty"])
    sums = number(system["log_mean"])
    lines += [
        ("", ("row", f"{bp} · ", ("exp", _terms(system["orders"])))),
        ("", ("row", f"{bp} · ", ("exp", sums))),
        ("", f"{bp} · {number(system['geometric_mean'])}"),
        ("", result),
    ]
    return lines


def _brevity(system: Mapping[str, Any], parameters: Mapping[str, Any]) -> list[Equation]:
    c, r = system["hypothesis_length"], system["reference_length"]
    value = number(system["brevity_penalty"])
    form = parameters["brevity_penalty"]
    if form == "none":
        return [("BP", "1, for this metric has none")]
    if system["brevity_penalty"] == 1:
        return [("BP", f"1, because {c} ≥ {number(r)}")]
    if not c and form == "standard":
        return [("BP", f"{value}, because there are no tokens")]
    more = 1 if form == "plus-one" else 0
    lengths = ("frac", number(r + more), number(c + more))
    return [("BP", ("row", ("exp", ("row", f"1 {MINUS} ", lengths)), f" = {value}"))]


def _zero(system: Mapping[str, Any]) -> list[Equation]:
    used = [order for order in system["orders"] if order["state"] == "makes it 0"]
    if not used:
        return []
    # Of an order without n-grams 0/0 is taken for 0.
    order = used[0]
    counts: Node = ("frac", str(order["matches"]), str(order["total"]))
    return [(("sub", "p", str(order["order"])), ("row", counts, " = 0"))]


def _terms(orders: Sequence[Mapping[str, Any]]) -> Node:
    """Σ wₙ ln pₙ with the numbers; one weight for all stands before the bracket."""
    used = [order for order in orders if order["state"] in ("counts", "counts as 1")]
    weights = [order["weight"] for order in used]
    logs: list[Node] = [("ln", precision(order)) for order in used]
    if len(set(weights)) != 1:
        parts = [("row", f"{short(w)} ", node) for w, node in zip(weights, logs, strict=True)]
        return between(parts, " + ")
    summed = between(logs, " + ")
    if weights[0] == 1:
        return summed
    whole = round(1 / weights[0]) if weights[0] else 0
    equal = whole and abs(1 / whole - weights[0]) < 1e-12
    weight: Node = ("frac", "1", str(whole)) if equal else short(weights[0])
    return ("row", weight, " ", ("paren", summed))
