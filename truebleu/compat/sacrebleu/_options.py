"""The options of sacreBLEU's command: what there are, and how a command line is read.

Most command lines are plain, and are read here in no time. All others, the wrong ones too, are
left to argparse, with the same options.
"""

from __future__ import annotations

import os
from types import SimpleNamespace

from .version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Sequence
    from typing import Any

    Row = tuple[tuple[str, ...], dict[str, Any]]

FORMATS = ("json", "text", "latex")
METRICS = ("bleu", "chrf", "ter")
SMOOTHING = ("none", "floor", "add-k", "exp")
TOKENIZERS = (
    "none",
    "zh",
    "13a",
    "intl",
    "char",
    "ja-mecab",
    "ko-mecab",
    "spm",
    "flores101",
    "flores200",
    "spBLEU-1K",
)


class Options(SimpleNamespace):
    """What a command line says, by the names that argparse gives."""


def _flag(*names: str, help: str, **more: Any) -> Row:  # noqa: A002
    return names, {"action": "store_true", "help": help, **more}


def _value(*names: str, help: str, **more: Any) -> Row:  # noqa: A002
    return names, {"default": None, "help": help, **more}


# The groups of options, each with its title and its rows; in the order of sacreBLEU, which decides
# how the usage reads.
GENERAL = (
    _flag("--citation", "--cite", help="print the BibTeX entry of a test set (-t)"),
    _flag("--list", help="list the test sets; with -t, the fields of one"),
    _value(
        "--test-set",
        "-t",
        help="the test set to score on (see --list); several, with commas between them, "
        "are scored as one",
    ),
    _value("--language-pair", "-l", dest="langpair", help="source and target language, as en-de"),
    _value(
        "--origlang",
        "-ol",
        dest="origlang",
        help="only segments of this original language; non-de for all others",
    ),
    _value(
        "--subset",
        dest="subset",
        help="only segments of documents whose annotation matches this regular expression",
    ),
    _value("--download", help="download a test set and do nothing else"),
    _value(
        "--echo",
        nargs="+",
        help="print fields of a test set (src, ref, docid ...; see --list -t) with tabs between "
        "them; 'all' prints all fields",
    ),
    _value("--input", "-i", nargs="*", help="the outputs of systems, a file each; else read stdin"),
    (("refs",), {"nargs": "*", "default": [], "help": "files of references, before -i"}),
    _value(
        "--num-refs",
        "-nr",
        type=int,
        default=1,
        help="how many references with tabs between them the file has (%(default)s)",
    ),
    _value("--encoding", "-e", default="utf-8", help="the encoding of the files (%(default)s)"),
    _value(
        "--metrics",
        "-m",
        choices=METRICS,
        nargs="+",
        default=["bleu"],
        help="the metrics to compute (bleu)",
    ),
    _flag("--sentence-level", "-sl", help="score each segment"),
)
BLEU = (
    _value(
        "--smooth-method",
        "-s",
        choices=SMOOTHING,
        default="exp",
        dest="bleu_smooth_method",
        help="what to do about orders without a match: halve (exp), count a little (floor), add "
        "to matches and totals (add-k), nothing (none) (%(default)s)",
    ),
    _value(
        "--smooth-value",
        "-sv",
        type=float,
        dest="bleu_smooth_value",
        help="the value of floor (0.1) or add-k (1)",
    ),
    _value(
        "--tokenize",
        "-tok",
        choices=TOKENIZERS,
        dest="bleu_tokenize",
        help="the tokenizer (by the target language zh, ja-mecab, ko-mecab, else 13a)",
    ),
    _flag("--lowercase", "-lc", dest="bleu_lowercase", default=False, help="lower-case the text"),
    _flag(
        "--force", default=False, dest="bleu_force", help="do not warn of text that looks tokenized"
    ),
)
CHRF = (
    _value(
        "--chrf-char-order", "-cc", type=int, default=6, help="character n-gram order (%(default)s)"
    ),
    _value(
        "--chrf-word-order",
        "-cw",
        type=int,
        default=0,
        help="word n-gram order (%(default)s); 2 is chrF++",
    ),
    _value("--chrf-beta", type=int, default=2, help="weight of recall (%(default)s)"),
    _flag("--chrf-whitespace", default=False, help="count white space as characters"),
    _flag("--chrf-lowercase", default=False, help="lower-case the text"),
    _flag(
        "--chrf-eps-smoothing",
        default=False,
        help="smooth with a small number, as chrF++.py, NLTK and Moses do",
    ),
)
TER = (
    _flag("--ter-case-sensitive", help="do not lower-case the text"),
    _flag("--ter-asian-support", help="split Chinese and Japanese characters"),
    _flag("--ter-no-punct", help="remove punctuation"),
    _flag("--ter-normalized", help="normalize and tokenize"),
)
INTERVALS = (
    _flag("--confidence", "-ci", help="a 95%% confidence interval by bootstrap resampling"),
    _value("--confidence-n", "-cin", type=int, default=1000, help="resamples (%(default)s)"),
)
# Of these two one may be given.
TESTS = (
    _flag("--paired-ar", "-par", help="test by approximate randomization"),
    _flag("--paired-bs", "-pbs", help="test by bootstrap resampling"),
)
PAIRED = (
    _value("--paired-ar-n", "-parn", type=int, default=10000, help="trials (%(default)s)"),
    _value("--paired-bs-n", "-pbsn", type=int, default=1000, help="resamples (%(default)s)"),
    _value(
        "--paired-jobs",
        "-j",
        type=int,
        default=1,
        help="processes to test with; 0 for one a system (%(default)s)",
    ),
)
REPORT = (
    _flag("--quiet", "-q", default=False, help="print errors only"),
    _flag("--short", "-sh", default=False, help="print short signatures"),
    _flag("--score-only", "-b", default=False, help="print nothing but the score"),
    _value("--width", "-w", type=int, default=1, help="digits after the point (%(default)s)"),
    _flag("--detail", "-d", default=False, help="also score by original language and domain"),
    _flag("--no-color", "-nc", help="no colours"),
    _value(
        "--format",
        "-f",
        default="json",
        choices=FORMATS,
        help="the output format; the environment variable SACREBLEU_FORMAT goes before it "
        "(%(default)s)",
    ),
)
WITH_TESTS = "paired significance tests (several systems)"
GROUPS = (
    ("BLEU", BLEU),
    ("chrF", CHRF),
    ("TER (the defaults are tercom's)", TER),
    ("confidence intervals (one system)", INTERVALS),
    (WITH_TESTS, (*TESTS, *PAIRED)),
    ("output", REPORT),
)


