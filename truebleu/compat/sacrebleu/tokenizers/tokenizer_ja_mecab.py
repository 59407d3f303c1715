"""The tokenizer for Japanese: MeCab's words, if the IPA dictionary is installed."""

from __future__ import annotations

from truebleu.text import mecab

from .tokenizer_base import BaseTokenizer

# Programs look for the pip command in it.
MESSAGE = """
{} tokenization requires extra dependencies, but you do not have them installed.
Please install them like so.

    pip install sacrebleu[{}]
"""
FAIL_MESSAGE = MESSAGE.format("Japanese", "ja")


class TokenizerJaMecab(BaseTokenizer):
    """Words as MeCab finds them."""

    NAME, MISSING = "ja-mecab", FAIL_MESSAGE
    OTHER = "Please make sure to use the IPA dictionary for MeCab"

    def __init__(self) -> None:
        try:
            mecab.loaded(self.NAME)
        except mecab.OtherDictionaryError as error:
            raise AssertionError(self.OTHER) from error
        except ImportError:
            raise RuntimeError(self.MISSING) from None

    def signature(self) -> str:
        """The name that signatures give the tokenizer, with the version of MeCab."""
        return mecab.label(self.NAME)

    def __call__(self, line: str) -> str:
        """The words of a line, with spaces between them; some may hold white space."""
        return " ".join(mecab.loaded(self.NAME).pieces(line.strip())).strip()
