"""What README.md shows of the command line is what the command line prints."""

from __future__ import annotations

import re
import shlex

import pytest
from places import ROOT

BLOCKS = re.findall(r"```console\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
SHOWN = [
    (command, output)
    for block in BLOCKS
    for command, output in re.findall(r"^\$ (truebleu .*)\n((?:[^$].*\n|\n)*)", block, re.MULTILINE)
]


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_a_console_example(command, output, truebleu_command):
    own = truebleu_command(*shlex.split(command)[1:], cwd=ROOT)
    assert own.status == 0
    assert own.output.rstrip("\n") == output.rstrip("\n")


def test_there_are_examples():
    assert SHOWN
