"""Writer of segment scores as rows or in sacreBLEU's format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from types import MappingProxyType
from typing import Any

from truebleu._kernel import Scores
from truebleu.cli.output import Results, UsageError, escape_unprintable
from truebleu.cli.row_formats import FORMATS as ROW_FORMATS
from truebleu.cli.row_writers import RowWriter, TableSpec
from truebleu.metrics.base import Metric
from truebleu.metrics.statistics import Statistics

Metrics = Mapping[Metric[Any], str | None]
# The statistics and scores of a batch of segments per metric, and its extra columns.
SegmentScores = Sequence[tuple[Statistics, Scores]]
ExtraColumns = Sequence[Sequence[Any]]


# "sacrebleu" is the format of `sacrebleu --sentence-level`.
FORMATS = (*ROW_FORMATS, "sacrebleu")
# Formats that contain the statistics of the scores always, or on request.
STATISTICS_FORMATS, REQUESTED_STATISTICS_FORMATS = ("json", "jsonl", "parquet"), ("tsv", "csv")


class SegmentWriter:
    """Writer of segment scores as rows, or as lines in sacreBLEU's format."""

    def __init__(
        self,
        metrics: Metrics,
        output: Results,
        *,
        has_several_systems: bool,
        system_column: str = "system",
        extra_names: Sequence[str] = (),
        arrow_types: Any = None,
        test_set: Mapping[str, str] = MappingProxyType({}),
        statistics: bool = False,
    ) -> None:
        self._statistics_requested = statistics
        self.metrics = metrics
        self.test_set = test_set
        self.output = output
        self.has_several_systems = has_several_systems
        self._rows: RowWriter | None = None
        if output.form == "sacrebleu":
            self.BATCH_ROWS = RowWriter.BATCH_ROWS
            return
        scores = [name or metric.name for metric, name in metrics.items()]
        prefixes = [""] if len(metrics) == 1 else [f"{name}_" for name in scores]
        statistic_names = [
            f"{prefix}{column}"
            for metric, prefix in zip(metrics, prefixes, strict=True)
            for column in metric.segment_detail_names
            if self.writes_statistics
        ]
        number_column = "row" if "segment" in extra_names else "segment"
        systems = [system_column] if has_several_systems or not self.shows_texts else []
        names = [number_column, *systems, *extra_names, *scores]
        names += ["text"] if self.shows_texts else statistic_names
        duplicates = [name for name in extra_names if names.count(name) > 1]
        if duplicates:
            raise UsageError(f"--by: the results already have a column '{duplicates[0]}'")
        # The name of the score and the signature of each metric.
        self._signatures = {
            name: self._format_signature(metric)
            for name, metric in zip(scores, metrics, strict=True)
        }
        table = TableSpec(
            "segments",
            names,
            score_names=scores,
            percentage_names=[
                name for name, metric in zip(scores, metrics, strict=True) if metric.is_percentage
            ],
            text_names=[*systems, *extra_names, "text"],
            statistic_names=statistic_names,
            shortened_names=["text"] if self.shows_texts else [],
            metadata={"signatures": self._signatures},
            arrow_types=arrow_types,
        )
        self._rows = ROW_FORMATS[output.form](output, table)
        self.BATCH_ROWS = self._rows.BATCH_ROWS

    @property
    def shows_texts(self) -> bool:
        """True if each row shows the hypothesis."""
        return self.output.form == "text"

    @property
    def writes_statistics(self) -> bool:
        """True if each row contains the statistics of the scores."""
        return self.output.form in STATISTICS_FORMATS or self._statistics_requested

    def write(
        self,
        systems: Sequence[Any],
        numbers: Sequence[int],
        segment_scores: SegmentScores,
        extra_columns: ExtraColumns = (),
        *,
        texts: Sequence[str] | None = None,
    ) -> None:
        """Write a batch of segments with the system of each segment, and extra columns.

        texts: the hypotheses; only needed if `shows_texts`.
        """
        if self._rows is None:
            self._write_lines(systems, segment_scores, extra_columns)
            return
        if self.shows_texts:
            # The number of references is not known before the first batch.
            for score, metric, (table, _) in zip(
                self._signatures, self.metrics, segment_scores, strict=True
            ):
                self._signatures[score] = self._format_signature(metric, table.references)
        details = (
            column
            for metric, (table, _) in zip(self.metrics, segment_scores, strict=True)
            if self.writes_statistics
            for column in metric.compute_segment_details(table)
        )
        names = [None if one is None else escape_unprintable(str(one)) for one in systems]
        has_system = self.has_several_systems or not self.shows_texts
        self._rows.write(
            [
                numbers,
                *([names] if has_system else []),
                *extra_columns,
                *(metric_scores for _, metric_scores in segment_scores),
                *([texts] if self.shows_texts else details),
            ]
        )

    def _format_signature(self, metric: Metric[Any], *references: Any) -> str:
        """Return the signature of a metric, without an unknown number of references."""
        signature = metric.signature(*references, segment=True)
        return self.output.format_signature(signature.with_test_set(self.test_set))

    def finish(self, warnings: Sequence[Mapping[str, Any]] = ()) -> None:
        """Write the end of the output; JSON includes the warnings about the text."""
        if self._rows is not None:
            self._rows.warnings = warnings
            self._rows.finish()

    def _write_lines(
        self, systems: Sequence[Any], segment_scores: SegmentScores, extra_columns: ExtraColumns
    ) -> None:
        """Write a line per segment and metric, like sacreBLEU's --sentence-level."""
        output = self.output
        columns_before = [systems, *extra_columns] if self.has_several_systems else extra_columns
        prefixes = [
            "".join(
                "\t" if cell is None else f"{escape_unprintable(str(cell))}\t" for cell in cells
            )
            for cells in (
                zip(*columns_before, strict=True)
                if columns_before
                else repeat((), len(segment_scores[0][1]))
            )
        ]
        parts = []
        for metric, (statistics, scores) in zip(self.metrics, segment_scores, strict=True):
            references = statistics.references
            head = f"{metric.name}|{self._format_signature(metric, references)}"
            lines = []
            for row, value in zip(statistics.tolist(), scores.tolist(), strict=True):
                score = metric.score_from_row(row, references, segment=True, value=value)
                number = output.format_score(value, is_percentage=metric.is_percentage)
                lines.append(f"{head} = {number} {output.format_details(score)}".rstrip())
            parts.append(lines)
        line_groups = zip(prefixes, zip(*parts, strict=True), strict=True)
        self.output.write(
            "".join(
                f"{prefix}{line}\n" for prefix, group_lines in line_groups for line in group_lines
            )
        )
