"""Scores to resample: several systems' scores for one metric, or columns of segment scores."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import copy
from itertools import chain, repeat
from math import ceil, inf
from typing import Any

from truebleu._kernel import InputError, Scores, Table
from truebleu.metrics.base import Metric
from truebleu.metrics.scores import Statistics
from truebleu.text import argument_checks

# Scores with at most this many decimal places are added as exact decimal numbers.
MAX_DECIMALS = 9
# The sums of every resample stay below 2 to the power of this number.
MAX_SUM_BITS = 61


class Measure:
    """Results of one metric for several systems on the same segments.

    metric: a metric that provides statistics.
    tables: its statistics by system, with one row per segment, in the same order for all systems.

    Raises InputError for different numbers of segments, and
    TypeError for values that are not statistics.

    >>> from truebleu import BLEU
    >>> metric, references = BLEU(max_order=2), ["a b c d", "a b"]
    >>> systems = {"one": ["a b c", "a b"], "two": ["a b", "a c"]}
    >>> measure = Measure(metric, {k: metric.statistics(v, references) for k, v in systems.items()})
    >>> measure
    <BLEU of 2 systems on 2 segments>
    """

    name: str
    """The name of the metric, such as "BLEU" or "chrF2", or the name of the score column."""
    metric: Metric[Any] | None
    """The metric, or None for a column of scores."""
    lower_is_better: bool
    """True if a better system has a lower score, as with error rates."""
    segments: int
    """The number of segments of each system."""
    # For a mean: the unit of the integers in the tables, as a share of a point.
    _scale: float | None
    _values: dict[str, float]

    def __init__(self, metric: Metric[Any], tables: Mapping[str, Statistics]) -> None:
        for name, table in tables.items():
            if not isinstance(table, Statistics):
                raise TypeError(
                    f"{name}: expected statistics of {metric.name}, not {type(table).__name__}. "
                    "Use Measure.from_scores for segment scores."
                )
        _check_systems(metric.name, {name: len(table) for name, table in tables.items()})
        if metric.order_dependence_reason:
            raise ValueError(f"{metric.order_dependence_reason}, so segments cannot be resampled")
        self.metric, self.name = metric, metric.name
        self.lower_is_better = metric.lower_is_better
        self._values = {name: metric.from_statistics(table).value for name, table in tables.items()}
        self._scale, self._tables = None, dict[str, Table](tables)
        self.segments = len(self.tables[0])
        if metric.is_mean:
            scores = {name: metric.segment_scores(table).tolist() for name, table in tables.items()}
            self._scale, self._tables = _convert_to_integers(scores)

    @classmethod
    def from_scores(
        cls, name: str, scores: Mapping[str, Sequence[float]], *, lower_is_better: bool = False
    ) -> Measure:
        """Return a measure of segment scores from a metric that truebleu does not compute.

        scores: one number per segment, by system. The score of a system is their mean.

        Decimal numbers are added exactly, so equal means are detected as ties. Raises InputError
        for missing or infinite numbers, and for different numbers of segments.
        """
        columns: dict[str, Sequence[float]] = {}
        for system, numbers in scores.items():
            if isinstance(numbers, Table):
                raise TypeError(f"{system}: found statistics; pass them to Measure(metric, ...)")
            values = (_check_score(name, system, i, x) for i, x in enumerate(numbers, 1))
            columns[system] = array("d", values)
        _check_systems(name, {system: len(column) for system, column in columns.items()})
        measure = cls.__new__(cls)
        measure.metric, measure.name, measure.lower_is_better = None, name, lower_is_better
        measure._scale, measure._tables = _convert_to_integers(columns)  # noqa: SLF001
        measure.segments = len(measure.tables[0])
        measure._values = dict(zip(columns, measure.compute_observed_scores(), strict=True))  # noqa: SLF001
        return measure

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(self._tables)

    @property
    def row_count(self) -> int:
        """The number of rows of each table: segments or documents."""
        return len(self.tables[0])

    def sum_by_document(self, documents: Sequence[Hashable]) -> Measure:
        """Return the measure with one row per document, summed over its segments.

        documents: the document of each segment. The scores do not change. Resamples with the same
            number of documents may differ in the number of segments; means divide by that number.
        """
        numbers: dict[Hashable, int] = {}
        keys = argument_checks.check_segment_keys("documents", documents, self.segments)
        document_indices = [numbers.setdefault(key, len(numbers)) for key in keys]
        measure = copy(self)
        tables = {
            name: table.group_totals(document_indices, len(numbers))
            for name, table in self._tables.items()
        }
        if self._scale is not None and self.tables[0].width == 1:
            sizes = list(Counter(document_indices).values())
            measure._scale, tables = _add_sizes(tables, sizes, self._scale)  # noqa: SLF001
        measure._tables = tables  # noqa: SLF001
        return measure

    @property
    def is_summed(self) -> bool:
        """True if the score is computed from aggregated statistics, not as a mean of scores."""
        return self._scale is None

    @property
    def tables(self) -> tuple[Table, ...]:
        """The table of each system: statistics, or scores as integers."""
        return tuple(self._tables.values())

    def scores(self, sums: Table) -> Scores:
        """Return the score for each row of sums."""
        if self._scale is None:
            metric: Any = self.metric
            return metric.scores(sums)  # type: ignore[no-any-return]
        counts = sums.values_of(1) if sums.width == 2 else repeat(self.segments)
        pairs = zip(sums.values_of(0), counts, strict=False)
        return Scores([total / (self._scale * count) for total, count in pairs])

    def compute_observed_scores(self) -> list[float]:
        """Return the score of each system, computed in the same way as resampled scores."""
        return [self.scores(table.total())[0] for table in self.tables]

    def get_score(self, system: str) -> float:
        """Return a system's score over all segments."""
        return self._values[system]

    def __repr__(self) -> str:
        return f"<{self.name} of {len(self._tables)} systems on {self.segments} segments>"


