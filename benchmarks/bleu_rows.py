"""The rows of BLEU, chrF and TER: files, lists, segments, tokenizers, threads and memory."""

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
    comparison_row,
    format_seconds,
)
from measure import Cost, at_once, in_turn, job, private_memory, process, script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from corpus import Corpus
    from measure import Costs

IDLE_ENOUGH = 1.9
"""If two processes gain less over one, the cores were busy, and threads cannot be judged."""

LINES = 5_000
"""Lines of European text that SentencePiece models are trained on, and that they split."""


def score_command(text: Corpus, *options: str) -> tuple[str, ...]:
    return script("truebleu", "score", *text.references, "-i", text.hypotheses, *options)


# ---- a million pairs ----


@benchmark
def files(runs: int) -> Iterator[Row]:
    """Score 1 M pairs from two files, whole process, against wc -w, sacreBLEU and bleuscore."""
    million = corpus.million()
    sample, bigger = million.head(PEER_SAMPLE), million.head(5 * PEER_SAMPLE)
    costs = _with_wc(runs, million)
    bleuscore = partial(job, "bleuscore_corpus", *bigger.files, RAYON_NUM_THREADS="1")
    peers = in_turn(
        min(runs, 3),
        {
            "sacrebleu": partial(job, "sacrebleu_corpus", "BLEU", "{}", *sample.files),
            "bleuscore": bleuscore,
            "truebleu": partial(job, "score_files", 1, "{}", *sample.files),
            "truebleu, bigger": partial(job, "score_files", 1, "{}", *bigger.files),
        },
    )
    check_agreement("sacreBLEU", peers["truebleu"], peers["sacrebleu"])
    check_agreement("bleuscore", peers["truebleu, bigger"], peers["bleuscore"], tolerance=1e-9)
    work = "1 M pairs, two files, whole process"
    figures = {**costs, **{f"{name}, sample": cost for name, cost in peers.items()}}
    yield from _beside_wc(work, {"avx512": 0.28, "avx2": 0.32}, costs, figures)
    for name, target, part in (("sacrebleu", 250, sample), ("bleuscore", 50, bigger)):
        yield comparison_row(
            work,
            costs["truebleu"].processor,
            name,
            peers[name].processor * million.segments / part.segments,
            min_ratio=target,
            about=f" ({part.segments:,} pairs in process, linear)",
        )


def _with_wc(runs: int, text: Corpus, *options: str) -> dict[str, Costs]:
    """Costs of scoring files, with each instruction set that is better than SSE2, and of wc -w."""
    command = score_command(text, *options)
    contenders: dict[str, Callable[[], Cost]] = {
        "wc": partial(process, ("wc", "-w", *map(str, text.files)), LC_ALL="C.UTF-8"),
        "truebleu": partial(process, command),
    }
    for name in _vectors():
        contenders[name] = partial(process, command, TRUEBLEU_SIMD=name)
    return in_turn(runs, contenders)


def _beside_wc(
    work: str, targets: dict[str, float], costs: dict[str, Costs], figures: dict[str, Any]
) -> Iterator[Row]:
    """Yield a row for each instruction set: the share of wc's processor time."""
    for name in _vectors() or ["truebleu"]:
        max_ratio = targets.get(name, max(targets.values()))
        own_seconds, wc = costs[name].processor, costs["wc"].processor
        yield comparison_row(
            f"{work}, {name}", own_seconds, "wc -w", wc, max_ratio=max_ratio, figures=figures
        )


