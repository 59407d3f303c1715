"""WordNet 3.0 for NLTK's METEOR: from NLTK's data, or from Debian's package wordnet-base."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import nltk.data
from nltk.corpus.reader.wordnet import WordNetCorpusReader

from truebleu.metrics.base import MetricFailedError
from truebleu.metrics.python_metric import lacking
from truebleu.text.record import Record

VERSION = "3.0"
DEBIAN = "/usr/share/wordnet"
# Files of lexicographers, by kind: NLTK wants them listed, and Debian leaves the list out.
NOUNS = (
    "Tops act animal artifact attribute body cognition communication event feeling food group "
    "location motive object person phenomenon plant possession process quantity relation shape "
    "state substance time"
)
VERBS = (
    "body change cognition communication competition consumption contact creation emotion motion "
    "perception possession social stative weather"
)
# As many words are remembered: text has few beyond, and their synonyms take 100 MB at most.
REMEMBERED = 1 << 16


class Lemma(Record):
    """A word of a synset, as NLTK's METEOR reads it."""

    word: str

    def name(self) -> str:
        """The word."""
        return self.word


class Synset(Record):
    """Words that mean the same."""

    words: tuple[Lemma, ...]

    def lemmas(self) -> Sequence[Lemma]:
        """The words."""
        return self.words


class WordNet:
    """The synonyms of a word, looked up once. With no reader, there are none."""

    def __init__(self, reader: Any = None) -> None:
        self.reader = reader
        self.synsets = lru_cache(REMEMBERED)(self._synsets)

    def _synsets(self, word: str) -> tuple[Synset, ...]:
        if self.reader is None:
            return ()
        found = self.reader.synsets(word)
        names = {lemma.name() for synset in found for lemma in synset.lemmas()}
        return (Synset(tuple(map(Lemma, sorted(names)))),)


@lru_cache(1)
def wordnet() -> WordNet:
    """WordNet 3.0, wherever it is. Raises MetricFailedError, with what installs it, without."""
    reader = _Reader(_folder(), object())
    found = reader.get_version()
    if found != VERSION:
        raise MetricFailedError(
            f"METEOR-nltk: WordNet {VERSION} is needed, and {reader.root} has {found}"
        )
    return WordNet(reader)


def _folder() -> nltk.data.PathPointer:
    for name in ("corpora/wordnet", "corpora/wordnet.zip/wordnet/"):
        try:
            return nltk.data.find(name)
        except LookupError:
            continue
    if os.path.isfile(os.path.join(DEBIAN, "data.noun")):
        return _Folder(DEBIAN)
    raise lacking(
        "METEOR-nltk",
        "it needs WordNet 3.0 (Debian: apt-get install wordnet-base; elsewhere python -m "
        "nltk.downloader wordnet), or synonyms=False",
    )


class _Reader(WordNetCorpusReader):  # type: ignore[misc]
    """NLTK's reader, without what is for other languages and other versions."""

    def map_wn(self, version: str = VERSION) -> None:
        """No other version is mapped to this."""

    def open(self, file: str) -> Any:
        """A file of the folder."""
        if isinstance(self.root, _Folder):
            return self.root.join(file).open(self.encoding(file))
        return super().open(file)


class _Folder(nltk.data.PathPointer):  # type: ignore[misc]
    """A folder, or a file in it, outside the folders of NLTK's data, which NLTK would refuse."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __str__(self) -> str:
        return self.path

    def join(self, fileid: str) -> _Folder:
        """A file of the folder."""
        return _Folder(os.path.join(self.path, fileid))

    def file_size(self) -> int:
        """The bytes of a file."""
        return os.path.getsize(self.path)

    def open(self, encoding: str | None = None) -> Any:
        """A file as text, as NLTK opens it."""
        stream: Any
        if os.path.basename(self.path) == "lexnames":
            stream = io.BytesIO("".join(_lexnames()).encode())
        else:
            stream = open(self.path, "rb")  # noqa: SIM115
        return nltk.data.SeekableUnicodeStreamReader(stream, encoding or "utf-8")


def _lexnames() -> list[str]:
    """The list of files, as WordNet's own `lexnames`: a number, a name, a part of speech."""
    names = [("adj.all", 3), ("adj.pert", 3), ("adv.all", 4)]
    names += [(f"noun.{name}", 1) for name in NOUNS.split()]
    names += [(f"verb.{name}", 2) for name in VERBS.split()]
    names += [("adj.ppl", 3)]
    return [f"{number:02}\t{name}\t{part}\n" for number, (name, part) in enumerate(names)]
