"""Table of scores of every metric, tokenizer and member of the BLEU family: scores.tsv.

test_score_changes.py compares the table with the scores of today. After an intended change:

    python tests/project/score_snapshots.py --accept

updates the table, and prints what the section "Scores" of CHANGELOG.md must say.
"""

import argparse
import builtins
import functools
import hashlib
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import truebleu as tb
from truebleu.metrics import registry
from truebleu.metrics.base import MetricFailedError
from truebleu.text import tokenizers

sys.path.insert(0, str(Path(__file__).parents[1]))

from optional_tools import lacking
from paths import EXAMPLES, ROOT

TABLE = Path(__file__).with_name("scores.tsv")
CHANGELOG = ROOT / "CHANGELOG.md"
COMMAND = "python tests/project/score_snapshots.py --accept"
SEGMENT = 4  # index of the segment whose score is in the table, too

# Texts on which tools differ: empty, long and short segments, entities, scripts, marks and spaces.
TRICKY = (
    ("", ""),
    ("", "a reference"),
    ("a hypothesis", ""),
    ("the the the the the the the", "the cat is on the mat"),
    ("It &quot;costs&quot; $1,234.50 &amp; more.", "It \u201ccosts\u201d $1,234.5 & more!"),
    ("state-of-the-art, e.g. 3.14-fold", "state of the art, e.g. 3.14 fold"),
    ("Stra\u00dfe \u0130stanbul caf\u00e9 cafe\u0301", "STRASSE Istanbul cafe\u0301 caf\u00e9"),
    ("\u732b\u5728\u57ab\u5b50\u4e0a\u3002", "\u90a3\u53ea\u732b\u5728\u57ab\u5b50\u4e0a\uff01"),
    ("a\u00a0b\u2009c  d", "a b c d"),
    ("\U0001f600\U0001f44d\U0001f3fd ok", "\U0001f600 \U0001f44d ok"),
    ("one two three four five six", "one two three four five seven"),
    ("猫がマットの上に座っている。", "猫はマットの上に座っていた。"),
    ("고양이가 매트 위에 앉아 있다.", "고양이는 매트 위에 앉아 있었다."),
    ("แมวนั่งอยู่บนเสื่อ", "แมวตัวนั้นนั่งบนเสื่อ"),
    ("Кошка сидит на коврике, да?", "Кошка сидела на коврике, не так ли?"),
    ("القطة تجلس على السجادة.", "جلست القطة على السجادة."),
)

# Tokenizers that need a file of the user or a download.
OMITTED_TOKENIZERS = ("mecab:FOLDER", "spm:FILE", "flores101", "flores200", "spBLEU-1K")
# Entries that need optional packages.
OPTIONAL = re.compile(
    r"rouge-(1|2|l|lsum)(-stemmed)?|meteor|meteor-nltk|tok:(ja|ko)-mecab|tok:icu.*"
)


class Row(NamedTuple):
    """Scores of one entry on one text."""

    entry: str
    text: str
    score: str  # repr() of the float, which has every bit; "removed" until the next release
    segment: str  # score of one segment, or ""
    depends: str  # "library": exp, log or pow; "sum": sum() of Python; or ""
    changed: str  # release that changed the score last, or ""
    signature: str  # without the version of truebleu

    @property
    def content(self) -> tuple[str, str, str]:
        """The values that must not change unnoticed."""
        return self.score, self.segment, self.signature


Rows = dict[tuple[str, str], Row]


@functools.cache
def read_texts() -> dict[str, tuple[list[str], list, list[str]]]:
    """Return hypotheses, references and sources, by name."""

    def read_lines(name: str) -> list[str]:
        return (EXAMPLES / name).read_text("utf-8").splitlines()

    def list_trigrams(text: str) -> set[tuple[str, ...]]:
        words = text.split()
        return {*zip(words, words[1:], words[2:], strict=False)}

    files = ("birch.en", "reference.a.en", "reference.b.en", "source.de")
    segments = zip(*(read_lines(f"de-en/{name}") for name in files), strict=True)
    # NLTK's method 6 refuses segments without a matching trigram.
    matching = [one for one in segments if list_trigrams(one[0]) & list_trigrams(one[1])]
    hypotheses, first, second, source = map(list, zip(*matching[:40], strict=True))
    both = list(map(list, zip(first, second, strict=True)))
    tricky_hypotheses, tricky_references = map(list, zip(*TRICKY, strict=True))
    return {
        "de-en": (hypotheses, first, source),
        "de-en, 2 references": (hypotheses, both, source),
        "en-zh": tuple(
            read_lines(f"en-zh/{name}") for name in ("birch.zh", "reference.zh", "source.en")
        ),
        "tricky": (tricky_hypotheses, tricky_references, tricky_references),
    }


