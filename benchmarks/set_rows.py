"""Benchmarks of sets of texts, training, and other metrics and libraries."""

from __future__ import annotations

import importlib.util
import json
import shutil
from functools import partial
from typing import TYPE_CHECKING

import corpus
from benchmark_table import (
    MEBIBYTE,
    Row,
    benchmark,
    check_agreement,
    compare_times,
    format_seconds,
)
from measure import find_python, run_in_turn, run_job

if TYPE_CHECKING:
    from collections.abc import Iterator

CANDIDATES = 256
MANY_CANDIDATES = 2_000
CALLS_OF_MATRIX = 20
"""Number of calls in one run; a call takes one to two milliseconds."""

# The targets: seconds per pair, and the speed as a multiple of each peer's speed.
PAIRS = {
    "bleu": (1e-7, {"sacrebleu": 1500}),
    "chrf": (3.5e-6, {"sacrebleu": 200, "fastchrf": 10}),
}

SENTENCES = 2_000
NLTK_SENTENCES = 10
"""Number of sentences that NLTK scores, each with all other sentences as references."""

SOURCES = 50
"""Number of sources per run of truebleu; sacreBLEU scores a part of one source."""

# For each reward: the metric, the form of the completions, their number per call, the number of
# segments that form one completion (six have 100 words on average), and the target in seconds per
# call; "one" calls the reward for each completion, and has a target per completion.
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
SHAPES = {"plain": "", "messages": ", conversations", "thinking": ", think tags stripped"}
COMPLETIONS = 8 * 1024
PEER_COMPLETIONS = 256
"""Number of texts that sacreBLEU scores; its time grows linearly with the number of texts."""

CAPTIONS = 24_000
MAX_CAPTION_SECONDS = 0.01

