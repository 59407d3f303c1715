"""What strangers rely on: citation, changelog, policy, types."""

import re
import subprocess
import sys
import textwrap
from importlib.util import find_spec

import pytest
from places import ROOT

import truebleu as tb
from truebleu.views.citation import bibtex

CFF = (ROOT / "CITATION.cff").read_text("utf-8")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_citation_is_that_of_the_command_and_of_this_version():
    assert f"\nversion: {tb.__version__}\n" in CFF
    entries = bibtex()
    assert set(re.findall(r"doi: (\S+)", CFF)) == set(re.findall(r'doi = "(.*?)"', entries))
    titles = re.findall(r'title: "?(.*?)"?$', CFF, re.MULTILINE)
    for title in re.findall(r'    title = "(.*?)"', entries):
        assert title.replace("{", "").replace("}", "").lower() in map(str.lower, titles)


def test_the_changelog_keeps_its_form():
    """Keep a Changelog: releases with dates, the newest first, in known sections."""
    headings = re.findall(r"^## (.*)$", CHANGELOG, re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", one) for one in headings[1:])
    sections = set(re.findall(r"^### (.*)$", CHANGELOG, re.MULTILINE))
    known = {"Scores", "Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert sections <= known
    assert all(len(line) <= 130 for line in CHANGELOG.splitlines())


def test_the_policies_agree_with_the_package():
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    support = (ROOT / "docs" / "support.md").read_text("utf-8")
    (least,) = re.findall(r'requires-python = ">=([\d.]+)"', project)
    assert f"from {least} on" in support
    (rust,) = re.findall(r'rust-version = "([\d.]+)"', (ROOT / "kernel/Cargo.toml").read_text())
    assert f"Rust {rust} or newer" in support
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
    (tested,) = re.findall(r"python: \[(.*?)\]", workflow)
    for version in re.findall(r"[\d.]+", tested):
        assert version in support


@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed (make lint has it)")
def test_an_example_program_has_types(tmp_path):
    """py.typed: whoever checks a program that uses truebleu is told of its types."""
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""\
            import truebleu as tb

            score = tb.bleu(["a b c d"], ["a b c d"])
            value: float = score.value
            check: tb.Check = tb.check(["a b c d"], ["a b c d"], minimum=30)
            passed: bool = check.passed
            wrong: str = score.value
            tb.BLEU(smoothin="exp")
        """)
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", str(program)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    errors = re.findall(r"program.py:(\d+): error", done.stdout)
    assert errors == ["7", "8"], done.stdout + done.stderr