def list_entries() -> dict[str, tuple[str, dict[str, object]]]:
    """Return the names of entries, each with the name of a metric and its parameters."""
    names = [
        *tokenizers.KERNEL_TOKENIZERS,
        *tokenizers.DATA_TOKENIZERS,
        *tokenizers.PYTHON_TOKENIZERS,
    ]
    names = [name.replace("LOCALE", "th") for name in names if name not in OMITTED_TOKENIZERS]
    return {
        **{name: (name, {}) for name in (*registry.METRICS, *tb.family)},
        "rouge-l-stemmed": ("rouge-l", {"stemmer": True}),
        **{f"tok:{name}": ("bleu", {"tokenize": name}) for name in names},
    }


def compute_rows(entry: str) -> Rows:
    """Return the rows of an entry: the texts that its metric accepts.

    Raises ImportError if a package is missing.
    """
    name, parameters = list_entries()[entry]
    if reason := lacking(name):
        raise ImportError(reason)
    metric = tb.metric(name, **parameters)
    rows = {}
    for text, (hypotheses, references, sources) in read_texts().items():
        extra = {"sources": sources} if getattr(metric, "NEEDS_SOURCE", False) else {}
        segment = ""
        with warnings.catch_warnings(action="ignore"):
            try:
                score = metric.score(hypotheses, references, **extra)
            except (ValueError, MetricFailedError):
                continue
            with suppress(ValueError, MetricFailedError):
                segment = repr(float(metric.segments(hypotheses, references, **extra)[SEGMENT]))
        signature = re.sub(r"\|by:[^|]*", "", str(score.signature))
        rows[entry, text] = Row(entry, text, repr(score.value), segment, "", "", signature)
    return rows


def compute_available_rows() -> tuple[Rows, dict[str, str]]:
    """Return the rows of all entries, and the reason for each entry that is not available."""
    rows, missing = {}, {}
    for entry in list_entries():
        try:
            rows |= compute_rows(entry)
        except ImportError as error:
            if not OPTIONAL.fullmatch(entry):
                raise
            missing[entry] = str(error)
    return rows, missing


def fingerprint_library() -> str:
    """Return a digest of values of exp, log and pow from the system's mathematical library."""
    ratios = [100.0 * matches / total for total in range(1, 80) for matches in range(1, total + 1)]
    values = [*map(math.log, ratios), *(math.pow(x, 0.25) for x in ratios)]
    values += [math.exp(-x / 7.0) for x in ratios] + [math.exp(math.log(x) / 4) for x in ratios]
    return hashlib.sha256(struct.pack(f"<{len(values)}d", *values)).hexdigest()[:16]


def read_table() -> tuple[str, Rows]:
    """Return the fingerprint of the library that computed the table, and its rows."""
    first, _, *lines = TABLE.read_text("utf-8").splitlines()
    rows = [Row(*line.split("\t")) for line in lines]
    return first.split()[-1], {(row.entry, row.text): row for row in rows}


def digest_table() -> str:
    """Return the digest of the table that CHANGELOG.md quotes."""
    return hashlib.sha256(TABLE.read_text("utf-8").encode()).hexdigest()[:16]


def is_equal(old: Row, new: Row, library: str) -> bool:
    """Return whether a row has the recorded scores: to the last bit, where that is defined.

    Scores that depend on exp, log and pow need the same mathematical library for this, and scores
    that depend on `sum()` need a Python release that adds in the same way. Otherwise, 12 digits.
    """
    if old.signature != new.signature or bool(old.segment) != bool(new.segment):
        return False
    is_other_library = "library" in old.depends and library != fingerprint_library()
    is_other_sum = "sum" in old.depends and sum([0.1] * 10) == 1.0  # since Python 3.12
    if not is_other_library and not is_other_sum:
        return old.content == new.content
    pairs = [(old.score, new.score), (old.segment or "0", new.segment or "0")]
    return all(math.isclose(float(one), float(two), rel_tol=1e-12) for one, two in pairs)


