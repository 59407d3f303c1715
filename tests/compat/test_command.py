"""The drop-in's command prints what sacreBLEU's prints, byte for byte, wherever that works."""

import contextlib
import gzip
import importlib
import json
import os
import pty
import random
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from forked import DROP_IN, Command, Done
from hypothesis import given
from hypothesis import strategies as st
from places import EXAMPLES
from tabulate import tabulate

from truebleu.compat.sacrebleu._options import (
    METRICS,
    SMOOTHING,
    TOKENIZERS,
    every_row,
    parser,
    read_plain,
)
from truebleu.compat.sacrebleu._table import fancy_grid, latex_booktabs

# Commands and tests must not see the settings of whoever runs them.
SETTINGS = ("SACREBLEU_FORMAT", "SACREBLEU_SEED", "NO_COLOR", "COLUMNS", "PYCHARM_HOSTED")


@pytest.fixture(scope="module", autouse=True)
def plain_environment():
    before = {name: os.environ.pop(name, None) for name in SETTINGS}
    os.environ["COLUMNS"] = "80"
    yield
    for name, value in before.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value


@pytest.fixture(scope="module")
def original(plain_environment, tmp_path_factory):
    command = Command(SACREBLEU=str(tmp_path_factory.mktemp("nowhere")))
    yield command
    command.close()


@pytest.fixture(scope="module")
def forked(original):
    """The drop-in's command, as quickly as the original."""
    command = Command(DROP_IN, **original.environment)
    yield command
    command.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Text of every kind: a, b and c are systems, r1 and r2 references."""
    folder = tmp_path_factory.mktemp("text")

    def lines(name: str) -> list[str]:
        return (EXAMPLES / "de-en" / name).read_text().splitlines()[:40]

    def write(name: str, rows: list[str], encoding: str = "utf-8", end: str = "\n") -> None:
        (folder / name).write_bytes(
            "".join(f"{row}{end}" for row in rows).encode(encoding, "replace")
        )

    texts = {"r1": "reference.a.en", "r2": "reference.b.en", "a": "cedar.en", "b": "birch.en"}
    texts = {short: lines(name) for short, name in texts.items()}
    texts["c"] = lines("aspen.en")
    for name, rows in texts.items():
        write(name, rows)
    dice = random.Random(7)
    for name in ("1", "2", "1.50", "1,000.5", "007", "a_b&c%$#{}~^<>\\", "long name of a system"):
        write(name, [row if dice.random() < 0.8 else row.upper() for row in texts["a"]])
    write("r12", [f"{one}\t{two}" for one, two in zip(texts["r1"], texts["r2"], strict=True)])
    write("r123", [f"{one}\t{one}\tx\ty" for one in texts["r1"]])
    write("rbad", [*texts["r1"][:1], "one column", *texts["r1"][2:]])
    write("ab", [f"{one}\t{two}" for one, two in zip(texts["a"], texts["b"], strict=True)])
    write("abbad", ["a\tb", "a", "a\tb"])
    write("crlf", texts["a"], end="\r\n")
    write("cr", texts["a"], end="\r")
    write("spaces", [f"  {row} \t \u2028\u3000\x1c" for row in texts["a"]])
    write("16", texts["a"], "utf-16")
    write("r16", texts["r1"], "utf-16")
    write("l1", ["déjà " + row for row in texts["a"]], "cp1252")
    write("rl1", ["déjà " + row for row in texts["r1"]], "cp1252")
    write("bom", texts["a"], "utf-8-sig")
    (folder / "a.gz").write_bytes(gzip.compress((folder / "a").read_bytes()))
    (folder / "no newline").write_bytes((folder / "a").read_bytes().rstrip(b"\n"))
    (folder / "broken.gz").write_bytes(gzip.compress((folder / "a").read_bytes())[:-20])
    (folder / "bad.gz").write_bytes(gzip.compress((folder / "a").read_bytes())[:20] + bytes(900))
    (folder / "text.gz").write_bytes((folder / "a").read_bytes())
    (folder / "empty").write_bytes(b"")
    (folder / "oneblank").write_bytes(b"\n")
    write("short", texts["a"][:-1])
    write("same", texts["r1"])
    write("zero", ["xyzzy"] * 40)
    tokenized = [row.rstrip(".") + " ." for row in texts["a"]] * 3
    write("tokenized", tokenized)
    write("tokenized.crlf", tokenized, end="\r\n")
    write("rtokenized", texts["r1"] * 3)
    chinese = (EXAMPLES / "en-zh" / "cedar.zh").read_text().splitlines()
    write("zh", chinese)
    write("rzh", (EXAMPLES / "en-zh" / "reference.zh").read_text().splitlines())
    return folder


def drop_in(*words: str, cwd: Path, given: bytes = b"", **environment: str) -> Done:
    """The command of truebleu.compat.sacrebleu, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "truebleu.compat.sacrebleu", *words],
        cwd=cwd,
        input=given,
        capture_output=True,
        env=os.environ | environment,
        timeout=120,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def check_equal(original, forked, folder):
    """Compares the two commands, given a line for a shell: words, `< file`, settings before it."""

    def check(line: str, **environment: str) -> Done:
        words = shlex.split(line)
        while words and "=" in words[0]:
            name, value = words.pop(0).split("=", 1)
            environment[name] = value
        given = b""
        if "<" in words:
            given = (folder / words[-1]).read_bytes()
            words = words[:-2]
        wanted = original(*words, cwd=folder, given=given, **environment)
        if b"float32 is not JSON" in wanted.error:
            pytest.skip("the original crashes; see test_scores_of_single_precision_are_printed")
        got = forked(*words, cwd=folder, given=given, **environment)
        assert str(got) == str(wanted)
        return got

    return check


