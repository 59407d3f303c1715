"""The claims of README.md that have a number: each with the command that shows it, run now.

python tests/project/readme_claims.py [--bench]     or `make claims`, `make claims BENCH=1`

The table of speed and size is compared with benchmarks/results.json; `--bench` measures it on this
machine, which is slow, and prints it. Everything else is run.
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
sys.path.insert(0, str(ROOT / "benchmarks"))

import report  # noqa: E402  from benchmarks/

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


PROSE = (
    Claim(
        "Its scores agree with the command's to 12 digits.",
        f"{PYTEST} tests/reports/test_browser_kernel.py -k 'texts_equal_python'",
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
    Claim(
        "It computes 119 published variants of BLEU,",
        """truebleu family list -f json | grep -c '^   "name"'""",
        r"^119$",
    ),
    Claim(
        "reproduces the 906 BLEU and chrF scores that were published with WMT22.",
        f"{PYTEST} tests/metrics/test_published_scores.py",
        r"^\S*\s+\[100%\]\n2 passed",
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

# The benchmarks that measure the table of speed and size.
BENCHMARKS = ("files", "chrf", "memory", "test_set", "compare", "matrix", "install")


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


def speed_table(text: str) -> str:
    """Return the table between the markers, which benchmarks/report.py writes."""
    return text.partition(report.README_START)[2].partition(report.README_END)[0]


def unclaimed(text: str) -> list[str]:
    """Return the numbers of a text that no claim is about, each with the words around it."""
    rest = " ".join(re.sub(r"```.*?```", "", text, flags=re.DOTALL).split())
    claimed_texts = [" ".join(one.split()) for one in (*(c.text for c in PROSE), speed_table(text))]
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
    holds = bool(match) and done.returncode == 0
    if holds and match:
        seen = match[0].splitlines()[-1][:60]
    else:
        seen = f"status {done.returncode}: {(done.stdout.splitlines() or ['nothing'])[-1][:120]}"
    return CheckedClaim(claim.text, claim.command, seen, holds)


def printed(command: str, output: str) -> CheckedClaim:
    """Return a block of the console whose command was run."""
    done = run(command)
    holds = re.fullmatch(as_pattern(output), done.stdout.rstrip("\n") + "\n") is not None
    claim = f"what it prints, {len(output.splitlines())} lines"
    return CheckedClaim(claim, command, "the same" if holds else "something else", holds)


def measured(*, bench: bool) -> CheckedClaim:
    """Return the table of speed and size, as it was recorded, or as it is now."""
    if not bench:
        data = json.loads((ROOT / "benchmarks" / "results.json").read_text("utf-8"))
        holds = report.format_readme_table(data) == speed_table(readme())
        seen = "the same" if holds else "something else"
        return CheckedClaim("the table of speed", "python benchmarks/report.py", seen, holds)
    done = run(f"python benchmarks/run.py {' '.join(BENCHMARKS)}")
    cells = [re.split(r" *\| *", line.strip("| ")) for line in done.stdout.splitlines()]
    rows = [
        dict(zip(("work", "target", "measured", "peer"), row, strict=False))
        for row in cells
        if len(row) > 3
    ]
    command = f'make bench ROWS="{" ".join(BENCHMARKS)}"'
    table = report.format_readme_table({"rows": rows})
    return CheckedClaim("the table of speed", command, table, None)


def all_claims(*, bench: bool) -> list[CheckedClaim]:
    """Return every claim, looked at."""
    checked_claims = [replayed(claim) for claim in PROSE]
    checked_claims += [printed(*block) for block in console(readme())]
    examples = Claim(
        "the examples in Python", "python -m pytest -q -p no:cacheprovider README.md", "1 passed"
    )
    return [*checked_claims, replayed(examples), measured(bench=bench)]


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
