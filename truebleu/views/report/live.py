"""What a page needs to compute: the kernel as WebAssembly, and this Python's lower-casing."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from truebleu.views.report import payload

# kernel/backend.py puts it there when the package is built.
PLACE = Path(__file__).with_name("kernel.wasm")

# Its names in the manifest are those of the blocks.
BLOCKS = {"kernel": "kernel", "lowercase": "lowercase"}


@cache
def blocks() -> dict[str, bytes]:
    """The blocks; none if the package was built without the kernel for pages."""
    if not PLACE.is_file():
        return {}
    return {"kernel": PLACE.read_bytes(), "lowercase": payload.of_indices(_lowercase())}


def _lowercase() -> list[int]:
    """The letters that have a small one, and that, in turn.

    No letter with a case lies beyond U+1FFFF. Capital sigma and dotted capital I depend on what is
    around them, or become two characters: the kernel knows both.
    """
    points = (*range(0x80, 0xD800), *range(0xE000, 0x20000))
    upper = "".join(map(chr, points)).replace("\u03a3", "").replace("\u0130", "")
    pairs = zip(upper, upper.lower(), strict=True)
    return [ord(letter) for pair in pairs if pair[0] != pair[1] for letter in pair]
