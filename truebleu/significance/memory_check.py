"""Check that enough memory is available for resampling."""

from __future__ import annotations

# Bytes per segment and number of columns of the kernel's layouts, by type of number
# (kernel/src/resample.rs), and bytes of random draws in memory.
COLUMN_LAYOUTS = {"integer": (64, 32), "single": (256, 64)}
DRAW_BYTES = 1 << 23


def check_memory(segments: int, columns: int, workers: int = 1, kind: str = "integer") -> None:
    """Raise MemoryError, with the required amount, if tables of this size cannot be resampled."""
    segment_bytes, columns_per_layout = COLUMN_LAYOUTS[kind]
    # An extra layout holds columns of larger numbers.
    layouts = -(-columns // columns_per_layout) + (kind == "integer")
    needed_bytes = segments * segment_bytes * layouts + max(DRAW_BYTES, 4 * segments * workers)
    try:
        # The system reserves memory for untouched zeros without filling it.
        bytes(needed_bytes)
    except MemoryError:
        raise MemoryError(
            f"resampling {segments:,} segments needs about {needed_bytes / 1e6:,.0f} MB of memory"
        ) from None
