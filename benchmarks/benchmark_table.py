"""The rows of the table of results: what each measures, beside which peer, and what was promised.

A benchmark is a function registered under the name that `run.py` takes; it yields one row for each
promise. Figures are medians of processor time unless a row says otherwise.
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
"""Segments that slow peers are timed on; their time grows linearly with segments, or faster."""


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    work: str
    target: str
    measured: str
    peer: str = ""
    ratio: str = ""
    met: bool | None = None
    """None where nothing was promised."""
    figures: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    """The reason, if it misses the target."""


BENCHMARKS: dict[str, Callable[[int], Iterator[Row]]] = {}


def benchmark(function: Callable[[int], Iterator[Row]]) -> Callable[[int], Iterator[Row]]:
    """Register a benchmark under its function's name, without a trailing underscore."""
    BENCHMARKS[function.__name__.rstrip("_")] = function
    return function


def shown(seconds: float) -> str:
    """Seconds with three digits, in the unit that suits them."""
    units = ((0.1, 1, "s"), (1e-3, 1e3, "ms"), (1e-6, 1e6, "µs"), (0, 1e9, "ns"))
    factor, unit = next((factor, unit) for least, factor, unit in units if seconds >= least)
    value = seconds * factor
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3}f} {unit}"


def beside(
    work: str,
    own: float,
    peer: str,
    theirs: float,
    *,
    least: float = 0,
    most: float = 0,
    **row: Any,
) -> Row:
    """A row that compares seconds with those of a peer.

    least: how many times as fast as the peer is promised; most: which share of its time.
    row: further fields of the row, in place of those made here; `about` ends the peer's cell.
    """
    about = row.pop("about", "")
    target = f"≥ {least:g} × {peer}" if least else f"≤ {most:g} × {peer}" if most else ""
    times = theirs / own
    return Row(
        work,
        row.pop("target", target),
        row.pop("measured", shown(own)),
        f"{peer} {shown(theirs)}{about}",
        f"{own / theirs:.2f} ×" if most else f"{times:,.{0 if times >= 20 else 1}f} × faster",
        row.pop("met", times >= least if least else own <= most * theirs if most else None),
        **row,
    )


def agree(peer: str, own: Costs, other: Costs, room: float = 0.0) -> None:
    """Stop if the contenders' results differ by more than `room`.

    Of lists, the peer's may be shorter: what it has is compared, except None.
    """
    ours, theirs = json.loads(own.output), json.loads(other.output)
    if room:
        pairs = zip(ours, theirs, strict=False) if isinstance(ours, list) else [(ours, theirs)]
        same = all(b is None or abs(a - b) <= room for a, b in pairs)
    else:
        same = (ours[: len(theirs)] if isinstance(ours, list) else ours) == theirs
    if not same or theirs == []:
        raise SystemExit(
            f"benchmarks: {peer} differs on the same text: {theirs!s:.80}, not {ours!s:.80}"
        )
