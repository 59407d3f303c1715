"""The rows of commands and installation: whole processes, beside sacreBLEU's command."""

from __future__ import annotations

import json
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import corpus
import in_browser
from benchmark_table import Row, agree, benchmark, beside, shown
from bleu_rows import score_command
from measure import Cost, Costs, in_turn, job, process, python, script

if TYPE_CHECKING:
    from collections.abc import Iterator

PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet")


@benchmark
def test_set(runs: int) -> Iterator[Row]:
    """One test set, the whole process, beside bare Python and sacreBLEU's command."""
    text = corpus.test_set()
    options = (text.references[0], "-i", text.hypotheses, "-m", "bleu", "-w", "17")
    costs = in_turn(
        3 * runs,
        {
            "truebleu": partial(process, score_command(text)),
            "bare": partial(process, python("-c", "pass")),
            "sacrebleu": partial(process, script("sacrebleu", *options)),
        },
    )
    ours = json.loads(costs["truebleu"].output)["scores"][0]["score"]
    theirs = json.loads(costs["sacrebleu"].output)["score"]
    if round(ours, 12) != round(theirs, 12):
        raise SystemExit(f"benchmarks: truebleu says {ours}, sacreBLEU's command {theirs}")
    own, bare, peer = (cost.processor for cost in costs.values())
    work = f"{text.segments:,} segments, whole process"
    ratio = f"{own / bare:.2f} ×"
    yield Row(work, "", shown(own), f"python -c pass {shown(bare)}", ratio, figures=costs)
    yield beside(work, own, "sacrebleu", peer, least=5)


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
    for least, name, count, options in DROP_IN_WORK:
        words = (*map(str, (text.references[0], "-i", *corpus.rivals(count))), *options)
        costs = in_turn(
            min(runs, 3) if count > 1 else runs,
            {
                "truebleu": partial(process, python("-m", "truebleu.compat.sacrebleu", *words)),
                "sacrebleu": partial(process, script("sacrebleu", *words)),
            },
        )
        agree("sacreBLEU's command", costs["truebleu"], costs["sacrebleu"])
        own, peer = (cost.processor for cost in costs.values())
        work = f"sacreBLEU's command, {text.segments:,} segments, {name}"
        yield beside(work, own, "sacrebleu", peer, least=least, figures=costs)


@benchmark
def import_(runs: int) -> Iterator[Row]:
    """`import truebleu` over bare Python, and what it loads."""
    costs = in_turn(
        8 * runs,
        {
            "import": partial(process, python("-c", "import truebleu")),
            "bare": partial(process, python("-c", "pass")),
        },
    )
    both, bare = (cost.processor for cost in costs.values())
    yield Row(
        "import truebleu, over bare Python",
        "≤ 40 ms",
        shown(both - bare),
        f"python -c pass {shown(bare)}",
        met=both - bare <= 0.040,
        figures=costs,
    )
    outside = json.loads(job("imported_modules").output)
    yield Row(
        "import truebleu, modules outside the standard library",
        "no NumPy, nothing optional",
        ", ".join(outside),
        met=outside == ["truebleu"],
    )


@benchmark
def install(runs: int) -> Iterator[Row]:
    """`pip install` of the wheel into an empty environment, and the first score."""
    work = "pip install of the wheel into an empty environment"
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        process(python(*PIP, "wheel", "--no-deps", "--wheel-dir", folder, corpus.ROOT))
        (wheel,) = home.glob("truebleu-*.whl")
        process(python(*PIP, "download", "--no-cache-dir", "--dest", home / "all", wheel))
        sizes = {path.name: path.stat().st_size for path in (home / "all").iterdir()}
        costs = in_turn(runs, {"install": partial(_first_score, home, wheel)})
    elapsed, size = costs["install"].elapsed, sum(sizes.values())
    yield Row(
        f"{work}, all that is downloaded",
        "≤ 6 MB",
        f"{size / 1e6:.2f} MB",
        f"truebleu {sizes[wheel.name] / 1e6:.2f} MB, {len(sizes) - 1} others",
        met=size <= 6e6,
        figures=sizes,
    )
    yield Row(
        f"{work}, to a first score, elapsed",
        "≤ 5 s",
        shown(elapsed),
        met=elapsed <= 5,
        figures=costs,
        note="What the wheel needs is downloaded each time; the wheel itself is a file.",
    )


def _first_score(home: Path, wheel: Path) -> Cost:
    """From an empty environment to the score of a file."""
    place = home / "environment"
    process(python("-m", "venv", "--clear", place))
    scripts = place / ("Scripts" if sys.platform == "win32" else "bin")
    installed = process((str(scripts / "python"), *PIP, "install", "--no-cache-dir", str(wheel)))
    texts = corpus.EXAMPLES / "de-en"
    files = (str(texts / "reference.a.en"), "-i", str(texts / "cedar.en"), "-b")
    first = process((str(scripts / "truebleu"), "score", *files))
    elapsed = installed.elapsed + first.elapsed
    return Cost(installed.processor + first.processor, elapsed, first.output)


# ---- several systems ----


