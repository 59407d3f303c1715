"""sacreBLEU's helpers: reading files, finding test sets, small arithmetic, printing."""

from __future__ import annotations

import os
import sys
from math import log

from ._download import download_file, extract_tarball, get_md5sum
from ._messages import TestSetError, logger
from ._report import (
    Color,
    _format_score_lines,
    print_results_table,
    print_single_results,
    print_subset_results,
)
from ._subsets import filter_subset, get_available_origlangs, get_available_subsets

TYPE_CHECKING = False
if TYPE_CHECKING:
    import logging
    from collections.abc import Iterable, Sequence
    from typing import IO, Any

    from .dataset import DATASETS, SUBSETS, Dataset

    sacrelogger: logging.Logger

__all__ = [
    "DATASETS",
    "SACREBLEU_DIR",
    "SUBSETS",
    "USERHOME",
    "Color",
    "_format_score_lines",
    "args_to_dict",
    "download_file",
    "download_test_set",
    "extract_tarball",
    "filter_subset",
    "get_available_origlangs",
    "get_available_subsets",
    "get_available_testsets",
    "get_available_testsets_for_langpair",
    "get_files",
    "get_langpairs_for_testset",
    "get_md5sum",
    "get_reference_files",
    "get_source_file",
    "my_log",
    "print_results_table",
    "print_single_results",
    "print_subset_results",
    "print_test_set",
    "sacrelogger",
    "sanity_check_lengths",
    "smart_open",
    "sum_of_lists",
]

USERHOME = os.path.expanduser("~")
# Where test sets and tokenizers' models are kept.
SACREBLEU_DIR = os.environ.get("SACREBLEU", os.path.join(USERHOME, ".sacrebleu"))


def __getattr__(name: str) -> Any:
    """What takes long to make is made when it is asked for."""
    if name in ("DATASETS", "SUBSETS"):
        from . import dataset

        return getattr(dataset, name)
    if name == "sacrelogger":
        return logger()
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def smart_open(file: str, mode: str = "rt", encoding: str = "utf-8") -> IO[Any]:
    """A text file, decompressed if its name ends in .gz; lines end at newlines only."""
    if file.endswith(".gz"):
        import gzip

        return gzip.open(file, mode, encoding=encoding, newline="\n")  # type: ignore[return-value]
    return open(file, mode=mode, encoding=encoding, newline="\n")


def my_log(num: float) -> float:
    """The natural logarithm; of 0 a number so low that its exponential is 0."""
    return -9999999999 if num == 0.0 else log(num)


def sum_of_lists(lists: Sequence[Sequence[Any]]) -> Sequence[Any]:
    """The sum of rows of numbers of one kind, added one after the other."""
    if len(lists) == 1:
        return lists[0]
    # Not sum(): since Python 3.12 it adds floats with compensation.
    total = [type(lists[0][0])(0.0)] * len(lists[0])
    for row in lists:
        total = [before + row[i] for i, before in enumerate(total)]
    return total


def args_to_dict(args: Any, prefix: str, strip_prefix: bool = False) -> dict[str, Any]:
    """The options whose names begin with `prefix` and an underscore."""
    prefix += "_"
    return {
        name.replace(prefix, "") if strip_prefix else name: value
        for name, value in vars(args).items()
        if name.startswith(prefix)
    }


def sanity_check_lengths(
    system: Sequence[str], refs: Sequence[Sequence[str]], test_set: str | None = None
) -> None:
    """Ends the process, with the reason logged, unless all have the same number of segments."""
    if all(len(references) == len(system) for references in refs):
        return
    say = logger().error
    say("System and reference streams have different lengths.")
    if test_set:
        say(
            "This could be an issue with your system output "
            "or with sacreBLEU's reference database if -t is given."
        )
        say("For the latter, try cleaning out the cache by typing:\n")
        say(f"  rm -r {SACREBLEU_DIR}/{test_set}\n")
        say("The test sets will be re-downloaded the next time you run sacreBLEU.")
    sys.exit(1)


