"""Text output and messages fit a terminal of 80 columns."""

import io
import sys

import pytest
from paths import EXAMPLES as ALL_EXAMPLES

from truebleu.cli import COMMANDS, main
from truebleu.reports import browser_kernel
from truebleu.text.terminal_layout import measure_width, print_wrapped, wrap_command, wrap_text

EXAMPLES = ALL_EXAMPLES / "de-en"
REFERENCE, OTHER_REFERENCE, SOURCE, DOCUMENTS = (
    str(EXAMPLES / name)
    for name in ("reference.a.en", "reference.b.en", "source.de", "documents.txt")
)
SYSTEMS = [str(EXAMPLES / f"{name}.en") for name in ("birch", "cedar", "aspen")]
CEDAR = SYSTEMS[1]
LONG_NAME = "newstest2022.de-en.hyp.transformer-big-with-back-translation-and-tagging-seed-1"
ONE, THREE = (REFERENCE, "-i", CEDAR), (REFERENCE, "-i", *SYSTEMS)
LONG_NAMES = (REFERENCE, "-i", *(f"{LONG_NAME}{i}={SYSTEMS[i % 2]}" for i in range(12)))
UNLIKE_NAMES = (REFERENCE, "-i", f"{LONG_NAME}={CEDAR}", f"{'another-system-' * 6}={SYSTEMS[0]}")
BY_DOCUMENT = ("--docs", DOCUMENTS, "--by", "document")
FAST_TESTS = ("-parn", "99", "-ci", "99")

OUTPUTS: dict[str, tuple[str, ...]] = {
    "welcome": (),
    "help": ("help",),
    "help metrics": ("help", "metrics"),
    **{f"help {command}": ("help", command) for command in COMMANDS},
    "score": ("score", *ONE),
    "score of all metrics": ("score", *ONE, "-m", "all", "-ci", "99"),
    "scores of three systems": ("score", *THREE, "-m", "all", "-ci", "99"),
    "scores of long names": ("score", *LONG_NAMES, "-m", "all"),
    "scores of documents": ("score", *THREE, *BY_DOCUMENT),
    "scores of documents, long names": ("score", *LONG_NAMES, *BY_DOCUMENT, "-m", "bleu", "ter"),
    "segments": ("segments", *ONE, "-m", "bleu", "chrf"),
    "segments of long names": ("segments", *LONG_NAMES),
    "compare": ("compare", *THREE, *FAST_TESTS),
    "compare --explain": ("compare", *THREE, *FAST_TESTS, "--explain", "-m", "all"),
    "compare long names": ("compare", *LONG_NAMES, *FAST_TESTS, "--explain"),
    "compare documents, unlike names": ("compare", *UNLIKE_NAMES, *FAST_TESTS, *BY_DOCUMENT),
    "compare documents": ("compare", *THREE, *FAST_TESTS, *BY_DOCUMENT),
    "compare references": (
        *("compare", OTHER_REFERENCE, *THREE),
        *(*FAST_TESTS, "--by", "reference", "-m", "bleu", "chrf", "ter"),
    ),
    "check": ("check", *ONE, "--min", "38"),
    "check --against": (
        *("check", *ONE, "-m", "bleu", "chrf", "ter", "--docs", DOCUMENTS),
        *("--against", SYSTEMS[0], "--max-drop", "bleu=1", "chrf=1", "ter=1"),
        *("--significant", "--samples", "99"),
    ),
    "check that fails": (
        *("check", REFERENCE, "-i", SYSTEMS[0], "--against", CEDAR, "--docs", DOCUMENTS),
        *("--max-drop", "1"),
    ),
    "explain": ("explain", *ONE),
    **{
        f"explain {metric}": ("explain", *ONE, "-n", "17", "-m", metric)
        for metric in ("bleu", "chrf", "chrf++", "ter", "wer", "nist", "gleu", "rouge-l")
    },
    "explain two systems": ("explain", REFERENCE, "-i", *SYSTEMS[:2], "-n", "17"),
    "family list": ("family", "list"),
    "family show": ("family", "show", "bleu-ncs", "mteval-v13a", "nltk-corpus-7"),
    "family score": ("family", "score", *ONE),
    "family score of three systems": ("family", "score", *THREE, "--relatives"),
    "family score of long names": ("family", "score", *LONG_NAMES, "--relatives", "-q"),
    "family score of unlike names": ("family", "score", *UNLIKE_NAMES, "-q"),
    "family which": ("family", "which", "47.0", *ONE),
    "family which without match": ("family", "which", "89.12", *ONE),
    "testset list": ("testset", "list"),
    "testset list of a pair": ("testset", "list", "-l", "en-de"),
    "testset info": ("testset", "info", "wmt22"),
    "cite": ("cite", *THREE),
    "matrix": ("matrix", REFERENCE, "--top-k", "3"),
    "matrix with texts": ("matrix", REFERENCE, "--top-k", "3", "--text"),
    "lab": ("lab", "-o", "lab.html"),
    "history": ("history", "log.jsonl"),
    "history of a metric": ("history", "log.jsonl", "-m", "chrf"),
}
ERRORS: dict[str, tuple[str, ...]] = {
    "unknown option": ("score", *ONE, "--tok", "13a"),
    "unknown command": (CEDAR, "-i", REFERENCE, "-lc"),
    "unknown metric": ("score", *ONE, "-m", "blue"),
    "wrong scale": ("check", *ONE, "--min", "0.38"),
    "unknown member": ("family", "which", "54.0", *ONE, "-m", "chrf"),
    "missing file": ("score", "no-reference.en", "-i", "no-system.en"),
    "options of tables": ("score", *ONE, "--by", "domain"),
    "several systems": ("check", *THREE, "--min", "38"),
}


