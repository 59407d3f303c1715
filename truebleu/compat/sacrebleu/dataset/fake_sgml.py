"""Test sets in what looks like SGML: WMT's before 2021."""

from __future__ import annotations

from .base import Dataset


class FakeSGMLDataset(Dataset):
    """A test set in files of segments, a file for the source and one for each reference."""


class WMTAdditionDataset(FakeSGMLDataset):
    """A WMT test set with references from elsewhere, which may be plain text."""
