"""Benchmarks of sets of texts, and of other metrics and libraries."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import corpus
from benchmark_table import (
    MEBIBYTE,
    Comparison,
    Row,
    benchmark,
    check_agreement,
    format_seconds,
)
from measure import ROOT, Cost, Costs, make_command, make_job

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SETS = "All pairs, MBR and diversity"
METRICS = "Other metrics and libraries"

MANY_CANDIDATES = 2_000
NPM_PEER = "bleu-score@1.0.4"


# ---- all pairs, and sets ----


@benchmark(SETS)
def many_pairs(runs: int) -> Iterator[Row]:
    """Score all pairs of 2,000 candidates with one and two threads; measure time and memory."""
    path, scores = corpus.write_candidates(MANY_CANDIDATES), MANY_CANDIDATES**2
    for metric in ("bleu", "chrf"):
        work = f"{MANY_CANDIDATES:,} × {MANY_CANDIDATES:,} {metric}"
        one, two = (make_job("score_large_matrix", metric, workers, path) for workers in (1, 2))
        title = f"{work}, 2 threads, elapsed"
        row = Comparison(title, two, "1 thread", one, clock="elapsed", tolerance=None).measure(runs)
        yield row
        peak = max(json.loads(run.output) for cost in row.figures.values() for run in cost.runs)
        yield Row(
            f"{work}, {scores * 8 / MEBIBYTE:.1f} MiB of scores",
            "≤ 64 MiB in addition to the scores",
            f"{peak / MEBIBYTE:.1f} MiB increase of peak memory",
            met=peak <= scores * 8 + 64 * MEBIBYTE,
        )


@benchmark(SETS)
def mbr_of_systems() -> Iterator[Comparison | Row]:
    """Choose among the outputs of nine systems for a test set; compare with fastchrf."""
    systems, segments = corpus.load_nine_systems()
    for method, min_ratio in (("exact", 30), ("aggregate", 0)):
        yield Comparison(
            f"MBR by chrF, {method}, 9 candidates of each of {segments:,} sources",
            make_job("choose_outputs", "chrf", method, *systems),
            "fastchrf",
            make_job("choose_by_fastchrf", method, *systems),
            min_ratio=min_ratio,
            tolerance=1e-6,
        )
    choices = json.loads(make_job("compare_mbr_methods", *systems)().output)
    for method in ("aggregate", "pruned"):
        found = choices[method]
        yield Row(
            f"MBR by chrF, {method}, 64 candidates per source, against the exact choice",
            "",
            f"{100 * found['same']:.1f}% equal choices, mean loss {found['lost']:.3f} chrF",
            f"{found['scored']:,} scores instead of {choices['exact']:,}",
        )


# ---- other metrics and libraries ----


@benchmark(METRICS)
def resegment(runs: int) -> Iterator[Row]:
    """Divide a text into the segments of its reference; compare with mweralign and OmniSTEval."""
    # mweralign takes two minutes and 6 GB for the largest text.
    small, middle, large = (corpus.load_million().head(count) for count in (180, 605, 6200))
    rows = []
    for peer, method, text, min_ratio in (
        ("mweralign", "mweralign-none", middle, 40),
        ("mweralign", "mweralign-none", large, 60),
        ("omnisteval", "omnisteval", small, 150),
        ("omnisteval", "soft", small, 150),
    ):
        words = sum(len(line.split()) for line in corpus.read_corpus_lines(text.references[0]))
        comparison = Comparison(
            f"re-segmentation of {words:,} words, {method}",
            make_job("resegment", method, *text.files),
            peer,
            make_job(f"resegment_by_{peer}", *text.files),
            min_ratio=min_ratio,
            tolerance=None if method == "soft" else 0.0,
        )
        # Calls of 25 ms vary by half, so they need more rounds than the others.
        rows.append(comparison.measure(max(runs, 15)))
        yield rows[-1]
    own, peer_cost = rows[1].figures.values()
    share, growth = own.peak / peer_cost.peak, own.processor / rows[0].figures["truebleu"].processor
    yield Row(
        f"{rows[1].work}: peak memory of the process",
        "≤ 2 % of mweralign",
        f"{own.peak / MEBIBYTE:.0f} MiB",
        f"mweralign {peer_cost.peak / MEBIBYTE:,.0f} MiB",
        f"{share:.1%}",
        met=share <= 0.02,
    )
    work = f"growth of the time from {middle.segments:,} to {large.segments:,} segments"
    times = large.segments / middle.segments
    yield Row(work, "", f"{growth:.0f} × for {times:.1f} × the text")


@benchmark(METRICS)
def javascript(runs: int) -> Iterator[Row]:
    """Score a test set under Node with the npm package; compare with npm's bleu-score."""
    text, folder = corpus.load_test_set(), _install_node_packages()
    work = f"{text.segments:,} segments of text, Node, one warm process"
    if folder is None:
        yield Row(work, "compared with bleu-score", "not measured: needs Node, npm and bleu-score")
        return
    script = shutil.copyfile(ROOT / "benchmarks" / "packed.mjs", folder / "packed.mjs")
    printed = json.loads(make_command("node", script, runs, *text.files)().output)
    own_scores, peer_scores = (printed["results"][name] for name in ("segments", "bleu-score"))
    check_agreement("bleu-score", own_scores, peer_scores, 1e-7)
    figures = {
        name: Costs(tuple(Cost(run["processor"], run["elapsed"]) for run in each))
        for name, each in printed["costs"].items()
    }
    peer_seconds = figures["bleu-score"].elapsed
    for name, title in {
        "segments": "each segment's BLEU, tokens as they stand",
        "score": "corpus BLEU, tokens as they stand",
        "score 13a": "corpus BLEU, 13a",
    }.items():
        seconds = figures[name].elapsed
        yield Row(
            f"{work}: {title}, elapsed",
            "",
            format_seconds(seconds),
            f"bleu-score {format_seconds(peer_seconds)}",
            f"{peer_seconds / seconds:.0f} × faster",
            figures={name: figures[name], "bleu-score": figures["bleu-score"]},
        )


def _install_node_packages() -> Path | None:
    """Return a folder with the package and its peer, or None if they cannot be installed."""
    if not shutil.which("npm"):
        return None
    build = [sys.executable, str(ROOT / "npm" / "build.py")]
    if subprocess.run(build, check=False, stdout=subprocess.DEVNULL).returncode:
        return None
    [packed] = (ROOT / "build" / "npm").glob("truebleu-*.tgz")
    folder = ROOT / "build" / "bench-npm"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private": true, "type": "module"}', encoding="utf-8")
    install = ["npm", "install", "--no-save", "--no-audit", "--no-fund", str(packed), NPM_PEER]
    done = subprocess.run(install, check=False, cwd=folder, stdout=subprocess.DEVNULL)
    return None if done.returncode else folder
