"""The results as a Markdown page and as JSON: the table, the machine and the method.

python benchmarks/report.py     writes the table of README.md and docs/index.md from results.json
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import corpus
from measure import to_plain_data

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmark_table import Row

HEADINGS = ("work", "target", "measured", "peer, same run", "ratio", "met")
PACKAGES = (
    "truebleu",
    "sacrebleu",
    "bleuscore",
    "fastchrf",
    "fast-bleu",
    "jiwer",
    "mweralign",
    "nltk",
    "pyarrow",
    "rouge-score",
    "stringzilla",
)

FILES = "1 M pairs, two files, whole process"
COMPARED = "compare 10 systems × 2,037 segments, 10,000 randomizations, BLEU + chrF, whole process"
PEER = "sacrebleu"
INSTALLED = "pip install of the wheel into an empty environment"
TEST_SET = "2,037 segments, whole process"
MEMORY = "M pairs, two files, private memory"
README_ROWS: tuple[tuple[str, tuple[str, ...], str, tuple[str, ...]], ...] = (
    ("BLEU of 1,000,000 segments in two files, whole process", (FILES,), "{}", ("wc -w", PEER)),
    ("chrF of the same files", (f"chrF, {FILES}",), "{}", (PEER,)),
    (
        "private memory for 1,000,000 and for 10,000,000 segments",
        (f"1 {MEMORY}", f"10 {MEMORY}"),
        "{} and {}",
        (),
    ),
    ("`truebleu score` on 2,037 segments", (TEST_SET,), "{}", (PEER, "python -c pass")),
    ("compare 10 systems by BLEU and chrF, 10,000 randomizations", (COMPARED,), "{}", (PEER,)),
    ("256 × 256 pairs by BLEU, per pair", ("256 × 256 bleu, list[str]",), "{}", (PEER,)),
    (
        "`pip install` into an empty environment, and a first score, elapsed",
        (f"{INSTALLED}, to a first score", f"{INSTALLED}, all that is downloaded"),
        "{}, {} downloaded",
        (),
    ),
)
"""For each row of README.md's table: the task, the starts of the rows' `work` in results.json, the
form of truebleu's figures, one per row, and the peers of the first row.
"""
README_PAGES = ("README.md", "docs/index.md")
README_START, README_END = "<!-- speed -->\n\n", "\n<!-- /speed -->"

METHOD = """\
Every run is a fresh process. Figures are medians of processor time (user and system time: of a
process as `wait4` reports it, of a call by the clock of its process), unless a row says
"elapsed". The contenders of a row run in turn, and were checked to give the same score. The files
are in the page cache. Rows "in process" measure the call alone, with the library imported and the
text in memory. Private memory is the peak of Private_Clean + Private_Dirty in /proc/PID/smaps,
sampled every 2 ms; the pages of memory-mapped input files belong to the page cache, so the peak
without them is in brackets. If a peer was timed on fewer pairs, the row says on how many, and the
time is extrapolated linearly. Cycles are those of the processor's nominal frequency, and tokens
those of BLEU's tokenizer, also for chrF and TER. The parts of BLEU are measured by
kernel/examples/parts.rs: it reads the files in the kernel's batches, reads and tokenizes them, and
scores them; each part is the difference to the one before."""

FLOOR = """\
Tokenizing and matching set the floor, not reading: in alphabetic text, each of the two costs three
to five times as much as reading (rows "parts of BLEU"). A profile of `truebleu score` on 1 M pairs
(`perf record -e cpu-clock`) shows three quarters of the time in the kernel, a seventh in Python,
which starts and examines a sample of the text, and a tenth in the operating system, which copies
the files' pages. In the kernel, tokenizing and matching take two thirds; validating UTF-8 and the
counts for warnings take most of the rest. Chinese and Japanese cost more per byte because each
character of three bytes is a token."""


def format_markdown_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with aligned columns, so that it is also readable in a terminal."""
    met = {True: "yes", False: "**no**", None: ""}
    lines: list[tuple[str, ...]] = [HEADINGS]
    lines += [
        (row.work, row.target, row.measured, row.peer, row.ratio, met[row.met]) for row in rows
    ]
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    lines.insert(1, tuple("-" * width for width in widths))
    return "\n".join(
        "| "
        + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        + " |"
        for line in lines
    )


