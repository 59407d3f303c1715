"""Utilities for MBR decoding, which score candidate-reference pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, islice
from math import isfinite
from typing import Any

from truebleu._kernel import InputError, Scores, strings
from truebleu.metrics.base import Metric
from truebleu.metrics.pairwise_scores import COMPENSATED, PairsInPython
from truebleu.text.argument_checks import Record

# Pairs to score for one source: its index, and the indices of candidates and of references.
Block = tuple[int, Sequence[int], Sequence[int]]
# Approximate number of pairs scored in one call.
PAIRS = 1 << 16

# Minimum number of references at which an n-gram index is faster than scoring pair by pair (24 to
# 32 for BLEU and chrF), and maximum number of texts that share an index.
MIN_SHARED_REFERENCES, MAX_SHARED_REFERENCES = 32, 4096


class Source(Record):
    """Candidates and references of one source."""

    candidates: list[str]
    """The candidates. Duplicates are removed if the utility reads texts."""
    references: Sequence[str]
    """The references, or one empty string per column of precomputed scores without references."""
    weights: list[float] | None
    """One weight per reference, or None for equal weights."""
    text: str | None
    """The source text, for utilities that read it."""
    location: str
    """The source's location in error messages, such as " of source 3", or ""."""

    def compute_expected_score(self, row: Sequence[float]) -> float:
        """Return a candidate's expected score, computed from its score against each reference."""
        if self.weights is None:
            return sum(row) / len(row)
        weighted = sum(w * s for w, s in zip(self.weights, row, strict=True))
        return weighted / sum(self.weights)


class Utility:
    """Base class of utilities, which score candidate-reference pairs of several sources."""

    name: str
    metric: Metric[Any] | None = None
    lower_is_better = False

    def score_rows(
        self, sources: Sequence[Source], blocks: Iterable[Block]
    ) -> Iterator[list[float]]:
        """Yield one list of scores per candidate of a block, with one score per reference."""
        raise NotImplementedError

    def compute_expected_scores(self, sources: Sequence[Source]) -> Iterator[list[float]]:
        """Yield the expected scores of each source's candidates."""
        all_blocks = (
            (number, range(len(source.candidates)), range(len(source.references)))
            for number, source in enumerate(sources)
        )
        rows = self.score_rows(sources, all_blocks)
        for source in sources:
            yield [source.compute_expected_score(next(rows)) for _ in source.candidates]

    def score_against_sums(self, sources: Sequence[Source]) -> Iterator[list[float]]:  # noqa: ARG002
        """Yield the scores of each source's candidates against the sum of the references."""
        raise ValueError(
            "method='aggregate' sums the n-grams of the references. This method supports "
            f"BLEU and chrF, but not {self.name}"
        )


class TextUtility(Utility):
    """A utility that reads texts and scores many pairs per call."""

    def score_pairs(
        self, hypotheses: list[str], references: list[str], sources: list[str] | None
    ) -> Sequence[float]:
        """Return the score of each pair. `sources` has one text per pair, or is None."""
        raise NotImplementedError

    def score_rows(
        self, sources: Sequence[Source], blocks: Iterable[Block]
    ) -> Iterator[list[float]]:
        """Yield the scores, computed in calls of at most `PAIRS` pairs or of one candidate."""
        pending_blocks: list[Block] = []
        pairs = 0
        for number, candidates, references in blocks:
            height = max(1, PAIRS // len(references))
            for first in range(0, len(candidates), height):
                part = candidates[first : first + height]
                pair_count = len(part) * len(references)
                if pending_blocks and pairs + pair_count > PAIRS:
                    yield from self._score_blocks(sources, pending_blocks)
                    pending_blocks, pairs = [], 0
                pending_blocks.append((number, part, references))
                pairs += pair_count
        if pending_blocks:
            yield from self._score_blocks(sources, pending_blocks)

    def _score_blocks(
        self, sources: Sequence[Source], blocks: Sequence[Block]
    ) -> Iterator[list[float]]:
        """Yield the rows of several blocks, with one call that scores repeated references once."""
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
                        f"utility: {self.name} returned {scores[place]} for "
                        f"'{hypotheses[place]:.40}' against '{references[place]:.40}'"
                        f"{source.location}; expected a finite number"
                    )
                if width < len(places):
                    score_by_reference = dict(zip(distinct_references, row, strict=True))
                    row = [score_by_reference[source.references[place]] for place in places]
                yield row
                start += width