SCORES = """
r1 -i a
r1 -i a -f latex
r1 -i a -b -w 4
r1 -i a -w 0
r1 -i a -f text --short
r1 r2 -i a -m bleu chrf ter
r1 r2 -i a -m bleu chrf ter -f text -b -w 3
r1 -i a -m bleu bleu
r1 -i same -m bleu chrf ter
r1 -i zero -m bleu chrf ter -f text
r1 -i a -q -f text
r1 < a
r1 r2 -f text < a
r1 -b < cr
r1 -b < spaces
r1 -b -i spaces -m chrf --chrf-whitespace -w 6
r1 -b -i 'no newline'
r1 -i a.gz -b
r1 -b -i crlf -m bleu chrf ter
r1 -i cr -b
r1 -i bom -b -w 6 -e utf-8-sig
r16 -e utf-16 -b < 16
rl1 -i l1 -e cp1252 -b
r12 -i a -nr 2 -m bleu chrf ter -f text
r123 -i a -nr 2
rbad -i a --num-refs 2 -b
r1 r2 -i a --num-refs 2
r1 -i a --num-refs 0
r1 -i short
r1 -i empty
empty -b < empty
oneblank < oneblank
r1 -i a -d -m bleu chrf
r1 -i a --no-color -f text
rtokenized -i tokenized -f text
rtokenized -i tokenized --force -f text
rtokenized -i tokenized.crlf
rtokenized < tokenized
THOROUGH
r1 -i a -f text
r1 -i a -b
r1 -i a -b -w 20
r1 -i a -w 0 -f text
r1 -i a --short
r1 r2 -i a -m bleu chrf ter -f text
r1 r2 -i a -m ter bleu chrf -b
r1 r2 -i a -m chrf bleu -f text -sh
r1 -b < a
r1 -b -m chrf ter < a
r1 -b < crlf
r1 -b -i spaces -m bleu chrf ter
r1 -b < no\\ newline
r1 -i bom -b -w 6
r16 -i 16 -e utf-16 -b
r12 -i a --num-refs 2
r123 -i a -nr 3
r1 -i a --num-refs 2
r1 -i a --num-refs -1
empty -i empty
oneblank -b < empty
oneblank -i oneblank
empty < oneblank
r1 -i a --detail
r1 -i a -nc
rtokenized -i tokenized -f text -q
rtokenized -i tokenized -m chrf ter -f text
"""

