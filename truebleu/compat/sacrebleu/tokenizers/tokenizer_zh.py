"""The tokenizer for Chinese (kernel/src/lex/chinese.rs)."""

from __future__ import annotations

from bisect import bisect_right

from .tokenizer_base import KernelTokenizer

# The characters that stand alone, as ends of ranges. From U+2001 to U+2A6D they are an accident
# that every published score has in it: the table that defines this tokenizer wrote U+20000 to
# U+2A6D6 with four digits, so it has punctuation and symbols there and lacks the rarer ideographs.
_RANGES = (
    *((0x2001, 0x2A6D), (0x2E80, 0x2FDF), (0x2FF0, 0x303F), (0x3100, 0x312F), (0x31A0, 0x31EF)),
    *((0x3200, 0x4DB5), (0x4E00, 0x9FBB), (0xF900, 0xFA2D), (0xFA30, 0xFA6A), (0xFA70, 0xFAD9)),
    *((0xFE10, 0xFE1F), (0xFE30, 0xFE4F), (0xFF00, 0xFFEF)),
)
_STARTS = [start for start, _ in _RANGES]


class TokenizerZh(KernelTokenizer):
    """Chinese characters stand alone, and in the rest what 13a separates."""

    NAME = "zh"

    @staticmethod
    def _is_chinese_char(uchar: str) -> bool:
        """True for a character that stands alone."""
        at = bisect_right(_STARTS, ord(uchar)) - 1
        return at >= 0 and ord(uchar) <= _RANGES[at][1]

    def __call__(self, line: str) -> str:
        """The tokens of a line, with spaces between them."""
        return super().__call__(line.strip())
