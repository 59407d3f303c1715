"""The tokenizer for Japanese: MeCab with the IPA dictionary, if they are installed."""

from __future__ import annotations

from truebleu.text import mecab

from .tokenizer_base import BaseTokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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

    def __init__(self) -> None:
        try:
            self.tagger: Any = mecab.new_tagger(self.NAME)
        except mecab.OtherDictionaryError as error:
            raise AssertionError(str(error)) from None
        except ImportError:
            raise RuntimeError(self.MISSING) from None

    def signature(self) -> str:
        """The name that signatures give the tokenizer, with the version of MeCab."""
        return mecab.label(self.NAME)

    def __call__(self, line: str) -> str:
        """The tokens of a line, with spaces between them."""
        parsed: str = self.tagger.parse(line.strip())
        return parsed.strip()
