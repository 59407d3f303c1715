"""The command line scores files, reports errors clearly, and never prints a traceback."""

import os
import re
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
from pseudo_terminal import run_on_terminal

import truebleu

REFERENCE = [
    "The cat sat on the mat.",
    "It's 5,000.50 dollars -- or more.",
    "Nobody was surprised.",
]
GOOD = ["The cat sat on a mat.", "It's 5,000.50 dollars or more.", "No one was surprised."]
BAD = ["cat on mat sat there.", "It is 5000 dollar.", "surprise for nobody"]


@pytest.fixture
def run_score(read_json):
    """Return a function that returns the entry of the only score in JSON output."""

    def run(*words, **options):
        content = read_json("score", *words, **options)
        assert content["truebleu_score"] == 1
        (entry,) = content["scores"]
        return entry

    return run


def run_sacrebleu(*words) -> str:
    """Return the output of sacreBLEU's command."""
    command = [sys.executable, "-m", "sacrebleu", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")


@pytest.fixture
def text_folder(write, monkeypatch, tmp_path):
    """Return the working directory, with two references and the outputs of two systems."""
    monkeypatch.chdir(tmp_path)
    write("ref", REFERENCE)
    write("ref2", GOOD[::-1])
    write("good", GOOD)
    write("bad", BAD)
    write("table.tsv", ["\t".join(row) for row in zip("123", REFERENCE, GOOD, strict=True)])
    write("refs.tsv", ["\t".join(row) for row in zip(REFERENCE, GOOD[::-1], strict=True)])
    return tmp_path


# Compatibility with sacreBLEU's command


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("score", []),
        ("score", ["-lc"]),
        ("score", ["-tok", "intl"]),
        ("score", ["--tokenize", "char"]),
        ("score", ["-s", "none"]),
        ("score", ["-s", "floor"]),
        ("score", ["--smooth-method", "floor", "--smooth-value", "0.5"]),
        ("score", ["-s", "add-k", "-sv", "2"]),
        ("segments", []),
    ],
)
def test_options_give_same_output_as_sacrebleu(text_folder, truebleu_command, command, options):
    """Like sacreBLEU's -sl, `segments` enables effective order, which the signature shows."""
    words = ["ref", "ref2", "-i", "bad", *options, "-w", "9"]
    sentence_level = ["-sl"] if command == "segments" else []
    expected = run_sacrebleu(*words, "-f", "text", *sentence_level)
    output = truebleu_command(command, *words, "-f", "sacrebleu").output
    assert output.replace(f"|by:truebleu-{truebleu.__version__}", "") == expected


def test_pipe_gets_json_with_full_precision(text_folder, run_score):
    expected = truebleu.bleu(GOOD, REFERENCE)
    for arguments in ([], ["-f", "json"]):
        content = run_score("ref", "-i", "good", *arguments)
        assert list(content)[:11] == [
            *("system", "name", "score", "signature", "verbose_score", "nrefs"),
            *("case", "eff", "tok", "smooth", "version"),
        ]
        assert content["score"] == expected.value
        assert content["signature"] == str(expected.signature)


def test_options_unknown_to_sacrebleu_reach_metric(text_folder, run_score):
    words = "ref -i good --effective-order --max-order 2 --weights 0.25 0.75 --threads 2"
    content = run_score(*words.split())
    metric = truebleu.BLEU(effective_order=True, max_order=2, weights=(0.25, 0.75))
    expected = metric.score(GOOD, REFERENCE)
    assert (content["score"], content["signature"]) == (expected.value, str(expected.signature))


@posix
def test_terminal_gets_text(text_folder):
    words = ("score", "ref", "-i", "good")
    _, terminal_output, _ = run_on_terminal(*words, environment={"COLUMNS": "250"})
    value = truebleu.bleu(GOOD, REFERENCE).value
    assert terminal_output.startswith(f"good has BLEU {value:.1f} on 3 segments.")
    assert "BLEU|nrefs:1|" in terminal_output


# Output


def test_file_suffix_selects_format(text_folder, truebleu_command):
    for name, form in {"out.json": "json", "out.tsv": "tsv", "out.tex": "latex"}.items():
        expected = truebleu_command("score", "ref", "-i", "good", "-f", form)
        result = truebleu_command("score", "ref", "-i", "good", "-o", name)
        assert (result.status, result.output, result.error) == (0, "", "")
        assert (text_folder / name).read_text(encoding="utf-8") == expected.output


