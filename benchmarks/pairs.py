"""The rows for all pairs: candidates of one segment against each other, beside other programs."""

from __future__ import annotations

import importlib.util
import json
from functools import partial
from typing import TYPE_CHECKING

import corpus
from measure import in_turn, job
from rows import MEBIBYTE, Row, benchmark

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from measure import Cost, Costs

CANDIDATES = 256
MANY = 2_000
TIMES = 20
"""Calls in one run: one takes a millisecond or two."""

FASTEST = {"bleu": 1e-7, "chrf": 3.5e-6}
"""The promised seconds per pair."""

PROMISED = {"bleu": {"sacrebleu": 1500}, "chrf": {"sacrebleu": 200, "fastchrf": 10}}
"""The promised speed, as a multiple of others'."""


@benchmark
def matrix(runs: int) -> Iterator[Row]:
    """All pairs of 256 candidates, beside sacreBLEU's loop and fastchrf."""
    path = corpus.candidates(CANDIDATES)
    for metric, promised in PROMISED.items():
        work = f"{CANDIDATES} × {CANDIDATES} {metric}, list[str], in process"
        known = [name for name in promised if importlib.util.find_spec(name)]
        costs = in_turn(runs, {"truebleu": partial(job, "matrix", metric, TIMES, path)})
        peers = in_turn(min(runs, 3), {name: _peer(name, metric, path) for name in known})
        own = costs["truebleu"].processor / TIMES / CANDIDATES**2
        yield Row(
            work,
            f"≤ {1e9 * FASTEST[metric]:,.0f} ns per pair",
            f"{1e9 * own:.1f} ns per pair, {1e-6 / own:.1f} M pairs/s",
            met=own <= FASTEST[metric],
            figures={**costs, **peers},
        )
        for name, target in promised.items():
            if name not in known:
                yield Row(work, f"≥ {target} × {name}", f"not measured: needs {name}")
                continue
            _agree(name, costs["truebleu"], peers[name])
            columns = len(json.loads(peers[name].output)[0]) if name == "sacrebleu" else CANDIDATES
            theirs = peers[name].processor / CANDIDATES / columns
            yield Row(
                work,
                f"≥ {target:,} × {name}",
                f"{1e9 * own:.1f} ns per pair",
                f"{name} {1e6 * theirs:.1f} µs per pair",
                f"{theirs / own:,.0f} × faster",
                theirs >= target * own,
            )


def _peer(name: str, metric: str, path: Path) -> partial[Cost]:
    if name == "fastchrf":
        return partial(job, "fastchrf_pairs", path)
    return partial(job, "sacrebleu_pairs", metric, path)


def _agree(peer: str, own: Costs, other: Costs) -> None:
    """Stop if the contenders did other work: their scores must be equal, to all digits."""
    if json.loads(own.output) != json.loads(other.output):
        raise SystemExit(f"benchmarks: {peer} gives other scores for the same pairs")


@benchmark
def many_pairs(runs: int) -> Iterator[Row]:
    """All pairs of 2,000 candidates with one thread and with two: time, and memory."""
    path = corpus.candidates(MANY)
    for metric in PROMISED:
        costs = in_turn(
            runs,
            {
                str(workers): partial(job, "large_matrix", metric, workers, path)
                for workers in (1, 2)
            },
        )
        one, two = costs["1"], costs["2"]
        yield Row(
            f"{MANY:,} × {MANY:,} {metric}, 2 threads, elapsed",
            "",
            f"{1e3 * two.elapsed:.0f} ms, {MANY**2 / two.elapsed / 1e6:.1f} M pairs/s",
            f"1 thread {1e3 * one.elapsed:.0f} ms",
            f"{one.elapsed / two.elapsed:.2f} × faster",
            figures=dict(costs),
        )
        peak = max(json.loads(run.output) for cost in costs.values() for run in cost.runs)
        yield Row(
            f"{MANY:,} × {MANY:,} {metric}, {MANY**2 * 8 / MEBIBYTE:.1f} MiB of scores",
            "≤ 64 MiB beside them",
            f"{peak / MEBIBYTE:.1f} MiB more at the peak than before",
            met=peak <= MANY**2 * 8 + 64 * MEBIBYTE,
        )
