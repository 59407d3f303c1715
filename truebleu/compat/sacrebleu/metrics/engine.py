"""The kernel in sacreBLEU's terms: reference streams in, lists of statistics out.

truebleu's own metrics take the references of each segment together and refuse what is amiss; here
are sacreBLEU's streams, cut to the shortest. What the kernel refuses is left to Python, which says
of it what sacreBLEU says.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import inf
from operator import index

import truebleu
from truebleu._kernel import InputError, Table
from truebleu.statistics import Statistics

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from .base import Metric

    Segment = str | None | tuple[str | None, ...]

# As many settings are remembered; a program has two or three.
_SETTINGS = 64

# In how many parts of a token truebleu.TER counts a mean reference length: all of 1 to 16
# references divide them.
_PARTS = 720720
_MOST_REFERENCES = 16


class References:
    """Reference streams, turned: a line or a tuple of lines for each segment."""

    __slots__ = ("number", "segments", "streams")

    def __init__(self, streams: Sequence[Sequence[str | None]]) -> None:
        self.streams = len(streams)
        self.segments: tuple[Segment, ...]
        if len(streams) == 1:
            (self.segments,) = map(tuple, streams)
            missing = [int(segment is None) for segment in self.segments]
        else:
            lines = tuple(zip(*streams, strict=False))
            self.segments = lines
            missing = [segment.count(None) for segment in lines]
        numbers = {self.streams - absent for absent in set(missing)}
        # How many references each segment has; -1 if not all have the same number.
        self.number = numbers.pop() if len(numbers) == 1 else -1

    def are_text(self) -> bool:
        """Whether there is nothing but lines and None."""
        kinds = {type(line) for segment in self for line in segment}
        return all(issubclass(kind, str) for kind in kinds - {type(None)})

    def __iter__(self) -> Iterator[tuple[str | None, ...]]:
        if self.streams == 1:
            return ((segment,) for segment in self.segments)  # type: ignore[misc]
        return iter(self.segments)  # type: ignore[arg-type]


class KeptReferences(Sequence):  # type: ignore[type-arg]
    """The references that a metric was made with, prepared when somebody looks at them.

    The kernel prepares text faster than Python finds it prepared.
    """

    def __init__(self, metric: Metric, engine: Engine, references: References) -> None:
        import copy

        # As the metric was when it was given them.
        self._metric = copy.copy(metric)
        self.engine = engine
        self.references = references

    def _prepared(self, segment: tuple[str | None, ...]) -> dict[str, Any]:
        metric = self._metric
        lines = [metric._preprocess_segment(line) for line in segment if line is not None]
        return metric._extract_reference_info(lines)

    def __len__(self) -> int:
        return len(self.references.segments)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return map(self._prepared, self.references)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[number] for number in range(len(self))[index]]
        segment = self.references.segments[index]
        return self._prepared(segment if isinstance(segment, tuple) else (segment,))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeptReferences | list):
            return NotImplemented
        return list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


class Counts:
    """What the kernel counted, a row a segment, as sacreBLEU's lists of numbers."""

    __slots__ = ("table",)

    def __init__(self, table: Statistics) -> None:
        self.table = table

    def __len__(self) -> int:
        return len(self.table)

    def rows(self) -> list[list[Any]]:
        """A list for each segment."""
        return self.table.tolist()

    def total(self) -> list[Any]:
        """The sum of all segments."""
        return self.table.total().tolist()[0]

    @staticmethod
    def listed(row: Sequence[int]) -> list[Any]:
        """A row as a list of sacreBLEU's."""
        return list(row)

    @staticmethod
    def counted(row: Sequence[Any]) -> list[int]:
        """A list of sacreBLEU's as a row; ValueError or TypeError if the kernel makes no such."""
        return [index(value) for value in row]


class EditCounts(Counts):
    """TER's: whole edits, and mean reference lengths that are floats."""

    __slots__ = ()

    def rows(self) -> list[list[Any]]:
        """A list for each segment."""
        return [[edits, parts / _PARTS] for edits, parts in self.table.tolist()]

    def total(self) -> list[Any]:
        """The sum of all segments; floats are added in the order of segments."""
        rows = self.rows()
        if len(rows) == 1:
            return rows[0]
        total = 0.0
        for _, length in rows:
            # Not sum(), which compensates from Python 3.12 on.
            total += length
        return [sum(edits for edits, _ in rows), total]

    @staticmethod
    def listed(row: Sequence[int]) -> list[Any]:
        """A row as a list of sacreBLEU's."""
        return [row[0], row[1] / _PARTS]

    @staticmethod
    def counted(row: Sequence[Any]) -> list[int]:
        """A list of sacreBLEU's as a row; ValueError or TypeError if the kernel makes no such."""
        edits, length = row
        parts = round(length * _PARTS)
        if parts / _PARTS != length:
            raise ValueError(f"{length!r} is no mean of up to {_MOST_REFERENCES} lengths")
        return [index(edits), parts]