def _dataset(test_set: str) -> Dataset:
    from .dataset import DATASETS

    if test_set not in DATASETS:
        raise TestSetError(f"No such test set {test_set}")
    return DATASETS[test_set]


def get_source_file(test_set: str, langpair: str) -> str:
    """The path of a test set's source, which is downloaded first if it must be."""
    return _dataset(test_set).get_source_file(langpair)


def get_reference_files(test_set: str, langpair: str) -> list[str]:
    """The paths of a test set's references, which are downloaded first if they must be."""
    return _dataset(test_set).get_reference_files(langpair)


def get_files(test_set: str, langpair: str | None) -> list[str]:
    """The paths of all fields of a test set: the source, the references, and what else it has."""
    return _dataset(test_set).get_files(langpair)


def download_test_set(test_set: str, langpair: str | None = None) -> list[str]:
    """Downloads a test set, and gives the paths of its files."""
    return _dataset(test_set).get_files(langpair)


def get_langpairs_for_testset(testset: str) -> list[str]:
    """The language pairs of a test set; none if there is no such test set."""
    from .dataset import DATASETS

    return list(DATASETS[testset].langpairs) if testset in DATASETS else []


def get_available_testsets() -> list[str]:
    """The names of all test sets, the newest first."""
    from .dataset import DATASETS

    return sorted(DATASETS, reverse=True)


def get_available_testsets_for_langpair(langpair: str) -> list[str]:
    """The names of the test sets that have a language pair, in either direction."""
    from .dataset import DATASETS

    source, target = languages(langpair)
    either = (f"{source}-{target}", f"{target}-{source}")
    return [
        each.name for each in DATASETS.values() if any(pair in each.langpairs for pair in either)
    ]


def languages(langpair: str) -> tuple[str, str]:
    """The source and the target language of a pair.

    >>> languages("en-de")
    ('en', 'de')
    """
    source, dash, target = langpair.partition("-")
    if not dash:
        raise ValueError(f"A language pair has a hyphen, as in en-de; {langpair!r} has none.")
    return source, target.partition("-")[0]


def print_test_set(
    test_set: str,
    langpair: str,
    requested_fields: Sequence[str],
    origlang: str | None = None,
    subset: str | None = None,
) -> None:
    """Prints fields of a test set, a line a segment, with tabs between fields.

    origlang: only segments of this original language; "non-" before it means all others.
    subset: only segments of documents whose annotation matches this regular expression.
    """
    dataset = _dataset(test_set)
    names, files = dataset.fieldnames(langpair), dataset.get_files(langpair)
    if "all" in requested_fields:
        if len(requested_fields) != 1:
            logger().error("Cannot use --echo all with other fields")
            sys.exit(1)
        requested_fields = names
    if "ref" in requested_fields and "ref" not in names:
        first = _first_reference(names)
        requested_fields = [first if field == "ref" else field for field in requested_fields]
    for field in requested_fields:
        if field not in names:
            _no_such_field(field, test_set, langpair, names)
    opened = [smart_open(files[names.index(field)]) for field in requested_fields]
    streams: Iterable[Iterable[str]] = opened
    streams = filter_subset(streams, test_set, langpair, origlang, subset)
    for lines in zip(*streams, strict=False):
        print("\t".join(line.rstrip() for line in lines))
    for file in opened:
        file.close()


def _first_reference(names: Iterable[str]) -> str:
    """What `ref` means where references have names of their own."""
    return min((name for name in names if name.startswith("ref")), default="ref")


def _no_such_field(field: str, test_set: str, langpair: str, names: Sequence[str]) -> None:
    say = logger().error
    say(f"No such field {field} in test set {test_set} for language pair {langpair}.")
    say(f"available fields for {test_set}/{langpair}: {', '.join(names)}")
    if "ref" not in names:
        first = _first_reference(names)
        say(f"'ref' also allowed for backwards compatibility (will return {first})")
    sys.exit(1)
