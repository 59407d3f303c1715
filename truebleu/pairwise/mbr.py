"""Minimum Bayes risk decoding: choose the candidate with the highest expected score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, Unpack, overload

from truebleu._kernel import InputError, Scores, Stack, Stream, Table
from truebleu.metrics import registry
from truebleu.metrics.base import Metric, Signature
from truebleu.metrics.pairwise_scores import validate_reference_weights
from truebleu.pairwise import utility as utilities
from truebleu.pairwise.utility import Source, Utility
from truebleu.text import argument_checks, corpus_inputs
from truebleu.text.argument_checks import Record
from truebleu.text.terminal_layout import pad_columns

if TYPE_CHECKING:
    Function = Callable[..., Any]

    # A matrix with one row per candidate and one column per reference, or one matrix per source.
    Numbers = Sequence[Sequence[float]] | Sequence[Sequence[Sequence[float]]]

    class Array(Protocol):
        """A matrix that is a NumPy array or a tensor."""

        def tolist(self) -> Any: ...  # noqa: D102

    AnyUtility = str | Metric | Function | Numbers | Array

# The expected score of each candidate, and the number of references used to score it, or 1 for the
# sum of references.
SearchResult = tuple[list[float], list[int]]

# Maximum number of candidates that print() shows, and maximum number of characters per candidate.
MAX_SHOWN_CANDIDATES, WIDTH = 5, 60


class MBR(Record):
    """Candidates of one source, ranked by their expected scores. Instances are immutable."""

    utility: str
    """The name of the metric or function that scores a pair."""
    metric: Metric | None
    """The metric that scores a pair, or None for functions and precomputed scores."""
    method: str
    """The search method: "exact", "aggregate" or "pruned"."""
    candidates: tuple[str, ...]
    """All candidates, in the order of the input."""
    expected: Scores
    """The expected score of each candidate, computed from the references that the method uses."""
    seen: tuple[int, ...]
    """The number of references used to score each candidate, or 1 if "aggregate" sums them."""
    ranking: tuple[int, ...]
    """The indices of the candidates, best first. Ties keep their order."""
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
        """The signature of the score of a pair, or None for functions and precomputed scores."""
        return None if self.metric is None else self.metric.signature(1, segment=True)

    def __len__(self) -> int:
        return len(self.candidates)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        scored = f" ({self.method}, {sum(self.seen):,} scores)"
        head = (
            f"MBR by {self.utility}: candidate {self.index} of {len(self)} is best, "
            f"expected score {self.value:.2f} over {self.references} references"
            f"{'' if self.method == 'exact' else scored}"
        )
        rows = [("rank", "candidate", "expected", "text")]
        rows += [
            (str(rank), str(index), f"{self.expected[index]:.2f}", _shorten(self.candidates[index]))
            for rank, index in enumerate(self.ranking[:MAX_SHOWN_CANDIDATES], 1)
        ]
        lines = ["  ".join(row).rstrip() for row in pad_columns(rows, right=(0, 1, 2))]
        hidden_count = len(self) - MAX_SHOWN_CANDIDATES
        return "\n".join(
            [head, *lines, *([f"... and {hidden_count:,} more"] if hidden_count > 0 else [])]
        )

    def __repr__(self) -> str:
        # One line, because `mbr` may return a list of results.
        return (
            f"<MBR: candidate {self.index} of {len(self)} is best, expected {self.utility} "
            f"{self.value:.2f}: {_shorten(self.best)!r}>"
        )

    def __hash__(self) -> int:
        return hash((self.utility, self.candidates))

    def to_dict(self) -> dict[str, Any]:
        """Return the contents as JSON-compatible values, with only the best candidate's text."""
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


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"


class MBROptions(TypedDict, total=False):
    """Options of `mbr` for one source and for several sources."""

    utility: AnyUtility | None
    method: str
    level: float
    seed: int | None
    workers: int


