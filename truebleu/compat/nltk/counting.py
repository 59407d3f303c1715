"""N-grams of token sequences, counted by the kernel where possible, else in Python."""

from __future__ import annotations

from collections import Counter
from functools import cache

from truebleu.metrics.bleu import BLEU
from truebleu.metrics.table_metric import unpacked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from truebleu.metrics.kernel_metric import KernelMetric

# The longest n-grams that the kernel counts.
MOST_ORDERS = 16

# Sequences whose iteration is repeatable and agrees with their length. A str is its characters.
PLAIN = frozenset({list, tuple, str})


@cache
def engine(orders: int, missing_order: str | None = None) -> BLEU:
    """The metric that counts n-grams of up to this order."""
    return BLEU("none", max_order=orders, missing_order=missing_order)


def rows(
    metric: KernelMetric[Any], hypotheses: Sequence[str], references: Sequence[Any]
) -> Sequence[Sequence[int]]:
    """The statistics of each segment; of one alone straight from the kernel, which is faster."""
    if len(hypotheses) > 1:
        return metric.statistics(hypotheses, references).tolist()
    return [
        unpacked(metric._kernel.sentence(*pair)[1])  # noqa: SLF001
        for pair in zip(hypotheses, references, strict=True)
    ]


def paired(references: Any, hypotheses: Any, name: str = "list_of_references") -> list[Any]:
    """Each segment's references and hypothesis; the first argument is called `name`."""
    if len(references) != len(hypotheses):
        raise AssertionError(
            f"{name} has {len(references)} entries and hypotheses {len(hypotheses)}; "
            "every hypothesis needs its own references"
        )
    return list(zip(references, hypotheses, strict=False))


def in_kernel(pairs: Iterable[tuple[Any, Any]]) -> bool:
    """True if all references and hypotheses are plain sequences, and no segment lacks one."""
    return all(
        type(references) in PLAIN
        and type(hypothesis) in PLAIN
        and len(references) > 0
        and PLAIN.issuperset(map(type, references))
        for references, hypothesis in pairs
    )


def is_order(n: object) -> bool:
    """True if the kernel counts n-grams of this order."""
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
    """The count of each run of `n` tokens."""
    return Counter(ngrams(tokens, n)) if len(tokens) >= n else Counter()
