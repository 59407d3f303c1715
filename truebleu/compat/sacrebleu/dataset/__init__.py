"""Test sets: their catalogue, and the classes that read their files.

`DATASETS` and `SUBSETS` are made of the catalogue in truebleu/testsets/registry.json, which says
whose work it is, when they are first used.
"""

from __future__ import annotations

from functools import cache

from truebleu.testsets.catalogue import builtin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .base import Dataset as Dataset
    from .fake_sgml import FakeSGMLDataset as FakeSGMLDataset
    from .fake_sgml import WMTAdditionDataset as WMTAdditionDataset
    from .iwslt_xml import IWSLTXMLDataset as IWSLTXMLDataset
    from .plain_text import PlainTextDataset as PlainTextDataset
    from .tsv import TSVDataset as TSVDataset
    from .wmt_xml import WMTXMLDataset as WMTXMLDataset

    DATASETS: dict[str, Dataset]
    SUBSETS: dict[str, dict[str, str]]
    COUNTRIES: list[str]
    DOMAINS: list[str]

# Each class, and its module.
CLASSES = {
    "Dataset": "base",
    "FakeSGMLDataset": "fake_sgml",
    "IWSLTXMLDataset": "iwslt_xml",
    "PlainTextDataset": "plain_text",
    "TSVDataset": "tsv",
    "WMTAdditionDataset": "fake_sgml",
    "WMTXMLDataset": "wmt_xml",
}

# What sacreBLEU's catalogue says of a test set beside its archives.
DESCRIBED = ("description", "citation", "langpairs", "refs")


def _class(name: str) -> type[Dataset]:
    from importlib import import_module

    return getattr(import_module(f".{CLASSES[name]}", __name__), name)  # type: ignore[no-any-return]


@cache
def _datasets() -> dict[str, Dataset]:
    datasets = {}
    for name, about in builtin()["test_sets"].items():
        addresses, sums = map(list, zip(*(each[:2] for each in about["data"]), strict=True))
        described = {key: about[key] for key in DESCRIBED if key in about}
        kind = _class(f"{about['kind']}Dataset")
        datasets[name] = kind(name, data=addresses, md5=sums, **described)
    return datasets


def __getattr__(name: str) -> Any:
    """Names whose values take long to make, made when they are first used."""
    if name == "DATASETS":
        return _datasets()
    if name == "SUBSETS":
        return builtin()["subsets"]
    if name in ("COUNTRIES", "DOMAINS"):
        place = ("COUNTRIES", "DOMAINS").index(name)
        annotations = builtin()["subsets"]["wmt19"].values()
        return sorted({annotation.split("-")[place] for annotation in annotations})
    if name in CLASSES:
        return _class(name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
