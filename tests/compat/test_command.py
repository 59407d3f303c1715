"""The drop-in's command prints what sacreBLEU's prints, byte for byte, wherever that works."""

import gzip
import os
import pty
import random
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from original import Done, Original

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

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
def original(plain_environment):
    command = Original()
    yield command
    command.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Text of every kind: a, b and c are systems, r1 and r2 references."""
    folder = tmp_path_factory.mktemp("text")

    def lines(name: str) -> list[str]:
        return (EXAMPLES / "de-en" / name).read_text().splitlines()[:60]

    def write(name: str, rows: list[str], encoding: str = "utf-8", end: str = "\n") -> None:
        (folder / name).write_bytes("".join(f"{row}{end}" for row in rows).encode(encoding, "replace"))

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
    (folder / "empty").write_bytes(b"")
    (folder / "oneblank").write_bytes(b"\n")
    write("short", texts["a"][:-1])
    write("same", texts["r1"])
    write("zero", ["xyzzy"] * 60)
    tokenized = [row.rstrip(".") + " ." for row in texts["a"]] * 2
    write("tokenized", tokenized)
    write("tokenized.crlf", tokenized, end="\r\n")
    write("rtokenized", texts["r1"] * 2)
    chinese = (EXAMPLES / "en-zh" / "cedar.zh").read_text().splitlines()
    write("zh", chinese)
    write("rzh", (EXAMPLES / "en-zh" / "reference.zh").read_text().splitlines())
    return folder


def drop_in(*words: str, cwd: Path, given: bytes = b"", **environment: str) -> Done:
    """The command of truebleu.compat.sacrebleu."""
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
def check_equal(original, folder):
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
        got = drop_in(*words, cwd=folder, given=given, **environment)
        assert str(got) == str(wanted)
        return got

    return check


SCORES = """
r1 -i a
r1 -i a -f text
r1 -i a -f latex
r1 -i a -b
r1 -i a -b -w 4
r1 -i a -b -w 20
r1 -i a -w 0
r1 -i a -w 0 -f text
r1 -i a -f text --short
r1 -i a --short
r1 r2 -i a -m bleu chrf ter
r1 r2 -i a -m bleu chrf ter -f text
r1 r2 -i a -m ter bleu chrf -b
r1 r2 -i a -m bleu chrf ter -f text -b -w 3
r1 r2 -i a -m chrf bleu -f text -sh
r1 -i a -m bleu bleu
r1 -i same -m bleu chrf ter
r1 -i zero -m bleu chrf ter -f text
r1 -i a -q -f text
r1 < a
r1 -b < a
r1 -b -m chrf ter < a
r1 r2 -f text < a
r1 -b < cr
r1 -b < crlf
r1 -b < spaces
r1 -b -i spaces -m bleu chrf ter
r1 -b -i spaces -m chrf --chrf-whitespace -w 6
r1 -b < no\\ newline
r1 -b -i 'no newline'
r1 -i a.gz -b
r1 -b -i crlf -m bleu chrf ter
r1 -i cr -b
r1 -i bom -b -w 6
r1 -i bom -b -w 6 -e utf-8-sig
r16 -i 16 -e utf-16 -b
r16 -e utf-16 -b < 16
rl1 -i l1 -e cp1252 -b
r12 -i a --num-refs 2
r12 -i a -nr 2 -m bleu chrf ter -f text
r123 -i a -nr 3
r123 -i a -nr 2
rbad -i a --num-refs 2 -b
r1 r2 -i a --num-refs 2
r1 -i a --num-refs 2
r1 -i a --num-refs 0
r1 -i a --num-refs -1
r1 -i short
r1 -i empty
empty -i empty
empty -b < empty
oneblank -b < empty
oneblank -i oneblank
oneblank < oneblank
empty < oneblank
r1 -i a --detail
r1 -i a -d -m bleu chrf
r1 -i a --no-color -f text
r1 -i a -nc
rtokenized -i tokenized -f text
rtokenized -i tokenized -f text -q
rtokenized -i tokenized --force -f text
rtokenized -i tokenized -m chrf ter -f text
rtokenized -i tokenized.crlf
rtokenized < tokenized
"""

PARAMETERS = """
r1 -i a -tok none -f text
r1 -i a -tok intl -f text -lc
r1 -i a -tok char -f text
r1 -i a -tok zh -f text
r1 -i a --tokenize 13a -lc
rzh -i zh -l en-zh -f text
rzh -i zh -l en-zh -tok 13a -f text
rzh -i zh -l en-ja -tok 13a -f text
rzh -i zh -l en-ko -tok char -f text
rzh -i zh -l en-zh -tok 13a -m chrf -f text
rzh -i zh -l en-zh -tok zh
r1 -i a -l de-en -f text
r1 -i a -l xx-yy-zz -f text
r1 -i a -s floor -f text
r1 -i a -s floor -sv 0.333 -f text
r1 -i a -s floor -sv 0
r1 -i a -s add-k -f text
r1 -i a -s add-k -sv 2 -f text
r1 -i a -s add-k -sv 0.001 -f text -w 8
r1 -i a -s none -f text -q
r1 -i a -s exp -sv 3 -f text
r1 -i zero -s floor -f text
r1 -i a -m chrf -cw 2
r1 -i a -m chrf -cw 1 -cc 3 -f text
r1 -i a -m chrf -cc 0 -cw 2 -f text
r1 -i a -m chrf --chrf-beta 1 --chrf-whitespace --chrf-lowercase --chrf-eps-smoothing -cc 4 -f text
r1 -i a -m chrf --chrf-beta 3 -f text
r1 -i a -m chrf --chrf-beta 0 -f text
r1 -i a -m chrf --chrf-whitespace -cw 2 -f text
r1 -i a -m chrf --chrf-lowercase -f text
r1 -i a -m ter --ter-case-sensitive -f text
r1 -i a -m ter --ter-normalized -f text
r1 -i a -m ter --ter-no-punct -f text
r1 -i a -m ter --ter-asian-support -f text
r1 -i a -m ter --ter-case-sensitive --ter-asian-support --ter-no-punct --ter-normalized -f text
r1 r2 -i a -m ter --ter-normalized
rzh -i zh -m ter --ter-asian-support --ter-normalized
"""

SEVERAL_SYSTEMS = """
r1 < ab
r1 -f text < ab
r1 -f latex < ab
r1 -i a b -f text
r1 -i a b c -m bleu chrf ter -f text
r1 -i a b c -m ter chrf bleu -f latex
r1 r2 -i a b -m bleu chrf
r1 -i a b -b
r1 -i a b -f text -w 0
r1 -i a b -f text -w 5 -sh
r1 -i a b -f latex -q
r1 -i 1 2 -f text
r1 -i 1 2 -f latex
r1 -i 1 1.50 007 -f text -w 3
r1 -i 1 1.50 1,000.5 -f text
r1 -i 1 1.50 1,000.5 -f text -nc
r1 -i a 1.50 -f text
r1 -i 'a_b&c%$#{}~^<>\\' 'long name of a system' -f latex
r1 -i 'a_b&c%$#{}~^<>\\' 'long name of a system' -f text
r1 -i a a -b
r1 -i a b -ci
r1 < abbad
r1 -i a b short
"""

SEGMENTS = """
r1 -i a -sl
r1 -i a -sl -b -w 3
r1 -i a -sl -f text -sh
r1 -i a -sl -m chrf -f text
r1 r2 -i a -sl -m ter
r1 -i a -sl -m chrf -cw 2 -f latex
r1 -i a -sl -tok intl -lc -s floor
r1 -i a -sl -m bleu chrf
r1 -i a -sl -m bleu bleu
r1 -sl < ab
r1 -i a -sl -ci
r1 -i a b -sl
r1 -i a -sl -pbs
r1 -sl < a
r12 -nr 2 -i a -sl -b
"""

WRONG = """
--version
-V
-i a

