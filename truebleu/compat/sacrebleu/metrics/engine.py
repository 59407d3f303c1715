"""The kernel in sacreBLEU's terms: reference streams in, lists of statistics out.

truebleu's own metrics take the references of each segment together and refuse faulty input; here
are sacreBLEU's streams, cut to the shortest. Input that the kernel refuses is left to Python, which
raises sacreBLEU's errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import chain
from math import inf
from operator import index

from truebleu._kernel import InputError, Table
from truebleu.metrics.statistics import Statistics
from truebleu.metrics.table_metric import unpacked

from .._parameters import kernel_metric

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

# The number of settings that are kept; a program has two or three.
_SETTINGS = 64

# The methods that counting and scoring consist of, in every metric.
_COUNTING = (
    *("_preprocess_segment", "_cache_references", "_extract_corpus_statistics"),
    *("_extract_reference_info", "_compute_segment_statistics"),
)
_SCORING = ("_aggregate_and_compute", "_compute_score_from_stats")


class References:
    """Reference streams, transposed: a tuple of lines per segment; the lines of a single stream."""

    __slots__ = ("number", "segments", "streams")

    def __init__(self, streams: Sequence[Sequence[str | None]]) -> None:
        self.streams = len(streams)
        self.segments: tuple[Any, ...]
        if len(streams) == 1:
            (self.segments,) = map(tuple, streams)
            missing = {int(line is None) for line in self.segments}
        else:
            self.segments = tuple(zip(*streams, strict=False))
            missing = {segment.count(None) for segment in self.segments}
        numbers = {self.streams - absent for absent in missing}
        # The number of references per segment; -1 if it varies.
        self.number = numbers.pop() if len(numbers) == 1 else -1

    def each(self) -> Iterable[tuple[str | None, ...]]:
        """The references of each segment."""
        return ((line,) for line in self.segments) if self.streams == 1 else self.segments

    def are_text(self) -> bool:
        """True if all are strings or None."""
        lines = self.segments if self.streams == 1 else chain.from_iterable(self.segments)
        return all(issubclass(kind, str) for kind in {*map(type, lines)} - {type(None)})


class KeptReferences(Sequence):  # type: ignore[type-arg]
    """The references that a metric was made with, prepared in Python when they are looked at.

    The kernel needs no prepared text.
    """

    def __init__(self, metric: Any, engine: Engine, references: References) -> None:
        import copy

        # The metric as it was when it got them.
        self._metric = copy.copy(metric)
        self.engine = engine
        self.references = references

    def __len__(self) -> int:
        return len(self.references.segments)

    @cached_property
    def _prepared(self) -> Any:
        return self._metric._extract_references(self.references)

    def __getitem__(self, index: Any) -> Any:
        return self._prepared[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeptReferences | list):
            return NotImplemented
        return list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


class Engine:
    """A metric of truebleu's, counting for one of sacreBLEU's."""

    # The most references for which the kernel's rows are sacreBLEU's.
    MOST_REFERENCES = inf

    def __init__(self, metric: Any) -> None:
        self.metric = metric
        self.counting = metric.fingerprint  # the parameters that counting depends on

    def listed(self, row: list[int]) -> list[Any]:
        """A row of the kernel's as sacreBLEU's list."""
        return row

    def counted(self, row: Sequence[Any]) -> list[int]:
        """A list of sacreBLEU's as a row; ValueError or TypeError if the kernel has no such row."""
        return list(map(index, row))

    def total(self, table: Table) -> Sequence[Any]:
        """The sum of all rows, as sacreBLEU's list."""
        return self.listed(table.total().tolist()[0])

    def count(self, hypotheses: Sequence[str], references: References) -> Counts | None:
        """The statistics of as many segments as both have; None if Python must count."""
        lines, segments = tuple(hypotheses), references.segments
        shortest = min(len(lines), len(segments))
        if not shortest or references.streams > self.MOST_REFERENCES:
            return None
        try:
            table = self.metric.statistics(lines[:shortest], segments[:shortest])
        except (InputError, TypeError):
            return None
        return Counts(self, table)

    def count_one(self, hypothesis: str, references: Sequence[str | None]) -> list[Any] | None:
        """The statistics of one segment; None if Python must count."""
        if len(references) > self.MOST_REFERENCES:
            return None
        try:
            _, row, _ = self.metric._kernel.sentence(hypothesis, tuple(references))
        except (InputError, TypeError):
            return None
        return self.listed(unpacked(row))

    def table(self, rows: Counts | Sequence[Sequence[Any]]) -> Statistics | None:
        """Rows as a table of the kernel's; None if it has no such rows."""
        if isinstance(rows, Counts):
            return rows.table
        columns = self.metric.columns
        try:
            counted = Table.from_rows(list(map(self.counted, rows)), len(columns))
        except (TypeError, ValueError, OverflowError):
            return None
        return Statistics(counted, columns=columns, fingerprint=self.metric.fingerprint)


class Counts:
    """The kernel's counts, a row for each segment, as sacreBLEU's lists of numbers."""

    def __init__(self, engine: Engine, table: Statistics) -> None:
        self._engine = engine
        self.table = table

    def __len__(self) -> int:
        return len(self.table)

    def rows(self) -> list[list[Any]]:
        """A list for each segment."""
        return list(map(self._engine.listed, self.table.tolist()))

    def total(self) -> Sequence[Any]:
        """The sum of all segments."""
        return self._engine.total(self.table)


class Served:
    """A class of metrics that the kernel counts for, as long as its methods are not replaced.

    name, parameters: for `kernel_metric`.
    counting, scoring: the names of methods beside those of every metric.
    """

    def __init__(
        self,
        cls: type,
        name: str,
        parameters: Sequence[str],
        counting: Sequence[str] = (),
        scoring: Sequence[str] = (),
        engine: type[Engine] = Engine,
    ) -> None:
        self._counting = {name: getattr(cls, name) for name in (*counting, *_COUNTING)}
        self._scoring = {name: getattr(cls, name) for name in (*scoring, *_SCORING)}

        @lru_cache(_SETTINGS)
        def made(*values: Any) -> Engine:
            return engine(kernel_metric(name, dict(zip(parameters, values, strict=True))))

        self._made = made

    def engine(self, metric: Any, *, scores: bool) -> Engine | None:
        """The engine of a metric that leaves counting, and with `scores` scoring, to its class.

        None if methods are replaced, or if the kernel does not take the parameters.
        """
        if not _leaves(metric, self._counting) or (scores and not _leaves(metric, self._scoring)):
            return None
        values = metric._kernel_values()
        try:
            return None if values is None else self._made(*values)
        except (TypeError, ValueError):
            return None


def _leaves(metric: object, methods: Mapping[str, object]) -> bool:
    # A loop is faster than all(), which matters for single segments.
    cls, own = type(metric), vars(metric)
    for name, method in methods.items():
        if getattr(cls, name) is not method or name in own:
            return False
    return True
