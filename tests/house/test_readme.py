"""What README.md shows of the command line is what the command line prints."""

from __future__ import annotations

import re
import shlex

import pytest
from places import ROOT

README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
SHOWN = [
    (command, output)
    for block in BLOCKS
    for command, output in re.findall(r"^\$ (truebleu .*)\n((?:[^$].*\n|\n)*)", block, re.MULTILINE)
]


def as_pattern(output: str) -> str:
    """Output as a regular expression: a line of three dots stands for any lines."""
    lines = output.rstrip("\n").split("\n")
    return "".join("(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in lines)


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_a_console_example(command, output, truebleu_command):
    own = truebleu_command(*shlex.split(command)[1:], cwd=ROOT)
    assert own.status == 0
    if not re.fullmatch(as_pattern(output), own.output.rstrip("\n") + "\n"):
        assert own.output == output


def test_there_are_examples():
    assert len(SHOWN) == README.count("$ truebleu ")


def test_links_lead_somewhere():
    """In README.md and in every page: files that are there, and headings that they have."""
    for page in [ROOT / "README.md", *ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
