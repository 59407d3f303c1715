"""Parquet files, through pyarrow or Polars, whichever is there."""

from __future__ import annotations

import io
from array import array
from importlib.util import find_spec
from itertools import repeat

from truebleu.cli.output import UnavailableError, printable
from truebleu.cli.parser import UsageError
from truebleu.cli.rows import Rows, as_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq
    from typing_extensions import Buffer

    from truebleu.cli.output import Output
    from truebleu.cli.rows import Table
    from truebleu.cli.style import Style


def parquet(output: Output, style: Style, table: Table) -> Rows:
    """The writer of a Parquet file."""
    if output.is_terminal:
        raise UsageError("-f/--format: a terminal cannot show parquet; name a file with -o")
    if find_spec("pyarrow"):
        return _Pyarrow(output, style, table)
    if find_spec("polars"):
        return _Polars(output, style, table)
    raise UnavailableError("-f parquet needs pyarrow or polars: pip install pyarrow")


class _Parquet(Rows):
    """The part that both share: the chosen columns, and the file's metadata."""

    AT_ONCE = 65536

    @property
    def metadata(self) -> dict[str, str]:
        """The file's metadata: a signature for each metric, or the only one."""
        signatures = self.table.about.get("signatures", {})
        told = [f"{name}|{signature}" for name, signature in signatures.items()]
        return {"signature": told[0] if len(told) == 1 else as_json(told)}

    def chosen(self, columns: Sequence[Any]) -> list[tuple[str, Any]]:
        """The columns that are written, with their names."""
        pairs = zip(self.table.names, columns, strict=True)
        if not self.style.score_only:
            return list(pairs)
        return [(name, column) for name, column in pairs if name not in self.table.statistics]


class _Pyarrow(_Parquet):
    """Writes rows as they come."""

    def __init__(self, output: Output, style: Style, table: Table) -> None:
        import pyarrow as pa

        super().__init__(output, style, table)
        self._writer: pq.ParquetWriter | None = None
        # Now: once rows are read, nothing else can be.
        types = None if table.types is None else pa.table(table.types).schema
        self._types: dict[str, Any] = (
            {} if types is None else dict(zip(types.names, types.types, strict=True))
        )

    def write(self, columns: Sequence[Any]) -> None:
        """Writes rows."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        count = next(len(column) for column in columns if not isinstance(column, repeat))
        chosen = self.chosen(columns)
        arrays = [self._array(name, column, count) for name, column in chosen]
        rows = pa.table(arrays, names=[name for name, _ in chosen])
        if self._writer is None:
            schema = rows.schema.with_metadata(self.metadata)
            self._writer = pq.ParquetWriter(_Sink(self.output), schema)
        self._writer.write_table(rows)

    def _array(self, name: str, column: Any, count: int) -> pa.Array:
        import pyarrow as pa

        if isinstance(column, repeat):
            return pa.repeat(pa.scalar(_repeated(column)), count)
        if isinstance(column, array):
            kind = {"q": pa.int64(), "f": pa.float32(), "d": pa.float64()}[column.typecode]
            return pa.Array.from_buffers(kind, len(column), [None, pa.py_buffer(column)])
        if hasattr(column, "values_of"):
            return pa.record_batch(_Column(column)).column(0)
        kind = self._types.get(name)
        if kind is None and isinstance(column, range):
            kind = pa.int64()
        if kind is None and name in self.table.texts:
            kind = pa.string()
        return pa.array(column, kind)

    def finish(self) -> None:
        """Writes where in the file everything is."""
        if self._writer is not None:
            self._writer.close()


class _Polars(_Parquet):
    """Keeps all rows and writes them at the end: Polars has no other way."""

    def __init__(self, output: Output, style: Style, table: Table) -> None:
        super().__init__(output, style, table)
        self._frames: list[pl.DataFrame] = []

    def write(self, columns: Sequence[Any]) -> None:
        """Keeps rows."""
        import polars as pl

        count = next(len(column) for column in columns if not isinstance(column, repeat))
        series = []
        for name, column in self.chosen(columns):
            if isinstance(column, repeat):
                series.append(pl.repeat(_repeated(column), count, eager=True).alias(name))
            elif isinstance(column, array):
                kinds = {"q": pl.Int64, "f": pl.Float32, "d": pl.Float64}
                series.append(pl.Series(name, column, kinds[column.typecode]))
            elif hasattr(column, "values_of"):
                series.append(pl.DataFrame(_Column(column)).to_series(0).alias(name))
            elif isinstance(column, list):
                series.append(pl.Series(name, column))
            else:  # a range, or what speaks Arrow
                series.append(pl.Series(column).alias(name))
        self._frames.append(pl.DataFrame(series))

    def finish(self) -> None:
        """Writes all rows."""
        import polars as pl

        file = io.BytesIO()
        # A column of nothing but nulls has the type that it has in another piece.
        whole = pl.concat(self._frames, how="vertical_relaxed")
        whole.write_parquet(file, metadata=self.metadata)
        self.output.write_bytes(file.getbuffer())


def _repeated(column: repeat[Any]) -> Any:
    value = next(column)
    return printable(value) if isinstance(value, str) else value


class _Column:
    """One column of statistics, as Arrow."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self._table.arrow_array(["column"])  # type: ignore[no-any-return]


class _Sink(io.RawIOBase):
    """An output as pyarrow wants a file: it asks how much was written, which a pipe cannot say."""

    def __init__(self, output: Output) -> None:
        super().__init__()
        self._output = output
        self._written = 0

    def writable(self) -> bool:
        """Yes."""
        return True

    def tell(self) -> int:
        """The number of bytes written."""
        return self._written

    def write(self, data: Buffer) -> int:
        """Writes bytes."""
        size = memoryview(data).nbytes
        self._output.write_bytes(data)
        self._written += size
        return size
