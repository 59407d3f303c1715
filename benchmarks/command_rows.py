"""Benchmarks of commands and installation: whole processes, compared with sacreBLEU's command."""

from __future__ import annotations

import json
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import corpus
import in_browser
from benchmark_table import Row, benchmark, check_agreement, compare_times, format_seconds
from bleu_rows import score_command
from measure import Cost, Costs, get_python, get_script, run_in_turn, run_job, run_process

if TYPE_CHECKING:
    from collections.abc import Iterator

PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet")


@benchmark
def test_set(runs: int) -> Iterator[Row]:
    """Score one test set (whole process); compare with bare Python and sacreBLEU's command."""
    text = corpus.load_test_set()
    options = (text.references[0], "-i", text.hypotheses, "-m", "bleu", "-w", "17")
    costs = run_in_turn(
        3 * runs,
        {
            "truebleu": partial(run_process, score_command(text)),
            "bare": partial(run_process, get_python("-c", "pass")),
            "sacrebleu": partial(run_process, get_script("sacrebleu", *options)),
        },
    )
    own_score = json.loads(costs["truebleu"].output)["scores"][0]["score"]
    peer_score = json.loads(costs["sacrebleu"].output)["score"]
    if round(own_score, 12) != round(peer_score, 12):
        raise SystemExit(f"benchmarks: truebleu prints {own_score}, sacreBLEU prints {peer_score}")
    own_seconds, bare, peer = (cost.processor for cost in costs.values())
    work = f"{text.segments:,} segments, whole process"
    ratio = f"{own_seconds / bare:.2f} ×"
    yield Row(
        work,
        "",
        format_seconds(own_seconds),
        f"python -c pass {format_seconds(bare)}",
        ratio,
        figures=costs,
    )
    yield compare_times(work, own_seconds, "sacrebleu", peer, min_ratio=5)


# Typical uses of sacreBLEU's command, and the required speed-up of the accelerator.
DROP_IN_WORK = [
    (3, "BLEU", 1, ()),
    (30, "BLEU, chrF, TER", 1, ("-m", "bleu", "chrf", "ter")),
    (2.5, "BLEU, 95% interval", 1, ("-ci",)),
    (15, "BLEU and chrF of 3 systems, paired test", 3, ("-m", "bleu", "chrf", "--paired-ar")),
]


@benchmark
def drop_in(runs: int) -> Iterator[Row]:
    """Run truebleu.compat.sacrebleu's command on one test set; compare with sacreBLEU's command."""
    text = corpus.load_test_set()
    for min_ratio, name, count, options in DROP_IN_WORK:
        words = (*map(str, (text.references[0], "-i", *corpus.write_rivals(count))), *options)
        costs = run_in_turn(
            min(runs, 3) if count > 1 else runs,
            {
                "truebleu": partial(
                    run_process, get_python("-m", "truebleu.compat.sacrebleu", *words)
                ),
                "sacrebleu": partial(run_process, get_script("sacrebleu", *words)),
            },
        )
        check_agreement("sacreBLEU's command", costs["truebleu"], costs["sacrebleu"])
        own_seconds, peer = (cost.processor for cost in costs.values())
        work = f"sacreBLEU's command, {text.segments:,} segments, {name}"
        yield compare_times(
            work, own_seconds, "sacrebleu", peer, min_ratio=min_ratio, figures=costs
        )


@benchmark
def import_(runs: int) -> Iterator[Row]:
    """Measure `import truebleu` in addition to bare Python, and list the modules that it loads."""
    costs = run_in_turn(
        8 * runs,
        {
            "import": partial(run_process, get_python("-c", "import truebleu")),
            "bare": partial(run_process, get_python("-c", "pass")),
        },
    )
    with_import, bare = (cost.processor for cost in costs.values())
    yield Row(
        "import truebleu, over bare Python",
        "≤ 40 ms",
        format_seconds(with_import - bare),
        f"python -c pass {format_seconds(bare)}",
        met=with_import - bare <= 0.040,
        figures=costs,
    )
    outside = json.loads(run_job("list_imported_modules").output)
    yield Row(
        "import truebleu, modules outside the standard library",
        "no NumPy, nothing optional",
        ", ".join(outside),
        met=outside == ["truebleu"],
    )


