"""Rows of the results table, and how a row is measured.

A benchmark is a function that is registered with its topic, under the name that `run.py` accepts.
It yields a `Comparison` of one call with a peer's call, or a `Row` that it has measured itself in
the number of runs that it receives.
Figures are medians of processor time unless a row says otherwise.
"""

from __future__ import annotations

import inspect
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

from measure import make_job, run_in_turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from measure import Cost

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


@dataclass(frozen=True)
class Comparison:
    """A row that compares truebleu's time with a peer's time, after checking that both agree."""

    work: str
    own: Callable[[], Cost]
    peer: str = ""
    peer_job: Callable[[], Cost] | None = None
    """None if there is no peer, or if it is not installed."""
    _: KW_ONLY
    units: tuple[float, float] = (1, 1)
    """Numbers by which the times of truebleu and of the peer are divided."""
    min_ratio: float = 0
    """The target, as a multiple of the peer's speed."""
    max_ratio: float = 0
    """The target, as a multiple of the peer's time."""
    max_seconds: float = 0
    """The target in seconds per unit."""
    check: Callable[[], Cost] | None = None
    """The job whose result must equal the peer's result (default: own)."""
    tolerance: float | None = 0.0
    """The largest difference between the results; None if they are not compared."""
    suffixes: tuple[str, str] = ("", "")
    """Texts after the times of truebleu and of the peer."""
    clock: str = "processor"
    """Which time counts: processor or elapsed."""
    note: str = ""

    def measure(self, runs: int) -> Row:
        """Run both contenders in turn, and return the row."""
        contenders = {"truebleu": self.own}
        if self.peer_job:
            contenders[self.peer] = self.peer_job
        costs = run_in_turn(runs, contenders)
        own_seconds = getattr(costs["truebleu"], self.clock) / self.units[0]
        measured = format_seconds(own_seconds) + self.suffixes[0]
        met = own_seconds <= self.max_seconds if self.max_seconds else None
        if not self.peer_job:
            missing = f"not measured: needs {self.peer}" if self.peer else ""
            return Row(self.work, self._format_target(), measured, missing, "", met, costs)
        peer_cost = costs[self.peer]
        if self.tolerance is not None:
            own_cost = run_in_turn(1, {"": self.check})[""] if self.check else costs["truebleu"]
            check_agreement(self.peer, own_cost.result, peer_cost.result, self.tolerance)
        peer_seconds = getattr(peer_cost, self.clock) / self.units[1]
        times = peer_seconds / own_seconds
        ratio = f"{times:,.{0 if times >= 20 else 1}f} × faster"
        if self.min_ratio:
            met = times >= self.min_ratio
        if self.max_ratio:
            met, ratio = own_seconds <= self.max_ratio * peer_seconds, f"{1 / times:.2f} ×"
        peer = f"{self.peer} {format_seconds(peer_seconds)}{self.suffixes[1]}"
        return Row(self.work, self._format_target(), measured, peer, ratio, met, costs, self.note)

    def _format_target(self) -> str:
        if self.min_ratio:
            return f"≥ {self.min_ratio:g} × {self.peer}"
        if self.max_ratio:
            return f"≤ {self.max_ratio:g} × {self.peer}"
        return f"≤ {format_seconds(self.max_seconds)}" if self.max_seconds else ""


BENCHMARKS: dict[str, Any] = {}
TOPICS: dict[str, str] = {}


def benchmark(topic: str) -> Callable[[Any], Any]:
    """Register a benchmark under its function's name, without a trailing underscore."""

    def add_benchmark(function: Any) -> Any:
        name = function.__name__.rstrip("_")
        BENCHMARKS[name], TOPICS[name] = function, topic
        return function

    return add_benchmark


def run_benchmark(name: str, runs: int) -> Iterator[Row]:
    """Yield the measured rows of a benchmark."""
    function = BENCHMARKS[name]
    for row in function(runs) if inspect.signature(function).parameters else function():
        yield row.measure(runs) if isinstance(row, Comparison) else row


def make_score_job(
    files: tuple[Path, ...],
    metric: str = "bleu",
    source: str = "list",
    workers: int = 1,
    **parameters: Any,
) -> Callable[[], Cost]:
    """Return a job that scores a hypothesis file with the files of its references."""
    return make_job("score_corpus", source, metric, parameters, workers, *files)


def format_seconds(seconds: float) -> str:
    """Format a time with three digits, in a suitable unit."""
    units = ((0.1, 1, "s"), (1e-3, 1e3, "ms"), (1e-6, 1e6, "µs"), (0, 1e9, "ns"))
    factor, unit = next((factor, unit) for least, factor, unit in units if seconds >= least)
    value = seconds * factor
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3}f} {unit}"


def check_agreement(peer: str, own_result: Any, peer_result: Any, tolerance: float = 0.0) -> None:
    """Exit if the contenders' results differ by more than `tolerance`.

    A peer's list may be shorter. All its entries except None are compared.
    """
    pairs = [(own_result, peer_result)]
    if isinstance(peer_result, list):
        pairs = list(zip(own_result, peer_result, strict=False))
    same = all(b is None or a == b or (tolerance and abs(a - b) <= tolerance) for a, b in pairs)
    if not same or not pairs:
        raise SystemExit(
            f"benchmarks: {peer} returned {peer_result!s:.80} for the same text (expected "
            f"{own_result!s:.80})"
        )
