"""Test sets that are text already: a file for the source, a file for the reference."""

from __future__ import annotations

import os

from ..utils import smart_open
from .base import Dataset


class PlainTextDataset(Dataset):
    """A test set of plain text, a line a segment."""

    def process_to_text(self, langpair: str | None = None) -> None:
        """Copies the files, without white space at the ends of lines."""
        self.maybe_download()
        for pair, files in self._get_langpair_metadata(langpair).items():
            for field, name in zip(self.fieldnames(pair), files, strict=False):
                with smart_open(os.path.join(self._rawdir, name)) as lines:
                    self._write(pair, field, (line.rstrip() for line in lines))
