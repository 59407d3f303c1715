"""Rows of segments as a Parquet file, through pyarrow or Polars, whichever is there."""

from __future__ import annotations

import io
from importlib.util import find_spec

from truebleu.cli.options import UsageError
from truebleu.cli.output import UnavailableError, printable
from truebleu.cli.rows import Rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    import pyarrow.parquet as pq
    from typing_extensions import Buffer

    from truebleu.cli.output import Output
    from truebleu.cli.rows import Piece
    from truebleu.cli.tables import Style


def parquet(output: Output, style: Style, columns: Sequence[str]) -> Rows:
    """The writer of a Parquet file."""
    if output.is_terminal:
        raise UsageError("-f/--format: a terminal cannot show parquet; name a file with -o")
    if find_spec("pyarrow"):
        return _Pyarrow(output, style, columns)
    if find_spec("polars"):
        return _Polars(output, style, columns)
    raise UnavailableError("-f parquet needs pyarrow or polars: pip install pyarrow")


def _metadata(piece: Piece) -> dict[str, str]:
    """What the file says of its scores."""
    signature = piece.metric.signature(piece.statistics.references, segment=True)
    return {"signature": f"{piece.metric.name}|{signature}"}


class _Pyarrow(Rows):
    """Writes each piece as it comes."""

    AT_ONCE = 65536

    def __init__(self, output: Output, style: Style, columns: Sequence[str]) -> None:
        super().__init__(output, style, columns)
        self._writer: pq.ParquetWriter | None = None

    def write(self, piece: Piece) -> None:
        """Writes the segments of a piece."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        count = len(piece.scores)
        arrays = [pa.array(range(piece.first, piece.first + count), pa.int64())]
        if piece.system is not None:
            arrays.append(pa.repeat(pa.scalar(printable(piece.system)), count))
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

    def __init__(self, output: Output, style: Style, columns: Sequence[str]) -> None:
        super().__init__(output, style, columns)
        self._frames: list[pl.DataFrame] = []
        self._metadata: dict[str, str] = {}

    def write(self, piece: Piece) -> None:
        """Keeps the segments of a piece."""
        import polars as pl

        self._metadata = _metadata(piece)
        count = len(piece.scores)
        numbers = pl.int_range(piece.first, piece.first + count, eager=True)
        series = [numbers.alias("segment")]
        if piece.system is not None:
            series.append(pl.repeat(printable(piece.system), count, eager=True).alias("system"))
        series.append(pl.Series(piece.scores).alias(piece.metric.name))
        if not self.style.score_only:
            series += pl.DataFrame(piece.statistics).get_columns()
        self._frames.append(pl.DataFrame(series))

    def finish(self) -> None:
        """Writes the segments."""
        import polars as pl

        file = io.BytesIO()
        pl.concat(self._frames).write_parquet(file, metadata=self._metadata)
        self.output.write_bytes(file.getbuffer())


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
