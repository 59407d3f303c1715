"""What every tokenizer has: a call, and a name for signatures."""

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


def kernel_tokens(line: str, name: str, guard: str = GUARD) -> str:
    """The tokens that the kernel finds in a line, its end included."""
    if not line[-1:].isspace():
        return " ".join(tokenize(line, name, "no"))
    return " ".join(tokenize(line + guard, name, "no")[:-1])
