"""The command line scores files, says clearly what is wrong, and never prints a traceback."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from array import array
from collections.abc import Callable
from pathlib import Path

import pytest

import truebleu

REFERENCE = [
    "The cat sat on the mat.",
    "It's 5,000.50 dollars -- or more.",
    "Nobody was surprised.",
]
GOOD = ["The cat sat on a mat.", "It's 5,000.50 dollars or more.", "No one was surprised."]
BAD = ["cat on mat sat there.", "It is 5000 dollar.", "surprise for nobody"]


def scores(result) -> list[dict]:
    """The scores that JSON has, whatever their number."""
    content = json.loads(result.output)
    assert content["truebleu_score"] == 1
    return content["scores"]


posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")


@pytest.fixture
def files(write, monkeypatch, tmp_path):
    """A folder, made the current one, with a reference, another and the outputs of two systems."""
    monkeypatch.chdir(tmp_path)
    write("ref", REFERENCE)
    write("ref2", GOOD[::-1])
    write("good", GOOD)
    write("bad", BAD)
    write("table.tsv", ["\t".join(row) for row in zip("123", REFERENCE, GOOD, strict=True)])
    write("refs.tsv", ["\t".join(row) for row in zip(REFERENCE, GOOD[::-1], strict=True)])
    return tmp_path


# What sacreBLEU's command prints, truebleu's prints.


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["-lc"],
        ["-tok", "intl"],
        ["--tokenize", "char"],
        ["-s", "none"],
        ["-s", "floor"],
        ["--smooth-method", "floor", "--smooth-value", "0.5"],
        ["-s", "add-k", "-sv", "2"],
    ],
    ids=" ".join,
)
def test_options_mean_what_sacrebleus_mean(files, truebleu_command, options):
    arguments = ["ref", "ref2", "-i", "bad", *options, "-w", "9"]
    theirs = subprocess.run(
        [sys.executable, "-m", "sacrebleu", *arguments, "-f", "text"],
        capture_output=True,
        text=True,
        check=True,
    )
    own = truebleu_command("score", *arguments, "-f", "text")
    assert own.status == 0, own
    by = f"|by:truebleu-{truebleu.__version__}"
    assert own.output.replace(by, "") == theirs.stdout


def test_segments_print_what_sacrebleu_prints_for_sentences(files, truebleu_command):
    """Its option -sl; effective order is on, as the signature says."""
    theirs = subprocess.run(
        [sys.executable, "-m", "sacrebleu", "ref", "ref2", "-i", "bad", "-sl", "-w", "9"],
        capture_output=True,
        text=True,
        check=True,
    )
    own = truebleu_command("segments", "ref", "ref2", "-i", "bad", "-f", "text", "-w", "9")
    assert own.output.replace(f"|by:truebleu-{truebleu.__version__}", "") == theirs.stdout


def test_short_signature(files, truebleu_command):
    own = truebleu_command("score", "ref", "-i", "good", "-f", "text", "-sh")
    assert "BLEU|#:1|c:mixed|e:no|tok:13a|s:exp|v:2.6.0" in own.output


def test_score_only(files, truebleu_command):
    value = truebleu.bleu(GOOD, REFERENCE).value
    own = truebleu_command("score", "ref", "-i", "good", "-b", "-w", "3", "-f", "text")
    assert own.output == f"{value:.3f}\n"


def test_json_in_a_pipe_with_every_digit(files, truebleu_command):
    score = truebleu.bleu(GOOD, REFERENCE)
    for arguments in ([], ["-f", "json"]):
        own = truebleu_command("score", "ref", "-i", "good", *arguments)
        assert (own.status, own.error) == (0, "")
        (content,) = scores(own)
        assert list(content)[:11] == [
            *("system", "name", "score", "signature", "verbose_score", "nrefs"),
            *("case", "eff", "tok", "smooth", "version"),
        ]
        assert content["score"] == score.value
        assert content["signature"] == str(score.signature)


def test_own_options(files, truebleu_command):
    own = truebleu_command(
        *["score", "ref", "-i", "good", "--effective-order", "--max-order", "2"],
        *["--weights", "0.25", "0.75", "--threads", "2"],
    )
    assert own.status == 0, own
    metric = truebleu.BLEU(effective_order=True, max_order=2, weights=(0.25, 0.75))
    score = metric.score(GOOD, REFERENCE)
    assert scores(own)[0]["score"] == score.value
    assert scores(own)[0]["signature"] == str(score.signature)


def test_several_systems(files, truebleu_command):
    own = truebleu_command("score", "ref", "-i", "good", "bad", "-f", "json")
    rows = scores(own)
    assert [row["system"] for row in rows] == ["good", "bad"]
    assert [row["score"] for row in rows] == [
        truebleu.bleu(GOOD, REFERENCE).value,
        truebleu.bleu(BAD, REFERENCE).value,
    ]


@pytest.mark.parametrize("form", ["text", "tsv", "latex", "markdown"])
def test_tables(files, truebleu_command, form):
    own = truebleu_command("score", "ref", "-i", "good", "bad", "-f", form, "-w", "2")
    assert own.status == 0, own
    for system, lines in {"good": GOOD, "bad": BAD}.items():
        value = f"{truebleu.bleu(lines, REFERENCE).value:.2f}"
        assert any(system in line and value in line for line in own.output.splitlines())
    mark = {"text": "good", "tsv": "\t", "latex": r"\begin{tabular}", "markdown": "|"}[form]
    assert mark in own.output
    assert "\x1b" not in own.output, "no colours in a pipe"


def test_names_that_mean_something_to_latex_and_markdown(files, truebleu_command):
    shutil.copy("good", "a_b&c%")
    own = truebleu_command("score", "ref", "-i", "a_b&c%", "bad", "-f", "latex")
    assert r"a\_b\&c\%" in own.output


@posix
def test_text_on_a_terminal(files):
    import pty

    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "truebleu", "score", "ref", "-i", "good"]
    subprocess.run(command, stdout=follower, check=True, env=os.environ | {"COLUMNS": "250"})
    os.close(follower)
    shown = os.read(leader, 100_000).decode()
    os.close(leader)
    assert shown.startswith("BLEU|nrefs:1|")
    assert f"{truebleu.bleu(GOOD, REFERENCE).value:.1f}" in shown


# Where output goes.


def test_output_to_a_file_whose_name_says_the_format(files, truebleu_command):
    for name, form in {"out.json": "json", "out.tsv": "tsv", "out.tex": "latex"}.items():
        expected = truebleu_command("score", "ref", "-i", "good", "-f", form)
        own = truebleu_command("score", "ref", "-i", "good", "-o", name)
        assert (own.status, own.output, own.error) == (0, "", "")
        assert (files / name).read_text(encoding="utf-8") == expected.output


@posix
@pytest.mark.parametrize("name", ["out.tsv", "out.json", "out.parquet"])
def test_output_is_written_whole_or_not_at_all(files, write, truebleu_command, name):
    """A file that may not grow beyond some kilobytes stays as it was."""
    import resource

    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    write("long", GOOD * 1000)
    (files / name).write_text("as it was")
    before = sorted(files.iterdir())
    # Python would cut its own .pyc files at the limit, and later runs would fail on them.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    own = truebleu_command(
        "segments", "long", "-i", "long", "-o", name, preexec_fn=limit, env=environment
    )
    assert own.status == 1, own
    assert name in own.error
    assert (files / name).read_text() == "as it was"
    assert sorted(files.iterdir()) == before


# Where text comes from.


def test_standard_input(files, truebleu_command):
    expected = truebleu_command("score", "ref", "-i", "good")
    text = (files / "good").read_bytes()
    for arguments in (["-i", "-"], []):
        own = truebleu_command("score", "ref", *arguments, input=text).output
        assert own == expected.output.replace('"good"', '"standard input"')
    text = (files / "ref").read_bytes()
    assert truebleu_command("score", "-", "-i", "good", input=text).output == expected.output


@posix
def test_named_pipes(files, truebleu_command):
    """A pipe can be read once, even where several systems are scored and compared."""
    os.mkfifo("pipe")
    for systems in (["pipe"], ["pipe", "bad"], ["bad", "pipe"]):
        content = (files / "good").read_bytes()
        write = (files / "pipe").write_bytes
        threading.Thread(target=write, args=[content], daemon=True).start()
        own = truebleu_command("score", "ref", "-i", *systems, "-f", "tsv", timeout=20)
        assert own.status == 0, own
        assert f"\t{truebleu.bleu(GOOD, REFERENCE).value!r}\t" in own.output


@posix
def test_process_substitution(files, truebleu_command):
    expected = truebleu_command("score", "ref", "-i", "good", "-b")
    script = f"{sys.executable} -m truebleu score <(cat ref) -i <(cat good) -b"
    own = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert own.stdout == expected.output


def test_columns(files, truebleu_command):
    expected = truebleu_command("score", "ref", "-i", "good")
    own = truebleu_command("score", "table.tsv#2", "-i", "table.tsv#3")
    assert scores(own)[0]["score"] == scores(expected)[0]["score"]


def test_references_side_by_side_in_one_file(files, write, truebleu_command):
    expected = truebleu_command("score", "ref", "ref2", "-i", "bad")
    assert truebleu_command("score", "refs.tsv", "-nr", "2", "-i", "bad").output == expected.output
    # A row may have fewer, as JSON lines and Python take it.
    one = truebleu_command("score", "ref", "-nr", "2", "-i", "bad")
    assert scores(one)[0]["score"] == truebleu.bleu(BAD, REFERENCE).value
    mixed = write("mixed.tsv", [f"{REFERENCE[0]}\t{GOOD[2]}", *REFERENCE[1:]])
    own = truebleu_command("score", mixed, "-nr", "2", "-i", "bad")
    references = [(REFERENCE[0], GOOD[2]), *((text,) for text in REFERENCE[1:])]
    assert scores(own)[0]["score"] == truebleu.bleu(BAD, references).value
    assert scores(own)[0]["nrefs"] == "var"


def test_encoding(write, truebleu_command, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    write("latin", ["Où est le café ?"] * 3, "latin-1")
    own = truebleu_command("score", "latin", "-i", "latin", "-e", "latin-1", "-b", "-f", "text")
    assert (own.status, own.output) == (0, "100.0\n")


# One row per segment.


def test_segments_as_tsv(files, truebleu_command):
    own = truebleu_command("segments", "ref", "-i", "good", "-f", "tsv")
    header, *rows = csv.reader(own.output.splitlines(), delimiter="\t")
    values = [float(dict(zip(header, row, strict=True))["BLEU"]) for row in rows]
    assert values == truebleu.BLEU().segments(GOOD, REFERENCE).tolist()


def test_segments_as_parquet(files, truebleu_command):
    parquet = pytest.importorskip("pyarrow.parquet")
    with (files / "out.parquet").open("wb") as out:
        own = truebleu_command("segments", "ref", "-i", "good", "-f", "parquet", stdout=out)
    assert own.status == 0, own
    rows = parquet.read_table(files / "out.parquet").to_pylist()
    assert [row["BLEU"] for row in rows] == truebleu.BLEU().segments(GOOD, REFERENCE).tolist()


# Warnings: the score stands, and standard error says what looks wrong.


@pytest.mark.parametrize(
    ("hypotheses", "references", "words"),
    [
        (["The cat sat ."] * 120, ["The cat sat down."] * 120, ["tokenized"]),
        (["\ufeffThe cat sat.", "a"], ["The cat sat.", "b"], ["byte-order mark", "hyp"]),
        (["The cat sat.", "a"], ["The cat sat.", "a"], ["identical", "reference"]),
    ],
    ids=["tokenized", "byte-order mark", "identical"],
)
def test_warnings(write, truebleu_command, hypotheses, references, words):
    hyp, ref = write("hyp", hypotheses), write("ref", references)
    own = truebleu_command("score", ref, "-i", hyp)
    assert own.status == 0, own
    assert scores(own)[0]["score"] == truebleu.bleu(hypotheses, references).value
    assert "warning" in own.error
    assert all(word in own.error for word in words), own


def test_quiet(files, write, truebleu_command):
    own = truebleu_command("score", "ref", "-i", "ref", "--quiet")
    assert (own.status, own.error) == (0, "")


def test_identical_systems_are_noticed(files, truebleu_command):
    shutil.copy("good", "again")
    own = truebleu_command("score", "ref", "-i", "good", "again")
    assert own.status == 0
    assert "good" in own.error
    assert "again" in own.error


# Errors: one message, on standard error, with the right status.


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["score", "ref", "-i", "missing"], 1, ["missing"]),
        (["score", "missing", "-i", "good"], 1, ["missing"]),
        (["score", ".", "-i", "good"], 1, ["directory"]),
        (["score", "ref", "-i", "short"], 1, ["short", "2", "ref", "3"]),
        (["score", "empty", "-i", "empty"], 1, ["empty"]),
        (["score", "ref", "-i", "latin"], 1, ["latin", "line 2", "--encoding"]),
        (["score", "table.tsv#7", "-i", "good"], 1, ["table.tsv", "7"]),
        (["score", "ref", "-i", "good", "-tok", "intll"], 2, ["intll", "intl"]),
        (["score", "ref", "-i", "good", "-s", "flor"], 2, ["flor", "floor"]),
        (["score", "ref", "-i", "good", "-s", "exp", "-sv", "1"], 2, ["exp"]),
        (["score", "ref", "-i", "good", "-w", "-1"], 2, ["-1"]),
        (["score", "ref", "-i", "good", "--max-order", "99"], 2, ["16"]),
        (["score", "ref", "-i", "good", "--threads", "-1"], 2, ["-1"]),
        (["score", "ref", "-i", "good", "-m", "cider"], 2, ["cider", "bleu"]),
        (["score", "ref", "-i", "good", "--weights", "1", "nan"], 2, ["weights", "nan"]),
        (["score", "ref", "-i", "good", "-o", "nowhere/out"], 1, ["nowhere"]),
        (["score", "ref", "-i", "good", "-o", "ref"], 2, ["ref"]),
        (["score", "ref", "-i", "good", "--tokenise", "13a"], 2, ["--tokenise", "--tokenize"]),
        (["score", "ref", "-i", "good", "-f", "xml"], 2, ["xml", "latex"]),
        (["scores", "ref", "-i", "good"], 2, ["scores", "score"]),
        (["score", "ref", "ref2", "-nr", "2", "-i", "good"], 2, ["-nr"]),
        (["score", "-", "-i", "-"], 2, ["standard input"]),
        (["score", "ref", "-i", "good", "-e", "utf-9"], 2, ["utf-9"]),
        (["score"], 2, ["REF"]),
        (["family"], 2, ["ACTION"]),
        (["testset", "-q"], 2, ["ACTION"]),
        (["history", "-q"], 2, ["FILE"]),
        (["completion"], 2, ["SHELL"]),
        (["--frobnicate"], 2, ["--frobnicate"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_errors(files, write, truebleu_command, arguments, status, words):
    write("short", GOOD[:2])
    write("empty", [])
    write("latin", ["a b", "café", "c d"], "latin-1")
    own = truebleu_command(*arguments)
    assert own.status == status, own
    assert own.output == ""
    assert "truebleu" in own.error
    assert "error: " in own.error
    assert "Traceback" not in own.error
    assert all(word in own.error for word in words), own


def test_where_bytes_are_not_utf8(files, truebleu_command):
    (files / "latin").write_bytes(b"a b\nc\xe9 d\n")
    own = truebleu_command("score", "ref", "-i", "latin")
    assert own.status == 1
    for word in ("latin", "line 2", "0xe9", "offset 5", "--encoding"):
        assert word in own.error


# Output that cannot be written.


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "command",
    [
        "truebleu score ref -i good -f json",
        "truebleu score ref -i good -f text",
        "truebleu segments ref -i good -f tsv",
        "truebleu compare ref -i good bad -f latex",
        "truebleu matrix ref -i good -o /dev/stdout",
        "truebleu report ref -i good -o -",
        "truebleu explain ref -i good --segment 1",
        "truebleu family list",
        "truebleu completion bash",
        "truebleu help",
        "truebleu --version",
        "truebleu",
        "truebleu.compat.sacrebleu ref -i good",
    ],
)
def test_full_output_device_gives_status_1(files, command, unbuffered):
    """Python's own status is 120 if its buffer is still full when it ends."""
    module, *words = command.split()
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", module, *words],
            check=False,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )
    assert done.returncode == 1, done.stderr
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@posix
def test_a_pipe_that_closes_early(files, write, truebleu_command):
    write("long", GOOD * 20_000)
    script = f"{sys.executable} -m truebleu segments long -i long | head -n 1"
    own = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert own.stdout.startswith('{"truebleu_segments": 1, "segment": 1')
    assert "Traceback" not in own.stderr
    assert "Exception ignored" not in own.stderr


