"""Test sets in tables with tabs between their columns, as MTNT's are."""

from __future__ import annotations

from truebleu.testsets import readers

from .base import Dataset, readable


class TSVDataset(Dataset):
    """A test set in tables; a file is named with its column: "2:en-fr.tsv"."""

    @staticmethod
    def _split_index_and_filename(meta: str, field: str) -> tuple[int, str]:
        """The column, counted from 0, and the name of the file.

        >>> TSVDataset._split_index_and_filename("3:en-de.tsv", "src")
        (3, 'en-de.tsv')
        """
        with readable():
            return readers.index_and_file(meta, field)
