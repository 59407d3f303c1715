"""Minimum Bayes risk decoding: choose the candidate with the highest expected score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, overload

from truebleu._kernel import InputError, Scores
from truebleu.metrics.base import Metric, Signature
from truebleu.metrics.pairwise_scores import validate_reference_weights
from truebleu.pairwise import mbr_search
from truebleu.pairwise.utility import (
    PrecomputedUtility,
    Source,
    Utility,
    is_precomputed,
    make_precomputed_utility,
    make_text_utility,
)
from truebleu.text import argument_checks, corpus_inputs
from truebleu.text.record import Record
from truebleu.text.terminal_layout import pad_columns

if TYPE_CHECKING:
    # f(candidates, references), with sources f(candidates, references, sources): a number per pair.
    Function = Callable[..., Any]
    # A row of numbers for each candidate, a column for each reference; for many sources several.
    Numbers = Sequence[Sequence[float]] | Sequence[Sequence[Sequence[float]]]

    class Array(Protocol):
        """Such numbers as NumPy or a tensor have them."""

        def tolist(self) -> Any: ...  # noqa: D102

    AnyUtility = str | Metric | Function | Numbers | Array

# The number of candidates that print() shows, and of characters of each.
MAX_SHOWN_CANDIDATES, WIDTH = 5, 60


class MBR(Record):
    """The candidates of one source, ranked by their expected score. Immutable."""

    utility: str
    """The name of the metric or function that scores a pair."""
    metric: Metric | None
    """The metric of the scores; None of functions and of given numbers."""
    method: str
    """The method: "exact", "aggregate" or "pruned"."""
    candidates: tuple[str, ...]
    """All candidates, in the order they were given."""
    expected: Scores
    """The expected score of each candidate: exact, or as far as the method has looked."""
    seen: tuple[int, ...]
    """How many references each candidate was scored against; 1 of "aggregate": their sum."""
    ranking: tuple[int, ...]
    """The indices of the candidates, best first; ties keep their order."""
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
    def signature(self) -> Signature | None:
        """The signature of the score of a pair; None of functions and of given numbers."""
        return None if self.metric is None else self.metric.signature(1, segment=True)

    def __len__(self) -> int:
        return len(self.candidates)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        head = (
            f"MBR by {self.utility}: candidate {self.index} of {len(self)} is best, "
            f"expected {self.value:.2f} over {self.references} references{self._method_note}"
        )
        rows = [("rank", "candidate", "expected", "text")]
        rows += [
            (str(rank), str(index), f"{self.expected[index]:.2f}", _cut(self.candidates[index]))
            for rank, index in enumerate(self.ranking[:MAX_SHOWN_CANDIDATES], 1)
        ]
        lines = ["  ".join(row).rstrip() for row in pad_columns(rows, right=(0, 1, 2))]
        hidden_count = len(self) - MAX_SHOWN_CANDIDATES
        return "\n".join(
            [head, *lines, *([f"... and {hidden_count:,} more"] if hidden_count > 0 else [])]
        )

    def __repr__(self) -> str:
        return f"<MBR: candidate {self.index} of {len(self)}, {self.utility} {self.value:.2f}>"

    @property
    def _method_note(self) -> str:
        """Return the note that print() adds for methods that are not exact."""
        if self.method == "exact":
            return ""
        return f" ({self.method}, {sum(self.seen):,} scores)"

    def __hash__(self) -> int:
        return hash((self.utility, self.candidates))

    def to_dict(self) -> dict[str, Any]:
        """Everything but the texts that are not the best."""
        return {
            "metric": self.utility,
            "signature": None if self.signature is None else str(self.signature),
            "method": self.method,
            "candidates": len(self),
            "references": self.references,
            "index": self.index,
            "best": self.best,
            "score": self.value,
            "ranking": list(self.ranking),
            "expected": self.expected.tolist(),
            "seen": list(self.seen),
        }


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"


@overload
def mbr(
    candidates: Sequence[str],
    *,
    references: Sequence[str] | None = None,
    utility: AnyUtility | None = None,
    sources: str | None = None,
    weights: Sequence[float] | None = None,
    method: str = "exact",
    level: float = 0.99,
    seed: int | None = argument_checks.DEFAULT_SEED,
    workers: int = 1,
) -> MBR: ...
@overload
def mbr(
    candidates: Sequence[list[str]] | Sequence[tuple[str, ...]],
    *,
    references: Sequence[Sequence[str]] | None = None,
    utility: AnyUtility | None = None,
    sources: Sequence[str] | None = None,
    weights: Sequence[Sequence[float]] | None = None,
    method: str = "exact",
    level: float = 0.99,
    seed: int | None = argument_checks.DEFAULT_SEED,
    workers: int = 1,
) -> list[MBR]: ...
def mbr(
    candidates: Any,
    *,
    references: Any = None,
    utility: Any = None,
    sources: Any = None,
    weights: Any = None,
    method: str = "exact",
    level: float = 0.99,
    seed: int | None = argument_checks.DEFAULT_SEED,
    workers: int = 1,
) -> MBR | list[MBR]:
    """Return the candidates of one or many sources, ranked by expected score.

    Shankar Kumar and William Byrne (2004): Minimum Bayes-risk decoding for statistical machine
    translation. NAACL. With samples as both candidates and references: Bryan Eikema and Wilker Aziz
    (2020): Is MAP decoding all you need? COLING; (2022): Sampling-based approximations to minimum
    Bayes risk decoding for neural machine translation. EMNLP.

    candidates: of one source a list of strings; of many a list of such lists, of any lengths.
    references: what candidates are scored against, if not each other (themselves included): a
        list of strings, for many sources one for each.
    utility: what scores a pair. A metric or its name, by default BLEU: a pair's score is what
        `sentence` gives. A function of a list of candidates and a list of references, as long,
        that gives a number for each pair, high for good ones. Or the numbers themselves: a row for
        each candidate with a column for each reference, for many sources one such matrix each.
    sources: the text of the source, for many sources one for each. Metrics that read sources want
        it; a function then gets a third list.
    weights: a number for each reference, not negative: a probability, a model's weight, a count;
        they need not add up to 1. For many sources a list for each.
    method: "exact" scores every pair. "aggregate" scores each candidate against the sum of the
        references, in linear time: BLEU and chrF alone, whole numbers as weights. "pruned" gives up
        candidates that a few references show to be worse: for utilities that cost much.
    level: of "pruned": how sure it must be that the best one so far is better, 0-1.
    seed: for "pruned", the seed of the order of references and of the resamples; None for a new
    seed per run. workers: threads.

    Gives an `MBR`, for many sources a list of them. The expected score of h is sum(w · score(h, r))
    / sum(w), added in the order of the references; without weights sum(score(h, r)) / m. Metrics
    where low is good (TER) rank so. A text that is there twice is scored once. Raises InputError
    for a source without candidates, for weights that do not fit, and for a function's numbers that
    are too few, or not finite.

    >>> found = mbr(["the cat sat", "the cat sat down", "a dog sat down", "the cat sat down now"])
    >>> found.index, found.best, found.ranking
    (1, 'the cat sat down', (1, 0, 3, 2))
    >>> def longest_word(candidates, references):
    ...     return [max(map(len, text.split())) for text in candidates]
    >>> mbr(["a cat", "a mouse"], utility=longest_word)
    <MBR: candidate 1 of 2, longest_word 5.00>
    >>> mbr(["a cat", "a mouse"], utility=[[0.5, 0.25, 0.75], [0.5, 0.5, 1.0]]).index
    1
    """
    argument_checks.check_choice("method", method, ("exact", "aggregate", "pruned"))
    level, seed, workers = (
        argument_checks.check_fraction("level", level),
        argument_checks.check_seed(seed),
        argument_checks.check_workers(workers),
    )
    sets, has_several_sources = corpus_inputs.read_text_sets("candidates", candidates)
    for number, source in enumerate(sets, 1):
        if not source:
            raise InputError(f"candidates: source {number} has none; leave the source out")
    resolved_utility: Utility
    if is_precomputed(utility):
        if method != "exact":
            raise ValueError(f"method={method!r} saves scores, and a matrix has them all")
        resolved_utility = make_precomputed_utility(
            utility, sets, has_several_sources=has_several_sources
        )
        reference_sets, scored = (
            _columns(resolved_utility, references, sets, has_several_sources=has_several_sources),
            sets,
        )
    else:
        resolved_utility = make_text_utility(utility, workers)
        reference_sets = _reference_sets(references, sets, has_several_sources=has_several_sources)
        scored = [list(dict.fromkeys(source)) for source in sets]
    if (
        sources is None
        and resolved_utility.metric is not None
        and resolved_utility.metric.NEEDS_SOURCE
    ):
        raise InputError(
            f"sources: {resolved_utility.name} reads them; give one for each list of candidates"
        )
    texts = _source_texts(sources, len(sets), has_several_sources=has_several_sources)
    numbers = _numbers(weights, len(sets), has_several_sources=has_several_sources)
    work = []
    for number, source_inputs in enumerate(
        zip(scored, reference_sets, numbers, texts, strict=True), 1
    ):
        source_candidates, source_references, weight, text = source_inputs
        location = f" of source {number}" if has_several_sources else ""
        checked = (
            None
            if weight is None
            else validate_reference_weights(weight, len(source_references), location)
        )
        work.append(Source(source_candidates, source_references, checked, text, location))
    results: Iterable[mbr_search.SearchResult]
    if method == "pruned":
        results = mbr_search.pruned(resolved_utility, work, level, seed)
    else:
        results = {"exact": mbr_search.exact, "aggregate": mbr_search.aggregate}[method](
            resolved_utility, work
        )
    ranked = [
        _ranked(resolved_utility, source, candidates, one, method)
        for source, candidates, one in zip(work, sets, results, strict=True)
    ]
    return ranked if has_several_sources else ranked[0]


def _columns(
    matrices: PrecomputedUtility,
    references: Any,
    sets: list[list[str]],
    *,
    has_several_sources: bool,
) -> list[list[str]]:
    """Return the references of each source, one for each column of its numbers."""
    widths = list(map(matrices.width, range(len(sets))))
    if references is None:
        return [[""] * width for width in widths]
    reference_sets = _reference_sets(references, sets, has_several_sources=has_several_sources)
    for number, (width, source_references) in enumerate(
        zip(widths, reference_sets, strict=True), 1
    ):
        if width != len(source_references):
            location = f" of source {number}" if has_several_sources else ""
            raise InputError(
                f"utility{location}: {width} columns for {len(source_references)} references"
            )
    return reference_sets


def _source_texts(sources: Any, count: int, *, has_several_sources: bool) -> Sequence[str | None]:
    """Return the text of each source, None where there are none."""
    if sources is None:
        return [None] * count
    if isinstance(sources, str):
        if has_several_sources:
            raise InputError("sources: one text; expected one for each list of candidates")
        return [sources]
    source_list = corpus_inputs.read_text_list("sources", sources)
    if len(source_list) != count:
        raise InputError(f"sources: {len(source_list)} for {count} lists of candidates")
    return source_list


def _reference_sets(
    references: Any, sources: list[list[str]], *, has_several_sources: bool
) -> list[list[str]]:
    """Return the references of each source: the candidates, if there are no others."""
    if references is None:
        return sources
    sets, is_nested = corpus_inputs.read_text_sets("references", references)
    if is_nested and not has_several_sources:
        raise InputError("references: lists of strings, where candidates are of one source")
    if has_several_sources and not is_nested:
        raise InputError("references: strings; expected a list of them for each source")
    if len(sets) != len(sources):
        raise InputError(_for_each("references", len(sets), len(sources)))
    for number, source_references in enumerate(sets, 1):
        if not source_references:
            raise InputError(f"references: source {number} has none")
    return sets


def _numbers(weights: Any, count: int, *, has_several_sources: bool) -> Sequence[Any]:
    """Return the weights of each source, None where all count the same."""
    if weights is None:
        return [None] * count
    if isinstance(weights, str) or not hasattr(weights, "__len__"):
        raise TypeError("weights: expected a list of numbers, one per reference")
    if not has_several_sources:
        return [weights]
    if len(weights) != count:
        raise InputError(_for_each("weights", len(weights), count))
    return list(weights)


def _for_each(role: str, lists: int, sources: int) -> str:
    sources_word = "source" if sources == 1 else "sources"
    return f"{role}: {lists} for {sources} {sources_word}; expected a list for each"


def _ranked(
    utility: Utility,
    source: Source,
    candidates: list[str],
    result: mbr_search.SearchResult,
    method: str,
) -> MBR:
    """Return the candidates of one source, ranked; ties keep their order."""
    expected, seen = result
    if len(expected) < len(candidates):
        place = {text: i for i, text in enumerate(source.candidates)}
        places = [place[candidate] for candidate in candidates]
        expected, seen = [expected[i] for i in places], [seen[i] for i in places]
    sign = 1 if utility.lower_is_better else -1
    # Candidates that were dropped later rank higher.
    order = [(-count, sign * score) for count, score in zip(seen, expected, strict=True)]
    return MBR(
        utility=utility.name,
        metric=utility.metric,
        method=method,
        candidates=tuple(candidates),
        expected=Scores(expected),
        seen=tuple(seen),
        ranking=tuple(sorted(range(len(order)), key=order.__getitem__)),
        references=len(source.references),
    )
