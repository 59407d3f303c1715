"""Benchmarks of segments of different lengths, and of token ids."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import corpus
from benchmark_table import Row, benchmark, check_agreement, compare_times, format_seconds
from measure import run_in_turn, run_job

if TYPE_CHECKING:
    from collections.abc import Iterator

LENGTHS = (64, 256, 260, 512, 1024, 4096)
SEGMENTS = 400

# The largest allowed cost per token, as a multiple of the cost at 256 tokens.
LENGTH_TARGETS = {"bleu": 1.5, "chrf": 2.0, "rouge-l": 2.0, "gleu": 2.0}

# The target in milliseconds for sentence BLEU of a batch, by the numbers of texts and of ids.
ID_TARGETS = {(64, 256): 0.3, (1024, 256): 5.0, (1024, 512): 12.0, (256, 1024): 6.0}
ID_CALLS = 20


@benchmark
def long_segments(runs: int) -> Iterator[Row]:
    """Score segments of 64 to 4,096 tokens, of which 30 % differ; compare the costs per token."""
    reference = corpus.load_million().references[0]
    for metric, max_ratio in LENGTH_TARGETS.items():
        segments = SEGMENTS if metric in ("bleu", "chrf") else SEGMENTS // 20
        costs = run_in_turn(
            min(runs, 5),
            {
                str(length): partial(
                    run_job, "score_long_segments", metric, length, segments, reference
                )
                for length in LENGTHS
            },
        )
        tokens = {length: length * segments for length in LENGTHS}
        per_token = {n: costs[str(n)].processor / tokens[n] for n in LENGTHS}
        for length in LENGTHS:
            ratio = per_token[length] / per_token[256]
            is_long = length > 256
            yield Row(
                f"{metric}, {segments} segments of {length:,} tokens, list[str]",
                f"≤ {max_ratio:g} × 256 tokens" if is_long else "",
                f"{format_seconds(per_token[length])} per token",
                "",
                f"{ratio:.2f} ×",
                met=ratio <= max_ratio if is_long else None,
                figures={metric: costs[str(length)]},
            )


@benchmark
def token_ids(runs: int) -> Iterator[Row]:
    """Score arrays of token ids, of which 30 % differ; compare with NLTK on lists."""
    for (texts, length), milliseconds in ID_TARGETS.items():
        costs = run_in_turn(
            runs,
            {
                "truebleu": partial(run_job, "score_token_ids", texts, length, ID_CALLS),
                "NLTK": partial(run_job, "score_token_ids_by_nltk", texts, length),
            },
        )
        check_agreement("NLTK", costs["truebleu"], costs["NLTK"], tolerance=1e-9)
        own_seconds = costs["truebleu"].processor / ID_CALLS
        yield compare_times(
            f"sentence BLEU of {texts:,} x {length:,} token ids, two int64 arrays",
            own_seconds,
            "NLTK",
            costs["NLTK"].processor,
            target=f"≤ {milliseconds:g} ms",
            met=1000 * own_seconds <= milliseconds,
            figures=costs,
        )
