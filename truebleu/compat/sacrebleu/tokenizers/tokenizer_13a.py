"""mteval-v13a's tokenizer, WMT's and sacreBLEU's default (kernel/src/lex/thirteen_a.rs)."""

from __future__ import annotations

from .tokenizer_base import GUARD, BaseTokenizer, kernel_tokens


class Tokenizer13a(BaseTokenizer):
    """Symbols stand alone, and periods and commas that are not inside a number."""

    def signature(self) -> str:
        """The name that signatures give the tokenizer."""
        return "13a"

    def __call__(self, line: str) -> str:
        """The tokens of a line, with spaces between them."""
        # The definition puts a space behind the line itself.
        return kernel_tokens(line, "13a", " " + GUARD)
