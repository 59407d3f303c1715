"""The rows of sets of texts, of training, and of other metrics and libraries."""

from __future__ import annotations

import importlib.util
import json
from functools import partial
from typing import TYPE_CHECKING

import corpus
from benchmark_table import (
    MEBIBYTE,
    Row,
    benchmark,
    check_agreement,
    comparison_row,
    format_seconds,
)
from measure import in_turn, job

if TYPE_CHECKING:
    from collections.abc import Iterator

CANDIDATES = 256
MANY_CANDIDATES = 2_000
CALLS_OF_MATRIX = 20
"""Number of calls in one run; a call takes one to two milliseconds."""

# Seconds per pair that were promised, and the speed as a multiple of others'.
PAIRS = {
    "bleu": (1e-7, {"sacrebleu": 1500}),
    "chrf": (3.5e-6, {"sacrebleu": 200, "fastchrf": 10}),
}

SENTENCES = 2_000
NLTK_SENTENCES = 10
"""Sentences that NLTK scores, each with all the others as references."""

SOURCES = 50
"""Number of sources in one of our runs; sacreBLEU scores a part of one source."""

COMPLETIONS = 64
CALLS = 100
PEER_CALLS = 10
"""sacreBLEU's time grows linearly with completions."""

# Each metric: the job that computes it otherwise, its arguments, and the microseconds a segment
# that were promised.
METRICS = {
    "wer": ("jiwer", ("words",), 5.0),
    "cer": ("jiwer", ("characters",), 5.0),
    "rouge-l": ("rouge_score", ("rougeL", ""), None),
    "rouge-l+stem": ("rouge_score", ("rougeL", "stem"), None),
    "meteor": ("meteor_jar", (), None),
    "meteor-nltk": ("nltk_meteor", (), None),
}


def _is_installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


# ---- all pairs, and sets ----


@benchmark
def matrix(runs: int) -> Iterator[Row]:
    """Score all pairs of 256 candidates, against sacreBLEU's loop and fastchrf."""
    path = corpus.candidates(CANDIDATES)
    for metric, (fastest, promised) in PAIRS.items():
        work = f"{CANDIDATES} × {CANDIDATES} {metric}, list[str], in process"
        costs = in_turn(runs, {"truebleu": partial(job, "matrix", metric, CALLS_OF_MATRIX, path)})
        jobs = {
            "sacrebleu": partial(job, "sacrebleu_pairs", metric, path),
            "fastchrf": partial(job, "fastchrf_pairs", path),
        }
        peers = in_turn(
            min(runs, 3), {name: jobs[name] for name in promised if _is_installed(name)}
        )
        own_seconds = costs["truebleu"].processor / CALLS_OF_MATRIX / CANDIDATES**2
        yield Row(
            work,
            f"≤ {1e9 * fastest:,.0f} ns per pair",
            f"{1e9 * own_seconds:.1f} ns per pair, {1e-6 / own_seconds:.1f} M pairs/s",
            met=own_seconds <= fastest,
            figures={**costs, **peers},
        )
        for name, min_ratio in promised.items():
            if name not in peers:
                yield Row(work, f"≥ {min_ratio} × {name}", f"not measured: needs {name}")
                continue
            check_agreement(name, costs["truebleu"], peers[name])
            columns = len(json.loads(peers[name].output)[0]) if name == "sacrebleu" else CANDIDATES
            peer_seconds = peers[name].processor / CANDIDATES / columns
            yield comparison_row(
                work, own_seconds, name, peer_seconds, min_ratio=min_ratio, about=" per pair"
            )


@benchmark
def many_pairs(runs: int) -> Iterator[Row]:
    """Yield all pairs of 2,000 candidates with one thread and with two: time, and memory."""
    path = corpus.candidates(MANY_CANDIDATES)
    work = f"{MANY_CANDIDATES:,} × {MANY_CANDIDATES:,}"
    scores = MANY_CANDIDATES**2
    for metric in PAIRS:
        costs = in_turn(
            runs,
            {
                str(workers): partial(job, "large_matrix", metric, workers, path)
                for workers in (1, 2)
            },
        )
        one_thread, two_threads = (cost.elapsed for cost in costs.values())
        yield comparison_row(
            f"{work} {metric}, 2 threads, elapsed",
            two_threads,
            "1 thread",
            one_thread,
            figures=costs,
        )
        peak = max(json.loads(run.output) for cost in costs.values() for run in cost.runs)
        yield Row(
            f"{work} {metric}, {scores * 8 / MEBIBYTE:.1f} MiB of scores",
            "≤ 64 MiB beside them",
            f"{peak / MEBIBYTE:.1f} MiB more at the peak than before",
            met=peak <= scores * 8 + 64 * MEBIBYTE,
        )


