"""Parts of test sets: by the original language of documents, and by their subject."""

from __future__ import annotations

import re

from truebleu.testsets import readers

from . import dataset as _sets
from ._messages import TestSetError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeVar

    Segment = TypeVar("Segment")

# The prefix of subsets that name a country, not a domain.
COUNTRY = "country:"


def filter_subset(
    systems: Iterable[Iterable[Segment]],
    test_sets: str | None,
    langpair: str | None,
    origlang: str | None,
    subset: str | None = None,
) -> Iterable[Iterable[Segment]]:
    """The segments of each system (or other list of segments) that belong to some documents.

    test_sets: names with commas between them; `systems` has their segments one after the other.
    origlang: the original language of the documents; "non-" before it means all others.
    subset: a regular expression that the annotation of the documents matches.
    """
    if origlang is None and subset is None:
        return systems
    if test_sets is None or langpair is None:
        raise ValueError(
            "Filtering for --origlang or --subset needs a test (-t) and a language pair (-l)."
        )
    try:
        pattern = None if subset is None else re.compile(subset.removeprefix(COUNTRY))
    except re.error as error:
        raise ValueError(f"--subset {subset!r} is not a regular expression: {error}") from None
    kept = [
        language is not None
        and _is_of(language, origlang)
        and (pattern is None or (about is not None and pattern.search(about) is not None))
        for dataset in _datasets(test_sets)
        for language, about in _documents(dataset, langpair, annotated=subset is not None)
    ]
    return [
        [segment for segment, keep in zip(system, kept, strict=False) if keep] for system in systems
    ]


def _is_of(language: str, wanted: str | None) -> bool:
    if wanted is None or not wanted.startswith("non-"):
        return wanted in (None, language)
    return language != wanted.removeprefix("non-")


def _documents(
    dataset: _sets.Dataset, langpair: str, *, annotated: bool
) -> Iterator[tuple[str | None, str | None]]:
    """For each segment the original language of its document, and the document's annotation."""
    path = dataset.raw_files(langpair)[0]
    if isinstance(dataset, _sets.WMTXMLDataset):
        fields = dataset.fields(path)
        domains = fields.get("domain", [""] * len(fields["origlang"]))
        about: Iterable[str | None] = (domain or None for domain in domains)
        yield from zip(fields["origlang"], about, strict=True)
        return
    if not path.endswith(".sgm"):
        raise TestSetError(
            f"--origlang and --subset supports only WMT *.xml and *.sgm files, not {path!r}"
        )
    if annotated and dataset.name not in _sets.SUBSETS:
        raise TestSetError(f"No subset annotation available for test set {dataset.name}")
    annotations = _sets.SUBSETS.get(dataset.name, {})
    for language, document in readers.documents(path):
        yield language, None if document is None else annotations.get(document, "")


def get_available_origlangs(test_sets: str | None, langpair: str) -> list[str]:
    """The original languages of the documents of test sets."""
    languages: set[str] = set()
    for dataset in _datasets(test_sets):
        path = dataset.raw_files(langpair)[0]
        if isinstance(dataset, _sets.WMTXMLDataset):
            languages |= set(dataset.fields(path)["origlang"])
        if path.endswith(".sgm"):
            languages |= {language for language, _ in readers.documents(path) if language}
    return sorted(languages)


def get_available_subsets(test_sets: str | None, langpair: str) -> list[str]:
    """The domains of the documents of test sets, and the countries that they are about."""
    subsets: set[str] = set()
    for dataset in _datasets(test_sets):
        if isinstance(dataset, _sets.WMTXMLDataset):
            subsets |= set(dataset.fields(dataset.raw_files(langpair)[0]).get("domain", ()))
        for annotation in _sets.SUBSETS.get(dataset.name, {}).values():
            country, domain, *_ = annotation.split("-")
            subsets |= {f"{COUNTRY}{country}", domain}
    return sorted(subsets)


def _datasets(test_sets: str | None) -> list[_sets.Dataset]:
    return [] if test_sets is None else [_sets.DATASETS[name] for name in test_sets.split(",")]