@posix
@pytest.mark.parametrize("name", ["out.tsv", "out.json", "out.parquet"])
def test_failed_write_keeps_old_file(text_folder, write, truebleu_command, name):
    """Simulate a full disk with a limit on file sizes."""
    import resource

    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")

    def set_file_size_limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    write("long", GOOD * 1000)
    (text_folder / name).write_text("as it was")
    before = sorted(text_folder.iterdir())
    # Python would truncate its .pyc files at the limit, and later runs would fail on them.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    words = ("segments", "long", "-i", "long", "-o", name)
    result = truebleu_command(*words, preexec_fn=set_file_size_limit, env=environment)
    assert result.status == 1, result
    assert name in result.error
    assert (text_folder / name).read_text() == "as it was"
    assert sorted(text_folder.iterdir()) == before


# Input


def test_standard_input_can_be_hypothesis_or_reference(text_folder, truebleu_command):
    expected = truebleu_command("score", "ref", "-i", "good")
    text = (text_folder / "good").read_bytes()
    for arguments in (["-i", "-"], []):
        result = truebleu_command("score", "ref", *arguments, input=text).output
        assert result == expected.output.replace('"good"', '"standard input"')
    text = (text_folder / "ref").read_bytes()
    assert truebleu_command("score", "-", "-i", "good", input=text).output == expected.output


@posix
def test_named_pipes_are_read_once(text_folder, truebleu_command):
    """Commands with several systems also read each pipe only once."""
    os.mkfifo("pipe")
    for systems in (["pipe"], ["pipe", "bad"], ["bad", "pipe"]):
        content = (text_folder / "good").read_bytes()
        write = (text_folder / "pipe").write_bytes
        threading.Thread(target=write, args=[content], daemon=True).start()
        result = truebleu_command("score", "ref", "-i", *systems, "-f", "tsv", timeout=20)
        assert result.status == 0, result
        assert f"\t{truebleu.bleu(GOOD, REFERENCE).value!r}\t" in result.output


@posix
def test_process_substitution_is_read(text_folder, truebleu_command):
    expected = truebleu_command("score", "ref", "-i", "good", "-b")
    script = f"{sys.executable} -m truebleu score <(cat ref) -i <(cat good) -b"
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout == expected.output


def test_column_suffix_selects_column(text_folder, run_score):
    entry = run_score("table.tsv#2", "-i", "table.tsv#3")
    assert entry["score"] == truebleu.bleu(GOOD, REFERENCE).value


def test_num_refs_reads_reference_columns(text_folder, write, run_score):
    assert run_score("refs.tsv", "-nr", "2", "-i", "bad") == run_score("ref", "ref2", "-i", "bad")
    # Rows can have fewer references than N.
    entry = run_score("ref", "-nr", "2", "-i", "bad")
    assert entry["score"] == truebleu.bleu(BAD, REFERENCE).value
    mixed = write("mixed.tsv", [f"{REFERENCE[0]}\t{GOOD[2]}", *REFERENCE[1:]])
    entry = run_score(mixed, "-nr", "2", "-i", "bad")
    references = [(REFERENCE[0], GOOD[2]), *((text,) for text in REFERENCE[1:])]
    assert (entry["score"], entry["nrefs"]) == (truebleu.bleu(BAD, references).value, "var")


def test_encoding_option_is_used(write, run_score):
    latin = write("latin", ["Où est le café ?"] * 3, "latin-1")
    assert round(run_score(latin, "-i", latin, "-e", "latin-1")["score"]) == 100


# Segments


def test_segments_writes_parquet(text_folder, truebleu_command):
    parquet = pytest.importorskip("pyarrow.parquet")
    with (text_folder / "out.parquet").open("wb") as out:
        result = truebleu_command("segments", "ref", "-i", "good", "-f", "parquet", stdout=out)
    assert result.status == 0, result
    rows = parquet.read_table(text_folder / "out.parquet").to_pylist()
    assert [row["BLEU"] for row in rows] == truebleu.BLEU().segments(GOOD, REFERENCE).tolist()