PARAMETERS = """
r1 -i a -tok none -f text
r1 -i a -tok intl -f text -lc
r1 -i a -tok char -f text
rzh -i zh -l en-zh -f text
rzh -i zh -l en-zh -tok 13a -f text
rzh -i zh -l en-ja -tok 13a -f text
rzh -i zh -l en-ko -tok char -f text
r1 -i a -s floor -sv 0.333 -f text
r1 -i a -s add-k -sv 0.001 -f text -w 8
r1 -i a -s none -f text -q
r1 -i a -s exp -sv 3 -f text
r1 -i a -m chrf -cw 1 -cc 3 -f text
r1 -i a -m chrf -cc 0 -cw 2 -f text
r1 -i a -m chrf --chrf-beta 1 --chrf-whitespace --chrf-lowercase --chrf-eps-smoothing -cc 4 -f text
r1 -i a -m ter --ter-case-sensitive --ter-asian-support --ter-no-punct --ter-normalized -f text
r1 r2 -i a -m ter --ter-normalized
r1 -i a -l en-ja -m bleu
r1 -i a -tok ko-mecab -f text
THOROUGH
r1 -i a -tok zh -f text
r1 -i a --tokenize 13a -lc
rzh -i zh -l en-zh -tok 13a -m chrf -f text
rzh -i zh -l en-zh -tok zh
r1 -i a -l de-en -f text
r1 -i a -l xx-yy-zz -f text
r1 -i a -s floor -f text
r1 -i a -s floor -sv 0
r1 -i a -s add-k -f text
r1 -i a -s add-k -sv 2 -f text
r1 -i zero -s floor -f text
r1 -i a -m chrf -cw 2
r1 -i a -m chrf --chrf-beta 3 -f text
r1 -i a -m chrf --chrf-beta 0 -f text
r1 -i a -m chrf --chrf-whitespace -cw 2 -f text
r1 -i a -m chrf --chrf-lowercase -f text
r1 -i a -m ter --ter-case-sensitive -f text
r1 -i a -m ter --ter-normalized -f text
r1 -i a -m ter --ter-no-punct -f text
r1 -i a -m ter --ter-asian-support -f text
rzh -i zh -m ter --ter-asian-support --ter-normalized
"""

SEVERAL_SYSTEMS = """
r1 -f latex < ab
r1 -i a b c -m bleu chrf ter -f text
r1 r2 -i a b -m bleu chrf
r1 -i a b -f text -w 5 -sh
r1 -i a b -f latex -q
r1 -i 1 1.50 1,000.5 -f text
r1 -i 1 1.50 1,000.5 -f text -nc
r1 -i 'a_b&c%$#{}~^<>\\' 'long name of a system' -f latex
r1 -i a a -b
r1 -i a b -ci
r1 < abbad
r1 -i a b short
r1 -i
THOROUGH
r1 < ab
r1 -f text < ab
r1 -i a b -f text
r1 -i a b c -m ter chrf bleu -f latex
r1 -i a b -b
r1 -i a b -f text -w 0
r1 -i 1 2 -f text
r1 -i 1 2 -f latex
r1 -i 1 1.50 007 -f text -w 3
r1 -i a 1.50 -f text
r1 -i 'a_b&c%$#{}~^<>\\' 'long name of a system' -f text
"""

SEGMENTS = """
r1 -i a -sl -f text -sh
r1 r2 -i a -sl -m ter
r1 -i a -sl -m chrf -cw 2 -f latex
r1 -i a -sl -m bleu chrf
r1 -sl < ab
r1 -i a -sl -ci
r1 -sl < a
r12 -nr 2 -i a -sl -b
THOROUGH
r1 -i a -sl
r1 -i a -sl -b -w 3
r1 -i a -sl -m chrf -f text
r1 -i a -sl -tok intl -lc -s floor
r1 -i a -sl -m bleu bleu
r1 -i a b -sl
r1 -i a -sl -pbs
"""

WRONG = """
--version
-i a

r1 -i a -m meteor
r1 -i a -w x
r1 --paired-bs --paired-ar -i a b
--nonsense
-m
--echo src
r1 -t wmt17 -l en-de -i a
-t wmt17 -i a
-t wmt17,nope -l en-de -i a
-t wmt17 -l xx-yy -i a
-t wmt17 -l en-de -nr 2
--citation
r1 -i a --paired-bs
r1 -i a a --paired-ar
THOROUGH
-V
r1 -i a -tok foo
r1 -i a -s laplace
r1 -i a -sv x
r1 -b r2
r1 -i a -b r2
r1 -i a --chrf
r1 -i a --format yaml
-e
--echo
r1 --echo src
-t nope -l en-de -i a
-t wmt17,wmt16/B -l en-de
--cite -q
r1 -i a --paired-ar
r1 -i a b b -pbs -q
"""

