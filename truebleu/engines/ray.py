"""Scoring of Ray datasets: tasks count their blocks locally, and only statistics are transferred.

Every task converts a block of rows to the state table of `Sums`, with one row per group; the driver
merges these tables as they arrive. No text is shuffled. Statistics are integers, so the result does
not depend on the blocks, their order, the number of workers or repeated tasks.

`import truebleu.engines.ray` does not import Ray. The functions of the module do.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Unpack

from truebleu._kernel import InputError, __version__
from truebleu.engines.aggregates import (
    ColumnNames,
    NullPolicy,
    Sums,
    SumsOptions,
    as_column_names,
    describe_nulls,
)
from truebleu.engines.common_api import (
    RowScores,
    bind_metrics,
    format_error,
    make_engine_functions,
    make_worker_call,
    parse_release,
    resolve_row_metric,
)
from truebleu.metrics import registry
from truebleu.metrics.base import Metric

MIN_RAY_RELEASE = (2, 44)
"""The oldest supported release of Ray."""

WHOLE_BLOCK_OPTIONS: dict[str, Any] = {
    "batch_format": "pyarrow",
    "batch_size": None,
    "zero_copy_batch": True,
}
"""Options of `map_batches` that pass blocks to tasks without splitting, joining or copying them."""

INSTALL_ADVICE = (
    f"install truebleu {__version__} on every node, or start Ray with "
    f"ray.init(runtime_env={{'pip': ['truebleu=={__version__}']}}), or with "
    "{'py_modules': [path of its wheel]} if there is no network"
)


def sums(
    data: Any,
    hyp: str = "hyp",
    ref: str | Sequence[str] = "ref",
    *,
    task: Mapping[str, Any] = MappingProxyType({}),
    **options: Unpack[SumsOptions],
) -> Sums:
    """Return the statistics of a dataset, aggregated per group and metric.

    data: a ray.data.Dataset from any source. It is executed once, during this call.
    hyp, ref: the hypothesis column contains strings. The reference column contains strings or lists
        of strings; there may be several reference columns of strings, one per reference.
    task: other arguments of `Dataset.map_batches`: num_cpus, memory, concurrency, runtime_env ...
    options: `source`, `by`, `metrics`, `nulls` and `bucket`, as for `Sums`.

    The driver holds one row of statistics per group, and no text. Raises InputError for columns
    that are missing or have the wrong type, and for unreadable files, which it names. Raises
    TypeError if `data` is not a dataset, ImportError if Ray or truebleu is missing here or on a
    worker, and RuntimeError if Ray loses a worker or a machine. Nulls and empty data raise an error
    when a score is computed (`Sums.check`).
    """
    _require_dataset(data)
    totals = Sums(hyp=hyp, ref=ref, **options)
    states = _check_columns(data, totals).map_batches(
        _make_task("sum_block", totals), **WHOLE_BLOCK_OPTIONS, **task
    )
    with _shorten_errors():
        for batch in states.iter_batches(batch_format="pyarrow", batch_size=None):
            for answer in batch["answer"].to_pylist():
                total = pickle.loads(answer)
                if isinstance(total, Exception):
                    raise total
                totals.merge_bytes(total)
    return totals


def _to_dataset(table: Any, *_: Any) -> Any:
    """Convert an Arrow table to a dataset."""
    import pyarrow as pa
    import ray

    return ray.data.from_arrow(pa.table(table))


score, stats, compare = make_engine_functions(sums, _to_dataset)


def sentence(
    data: Any,
    hyp: str = "hyp",
    ref: str | Sequence[str] = "ref",
    column: str | None = None,
    *,
    metric: str | Metric = "bleu",
    nulls: NullPolicy = "raise",
    **parameters: Any,
) -> Any:
    """Return the dataset with a column of sentence-level scores, as computed by `metric.sentence`.

    The computation is lazy. With `nulls="skip"`, the score of a row without a hypothesis or without
    any reference is null; with "raise" the task raises InputError. column: the name of the new
    column (default: the metric name in lower case). metric: a metric, or a name that
    `truebleu.metric` accepts. parameters: parameters of the metric.
    """
    _require_dataset(data)
    row_metric = resolve_row_metric(metric, **parameters)
    column = column or row_metric.NAME.lower()
    _require_new_column(column, data.columns(fetch_if_missing=False) or ())
    _check_columns(data, Sums(hyp=hyp, ref=ref, nulls=nulls))
    options = {"metric": row_metric, "hyp": hyp, "ref": ref, "nulls": nulls, "column": column}
    return data.map_batches(_make_task("score_block", options), **WHOLE_BLOCK_OPTIONS)


corpus_bleu, corpus_chrf, corpus_ter = bind_metrics(score)
sentence_bleu, sentence_chrf, sentence_ter = bind_metrics(sentence)


# ---- in the driver ----


def _require_dataset(dataset: object) -> None:
    try:
        import ray
        from ray.data import Dataset
    except ImportError as error:
        raise ImportError(
            f"truebleu.engines.ray needs Ray Data: pip install 'truebleu[ray]' ({error})"
        ) from error
    if parse_release(ray.__version__) < MIN_RAY_RELEASE:
        raise ImportError(
            f"truebleu.engines.ray needs Ray {MIN_RAY_RELEASE[0]}.{MIN_RAY_RELEASE[1]} or newer, "
            f"found {ray.__version__}: pip install --upgrade 'ray[data]'"
        )
    if not isinstance(dataset, Dataset):
        advice = "use ray.data.from_arrow, from_pandas or read_parquet"
        if type(dataset).__name__ == "GroupedData":
            advice = "pass the ungrouped dataset, and set by= to group it"
        raise TypeError(
            f"data: expected a ray.data.Dataset, found {type(dataset).__name__}; {advice}"
        )


def _check_columns(dataset: Any, sums: Sums) -> Any:
    """Return the required columns, after checking that they exist and have the right types.

    An unknown schema is not computed, because Ray would execute a part of the dataset, which may
    run a language model. The tasks check their blocks anyway.
    """
    import pyarrow as pa
    from ray.data.dataset import MaterializedDataset

    try:
        schema = dataset.schema(fetch_if_missing=False)
    except pa.ArrowTypeError:  # Ray cannot unify blocks with different layouts.
        return dataset
    schema = schema and schema.base_schema
    if not isinstance(schema, pa.Schema):
        return dataset
    sums.spawn().update(schema.empty_table())
    if isinstance(dataset, MaterializedDataset):  # in memory already
        return dataset
    return dataset.select_columns(list(sums.columns))  # Ray then reads only these columns


@contextmanager
def _shorten_errors() -> Iterator[None]:
    """Replace Ray's errors about files and machines with one-line exceptions.

    Errors in the user's own functions stay unchanged, because the user needs the stack trace.
    """
    from ray.exceptions import RayError, RayTaskError

    try:
        yield
    except RayError as error:
        message = str(getattr(error, "cause", error))
        match = re.search(r"^.* source '([^']+)': |Failed to read fragment (\S+)", message)
        if match:
            problem = message[: match.start()] or message[match.end() :]
            raise InputError(format_error(match[1] or match[2], problem)) from None
        if isinstance(error, RayTaskError):
            raise
        raise RuntimeError(format_error("Ray", f"{type(error).__name__}: {message}")) from None


def _make_task(task: str, argument: object) -> Callable[[Any], Any]:
    """Return a serializable function that calls `task` with this argument and a block."""
    from ray import cloudpickle

    def raise_worker_error(message: str) -> Any:
        error = ImportError(message)
        if task != "sum_block":
            raise error
        import pickle

        import pyarrow as pa

        return pa.table({"answer": pa.array([pickle.dumps(error)], pa.large_binary())})

    return make_worker_call(
        cloudpickle, __name__, task, argument, INSTALL_ADVICE, raise_worker_error
    )


# ---- in the tasks ----


def sum_block(sums: Sums, block: Any) -> Any:
    """Return the statistics of a block, or the error that it caused, as a table with one row.

    Errors are returned as values, because Ray would wrap each in two exceptions and print the
    worker's stack trace. Statistics are bytes, because Ray cannot concatenate keys of different
    types; `Sums` compares the types.
    """
    import pyarrow as pa

    answers = []
    if block.num_columns:  # Ray may drop the columns of an empty block.
        result: bytes | Exception
        try:
            result = sums.update(block).to_bytes()
        except (InputError, TypeError) as error:
            result = error
        answers.append(pickle.dumps(result))
    return pa.table({"answer": pa.array(answers, pa.large_binary())})


def score_block(options: Mapping[str, Any], block: Any) -> Any:
    """Return the block with a column of sentence-level scores."""
    import pyarrow as pa

    _require_new_column(options["column"], block.column_names)
    if not block.num_columns:
        return block
    refs = as_column_names("ref", options["ref"])
    scores = RowScores(options["metric"], block, options["hyp"], refs)
    if options["nulls"] == "raise" and any(scores.nulls.values()):
        raise InputError(
            f"{describe_nulls(scores.nulls)}, in a block of {block.num_rows:,} rows. Remove these "
            "rows first, or set nulls='skip' to give them null scores."
        )
    return block.append_column(options["column"], pa.record_batch(scores).column(0))


def _require_new_column(column: str, columns: Sequence[str]) -> None:
    if column in columns:
        raise InputError(f"duplicate column '{column}'. Use another name: column=...")


# ---- for Dataset.aggregate ----


def __getattr__(name: str) -> Any:
    """Create `CorpusScore` on first use, because its base class requires Ray."""
    if name != "CorpusScore":
        raise AttributeError(f"module 'truebleu.engines.ray' has no attribute '{name}'")
    return globals().setdefault(name, _define_corpus_score())


def _define_corpus_score() -> type:
    import pyarrow as pa
    from ray.data.aggregate import AggregateFnV2
    from ray.data.block import BlockAccessor

    class CorpusScore(AggregateFnV2):  # type: ignore[misc]
        """Ray aggregation that scores a whole dataset: `ds.aggregate(CorpusScore(), Count())`.

        hyp, ref, by, nulls: see `sums`. metric, parameters: see `score`.
        name: the name of the result (default: the metric name in lower case).

        The result is a number; with `by` it is a list of dicts, one per group, with the columns of
        `score`. Tasks return statistics, not text. Do not use it with `ds.groupby(...)`, which
        shuffles the text and passes only one column to an aggregation: use `by` instead. Ray's
        aggregations wait for the complete dataset, so `stats` is cheaper.
        """

        def __init__(
            self,
            hyp: str = "hyp",
            ref: str | Sequence[str] = "ref",
            by: ColumnNames = None,
            *,
            metric: str | Metric = "bleu",
            name: str | None = None,
            nulls: NullPolicy = "raise",
            **parameters: Any,
        ) -> None:
            resolved_metric = registry.metric(metric, **parameters)
            keys = as_column_names("by", by)
            self._sums = Sums(resolved_metric, hyp=hyp, ref=ref, by=keys, nulls=nulls)
            name = name or resolved_metric.NAME.lower()
            super().__init__(name, bytes, on=None, ignore_nulls=False)

        def aggregate_block(self, block: Any) -> bytes:
            """Return the statistics of a block."""
            table = BlockAccessor.for_block(block).to_arrow()
            try:
                return self._sums.spawn().update(table).to_bytes()
            except InputError as error:
                raise InputError(
                    f"{error} (groupby() passes only the key to an aggregation: use by= instead)"
                ) from None

        def combine(self, current_accumulator: bytes, new: bytes) -> bytes:
            """Merge two sets of serialized statistics."""
            sums = self._sums.spawn()
            for part in filter(None, (current_accumulator, new)):
                sums.merge_bytes(part)
            return sums.to_bytes()

        def finalize(self, accumulator: bytes) -> Any:
            """Return the score, or the scores of the groups."""
            sums = self._sums.spawn()
            if accumulator:
                sums.merge_bytes(accumulator)
            return pa.table(sums.table()).to_pylist() if sums.by else sums.score().value

        # Older releases of Ray call this method by its private name.
        _finalize = finalize

    CorpusScore.__qualname__ = "CorpusScore"
    return CorpusScore