@overload
def mbr(
    candidates: Sequence[str],
    *,
    references: Sequence[str] | None = None,
    sources: str | None = None,
    weights: Sequence[float] | None = None,
    **options: Unpack[MBROptions],
) -> MBR: ...
@overload
def mbr(
    candidates: Sequence[list[str]] | Sequence[tuple[str, ...]],
    *,
    references: Sequence[Sequence[str]] | None = None,
    sources: Sequence[str] | None = None,
    weights: Sequence[Sequence[float]] | None = None,
    **options: Unpack[MBROptions],
) -> list[MBR]: ...
@argument_checks.explain_keywords
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
    """Return the candidates of one or more sources, ranked by expected score.

    Shankar Kumar and William Byrne (2004): Minimum Bayes-risk decoding for statistical machine
    translation. NAACL. With samples as both candidates and references: Bryan Eikema and Wilker Aziz
    (2020): Is MAP decoding all you need? COLING; (2022): Sampling-based approximations to minimum
    Bayes risk decoding for neural machine translation. EMNLP.

    candidates: a list of strings for one source; a list of such lists for several sources.
    references: the texts that candidates are scored with (default: all candidates, including the
        scored one): a list of strings; for several sources, one list per source.
    utility: determines the score of a pair. Either a metric or its name (default: BLEU), which
        scores pairs with `sentence`; or a function of two equally long lists, candidates and
        references, that returns a number per pair, higher for better pairs; or precomputed scores:
        a matrix with one row per candidate and one column per reference, or one matrix per source.
    sources: the source text; for several sources, a list of texts. Required by metrics that read
        sources; functions receive them as a third list.
    weights: a non-negative number per reference: a probability, a model's weight, or a count. They
        need not sum to 1. For several sources, one list per source.
    method: "exact" scores every pair. "aggregate" scores each candidate against the sum of the
        references, in linear time; only for BLEU and chrF, with integer weights. "pruned" drops
        candidates that a few references show to be worse; for slow utilities.
    level: for "pruned", the confidence required to drop a candidate, 0-1.
    seed: for "pruned", the seed for the order of references and for the resamples; None for a new
        seed per run.
    workers: number of threads.

    Returns an `MBR`; for several sources, a list. The expected score of h is sum(w · score(h, r)) /
    sum(w), summed in the order of the references; without weights, it is sum(score(h, r)) / m. If
    lower scores are better (TER), the lowest expected score ranks first. Duplicate texts are scored
    once. Raises InputError for a source without candidates, for invalid weights, and if a function
    returns too few numbers or numbers that are not finite.

    >>> found = mbr(["the cat sat", "the cat sat down", "a dog sat down", "the cat sat down now"])
    >>> found.index, found.best, found.ranking
    (1, 'the cat sat down', (1, 0, 3, 2))
    >>> def longest_word(candidates, references):
    ...     return [max(map(len, text.split())) for text in candidates]
    >>> mbr(["a cat", "a mouse"], utility=longest_word)
    <MBR: candidate 1 of 2 is best, expected longest_word 5.00: 'a mouse'>
    >>> mbr(["a cat", "a mouse"], utility=[[0.5, 0.25, 0.75], [0.5, 0.5, 1.0]]).index
    1
    """
    argument_checks.check_choice("method", method, ("exact", "aggregate", "pruned"))
    level = argument_checks.check_fraction("level", level)
    seed, workers = argument_checks.check_seed(seed), argument_checks.check_workers(workers)
    sets, has_several_sources = corpus_inputs.read_text_sets("candidates", candidates)
    for number, source in enumerate(sets, 1):
        if not source:
            raise InputError(f"candidates: source {number} has no candidates. Leave it out.")
    resolved_utility: Utility
    is_metric = utility is None or isinstance(utility, str | type) or callable(utility)
    if not is_metric and hasattr(utility, "__getitem__"):
        if method != "exact":
            raise ValueError(f"method={method!r} has no effect with precomputed scores")
        resolved_utility = utilities.make_precomputed_utility(
            utility, sets, has_several_sources=has_several_sources
        )
        scored = sets
        reference_sets = _match_references(
            resolved_utility, references, sets, has_several_sources=has_several_sources
        )
    else:
        if callable(utility) and not isinstance(utility, Metric | type):
            resolved_utility = utilities.FunctionUtility(utility)
        else:
            metric = registry.metric("bleu" if utility is None else utility)
            metric = metric.adapt_to_inputs(candidates)
            resolved_utility = utilities.MetricUtility(metric, workers)
        reference_sets = _get_references(references, sets, has_several_sources=has_several_sources)
        scored = [list(dict.fromkeys(source)) for source in sets]
    if (
        sources is None
        and resolved_utility.metric is not None
        and resolved_utility.metric.NEEDS_SOURCE
    ):
        raise InputError(
            f"sources: {resolved_utility.name} needs a source text per list of candidates"
        )
    work = _build_sources(scored, reference_sets, weights, sources, has_several_sources)
    results: Iterable[SearchResult]
    if method == "pruned":
        results = search_candidates_with_pruning(resolved_utility, work, level, seed)
    elif method == "aggregate":
        sums = resolved_utility.score_against_sums(work)
        results = ((one, [1] * len(one)) for one in sums)
    else:
        means = zip(work, resolved_utility.compute_expected_scores(work), strict=True)
        results = ((one, [len(source.references)] * len(one)) for source, one in means)
    ranked = [
        _rank_candidates(resolved_utility, source, candidates, one, method)
        for source, candidates, one in zip(work, sets, results, strict=True)
    ]
    return ranked if has_several_sources else ranked[0]


