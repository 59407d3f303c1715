"""Locks between processes: a file that only one of them can make.

Callers call `download.locked`.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager, suppress

from truebleu.text.checks import is_whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Seconds after which a lock that nobody has touched belongs to nobody; and one without an owner,
# which is written at once unless its process was killed just then.
STALE, BRIEF = 600, 10
# Seconds between two looks at a lock of another process, and until the wait is spoken of.
LOOK, PATIENCE = 0.05, 1.0

# What the threads of this process hold: a thread that has a lock does not wait for itself.
_held: set[tuple[str, int, int]] = set()


@contextmanager
def held(path: str, say: Callable[[str], None]) -> Iterator[Callable[[], None]]:
    """What `download.locked` does; `say` is told whom it waits for."""
    import threading

    key = os.path.abspath(path), os.getpid(), threading.get_ident()
    # sacreBLEU has files that end in .lock, which it leaves.
    lock = f"{key[0]}.locked"
    if key in _held:
        yield _Touch(lock)
        return
    mine = f"{os.getpid()} {_machine()} {time.time_ns()}\n".encode()
    begin, is_said = time.monotonic(), False
    while not _made(lock, mine):
        if _is_stale(lock):
            _break(lock)
            continue
        if not is_said and time.monotonic() - begin >= PATIENCE:
            owner = _owner(lock)
            who = f"process {owner[0]} on {owner[1].partition(':')[0]}" if owner else "a process"
            say(f"truebleu: waiting for {who}, which works on {path} ({lock})")
            is_said = True
        time.sleep(LOOK)
    _held.add(key)
    try:
        yield _Touch(lock)
    finally:
        _held.discard(key)
        # It may have been stale, and have another owner now.
        if _content(lock) == mine:
            _remove(lock)


def _machine() -> str:
    """This machine, and on Linux whose numbers of processes: containers have their own."""
    import platform

    try:
        room = os.readlink("/proc/self/ns/pid")
    except OSError:
        room = ""
    return f"{platform.node() or 'localhost'}:{room}".replace(" ", "-")


def _made(lock: str, content: bytes) -> bool:
    """Makes a lock, unless it is there."""
    try:
        descriptor = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    except FileExistsError:
        return False
    try:
        os.write(descriptor, content)
    except OSError:
        os.close(descriptor)
        os.unlink(lock)
        raise
    os.close(descriptor)
    return True


def _content(lock: str) -> bytes:
    try:
        with open(lock, "rb") as file:
            return file.read(1000)
    except OSError:
        return b""


def _owner(lock: str) -> tuple[int, str] | None:
    """The process of a lock and its machine; None if it is not written yet."""
    words = _content(lock).decode("utf-8", "replace").split()
    return (int(words[0]), words[1]) if len(words) == 3 and is_whole_number(words[0]) else None


def _is_stale(lock: str) -> bool:
    try:
        age = time.time() - os.stat(lock).st_mtime
    except FileNotFoundError:
        return False
    owner = _owner(lock)
    if age > (BRIEF if owner is None else STALE):
        return True
    return owner is not None and owner[1] == _machine() and not _is_alive(owner[0])


def _is_alive(process: int) -> bool:
    if sys.platform == "win32":
        return True  # os.kill would end it; the lock gets stale by its age
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _break(lock: str) -> None:
    """Removes a stale lock. Of those who wait one may, lest it removes the next owner's."""
    breaker = f"{lock}.stale"
    if not _made(breaker, b""):
        if _is_stale(breaker):
            _remove(breaker)
        time.sleep(LOOK)
        return
    try:
        if _is_stale(lock):
            _remove(lock)
    finally:
        _remove(breaker)


def _remove(lock: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(lock)


class _Touch:
    """Says that the owner of a lock still works; called often, it says so now and then."""

    __slots__ = ("_last", "_lock")

    def __init__(self, lock: str) -> None:
        self._lock = lock
        self._last = time.monotonic()

    def __call__(self) -> None:
        now = time.monotonic()
        if now - self._last > STALE / 60:
            self._last = now
            with suppress(OSError):
                os.utime(self._lock)
