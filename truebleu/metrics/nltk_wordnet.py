"""WordNet 3.0 for NLTK's METEOR, from NLTK's data or Debian's package wordnet-base."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import nltk.data
from nltk.corpus.reader.wordnet import WordNetCorpusReader

from truebleu.metrics.base import MetricFailedError
from truebleu.metrics.python_metric import make_missing_package_error
from truebleu.text.argument_checks import Record

WORDNET_VERSION = "3.0"
DEBIAN_FOLDER = "/usr/share/wordnet"
# Lexicographer files by part of speech; NLTK needs this list, which Debian's package omits.
NOUN_CATEGORIES = (
    "Tops act animal artifact attribute body cognition communication event feeling food group "
    "location motive object person phenomenon plant possession process quantity relation shape "
    "state substance time"
)
VERB_CATEGORIES = (
    "body change cognition communication competition consumption contact creation emotion motion "
    "perception possession social stative weather"
)
# Maximum number of cached words: few texts contain more, and their synonyms take up at most 100 MB.
CACHE_SIZE = 1 << 16


class Lemma(Record):
    """Word of a synset, with the interface that NLTK's METEOR uses."""

    word: str

    def name(self) -> str:
        """Return the word of the lemma."""
        return self.word


class Synset(Record):
    """Set of synonyms, with the interface that NLTK's METEOR uses."""

    words: tuple[Lemma, ...]

    def lemmas(self) -> Sequence[Lemma]:
        """Return the words."""
        return self.words


class WordNet:
    """Cache of synonyms. Without a WordNet reader, words have no synonyms."""

    def __init__(self, reader: Any = None) -> None:
        self.reader = reader
        self.synsets = lru_cache(CACHE_SIZE)(self._find_synsets)

    def _find_synsets(self, word: str) -> tuple[Synset, ...]:
        if self.reader is None:
            return ()
        synsets = self.reader.synsets(word)
        names = {lemma.name() for synset in synsets for lemma in synset.lemmas()}
        return (Synset(tuple(map(Lemma, sorted(names)))),)


@lru_cache(1)
def load_wordnet() -> WordNet:
    """Return WordNet 3.0. Raises MetricFailedError, with the install command, if it is missing."""
    reader = _WordNetReader(_find_wordnet_folder(), object())
    version = reader.get_version()
    if version != WORDNET_VERSION:
        raise MetricFailedError(
            f"METEOR-nltk: {reader.root}: expected WordNet {WORDNET_VERSION}, found {version}"
        )
    return WordNet(reader)


def _find_wordnet_folder() -> nltk.data.PathPointer:
    for name in ("corpora/wordnet", "corpora/wordnet.zip/wordnet/"):
        try:
            return nltk.data.find(name)
        except LookupError:
            continue
    if os.path.isfile(os.path.join(DEBIAN_FOLDER, "data.noun")):
        return _OutsideFolder(DEBIAN_FOLDER)
    raise make_missing_package_error(
        "METEOR-nltk",
        "it needs WordNet 3.0 (Debian: apt-get install wordnet-base; elsewhere python -m "
        "nltk.downloader wordnet), or synonyms=False",
    )


class _WordNetReader(WordNetCorpusReader):  # type: ignore[misc]
    """NLTK's reader without support for other languages and versions."""

    def map_wn(self, version: str = WORDNET_VERSION) -> None:
        """Do nothing: no other WordNet version is mapped."""

    def open(self, file: str) -> Any:
        """Open a file in the folder."""
        if isinstance(self.root, _OutsideFolder):
            return self.root.join(file).open(self.encoding(file))
        return super().open(file)


class _OutsideFolder(nltk.data.PathPointer):  # type: ignore[misc]
    """Folder or file outside NLTK's data folders, which NLTK itself does not accept."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __str__(self) -> str:
        return self.path

    def join(self, fileid: str) -> _OutsideFolder:
        """Return a file in the folder."""
        return _OutsideFolder(os.path.join(self.path, fileid))

    def file_size(self) -> int:
        """Return the size of the file in bytes."""
        return os.path.getsize(self.path)

    def open(self, encoding: str | None = None) -> Any:
        """Open the file as text, as NLTK does."""
        stream: Any
        if os.path.basename(self.path) == "lexnames":
            stream = io.BytesIO("".join(_list_lexnames()).encode())
        else:
            stream = open(self.path, "rb")  # noqa: SIM115
        return nltk.data.SeekableUnicodeStreamReader(stream, encoding or "utf-8")


def _list_lexnames() -> list[str]:
    """Return the lines of WordNet's file `lexnames`: number, name and part of speech."""
    names = [("adj.all", 3), ("adj.pert", 3), ("adv.all", 4)]
    names += [(f"noun.{name}", 1) for name in NOUN_CATEGORIES.split()]
    names += [(f"verb.{name}", 2) for name in VERB_CATEGORIES.split()]
    names += [("adj.ppl", 3)]
    return [f"{number:02}\t{name}\t{part}\n" for number, (name, part) in enumerate(names)]
