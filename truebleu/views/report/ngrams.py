"""The n-grams that set systems apart: from each other, and from the references.

They are n-grams of the tokens that BLEU counts, and are counted as BLEU counts them: `matched` is
clipped segment by segment, and `reference` has each n-gram as often as the reference that has it
most often. The kernel finds them (kernel/src/distinctive_ngrams.rs); here they get words and a
measure of how surprising they are.

log_odds is by how much the odds of an n-gram are larger on one side than on the other, as a
logarithm, with an informative Dirichlet prior; z is that in standard deviations. Monroe, Colaresi
and Quinn, "Fightin' Words: Lexical Feature Selection and Evaluation for Identifying the Content of
Political Conflict", Political Analysis 16 (2008), equations 15 to 22. The prior is what the systems
of the pair and the references have together, brought down to the size of one of them.
"""

from __future__ import annotations

from math import log, sqrt

from truebleu import _kernel
from truebleu.text import segments, tokenizers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from truebleu._kernel import Corpus, Gram
    from truebleu.metrics.bleu import BLEU
    from truebleu.text.segments import Texts

# The longest n-grams that are listed; those of BLEU, if they are shorter.
ORDERS = 4

# How many n-grams of an order a list has, and in how many segments they are shown.
LIMIT = 200
EXAMPLES = 50

# Of so many n-grams of an order, those whose counts differ most, a page takes the most surprising.
IN_PAGE = 1000

# Where there are many pairs of systems, so many n-grams of an order in all lists of a kind.
MOST = 800

# Tokens of all systems and references together; each takes some 8 bytes, so this is a quarter of a
# gigabyte. The page says of how many segments they are.
MOST_TOKENS = 1 << 25

KINDS = ("difference", "over", "missed")


def read(
    systems: Sequence[Texts],
    references: Sequence[Texts],
    metric: BLEU,
    most_tokens: int = MOST_TOKENS,
) -> Corpus:
    """The tokens of systems and references as `metric` has them: the first segments, if it is
    more than so many.
    """  # noqa: D205
    tokenize, lowercase = metric.tokenize, metric.lowercase
    columns = (*systems, *references)
    if tokenizers.in_kernel(tokenize, lowercase):
        sources = [segments.source_of(column, "texts") for column in columns]
    else:
        split = tokenizers.tokenizer(tokenize, lowercase)

        def tokens(text: bytes | None) -> list[list[str] | None]:
            return [None if text is None else split(text.decode("utf-8", "surrogatepass"))]

        sources = [_kernel.tokens(map(tokens, column), "texts", several=True) for column in columns]
        tokenize, lowercase = "none", False
    return _kernel.Corpus(
        sources[: len(systems)],
        sources[len(systems) :],
        str(tokenize),
        tokenizers.LOWERCASE[lowercase],
        min(ORDERS, metric.max_order),
        most_tokens,
    )


def differences(
    corpus: Corpus, metric: BLEU, pairs: Sequence[tuple[int, int | None]]
) -> dict[str, Any]:
    """The lists of each pair of systems, or of one system (and None), for the manifest.

    difference: matched by one of the two more often than by the other; the largest difference first
    over: produced by a system more often than its references allow; the most superfluous first
    missed: in the references and matched by neither; the most often missed first

    Of n-grams with the same number, the one that comes first in the corpus is first. `segments`
    are those, from 0, where this n-gram is as the list says; the first of them.
    """
    limit = max(1, min(LIMIT, MOST // len(pairs)))
    found = corpus.contrasts(
        pairs=list(pairs), limit=limit, examples=EXAMPLES, least=_least(corpus)
    )
    totals = corpus.totals()
    told = []
    for number, (a, b) in enumerate(pairs):
        systems = [a] if b is None else [a, b]
        kinds = KINDS[1:] if b is None else KINDS
        lists: dict[str, list[dict[str, Any]]] = {kind: [] for kind in kinds}
        for order, (by_pair, counts) in enumerate(zip(found, totals, strict=True), 1):
            for kind, grams in zip(KINDS, by_pair[number], strict=True):
                if kind in kinds:
                    lists[kind] += (_entry(kind, order, gram, counts, systems) for gram in grams)
        told.append({"a": a, "b": b, "lists": lists})
    return described(metric, len(corpus)) | {"limit": limit, "pairs": told}


def described(metric: BLEU, segments: int) -> dict[str, Any]:
    """What the lists are of, for the manifest of a page that makes them itself."""
    return {
        "orders": min(ORDERS, metric.max_order),
        "tokenizer": metric.tokenize if metric.tokenize in tokenizers.KERNEL else None,
        "label": tokenizers.label(metric.tokenize),
        "lowercase": metric.lowercase,
        "limit": IN_PAGE,
        "segments": segments,
        "pairs": None,
    }


def _least(corpus: Corpus) -> int:
    """About the number of occurrences that an n-gram needs to be in a list.

    The lists are the same with any number: too small or too large a one takes longer.
    """
    produced, _ = corpus.totals()[0]
    return max(1, sum(produced) // len(produced) // 400_000)


def _entry(
    kind: str, order: int, gram: Gram, totals: tuple[list[int], list[int]], systems: list[int]
) -> dict[str, Any]:
    tokens, produced, matched, reference, occurrences, segments = gram
    all_produced, all_matched = totals
    ours = sum(produced[i] for i in systems), sum(all_produced[i] for i in systems)
    theirs = occurrences, all_produced[-1]
    share = 1 / (1 + len(systems))
    prior = (ours[0] + theirs[0]) * share, (ours[1] + theirs[1]) * share
    if kind == "difference":
        one, other = ((matched[i], all_matched[i]) for i in systems)
    else:
        one, other = (ours, theirs) if kind == "over" else (theirs, ours)
    odds, deviation = log_odds(one, other, prior)
    return {
        "order": order,
        "tokens": tokens,
        "matched": [matched[i] for i in systems],
        "produced": [produced[i] for i in systems],
        "reference": reference,
        "log_odds": odds,
        "z": odds / deviation,
        "segments": segments,
    }


def log_odds(
    one: tuple[int, int], other: tuple[int, int], prior: tuple[float, float]
) -> tuple[float, float]:
    """The difference of an n-gram's log odds in two texts, and its standard deviation.

    Each pair is how often the n-gram is there, and how many n-grams there are. Where nothing else
    is there, the rest counts as one half.

    >>> odds, deviation = log_odds((30, 1000), (10, 1000), (20, 1000))
    >>> round(odds, 4), round(odds / deviation, 2)
    (0.521, 2.26)
    """
    alpha, alpha_all = prior

    def odds(count: int, total: int) -> float:
        return log((count + alpha) / max(0.5, total + alpha_all - count - alpha))

    variance = 1 / (one[0] + alpha) + 1 / (other[0] + alpha)
    return odds(*one) - odds(*other), sqrt(variance)