# Words that argparse takes in ways of its own.
UNUSUAL = """
r1 --inp a --score --wid 3
r1 --input=a -w3 -b
-b -i a -- r1
r1 -i a -b -w 2 -w 3
r1 -i a -bq
THOROUGH
r1 -i a --form=text
r1 -ia -b
r1 -f text -f json -i a
-i a -f text -m bleu -b r1
r1 r2 -b -i a -m chrf
r1 -i a -sv -0.5 -b
r1 --no-c -i a -b
r1 -i a -cw 2 -cc 4 -m chrf -b
"""

LISTS = """
--list
--list -l it-en
--list -t wmt17
--list -t wmt20/tworefs -l de-en
--list -t nope
--list --download ''
THOROUGH
--list -l en-it
--list -l de-en -q
--list -l xx-yy
--list -t wmt17 -l en-de
--list -t wmt08
--list -t mtedx/test -l es-en
--list -t iwslt17 -l en-fr
--list -t mtnt2019
"""


INTERVALS = """
r1 -i a -m bleu chrf ter --confidence -f text
r1 r2 -i a -m chrf -cw 2 --confidence -cin 100
r1 -i a -ci -cin 2 -w 6
SACREBLEU_SEED=0 r1 -i a -ci -f text
r1 -ci -cin 50 < a
THOROUGH
r1 -i a -ci
r1 -i a -m ter --confidence -b
r1 -i a -ci -cin 1
r1 -i zero -ci -f text
r1 -i same -m ter bleu -ci -f text
SACREBLEU_SEED=42 r1 -i a -ci -f text
"""

TESTS = """
r1 -i a b --paired-bs -pbsn 100
r1 -i a b c --paired-bs -pbsn 100 -m ter bleu chrf -f latex
r1 -i a b c --paired-ar -parn 200 -m bleu chrf ter
r1 -i a b c --paired-ar -parn 200 -m chrf ter bleu -f text -nc
r1 -i a b a -pbs -pbsn 50 -f text -b -q
r1 -i a b -pbs -pbsn 0 -f text
r1 -i a b -pbs -pbsn 50 -q -f text -j 2
r1 -i a b -par -parn 20 -b -j 2
r1 -pbs -pbsn 50 -f text < ab
SACREBLEU_SEED=7 r1 -i a b -par -parn 50 -f text
THOROUGH
r1 -i a b --paired-bs -pbsn 100 -f text
r1 -i a b c --paired-bs -pbsn 100 -m bleu chrf -f text
r1 -i a b c --paired-bs -pbsn 100 -m chrf -f text -w 4 -sh
r1 -i a b c --paired-ar -parn 200 -f text
r1 -i a b c --paired-ar -parn 200
r1 r2 -i a b c --paired-ar -parn 200 -m bleu ter -f latex
r1 -i a 1 2 -par -parn 300 -f text
r1 -i a 1 2 -pbs -pbsn 300 -f text
r1 -i a b a -pbs -pbsn 50
r1 -i a b b -pbs -pbsn 50 -q
r1 -i a b -pbs -pbsn 50 -f text -j 0
r1 -pbs -pbsn 50 < ab
r1 -par -parn 50 -f latex < ab
SACREBLEU_SEED=42 r1 -i a b -pbs -pbsn 50
NO_COLOR=1 r1 -i a 1 -par -parn 50 -f text
"""

SETTINGS_OF_THE_ENVIRONMENT = """
SACREBLEU_FORMAT=TEXT r1 -i a -f json
SACREBLEU_FORMAT=latex r1 -i a b
SACREBLEU_FORMAT=yaml r1 -i a
NO_COLOR=1 r1 -i a b -f text
COLUMNS=40 --nonsense
THOROUGH
SACREBLEU_FORMAT=text r1 -i a
SACREBLEU_FORMAT= r1 -i a
NO_COLOR= r1 -i a b -f text
COLUMNS=200 r1 -m
"""


def commands(*texts: str) -> list:
    """The lines of all texts; those behind THOROUGH are for thorough runs."""
    lines = []
    for text in texts:
        daily, _, thorough = text[1:-1].partition("\nTHOROUGH\n")
        lines += daily.split("\n")
        lines += [pytest.param(one, marks=pytest.mark.thorough) for one in thorough.split("\n")]
    return lines


