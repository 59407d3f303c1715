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
MAX_BYTES_OF_UNKNOWN_SIZE = 2 * 10**9


@dataclass(frozen=True)
class DownloadSource:
    """What is to be fetched."""

    urls: tuple[str, ...]
    """Mirrors, in the order in which they are asked."""

    sha256: str | None = None
    md5: str | None = None
    size: int | None = None
    """In bytes."""

    @property
    def checksums(self) -> tuple[tuple[str, str | None], ...]:
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
    is_certificate_error = False
    # The kind of a sum that is wrong, what it was and what was expected.
    checksum_mismatch: tuple[str, str, str] | None = None


class OfflineError(DownloadError):
    """A file that is not here, when the user has forbidden downloads."""

    exit_status = 4


@contextmanager
def override_settings(*, offline: bool | None = None, mirror: str | None = None) -> Iterator[None]:
    """Downloads as a caller says it, while `with` lasts; None leaves a setting as it is."""
    global settings  # noqa: PLW0603 (what a command line sets is of the whole process)
    previous = settings
    settings = replace(
        previous,
        offline=previous.offline if offline is None else offline,
        mirror=previous.mirror if mirror is None else mirror,
    )
    try:
        yield
    finally:
        settings = previous


def is_offline() -> bool:
    """True if the user has forbidden downloads."""
    if settings.offline is not None:
        return settings.offline
    return os.environ.get("TRUEBLEU_OFFLINE", "0") not in ("", "0")


def describe_offline_reason() -> str:
    """What forbids downloads, for messages."""
    forbidden = "downloads are forbidden (--offline, offline=True)"
    return forbidden if settings.offline else "TRUEBLEU_OFFLINE is set"


def get_mirror() -> str | None:
    """The address that the user wants asked first; the host and the path of a file follow it.

    Raises InputError for what is no address.
    """
    url = settings.mirror or os.environ.get("TRUEBLEU_MIRROR")
    if url and not url.startswith(("https://", "http://")):
        setting = "mirror" if settings.mirror else "environment variable TRUEBLEU_MIRROR"
        raise InputError(f"{setting}: {url!r} is no address, as https://mirror.example/files is")
    return url or None


def get_cache_folder() -> str:
    """The folder of what is downloaded, which may not exist."""
    if path := os.environ.get("TRUEBLEU_CACHE"):
        return os.path.abspath(os.path.expanduser(path))
    path = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(path):
        return os.path.join(path, "truebleu")
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        return _use_process_folder("there is no home folder")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Caches", "truebleu")
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
        return os.path.join(local, "truebleu", "cache")
    return os.path.join(home, ".cache", "truebleu")


def list_download_folders() -> tuple[str, ...]:
    """Where this process finds what was downloaded: the cache, and its temporary folder, if any."""
    has_process_folder = _make_process_folder.cache_info().currsize
    return (
        (get_cache_folder(), _make_process_folder())
        if has_process_folder
        else (get_cache_folder(),)
    )


def get_writable_folder() -> str:
    """`cache_folder()`, made if need be; a temporary one if nothing can be written there.

    The temporary folder lasts as long as the process, which says so once.
    """
    return _find_writable_folder(get_cache_folder())


@cache
def _find_writable_folder(folder: str) -> str:
    import tempfile

    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        return _use_process_folder(f"{folder}: {error.strerror}")


@cache
def _make_process_folder() -> str:
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


def _use_process_folder(reason: str) -> str:
    """A folder that lasts as long as this process."""
    is_new = not _make_process_folder.cache_info().currsize
    folder = _make_process_folder()
    if is_new:
        _print_message(
            f"truebleu: {reason}; what is downloaded now is kept in {folder} until the end of "
            "this process. $TRUEBLEU_CACHE names another folder"
        )
    return folder


def _print_message(message: str) -> None:
    if not settings.quiet and sys.stderr is not None:
        print(message, file=sys.stderr, flush=True)  # noqa: T201


def hold_path_lock(path: str) -> AbstractContextManager[bool]:
    """Return a context that holds the lock of a path, `path`.locked beside it.

    Other processes and threads wait; a thread that holds the lock gets it again. The folder must
    exist. The context's value is false where the file system has no locks. Raises OSError if the
    folder cannot be written to.
    """
    return hold_lock(path, _print_message)


