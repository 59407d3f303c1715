"""The n-grams that set systems apart: from each other, and from the references.

They are n-grams of the tokens that BLEU counts, and are counted as BLEU counts them: `matched` is
clipped segment by segment, and `reference` has each n-gram as often as the reference that has it
most often. The kernel finds them, and how surprising they are (kernel/src/distinctive_ngrams.rs);
here they get words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from truebleu import _kernel
from truebleu._kernel import Corpus
from truebleu.text import segments, tokenizers
from truebleu.text.segments import Texts

if TYPE_CHECKING:
    from truebleu.metrics.bleu import BLEU

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

# What a list says of an n-gram, behind its order.
SAID = ("tokens", "matched", "produced", "reference", "log_odds", "z", "segments")


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
    if tokenizers.is_in_kernel(tokenize, lowercase):
        sources = [segments.make_text_source(column, "texts") for column in columns]
    else:
        split = tokenizers.make_tokenizer(tokenize, lowercase)

        def tokens(text: bytes | None) -> list[list[str] | None]:
            return [None if text is None else split(text.decode("utf-8", "surrogatepass"))]

        sources = [_kernel.tokens(map(tokens, column), "texts", several=True) for column in columns]
        tokenize, lowercase = "none", False
    return _kernel.Corpus(
        sources[: len(systems)],
        sources[len(systems) :],
        str(tokenize),
        tokenizers.LOWERCASE_MODES[lowercase],
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
    found = corpus.contrasts(pairs=list(pairs), limit=limit, examples=EXAMPLES)
    told = []
    for number, (a, b) in enumerate(pairs):
        kinds = KINDS[1:] if b is None else KINDS
        lists: dict[str, list[dict[str, Any]]] = {kind: [] for kind in kinds}
        for order, by_pair in enumerate(found, 1):
            for kind, grams in zip(KINDS, by_pair[number], strict=True):
                if kind in kinds:
                    lists[kind] += (
                        {"order": order, **dict(zip(SAID, gram, strict=True))} for gram in grams
                    )
        told.append({"a": a, "b": b, "lists": lists})
    return described(metric, len(corpus)) | {"limit": limit, "pairs": told}


def described(metric: BLEU, segments: int) -> dict[str, Any]:
    """What the lists are of, for the manifest of a page that makes them itself."""
    return {
        "orders": min(ORDERS, metric.max_order),
        "label": tokenizers.format_signature_label(metric.tokenize),
        "lowercase": metric.lowercase,
        "limit": IN_PAGE,
        "segments": segments,
    }
