"""truebleu over Ray Data: tasks count their blocks where they lie, and only totals travel.

Every task turns a block of rows into the state table of `Sums`, a row for each group; the driver
adds these up as they come. No text is shuffled, and because totals are integers the result is the
same for any blocks, order of blocks and number of workers, and when Ray runs a task again.

`import truebleu.engines.ray` does not import Ray; using it does.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Unpack

from truebleu._kernel import InputError, __version__
from truebleu.engines.aggregates import Columns, Nulls, Sums, SumsOptions, names, told_nulls
from truebleu.engines.common_api import (
    NAMED,
    RowScores,
    named,
    of_engine,
    of_rows,
    release,
    shipped,
    told,
)
from truebleu.metrics import registry
from truebleu.metrics.base import Metric

OLDEST = (2, 44)
"""The oldest release of Ray that this was tried with."""

BLOCKS: dict[str, Any] = {"batch_format": "pyarrow", "batch_size": None, "zero_copy_batch": True}
"""A task is given its blocks as they are: nothing is cut, joined or copied."""

SHIPPING = (
    f"install truebleu {__version__} on every node, or start Ray with "
    f"ray.init(runtime_env={{'pip': ['truebleu=={__version__}']}}), or with "
    "{'py_modules': [path of its wheel]} where there is no network"
)


def sums(
    data: Any,
    hyp: str = "hyp",
    ref: str | Sequence[str] = "ref",
    *,
    task: Mapping[str, Any] = MappingProxyType({}),
    **options: Unpack[SumsOptions],
) -> Sums:
    """The totals of a dataset, for each group and metric.

    data: a ray.data.Dataset, from whatever it was read or made. It runs once, here.
    hyp, ref: a column of strings; a column of strings or of lists of strings, or several columns of
        strings, one a reference.
    task: what else `Dataset.map_batches` takes: num_cpus, memory, concurrency, runtime_env ...
    options: `by`, `metrics`, `nulls` and `bucket`, as for `Sums`.

    The driver holds one total for each group, and no text. Raises InputError for columns that are
    not there or have another type, TypeError for what is not a dataset, ImportError for Ray or
    truebleu missing here or on a worker, InputError for a file that cannot be read, naming it, and
    RuntimeError for a worker or a machine that Ray gave up. Nulls and empty data are told by
    `Sums.check`, which every score calls.
    """
    _require_dataset(data)
    found = Sums(hyp=hyp, ref=ref, **options)
    states = _checked(data, found).map_batches(_in_task("state_of", found), **BLOCKS, **task)
    with _short():
        for answers in states.iter_batches(batch_format="pyarrow", batch_size=None):
            for answer in answers["answer"].to_pylist():
                total = pickle.loads(answer)
                if isinstance(total, Exception):
                    raise total
                found.merge_bytes(total)
    return found


def _dataset(table: Any, *_: Any) -> Any:
    """A table of Arrow as a dataset."""
    import pyarrow as pa
    import ray

    return ray.data.from_arrow(pa.table(table))


score, stats, compare = of_engine(sums, _dataset)


def sentence(
    data: Any,
    hyp: str = "hyp",
    ref: str | Sequence[str] = "ref",
    column: str | None = None,
    *,
    metric: str | Metric = "bleu",
    nulls: Nulls = "raise",
    **parameters: Any,
) -> Any:
    """The dataset with a column more: the score of each row, as `metric.sentence` gives it.

    Nothing runs before the dataset is used. With `nulls="skip"` the score of a row without a
    hypothesis or without any reference is null; with "raise" the task raises InputError.
    column: its name; that of the metric in small letters by default.
    metric: a metric, or a name, as `truebleu.metric` takes it; parameters: of the metric.
    """
    _require_dataset(data)
    made = of_rows(metric, **parameters)
    column = column or made.NAME.lower()
    _refuse_taken(column, data.columns(fetch_if_missing=False) or ())
    _checked(data, Sums(hyp=hyp, ref=ref, nulls=nulls))
    options = {"metric": made, "hyp": hyp, "ref": ref, "nulls": nulls, "column": column}
    return data.map_batches(_in_task("scored", options), **BLOCKS)


corpus_bleu, corpus_chrf, corpus_ter = (named(score, name) for name in NAMED)
sentence_bleu, sentence_chrf, sentence_ter = (named(sentence, name) for name in NAMED)


# ---- in the driver ----


def _require_dataset(ds: object) -> None:
    try:
        import ray
        from ray.data import Dataset
    except ImportError as error:
        raise ImportError(
            f"truebleu.engines.ray needs Ray Data: pip install 'truebleu[ray]' ({error})"
        ) from error
    if release(ray.__version__) < OLDEST:
        raise ImportError(
            f"truebleu.engines.ray needs Ray {OLDEST[0]}.{OLDEST[1]} or newer, and this is "
            f"{ray.__version__}: pip install --upgrade 'ray[data]'"
        )
    if not isinstance(ds, Dataset):
        advice = "ray.data.from_arrow, from_pandas and read_parquet make one"
        if type(ds).__name__ == "GroupedData":
            advice = "pass the dataset itself, and by= for the groups"
        raise TypeError(f"ds: expected a ray.data.Dataset, not {type(ds).__name__}; {advice}")


def _checked(ds: Any, sums: Sums) -> Any:
    """The columns that are needed, once they were found to be there and of the right types.

    A schema that is not known is not asked for: Ray would run a part of the dataset to find it,
    which may be a language model. The tasks check their blocks in any case.
    """
    import pyarrow as pa
    from ray.data.dataset import MaterializedDataset

    try:
        schema = ds.schema(fetch_if_missing=False)
    except pa.ArrowTypeError:  # Blocks of different layouts, which only Ray cannot reconcile.
        return ds
    schema = schema and schema.base_schema
    if not isinstance(schema, pa.Schema):
        return ds
    sums.spawn().update(schema.empty_table())
    # Columns that are not asked for are not read. Those in memory cost nothing.
    return ds if isinstance(ds, MaterializedDataset) else ds.select_columns(list(sums.columns))


@contextmanager
def _short() -> Iterator[None]:
    """Makes what Ray says of a file or a machine an exception of a line.

    What a step of the dataset raised stays as it is: its author needs the stack.
    """
    from ray.exceptions import RayError, RayTaskError

    try:
        yield
    except RayError as error:
        said = str(getattr(error, "cause", error))
        file = re.search(r"^.* source '(?P<a>[^']+)': |Failed to read fragment (?P<b>\S+)", said)
        if file:
            what = said[: file.start()] or said[file.end() :]
            raise InputError(told(file["a"] or file["b"], what)) from None
        if isinstance(error, RayTaskError):
            raise
        raise RuntimeError(told("Ray", f"{type(error).__name__}: {said}")) from None


def _in_task(name: str, argument: object) -> Callable[[Any], Any]:
    """The function of this module so called, for this argument and a block, made to travel."""
    from ray import cloudpickle

    def refuse(message: str) -> Any:
        wrong = ImportError(message)
        if name != "state_of":
            raise wrong
        import pickle

        import pyarrow as pa

        return pa.table({"answer": pa.array([pickle.dumps(wrong)], pa.large_binary())})

    return shipped(cloudpickle, __name__, name, argument, SHIPPING, refuse)


# ---- in the tasks ----


def state_of(sums: Sums, block: Any) -> Any:
    """The totals of a block, or the error that says what is wrong with it, as a table of one row.

    An error is handed back as a value: Ray would wrap it in two others, and print the worker's
    stack. Totals are bytes: keys of different types do not meet before `Sums` compares them.
    """
    import pyarrow as pa

    answers = []
    if block.num_columns:  # Of no rows, Ray may forget what columns they had.
        found: bytes | Exception
        try:
            found = sums.update(block).to_bytes()
        except (InputError, TypeError) as wrong:
            found = wrong
        answers.append(pickle.dumps(found))
    return pa.table({"answer": pa.array(answers, pa.large_binary())})


def scored(options: Mapping[str, Any], block: Any) -> Any:
    """The block with the score of each of its rows as another column."""
    import pyarrow as pa

    _refuse_taken(options["column"], block.column_names)
    if not block.num_columns:
        return block
    scores = RowScores(options["metric"], block, options["hyp"], names("ref", options["ref"]))
    if options["nulls"] == "raise" and any(scores.nulls.values()):
        raise InputError(
            f"{told_nulls(scores.nulls)}, in a block of {block.num_rows:,} rows; leave these rows "
            "out before, or give them null scores with nulls='skip'"
        )
    return block.append_column(options["column"], pa.record_batch(scores).column(0))


def _refuse_taken(column: str, columns: Sequence[str]) -> None:
    if column in columns:
        raise InputError(f"there is a column '{column}' already; name another with column=")


# ---- for Dataset.aggregate ----


def __getattr__(name: str) -> Any:
    """`CorpusScore` is a class of Ray's, so it is made when it is asked for."""
    if name != "CorpusScore":
        raise AttributeError(f"module 'truebleu.engines.ray' has no attribute '{name}'")
    globals()[name] = made = _aggregation()
    return made


