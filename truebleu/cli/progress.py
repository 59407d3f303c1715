"""Progress line on standard error, with the percentage done and the remaining time."""

from __future__ import annotations

import sys
import time
from typing import Self

from truebleu.text.terminal_layout import cut_text, get_terminal_width

# Shorter tasks show no progress line.
FIRST_UPDATE_SECONDS = 1.0
UPDATE_INTERVAL_SECONDS = 0.2
# Resolution of `report_fraction`.
FRACTION_STEPS = 1 << 20


class Progress:
    """Progress line on a terminal. It is cleared at the end of a task."""

    def __init__(self, *, quiet: bool) -> None:
        self._is_visible = False
        self.is_silent = quiet or sys.stderr is None or not sys.stderr.isatty()
        """True if progress is never shown."""
        self._start = time.monotonic()
        self._next = self._start + FIRST_UPDATE_SECONDS
        self._activity = ""
        self._activity_start = self._start

    def __enter__(self) -> Self:
        return self

    def __call__(self, activity: str, done: int, total: int | None = None) -> None:
        """Show the activity and its progress: items done, and the total number if known."""
        now = time.monotonic()
        if activity != self._activity:
            self._activity, self._activity_start = activity, now
        if self.is_silent or now < self._next:
            return
        self._next = now + UPDATE_INTERVAL_SECONDS
        self._is_visible = True
        line = format_progress(activity, done, total, now - self._activity_start)
        # A longer line would wrap, and could not be cleared.
        sys.stderr.write(f"\r\x1b[K{cut_text(line, get_terminal_width(80, 2) - 1)}")
        sys.stderr.flush()

    @property
    def callback(self) -> Progress | None:
        """This progress line as a callback, or None if progress is never shown."""
        return None if self.is_silent else self

    def report_fraction(self, activity: str, fraction: float) -> None:
        """Show the current activity and the completed fraction, from 0 to 1."""
        self(activity, round(fraction * FRACTION_STEPS), FRACTION_STEPS)

    def clear(self) -> None:
        """Remove the progress line before other output."""
        if self._is_visible:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        self._is_visible = False

    def __exit__(self, *_: object) -> None:
        self.clear()


def format_progress(activity: str, done: int, total: int | None, seconds: float) -> str:
    """Return the progress line for an activity that has taken this many seconds.

    >>> format_progress("reading", 1200, None, 3.2)
    'reading: 1,200, 3 s'
    >>> format_progress("resampling", 2500, 10000, 15)
    'resampling: 25%, 2,500 of 10,000, 45 s left'
    """
    if not total or total < done:
        return f"{activity}: {done:,}, {seconds:.0f} s"
    left = f", {_format_seconds(seconds * (total - done) / done)} left" if done else ""
    counts = "" if total == FRACTION_STEPS else f", {done:,} of {total:,}"
    return f"{activity}: {done / total:.0%}{counts}{left}"


def _format_seconds(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
