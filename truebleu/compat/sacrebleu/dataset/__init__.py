"""Test sets: which there are, where they come from, and how their files are read.

`DATASETS` and `SUBSETS` are made of catalogue.json, which says whose work it is, when someone
asks for them.
"""

from __future__ import annotations

import os
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .base import Dataset
    from .fake_sgml import FakeSGMLDataset, WMTAdditionDataset
    from .iwslt_xml import IWSLTXMLDataset
    from .plain_text import PlainTextDataset
    from .tsv import TSVDataset
    from .wmt_xml import WMTXMLDataset

    DATASETS: dict[str, Dataset]
    SUBSETS: dict[str, dict[str, str]]
    COUNTRIES: list[str]
    DOMAINS: list[str]

__all__ = [
    "COUNTRIES",
    "DATASETS",
    "DOMAINS",
    "SUBSETS",
    "Dataset",
    "FakeSGMLDataset",
    "IWSLTXMLDataset",
    "PlainTextDataset",
    "TSVDataset",
    "WMTAdditionDataset",
    "WMTXMLDataset",
]

CLASSES = {
    "Dataset": "base",
    "FakeSGMLDataset": "fake_sgml",
    "IWSLTXMLDataset": "iwslt_xml",
    "PlainTextDataset": "plain_text",
    "TSVDataset": "tsv",
    "WMTAdditionDataset": "fake_sgml",
    "WMTXMLDataset": "wmt_xml",
}


@cache
def _catalogue() -> dict[str, Any]:
    import json

    with open(os.path.join(os.path.dirname(__file__), "catalogue.json"), encoding="utf-8") as file:
        return json.load(file)  # type: ignore[no-any-return]


def _class(name: str) -> type[Dataset]:
    from importlib import import_module

    return getattr(import_module(f".{CLASSES[name]}", __name__), name)  # type: ignore[no-any-return]


@cache
def _datasets() -> dict[str, Dataset]:
    datasets = {}
    for name, about in _catalogue()["test_sets"].items():
        addresses, sums = zip(*about["data"], strict=True)
        datasets[name] = _class(about["kind"])(
            name,
            data=list(addresses),
            description=about["description"],
            citation=about.get("citation"),
            md5=list(sums),
            langpairs=about["langpairs"],
            **{key: about[key] for key in ("refs",) if key in about},
        )
    return datasets


def __getattr__(name: str) -> Any:
    """What takes long to make is made when it is asked for."""
    if name == "DATASETS":
        return _datasets()
    if name == "SUBSETS":
        return _catalogue()["subsets"]
    if name in ("COUNTRIES", "DOMAINS"):
        place = ("COUNTRIES", "DOMAINS").index(name)
        annotations = _catalogue()["subsets"]["wmt19"].values()
        return sorted({annotation.split("-")[place] for annotation in annotations})
    if name in CLASSES:
        return _class(name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
