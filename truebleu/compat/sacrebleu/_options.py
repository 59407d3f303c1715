"""The options of sacreBLEU's command, and how a command line is read.

Most command lines are plain, and are read here, which is faster. All others, the wrong ones too,
are left to argparse, with the same options.
"""

from __future__ import annotations

import os
from types import SimpleNamespace

from ._parameters import SMOOTHING, TOKENIZERS
from .version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Sequence
    from typing import Any

    Row = tuple[tuple[str, ...], dict[str, Any]]

FORMATS = ("json", "text", "latex")
METRICS = ("bleu", "chrf", "ter")


class Options(SimpleNamespace):
    """The options on a command line, by the names that argparse gives."""

    @property
    def is_paired(self) -> bool:
        """True if systems are tested against the first."""
        return bool(self.paired_ar or self.paired_bs)


def _flag(names: str, help: str, **more: Any) -> Row:  # noqa: A002
    return tuple(names.split()), {"action": "store_true", "help": help, **more}


def _value(names: str, help: str, **more: Any) -> Row:  # noqa: A002
    return tuple(names.split()), {"default": None, "help": help, **more}


# The groups of options, each with its title and its rows, in sacreBLEU's order, which the usage
# message shows.
# fmt: off
GENERAL = (
    _flag("--citation --cite", "print the BibTeX entry of a test set (-t)"),
    _flag("--list", "list the test sets; with -t, the fields of one"),
    _value("--test-set -t", "the test set to score on (see --list); several, with commas between "
           "them, are scored as one"),
    _value("--language-pair -l", "source and target language, as en-de", dest="langpair"),
    _value("--origlang -ol", "only segments of this original language; non-de for all others"),
    _value("--subset", "only segments of documents whose annotation matches this expression"),
    _value("--download", "download a test set and do nothing else"),
    _value("--echo", "print fields of a test set (src, ref, docid ...; see --list -t) with tabs "
           "between them; 'all' prints all fields", nargs="+"),
    _value("--input -i", "the outputs of systems, one file each; else read stdin", nargs="*"),
    _value("refs", "files of references, before -i", nargs="*", default=[]),
    _value("--num-refs -nr", "the number of tab-separated references in the file (%(default)s)",
           type=int, default=1),
    _value("--encoding -e", "the encoding of the files (%(default)s)", default="utf-8"),
    _value("--metrics -m", "the metrics to compute (bleu)", choices=METRICS, nargs="+",
           default=["bleu"]),
    _flag("--sentence-level -sl", "score each segment"),
)
BLEU = (
    _value("--smooth-method -s", "smoothing of n-gram orders with zero matches: halve (exp), count "
           "a little (floor), add to matches and totals (add-k), nothing (none) (%(default)s)",
           choices=SMOOTHING, default="exp", dest="bleu_smooth_method"),
    _value("--smooth-value -sv", "the value of floor (0.1) or add-k (1)", type=float,
           dest="bleu_smooth_value"),
    _value("--tokenize -tok", "the tokenizer (by the target language zh, ja-mecab, ko-mecab, else "
           "13a)", choices=TOKENIZERS, dest="bleu_tokenize"),
    _flag("--lowercase -lc", "lower-case the text", dest="bleu_lowercase"),
    _flag("--force", "do not warn of text that looks tokenized", dest="bleu_force"),
)
CHRF = (
    _value("--chrf-char-order -cc", "character n-gram order (%(default)s)", type=int, default=6),
    _value("--chrf-word-order -cw", "word n-gram order (%(default)s); 2 is chrF++", type=int,
           default=0),
    _value("--chrf-beta", "weight of recall (%(default)s)", type=int, default=2),
    _flag("--chrf-whitespace", "count white space as characters"),
    _flag("--chrf-lowercase", "lower-case the text"),
    _flag("--chrf-eps-smoothing", "smooth with a small number, as chrF++.py, NLTK and Moses do"),
)
TER = (
    _flag("--ter-case-sensitive", "do not lower-case the text"),
    _flag("--ter-asian-support", "split Chinese and Japanese characters"),
    _flag("--ter-no-punct", "remove punctuation"),
    _flag("--ter-normalized", "normalize and tokenize"),
)
INTERVALS = (
    _flag("--confidence -ci", "a 95%% confidence interval by bootstrap resampling"),
    _value("--confidence-n -cin", "resamples (%(default)s)", type=int, default=1000),
)
# Mutually exclusive.
TESTS = (
    _flag("--paired-ar -par", "test by approximate randomization"),
    _flag("--paired-bs -pbs", "test by bootstrap resampling"),
)
PAIRED = (
    _value("--paired-ar-n -parn", "trials (%(default)s)", type=int, default=10000),
    _value("--paired-bs-n -pbsn", "resamples (%(default)s)", type=int, default=1000),
    _value("--paired-jobs -j", "taken as sacreBLEU takes it; one process does it sooner "
           "(%(default)s)", type=int, default=1),
)
REPORT = (
    _flag("--quiet -q", "print errors only"),
    _flag("--short -sh", "print short signatures"),
    _flag("--score-only -b", "print nothing but the score"),
    _value("--width -w", "digits after the point (%(default)s)", type=int, default=1),
    _flag("--detail -d", "also score by original language and domain"),
    _flag("--no-color -nc", "no colours"),
    _value("--format -f", "the output format; the environment variable SACREBLEU_FORMAT goes "
           "before it (%(default)s)", default="json", choices=FORMATS),
)
# fmt: on
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
    """The options on a command line. Ends the process if it is wrong, or asks for help."""
    options = read_plain(words)
    if options is None:
        options = Options(**vars(parser().parse_args(list(words))))
    wanted = os.environ.get("SACREBLEU_FORMAT", "").lower()
    if wanted in FORMATS:
        options.format = wanted
    return options


def every_row() -> list[Row]:
    """All options with their settings."""
    return [row for rows in (GENERAL, *(rows for _, rows in GROUPS)) for row in rows]


def read_plain(words: Sequence[str]) -> Options | None:
    """The options on a plain command line; None if argparse must look at it.

    Plain are references first, then options by their whole names, each once, with their values
    behind them.
    """
    values: dict[str, Any] = {}
    by_name: dict[str, tuple[str, dict[str, Any]]] = {}
    for names, settings in every_row():
        attribute = settings.get("dest") or names[0].lstrip("-").replace("-", "_")
        values[attribute] = settings.get("default", False)
        by_name |= dict.fromkeys(names, (attribute, settings))
    given: set[str] = set()
    for name, *following in _grouped(words):
        attribute, settings = by_name.get(name, ("", {}))
        value = _plain_value(settings, following) if attribute else None
        if value is None or attribute in given:
            return None
        given.add(attribute)
        values[attribute] = value
    return None if given.issuperset(("paired_ar", "paired_bs")) else Options(**values)


def _grouped(words: Sequence[str]) -> list[list[str]]:
    """Each option with the words behind it; first the words before all options, the references."""
    groups = [["refs"]]
    for word in words:
        if word.startswith("-"):
            groups.append([word])
        else:
            groups[-1].append(word)
    return groups


def _plain_value(settings: dict[str, Any], words: list[str]) -> Any:
    """An option's value from the words behind it; None if argparse must look at them."""
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


def args_to_dict(args: Any, prefix: str, strip_prefix: bool = False) -> dict[str, Any]:
    """The options whose names begin with `prefix` and an underscore."""
    prefix += "_"
    return {
        name.replace(prefix, "") if strip_prefix else name: value
        for name, value in vars(args).items()
        if name.startswith(prefix)
    }
