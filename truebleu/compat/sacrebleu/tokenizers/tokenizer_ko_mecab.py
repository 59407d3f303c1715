"""The tokenizer for Korean: MeCab-ko's words, if its dictionary is installed."""

from __future__ import annotations

from .tokenizer_ja_mecab import MESSAGE, TokenizerJaMecab

FAIL_MESSAGE = MESSAGE.format("Korean", "ko")


class TokenizerKoMecab(TokenizerJaMecab):
    """Words as MeCab-ko finds them."""

    NAME, MISSING = "ko-mecab", FAIL_MESSAGE
    OTHER = "Please make sure to use the mecab-ko-dic for MeCab-ko"