class Terminal(io.StringIO):
    """A terminal that records what a command writes."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def run_in_terminal(monkeypatch, tmp_path):
    """Return a function that runs a command in a terminal and returns its lines."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TRUEBLEU_CACHE", str(tmp_path / "cache"))
    # A slow machine would show progress lines, which are no results.
    monkeypatch.setattr("truebleu.text.terminal_layout.ProgressLine.FIRST_SECONDS", float("inf"))

    def run(*arguments: str, color: str = "never") -> list[str]:
        output, errors = Terminal(), Terminal()
        monkeypatch.setattr(sys, "stdout", output)
        monkeypatch.setattr(sys, "stderr", errors)
        monkeypatch.setenv("NO_COLOR", "1" if color == "never" else "")
        main(list(arguments))
        return [*output.getvalue().splitlines(), *errors.getvalue().splitlines()]

    return run


@pytest.mark.parametrize(
    ("words", "path"),
    [
        (("score", *ONE), "score.json"),
        (("compare", *THREE, "-parn", "9"), "result.md"),
        (("segments", *ONE), "segments.tsv"),
        (("matrix", REFERENCE), "scores.npy"),
        (("cite",), "references.bib"),
        (("testset", "list"), "list.txt"),
        (("lab",), "page.html"),
        (("check", *ONE, "--min", "1"), "check.json"),
    ],
)
def test_written_file_is_named_on_a_terminal_only(
    run_in_terminal, truebleu_command, tmp_path, words, path
):
    if words == ("lab",) and not browser_kernel.load_kernel_blocks():
        pytest.skip("no browser kernel")
    lines = run_in_terminal(*words, "-o", path)
    assert lines[-1] == f"truebleu: note: wrote {path}"
    assert (tmp_path / path).exists()
    assert not any("wrote" in line for line in run_in_terminal(*words, "-q", "-o", path))
    piped = truebleu_command(*words, "-o", path, cwd=tmp_path)
    assert (piped.status, piped.output) == (0, "")
    assert "wrote" not in piped.error


def test_report_for_a_file_prints_result_and_path_on_a_terminal_only(
    run_in_terminal, truebleu_command, tmp_path
):
    words = ("report", *THREE, "-parn", "9")
    default = run_in_terminal(*words)
    assert "Report: report.html" in default
    assert default[0].startswith("A cedar has the best BLEU of 3 systems")
    named = run_in_terminal(*words, "-o", "page.html")
    assert named == [line.replace("report.html", "page.html") for line in default]
    assert not any("page.html" in line for line in run_in_terminal(*words, "-q", "-o", "page.html"))
    piped = truebleu_command(*words, "-o", "page.html", cwd=tmp_path)
    assert (piped.status, piped.output) == (0, "")
    assert "page.html" not in piped.error


def find_long_lines(lines: list[str]) -> list[str]:
    """Return the lines wider than 80 columns. Single words, such as signatures, may be wider."""
    return [line for line in lines if measure_width(line) > 80 and " " in line.strip()]


@pytest.mark.parametrize("name", OUTPUTS)
def test_text_output_fits_80_columns(name, run_in_terminal):
    if name.startswith("history"):
        for system in [*SYSTEMS, f"{LONG_NAME}={CEDAR}"]:
            words = ("-m", "bleu", "chrf", "--log-note", "more data, " * 10)
            run_in_terminal("score", REFERENCE, "-i", system, "--log", "log.jsonl", *words)
    lines = run_in_terminal(*OUTPUTS[name])
    assert lines
    assert not find_long_lines(lines)


@pytest.mark.parametrize("name", ERRORS)
def test_errors_fit_80_columns(name, run_in_terminal):
    lines = run_in_terminal(*ERRORS[name])
    assert lines[0].startswith("truebleu: error: ")
    assert not find_long_lines(lines)


def test_error_is_one_line_in_a_pipe(truebleu_command):
    error = truebleu_command("check", *ONE, "--min", "0.38").error
    assert error.count("\n") == 1
    assert len(error) > 80


@pytest.mark.parametrize(
    "command", ["truebleu score --help", "pip install 'truebleu[duckdb]'", "--min N", "p = 0.05"]
)
@pytest.mark.parametrize("width", range(33, 60, 3))
def test_commands_stay_on_one_line(command, width):
    text = f"This is a long sentence, and then you can use {command}. Then it works with {command}"
    lines = wrap_text(text, width)
    assert max(map(len, lines)) <= width
    assert sum(line.count(command) for line in lines) == 2


def test_path_is_not_broken():
    path = "/data/" + "a-very-long-folder-name/" * 6 + "system.en"
    assert path in wrap_text(f"{path}: file not found, so nothing was scored", 80)[0]


def test_command_continues_before_an_option():
    command = "truebleu check ref.en -i system.en --max-drop 0.5 --log scores.jsonl"
    first, second = wrap_command(command.split(), 50, "$ ")
    assert first == "$ truebleu check ref.en -i system.en \\"
    assert second == "    --max-drop 0.5 --log scores.jsonl"


def test_message_is_wrapped_only_on_a_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    for stream, count in ((Terminal(), 3), (io.StringIO(), 1)):
        monkeypatch.setattr(sys, "stderr", stream)
        print_wrapped("truebleu: warning: " + "the text looks tokenized " * 3)
        assert len(stream.getvalue().splitlines()) == count
