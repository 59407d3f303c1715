"""The tokenizer that does nothing, for text that is tokenized already."""

from __future__ import annotations

from .tokenizer_base import BaseTokenizer


class NoneTokenizer(BaseTokenizer):
    """White space separates tokens as it is."""

    def signature(self) -> str:
        """The name that signatures give the tokenizer."""
        return "none"

    def __call__(self, line: str) -> str:
        """The line itself."""
        return line