def _add_sizes(
    tables: Mapping[str, Table], sizes: Sequence[int], scale: float
) -> tuple[float, dict[str, Table]]:
    """Return the new scale, and tables of score sums and segment counts per document."""
    sums = {name: table.values_of(0) for name, table in tables.items()}
    largest = max(abs(total) for column in sums.values() for total in column)
    # A resample may consist only of copies of the largest document.
    shift = max(0, (largest * len(sizes)).bit_length() - MAX_SUM_BITS)
    half = 1 << shift >> 1
    document_tables = {
        name: Table.from_rows(
            [[(total + half) >> shift, size] for total, size in zip(column, sizes, strict=True)], 2
        )
        for name, column in sums.items()
    }
    return scale / (1 << shift) if shift else scale, document_tables


def _convert_to_integers(columns: Mapping[str, Sequence[float]]) -> tuple[int, dict[str, Table]]:
    """Return a scale, and tables of the numbers times the scale, which are exact integers.

    Decimal numbers become multiples of a power of ten, so that 0.1 + 0.2 is 0.3. Other numbers
    become multiples of the smallest power of two with which all sums stay below 2^61.
    """
    segments = len(next(iter(columns.values())))
    largest = max(map(abs, chain.from_iterable(columns.values())))
    spare = MAX_SUM_BITS - (ceil(largest) * segments).bit_length()
    if spare < 0:
        raise InputError(f"scores as large as {largest:g} exceed the range of exact sums")
    places = _count_decimals(chain.from_iterable(columns.values()))
    scale = 2**spare if places is None else min(10**places, 2**spare)
    tables = {
        name: Table.from_bytes(array("q", (round(x * scale) for x in column)).tobytes(), 1)
        for name, column in columns.items()
    }
    return scale, tables


def _count_decimals(numbers: Iterable[float]) -> int | None:
    """Return the largest number of decimal places, or None if some numbers have too many."""
    max_decimals = 0
    for number in numbers:
        text = repr(number)
        fraction = text.partition(".")[2]
        if "e" in text or len(fraction) > MAX_DECIMALS:
            return None
        max_decimals = max(max_decimals, 0 if fraction == "0" else len(fraction))
    return max_decimals


def _check_score(measure: str, system: str, segment: int, value: Any) -> float:
    try:
        number = argument_checks.check_number(measure, value, -inf)
    except ValueError:
        raise InputError(
            f"{measure} of {system}, segment {segment}: expected a finite number, found "
            f"{value!r:.40}. Score the segment, or leave it out of all systems."
        ) from None
    return number


def _check_systems(measure: str, lengths: Mapping[str, int]) -> None:
    if not lengths:
        raise InputError(f"{measure}: no systems")
    if len(set(lengths.values())) > 1:
        lengths_text = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise InputError(
            f"{measure}: the systems have different numbers of segments ({lengths_text}). Use the "
            "same segments in the same order."
        )
    if not min(lengths.values()):
        raise InputError(f"{measure}: no segments to resample (expected at least one)")


# The kernel's memory layouts (kernel/src/resample.rs): bytes per segment, and number of columns, by
# number type. Random draws take an additional DRAW_BYTES.
COLUMN_LAYOUTS = {"integer": (64, 32), "single": (256, 64)}
DRAW_BYTES = 1 << 23


def check_memory(segments: int, columns: int, workers: int = 1, kind: str = "integer") -> None:
    """Raise MemoryError, stating the required amount, if resampling needs too much memory."""
    segment_bytes, columns_per_layout = COLUMN_LAYOUTS[kind]
    # A separate layout holds the columns with larger numbers.
    layouts = -(-columns // columns_per_layout) + (kind == "integer")
    needed_bytes = segments * segment_bytes * layouts + max(DRAW_BYTES, 4 * segments * workers)
    try:
        # This only reserves the memory, because the zeros are never accessed.
        bytes(needed_bytes)
    except MemoryError:
        raise MemoryError(
            f"resampling {segments:,} segments needs about {needed_bytes / 1e6:,.0f} MB of memory"
        ) from None
