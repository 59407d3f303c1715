"""Public commitments: citation, changelog, policies, types."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from paths import ROOT

import truebleu as tb

CFF = (ROOT / "CITATION.cff").read_text("utf-8")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_citation_and_changelog_name_the_version():
    """tools/check_version.py compares the other files."""
    assert f"Version {tb.__version__}" in tb.cite().bibtex()
    assert re.search(r"^## \[(.*?)\]", CHANGELOG, re.MULTILINE)[1] == tb.__version__


def test_citation_file_agrees_with_command():
    entries = tb.cite().bibtex()
    assert set(re.findall(r"doi: (\S+)", CFF)) == set(re.findall(r"doi = \{(.*?)\}", entries))
    titles = re.findall(r'title: "?(.*?)"?$', CFF, re.MULTILINE)
    for title in re.findall(r"    title = \{(.*)\}", entries):
        assert title.replace("{", "").replace("}", "").lower() in map(str.lower, titles)


def test_changelog_has_valid_sections():
    """Keep a Changelog: releases with dates, the newest first, in known sections."""
    headings = re.findall(r"^## (.*)$", CHANGELOG, re.MULTILINE)
    dates = [re.fullmatch(r"\[\d+\.\d+\.\d+\] - (.*)", one)[1] for one in headings]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for date in dates[dates[0] == "unreleased" :])
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
