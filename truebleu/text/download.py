"""Verified downloads: a file appears only when it is complete and has the expected content.

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
from truebleu.text.terminal_layout import print_wrapped

# The maximum size of a download whose size is not known in advance.
MAX_BYTES_OF_UNKNOWN_SIZE = 2 * 10**9


@dataclass(frozen=True)
class DownloadSource:
    """A file to download, with its URLs, checksums and size."""

    urls: tuple[str, ...]
    """Mirrors, in the order in which they are tried."""

    sha256: str | None = None
    md5: str | None = None
    size: int | None = None
    """The size in bytes, or None if unknown."""

    @property
    def checksums(self) -> tuple[tuple[str, str | None], ...]:
        """The checksums by kind, with the most reliable kind first; unknown checksums are None."""
        return ("SHA-256", self.sha256), ("MD5", self.md5)


@dataclass(frozen=True)
class Receipt:
    """Receipt of a downloaded file: its origin, size and verification method."""

    address: str
    """The URL, or "" if the file already existed."""

    size: int
    md5: str
    sha256: str

    verified: str
    """The verification method: "SHA-256", "MD5", "content", or "" (first download, no checksum)."""


@dataclass(frozen=True)
class Settings:
    """Download settings from the command line, which override environment variables."""

    offline: bool | None = None
    mirror: str | None = None
    quiet: bool = False
    """Hide progress and retry messages."""


settings = Settings()


class DownloadError(InputError):
    """The download failed, was incomplete, or did not match its checksum."""

    exit_status = 1
    # True if the certificate of a server could not be verified.
    is_certificate_error = False
    # The type of the mismatched checksum, the actual value, and the expected value.
    checksum_mismatch: tuple[str, str, str] | None = None


class OfflineError(DownloadError):
    """A file is missing, and the user has disabled downloads."""

    exit_status = 4


@contextmanager
def override_settings(*, offline: bool | None = None, mirror: str | None = None) -> Iterator[None]:
    """Override download settings inside a `with` block. None leaves a setting unchanged."""
    global settings  # noqa: PLW0603 (the settings of a command line apply to the process)
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
    """Return whether downloads are disabled."""
    if settings.offline is not None:
        return settings.offline
    return os.environ.get("TRUEBLEU_OFFLINE", "0") not in ("", "0")


def describe_offline_reason() -> str:
    """Return the reason why downloads are disabled, for messages."""
    disabled = "downloads are disabled (--offline, offline=True)"
    return disabled if settings.offline else "TRUEBLEU_OFFLINE is set"


def get_mirror_url() -> str | None:
    """Return the URL of the user's mirror, to which the host and the path of a file are added.

    Returns None if there is no mirror. Raises InputError for an invalid URL.
    """
    url = settings.mirror or os.environ.get("TRUEBLEU_MIRROR")
    if url and not url.startswith(("https://", "http://")):
        setting = "mirror" if settings.mirror else "environment variable TRUEBLEU_MIRROR"
        raise InputError(f"{setting}: {url!r} is not a URL (expected https://HOST/PATH)")
    return url or None


def get_cache_folder() -> str:
    """Return the folder for downloads, which may not exist yet."""
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
    """Return the folders with downloads: the cache and, if there is one, the temporary folder."""
    has_process_folder = _make_process_folder.cache_info().currsize
    return get_cache_folder(), *([_make_process_folder()] if has_process_folder else [])


def get_writable_folder() -> str:
    """Return the cache folder, or a temporary folder if the cache is not writable.

    A missing cache folder is created. The use of a temporary folder is reported once, and the
    folder is removed when the process ends.
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

    def remove_folder() -> None:
        # A forked child must not remove the folder of its parent.
        if os.getpid() == process:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove_folder)
    return folder


