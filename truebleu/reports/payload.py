"""Encode texts and tables as the blocks of a page, and values as JSON for a script element.

A block is a byte string; the page stores it gzipped, in base64. All integers are little-endian. n
is the number of segments.

Texts:       the number of words in the dictionary and the total text size of each role (4 bytes
             each); then the dictionary: for each word, its length in one byte, and its bytes; then
             the text of each role, segment by segment. In a text, a byte from 0x80 to 0xFC and the
             next byte form the number of a word. 0xFD precedes a length byte and that many bytes of
             literal text. Other bytes are ASCII characters. 0xFF ends a text; 0xFE marks a missing
             text. Lone surrogates take three bytes each, as with Python's "surrogatepass". If the
             page omits the texts of a segment, all of its texts are missing, including the
             hypotheses, which are always present otherwise. Roles are interleaved because systems
             produce similar texts for a segment.
Text:        one role, as the server sends it: n lengths in bytes (4 bytes each), then the texts in
             UTF-8. The length `MISSING` marks a missing text.
Statistics:  for each of the metric's columns, one byte with the width of its numbers (1, 2 or 4
             bytes; 8 for floats), then n numbers.
Indices:     n numbers of 4 bytes, which index a list of names.
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


def get_texts_by_role(
    systems: Iterable[Texts], references: Iterable[Texts], source: Texts | None
) -> dict[str, Texts]:
    """Return the texts of each role, in the order of the page's blocks."""
    columns = {f"system{i}": column for i, column in enumerate(systems)}
    columns |= {f"reference{i}": column for i, column in enumerate(references)}
    return columns if source is None else columns | {"source": source}


def encode_embedded_texts(
    columns: Iterable[Texts], embedded: Container[int] | None = None
) -> bytes:
    """Encode columns of texts, segment by segment; omit segments that are not in `embedded`."""
    return _kernel.with_dictionary(
        [
            segments.to_kernel_texts(column)
            if embedded is None
            else tuple(text if i in embedded else None for i, text in enumerate(column))
            for column in columns
        ]
    )


def encode_texts(texts: Texts) -> bytes:
    """Encode a column of texts as one block."""
    if None in texts:
        lengths = (MISSING_LENGTH if text is None else len(text) for text in texts)
        return encode_indices(lengths) + b"".join(filter(None, texts))
    # The common case avoids a Python loop.
    return encode_indices(map(len, texts)) + b"".join(texts)  # type: ignore[arg-type]


def encode_text_range(texts: Texts, first: int, last: int) -> tuple[int, Iterator[bytes]]:
    """Encode the texts from `first` to `last - 1`; return the block's size and its bytes in chunks.

    Raises InputError for a text of 4 GiB or more.
    """
    if isinstance(texts, DiskLines):
        lengths = texts.get_line_lengths(first, last)
        if max(lengths) >= MISSING_LENGTH:
            raise InputError("a report cannot show a line of 4 GiB or more")
        length_block = encode_indices(lengths)
        return len(length_block) + sum(lengths), chain(
            [length_block], texts.iter_joined_lines(first, last)
        )
    block = encode_texts(texts[first:last])
    return len(block), iter([block])


def encode_indices(numbers: Iterable[int]) -> bytes:
    """Encode a column of numbers below 2³²."""
    return _to_little_endian(array("I", numbers))


def encode_floats(numbers: Iterable[float]) -> bytes:
    """Encode a table with a single column of floats."""
    return b"\x08" + _to_little_endian(array("d", numbers))


def encode_table(table: Table) -> bytes:
    """Encode the columns of a table, each with the smallest width that fits its numbers."""
    numbers = memoryview(table).cast("B").cast("q")
    return b"".join(_encode_column(numbers[column :: table.width]) for column in range(table.width))


def _encode_column(numbers: memoryview) -> bytes:
    """Encode a column of non-negative 8-byte integers.

    Slicing removes the bytes that are 0 in all numbers; it is as fast as copying.
    """
    little = sys.byteorder == "little"
    wide_bytes = numbers.tobytes() if little else _to_little_endian(array("q", numbers.tolist()))
    count = len(numbers)
    used_bytes = max(
        (byte + 1 for byte in range(8) if wide_bytes[byte::8].count(0) < count), default=1
    )
    if used_bytes > 4:
        return encode_floats(numbers.tolist())
    width = 1 if used_bytes == 1 else 2 if used_bytes == 2 else 4
    narrow_bytes = bytearray(count * width)
    for byte in range(width):
        narrow_bytes[byte::width] = wide_bytes[byte::8]
    return bytes([width]) + narrow_bytes


def _to_little_endian(numbers: array[Any]) -> bytes:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


# ---- gzip and base64 ----

# zlib level 6 makes large reports 6% smaller than level 1, but takes twice as long. For small
# reports, the time does not matter.
THOROUGH_SIZE_LIMIT = 4 << 20
THOROUGH_LEVEL, QUICK_LEVEL = 6, 1

# The header has no file name, time or operating system, so output is reproducible.
GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"


def compress(data: bytes, level: int) -> bytes:
    """Compress data to a gzip file whose header does not name the operating system."""
    compressed = zlib.compress(data, level, zlib.MAX_WBITS | 16)
    return GZIP_HEADER + compressed[len(GZIP_HEADER) :]


def encode_blocks(blocks: Mapping[str, bytes], workers: int = 1) -> Iterator[tuple[str, bytes]]:
    """Yield each block's name and its content, gzipped and base64-encoded."""
    size = sum(map(len, blocks.values()))
    compression = THOROUGH_LEVEL if size <= THOROUGH_SIZE_LIMIT else QUICK_LEVEL

    def encode_block(block: bytes) -> bytes:
        return b64encode(compress(block, compression))

    if workers == 1 or len(blocks) < 2:
        yield from ((name, encode_block(block)) for name, block in blocks.items())
        return
    # Threads run in parallel, because zlib releases the GIL.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        yield from zip(blocks, pool.map(encode_block, blocks.values()), strict=True)


# ---- JSON in HTML ----

# Characters to escape: some could end a script element or a line, UTF-8 cannot encode surrogates,
# and some programs treat the others as the end of a text.
_UNSAFE_CHARACTERS = re.compile("[<>&\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def to_script_json(value: Any) -> str:
    r"""Convert a value to JSON that is safe inside a script element.

    >>> print(to_script_json({"a": "</script>"}))
    {"a":"\u003c/script\u003e"}
    """
    import json

    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE_CHARACTERS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
