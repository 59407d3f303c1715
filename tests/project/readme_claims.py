"""The claims of README.md that have a number: each with the command that shows it, run now.

python tests/project/readme_claims.py [--bench]     or `make claims`, `make claims BENCH=1`

Figures of speed and size are compared with benchmarks/results.json; `--bench` measures them on this
machine, which is slow, and prints them. Everything else is run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = "examples/de-en/reference.a.en -i examples/de-en/cedar.en"

# Numbers that claim nothing: names, and an example of a question.
NAMES = (r"WMT\d\d", r"Apache-2\.0", r"27\.3 and 24\.1")

PYTEST = "python -m pytest -q -m '' -p no:cacheprovider"


class Claim(NamedTuple):
    """A claim of README.md."""

    text: str
    """As README.md has it; white space aside."""
    command: str
    """The command that shows it, run in a checkout."""
    pattern: str
    """A regular expression that the command's output must match."""
    status: int = 0


class Figure(NamedTuple):
    """A number in the table of speed: as README.md has it, and where a benchmark has it."""

    figure_text: str
    work: str
    before: str = ""
    """The text before it in the benchmark's row; empty if truebleu is measured."""


PROSE = (
    Claim(
        "Its scores agree with the command's to 12 digits.",
        f"{PYTEST} tests/reports/test_browser_kernel.py -k test_any_text",
        r"\d+ passed",
    ),
    Claim(
        "BLEU, chrF, chrF++ and TER are bit-identical to sacreBLEU 2.6.0.",
        f"{PYTEST} tests/metrics/test_differential.py -k 'not every_assigned'",
        r"\d+ passed",
    ),
    Claim(
        "You need make, Python 3.11 or newer,",
        'grep "requires-python" pyproject.toml',
        r'requires-python = ">=3\.11"',
    ),
    Claim(
        "and Rust 1.89 or newer.",
        'grep "rust-version" kernel/Cargo.toml',
        r'rust-version = "1\.89"',
    ),
    Claim("| 0 | success |", f"truebleu score {EXAMPLES} -b", r"[\d.]+"),
    Claim(
        "| 1 | invalid data, or a file that cannot be read or written; "
        "the message names the location |",
        "truebleu score examples/de-en/reference.a.en -i examples/en-zh/cedar.zh",
        r"error: .*cedar\.zh\) 32,",
        1,
    ),
    Claim("| 2 | invalid command line |", "truebleu score --florid", "unknown option", 2),
    Claim(
        "| 3 | `truebleu check`: a score is below the minimum, or has dropped too far |",
        f"truebleu check {EXAMPLES} --min 99",
        "is below the minimum of 99",
        3,
    ),
    Claim(
        "| 4 | a download is needed, but downloads are disabled |",
        "TRUEBLEU_OFFLINE=1 TRUEBLEU_CACHE={} truebleu testset get wmt22 -l en-de",
        "TRUEBLEU_OFFLINE is set",
        4,
    ),
    Claim(
        "truebleu computes 119 published members",
        """truebleu family list -f json | grep -c '^   "name"'""",
        r"^119$",
    ),
    Claim(
        "it also reproduces the 906 BLEU and chrF scores that were published with WMT22",
        f"{PYTEST} tests/metrics/test_published_scores.py",
        r"^\S*\s+\[100%\]\n4 passed",
    ),
    Claim(
        "BLEU was proposed by Kishore Papineni, Salim Roukos, Todd Ward and Wei-Jing Zhu (2002)",
        "truebleu cite",
        r"(?s)Papineni, Kishore and Roukos, Salim and Ward, Todd and Zhu, Wei-Jing.*2002",
    ),
    Claim(
        "truebleu follows the definition in sacreBLEU, by Matt Post (2018)",
        "truebleu cite",
        r"(?s)Post, Matt.*\{2018\}",
    ),
)

