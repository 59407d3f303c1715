"""Benchmarks of BLEU, chrF and TER: files, lists, segments, tokenizers, threads and memory."""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import corpus
from benchmark_table import (
    MEBIBYTE,
    PEER_SAMPLE,
    Row,
    benchmark,
    check_agreement,
    compare_times,
    format_seconds,
)
from measure import Cost, get_script, run_at_once, run_in_turn, run_job, run_process, sample_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from corpus import Corpus
    from measure import Costs

IDLE_ENOUGH = 1.9
"""Minimum speed-up of two processes. With less, the cores were too busy to judge threads."""

LINES = 5_000
"""Number of lines of European text that train SentencePiece models and are then split by them."""


def score_command(text: Corpus, *options: str) -> tuple[str, ...]:
    return get_script("truebleu", "score", *text.references, "-i", text.hypotheses, *options)


# ---- a million pairs ----


@benchmark
def files(runs: int) -> Iterator[Row]:
    """Score 1 M pairs from two files (whole process); compare with wc, sacreBLEU and bleuscore."""
    million = corpus.load_million()
    sample, bigger = million.head(PEER_SAMPLE), million.head(5 * PEER_SAMPLE)
    costs = _run_with_wc(runs, million)
    bleuscore = partial(run_job, "score_by_bleuscore", *bigger.files, RAYON_NUM_THREADS="1")
    peers = run_in_turn(
        min(runs, 3),
        {
            "sacrebleu": partial(run_job, "score_by_sacrebleu", "BLEU", "{}", *sample.files),
            "bleuscore": bleuscore,
            "truebleu": partial(run_job, "score_files", 1, "{}", *sample.files),
            "truebleu, bigger": partial(run_job, "score_files", 1, "{}", *bigger.files),
        },
    )
    check_agreement("sacreBLEU", peers["truebleu"], peers["sacrebleu"])
    check_agreement("bleuscore", peers["truebleu, bigger"], peers["bleuscore"], tolerance=1e-9)
    work = "1 M pairs, two files, whole process"
    figures = {**costs, **{f"{name}, sample": cost for name, cost in peers.items()}}
    yield from _compare_with_wc(work, {"avx512": 0.25, "avx2": 0.30}, costs, figures)
    for name, target, part in (("sacrebleu", 250, sample), ("bleuscore", 50, bigger)):
        yield compare_times(
            work,
            costs["truebleu"].processor,
            name,
            peers[name].processor * million.segments / part.segments,
            min_ratio=target,
            about=f" ({part.segments:,} pairs in process, linear)",
        )


def _run_with_wc(runs: int, text: Corpus, *options: str) -> dict[str, Costs]:
    """Return the costs of wc -w, and of scoring files by default and with each vector extension."""
    command = score_command(text, *options)
    contenders: dict[str, Callable[[], Cost]] = {
        "wc": partial(run_process, ("wc", "-w", *map(str, text.files)), LC_ALL="C.UTF-8"),
        "truebleu": partial(run_process, command),
    }
    for name in _list_vectors():
        contenders[name] = partial(run_process, command, TRUEBLEU_SIMD=name)
    return run_in_turn(runs, contenders)


def _compare_with_wc(
    work: str, targets: dict[str, float], costs: dict[str, Costs], figures: dict[str, Any]
) -> Iterator[Row]:
    """Yield one row per instruction set, with the time relative to wc's processor time."""
    for name in _list_vectors() or ["truebleu"]:
        max_ratio = targets.get(name, max(targets.values()))
        own_seconds, wc = costs[name].processor, costs["wc"].processor
        yield compare_times(
            f"{work}, {name}", own_seconds, "wc -w", wc, max_ratio=max_ratio, figures=figures
        )


