"""Parquet files, of segments and of anything, through pyarrow or Polars, whichever is there."""

from __future__ import annotations

import io
from array import array
from importlib.util import find_spec

from truebleu.cli.options import UsageError
from truebleu.cli.output import UnavailableError, printable
from truebleu.cli.rows import Rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Protocol

    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq
    from typing_extensions import Buffer

    from truebleu.cli.output import Output
    from truebleu.cli.rows import Carried, Piece
    from truebleu.cli.tables import Style
    from truebleu.matrix import Matrix

    # What a column is made of: numbers, texts, or a list of scores for each row.
    Column = array[Any] | list[str] | Matrix

    class Table(Protocol):
        """Takes columns of a table, some rows at a time."""

        def write(self, columns: Mapping[str, Column]) -> None:
            """Writes rows, column by column."""

        def finish(self) -> None:
            """Writes what comes last."""


def parquet(
    output: Output, style: Style, columns: Sequence[str], carried: Carried | None = None
) -> Rows:
    """The writer of a Parquet file of segments."""
    return (_Pyarrow if _has_pyarrow(output) else _Polars)(output, style, columns, carried)


def table(output: Output, metadata: Mapping[str, str]) -> Table:
    """The writer of a Parquet file of any columns."""
    return (_PyarrowTable if _has_pyarrow(output) else _PolarsTable)(output, metadata)


def _has_pyarrow(output: Output) -> bool:
    """Whether pyarrow is there, or else Polars."""
    if output.is_terminal:
        raise UsageError("-f/--format: a terminal cannot show parquet; name a file with -o")
    if find_spec("pyarrow"):
        return True
    if find_spec("polars"):
        return False
    raise UnavailableError("-f parquet needs pyarrow or polars: pip install pyarrow")


def _metadata(piece: Piece) -> dict[str, str]:
    """What the file says of its scores."""
    signature = piece.metric.signature(piece.statistics.references, segment=True)
    return {"signature": f"{piece.metric.name}|{signature}"}


class _Pyarrow(Rows):
    """Writes each piece as it comes."""

    AT_ONCE = 65536

    def __init__(
        self, output: Output, style: Style, columns: Sequence[str], carried: Carried | None = None
    ) -> None:
        import pyarrow as pa

        super().__init__(output, style, columns, carried)
        self._writer: pq.ParquetWriter | None = None
        # Now: once rows are read, nothing else can be.
        self._types: list[pa.DataType] = (
            pa.table(self.carried.types).schema.types if self.carried.names else []
        )

    def write(self, piece: Piece) -> None:
        """Writes the segments of a piece."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        count = len(piece.scores)
        arrays = [pa.array(piece.numbers, pa.int64())]
        if piece.system is not None:
            arrays.append(pa.repeat(pa.scalar(printable(piece.system)), count))
        if piece.carried:
            columns = zip(*piece.carried, strict=True)
            arrays += [pa.array(c, t) for c, t in zip(columns, self._types, strict=True)]
        arrays.append(pa.array(piece.scores))
        if not self.style.score_only:
            arrays += pa.record_batch(piece.statistics).columns
        table = pa.table(arrays, names=self.columns)
        if self._writer is None:
            schema = table.schema.with_metadata(_metadata(piece))
            self._writer = pq.ParquetWriter(_Sink(self.output), schema)
        self._writer.write_table(table)

    def finish(self) -> None:
        """Writes where in the file everything is."""
        if self._writer is not None:
            self._writer.close()


class _Polars(Rows):
    """Keeps all pieces and writes them at the end: Polars has no other way."""

    AT_ONCE = 65536

    def __init__(
        self, output: Output, style: Style, columns: Sequence[str], carried: Carried | None = None
    ) -> None:
        super().__init__(output, style, columns, carried)
        self._frames: list[pl.DataFrame] = []
        self._metadata: dict[str, str] = {}

    def write(self, piece: Piece) -> None:
        """Keeps the segments of a piece."""
        import polars as pl

        self._metadata = _metadata(piece)
        count = len(piece.scores)
        series = [pl.Series("segment", piece.numbers, pl.Int64)]
        if piece.system is not None:
            series.append(pl.repeat(printable(piece.system), count, eager=True).alias("system"))
        if piece.carried:
            columns = zip(*piece.carried, strict=True)
            series += map(pl.Series, self.carried.names, columns)
        series.append(pl.Series(piece.scores).alias(piece.metric.name))
        if not self.style.score_only:
            series += pl.DataFrame(piece.statistics).get_columns()
        self._frames.append(pl.DataFrame(series))

    def finish(self) -> None:
        """Writes the segments."""
        import polars as pl

        file = io.BytesIO()
        # A column of nothing but nulls has the type that it has in another piece.
        whole = pl.concat(self._frames, how="vertical_relaxed")
        whole.write_parquet(file, metadata=self._metadata)
        self.output.write_bytes(file.getbuffer())


class _PyarrowTable:
    """Writes each piece as it comes."""

    def __init__(self, output: Output, metadata: Mapping[str, str]) -> None:
        self._output = output
        self._metadata = dict(metadata)
        self._writer: pq.ParquetWriter | None = None

    def write(self, columns: Mapping[str, Column]) -> None:
        """Writes rows."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        types = {"q": pa.int64(), "f": pa.float32(), "d": pa.float64()}
        arrays = []
        for values in columns.values():
            if isinstance(values, list):
                arrays.append(pa.array(values, pa.string()))
            elif isinstance(values, array):
                buffers = [None, pa.py_buffer(values)]
                kind = types[values.typecode]
                arrays.append(pa.Array.from_buffers(kind, len(values), buffers))
            else:
                arrays.append(pa.array(values))
        rows = pa.table(arrays, names=list(columns))
        if self._writer is None:
            schema = rows.schema.with_metadata(self._metadata)
            self._writer = pq.ParquetWriter(_Sink(self._output), schema)
        self._writer.write_table(rows)

    def finish(self) -> None:
        """Writes where in the file everything is."""
        if self._writer is not None:
            self._writer.close()


class _PolarsTable:
    """Keeps all pieces and writes them at the end: Polars has no other way."""

    def __init__(self, output: Output, metadata: Mapping[str, str]) -> None:
        self._output = output
        self._metadata = dict(metadata)
        self._frames: list[pl.DataFrame] = []

    def write(self, columns: Mapping[str, Column]) -> None:
        """Keeps rows."""
        import polars as pl

        types = {"q": pl.Int64, "f": pl.Float32, "d": pl.Float64}
        series = []
        for name, values in columns.items():
            if isinstance(values, list):
                series.append(pl.Series(name, values, pl.String))
            elif isinstance(values, array):
                series.append(pl.Series(name, values, types[values.typecode]))
            else:
                series.append(pl.Series(name, values))
        self._frames.append(pl.DataFrame(series))

    def finish(self) -> None:
        """Writes all rows."""
        import polars as pl

        file = io.BytesIO()
        pl.concat(self._frames).write_parquet(file, metadata=self._metadata)
        self._output.write_bytes(file.getbuffer())


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
        """How many bytes were written."""
        return self._written

    def write(self, data: Buffer) -> int:
        """Writes bytes."""
        size = memoryview(data).nbytes
        self._output.write_bytes(data)
        self._written += size
        return size
