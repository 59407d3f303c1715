"""A terminal gets everything that was computed: nothing is cut off, nothing is left behind."""

import io
import sys

import pytest

import truebleu as tb
from truebleu.cli import main
from truebleu.cli import progress as progress_module

console = pytest.importorskip("rich.console")

REFERENCES = ["the cat is on the mat", "nobody was there"] * 20
SYSTEMS = {"a": REFERENCES, "b": REFERENCES[::-1]}


def printed(what, width: int, **options) -> str:
    file = io.StringIO()
    made = console.Console(file=file, width=width, force_terminal=True, color_system=None)
    made.print(what, **options)
    return file.getvalue()


def signature(comparison: tb.Comparison) -> str:
    metric = comparison.to_dict()["metrics"][0]
    return f"{metric['label']}|{metric['signature']}"


@pytest.fixture(scope="module")
def comparison() -> tb.Comparison:
    return tb.compare(SYSTEMS, REFERENCES, samples=50, confidence=50)


@pytest.mark.parametrize("width", [40, 79, 80, 200])
def test_a_signature_is_whole_however_narrow_the_terminal_is(comparison, width):
    made = printed(comparison, width)
    assert signature(comparison) in made.replace("\n", "")
    assert max(map(len, made.splitlines())) <= width


def test_a_signature_stays_in_one_line_where_the_terminal_breaks_lines(comparison):
    lines = printed(comparison, 80, soft_wrap=True).splitlines()
    assert signature(comparison) in lines


class Terminal(io.StringIO):
    """A stream that writes down who wrote what, and is a terminal."""

    def __init__(self, name: str, log: list[tuple[str, str]]) -> None:
        super().__init__()
        self.name_of_it, self.log = name, log

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.log.append((self.name_of_it, text))
        return len(text)


def test_the_command_has_the_signature_in_one_line_and_no_progress_before_it(monkeypatch, write):
    monkeypatch.setattr(progress_module, "FIRST_UPDATE_SECONDS", 0.0)
    monkeypatch.setattr(progress_module, "UPDATE_INTERVAL_SECONDS", 0.0)
    monkeypatch.setenv("COLUMNS", "80")
    log: list[tuple[str, str]] = []
    monkeypatch.setattr(sys, "stdout", Terminal("out", log))
    monkeypatch.setattr(sys, "stderr", Terminal("err", log))
    files = [str(write(name, lines)) for name, lines in SYSTEMS.items()]
    words = ["compare", files[0], "-i", *files, "--paired-ar-n", "60", "--confidence", "60"]
    assert main(words) in (None, 0)
    told = [text for name, text in log if name == "err"]
    assert any("resampling" in text for text in told)
    first = next(i for i, (name, _) in enumerate(log) if name == "out")
    # The last word of the progress line, before any result: it is wiped away.
    assert log[first - 1] == ("err", "\r\x1b[K")
    assert not any("\x1b[K" in text for _, text in log[first:])
    output = "".join(text for name, text in log if name == "out")
    assert any("BLEU|nrefs:1" in line and "|by:truebleu-" in line for line in output.splitlines())
