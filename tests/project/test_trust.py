"""Public commitments: citation, changelog, policies, types, changes of scores."""

import json
import math
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import score_snapshots
from paths import ROOT

import truebleu as tb

CFF = (ROOT / "CITATION.cff").read_text("utf-8")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_citation_file_agrees_with_command_and_version():
    assert f"\nversion: {tb.__version__}\n" in CFF
    entries = tb.cite().bibtex()
    assert set(re.findall(r"doi: (\S+)", CFF)) == set(re.findall(r"doi = \{(.*?)\}", entries))
    titles = re.findall(r'title: "?(.*?)"?$', CFF, re.MULTILINE)
    for title in re.findall(r"    title = \{(.*)\}", entries):
        assert title.replace("{", "").replace("}", "").lower() in map(str.lower, titles)


def test_changelog_has_valid_sections():
    """Keep a Changelog: releases with dates, the newest first, in known sections."""
    headings = re.findall(r"^## (.*)$", CHANGELOG, re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", one) for one in headings[1:])
    sections = set(re.findall(r"^### (.*)$", CHANGELOG, re.MULTILINE))
    allowed_sections = {"Scores", "Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert sections <= allowed_sections
    assert all(len(line) <= 130 for line in CHANGELOG.splitlines())


def test_support_policy_agrees_with_package_metadata():
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    support = (ROOT / "docs" / "support.md").read_text("utf-8")
    (min_python,) = re.findall(r'requires-python = ">=([\d.]+)"', project)
    assert f"from {min_python} on" in support
    (rust,) = re.findall(r'rust-version = "([\d.]+)"', (ROOT / "kernel/Cargo.toml").read_text())
    assert f"Rust {rust} or newer" in support
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
    tested = re.findall(r"python: \[(.*?)\]", workflow)
    assert tested
    for version in re.findall(r"[\d.]+", " ".join(tested)):
        assert version in support


PROGRAM = ROOT / "tests" / "project" / "typed_program.py"
WRONG = """\
import truebleu as tb

score = tb.bleu(["a b c d"], ["a b c d"])
value: float = score.value
wrong: str = score.value
tb.BLEU(smoothin="exp")
"""
CHECKERS = {
    "mypy": ["-m", "mypy", "--strict", "--no-incremental"],
    "pyright": ["-m", "pyright", "--pythonpath", sys.executable],
}


def types(checker: str, folder: Path, program: str) -> list[str]:
    """Return the lines of a program in which a type checker finds errors."""
    if find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed (make lint has it)")
    # Away from the settings of the project, as a user's program is.
    (folder / "program.py").write_text(program, "utf-8")
    words = [sys.executable, *CHECKERS[checker], "program.py"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)
    errors = re.findall(
        r"program.py:(\d+)(?::\d+ -)?: ?error|program.py:(\d+):\d+ - error", done.stdout
    )
    assert done.returncode == bool(errors), done.stdout + done.stderr
    return sorted({one or other for one, other in errors})


@pytest.mark.parametrize("checker", CHECKERS)
def test_typed_program_passes_type_checker(checker, tmp_path):
    """py.typed: type checkers of other programs see truebleu's types."""
    assert types(checker, tmp_path, PROGRAM.read_text("utf-8")) == []


@pytest.mark.parametrize("checker", CHECKERS)
def test_type_checker_reports_wrong_calls(checker, tmp_path):
    assert types(checker, tmp_path, WRONG) == ["5", "6"]


def test_typed_program_uses_every_public_name_and_runs():
    used = {*re.findall(r"\btb\.(\w+)", PROGRAM.read_text("utf-8"))}
    assert used >= {*tb.PUBLIC}
    subprocess.run([sys.executable, PROGRAM], check=True)


# ---- changes of scores are listed ----

# Scores of the last release, or of the first one to come. `python tests/project/score_snapshots.py`
# rewrites them when a version is released, and at no other time.
RECORD = json.loads((ROOT / "tests" / "project" / "recorded.json").read_text("utf-8"))


def changed_scores_text(changelog: str) -> str:
    """Return the changelog's section Scores of the next version."""
    unreleased = changelog.partition("## [Unreleased]")[2].partition("\n## [")[0]
    return unreleased.partition("### Scores")[2].partition("\n### ")[0]


def equal_scores(first_scores: list, second_scores: list) -> bool:
    """Return whether scores are equal; logarithms of other systems may differ in the last bits."""
    numbers = ([math.nan if x is None else x for x in row] for row in (first_scores, second_scores))
    return next(numbers) == pytest.approx(next(numbers), rel=1e-12, abs=0, nan_ok=True)


def silent(now: dict[str, list], changelog: str) -> list[str]:
    """Return the names of metrics whose scores differ from the record without a changelog entry."""
    changed = [
        name for name, row in now.items() if not equal_scores(row, RECORD["scores"].get(name, row))
    ]
    return [name for name in changed if f"`{name}`" not in changed_scores_text(changelog)]


def test_score_record_is_for_the_last_release():
    releases = re.findall(r"^## \[(\d.*?)\]", CHANGELOG, re.MULTILINE)
    assert RECORD["release"] == (releases[0] if releases else None)


def test_changed_scores_are_in_the_changelog():
    assert silent(score_snapshots.compute_snapshots(), CHANGELOG) == [], (
        "say so under Scores in CHANGELOG.md"
    )


def test_removed_metrics_are_in_the_changelog():
    gone = {*RECORD["scores"]} - {*score_snapshots.list_metric_names()}
    removed = CHANGELOG.partition("## [Unreleased]")[2].partition("\n## [")[0]
    assert all(f"`{name}`" in removed for name in gone)


def test_changed_score_without_changelog_line_fails():
    name, scores = next(iter(RECORD["scores"].items()))
    changed = {name: [scores[0] + 1e-9, *scores[1:]]}
    assert silent({name: scores}, "") == []
    head = "## [Unreleased]\n\n### Scores\n\n"
    line = f"- `{name}` of text that has spaces"
    assert silent(changed, head) == [name]
    assert silent(changed, f"{head}{line}\n") == []
    # A line of another section or version is none.
    assert silent(changed, f"{head}### Added\n\n{line}\n") == [name]
    assert silent(changed, f"{head}## [0.0.1] - 2020-01-01\n\n### Scores\n\n{line}\n") == [name]
