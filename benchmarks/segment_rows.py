"""Benchmarks of segment scores: single calls, batches, long segments, token ids and rewards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import corpus
from benchmark_table import Comparison, Row, benchmark, format_seconds
from measure import make_job, run_in_turn

if TYPE_CHECKING:
    from collections.abc import Iterator

TOPIC = "Segments, token ids and rewards"

LENGTHS = (64, 256, 260, 512, 1024, 4096)
# The largest allowed cost per token, as a multiple of the cost at 256 tokens; and the segments.
LENGTH_TARGETS = {"bleu": (1.5, 400), "chrf": (2.0, 400), "rouge-l": (2.0, 20), "gleu": (2.0, 20)}

# The target in seconds for sentence BLEU of a batch, by the numbers of texts and of ids.
ID_TARGETS = {(64, 256): 0.3e-3, (1024, 256): 5e-3, (1024, 512): 12e-3, (256, 1024): 6e-3}
ID_CALLS = 20

# For each reward: the form of the completions, their number per call, the number of segments that
# form one completion (six have 100 words on average), and the target in seconds per call; "one"
# calls the reward for each completion, and has a target per completion.
REWARD_CALLS = (
    ("bleu", "plain", 64, 1, 0.2e-3),
    ("bleu", "messages", 64, 1, 0.2e-3),
    ("chrf", "plain", 64, 1, 0.2e-3),
    ("bleu", "thinking", 64, 6, 0.5e-3),
    ("chrf", "thinking", 64, 6, 0.5e-3),
    ("bleu", "thinking", 1024, 6, 8e-3),
    ("chrf", "thinking", 1024, 6, 8e-3),
    ("bleu", "one", 1024, 6, 10e-6),
    ("chrf", "one", 1024, 6, 10e-6),
)
SHAPES = {
    "plain": "{metric}_reward of {size:,} completions{words}, one call",
    "messages": "{metric}_reward of {size:,} completions{words}, one call, conversations",
    "thinking": "{metric}_reward of {size:,} completions{words}, one call, think tags stripped",
    "one": "{metric}_reward.one of a completion{words}, think tags stripped",
}
COMPLETIONS = 8 * 1024
PEER_COMPLETIONS = 256
"""Number of texts that sacreBLEU scores; its time grows linearly with the number of texts."""


@benchmark(TOPIC)
def sentence() -> Iterator[Comparison]:
    """Score one pair per call; compare with sacrebleu.sentence_bleu."""
    sample = corpus.load_sentences(range(22, 29), 2000)
    yield Comparison(
        "metric.sentence(h, [r]), one call, 22 to 28 words",
        make_job("score_sentences", *sample.files),
        "sacrebleu",
        make_job("score_pairs_by_sacrebleu", "bleu", 1, 1, *sample.files),
        units=(sample.segments, sample.segments),
        min_ratio=150,
        suffixes=("", f" ({sample.segments:,} pairs each)"),
    )


@benchmark(TOPIC)
def segments() -> Iterator[Comparison]:
    """Compute 100,000 segment scores; compare with a loop over sacreBLEU."""
    text = corpus.load_million().head(100_000)
    sample = text.head(10_000)
    for calls, name in enumerate(("", ", second call")):
        yield Comparison(
            f"metric.segments, 100,000 pairs{name}",
            make_job("score_segments", calls, *text.files),
            "sacrebleu",
            make_job("score_segments_by_sacrebleu", *sample.files),
            units=(1, sample.segments / text.segments),
            min_ratio=0 if calls else 150,
            suffixes=("", f" ({sample.segments:,} pairs, linear)"),
            note="Python creates the UTF-8 form of each non-ASCII string on first use; the row "
            "of the second call shows the time without it.",
        )


@benchmark(TOPIC)
def long_segments(runs: int) -> Iterator[Row]:
    """Score segments of 64 to 4,096 tokens, of which 30 % differ; compare the costs per token."""
    reference = corpus.load_million().references[0]
    for metric, (max_ratio, count) in LENGTH_TARGETS.items():
        jobs = {
            str(length): make_job("score_long_segments", metric, length, count, reference)
            for length in LENGTHS
        }
        costs = run_in_turn(runs, jobs)
        per_token = {n: costs[str(n)].processor / (n * count) for n in LENGTHS}
        for length in LENGTHS:
            ratio = per_token[length] / per_token[256]
            yield Row(
                f"{metric}, {count} segments of {length:,} tokens, list[str]",
                f"≤ {max_ratio:g} × 256 tokens" if length > 256 else "",
                f"{format_seconds(per_token[length])} per token",
                ratio=f"{ratio:.2f} ×",
                met=ratio <= max_ratio if length > 256 else None,
                figures={metric: costs[str(length)]},
            )


@benchmark(TOPIC)
def token_ids() -> Iterator[Comparison]:
    """Score arrays of token ids, of which 30 % differ; compare with NLTK on lists."""
    for (texts, length), max_seconds in ID_TARGETS.items():
        yield Comparison(
            f"sentence BLEU of {texts:,} x {length:,} token ids, two int64 arrays",
            make_job("score_token_ids", texts, length, ID_CALLS),
            "NLTK",
            make_job("score_token_ids_by_nltk", texts, length),
            units=(ID_CALLS, 1),
            max_seconds=max_seconds,
            tolerance=1e-9,
        )


@benchmark(TOPIC)
def rewards() -> Iterator[Comparison]:
    """Compute rewards as trainers do, in batches and one by one; compare with a sacreBLEU loop."""
    million = corpus.load_million()
    for metric, shape, size, joined, max_seconds in REWARD_CALLS:
        text, sample = (million.head(n * joined) for n in (COMPLETIONS, PEER_COMPLETIONS))
        per_unit = 1 if shape == "one" else size
        words = " of 100 words" if joined > 1 else ""
        yield Comparison(
            SHAPES[shape].format(metric=metric, size=size, words=words),
            make_job("call_reward", metric, shape, size, joined, *text.files),
            "sacrebleu",
            make_job("score_pairs_by_sacrebleu", metric, 0.01, joined, *sample.files),
            units=(COMPLETIONS / per_unit, PEER_COMPLETIONS / per_unit),
            max_seconds=max_seconds,
            suffixes=("", " (a loop)"),
        )
