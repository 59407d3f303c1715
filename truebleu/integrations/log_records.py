"""Conversion of results to records for experiment loggers: numbers, parameters, tables and pages.

The name of a score is `BLEU`. The names in a comparison are `aspen/BLEU`, `aspen/BLEU/low`,
`…/high`, `…/difference` and `…/p`. Signatures are parameters, so loggers report a conflict if a run
logs two different ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from truebleu._kernel import InputError
from truebleu.comparison import Comparison, comparison_layout
from truebleu.integrations import as_segment_references
from truebleu.metrics import registry
from truebleu.metrics.base import Metric, Score
from truebleu.reports import Report

Row = Sequence[Any]


class LogRecord(NamedTuple):
    """Values, tables and pages to log, each with a name."""

    metrics: dict[str, float] = {}  # noqa: RUF012 - defaults of a NamedTuple
    params: dict[str, str] = {}  # noqa: RUF012
    # Column names and rows.
    tables: dict[str, tuple[Row, list[Row]]] = {}  # noqa: RUF012
    pages: dict[str, str] = {}  # noqa: RUF012


def make_log_functions(
    log: Callable[[LogRecord, int | None, Any], None],
) -> tuple[Callable[..., None], Callable[..., None]]:
    """Build the functions `log_result` and `log_segments` of a logger.

    log: a function that logs a record for a training step in a run; step and run may be None.
    """

    def log_result(
        result: Score | Iterable[Score] | Comparison | Report,
        *,
        prefix: str = "",
        step: int | None = None,
        run: Any = None,
    ) -> None:
        """Log a result under the names that `truebleu.integrations.log_records` describes.

        result: one or more scores; a comparison, logged with a table and a page; or a report,
            logged as a page.
        prefix: a prefix for all names, such as "dev".
        step: the training step. MLflow appends it to the names of pages and tables; W&B counts
            steps itself by default.
        run: a run id (MLflow) or a run (W&B); the active run by default.
        """
        log(make_result_record(result, prefix), step, run)

    def log_segments(
        metrics: str | Metric | Sequence[str | Metric],
        hypotheses: Sequence[str],
        references: Sequence[str | Sequence[str | None]],
        sources: Sequence[str] | None = None,
        *,
        prefix: str = "",
        step: int | None = None,
        run: Any = None,
    ) -> None:
        """Log a table of segments with their texts and scores, one row per segment.

        hypotheses: n strings. references: one or more strings for each. sources: n strings, for
            metrics that read sources. See `log_result` for the other arguments.
        """
        log(make_segments_record(metrics, hypotheses, references, sources, prefix), step, run)

    for function in (log_result, log_segments):
        function.__module__, function.__qualname__ = log.__module__, function.__name__
    return log_result, log_segments


def join_name_components(*components: str) -> str:
    """Join components with slashes into a name that all loggers accept.

    >>> join_name_components("my system", "chrF2++ tok:intl", "p")
    'my_system/chrF2pp_tok_intl/p'
    """
    texts = [component.strip("/").replace("+", "p") for component in components if component]
    return "/".join(re.sub(r"[^\w./-]", "_", text) for text in texts)


def make_result_record(result: Any, prefix: str = "") -> LogRecord:
    """Return the log record of scores, a comparison or a report. Raises InputError for duplicates.

    prefix: a prefix for all names, such as "dev".

    >>> from truebleu import BLEU
    >>> make_result_record(BLEU().score(["a b c d"], ["a b c d"]), "dev").metrics["dev/BLEU"]
    100.00000000000004
    """
    if isinstance(result, Report):
        return LogRecord(pages={join_name_components(prefix, "report"): result.html()})
    if isinstance(result, Comparison):
        content, columns = result.to_dict(), result.COLUMNS
        records = comparison_layout.build_records(content)
        rows: list[Row] = [[record.get(key) for key in columns] for record in records]
        name = join_name_components(prefix, "comparison")
        return LogRecord(
            _join_names(_list_comparison_values(content), prefix),
            _join_names(_list_comparison_settings(content), prefix),
            {name: (columns, rows)},
            {name: result.html()},
        )
    scores = [result] if isinstance(result, Score) else list(result)
    for score in scores:
        if not isinstance(score, Score):
            kind = type(score).__name__
            raise TypeError(f"expected scores, a comparison or a report, found {kind}")
    return LogRecord(
        _join_names((pair for score in scores for pair in _list_score_values(score)), prefix),
        _join_names((((s.name, "signature"), str(s.signature)) for s in scores), prefix),
    )


def make_segments_record(
    metrics: str | Metric | Sequence[str | Metric],
    hypotheses: Sequence[str],
    references: Sequence[str | Sequence[str | None]],
    sources: Sequence[str] | None = None,
    prefix: str = "",
) -> LogRecord:
    """Return a log record with a table of segments that contains their texts and scores.

    hypotheses: n strings. references: one or more strings for each. sources: n strings.
    """
    reference_lists = [[one] if isinstance(one, str) else list(one) for one in references]
    max_references = max(map(len, reference_lists), default=0)
    columns: dict[str, Sequence[Any]] = {"segment": range(1, len(hypotheses) + 1)}
    columns |= {} if sources is None else {"source": sources}
    columns["hypothesis"] = hypotheses
    for i in range(max_references):
        column = [one[i] if i < len(one) else None for one in reference_lists]
        columns[f"reference_{i + 1}" if max_references > 1 else "reference"] = column
    for metric in registry.resolve_metrics(metrics):
        options: Any = {"sources": sources} if metric.NEEDS_SOURCE else {}
        scores = metric.segments(hypotheses, as_segment_references(references), **options)
        columns[str(metric) if metric.name in columns else metric.name] = list(scores)
    rows: list[Row] = list(zip(*columns.values(), strict=True))
    return LogRecord(tables={join_name_components(prefix, "segments"): (tuple(columns), rows)})


def _list_score_values(score: Score) -> Iterator[tuple[tuple[str, ...], float]]:
    yield (score.name,), score.value
    for key, value in score.details().items():
        if isinstance(value, float):
            yield (score.name, key), value


def _list_comparison_values(content: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], float]]:
    for record in comparison_layout.build_records(content):
        path = (record["system"], record["metric"])
        yield path, record["score"]
        for key in ("low", "high", "difference", "p", "corrected_p"):
            if record.get(key) is not None:
                yield (*path, key), record[key]


def _list_comparison_settings(content: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    yield ("baseline",), str(content["baseline"])
    for metric in content["metrics"]:
        yield (metric["name"], "signature"), str(metric["signature"])


def _join_names(named_values: Iterable[tuple[tuple[str, ...], Any]], prefix: str) -> dict[str, Any]:
    values_by_name: dict[str, Any] = {}
    for path, value in named_values:
        key = join_name_components(prefix, *(component.replace("/", "_") for component in path))
        if key in values_by_name:
            raise InputError(f"duplicate name {key!r}. Log the values with different prefixes.")
        values_by_name[key] = value
    return values_by_name
