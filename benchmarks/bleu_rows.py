"""Benchmarks of BLEU, chrF and TER: files, lists, threads, memory, languages and tokenizers."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

import corpus
from benchmark_table import (
    MEBIBYTE,
    PEER_SAMPLE,
    Comparison,
    Row,
    benchmark,
    check_agreement,
    format_seconds,
    make_score_job,
)
from measure import (
    ROOT,
    find_python,
    get_script,
    make_command,
    make_job,
    read_processor_facts,
    run_at_once,
    run_in_turn,
    sample_memory,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from corpus import Corpus

IDLE_ENOUGH = 1.9
"""Minimum speed-up of two processes. With less, the cores were too busy to judge threads."""

LINES = 5_000
"""Number of lines of European text that train SentencePiece models and are then split by them."""

TEXTS = "BLEU, chrF and TER"
LANGUAGES = "Languages and tokenizers"


def make_score_command(text: Corpus, *options: str) -> tuple[str, ...]:
    return get_script("truebleu", "score", *text.references, "-i", text.hypotheses, *options)


# ---- a million pairs ----


@benchmark(TEXTS)
def files(runs: int) -> Iterator[Comparison | Row]:
    """Score 1 M pairs from two files (whole process); compare with wc, sacreBLEU and bleuscore."""
    million, work = corpus.load_million(), "1 M pairs, two files, whole process"
    command = make_score_command(million)
    for peer, arguments, min_ratio, count, tolerance in (
        ("sacrebleu", ("BLEU", {}), 250, PEER_SAMPLE, 0.0),
        ("bleuscore", (), 50, 5 * PEER_SAMPLE, 1e-9),
    ):
        sample = million.head(count)
        yield Comparison(
            work,
            make_command(*command),
            peer,
            make_job(f"score_by_{peer}", *arguments, *sample.files),
            units=(1, count / million.segments),
            min_ratio=min_ratio,
            check=make_score_job(sample.files),
            tolerance=tolerance,
            suffixes=("", f" ({count:,} pairs in process, linear)"),
        )
    yield from _compare_with_wc(work, million, command, {"avx512": 0.25, "avx2": 0.30})
    costs = run_in_turn(
        runs,
        {name: make_command(*command, TRUEBLEU_SIMD=name) for name in ("scalar", "portable")},
    )
    for name, cost in costs.items():
        work, measured = f"1 M pairs, two files, TRUEBLEU_SIMD={name}", cost.processor
        yield Row(work, "", format_seconds(measured), figures={name: cost})


def _compare_with_wc(
    work: str, text: Corpus, command: tuple[str, ...], max_ratios: dict[str, float]
) -> Iterator[Comparison]:
    """Yield one row per instruction set for which the kernel has code, if the processor has it."""
    flags = set(read_processor_facts().get("flags", "").split())
    needs = {"avx512": {"avx512bw", "avx512vl"}, "avx2": {"avx2"}}
    for name, max_ratio in max_ratios.items():
        if needs[name] <= flags:
            yield Comparison(
                f"{work}, {name}",
                make_command(*command, TRUEBLEU_SIMD=name),
                "wc -w",
                make_command("wc", "-w", *text.files, LC_ALL="C.UTF-8"),
                max_ratio=max_ratio,
                tolerance=None,
                note="Tokenizing and matching set the floor, as described above.",
            )


@benchmark(TEXTS)
def threads(runs: int) -> Iterator[Row]:
    """Score 1 M pairs with one and with two threads; compare the elapsed times."""
    paths = corpus.load_million().files
    one_thread, two_threads = (
        make_score_job(paths, source="files", workers=workers) for workers in (1, 2)
    )
    contenders = {"1 thread": one_thread, "2 threads": two_threads}
    costs = run_in_turn(runs, {**contenders, "2 processes": lambda: run_at_once(2, one_thread)})
    check_agreement("two threads", costs["1 thread"].result, costs["2 threads"].result)
    one, two, processes_seconds = (cost.elapsed for cost in costs.values())
    # The speed-up of two independent processes shows how much of two cores was available.
    possible, ratio = 2 * one / processes_seconds, one / two
    yield Row(
        "1 M pairs, two files, 2 threads, elapsed",
        "≥ 1.8 × 1 thread",
        format_seconds(two),
        f"1 thread {format_seconds(one)}; 2 processes at once reach {possible:.2f} ×",
        f"{ratio:.1f} × faster",
        None if possible < IDLE_ENOUGH and ratio < 1.8 else ratio >= 1.8,
        costs,
    )


@benchmark(TEXTS)
def memory(runs: int) -> Iterator[Row]:
    """Measure the private memory for scoring 1 M pairs by BLEU and chrF, and 10 M pairs."""
    million, ten_million = corpus.load_million(), corpus.load_ten_million()
    for name, text, options in (
        ("1 M pairs", million, ()),
        ("10 M pairs", ten_million, ()),
        ("chrF, 1 M pairs", million, ("-m", "chrf")),
    ):
        work, target = f"{name}, two files, private memory", "≤ 64 MiB"
        if sys.platform != "linux":
            yield Row(work, target, "not measured: needs Linux's /proc/PID/smaps")
            continue
        command = make_score_command(text, *options)
        peak = max(sample_memory(command) for _ in range(min(runs, 3)))
        figures = {"private_bytes": peak, "input_bytes": text.size}
        measured = f"{peak / MEBIBYTE:.1f} MiB"
        yield Row(work, target, measured, met=peak <= 64 * MEBIBYTE, figures=figures)


@benchmark(TEXTS)
def chrf() -> Iterator[Comparison]:
    """Compute chrF and chrF++ of 1 M pairs in two files (whole process); compare with sacreBLEU."""
    million = corpus.load_million()
    sample = million.head(PEER_SAMPLE // 4)
    for name, words, min_ratio in (("chrF", 0, 200), ("chrF++", 2, 150)):
        work = f"{name}, 1 M pairs, two files, whole process"
        command = make_score_command(million, "-m", name.lower())
        yield Comparison(
            work,
            make_command(*command),
            "sacrebleu",
            make_job("score_by_sacrebleu", "CHRF", {"word_order": words}, *sample.files),
            units=(1, sample.segments / million.segments),
            min_ratio=min_ratio,
            check=make_score_job(sample.files, "chrf", word_order=words),
            suffixes=("", f" ({sample.segments:,} pairs in process, linear)"),
        )
        if not words:
            yield from _compare_with_wc(work, million, command, {"avx512": 0.50, "avx2": 0.66})


@benchmark(TEXTS)
def ter_of_systems() -> Iterator[Comparison]:
    """Compute TER of all systems of WMT22."""
    if systems := corpus.load_test_sets():
        paths = [path for system in systems for path in system.files]
        segments = sum(system.segments for system in systems)
        work = f"TER, WMT22: {len(systems)} systems, {segments:,} segments, 2 threads, elapsed"
        own = make_job("score_pairs_of_files", "ter", 2, *paths)
        yield Comparison(work, own, max_seconds=30, clock="elapsed")


# ---- tokenizers and languages ----


@benchmark(LANGUAGES)
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
            name: make_score_job(text.files, source="files", **parameters)
            for name, parameters, text in works
        },
    )
    per_byte, per_token = {}, {}
    for name, parameters, text in works:
        tokens = int(make_job("count_tokens", parameters, *text.files)().output)
        per_byte[name] = 1e9 * costs[name].processor / text.size
        per_token[name] = 1e9 * costs[name].processor / tokens
    for name, _, text in works[1:]:
        ratio = per_byte[name] / per_byte["13a"]
        yield Row(
            f"{name}: {text.segments:,} segments, {text.size / 1e6:.0f} MB",
            "≤ 3 × 13a a byte",
            f"{per_byte[name]:.2f} ns/byte ({per_token[name]:.1f} ns/token)",
            f"13a {per_byte['13a']:.2f} ns/byte ({per_token['13a']:.1f} ns/token)",
            f"{ratio:.2f} ×",
            ratio <= 3,
            {name: costs[name], "13a": costs["13a"]},
            f"A byte has {ratio * per_token['13a'] / per_token[name]:.1f} × as many tokens as "
            f"with 13a, and a token costs {per_token[name] / per_token['13a']:.2f} × as much.",
        )


@benchmark(LANGUAGES)
def languages() -> Iterator[Comparison]:
    """Compare the tokenizers ja-mecab and ko-mecab with MeCab, and spm:FILE with sentencepiece."""
    korean, european = corpus.write_korean(), corpus.load_million().head(LINES)
    models = [
        corpus.train_sentencepiece(kind, european.references[0]) for kind in ("bpe", "unigram")
    ]
    works: list[tuple[str, str, str, tuple[Path, ...]]] = [
        ("ko-mecab", "ko-mecab", "ko", (korean, korean)),
        *((f"spm, {path.stem}", f"spm:{path}", str(path), european.files) for path in models),
    ]
    if japanese := corpus.load_language("ja"):
        works.insert(0, ("ja-mecab", "ja-mecab", "ja", japanese.head(LINES).files))
    for label, tokenize, model, paths in works:
        peer, job = ("MeCab", "split_by_mecab")
        if model not in ("ja", "ko"):
            peer, job = ("sentencepiece", "split_by_sentencepiece")
        split_job = make_job("split_lines", tokenize, paths[0])
        score_job = make_score_job(paths, source="files", tokenize=tokenize)
        for title, own, units, min_ratio in (
            ("BLEU of two files, a line", score_job, (2 * LINES, LINES), 1.5),
            ("lines to lists of str, a line", split_job, (LINES, LINES), 0),
        ):
            yield Comparison(
                f"{label}, {LINES:,} lines: {title}",
                own,
                f"{peer} alone",
                make_job(job, model, paths[0]),
                units=units,
                min_ratio=min_ratio if peer == "MeCab" else 0,
                check=split_job,
            )


@benchmark(LANGUAGES)
def throughput(runs: int) -> Iterator[Row]:
    """Score text in five languages; compare bytes per second with cat, wc and StringZilla."""
    names = {"en": "English", "de": "German", "ru": "Russian", "zh": "Chinese", "ja": "Japanese"}
    clock = 1e6 * float(read_processor_facts().get("cpu MHz", "nan"))
    for code, name in names.items():
        text = corpus.load_language(code)
        if text is None:
            continue
        tokenize = {"zh": "zh", "ja": "char"}.get(code, "13a")
        peers = {
            "cat": make_command("sh", "-c", 'cat "$@" > /dev/null', "sh", *text.files),
            "wc -w in C": make_command("wc", "-w", *text.files, LC_ALL="C"),
            "wc -w": make_command("wc", "-w", *text.files, LC_ALL="C.UTF-8"),
        }
        if find_python("stringzilla"):
            peers["StringZilla"] = make_job("count_by_stringzilla", *text.files)
        own_jobs = {
            "BLEU": make_score_job(text.files, source="files", tokenize=tokenize),
            "chrF": make_score_job(text.files, "chrf", "files"),
            "TER": make_score_job(text.files, "ter", "files"),
        }
        costs = run_in_turn(runs, {**peers, **own_jobs})
        seconds = {key: cost.processor for key, cost in costs.items()}
        tokens = int(make_job("count_tokens", {"tokenize": tokenize}, *text.files)().output)
        rates = ", ".join(f"{key} {text.size / seconds[key] / 1e9:.2f}" for key in peers)
        work = f"{name}, {text.segments:,} segments, {text.size / 1e6:.0f} MB"
        for metric in own_jobs:
            yield Row(
                f"{metric} of {work}",
                "≤ 1 × wc -w" if metric == "BLEU" else "",
                f"{text.size / seconds[metric] / 1e9:.2f} GB/s, "
                f"{seconds[metric] * clock / text.size:.1f} cycles/byte, "
                f"{1e9 * seconds[metric] / tokens:.1f} ns/token",
                f"{rates} GB/s",
                f"{seconds[metric] / seconds['wc -w']:.2f} × wc -w",
                seconds["BLEU"] <= seconds["wc -w"] if metric == "BLEU" else None,
                {key: costs[key] for key in (metric, *peers)},
            )
        yield _measure_parts(f"parts of BLEU of {work}", tokenize, text)


def _measure_parts(work: str, tokenizer: str, text: Corpus) -> Row:
    """Measure reading, tokenizing and matching in the kernel, which needs Rust and Linux."""
    if not shutil.which("cargo") or sys.platform != "linux":
        return Row(work, "", "not measured: needs cargo, on Linux")
    program = ("cargo", "run", "--quiet", "--release", "--package", "truebleu-kernel")
    options = ("--manifest-path", ROOT / "Cargo.toml", "--example", "parts", "--")
    output = make_command(*program, *options, tokenizer, *text.files)().output
    reading, tokenizing, total = (nanoseconds / text.size for nanoseconds in json.loads(output))
    return Row(
        work,
        "",
        f"reading {reading:.2f}, tokenizing {tokenizing - reading:.2f}, "
        f"matching {total - tokenizing:.2f} ns/byte",
        figures={"reading": reading, "with tokenizing": tokenizing, "with matching": total},
    )


# ---- long segments ----

LENGTHS = (64, 256, 260, 512, 1024, 4096)
# The largest allowed cost per token, as a multiple of the cost at 256 tokens; and the segments.
LENGTH_TARGETS = {"bleu": (1.5, 400), "chrf": (2.0, 400), "rouge-l": (2.0, 20), "gleu": (2.0, 20)}


@benchmark("Segments, token ids and rewards")
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
