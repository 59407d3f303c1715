"""Test sets in what looks like SGML: WMT's before 2021."""

from __future__ import annotations

import re

from .._files import read_lines
from .._messages import TestSetError
from .base import Dataset

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# These files are not well-formed SGML or XML. They have one segment per line.
SEGMENT = re.compile("<seg.*?>(.*)</seg>")


class FakeSGMLDataset(Dataset):
    """A test set in files of segments, a file for the source and one for each reference."""

    def _segments(self, path: str) -> Iterator[str]:
        """The text of each segment."""
        for line in read_lines(path):
            if line.startswith("<seg "):
                yield self._clean(SEGMENT.sub(r"\1", line))

    def _annotations(self, path: str, name: str) -> Iterator[str]:
        """An attribute of each segment's document, or else of the document before."""
        attribute = re.compile(f'{name}="(.*?)"')
        value = ""
        for line in read_lines(path):
            if line.startswith("<doc ") and (found := attribute.search(line)):
                value = found[1]
            elif line.startswith("<seg "):
                yield value

    def _texts(self, langpair: str) -> Iterator[tuple[str, Iterable[str]]]:
        paths, fields = self.raw_files(langpair), self.fieldnames(langpair)
        for path, field in zip(paths, fields, strict=False):
            yield field, self._segments(path)
        for field in fields[len(paths) :]:
            yield field, self._annotations(paths[0], field)

    def fieldnames(self, langpair: str) -> list[str]:
        """src, ref or ref:0, ref:1 ..., and (not in WMT08) docid, genre, origlang."""
        count = len(self._get_langpair_metadata(langpair)[langpair]) - 1
        if count < 1:
            raise TestSetError(f"Each language pair in {self.name} must have at least 2 fields.")
        references = ["ref"] if count == 1 else [f"ref:{number}" for number in range(count)]
        documents = [] if self.name.startswith("wmt08") else ["docid", "genre", "origlang"]
        return ["src", *references, *documents]


class WMTAdditionDataset(FakeSGMLDataset):
    """A WMT test set with references from elsewhere, which may be plain text."""

    def _segments(self, path: str) -> Iterator[str]:
        if path.endswith(".sgm"):
            return super()._segments(path)
        return (line.rstrip() for line in read_lines(path))
