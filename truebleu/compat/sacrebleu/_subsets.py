"""Parts of test sets: by the original language of documents, and by what they are about."""

from __future__ import annotations

from ._messages import TestSetError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import TypeVar

    from .dataset import Dataset

    Segment = TypeVar("Segment")

# What a subset begins with that names a country, not a domain.
COUNTRY = "country:"


def filter_subset(
    systems: Iterable[Iterable[Segment]],
    test_sets: str | None,
    langpair: str | None,
    origlang: str | None,
    subset: str | None = None,
) -> Iterable[Iterable[Segment]]:
    """Of each system (or other list of segments), those of some documents of the test sets.

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
    is_wanted = _of_language(origlang), _about(subset)
    kept = [
        keep for test_set in test_sets.split(",") for keep in _kept(test_set, langpair, *is_wanted)
    ]
    return [
        [segment for segment, keep in zip(system, kept, strict=False) if keep] for system in systems
    ]


def _of_language(wanted: str | None) -> Callable[[str], bool]:
    """Whether a document's original language is the wanted one."""
    if wanted is None:
        return lambda _: True
    if wanted.startswith("non-"):
        return lambda language: language != wanted.removeprefix("non-")
    return lambda language: language == wanted


def _about(wanted: str | None) -> Callable[[str | None], bool] | None:
    """Whether a document's annotation matches a regular expression; None if all will do."""
    import re

    if wanted is None:
        return None
    try:
        pattern = re.compile(wanted.removeprefix(COUNTRY))
    except re.error as error:
        raise ValueError(f"--subset {wanted!r} is no regular expression: {error}") from None
    return lambda annotation: annotation is not None and pattern.search(annotation) is not None


def _kept(
    test_set: str,
    langpair: str,
    of_language: Callable[[str], bool],
    about: Callable[[str | None], bool] | None,
) -> Iterator[bool]:
    """Whether each segment of a test set is wanted."""
    from .dataset import DATASETS, SUBSETS
    from .dataset.wmt_xml import WMTXMLDataset

    dataset = DATASETS[test_set]
    path = dataset.raw_file(langpair)
    if isinstance(dataset, WMTXMLDataset):
        fields = dataset.fields(path)
        domains = fields.get("domain", [None] * len(fields["origlang"]))
        for language, domain in zip(fields["origlang"], domains, strict=True):
            yield of_language(language) and (about is None or about(domain or None))
        return
    if not path.endswith(".sgm"):
        raise TestSetError(
            f"--origlang and --subset supports only WMT *.xml and *.sgm files, not {path!r}"
        )
    annotations: Mapping[str, str] = {}
    if about is not None:
        if test_set not in SUBSETS:
            raise TestSetError(f"No subset annotation available for test set {test_set}")
        annotations = SUBSETS[test_set]
    keep = False
    for line in _lines(path):
        if line.startswith("<doc "):
            keep = of_language(_attribute("origlang", line)) and (
                about is None or about(annotations.get(_attribute("docid", line), ""))
            )
        if line.startswith("<seg "):
            yield keep


def _lines(path: str) -> Iterator[str]:
    from .utils import smart_open

    with smart_open(path) as file:
        yield from file


def _attribute(name: str, line: str) -> str:
    """The value of a document's attribute: the last in the line; the line itself without one."""
    import re

    found = re.match(rf'.* {name}="([^"]+)".*\n', line)
    return found[1] if found else line


def get_available_origlangs(test_sets: str | None, langpair: str) -> list[str]:
    """The original languages of the documents of test sets."""
    from .dataset.wmt_xml import WMTXMLDataset

    languages: set[str] = set()
    for dataset in _datasets(test_sets):
        path = dataset.raw_file(langpair)
        if isinstance(dataset, WMTXMLDataset):
            languages |= set(dataset.fields(path)["origlang"])
        if path.endswith(".sgm"):
            documents = (line for line in _lines(path) if line.startswith("<doc "))
            languages |= {_attribute("origlang", line) for line in documents}
    return sorted(languages)


def get_available_subsets(test_sets: str | None, langpair: str) -> list[str]:
    """The domains of the documents of test sets, and the countries that they are about."""
    from .dataset import SUBSETS
    from .dataset.wmt_xml import WMTXMLDataset

    subsets: set[str] = set()
    for dataset in _datasets(test_sets):
        if isinstance(dataset, WMTXMLDataset):
            subsets |= set(dataset.fields(dataset.raw_file(langpair)).get("domain", ()))
        for annotation in SUBSETS.get(dataset.name, {}).values():
            country, domain, *_ = annotation.split("-")
            subsets |= {f"{COUNTRY}{country}", domain}
    return sorted(subsets)


def _datasets(test_sets: str | None) -> list[Dataset]:
    from .dataset import DATASETS

    return [] if test_sets is None else [DATASETS[name] for name in test_sets.split(",")]
