"""Benchmarks of commands and installation: whole processes, compared with sacreBLEU's command."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import corpus
import in_browser
from benchmark_table import Comparison, Row, benchmark, check_agreement, format_seconds
from bleu_rows import make_score_command
from measure import ROOT, Cost, get_script, make_command, run_in_turn

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMANDS = "Commands, start and installation"
SYSTEMS = "Comparisons of systems"
PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet")
BARE = make_command(sys.executable, "-c", "pass")


@benchmark(COMMANDS)
def test_set(runs: int) -> Iterator[Comparison | Row]:
    """Score one test set (whole process); compare with bare Python and sacreBLEU's command."""
    text = corpus.load_test_set()
    own = make_command(*make_score_command(text))
    options = (text.references[0], "-i", text.hypotheses, "-m", "bleu", "-w", "17")
    sacrebleu = make_command(*get_script("sacrebleu", *options))
    own_score = json.loads(own().output)["scores"][0]["score"]
    peer_score = json.loads(sacrebleu().output)["score"]
    check_agreement("sacreBLEU's command", own_score, peer_score, 1e-12)
    work = f"{text.segments:,} segments, whole process"
    costs = run_in_turn(3 * runs, {"truebleu": own, "bare": BARE})
    own_seconds, bare = (cost.processor for cost in costs.values())
    peer, ratio = f"python -c pass {format_seconds(bare)}", f"{own_seconds / bare:.2f} ×"
    yield Row(work, "", format_seconds(own_seconds), peer, ratio, figures=costs)
    yield Comparison(work, own, "sacrebleu", sacrebleu, min_ratio=5, tolerance=None)


@benchmark(COMMANDS)
def drop_in() -> Iterator[Comparison]:
    """Run truebleu.compat.sacrebleu's command on one test set; compare with sacreBLEU's command."""
    text = corpus.load_test_set()
    for min_ratio, name, count, options in (
        (3, "BLEU", 1, ()),
        (30, "BLEU, chrF, TER", 1, ("-m", "bleu", "chrf", "ter")),
        (2.5, "BLEU, 95% interval", 1, ("-ci",)),
        (15, "BLEU and chrF of 3 systems, paired test", 3, ("-m", "bleu", "chrf", "--paired-ar")),
    ):
        words = (text.references[0], "-i", *corpus.write_rivals(count), *options)
        yield Comparison(
            f"sacreBLEU's command, {text.segments:,} segments, {name}",
            make_command(sys.executable, "-m", "truebleu.compat.sacrebleu", *words),
            "sacrebleu",
            make_command(*get_script("sacrebleu", *words)),
            min_ratio=min_ratio,
            note="Importing sacreBLEU takes most of the time.",
        )


@benchmark(COMMANDS)
def import_(runs: int) -> Iterator[Row]:
    """Measure `import truebleu` in addition to bare Python, and list the modules that it loads."""
    own = make_command(sys.executable, "-c", "import truebleu")
    costs = run_in_turn(8 * runs, {"import": own, "bare": BARE})
    with_import, bare = (cost.processor for cost in costs.values())
    yield Row(
        "import truebleu, over bare Python",
        "≤ 40 ms",
        format_seconds(with_import - bare),
        f"python -c pass {format_seconds(bare)}",
        met=with_import - bare <= 0.040,
        figures=costs,
    )
    code = (
        "import sys; before = set(sys.modules); import truebleu; "
        "loaded = {name.partition('.')[0] for name in set(sys.modules) - before}; "
        "print(*sorted(loaded - sys.stdlib_module_names), sep=', ')"
    )
    outside = make_command(sys.executable, "-c", code)().output.strip()
    work, target = "import truebleu, modules outside the standard library", "only truebleu"
    yield Row(work, target, outside, met=outside == "truebleu")


@benchmark(COMMANDS)
def install(runs: int) -> Iterator[Row]:
    """Install the wheel with pip into an empty environment, and compute a first score."""
    work = "pip install of the wheel into an empty environment"
    pip = (sys.executable, *PIP)
    with tempfile.TemporaryDirectory() as folder:
        make_command(*pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT)()
        (wheel,) = Path(folder).glob("truebleu-*.whl")
        downloads = Path(folder, "all")
        make_command(*pip, "download", "--no-cache-dir", "--dest", downloads, wheel)()
        sizes = {path.name: path.stat().st_size for path in downloads.iterdir()}
        job = _make_install_job(Path(folder, "environment"), wheel)
        costs = run_in_turn(runs, {"install": job})
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


