"""Functions that every engine offers, built from the few functions that the engine defines.

An engine's module defines `sums` (which aggregates its data), `sentence`, and a conversion of Arrow
tables to the engine's tables. `make_engine_functions` builds the other functions.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from truebleu import _kernel
from truebleu._kernel import InputError, __version__
from truebleu.engines import hash_buckets
from truebleu.engines.aggregates import (
    ColumnNames,
    Sums,
    SumsOptions,
    as_column_names,
    make_row_counter,
    to_kernel_frame,
)
from truebleu.metrics import registry
from truebleu.metrics.accumulator import require_additive_metric
from truebleu.metrics.base import Metric
from truebleu.text.argument_checks import check_keywords

P = ParamSpec("P")
R = TypeVar("R")

# Metrics that also have separate functions, such as `corpus_bleu`.
SHORTCUT_METRICS = ("bleu", "chrf", "ter")

# Maximum length of an error message that quotes another program, and maximum length of a path in
# the message.
MAX_MESSAGE_CHARACTERS = 300
MAX_PATH_CHARACTERS = 160


def make_engine_functions(
    sums: Callable[..., Sums],
    to_engine_table: Callable[[Any, Any, dict[str, Any]], Any],
    *,
    stats: Callable[..., Any] | None = None,
) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """Build the functions `score`, `stats` and `compare` of an engine.

    sums: the engine's function that aggregates its data. to_engine_table: converts an Arrow table
        to a table of the engine, given the table, the data and the options of `sums`. stats: the
        engine's state table function, if it does not derive from `sums`.
    """
    parameters = inspect.signature(sums).parameters
    sums_options = [name for name, one in parameters.items() if one.kind is one.KEYWORD_ONLY]
    sums_options += SumsOptions.__annotations__

    def score(
        data: Any,
        hyp: str = "hyp",
        ref: str | Sequence[str] = "ref",
        *,
        metric: str | Metric = "bleu",
        by: ColumnNames = None,
        **options: Any,
    ) -> Any:
        """Return the `Score` of all rows or, with `by`, a table with one score per group.

        metric: a metric, or a name that `truebleu.metric` accepts.
        by: one or more columns. The result table has these columns, "score" (0-100), "segments" and
            "signature". Its rows are sorted by key, null first.
        options: options of `sums`, and parameters of the metric. Raises the errors of `sums`, and
            InputError for nulls and empty data.
        """
        check_keywords("score", options.keys() & {"metrics"}, ("metric", "by"))
        passed_options = {name: options.pop(name) for name in sums_options if name in options}
        resolved_metric = registry.metric(metric, **options)
        totals = sums(data, hyp, ref, metrics=resolved_metric, by=by, **passed_options)
        totals.check()
        totals.warn()
        if not as_column_names("by", by):
            return totals.score()
        return to_engine_table(totals.table(), data, passed_options)

    def compute_stats(
        data: Any, hyp: str = "hyp", ref: str | Sequence[str] = "ref", **options: Any
    ) -> Any:
        """Return the aggregated statistics as a table of this engine, one row per group and metric.

        Accepts the arguments of `sums`. The engine can store, concatenate and aggregate the
        table; `Sums.merge_state` reads it. Raises the errors of `sums`, and InputError for nulls.
        """
        totals = sums(data, hyp, ref, **options)
        totals.check()
        return to_engine_table(totals, data, options)

    def compare(
        data: Any,
        hyp: str = "hyp",
        ref: str | Sequence[str] = "ref",
        *,
        by: ColumnNames = "system",
        bucket: tuple[str, int],
        within: ColumnNames = None,
        **options: Any,
    ) -> Any:
        """Test differences between systems that have too many segments to keep a row for each.

        by: the column or columns that identify a row's system.
        bucket: the id column, and the number of buckets (see `Sums`).
        within: columns to group by; groups are compared separately. The result is then a dict by
            group key.
        options: options of `sums` and of `truebleu.engines.compare`, which documents the result.
            Raises the errors of both.
        """
        passed_options = {name: options.pop(name) for name in sums_options if name in options}
        group_columns = (*as_column_names("within", within), *as_column_names("by", by))
        totals = sums(data, hyp, ref, by=group_columns, bucket=bucket, **passed_options)
        totals.check()
        totals.warn()
        return hash_buckets.compare(totals, within=within, **options)

    functions = (score, stats or compute_stats, compare)
    for name, function in zip(("score", "stats", "compare"), functions, strict=True):
        function.__module__ = sums.__module__
        function.__name__ = function.__qualname__ = name
    return functions


def bind_metrics(function: Callable[P, R]) -> list[Callable[P, R]]:
    """Return `function` with each of the `SHORTCUT_METRICS`, such as `corpus_bleu` for `score`."""
    return [_bind_metric(function, metric) for metric in SHORTCUT_METRICS]


def _bind_metric(function: Callable[P, R], metric: str) -> Callable[P, R]:

    def call_with_metric(*arguments: P.args, **options: P.kwargs) -> R:
        return function(*arguments, metric=metric, **options)  # type: ignore[arg-type]

    prefix = {"score": "corpus"}.get(function.__name__, function.__name__)
    call_with_metric.__name__ = call_with_metric.__qualname__ = f"{prefix}_{metric}"
    call_with_metric.__module__ = function.__module__
    call_with_metric.__doc__ = (
        f'Call `{function.__name__}` with metric="{metric}"; this also accepts the parameters of '
        f"`truebleu.{registry.get_metric_class(metric).__name__}`."
    )
    signature = inspect.signature(function)
    parameters = [one for name, one in signature.parameters.items() if name != "metric"]
    call_with_metric.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return call_with_metric


# ---- sentence-level scores ----


def resolve_row_metric(metric: Any, **parameters: Any) -> Metric[Any]:
    """Return a metric that can score single rows, or raise an error that explains the obstacle."""
    row_metric: Any = registry.metric(metric, **parameters)
    if row_metric.NEEDS_SOURCE or row_metric.NON_ADDITIVE_REASON:
        return require_additive_metric(row_metric)
    return row_metric  # type: ignore[no-any-return]


class RowScores:
    """Arrow column with the score of each row of an Arrow table, or null for rows without text.

    frame: any object that supports the Arrow PyCapsule protocol. hyp, refs: the names of its text
        columns.
    """

    def __init__(self, metric: Metric[Any], frame: Any, hyp: str, refs: Sequence[str]) -> None:
        kernel_metric = (metric.fingerprint, metric.constraints, make_row_counter(metric))
        groups = _kernel.Groups([kernel_metric], hyp, list(refs), [], None, by_row=True)
        groups.update(to_kernel_frame(frame, "rows", [hyp, *refs]), 1)
        segments, hypotheses, references, seen = groups.counted()
        self.nulls = {hyp: hypotheses, ", ".join(refs): references}
        table, self._has_text = groups.rows()
        self._scores: Sequence[float] = ()
        if segments:
            metric.check_summary({"segments": segments, "references": seen}, None)  # type: ignore[typeddict-item]
            self._scores = metric._compute_scores(table, segment=True).tolist()  # noqa: SLF001

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._has_text)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Export the scores as a struct array with one field, "score" (PyCapsule protocol)."""
        return _kernel.scores_of_rows(self._scores, self._has_text)


