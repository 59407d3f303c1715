"""sacreBLEU's tokenizers, a module for each: callables from a line to a line of tokens."""

from .tokenizer_base import BaseTokenizer

__all__ = ["BaseTokenizer"]
