"""The part of METEOR's paraphrase table that can match given texts.

METEOR reads all 5.3 million English paraphrases when it starts. This takes 8 seconds of processor
time. A paraphrase matters only if both of its phrases occur in the texts, as METEOR's tokens. This
module finds these paraphrases without METEOR's tokenizer, and may find too many, but never too few:

* METEOR separates no letters and digits of its class (`LETTERS`), neither from each other nor from
  a single dot between them ("u.s" is one token). It separates or keeps all other characters.
* METEOR deletes only dots: those inside words that end with a dot ("U.S." becomes "us").
* Two or more dots are a token.

Lower-case the text, delete single dots, and split it at all characters but letters: the result is
the same before and after METEOR's tokenizer. Therefore, if a phrase consists only of lower-case
letters and single spaces, its words are adjacent in that result wherever the phrase occurs. All
other phrases count as occurring. The exceptions are `UNCERTAIN_TEXT`, and METEOR's option
`-noPunct`, which separates dots after it has deleted some.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import zlib
from collections.abc import Iterable
from contextlib import suppress
from itertools import groupby
from operator import itemgetter

from truebleu.text import download
from truebleu.text.operating_system import write_atomically
from truebleu.text.terminal_layout import print_wrapped
from truebleu.text.tokenizers import iterate_ngrams

# Part of the file name, which changes when files of earlier releases become invalid.
VERSION = "1"
# The letters and digits that METEOR's class Normalizer does not separate.
LETTERS = "0-9A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017e\u0400-\u0527\ua640-\ua66e\ua67e-\ua697"
LETTERS += "\u1d00-\u1d7f"
WORD = re.compile(f"[{LETTERS}]+")
SINGLE_DOT = re.compile(r"(?<!\.)\.(?!\.)")
# METEOR's name for dots, which it replaces by dots, and the characters that METEOR separates but
# whose lower-case forms are letters.
UNCERTAIN_TEXT = re.compile("DOTMULTI|[\u1e9e\u212a\u212b\u2c63\ua77d]")
# Longer phrases count as occurring. No phrase of METEOR's tables is longer.
MAX_WORDS = 7
PHRASE = re.compile(f"[{LETTERS}]+(?: [{LETTERS}]+){{0,{MAX_WORDS - 1}}}")
PHRASES = re.compile(f"{PHRASE.pattern}(?:\n{PHRASE.pattern})*")
# For longer texts, the selection would take about as long as METEOR needs for the whole table.
MAX_CHARACTERS = 1_000_000
# Exceptions for a missing, incomplete or damaged file.
READ_ERRORS = (OSError, EOFError, ValueError, zlib.error)


def select_paraphrases(table: str, requests: Iterable[bytes]) -> bytes | None:
    """Return the paraphrases that can match in METEOR's requests, as a gzip file.

    table: the path of the whole table. Returns None if the whole table is needed: the text may
    be an exception, or is too long, or files cannot be read or written.
    """
    phrases = list_phrases(text for one in requests for text in one.decode().split("|||")[1:])
    if phrases is None:
        return None
    with suppress(*READ_ERRORS):
        with open(table, "rb") as file:
            size = file.seek(-8, os.SEEK_END) + 8
            # A gzip file ends with the checksum and size of its content.
            checksum = file.read().hex()
        name = f"{os.path.basename(table)}-{size}-{checksum}-{VERSION}"
        path = os.path.join(download.get_cache_folder(), "meteor", name)
        with suppress(*READ_ERRORS):
            return _read_index(path, phrases)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with download.hold_path_lock(path):
            with suppress(*READ_ERRORS):  # another process may have written the index
                return _read_index(path, phrases)
            _write_index(path, table)
        return _read_index(path, phrases)
    return None


def list_phrases(all_texts: Iterable[str]) -> set[str] | None:
    """Return the phrases that may occur in texts, or None if that is uncertain or takes too long.

    The set lacks phrases that count as occurring.
    """
    texts = set(all_texts)
    joined_texts = "|".join(texts)
    if len(joined_texts) > MAX_CHARACTERS or UNCERTAIN_TEXT.search(joined_texts.replace(".", "")):
        return None
    phrases: set[str] = set()
    for text in texts:
        words = WORD.findall(SINGLE_DOT.sub("", text.lower()))
        for n in range(1, MAX_WORDS + 1):
            phrases.update(map(" ".join, iterate_ngrams(words, n)))
    return phrases


def is_plain(phrase: str) -> bool:
    """Return whether a phrase has only lower-case letters, digits and single spaces."""
    return bool(PHRASE.fullmatch(phrase)) and phrase == phrase.lower()


def _write_index(path: str, table: str) -> None:
    """Write the index of a table: phrases, and the compressed paraphrases of each phrase."""
    if not download.settings.quiet:
        name = os.path.basename(table)
        print_wrapped(f"truebleu: preparing METEOR's {name} for quicker starts (once)")
    phrases: list[str] = []
    sizes: list[int] = []
    blocks: list[bytes] = []
    other_phrases: set[str] = set()  # phrases that count as occurring
    with gzip.open(table, "rt", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        # A paraphrase has three lines: a probability, which METEOR ignores, and two phrases.
        for line, group in groupby(zip(file, file, file, strict=True), key=itemgetter(1)):
            text = line + "".join(map(itemgetter(2), group)).removesuffix("\n")
            if "\r" in text:
                raise ValueError(f"{table}: METEOR reads a carriage return as a line end")
            if not PHRASES.fullmatch(text) or text != text.lower():
                other_phrases.update(one for one in text.split("\n") if not is_plain(one))
            phrase, _, block = text.partition("\n")
            # A small window makes compression of small blocks three times as fast.
            compressor = zlib.compressobj(wbits=12, memLevel=5)
            data = compressor.compress(block.encode("utf-8", "surrogateescape"))
            blocks.append(data + compressor.flush())
            phrases.append(phrase)
            sizes.append(len(blocks[-1]))
    header = json.dumps([sorted(other_phrases), phrases, sizes]).encode()
    write_atomically(path, b"".join((zlib.compress(header), *blocks)))


def _read_index(path: str, wanted: set[str]) -> bytes:
    """Return the paraphrases whose phrases are both wanted, in the order of the table."""
    with open(path, "rb") as file:
        content = file.read()
    decompressor = zlib.decompressobj()
    other_phrases, phrases, sizes = json.loads(decompressor.decompress(content))
    wanted = wanted.union(other_phrases)
    blocks, end = memoryview(decompressor.unused_data), 0
    entries = []
    for phrase, size in zip(phrases, sizes, strict=True):
        start, end = end, end + size
        if phrase in wanted:
            block = zlib.decompress(blocks[start:end]).decode("utf-8", "surrogateescape")
            entries += [f"0\n{phrase}\n{one}\n" for one in block.split("\n") if one in wanted]
    content = "".join(entries).encode("utf-8", "surrogateescape")
    return gzip.compress(content, compresslevel=1, mtime=0)
