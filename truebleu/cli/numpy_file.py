"""NumPy's .npy, version 1.0: a header of text, then the numbers as they lie in memory."""

from __future__ import annotations

import sys
from array import array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from truebleu.cli.output import Output
    from truebleu.metrics.matrix import Matrix


class Numpy:
    """A matrix of a shape, with numbers of a type code of `array`, some rows at a time."""

    def __init__(self, output: Output, shape: tuple[int, ...], code: str) -> None:
        self._output = output
        self._code = code
        order = "<" if sys.byteorder == "little" else ">"
        kind = f"{order}f{array(code).itemsize}"
        header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape!r}, }}"
        # The numbers start at a multiple of 64 bytes.
        room = -(len(header) + 11) % 64
        text = (header + " " * room + "\n").encode()
        self._header = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text

    def write(self, rows: Matrix) -> None:
        """Writes rows."""
        self.finish()
        self._output.write_bytes(memoryview(rows).cast("B"))

    def finish(self) -> None:
        """Writes the header, if nothing was written yet."""
        self._output.write_bytes(self._header)
        self._header = b""


class NumpyTriangle(Numpy):
    """Of the first row all numbers, of the second all but one, of the third all but two ..."""

    def write(self, rows: Matrix) -> None:
        """Writes rows."""
        self.finish()
        numbers = memoryview(rows).cast("B")
        width, size = rows.shape[1], array(self._code).itemsize
        for i in range(len(rows)):
            self._output.write_bytes(numbers[(i * width + i) * size : (i + 1) * width * size])
