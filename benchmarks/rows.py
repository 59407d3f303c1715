"""The rows of the table: what each measures, beside whom, and what was promised.

A benchmark is a function registered under the name that `run.py` takes; it yields one row for each
promise. Figures are medians of processor time unless a row says otherwise.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import corpus
import in_browser
import ray_engine
import spark_engine
from measure import (
    Cost,
    Costs,
    at_once,
    in_turn,
    job,
    private_memory,
    process,
    python,
    python_with,
    script,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from corpus import Corpus

MEBIBYTE = 1 << 20

ROOT = Path(__file__).resolve().parents[1]

PEER_SAMPLE = 20_000
"""Segments that slow peers are timed on; their time grows linearly with segments, or faster."""

IDLE_ENOUGH = 1.9
"""If two processes gain less over one, the cores were busy, and threads cannot be judged."""


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    work: str
    target: str
    measured: str
    peer: str = ""
    ratio: str = ""
    met: bool | None = None
    """None where nothing was promised."""
    figures: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    """The reason, if it misses the target."""


BENCHMARKS: dict[str, Callable[[int], Iterator[Row]]] = {}


def benchmark(function: Callable[[int], Iterator[Row]]) -> Callable[[int], Iterator[Row]]:
    """Register a benchmark under its function's name, without a trailing underscore."""
    BENCHMARKS[function.__name__.rstrip("_")] = function
    return function


# ---- a million pairs ----


@benchmark
def files(runs: int) -> Iterator[Row]:
    """1 M pairs from two files, the whole process, beside wc -w, sacreBLEU and bleuscore."""
    million = corpus.million()
    sample = million.head(PEER_SAMPLE)
    bigger_sample = million.head(5 * PEER_SAMPLE)
    costs = _with_wc(runs, million)
    peers = in_turn(
        min(runs, 3),
        {
            "sacrebleu": lambda: job("sacrebleu_corpus", *sample.files),
            "bleuscore": lambda: job(
                "bleuscore_corpus", *bigger_sample.files, RAYON_NUM_THREADS="1"
            ),
            "truebleu": lambda: job("score_files", 1, "{}", *sample.files),
            "truebleu, bigger": lambda: job("score_files", 1, "{}", *bigger_sample.files),
        },
    )
    _agree("sacreBLEU", peers["truebleu"], peers["sacrebleu"])
    _agree("bleuscore", peers["truebleu, bigger"], peers["bleuscore"], digits=9)

    own = costs["truebleu"].processor
    work = "1 M pairs, two files, whole process"
    measured = f"{own:.3f} s"
    figures = {**costs, **{f"{name}, sample": cost for name, cost in peers.items()}}
    yield from _beside_wc(work, {"avx512": 0.28, "avx2": 0.32}, costs, figures)
    for name, target, its_sample in [("sacrebleu", 250, sample), ("bleuscore", 50, bigger_sample)]:
        extrapolated = peers[name].processor * million.segments / its_sample.segments
        yield Row(
            work,
            f"≥ {target} × {name}",
            measured,
            f"{name} {extrapolated:.1f} s ({its_sample.segments:,} pairs in process, linear)",
            f"{extrapolated / own:.0f} × faster",
            extrapolated >= target * own,
        )


def _with_wc(runs: int, text: Corpus, *options: object) -> dict[str, Costs]:
    """Costs of scoring files, with each instruction set that is better than SSE2, and of wc -w."""
    command = _score_command(text, *map(str, options))
    contenders: dict[str, Callable[[], Cost]] = {
        "wc": lambda: process(("wc", "-w", *map(str, text.files)), LC_ALL="C.UTF-8"),
        "truebleu": lambda: process(command),
    }
    for name in _vectors():
        contenders[name] = partial(process, command, TRUEBLEU_SIMD=name)
    return in_turn(runs, contenders)


def _beside_wc(
    work: str, targets: dict[str, float], costs: dict[str, Costs], figures: dict[str, Any]
) -> Iterator[Row]:
    """A row for each instruction set: the share of wc's processor time."""
    wc = costs["wc"].processor
    for name in _vectors() or ["truebleu"]:
        own, target = costs[name].processor, targets.get(name, max(targets.values()))
        yield Row(
            f"{work}, {name}",
            f"≤ {target:.2f} × wc -w",
            f"{own:.3f} s",
            f"wc -w {wc:.3f} s",
            f"{own / wc:.2f} ×",
            own <= target * wc,
            figures,
        )