def download_file(
    source: DownloadSource,
    path: str,
    *,
    name: str,
    accept: Callable[[str], bool] | None = None,
    record_checksum: bool = True,
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
    task = _DownloadTask(source, os.path.abspath(path), name, accept, record_checksum)
    if receipt := task.verify_existing():
        return receipt
    if is_offline():
        url = source.urls[0] if source.urls else "it"
        known_checksums = ", ".join(
            f"{kind} {digits}" for kind, digits in source.checksums if digits
        )
        raise OfflineError(
            f"{name} is not here, and {describe_offline_reason()}. On a machine with "
            "internet, fetch "
            f"{url}{known_checksums and f' ({known_checksums})'}, and put it at {task.path}"
        )
    try:
        os.makedirs(os.path.dirname(task.path), exist_ok=True)
        with hold_path_lock(task.path) as has_lock:
            # Another process may have downloaded it.
            task = _DownloadTask(source, task.path, name, accept, record_checksum)
            return task.verify_existing() or task.download(has_lock=has_lock)
    except OSError as error:
        raise DownloadError(
            f"{name}: {task.path} cannot be written: {error.strerror or error}; "
            "$TRUEBLEU_CACHE names another folder"
        ) from error


def read_recorded_checksum(path: str) -> str | None:
    """The SHA-256 of the first download of a file, if it was recorded."""
    try:
        with open(f"{path}.sha256", encoding="ascii", errors="replace") as file:
            digits = file.read(64)
    except OSError:
        return None
    # It may have broken off in the middle.
    return digits if len(digits) == 64 else None


def compute_checksums(path: str) -> tuple[str, str]:
    """The MD5 and the SHA-256 of a file, in hexadecimal digits. Raises OSError."""
    from hashlib import md5, sha256

    digests = md5(usedforsecurity=False), sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            for digest in digests:
                digest.update(piece)
    return digests[0].hexdigest(), digests[1].hexdigest()


class _DownloadTask:
    """A file that should be at a path: what is known of it, and who judges it."""

    def __init__(
        self,
        source: DownloadSource,
        path: str,
        name: str,
        accept: Callable[[str], bool] | None,
        record_checksum: bool,
    ) -> None:
        self.path, self.name, self.accept = path, name, accept
        self.records_checksum = record_checksum and not source.sha256
        recorded_checksum = read_recorded_checksum(path) if self.records_checksum else None
        self.source = replace(source, sha256=source.sha256 or recorded_checksum)
        self.has_record = recorded_checksum is not None
        self.problems: list[str] = []
        self.is_certificate_error = False
        self.checksum_mismatch: tuple[str, str, str] | None = None

    def verify_existing(self) -> Receipt | None:
        """The receipt of the file that is there, if it is the right one."""
        with suppress(OSError):
            if os.path.getsize(self.path):
                return self.verify_file(self.path, "")
        return None

    def verify_file(self, path: str, url: str) -> Receipt | None:
        """The receipt of a file if it is the right one; else a problem is noted."""
        md5, sha256 = compute_checksums(path)
        checksum_pairs = zip(self.source.checksums, (sha256, md5), strict=True)
        mismatches = [
            (kind, actual_checksum, expected_checksum)
            for (kind, expected_checksum), actual_checksum in checksum_pairs
            if expected_checksum and expected_checksum.lower() != actual_checksum
        ]
        verified = next(
            (kind for kind, expected_checksum in self.source.checksums if expected_checksum), ""
        )
        if mismatches or (self.accept is not None and not verified):
            verified = "content"
            is_right, reason = False, ""
            try:
                is_right = self.accept is not None and self.accept(path)
            except InputError as error:
                reason = f": {error}"
            if not is_right:
                self.checksum_mismatch = mismatches[0] if mismatches else None
                message = f"{url} has another file; nothing of it was kept"
                if mismatches:
                    kind, actual, expected = mismatches[0]
                    has_record = self.has_record and kind != "MD5"
                    record_note = f" as {self.path}.sha256 has it" if has_record else ""
                    message = f"{url} has {kind} {actual}, expected {expected}{record_note}; "
                    message += "nothing of it was kept"
                if self.accept is not None:
                    message += f"; its content is not right either{reason}"
                self.problems.append(message)
                return None
        return Receipt(url, os.path.getsize(path), md5, sha256, verified)

    def download(self, *, has_lock: bool) -> Receipt:
        """Download from the first address that has the file.

        is_alone: no other process downloads it.
        """
        from truebleu.text import http_transfer

        part = f"{self.path}.part" if has_lock else f"{self.path}.{os.getpid()}.part"
        progress = http_transfer.Progress(self.name, quiet=settings.quiet)
        # What is wrong with a file that was there is no matter any more.
        self.problems, self.checksum_mismatch = [], None
        try:
            for url, limits in self._iter_urls():
                # What was resumed may be two files in one: what was there before is to blame.
                was_resumed = True
                for _ in range(2):
                    if not was_resumed:
                        break
                    try:
                        was_resumed = http_transfer.fetch_file(url, part, limits, progress)
                    except http_transfer.TransferError as problem:
                        self.problems.append(str(problem))
                        self.is_certificate_error |= problem.is_certificate_error
                        break
                    if receipt := self.verify_file(part, url):
                        self._move_into_place(part, receipt)
                        return receipt
                    http_transfer.delete_part(part)
        except BaseException as error:
            # The disk is full, or worse; an interrupted download can be resumed.
            if not isinstance(error, KeyboardInterrupt):
                http_transfer.delete_part(part)
            raise
        finally:
            progress.close()
            if os.path.lexists(part):
                http_transfer.delete_unresumable_part(part)
        message = "; ".join(dict.fromkeys(self.problems)) or "no address is known"
        failure = DownloadError(
            f"{self.name}: {message}. Another mirror: --mirror, or TRUEBLEU_MIRROR"
        )
        failure.is_certificate_error, failure.checksum_mismatch = (
            self.is_certificate_error,
            self.checksum_mismatch,
        )
        raise failure

    def _iter_urls(self) -> Iterator[tuple[str, Any]]:
        """The addresses in order, each with what is allowed of it: the user's mirror first."""
        from truebleu.text.http_transfer import TransferLimits

        known_size = self.source.size
        size, max_size = (
            known_size if self.accept is None else None,
            max(MAX_BYTES_OF_UNKNOWN_SIZE, known_size or 0),
        )
        if prefix := (get_mirror() or "").rstrip("/"):
            limits = TransferLimits(size, max_size, urlsplit(prefix).hostname)
            for url in self.source.urls:
                yield f"{prefix}/{url.partition('://')[2]}", limits
        for url in self.source.urls:
            yield url, TransferLimits(size, max_size, None)

    def _move_into_place(self, part: str, receipt: Receipt) -> None:
        """Puts a part in its place, when it is on the disk."""
        with open(part, "rb+") as file:
            os.fsync(file.fileno())
        if self.records_checksum and not self.has_record:
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