def as_reference_columns(ref: Any) -> list[Any]:
    """Convert the argument `ref` to a list of columns. Raises InputError if it is empty."""
    refs = list(ref) if isinstance(ref, list | tuple) else [ref]
    if not refs:
        raise InputError("ref: expected at least one reference column, found none")
    return refs


def score_arrow_columns(metric: Metric[Any], hypotheses: Any, *references: Any) -> Any:
    """Return the score of each row of pyarrow columns, or null for rows without text."""
    import pyarrow as pa

    names = ["hypotheses", *(f"references {number}" for number, _ in enumerate(references, 1))]
    rows = pa.table([hypotheses, *references], names=names)
    return pa.record_batch(RowScores(metric, rows, names[0], names[1:])).column(0)


# ---- calls that remote workers run ----


def make_worker_call(
    cloudpickle: Any, module: str, task: str, argument: object, advice: str, raise_error: Any
) -> Callable[..., Any]:
    """Return a serializable function that calls `task` with this argument and a worker's columns.

    The pickled function does not refer to this package: a nested function is pickled by value, and
    the argument is stored as bytes. It can therefore report a missing or mismatched truebleu.

    cloudpickle: the engine's cloudpickle module. Unlike pickle, it supports tokenizers that are
        local functions or lambdas.
    advice: how to install truebleu on the workers. raise_error: a function that raises an error
        with a description of the problem; it must also be a nested function.
    """
    driver_version, driver_python = __version__, sys.version_info[:2]
    content = cloudpickle.dumps(argument)

    def call_task(*columns):  # type: ignore[no-untyped-def]
        import pickle
        import platform
        import sys
        from importlib import import_module

        problem = ""
        if sys.version_info[:2] != driver_python:
            worker_python, expected_python = (
                "{}.{}".format(*version) for version in (sys.version_info, driver_python)
            )
            problem = f"runs Python {worker_python} (expected {expected_python}, as on the driver)"
        else:
            try:
                import truebleu

                worker = import_module(module)
            except ImportError as error:
                problem = f"cannot import truebleu ({error}); {advice}"
            else:
                if truebleu.__version__ != driver_version:
                    version = truebleu.__version__
                    problem = f"has truebleu {version} (expected {driver_version}); {advice}"
        if problem:
            return raise_error(f"the worker on {platform.node()} {problem}")
        return getattr(worker, task)(pickle.loads(content), *columns)

    return call_task


# ---- messages ----


def parse_release(version: str) -> tuple[int, ...]:
    """Return the first two components of an engine's version, for comparisons."""
    return tuple(map(int, re.findall(r"\d+", version)[:2]))


def format_error(location: str, problem: str) -> str:
    """Format another program's error message as one short line that starts with the location."""
    if len(location) > MAX_PATH_CHARACTERS:
        location = f"…{location[1 - MAX_PATH_CHARACTERS :]}"
    line = " ".join(f"{location}: {problem}".split()) if location else " ".join(problem.split())
    too_long = len(line) > MAX_MESSAGE_CHARACTERS
    return f"{line[: MAX_MESSAGE_CHARACTERS - 4]} ..." if too_long else line


def abbreviate_names(names: Sequence[str]) -> str:
    """Return the first name and the number of other names, for a message."""
    first, *remaining = names
    return f"{first} and {len(remaining):,} more" if remaining else first