@benchmark
def lists(runs: int) -> Iterator[Row]:
    """Score 1 M pairs from lists of strings and from Arrow columns, in process."""
    million = corpus.load_million()
    works = {"list[str]": ("list", 1.0), "Arrow strings": ("arrow", 0.7)}
    costs = run_in_turn(
        runs,
        {
            source: partial(run_job, "score_in_memory", source, "BLEU", "{}", *million.files)
            for source, _ in works.values()
        },
    )
    check_agreement("the score from Arrow", costs["list"], costs["arrow"])
    for name, (source, seconds) in works.items():
        own_seconds = costs[source].processor
        yield Row(
            f"1 M pairs, {name}, in process",
            f"≤ {seconds:.1f} s at 2.5 GHz",
            format_seconds(own_seconds),
            met=own_seconds <= seconds,
            figures={source: costs[source]},
        )


@benchmark
def threads(runs: int) -> Iterator[Row]:
    """Score 1 M pairs with one and with two threads; compare the elapsed times."""
    million = corpus.load_million()
    one_thread, two_threads = (
        partial(run_job, "score_files", workers, "{}", *million.files) for workers in (1, 2)
    )
    calls = run_in_turn(
        runs,
        {
            "1 thread": one_thread,
            "2 threads": two_threads,
            "2 processes": partial(run_at_once, 2, one_thread),
        },
    )
    check_agreement("the score of two threads", calls["1 thread"], calls["2 threads"])
    one_thread_seconds, two_thread_seconds, processes = (cost.elapsed for cost in calls.values())
    # The speed-up of two independent processes shows how much of two cores was available.
    possible = 2 * one_thread_seconds / processes
    yield compare_times(
        "1 M pairs, two files, 2 threads, elapsed",
        two_thread_seconds,
        "1 thread",
        one_thread_seconds,
        min_ratio=1.8,
        about=f"; 2 processes at once reach {possible:.2f} ×",
        met=None
        if possible < IDLE_ENOUGH and one_thread_seconds < 1.8 * two_thread_seconds
        else one_thread_seconds >= 1.8 * two_thread_seconds,
        figures=calls,
    )


@benchmark
def memory(runs: int) -> Iterator[Row]:
    """Measure the private memory for scoring 1 M and 10 M pairs."""
    for text in (corpus.load_million(), corpus.load_ten_million()):
        work = f"{text.segments // 1_000_000} M pairs, two files, private memory"
        yield _peak_row(work, score_command(text), text, min(runs, 3))


def _peak_row(work: str, command: tuple[str, ...], text: Corpus, runs: int) -> Row:
    if sys.platform != "linux":
        return Row(work, "≤ 64 MiB", "not measured: needs Linux's /proc/PID/smaps")
    peaks = [sample_memory(command, text.files) for _ in range(runs)]
    peak = max(peaks, key=lambda memory: memory.private)
    return Row(
        work,
        "≤ 64 MiB",
        f"{peak.private / MEBIBYTE:.1f} MiB"
        f" ({peak.without_input / MEBIBYTE:.1f} MiB without mapped input pages)",
        met=peak.private <= 64 * MEBIBYTE,
        figures={"peak": peak, "input_bytes": text.size},
    )


