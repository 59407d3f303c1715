"""Units of tokenizers, for `as-wer-13a`, `omnisteval-moses-de` and `suber-zh`."""

import re
import shutil
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from threading import Lock
from typing import Any

from truebleu._kernel import InputError
from truebleu.resegmentation.units import (
    EXTENSION,
    MAX_CACHED_WORDS,
    SPACE_MARK,
    SUBTITLE_WORD,
    UNSPACED,
    Units,
    classify_characters,
    fold,
    lower_nfkc,
)
from truebleu.text.argument_checks import format_value
from truebleu.text.tokenizers import make_tokenizer, resolve_tokenizer

_REMEDY = "Use another re-segmentation method, such as as-wer"


def split_tokens(name: str, text: str) -> Units:
    """Split a text into the tokens of a tokenizer, which receives one word at a time.

    A word ends at white space. Tokens are compared as `fold` makes them. A segment may begin with
    the first token of a word, and before or after a character of a script without spaces.

    Raises InputError if a word has no token, or has others than its own characters where a segment
    may begin within the word.

    >>> units = split_tokens("13a", "Don't, 你好!")
    >>> units.keys
    ["don't", ',', '你好', '!']
    >>> units.begins
    [True, False, True, True]
    """
    keys, spans, begins = [], [], []
    for match in re.finditer(r"\S+", text):
        start = match.start()
        for key, first, last, is_begin in _split_word(name, match.group()):
            keys.append(key)
            spans.append((start + first, start + last))
            begins.append(is_begin)
    return Units(keys, spans, begins, text)


@lru_cache(MAX_CACHED_WORDS)
def _split_word(name: str, word: str) -> list[tuple[str, int, int, bool]]:
    """Return the key and position of each token, and whether a segment may begin with it."""
    tokens = _get_tokenizer(name)(word)
    if not tokens:
        raise InputError(
            f"the tokenizer {name} removes {format_value(word)} from the text, so its tokens "
            f"cannot divide the text. {_REMEDY}"
        )
    classes = classify_characters(word)
    spans = locate_tokens(word, tokens)
    if spans is None:
        # The word is one unit of text, which must not be divided between segments.
        if UNSPACED in classes:
            raise InputError(
                f"the tokenizer {name} changes {format_value(word)} to "
                f"{format_value(' '.join(tokens))}, so its tokens cannot be found in the text. "
                f"{_REMEDY}"
            )
        spans = [(0, len(word))] * len(tokens)
    result = []
    end = 0
    for index, (token, (first, last)) in enumerate(zip(tokens, spans, strict=True)):
        is_cut = first and first >= end and classes[first] != EXTENSION
        before = classes[:first].rstrip(EXTENSION)[-1:]
        is_begin = index == 0 or bool(is_cut and UNSPACED in (before, classes[first]))
        result.append((fold(token), first, last, is_begin))
        end = last
    return result


@cache
def _get_tokenizer(name: str) -> Callable[[str], list[str]]:
    return make_tokenizer(resolve_tokenizer(name))


def locate_tokens(word: str, tokens: Sequence[str]) -> list[tuple[int, int]] | None:
    """Return the position of each token in a word, or None if the tokens change its characters.

    Case and compatible forms of characters are ignored, and so is the mark for the space before a
    word, which SentencePiece adds to the first token.

    >>> locate_tokens("It’s…", ["it", "’s", "..."]), locate_tokens("&amp;", ["&"])
    ([(0, 2), (2, 4), (4, 5)], None)
    """
    owners: list[int] = []
    characters = []
    for index, character in enumerate(word):
        folded = _decompose(character)
        owners += [index] * len(folded)
        characters.append(folded)
    if tokens and tokens[0].startswith(SPACE_MARK) and not word.startswith(SPACE_MARK):
        tokens = [tokens[0][1:], *tokens[1:]]
    parts = ["".join(map(_decompose, token)) for token in tokens]
    if "".join(parts) != "".join(characters):
        return None
    spans = []
    position = end = 0
    for part in parts:
        start = owners[position] if part else end
        position += len(part)
        end = owners[position - 1] + 1 if part else end
        spans.append((start, end))
    return spans