FILES = "1 M pairs, two files, whole process"
COMPARED = "compare 10 systems × 2,037 segments, 10,000 randomizations, BLEU + chrF, whole process"
PAIRS = "256 × 256 bleu, list[str], in process"
INSTALL = "pip install of the wheel into an empty environment"
# The row of the table, the benchmark that measures it, and its numbers.
TABLE = (
    (
        "BLEU of 1,000,000 segments in two files, whole process",
        "files",
        Figure("0.32 s", FILES),
        Figure("0.87 s", FILES, "wc -w "),
        Figure("91 s", FILES, "sacrebleu "),
    ),
    (
        "chrF of the same files",
        "chrf",
        Figure("0.84 s", "chrF, 1 M pairs, two files, whole process"),
        Figure("212 s", "chrF, 1 M pairs, two files, whole process", "sacrebleu "),
    ),
    (
        "private memory for 1,000,000 or 10,000,000 segments",
        "memory",
        Figure("29 MiB", "1 M pairs, two files, private memory"),
        Figure("29 MiB", "10 M pairs, two files, private memory"),
    ),
    (
        "`truebleu score` on 2,037 segments",
        "test_set",
        Figure("24 ms", "2,037 segments, whole process"),
        Figure("309 ms", "2,037 segments, whole process", "sacrebleu "),
        Figure("9 ms", "2,037 segments, whole process", "python -c pass "),
    ),
    (
        "compare 10 systems by BLEU and chrF, 10,000 randomizations",
        "compare",
        Figure("0.21 s", COMPARED),
        Figure("19.7 s", COMPARED, "sacrebleu "),
    ),
    (
        "one sentence",
        "sentence",
        Figure("1.6 µs", "metric.sentence(h, r), one call"),
        Figure("94 µs", "metric.sentence(h, r), one call", "sacrebleu "),
    ),
    (
        "256 × 256 pairs by BLEU, per pair",
        "matrix",
        Figure("26 ns", PAIRS),
        Figure("71 µs", PAIRS, "sacrebleu "),
    ),
    (
        "`pip install` of the wheel into an empty environment, and a first score",
        "install",
        Figure("1.9 s", f"{INSTALL}, to a first score, elapsed"),
        Figure("3.4 MB", f"{INSTALL}, all that is downloaded"),
    ),
)


class CheckedClaim(NamedTuple):
    """A claim that was looked at."""

    claim: str
    command: str
    seen: str
    holds: bool | None
    """None for figures of this machine, which nothing was promised of."""


# ---- what README.md says ----


def readme() -> str:
    """Return its text."""
    return (ROOT / "README.md").read_text("utf-8")


def console(text: str) -> list[tuple[str, str]]:
    """Return the commands in blocks of the console, each with the output that stands below it."""
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    command_pattern = r"^\$ (truebleu .*)\n((?:[^$].*\n|\n)*)"
    return [found for block in blocks for found in re.findall(command_pattern, block, re.MULTILINE)]


