"""Writer of segment scores as rows or in sacreBLEU's format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from types import MappingProxyType
from typing import Any

from truebleu._kernel import Scores
from truebleu.cli.output import Results, UsageError, escape_unprintable
from truebleu.cli.row_formats import FORMATS
from truebleu.cli.row_writers import RowWriter, TableSpec
from truebleu.metrics.base import Metric
from truebleu.metrics.statistics import Statistics

Metrics = Mapping[Metric[Any], str | None]
# The statistics and scores of a batch of segments per metric, and its extra columns.
SegmentScores = Sequence[tuple[Statistics, Scores]]
ExtraColumns = Sequence[Sequence[Any]]


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
    ) -> None:
        self.metrics = metrics
        self.test_set = test_set
        self.output = output
        self.has_several_systems = has_several_systems
        self._rows: RowWriter | None = None
        if output.form == "text":
            self.BATCH_ROWS = RowWriter.BATCH_ROWS
            return
        scores = [name or metric.name for metric, name in metrics.items()]
        prefixes = [""] if len(metrics) == 1 else [f"{name}_" for name in scores]
        statistics = [
            f"{prefix}{column}"
            for metric, prefix in zip(metrics, prefixes, strict=True)
            for column in metric.segment_detail_names
        ]
        number_column = "row" if "segment" in extra_names else "segment"
        names = [number_column, system_column, *extra_names, *scores, *statistics]
        duplicates = [name for name in extra_names if names.count(name) > 1]
        if duplicates:
            raise UsageError(f"--by: the results already have a column '{duplicates[0]}'")
        signatures = [
            str(metric.signature(segment=True).with_test_set(test_set)) for metric in metrics
        ]
        table = TableSpec(
            "segments",
            names,
            score_names=scores,
            percentage_names=[
                name for name, metric in zip(scores, metrics, strict=True) if metric.is_percentage
            ],
            text_names=[system_column, *extra_names],
            statistic_names=statistics,
            metadata={"signatures": dict(zip(scores, signatures, strict=True))},
            arrow_types=arrow_types,
        )
        self._rows = FORMATS[output.form](output, table)
        self.BATCH_ROWS = self._rows.BATCH_ROWS

    def write(
        self,
        system: str,
        numbers: Sequence[int],
        segment_scores: SegmentScores,
        extra_columns: ExtraColumns = (),
    ) -> None:
        """Write a batch of segments of a system, with extra columns."""
        if self._rows is None:
            self._write_lines(system, segment_scores, extra_columns)
            return
        pairs = zip(self.metrics, segment_scores, strict=True)
        columns = [
            column
            for metric, (table, _) in pairs
            for column in metric.compute_segment_details(table)
        ]
        scores = [metric_scores for _, metric_scores in segment_scores]
        self._rows.write(
            [numbers, repeat(escape_unprintable(system)), *extra_columns, *scores, *columns]
        )

    def finish(self, warnings: Sequence[Mapping[str, Any]] = ()) -> None:
        """Write the end of the output; JSON includes the warnings about the text."""
        if self._rows is not None:
            self._rows.warnings = warnings
            self._rows.finish()

    def _write_lines(
        self, system: str, segment_scores: SegmentScores, extra_columns: ExtraColumns
    ) -> None:
        """Write a line per segment and metric, like sacreBLEU's --sentence-level."""
        output = self.output
        name = f"{escape_unprintable(system)}\t" if self.has_several_systems else ""
        count = len(segment_scores[0][1])
        prefixes = [
            name
            + "".join(
                "\t" if cell is None else f"{escape_unprintable(str(cell))}\t" for cell in cells
            )
            for cells in (zip(*extra_columns, strict=True) if extra_columns else repeat((), count))
        ]
        if output.score_only:
            columns = [
                [output.format_score(value, is_percentage=metric.is_percentage) for value in scores]
                for metric, (_, scores) in zip(self.metrics, segment_scores, strict=True)
            ]
            rows = zip(prefixes, map("\t".join, zip(*columns, strict=True)), strict=True)
            self.output.write("".join(f"{start}{line}\n" for start, line in rows))
            return
        parts = []
        for metric, (statistics, scores) in zip(self.metrics, segment_scores, strict=True):
            references = statistics.references
            signature = metric.signature(references, segment=True).with_test_set(self.test_set)
            head = f"{metric.name}|{output.format_signature(signature)}"
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
