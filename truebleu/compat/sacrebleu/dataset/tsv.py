"""Test sets in tables with tabs between their columns, as MTNT's are."""

from __future__ import annotations

import os

from .._files import read_lines
from .._messages import TestSetError
from .base import Dataset

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class TSVDataset(Dataset):
    """A test set in tables; a file is named with its column: "2:en-fr.tsv"."""

    @staticmethod
    def _split_index_and_filename(meta: str, field: str) -> tuple[int, str]:
        """The column, counted from 0, and the name of the file.

        >>> TSVDataset._split_index_and_filename("3:en-de.tsv", "src")
        (3, 'en-de.tsv')
        >>> TSVDataset._split_index_and_filename("en-de.tsv", "ref")
        (1, 'en-de.tsv')
        """
        parts = meta.split(":")
        if len(parts) != 2:
            return (0 if field == "src" else 1), meta
        if not parts[0].strip().lstrip("+-").isdecimal():
            raise TestSetError(f"Invalid meta for TSVDataset: {meta}")
        return int(parts[0]), parts[1]

    def _texts(self, langpair: str) -> Iterator[tuple[str, Iterable[str]]]:
        files = self._get_langpair_metadata(langpair)[langpair]
        for field, meta in zip(self.fieldnames(langpair), files, strict=False):
            column, name = self._split_index_and_filename(meta, field)
            yield field, self._cells(os.path.join(self._rawdir, name), column)

    @staticmethod
    def _cells(path: str, column: int) -> Iterator[str]:
        """One column. Cells may be empty, the last ones too."""
        for number, line in enumerate(read_lines(path), 1):
            cells = line.rstrip("\n").split("\t")
            if column >= len(cells):
                raise TestSetError(f"{path}, line {number}: no column {column + 1}")
            yield cells[column]
