"""Rows of the results table, with the work, the peer and the target of each row.

A benchmark is a function that is registered under the name that `run.py` accepts. It yields one row
per target. Figures are medians of processor time unless a row says otherwise.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from measure import Costs

MEBIBYTE = 1 << 20

PEER_SAMPLE = 20_000
"""Number of segments on which slow peers are timed. Their time grows at least linearly."""


@dataclass(frozen=True)
class Row:
    """One row of the table."""

    work: str
    target: str
    measured: str
    peer: str = ""
    ratio: str = ""
    met: bool | None = None
    """Whether the target was met; None without a target."""
    figures: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    """The reason, if the row misses the target."""


BENCHMARKS: dict[str, Callable[[int], Iterator[Row]]] = {}


def benchmark(function: Callable[[int], Iterator[Row]]) -> Callable[[int], Iterator[Row]]:
    """Register a benchmark under its function's name, without a trailing underscore."""
    BENCHMARKS[function.__name__.rstrip("_")] = function
    return function


def format_seconds(seconds: float) -> str:
    """Format a time with three digits, in a suitable unit."""
    units = ((0.1, 1, "s"), (1e-3, 1e3, "ms"), (1e-6, 1e6, "µs"), (0, 1e9, "ns"))
    factor, unit = next((factor, unit) for least, factor, unit in units if seconds >= least)
    value = seconds * factor
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3}f} {unit}"


def compare_times(
    work: str,
    own_cost: float,
    peer: str,
    peer_cost: float,
    *,
    min_ratio: float = 0,
    max_ratio: float = 0,
    **row: Any,
) -> Row:
    """Return a row that compares a time in seconds with a peer's time.

    min_ratio: the target, as a multiple of the peer's speed. max_ratio: the target, as a multiple
    of the peer's time. row: values for fields of the row; `about` is added to the peer's cell.
    """
    note = row.pop("about", "")
    target = (
        f"≥ {min_ratio:g} × {peer}"
        if min_ratio
        else f"≤ {max_ratio:g} × {peer}"
        if max_ratio
        else ""
    )
    times = peer_cost / own_cost
    return Row(
        work,
        row.pop("target", target),
        row.pop("measured", format_seconds(own_cost)),
        f"{peer} {format_seconds(peer_cost)}{note}",
        f"{own_cost / peer_cost:.2f} ×"
        if max_ratio
        else f"{times:,.{0 if times >= 20 else 1}f} × faster",
        row.pop(
            "met",
            times >= min_ratio
            if min_ratio
            else own_cost <= max_ratio * peer_cost
            if max_ratio
            else None,
        ),
        **row,
    )


def check_agreement(peer: str, own_costs: Costs, peer_costs: Costs, tolerance: float = 0.0) -> None:
    """Exit if the contenders' results differ by more than `tolerance`.

    A peer's list may be shorter. All its entries except None are compared.
    """
    own_result, peer_result = json.loads(own_costs.output), json.loads(peer_costs.output)
    if tolerance:
        pairs = (
            zip(own_result, peer_result, strict=False)
            if isinstance(own_result, list)
            else [(own_result, peer_result)]
        )
        same = all(b is None or abs(a - b) <= tolerance for a, b in pairs)
    else:
        same = (
            own_result[: len(peer_result)] if isinstance(own_result, list) else own_result
        ) == peer_result
    if not same or peer_result == []:
        raise SystemExit(
            f"benchmarks: {peer} returned {peer_result!s:.80} for the same text (expected "
            f"{own_result!s:.80})"
        )
