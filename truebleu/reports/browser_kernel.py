"""The WebAssembly scoring kernel for web pages, and a table that lowercases text as in Python."""

from __future__ import annotations

from array import array
from functools import cache
from pathlib import Path
from typing import Any

from truebleu.metrics.bleu import BLEU
from truebleu.reports import payload
from truebleu.text import tokenizers

# kernel/backend.py writes this file when the package is built.
KERNEL_PATH = Path(__file__).with_name("kernel.wasm")

MISSING_KERNEL = (
    "truebleu was built without the browser kernel, so pages cannot recompute scores. "
    "Run `rustup target add wasm32-unknown-unknown` and reinstall truebleu from source."
)

# Names of the blocks that contain the kernel and the lower-case table.
KERNEL_BLOCKS = {"kernel": "kernel", "lowercase": "lowercase"}

# Maximum number of segments for which a page computes counts on load. Larger pages contain the
# counts. Counting two systems with 100,000 segments for BLEU takes a third of a second.
EAGER_LIMITS = {"BLEU": 100_000, "chrF": 5_000, "TER": 1_000}
OTHER_EAGER_LIMIT = 10_000

# Number of letters per chunk. Chunks that lowercasing does not change are skipped.
CHUNK_SIZE = 256


def get_kernel_settings(metric: Any) -> dict[str, Any]:
    """Return the metric settings for the browser kernel."""
    settings: dict[str, Any] = metric.build_kernel_settings()
    if isinstance(metric, BLEU):  # the browser kernel computes the formulas of all variants
        del settings["effective_order"]
        names = ("smoothing", "no_match", "brevity_penalty", "empty_brevity", "arithmetic")
        settings |= {name: metric.parameters[name] for name in (*names, "aggregate")}
        settings["missing"] = metric.missing_orders
    # A tokenizer that the browser kernel lacks is replaced by "none".
    return settings if _has_tokenizer(settings) else settings | {"tokenizer": "none"}


def can_compute_statistics(metric: Any) -> bool:
    """Return whether the browser kernel can compute the statistics of this metric."""
    return bool(metric.reads_text) and _has_tokenizer(metric.build_kernel_settings())


def can_compute_on_load(metric: Any, segment_count: int) -> bool:
    """Return whether a page can compute the statistics of this many segments on load."""
    limit = EAGER_LIMITS.get(metric.NAME, OTHER_EAGER_LIMIT)
    return can_compute_statistics(metric) and segment_count <= limit


def _has_tokenizer(settings: dict[str, Any]) -> bool:
    return settings.get("tokenizer", "whole") in (*tokenizers.KERNEL_TOKENIZERS, "whole")


@cache
def load_kernel_blocks() -> dict[str, bytes]:
    """Return the kernel's blocks, or an empty dict if the package was built without the kernel."""
    if not KERNEL_PATH.is_file():
        return {}
    return {
        "kernel": KERNEL_PATH.read_bytes(),
        "lowercase": payload.encode_indices(list_lowercase_pairs()),
    }


def list_lowercase_pairs() -> list[int]:
    """Return the code point of each upper-case letter, followed by that of its lower-case letter.

    No letter beyond U+1FFFF has case. The lower case of capital sigma depends on its context, and
    dotted capital I becomes two characters. The kernel handles both itself.
    """
    points = array("I", (*range(0x80, 0xD800), *range(0xE000, 0x20000)))
    letters = points.tobytes().decode("utf-32").replace("\u03a3", "").replace("\u0130", "")
    lowered = letters.lower()
    code_points = []
    for start in range(0, len(letters), CHUNK_SIZE):
        upper, lower = letters[start : start + CHUNK_SIZE], lowered[start : start + CHUNK_SIZE]
        if upper != lower:
            pairs = zip(upper, lower, strict=True)
            code_points += [ord(letter) for pair in pairs if pair[0] != pair[1] for letter in pair]
    return code_points