def _make_install_job(environment: Path, wheel: Path) -> Any:
    """Return a job that installs the wheel into a new environment and scores a file."""
    scripts = environment / ("Scripts" if sys.platform == "win32" else "bin")
    examples = corpus.EXAMPLES / "de-en"
    files = (examples / "reference.a.en", "-i", examples / "cedar.en", "-b")
    create = make_command(sys.executable, "-m", "venv", "--clear", environment)
    steps = (
        make_command(scripts / "python", *PIP, "install", "--no-cache-dir", wheel),
        make_command(scripts / "truebleu", "score", *files),
    )

    def install_and_score() -> Cost:
        create()
        costs = [step() for step in steps]
        return Cost(sum(one.processor for one in costs), sum(one.elapsed for one in costs))

    return install_and_score


# ---- several systems ----


@benchmark(SYSTEMS)
def compare(runs: int) -> Iterator[Comparison | Row]:
    """Compare ten systems by BLEU and chrF with paired tests (whole process), as sacreBLEU does."""
    systems, reference = corpus.load_ten_systems()
    named_systems = [f"S{number}={path}" for number, path in enumerate(systems)]
    own = get_script("truebleu", "compare", reference, "-i", *named_systems, "-f", "json")
    sacrebleu = get_script("sacrebleu", reference, "-i", *systems, "-m", "bleu", "chrf")
    # In JSON, sacreBLEU cannot print a bootstrap of chrF under NumPy 2.
    for times, test, max_seconds, form in (
        ("1,000 resamples", "--paired-bs", 0.25, "text"),
        ("10,000 randomizations", "--paired-ar", 0.4, "json"),
    ):
        job = make_command(*own, test, "-m", "bleu", "chrf")
        peer_job = make_command(*sacrebleu, test, "-f", form)
        if form == "json":
            check_agreement("sacreBLEU", _read_p_values(job()), _read_p_values(peer_job()))
        work = f"compare 10 systems × 2,037 segments, {times}"
        yield Comparison(
            f"{work}, BLEU + chrF, whole process",
            job,
            "sacrebleu",
            peer_job,
            max_seconds=max_seconds,
            tolerance=None,
            suffixes=(" (all 45 pairs)", " (9 pairs)"),
        )
        with_ter = make_command(*own, test, "-m", "bleu", "chrf", "ter")
        costs = run_in_turn(runs, {"two": job, "three": with_ter})
        more = costs["three"].processor - costs["two"].processor
        measured, met = f"{more:.3f} s more", more <= 0.3
        yield Row(f"{work}, with TER as well", "≤ 0.30 s more", measured, met=met, figures=costs)


def _read_p_values(cost: Cost) -> list[tuple[float, float | None]]:
    """Return the score and p-value of each system and metric in the output of either command."""
    printed = json.loads(cost.output)
    if isinstance(printed, dict):
        systems = sorted(printed["systems"], key=lambda system: int(system["name"][1:]))
        rows = [system["scores"] for system in systems]
        scores = [row[metric] for row in rows for metric in ("BLEU", "chrF2")]
        return [(one["score"], one["difference"] and one["difference"]["p"]) for one in scores]
    scores = [row[metric] for row in printed for metric in ("BLEU", "chrF2")]
    return [(one["score"], one["p_value"]) for one in scores]


# ---- the report ----


@benchmark("The report")
def report(runs: int) -> Iterator[Row]:
    """Write a report on two systems, and measure its speed and memory use in a browser."""
    text = corpus.load_four_references().head(100_000)
    # Outputs of other systems serve as the second system and as the source.
    reference, second_reference, source, _ = text.references
    page = corpus.CACHE / "report.html"
    words = (reference, "-i", text.hypotheses, second_reference, "-src", source, "-q", "-o", page)
    costs = run_in_turn(runs, {"truebleu": make_command(*get_script("truebleu", "report", *words))})
    seconds, size = costs["truebleu"].processor, page.stat().st_size / 1e6
    page.unlink()
    work = f"report on 2 systems × {text.segments:,} segments"
    measured, met = format_seconds(seconds), seconds <= 1.5
    yield Row(f"{work}, whole process", "≤ 1.5 s", measured, met=met, figures=costs)
    yield Row(f"{work}, the file", "≤ 15 MB", f"{size:.1f} MB", met=size <= 15)
    for i, segments in enumerate(in_browser.SIZES):
        work = f"report on {segments:,} segments in Chromium"
        figures = in_browser.measure_report(segments, min(runs, 5))
        if not figures:
            yield Row(work, "", "not measured: needs Chromium, Playwright")
        for name, figure in figures.items():
            unit, limits = in_browser.BUDGETS[name]
            target, measured = (
                f"≤ {limits[i]:g} {unit}",
                f"{figure:.{1 if figure < 100 else 0}f} {unit}",
            )
            met = figure <= limits[i]
            yield Row(f"{work}: {name}", target, measured, met=met, figures={name: figure})
