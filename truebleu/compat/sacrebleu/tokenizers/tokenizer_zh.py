"""The tokenizer for Chinese (kernel/src/lex/chinese.rs)."""

from __future__ import annotations

from truebleu._kernel import tokenize

from .tokenizer_base import KernelTokenizer


class TokenizerZh(KernelTokenizer):
    """Chinese characters stand alone, and in the rest what 13a separates."""

    NAME = "zh"

    @staticmethod
    def _is_chinese_char(uchar: str) -> bool:
        """True for a character that stands alone. The lowest of them is U+2001."""
        return uchar > "\u2000" and len(tokenize(f"a{uchar}a", "zh", "no")) > 1

    def __call__(self, line: str) -> str:
        """The tokens of a line, with spaces between them."""
        return super().__call__(line.strip())
