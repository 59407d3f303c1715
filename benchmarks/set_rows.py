"""The rows of sets of texts, of training, and of other metrics and libraries."""

from __future__ import annotations

import importlib.util
import json
from functools import partial
from typing import TYPE_CHECKING

import corpus
from benchmark_table import MEBIBYTE, Row, agree, benchmark, beside, shown
from measure import in_turn, job

if TYPE_CHECKING:
    from collections.abc import Iterator

CANDIDATES = 256
MANY_CANDIDATES = 2_000
CALLS_OF_MATRIX = 20
"""Calls in one run: one takes a millisecond or two."""

# Seconds per pair that were promised, and the speed as a multiple of others'.
PAIRS = {
    "bleu": (1e-7, {"sacrebleu": 1500}),
    "chrf": (3.5e-6, {"sacrebleu": 200, "fastchrf": 10}),
}

SENTENCES = 2_000
NLTK_SENTENCES = 10
"""Sentences that NLTK scores, each with all the others as references."""

SOURCES = 50
"""Sources with so many candidates in one of our runs; sacreBLEU scores a part of one."""

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
    """All pairs of 256 candidates, beside sacreBLEU's loop and fastchrf."""
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
        own = costs["truebleu"].processor / CALLS_OF_MATRIX / CANDIDATES**2
        yield Row(
            work,
            f"≤ {1e9 * fastest:,.0f} ns per pair",
            f"{1e9 * own:.1f} ns per pair, {1e-6 / own:.1f} M pairs/s",
            met=own <= fastest,
            figures={**costs, **peers},
        )
        for name, least in promised.items():
            if name not in peers:
                yield Row(work, f"≥ {least} × {name}", f"not measured: needs {name}")
                continue
            agree(name, costs["truebleu"], peers[name])
            columns = len(json.loads(peers[name].output)[0]) if name == "sacrebleu" else CANDIDATES
            theirs = peers[name].processor / CANDIDATES / columns
            yield beside(work, own, name, theirs, least=least, about=" per pair")


@benchmark
def many_pairs(runs: int) -> Iterator[Row]:
    """All pairs of 2,000 candidates with one thread and with two: time, and memory."""
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
        one, two = (cost.elapsed for cost in costs.values())
        yield beside(f"{work} {metric}, 2 threads, elapsed", two, "1 thread", one, figures=costs)
        peak = max(json.loads(run.output) for cost in costs.values() for run in cost.runs)
        yield Row(
            f"{work} {metric}, {scores * 8 / MEBIBYTE:.1f} MiB of scores",
            "≤ 64 MiB beside them",
            f"{peak / MEBIBYTE:.1f} MiB more at the peak than before",
            met=peak <= scores * 8 + 64 * MEBIBYTE,
        )


@benchmark
def self_bleu(runs: int) -> Iterator[Row]:
    """Self-BLEU of 2,000 sentences, beside fast-bleu and NLTK."""
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
    own = costs["truebleu"].processor
    work = f"self-BLEU of {SENTENCES:,} sentences, list[str], in process"
    agree("the score of two threads", costs["truebleu"], costs["2 threads"])
    if fast := costs.get("fast-bleu"):
        agree("fast-bleu", costs["truebleu"], fast, room=1e-5)
        yield beside(work, own, "fast-bleu", fast.processor, least=20, figures=costs)
    else:
        yield Row(work, "≥ 20 × fast-bleu", shown(own), "not measured: needs fast-bleu")
    agree("NLTK", costs["truebleu"], costs["nltk"])
    whole = costs["nltk"].processor / NLTK_SENTENCES * SENTENCES
    yield beside(work, own, "NLTK", whole, about=f" ({NLTK_SENTENCES} sentences, linear)")


@benchmark
def distinct(runs: int) -> Iterator[Row]:
    """Distinct 2-grams of 100,000 sentences, beside a set of tuples."""
    path = corpus.million().head(100_000).hypotheses
    costs = in_turn(
        min(runs, 5),
        {
            "truebleu": partial(job, "distinct_n", path),
            "python": partial(job, "set_of_pairs", path),
        },
    )
    agree("a set of tuples", costs["truebleu"], costs["python"])
    own, plain = (cost.processor for cost in costs.values())
    work = "distinct-2 of 100,000 sentences, list[str], in process"
    yield beside(work, own, "a set of tuples in Python", plain, figures=costs)