# Errors


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ("score ref -i missing", 1, ["missing"]),
        ("score missing -i good", 1, ["missing"]),
        ("score . -i good", 1, ["in this folder"]),
        ("score ref -i short", 1, ["short", "2", "ref", "3"]),
        ("score empty -i empty", 1, ["empty"]),
        ("score ref -i latin", 1, ["latin", "line 2", "0xe9", "offset 7", "--encoding"]),
        ("score table.tsv#7 -i good", 1, ["table.tsv", "7"]),
        ("score ref -i good -tok intll", 2, ["intll", "intl"]),
        ("score ref -i good -s flor", 2, ["flor", "floor"]),
        ("score ref -i good -s exp -sv 1", 2, ["exp"]),
        ("score ref -i good -l xx", 2, ["xx"]),
        ("score ref -i good -w -1", 2, ["-1"]),
        ("score ref -i good --max-order 99", 2, ["16"]),
        ("score ref -i good --threads -1", 2, ["-1"]),
        ("score ref -i good -m spice", 2, ["spice", "bleu"]),
        ("score ref -i good --weights 1 nan", 2, ["weights", "nan"]),
        ("score ref -i good -o nowhere/out", 1, ["nowhere"]),
        ("score ref -i good -o ref", 2, ["ref"]),
        ("score ref -i good --tokenise 13a", 2, ["--tokenise", "--tokenize"]),
        ("score ref -i good -f xml", 2, ["xml", "latex"]),
        ("scores ref -i good", 2, ["scores", "score"]),
        ("score ref ref2 -nr 2 -i good", 2, ["-nr"]),
        ("score - -i -", 2, ["standard input"]),
        ("score ref -i good -e utf-9", 2, ["utf-9"]),
        ("score", 2, ["REF"]),
        ("family", 2, ["ACTION"]),
        ("testset -q", 2, ["ACTION"]),
        ("history -q", 2, ["FILE"]),
        ("completion", 2, ["SHELL"]),
        ("--frobnicate", 2, ["--frobnicate"]),
    ],
)
def test_error_is_one_line_with_status(text_folder, write, read_error, arguments, status, words):
    write("short", GOOD[:2])
    write("empty", [])
    write("latin", ["a b", "café", "c d"], "latin-1")
    message = read_error(status, *arguments.split())
    assert all(word in message for word in words), message


# Write errors


TRACEBACK = "Traceback|Exception ignored"


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
def test_full_output_device_gives_status_1(text_folder, command, unbuffered):
    """Python would exit with status 120 if it could not flush its buffer."""
    module, *words = command.split()
    with Path("/dev/full").open("wb") as full:
        environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        command = [sys.executable, "-m", module, *words]
        done = subprocess.run(
            command, check=False, stdout=full, stderr=subprocess.PIPE, text=True, env=environment
        )
    assert done.returncode == 1, done.stderr
    assert "No space left on device" in done.stderr
    assert not re.search(TRACEBACK, done.stderr)


@posix
def test_closed_pipe_does_not_hide_error(text_folder, write):
    write("long", GOOD * 20_000)
    script = f"{sys.executable} -m truebleu segments long -i long | head -n 1"
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.startswith('{"truebleu_segments": 1, "segment": 1')
    assert not re.search(TRACEBACK, result.stderr)


def test_unknown_instruction_set_gives_error(text_folder, read_error):
    environment = os.environ | {"TRUEBLEU_SIMD": "mmx"}
    message = read_error((1, 2), "score", "ref", "-i", "good", env=environment)
    assert re.search("mmx.*scalar", message)


@posix
@pytest.mark.parametrize("command", ["score", "segments"])
def test_closed_pipe_gives_status_141(text_folder, truebleu_command, command):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        result = truebleu_command(command, "ref", "-i", "good", stdout=pipe)
    assert result.status != 0, result
    assert not re.search(TRACEBACK, result.error)


# Signals


def interrupt_process(
    process: subprocess.Popen, begun: Callable[[], bool], number: int = signal.SIGINT
) -> tuple[int, str]:
    """Send a signal to a process once it has begun; return its status and standard error.

    There is no traceback in the standard error.
    """
    try:
        while not begun():
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.02)
        time.sleep(0.3)  # into the work
        process.send_signal(number)
        _, error = process.communicate(timeout=60)
    finally:
        process.kill()
    assert "Traceback" not in error
    return process.returncode, error


def start_process(*command, **options) -> subprocess.Popen:
    pipe = subprocess.PIPE
    if os.name == "posix":
        # Child processes inherit an ignored SIGHUP if the tests run under nohup.
        options["preexec_fn"] = lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL)
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, **options)


linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux's /proc tells what is open")


@linux
@pytest.mark.parametrize("threads", ["1", "2"])
def test_ctrl_c_stops_long_run(tmp_path, threads):
    path = tmp_path / "long"
    path.write_bytes((b"the cat sat on the mat and " * 1000 + b"\n") * 1000)
    options = ["--threads", threads, "--max-order", "16"]
    # A named file is used as often as it is named.
    systems = [f"{number}={path}" for number in range(900)]
    command = [sys.executable, "-m", "truebleu", "score", path, "-i", *systems, *options]
    process = start_process(*command)
    files = Path(f"/proc/{process.pid}/fd")
    status, _ = interrupt_process(process, lambda: path in map(Path.resolve, files.iterdir()))
    assert status in (130, -signal.SIGINT)