def format_readme_table(data: dict[str, Any]) -> str:
    """Return README.md's table from the content of results.json.

    Raises LookupError if results.json lacks the row of a figure.
    """
    lines = ["| task | truebleu | other tools |", "|---|---|---|"]
    for task, works, form, peers in README_ROWS:
        own_figures = form.format(*(_find_figure(data["rows"], work, "") for work in works))
        peer_figures = ", ".join(
            f"{'sacreBLEU' if peer == PEER else f'`{peer}`'} "
            f"{_find_figure(data['rows'], works[0], f'{peer} ')}"
            for peer in peers
        )
        lines.append(f"| {task} | {own_figures} | {peer_figures} |")
    return "\n".join(lines) + "\n"


def _find_figure(rows: Sequence[dict[str, Any]], work: str, peer: str) -> str:
    """Return the number and the unit at the start of a row's cell, such as "0.32 s".

    Rows of single instruction sets come last: their `work` continues.
    """
    for row in sorted(rows, key=lambda row: bool(row["work"] != work)):
        cell = row["peer" if peer else "measured"]
        found = re.match(rf"{re.escape(peer)}([\d.,]+ (?:ns|µs|ms|s|MiB|MB))\b", cell)
        if row["work"].startswith(work) and found:
            return found[1]
    expected = f"{peer}NUMBER UNIT" if peer else "NUMBER UNIT"
    raise LookupError(
        f"benchmarks/results.json: no figure for {work!r} (expected a row with {expected!r}, found "
        f"none). Run make bench."
    )


def write_readme_table(root: Path) -> None:
    """Replace the table between the markers of README.md and docs/index.md."""
    data = json.loads((root / "benchmarks" / "results.json").read_text(encoding="utf-8"))
    table = format_readme_table(data)
    for name in README_PAGES:
        before, start, rest = (root / name).read_text(encoding="utf-8").partition(README_START)
        _, end, after = rest.partition(README_END)
        if not end:
            raise LookupError(f"{name}: no markers (expected {README_START!r} and {README_END!r})")
        (root / name).write_text(f"{before}{start}{table}{end}{after}", encoding="utf-8")
        print(f"Written to {name}.")


def describe_machine() -> dict[str, str]:
    """Return a description of the machine, the software and the text."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "processor": f"{_describe_processor()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "load": f"average {os.getloadavg()[0]:.1f} at the end",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "rust": _read_first_line("rustc", "--version"),
        "packages": ", ".join(filter(None, map(_describe_package, PACKAGES))),
        "wc": _read_first_line("wc", "--version"),
        "text": corpus.describe_source(),
    }


def write_results(folder: Path, rows: Sequence[Row], runs: int) -> None:
    """Write results.md and results.json."""
    described = describe_machine()
    page = [
        "# How fast, and how small",
        "",
        "`make bench` printed this table; `make bench ROWS=files` prints one part of it.",
        "",
        format_markdown_table(rows),
        "",
        "## Method",
        "",
        METHOD,
        "",
        "## What sets the floor",
        "",
        FLOOR,
        "",
        "## Missed targets",
        "",
    ]
    page += [*_list_missed_targets(rows), "", "## Machine", ""]
    page += [f"* {key}: {value}" for key, value in described.items()] + [
        f"* runs: {runs} per contender",
        "",
    ]
    (folder / "results.md").write_text("\n".join(page), encoding="utf-8")
    data = {"machine": described, "runs": runs, "rows": [_row_to_dict(row) for row in rows]}
    (folder / "results.json").write_text(
        json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


def _list_missed_targets(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the rows that miss their targets as a list: with a reason, then without one."""
    missed = [row for row in rows if row.met is False]
    for row in missed:
        if row.note:
            yield f"* **{row.work}**: {row.note}"
    if not all(row.note for row in missed):
        yield "* without a known reason:"
        for row in missed:
            if not row.note:
                yield f"  * {row.work}: {row.measured} (target: {row.target})"


def _row_to_dict(row: Row) -> dict[str, Any]:
    return {
        **asdict(row),
        "figures": {name: to_plain_data(figure) for name, figure in row.figures.items()},
    }


def _describe_processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return platform.processor() or platform.machine()
    facts = {
        key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)
    }
    return f"{facts.get('model name', platform.machine())}, {facts.get('cpu MHz', '?')} MHz"


def _describe_package(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return ""


def _read_first_line(*command: str) -> str:
    try:
        return subprocess.run(
            command, capture_output=True, text=True, check=True
        ).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "?"


if __name__ == "__main__":
    try:
        write_readme_table(corpus.ROOT)
    except LookupError as error:
        sys.exit(str(error.args[0]))
