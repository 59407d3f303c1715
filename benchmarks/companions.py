"""The rows for metrics beside BLEU: WER and CER beside jiwer, ROUGE beside rouge-score, METEOR."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import corpus
from measure import in_turn, job
from rows import Row, benchmark

if TYPE_CHECKING:
    from collections.abc import Iterator

# Each metric: the job that computes it otherwise, its words, and the microseconds a segment that
# were promised.
METRICS = {
    "wer": ("jiwer", ("words",), 5.0),
    "cer": ("jiwer", ("characters",), 5.0),
    "rouge-l": ("rouge_score", ("rougeL", ""), None),
    "rouge-l+stem": ("rouge_score", ("rougeL", "stem"), None),
    "meteor": ("meteor_jar", (), None),
    "meteor-nltk": ("nltk_meteor", (), None),
}
SEGMENTS = 2_000
"""About the size of a test set: METEOR's tables take seconds to load, whatever is scored."""


@benchmark
def companions(runs: int) -> Iterator[Row]:
    """The score of two lists of strings by each metric, beside its original in the same run."""
    text = corpus.test_set().head(SEGMENTS)
    files = text.hypotheses, text.references[0]
    count = sum(1 for _ in corpus.read_lines(files[0]))
    for name, (original, words, promised) in METRICS.items():
        costs = in_turn(
            runs if promised else min(runs, 3),
            {
                "truebleu": partial(job, "score_by", name, *files),
                original: partial(job, original, *words, *files),
            },
        )
        own, theirs = costs["truebleu"], costs[original]
        mine, other = float(own.output), float(theirs.output)
        if not math.isclose(mine, other, rel_tol=1e-12):
            raise SystemExit(f"benchmarks: {name} is {mine}, and {original} says {other}")
        # Programs of their own take processor time that is not this process's.
        kind = "elapsed" if name == "meteor" else "processor"
        each, their_each = (1e6 * getattr(cost, kind) / count for cost in (own, theirs))
        yield Row(
            f"{name}, {count:,} segments, list[str], in process",
            f"≤ {promised:g} µs a segment" if promised else "",
            f"{each:,.1f} µs a segment",
            f"{original.replace('_', '-')} {their_each:,.1f} µs",
            f"{their_each / each:.1f} × faster",
            each <= promised if promised else None,
            dict(costs),
        )