@benchmark
def install(runs: int) -> Iterator[Row]:
    """Install the wheel with pip into an empty environment, and compute a first score."""
    work = "pip install of the wheel into an empty environment"
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        run_process(get_python(*PIP, "wheel", "--no-deps", "--wheel-dir", folder, corpus.ROOT))
        (wheel,) = home.glob("truebleu-*.whl")
        run_process(get_python(*PIP, "download", "--no-cache-dir", "--dest", home / "all", wheel))
        sizes = {path.name: path.stat().st_size for path in (home / "all").iterdir()}
        costs = run_in_turn(runs, {"install": partial(_install_and_score, home, wheel)})
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
        format_seconds(elapsed),
        met=elapsed <= 5,
        figures=costs,
        note="The wheel's dependencies are downloaded each time; the wheel itself is a file.",
    )


def _install_and_score(home: Path, wheel: Path) -> Cost:
    """Install the wheel into a new environment and score a file; return the cost of both steps."""
    place = home / "environment"
    run_process(get_python("-m", "venv", "--clear", place))
    scripts = place / ("Scripts" if sys.platform == "win32" else "bin")
    installed = run_process(
        (str(scripts / "python"), *PIP, "install", "--no-cache-dir", str(wheel))
    )
    texts = corpus.EXAMPLES / "de-en"
    files = (str(texts / "reference.a.en"), "-i", str(texts / "cedar.en"), "-b")
    first = run_process((str(scripts / "truebleu"), "score", *files))
    elapsed = installed.elapsed + first.elapsed
    return Cost(installed.processor + first.processor, elapsed, first.output)


# ---- several systems ----


@benchmark
def compare(runs: int) -> Iterator[Row]:
    """Compare ten systems by BLEU and chrF with paired tests (whole process), as sacreBLEU does."""
    systems, reference = corpus.load_ten_systems()
    files = (reference, "-i", *systems)
    named_systems = [f"S{number}={path}" for number, path in enumerate(systems)]
    named_files = (reference, "-i", *named_systems)
    tests = {"bootstrap": "--paired-bs", "randomization": "--paired-ar"}
    costs = run_in_turn(
        runs,
        {
            f"{name}{more}": partial(
                run_process,
                get_script("truebleu", "compare", *named_files, "-f", "json", test, "-m") + metrics,
            )
            for name, test in tests.items()
            for more, metrics in (("", ("bleu", "chrf")), (", TER", ("bleu", "chrf", "ter")))
        },
    )
    # In JSON, sacreBLEU cannot print a bootstrap of chrF under NumPy 2.
    forms = {"bootstrap": "text", "randomization": "json"}
    peers = {
        name: run_process(
            get_script("sacrebleu", *files, "-m", "bleu", "chrf", test, "-f", forms[name])
        )
        for name, test in tests.items()
    }
    _check_p_values(costs["randomization"], peers["randomization"])
    for name, times, seconds in (
        ("bootstrap", "1,000 resamples", 0.25),
        ("randomization", "10,000 randomizations", 0.4),
    ):
        own_cost, ter_cost = costs[name].processor, costs[f"{name}, TER"]
        work = f"compare 10 systems × 2,037 segments, {times}"
        yield compare_times(
            f"{work}, BLEU + chrF, whole process",
            own_cost,
            "sacrebleu",
            peers[name].processor,
            target=f"≤ {seconds:.2f} s",
            measured=f"{format_seconds(own_cost)} (all 45 pairs)",
            about=" (9 pairs)",
            met=own_cost <= seconds,
            figures={"truebleu": costs[name], "sacrebleu": peers[name]},
        )
        yield Row(
            f"{work}, with TER as well",
            "≤ 0.30 s more",
            f"{ter_cost.processor - own_cost:.3f} s more",
            met=ter_cost.processor - own_cost <= 0.3,
            figures={name: ter_cost},
        )