def _decompose(character: str) -> str:
    return unicodedata.normalize("NFKD", character.casefold())


# ---- Moses, as OmniSTEval uses it ----

# Languages that OmniSTEval does not tokenize.
WITHOUT_MOSES = ("zh", "ja")
_moses_lock = Lock()


def split_moses_tokens(language: str, text: str) -> Units:
    """Split each word into the tokens of Moses, which all have the place of their word.

    Only the first token of a word begins a segment, because the word goes with it.

    Raises ImportError if the package mosestokenizer is missing, and InputError without Perl.
    """
    keys, spans, begins = [], [], []
    for match in re.finditer(r"\S+", text):
        for index, token in enumerate(_split_like_moses(language, match.group())):
            keys.append(token)
            spans.append(match.span())
            begins.append(index == 0)
    return Units(keys, spans, begins, text)


@lru_cache(MAX_CACHED_WORDS)
def _split_like_moses(language: str, word: str) -> list[str]:
    """Return the tokens of a word in NFKC and lower case."""
    word = lower_nfkc(word)
    if language in WITHOUT_MOSES:
        return [word]
    # One process per language answers one word at a time.
    with _moses_lock:
        tokens: list[str] = _start_moses(language)(word)
    return tokens


@cache
def _start_moses(language: str) -> Any:
    """Return the tokenizer of a language, a process of Perl that ends with this process."""
    try:
        from mosestokenizer import MosesTokenizer
    except ImportError:
        raise ImportError(
            f"omnisteval-moses-{language} needs Moses: pip install mosestokenizer==1.2.1"
        ) from None
    if shutil.which("perl") is None:
        raise InputError(
            f"omnisteval-moses-{language} needs Perl, but the program perl is not in PATH. Install "
            "Perl, or use omnisteval, which does without"
        )
    return MosesTokenizer(lang=language, no_escape=True)


# ---- Chinese, Japanese and Korean, as SubER with --language ----

# sacreBLEU's tokenizers for the languages that SubER's option --language accepts.
SUBER_TOKENIZERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}


def split_east_asian_subtitles(language: str, text: str, *, attaches_punctuation: bool) -> Units:
    """Split each word into the tokens of a language; breaks belong to the last token of a word.

    attaches_punctuation: add tokens of punctuation to the token before, or to the first token.
    """
    keys, spans = [], []
    for match in SUBTITLE_WORD.finditer(text):
        start, word = match.start(), match.group().split(maxsplit=1)[0]
        tokens = list(split_like_suber(language, word))
        if attaches_punctuation:
            tokens = _attach_punctuation(tokens)
        places = locate_tokens(word, tokens) or [(0, len(word))] * len(tokens)
        spans += [(start + first, start + last) for first, last in places[:-1]]
        spans.append((start + places[-1][0], match.end()))
        keys += [remove_punctuation(token.lower()) for token in tokens]
    return Units(keys, spans, [], text)


@lru_cache(MAX_CACHED_WORDS)
def split_like_suber(language: str, word: str) -> tuple[str, ...]:
    """Return the tokens of a word in Chinese, Japanese or Korean."""
    return tuple(_get_tokenizer(SUBER_TOKENIZERS[language])(word)) or (word,)


def remove_punctuation(word: str) -> str:
    """Return a word without punctuation, or with it if nothing is left.

    >>> remove_punctuation("你好。"), remove_punctuation("。")
    ('你好', '。')
    """
    return "".join(c for c in word if not _is_punctuation(c)) or word


def _attach_punctuation(tokens: list[str]) -> list[str]:
    """Attach each punctuation token to the token before it, or to the next token if it is first."""
    attached = tokens[:1]
    for token in tokens[1:]:
        if all(map(_is_punctuation, token)):
            attached[-1] += token
        else:
            attached.append(token)
    if len(attached) > 1 and all(map(_is_punctuation, attached[0])):
        attached[:2] = ["".join(attached[:2])]
    return attached


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] == "P"