def test_an_unknown_instruction_set(files, truebleu_command):
    environment = os.environ | {"TRUEBLEU_SIMD": "mmx"}
    own = truebleu_command("score", "ref", "-i", "good", env=environment)
    assert own.status in (1, 2), own
    assert "mmx" in own.error
    assert "scalar" in own.error
    assert "Traceback" not in own.error


@posix
@pytest.mark.parametrize("command", ["score", "segments"])
def test_closed_pipe(files, truebleu_command, command):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        own = truebleu_command(command, "ref", "-i", "good", stdout=pipe)
    assert own.status != 0, own
    assert "Traceback" not in own.error
    assert "Exception ignored" not in own.error


# Ctrl-C, in the middle of work that would take many minutes.


def interrupted(
    process: subprocess.Popen, begun: Callable[[], bool], number: int = signal.SIGINT
) -> tuple[int, str]:
    """Status and standard error of a process that gets a signal when it has begun."""
    try:
        while not begun():
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.02)
        time.sleep(0.3)  # into the work
        process.send_signal(number)
        _, error = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, error


def started(*command, **options) -> subprocess.Popen:
    pipe = subprocess.PIPE
    if os.name == "posix":
        # Under nohup SIGHUP is ignored, here and in every process that is started from here.
        options["preexec_fn"] = lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL)
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, **options)


linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux's /proc tells what is open")


@linux
@pytest.mark.parametrize("threads", ["1", "2"])
def test_ctrl_c_in_a_long_run(tmp_path, threads):
    path = tmp_path / "long"
    path.write_bytes((b"the cat sat on the mat and " * 1000 + b"\n") * 1000)
    options = ["--threads", threads, "--max-order", "16"]
    options += ["--names", ",".join(map(str, range(900)))]  # so that the file counts as often
    command = [sys.executable, "-m", "truebleu", "score", path, "-i", *[path] * 900, *options]
    process = started(*command)
    files = Path(f"/proc/{process.pid}/fd")
    status, error = interrupted(process, lambda: path in map(Path.resolve, files.iterdir()))
    assert status in (130, -signal.SIGINT)
    assert "Traceback" not in error


@linux
def test_ctrl_c_while_waiting_for_standard_input(files):
    import fcntl
    import termios

    process = started(sys.executable, "-m", "truebleu", "score", "ref", "-i", "-")
    process.stdin.write("A cat\n")
    process.stdin.flush()

    def taken() -> bool:
        waiting = array("i", [0])
        fcntl.ioctl(process.stdin, termios.FIONREAD, waiting)
        return waiting[0] == 0

    status, error = interrupted(process, taken)
    assert status in (130, -signal.SIGINT)
    assert "Traceback" not in error


