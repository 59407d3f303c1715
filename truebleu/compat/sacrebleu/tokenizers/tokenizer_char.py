"""The tokenizer that makes every character a token."""

from __future__ import annotations

from .tokenizer_base import KernelTokenizer


class TokenizerChar(KernelTokenizer):
    """Characters are code points; those that are white space vanish when the line is split."""

    NAME = "char"

    def __call__(self, line: str) -> str:
        """The characters of a line, with spaces between them."""
        return " ".join(line)