class Engine:
    """A metric of truebleu's, counting for one of sacreBLEU's."""

    __slots__ = ("counts", "metric", "most_references")

    def __init__(
        self, metric: Any, counts: type[Counts] = Counts, most_references: float = inf
    ) -> None:
        self.metric = metric
        self.counts = counts
        self.most_references = most_references

    def count(self, hypotheses: Sequence[str], references: References) -> Counts | None:
        """The statistics of as many segments as both have; None if Python must count."""
        lines, segments = tuple(hypotheses), references.segments
        shortest = min(len(lines), len(segments))
        if not shortest or references.streams > self.most_references:
            return None
        try:
            table = self.metric.statistics(lines[:shortest], segments[:shortest])
        except (InputError, TypeError):
            return None
        return self.counts(table)

    def count_one(self, hypothesis: str, references: Sequence[str | None]) -> list[Any] | None:
        """The statistics of one segment; None if Python must count."""
        if len(references) > self.most_references:
            return None
        try:
            _, row, _ = self.metric._kernel.sentence(hypothesis, tuple(references))
        except (InputError, TypeError):
            return None
        return self.counts.listed(row)

    def table(self, rows: Counts | Sequence[Sequence[Any]]) -> Statistics | None:
        """Rows as the kernel's own; None if they are none."""
        counted: Table
        if isinstance(rows, Counts):
            counted = rows.table
        else:
            columns = self.metric.columns
            try:
                counted = Table.from_rows([self.counts.counted(row) for row in rows], len(columns))
            except (TypeError, ValueError, OverflowError):
                return None
        return Statistics(counted, columns=self.metric.columns, fingerprint=self.metric.fingerprint)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Engine):
            return NotImplemented
        return bool(self.metric == other.metric)

    def __hash__(self) -> int:
        return hash(self.metric)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Engine, (self.metric, self.counts, self.most_references))


# What every metric shares of counting, and of scoring.
COUNTING = ("_preprocess_segment", "_cache_references", "_extract_corpus_statistics")
SCORING = ("_aggregate_and_compute", "_compute_score_from_stats")


def _remembered(make: Callable[..., Engine]) -> Callable[..., Engine | None]:
    """Makes an engine of parameters once; None of those that the kernel does not take."""
    kept = lru_cache(_SETTINGS, typed=True)(make)

    def made(*parameters: Any) -> Engine | None:
        try:
            return kept(*parameters)
        except (TypeError, ValueError):
            return None

    return made


@_remembered
def bleu(
    tokenize: str,
    lowercase: bool,
    max_order: int,
    smoothing: str = "exp",
    smoothing_value: float | None = None,
    effective_order: bool = False,
) -> Engine:
    """BLEU's."""
    metric = truebleu.BLEU(
        tokenize,
        lowercase=lowercase,
        max_order=max_order,
        smoothing=smoothing,
        smoothing_value=smoothing_value,
        effective_order=effective_order,
    )
    return Engine(metric)


@_remembered
def chrf(
    char_order: int,
    word_order: int,
    beta: float,
    lowercase: bool,
    whitespace: bool,
    eps_smoothing: bool,
) -> Engine:
    """The engine of chrF."""
    from truebleu.chrf import CHRF

    metric = CHRF(
        char_order,
        word_order,
        beta,
        lowercase=lowercase,
        whitespace=whitespace,
        eps_smoothing=eps_smoothing,
    )
    return Engine(metric)


@_remembered
def ter(normalized: bool, no_punct: bool, asian_support: bool, case_sensitive: bool) -> Engine:
    """TER's."""
    from truebleu.ter import TER

    metric = TER(
        normalized=normalized,
        no_punct=no_punct,
        asian_support=asian_support,
        case_sensitive=case_sensitive,
    )
    return Engine(metric, EditCounts, _MOST_REFERENCES)


def defined(cls: type, *names: str) -> dict[str, object]:
    """Functions of a class as they are now, to see later whether they were replaced."""
    return {name: getattr(cls, name) for name in names}


def leaves(metric: object, functions: Mapping[str, object]) -> bool:
    """Whether a metric has these functions as they were defined."""
    # A loop and no all(): single segments pay for it.
    cls, own = type(metric), vars(metric)
    for name, function in functions.items():
        if getattr(cls, name) is not function or name in own:
            return False
    return True
