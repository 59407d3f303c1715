"""N-grams of token sequences: counted by the kernel where it can serve, and plainly where not."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from itertools import chain, count, starmap

from truebleu.bleu import BLEU

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

# The longest n-grams that the kernel counts.
MOST_ORDERS = 16

# Sequences that iterate the same each time and are as long as they say. A str is its characters.
PLAIN = frozenset({list, tuple, str})


@cache
def engine(orders: int, tokenize: str = "none", missing_order: str | None = None) -> BLEU:
    """The metric that counts n-grams of up to so many tokens."""
    return BLEU(tokenize, max_order=orders, missing_order=missing_order)


def matches(
    hypotheses: Sequence[str], references: Sequence[str], orders: int, tokenize: str = "none"
) -> list[Sequence[int]]:
    """The clipped matches of each order, of each hypothesis in its one reference."""
    metric = engine(orders, tokenize)
    if len(hypotheses) > 1:
        table = metric.statistics(hypotheses, references)
        return [row[2 : 2 + orders] for row in table.tolist()]
    pairs = zip(hypotheses, references, strict=True)
    return [metric.sentence(*pair).matches for pair in pairs]


def texts(sequences: Sequence[Sequence[Any]]) -> list[str]:
    """Sequences of tokens as texts whose words are equal where the tokens are.

    Tokens are whatever can be hashed. Those that are text without white space stay as they are.
    """
    flat = [*chain.from_iterable(sequences)]
    # A class of its own may have its own idea of being equal.
    if all(flat) and {*map(type, flat)} <= {str} and is_solid("".join(flat)):
        return [" ".join(tokens) for tokens in sequences]
    words: defaultdict[Any, str] = defaultdict(map(str, count()).__next__)
    return [" ".join(map(words.__getitem__, tokens)) for tokens in sequences]


def characters(pair: tuple[str, str]) -> tuple[str, str]:
    """Texts without white space, which the kernel leaves out, but with the same n-grams."""
    first, second = pair
    if is_solid(first) and is_solid(second):
        return pair
    stand_ins: defaultdict[str, str] = defaultdict(map(chr, count(0x4E00)).__next__)
    return "".join(map(stand_ins.__getitem__, first)), "".join(map(stand_ins.__getitem__, second))


def is_solid(text: str) -> bool:
    """Whether there is surely no white space: all but the space counts as not printable."""
    return text.isprintable() and " " not in text


def paired(references: Any, hypotheses: Any, name: str = "list_of_references") -> list[Any]:
    """Each segment's references and hypothesis; the first argument is called `name`."""
    if len(references) != len(hypotheses):
        raise AssertionError(
            f"{name} has {len(references)} entries and hypotheses {len(hypotheses)}; "
            "every hypothesis needs its own references"
        )
    return list(zip(references, hypotheses, strict=False))


def in_kernel(pairs: Iterable[tuple[Any, Any]]) -> bool:
    """Whether all references and hypotheses are plain sequences, and no segment lacks one."""
    return all(starmap(_is_plain, pairs))


def _is_plain(references: Any, hypothesis: Any) -> bool:
    return (
        type(references) in PLAIN
        and type(hypothesis) in PLAIN
        and len(references) > 0
        and PLAIN.issuperset(map(type, references))
    )


def is_order(n: object) -> bool:
    """Whether the kernel counts n-grams of this order."""
    return type(n) is int and 1 <= n <= MOST_ORDERS


def ngrams(tokens: Iterable[Any], n: int) -> Iterable[tuple[Any, ...]]:
    """All runs of `n` tokens; of no tokens, one more than there are tokens, as in NLTK."""
    if not isinstance(n, int) or n < 0:
        raise ValueError(f"{n!r}: the order of n-grams is an integer, not below 0")
    tokens = tuple(tokens)
    if n == 0:
        return [()] * (len(tokens) + 1)
    return zip(*(tokens[start:] for start in range(n)), strict=False)


def counted(tokens: Any, n: int) -> Counter[tuple[Any, ...]]:
    """How often each run of `n` tokens is there."""
    return Counter(ngrams(tokens, n)) if len(tokens) >= n else Counter()
