"""Ways to the candidate of the highest expected score: exact ones, and ones that score less."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from truebleu._kernel import Stack, Stream, Table

if TYPE_CHECKING:
    from truebleu.pairwise.utility import Source, Utility

# Pruning starts with FIRST references and doubles their number each round; it draws SAMPLES
# resamples of the references seen so far.
FIRST, SAMPLES = 8, 500

# Scores are resampled as whole numbers: the largest difference is so large. 500 samples are far
# coarser than that.
RESOLUTION = 1 << 30


class SearchResult(NamedTuple):
    """Result of a method for one source's candidates."""

    expected: list[float]
    seen: list[int]
    """The number of references that each was scored against, or the sum of them: 1."""


def exact(utility: Utility, sources: Sequence[Source]) -> Iterator[SearchResult]:
    """Yield every candidate against every reference."""
    for source, expected in zip(sources, utility.expected(sources), strict=True):
        yield SearchResult(expected, [len(source.references)] * len(expected))


def aggregate(utility: Utility, sources: Sequence[Source]) -> Iterator[SearchResult]:
    """Yield every candidate against the sum of the references: linear time.

    John DeNero, David Chiang and Kevin Knight (2009): Fast consensus decoding over translation
    forests. ACL. Jannis Vamvas and Rico Sennrich (2024): Linear-time minimum Bayes risk decoding
    with reference aggregation. ACL. Theirs divides the sum by the number of references; here the
    candidate's counts are multiplied by it, which keeps whole numbers and the same ratios.
    """
    for expected in utility.against_sums(sources):
        yield SearchResult(expected, [1] * len(expected))


def pruned(
    utility: Utility, sources: Sequence[Source], level: float, seed: int | None
) -> Iterator[SearchResult]:
    """Candidates that a few references show to be worse are scored against no more of them.

    Julius Cheng and Andreas Vlachos (2023): Faster minimum Bayes risk decoding with
    confidence-based pruning. EMNLP. After 8, 16, 32, ... references, in random order, those are
    given up that in 500 bootstrap samples of these references are at least as good as the best
    candidate in at most 1 - level of the samples. Each source has its own random stream from the
    same seed, so other sources do not affect it.
    """
    races = [_Race(source, utility.lower_is_better, Stream(seed)) for source in sources]
    reference_count = FIRST
    while any(race.goes_on for race in races):
        blocks = [
            (number, race.alive, race.order[race.seen : reference_count])
            for number, race in enumerate(races)
            if race.goes_on
        ]
        rows = utility.rows(sources, blocks)
        for number, _, references in blocks:
            races[number].take(rows, references)
        for race in races:
            race.prune(level)
        reference_count *= 2
    return (race.to_result() for race in races)


class _Race:
    """The candidates of a source that may still be the best, and the scores of all."""

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
    def goes_on(self) -> bool:
        """True while there are several candidates, or none has been scored, and references left."""
        return self.seen < len(self.order) and (len(self.alive) > 1 or self.seen == 0)

    def take(self, rows: Iterator[list[float]], references: Sequence[int]) -> None:
        """Add scores of the remaining candidates with further references."""
        for candidate in self.alive:
            self.scores[candidate].update(zip(references, next(rows), strict=True))
        self.seen += len(references)

    def prune(self, level: float) -> None:
        """Drop candidates that are rarely as good as the best."""
        if not self.goes_on:
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
        # Differences from the best one: 0 is as good.
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
        """Return the mean of the computed scores; exact for candidates never dropped."""
        expected = []
        for scores in self.scores:
            ordered = sorted(scores)
            row = [scores[reference] for reference in ordered]
            weights = self.source.weights
            if weights is not None:
                weights = [weights[reference] for reference in ordered]
                # All of the first few may weigh nothing.
                weights = weights if any(weights) else None
            expected.append(self.source.replace(weights=weights).mean(row))
        return SearchResult(expected, list(map(len, self.scores)))
