"""Test sets in XML: WMT's since 2021, with systems' outputs beside the references."""

from __future__ import annotations

import os

from truebleu.testsets import readers

from .._files import smart_open
from .base import Dataset, readable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import IO, Any


class WMTXMLDataset(Dataset):
    """A test set with everything of a language pair in one file."""

    # The last file that was read, and its fields.
    _read: tuple[object, dict[str, list[str]]] | None = None

    def fields(self, path: str) -> dict[str, list[str]]:
        """The fields of each segment in a file: src, the references, docid, origlang and more."""
        found = os.stat(path)
        key = (path, found.st_mtime_ns, found.st_size)
        if self._read is None or self._read[0] != key:
            with smart_open(path) as file:
                self._read = (key, self._unwrap_wmt21_or_later(file))
        return self._read[1]

    @staticmethod
    def _unwrap_wmt21_or_later(raw_file: str | IO[Any]) -> dict[str, list[str]]:
        """`fields` of a file or of its path. The references are in the file's order."""
        with readable():
            return readers.xml(raw_file)

    def _texts(self, langpair: str) -> Iterator[tuple[str, Iterable[str]]]:
        for name, lines in self.fields(self.raw_files(langpair)[0]).items():
            yield name, map(self._clean, lines)

    def _get_langpair_allowed_refs(self, langpair: str) -> list[str]:
        """The names of the references to use: the pair's, or those of the test set."""
        allowed = self.kwargs.get("refs", [])
        files = self._get_langpair_metadata(langpair)[langpair]
        if isinstance(files, dict):
            allowed = files.get("refs", allowed)
        return [readers.reference(translator) for translator in allowed]

    def get_reference_files(self, langpair: str) -> list[str]:
        """The paths of the references to use; there may be others."""
        allowed = self._get_langpair_allowed_refs(langpair)
        fields = zip(self.fieldnames(langpair), self.get_files(langpair), strict=True)
        return [path for name, path in fields if name in allowed]

    def fieldnames(self, langpair: str) -> list[str]:
        """src, ref:A, ref:B ... (or ref), docid, origlang, each system, and perhaps domain.

        The test set is downloaded for that.
        """
        self.maybe_download()
        return list(self.fields(self.raw_files(langpair)[0]))
