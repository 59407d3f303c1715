"""From columns to the bytes that a page carries, and from anything to JSON that may stand in HTML.

A block is bytes; the page has it gzipped, in base64. All integers are little-endian. n is the
number of segments.

Texts:       first the number of words in the dictionary, and the bytes of the texts of each role,
             of 4 bytes each; then the dictionary: of each word its length in a byte, and its bytes;
             then of each segment the text of each role. In a text, the bytes 0x80 to 0xFC and the
             one behind them are the number of a word; 0xFD stands before the length of a piece of
             text in a byte, and that piece; others are characters of ASCII. 0xFF ends a text; 0xFE
             stands for one that there is not. Lone surrogates are three bytes each, as Python's
             "surrogatepass" has them. Of a segment whose texts the page does not carry all are
             missing, the hypotheses too, which otherwise are always there. Side by side, because
             systems write nearly the same of a segment.
Text:        of one role, as a server gives it: n lengths in bytes, of 4 bytes each, then the texts
             one after another, in UTF-8. The length `MISSING_LENGTH` is a text that there is not.
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
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from truebleu import _kernel
from truebleu._kernel import InputError, Table
from truebleu.text import segments
from truebleu.text.segments import MISSING_LENGTH, DiskLines, Texts

# ---- blocks ----


def roles(
    systems: Iterable[Texts], references: Iterable[Texts], source: Texts | None
) -> dict[str, Texts]:
    """The texts of each role, in the order of a page's blocks."""
    columns = {f"system{i}": column for i, column in enumerate(systems)}
    columns |= {f"reference{i}": column for i, column in enumerate(references)}
    return columns if source is None else columns | {"source": source}


def together(columns: Iterable[Texts], embedded: Container[int] | None = None) -> bytes:
    """Columns of texts, segment by segment; if `embedded` is given, of those segments."""
    return _kernel.with_dictionary(
        [
            segments.to_kernel_texts(column)
            if embedded is None
            else tuple(text if i in embedded else None for i, text in enumerate(column))
            for column in columns
        ]
    )


def of_texts(texts: Texts) -> bytes:
    """A column of texts."""
    if None in texts:
        lengths = (MISSING_LENGTH if text is None else len(text) for text in texts)
        return of_indices(lengths) + b"".join(filter(None, texts))
    # The usual case, and the largest: no loop of Python's own.
    return of_indices(map(len, texts)) + b"".join(texts)  # type: ignore[arg-type]


def of_some_texts(texts: Texts, first: int, last: int) -> tuple[int, Iterator[bytes]]:
    """Some texts as a block: how many bytes that is, and the bytes, piece by piece."""
    if isinstance(texts, DiskLines):
        lengths = texts.get_lengths(first, last)
        if max(lengths) >= MISSING_LENGTH:
            raise InputError("a line of 4 GiB or more cannot be shown")
        head = of_indices(lengths)
        return len(head) + sum(lengths), chain([head], texts.iter_joined(first, last))
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

# Level 6 of zlib makes large reports 6 % smaller than level 1, in twice the time; of small ones
# nobody notices the time.
SMALL = 4 << 20
THOROUGH, QUICK = 6, 1

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
