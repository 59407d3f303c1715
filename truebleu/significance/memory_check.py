"""Check that enough memory is available for resampling."""

from __future__ import annotations

# The kernel's memory layouts (kernel/src/resample.rs): bytes per segment, and number of columns, by
# number type. Random draws take an additional DRAW_BYTES.
COLUMN_LAYOUTS = {"integer": (64, 32), "single": (256, 64)}
DRAW_BYTES = 1 << 23


def check_memory(segments: int, columns: int, workers: int = 1, kind: str = "integer") -> None:
    """Raise MemoryError, stating the required amount, if resampling needs too much memory."""
    segment_bytes, columns_per_layout = COLUMN_LAYOUTS[kind]
    # A separate layout holds the columns with larger numbers.
    layouts = -(-columns // columns_per_layout) + (kind == "integer")
    needed_bytes = segments * segment_bytes * layouts + max(DRAW_BYTES, 4 * segments * workers)
    try:
        # This only reserves the memory, because the zeros are never accessed.
        bytes(needed_bytes)
    except MemoryError:
        raise MemoryError(
            f"resampling {segments:,} segments needs about {needed_bytes / 1e6:,.0f} MB of memory"
        ) from None