@benchmark
def lists(runs: int) -> Iterator[Row]:
    """1 M pairs from lists of str and from Arrow columns, in process."""
    million = corpus.million()
    works = {"list[str]": ("list", 1.0), "Arrow strings": ("arrow", 0.7)}
    costs = in_turn(
        runs,
        {
            source: partial(job, "score_in_memory", source, "BLEU", "{}", *million.files)
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
    """1 M pairs with two threads against one, elapsed time."""
    million = corpus.million()
    one_thread, two_threads = (
        partial(job, "score_files", workers, "{}", *million.files) for workers in (1, 2)
    )
    calls = in_turn(
        runs,
        {
            "1 thread": one_thread,
            "2 threads": two_threads,
            "2 processes": partial(at_once, 2, one_thread),
        },
    )
    check_agreement("the score of two threads", calls["1 thread"], calls["2 threads"])
    one_thread_seconds, two_thread_seconds, processes = (cost.elapsed for cost in calls.values())
    # Two independent processes show how much of two cores was available.
    possible = 2 * one_thread_seconds / processes
    yield comparison_row(
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
    """Private memory over 1 M and 10 M pairs."""
    for text in (corpus.million(), corpus.ten_million()):
        work = f"{text.segments // 1_000_000} M pairs, two files, private memory"
        yield _peak_row(work, score_command(text), text, min(runs, 3))


def _peak_row(work: str, command: tuple[str, ...], text: Corpus, runs: int) -> Row:
    if sys.platform != "linux":
        return Row(work, "≤ 64 MiB", "not measured: needs Linux's /proc/PID/smaps")
    peaks = [private_memory(command, text.files) for _ in range(runs)]
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
    """Compute chrF and chrF++ of 1 M pairs from two files, whole process, against sacreBLEU."""
    million = corpus.million()
    sample = million.head(PEER_SAMPLE // 4)
    for name, words, target in [("chrF", 0, 200), ("chrF++", 2, 150)]:
        options, parameters = ("-m", name.lower()), json.dumps({"word_order": words})
        costs = _with_wc(runs, million, *options)
        peers = in_turn(
            min(runs, 3),
            {
                "sacrebleu": partial(job, "sacrebleu_corpus", "CHRF", parameters, *sample.files),
                "truebleu": partial(
                    job, "score_in_memory", "list", "CHRF", parameters, *sample.files
                ),
            },
        )
        check_agreement("sacreBLEU", peers["truebleu"], peers["sacrebleu"])
        work = f"{name}, 1 M pairs, two files, whole process"
        yield comparison_row(
            work,
            costs["truebleu"].processor,
            "sacrebleu",
            peers["sacrebleu"].processor * million.segments / sample.segments,
            min_ratio=target,
            about=f" ({sample.segments:,} pairs in process, linear)",
            figures={"truebleu": costs["truebleu"], "sacrebleu, sample": peers["sacrebleu"]},
        )
        if not words:
            yield from _beside_wc(work, {"avx512": 0.70, "avx2": 0.70}, costs, dict(costs))
            command = score_command(million, *options)
            yield _peak_row(f"{name}, 1 M pairs, two files, private memory", command, million, 1)


@benchmark
def ter(runs: int) -> Iterator[Row]:
    """Compute TER of one test set in process, against sacreBLEU, and of every WMT22 system."""
    text = corpus.test_set()
    costs = in_turn(
        min(runs, 3),
        {
            "truebleu": partial(job, "score_in_memory", "list", "TER", "{}", *text.files),
            "sacrebleu": partial(job, "sacrebleu_corpus", "TER", "{}", *text.files),
        },
    )
    check_agreement("sacreBLEU", costs["truebleu"], costs["sacrebleu"])
    own_seconds, peer = (cost.processor for cost in costs.values())
    work = f"TER, {text.segments:,} segments, in process"
    yield comparison_row(work, own_seconds, "sacrebleu", peer, min_ratio=100, figures=costs)
    if systems := corpus.test_sets():
        paths = [path for system in systems for path in system.files]
        all_systems = in_turn(runs, {"truebleu": partial(job, "score_ter_files", 2, *paths)})[
            "truebleu"
        ]
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
    """Score one pair per call, against sacrebleu.sentence_bleu."""
    sample = corpus.sentences_of(range(22, 29), 2000)
    costs = in_turn(
        runs,
        {
            "truebleu": partial(job, "sentences", *sample.files),
            "sacrebleu": partial(job, "sacrebleu_sentences", "bleu", 1, *sample.files),
        },
    )
    check_agreement("sentence_bleu", costs["truebleu"], costs["sacrebleu"])
    own_seconds, peer = (cost.processor / sample.segments for cost in costs.values())
    work = "metric.sentence(h, [r]), one call, 22 to 28 words"
    note = f" ({sample.segments:,} pairs each)"
    yield comparison_row(
        work, own_seconds, "sacrebleu", peer, min_ratio=190, about=note, figures=costs
    )


@benchmark
def segments(runs: int) -> Iterator[Row]:
    """Compute 100,000 segment scores, against a loop over sacreBLEU."""
    text = corpus.million().head(100_000)
    sample = text.head(10_000)
    calls = in_turn(
        runs, {str(times): partial(job, "segments", times, *text.files) for times in (1, 2)}
    )
    own_seconds, second = (cost.processor for cost in calls.values())
    peers = in_turn(
        min(runs, 3),
        {
            "truebleu": partial(job, "segments", 1, *sample.files),
            "sacrebleu": partial(job, "sacrebleu_segments", *sample.files),
        },
    )
    check_agreement("sacreBLEU's loop", peers["truebleu"], peers["sacrebleu"])
    extrapolated = peers["sacrebleu"].processor * text.segments / sample.segments
    yield comparison_row(
        "metric.segments, 100,000 pairs",
        own_seconds,
        "sacrebleu",
        extrapolated,
        min_ratio=150,
        measured=f"{format_seconds(own_seconds)} ({format_seconds(second)} a second time)",
        about=f" ({sample.segments:,} pairs, linear)",
        figures={"first": calls["1"], "second": calls["2"], "sacrebleu": peers["sacrebleu"]},
        note="Python makes the UTF-8 form of each string that is not ASCII when it is first asked "
        f"for, {format_seconds(own_seconds - second)} here; the second call on the same strings is "
        f"{extrapolated / second:.0f} × faster than sacreBLEU.",
    )


# ---- tokenizers and instruction sets ----


@benchmark
def tokenizers(runs: int) -> Iterator[Row]:
    """zh, intl, char, lower-cased and four references, in time a byte, against 13a."""
    european = corpus.million().head(corpus.SIDE_CORPUS)
    works: list[tuple[str, dict[str, Any], Corpus]] = [
        ("13a", {}, european),
        ("zh, Chinese text", {"tokenize": "zh"}, corpus.chinese()),
        ("intl", {"tokenize": "intl"}, european),
        ("char", {"tokenize": "char"}, european),
        ("13a, lower-cased", {"lowercase": True}, european),
        ("13a, 4 references", {}, corpus.four_references()),
    ]
    costs = in_turn(
        runs,
        {
            name: partial(job, "score_files", 1, json.dumps(parameters), *text.files)
            for name, parameters, text in works
        },
    )
    a_byte, a_token = {}, {}
    for name, parameters, text in works:
        tokens = int(job("count_tokens", json.dumps(parameters), *text.files).output)
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
            f"a byte holds {ratio * a_token['13a'] / a_token[name]:.1f} × as many tokens as with "
            f"13a, and a token costs {a_token[name] / a_token['13a']:.2f} × as much.",
        )


@benchmark
def languages(runs: int) -> Iterator[Row]:
    """Tokenize with ja-mecab and ko-mecab against MeCab, and spm:FILE against sentencepiece."""
    if text := corpus.japanese():
        first_lines = text.head(LINES)
        yield from _tokenized(
            runs, "ja-mecab", first_lines.hypotheses, first_lines.references[0], "ja"
        )
    korean = corpus.korean()
    yield from _tokenized(runs, "ko-mecab", korean, korean, "ko")
    european = corpus.million().head(LINES)
    for kind in ("bpe", "unigram"):
        model = corpus.sentencepiece_model(kind, european.references[0])
        yield from _tokenized(
            runs, f"spm:{model}", european.hypotheses, european.references[0], str(model)
        )


def _tokenized(
    runs: int, name: str, hypotheses: Path, references: Path, other: str
) -> Iterator[Row]:
    """Score two files, and split lines into lists of strings, against the peer."""
    is_mecab = name.endswith("mecab")
    peer, work = ("MeCab", "mecab_lines") if is_mecab else ("sentencepiece", "sentencepiece_lines")
    parameters = json.dumps({"tokenize": name})
    costs = in_turn(
        runs,
        {
            "scored": partial(job, "score_files", 1, parameters, hypotheses, references),
            "truebleu": partial(job, "split_lines", name, hypotheses),
            peer: partial(job, work, other, hypotheses),
        },
    )
    check_agreement(peer, costs["truebleu"], costs[peer])
    count = sum(1 for _ in corpus.read_corpus_lines(hypotheses))
    label = name if is_mecab else f"spm, {other.rpartition('/')[2].removesuffix('.model')}"
    for title, own_seconds, min_ratio in (
        ("BLEU of two files, a line", costs["scored"].processor / (2 * count), 1.5),
        ("lines to lists of str, a line", costs["truebleu"].processor / count, 0),
    ):
        yield comparison_row(
            f"{label}, {count:,} lines: {title}",
            own_seconds,
            f"{peer} alone",
            costs[peer].processor / count,
            min_ratio=min_ratio if is_mecab else 0,
            figures=costs,
        )


@benchmark
def simd(runs: int) -> Iterator[Row]:
    """1 M pairs with each instruction set forced; `scalar` is the path with no SIMD."""
    command = score_command(corpus.million())
    names = ["scalar", "portable", *_vectors()]
    costs = in_turn(
        runs,
        {"chosen": partial(process, command)}
        | {name: partial(process, command, TRUEBLEU_SIMD=name) for name in names},
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


def _vectors() -> list[str]:
    """Return the instruction sets of this processor for which the kernel has specific code."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            flags = set(next((line for line in file if line.startswith("flags")), "").split())
    except FileNotFoundError:
        return []
    needs = {"avx2": {"avx2"}, "avx512": {"avx512bw", "avx512vl"}}
    return [name for name, wanted in needs.items() if wanted <= flags]
