"""Tests of metrics that run a program: its files, its numbers and its failures."""

import json
import os
import shlex
import sys
import time
from pathlib import Path

import pytest
from paths import EXAMPLES

import truebleu as tb
from truebleu.cli import main
from truebleu.metrics import score_cache
from truebleu.metrics.base import MetricFailedError
from truebleu.metrics.command_metric import Command

GERMAN = EXAMPLES / "de-en"
FILES = [
    str(GERMAN / "reference.a.en"),
    "-i",
    *(str(GERMAN / f"{n}.en") for n in ("aspen", "birch")),
]
SEGMENTS = 128

# Number of hypothesis words minus number of reference words.
LENGTHS = """
import sys
hyp, ref = (open(name, encoding="utf-8").read().splitlines() for name in sys.argv[1:3])
for h, r in zip(hyp, ref, strict=True):
    print(len(h.split()) - len(r.split()))
"""


@pytest.fixture(autouse=True)
def _temporary_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRUEBLEU_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(score_cache, "is_enabled", True)


@pytest.fixture
def program(tmp_path):
    """Return a function that saves source code and returns its command."""

    def make(source, *words):
        path = tmp_path / "program.py"
        path.write_text(source, encoding="utf-8")
        return shlex.join([sys.executable, str(path), *(words or ("{hyp}", "{ref}"))])

    return make


def test_one_number_per_segment(program):
    metric = Command("length", program(LENGTHS))
    score = metric.score(["a b c", "d"], ["a", "b c d"])
    assert (score.name, score.value) == ("length", 0.0)
    assert list(metric.segments(["a b c", "d"], ["a", "b c d"])) == [2.0, -2.0]
    assert metric.sentence("a b", "c").value == 1.0


def test_files_have_one_line_per_segment(program):
    """Line ends inside a segment become spaces, and each reference has one file."""
    source = """
import sys
texts = [open(name, encoding="utf-8", newline="").read().split("\\n")[:-1] for name in sys.argv[1:]]
assert texts == [["a b", "ü"], ["s", "t"], ["r", "q"], ["p", ""]], texts
print("1\\n2.5")
"""
    metric = Command("X", program(source, "{hyp}", "{src}", "{refs}"))
    scores = metric.segments(["a\n\rb", "ü"], [("r", "p"), "q"], ["s", "t"])
    assert list(scores) == [1.0, 2.5]


def test_several_references_need_refs_placeholder(program):
    with pytest.raises(MetricFailedError, match=r"segment 2 has several references.*\{refs\}"):
        Command("X", program(LENGTHS)).score(["a", "b"], ["a", ("b", "c")])


def test_missing_sources_raise_error(program):
    metric = Command("X", program(LENGTHS, "{hyp}", "{src}"))
    assert metric.NEEDS_SOURCE
    with pytest.raises(tb.InputError, match="needs the source"):
        metric.score(["a"], ["b"])


def test_segment_scores_equal_printed_numbers(program):
    """Segment scores equal the printed numbers exactly."""
    numbers = [0.1, -1 / 3, 1e-7, 123.456789012345, 5e-324, -8000.0, 0.0]
    source = f"for number in {numbers!r}: print(repr(number))"
    scores = Command("X", program(source, "{hyp}")).segments(["a"] * 7, ["b"] * 7)
    # Below 2^-28 the last bits may be lost.
    assert list(scores)[:4] == numbers[:4]
    assert list(scores)[4:] == [0.0, -8000.0, 0.0]


def test_result_equals_external_scores(program):
    """Means, intervals and tests equal the results for the same numbers from a file."""
    systems = {n: (GERMAN / f"{n}.en").read_text("utf-8").splitlines() for n in ("aspen", "birch")}
    references = (GERMAN / "reference.a.en").read_text("utf-8").splitlines()
    metric = Command("length", program(LENGTHS), lower_is_better=True)
    numbers = {name: list(metric.segments(text, references)) for name, text in systems.items()}
    scores = {"scores": {"length": numbers}, "lower_is_better": ["length"]}
    computed = tb.compare(systems, references, metrics=[metric]).to_dict()
    external = tb.compare(None, None, metrics=(), **scores).to_dict()
    assert computed["pairs"] == external["pairs"]
    computed_intervals, external_intervals = (
        [row["scores"]["length"]["interval"] for row in content["systems"]]
        for content in (computed, external)
    )
    assert computed_intervals == external_intervals
    assert computed["metrics"][0]["higher_is_better"] is False


