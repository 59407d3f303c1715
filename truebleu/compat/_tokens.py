"""Tokens of any kind as text for the kernel, which compares words."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain, count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def texts(sequences: Sequence[Sequence[Any]]) -> list[str]:
    """Sequences of tokens as texts whose words are equal where the tokens are.

    Tokens are any hashable objects. Strings without white space stay as they are.

    >>> texts([("a", "b"), ("b", "b")]), texts([(1, "a b"), ("a b", 2.0)])
    (['a b', 'b b'], ['0 1', '1 2'])
    """
    flat = [*chain.from_iterable(sequences)]
    # A class of its own may have its own idea of being equal.
    if {*map(type, flat)} <= {str} and all(flat):
        run = "".join(flat)
        if run.isprintable() and " " not in run:  # no other white space is printable
            return [" ".join(tokens) for tokens in sequences]
    words: defaultdict[Any, str] = defaultdict(map(str, count()).__next__)
    return [" ".join(map(words.__getitem__, tokens)) for tokens in sequences]