@pytest.mark.parametrize(
    "line",
    commands(
        SCORES,
        PARAMETERS,
        SEVERAL_SYSTEMS,
        SEGMENTS,
        INTERVALS,
        TESTS,
        SETTINGS_OF_THE_ENVIRONMENT,
        WRONG,
        UNUSUAL,
        LISTS,
    ),
)
def test_output_errors_and_status_are_sacrebleu_s(check_equal, line):
    check_equal(line)


FLAGS = [
    "-b", "-sh", "-q", "-lc", "--force", "-nc", "-d", "-sl", "--chrf-whitespace",
    "--chrf-lowercase", "--chrf-eps-smoothing", "--ter-normalized", "--ter-no-punct",
    "--ter-asian-support", "--ter-case-sensitive",
]  # fmt: skip

# Options that go with all others, and how often each is given.
COMMON = {
    "-m": (0.6, lambda dice: dice.sample(["bleu", "chrf", "ter"], dice.randint(1, 3))),
    "-f": (0.7, lambda dice: [dice.choice(["text", "json", "latex"])]),
    "-w": (0.3, lambda dice: [str(dice.randint(0, 9))]),
    "-tok": (0.2, lambda dice: [dice.choice(["none", "zh", "13a", "intl", "char"])]),
    "-s": (0.2, lambda dice: [dice.choice(["none", "floor", "add-k", "exp"])]),
    "-sv": (0.1, lambda dice: [dice.choice(["0", "0.5", "1", "3.25"])]),
    "-cw": (0.2, lambda dice: [str(dice.randint(0, 3))]),
    "-cc": (0.2, lambda dice: [str(dice.randint(1, 7))]),
    "--chrf-beta": (0.1, lambda dice: [str(dice.randint(0, 4))]),
    "-l": (0.1, lambda dice: [dice.choice(["en-de", "en-zh", "de-en"])]),
    **{flag: (0.15, lambda dice: []) for flag in FLAGS},
}
SYSTEMS = ["a", "b", "c", "spaces", "crlf", "1", "1.50", "bom", "no newline", "zero", "same"]


def any_command(dice: random.Random) -> str:
    """A command line that is right."""
    references = dice.choice([["r1"], ["r2"], ["r1", "r2"], ["r1", "r2", "r1"]])
    count = dice.choice([1, 1, 1, 2, 3])
    options = [[name, *values(dice)] for name, (p, values) in COMMON.items() if dice.random() < p]
    if count == 1 and dice.random() < 0.2:
        options += [["-ci"], ["-cin", str(dice.randint(2, 60))]]
    if count > 1 and dice.random() < 0.5:
        test = dice.choice(["-par", "-pbs"])
        options += [[test], [f"{test}n", str(dice.randint(2, 60))]]
    given = f" < {dice.choice(SYSTEMS[:5])}" if count == 1 and dice.random() < 0.2 else ""
    if not given:
        options.append(["-i", *dice.sample(SYSTEMS, count)])
    dice.shuffle(options)
    return shlex.join(references + [word for option in options for word in option]) + given


ANY = [any_command(random.Random(seed)) for seed in range(40)]


@pytest.mark.parametrize("line", commands("\n".join(["", *ANY[:6], "THOROUGH", *ANY[6:], ""])))
def test_any_command_line_does_the_same(check_equal, line):
    check_equal(line)