@benchmark
def lists(runs: int) -> Iterator[Row]:
    """1 M pairs from lists of str and from Arrow columns, in process."""
    million = corpus.million()
    costs = in_turn(
        runs,
        {
            "list": lambda: job("score_list", *million.files),
            "arrow": lambda: job("score_arrow", *million.files),
        },
    )
    _agree("the score from Arrow", costs["list"], costs["arrow"])
    for name, source, seconds in [("list", "list[str]", 1.0), ("arrow", "Arrow strings", 0.7)]:
        own = costs[name].processor
        yield Row(
            f"1 M pairs, {source}, in process",
            f"≤ {seconds:.1f} s at 2.5 GHz",
            f"{own:.3f} s",
            met=own <= seconds,
            figures={name: costs[name]},
        )


@benchmark
def threads(runs: int) -> Iterator[Row]:
    """1 M pairs with two threads against one, elapsed time."""
    million = corpus.million()

    def call(workers: int) -> Cost:
        return job("score_files", workers, "{}", *million.files)

    calls = in_turn(
        runs,
        {
            "1 thread": lambda: call(1),
            "2 threads": lambda: call(2),
            "2 processes": lambda: at_once(2, lambda: call(1)),
        },
    )
    _agree("the score of two threads", calls["1 thread"], calls["2 threads"])
    one, two, processes = (calls[name].elapsed for name in ("1 thread", "2 threads", "2 processes"))
    # Two processes that share nothing show how much of two cores was to be had.
    possible = 2 * one / processes
    yield Row(
        "1 M pairs, two files, 2 threads, elapsed",
        "≥ 1.8 × one thread",
        f"{two:.3f} s",
        f"1 thread {one:.3f} s; 2 processes at once reach {possible:.2f} ×",
        f"{one / two:.2f} × faster",
        None if possible < IDLE_ENOUGH and one < 1.8 * two else one >= 1.8 * two,
        dict(calls),
    )


@benchmark
def memory(runs: int) -> Iterator[Row]:
    """Private memory over 1 M and 10 M pairs."""
    if sys.platform != "linux":
        yield Row("private memory", "≤ 64 MiB", "not measured: needs Linux's /proc/PID/smaps")
        return
    for text in (corpus.million(), corpus.ten_million()):
        peaks = [private_memory(_score_command(text), text.files) for _ in range(min(runs, 3))]
        peak = max(peaks, key=lambda memory: memory.private)
        yield Row(
            f"{text.segments // 1_000_000} M pairs, two files, private memory",
            "≤ 64 MiB",
            f"{peak.private / MEBIBYTE:.1f} MiB"
            f" ({peak.without_input / MEBIBYTE:.1f} MiB without mapped input pages)",
            met=peak.private <= 64 * MEBIBYTE,
            figures={"peak": peak, "input_bytes": text.size},
        )


