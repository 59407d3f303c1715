"""Scores from statistics: checks of tables, and the scores of their rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic

from truebleu._kernel import InputError, Scores, Table
from truebleu.metrics.metric_description import DescribedMetric
from truebleu.metrics.scores import Score, Statistics, TableScore

# Column names, indices of columns that may be negative, and limits relative to other columns.
Constraints = tuple[Sequence[str], list[int], list[tuple[int, int, int]]]

# Signed 64-bit integers range from -INT64_LIMIT to INT64_LIMIT - 1.
INT64_LIMIT = 1 << 63

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    S = TypeVar("S", bound=Score, default=Score, covariant=True)  # noqa: PLC0105
else:
    from typing import TypeVar

    S = TypeVar("S", bound=Score, covariant=True)  # noqa: PLC0105


class TableMetric(DescribedMetric, Generic[S]):
    """Base class of metrics that computes scores from rows of statistics, without any text."""

    __slots__ = ()

    SCORE: ClassVar[type[TableScore]]
    # Reason why the statistics of parts of a corpus cannot be added, or None if they can.
    NON_ADDITIVE_REASON: ClassVar[str | None] = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names of the metric's statistics."""
        raise NotImplementedError

    @property
    def _signed_columns(self) -> tuple[str, ...]:
        """The columns that may be negative."""
        return ()

    @property
    def _column_limits(self) -> tuple[tuple[str, int, str], ...]:
        """The upper limits of columns, which hold in every row and therefore in every sum of rows.

        In `(column, factor, other)`, the column is at most `factor` times the other column.
        """
        return ()

    @property
    def constraints(self) -> Constraints:
        """The row constraints for the kernel, with column indices instead of names."""
        columns = self.columns
        positions = {name: place for place, name in enumerate(columns)}
        limits = [
            (positions[column], limit, positions[by]) for column, limit, by in self._column_limits
        ]
        return columns, [positions[name] for name in self._signed_columns], limits

    @property
    def segment_detail_names(self) -> tuple[str, ...]:
        """The names of the details listed next to segment scores (default: the column names)."""
        return self.columns

    def compute_segment_details(self, table: Table) -> list[Any]:
        """Return the details of each segment of a table, one sequence per name."""
        return [table.columns_of([i]) for i in range(table.width)]

    @property
    def non_additive_reason(self) -> str | None:
        """The reason why statistics of parts of a corpus cannot be added, or None if they can."""
        if self._is_sum_based:
            return self.NON_ADDITIVE_REASON
        mean = f"{self.NAME} averages segment scores, which do not add up exactly"
        return self.order_dependence_reason or mean

    @property
    def order_dependence_reason(self) -> str | None:
        """The reason why segments cannot be resampled (their order matters), or None."""
        return None

    def explain_zero_score(self, row: Sequence[int], *, segment: bool) -> str:  # noqa: ARG002
        """Return the reason for a score of 0 and a remedy, or "" if the reason is unknown."""
        return ""

    def make_statistics(self, table: Table, references: int | str | None) -> Statistics:
        """Convert the rows of a table to statistics of this metric."""
        return Statistics(
            table, columns=self.columns, fingerprint=self.fingerprint, references=references
        )

    @property
    def is_mean(self) -> bool:
        """True if the corpus score is the mean of segment scores, even when resampling."""
        return not self._is_sum_based

    def from_statistics(
        self, totals: Statistics | Sequence[int], *, references: int | str | None = None
    ) -> S:
        """Return the score computed from statistics, without any text.

        totals: a table of this metric's statistics, or the k integers of one row in the order of
            `columns`. Rows are summed, or scored by metrics that average segment scores.
        references: number of references for the signature; not needed for tables, which contain it.
        """
        if not isinstance(totals, Statistics):
            return self.score_from_row(self._validate_totals(totals), references)
        self._check_statistics_table(totals)
        references = totals.references if references is None else references
        if self._is_sum_based or not len(totals):
            return self.score_from_row(totals.total().tolist()[0], references)
        return self._average_rows(totals, references)

    def _average_rows(self, table: Table, references: int | str | None) -> S:
        """Compute the corpus score of a metric that averages segment scores."""
        raise NotImplementedError

    def scores(self, totals: Statistics | Table) -> Scores:
        """Return one score per row of a table, treating each row as the totals of a corpus.

        Resampling passes one row per resample, which is the sum over the resampled segments.
        """
        return self._compute_checked_scores(totals, segment=False)

    def segment_scores(self, statistics: Statistics | Table) -> Scores:
        """Return one score per row of a table, treating each row as a segment."""
        return self._compute_checked_scores(statistics, segment=True)

    def _compute_checked_scores(self, table: Table, *, segment: bool) -> Scores:
        self._check_statistics_table(table)
        try:
            return self._compute_scores(table, segment=segment)
        except (ArithmeticError, ValueError) as error:
            raise as_input_error(self, error) from None

    def _check_statistics_table(self, table: Table) -> None:
        if isinstance(table, Statistics):
            self.check_fingerprint("statistics", table.fingerprint)
            if table.columns != self.columns:
                table_columns, metric_columns = (
                    ", ".join(columns) for columns in (table.columns, self.columns)
                )
                raise InputError(
                    f"columns of the statistics do not match {self.name} (expected "
                    f"{metric_columns}, found {table_columns})"
                )
            table.check(*self.constraints)
        elif table.width != len(self.columns):
            raise InputError(f"expected {len(self.columns)} columns, not {table.width}")

    def check_fingerprint(self, subject: str, fingerprint: str) -> None:
        """Raise InputError if statistics or totals belong to another metric."""
        if fingerprint != self.fingerprint:
            raise InputError(
                f"these {subject} were computed with {fingerprint}, but this metric is "
                f"{self.fingerprint}"
            )

    def check_totals(self, subject: str, totals: Sequence[int]) -> None:
        """Raise InputError for a row of integers that cannot be totals of this metric."""
        if len(totals) != len(self.columns):
            raise InputError(f"{subject}: expected {len(self.columns)} totals, not {len(totals)}")
        try:
            Table.from_rows([totals], len(totals)).check(*self.constraints)
        except InputError as error:
            raise InputError(f"{subject}: {error}") from None

    def _validate_totals(self, totals: Sequence[int]) -> list[int]:
        try:
            row = [value.__index__() for value in totals]
        except (AttributeError, TypeError):
            row = None
        if row is None or any(
            value < 0 and name not in self._signed_columns
            for value, name in zip(row, (*self.columns, *[""] * len(row)), strict=False)
        ):
            raise InputError(
                "totals: expected a table of statistics or a row of non-negative integers, "
                f"not {totals!r:.80}"
            )
        if len(row) != len(self.columns):
            columns = ", ".join(self.columns)
            raise InputError(
                f"totals: expected {len(self.columns)} integers ({columns}), not {len(row)}"
            )
        if any(not -INT64_LIMIT <= value < INT64_LIMIT for value in row):
            raise InputError(f"totals: expected 64-bit integers, not {totals!r:.80}")
        return row

    if TYPE_CHECKING:  # `Metric` defines these methods

        @property
        def _is_sum_based(self) -> bool: ...

        def score_from_row(self, *arguments: Any, **options: Any) -> S:  # noqa: D102
            ...

        def _compute_scores(self, table: Table, *, segment: bool) -> Scores: ...


def as_input_error(metric: TableMetric[Any], error: Exception) -> InputError:
    """Convert an error that the formula raised to an InputError. Return an InputError unchanged."""
    if isinstance(error, InputError):
        return error
    return InputError(
        f"{metric.name} is not defined for these statistics ({error}), so they are invalid"
    )


def make_ngram_column_limits(max_order: int) -> tuple[tuple[str, int, str], ...]:
    """Return column limits: matches are at most totals, and totals never grow with the order."""
    matches = ((f"matches_{order}", 1, f"totals_{order}") for order in range(1, max_order + 1))
    longer = ((f"totals_{order}", 1, f"totals_{order - 1}") for order in range(2, max_order + 1))
    return (*matches, *longer)