def find_changes(old_rows: Rows, new_rows: Rows, library: str) -> dict[tuple[str, str], str]:
    """Return a description of each row that was changed, added or removed."""
    changes = {}
    for key in dict.fromkeys([*old_rows, *new_rows]):
        old, new = old_rows.get(key), new_rows.get(key)
        place = ", ".join(key)
        if old is None and new is not None:
            changes[key] = f"{place}: new, {new.score}"
        elif new is None and old is not None and old.score != "removed":
            changes[key] = f"{place}: removed, was {old.score}"
        elif old and new and not is_equal(old, new, library):
            differences = [
                f"{name} expected {getattr(old, name)}, found {getattr(new, name)}"
                for name in ("score", "segment", "signature")
                if getattr(old, name) != getattr(new, name)
            ]
            changes[key] = f"{place}: {'; '.join(differences)}"
    return changes


class Release(NamedTuple):
    """The topmost release of the changelog."""

    version: str
    date: str  # or "unreleased"
    is_first: bool
    scores: str  # text of its section "Scores"


def read_release(changelog: str) -> Release:
    """Return the topmost release of a changelog."""
    heading, *older = re.findall(r"^## .*$", changelog, re.MULTILINE)
    match = re.fullmatch(r"## \[(\d+\.\d+\.\d+)\] - (unreleased|\d{4}-\d\d-\d\d)", heading)
    if not match:
        raise ValueError(f"CHANGELOG.md, '{heading}': expected '## [X.Y.Z] - unreleased'")
    section = changelog.partition(heading)[2].partition("\n## ")[0]
    scores = section.partition("\n### Scores\n")[2].partition("\n### ")[0]
    return Release(match[1], match[2], not older, scores)


def list_unannounced(changelog: str, digest: str, rows: Iterable[Row]) -> list[str]:
    """Return what the topmost section "Scores" of a changelog lacks, one instruction each."""
    release = read_release(changelog)
    changed = dict.fromkeys(row.entry for row in rows if row.changed == release.version)
    instructions = [
        f"name `{name}`, and say for which input its scores change, and why"
        for name in changed
        if f"`{name}`" not in release.scores
    ]
    if f"`{digest}`" not in release.scores:
        instructions.append(f"quote the digest of the table: `{digest}`")
    return instructions


