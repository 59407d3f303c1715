"""Utilities: functions that score a candidate as if a reference were correct."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from math import isfinite
from typing import Any

from truebleu._kernel import InputError, Scores, strings
from truebleu.metrics import registry
from truebleu.metrics.base import Metric
from truebleu.metrics.pairwise_scores import COMPENSATED, PairsInPython
from truebleu.text import corpus_inputs
from truebleu.text.record import Record

# Index of a source, and indices of some of its candidates and references: all pairs of them.
Block = tuple[int, Sequence[int], Sequence[int]]
# The number of pairs scored in one call, about.
PAIRS = 1 << 16

# From this number of references on, an index of their n-grams is faster than pair by pair (for BLEU
# and chrF from 24 to 32 on); at most this number of texts share an index.
MIN_SHARED_REFERENCES, MAX_SHARED_REFERENCES = 32, 4096


class Source(Record):
    """The candidates of one source, and what they are scored against."""

    candidates: list[str]
    """Each text once, where the utility reads texts."""
    references: Sequence[str]
    """For numbers that come without references, one empty string for each column."""
    weights: list[float] | None
    """A number for each reference."""
    text: str | None
    """The source itself, for utilities that read it."""
    location: str
    """Suffix of error messages, such as " of source 3", or ""."""

    def mean(self, row: Sequence[float]) -> float:
        """Return the expected score, from the scores with each reference."""
        if self.weights is None:
            return sum(row) / len(row)
        weighted = sum(w * s for w, s in zip(self.weights, row, strict=True))
        return weighted / sum(self.weights)


class Utility:
    """Scores of pairs of a candidate and a reference, for many sources."""

    name: str
    metric: Metric[Any] | None = None
    lower_is_better = False

    def rows(self, sources: Sequence[Source], blocks: Iterable[Block]) -> Iterator[list[float]]:
        """Return each candidate's scores in each block, one per reference of the block."""
        raise NotImplementedError

    def expected(self, sources: Sequence[Source]) -> Iterator[list[float]]:
        """For each source the expected score of each candidate."""
        all_blocks = (
            (number, range(len(source.candidates)), range(len(source.references)))
            for number, source in enumerate(sources)
        )
        rows = self.rows(sources, all_blocks)
        for source in sources:
            yield [source.mean(next(rows)) for _ in source.candidates]

    def against_sums(self, sources: Sequence[Source]) -> Iterator[list[float]]:  # noqa: ARG002
        """For each source the score of each candidate against the sum of the references."""
        raise ValueError(
            "method='aggregate' adds up the n-grams of the references: it is for BLEU and chrF, "
            f"and not for {self.name}"
        )