class MetricUtility(TextUtility):
    """A utility that scores a pair with the `sentence` method of a metric."""

    def __init__(self, metric: Metric[Any], workers: int) -> None:
        self.metric: Metric[Any] = metric
        self.name = metric.name
        self.lower_is_better = metric.lower_is_better
        self.workers = workers

    def score_pairs(
        self, hypotheses: list[str], references: list[str], sources: list[str] | None
    ) -> Sequence[float]:
        """Return the metric's score of each pair."""
        metric: Any = self.metric
        if metric.NEEDS_SOURCE:
            scores: Scores = metric.segments(hypotheses, references, sources, workers=self.workers)
        else:  # the segments of some corpora affect each other, but pairs do not
            texts = metric._normalize_texts(hypotheses, references)  # noqa: SLF001
            scores = metric._make_pair_scorer(self.workers)(*texts)  # noqa: SLF001
        return scores.tolist()

    def compute_expected_scores(self, sources: Sequence[Source]) -> Iterator[list[float]]:
        """Yield the expected scores of each source. Small sources share a call, to save time."""
        for is_small, group in groupby(sources, self._is_small_source):
            if is_small:
                yield from self._score_sources_together(list(group))
            else:
                yield from map(self._score_one_source, group)

    def _is_small_source(self, source: Source) -> bool:
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
        """Yield the expected scores of each source, computed in one call if possible."""
        metric = self.metric
        if not (metric._has_kernel_formula and metric.reads_text):  # noqa: SLF001
            yield from super().compute_expected_scores(sources)
            return
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
        try:
            hypotheses = strings(tuple(candidate_texts), "hypotheses")
            references = None if alike else strings(tuple(reference_texts), "references")
            means = metric._kernel.expected(  # noqa: SLF001
                hypotheses, references, sets, COMPENSATED, self.workers
            )
        except InputError:
            # Score sources one by one, so that the error names the source and text at fault.
            for source in sources:
                self._score_one_source(source)
            raise
        remaining = iter(means.tolist())
        for source in sources:
            yield list(islice(remaining, len(source.candidates)))

    def score_against_sums(self, sources: Sequence[Source]) -> Iterator[list[float]]:
        """Yield scores against the sum of the references, each multiplied by its integer weight.

        John DeNero, David Chiang and Kevin Knight (2009): Fast consensus decoding over translation
        forests. ACL. Jannis Vamvas and Rico Sennrich (2024): Linear-time minimum Bayes risk
        decoding with reference aggregation. ACL. They divide the sum by the number of references;
        this method multiplies the candidate's counts by it instead, so that all counts are
        integers: an n-gram with count c in the candidate and t in all m references has min(m · c,
        t) matches. The formula is the same as for `sentence`.
        """
        weights: list[int] | None = None
        if any(source.weights for source in sources):
            weights = []
            for source in sources:
                weights += _get_integer_weights(source)
        pairs = self.metric._make_pairs(  # noqa: SLF001
            [text for source in sources for text in source.candidates],
            [text for source in sources for text in source.references],
            self.workers,
        )
        sets = [(len(source.candidates), len(source.references)) for source in sources]
        scores = None
        if not isinstance(pairs, PairsInPython):
            scores = pairs.against_sums(sets, weights)
        if scores is None:  # the metric does not count n-grams
            yield from super().score_against_sums(sources)
            return
        score_iterator = iter(scores.tolist())
        for source in sources:
            yield [next(score_iterator) for _ in source.candidates]


