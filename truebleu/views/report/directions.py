"""The direction of a side's texts: that of most of its letters, not of the first one of a text.

A Hebrew text that begins with a name in Latin letters runs from right to left as its neighbours do.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from truebleu.text.segments import Texts

# The first bytes in UTF-8 of letters from right to left (U+0590 to U+07FF), and of all others. What
# begins with E2 and EF is mostly no letter. directions.js has the same.
RIGHT = bytes(range(0xD6, 0xE0))
LEFT = (
    bytes(range(0x41, 0x5B))
    + bytes(range(0x61, 0x7B))
    + bytes(range(0xC3, 0xD6))
    + bytes([0xE0, 0xE1, *range(0xE3, 0xEE), 0xF0])
)


def direction(columns: Sequence[Texts]) -> str | None:
    """The direction, "rtl" or "ltr", of all texts of some columns; None if they have no letters.

    Bytes are counted, which takes a thousandth of the time that letters would.

    >>> direction([["Windows הוא שם".encode(), "שלום עולם".encode()]])
    'rtl'
    """
    right = left = 0
    for column in columns:
        whole = b"".join(filter(None, column))
        right += len(whole) - len(whole.translate(None, RIGHT))
        left += len(whole) - len(whole.translate(None, LEFT))
    if right == left == 0:
        return None
    return "rtl" if right > left else "ltr"
