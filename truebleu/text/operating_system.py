"""Operating system functions: temporary folders, atomic writing, locks and safe paths."""

from __future__ import annotations

import os
import re
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from truebleu._kernel import InputError

# ---- temporary folders that are always removed ----


@contextmanager
def make_temporary_folder() -> Iterator[str]:
    """Yield a new folder, which is removed even if a signal arrives during its creation."""
    import shutil
    import tempfile
    from secrets import token_hex

    folder = os.path.join(tempfile.gettempdir(), f"truebleu-{token_hex(8)}")
    try:
        os.mkdir(folder, 0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# ---- atomic files ----


@contextmanager
def open_atomically(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a file for writing, which replaces `path` only when it is complete.

    The bytes are first written to a file with another name in the same folder. After an exception
    inside the context, `path` stays unchanged. Files that are not regular (/dev/null, /dev/fd/3, a
    named pipe) cannot be replaced, so they are written directly.
    """
    place = os.fspath(path)
    try:
        mode = os.stat(place).st_mode
    except FileNotFoundError:
        mode = None
    is_device = os.path.abspath(place).startswith(("/dev/", "/proc/"))
    if is_device or (mode is not None and not stat.S_ISREG(mode)):
        with open(place, "wb") as device:
            yield device
        return
    if mode is not None:
        # Opening the file raises an error if it is read-only.
        open(place, "r+b").close()
    # Replace the target of a symbolic link, not the link.
    place = os.path.realpath(place)
    start = os.path.join(os.path.dirname(place), f".truebleu-{os.getpid()}-")
    temporary, number = "", 0
    file: BinaryIO | None = None
    try:
        while file is None:
            # Set the name before the file exists, so that the file is removed after a signal.
            temporary = f"{start}{number}"
            try:
                file = open(temporary, "xb")  # noqa: SIM115
            except FileExistsError:
                number += 1
            except OSError as error:
                error.filename = place
                raise
        with file:
            if mode is not None:
                os.chmod(temporary, stat.S_IMODE(mode))
            yield file
        os.replace(temporary, place)
        temporary = ""
    finally:
        if temporary:
            with suppress(FileNotFoundError):
                os.unlink(temporary)


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file that appears only when it is complete."""
    with open_atomically(path) as file:
        file.write(content)


# ---- locks between processes; the system releases them when their owner ends ----

# Number of seconds between two attempts to lock a file, and number of seconds after which the wait
# is reported.
LOCK_RETRY_SECONDS, LOCK_REPORT_SECONDS = 0.05, 1.0
# The threads of this process that hold a lock. NFS locks do not distinguish threads of the same
# process.
_owners: dict[tuple[str, int], int] = {}


@contextmanager
def hold_lock(path: str, report: Callable[[str], None]) -> Iterator[bool]:
    """Hold the lock file `path`.locked; yield False if the file system does not support locks.

    A thread that holds the lock may acquire it again. `report` is called once if another process
    holds it for more than a second. Raises OSError if the folder is not writable.
    """
    key, thread = (os.path.abspath(path), os.getpid()), threading.get_ident()
    # sacreBLEU leaves behind files with the suffix .lock.
    lock = f"{key[0]}.locked"
    if _owners.get(key) == thread:
        yield True
        return
    begin, is_reported, file = time.monotonic(), False, None
    try:
        while _owners.setdefault(key, thread) != thread or (file := _try_lock_file(lock)) is None:
            if not is_reported and time.monotonic() - begin >= LOCK_REPORT_SECONDS:
                report(f"truebleu: waiting for another process that uses {path} ({lock})")
                is_reported = True
            time.sleep(LOCK_RETRY_SECONDS)
        yield file[1]
    finally:
        if file is not None:
            # Windows cannot remove open files.
            with suppress(OSError):
                os.unlink(lock)
            os.close(file[0])
        if _owners.get(key) == thread:
            del _owners[key]


def _try_lock_file(lock_path: str) -> tuple[int, bool] | None:
    """Return the open lock file and whether it is locked, or None if another process holds it."""
    descriptor = os.open(lock_path, os.O_CREAT | os.O_RDWR, 0o666)
    try:
        is_locked = lock_file(descriptor, wait=False)
        # The last owner may have removed the file, and another process may have created it again.
        if os.path.samestat(os.fstat(descriptor), os.stat(lock_path)):
            return descriptor, is_locked
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def lock_file(descriptor: int, *, wait: bool) -> bool:
    """Lock an open file; return False if the system or the file system does not support locks.

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
            time.sleep(LOCK_RETRY_SECONDS)
        else:
            return True


# ---- safe paths ----

# Windows reserves these device names, with any suffix.
WINDOWS_DEVICE = r"(?i:con|prn|aux|nul|com\d|lpt\d)\s*(?:[.:]|$)"
# The pattern rejects devices, drives, names of only dots and spaces, control characters,
# backslashes, and lone surrogates, except surrogates that represent invalid UTF-8 bytes.
_PART = rf"(?!{WINDOWS_DEVICE}|[A-Za-z]:)(?=.*[^. ])[^\x00-\x1f\x7f\\\ud800-\udc7f\udd00-\udfff]+"
# Description, for messages, of the names that `is_safe_name` accepts.
SAFE_NAME = "a relative path without .., backslashes, drive letters or device names"


def is_safe_name(name: str) -> bool:
    r"""Return whether a relative path stays inside its folder on every operating system.

    >>> is_safe_name("xml/en-de.xml"), is_safe_name("../x"), is_safe_name("C:x"), is_safe_name("/x")
    (True, False, False, False)
    """
    return all(re.fullmatch(_PART, part) for part in name.split("/"))


def join_safe_path(folder: str, *names: str) -> str:
    """Join a folder and names into a path. Raises InputError if a name is not safe."""
    for name in names:
        if not is_safe_name(name):
            raise InputError(f"{folder}: unsafe file name {name!r} (expected {SAFE_NAME})")
    return os.path.join(folder, *names)


def join_contained_path(folder: str, *names: str) -> str:
    """Return the path of a file in a folder, after checking that writing or deleting it is safe.

    Raises InputError if a name is not safe, or if a symbolic link leads out of the folder.
    """
    path = join_safe_path(folder, *names)
    if not os.path.realpath(path).startswith(os.path.join(os.path.realpath(folder), "")):
        raise InputError(
            f"{path}: a symbolic link leads out of {folder} to {os.path.realpath(path)}. Remove it."
        )
    return path