def _use_process_folder(reason: str) -> str:
    """Return this process's temporary folder; the first call prints why the folder is needed."""
    is_new = not _make_process_folder.cache_info().currsize
    folder = _make_process_folder()
    if is_new:
        _print_message(
            f"truebleu: {reason}; downloads are kept in {folder} until this process ends. "
            "Set TRUEBLEU_CACHE to use another folder."
        )
    return folder


def _print_message(message: str) -> None:
    if not settings.quiet:
        print_wrapped(message)


def hold_path_lock(path: str) -> AbstractContextManager[bool]:
    """Return a context that locks the file `path`.locked.

    Other processes and threads wait; a thread that holds the lock may acquire it again. The folder
    must exist. The context's value is False if the file system does not support locks. Raises
    OSError if the folder is not writable.
    """
    return hold_lock(path, _print_message)


def download_file(
    source: DownloadSource, path: str, *, name: str, accept: Callable[[str], bool] | None = None
) -> Receipt:
    """Download a file to a path, where it appears only when it is complete.

    name: the name of the file in messages.
    accept: called with the path of a file whose checksums differ or are unknown. It returns whether
        to keep the file, or raises InputError with the reason for rejecting it.

    An existing file that passes verification is kept. If several processes need the file, one
    downloads it and the others wait. An interrupted download resumes from `path`.part. If no
    SHA-256 is known, the SHA-256 of the first download is recorded in `path`.sha256, and later
    downloads must have it.

    Raises OfflineError if downloads are disabled. Raises DownloadError, with the problem of each
    URL, if all of them fail.
    """
    task = _DownloadTask(source, os.path.abspath(path), name, accept)
    if receipt := task.verify_existing():
        return receipt
    if is_offline():
        url = source.urls[0] if source.urls else "it"
        checksums = ", ".join(f"{kind} {digits}" for kind, digits in source.checksums if digits)
        raise OfflineError(
            f"{name} is not on this machine, and {describe_offline_reason()}. With internet "
            f"access, download {url}{checksums and f' ({checksums})'} and copy it to "
            f"{task.path}"
        )
    try:
        os.makedirs(os.path.dirname(task.path), exist_ok=True)
        with hold_path_lock(task.path) as has_lock:
            # Another process may have downloaded the file in the meantime.
            task = _DownloadTask(source, task.path, name, accept)
            return task.verify_existing() or task.download(has_lock=has_lock)
    except OSError as error:
        raise DownloadError(
            f"{name}: {task.path} cannot be written: {error.strerror or error}; "
            "set TRUEBLEU_CACHE to use another folder"
        ) from error


def read_recorded_checksum(path: str) -> str | None:
    """Return the SHA-256 recorded at the first download of a file, or None if there is none."""
    try:
        with open(f"{path}.sha256", encoding="ascii", errors="replace") as file:
            digits = file.read(64)
    except OSError:
        return None
    # Writing the checksum may have been interrupted.
    return digits if len(digits) == 64 else None


def compute_checksums(path: str) -> tuple[str, str]:
    """Return the MD5 and the SHA-256 of a readable file as hexadecimal digits."""
    from hashlib import md5, sha256

    digests = md5(usedforsecurity=False), sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            for digest in digests:
                digest.update(piece)
    return digests[0].hexdigest(), digests[1].hexdigest()


