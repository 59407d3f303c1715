"""Plain command lines are read without argparse, and mean what they mean to it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truebleu.cli import commands, plain
from truebleu.cli.output import UsageError

PLAIN = [
    "score ref -i hyp",
    "score -i hyp -q",
    "score -i - -",
    "score a b -i c d -m bleu chrf -w 2 -f json",
    "score -i hyp -q ref -b ref2",
    "score ref -i a -i b -tok zh --threads 4",
    "score table.tsv#3 -i hyp.gz -m bleu,ter -e utf-8-sig --level 0.9 --seed none",
    "segments ref -i hyp -f tsv",
    "compare ref -i a b -o out.json",
    "report ref -i a b -o page.html",
    "matrix lines.txt",
    "history scores.jsonl",
    "family list",
    "testset list",
    "completion bash",
]
OTHERS = [
    "score --help",
    "score ref -i",
    "score ref -i hyp -w two",
    "score ref -i hyp -f jpeg",
    "score ref -i hyp --width=2",
    "score ref -i hyp -w2",
    "score ref -i hyp -lc",
    "score ref -i hyp --lowercase yes",
    "score ref -i hyp -ci 100",
    "score ref -i hyp --paired-bs",
    "score ref -i hyp --thread 2",
    "score -#3 -i hyp",
    "score -- ref",
    "score ref -i hyp -w -1",
    "score '' -i hyp",
    "compare ref -i a b --paired-ar",
]


def both(words: list[str]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The options by the plain way, and by argparse; None where they are not, or are wrong."""
    name, *rest = words
    groups = list(commands.command(name).groups(rest))
    read = plain.read(groups, rest)
    try:
        parsed = vars(commands.parser(name, groups).parse(rest))
    except (UsageError, SystemExit):
        parsed = None
    return None if read is None else vars(read), parsed


@pytest.mark.parametrize("line", PLAIN)
def test_a_plain_line_means_what_it_means_to_argparse(line: str) -> None:
    read, parsed = both(line.split())
    assert parsed is not None
    assert read in (parsed, None)
    assert (read is None) == line.startswith(("family", "testset", "history", "completion"))


@pytest.mark.parametrize("line", OTHERS)
def test_argparse_reads_all_others(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    read, _ = both([word.strip("'") for word in line.split()])
    assert read is None


FLAGS = ["-i", "--input", "-q", "-b", "-w", "-f", "-m", "-tok", "-e", "--threads", "-o", "--names"]
FLAGS += ["-nr", "--docs", "-sh", "-ci", "-lc", "--by", "--nulls", "-l", "-zz", "--seed", "-s"]
WORDS = ["ref", "hyp", "a b", "-", "2", "0", "json", "text", "zh", "13a", "bleu", "chrf", "x=y"]
WORDS += ["", "-1", "-w2", "--width=3", "--", "-#2", "é", "skip", "none", "floor", "-h"]


@given(st.lists(st.sampled_from(FLAGS + WORDS), max_size=8), st.sampled_from(["score", "segments"]))
def test_whatever_is_read_the_plain_way_argparse_reads_likewise(
    words: list[str], name: str
) -> None:
    groups = list(commands.command(name).groups(words))
    read = plain.read(groups, words)
    if read is not None:
        assert vars(read) == vars(commands.parser(name, groups).parse(words))


def test_scoring_a_file_imports_no_more_than_it_needs(tmp_path: Any) -> None:
    path = tmp_path / "text"
    path.write_text("a cat on the mat\n" * 3, "utf-8")
    code = (
        "import sys; before = set(sys.modules); from truebleu.cli import main; main();"
        "print(*sorted(set(sys.modules) - before), file=sys.stderr)"
    )
    # Without site-packages, whose .pth files import what they like.
    command = [sys.executable, "-S", "-c", code, "score", str(path), "-i", str(path)]
    folder = os.path.dirname(os.path.dirname(os.path.dirname(commands.__file__)))
    environment = {**os.environ, "PYTHONPATH": folder}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert '"score": 100.0' in done.stdout
    loaded = set(done.stderr.split())
    assert "truebleu.cli.score" in loaded
    assert not loaded & {"asyncio", "inspect", "multiprocessing", "ssl", "urllib.request"}
