"""Minimum Bayes risk: of several candidates the one that all of them agree on most."""

from __future__ import annotations

from truebleu._kernel import InputError, Scores
from truebleu.metrics import registry
from truebleu.metrics.matrix import checked_weights
from truebleu.text import checks, inputs
from truebleu.text.layout import columns
from truebleu.text.record import Record
from truebleu.text.typed import overload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from truebleu.metrics.base import Metric, Signature
    from truebleu.metrics.table_metric import TableMetric

# The number of candidates that print() shows, and of characters of each.
SHOWN, WIDTH = 5, 60


class MBR(Record):
    """The candidates of one source, ranked by their expected score. Immutable."""

    metric: Metric
    """The metric of the scores."""
    candidates: tuple[str, ...]
    """All candidates, in the order they were given."""
    expected: Scores
    """The expected score of each candidate."""
    ranking: tuple[int, ...]
    """The indices of the candidates, the best first; of equals the one that was given first."""
    references: int
    """The number of references."""

    @property
    def index(self) -> int:
        """The index of the best candidate."""
        return self.ranking[0]

    @property
    def best(self) -> str:
        """The best candidate."""
        return self.candidates[self.index]

    @property
    def value(self) -> float:
        """The expected score of the best candidate."""
        return self.expected[self.index]

    @property
    def signature(self) -> Signature:
        """The signature of the score of a pair."""
        return self.metric.signature(1, segment=True)

    def __len__(self) -> int:
        return len(self.candidates)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        head = (
            f"MBR by {self.metric.name}: candidate {self.index} of {len(self)} is best, "
            f"expected {self.value:.2f} over {self.references} references"
        )
        rows = [("rank", "candidate", "expected", "text")]
        rows += [
            (str(rank), str(index), f"{self.expected[index]:.2f}", _cut(self.candidates[index]))
            for rank, index in enumerate(self.ranking[:SHOWN], 1)
        ]
        lines = ["  ".join(row).rstrip() for row in columns(rows, right=(0, 1, 2))]
        more = len(self) - SHOWN
        return "\n".join([head, *lines, *([f"... and {more:,} more"] if more > 0 else [])])

    def __repr__(self) -> str:
        return f"<MBR: candidate {self.index} of {len(self)}, {self.metric.name} {self.value:.2f}>"

    def __hash__(self) -> int:
        return hash((self.metric, self.candidates))

    def to_dict(self) -> dict[str, Any]:
        """Everything but the texts that are not the best."""
        return {
            "metric": self.metric.name,
            "signature": str(self.signature),
            "candidates": len(self),
            "references": self.references,
            "index": self.index,
            "best": self.best,
            "score": self.value,
            "ranking": list(self.ranking),
            "expected": self.expected.tolist(),
        }


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"


