"""Test sets that are text already: a file for the source, a file for the reference."""

from __future__ import annotations

from .base import Dataset


class PlainTextDataset(Dataset):
    """A test set of plain text, one segment per line, without white space at the ends of lines."""
