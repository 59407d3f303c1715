"""mteval-v14's international tokenizer (kernel/src/lex/international.rs)."""

from __future__ import annotations

from .tokenizer_base import KernelTokenizer


class TokenizerV14International(KernelTokenizer):
    """All of Unicode's symbols stand alone, and its punctuation that is not between numbers."""

    NAME = "intl"
