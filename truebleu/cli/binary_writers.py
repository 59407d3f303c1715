"""Writers of Parquet and NumPy files."""

from __future__ import annotations

import io
import sys
from array import array
from collections.abc import Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from truebleu.cli.output import Results, UnavailableError, UsageError, escape_unprintable
from truebleu.cli.row_writers import RowWriter, TableSpec, to_json

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from typing_extensions import Buffer


class ParquetWriter(RowWriter):
    """Writer that streams rows to a Parquet file and stores signatures in its metadata."""

    BATCH_ROWS = 65536

    def __init__(self, output: Results, table: TableSpec) -> None:
        if output.is_terminal:
            raise UsageError("-f/--format: parquet needs an output file. Name it with -o")
        try:
            import pyarrow as pa
            import pyarrow.parquet  # a later import would fail while DuckDB reads rows
        except ImportError:
            raise UnavailableError("-f parquet needs pyarrow: pip install pyarrow") from None
        super().__init__(output, table)
        self._writer: pq.ParquetWriter | None = None
        types = () if table.arrow_types is None else pa.table(table.arrow_types).schema
        self._types = {field.name: field.type for field in types}

    @property
    def metadata(self) -> dict[str, str]:
        """The file's metadata: the signature, or a JSON list of signatures for several metrics."""
        signatures = self.table.metadata.get("signatures", {})
        entries = [f"{name}|{signature}" for name, signature in signatures.items()]
        return {"signature": entries[0] if len(entries) == 1 else to_json(entries)}

    def write(self, columns: Sequence[Any]) -> None:
        """Write rows."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        count = next(len(column) for column in columns if not isinstance(column, repeat))
        omitted_names = self.table.statistic_names if self.output.score_only else ()
        rows = pa.table(
            {
                name: self._to_arrow_array(name, column, count)
                for name, column in zip(self.table.column_names, columns, strict=True)
                if name not in omitted_names
            }
        )
        if self._writer is None:
            schema = rows.schema.with_metadata(self.metadata)
            self._writer = pq.ParquetWriter(_ArrowSink(self.output), schema)
        self._writer.write_table(rows)

    def _to_arrow_array(self, name: str, column: Any, count: int) -> pa.Array:
        import pyarrow as pa

        if isinstance(column, repeat):
            value = next(column)
            value = escape_unprintable(value) if isinstance(value, str) else value
            return pa.repeat(pa.scalar(value), count)
        if hasattr(column, "typecode"):
            arrow_type = {"q": pa.int64(), "f": pa.float32(), "d": pa.float64()}[column.typecode]
            return pa.Array.from_buffers(arrow_type, len(column), [None, pa.py_buffer(column)])
        if hasattr(column, "values_of"):
            return pa.record_batch(_StatisticsColumn(column)).column(0)
        default_type = pa.int64() if isinstance(column, range) else None
        if default_type is None and name in self.table.text_names:
            default_type = pa.string()
        return pa.array(column, self._types.get(name, default_type))

    def finish(self) -> None:
        """Write the file footer."""
        if self._writer is not None:
            self._writer.close()


class _StatisticsColumn:
    """Adapter that exports one column of statistics to Arrow."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self._table.arrow_array(["column"])  # type: ignore[no-any-return]


class _ArrowSink(io.RawIOBase):
    """File object for pyarrow, which calls `tell()` even on pipes."""

    def __init__(self, output: Results) -> None:
        super().__init__()
        self._output = output
        self._byte_count = 0

    def writable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the number of bytes written."""
        return self._byte_count

    def write(self, data: Buffer) -> int:
        """Write bytes and return their number."""
        size = memoryview(data).nbytes
        self._output.write_bytes(data)
        self._byte_count += size
        return size


class NumpyWriter(RowWriter):
    """Writer of NumPy files (.npy, version 1.0): a text header, then the raw scores.

    The scores are the last column, which must be contiguous in memory.
    """

    def __init__(self, output: Results, table: TableSpec) -> None:
        super().__init__(output, table)
        order = "<" if sys.byteorder == "little" else ">"
        dtype = f"{order}f{array(table.type_code).itemsize}"
        header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {table.shape!r}, }}"
        # The .npy format aligns the data to 64 bytes.
        padding = -(len(header) + 11) % 64
        text = (header + " " * padding + "\n").encode()
        output.write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text)

    def write(self, columns: Sequence[Any]) -> None:
        """Write rows."""
        self.output.write_bytes(memoryview(columns[-1]).cast("B"))
