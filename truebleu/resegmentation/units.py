"""Units: the words, pieces and characters that re-segmentation compares.

Each `split_` function splits a text into `Units`: for each unit, the key to compare, its position
in the text, and whether a segment may begin with it.
"""

import re
import string
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from truebleu import _kernel
from truebleu.text import sentencepiece
from truebleu.text.sample_checks import UNSPACED_LETTERS

# Characters that extend the previous character although they are not in a category of marks.
EXTENDING = {"\u0e33", "\u0eb3", "\uff9e", "\uff9f", *map(chr, range(0x1F3FB, 0x1F400))}
WHITE_SPACE, WORD, UNSPACED, EXTENSION, SYMBOL = " wum."
# Maximum number of words that are cached with their keys or tokens, because most words in a text
# recur.
MAX_CACHED_WORDS = 1 << 16
# Represents a space in SentencePiece pieces.
SPACE_MARK = "\u2581"
UNSPACED_LETTER = re.compile(f"[{UNSPACED_LETTERS}]")
UNIT = re.compile("w[wm]*|[u.]m*|m+")


class _CharacterClasses(dict[int, str]):
    """The class of each code point, determined when it is first looked up."""

    def __missing__(self, code_point: int) -> str:
        character = chr(code_point)
        category = unicodedata.category(character)
        if character.isspace():
            kind = WHITE_SPACE
        elif category[0] == "M" or category == "Cf" or character in EXTENDING:
            kind = EXTENSION
        elif category[0] == "L" and UNSPACED_LETTER.match(character):
            kind = UNSPACED
        elif category[0] == "P" and unicodedata.east_asian_width(character) in "FW":
            # Punctuation of scripts without spaces, such as the Chinese full stop.
            kind = UNSPACED
        else:
            kind = WORD if category[0] in "LN" else SYMBOL
        self[code_point] = kind
        return kind


_CLASSES = _CharacterClasses()


def classify_characters(text: str) -> str:
    """Return the class of each character, as one of the constants above.

    >>> classify_characters("A1 好!")
    'ww u.'
    """
    return text.translate(_CLASSES)


@dataclass(frozen=True, slots=True)
class Units:
    """The units of a text.

    keys: the strings that are compared, one per unit.
    spans: the position of each unit in the text, as (start, end) in characters.
    begins: whether a segment may begin with the unit; empty if all may.
    text: the text to which the positions refer.
    """

    keys: list[str]
    spans: list[tuple[int, int]]
    begins: list[bool]
    text: str

    def __len__(self) -> int:
        return len(self.keys)


@lru_cache(MAX_CACHED_WORDS)
def fold(text: str) -> str:
    """Return a text normalized for comparison: in NFKC and case-folded.

    >>> fold("Straße ＡＢＣ")
    'strasse abc'
    """
    return unicodedata.normalize("NFKC", text).casefold()


def split_text_units(text: str) -> Units:
    """Split a text into words, characters of scripts without spaces, and other characters.

    A word is a run of letters, digits and marks. A segment may begin after white space, and before
    or after a character of a script without spaces.

    >>> units = split_text_units("Don't, 你好!")
    >>> units.keys
    ['don', "'", 't', ',', '你', '好', '!']
    >>> units.begins
    [True, False, False, False, True, True, True]
    """
    classes = classify_characters(text)
    spans = [match.span() for match in UNIT.finditer(classes)]
    ends = [-1, *(end for _, end in spans)]
    begins = [start != end for (start, _), end in zip(spans, ends, strict=False)]
    if UNSPACED in classes:
        was_unspaced = False
        for index, (start, _) in enumerate(spans):
            is_unspaced = classes[start] == UNSPACED
            begins[index] |= is_unspaced or was_unspaced
            was_unspaced = is_unspaced
    return Units([fold(text[start:end]) for start, end in spans], spans, begins, text)


@dataclass(frozen=True, slots=True)
class PatternSplitter:
    """Division of a text into the matches of a pattern, each of which may begin a segment.

    pattern: has one group, the unit.
    make_key: returns what is compared of a unit.
    prepare: converts the text before its units become keys, without changing their positions.
    """

    pattern: re.Pattern[str]
    make_key: Callable[[str], str] | None = None
    prepare: Callable[[str], str] | None = None

    def __call__(self, text: str) -> Units:
        """Return the units of a text."""
        # Gaps and units alternate.
        parts = self.pattern.split(self.prepare(text) if self.prepare else text)
        ends = list(accumulate(map(len, parts)))
        keys = parts[1::2]
        if self.make_key:
            keys = list(map(self.make_key, keys))
        return Units(keys, list(zip(ends[::2], ends[1::2], strict=False)), [], text)

    def list_keys(self, text: str) -> list[str]:
        """Return the keys of the units of a text, in less time than with their positions."""
        keys: list[str] = self.pattern.findall(self.prepare(text) if self.prepare else text)
        return list(map(self.make_key, keys)) if self.make_key else keys


def _lower_ascii(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


@lru_cache(MAX_CACHED_WORDS)
def lower_nfkc(text: str) -> str:
    """Return a text normalized for comparison as in OmniSTEval: in NFKC and lower case."""
    return unicodedata.normalize("NFKC", text).lower()


@lru_cache(MAX_CACHED_WORDS)
def _normalize_like_suber(unit: str) -> str:
    """Return the first word, lower-cased and without ASCII punctuation if that leaves anything."""
    word = unit.split(maxsplit=1)[0].lower()
    return word.translate(_NO_PUNCTUATION) or word


def split_pieces(model: str, text: str, *, cuts_words: bool) -> Units:
    """Split a text into the pieces of a SentencePiece model, as mweralign does.

    Unless words may be cut, a segment begins only with a piece that begins a word, or that has no
    letter or digit. mweralign checks only the first byte of a piece. Curly quotes and dashes share
    this byte with the mark that represents a space.
    """
    pieces = _kernel.tokenize(text, sentencepiece.load_tokenizer(model), "no")
    ends = list(accumulate(map(len, pieces)))
    spans = list(zip([0, *ends], ends, strict=False))
    begins = [] if cuts_words else list(map(_begins_word, pieces))
    text = "".join(pieces).replace(SPACE_MARK, " ")
    return Units(list(map(_lower_ascii, pieces)), spans, begins, text)


def _begins_word(piece: str) -> bool:
    starts_like_mark = piece.encode("utf-8", "surrogatepass")[:1] == SPACE_MARK.encode()[:1]
    return starts_like_mark or not re.search("[A-Za-z0-9\x80-\U0010ffff]", piece)


# mweralign splits words only at ASCII white space, and lower-cases only A to Z.
split_ascii_words = PatternSplitter(re.compile(r"([^ \t\n\r\v\f]+)"), prepare=_lower_ascii)
# A run of Latin-1 characters is one unit.
split_latin_runs = PatternSplitter(re.compile(r"([\0-\xff]+|[^\0-\xff])"), prepare=_lower_ascii)
# As in SubER, line breaks and block breaks belong to the word before them.
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
SUBTITLE_WORD = re.compile(r"(?!<eo[lb]>(?!\S))\S+(?:\s+<eo[lb]>(?!\S))*")
split_subtitle_words = PatternSplitter(
    re.compile(f"({SUBTITLE_WORD.pattern})"), _normalize_like_suber
)
# As `str.split` does.
split_white_space = PatternSplitter(re.compile(r"(\S+)"), lower_nfkc)
split_characters = PatternSplitter(re.compile(r"((?s:.))"), lower_nfkc)