def _get_integer_weights(source: Source) -> list[int]:
    weights = source.weights or [1.0] * len(source.references)
    for nth, weight in enumerate(weights, 1):
        if not weight.is_integer():
            raise InputError(
                f"weights{source.location}: weight {nth} is {weight}; method='aggregate' "
                "requires integers"
            )
    if sum(weights) >= 1 << 31:
        raise InputError(f"weights{source.location}: the sum must be below 2^31")
    return list(map(int, weights))


class FunctionUtility(TextUtility):
    """A utility that calls f(candidates, references) or f(candidates, references, sources)."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    def score_pairs(
        self, hypotheses: list[str], references: list[str], sources: list[str] | None
    ) -> Sequence[float]:
        """Return the results of the function, one per pair."""
        returned = self.function(hypotheses, references, *([] if sources is None else [sources]))
        score_list = returned.tolist() if hasattr(returned, "tolist") else returned
        try:
            scores = list(map(float, score_list))
        except (TypeError, ValueError):
            raise TypeError(
                f"utility: {self.name} returned {returned!r:.80}; expected a list of numbers, one "
                "per pair of texts"
            ) from None
        if len(scores) != len(hypotheses):
            raise InputError(
                f"utility: {self.name} returned {len(scores)} numbers for {len(hypotheses)} pairs "
                "of texts; expected one number per pair"
            )
        return scores


class PrecomputedUtility(Utility):
    """A utility of precomputed scores: one row per candidate, one column per reference."""

    name = "precomputed scores"

    def __init__(self, matrices: list[list[list[float]]]) -> None:
        self.matrices = matrices

    def score_rows(self, _: Sequence[Source], blocks: Iterable[Block]) -> Iterator[list[float]]:
        """Yield the precomputed scores of the candidates against the references, block by block."""
        for number, candidates, references in blocks:
            matrix = self.matrices[number]
            for candidate in candidates:
                row = matrix[candidate]
                yield [row[reference] for reference in references]


def make_precomputed_utility(
    utility: Any, candidates: Sequence[Sequence[str]], *, has_several_sources: bool
) -> PrecomputedUtility:
    """Return a utility of precomputed scores, with one matrix per source."""
    matrix_rows = utility.tolist() if hasattr(utility, "tolist") else utility
    matrices = list(matrix_rows) if has_several_sources else [matrix_rows]
    if len(matrices) != len(candidates):
        raise InputError(
            f"utility: expected one matrix per source ({len(candidates)}), found {len(matrices)}"
        )
    return PrecomputedUtility(
        [
            _check_matrix(matrix, len(texts), f" of source {number}" if has_several_sources else "")
            for number, (matrix, texts) in enumerate(zip(matrices, candidates, strict=True), 1)
        ]
    )


def _check_matrix(matrix: Any, height: int, location: str) -> list[list[float]]:
    """Check that a matrix has the right size and finite numbers, and return it as lists."""
    matrix_rows = matrix.tolist() if hasattr(matrix, "tolist") else matrix
    try:
        rows = [list(map(float, row)) for row in matrix_rows]
    except (TypeError, ValueError):
        raise TypeError(
            f"utility{location}: {matrix!r:.80}; expected a metric, its name, a function, or "
            "a matrix with one row per candidate and one column per reference"
        ) from None
    if len(rows) != height:
        raise InputError(
            f"utility{location}: expected one row per candidate ({height}), found {len(rows)}"
        )
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]) or not row:
            raise InputError(
                f"utility{location}: row {number} has {len(row)} numbers, but row 1 has "
                f"{len(rows[0])}; expected one number per reference"
            )
        for place, value in enumerate(row, 1):
            if not isfinite(value):
                raise InputError(
                    f"utility{location}: candidate {number}, reference {place}: {value}; "
                    "expected a finite number"
                )
    return rows