# exp, log and pow of the system, with results that C's macro SHIFT changes.
SHIFTED_LIBRARY = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
typedef double (*unary)(double);
typedef double (*binary)(double, double);
static double shift(double y) { return isfinite(y) ? SHIFT : y; }
double exp(double x) { return shift(((unary)dlsym(RTLD_NEXT, "exp"))(x)); }
double log(double x) { return shift(((unary)dlsym(RTLD_NEXT, "log"))(x)); }
double pow(double x, double y) { return shift(((binary)dlsym(RTLD_NEXT, "pow"))(x, y)); }
"""


def compute_apart(kind_of_sum: str, shift: str = "y", **environment: str) -> Rows:
    """Return the rows that a new process computes.

    kind_of_sum: "plain" or "compensated".
    shift: expression in C for the results y of exp, log and pow. It needs Linux and a C compiler.
    """
    with tempfile.TemporaryDirectory() as folder:
        if shift != "y":
            library = Path(folder, "library.so")
            words = ["cc", "-shared", "-fPIC", "-fno-builtin", f"-DSHIFT={shift}", "-o", library]
            words += ["-x", "c", "-", "-ldl", "-lm"]
            subprocess.run(words, input=SHIFTED_LIBRARY, text=True, check=True)
            environment["LD_PRELOAD"] = str(library)
        words = [sys.executable, __file__, "--print-rows", kind_of_sum]
        done = subprocess.run(
            words, env={**os.environ, **environment}, stdout=subprocess.PIPE, check=True
        )
    rows = [Row(*fields) for fields in json.loads(done.stdout)]
    return {(row.entry, row.text): row for row in rows}


def compute_dependences() -> Rows:
    """Return the rows, and find out on which parts of the system each row depends."""
    rows = compute_apart("plain")
    variants = {
        "library": compute_apart("plain", "y * (1 + 1e-7) + 1e-7"),
        "sum": compute_apart("compensated"),
    }
    return {
        key: row._replace(
            depends=", ".join(part for part, other in variants.items() if other[key] != row)
        )
        for key, row in rows.items()
    }


def add_floats(values: Iterable, start=0, *, is_compensated: bool):
    """Add numbers as `sum()` does before Python 3.12, or as it does since (Neumaier 1974)."""
    values = list(values)
    if not any(isinstance(value, float) for value in values):
        return native_sum(values, start)
    total, correction = float(start), 0.0
    for value in map(float, values):
        larger, smaller = sorted((total, value), key=abs, reverse=True)
        total += value
        correction += (larger - total) + smaller if is_compensated else 0.0
    return total + correction if correction and math.isfinite(correction) else total


native_sum = sum


def print_rows(kind_of_sum: str) -> None:
    """Print the rows of all entries as JSON, computed with one kind of `sum()`."""
    is_compensated = kind_of_sum == "compensated"
    builtins.sum = functools.partial(add_floats, is_compensated=is_compensated)
    for name in ("metrics.pairwise_scores", "metrics.bleu", "pairwise.utility"):
        vars(import_module(f"truebleu.{name}"))["COMPENSATED"] = is_compensated
    rows, missing = compute_available_rows()
    for entry, reason in missing.items():
        sys.stderr.write(f"{entry} is not available: {reason}\n")
    json.dump([*rows.values()], sys.stdout)


def accept() -> None:
    """Write today's scores into the table, and print what remains to be done."""
    changelog = CHANGELOG.read_text("utf-8")
    release = read_release(changelog)
    if release.date != "unreleased":
        sys.exit(
            f"CHANGELOG.md: {release.version} is released, and its scores do not change. Start "
            "the section '## [X.Y.Z] - unreleased' of the next release."
        )
    library, old_rows = read_table() if TABLE.exists() else (fingerprint_library(), {})
    if library != fingerprint_library():
        sys.exit(
            f"{TABLE.name}: the mathematical library differs from the recorded one (expected "
            f"{library}, found {fingerprint_library()}). Accept the scores on Linux with glibc."
        )
    new_rows = compute_dependences()
    available = {entry for entry, _ in new_rows}
    entries = list_entries()
    rows: Rows = {}
    for key in dict.fromkeys([*new_rows, *old_rows]):
        old, new = old_rows.get(key), new_rows.get(key)
        if new and (not old or old.content == new.content or release.is_first):
            rows[key] = new._replace(changed=old.changed if old else "")
        elif new:
            rows[key] = new._replace(changed=release.version)
        elif old and OPTIONAL.fullmatch(old.entry) and old.entry not in available:
            rows[key] = old  # its package is not installed here
        elif (
            old
            and not release.is_first
            and (old.score != "removed" or old.changed == release.version)
        ):
            rows[key] = Row(*key, "removed", "", "", release.version, "")
    order = {entry: i for i, entry in enumerate(entries)}
    lines = sorted(rows.values(), key=lambda row: order.get(row.entry, len(order)))
    heading = f"# Written by {COMMAND}; mathematical library: {fingerprint_library()}"
    text = "\n".join([heading, *("\t".join(row) for row in (Row(*Row._fields), *lines))])
    TABLE.write_text(text + "\n", encoding="utf-8", newline="\n")
    changes = find_changes(old_rows, rows, library)
    sys.stdout.write(f"{TABLE.name}: {len(rows)} rows, {len(changes)} changed\n")
    for instruction in list_unannounced(changelog, digest_table(), rows.values()):
        sys.stdout.write(f'CHANGELOG.md, {release.version}, section "Scores": {instruction}\n')


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    group = parser.add_mutually_exclusive_group(required=True)
    accept_help = "write today's scores to scores.tsv; this takes minutes"
    group.add_argument("--accept", action="store_true", help=accept_help)
    kinds = ["plain", "compensated"]
    group.add_argument("--print-rows", choices=kinds, help="print rows with one kind of sum()")
    arguments = parser.parse_args()
    if arguments.accept:
        accept()
    else:
        print_rows(arguments.print_rows)


if __name__ == "__main__":
    main()