def _build_sources(
    candidate_sets: list[list[str]],
    reference_sets: list[list[str]],
    weights: Any,
    sources: Any,
    has_several_sources: bool,
) -> list[Source]:
    """Return the candidates, references, checked weights and text of each source."""
    count = len(candidate_sets)
    texts = _read_sources(sources, count, has_several_sources=has_several_sources)
    numbers: Sequence[Any] = [weights]
    if weights is None:
        numbers = [None] * count
    elif isinstance(weights, str) or not hasattr(weights, "__len__"):
        raise TypeError("weights: expected a list of numbers, one per reference")
    elif has_several_sources:
        if len(weights) != count:
            raise InputError(_format_count_mismatch("weights", len(weights), count))
        numbers = list(weights)
    work = []
    for number, (candidates, references, weight, text) in enumerate(
        zip(candidate_sets, reference_sets, numbers, texts, strict=True), 1
    ):
        location = f" of source {number}" if has_several_sources else ""
        checked = None
        if weight is not None:
            checked = validate_reference_weights(weight, len(references), location)
        work.append(Source(candidates, references, checked, text, location))
    return work


def _match_references(
    matrices: utilities.PrecomputedUtility,
    references: Any,
    sets: list[list[str]],
    *,
    has_several_sources: bool,
) -> list[list[str]]:
    """Return the references of each source, one per column of its matrix."""
    widths = [len(matrix[0]) for matrix in matrices.matrices]
    if references is None:
        return [[""] * width for width in widths]
    reference_sets = _get_references(references, sets, has_several_sources=has_several_sources)
    for number, (width, source_references) in enumerate(
        zip(widths, reference_sets, strict=True), 1
    ):
        if width != len(source_references):
            location = f" of source {number}" if has_several_sources else ""
            count = len(source_references)
            raise InputError(
                f"utility{location}: expected one column per reference ({count}), found {width}"
            )
    return reference_sets


def _read_sources(sources: Any, count: int, *, has_several_sources: bool) -> Sequence[str | None]:
    """Return the text of each source, or None if there are no source texts."""
    if sources is None:
        return [None] * count
    if isinstance(sources, str) and not has_several_sources:
        return [sources]
    if isinstance(sources, str):
        raise InputError("sources: expected one text per list of candidates, found a single text")
    source_list = corpus_inputs.read_text_list("sources", sources)
    if len(source_list) != count:
        raise InputError(
            f"sources: expected one text per list of candidates ({count}), found {len(source_list)}"
        )
    return source_list


def _get_references(
    references: Any, sources: list[list[str]], *, has_several_sources: bool
) -> list[list[str]]:
    """Return the references of each source. By default, these are its candidates."""
    if references is None:
        return sources
    sets, is_nested = corpus_inputs.read_text_sets("references", references)
    if is_nested and not has_several_sources:
        raise InputError("references: expected a list of strings for a single source, found lists")
    if has_several_sources and not is_nested:
        raise InputError("references: expected one list of strings per source, found strings")
    if len(sets) != len(sources):
        raise InputError(_format_count_mismatch("references", len(sets), len(sources)))
    for number, source_references in enumerate(sets, 1):
        if not source_references:
            raise InputError(f"references: source {number} has no references")
    return sets


def _format_count_mismatch(role: str, lists: int, sources: int) -> str:
    return f"{role}: expected one list per source ({sources}), found {lists}"


def _rank_candidates(
    utility: Utility, source: Source, candidates: list[str], result: SearchResult, method: str
) -> MBR:
    """Return the ranked candidates of one source. Ties keep their order."""
    expected, seen = result
    if len(expected) < len(candidates):
        place = {text: i for i, text in enumerate(source.candidates)}
        places = [place[candidate] for candidate in candidates]
        expected, seen = [expected[i] for i in places], [seen[i] for i in places]
    sign = 1 if utility.lower_is_better else -1
    # The later pruning dropped a candidate, the higher it ranks.
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


