"""The functions that every engine has, made of the few that only it can write.

An engine's module writes `sums`, which counts its data, and `sentence`, and says how a table of
Arrow becomes a table of its own; `of_engine` makes the others.
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
from truebleu.engines.aggregates import Columns, Sums, SumsOptions, counter, given, names
from truebleu.metrics import registry
from truebleu.metrics.accumulator import require_additive
from truebleu.metrics.base import Metric

P = ParamSpec("P")
R = TypeVar("R")

# The metrics that have functions of their own.
NAMED = ("bleu", "chrf", "ter")

# The most characters of an error that quotes another program, and of a file's name in it.
MOST_TOLD = 300
MOST_NAMED = 160


def of_engine(
    sums: Callable[..., Sums],
    framed: Callable[[Any, Any, dict[str, Any]], Any],
    *,
    stats: Callable[..., Any] | None = None,
) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """The functions `score`, `stats` and `compare` of an engine.

    sums: the sums of its data. framed: makes a table of the engine of one of Arrow; it is also
        given the data, and the options of `sums`. stats: its own table of sums, if it has one that
        is not made of `sums`.
    """
    own = inspect.signature(sums).parameters
    of_sums = [name for name, one in own.items() if one.kind is one.KEYWORD_ONLY]
    of_sums += SumsOptions.__annotations__

    def score(
        data: Any,
        hyp: str = "hyp",
        ref: str | Sequence[str] = "ref",
        *,
        metric: str | Metric = "bleu",
        by: Columns = None,
        **options: Any,
    ) -> Any:
        """The score of all rows, a `Score`; with `by` a table of this engine, a row a group.

        metric: a metric, or a name, as `truebleu.metric` takes it.
        by: a column or several. The columns of the table are these, "score" (0-100), "segments" and
            "signature"; its rows are in the order of the keys, null first.
        options: those of `sums`, and parameters of the metric. Raises what `sums` raises, and
            InputError for nulls and for no rows.
        """
        known = {name: options.pop(name) for name in of_sums if name in options}
        made = registry.metric(metric, **options)
        found = sums(data, hyp, ref, metrics=made, by=by, **known)
        found.check()
        found.warn()
        return framed(found.table(), data, known) if names("by", by) else found.score()

    def own_stats(
        data: Any, hyp: str = "hyp", ref: str | Sequence[str] = "ref", **options: Any
    ) -> Any:
        """The sums as a table of this engine: a row for each group and metric.

        Arguments and options as for `sums`. What is stored, united and added up there comes back
        with `Sums.merge_state`. Raises what `sums` raises, and InputError for nulls.
        """
        found = sums(data, hyp, ref, **options)
        found.check()
        return framed(found, data, options)

    def compare(
        data: Any,
        hyp: str = "hyp",
        ref: str | Sequence[str] = "ref",
        *,
        by: Columns = "system",
        bucket: tuple[str, int],
        within: Columns = None,
        **options: Any,
    ) -> Any:
        """Tests of the differences between systems that are too large for a row a segment.

        by: the column, or columns, that say which system a row is of.
        bucket: the column of ids, and how many buckets these are put into (see `Sums`).
        within: columns of groups inside of which systems are compared; the result is then a dict
            from each group's key.
        options: those of `sums`, and those of `truebleu.engines.compare`, which says what comes of
            it. Raises what both raise.
        """
        known = {name: options.pop(name) for name in of_sums if name in options}
        groups = (*names("within", within), *names("by", by))
        found = sums(data, hyp, ref, by=groups, bucket=bucket, **known)
        found.check()
        found.warn()
        return hash_buckets.compare(found, within=within, **options)

    made = {"score": score, "stats": stats or own_stats, "compare": compare}
    for name, function in made.items():
        function.__module__ = sums.__module__
        function.__name__ = function.__qualname__ = name
    return score, made["stats"], compare


def named(function: Callable[P, R], metric: str) -> Callable[P, R]:
    """`function` with this metric: `corpus_bleu` of `score`, `sentence_bleu` of `sentence`."""

    def of_metric(*given: P.args, **options: P.kwargs) -> R:
        return function(*given, metric=metric, **options)  # type: ignore[arg-type]

    kind = {"score": "corpus"}.get(function.__name__, function.__name__)
    of_metric.__name__ = of_metric.__qualname__ = f"{kind}_{metric}"
    of_metric.__module__ = function.__module__
    of_metric.__doc__ = (
        f'`{function.__name__}` with metric="{metric}", and parameters of '
        f"`truebleu.{registry.get_metric_class(metric).__name__}`."
    )
    signature = inspect.signature(function)
    kept = [own for own in signature.parameters.values() if own.name != "metric"]
    of_metric.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
    return of_metric


# ---- scores of rows ----


def of_rows(metric: Any, **parameters: Any) -> Metric[Any]:
    """The metric, if it scores each row by itself; otherwise an error says why not."""
    known: Any = registry.metric(metric, **parameters)
    return require_additive(known) if known.NEEDS_SOURCE or known.NOT_ADDITIVE else known


class RowScores:
    """The score of each row of a table of Arrow: a column for whoever reads it, null without text.

    frame: whatever gives rows by the Arrow PyCapsule protocol. hyp, refs: its columns.
    """

    def __init__(self, metric: Metric[Any], frame: Any, hyp: str, refs: Sequence[str]) -> None:
        part = (metric.fingerprint, metric.constraints, counter(metric))
        groups = _kernel.Groups([part], hyp, list(refs), [], None, by_row=True)
        groups.update(given(frame, "rows", [hyp, *refs]), 1)
        segments, hypotheses, references, seen = groups.counted()
        self.nulls = {hyp: hypotheses, ", ".join(refs): references}
        table, self._there = groups.rows()
        self._scores: Sequence[float] = ()
        if segments:
            metric.check_summary({"segments": segments, "references": seen}, None)  # type: ignore[typeddict-item]
            self._scores = metric._scores(table, segment=True).tolist()  # noqa: SLF001

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._there)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """A structure of one column, "score" (PyCapsule protocol)."""
        return _kernel.scores_of_rows(self._scores, self._there)


def columns_of(ref: Any) -> list[Any]:
    """The columns of references that a row's score is given: one, or several."""
    refs = list(ref) if isinstance(ref, list | tuple) else [ref]
    if not refs:
        raise InputError("ref: no columns; name at least one")
    return refs