def _check_p_values(own_cost: Costs, peer: Cost) -> None:
    """Exit if a p-value or a score differs between truebleu and the peer."""
    scores_by_system = {
        system["name"]: system["scores"] for system in json.loads(own_cost.output)["systems"]
    }
    for number, row in enumerate(json.loads(peer.output)):
        for metric in ("BLEU", "chrF2"):
            own_score, peer_score = scores_by_system[f"S{number}"][metric], row[metric]
            p = own_score["difference"] and own_score["difference"]["p"]
            if (own_score["score"], p) != (peer_score["score"], peer_score["p_value"]):
                raise SystemExit(
                    f"benchmarks: sacreBLEU prints {row!s:.200}, not {own_score!s:.200}"
                )


@benchmark
def significance(runs: int) -> Iterator[Row]:
    """Test 10 systems from statistics, and 3 systems from text (compared with sacreBLEU)."""
    text = corpus.load_test_set()
    works = {
        "1,000 resamples": ("bs", 60),
        "10,000 randomizations and 1,000 resamples": ("ar", 200),
    }
    for work, (test, max_ratio) in works.items():
        costs = run_in_turn(
            runs,
            {
                metrics: partial(run_job, "run_truebleu_tests", test, metrics, 10, *text.files)
                for metrics in ("bleu chrf", "bleu chrf ter")
            },
        )
        two, three = (cost.processor for cost in costs.values())
        yield Row(
            f"10 systems × {text.segments:,} segments, BLEU + chrF, {work}",
            f"≤ {max_ratio} ms",
            format_seconds(two),
            f"with TER {format_seconds(three)}",
            met=1000 * two <= max_ratio,
            figures=costs,
        )
    for test, name in (("bs", "bootstrap"), ("ar", "randomization")):
        costs = run_in_turn(
            min(runs, 3),
            {
                program: partial(run_job, f"run_{program}_tests", test, 3, *text.files)
                for program in ("accelerated", "sacrebleu")
            },
        )
        check_agreement(f"sacreBLEU's paired {name}", costs["accelerated"], costs["sacrebleu"])
        own_seconds, peer = (cost.processor for cost in costs.values())
        work = f"sacreBLEU's paired {name}, 3 systems × {text.segments:,} segments, BLEU, from text"
        yield compare_times(work, own_seconds, "sacrebleu", peer, min_ratio=5, figures=costs)


# ---- the report ----


@benchmark
def report(runs: int) -> Iterator[Row]:
    """Write a report on two systems, and measure its speed and memory use in a browser."""
    text = corpus.load_four_references().head(100_000)
    # Outputs of other systems serve as the second system and as the source.
    reference, second_reference, source, _ = text.references
    page = corpus.CACHE / "report.html"
    words = (reference, "-i", text.hypotheses, second_reference, "-src", source, "-q", "-o", page)
    costs = run_in_turn(
        runs, {"truebleu": partial(run_process, get_script("truebleu", "report", *words))}
    )
    seconds, size = costs["truebleu"].processor, page.stat().st_size
    text_size = sum(
        path.stat().st_size for path in (reference, text.hypotheses, second_reference, source)
    )
    page.unlink()
    work = f"report on 2 systems × {text.segments:,} segments, {text_size / 1e6:.0f} MB of text"
    yield Row(
        f"{work}, whole process",
        "≤ 1.5 s",
        format_seconds(seconds),
        met=seconds <= 1.5,
        figures=costs,
    )
    yield Row(f"{work}, the file", "≤ 15 MB", f"{size / 1e6:.1f} MB", met=size <= 15e6)
    with in_browser.start_chromium() as browser:
        for segments in (1_000, 10_000, 100_000):
            work = f"the report on {segments:,} segments in Chromium, elapsed"
            budget = in_browser.get_limits(segments)
            target = f"≤ {in_browser.format_figures(budget)}"
            if browser is None:
                yield Row(work, target, "not measured: needs Chromium, Playwright")
                continue
            path = in_browser.write_report_page(corpus.CACHE, segments)
            figures = in_browser.measure_page(browser, path, segments, min(runs, 5))
            path.unlink()
            missed = {name: most for name, most in budget.items() if figures[name] > most}
            note = [
                f"{name} is {figures[name]:.1f}, not {most:.1f}" for name, most in missed.items()
            ]
            yield Row(
                work,
                target,
                in_browser.format_figures(figures),
                met=not missed,
                figures=figures,
                note="; ".join([*note, "two frames take at least 33.4 ms"]),
            )
