"""Rows of segments as a Parquet file, through pyarrow or Polars, whichever is there."""

from __future__ import annotations

import io

from truebleu.cli.options import UsageError
from truebleu.cli.output import Unavailable
from truebleu.cli.rows import Rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars
    import pyarrow

    from truebleu.cli.output import Output
    from truebleu.cli.rows import Piece
    from truebleu.cli.tables import Style


def parquet(output: Output, style: Style, columns: Sequence[str]) -> Rows:
    """The writer of a Parquet file."""
    if output.is_terminal:
        raise UsageError("-f/--format: a terminal cannot show parquet; name a file with -o")
    for writer in (_Pyarrow, _Polars):
        try:
            return writer(output, style, columns)
        except ImportError:
            continue
    raise Unavailable("-f parquet needs pyarrow or polars: pip install pyarrow")


class _Parquet(Rows):
    """What both libraries share: all columns keep all of their digits."""

    AT_ONCE = 65536

    def signature(self, piece: Piece) -> dict[str, str]:
        """What the file says of itself."""
        signature = piece.metric.signature(piece.statistics.references, segment=True)
        return {"signature": f"{piece.metric.NAME}|{signature}"}


class _Pyarrow(_Parquet):
    """Writes each piece as it comes."""

    def __init__(self, output: Output, style: Style, columns: Sequence[str]) -> None:
        import pyarrow.parquet

        super().__init__(output, style, columns)
        self._writer: pyarrow.parquet.ParquetWriter | None = None

    def write(self, piece: Piece) -> None:
        import pyarrow
        import pyarrow.parquet

        count = len(piece.scores)
        arrays = [pyarrow.array(range(piece.first, piece.first + count), pyarrow.int64())]
        if piece.system is not None:
            arrays.append(pyarrow.repeat(pyarrow.scalar(piece.system), count))
        arrays.append(pyarrow.array(piece.scores))
        if not self.style.score_only:
            arrays += pyarrow.record_batch(piece.statistics).columns
        table = pyarrow.table(arrays, names=self.columns)
        if self._writer is None:
            schema = table.schema.with_metadata(self.signature(piece))
            self._writer = pyarrow.parquet.ParquetWriter(_Sink(self.output), schema)
        self._writer.write_table(table)

    def finish(self) -> None:
        if self._writer is not None:
            self._writer.close()


class _Polars(_Parquet):
    """Writes all pieces at the end: Polars has no other way."""

    def __init__(self, output: Output, style: Style, columns: Sequence[str]) -> None:
        import polars  # noqa: F401

        super().__init__(output, style, columns)
        self._frames: list[polars.DataFrame] = []
        self._metadata: dict[str, str] = {}

    def write(self, piece: Piece) -> None:
        import polars

        self._metadata = self.signature(piece)
        count = len(piece.scores)
        numbers = polars.int_range(piece.first, piece.first + count, eager=True)
        series = [numbers.alias("segment")]
        if piece.system is not None:
            series.append(polars.repeat(piece.system, count, eager=True).alias("system"))
        series.append(polars.Series(piece.metric.NAME, piece.scores))
        if not self.style.score_only:
            series += polars.DataFrame(piece.statistics).get_columns()
        self._frames.append(polars.DataFrame(series))

    def finish(self) -> None:
        import polars

        file = io.BytesIO()
        polars.concat(self._frames).write_parquet(file, metadata=self._metadata)
        self.output.write_bytes(file.getbuffer())


class _Sink(io.RawIOBase):
    """An output as pyarrow wants a file: it asks how much was written, which a pipe cannot say."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._written = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._written

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._output.write_bytes(data)
        self._written += len(data)
        return len(data)
