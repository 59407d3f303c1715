"""N-grams that distinguish systems from each other and from the references.

The n-grams consist of BLEU's tokens and are counted as in BLEU: `matched` is clipped per segment,
and `reference` is the largest count in any reference. The kernel finds the n-grams and computes how
surprising they are (kernel/src/distinctive_ngrams.rs); this module maps token ids to words.
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

# Largest order of the listed n-grams, unless BLEU's max_order is smaller.
MAX_LISTED_ORDER = 4

# Maximum number of n-grams per list and order, and maximum number of example segments per n-gram.
MAX_LIST_LENGTH = 200
MAX_EXAMPLE_SEGMENTS = 50

# Number of candidates per order: the n-grams with the largest count differences. A page selects the
# most surprising ones.
BROWSER_CANDIDATES = 1000

# Maximum number of n-grams per order and kind of list, over all pairs of systems.
MAX_LISTED_NGRAMS = 800

# Maximum total number of tokens in all systems and references. At about 8 bytes per token, they
# occupy a quarter of a gigabyte. The page states the number of segments that were counted.
MAX_TOKENS = 1 << 25

LIST_KINDS = ("difference", "over", "missed")

# Fields of a listed n-gram that follow its order.
NGRAM_FIELDS = ("tokens", "matched", "produced", "reference", "log_odds", "z", "segments")


def build_corpus(
    systems: Sequence[Texts],
    references: Sequence[Texts],
    metric: BLEU,
    max_tokens: int = MAX_TOKENS,
) -> Corpus:
    """Return the corpus of system outputs and references, tokenized with the tokenizer of `metric`.

    The corpus contains only the leading segments if the texts have more than `max_tokens` tokens.
    """
    tokenize, lowercase = metric.tokenize, metric.lowercase
    columns = (*systems, *references)
    if tokenizers.uses_kernel_tokenizer(tokenize, lowercase):
        streams = [segments.make_text_source(column) for column in columns]
    else:
        split = tokenizers.make_tokenizer(tokenize, lowercase)

        def tokenize_text(text: bytes | None) -> list[list[str] | None]:
            return [None if text is None else split(text.decode("utf-8", "surrogatepass"))]

        streams = [
            _kernel.tokens(map(tokenize_text, column), "texts", several=True) for column in columns
        ]
        tokenize, lowercase = "none", False
    return _kernel.Corpus(
        streams[: len(systems)],
        streams[len(systems) :],
        str(tokenize),
        tokenizers.LOWERCASE_MODES[lowercase],
        min(MAX_LISTED_ORDER, metric.max_order),
        max_tokens,
    )


def list_distinctive_ngrams(
    corpus: Corpus, metric: BLEU, pairs: Sequence[tuple[int, int | None]]
) -> dict[str, Any]:
    """Return the manifest entry with the n-gram lists of each pair of systems, or of one system.

    difference: n-grams that one system matches more often, by decreasing difference
    over: n-grams that a system produces more often than the references allow, by decreasing surplus
    missed: n-grams of the references that neither system matches, by decreasing frequency

    Ties are in corpus order. `segments` lists the first segments (counted from 0) that contribute
    to the difference, the surplus or the misses.
    """
    limit = max(1, min(MAX_LIST_LENGTH, MAX_LISTED_NGRAMS // len(pairs)))
    kernel_lists = corpus.contrasts(pairs=list(pairs), limit=limit, examples=MAX_EXAMPLE_SEGMENTS)
    entries = []
    for number, (a, b) in enumerate(pairs):
        kinds = LIST_KINDS[1:] if b is None else LIST_KINDS
        lists: dict[str, list[dict[str, Any]]] = {kind: [] for kind in kinds}
        for order, pair_lists in enumerate(kernel_lists, 1):
            for kind, ngrams in zip(LIST_KINDS, pair_lists[number], strict=True):
                if kind in kinds:
                    lists[kind] += (
                        {"order": order, **dict(zip(NGRAM_FIELDS, ngram, strict=True))}
                        for ngram in ngrams
                    )
        entries.append({"a": a, "b": b, "lists": lists})
    return describe_ngram_lists(metric, len(corpus)) | {"limit": limit, "pairs": entries}


def describe_ngram_lists(metric: BLEU, segment_count: int) -> dict[str, Any]:
    """Return the manifest entry without n-gram lists, for a page that computes them itself."""
    return {
        "orders": min(MAX_LISTED_ORDER, metric.max_order),
        "label": tokenizers.format_signature_label(metric.tokenize),
        "lowercase": metric.lowercase,
        "limit": BROWSER_CANDIDATES,
        "segments": segment_count,
    }