@overload
def mbr(
    candidates: Sequence[str],
    *,
    references: Sequence[str] | None = None,
    metric: str | Metric | None = None,
    weights: Sequence[float] | None = None,
    workers: int = 1,
) -> MBR: ...
@overload
def mbr(
    candidates: Sequence[list[str]] | Sequence[tuple[str, ...]],
    *,
    references: Sequence[Sequence[str]] | None = None,
    metric: str | Metric | None = None,
    weights: Sequence[Sequence[float]] | None = None,
    workers: int = 1,
) -> list[MBR]: ...
def mbr(
    candidates: Any,
    *,
    references: Any = None,
    metric: str | Metric | None = None,
    weights: Any = None,
    workers: int = 1,
) -> MBR | list[MBR]:
    """The candidates ranked by expected score (minimum Bayes risk), for one source or for many.

    Shankar Kumar and William Byrne (2004): Minimum Bayes-risk decoding for statistical machine
    translation. NAACL. With samples as both candidates and references: Bryan Eikema and Wilker Aziz
    (2020): Is MAP decoding all you need? COLING; (2022): Sampling-based approximations to minimum
    Bayes risk decoding for neural machine translation. EMNLP.

    candidates: of one source a list of strings; of many a list of such lists, of any lengths.
    references: what candidates are scored against, if not each other (themselves included): a
        list of strings, for many sources one for each.
    metric: any metric; by default `BLEU()`. A pair's score is what `sentence` gives.
    weights: a number for each reference, not negative: a probability, a model's weight, a count;
        they need not add up to 1. For many sources a list for each.
    workers: threads.

    Gives an `MBR`, for many sources a list of them. The expected score of h is sum(w · score(h, r))
    / sum(w), added in the order of the references; without weights sum(score(h, r)) / m. Metrics
    where low is good (TER) rank so. A candidate that is there twice is computed once. Raises
    InputError for a source without candidates, and for weights that do not fit.

    >>> found = mbr(["the cat sat", "the cat sat down", "a dog sat down", "the cat sat down now"])
    >>> found.index, found.best, found.ranking
    (1, 'the cat sat down', (1, 0, 3, 2))
    """
    metric = registry.metric("bleu" if metric is None else metric)
    workers = checks.threads(workers)
    sources, several = inputs.sets("candidates", candidates)
    for number, source in enumerate(sources, 1):
        if not source:
            raise InputError(f"candidates: source {number} has none; leave the source out")
    others = _others(references, sources, several=several)
    numbers = _numbers(weights, len(sources), several=several)
    work = []
    for number, (source, other, weight) in enumerate(zip(sources, others, numbers, strict=True), 1):
        where = f" of source {number}" if several else ""
        checked = None if weight is None else checked_weights(weight, len(other), where)
        work.append((source, other, checked))
    if not several:
        return _ranked(metric, *work[0], workers)
    if workers == 1:
        return [_ranked(metric, *one, workers) for one in work]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda one: _ranked(metric, one[0], one[1], one[2], 1), work))


def _others(references: Any, sources: list[list[str]], *, several: bool) -> list[list[str]]:
    """The references of each source: the candidates, if there are no others."""
    if references is None:
        return sources
    sets, apart = inputs.sets("references", references)
    if apart and not several:
        raise InputError("references: lists of strings, where candidates are of one source")
    if several and not apart:
        raise InputError("references: strings; expected a list of them for each source")
    if len(sets) != len(sources):
        raise InputError(_for_each("references", len(sets), len(sources)))
    for number, one in enumerate(sets, 1):
        if not one:
            raise InputError(f"references: source {number} has none")
    return sets


def _numbers(weights: Any, count: int, *, several: bool) -> Sequence[Any]:
    """The weights of each source, None where all count the same."""
    if weights is None:
        return [None] * count
    if isinstance(weights, str) or not hasattr(weights, "__len__"):
        raise TypeError("weights: expected a list of numbers, one per reference")
    if not several:
        return [weights]
    if len(weights) != count:
        raise InputError(_for_each("weights", len(weights), count))
    return list(weights)


def _for_each(role: str, lists: int, sources: int) -> str:
    sources_word = "source" if sources == 1 else "sources"
    return f"{role}: {lists} for {sources} {sources_word}; expected a list for each"


def _ranked(
    metric: TableMetric[Any],
    candidates: list[str],
    references: list[str],
    weights: list[float] | None,
    workers: int,
) -> MBR:
    """The candidates of one source, ranked."""
    different = list(dict.fromkeys(candidates))
    expected: Sequence[float] = metric.expected(
        different, references, weights=weights, workers=workers
    ).tolist()
    if len(different) < len(candidates):
        of = dict(zip(different, expected, strict=True))
        expected = [of[candidate] for candidate in candidates]
    # Sorting keeps the order of equals: of two as good ones the first is better.
    ranking = sorted(
        range(len(expected)), key=expected.__getitem__, reverse=not metric.lower_is_better
    )
    return MBR(metric, tuple(candidates), Scores(expected), tuple(ranking), len(references))
