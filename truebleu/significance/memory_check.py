"""The memory that resampling needs, asked for before the work."""

from __future__ import annotations

# Bytes per segment of so many columns in the kernel's layouts, by kind of number
# (kernel/src/resample.rs), and bytes of draws at a time.
COLUMN_LAYOUTS = {"integer": (64, 32), "single": (256, 64)}
DRAW_BYTES = 1 << 23


def check_memory(segments: int, columns: int, workers: int = 1, kind: str = "integer") -> None:
    """Raises MemoryError, with the need, if tables of this size cannot be resampled."""
    segment_bytes, columns_per_layout = COLUMN_LAYOUTS[kind]
    # One layout more for columns of larger numbers.
    layouts = -(-columns // columns_per_layout) + (kind == "integer")
    needed_bytes = segments * segment_bytes * layouts + max(DRAW_BYTES, 4 * segments * workers)
    try:
        # Zeros that nobody reads: the system has to promise the memory, not to fill it.
        bytes(needed_bytes)
    except MemoryError:
        raise MemoryError(
            f"resampling {segments:,} segments needs about {needed_bytes / 1e6:,.0f} MB of memory"
        ) from None
