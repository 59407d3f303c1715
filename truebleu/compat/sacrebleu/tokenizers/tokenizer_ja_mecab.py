"""The tokenizer for Japanese: MeCab with the IPA dictionary, if they are installed."""

from __future__ import annotations

from .tokenizer_base import BaseTokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Programs look for the pip command in it.
FAIL_MESSAGE = """
Japanese tokenization requires extra dependencies, but you do not have them installed.
Please install them like so.

    pip install sacrebleu[ja]
"""

# How many words the dictionary has whose tokens are comparable.
_WORDS = 392126


class TokenizerJaMecab(BaseTokenizer):
    """Words as MeCab finds them."""

    def __init__(self) -> None:
        try:
            import ipadic
            import MeCab
        except ImportError:
            raise RuntimeError(FAIL_MESSAGE) from None
        self.tagger: Any = MeCab.Tagger(ipadic.MECAB_ARGS + " -Owakati")
        dictionary = self.tagger.dictionary_info()
        assert dictionary.size == _WORDS, "Please make sure to use the IPA dictionary for MeCab"
        assert dictionary.next is None  # no dictionary of the user's own

    def signature(self) -> str:
        """The name that signatures give the tokenizer, with the version of MeCab."""
        return f"ja-mecab-{self.tagger.version()}-IPA"

    def __call__(self, line: str) -> str:
        """The tokens of a line, with spaces between them."""
        parsed: str = self.tagger.parse(line.strip())
        return parsed.strip()