@benchmark
def self_bleu(runs: int) -> Iterator[Row]:
    """Compute self-BLEU of 2,000 sentences, against fast-bleu and NLTK."""
    path = corpus.test_set().hypotheses
    contenders = {
        "truebleu": partial(job, "self_bleu", SENTENCES, 1, path),
        "2 threads": partial(job, "self_bleu", SENTENCES, 2, path),
    }
    if _is_installed("fast_bleu"):
        contenders["fast-bleu"] = partial(
            job, "fast_bleu_self", SENTENCES, path, OMP_NUM_THREADS="1"
        )
    costs = in_turn(runs, contenders)
    nltk = partial(job, "nltk_self_bleu", SENTENCES, NLTK_SENTENCES, path)
    costs |= in_turn(min(runs, 3), {"nltk": nltk})
    own_seconds = costs["truebleu"].processor
    work = f"self-BLEU of {SENTENCES:,} sentences, list[str], in process"
    check_agreement("the score of two threads", costs["truebleu"], costs["2 threads"])
    if fast := costs.get("fast-bleu"):
        check_agreement("fast-bleu", costs["truebleu"], fast, tolerance=1e-5)
        yield comparison_row(
            work, own_seconds, "fast-bleu", fast.processor, min_ratio=20, figures=costs
        )
    else:
        yield Row(
            work, "≥ 20 × fast-bleu", format_seconds(own_seconds), "not measured: needs fast-bleu"
        )
    check_agreement("NLTK", costs["truebleu"], costs["nltk"])
    extrapolated = costs["nltk"].processor / NLTK_SENTENCES * SENTENCES
    yield comparison_row(
        work, own_seconds, "NLTK", extrapolated, about=f" ({NLTK_SENTENCES} sentences, linear)"
    )


@benchmark
def distinct(runs: int) -> Iterator[Row]:
    """Count distinct 2-grams of 100,000 sentences, against a set of tuples."""
    path = corpus.million().head(100_000).hypotheses
    costs = in_turn(
        min(runs, 5),
        {
            "truebleu": partial(job, "distinct_n", path),
            "python": partial(job, "set_of_pairs", path),
        },
    )
    check_agreement("a set of tuples", costs["truebleu"], costs["python"])
    own_seconds, plain = (cost.processor for cost in costs.values())
    work = "distinct-2 of 100,000 sentences, list[str], in process"
    yield comparison_row(work, own_seconds, "a set of tuples in Python", plain, figures=costs)


@benchmark
def mbr(runs: int) -> Iterator[Row]:
    """Choose the best of 256 candidates by expected BLEU, against a loop over sacreBLEU."""
    path = corpus.candidates(CANDIDATES)
    costs = in_turn(runs, {"truebleu": partial(job, "mbr", SOURCES, path)})
    costs |= in_turn(min(runs, 3), {"sacrebleu": partial(job, "sacrebleu_expected", path)})
    check_agreement("sacreBLEU", costs["truebleu"], costs["sacrebleu"])
    scored = len(json.loads(costs["sacrebleu"].output))
    own_seconds = costs["truebleu"].processor / SOURCES
    yield comparison_row(
        f"MBR of {CANDIDATES} candidates by BLEU, of each of {SOURCES} sources",
        own_seconds,
        "sacrebleu",
        costs["sacrebleu"].processor / scored * CANDIDATES,
        min_ratio=1500,
        measured=f"{format_seconds(own_seconds)} per source",
        about=f" ({scored} candidates, linear)",
        figures=costs,
    )


