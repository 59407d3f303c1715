"""The rows for sets of texts: self-BLEU, distinct n-grams, consensus among candidates."""

from __future__ import annotations

import importlib.util
import json
from functools import partial
from typing import TYPE_CHECKING

import corpus
from measure import in_turn, job
from rows import Row, benchmark

if TYPE_CHECKING:
    from collections.abc import Iterator

    from measure import Costs

SENTENCES = 2_000
NLTK_SENTENCES = 10
"""Sentences that NLTK scores, each with all the others as references."""

CANDIDATES = 256
SOURCES = 50
"""Sources with so many candidates in one of our runs; sacreBLEU scores a part of one."""


@benchmark
def self_bleu(runs: int) -> Iterator[Row]:
    """Self-BLEU of 2,000 sentences, beside fast-bleu and NLTK."""
    path = corpus.test_set().hypotheses
    has_peer = importlib.util.find_spec("fast_bleu") is not None
    peers = {"fast-bleu": partial(job, "fast_bleu_self", SENTENCES, path, OMP_NUM_THREADS="1")}
    costs = in_turn(
        runs,
        {
            "truebleu": partial(job, "self_bleu", SENTENCES, 1, path),
            "2 threads": partial(job, "self_bleu", SENTENCES, 2, path),
            **(peers if has_peer else {}),
        },
    )
    nltk = in_turn(
        min(runs, 3),
        {"nltk": partial(job, "nltk_self_bleu", SENTENCES, NLTK_SENTENCES, path)},
    )
    own = costs["truebleu"].processor
    work = f"self-BLEU of {SENTENCES:,} sentences, list[str], in process"
    measured = f"{1e3 * own:.1f} ms"
    if has_peer:
        _agree("fast-bleu", costs["truebleu"], costs["fast-bleu"], room=1e-5)
        theirs = costs["fast-bleu"].processor
        ratio = f"{theirs / own:.0f} × faster"
        target = "≥ 20 × fast-bleu"
        figures = {**costs, **nltk}
        yield Row(
            work, target, measured, f"fast-bleu {theirs:.3f} s", ratio, theirs >= 20 * own, figures
        )
    else:
        yield Row(work, "≥ 20 × fast-bleu", measured, "not measured: needs fast-bleu")
    _agree("NLTK", costs["truebleu"], nltk["nltk"])
    whole = nltk["nltk"].processor / NLTK_SENTENCES * SENTENCES
    yield Row(
        work,
        "",
        measured,
        f"NLTK {whole:.0f} s ({NLTK_SENTENCES} sentences, linear)",
        f"{whole / own:,.0f} × faster",
    )
    if costs["2 threads"].output != costs["truebleu"].output:
        raise SystemExit("benchmarks: two threads give other scores")


def _agree(peer: str, own: Costs, other: Costs, room: float = 0.0) -> None:
    """Stop if the contenders did other work. Where a peer has no score, it has none."""
    ours, theirs = json.loads(own.output), json.loads(other.output)
    pairs = zip(ours, theirs, strict=False)
    apart = max(abs(a - b) for a, b in pairs if b is not None)
    if apart > room:
        raise SystemExit(f"benchmarks: {peer} differs on the same text, by {apart}")


@benchmark
def distinct(runs: int) -> Iterator[Row]:
    """Distinct 2-grams of 100,000 sentences, beside a Counter of tuples."""
    path = corpus.million().head(100_000).hypotheses
    costs = in_turn(
        min(runs, 5),
        {
            "truebleu": partial(job, "distinct_n", path),
            "python": partial(job, "set_of_pairs", path),
        },
    )
    if costs["truebleu"].output != costs["python"].output:
        raise SystemExit("benchmarks: a set of tuples has other numbers")
    own, plain = costs["truebleu"].processor, costs["python"].processor
    yield Row(
        "distinct-2 of 100,000 sentences, list[str], in process",
        "",
        f"{1e3 * own:.0f} ms",
        f"a set of tuples in Python {plain:.2f} s",
        f"{plain / own:.1f} × faster",
        figures=dict(costs),
    )


@benchmark
def mbr(runs: int) -> Iterator[Row]:
    """The best of 256 candidates by expected BLEU, beside the loop over sacreBLEU."""
    path = corpus.candidates(CANDIDATES)
    costs = in_turn(runs, {"truebleu": partial(job, "mbr", SOURCES, path)})
    peer = in_turn(min(runs, 3), {"sacrebleu": partial(job, "sacrebleu_expected", path)})
    _agree("sacreBLEU", costs["truebleu"], peer["sacrebleu"])
    scored = len(json.loads(peer["sacrebleu"].output))
    own = costs["truebleu"].processor / SOURCES
    theirs = peer["sacrebleu"].processor / scored * CANDIDATES
    yield Row(
        f"MBR of {CANDIDATES} candidates by BLEU, of each of {SOURCES} sources",
        "≥ 1,500 × sacrebleu",
        f"{1e3 * own:.2f} ms per source",
        f"sacrebleu {theirs:.1f} s ({scored} candidates, linear)",
        f"{theirs / own:,.0f} × faster",
        theirs >= 1500 * own,
        {**costs, **peer},
    )


@benchmark
def mbr_of_systems(runs: int) -> Iterator[Row]:
    """The choice among nine systems' outputs of a test set, beside fastchrf."""
    systems, segments = corpus.nine_systems()
    jobs = {
        method: partial(job, "mbr_of_systems", "chrf", method, *systems)
        for method in ("exact", "aggregate")
    }
    peers = {"exact": "fastchrf_of_systems", "aggregate": "fastchrf_aggregate_of_systems"}
    known = importlib.util.find_spec("fastchrf") is not None
    for method, target in (("exact", 30), ("aggregate", 0)):
        work = f"MBR by chrF, {method}, 9 candidates of each of {segments:,} sources"
        costs = in_turn(runs, {"truebleu": jobs[method]})
        own = costs["truebleu"].processor
        promised = f"≥ {target} × fastchrf" if target else ""
        if not known:
            yield Row(work, promised, f"{own:.3f} s", "not measured: needs fastchrf")
            continue
        peer = in_turn(min(runs, 3), {"fastchrf": partial(job, peers[method], *systems)})
        _agree("fastchrf", costs["truebleu"], peer["fastchrf"], room=1e-6)
        theirs = peer["fastchrf"].processor
        yield Row(
            work,
            promised,
            f"{own:.3f} s",
            f"fastchrf {theirs:.2f} s",
            f"{theirs / own:.1f} × faster",
            theirs >= target * own if target else None,
            {**costs, **peer},
        )
    costs = in_turn(1, {"truebleu": partial(job, "mbr_choices", *systems)})
    told = json.loads(costs["truebleu"].output)
    for method in ("aggregate", "pruned"):
        found = told[method]
        yield Row(
            f"MBR by chrF, {method}, 64 candidates per source, beside the exact choice",
            "",
            f"{100 * found['same']:.1f} % the same choice, {found['lost']:.3f} chrF lost",
            f"{found['scored']:,} scores instead of {told['exact']:,}",
        )
