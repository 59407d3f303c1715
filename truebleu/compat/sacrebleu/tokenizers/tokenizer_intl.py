"""mteval-v14's international tokenizer (kernel/src/lex/international.rs)."""

from __future__ import annotations

from .tokenizer_base import BaseTokenizer, kernel_tokens


class TokenizerV14International(BaseTokenizer):
    """All of Unicode's symbols stand alone, and its punctuation that is not between numbers."""

    def signature(self) -> str:
        """The name that signatures give the tokenizer."""
        return "intl"

    def __call__(self, line: str) -> str:
        """The tokens of a line, with spaces between them."""
        return kernel_tokens(line, "intl")