@benchmark
def mbr_of_systems(runs: int) -> Iterator[Row]:
    """Choose among nine systems' outputs of a test set, against fastchrf."""
    systems, segments = corpus.nine_systems()
    for method, peer, min_ratio in (
        ("exact", "fastchrf_of_systems", 30),
        ("aggregate", "fastchrf_aggregate_of_systems", 0),
    ):
        work = f"MBR by chrF, {method}, 9 candidates of each of {segments:,} sources"
        costs = in_turn(
            runs, {"truebleu": partial(job, "mbr_of_systems", "chrf", method, *systems)}
        )
        own_seconds = costs["truebleu"].processor
        if not _is_installed("fastchrf"):
            target = f"≥ {min_ratio} × fastchrf" if min_ratio else ""
            yield Row(work, target, format_seconds(own_seconds), "not measured: needs fastchrf")
            continue
        costs |= in_turn(min(runs, 3), {"fastchrf": partial(job, peer, *systems)})
        check_agreement("fastchrf", costs["truebleu"], costs["fastchrf"], tolerance=1e-6)
        peer_seconds = costs["fastchrf"].processor
        yield comparison_row(
            work, own_seconds, "fastchrf", peer_seconds, min_ratio=min_ratio, figures=costs
        )
    choices = json.loads(job("mbr_choices", *systems).output)
    for method in ("aggregate", "pruned"):
        indices = choices[method]
        yield Row(
            f"MBR by chrF, {method}, 64 candidates per source, against the exact choice",
            "",
            f"{100 * indices['same']:.1f}% the same choice, {indices['lost']:.3f} chrF lost",
            f"{indices['scored']:,} scores instead of {choices['exact']:,}",
        )


# ---- training ----


@benchmark
def rewards(runs: int) -> Iterator[Row]:
    """Compute rewards of 64 completions in one call, as TRL does, against a loop over sacreBLEU."""
    text, less = (corpus.million().head(COMPLETIONS * calls) for calls in (CALLS, PEER_CALLS))
    works = {"bleu": "plain", "bleu, conversations": "messages", "chrf": "plain"}
    costs = in_turn(
        runs,
        {
            name: partial(
                job, "rewards", f"{name.partition(', ')[0]}_reward", shape, COMPLETIONS, *text.files
            )
            for name, shape in works.items()
        },
    )
    peers = in_turn(
        min(runs, 3),
        {
            metric: partial(job, "sacrebleu_sentences", metric, 0.01, *less.files)
            for metric in ("bleu", "chrf")
        },
    )
    for name, cost in costs.items():
        metric, _, shape = name.partition(", ")
        check_agreement("sacreBLEU's loop", cost, peers[metric])
        own_seconds = cost.processor / CALLS
        yield comparison_row(
            f"{metric}_reward of {COMPLETIONS} completions, one call{shape and f', {shape}'}",
            own_seconds,
            "sacrebleu",
            peers[metric].processor / PEER_CALLS,
            target="≤ 0.2 ms",
            about=" (a loop)",
            met=own_seconds <= 0.2e-3,
            figures={name: cost, f"sacrebleu {metric}": peers[metric]},
        )


# ---- other metrics and libraries ----


@benchmark
def companions(runs: int) -> Iterator[Row]:
    """Score two lists of strings by each metric, against its original in the same run."""
    text = corpus.test_set().head(SENTENCES)
    files = text.hypotheses, text.references[0]
    count = sum(1 for _ in corpus.read_corpus_lines(files[0]))
    for name, (original, words, promised) in METRICS.items():
        costs = in_turn(
            runs if promised else min(runs, 3),
            {
                "truebleu": partial(job, "score_by", name, *files),
                original: partial(job, original, *words, *files),
            },
        )
        check_agreement(original, costs["truebleu"], costs[original], tolerance=1e-12)
        # Separate programs take processor time that is not this process's.
        kind = "elapsed" if name == "meteor" else "processor"
        own_seconds, peer_seconds = (getattr(cost, kind) / count for cost in costs.values())
        yield comparison_row(
            f"{name}, {count:,} segments, list[str], in process",
            own_seconds,
            original.replace("_", "-"),
            peer_seconds,
            target=f"≤ {promised:g} µs a segment" if promised else "",
            measured=f"{format_seconds(own_seconds)} a segment",
            met=1e6 * own_seconds <= promised if promised else None,
            figures=costs,
        )


@benchmark
def nltk(runs: int) -> Iterator[Row]:
    """NLTK's functions with and without the accelerator: a call per pair, and 2,000 pairs."""
    sample = corpus.million().head(2000)
    for function in ("bleu", "chrf"):
        for unit, calls in (("sentence", sample.segments), ("corpus", 1)):
            costs = in_turn(
                min(runs, 5),
                {
                    package: partial(job, "nltk", package, unit, function, *sample.files)
                    for package in ("accelerated", "original")
                },
            )
            check_agreement("NLTK", costs["accelerated"], costs["original"])
            own_seconds, peer_seconds = (cost.processor / calls for cost in costs.values())
            pairs = "one call" if calls > 1 else f"{sample.segments:,} pairs"
            work = f"compat.nltk: {unit}_{function}, {pairs}"
            yield comparison_row(work, own_seconds, "NLTK", peer_seconds, figures=costs)
