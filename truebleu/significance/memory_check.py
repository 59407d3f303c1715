"""The memory that resampling needs, asked for before the work."""

from __future__ import annotations

# Bytes per segment of so many columns in the kernel's layouts, by kind of number
# (kernel/src/resample.rs), and bytes of draws at a time.
COLUMNS = {"integer": (64, 32), "single": (256, 64)}
DRAWS = 1 << 23


def reserve(segments: int, columns: int, workers: int = 1, kind: str = "integer") -> None:
    """Raises MemoryError, with the need, if tables of this size cannot be resampled."""
    size, together = COLUMNS[kind]
    # One layout more for columns of larger numbers.
    layouts = -(-columns // together) + (kind == "integer")
    needed = segments * size * layouts + max(DRAWS, 4 * segments * workers)
    try:
        # Zeros that nobody reads: the system has to promise the memory, not to fill it.
        bytes(needed)
    except MemoryError:
        raise MemoryError(
            f"resampling {segments:,} segments needs about {needed / 1e6:,.0f} MB of memory"
        ) from None
