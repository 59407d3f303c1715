"""What loggers of experiments keep of a result: flat names of numbers, parameters, tables, pages.

A score is `BLEU`; of a comparison, `aspen/BLEU` with `aspen/BLEU/low`, `…/high`, `…/difference` and
`…/p`. Signatures are parameters: a logger that is told another one in the same run says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from truebleu._kernel import InputError
from truebleu.comparison import Comparison, comparison_layout
from truebleu.integrations import of_segments
from truebleu.metrics import registry
from truebleu.metrics.base import Metric, Score
from truebleu.reports import Report

Row = Sequence[Any]


class Logged(NamedTuple):
    """What is to be logged, each by its flat name."""

    metrics: dict[str, float] = {}  # noqa: RUF012 - of a tuple
    params: dict[str, str] = {}  # noqa: RUF012
    # The names of columns, and the rows.
    tables: dict[str, tuple[Row, list[Row]]] = {}  # noqa: RUF012
    pages: dict[str, str] = {}  # noqa: RUF012


def log_functions(
    log: Callable[[Logged, int | None, Any], None],
) -> tuple[Callable[..., None], Callable[..., None]]:
    """The functions `log_result` and `log_segments` of a logger.

    log: logs what is given, at a step, to a run; both may be None.
    """

    def log_result(
        result: Score | Iterable[Score] | Comparison | Report,
        *,
        prefix: str = "",
        step: int | None = None,
        run: Any = None,
    ) -> None:
        """Logs a result; `truebleu.integrations.log_records` says under which names.

        result: a score or several; a comparison, with a table and a page; or a report, a page.
        prefix: what all names begin with, as "dev".
        step: of the training. MLflow's pages and tables then have it in their names; W&B counts if
            it is not given.
        run: the id of a run (MLflow), or a run (W&B); the active one if not given.
        """
        log(of_result(result, prefix), step, run)

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
        """Logs a table: a row per segment, its texts and its score by each metric.

        hypotheses: n strings; references: for each a string or several; sources: n strings, for
            metrics that read them. Other arguments as for `log_result`.
        """
        log(of_texts(metrics, hypotheses, references, sources, prefix), step, run)

    for function in (log_result, log_segments):
        function.__module__, function.__qualname__ = log.__module__, function.__name__
    return log_result, log_segments


def name(*parts: str) -> str:
    """A name that all loggers take, of parts with a slash between them.

    >>> name("dev/", "chrF2++"), name("my system", "BLEU tok:intl", "p")
    ('dev/chrF2pp', 'my_system/BLEU_tok_intl/p')
    """
    return "/".join(
        re.sub(r"[^\w./-]", "_", part.strip("/").replace("+", "p")) for part in parts if part
    )


def of_result(result: Any, prefix: str = "") -> Logged:
    """A score, several, a comparison, or a report; InputError for names that become the same.

    prefix: what all names begin with, as "dev".

    >>> from truebleu import BLEU
    >>> of_result(BLEU().score(["a b c d"], ["a b c d"]), "dev").metrics["dev/BLEU"]
    100.00000000000004
    """
    if isinstance(result, Report):
        return Logged(pages={name(prefix, "report"): result.html()})
    if isinstance(result, Comparison):
        content = result.to_dict()
        columns = result.COLUMNS
        rows: list[Row] = [
            [one.get(key) for key in columns] for one in comparison_layout.build_records(content)
        ]
        return Logged(
            _named(_of_comparison(content), prefix),
            _named(_of_request(content), prefix),
            {name(prefix, "comparison"): (columns, rows)},
            {name(prefix, "comparison"): result.html()},
        )
    scores = [result] if isinstance(result, Score) else list(result)
    for one in scores:
        if not isinstance(one, Score):
            raise TypeError(
                f"expected a score, several, a comparison or a report, not {type(one).__name__}"
            )
    return Logged(
        _named((pair for one in scores for pair in _of_score(one)), prefix),
        _named((((one.name, "signature"), str(one.signature)) for one in scores), prefix),
    )


def of_texts(
    metrics: str | Metric | Sequence[str | Metric],
    hypotheses: Sequence[str],
    references: Sequence[str | Sequence[str | None]],
    sources: Sequence[str] | None = None,
    prefix: str = "",
) -> Logged:
    """A table of segments, with their texts and the score of each by each metric.

    hypotheses: n strings; references: for each a string, or several; sources: n strings.
    """
    known = [[one] if isinstance(one, str) else list(one) for one in references]
    most = max(map(len, known), default=0)
    columns: dict[str, Sequence[Any]] = {"segment": range(1, len(hypotheses) + 1)}
    columns |= {} if sources is None else {"source": sources}
    columns["hypothesis"] = hypotheses
    for i in range(most):
        column = [one[i] if i < len(one) else None for one in known]
        columns[f"reference_{i + 1}" if most > 1 else "reference"] = column
    for metric in registry.resolve_metrics(metrics):
        given: Any = {"sources": sources} if metric.NEEDS_SOURCE else {}
        scores = metric.segments(hypotheses, of_segments(references), **given)
        columns[str(metric) if metric.name in columns else metric.name] = list(scores)
    rows: list[Row] = list(zip(*columns.values(), strict=True))
    return Logged(tables={name(prefix, "segments"): (tuple(columns), rows)})


def _of_score(score: Score) -> Iterator[tuple[tuple[str, ...], float]]:
    yield (score.name,), score.value
    for key, value in score.details().items():
        if isinstance(value, float):
            yield (score.name, key), value


def _of_comparison(content: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], float]]:
    for one in comparison_layout.build_records(content):
        place = (one["system"], one["metric"])
        yield place, one["score"]
        for key in ("low", "high", "difference", "p", "corrected_p"):
            if one.get(key) is not None:
                yield (*place, key), one[key]


def _of_request(content: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    yield ("baseline",), str(content["baseline"])
    for metric in content["metrics"]:
        yield (metric["name"], "signature"), str(metric["signature"])


def _named(pairs: Iterable[tuple[tuple[str, ...], Any]], prefix: str = "") -> dict[str, Any]:
    made: dict[str, Any] = {}
    for parts, value in pairs:
        key = name(prefix, *(part.replace("/", "_") for part in parts))
        if key in made:
            raise InputError(f"two numbers would be called {key!r}; log them with a prefix each")
        made[key] = value
    return made