# ---- failures ----

FAILURES = {
    "too few": ("print(1)", "1 number for 3 segments; segment 2 has none"),
    "nothing": ("", "0 numbers for 3 segments; segment 1 has none"),
    "too many": ("print('1\\n2\\n3\\n4')", "4 lines for 3 segments; the first extra line is '4'"),
    "NaN": ("print('1\\nnan\\n3')", "segment 2: expected a number, but the program printed 'nan'"),
    "infinite": (
        "print('1\\n2\\n-inf')",
        "segment 3: expected a number, but the program printed '",
    ),
    "huge": ("print('1e300\\n2\\n3')", "segment 1 is 1e+300; expected a finite number below 8,192"),
    "text": (
        "print('1\\n2\\nworse')",
        "segment 3: expected a number, but the program printed 'wor",
    ),
    "blank": ("print('1\\n\\n3')", "segment 2: expected a number, but the program printed ''"),
    "not UTF-8": (
        "import sys; sys.stdout.buffer.write(b'1\\n\\xff\\n3')",
        "segment 2: expected a number, but the program printed '\ufffd'",
    ),
    "status": ("import sys; print(1); sys.exit('no model: x')", "ended with status 1: no model: x"),
    "signal": ("import os; os.kill(os.getpid(), 9)", "ended with signal 9"),
}


@pytest.mark.parametrize("kind", FAILURES)
def test_failing_program_raises_error(kind, program, tmp_path):
    source, message = FAILURES[kind]
    metric = Command("X", program(source, "{hyp}"))
    with pytest.raises(MetricFailedError) as caught:
        metric.score(["a", "b", "c"], ["a", "b", "c"])
    assert message in str(caught.value)
    assert str(caught.value).startswith("X: ")
    assert not list((tmp_path / "cache").rglob("*.f64"))


def test_missing_program_raises_error():
    with pytest.raises(MetricFailedError, match="X: cannot run /no/such: No such file"):
        Command("X", "/no/such {hyp}").score(["a"], ["a"])


def test_hanging_program_and_children_are_killed(program, tmp_path):
    source = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open({str(tmp_path / "child")!r}, "w").write(str(child.pid))
child.wait()
"""
    message = r"exceeded the timeout of 3 seconds. Increase it with --command-timeout"
    with pytest.raises(MetricFailedError, match=message):
        Command("X", program(source, "{hyp}"), timeout=3).score(["a"], ["a"])
    child = int((tmp_path / "child").read_text())
    for _ in range(200):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return  # zombie: ended, but its parent has not read the status
        time.sleep(0.05)
    pytest.fail("the child still runs")


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("command:X", "expected command:NAME='PROGRAM {hyp} {ref}'"),
        ("command:=p {hyp}", "expected command:NAME="),
        ("command:X=p", "the program needs the placeholder {hyp}"),
        ("command:X=p 'open {hyp}", "No closing quotation"),
    ],
)
def test_invalid_name_gives_error_message(word, message, capsys):
    assert main(["score", *FILES, "-m", word]) == 2
    assert message in capsys.readouterr().err


# ---- other metrics after a failure ----


def failing_program(program):
    """Return a command that only fails on the second system."""
    path = GERMAN / "birch.en"
    source = f"""
import sys
text = open(sys.argv[1], encoding="utf-8").read()
if text == open({str(path)!r}, encoding="utf-8").read():
    sys.exit("out of memory")
