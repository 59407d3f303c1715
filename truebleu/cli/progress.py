"""How far a long run is, on a terminal's standard error: a share, and how long it will take."""

from __future__ import annotations

import sys
import time
from typing import Self

# Nobody needs to be told of what is over in a second.
PATIENCE = 1.0
EVERY = 0.2
# A share is told in so many parts.
SHARES = 1 << 20


class Progress:
    """A line that says how far a run is while it goes on, and is gone afterwards."""

    def __init__(self, *, quiet: bool) -> None:
        self._shown = False
        self.silent = quiet or sys.stderr is None or not sys.stderr.isatty()
        """True if nothing is ever shown."""
        self._start = time.monotonic()
        self._next = self._start + PATIENCE
        # What is being done, and since when.
        self._doing = ""
        self._since = self._start

    def __enter__(self) -> Self:
        return self

    def __call__(self, doing: str, done: int, total: int | None = None) -> None:
        """Says what is being done, how much of it is done, and how much there is, if known."""
        now = time.monotonic()
        if doing != self._doing:
            self._doing, self._since = doing, now
        if self.silent or now < self._next:
            return
        self._next = now + EVERY
        self._shown = True
        sys.stderr.write(f"\r\x1b[K{told(doing, done, total, now - self._since)}")
        sys.stderr.flush()

    @property
    def callback(self) -> Progress | None:
        """The progress, for functions that take None where nothing is shown."""
        return None if self.silent else self

    def share(self, doing: str, share: float) -> None:
        """The same where only the share is known."""
        self(doing, round(share * SHARES), SHARES)

    def clear(self) -> None:
        """Takes the line away, before anything else is shown."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        self._shown = False

    def __exit__(self, *_: object) -> None:
        self.clear()


def told(doing: str, done: int, total: int | None, seconds: float) -> str:
    """The line after so many seconds.

    >>> told("reading", 1200, None, 3.2)
    'reading: 1,200, 3 s'
    >>> told("resampling", 2500, 10000, 15)
    'resampling: 25%, 2,500 of 10,000, 45 s left'
    """
    if not total or total < done:
        return f"{doing}: {done:,}, {seconds:.0f} s"
    left = f", {_time(seconds * (total - done) / done)} left" if done else ""
    counts = "" if total == SHARES else f", {done:,} of {total:,}"
    return f"{doing}: {done / total:.0%}{counts}{left}"


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