# Causes of a traceback in the original, and the message here.
CRASHES = {
    "r1 -i nofile": "[Errno 2] No such file or directory: 'nofile'",
    "nofile -i a": "[Errno 2] No such file or directory: 'nofile'",
    "r1 -i .": "[Errno 21] Is a directory: '.'",
    "r1 -i l1": "l1: byte 0xe9 is not utf-8; name the text's encoding with -e",
    "rl1 -i a": "rl1: byte 0xe9 is not utf-8; name the text's encoding with -e",
    "r1 < l1": "standard input: byte 0xe9 is not utf-8; name the text's encoding with -e",
    "r1 -i a -e klingon": "unknown encoding: klingon",
    "r1 -i a -w -1": "--width -1: expected a number of digits, 0 or more",
    "r1 -i a -e utf-16": "r1: UTF-16 stream does not start with BOM; name the text's encoding",
    "r1 -i a -m chrf -cc 0": "--chrf-char-order 0 and --chrf-word-order 0: no n-grams to count",
    "r1 -i a b -m bleu chrf -cc 0 -pbs": "--chrf-char-order 0 and --chrf-word-order 0: no n-gr",
    "r1 -i a -sl -m chrf -cc 0 --chrf-eps-smoothing": "--chrf-char-order 0 and --chrf-word-order",
    f"r1 -i a -m chrf --chrf-beta {10**400}": "int too large to convert to float",
    "r1 -i broken.gz": "broken.gz cannot be read: ",
    "r1 -i bad.gz": "bad.gz cannot be read: ",
    "r1 -i text.gz": "text.gz cannot be read: Not a gzipped file",
    "broken.gz -i a": "broken.gz cannot be read: Compressed file ended before",
    "r1 -i a -tok spm": "",
    "https_proxy=http://127.0.0.1:1 --download wmt17 -l de-en": "https://data.statmt.org/wmt17/",
    "https_proxy=http://127.0.0.1:1 -t wmt17 -l de-en --echo src": "https://data.statmt.org/wmt17/",
    "r1 -pbs -i": "--input (-i) names no system",
    "r1 -sl -i": "--input (-i) names no system",
    "r1 -f text -i": "--input (-i) names no system",
    "SACREBLEU_SEED=abc r1 -i a -ci": "SACREBLEU_SEED is 'abc'; expected an integer, 0 or more",
    "SACREBLEU_SEED=-1 r1 -i a b -pbs": "SACREBLEU_SEED is '-1'; expected an integer, 0 or more",
    "r1 -i a b -par -parn 5 -j -1": "Number of processes must be at least 1",
}


@pytest.mark.parametrize("line", CRASHES)
def test_where_the_original_crashes_one_line_says_why(original, forked, folder, line):
    words = shlex.split(line)
    environment = dict([words.pop(0).split("=")]) if "=" in words[0] else {}
    given = b""
    if "<" in words:
        given = (folder / words[-1]).read_bytes()
        words = words[:-2]
    wanted = original(*words, cwd=folder, given=given, **environment)
    got = forked(*words, cwd=folder, given=given, **environment)
    assert wanted.status == got.status == 1
    assert b"Traceback" in wanted.error
    assert got.output == b""
    assert b"Traceback" not in got.error
    # Before it stands what the original says too.
    said, _, message = got.error.decode().partition(f"sacreBLEU: {CRASHES[line]}")
    assert wanted.error.decode().startswith(said)
    assert message


def test_names_that_are_no_characters_are_printed_as_they_are(original, forked, folder):
    """The original cannot write them into a table."""
    names = [b"caf\xe9", b"caf\xe8"]
    for name in names:
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_bytes(
            (folder / "a").read_bytes()
        )
    words = ["r1", "-i", *map(os.fsdecode, names), "-f", "text"]
    assert b"UnicodeEncodeError" in original(*words, cwd=folder).error
    got = forked(*words, cwd=folder)
    assert got.status == 0
    assert b"caf\xe9" in got.output


def test_scores_of_single_precision_are_printed(original, forked, folder):
    """The original cannot write them as JSON where NumPy 2 computes them."""
    words = shlex.split("r1 -i a b -pbs -pbsn 100 -m chrf ter")
    wanted, got = original(*words, cwd=folder), forked(*words, cwd=folder)
    assert b"float32 is not JSON serializable" in wanted.error
    assert wanted.error.startswith(got.error)
    assert got.status == 0
    as_text = original(*words, "-f", "text", "-w", "6", cwd=folder).output.decode()
    for system in json.loads(got.output):
        for metric in ("chrF2", "TER"):
            of_metric = system[metric]
            assert all(isinstance(of_metric[key], float) for key in ("score", "mean", "ci"))
            interval = f"({of_metric['mean']:.6f} ± {of_metric['ci']:.6f})"
            assert f"{of_metric['score']:.6f} {interval}" in as_text


def test_fields_of_several_test_sets_are_listed(original, forked, folder):
    """The original looks for a test set of both names."""
    words = shlex.split("--list -t wmt17,wmt18 -l de-en")
    wanted, got = original(*words, cwd=folder), forked(*words, cwd=folder)
    assert b"KeyError: 'wmt17,wmt18'" in wanted.error
    assert (got.status, got.output.decode()) == (0, 2 * "de-en: src, ref, docid, genre, origlang\n")


