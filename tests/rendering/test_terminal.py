"""Tests of terminal output: signatures are complete, and progress lines are cleared."""

import io
import sys

import pytest

import truebleu as tb
from truebleu.cli import main
from truebleu.text.terminal_layout import ProgressLine

console = pytest.importorskip("rich.console")

REFERENCES = ["the cat is on the mat", "nobody was there"] * 20
SYSTEMS = {"a": REFERENCES, "b": REFERENCES[::-1]}


def print_to_text(value, width: int, **options) -> str:
    file = io.StringIO()
    rich_console = console.Console(file=file, width=width, force_terminal=True, color_system=None)
    rich_console.print(value, **options)
    return file.getvalue()


def signature(comparison: tb.Comparison) -> str:
    metric = comparison.to_dict()["metrics"][0]
    return f"{metric['label']}|{metric['signature']}"


@pytest.fixture(scope="module")
def comparison() -> tb.Comparison:
    return tb.compare(SYSTEMS, REFERENCES, samples=50, confidence=50)


@pytest.mark.parametrize("width", [40, 79, 80, 200])
def test_signature_is_complete_at_any_width(comparison, width):
    printed_text = print_to_text(comparison.rich(explain=True), width)
    assert signature(comparison) in printed_text.replace("\n", "")
    assert max(map(len, printed_text.splitlines())) <= width


def test_soft_wrap_keeps_signature_on_one_line(comparison):
    lines = print_to_text(comparison.rich(explain=True), 80, soft_wrap=True).splitlines()
    assert signature(comparison) in lines


class Terminal(io.StringIO):
    """A terminal stream that records each write with the name of the stream."""

    def __init__(self, name: str, log: list[tuple[str, str]]) -> None:
        super().__init__()
        self.stream_name, self.log = name, log

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.log.append((self.stream_name, text))
        return len(text)


def test_command_clears_progress_before_result(monkeypatch, write):
    monkeypatch.setattr(ProgressLine, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(ProgressLine, "INTERVAL_SECONDS", 0.0)
    monkeypatch.setenv("COLUMNS", "80")
    log: list[tuple[str, str]] = []
    monkeypatch.setattr(sys, "stdout", Terminal("out", log))
    monkeypatch.setattr(sys, "stderr", Terminal("err", log))
    files = [str(write(name, lines)) for name, lines in SYSTEMS.items()]
    words = ["compare", files[0], "-i", *files, "--paired-ar-n", "60", "--confidence", "60"]
    assert main(words) in (None, 0)
    progress_texts = [text for name, text in log if name == "err"]
    assert any("resampling" in text for text in progress_texts)
    first = next(i for i, (name, _) in enumerate(log) if name == "out")
    # The progress line is cleared before the first result.
    assert log[first - 1] == ("err", "\r\x1b[K")
    assert not any("\x1b[K" in text for _, text in log[first:])
    output = "".join(text for name, text in log if name == "out")
    assert any("BLEU|#:1|" in line for line in output.splitlines())