@benchmark
def chrf(runs: int) -> Iterator[Row]:
    """Compute chrF and chrF++ of 1 M pairs in two files (whole process); compare with sacreBLEU."""
    million = corpus.load_million()
    sample = million.head(PEER_SAMPLE // 4)
    for name, words, target in [("chrF", 0, 200), ("chrF++", 2, 150)]:
        options, parameters = ("-m", name.lower()), json.dumps({"word_order": words})
        costs = _run_with_wc(runs, million, *options)
        peers = run_in_turn(
            min(runs, 3),
            {
                "sacrebleu": partial(
                    run_job, "score_by_sacrebleu", "CHRF", parameters, *sample.files
                ),
                "truebleu": partial(
                    run_job, "score_in_memory", "list", "CHRF", parameters, *sample.files
                ),
            },
        )
        check_agreement("sacreBLEU", peers["truebleu"], peers["sacrebleu"])
        work = f"{name}, 1 M pairs, two files, whole process"
        yield compare_times(
            work,
            costs["truebleu"].processor,
            "sacrebleu",
            peers["sacrebleu"].processor * million.segments / sample.segments,
            min_ratio=target,
            about=f" ({sample.segments:,} pairs in process, linear)",
            figures={"truebleu": costs["truebleu"], "sacrebleu, sample": peers["sacrebleu"]},
        )
        if not words:
            yield from _compare_with_wc(work, {"avx512": 0.50, "avx2": 0.66}, costs, dict(costs))
            command = score_command(million, *options)
            yield _peak_row(f"{name}, 1 M pairs, two files, private memory", command, million, 1)


@benchmark
def ter(runs: int) -> Iterator[Row]:
    """Compute TER of one test set in process, compared with sacreBLEU, and of all WMT22 systems."""
    text = corpus.load_test_set()
    costs = run_in_turn(
        min(runs, 3),
        {
            "truebleu": partial(run_job, "score_in_memory", "list", "TER", "{}", *text.files),
            "sacrebleu": partial(run_job, "score_by_sacrebleu", "TER", "{}", *text.files),
        },
    )
    check_agreement("sacreBLEU", costs["truebleu"], costs["sacrebleu"])
    own_seconds, peer = (cost.processor for cost in costs.values())
    work = f"TER, {text.segments:,} segments, in process"
    yield compare_times(work, own_seconds, "sacrebleu", peer, min_ratio=100, figures=costs)
    if systems := corpus.load_test_sets():
        paths = [path for system in systems for path in system.files]
        all_systems = run_in_turn(
            runs, {"truebleu": partial(run_job, "score_ter_files", 2, *paths)}
        )["truebleu"]
        segments = sum(system.segments for system in systems)
        yield Row(
            f"TER, WMT22: {len(systems)} systems, {segments:,} segments, 2 threads, elapsed",
            "≤ 30 s",
            f"{all_systems.elapsed:.2f} s ({all_systems.processor:.2f} s of processor time)",
            met=all_systems.elapsed <= 30,
            figures={"truebleu": all_systems},
        )


# ---- segments ----


@benchmark
def sentence(runs: int) -> Iterator[Row]:
    """Score one pair per call; compare with sacrebleu.sentence_bleu."""
    sample = corpus.load_sentences(range(22, 29), 2000)
    costs = run_in_turn(
        runs,
        {
            "truebleu": partial(run_job, "score_sentences", *sample.files),
            "sacrebleu": partial(run_job, "score_pairs_by_sacrebleu", "bleu", 1, 1, *sample.files),
        },
    )
    check_agreement("sentence_bleu", costs["truebleu"], costs["sacrebleu"])
    own_seconds, peer = (cost.processor / sample.segments for cost in costs.values())
    work = "metric.sentence(h, [r]), one call, 22 to 28 words"
    note = f" ({sample.segments:,} pairs each)"
    yield compare_times(
        work, own_seconds, "sacrebleu", peer, min_ratio=150, about=note, figures=costs
    )


@benchmark
def segments(runs: int) -> Iterator[Row]:
    """Compute 100,000 segment scores; compare with a loop over sacreBLEU."""
    text = corpus.load_million().head(100_000)
    sample = text.head(10_000)
    calls = run_in_turn(
        runs,
        {str(times): partial(run_job, "score_segments", times, *text.files) for times in (1, 2)},
    )
    own_seconds, second = (cost.processor for cost in calls.values())
    peers = run_in_turn(
        min(runs, 3),
        {
            "truebleu": partial(run_job, "score_segments", 1, *sample.files),
            "sacrebleu": partial(run_job, "score_segments_by_sacrebleu", *sample.files),
        },
    )
    check_agreement("sacreBLEU's loop", peers["truebleu"], peers["sacrebleu"])
    extrapolated = peers["sacrebleu"].processor * text.segments / sample.segments
    yield compare_times(
        "metric.segments, 100,000 pairs",
        own_seconds,
        "sacrebleu",
        extrapolated,
        min_ratio=150,
        measured=f"{format_seconds(own_seconds)} ({format_seconds(second)} a second time)",
        about=f" ({sample.segments:,} pairs, linear)",
        figures={"first": calls["1"], "second": calls["2"], "sacrebleu": peers["sacrebleu"]},
        note="Python creates the UTF-8 form of each non-ASCII string on first use, which takes "
        f"{format_seconds(own_seconds - second)} here; the second call with the same strings is "
        f"{extrapolated / second:.0f} × faster than sacreBLEU.",
    )


# ---- tokenizers and instruction sets ----


@benchmark
def tokenizers(runs: int) -> Iterator[Row]:
    """Compare the time per byte of zh, intl, char, lower-casing and four references with 13a."""
    european = corpus.load_million().head(corpus.SIDE_CORPUS)
    chinese = corpus.load_language("zh")
    works: list[tuple[str, dict[str, Any], Corpus]] = [
        ("13a", {}, european),
        *((("zh, Chinese text", {"tokenize": "zh"}, chinese),) if chinese else ()),
        ("intl", {"tokenize": "intl"}, european),
        ("char", {"tokenize": "char"}, european),
        ("13a, lower-cased", {"lowercase": True}, european),
        ("13a, 4 references", {}, corpus.load_four_references()),
    ]
    costs = run_in_turn(
        runs,
        {
            name: partial(run_job, "score_files", 1, json.dumps(parameters), *text.files)
            for name, parameters, text in works
        },
    )
    a_byte, a_token = {}, {}
    for name, parameters, text in works:
        tokens = int(run_job("count_tokens", json.dumps(parameters), *text.files).output)
        a_byte[name] = 1e9 * costs[name].processor / text.size
        a_token[name] = 1e9 * costs[name].processor / tokens
    for name, _, text in works[1:]:
        ratio = a_byte[name] / a_byte["13a"]
        yield Row(
            f"{name}: {text.segments:,} segments, {text.size / 1e6:.0f} MB",
            "≤ 3 × 13a a byte",
            f"{a_byte[name]:.2f} ns/byte ({a_token[name]:.1f} ns/token)",
            f"13a {a_byte['13a']:.2f} ns/byte ({a_token['13a']:.1f} ns/token)",
            f"{ratio:.2f} ×",
            ratio <= 3,
            {name: costs[name], "13a": costs["13a"]},
            f"a byte has {ratio * a_token['13a'] / a_token[name]:.1f} × as many tokens as with "
            f"13a, and a token costs {a_token[name] / a_token['13a']:.2f} × as much.",
        )


@benchmark
def languages(runs: int) -> Iterator[Row]:
    """Compare the tokenizers ja-mecab and ko-mecab with MeCab, and spm:FILE with sentencepiece."""
    if text := corpus.load_language("ja"):
        first_lines = text.head(LINES)
        yield from _compare_splitting(
            runs, "ja-mecab", first_lines.hypotheses, first_lines.references[0], "ja"
        )
    korean = corpus.write_korean()
    yield from _compare_splitting(runs, "ko-mecab", korean, korean, "ko")
    european = corpus.load_million().head(LINES)
    for kind in ("bpe", "unigram"):
        model = corpus.train_sentencepiece(kind, european.references[0])
        yield from _compare_splitting(
            runs, f"spm:{model}", european.hypotheses, european.references[0], str(model)
        )


def _compare_splitting(
    runs: int, name: str, hypotheses: Path, references: Path, other: str
) -> Iterator[Row]:
    """Score two files, and split lines into lists of strings; compare both with the peer."""
    is_mecab = name.endswith("mecab")
    peer, work = (
        ("MeCab", "split_by_mecab") if is_mecab else ("sentencepiece", "split_by_sentencepiece")
    )
    parameters = json.dumps({"tokenize": name})
    costs = run_in_turn(
        runs,
        {
            "scored": partial(run_job, "score_files", 1, parameters, hypotheses, references),
            "truebleu": partial(run_job, "split_lines", name, hypotheses),
            peer: partial(run_job, work, other, hypotheses),
        },
    )
    check_agreement(peer, costs["truebleu"], costs[peer])
    count = sum(1 for _ in corpus.read_corpus_lines(hypotheses))
    label = name if is_mecab else f"spm, {other.rpartition('/')[2].removesuffix('.model')}"
    for title, own_seconds, min_ratio in (
        ("BLEU of two files, a line", costs["scored"].processor / (2 * count), 1.5),
        ("lines to lists of str, a line", costs["truebleu"].processor / count, 0),
    ):
        yield compare_times(
            f"{label}, {count:,} lines: {title}",
            own_seconds,
            f"{peer} alone",
            costs[peer].processor / count,
            min_ratio=min_ratio if is_mecab else 0,
            figures=costs,
        )


@benchmark
def simd(runs: int) -> Iterator[Row]:
    """Score 1 M pairs with each instruction set; `scalar` is the code without SIMD."""
    command = score_command(corpus.load_million())
    names = ["scalar", "portable", *_list_vectors()]
    costs = run_in_turn(
        runs,
        {"chosen": partial(run_process, command)}
        | {name: partial(run_process, command, TRUEBLEU_SIMD=name) for name in names},
    )
    default_seconds = costs["chosen"].processor
    for name in names:
        own_seconds = costs[name].processor
        yield Row(
            f"1 M pairs, two files, TRUEBLEU_SIMD={name}",
            "",
            format_seconds(own_seconds),
            f"chosen at run time {format_seconds(default_seconds)}",
            f"{own_seconds / default_seconds:.2f} ×",
            figures={name: costs[name]},
        )


def _list_vectors() -> list[str]:
    """Return the instruction sets of this processor for which the kernel has specific code."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            flags = set(next((line for line in file if line.startswith("flags")), "").split())
    except FileNotFoundError:
        return []
    needs = {"avx2": {"avx2"}, "avx512": {"avx512bw", "avx512vl"}}
    return [name for name, wanted in needs.items() if wanted <= flags]


# ---- re-segmentation ----


@benchmark
def resegment(runs: int) -> Iterator[Row]:
    """Divide a text into the segments of its reference; compare with mweralign and OmniSTEval."""
    # mweralign takes two minutes and 6 GB for the largest text, so it runs once.
    small, middle, large = (corpus.load_million().head(count) for count in (180, 605, 6200))
    own_costs = {}
    few = min(runs, 3)
    # Calls of 25 ms vary by half, so they need more rounds than the others.
    for peer, method, text, target, rounds in (
        ("mweralign", "mweralign-none", middle, 40, max(runs, 15)),
        ("mweralign", "mweralign-none", large, 60, 1),
        ("omnisteval", "omnisteval", small, 150, few),
        ("omnisteval", "soft", small, 150, few),
    ):
        costs = run_in_turn(
            rounds,
            {
                peer: partial(run_job, f"resegment_by_{peer}", *text.files[:2]),
                "truebleu": partial(run_job, "resegment", method, *text.files[:2]),
            },
        )
        if method != "soft":
            check_agreement(peer, costs["truebleu"], costs[peer])
        words = sum(len(line.split()) for line in corpus.read_corpus_lines(text.references[0]))
        work = f"re-segmentation of {words:,} words, {method}"
        own_costs[text.segments] = costs["truebleu"]
        yield compare_times(
            work,
            costs["truebleu"].processor,
            peer,
            costs[peer].processor,
            min_ratio=target,
            figures=costs,
        )
        if text is large:
            share = costs["truebleu"].peak / costs[peer].peak
            yield Row(
                f"{work}: peak memory of the process",
                f"≤ 2 % of {peer}",
                f"{costs['truebleu'].peak / MEBIBYTE:.0f} MiB",
                f"{peer} {costs[peer].peak / MEBIBYTE:,.0f} MiB",
                f"{share:.1%}",
                met=share <= 0.02,
                figures={f"{name}_peak_bytes": cost.peak for name, cost in costs.items()},
            )
            growth = costs["truebleu"].processor / own_costs[middle.segments].processor
            yield Row(
                f"growth of the time from {middle.segments:,} to {large.segments:,} segments",
                "",
                f"{growth:.0f} × for {large.segments / middle.segments:.1f} × the text",
            )