@benchmark
def mbr(runs: int) -> Iterator[Row]:
    """The best of 256 candidates by expected BLEU, beside the loop over sacreBLEU."""
    path = corpus.candidates(CANDIDATES)
    costs = in_turn(runs, {"truebleu": partial(job, "mbr", SOURCES, path)})
    costs |= in_turn(min(runs, 3), {"sacrebleu": partial(job, "sacrebleu_expected", path)})
    agree("sacreBLEU", costs["truebleu"], costs["sacrebleu"])
    scored = len(json.loads(costs["sacrebleu"].output))
    own = costs["truebleu"].processor / SOURCES
    yield beside(
        f"MBR of {CANDIDATES} candidates by BLEU, of each of {SOURCES} sources",
        own,
        "sacrebleu",
        costs["sacrebleu"].processor / scored * CANDIDATES,
        least=1500,
        measured=f"{shown(own)} per source",
        about=f" ({scored} candidates, linear)",
        figures=costs,
    )


@benchmark
def mbr_of_systems(runs: int) -> Iterator[Row]:
    """The choice among nine systems' outputs of a test set, beside fastchrf."""
    systems, segments = corpus.nine_systems()
    for method, peer, least in (
        ("exact", "fastchrf_of_systems", 30),
        ("aggregate", "fastchrf_aggregate_of_systems", 0),
    ):
        work = f"MBR by chrF, {method}, 9 candidates of each of {segments:,} sources"
        costs = in_turn(
            runs, {"truebleu": partial(job, "mbr_of_systems", "chrf", method, *systems)}
        )
        own = costs["truebleu"].processor
        if not _is_installed("fastchrf"):
            target = f"≥ {least} × fastchrf" if least else ""
            yield Row(work, target, shown(own), "not measured: needs fastchrf")
            continue
        costs |= in_turn(min(runs, 3), {"fastchrf": partial(job, peer, *systems)})
        agree("fastchrf", costs["truebleu"], costs["fastchrf"], room=1e-6)
        theirs = costs["fastchrf"].processor
        yield beside(work, own, "fastchrf", theirs, least=least, figures=costs)
    choices = json.loads(job("mbr_choices", *systems).output)
    for method in ("aggregate", "pruned"):
        found = choices[method]
        yield Row(
            f"MBR by chrF, {method}, 64 candidates per source, beside the exact choice",
            "",
            f"{100 * found['same']:.1f} % the same choice, {found['lost']:.3f} chrF lost",
            f"{found['scored']:,} scores instead of {choices['exact']:,}",
        )


# ---- training ----


@benchmark
def rewards(runs: int) -> Iterator[Row]:
    """Rewards of 64 completions in one call, as TRL calls, beside a loop over sacreBLEU."""
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
        agree("sacreBLEU's loop", cost, peers[metric])
        own = cost.processor / CALLS
        yield beside(
            f"{metric}_reward of {COMPLETIONS} completions, one call{shape and f', {shape}'}",
            own,
            "sacrebleu",
            peers[metric].processor / PEER_CALLS,
            target="≤ 0.2 ms",
            about=" (a loop)",
            met=own <= 0.2e-3,
            figures={name: cost, f"sacrebleu {metric}": peers[metric]},
        )


# ---- other metrics and libraries ----


@benchmark
def companions(runs: int) -> Iterator[Row]:
    """The score of two lists of strings by each metric, beside its original in the same run."""
    text = corpus.test_set().head(SENTENCES)
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
        agree(original, costs["truebleu"], costs[original], room=1e-12)
        # Programs of their own take processor time that is not this process's.
        kind = "elapsed" if name == "meteor" else "processor"
        own, theirs = (getattr(cost, kind) / count for cost in costs.values())
        yield beside(
            f"{name}, {count:,} segments, list[str], in process",
            own,
            original.replace("_", "-"),
            theirs,
            target=f"≤ {promised:g} µs a segment" if promised else "",
            measured=f"{shown(own)} a segment",
            met=1e6 * own <= promised if promised else None,
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
            agree("NLTK", costs["accelerated"], costs["original"])
            own, theirs = (cost.processor / calls for cost in costs.values())
            pairs = "one call" if calls > 1 else f"{sample.segments:,} pairs"
            work = f"compat.nltk: {unit}_{function}, {pairs}"
            yield beside(work, own, "NLTK", theirs, figures=costs)
