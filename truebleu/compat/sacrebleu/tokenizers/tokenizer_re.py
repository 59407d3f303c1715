"""The rules that 13a and zh end with: which ASCII characters are tokens of their own."""

from __future__ import annotations

import re

from .tokenizer_base import BaseTokenizer

# Each is applied to the whole line before the next; an apostrophe separates nothing.
_RULES = [
    (re.compile(r"""([ !"#$%&()*+/:;<=>?@\[\\\]^_`{|}~])"""), r" \1 "),
    # A period or comma, unless a digit stands before it; then unless one stands behind it.
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    # A hyphen behind a digit.
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
]


class TokenizerRegexp(BaseTokenizer):
    """mteval's rules for Western languages, without its rewriting of entities and line ends."""

    def signature(self) -> str:
        """The name that signatures give the tokenizer."""
        return "re"

    def __call__(self, line: str) -> str:
        """The tokens of a line, with spaces between them."""
        for pattern, replacement in _RULES:
            line = pattern.sub(replacement, line)
        return " ".join(line.split())