def as_pattern(output: str) -> str:
    """Output as a regular expression: a line of three dots stands for any lines."""
    lines = output.rstrip("\n").split("\n")
    return "".join("(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in lines)


def table_row(start: str, text: str) -> list[str]:
    """Return the cells of a row of a table, by its first cell."""
    (row,) = (line for line in text.splitlines() if line.startswith(f"| {start} |"))
    return [cell.strip() for cell in row.strip("|").split("|")]


def unclaimed(text: str) -> list[str]:
    """Return the numbers of a text that no claim is about, each with the words around it."""
    rest = " ".join(re.sub(r"```.*?```", "", text, flags=re.DOTALL).split())
    claimed_texts = [" ".join(claim.text.split()) for claim in PROSE]
    claimed_texts += [
        " ".join(f"| {' | '.join(table_row(start, text))} |".split()) for start, *_ in TABLE
    ]
    for claimed_text in claimed_texts:
        if claimed_text not in rest:
            return [f"README.md does not say: {claimed_text}"]
        rest = rest.replace(claimed_text, " ")
    rest = re.sub(r"\]\([^)]*\)|`[^`]*`", " ", rest)  # addresses, and words of command lines
    rest = re.sub("|".join(NAMES), " ", rest)
    return [rest[max(0, at.start() - 30) : at.end() + 20] for at in re.finditer(r"\d[\d.,]*", rest)]


# ---- checking claims ----


def run(command: str) -> subprocess.CompletedProcess[str]:
    """Return a command's standard output and standard error, joined."""
    python = shlex.quote(sys.executable)
    line = re.sub(r"(^|(?<= ))truebleu(?= )", f"{python} -m truebleu", command, count=1)
    line = re.sub(r"^python(?= )", python, line)
    with tempfile.TemporaryDirectory() as empty:
        return subprocess.run(
            ["bash", "-c", line.replace("{}", shlex.quote(empty))],
            cwd=ROOT,
            env={**os.environ, "COLUMNS": "100"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            check=False,
        )


def replayed(claim: Claim) -> CheckedClaim:
    """Return a claim whose command was run."""
    done = run(claim.command)
    match = re.search(claim.pattern, done.stdout, re.MULTILINE)
    holds = bool(match) and done.returncode == claim.status
    if holds and match:
        seen = match[0].splitlines()[-1][:60] + (f", status {claim.status}" if claim.status else "")
    else:
        seen = f"status {done.returncode}: {(done.stdout.splitlines() or ['nothing'])[-1][:120]}"
    return CheckedClaim(claim.text, claim.command, seen, holds)


def printed(command: str, output: str) -> CheckedClaim:
    """Return a block of the console whose command was run."""
    done = run(command)
    holds = re.fullmatch(as_pattern(output), done.stdout.rstrip("\n") + "\n") is not None
    claim = f"what it prints, {len(output.splitlines())} lines"
    return CheckedClaim(claim, command, "the same" if holds else "something else", holds)


def recorded(figure: Figure, rows: list[dict[str, str]]) -> tuple[float, float, float]:
    """Return a figure from README.md, the benchmark's figure, and the tolerance for rounding.

    Raises LookupError if the benchmark has none.
    """
    number, unit = figure.figure_text.split()
    matching_rows = [row for row in rows if row["work"] == figure.work]
    cells = [row["peer" if figure.before else "measured"] for row in matching_rows]
    for cell in cells:
        match = re.match(rf"{re.escape(figure.before)}([\d.]+) {unit}\b", cell)
        if match:
            decimals = len(number.partition(".")[2])
            return float(number), float(match[1]), 0.5 * 10**-decimals + 1e-9
    raise LookupError(f"no row of benchmarks/results.json has {figure}")


def measured(*, bench: bool) -> list[CheckedClaim]:
    """Return the figures of the table, as they were recorded, or as they are now."""
    results = json.loads((ROOT / "benchmarks" / "results.json").read_text("utf-8"))["rows"]
    if bench:
        names = " ".join(name for _, name, *_ in TABLE)
        done = run(f"python benchmarks/run.py {names}")
        lines = [re.split(r" *\| *", line.strip("| ")) for line in done.stdout.splitlines()]
        results = [
            dict(zip(("work", "target", "measured", "peer"), row[:4], strict=False))
            for row in lines
        ]
    checked_claims = []
    for row, name, *figures in TABLE:
        for figure in figures:
            figure_value, seen, tolerance = recorded(figure, results)
            claim = f"{row}: {figure.before or 'truebleu '}{figure.figure_text}"
            unit = figure.figure_text.split()[1]
            holds = None if bench else abs(figure_value - seen) <= tolerance
            description = f"{seen:g} {unit}{'' if bench else ', recorded'}"
            checked_claims.append(
                CheckedClaim(claim, f"make bench ROWS={name}", description, holds)
            )
    return checked_claims


def all_claims(*, bench: bool) -> list[CheckedClaim]:
    """Return every claim, looked at."""
    checked_claims = [replayed(claim) for claim in PROSE]
    checked_claims += [printed(*block) for block in console(readme())]
    examples = Claim(
        "the examples in Python", "python -m pytest -q -p no:cacheprovider README.md", "1 passed"
    )
    return [*checked_claims, replayed(examples), *measured(bench=bench)]


def main() -> int:
    """Print every claim with its command, its output and the verdict."""
    parser = argparse.ArgumentParser(description="Replay what README.md claims in numbers.")
    parser.add_argument("--bench", action="store_true", help="measure speed and size anew")
    checked_claims = all_claims(bench=parser.parse_args().bench)
    verdicts = {True: "holds", False: "DOES NOT HOLD", None: "of this machine"}
    for checked in checked_claims:
        sys.stdout.write(f"{' '.join(checked.claim.split())}\n  $ {checked.command}\n")
        sys.stdout.write(f"  {checked.seen}: {verdicts[checked.holds]}\n\n")
    missing = unclaimed(readme())
    for checked in missing:
        sys.stdout.write(f"a number that no command shows: … {checked} …\n")
    false = sum(one.holds is False for one in checked_claims) + len(missing)
    sys.stdout.write(f"{len(checked_claims)} claims, {false} that do not hold\n")
    return int(bool(false))


if __name__ == "__main__":
    sys.exit(main())