def _aggregation() -> type:
    import pyarrow as pa
    from ray.data.aggregate import AggregateFnV2
    from ray.data.block import BlockAccessor

    class CorpusScore(AggregateFnV2):  # type: ignore[misc]
        """A score as an aggregation of whole datasets: `ds.aggregate(CorpusScore(), Count())`.

        hyp, ref, by, nulls: as for `sums`. metric and parameters: as for `score`. name: that of
            the result; by default that of the metric in small letters.

        The result is a number; with `by` a list of dicts, a group each, of the columns of `score`.
        Tasks hand totals on, not text. It is not for `ds.groupby(...)`, which shuffles the text and
        gives an aggregation no more than one column: use `by`. Aggregations of Ray wait for all of
        the dataset; `stats` costs less.
        """

        def __init__(
            self,
            hyp: str = "hyp",
            ref: str | Sequence[str] = "ref",
            by: Columns = None,
            *,
            metric: str | Metric = "bleu",
            name: str | None = None,
            nulls: Nulls = "raise",
            **parameters: Any,
        ) -> None:
            made = registry.metric(metric, **parameters)
            self._sums = Sums(made, hyp=hyp, ref=ref, by=names("by", by), nulls=nulls)
            super().__init__(name or made.NAME.lower(), bytes, on=None, ignore_nulls=False)

        def aggregate_block(self, block: Any) -> bytes:
            """The totals of a block."""
            table = BlockAccessor.for_block(block).to_arrow()
            try:
                return self._sums.spawn().update(table).to_bytes()
            except InputError as error:
                raise InputError(
                    f"{error} (groupby() gives an aggregation the key alone: use by= instead)"
                ) from None

        def combine(self, current_accumulator: bytes, new: bytes) -> bytes:
            """The totals of both."""
            sums = self._sums.spawn()
            for part in filter(None, (current_accumulator, new)):
                sums.merge_bytes(part)
            return sums.to_bytes()

        def finalize(self, accumulator: bytes) -> Any:
            """The score, or those of the groups."""
            sums = self._sums.spawn()
            if accumulator:
                sums.merge_bytes(accumulator)
            return pa.table(sums.table()).to_pylist() if sums.by else sums.score().value

        # What it was called before Ray made the name public.
        _finalize = finalize

    CorpusScore.__qualname__ = "CorpusScore"
    return CorpusScore
