"""Rows in binary files: Parquet, and NumPy's."""

from __future__ import annotations

import io
import sys
from array import array
from collections.abc import Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from truebleu.cli.output import Results, UnavailableError, UsageError, printable
from truebleu.cli.row_writers import Rows, Table, as_json

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from typing_extensions import Buffer


class Parquet(Rows):
    """Writes the rows of a Parquet file as they come, with signatures in its metadata."""

    AT_ONCE = 65536

    def __init__(self, output: Results, table: Table) -> None:
        if output.is_terminal:
            raise UsageError("-f/--format: a terminal cannot show parquet; name a file with -o")
        try:
            import pyarrow as pa
            import pyarrow.parquet  # once rows are read, nothing else can be
        except ImportError:
            raise UnavailableError("-f parquet needs pyarrow: pip install pyarrow") from None
        super().__init__(output, table)
        self._writer: pq.ParquetWriter | None = None
        types = () if table.types is None else pa.table(table.types).schema
        self._types = {field.name: field.type for field in types}

    @property
    def metadata(self) -> dict[str, str]:
        """The file's metadata: a signature for each metric, or the only one."""
        signatures = self.table.about.get("signatures", {})
        told = [f"{name}|{signature}" for name, signature in signatures.items()]
        return {"signature": told[0] if len(told) == 1 else as_json(told)}

    def write(self, columns: Sequence[Any]) -> None:
        """Writes rows."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        count = next(len(column) for column in columns if not isinstance(column, repeat))
        left_out = self.table.statistics if self.output.score_only else ()
        rows = pa.table(
            {
                name: self._array(name, column, count)
                for name, column in zip(self.table.names, columns, strict=True)
                if name not in left_out
            }
        )
        if self._writer is None:
            schema = rows.schema.with_metadata(self.metadata)
            self._writer = pq.ParquetWriter(_Sink(self.output), schema)
        self._writer.write_table(rows)

    def _array(self, name: str, column: Any, count: int) -> pa.Array:
        import pyarrow as pa

        if isinstance(column, repeat):
            value = next(column)
            value = printable(value) if isinstance(value, str) else value
            return pa.repeat(pa.scalar(value), count)
        if hasattr(column, "typecode"):
            kind = {"q": pa.int64(), "f": pa.float32(), "d": pa.float64()}[column.typecode]
            return pa.Array.from_buffers(kind, len(column), [None, pa.py_buffer(column)])
        if hasattr(column, "values_of"):
            return pa.record_batch(_Column(column)).column(0)
        usual = pa.int64() if isinstance(column, range) else None
        if usual is None and name in self.table.texts:
            usual = pa.string()
        return pa.array(column, self._types.get(name, usual))

    def finish(self) -> None:
        """Writes where in the file everything is."""
        if self._writer is not None:
            self._writer.close()


class _Column:
    """One column of statistics, as Arrow."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self._table.arrow_array(["column"])  # type: ignore[no-any-return]


class _Sink(io.RawIOBase):
    """An output as pyarrow wants a file: it asks how much was written, which a pipe cannot say."""

    def __init__(self, output: Results) -> None:
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


class Numpy(Rows):
    """NumPy's .npy, version 1.0: a header of text, then the scores as they lie in memory.

    They are the last column, whose values lie one after the other.
    """

    def __init__(self, output: Results, table: Table) -> None:
        super().__init__(output, table)
        order = "<" if sys.byteorder == "little" else ">"
        kind = f"{order}f{array(table.code).itemsize}"
        header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {table.shape!r}, }}"
        # The numbers start at a multiple of 64 bytes.
        room = -(len(header) + 11) % 64
        text = (header + " " * room + "\n").encode()
        output.write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text)

    def write(self, columns: Sequence[Any]) -> None:
        """Writes rows."""
        self.output.write_bytes(memoryview(columns[-1]).cast("B"))
