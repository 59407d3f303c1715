"""Files from the network: whole or not at all, and those that they should be.

It lies in this room, the lowest, because tokenizers need models, and what compat downloads for
sacreBLEU's test sets comes the same way.
"""

from __future__ import annotations

import os
import sys

from truebleu._kernel import InputError
from truebleu.text.files import WholeFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO, Protocol

    class Digest(Protocol):
        """A sum that is being taken, as of `hashlib`."""

        def update(self, data: bytes, /) -> None:
            """Adds bytes."""

        def hexdigest(self) -> str:
            """The sum of all bytes so far, in hexadecimal digits."""
            ...


# Seconds that a server may be silent.
PATIENCE = 60


class DownloadError(Exception):
    """An address that gives no file, or not all of it."""

    # True if the server's certificate could not be verified.
    of_certificate = False


def fetch(address: str, file: BinaryIO, digest: Digest) -> str:
    """Downloads an address to a file, and returns its sum. Raises DownloadError."""
    import http.client
    import ssl
    import urllib.error
    import urllib.request

    try:
        with urllib.request.urlopen(address, timeout=PATIENCE) as response:
            missing = int(response.headers.get("Content-Length", 0))
            while piece := response.read(1 << 20):
                digest.update(piece)
                missing -= len(piece)
                file.write(piece)
            if missing > 0:
                raise DownloadError(f"{address} cannot be downloaded: {missing} bytes are missing")
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        problem = DownloadError(f"{address} cannot be downloaded: {error}")
        problem.of_certificate = isinstance(getattr(error, "reason", error), ssl.SSLError)
        raise problem from error
    return digest.hexdigest()


def cache_folder() -> str:
    """The folder of what is downloaded, which may not exist."""
    if place := os.environ.get("TRUEBLEU_CACHE"):
        return os.path.expanduser(place)
    if place := os.environ.get("XDG_CACHE_HOME"):
        return os.path.join(place, "truebleu")
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Caches", "truebleu")
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
        return os.path.join(local, "truebleu", "cache")
    return os.path.join(home, ".cache", "truebleu")


def is_offline() -> bool:
    """True if the user has forbidden downloads."""
    return os.environ.get("TRUEBLEU_OFFLINE", "0") not in ("", "0")


def download(addresses: Sequence[str], path: str, sha256: str | None) -> None:
    """Downloads a file from the first address that has it, to a path in the cache.

    Without a known SHA-256 the first download is trusted, and its sum is recorded beside the file.
    Raises InputError if no address has the file; what each of them said is in the message.
    """
    problems = []
    for address in addresses:
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with WholeFile(path) as file:
                got = _fetch_checked(address, file, sha256)
        except DownloadError as error:
            problems.append(str(error))
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}; $TRUEBLEU_CACHE names a folder") from None
        else:
            if sha256 is None:
                with WholeFile(f"{path}.sha256") as record:
                    record.write(f"{got}  {os.path.basename(path)}\n".encode())
            return
    raise InputError("; ".join(problems))


def _fetch_checked(address: str, file: BinaryIO, expected: str | None) -> str:
    """Downloads an address to a file, which is then on the disk; returns its SHA-256."""
    from hashlib import sha256

    got = fetch(address, file, sha256())
    if expected not in (None, got):
        raise DownloadError(f"{address} has another file: SHA-256 {got}, expected {expected}")
    file.flush()
    os.fsync(file.fileno())
    return got


def recorded(path: str) -> str | None:
    """The SHA-256 of the first download of a file, if it was recorded."""
    try:
        with open(f"{path}.sha256", encoding="ascii", errors="replace") as file:
            return file.read(64)
    except OSError:
        return None
