"""Test sets that are text already: a file for the source, a file for the reference."""

from __future__ import annotations

from .._files import read_lines
from .base import Dataset

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class PlainTextDataset(Dataset):
    """A test set of plain text, one segment per line, without white space at the ends of lines."""

    def _texts(self, langpair: str) -> Iterator[tuple[str, Iterable[str]]]:
        for field, path in zip(self.fieldnames(langpair), self.raw_files(langpair), strict=False):
            yield field, (line.rstrip() for line in read_lines(path))
