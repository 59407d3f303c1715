"""Test sets of IWSLT."""

from __future__ import annotations

from .fake_sgml import FakeSGMLDataset


class IWSLTXMLDataset(FakeSGMLDataset):
    """A test set of IWSLT. Its files are read like WMT's old ones."""