@benchmark
def chrf(runs: int) -> Iterator[Row]:
    """ChrF and chrF++ of 1 M pairs from two files, the whole process, beside sacreBLEU."""
    million = corpus.million()
    sample = million.head(PEER_SAMPLE // 4)
    for name, words, target in [("chrF", 0, 200), ("chrF++", 2, 150)]:
        command = _score_command(million, "-m", name.lower())
        costs = _with_wc(runs, million, "-m", name.lower())
        own = costs["truebleu"]
        peers = in_turn(
            min(runs, 3),
            {
                "sacrebleu": partial(job, "sacrebleu_chrf", words, *sample.files),
                "truebleu": partial(job, "score_chrf", words, *sample.files),
            },
        )
        _agree("sacreBLEU", peers["truebleu"], peers["sacrebleu"])
        peer = peers["sacrebleu"].processor * million.segments / sample.segments
        work = f"{name}, 1 M pairs, two files, whole process"
        yield Row(
            work,
            f"≥ {target} × sacreBLEU",
            f"{own.processor:.3f} s",
            f"sacrebleu {peer:.0f} s ({sample.segments:,} pairs in process, linear)",
            f"{peer / own.processor:.0f} × faster",
            peer >= target * own.processor,
            {"truebleu": own, "sacrebleu, sample": peers["sacrebleu"]},
        )
        if not words:
            yield from _beside_wc(work, {"avx512": 0.70, "avx2": 0.70}, costs, dict(costs))
            if sys.platform == "linux":
                peak = private_memory(command, million.files)
                yield Row(
                    f"{name}, 1 M pairs, two files, private memory",
                    "≤ 64 MiB",
                    f"{peak.private / MEBIBYTE:.1f} MiB"
                    f" ({peak.without_input / MEBIBYTE:.1f} MiB without mapped input pages)",
                    met=peak.private <= 64 * MEBIBYTE,
                    figures={"peak": peak},
                )


# ---- one test set ----


@benchmark
def ter(runs: int) -> Iterator[Row]:
    """TER of one test set in process, beside sacreBLEU; and of every system of WMT22."""
    text = corpus.test_set()
    costs = in_turn(
        min(runs, 3),
        {
            "truebleu": lambda: job("score_ter", *text.files),
            "sacrebleu": lambda: job("sacrebleu_ter", *text.files),
        },
    )
    _agree("sacreBLEU", costs["truebleu"], costs["sacrebleu"])
    own, peer = costs["truebleu"].processor, costs["sacrebleu"].processor
    yield Row(
        f"TER, {text.segments:,} segments, in process",
        "≥ 100 × sacreBLEU",
        f"{1000 * own:.2f} ms",
        f"sacrebleu {peer:.2f} s",
        f"{peer / own:.0f} × faster",
        peer >= 100 * own,
        dict(costs),
    )
    systems = corpus.test_sets()
    if systems:
        files = [path for system in systems for path in system.files]
        every = in_turn(runs, {"truebleu": lambda: job("score_ter_files", 2, *files)})["truebleu"]
        segments = sum(system.segments for system in systems)
        yield Row(
            f"TER, WMT22: {len(systems)} systems, {segments:,} segments, 2 threads, elapsed",
            "≤ 30 s",
            f"{every.elapsed:.2f} s ({every.processor:.2f} s of processor time)",
            met=every.elapsed <= 30,
            figures={"truebleu": every},
        )


@benchmark
def test_set(runs: int) -> Iterator[Row]:
    """One test set, the whole process, beside bare Python and sacreBLEU's command."""
    text = corpus.test_set()
    command = script(
        "sacrebleu", text.references[0], "-i", text.hypotheses, "-m", "bleu", "-w", "17"
    )
    costs = in_turn(
        3 * runs,
        {
            "truebleu": lambda: process(_score_command(text)),
            "bare": lambda: process(python("-c", "pass")),
            "sacrebleu": lambda: process(command),
        },
    )
    ours = json.loads(costs["truebleu"].output)["scores"][0]["score"]
    theirs = json.loads(costs["sacrebleu"].output)["score"]
    if round(ours, 12) != round(theirs, 12):
        raise SystemExit(f"benchmarks: truebleu says {ours}, sacreBLEU's command {theirs}")

    own, bare, peer = (costs[name].processor for name in ("truebleu", "bare", "sacrebleu"))
    work = f"{text.segments:,} segments, whole process"
    measured = f"{1000 * own:.1f} ms"
    yield Row(
        work,
        "≤ 3 × python -c pass",
        measured,
        f"python -c pass {1000 * bare:.1f} ms",
        f"{own / bare:.2f} ×",
        own <= 3 * bare,
        dict(costs),
    )
    yield Row(
        work,
        "≥ 12 × sacrebleu's command",
        measured,
        f"sacrebleu {1000 * peer:.0f} ms",
        f"{peer / own:.1f} × faster",
        peer >= 12 * own,
    )


# What people run sacreBLEU's command for, and how many times as fast the accelerator has to be.
DROP_IN_WORK = [
    (3, "BLEU", 1, ()),
    (30, "BLEU, chrF, TER", 1, ("-m", "bleu", "chrf", "ter")),
    (2.5, "BLEU, 95% interval", 1, ("-ci",)),
    (15, "BLEU and chrF of 3 systems, paired test", 3, ("-m", "bleu", "chrf", "--paired-ar")),
]


@benchmark
def drop_in(runs: int) -> Iterator[Row]:
    """truebleu.compat.sacrebleu's command on one test set, beside sacreBLEU's."""
    text = corpus.test_set()
    module = python("-m", "truebleu.compat.sacrebleu")
    for target, name, count, options in DROP_IN_WORK:
        words = (*map(str, (text.references[0], "-i", *corpus.rivals(count))), *options)
        costs = in_turn(
            min(runs, 3) if count > 1 else runs,
            {
                "truebleu": partial(process, (*module, *words)),
                "sacrebleu": partial(process, (*script("sacrebleu"), *words)),
            },
        )
        if costs["truebleu"].output != costs["sacrebleu"].output:
            raise SystemExit(f"benchmarks: the drop-in prints something else for {words}")
        own, peer = costs["truebleu"].processor, costs["sacrebleu"].processor
        yield Row(
            f"sacreBLEU's command, {text.segments:,} segments, {name}",
            f"≥ {target} × the original",
            f"{1000 * own:.1f} ms",
            f"sacrebleu {1000 * peer:.0f} ms",
            f"{peer / own:.1f} × faster",
            peer >= target * own,
            dict(costs),
        )


@benchmark
def import_(runs: int) -> Iterator[Row]:
    """`import truebleu` over bare Python, and what it loads."""
    costs = in_turn(
        8 * runs,
        {
            "import": lambda: process(python("-c", "import truebleu")),
            "bare": lambda: process(python("-c", "pass")),
        },
    )
    cost = costs["import"].processor - costs["bare"].processor
    yield Row(
        "import truebleu, over bare Python",
        "≤ 15 ms",
        f"{1000 * cost:.1f} ms",
        f"python -c pass {1000 * costs['bare'].processor:.1f} ms",
        met=cost <= 0.015,
        figures=dict(costs),
    )
    outside = json.loads(job("imported_modules").output)
    yield Row(
        "import truebleu, modules outside the standard library",
        "no NumPy, nothing optional",
        ", ".join(outside),
        met=outside == ["truebleu"],
    )


@benchmark
def start(runs: int) -> Iterator[Row]:
    """`truebleu score` on one test set, the whole process, beside Python that does nothing."""
    text = corpus.test_set()
    command = ("score", *text.references, "-i", text.hypotheses)
    costs = in_turn(
        8 * runs,
        {
            "score": lambda: process(script("truebleu", *command)),
            "bare": lambda: process(python("-c", "pass")),
        },
    )
    ratio = costs["score"].processor / costs["bare"].processor
    yield Row(
        f"truebleu score, {text.segments:,} segments, whole process",
        "≤ 2 × python -c pass",
        f"{1000 * costs['score'].processor:.1f} ms",
        f"python -c pass {1000 * costs['bare'].processor:.1f} ms",
        f"{ratio:.2f} × the time",
        ratio <= 2,
        dict(costs),
        "Both with byte-code compiled (python -m compileall), as an installation has it.",
    )


@benchmark
def install(runs: int) -> Iterator[Row]:
    """`pip install` of the wheel into an empty environment, and the first score."""
    work = "pip install of the wheel into an empty environment"
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        pip = python("-m", "pip", "--disable-pip-version-check", "--quiet")
        process((*pip, "wheel", "--no-deps", "--wheel-dir", folder, str(ROOT)))
        (wheel,) = home.glob("truebleu-*.whl")
        process((*pip, "download", "--no-cache-dir", "--dest", str(home / "all"), str(wheel)))
        sizes = {path.name: path.stat().st_size for path in (home / "all").iterdir()}
        costs = in_turn(runs, {"install": lambda: _first_score(home, wheel)})
    elapsed, size = costs["install"].elapsed, sum(sizes.values())
    told = f"truebleu {sizes[wheel.name] / 1e6:.2f} MB, {len(sizes) - 1} others"
    yield Row(
        f"{work}, all that is downloaded",
        "≤ 6 MB",
        f"{size / 1e6:.2f} MB",
        told,
        met=size <= 6e6,
        figures=sizes,
    )
    yield Row(
        f"{work}, to a first score, elapsed",
        "≤ 5 s",
        f"{elapsed:.1f} s",
        met=elapsed <= 5,
        figures=dict(costs),
        note="What the wheel needs is downloaded each time; the wheel itself is a file.",
    )


def _first_score(home: Path, wheel: Path) -> Cost:
    """From an empty environment to the score of a file."""
    place = home / "environment"
    process(python("-m", "venv", "--clear", str(place)))
    bin_ = place / ("Scripts" if sys.platform == "win32" else "bin")
    pip = (str(bin_ / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet")
    installed = process((*pip, "install", "--no-cache-dir", str(wheel)))
    examples = ROOT / "examples" / "de-en"
    files = (str(examples / "reference.a.en"), "-i", str(examples / "cedar.en"), "-b")
    first = process((str(bin_ / "truebleu"), "score", *files))
    return Cost(
        installed.processor + first.processor, installed.elapsed + first.elapsed, first.output
    )


# ---- several systems ----


@benchmark
def compare(runs: int) -> Iterator[Row]:
    """Ten systems by BLEU and chrF with paired tests, the whole process, beside sacreBLEU's."""
    systems, reference = corpus.ten_systems()
    names = ",".join(f"S{number}" for number in range(len(systems)))

    def own(*options: object) -> Callable[[], Cost]:
        files = (reference, "-i", *systems, "--names", names)
        command = script("truebleu", "compare", *files, *options, "-f", "json")
        return lambda: process(command)

    def theirs(*options: object) -> Cost:
        return process(script("sacrebleu", reference, "-i", *systems, *options))

    both, three = ("-m", "bleu", "chrf"), ("-m", "bleu", "chrf", "ter")
    costs = in_turn(
        runs,
        {
            "bootstrap": own(*both, "--paired-bs"),
            "randomization": own(*both, "--paired-ar"),
            "bootstrap, TER": own(*three, "--paired-bs"),
            "randomization, TER": own(*three, "--paired-ar"),
        },
    )
    # In JSON, sacreBLEU cannot print a bootstrap of chrF under NumPy 2.
    peers = {
        "bootstrap": theirs(*both, "--paired-bs", "-f", "text"),
        "randomization": theirs(*both, "--paired-ar", "-f", "json"),
    }
    _agree_on_p(costs["randomization"], peers["randomization"])
    for name, times, seconds in (
        ("bootstrap", "1,000 resamples", 0.25),
        ("randomization", "10,000 randomizations", 0.4),
    ):
        taken, peer = costs[name].processor, peers[name].processor
        work = f"compare 10 systems × 2,037 segments, {times}"
        yield Row(
            f"{work}, BLEU + chrF, whole process",
            f"≤ {seconds:.2f} s",
            f"{taken:.3f} s (all 45 pairs)",
            f"sacrebleu {peer:.1f} s (9 pairs)",
            f"{peer / taken:.0f} × faster",
            taken <= seconds,
            {"truebleu": costs[name], "sacrebleu": peers[name]},
        )
        more = costs[f"{name}, TER"].processor - taken
        yield Row(
            f"{work}, with TER as well",
            "≤ 0.30 s more",
            f"{more:.3f} s more",
            met=more <= 0.3,
            figures={name: costs[f"{name}, TER"]},
        )


def _agree_on_p(own: Costs, peer: Cost) -> None:
    """Stop if a difference to the baseline has another p-value, or a system another score."""
    mine = {system["name"]: system["scores"] for system in json.loads(own.output)["systems"]}
    for number, row in enumerate(json.loads(peer.output)):
        for metric in ("BLEU", "chrF2"):
            known, other = mine[f"S{number}"][metric], row[metric]
            p = known["difference"] and known["difference"]["p"]
            if (known["score"], p) != (other["score"], other["p_value"]):
                raise SystemExit(f"benchmarks: sacreBLEU says {row!s:.200}, not {known!s:.200}")


# ---- segments ----


@benchmark
def sentence(runs: int) -> Iterator[Row]:
    """One call a pair, beside sacrebleu.sentence_bleu."""
    sample = corpus.sentences_of(range(22, 29), 2000)
    costs = in_turn(
        runs,
        {
            "truebleu": lambda: job("sentences", *sample.files),
            "sacrebleu": lambda: job("sacrebleu_sentences", *sample.files),
        },
    )
    _agree("sentence_bleu", costs["truebleu"], costs["sacrebleu"])
    own, peer = (
        1e6 * costs[name].processor / sample.segments for name in ("truebleu", "sacrebleu")
    )
    yield Row(
        "metric.sentence(h, [r]), one call, 22 to 28 words",
        "≥ 190 × sacrebleu.sentence_bleu",
        f"{own:.2f} µs",
        f"sacrebleu {peer:.0f} µs (2,000 pairs each)",
        f"{peer / own:.0f} × faster",
        peer >= 190 * own,
        dict(costs),
    )


@benchmark
def segments(runs: int) -> Iterator[Row]:
    """100,000 segment scores, beside a loop over sacreBLEU."""
    text = corpus.million().head(100_000)
    sample = text.head(10_000)
    calls = in_turn(
        runs,
        {
            "first": lambda: job("segments", *text.files),
            "second": lambda: job("segments_again", *text.files),
        },
    )
    own, second = calls["first"].processor, calls["second"].processor
    peers = in_turn(
        min(runs, 3),
        {
            "truebleu": lambda: job("segments", *sample.files),
            "sacrebleu": lambda: job("sacrebleu_segments", *sample.files),
        },
    )
    _agree("sacreBLEU's loop", peers["truebleu"], peers["sacrebleu"])
    extrapolated = peers["sacrebleu"].processor * text.segments / sample.segments
    yield Row(
        "metric.segments, 100,000 pairs",
        "≥ 150 × a loop over sacreBLEU",
        f"{1000 * own:.1f} ms ({1000 * second:.1f} ms a second time)",
        f"sacrebleu {extrapolated:.1f} s ({sample.segments:,} pairs, linear)",
        f"{extrapolated / own:.0f} × faster",
        extrapolated >= 150 * own,
        {**calls, "sacrebleu, sample": peers["sacrebleu"]},
        "Python makes the UTF-8 form of each string that is not ASCII when it is first asked for, "
        f"{1000 * (own - second):.0f} ms here; the second call on the same strings is "
        f"{extrapolated / second:.0f} × faster than sacreBLEU.",
    )


# ---- the report ----


@benchmark
def report(runs: int) -> Iterator[Row]:
    """The page about two systems: writing it, and what it costs whoever opens it."""
    text = corpus.four_references().head(100_000)
    # Other systems' outputs stand for the second system and for the source.
    reference, other, source, _ = text.references
    page = corpus.CACHE / "report.html"
    words = (reference, "-i", text.hypotheses, other, "-src", source, "-q", "-o", page)
    costs = in_turn(runs, {"truebleu": lambda: process(script("truebleu", "report", *words))})
    taken, size = costs["truebleu"].processor, page.stat().st_size
    carried = sum(path.stat().st_size for path in (reference, text.hypotheses, other, source))
    page.unlink()
    work = f"report on 2 systems × {text.segments:,} segments, {carried / 1e6:.0f} MB of text"
    yield Row(
        f"{work}, whole process", "≤ 1.5 s", f"{taken:.2f} s", met=taken <= 1.5, figures=costs
    )
    yield Row(f"{work}, the file", "≤ 15 MB", f"{size / 1e6:.1f} MB", met=size <= 15e6)
    with in_browser.chromium() as browser:
        for segments in (1_000, 10_000, 100_000):
            work = f"the report on {segments:,} segments in Chromium, elapsed"
            budget = in_browser.promised(segments)
            if browser is None:
                yield Row(work, in_browser.told(budget), "not measured: needs Chromium, Playwright")
                continue
            path = in_browser.page(corpus.CACHE, segments)
            figures = in_browser.measure(browser, path, segments, min(runs, 5))
            path.unlink()
            yield Row(
                work,
                f"≤ {in_browser.told(budget)}",
                in_browser.told(figures),
                met=all(figures[name] <= most for name, most in budget.items()),
                figures=figures,
                note=", ".join(
                    f"{name} is {figures[name]:.1f}, not {most:.1f}"
                    for name, most in budget.items()
                    if figures[name] > most
                )
                + "; two frames take at least 33.4 ms",
            )


# ---- engines ----


@benchmark
def ray(runs: int) -> Iterator[Row]:
    """BLEU on Ray Data beside Ray's own cost, and with two workers beside one."""
    yield from (Row(**row) for row in ray_engine.rows(runs))


@benchmark
def spark(runs: int) -> Iterator[Row]:
    """Spark beyond the kernel, beside its own cost of moving rows; two executors against one."""
    number = spark_engine.ROWS
    beyond = f"Spark, {number // 1_000_000} M rows, sums by system, beyond the kernel, per row"
    weak = "Spark, 2 executors of one core each for twice the rows, elapsed"
    groups = (
        f"Spark's defaults, {spark_engine.FEW_ROWS:,} rows, scores of {spark_engine.GROUPS} groups"
    )
    if python_with("pyspark") is None:
        for work, target in (
            (beyond, "≤ 1.3 × moving the rows"),
            (groups, "≤ 1.3 × sums"),
            (weak, "≥ 1.7 ×"),
        ):
            yield Row(work, target, "not measured: needs Spark (make engines)")
        return
    cost = spark_engine.measured("overhead", number, runs)
    transfer, stats, kernel = (
        spark_engine.medians(cost["ns"])[name] for name in ("transfer", "stats", "kernel")
    )
    yield Row(
        beyond,
        "≤ 1.3 × moving the rows to Python",
        f"{stats - kernel:.0f} ns",
        f"moving {transfer:.0f} ns (kernel {kernel:.0f} ns)",
        f"{(stats - kernel) / transfer:.2f} ×",
        stats - kernel <= 1.3 * transfer,
        cost,
    )
    cost = spark_engine.measured("by_groups", spark_engine.FEW_ROWS, runs)
    of_groups = spark_engine.medians(cost["seconds"])
    sums, scores = of_groups["sums"], of_groups["score"]
    yield Row(
        groups,
        "≤ 1.3 × sums",
        f"{scores:.2f} s",
        f"sums {sums:.2f} s; {cost['partitions']} partitions of a shuffle",
        f"{scores / sums:.2f} ×",
        scores <= 1.3 * sums,
        cost,
    )
    cost = spark_engine.measured("scaling", number, runs)
    seconds = spark_engine.medians(cost["seconds"])
    one, two = seconds["executors 1"], seconds["executors 2"]
    possible = 2 * seconds["alone 1"] / seconds["alone 2"]
    yield Row(
        weak,
        "≥ 1.7 × the rows per second",
        f"{two:.2f} s",
        f"1 executor {one:.2f} s; 2 processes of the kernel at once reach {possible:.2f} ×",
        f"{2 * one / two:.2f} ×",
        None if possible < IDLE_ENOUGH and 2 * one < 1.7 * two else 2 * one >= 1.7 * two,
        cost,
    )


# ---- significance ----


@benchmark
def significance(runs: int) -> Iterator[Row]:
    """Paired tests of 10 systems, from their statistics; and of 3, from text, beside sacreBLEU."""
    text = corpus.test_set()

    def tests(test: str, metrics: str) -> Callable[[], Cost]:
        return lambda: job("paired_tests", test, metrics, 10, *text.files)

    works = {
        "1,000 resamples": ("bs", 60),
        "10,000 randomizations and 1,000 resamples": ("ar", 200),
    }
    for work, (test, most) in works.items():
        costs = in_turn(
            runs, {metrics: tests(test, metrics) for metrics in ("bleu chrf", "bleu chrf ter")}
        )
        two, three = (1000 * cost.processor for cost in costs.values())
        yield Row(
            f"10 systems × {text.segments:,} segments, BLEU + chrF, {work}",
            f"≤ {most} ms",
            f"{two:.1f} ms",
            f"with TER {three:.1f} ms",
            met=two <= most,
            figures=dict(costs),
        )

    def original(program: str, test: str) -> Callable[[], Cost]:
        return lambda: job(f"{program}_tests", test, 3, *text.files)

    for test, name in (("bs", "bootstrap"), ("ar", "randomization")):
        costs = in_turn(
            min(runs, 3),
            {program: original(program, test) for program in ("as_sacrebleu", "sacrebleu")},
        )
        _agree(f"sacreBLEU's paired {name}", costs["as_sacrebleu"], costs["sacrebleu"])
        own, peer = (costs[program].processor for program in ("as_sacrebleu", "sacrebleu"))
        yield Row(
            f"sacreBLEU's paired {name}, 3 systems × {text.segments:,} segments, BLEU, from text",
            "≥ 5 × sacrebleu",
            f"{1000 * own:.1f} ms",
            f"sacrebleu {peer:.1f} s",
            f"{peer / own:.0f} × faster",
            peer >= 5 * own,
            dict(costs),
        )


# ---- NLTK under its own names ----


@benchmark
def nltk(runs: int) -> Iterator[Row]:
    """NLTK's functions with and without the accelerator: a call per pair, and 2,000 pairs."""
    sample = corpus.million().head(2000)
    works = [
        (job_name, function)
        for function in ("bleu", "chrf")
        for job_name in ("nltk_sentences", "nltk_corpus")
    ]
    for job_name, function in works:
        costs = in_turn(
            min(runs, 5),
            {
                package: partial(job, job_name, package, function, *sample.files)
                for package in ("accelerated", "original")
            },
        )
        own, peer = costs["accelerated"], costs["original"]
        _agree("NLTK", own, peer)
        each = job_name == "nltk_sentences"
        factor, unit = (1e6 / sample.segments, "µs") if each else (1e3, "ms")
        yield Row(
            f"compat.nltk: sentence_{function}, one call"
            if each
            else f"compat.nltk: corpus_{function}, {sample.segments:,} pairs",
            "",
            f"{factor * own.processor:.1f} {unit}",
            f"NLTK {factor * peer.processor:.1f} {unit}",
            f"{peer.processor / own.processor:.1f} × faster",
            figures=dict(costs),
        )


# ---- other tokenizers and instruction sets ----


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

    def contender(parameters: dict[str, Any], text: Corpus) -> Callable[[], Cost]:
        return lambda: job("score_files", 1, json.dumps(parameters), *text.files)

    costs = in_turn(runs, {name: contender(parameters, text) for name, parameters, text in works})
    a_byte = {name: 1e9 * costs[name].processor / text.size for name, _, text in works}
    a_token = {
        name: 1e9 * costs[name].processor / _tokens(parameters, text)
        for name, parameters, text in works
    }
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


def _tokens(parameters: dict[str, Any], text: Corpus) -> int:
    return int(job("count_tokens", json.dumps(parameters), *text.files).output)


@benchmark
def simd(runs: int) -> Iterator[Row]:
    """1 M pairs with each instruction set forced; `scalar` is the path with no SIMD."""
    million = corpus.million()

    def forced(instructions: str) -> Callable[[], Cost]:
        return lambda: process(_score_command(million), TRUEBLEU_SIMD=instructions)

    names = ["scalar", "portable", *_vectors()]
    costs = in_turn(
        runs,
        {"chosen": lambda: process(_score_command(million))}
        | {name: forced(name) for name in names},
    )
    chosen = costs["chosen"].processor
    for name in names:
        own = costs[name].processor
        yield Row(
            f"1 M pairs, two files, TRUEBLEU_SIMD={name}",
            "",
            f"{own:.3f} s",
            f"chosen at run time {chosen:.3f} s",
            f"{own / chosen:.2f} ×",
            figures={name: costs[name]},
        )


def _vectors() -> list[str]:
    """The instruction sets of this processor that have code of their own here."""
    return [name for name in ("avx2", "avx512") if name in _processor_flags()]


def _processor_flags() -> set[str]:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            flags = next((line for line in file if line.startswith("flags")), "").split()
    except FileNotFoundError:
        return set()
    return {"avx2"} & set(flags) | ({"avx512"} if {"avx512bw", "avx512vl"} <= set(flags) else set())


# ---- shared ----


def _score_command(text: Corpus, *options: str) -> tuple[str, ...]:
    return script("truebleu", "score", *text.references, "-i", text.hypotheses, *options)


def _agree(peer: str, own: Costs, other: Costs, digits: int | None = None) -> None:
    """Stop if the contenders did other work: their scores must be equal, to all digits or some."""
    ours, theirs = json.loads(own.output), json.loads(other.output)
    same = ours == theirs if digits is None else round(ours - theirs, digits) == 0
    if not same:
        raise SystemExit(
            f"benchmarks: {peer} differs on the same text: {theirs!s:.80}, not {ours!s:.80}"
        )