def scores_of(metric: Metric[Any], hypotheses: Any, *references: Any) -> Any:
    """The score of each row of columns of pyarrow, as such a column; null without text."""
    import pyarrow as pa

    names = ["hypotheses", *(f"references {number}" for number, _ in enumerate(references, 1))]
    rows = pa.table([hypotheses, *references], names=names)
    return pa.record_batch(RowScores(metric, rows, names[0], names[1:])).column(0)


# ---- calls that other machines run ----


def shipped(
    cloudpickle: Any, module: str, task: str, argument: object, advice: str, refuse: Any
) -> Callable[..., Any]:
    """The function `task` of a module, with this argument before what a worker gives it.

    What is sent names nothing of this package (a nested function goes by value, and the argument as
    bytes), so that it arrives where truebleu is missing or differs, and can say so.

    cloudpickle: the engine's; tokenizers of one's own may be functions that only it can send.
    advice: how truebleu comes to the workers. refuse: is called with what is wrong; a nested
        function as well.
    """
    here, python = __version__, sys.version_info[:2]
    content = cloudpickle.dumps(argument)

    def run(*columns):  # type: ignore[no-untyped-def]
        import pickle
        import platform
        import sys
        from importlib import import_module

        problem = ""
        if sys.version_info[:2] != python:
            theirs, ours = ("{}.{}".format(*version) for version in (sys.version_info, python))
            problem = f"runs Python {theirs}, and here is {ours}; they must be the same"
        else:
            try:
                import truebleu

                worker = import_module(module)
            except ImportError as error:
                problem = f"cannot import truebleu ({error}); {advice}"
            else:
                if truebleu.__version__ != here:
                    problem = f"has truebleu {truebleu.__version__}, and here is {here}; {advice}"
        if problem:
            return refuse(f"the worker on {platform.node()} {problem}")
        return getattr(worker, task)(pickle.loads(content), *columns)

    return run


# ---- messages ----


def release(version: str) -> tuple[int, ...]:
    """The first two parts of an engine's version, to compare."""
    return tuple(map(int, re.findall(r"\d+", version)[:2]))


def told(where: str, what: str) -> str:
    """An error's message: where it was, and what another program says of it, on one short line."""
    where = where if len(where) <= MOST_NAMED else f"…{where[1 - MOST_NAMED :]}"
    line = " ".join(f"{where}: {what}".split()) if where else " ".join(what.split())
    return line if len(line) <= MOST_TOLD else f"{line[: MOST_TOLD - 4]} ..."


def several(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    first, *others = names
    return f"{first} and {len(others):,} more" if others else first


def shown(id_: Sequence[Any]) -> str:
    """An id for a message."""
    return ", ".join("null" if part is None else str(part)[:40] for part in id_)
