"""The tokenizer that does nothing, for text that is tokenized already."""

from __future__ import annotations

from .tokenizer_base import KernelTokenizer


class NoneTokenizer(KernelTokenizer):
    """White space separates tokens as it is."""

    NAME = "none"

    def __call__(self, line: str) -> str:
        """The line itself."""
        return line
