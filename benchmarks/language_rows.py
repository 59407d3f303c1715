"""Benchmarks of text in five languages: bytes per second, beside programs that only count words."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from functools import partial
from typing import TYPE_CHECKING

import corpus
from benchmark_table import Row, benchmark
from measure import read_clock_speed, run_in_turn, run_job, run_process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from measure import Cost

TOKENIZERS = {"zh": "zh", "ja": "char"}
"""The tokenizers of BLEU for text without spaces; 13a tokenizes the other languages."""

NAMES = {"en": "English", "de": "German", "ru": "Russian", "zh": "Chinese", "ja": "Japanese"}


@benchmark
def throughput(runs: int) -> Iterator[Row]:
    """Score text in five languages; compare bytes per second with cat, wc and StringZilla."""
    for code, name in NAMES.items():
        text = corpus.load_language(code)
        if text is None:
            continue
        files = tuple(map(str, text.files))
        bleu = json.dumps({"tokenize": TOKENIZERS.get(code, "13a")})
        contenders: dict[str, Callable[[], Cost]] = {
            "cat": partial(run_process, ("sh", "-c", 'cat "$@" > /dev/null', "sh", *files)),
            "wc -w in C": partial(run_process, ("wc", "-w", *files), LC_ALL="C"),
            "wc -w": partial(run_process, ("wc", "-w", *files), LC_ALL="C.UTF-8"),
            "BLEU": partial(run_job, "score_text", "bleu", bleu, *files),
            "chrF": partial(run_job, "score_text", "chrf", "{}", *files),
            "TER": partial(run_job, "score_text", "ter", "{}", *files),
        }
        if importlib.util.find_spec("stringzilla"):
            contenders["StringZilla"] = partial(run_job, "count_by_stringzilla", *files)
        costs = run_in_turn(min(runs, 5), contenders)
        seconds = {key: cost.processor for key, cost in costs.items()}
        tokens = int(run_job("count_tokens", bleu, *files).output)
        peers = [key for key in ("cat", "wc -w in C", "wc -w", "StringZilla") if key in seconds]
        rates = ", ".join(f"{key} {text.size / seconds[key] / 1e9:.2f}" for key in peers)
        work = f"{name}, {text.segments:,} segments, {text.size / 1e6:.0f} MB"
        for metric in ("BLEU", "chrF", "TER"):
            cycles = seconds[metric] * read_clock_speed() / text.size
            yield Row(
                f"{metric} of {work}",
                "≤ 1 × wc -w" if metric == "BLEU" else "",
                f"{text.size / seconds[metric] / 1e9:.2f} GB/s, {cycles:.1f} cycles/byte, "
                f"{1e9 * seconds[metric] / tokens:.1f} ns/token",
                f"{rates} GB/s",
                f"{seconds[metric] / seconds['wc -w']:.2f} × wc -w",
                seconds["BLEU"] <= seconds["wc -w"] if metric == "BLEU" else None,
                {key: costs[key] for key in (metric, *peers)},
            )
        yield _measure_parts(work, TOKENIZERS.get(code, "13a"), text)


def _measure_parts(work: str, tokenizer: str, text: corpus.Corpus) -> Row:
    """Measure reading, tokenizing and matching in the kernel, which needs Rust and Linux."""
    work = f"parts of BLEU of {work}"
    if not shutil.which("cargo") or sys.platform != "linux":
        return Row(work, "", "not measured: needs cargo, on Linux")
    program = ("cargo", "run", "--quiet", "--release", "--package", "truebleu-kernel")
    options = ("--manifest-path", corpus.ROOT / "Cargo.toml", "--example", "parts", "--")
    output = run_process((*program, *map(str, options), tokenizer, *map(str, text.files))).output
    reading, tokenizing, total = (nanoseconds / text.size for nanoseconds in json.loads(output))
    return Row(
        work,
        "",
        f"reading {reading:.2f}, tokenizing {tokenizing - reading:.2f}, "
        f"matching {total - tokenizing:.2f} ns/byte",
        figures={"reading": reading, "with tokenizing": tokenizing, "with matching": total},
    )