def test_seed_0_is_a_seed(forked, folder):
    """The original takes entropy of the system for it in paired tests."""
    words = shlex.split("r1 -i a b c -par -parn 200 -f text")
    first, second = (forked(*words, cwd=folder, SACREBLEU_SEED="0") for _ in range(2))
    assert first == second
    assert "|seed:0|" in first.output.decode()


def test_seed_none_takes_another_each_time(forked, folder):
    words = shlex.split("r1 -i a -ci -f text -w 9")
    outputs = {forked(*words, cwd=folder, SACREBLEU_SEED="None").output for _ in range(3)}
    assert len(outputs) == 3
    assert all(b"|seed:none|" in output for output in outputs)


def on_terminal(command: list[str], folder: Path, **environment: str) -> bytes:
    """The output of a command on a terminal, errors included."""
    parent, child = pty.openpty()
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=child,
        stderr=child,
        env=os.environ | environment,
    )
    os.close(child)
    output = b""
    with contextlib.suppress(OSError):  # the end, where there is no terminal any more
        while piece := os.read(parent, 1 << 16):
            output += piece
    os.close(parent)
    process.wait()
    return output


ORIGINAL = [
    sys.executable,
    "-c",
    "import sys; sys.argv[0] = 'sacrebleu'\nfrom sacrebleu.sacrebleu import main\nmain()",
]


TERMINAL = """
r1 -i a 1 b -f text -par -parn 100
r1 -i 1 1.50 1,000.5 -f text
r1 -i a -ci -f text -m bleu chrf
NO_COLOR=1 r1 -i a b -f text -pbs -pbsn 100
THOROUGH
r1 -i a b -f text
r1 -i a b c -f latex -m bleu chrf
r1 -i a 1 b -f latex -pbs -pbsn 100 -m bleu ter
r1 -i a -ci -f text
r1 -i a -ci -f text -nc
r1 -i a
r1 -i short
"""


@pytest.mark.parametrize("line", commands(TERMINAL))
def test_on_a_terminal_it_looks_the_same(folder, line):
    words = shlex.split(line)
    environment = dict([words.pop(0).split("=")]) if "=" in words[0] else {}
    wanted = on_terminal([*ORIGINAL, *words], folder, **environment)
    got = on_terminal(
        [sys.executable, "-m", "truebleu.compat.sacrebleu", *words], folder, **environment
    )
    assert got.decode() == wanted.decode()


@pytest.mark.parametrize(
    "line", ["r1 -i a", "r1 -i a b -f text -pbs -pbsn 20", "-i a", "r1 -i a -sl"]
)
def test_a_process_of_its_own_does_the_same(forked, folder, line):
    words = line.split()
    assert str(drop_in(*words, cwd=folder)) == str(forked(*words, cwd=folder))


@pytest.mark.parametrize("line", ["r1 -i a", "r1 -i a -sl", "r1 -i a b -f text -q", "--list"])
def test_a_closed_output_is_an_error(folder, line):
    """The original ends in a traceback."""
    command = [sys.executable, "-m", "truebleu.compat.sacrebleu", *line.split()]
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *command],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    said = b"standard output is closed\n"
    assert done.returncode == 1
    assert done.stderr == (said if "-q" in line else b"sacreBLEU: " + said)


