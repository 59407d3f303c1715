"""The tokenizer for Korean: MeCab-ko with its dictionary, if they are installed."""

from __future__ import annotations

from .tokenizer_ja_mecab import TokenizerJaMecab


class TokenizerKoMecab(TokenizerJaMecab):
    """Morphemes as MeCab-ko finds them."""

    LANGUAGE = ("Korean", "ko")
