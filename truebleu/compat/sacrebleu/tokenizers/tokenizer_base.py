"""The base of every tokenizer: a call, and a name for signatures."""

from __future__ import annotations

from truebleu._kernel import tokenize

# The kernel strips the end of a line, as BLEU does before it tokenizes. A tokenizer that is called
# by itself does not; a word of no class behind the line keeps what stands there.
GUARD = "\ue000"


class BaseTokenizer:
    """A tokenizer to derive from."""

    def signature(self) -> str:
        """The name that signatures give the tokenizer."""
        raise NotImplementedError

    def __call__(self, line: str) -> str:
        """The tokens of a line, with spaces between them."""
        raise NotImplementedError


class KernelTokenizer(BaseTokenizer):
    """A tokenizer of the kernel's."""

    NAME = "none"
    BEHIND = GUARD

    def signature(self) -> str:
        """The name that signatures give the tokenizer."""
        return self.NAME

    def __call__(self, line: str) -> str:
        """The tokens of a line, its end included, with spaces between them."""
        if not line[-1:].isspace():
            return " ".join(tokenize(line, self.NAME, "no"))
        return " ".join(tokenize(line + self.BEHIND, self.NAME, "no")[:-1])
