"""What a page needs to compute: the kernel as WebAssembly, and this Python's lower-casing."""

from __future__ import annotations

from array import array
from functools import cache
from pathlib import Path
from typing import Any

from truebleu.reports import payload
from truebleu.text import tokenizers

# kernel/backend.py puts it there when the package is built.
PLACE = Path(__file__).with_name("kernel.wasm")

MISSING_KERNEL = (
    "truebleu was built without the kernel for pages, so pages cannot recompute scores. "
    "Run `rustup target add wasm32-unknown-unknown` and install truebleu from its source again."
)

# Its names in the manifest are those of the blocks.
BLOCKS = {"kernel": "kernel", "lowercase": "lowercase"}

# Of so many segments a page counts when it is opened what takes no longer than a blink; of more it
# has the counts. Two systems' BLEU is counted for 100,000 segments in a third of a second.
SOON = {"BLEU": 100_000, "chrF": 5_000, "TER": 1_000}
SOON_OTHERS = 10_000

# Letters that are lowered together: most parts have none with a case.
PART = 256


def recipe(metric: Any) -> dict[str, Any]:
    """What the kernel in a page is asked for."""
    asked: dict[str, Any] = metric.recipe
    # A tokenizer that it does not have splits nothing there.
    return asked if _splits(asked) else asked | {"tokenizer": "none"}


def counts(metric: Any) -> bool:
    """True if the kernel in a page can count text for this metric."""
    return bool(metric.reads_text) and _splits(metric.recipe)


def soon(metric: Any, segments: int) -> bool:
    """True if it can count so many segments when the page is opened."""
    return counts(metric) and segments <= SOON.get(metric.NAME, SOON_OTHERS)


def _splits(asked: dict[str, Any]) -> bool:
    return asked.get("tokenizer", "whole") in (*tokenizers.KERNEL_TOKENIZERS, "whole")


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
    points = array("I", (*range(0x80, 0xD800), *range(0xE000, 0x20000)))
    letters = points.tobytes().decode("utf-32").replace("\u03a3", "").replace("\u0130", "")
    lowered = letters.lower()
    found = []
    for start in range(0, len(letters), PART):
        upper, lower = letters[start : start + PART], lowered[start : start + PART]
        if upper != lower:
            pairs = zip(upper, lower, strict=True)
            found += [ord(letter) for pair in pairs if pair[0] != pair[1] for letter in pair]
    return found