class OfTexts(Utility):
    """A utility that reads texts: as many pairs at a time as make calls worth their while."""

    def score_pairs(
        self, hypotheses: list[str], references: list[str], sources: list[str] | None
    ) -> Sequence[float]:
        """Return the score of each pair; metrics that read sources get each pair's source."""
        raise NotImplementedError

    def rows(self, sources: Sequence[Source], blocks: Iterable[Block]) -> Iterator[list[float]]:
        """As for all: at most `PAIRS` pairs a call, or one candidate with all of its references."""
        pending_blocks: list[Block] = []
        pairs = 0
        for number, candidates, references in blocks:
            height = max(1, PAIRS // len(references))
            for first in range(0, len(candidates), height):
                part = candidates[first : first + height]
                pair_count = len(part) * len(references)
                if pending_blocks and pairs + pair_count > PAIRS:
                    yield from self._scored(sources, pending_blocks)
                    pending_blocks, pairs = [], 0
                pending_blocks.append((number, part, references))
                pairs += pair_count
        if pending_blocks:
            yield from self._scored(sources, pending_blocks)

    def _scored(self, sources: Sequence[Source], blocks: Sequence[Block]) -> Iterator[list[float]]:
        """Yield the rows of some blocks from one call; repeated references are scored once."""
        hypotheses: list[str] = []
        references: list[str] = []
        texts: list[str] = []
        different = []
        for number, candidates, places in blocks:
            source = sources[number]
            distinct_references = list(
                dict.fromkeys([source.references[place] for place in places])
            )
            different.append(distinct_references)
            hypotheses += [source.candidates[i] for i in candidates for _ in distinct_references]
            references += distinct_references * len(candidates)
            if source.text is not None:
                texts += [source.text] * (len(distinct_references) * len(candidates))
        scores = list(self.score_pairs(hypotheses, references, texts or None))
        finite = isfinite(sum(scores)) or all(map(isfinite, scores))
        start = 0
        for (number, candidates, places), distinct_references in zip(
            blocks, different, strict=True
        ):
            source, width = sources[number], len(distinct_references)
            for _ in candidates:
                row = scores[start : start + width]
                if not finite and (wrong := [i for i in range(width) if not isfinite(row[i])]):
                    place = start + wrong[0]
                    raise InputError(
                        f"utility: {self.name} gives {scores[place]} for '{hypotheses[place]:.40}' "
                        f"against '{references[place]:.40}'{source.location}; expected a finite "
                        "number"
                    )
                if width < len(places):
                    score_by_reference = dict(zip(distinct_references, row, strict=True))
                    row = [score_by_reference[source.references[place]] for place in places]
                yield row
                start += width


class OfMetric(OfTexts):
    """A metric of the registry: a pair's score is what `sentence` gives."""

    def __init__(self, metric: Metric[Any], workers: int) -> None:
        self.metric: Metric[Any] = metric
        self.name = metric.name
        self.lower_is_better = metric.lower_is_better
        self.workers = workers

    def score_pairs(
        self, hypotheses: list[str], references: list[str], sources: list[str] | None
    ) -> Sequence[float]:
        """Return the scores, with the sources for metrics that read them."""
        source_options: dict[str, Any] = {"sources": sources} if self.metric.NEEDS_SOURCE else {}
        return self.metric.segments(
            hypotheses, references, workers=self.workers, **source_options
        ).tolist()

    def expected(self, sources: Sequence[Source]) -> Iterator[list[float]]:
        """Yield the same bits faster: small sources together, each large source separately."""
        small: list[Source] = []
        for source in sources:
            if self._is_small(source):
                small.append(source)
                continue
            yield from self._score_sources_together(small)
            small = []
            yield self._score_one_source(source)
        yield from self._score_sources_together(small)

    def _is_small(self, source: Source) -> bool:
        """Return whether scoring pair by pair is faster than indexing a source's texts."""
        if self.metric.reads_text:
            return (
                len(source.references) < MIN_SHARED_REFERENCES
                and len(source.candidates) <= MAX_SHARED_REFERENCES
            )
        return self.metric.NEEDS_SOURCE or not self.metric.tokenizes_in_python

    def _score_one_source(self, source: Source) -> list[float]:
        candidates, references, weights = source.candidates, source.references, source.weights
        return self.metric.expected(
            candidates, references, weights=weights, workers=self.workers
        ).tolist()

    def _score_sources_together(self, sources: list[Source]) -> Iterator[list[float]]:
        try:
            means = self._means(sources)
        except InputError:
            # It counted the texts of all sources: of one source it says which text is wrong.
            for source in sources:
                self._score_one_source(source)
            raise
        if means is None:
            yield from super().expected(sources)
            return
        for source in sources:
            yield list(islice(means, len(source.candidates)))

    def _means(self, sources: list[Source]) -> Iterator[float] | None:
        """Return all candidates' expected scores from one call, or None if unsupported."""
        candidate_texts: list[str] = []
        reference_texts: list[str] = []
        sets, alike = [], True
        for source in sources:
            places: dict[str, int] = {}
            order = [places.setdefault(text, len(places)) for text in source.references]
            alike = alike and list(places) == source.candidates
            candidate_texts += source.candidates
            reference_texts += places
            total_weight = float(len(order)) if source.weights is None else sum(source.weights)
            sets.append((len(source.candidates), len(places), order, source.weights, total_weight))
        metric = self.metric
        if not (metric._has_kernel_formula and metric.reads_text):  # noqa: SLF001
            return None
        hypotheses = strings(tuple(candidate_texts), "hypotheses")
        references = None if alike else strings(tuple(reference_texts), "references")
        expected_scores = metric._kernel.expected(  # noqa: SLF001
            hypotheses, references, sets, COMPENSATED, self.workers
        )
        return iter(expected_scores.tolist())

    def against_sums(self, sources: Sequence[Source]) -> Iterator[list[float]]:
        """As for all; weights are how often each reference counts."""
        weights: list[int] | None = None
        if any(source.weights for source in sources):
            weights = []
            for source in sources:
                weights += _times(source)
        scores = against_sums(
            self.metric,
            [text for source in sources for text in source.candidates],
            [text for source in sources for text in source.references],
            [(len(source.candidates), len(source.references)) for source in sources],
            weights=weights,
            workers=self.workers,
        )
        if scores is None:
            yield from super().against_sums(sources)
            return
        score_iterator = iter(scores.tolist())
        for source in sources:
            yield [next(score_iterator) for _ in source.candidates]


def against_sums(
    metric: Metric[Any],
    hypotheses: corpus_inputs.Hypotheses,
    references: corpus_inputs.Hypotheses,
    sets: Sequence[tuple[int, int]],
    *,
    weights: Sequence[int] | None = None,
    workers: int = 1,
) -> Scores | None:
    """Return the score of each hypothesis against the sum of its set's references: linear time.

    The counts of a set's m references are added up, and the hypothesis's counts are multiplied by
    m: an n-gram with count c in the hypothesis and t in all references has min(m · c, t) matches.
    The formula is the one of `sentence`.

    sets: how many of the hypotheses, and how many of the references, are of the first set, of
        the second, ...
    weights: how often each reference counts; the sum per set is below 2³¹.

    None if n-grams are not what this metric counts. Other arguments and errors as for `matrix`.

    >>> from truebleu import CHRF, TER
    >>> against_sums(CHRF(), ["the cat", "a dog"], ["the cat sat", "the cats"], [(2, 2)])
    Scores(2 segments: [64.65, 3.47])
    >>> against_sums(TER(), ["the cat"], ["the cats"], [(1, 1)]) is None
    True
    """
    pairs = metric._make_pairs(hypotheses, references, workers)  # noqa: SLF001
    return None if isinstance(pairs, PairsInPython) else pairs.against_sums(sets, weights)


def _times(source: Source) -> list[int]:
    """Return the weight of each reference."""
    weights = source.weights or [1.0] * len(source.references)
    for nth, weight in enumerate(weights, 1):
        if not weight.is_integer():
            raise InputError(
                f"weights{source.location}: number {nth} is {weight}; method='aggregate' counts "
                "references, and takes whole numbers"
            )
    if sum(weights) >= 1 << 31:
        raise InputError(f"weights{source.location}: their sum must be below 2^31 here")
    return list(map(int, weights))


class OfFunction(OfTexts):
    """A function of lists of texts: f(candidates, references), with sources f(..., sources)."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    def score_pairs(
        self, hypotheses: list[str], references: list[str], sources: list[str] | None
    ) -> Sequence[float]:
        """Return the function's numbers, one for each pair."""
        returned = self.function(hypotheses, references, *([] if sources is None else [sources]))
        score_list = returned.tolist() if hasattr(returned, "tolist") else returned
        try:
            scores = list(map(float, score_list))
        except (TypeError, ValueError):
            raise TypeError(
                f"utility: {self.name} gives {returned!r:.80}; expected a list of numbers, one for "
                "each pair of texts"
            ) from None
        if len(scores) != len(hypotheses):
            raise InputError(
                f"utility: {self.name} gives {len(scores)} numbers for {len(hypotheses)} pairs of "
                "texts; expected one for each"
            )
        return scores


class PrecomputedUtility(Utility):
    """Numbers that are there already: a row for each candidate, a column for each reference."""

    name = "the given numbers"

    def __init__(self, matrices: list[list[list[float]]]) -> None:
        self.matrices = matrices

    def rows(self, sources: Sequence[Source], blocks: Iterable[Block]) -> Iterator[list[float]]:  # noqa: ARG002
        """As for all."""
        for number, candidates, references in blocks:
            matrix = self.matrices[number]
            for candidate in candidates:
                row = matrix[candidate]
                yield [row[reference] for reference in references]

    def width(self, number: int) -> int:
        """Return the number of columns of a source's rows."""
        return len(self.matrices[number][0])


def is_precomputed(utility: object) -> bool:
    """Return whether this is a matrix of numbers: not a metric, a name or a function."""
    is_metric_name = utility is None or isinstance(utility, str | type)
    return not is_metric_name and not callable(utility) and hasattr(utility, "__getitem__")


def make_text_utility(utility: Any, workers: int) -> OfTexts:
    """Return the utility of a metric, of its name, or of a function; without any, BLEU."""
    if callable(utility) and not isinstance(utility, Metric | type):
        return OfFunction(utility)
    return OfMetric(registry.metric("bleu" if utility is None else utility), workers)


def make_precomputed_utility(
    utility: Any, candidates: Sequence[Sequence[str]], *, has_several_sources: bool
) -> PrecomputedUtility:
    """Numbers for the candidates of each source."""
    matrix_rows = utility.tolist() if hasattr(utility, "tolist") else utility
    matrices = list(matrix_rows) if has_several_sources else [matrix_rows]
    if len(matrices) != len(candidates):
        raise InputError(
            f"utility: {len(matrices)} matrices for {len(candidates)} sources; each has its own"
        )
    return PrecomputedUtility(
        [
            _checked(matrix, len(texts), f" of source {number}" if has_several_sources else "")
            for number, (matrix, texts) in enumerate(zip(matrices, candidates, strict=True), 1)
        ]
    )


def _checked(matrix: Any, height: int, location: str) -> list[list[float]]:
    """Return a row of finite numbers for each candidate, all of one width."""
    matrix_rows = matrix.tolist() if hasattr(matrix, "tolist") else matrix
    try:
        rows = [list(map(float, row)) for row in matrix_rows]
    except (TypeError, ValueError):
        raise TypeError(
            f"utility{location}: {matrix!r:.80}; expected a metric, its name, a function, or "
            "numbers: a row for each candidate with a column for each reference"
        ) from None
    if len(rows) != height:
        raise InputError(
            f"utility{location}: {len(rows)} rows for {height} candidates; expected one for each"
        )
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]) or not row:
            raise InputError(
                f"utility{location}: row {number} has {len(row)} numbers, and row 1 has "
                f"{len(rows[0])}; expected one for each reference"
            )
        for place, value in enumerate(row, 1):
            if not isfinite(value):
                raise InputError(
                    f"utility{location}: candidate {number}, reference {place}: {value}; "
                    "expected a finite number"
                )
    return rows
