"""The results as a Markdown page and as JSON: the tables, the machine and the method.

python benchmarks/report.py     writes results.md and the table of README.md from results.json
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
import jinja2
from measure import ROOT, Costs, read_processor_facts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark_table import Row

FOLDER = Path(__file__).parent
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


def format_page(template: str, data: dict[str, Any]) -> str:
    """Return what a template in this folder makes of the content of results.json."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER), autoescape=False, keep_trailing_newline=True
    )
    return environment.get_template(template).render(data)


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
    write_pages()


def write_pages() -> None:
    """Write results.md and the tables in README.md and docs/index.md from results.json."""
    data = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
    (FOLDER / "results.md").write_text(format_page("results.md.j2", data), encoding="utf-8")
    table = format_readme_table(data)
    for path in (ROOT / name for name in README_PAGES):
        before, start, rest = path.read_text(encoding="utf-8").partition(README_START)
        _, end, after = rest.partition(README_END)
        if not end:
            raise LookupError(f"{path}: no markers (expected {README_START!r} and {README_END!r})")
        path.write_text(f"{before}{start}{table}{end}{after}", encoding="utf-8")
        print(f"Written to {path.name}.", file=sys.stderr)


if __name__ == "__main__":
    try:
        write_pages()
    except LookupError as error:
        sys.exit(str(error.args[0]))
