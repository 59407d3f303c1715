"""Exact and faster methods to search for the candidate with the highest expected score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from truebleu._kernel import Stack, Stream, Table

if TYPE_CHECKING:
    from truebleu.pairwise.utility import Source, Utility

# Pruning starts with FIRST references and doubles their number in each round; it draws SAMPLES
# resamples of the references used so far.
FIRST, SAMPLES = 8, 500

# Score differences are resampled as integers, which are scaled so that the largest is this number.
# The rounding error is negligible for 500 samples.
RESOLUTION = 1 << 30


class SearchResult(NamedTuple):
    """The result of a search method for one source."""

    expected: list[float]
    seen: list[int]
    """The number of references used to score each candidate, or 1 for the sum of references."""


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
            races[number].add_scores(rows, references)
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

    def add_scores(self, rows: Iterator[list[float]], references: Sequence[int]) -> None:
        """Add the scores of the remaining candidates against further references."""
        for candidate in self.alive:
            self.scores[candidate].update(zip(references, next(rows), strict=True))
        self.seen += len(references)

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
        return SearchResult(expected, list(map(len, self.scores)))
