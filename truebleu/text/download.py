"""Files from the network: whole or not at all, and those that they should be.

This module belongs to the lowest layer because tokenizers need models.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from truebleu._kernel import InputError
from truebleu.text.operating_system import hold_lock

# Bytes that a download may have whose size is not known.
LARGEST = 2 * 10**9


@dataclass(frozen=True)
class Source:
    """What is to be fetched."""

    addresses: tuple[str, ...]
    """Mirrors, in the order in which they are asked."""

    sha256: str | None = None
    md5: str | None = None
    size: int | None = None
    """In bytes."""

    @property
    def sums(self) -> tuple[tuple[str, str | None], ...]:
        """The sums by which files are verified, if they are known; the first is preferred."""
        return ("SHA-256", self.sha256), ("MD5", self.md5)


@dataclass(frozen=True)
class Receipt:
    """What was fetched."""

    address: str
    """Where it came from; "" if it was there."""

    size: int
    md5: str
    sha256: str

    verified: str
    """By what: "SHA-256", "MD5", "content", or "" for a first download that nothing is known of."""


@dataclass(frozen=True)
class Settings:
    """What a command line says of downloads, before the environment."""

    offline: bool | None = None
    mirror: str | None = None
    quiet: bool = False
    """Hide progress and retry messages."""


settings = Settings()


class DownloadError(InputError):
    """A file that no address gives, or not all of it, or another one."""

    exit_status = 1
    # True if a server's certificate could not be verified.
    of_certificate = False
    # The kind of a sum that is wrong, what it was and what was expected.
    wrong_sum: tuple[str, str, str] | None = None


class OfflineError(DownloadError):
    """A file that is not here, when the user has forbidden downloads."""

    exit_status = 4


@contextmanager
def using(*, offline: bool | None = None, mirror: str | None = None) -> Iterator[None]:
    """Downloads as a caller says it, while `with` lasts; None leaves a setting as it is."""
    global settings  # noqa: PLW0603 (what a command line sets is of the whole process)
    before = settings
    settings = replace(
        before,
        offline=before.offline if offline is None else offline,
        mirror=before.mirror if mirror is None else mirror,
    )
    try:
        yield
    finally:
        settings = before


def is_offline() -> bool:
    """True if the user has forbidden downloads."""
    if settings.offline is not None:
        return settings.offline
    return os.environ.get("TRUEBLEU_OFFLINE", "0") not in ("", "0")


def why_offline() -> str:
    """What forbids downloads, for messages."""
    forbidden = "downloads are forbidden (--offline, offline=True)"
    return forbidden if settings.offline else "TRUEBLEU_OFFLINE is set"


def mirror() -> str | None:
    """The address that the user wants asked first; the host and the path of a file follow it.

    Raises InputError for what is no address.
    """
    found = settings.mirror or os.environ.get("TRUEBLEU_MIRROR")
    if found and not found.startswith(("https://", "http://")):
        what = "mirror" if settings.mirror else "environment variable TRUEBLEU_MIRROR"
        raise InputError(f"{what}: {found!r} is no address, as https://mirror.example/files is")
    return found or None


def cache_folder() -> str:
    """The folder of what is downloaded, which may not exist."""
    if place := os.environ.get("TRUEBLEU_CACHE"):
        return os.path.abspath(os.path.expanduser(place))
    place = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(place):
        return os.path.join(place, "truebleu")
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        return _temporary("there is no home folder")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Caches", "truebleu")
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
        return os.path.join(local, "truebleu", "cache")
    return os.path.join(home, ".cache", "truebleu")


def folders() -> tuple[str, ...]:
    """Where this process finds what was downloaded: the cache, and its temporary folder, if any."""
    has_own = _made_for_this.cache_info().currsize
    return (cache_folder(), _made_for_this()) if has_own else (cache_folder(),)


def writable_folder() -> str:
    """`cache_folder()`, made if need be; a temporary one if nothing can be written there.

    The temporary folder lasts as long as the process, which says so once.
    """
    return _writable(cache_folder())


@cache
def _writable(folder: str) -> str:
    import tempfile

    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        return _temporary(f"{folder}: {error.strerror}")


@cache
def _made_for_this() -> str:
    import atexit
    import shutil
    import tempfile

    process = os.getpid()
    folder = tempfile.mkdtemp(prefix="truebleu-")

    def remove() -> None:
        # A fork of this process must not.
        if os.getpid() == process:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def _temporary(reason: str) -> str:
    """A folder that lasts as long as this process."""
    is_new = not _made_for_this.cache_info().currsize
    folder = _made_for_this()
    if is_new:
        _say(
            f"truebleu: {reason}; what is downloaded now is kept in {folder} until the end of "
            "this process. $TRUEBLEU_CACHE names another folder"
        )
    return folder


def _say(message: str) -> None:
    if not settings.quiet and sys.stderr is not None:
        print(message, file=sys.stderr, flush=True)  # noqa: T201


def locked(path: str) -> AbstractContextManager[bool]:
    """Return a context that holds the lock of a path, `path`.locked beside it.

    Other processes and threads wait; a thread that holds the lock gets it again. The folder must
    exist. The context's value is false where the file system has no locks. Raises OSError if the
    folder cannot be written to.
    """
    return hold_lock(path, _say)


def get(
    source: Source,
    path: str,
    *,
    name: str,
    accept: Callable[[str], bool] | None = None,
    remember: bool = True,
) -> Receipt:
    """Downloads a file to a path, where it appears whole or not at all.

    name: what messages call it.
    accept: is asked about a file, by its path, if its sums differ or none are known. True keeps it;
    it may raise InputError to say why not.
    remember: without a known SHA-256, that of the first download is recorded in `path`.sha256,
    and holds from then on.

    A file that is there already, and is the right one, stays; of several processes one downloads,
    and the others wait for it. What breaks off is resumed by the next call from `path`.part.
    Raises OfflineError; DownloadError if no address has the file, with what each of them said.
    """
    wanted = _Wanted(source, os.path.abspath(path), name, accept, remember)
    if receipt := wanted.present():
        return receipt
    if is_offline():
        where = source.addresses[0] if source.addresses else "it"
        known = ", ".join(f"{kind} {digits}" for kind, digits in source.sums if digits)
        raise OfflineError(
            f"{name} is not here, and {why_offline()}. On a machine with internet, fetch "
            f"{where}{known and f' ({known})'}, and put it at {wanted.path}"
        )
    try:
        os.makedirs(os.path.dirname(wanted.path), exist_ok=True)
        with locked(wanted.path) as is_alone:
            # Another process may have downloaded it.
            wanted = _Wanted(source, wanted.path, name, accept, remember)
            return wanted.present() or wanted.downloaded(is_alone=is_alone)
    except OSError as error:
        raise DownloadError(
            f"{name}: {wanted.path} cannot be written: {error.strerror or error}; "
            "$TRUEBLEU_CACHE names another folder"
        ) from error


def recorded(path: str) -> str | None:
    """The SHA-256 of the first download of a file, if it was recorded."""
    try:
        with open(f"{path}.sha256", encoding="ascii", errors="replace") as file:
            found = file.read(64)
    except OSError:
        return None
    # It may have broken off in the middle.
    return found if len(found) == 64 else None


def sums(path: str) -> tuple[str, str]:
    """The MD5 and the SHA-256 of a file, in hexadecimal digits. Raises OSError."""
    from hashlib import md5, sha256

    each = md5(usedforsecurity=False), sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            for digest in each:
                digest.update(piece)
    return each[0].hexdigest(), each[1].hexdigest()


class _Wanted:
    """A file that should be at a path: what is known of it, and who judges it."""

    def __init__(
        self,
        source: Source,
        path: str,
        name: str,
        accept: Callable[[str], bool] | None,
        remember: bool,
    ) -> None:
        self.path, self.name, self.accept = path, name, accept
        self.is_recorded = remember and not source.sha256
        record = recorded(path) if self.is_recorded else None
        self.source = replace(source, sha256=source.sha256 or record)
        self.has_record = record is not None
        self.problems: list[str] = []
        self.of_certificate = False
        self.wrong_sum: tuple[str, str, str] | None = None

    def present(self) -> Receipt | None:
        """The receipt of the file that is there, if it is the right one."""
        with suppress(OSError):
            if os.path.getsize(self.path):
                return self.judged(self.path, "")
        return None

    def judged(self, path: str, address: str) -> Receipt | None:
        """The receipt of a file if it is the right one; else a problem is noted."""
        md5, sha256 = sums(path)
        known = zip(self.source.sums, (sha256, md5), strict=True)
        wrong = [(kind, got, one) for (kind, one), got in known if one and one.lower() != got]
        verified = next((kind for kind, one in self.source.sums if one), "")
        if wrong or (self.accept is not None and not verified):
            verified = "content"
            is_right, why = False, ""
            try:
                is_right = self.accept is not None and self.accept(path)
            except InputError as error:
                why = f": {error}"
            if not is_right:
                self.wrong_sum = wrong[0] if wrong else None
                said = f"{address} has another file; nothing of it was kept"
                if wrong:
                    kind, got, expected = wrong[0]
                    has_record = self.has_record and kind != "MD5"
                    since = f" as {self.path}.sha256 has it" if has_record else ""
                    said = f"{address} has {kind} {got}, expected {expected}{since}; "
                    said += "nothing of it was kept"
                if self.accept is not None:
                    said += f"; its content is not right either{why}"
                self.problems.append(said)
                return None
        return Receipt(address, os.path.getsize(path), md5, sha256, verified)

    def downloaded(self, *, is_alone: bool) -> Receipt:
        """Download from the first address that has the file.

        is_alone: no other process downloads it.
        """
        from truebleu.text import http_transfer

        part = f"{self.path}.part" if is_alone else f"{self.path}.{os.getpid()}.part"
        progress = http_transfer.Progress(self.name, quiet=settings.quiet)
        # What is wrong with a file that was there is no matter any more.
        self.problems, self.wrong_sum = [], None
        try:
            for address, limits in self._ways():
                # What was resumed may be two files in one: what was there before is to blame.
                was_resumed = True
                for _ in range(2):
                    if not was_resumed:
                        break
                    try:
                        was_resumed = http_transfer.fetch(address, part, limits, progress)
                    except http_transfer.BrokenError as problem:
                        self.problems.append(str(problem))
                        self.of_certificate |= problem.of_certificate
                        break
                    if receipt := self.judged(part, address):
                        self._place(part, receipt)
                        return receipt
                    http_transfer.forget(part)
        except BaseException as error:
            # The disk is full, or worse; an interrupted download can be resumed.
            if not isinstance(error, KeyboardInterrupt):
                http_transfer.forget(part)
            raise
        finally:
            progress.close()
            if os.path.lexists(part):
                http_transfer.forget_if_useless(part)
        said = "; ".join(dict.fromkeys(self.problems)) or "no address is known"
        failed = DownloadError(f"{self.name}: {said}. Another mirror: --mirror, or TRUEBLEU_MIRROR")
        failed.of_certificate, failed.wrong_sum = self.of_certificate, self.wrong_sum
        raise failed

    def _ways(self) -> Iterator[tuple[str, Any]]:
        """The addresses in order, each with what is allowed of it: the user's mirror first."""
        from truebleu.text.http_transfer import Limits

        known = self.source.size
        size, most = known if self.accept is None else None, max(LARGEST, known or 0)
        if prefix := (mirror() or "").rstrip("/"):
            limits = Limits(size, most, urlsplit(prefix).hostname)
            for address in self.source.addresses:
                yield f"{prefix}/{address.partition('://')[2]}", limits
        for address in self.source.addresses:
            yield address, Limits(size, most, None)

    def _place(self, part: str, receipt: Receipt) -> None:
        """Puts a part in its place, when it is on the disk."""
        with open(part, "rb+") as file:
            os.fsync(file.fileno())
        if self.is_recorded and not self.has_record:
            with open(f"{self.path}.sha256", "w", encoding="utf-8") as record:
                record.write(f"{receipt.sha256}  {os.path.basename(self.path)}\n")
        with suppress(FileNotFoundError):
            os.unlink(f"{part}.json")
        os.replace(part, self.path)
        # The name is on the disk too then, where that can be asked for.
        with suppress(OSError):
            folder = os.open(os.path.dirname(self.path), os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
