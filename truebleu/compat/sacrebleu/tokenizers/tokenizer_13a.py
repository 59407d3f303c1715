"""mteval-v13a's tokenizer, WMT's and sacreBLEU's default (kernel/src/lex/thirteen_a.rs)."""

from __future__ import annotations

from .tokenizer_base import GUARD, KernelTokenizer


class Tokenizer13a(KernelTokenizer):
    """Symbols stand alone, and periods and commas that are not inside a number."""

    NAME = "13a"
    # The definition puts a space behind the line itself.
    BEHIND = f" {GUARD}"
