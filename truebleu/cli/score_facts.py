"""The components of a score in words: precisions, penalties and lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from truebleu.metrics.base import Score
from truebleu.text.terminal_layout import join_words

# Counts by field of `Score.details`, in display order.
_COUNT_LABELS = {
    "edits": "edits",
    "hits": "correct",
    "substitutions": "substituted",
    "deletions": "missing",
    "insertions": "inserted",
    "chunks": "chunks",
}
_PENALTY_LABELS = {
    "brevity_penalty": "brevity penalty",
    "penalty": "length penalty",
    "fragmentation_penalty": "fragmentation penalty",
}


def list_score_facts(score: Score, scale: int = 100) -> Iterator[tuple[str, str]]:
    """Yield the names and values of the components of a score, for display.

    scale: upper end of the scale of percentages, 100 or 1.
    """
    details = score.details()

    def format_percentage(value: float) -> str:
        return f"{value:.1f}" if scale == 100 else f"{value / 100:.3f}"

    yield from _list_precisions(details, format_percentage)
    if "information" in details:
        yield "information", _join_orders(map("{:.2f}".format, details["information"]), "n-grams")
    for field, label in _PENALTY_LABELS.items():
        if field in details:
            yield label, _describe_penalty(field, details)
    counts = [
        f"{details[name]:,} {label}" for name, label in _COUNT_LABELS.items() if name in details
    ]
    if counts:
        yield "counts", join_words(counts)
    lengths = _describe_lengths(details)
    if lengths:
        yield "length", lengths


def _list_precisions(
    details: Mapping[str, Any], format_percentage: Callable[[float], str]
) -> Iterator[tuple[str, str]]:
    """Yield precision and recall, per order or for all orders."""
    matches, totals = details.get("matches"), details.get("totals")
    precisions = details.get("precisions")
    if precisions is None and isinstance(matches, list) and isinstance(totals, list):
        precisions = [
            100 * match / total if total else 0.0
            for match, total in zip(matches, totals, strict=True)
        ]
    character_order = details.get("char_order", 0)
    for label, values in (("precisions", precisions), ("recalls", details.get("recalls"))):
        if values is None:
            continue
        numbers = list(map(format_percentage, values))
        if character_order:
            yield f"character {label}", _join_orders(numbers[:character_order], "characters")
        if numbers[character_order:]:
            kind = "word" if character_order else "n-gram"
            yield f"{kind} {label}", _join_orders(numbers[character_order:], "n-grams")
    for label in ("precision", "recall"):
        if label in details:
            value = details[label]
            yield label, format_percentage(value) if value > 1 else f"{value:.3f}"
    if isinstance(matches, int) and isinstance(totals, int):
        yield "matches", f"{matches:,} of {totals:,} n-grams"


def _join_orders(numbers: Iterable[str], unit: str) -> str:
    """Join the numbers of all n-gram orders, and add the range of orders."""
    orders = list(numbers)
    text, count = "/".join(orders), len(orders)
    if unit == "characters":
        return f"{text} (1 to {count} characters)"
    return f"{text} (1- to {count}-grams)" if count > 1 else f"{text} (1-grams)"


def _describe_penalty(field: str, details: Mapping[str, Any]) -> str:
    value = f"{details[field]:.3f}"
    if field != "brevity_penalty":
        return value
    if details[field] == 1:
        return f"{value} (none: the output is not shorter than the reference)"
    return f"{value} (the output is shorter than the reference)"


def _describe_lengths(details: Mapping[str, Any]) -> str:
    """Describe the lengths of output and reference; return "" if they are unknown."""
    hypothesis, reference = (details.get(f"{side}_length") for side in ("hypothesis", "reference"))
    if reference is None:
        return ""
    expected = f"{reference:,.0f}" if float(reference).is_integer() else f"{reference:,.1f}"
    unit = "characters" if "cer" in details else "tokens"
    if hypothesis is None:
        return f"{expected} {unit} in the reference"
    ratio = f" (ratio {hypothesis / reference:.3f})" if reference else ""
    return f"{hypothesis:,} {unit}; reference {expected}{ratio}"