def read(words: Sequence[str]) -> Options:
    """What a command line says. Ends the process if it is wrong, or asks for help."""
    options = read_plain(words)
    if options is None:
        options = Options(**vars(parser().parse_args(list(words))))
    wanted = os.environ.get("SACREBLEU_FORMAT", "").lower()
    if wanted in FORMATS:
        options.format = wanted
    return options


def every_row() -> list[Row]:
    """All options with what they take."""
    return [row for rows in (GENERAL, *(rows for _, rows in GROUPS)) for row in rows]


def read_plain(words: Sequence[str]) -> Options | None:
    """What a plain command line says; None if argparse must look at it.

    Plain are references first, then options by their whole names, each once, with their values
    behind them.
    """
    rows = every_row()
    by_name = {name: row for row in rows for name in row[0]}
    values = {_attribute(row): row[1].get("default", False) for row in rows}
    (_, *refs), *groups = _grouped(words)
    if refs:
        values["refs"] = refs
    given: set[str] = set()
    for name, *following in groups:
        row = by_name.get(name)
        value = None if row is None else _plain_value(row[1], following)
        if row is None or value is None or _attribute(row) in given:
            return None
        given.add(_attribute(row))
        values[_attribute(row)] = value
    if given.issuperset(map(_attribute, TESTS)):
        return None
    return Options(**values)


def _grouped(words: Sequence[str]) -> list[list[str]]:
    """Each option with the words behind it; first the words before all options, behind nothing."""
    groups = [[""]]
    for word in words:
        if word.startswith("-"):
            groups.append([word])
        else:
            groups[-1].append(word)
    return groups


def _attribute(row: Row) -> str:
    """The name of an option's value."""
    names, settings = row
    return settings.get("dest") or names[0].lstrip("-").replace("-", "_")


def _plain_value(settings: dict[str, Any], words: list[str]) -> Any:
    """What the words behind an option mean; None if argparse must look at them."""
    if "action" in settings:
        return None if words else True
    nargs = settings.get("nargs")
    if (nargs is None and len(words) != 1) or (nargs == "+" and not words):
        return None
    try:
        values = list(map(settings.get("type", str), words))
    except ValueError:
        return None
    if "choices" in settings and any(value not in settings["choices"] for value in values):
        return None
    return values if nargs else values[0]


def parser() -> ArgumentParser:
    """The parser of all command lines."""
    import argparse

    whole = argparse.ArgumentParser(
        prog="sacrebleu",
        description="BLEU, chrF and TER as sacreBLEU computes them, by truebleu.\n"
        "A system's output against references of your own, or against a test set:\n"
        "    sacrebleu reference.de -i output.de\n"
        "    sacrebleu -t wmt14 -l en-de < output.de",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for names, settings in GENERAL:
        whole.add_argument(*names, **settings)
    for title, rows in GROUPS:
        group = whole.add_argument_group(title)
        if title == WITH_TESTS:
            one_of = group.add_mutually_exclusive_group()
        for names, settings in rows:
            (one_of if (names, settings) in TESTS else group).add_argument(*names, **settings)
    whole.add_argument("--version", "-V", action="version", version=f"%(prog)s {__version__}")
    return whole