# For each metric: the job that runs the original program, the job's arguments, and the target in
# microseconds per segment.
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
    """Score all pairs of 256 candidates; compare with a loop over sacreBLEU and with fastchrf."""
    path = corpus.write_candidates(CANDIDATES)
    for metric, (fastest, promised) in PAIRS.items():
        work = f"{CANDIDATES} × {CANDIDATES} {metric}, list[str], in process"
        costs = run_in_turn(
            runs, {"truebleu": partial(run_job, "score_matrix", metric, CALLS_OF_MATRIX, path)}
        )
        jobs = {
            "sacrebleu": partial(run_job, "score_matrix_by_sacrebleu", metric, path),
            "fastchrf": partial(run_job, "score_matrix_by_fastchrf", path),
        }
        peers = run_in_turn(
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
            yield compare_times(
                work, own_seconds, name, peer_seconds, min_ratio=min_ratio, about=" per pair"
            )


@benchmark
def many_pairs(runs: int) -> Iterator[Row]:
    """Score all pairs of 2,000 candidates with one and two threads; measure time and memory."""
    path = corpus.write_candidates(MANY_CANDIDATES)
    work = f"{MANY_CANDIDATES:,} × {MANY_CANDIDATES:,}"
    scores = MANY_CANDIDATES**2
    for metric in PAIRS:
        costs = run_in_turn(
            runs,
            {
                str(workers): partial(run_job, "score_large_matrix", metric, workers, path)
                for workers in (1, 2)
            },
        )
        one_thread, two_threads = (cost.elapsed for cost in costs.values())
        yield compare_times(
            f"{work} {metric}, 2 threads, elapsed",
            two_threads,
            "1 thread",
            one_thread,
            figures=costs,
        )
        peak = max(json.loads(run.output) for cost in costs.values() for run in cost.runs)
        yield Row(
            f"{work} {metric}, {scores * 8 / MEBIBYTE:.1f} MiB of scores",
            "≤ 64 MiB in addition to the scores",
            f"{peak / MEBIBYTE:.1f} MiB increase of peak memory",
            met=peak <= scores * 8 + 64 * MEBIBYTE,
        )


@benchmark
def self_bleu(runs: int) -> Iterator[Row]:
    """Compute self-BLEU of 2,000 sentences; compare with fast-bleu and NLTK."""
    path = corpus.load_test_set().hypotheses
    contenders = {
        "truebleu": partial(run_job, "compute_self_bleu", SENTENCES, 1, path),
        "2 threads": partial(run_job, "compute_self_bleu", SENTENCES, 2, path),
    }
    if _is_installed("fast_bleu"):
        contenders["fast-bleu"] = partial(
            run_job, "run_fast_bleu", SENTENCES, path, OMP_NUM_THREADS="1"
        )
    costs = run_in_turn(runs, contenders)
    nltk = partial(run_job, "run_nltk_self_bleu", SENTENCES, NLTK_SENTENCES, path)
    costs |= run_in_turn(min(runs, 3), {"nltk": nltk})
    own_seconds = costs["truebleu"].processor
    work = f"self-BLEU of {SENTENCES:,} sentences, list[str], in process"
    check_agreement("the score of two threads", costs["truebleu"], costs["2 threads"])
    if fast := costs.get("fast-bleu"):
        check_agreement("fast-bleu", costs["truebleu"], fast, tolerance=1e-5)
        yield compare_times(
            work, own_seconds, "fast-bleu", fast.processor, min_ratio=20, figures=costs
        )
    else:
        yield Row(
            work, "≥ 20 × fast-bleu", format_seconds(own_seconds), "not measured: needs fast-bleu"
        )
    check_agreement("NLTK", costs["truebleu"], costs["nltk"])
    extrapolated = costs["nltk"].processor / NLTK_SENTENCES * SENTENCES
    yield compare_times(
        work, own_seconds, "NLTK", extrapolated, about=f" ({NLTK_SENTENCES} sentences, linear)"
    )


@benchmark
def distinct(runs: int) -> Iterator[Row]:
    """Count distinct 2-grams of 100,000 sentences; compare with a set of tuples."""
    path = corpus.load_million().head(100_000).hypotheses
    costs = run_in_turn(
        min(runs, 5),
        {
            "truebleu": partial(run_job, "compute_distinct_n", path),
            "python": partial(run_job, "count_bigrams_with_set", path),
        },
    )
    check_agreement("a set of tuples", costs["truebleu"], costs["python"])
    own_seconds, plain = (cost.processor for cost in costs.values())
    work = "distinct-2 of 100,000 sentences, list[str], in process"
    yield compare_times(work, own_seconds, "a set of tuples in Python", plain, figures=costs)


@benchmark
def mbr(runs: int) -> Iterator[Row]:
    """Choose the best of 256 candidates by expected BLEU; compare with a loop over sacreBLEU."""
    path = corpus.write_candidates(CANDIDATES)
    costs = run_in_turn(runs, {"truebleu": partial(run_job, "score_candidates", SOURCES, path)})
    costs |= run_in_turn(
        min(runs, 3), {"sacrebleu": partial(run_job, "score_candidates_by_sacrebleu", path)}
    )
    check_agreement("sacreBLEU", costs["truebleu"], costs["sacrebleu"])
    scored = len(json.loads(costs["sacrebleu"].output))
    own_seconds = costs["truebleu"].processor / SOURCES
    yield compare_times(
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
    """Choose among the outputs of nine systems for a test set; compare with fastchrf."""
    systems, segments = corpus.load_nine_systems()
    for method, peer, min_ratio in (
        ("exact", "choose_by_fastchrf", 30),
        ("aggregate", "aggregate_by_fastchrf", 0),
    ):
        work = f"MBR by chrF, {method}, 9 candidates of each of {segments:,} sources"
        costs = run_in_turn(
            runs, {"truebleu": partial(run_job, "choose_outputs", "chrf", method, *systems)}
        )
        own_seconds = costs["truebleu"].processor
        if not _is_installed("fastchrf"):
            target = f"≥ {min_ratio} × fastchrf" if min_ratio else ""
            yield Row(work, target, format_seconds(own_seconds), "not measured: needs fastchrf")
            continue
        costs |= run_in_turn(min(runs, 3), {"fastchrf": partial(run_job, peer, *systems)})
        check_agreement("fastchrf", costs["truebleu"], costs["fastchrf"], tolerance=1e-6)
        peer_seconds = costs["fastchrf"].processor
        yield compare_times(
            work, own_seconds, "fastchrf", peer_seconds, min_ratio=min_ratio, figures=costs
        )
    choices = json.loads(run_job("compare_mbr_methods", *systems).output)
    for method in ("aggregate", "pruned"):
        indices = choices[method]
        yield Row(
            f"MBR by chrF, {method}, 64 candidates per source, against the exact choice",
            "",
            f"{100 * indices['same']:.1f}% equal choices, mean loss {indices['lost']:.3f} chrF",
            f"{indices['scored']:,} scores instead of {choices['exact']:,}",
        )


# ---- training ----


@benchmark
def rewards(runs: int) -> Iterator[Row]:
    """Compute rewards as trainers do, in batches and one by one; compare with a sacreBLEU loop."""
    million = corpus.load_million()
    jobs = {
        call: partial(run_job, "call_reward", *call[:4], *million.head(COMPLETIONS * call[3]).files)
        for call in REWARD_CALLS
    }
    costs = run_in_turn(runs, jobs)
    for joined in (1, 6):
        text = million.head(PEER_COMPLETIONS * joined)
        peers = run_in_turn(
            min(runs, 3),
            {
                metric: partial(
                    run_job, "score_pairs_by_sacrebleu", metric, 0.01, joined, *text.files
                )
                for metric in ("bleu", "chrf")
            },
        )
        for call in REWARD_CALLS:
            metric, shape, completions, _, target = call
            if call[3] != joined:
                continue
            check_agreement("sacreBLEU's loop", costs[call], peers[metric])
            count = 1 if shape == "one" else completions
            own_seconds = costs[call].processor / COMPLETIONS * count
            words = " of 100 words" if joined > 1 else ""
            work = f"{metric}_reward of {completions:,} completions{words}, one call"
            if shape == "one":
                work = f"{metric}_reward.one of a completion{words}, think tags stripped"
            yield compare_times(
                work + SHAPES.get(shape, ""),
                own_seconds,
                "sacrebleu",
                peers[metric].processor / PEER_COMPLETIONS * count,
                target=f"≤ {format_seconds(target)}",
                about=" (a loop)",
                met=own_seconds <= target,
                figures={work: costs[call], f"sacrebleu {metric}": peers[metric]},
            )


# ---- other metrics and libraries ----


@benchmark
def companions(runs: int) -> Iterator[Row]:
    """Score two lists of strings by each metric; compare with the original implementation."""
    text = corpus.load_test_set().head(SENTENCES)
    files = text.hypotheses, text.references[0]
    count = sum(1 for _ in corpus.read_corpus_lines(files[0]))
    for name, (original, words, promised) in METRICS.items():
        costs = run_in_turn(
            runs if promised else min(runs, 3),
            {
                "truebleu": partial(run_job, "score_lists", name, *files),
                original: partial(run_job, original, *words, *files),
            },
        )
        check_agreement(original, costs["truebleu"], costs[original], tolerance=1e-12)
        # The processor time of separate programs is not counted as this process's time.
        kind = "elapsed" if name == "meteor" else "processor"
        own_seconds, peer_seconds = (getattr(cost, kind) / count for cost in costs.values())
        yield compare_times(
            f"{name}, {count:,} segments, list[str], in process",
            own_seconds,
            original.replace("_", "-"),
            peer_seconds,
            target=f"≤ {promised:g} µs per segment" if promised else "",
            measured=f"{format_seconds(own_seconds)} per segment",
            met=1e6 * own_seconds <= promised if promised else None,
            figures=costs,
        )


@benchmark
def torchmetrics(runs: int) -> Iterator[Row]:
    """Score two lists of strings by BLEU; compare with the class of torchmetrics."""
    text = corpus.load_test_set()
    python = find_python("torchmetrics")
    work = f"BLEU of {text.segments:,} segments, list[str], in process"
    if python is None:
        yield Row(work, "", "not measured: needs torchmetrics (make integrations)")
        return
    costs = run_in_turn(
        min(runs, 5),
        {
            "truebleu": partial(run_job, "score_in_memory", "list", "bleu", "{}", *text.files),
            "torchmetrics": partial(run_job, "score_by_torchmetrics", *text.files, python=python),
        },
    )
    own_seconds, peer_seconds = (cost.processor for cost in costs.values())
    own_score, peer_score = (float(cost.output) for cost in costs.values())
    if abs(own_score - peer_score) > 1e-4:  # torchmetrics computes in 32 bits
        raise SystemExit(f"benchmarks: torchmetrics returned {peer_score} (expected {own_score})")
    yield compare_times(work, own_seconds, "torchmetrics", peer_seconds, figures=costs)


@benchmark
def captions(runs: int) -> Iterator[Row]:
    """Tokenize 24,000 captions with ptb-coco; compare with the Java program of pycocoevalcap."""
    path = corpus.write_captions(CAPTIONS)
    jobs = {"truebleu": partial(run_job, "tokenize_captions", path)}
    if _is_installed("pycocoevalcap") and shutil.which("java"):
        jobs["PTBTokenizer.jar"] = partial(run_job, "tokenize_by_jar", path)
    costs = run_in_turn(runs, jobs)
    own_seconds = costs["truebleu"].processor
    work = f"{CAPTIONS:,} captions, ptb-coco, list[str], in process"
    target, measured = f"≤ {MAX_CAPTION_SECONDS * 1000:g} ms", format_seconds(own_seconds)
    met = own_seconds <= MAX_CAPTION_SECONDS
    if len(costs) == 1:
        yield Row(work, target, measured, met=met, figures=costs)
        return
    check_agreement("PTBTokenizer", costs["truebleu"], costs["PTBTokenizer.jar"])
    # The processor time of a separate program is not counted as this process's time.
    seconds = costs["PTBTokenizer.jar"].elapsed
    yield compare_times(
        work,
        own_seconds,
        "PTBTokenizer.jar",
        seconds,
        target=target,
        measured=measured,
        met=met,
        figures=costs,
    )


@benchmark
def nltk(runs: int) -> Iterator[Row]:
    """Call NLTK's functions with and without the accelerator: once per pair, or for 2,000 pairs."""
    sample = corpus.load_million().head(2000)
    for function in ("bleu", "chrf"):
        for unit, calls in (("sentence", sample.segments), ("corpus", 1)):
            costs = run_in_turn(
                min(runs, 5),
                {
                    package: partial(run_job, "run_nltk", package, unit, function, *sample.files)
                    for package in ("accelerated", "original")
                },
            )
            check_agreement("NLTK", costs["accelerated"], costs["original"])
            own_seconds, peer_seconds = (cost.processor / calls for cost in costs.values())
            pairs = "one call" if calls > 1 else f"{sample.segments:,} pairs"
            work = f"compat.nltk: {unit}_{function}, {pairs}"
            yield compare_times(work, own_seconds, "NLTK", peer_seconds, figures=costs)