for line in text.splitlines(): print(1)
"""
    return f"command:X={program(source, '{hyp}')}"


@pytest.mark.parametrize("command", ["score", "segments", "compare"])
def test_other_metrics_succeed_if_program_fails(command, program, capsys):
    assert main([command, *FILES, "-m", "bleu", "-f", "json"]) == 0
    separate_result = json.loads(capsys.readouterr().out)
    assert main([command, *FILES, "-m", "bleu", failing_program(program), "-f", "json"]) == 1
    captured = capsys.readouterr()
    joint_result = json.loads(captured.out)
    notes = joint_result.pop("notes", [])
    if command == "compare":
        assert [note["text"] for note in notes if note["kind"] == "failed"] == [
            f"X is left out: birch: X: {sys.executable} ended with status 1: out of memory"
        ]
        separate_result.pop("notes")
    assert joint_result == separate_result
    assert captured.err.count("\n") == 1
    assert "out of memory" in captured.err


def test_report_succeeds_if_program_fails(program, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["report", *FILES, "-m", "bleu", failing_program(program), "-o", str(page)]) == 1
    assert "out of memory" in capsys.readouterr().err
    assert page.read_text("utf-8").rstrip().endswith("</html>")


@pytest.mark.parametrize("command", ["score", "segments", "compare"])
def test_failing_only_metric_writes_no_file(command, program, tmp_path, capsys):
    file = tmp_path / "out.json"
    assert main([command, *FILES, "-m", failing_program(program), "-o", str(file)]) == 1
    assert not file.exists()
    assert "error: birch: X: " in capsys.readouterr().err


def test_compare_warns_of_failed_metric(program):
    systems = {"aspen": GERMAN / "aspen.en", "birch": GERMAN / "birch.en"}
    reference, name = GERMAN / "reference.a.en", failing_program(program)
    with pytest.warns(UserWarning, match="X is left out: birch: .*out of memory"):
        comparison = tb.compare(systems, reference, metrics=["bleu", name]).to_dict()
    assert [metric["name"] for metric in comparison["metrics"]] == ["BLEU"]
    with pytest.raises(MetricFailedError, match="out of memory"):
        tb.compare(systems, reference, metrics=[name])


# ---- the cache ----


def counting_program(tmp_path):
    """Return a slow command that counts its calls."""
    return f"""
import sys, time
with open({str(tmp_path / "calls")!r}, "a") as file: file.write("x")
for line in open(sys.argv[1]): time.sleep(0.003); print(len(line))
"""


def count_calls(tmp_path):
    path = tmp_path / "calls"
    return len(path.read_text()) if path.exists() else 0


def test_slow_scores_are_cached_by_content(program, tmp_path, monkeypatch):
    metric = Command("X", program(counting_program(tmp_path), "{hyp}"))
    first = metric.score(["a", "bc"], ["a", "b"])
    assert metric.score(["a", "bc"], ["a", "b"]) == first
    assert count_calls(tmp_path) == 1
    metric.score(["a", "bd"], ["a", "b"])  # other text
    metric.score(["a", "bc"], [("a",), ("b", "")])  # other references
    assert count_calls(tmp_path) == 3
    (path, *_) = sorted((tmp_path / "cache" / "companions").iterdir())
    path.write_bytes(path.read_bytes()[:-1])  # a damaged file is ignored
    for text in ("bc", "bd"):
        metric.score(["a", text], ["a", "b"])
    metric.score(["a", "bc"], [("a",), ("b", "")])
    assert count_calls(tmp_path) == 4
    program(counting_program(tmp_path) + "\n# another program", "{hyp}")
    metric.score(["a", "bc"], ["a", "b"])
    assert count_calls(tmp_path) == 5
    monkeypatch.setenv("TRUEBLEU_NO_CACHE", "1")
    metric.score(["a", "bc"], ["a", "b"])
    assert count_calls(tmp_path) == 6


def test_fast_scores_are_not_cached(program, tmp_path, monkeypatch):
    monkeypatch.setattr(score_cache, "MIN_SECONDS_PER_SEGMENT", 1e9)
    metric = Command("X", program(counting_program(tmp_path), "{hyp}"))
    for _ in range(2):
        metric.score(["a"], ["b"])
    assert count_calls(tmp_path) == 2


def test_no_cache_option_disables_cache(program, tmp_path):
    name = f"command:X={program(counting_program(tmp_path), '{hyp}')}"
    for words, expected in (([], 2), ([], 2), (["--no-cache"], 4)):
        assert main(["score", *FILES, "-m", name, *words]) == 0
        assert count_calls(tmp_path) == expected


# ---- names and signatures ----


@pytest.mark.parametrize("words", ["p {hyp}", "a|b:c 'd e' {hyp} --x=ü%7C {src}"])
def test_signature_recreates_metric(words):
    metric = Command("My metric", words, lower_is_better=True)
    assert tb.metric(str(metric)) == metric
    assert tb.metric(str(metric.signature(2))) == metric
    assert metric.signature(2).short().startswith("#:2|m:command|")


def test_names_of_error_rates_imply_lower_is_better():
    assert tb.metric("command:TER=p {hyp}").lower_is_better
    assert not tb.metric("command:COMET=p {hyp}").lower_is_better
    assert tb.metric("command:X=p {hyp}", lower_is_better=True).lower_is_better
