"""The rows for training: rewards of a step's completions in one call."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import corpus
from measure import in_turn, job
from rows import Row, benchmark

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPLETIONS = 64
CALLS = 100
PEER_CALLS = 10
"""sacreBLEU's time grows linearly with completions."""

MOST = 0.2e-3
"""Seconds a call."""

CONTENDERS = {
    "bleu": ("bleu", "plain"),
    "messages": ("bleu", "messages"),
    "chrf": ("chrf", "plain"),
}
"""Name: metric, and whether completions are strings or lists of messages."""


@benchmark
def rewards(runs: int) -> Iterator[Row]:
    """Rewards of 64 completions in one call, as TRL calls, beside a loop over sacreBLEU."""
    text = corpus.million().head(COMPLETIONS * CALLS)
    less = corpus.million().head(COMPLETIONS * PEER_CALLS)
    costs = in_turn(
        runs,
        {
            "bleu": partial(job, "rewards", "bleu_reward", "plain", COMPLETIONS, *text.files),
            "messages": partial(
                job, "rewards", "bleu_reward", "messages", COMPLETIONS, *text.files
            ),
            "chrf": partial(job, "rewards", "chrf_reward", "plain", COMPLETIONS, *text.files),
        },
    )
    peers = in_turn(
        min(runs, 3),
        {
            "bleu": partial(job, "sacrebleu_rewards", "bleu", *less.files),
            "chrf": partial(job, "sacrebleu_rewards", "chrf", *less.files),
        },
    )
    for name, (metric, shape) in CONTENDERS.items():
        ours, theirs = (json.loads(each.output) for each in (costs[name], peers[metric]))
        if ours[: len(theirs)] != theirs:
            raise SystemExit(
                f"benchmarks: sacreBLEU's rewards differ from {name}'s on the same text"
            )
        own, peer = costs[name].processor / CALLS, peers[metric].processor / PEER_CALLS
        shown = ", conversations" if shape == "messages" else ""
        yield Row(
            f"{metric}_reward of {COMPLETIONS} completions, one call{shown}",
            "≤ 0.2 ms",
            f"{1e3 * own:.3f} ms",
            f"sacrebleu {1e3 * peer:.1f} ms (a loop)",
            f"{peer / own:.0f} × faster",
            own <= MOST,
            {name: costs[name], f"sacrebleu {metric}": peers[metric]},
        )