@posix
@pytest.mark.parametrize(
    "command",
    [
        ("matrix", "-", "-m", "ter", "-o", "half.npy"),
        ("matrix", "-", "-m", "chrf", "--top-k", "3", "-o", "half.json"),
        ("report", "one", "-i", "-", "-m", "ter", "-o", "half.html"),
    ],
    ids=" ".join,
)
def test_ctrl_c_leaves_no_half_of_a_page_or_matrix(write, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    texts = [" ".join(str(i * k % 997) for k in range(150)) for i in range(10_000)]
    write("one", texts[::-1])
    there = sorted(tmp_path.iterdir())
    process = started(sys.executable, "-m", "truebleu", *command)
    # All but the last lines have been read when all of them are written.
    process.stdin.write("\n".join([*texts, ""]))
    process.stdin.close()
    process.stdin = None
    status, error = interrupted(process, lambda: True)
    assert status in (130, -signal.SIGINT), error
    assert "Traceback" not in error
    assert sorted(tmp_path.iterdir()) == there


SIGNALS = [signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", None)]
# Commands that have a temporary file, or a folder with one, when they have begun.
WITH_TEMPORARY = {
    "output": ("score", "ref", "-i", "-", "-o", "out.json"),
    "rows": ("segments", "ref", "-i", "-", "-o", "out.tsv", "--threads", "2"),
    "program": ("score", "ref", "-i", "ref", "-m", "command:m=sh -c 'sleep 60' {hyp}"),
}


@posix
@pytest.mark.parametrize("command", WITH_TEMPORARY)
@pytest.mark.parametrize("number", SIGNALS)
def test_signal_leaves_no_temporary_file(files, number, command):
    folder = files / "temporary"
    folder.mkdir()
    environment = {**os.environ, "TMPDIR": str(folder), "TRUEBLEU_CACHE": str(files / "cache")}
    there = sorted(files.rglob("*"))
    words = (sys.executable, "-m", "truebleu", *WITH_TEMPORARY[command])
    process = started(*words, env=environment)
    status, error = interrupted(process, lambda: sorted(files.rglob("*")) != there, number)
    assert (status, error) == (-number, "")
    assert sorted(files.rglob("*")) == there


@pytest.mark.thorough
@posix
@pytest.mark.parametrize("module", ["truebleu", "truebleu.compat.sacrebleu"])
@pytest.mark.parametrize("number", SIGNALS)
def test_signal_that_a_shell_ignores_stays_ignored(files, number, module):
    words = ["score", "ref", "-i", "-"] if module == "truebleu" else ["ref"]
    ignore = f"import signal, os, sys; signal.signal({int(number)}, signal.SIG_IGN); "
    ignore += "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    process = started(sys.executable, "-c", ignore, "-m", module, *words)
    time.sleep(1.5)  # as long as it takes to begin
    process.send_signal(number)
    time.sleep(0.3)
    output, error = process.communicate("".join(f"{line}\n" for line in GOOD), timeout=60)
    assert (process.returncode, error) == (0, "")
    assert "BLEU" in output


@posix
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_in_python_is_a_keyboard_interrupt(workers):
    script = (
        "import sys, truebleu\n"
        "texts = ['the cat sat on the mat and ' * 1000] * 5_000_000\n"
        "try:\n"
        "    print('begun', flush=True)\n"
        f"    truebleu.bleu(texts, texts, workers={workers})\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(7)\n"
    )
    process = started(sys.executable, "-c", script)
    status, error = interrupted(process, lambda: process.stdout.readline() == "begun\n")
    assert status == 7, error


# Help.


@pytest.mark.parametrize("arguments", [["--help"], ["score", "--help"], ["segments", "--help"]])
def test_help_shows_examples(truebleu_command, arguments):
    own = truebleu_command(*arguments)
    assert (own.status, own.error) == (0, "")
    assert "truebleu score " in own.output or "truebleu segments " in own.output
    assert "example" in own.output.lower()


def test_version_and_citation(truebleu_command):
    assert truebleu_command("--version").output.split() == ["truebleu", truebleu.__version__]
    citation = truebleu_command("--citation").output
    assert "Papineni" in citation
    assert "Post" in citation


def test_the_console_script_is_the_module(files, truebleu_command):
    script = shutil.which("truebleu", path=Path(sys.executable).parent)
    if script is None:
        pytest.skip("not installed with its console script")
    own = subprocess.run([script, "score", "ref", "-i", "good"], capture_output=True, check=True)
    assert own.stdout.decode() == truebleu_command("score", "ref", "-i", "good").output
