"""The results as a Markdown page and as JSON: the table, the machine and the method."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import corpus
from measure import to_plain_data

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark_table import Row

HEADINGS = ("work", "target", "measured", "peer, same run", "ratio", "met")
PACKAGES = ("truebleu", "sacrebleu", "bleuscore", "nltk", "pyarrow")

METHOD = """\
Every run is a fresh process. Figures are medians of processor time (user and system time: of a
process as `wait4` reports it, of a call by the clock of its process), unless a row says
"elapsed". The contenders of a row run in turn, and were checked to give the same score. The files
are in the page cache. Rows "in process" measure the call alone, with the library imported and the
text in memory. Private memory is the peak of Private_Clean + Private_Dirty in /proc/PID/smaps,
sampled every 2 ms; the pages of memory-mapped input files belong to the page cache, so the peak
without them is in brackets. If a peer was timed on fewer pairs, the row says on how many, and the
time is extrapolated linearly."""


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
        "## Missed targets",
        "",
    ]
    page += [
        f"* **{row.work}**: {row.note or 'no reason is recorded.'}"
        for row in rows
        if row.met is False
    ]
    page += ["", "## Machine", ""]
    page += [f"* {key}: {value}" for key, value in described.items()] + [
        f"* runs: {runs} per contender",
        "",
    ]
    (folder / "results.md").write_text("\n".join(page), encoding="utf-8")
    data = {"machine": described, "runs": runs, "rows": [_row_to_dict(row) for row in rows]}
    (folder / "results.json").write_text(
        json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


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
