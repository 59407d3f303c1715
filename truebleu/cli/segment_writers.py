"""Segments with their scores: a row each, or lines as sacreBLEU prints them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from types import MappingProxyType
from typing import Any

from truebleu._kernel import Scores
from truebleu.cli.output import Results, UsageError, printable
from truebleu.cli.row_formats import FORMATS
from truebleu.cli.row_writers import Rows, Table
from truebleu.metrics.base import Metric
from truebleu.metrics.statistics import Statistics

Metrics = Mapping[Metric[Any], str | None]
# The statistics and scores of some segments, by each metric, and columns beside them.
Counted = Sequence[tuple[Statistics, Scores]]
Carried = Sequence[Sequence[Any]]


class Writer:
    """Writes segments with their scores: a row each, or lines as sacreBLEU prints them."""

    def __init__(
        self,
        metrics: Metrics,
        output: Results,
        *,
        several: bool,
        system: str = "system",
        carried: Sequence[str] = (),
        types: Any = None,
        test_set: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.metrics = metrics
        self.test_set = test_set
        self.output = output
        self.several = several
        self._rows: Rows | None = None
        if output.form == "text":
            self.AT_ONCE = Rows.AT_ONCE
            return
        scores = [name or metric.name for metric, name in metrics.items()]
        before = [""] if len(metrics) == 1 else [f"{name}_" for name in scores]
        statistics = [
            f"{prefix}{column}"
            for metric, prefix in zip(metrics, before, strict=True)
            for column in metric.segment_detail_names
        ]
        number = "row" if "segment" in carried else "segment"
        names = [number, system, *carried, *scores, *statistics]
        twice = [name for name in carried if names.count(name) > 1]
        if twice:
            raise UsageError(f"--by {twice[0]}: the results have a column of that name already")
        signatures = [
            str(metric.signature(segment=True).with_test_set(test_set)) for metric in metrics
        ]
        table = Table(
            "segments",
            names,
            scores=scores,
            texts=[system, *carried],
            statistics=statistics,
            about={"signatures": dict(zip(scores, signatures, strict=True))},
            types=types,
        )
        self._rows = FORMATS[output.form](output, table)
        self.AT_ONCE = self._rows.AT_ONCE

    def write(
        self, system: str, numbers: Sequence[int], counted: Counted, carried: Carried = ()
    ) -> None:
        """Writes some segments of a system; `carried` are further columns."""
        if self._rows is None:
            self._write_lines(system, counted, carried)
            return
        pairs = zip(self.metrics, counted, strict=True)
        columns = [
            column
            for metric, (table, _) in pairs
            for column in metric.compute_segment_details(table)
        ]
        scores = [of_metric for _, of_metric in counted]
        self._rows.write([numbers, repeat(printable(system)), *carried, *scores, *columns])

    def finish(self, warnings: Sequence[Mapping[str, Any]] = ()) -> None:
        """Write what comes last; JSON has the warnings about the text there."""
        if self._rows is not None:
            self._rows.warnings = warnings
            self._rows.finish()

    def _write_lines(self, system: str, counted: Counted, carried: Carried) -> None:
        """A line per segment and metric, as sacreBLEU's --sentence-level prints it."""
        output = self.output
        name = f"{printable(system)}\t" if self.several else ""
        count = len(counted[0][1])
        before = [
            name + "".join("\t" if cell is None else f"{printable(str(cell))}\t" for cell in cells)
            for cells in (zip(*carried, strict=True) if carried else repeat((), count))
        ]
        if output.score_only:
            columns = [[output.rounded(value) for value in scores] for _, scores in counted]
            rows = zip(before, map("\t".join, zip(*columns, strict=True)), strict=True)
            self.output.write("".join(f"{start}{line}\n" for start, line in rows))
            return
        parts = []
        for metric, (statistics, scores) in zip(self.metrics, counted, strict=True):
            references = statistics.references
            signature = metric.signature(references, segment=True).with_test_set(self.test_set)
            head = f"{metric.name}|{output.signature(signature)}"
            made = []
            for row, value in zip(statistics.tolist(), scores.tolist(), strict=True):
                score = metric.score_from_row(row, references, segment=True, value=value)
                made.append(f"{head} = {output.rounded(value)} {score.verbose}".rstrip())
            parts.append(made)
        together = zip(before, zip(*parts, strict=True), strict=True)
        self.output.write("".join(f"{s}{line}\n" for s, some in together for line in some))