class _DownloadTask:
    def __init__(
        self, source: DownloadSource, path: str, name: str, accept: Callable[[str], bool] | None
    ) -> None:
        self.path, self.name, self.accept = path, name, accept
        recorded_checksum = None if source.sha256 else read_recorded_checksum(path)
        self.source = replace(source, sha256=source.sha256 or recorded_checksum)
        self.has_record = recorded_checksum is not None
        self.problems: list[str] = []
        self.is_certificate_error = False
        self.checksum_mismatch: tuple[str, str, str] | None = None

    def verify_existing(self) -> Receipt | None:
        """Return the receipt of an existing file, or None if it is missing or invalid."""
        with suppress(OSError):
            if os.path.getsize(self.path):
                return self.verify_file(self.path, "")
        return None

    def verify_file(self, path: str, url: str) -> Receipt | None:
        """Return the receipt of a file if it is correct; otherwise, record the problem."""
        md5, sha256 = compute_checksums(path)
        checksums = zip(self.source.checksums, (sha256, md5), strict=True)
        mismatches = [
            (kind, actual, expected)
            for (kind, expected), actual in checksums
            if expected and expected.lower() != actual
        ]
        verified = next((kind for kind, digits in self.source.checksums if digits), "")
        if mismatches or (self.accept is not None and not verified):
            verified = "content"
            is_right, reason = False, ""
            try:
                is_right = self.accept is not None and self.accept(path)
            except InputError as error:
                reason = f": {error}"
            if not is_right:
                self.checksum_mismatch = mismatches[0] if mismatches else None
                message = f"{url} returned the wrong file, which was deleted"
                if mismatches:
                    kind, actual, expected = mismatches[0]
                    has_record = self.has_record and kind != "MD5"
                    record_note = f" as recorded in {self.path}.sha256" if has_record else ""
                    message = f"{url} has {kind} {actual}, expected {expected}{record_note}; "
                    message += "the file was deleted"
                if self.accept is not None:
                    message += f"; its content is also wrong{reason}"
                self.problems.append(message)
                return None
        return Receipt(url, os.path.getsize(path), md5, sha256, verified)

    def download(self, *, has_lock: bool) -> Receipt:
        """Download the file from the first URL that provides it.

        has_lock: whether a lock prevents other processes from downloading the file.
        """
        from truebleu.text import http_transfer

        part = f"{self.path}.part" if has_lock else f"{self.path}.{os.getpid()}.part"
        progress = http_transfer.Progress(self.name, quiet=settings.quiet)
        # Problems with the existing file no longer matter.
        self.problems, self.checksum_mismatch = [], None
        try:
            for url, limits in self._iter_urls():
                # A resumed file may mix two versions; if it is invalid, download it again.
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
            # Keep the partial file only if the user interrupted the download, so that it can be
            # resumed.
            if not isinstance(error, KeyboardInterrupt):
                http_transfer.delete_part(part)
            raise
        finally:
            progress.clear()
            if os.path.lexists(part):
                http_transfer.delete_unresumable_part(part)
        message = "; ".join(dict.fromkeys(self.problems)) or "no known URL"
        failure = DownloadError(f"{self.name}: {message}. Use another mirror with TRUEBLEU_MIRROR.")
        failure.is_certificate_error = self.is_certificate_error
        failure.checksum_mismatch = self.checksum_mismatch
        raise failure

    def _iter_urls(self) -> Iterator[tuple[str, Any]]:
        """Yield the URLs to try, in order, each with its limits. The user's mirror comes first."""
        from truebleu.text.http_transfer import TransferLimits

        known_size = self.source.size
        size = known_size if self.accept is None else None
        max_size = max(MAX_BYTES_OF_UNKNOWN_SIZE, known_size or 0)
        if prefix := (get_mirror_url() or "").rstrip("/"):
            limits = TransferLimits(size, max_size, urlsplit(prefix).hostname)
            for url in self.source.urls:
                yield f"{prefix}/{url.partition('://')[2]}", limits
        for url in self.source.urls:
            yield url, TransferLimits(size, max_size, None)

    def _move_into_place(self, part: str, receipt: Receipt) -> None:
        """Flush a partial file to disk and move it to its final path."""
        with open(part, "rb+") as file:
            os.fsync(file.fileno())
        if not self.source.sha256:
            with open(f"{self.path}.sha256", "w", encoding="utf-8") as record:
                record.write(f"{receipt.sha256}  {os.path.basename(self.path)}\n")
        with suppress(FileNotFoundError):
            os.unlink(f"{part}.json")
        os.replace(part, self.path)
        # Also flush the folder if the system supports this.
        with suppress(OSError):
            folder = os.open(os.path.dirname(self.path), os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
