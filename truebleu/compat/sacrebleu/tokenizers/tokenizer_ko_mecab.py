"""The tokenizer for Korean: MeCab-ko with its dictionary, if they are installed."""

from __future__ import annotations

from .tokenizer_ja_mecab import MESSAGE, TokenizerJaMecab

FAIL_MESSAGE = MESSAGE.format("Korean", "ko")


class TokenizerKoMecab(TokenizerJaMecab):
    """Morphemes as MeCab-ko finds them."""

    NAME, MISSING = "ko-mecab", FAIL_MESSAGE
