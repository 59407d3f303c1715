"""From columns to the bytes that a page carries, and from anything to JSON that may stand in HTML.

A block is bytes; the page has it gzipped, in base64. All integers are little-endian. n is the
number of segments.

Texts:       of each segment the text of each role, all with the byte 0xFF between them, which is in
             no UTF-8. Systems write nearly the same of a segment: what stands side by side is
             packed to half of what the roles take apart. Lone surrogates are there as three bytes
             each, as Python's "surrogatepass" has them. The byte 0xFE is a text that there is not.
             Of a segment whose texts the page does not carry all are missing, the hypotheses too,
             which otherwise are always there.
Text:        of one role, as a server gives it: n lengths in bytes, of 4 bytes each, then the texts
             one after another, in UTF-8. The length `MISSING` is a text that there is not.
Statistics:  for each column in the order of the metric's columns, a byte that says how wide its
             numbers are (1, 2 or 4 bytes; 8 for floats), then n such numbers.
Indices:     n numbers of 4 bytes: which of some names.
"""

from __future__ import annotations

import re
import sys
import zlib
from array import array
from base64 import b64encode
from itertools import chain

from truebleu._kernel import InputError
from truebleu.text.paged import Paged
from truebleu.text.segments import MISSING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from truebleu._kernel import Table
    from truebleu.text.segments import Texts

# ---- blocks ----

BETWEEN, ABSENT = b"\xff", b"\xfe"


def roles(
    systems: Iterable[Texts], references: Iterable[Texts], source: Texts | None
) -> dict[str, Texts]:
    """The texts of each role, in the order of a page's blocks."""
    columns = {f"system{i}": column for i, column in enumerate(systems)}
    columns |= {f"reference{i}": column for i, column in enumerate(references)}
    return columns if source is None else columns | {"source": source}


def together(columns: Sequence[Texts], embedded: Container[int] | None = None) -> bytes:
    """Columns of texts, segment by segment; if `embedded` is given, of those segments."""
    if embedded is not None:
        columns = [
            [text if i in embedded else None for i, text in enumerate(texts)] for texts in columns
        ]
    if any(None in texts for texts in columns):
        columns = [[ABSENT if text is None else text for text in texts] for texts in columns]
    # The usual case, and the largest: no loop of Python's own.
    return BETWEEN.join(chain.from_iterable(zip(*columns, strict=True)))


def of_texts(texts: Texts) -> bytes:
    """A column of texts."""
    if None in texts:
        lengths = (MISSING if text is None else len(text) for text in texts)
        return of_indices(lengths) + b"".join(filter(None, texts))
    # The usual case, and the largest: no loop of Python's own.
    return of_indices(map(len, texts)) + b"".join(texts)  # type: ignore[arg-type]


def of_some_texts(texts: Texts, first: int, last: int) -> tuple[int, Iterator[bytes]]:
    """Some texts as a block: how many bytes that is, and the bytes, piece by piece."""
    if isinstance(texts, Paged):
        lengths = texts.lengths(first, last)
        if max(lengths) >= MISSING:
            raise InputError("a line of 4 GiB or more cannot be shown")
        head = of_indices(lengths)
        return len(head) + sum(lengths), chain([head], texts.together(first, last))
    whole = of_texts(texts[first:last])
    return len(whole), iter([whole])


def of_indices(numbers: Iterable[int]) -> bytes:
    """A column of numbers below 2³²."""
    return _little(array("I", numbers))


def of_floats(numbers: Iterable[float]) -> bytes:
    """A table of one column of floats."""
    return b"\x08" + _little(array("d", numbers))


def of_table(table: Table) -> bytes:
    """The columns of a table, each as narrow as its largest number allows."""
    numbers = memoryview(table).cast("B").cast("q")
    return b"".join(_column(numbers[column :: table.width]) for column in range(table.width))


def _column(numbers: memoryview) -> bytes:
    """A column of integers of 8 bytes, none negative.

    Bytes that are 0 in all of them are left out by slices, which are as fast as copying.
    """
    little = sys.byteorder == "little"
    wide = numbers.tobytes() if little else _little(array("q", numbers.tolist()))
    count = len(numbers)
    used = max((byte + 1 for byte in range(8) if wide[byte::8].count(0) < count), default=1)
    if used > 4:
        return of_floats(numbers.tolist())
    width = 1 if used == 1 else 2 if used == 2 else 4
    narrow = bytearray(count * width)
    for byte in range(width):
        narrow[byte::width] = wide[byte::8]
    return bytes([width]) + narrow


def _little(numbers: array[Any]) -> bytes:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


# ---- gzip and base64 ----

# Compressing takes a third of the time that a large report takes. Level 6 of zlib makes text 6 %
# smaller than level 4, in nearly three times its time.
SMALL = 16 << 20
THOROUGH, QUICK = 6, 4

# No name, no time, no system: the same bytes make the same file everywhere.
GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"


def level(size: int) -> int:
    """The compression level for so many bytes."""
    return THOROUGH if size <= SMALL else QUICK


def gzipped(data: bytes, thoroughness: int) -> bytes:
    """A gzip file, whose header does not name the system, as that of zlib does."""
    made = zlib.compress(data, thoroughness, zlib.MAX_WBITS | 16)
    return GZIP_HEADER + made[len(GZIP_HEADER) :]


def encoded(blocks: Mapping[str, bytes], workers: int = 1) -> Iterator[tuple[str, bytes]]:
    """Each block by name, as base64 of a gzip file."""
    thoroughness = level(sum(map(len, blocks.values())))

    def one(block: bytes) -> bytes:
        return b64encode(gzipped(block, thoroughness))

    if workers == 1 or len(blocks) < 2:
        yield from ((name, one(block)) for name, block in blocks.items())
        return
    # zlib lets other threads run.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        yield from zip(blocks, pool.map(one, blocks.values()), strict=True)


# ---- JSON in HTML ----

# What could end a script element, or a line of one; surrogates, which UTF-8 has not; and what
# other programs take for the end of a text.
_NOT_IN_JSON = re.compile("[<>&\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def json_text(value: Any) -> str:
    r"""JSON that may stand in a script element.

    >>> print(json_text({"a": "</script>"}))
    {"a":"\u003c/script\u003e"}
    """
    import json

    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _NOT_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
