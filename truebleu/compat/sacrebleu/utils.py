"""sacreBLEU's helpers: reading files, finding test sets, small arithmetic, printing."""

# ruff: noqa: PLC0414 (an alias marks a name that programs import from here)
from __future__ import annotations

from math import log

from . import dataset as _sets
from ._download import download_file as download_file
from ._download import extract_tarball as extract_tarball
from ._download import get_md5sum as get_md5sum
from ._files import SACREBLEU_DIR as SACREBLEU_DIR
from ._files import USERHOME as USERHOME
from ._files import read_lines
from ._files import sanity_check_lengths as sanity_check_lengths
from ._files import smart_open as smart_open
from ._messages import TestSetError, fail, logger
from ._options import args_to_dict as args_to_dict
from ._report import Color as Color
from ._report import _format_score_lines as _format_score_lines
from ._report import print_results_table as print_results_table
from ._report import print_single_results as print_single_results
from ._report import print_subset_results as print_subset_results
from ._subsets import filter_subset as filter_subset
from ._subsets import get_available_origlangs as get_available_origlangs
from ._subsets import get_available_subsets as get_available_subsets
from .metrics.helpers import sum_of_lists as sum_of_lists

TYPE_CHECKING = False
if TYPE_CHECKING:
    import logging
    from collections.abc import Iterable, Sequence
    from typing import Any, NoReturn

    from .dataset import DATASETS as DATASETS
    from .dataset import SUBSETS as SUBSETS

    sacrelogger: logging.Logger


def __getattr__(name: str) -> Any:
    """Names whose values take long to make, made when they are first used."""
    if name in ("DATASETS", "SUBSETS"):
        return getattr(_sets, name)
    if name == "sacrelogger":
        return logger()
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def my_log(num: float) -> float:
    """The natural logarithm; for 0 a number so low that its exponential is 0."""
    return -9999999999 if num == 0.0 else log(num)


def _dataset(test_set: str) -> _sets.Dataset:
    if test_set not in _sets.DATASETS:
        raise TestSetError(f"No such test set {test_set}")
    return _sets.DATASETS[test_set]


def get_source_file(test_set: str, langpair: str) -> str:
    """The path of a test set's source, which is downloaded first if it must be."""
    return _dataset(test_set).get_source_file(langpair)


def get_reference_files(test_set: str, langpair: str) -> list[str]:
    """The paths of a test set's references, which are downloaded first if they must be."""
    return _dataset(test_set).get_reference_files(langpair)


def get_files(test_set: str, langpair: str | None) -> list[str]:
    """The paths of all fields of a test set: the source, the references and any others."""
    return _dataset(test_set).get_files(langpair)


def download_test_set(test_set: str, langpair: str | None = None) -> list[str]:
    """Downloads a test set, and returns the paths of its files."""
    return _dataset(test_set).get_files(langpair)


def get_langpairs_for_testset(testset: str) -> list[str]:
    """The language pairs of a test set; none if there is no such test set."""
    return list(_sets.DATASETS[testset].langpairs) if testset in _sets.DATASETS else []


def get_available_testsets() -> list[str]:
    """The names of all test sets, the newest first."""
    return sorted(_sets.DATASETS, reverse=True)


def get_available_testsets_for_langpair(langpair: str) -> list[str]:
    """The names of the test sets that have a language pair, in either direction."""
    source, target = languages(langpair)
    either = {f"{source}-{target}", f"{target}-{source}"}
    return [each.name for each in _sets.DATASETS.values() if either & each.langpairs.keys()]


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
    """Prints fields of a test set, one line per segment, with tabs between fields.

    origlang: only segments of this original language; "non-" before it means all others.
    subset: only segments of documents whose annotation matches this regular expression.
    """
    dataset = _dataset(test_set)
    names, files = dataset.fieldnames(langpair), dataset.get_files(langpair)
    if "all" in requested_fields:
        if len(requested_fields) != 1:
            fail("Cannot use --echo all with other fields")
        requested_fields = names
    if "ref" in requested_fields and "ref" not in names:
        first = _first_reference(names)
        requested_fields = [first if field == "ref" else field for field in requested_fields]
    for field in requested_fields:
        if field not in names:
            _no_such_field(field, test_set, langpair, names)
    fields = [read_lines(files[names.index(field)]) for field in requested_fields]
    for lines in zip(*filter_subset(fields, test_set, langpair, origlang, subset), strict=False):
        print("\t".join(line.rstrip() for line in lines))


def _first_reference(names: Iterable[str]) -> str:
    """The field that `ref` stands for where references have names of their own."""
    return min((name for name in names if name.startswith("ref")), default="ref")


def _no_such_field(field: str, test_set: str, langpair: str, names: Sequence[str]) -> NoReturn:
    messages = [
        f"No such field {field} in test set {test_set} for language pair {langpair}.",
        f"available fields for {test_set}/{langpair}: {', '.join(names)}",
    ]
    if "ref" not in names:
        first = _first_reference(names)
        messages.append(f"'ref' also allowed for backwards compatibility (will return {first})")
    fail(*messages)
