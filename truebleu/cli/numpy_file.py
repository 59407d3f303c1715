"""NumPy's .npy, version 1.0: a header of text, then the numbers as they lie in memory."""

from __future__ import annotations

import sys
from array import array

from truebleu.cli.rows import Rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from truebleu.cli.output import Output
    from truebleu.cli.rows import Table
    from truebleu.cli.style import Style


class Numpy(Rows):
    """The scores alone: the last column, whose values lie in memory one after the other."""

    def __init__(self, output: Output, style: Style, table: Table) -> None:
        super().__init__(output, style, table)
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