r1 -i a -m meteor
r1 -i a -tok foo
r1 -i a -s laplace
r1 -i a -w x
r1 -i a -sv x
r1 -b r2
r1 -i a -b r2
r1 --paired-bs --paired-ar -i a b
--nonsense
r1 -i a --chrf
r1 -i a --format yaml
-e
-m
--echo
--echo src
r1 --echo src
r1 -t wmt17 -l en-de -i a
-t wmt17 -i a
-t nope -l en-de -i a
-t wmt17,nope -l en-de -i a
-t wmt17 -l xx-yy -i a
-t wmt17,wmt16/B -l en-de
-t wmt17 -l en-de -nr 2
--citation
--cite -q
r1 -i a --paired-bs
r1 -i a --paired-ar
r1 -i a a --paired-ar
r1 -i a b b -pbs -q
"""

# Words that argparse takes in ways of its own.
UNUSUAL = """
r1 --inp a --score --wid 3
r1 -i a --form=text
r1 --input=a -w3 -b
r1 -ia -b
-b -i a -- r1
r1 -i a -b -w 2 -w 3
r1 -f text -f json -i a
-i a -f text -m bleu -b r1
r1 r2 -b -i a -m chrf
r1 -i a -sv -0.5 -b
r1 -i a -bq
r1 --no-c -i a -b
r1 -i a -cw 2 -cc 4 -m chrf -b
"""

LISTS = """
--list
--list -l en-it
--list -l it-en
--list -l de-en -q
--list -l xx-yy
--list -t wmt17
--list -t wmt17 -l en-de
--list -t wmt20/tworefs -l de-en
--list -t wmt08
--list -t mtedx/test -l es-en
--list -t iwslt17 -l en-fr
--list -t mtnt2019
--list -t nope
--list --download ''
"""


def commands(*texts: str) -> list[str]:
    return [line for text in texts for line in text[1:-1].split("\n")]


@pytest.mark.parametrize(
    "line", commands(SCORES, PARAMETERS, SEVERAL_SYSTEMS, SEGMENTS, WRONG, UNUSUAL, LISTS)
)
def test_output_errors_and_status_are_sacrebleu_s(check_equal, line):
    check_equal(line)