# ---- methods that search for the best candidate ----


# Pruning starts with FIRST references and doubles their number in each round; it draws SAMPLES
# resamples of the references used so far.
FIRST, SAMPLES = 8, 500

# Score differences are resampled as integers, which are scaled so that the largest is this number.
# The rounding error is negligible for 500 samples.
RESOLUTION = 1 << 30


def search_candidates_with_pruning(
    utility: Utility, sources: Sequence[Source], level: float, seed: int | None
) -> Iterator[SearchResult]:
    """Return expected scores, dropping candidates once a few references show that they are worse.

    Julius Cheng and Andreas Vlachos (2023): Faster minimum Bayes risk decoding with
    confidence-based pruning. EMNLP. After 8, 16, 32, ... references, in random order, 500 bootstrap
    samples of these references are drawn. A candidate is dropped if it is at least as good as the
    best candidate in at most 1 - level of the samples. Each source has its own random stream from
    the same seed, so other sources do not affect it.
    """
    races = [_Race(source, utility.lower_is_better, Stream(seed)) for source in sources]
    reference_count = FIRST
    while any(race.is_unfinished for race in races):
        blocks = [
            (number, race.alive, race.order[race.seen : reference_count])
            for number, race in enumerate(races)
            if race.is_unfinished
        ]
        rows = utility.score_rows(sources, blocks)
        for number, _, references in blocks:
            race = races[number]
            for candidate in race.alive:
                race.scores[candidate].update(zip(references, next(rows), strict=True))
            race.seen += len(references)
        for race in races:
            race.prune_candidates(level)
        reference_count *= 2
    return (race.to_result() for race in races)


class _Race:
    """Candidates of a source that may still be the best, and the scores of all its candidates."""

    def __init__(self, source: Source, lower_is_better: bool, stream: Stream) -> None:
        count = len(source.references)
        draws = stream.indices(1 << 31, count)
        self.stream = stream
        self.source = source
        self.sign = -1 if lower_is_better else 1
        self.order = sorted(range(count), key=draws.__getitem__)
        self.alive: Sequence[int] = range(len(source.candidates))
        self.scores: list[dict[int, float]] = [{} for _ in source.candidates]
        self.seen = 0

    @property
    def is_unfinished(self) -> bool:
        """True if references remain and several candidates remain (or none has been scored)."""
        return self.seen < len(self.order) and (len(self.alive) > 1 or self.seen == 0)

    def prune_candidates(self, level: float) -> None:
        """Drop candidates that are rarely as good as the best candidate."""
        if not self.is_unfinished:
            return
        weights = self.source.weights
        columns = [
            [
                self.sign * score * (1 if weights is None else weights[reference])
                for reference, score in self.scores[candidate].items()
            ]
            for candidate in self.alive
        ]
        sums = list(map(sum, columns))
        best = sums.index(max(sums))
        # Differences from the best candidate; 0 means equally good.
        gaps = [
            [score - top for score, top in zip(column, columns[best], strict=True)]
            for column in columns
        ]
        largest = max((abs(gap) for column in gaps for gap in column), default=0)
        unit = RESOLUTION / largest if 0 < largest < inf else 0
        rows = [[round(unit * gap) for gap in row] for row in zip(*gaps, strict=True)]
        (resampled_gaps,) = Stack([Table.from_rows(rows, len(gaps))]).bootstrap(
            self.stream, SAMPLES, 1
        )
        good = [0] * len(gaps)
        for row in resampled_gaps.tolist():
            for place, gap in enumerate(row):
                good[place] += gap >= 0
        max_losses = (1 - level) * SAMPLES
        self.alive = [
            candidate for candidate, wins in zip(self.alive, good, strict=True) if wins > max_losses
        ]

    def to_result(self) -> SearchResult:
        """Return each candidate's mean score, which is exact unless the candidate was dropped."""
        expected = []
        for scores in self.scores:
            ordered = sorted(scores)
            row = [scores[reference] for reference in ordered]
            weights = self.source.weights
            if weights is not None:
                weights = [weights[reference] for reference in ordered]
                # The weights of all references used so far may be 0.
                weights = weights if any(weights) else None
            expected.append(self.source.replace(weights=weights).compute_expected_score(row))
        return expected, list(map(len, self.scores))
