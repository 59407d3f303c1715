"""The results as a Markdown page and as JSON: the tables, the machine and the method.

python benchmarks/report.py     writes results.md and the table of README.md from results.json
"""

from __future__ import annotations

import itertools
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
from measure import ROOT, Costs, read_processor_facts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmark_table import Row

FOLDER = Path(__file__).parent
ROW_KEYS = ("work", "target", "measured", "peer", "ratio")
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

PAGE = """\
# How fast, and how small?

`make bench` printed these tables; `make bench ROWS=files` prints one part of them.

{tables}
## Method

{method}

## What sets the floor

{floor}

## Missed targets

{missed}

## Machine

{machine}
"""

METHOD = """\
Every run is a fresh process. Figures are medians of processor time (user and system time: of a
process as `wait4` reports it, of a call by the clock of its process), unless a row says
"elapsed". The contenders of a row run in turn, and were checked to give the same score. A contender
whose runs took ten seconds in total does not run again. The files are in the page cache. Rows "in
process" measure the call alone, with the library imported and the text in memory. Private memory is
the peak of Private_Clean + Private_Dirty in /proc/PID/smaps, sampled every 2 ms. If a peer was
timed on fewer pairs, the row says on how many, and the time is extrapolated linearly. Cycles are
those of the processor's nominal frequency, and tokens those of BLEU's tokenizer, also for chrF and
TER. The parts of BLEU are measured by kernel/examples/parts.rs: it reads the files in the kernel's
batches, reads and tokenizes them, and scores them; each part is the difference to the one
before."""

FLOOR = """\
Tokenizing and matching set the floor, not reading: in alphabetic text, each of the two costs three
to five times as much as reading (rows "parts of BLEU"). A profile of `truebleu score` on 1 M pairs
(`perf record -e cpu-clock`) shows three quarters of the time in the kernel, a seventh in Python,
which starts and examines a sample of the text, and a tenth in the operating system, which copies
the files' pages. In the kernel, tokenizing and matching take two thirds; validating UTF-8 and the
counts for warnings take most of the rest. Chinese and Japanese cost more per byte because each
character of three bytes is a token."""


def row_to_dict(topic: str, row: Row) -> dict[str, Any]:
    """Return a row as it is in results.json."""
    figures = {
        name: {
            f"{clock}_seconds": [round(getattr(run, clock), 6) for run in figure.runs]
            for clock in ("processor", "elapsed")
        }
        if isinstance(figure, Costs)
        else figure
        for name, figure in row.figures.items()
    }
    return {"topic": topic, **asdict(row), "figures": figures}


def format_tables(rows: Sequence[dict[str, Any]]) -> str:
    """Return a section with a Markdown table for each topic."""
    sections = []
    for topic, group in itertools.groupby(rows, key=lambda row: str(row["topic"])):
        lines: list[tuple[str, ...]] = [HEADINGS, ("---",) * len(HEADINGS)]
        for row in group:
            met = {True: "yes", False: "**no**", None: ""}[row["met"]]
            lines.append((*(row[key] for key in ROW_KEYS), met))
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        sections.append(f"## {topic}\n\n{table}\n")
    return "\n".join(sections)


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
    facts = read_processor_facts()
    processor = facts.get("model name", platform.machine())
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "processor": f"{processor}, {facts.get('cpu MHz', '?')} MHz, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "load": f"average {os.getloadavg()[0]:.1f} at the end",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "rust": _read_first_line("rustc", "--version"),
        "packages": ", ".join(filter(None, map(_describe_package, PACKAGES))),
        "wc": _read_first_line("wc", "--version"),
        "text": corpus.describe_source(),
    }


def _describe_package(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return ""


def _read_first_line(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "?"


def write_results(rows: Sequence[dict[str, Any]], runs: int) -> None:
    """Write results.json, and the page that is made of it."""
    data = {"machine": describe_machine(), "runs": runs, "rows": list(rows)}
    text = json.dumps(data, indent=1, ensure_ascii=False)
    (FOLDER / "results.json").write_text(f"{text}\n", encoding="utf-8")
    (FOLDER / "results.md").write_text(format_page(data), encoding="utf-8")


def format_page(data: dict[str, Any]) -> str:
    """Return the page results.md from the content of results.json."""
    facts = {**data["machine"], "runs": f"at most {data['runs']} per contender"}
    return PAGE.format(
        tables=format_tables(data["rows"]),
        method=METHOD,
        floor=FLOOR,
        missed="\n".join(_list_missed_targets(data["rows"])),
        machine="\n".join(f"* {key}: {fact}" for key, fact in facts.items()),
    )


def _list_missed_targets(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the rows that miss their targets as a list: with a reason, then without one."""
    missed = [row for row in rows if row["met"] is False]
    for row in missed:
        if row["note"]:
            yield f"* **{row['work']}**: {row['note']}"
    if not all(row["note"] for row in missed):
        yield "* without a known reason:"
        for row in missed:
            if not row["note"]:
                yield f"  * {row['work']}: {row['measured']} (target: {row['target']})"


if __name__ == "__main__":
    results = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
    (FOLDER / "results.md").write_text(format_page(results), encoding="utf-8")
    try:
        write_readme_table(ROOT)
    except LookupError as error:
        sys.exit(str(error.args[0]))
