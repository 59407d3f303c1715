"""Test sets in what looks like SGML: WMT's before 2021."""

from __future__ import annotations

import os
import re

from .._messages import TestSetError
from ..utils import smart_open
from .base import Dataset

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# These files are no well-formed SGML or XML. They have a segment a line.
SEGMENT = re.compile("<seg.*?>(.*)</seg>")


class FakeSGMLDataset(Dataset):
    """A test set in files of segments, a file for the source and one for each reference."""

    def _segments(self, path: str) -> Iterator[str]:
        """The text of each segment."""
        with smart_open(path) as lines:
            for line in lines:
                if line.startswith("<seg "):
                    yield self._clean(SEGMENT.sub(r"\1", line))

    def _annotations(self, path: str, name: str) -> Iterator[str]:
        """An attribute of each segment's document; of the one before if the document has none."""
        attribute = re.compile(f'{name}="(.*?)"')
        value = ""
        with smart_open(path) as lines:
            for line in lines:
                if line.startswith("<doc ") and (found := attribute.search(line)):
                    value = found[1]
                elif line.startswith("<seg "):
                    yield value

    def process_to_text(self, langpair: str | None = None) -> None:
        """Makes text of the segments and of what is said of their documents."""
        self.maybe_download()
        for pair, files in self._get_langpair_metadata(langpair).items():
            paths = [os.path.join(self._rawdir, name) for name in files]
            for number, field in enumerate(self.fieldnames(pair)):
                if number < len(paths):
                    self._write(pair, field, self._segments(paths[number]))
                else:
                    self._write(pair, field, self._annotations(paths[0], field))

    def fieldnames(self, langpair: str) -> list[str]:
        """src, ref or ref:0, ref:1 ..., and (not in WMT08) docid, genre, origlang."""
        count = len(self._get_langpair_metadata(langpair)[langpair]) - 1
        if count < 1:
            raise TestSetError(f"Each language pair in {self.name} must have at least 2 fields.")
        references = ["ref"] if count == 1 else [f"ref:{number}" for number in range(count)]
        documents = [] if self.name.startswith("wmt08") else ["docid", "genre", "origlang"]
        return ["src", *references, *documents]


class WMTAdditionDataset(FakeSGMLDataset):
    """A WMT test set with references that others made, which may be plain text."""

    def _segments(self, path: str) -> Iterator[str]:
        if path.endswith(".sgm"):
            yield from super()._segments(path)
            return
        with smart_open(path) as lines:
            for line in lines:
                yield line.rstrip()