@linux
def test_ctrl_c_stops_waiting_for_standard_input(text_folder):
    import fcntl
    import termios

    process = start_process(sys.executable, "-m", "truebleu", "score", "ref", "-i", "-")
    process.stdin.write("A cat\n")
    process.stdin.flush()

    def is_input_consumed() -> bool:
        waiting = array("i", [0])
        fcntl.ioctl(process.stdin, termios.FIONREAD, waiting)
        return waiting[0] == 0

    status, _ = interrupt_process(process, is_input_consumed)
    assert status in (130, -signal.SIGINT)


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
def test_ctrl_c_leaves_no_partial_output(write, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    texts = [" ".join(str(i * k % 997) for k in range(150)) for i in range(10_000)]
    write("one", texts[::-1])
    files_before = sorted(tmp_path.iterdir())
    process = start_process(sys.executable, "-m", "truebleu", *command)
    # When the last line is written, the process has read nearly all lines.
    process.stdin.write("\n".join([*texts, ""]))
    process.stdin.close()
    process.stdin = None
    status, error = interrupt_process(process, lambda: True)
    assert status in (130, -signal.SIGINT), error
    assert sorted(tmp_path.iterdir()) == files_before


SIGNALS = [signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", None)]
# These commands create a temporary file or folder at the start.
WITH_TEMPORARY = {
    "output": ("score", "ref", "-i", "-", "-o", "out.json"),
    "rows": ("segments", "ref", "-i", "-", "-o", "out.tsv", "--threads", "2"),
    "program": ("score", "ref", "-i", "ref", "-m", "command:m=sh -c 'sleep 60' {hyp}"),
}


@posix
@pytest.mark.parametrize("command", WITH_TEMPORARY)
@pytest.mark.parametrize("number", SIGNALS)
def test_signal_leaves_no_temporary_file(text_folder, number, command):
    folder = text_folder / "temporary"
    folder.mkdir()
    cache = str(text_folder / "cache")
    environment = {**os.environ, "TMPDIR": str(folder), "TRUEBLEU_CACHE": cache}
    files_before = sorted(text_folder.rglob("*"))
    words = (sys.executable, "-m", "truebleu", *WITH_TEMPORARY[command])
    process = start_process(*words, env=environment)
    status, error = interrupt_process(
        process, lambda: sorted(text_folder.rglob("*")) != files_before, number
    )
    assert (status, error) == (-number, "")
    assert sorted(text_folder.rglob("*")) == files_before


@pytest.mark.thorough
@posix
@pytest.mark.parametrize("module", ["truebleu", "truebleu.compat.sacrebleu"])
@pytest.mark.parametrize("number", SIGNALS)
def test_ignored_signal_stays_ignored(text_folder, number, module):
    words = ["score", "ref", "-i", "-"] if module == "truebleu" else ["ref"]
    ignore = f"import signal, os, sys; signal.signal({int(number)}, signal.SIG_IGN); "
    ignore += "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    process = start_process(sys.executable, "-c", ignore, "-m", module, *words)
    time.sleep(1.5)  # as long as it takes to begin
    process.send_signal(number)
    time.sleep(0.3)
    output, error = process.communicate("".join(f"{line}\n" for line in GOOD), timeout=60)
    assert (process.returncode, error) == (0, "")
    assert "BLEU" in output


@posix
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_in_python_raises_keyboard_interrupt(workers):
    script = (
        "import sys, truebleu\n"
        "texts = ['the cat sat on the mat and ' * 1000] * 5_000_000\n"
        "try:\n"
        "    print('begun', flush=True)\n"
        f"    truebleu.bleu(texts, texts, workers={workers})\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(7)\n"
    )
    process = start_process(sys.executable, "-c", script)
    status, error = interrupt_process(process, lambda: process.stdout.readline() == "begun\n")
    assert status == 7, error


# Help


@pytest.mark.parametrize("arguments", [["--help"], ["score", "--help"], ["segments", "--help"]])
def test_help_shows_examples(truebleu_command, arguments):
    result = truebleu_command(*arguments)
    assert (result.status, result.error) == (0, "")
    assert "truebleu score " in result.output or "truebleu segments " in result.output
    assert "example" in result.output.lower()


def test_version_is_printed(truebleu_command):
    assert truebleu_command("--version").output.split() == ["truebleu", truebleu.__version__]


def test_console_script_equals_module(text_folder, truebleu_command):
    script = shutil.which("truebleu", path=Path(sys.executable).parent)
    if script is None:
        pytest.skip("not installed with its console script")
    result = subprocess.run([script, "score", "ref", "-i", "good"], capture_output=True, check=True)
    assert result.stdout.decode() == truebleu_command("score", "ref", "-i", "good").output


@pytest.mark.parametrize("words", [("help",), ()], ids=["help", "no words"])
def test_descriptions_of_the_examples_are_aligned(words, truebleu_command):
    lines = truebleu_command(*words).output.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("  truebleu demo"))
    examples = lines[first : first + 7]
    assert all(line[53] == " " and line[54] != " " for line in examples)
