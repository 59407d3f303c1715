"""Locks between processes, which the system frees when their owner ends."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

# Seconds between two tries, and until the wait is reported.
INTERVAL, PATIENCE = 0.05, 1.0

# The thread of this process that holds a path. NFS locks do not keep threads of one process apart.
_owners: dict[tuple[str, int], int] = {}


@contextmanager
def held(path: str, report: Callable[[str], None]) -> Iterator[bool]:
    """Hold the lock file `path`.locked; yield False where the file system has no locks.

    A thread that holds the lock gets it again. `report` is called once if another process has it
    for long. Raises OSError if the folder cannot be written to.
    """
    key, thread = (os.path.abspath(path), os.getpid()), threading.get_ident()
    # sacreBLEU leaves files that end in .lock.
    lock = f"{key[0]}.locked"
    if _owners.get(key) == thread:
        yield True
        return
    begin, is_reported, file = time.monotonic(), False, None
    try:
        while _owners.setdefault(key, thread) != thread or (file := _try(lock)) is None:
            if not is_reported and time.monotonic() - begin >= PATIENCE:
                report(f"truebleu: waiting for another process, which works on {path} ({lock})")
                is_reported = True
            time.sleep(INTERVAL)
        yield file[1]
    finally:
        if file is not None:
            # Windows removes no open file.
            with suppress(OSError):
                os.unlink(lock)
            os.close(file[0])
        if _owners.get(key) == thread:
            del _owners[key]


def _try(lock: str) -> tuple[int, bool] | None:
    """Return the open lock file and whether it is locked; None if another process has locked it."""
    descriptor = os.open(lock, os.O_CREAT | os.O_RDWR, 0o666)
    try:
        is_locked = lock_file(descriptor, wait=False)
        # Its last owner may have removed it, and another process have made a new one.
        if os.path.samestat(os.fstat(descriptor), os.stat(lock)):
            return descriptor, is_locked
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def lock_file(descriptor: int, *, wait: bool) -> bool:
    """Lock an open file; return False where the system or the file system has no locks.

    Raises BlockingIOError if another process has locked it and `wait` is false.
    """
    try:
        import fcntl
    except ImportError:
        return _lock_on_windows(descriptor, wait=wait)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True


def _lock_on_windows(descriptor: int, *, wait: bool) -> bool:
    try:
        import msvcrt
    except ImportError:
        return False
    while True:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except PermissionError:
            if not wait:
                raise BlockingIOError from None
            time.sleep(INTERVAL)
        else:
            return True
