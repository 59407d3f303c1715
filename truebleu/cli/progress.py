"""How far a long run is, on a terminal's standard error."""

from __future__ import annotations

import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

# Nobody needs to be told of what is over in a second.
PATIENCE = 1.0
EVERY = 0.2


class Progress:
    """A line that says how far a run is while it goes on, and is gone afterwards."""

    def __init__(self, *, quiet: bool) -> None:
        self._shown = False
        self._silent = quiet or sys.stderr is None or not sys.stderr.isatty()
        self._start = time.monotonic()
        self._next = self._start + PATIENCE

    def __enter__(self) -> Self:
        return self

    @property
    def silent(self) -> bool:
        """Whether nothing is ever shown."""
        return self._silent

    def __call__(self, segments: int, system: str = "") -> None:
        """Says that so many segments have been read."""
        self._tell(f"{segments:,} segments", system)

    def share(self, share: float, system: str = "") -> None:
        """Says that such a part of everything has been read."""
        self._tell(f"{share:.0%}", system)

    def _tell(self, what: str, system: str) -> None:
        now = time.monotonic()
        if self._silent or now < self._next:
            return
        self._next = now + EVERY
        self._shown = True
        name = f"{system}: " if system else ""
        sys.stderr.write(f"\r\x1b[K{name}{what}, {now - self._start:.0f} s")
        sys.stderr.flush()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