@benchmark
def compare(runs: int) -> Iterator[Row]:
    """Ten systems by BLEU and chrF with paired tests, the whole process, beside sacreBLEU's."""
    systems, reference = corpus.ten_systems()
    names = ",".join(f"S{number}" for number in range(len(systems)))
    files = (reference, "-i", *systems)
    tests = {"bootstrap": "--paired-bs", "randomization": "--paired-ar"}
    costs = in_turn(
        runs,
        {
            f"{name}{more}": partial(
                process,
                script("truebleu", "compare", *files, "--names", names, "-f", "json", test, "-m")
                + metrics,
            )
            for name, test in tests.items()
            for more, metrics in (("", ("bleu", "chrf")), (", TER", ("bleu", "chrf", "ter")))
        },
    )
    # In JSON, sacreBLEU cannot print a bootstrap of chrF under NumPy 2.
    forms = {"bootstrap": "text", "randomization": "json"}
    peers = {
        name: process(script("sacrebleu", *files, "-m", "bleu", "chrf", test, "-f", forms[name]))
        for name, test in tests.items()
    }
    _agree_on_p(costs["randomization"], peers["randomization"])
    for name, times, seconds in (
        ("bootstrap", "1,000 resamples", 0.25),
        ("randomization", "10,000 randomizations", 0.4),
    ):
        own, more = costs[name].processor, costs[f"{name}, TER"]
        work = f"compare 10 systems × 2,037 segments, {times}"
        yield beside(
            f"{work}, BLEU + chrF, whole process",
            own,
            "sacrebleu",
            peers[name].processor,
            target=f"≤ {seconds:.2f} s",
            measured=f"{shown(own)} (all 45 pairs)",
            about=" (9 pairs)",
            met=own <= seconds,
            figures={"truebleu": costs[name], "sacrebleu": peers[name]},
        )
        yield Row(
            f"{work}, with TER as well",
            "≤ 0.30 s more",
            f"{more.processor - own:.3f} s more",
            met=more.processor - own <= 0.3,
            figures={name: more},
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


@benchmark
def significance(runs: int) -> Iterator[Row]:
    """Paired tests of 10 systems, from their statistics; and of 3, from text, beside sacreBLEU."""
    text = corpus.test_set()
    works = {
        "1,000 resamples": ("bs", 60),
        "10,000 randomizations and 1,000 resamples": ("ar", 200),
    }
    for work, (test, most) in works.items():
        costs = in_turn(
            runs,
            {
                metrics: partial(job, "paired_tests", test, metrics, 10, *text.files)
                for metrics in ("bleu chrf", "bleu chrf ter")
            },
        )
        two, three = (cost.processor for cost in costs.values())
        yield Row(
            f"10 systems × {text.segments:,} segments, BLEU + chrF, {work}",
            f"≤ {most} ms",
            shown(two),
            f"with TER {shown(three)}",
            met=1000 * two <= most,
            figures=costs,
        )
    for test, name in (("bs", "bootstrap"), ("ar", "randomization")):
        costs = in_turn(
            min(runs, 3),
            {
                program: partial(job, f"{program}_tests", test, 3, *text.files)
                for program in ("as_sacrebleu", "sacrebleu")
            },
        )
        agree(f"sacreBLEU's paired {name}", costs["as_sacrebleu"], costs["sacrebleu"])
        own, peer = (cost.processor for cost in costs.values())
        work = f"sacreBLEU's paired {name}, 3 systems × {text.segments:,} segments, BLEU, from text"
        yield beside(work, own, "sacrebleu", peer, least=5, figures=costs)


# ---- the report ----


@benchmark
def report(runs: int) -> Iterator[Row]:
    """The page about two systems: writing it, and what it costs whoever opens it."""
    text = corpus.four_references().head(100_000)
    # Other systems' outputs stand for the second system and for the source.
    reference, other, source, _ = text.references
    page = corpus.CACHE / "report.html"
    words = (reference, "-i", text.hypotheses, other, "-src", source, "-q", "-o", page)
    costs = in_turn(runs, {"truebleu": partial(process, script("truebleu", "report", *words))})
    taken, size = costs["truebleu"].processor, page.stat().st_size
    carried = sum(path.stat().st_size for path in (reference, text.hypotheses, other, source))
    page.unlink()
    work = f"report on 2 systems × {text.segments:,} segments, {carried / 1e6:.0f} MB of text"
    yield Row(f"{work}, whole process", "≤ 1.5 s", shown(taken), met=taken <= 1.5, figures=costs)
    yield Row(f"{work}, the file", "≤ 15 MB", f"{size / 1e6:.1f} MB", met=size <= 15e6)
    with in_browser.chromium() as browser:
        for segments in (1_000, 10_000, 100_000):
            work = f"the report on {segments:,} segments in Chromium, elapsed"
            budget = in_browser.promised(segments)
            target = f"≤ {in_browser.in_words(budget)}"
            if browser is None:
                yield Row(work, target, "not measured: needs Chromium, Playwright")
                continue
            path = in_browser.page(corpus.CACHE, segments)
            figures = in_browser.measure(browser, path, segments, min(runs, 5))
            path.unlink()
            missed = {name: most for name, most in budget.items() if figures[name] > most}
            note = [
                f"{name} is {figures[name]:.1f}, not {most:.1f}" for name, most in missed.items()
            ]
            yield Row(
                work,
                target,
                in_browser.in_words(figures),
                met=not missed,
                figures=figures,
                note="; ".join([*note, "two frames take at least 33.4 ms"]),
            )