def test_a_full_device_is_an_error(folder):
    command = [sys.executable, "-m", "truebleu.compat.sacrebleu", "r1", "-i", "a"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, cwd=folder, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(b"sacreBLEU: [Errno 28] No space left")


def test_too_little_memory_is_said_in_one_line(folder):
    """The message needs memory too: that of the work is free by then."""
    script = (
        "import resource, sys\n"
        "from truebleu.compat.sacrebleu import sacrebleu as command\n"
        "def fill(options, sizes=(1 << 20, 1 << 12, 64)):\n"
        "    kept = None\n"
        "    for size in sizes:\n"
        "        try:\n"
        "            while True:\n"
        "                kept = (kept, bytes(size))\n"
        "        except MemoryError:\n"
        "            if size == sizes[-1]:\n"
        "                raise\n"
        "command._run = fill\n"
        "sys.argv = ['sacrebleu', 'r1', '-i', 'a']\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))\n"
        "command.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"sacreBLEU: not enough memory\n"


def test_it_ends_when_nobody_reads_on(folder):
    (folder / "big").write_text("a b c d e\n" * 20000)
    process = subprocess.Popen(
        [sys.executable, "-m", "truebleu.compat.sacrebleu", "big", "-i", "big", "-sl"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.readline()
    process.stdout.close()
    assert process.wait() == -signal.SIGPIPE
    assert process.stderr.read() == b""
    process.stderr.close()


def test_inside_another_program_nothing_is_left_changed(folder):
    script = (
        "import signal, sys\n"
        "from truebleu.compat.sacrebleu.sacrebleu import main\n"
        "before = sys.stdout, sys.stderr, signal.getsignal(signal.SIGPIPE)\n"
        "sys.argv = ['sacrebleu', 'r1', '-i', 'a', '-b']\n"
        "assert main() is None\n"
        "assert before == (sys.stdout, sys.stderr, signal.getsignal(signal.SIGPIPE))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("line", ["r1 -i a", "r1 -i a -m bleu chrf -f text", "r1 -i a -lc -b -q"])
def test_the_plain_run_imports_next_to_nothing(folder, line):
    script = (
        "import sys\n"
        "from truebleu.compat.sacrebleu.sacrebleu import main\n"
        f"sys.argv = ['sacrebleu', *{line.split()}]\n"
        "main()\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=True
    )
    heavy = {"argparse", "enum", "gzip", "json", "logging", "re", "signal", "typing", "numpy"}
    assert not heavy & set(done.stderr.split())


VALUES = ["r1", "a", "", "3", "-1", "0.5", "bleu", "chrf", "text", "13a", "exp", "x y", "-"]
NAMES = sorted(name for names, _ in every_row() for name in names if name.startswith("-"))


@given(words=st.lists(st.sampled_from(VALUES + NAMES), max_size=8))
def test_a_plain_command_line_is_read_as_argparse_reads_it(words):
    quick = read_plain(words)
    if quick is not None:
        assert vars(quick) == vars(parser().parse_args(words))


@pytest.mark.parametrize("line", ["r1 -i a -m bleu chrf", "-t wmt17 -l en-de", "r1 r2 -w 3 -b -q"])
def test_ordinary_command_lines_are_plain(line):
    assert read_plain(line.split()) is not None


def test_the_options_name_what_the_metrics_have():
    metrics = importlib.import_module("truebleu.compat.sacrebleu.metrics").METRICS
    assert [name.lower() for name in metrics] == list(METRICS)
    assert list(metrics["BLEU"].TOKENIZERS) == list(TOKENIZERS)
    assert list(metrics["BLEU"].SMOOTH_DEFAULTS) == list(SMOOTHING)
    defaults = vars(parser().parse_args([]))
    assert defaults["chrf_char_order"] == metrics["CHRF"].CHAR_ORDER
    assert defaults["chrf_word_order"] == metrics["CHRF"].WORD_ORDER
    assert defaults["chrf_beta"] == metrics["CHRF"].BETA


# Contents of cells, with those that tabulate treats in a way of its own.
HARD_CELLS = [
    "35.3", "0.9", "100", "-1", "1e5", "inf", "nan", "1,234", "1,234.50", "", "True", "a b", " x ",
    "35.3 (1.0 ± 0.2)\n(p = 0.1)*", "\x1b[33m35.31\x1b[0m", "é猫", "1_0", "$x_1$ & {y}", "1e999",
    ".5", "1.", "12\n\n3", "\x1b[33mBaseline: a\x1b[0m",
]  # fmt: skip
CELLS = st.one_of(
    st.sampled_from(HARD_CELLS),
    st.text(alphabet="ab1.,- é", max_size=6),
    st.floats(-1e4, 1e4).map(lambda value: f"{value:.2f}"),
)


@given(data=st.data(), height=st.integers(1, 4), digits=st.integers(0, 6))
def test_tables_are_tabulate_s(data, height, digits):
    names = data.draw(st.lists(CELLS, min_size=1, max_size=4, unique=True))
    column = st.lists(CELLS, min_size=height, max_size=height)
    columns = {name.replace("\n", ""): data.draw(column) for name in names}
    for style, draw in (("fancy_grid", fancy_grid), ("latex_booktabs", latex_booktabs)):
        wanted = tabulate(
            columns,
            headers="keys",
            tablefmt=style,
            colalign=("right",),
            stralign="center",
            numalign="center",
            floatfmt=f".{digits}f",
        )
        assert draw(columns, digits) == wanted
