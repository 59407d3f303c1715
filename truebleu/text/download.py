"""Files from the network: whole or not at all, and those that they should be.

It lies in this room, the lowest, because tokenizers need models, and what compat downloads for
sacreBLEU's test sets comes the same way.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from functools import lru_cache

from truebleu._kernel import InputError
from truebleu.text.archives import unpacked as unpacked  # noqa: PLC0414 (callers need one module)
from truebleu.text.files import write_whole
from truebleu.text.locks import locked as locked  # noqa: PLC0414
from truebleu.text.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from truebleu.text.transfer import Limits

# Bytes that a download may have whose size is not known.
LARGEST = 2 * 10**9


class Source(Record):
    """What is to be fetched."""

    addresses: tuple[str, ...]
    """Mirrors, in the order in which they are asked."""

    sha256: str | None = None
    md5: str | None = None
    size: int | None = None
    """In bytes."""


class Receipt(Record):
    """What was fetched."""

    address: str
    """Where it came from; "" if it was there."""

    size: int
    md5: str
    sha256: str

    verified: str
    """By what: "SHA-256", "MD5", "content", or "" for a first download that nothing is known of."""


class Settings(Record):
    """What a command line says of downloads, before the environment."""

    offline: bool | None = None
    mirror: str | None = None
    quiet: bool = False
    """Neither progress nor waiting is told."""


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

    exit_status = 3


@contextmanager
def using(*, offline: bool | None = None, mirror: str | None = None) -> Iterator[None]:
    """Downloads as a caller says it, while `with` lasts; None leaves a setting as it is."""
    global settings  # noqa: PLW0603 (what a command line sets is of the whole process)
    before = settings
    settings = before.replaced(
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
    return "downloads are forbidden (--offline)" if settings.offline else "TRUEBLEU_OFFLINE is set"


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
    return (cache_folder(), _made_for_this(os.getpid())) if has_own else (cache_folder(),)


def writable_folder() -> str:
    """`cache_folder()`, made if need be; a temporary one if nothing can be written there.

    The temporary folder lasts as long as the process, which says so once.
    """
    return _writable(cache_folder())


@lru_cache
def _writable(folder: str) -> str:
    import tempfile

    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        return _temporary(f"{folder}: {error.strerror}")


@lru_cache(1)
def _made_for_this(process: int) -> str:
    import atexit
    import shutil
    import tempfile

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
    folder = _made_for_this(os.getpid())
    if is_new:
        _say(
            f"truebleu: {reason}; what is downloaded now is kept in {folder} until the end of "
            "this process. $TRUEBLEU_CACHE names another folder"
        )
    return folder


def _say(message: str) -> None:
    if not settings.quiet and sys.stderr is not None:
        print(message, file=sys.stderr, flush=True)  # noqa: T201


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
    accept: is asked about a file whose sums differ, by its path; True keeps it.
    remember: without a known SHA-256, that of the first download is recorded in `path`.sha256,
    and holds from then on.

    A file that is there already, and is the right one, stays; of several processes one downloads,
    and the others wait for it. What breaks off is resumed by the next call from `path`.part.
    Raises OfflineError; DownloadError if no address has the file, with what each of them said.
    """
    path = os.path.abspath(path)
    expected = source.sha256 or (recorded(path) if remember else None)
    if receipt := _present(path, source.md5, expected):
        return receipt
    if is_offline():
        where = source.addresses[0] if source.addresses else "it"
        raise OfflineError(
            f"{name} is not here, and {why_offline()}. On a machine with internet, fetch "
            f"{where}{_sums(source)}, and put it at {path}"
        )
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with locked(path, _say) as touch:
            return _present(path, source.md5, expected) or _downloaded(
                source.replaced(sha256=expected), path, name, accept, touch, remember
            )
    except OSError as error:
        raise DownloadError(
            f"{name}: {path} cannot be written: {error.strerror or error}; "
            "$TRUEBLEU_CACHE names another folder"
        ) from error


def recorded(path: str) -> str | None:
    """The SHA-256 of the first download of a file, if it was recorded."""
    try:
        with open(f"{path}.sha256", encoding="ascii", errors="replace") as file:
            return file.read(64) or None
    except OSError:
        return None


def sums(path: str) -> tuple[str, str]:
    """The MD5 and the SHA-256 of a file, in hexadecimal digits. Raises OSError."""
    from hashlib import md5, sha256

    each = md5(usedforsecurity=False), sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            for digest in each:
                digest.update(piece)
    return each[0].hexdigest(), each[1].hexdigest()


def _sums(source: Source) -> str:
    known = [f"{kind} {one}" for kind, one in _known(source) if one]
    return f" ({', '.join(known)})" if known else ""


def _known(source: Source) -> tuple[tuple[str, str | None], ...]:
    return ("SHA-256", source.sha256), ("MD5", source.md5)


def _present(path: str, md5: str | None, sha256: str | None) -> Receipt | None:
    """The receipt of a file that is there, if it is the right one."""
    try:
        size = os.path.getsize(path)
        got = sums(path)
    except OSError:
        return None
    known = Source((), sha256, md5)
    if not size or _wrong(known, got):
        return None
    return Receipt("", size, *got, _verified(known))


def _wrong(source: Source, got: tuple[str, str]) -> tuple[str, str, str] | None:
    """The kind of a sum that differs, what it is and what was expected."""
    for (kind, expected), found in zip(_known(source), reversed(got), strict=True):
        if expected is not None and expected.lower() != found:
            return kind, found, expected
    return None


def _verified(source: Source) -> str:
    return next((kind for kind, one in _known(source) if one), "")


def _downloaded(
    source: Source,
    path: str,
    name: str,
    accept: Callable[[str], bool] | None,
    touch: Callable[[], None],
    remember: bool,
) -> Receipt:
    """Downloads from the first address that has the file; the lock is held, and touched."""
    from truebleu.text import transfer

    part = f"{path}.part"
    progress = transfer.Progress(name, quiet=settings.quiet)

    def told(size: int, whole: int | None) -> None:
        touch()
        progress(size, whole)

    problems = []
    failed = DownloadError()
    ways = list(_ways(source, is_exact=accept is None))
    try:
        while ways:
            address, limits = ways.pop(0)
            try:
                was_resumed = transfer.fetch(address, part, limits, told)
            except transfer.BrokenError as problem:
                problems.append(str(problem))
                failed.of_certificate |= problem.of_certificate
                continue
            touch()
            got = sums(part)
            wrong = _wrong(source, got)
            if wrong is None or (accept is not None and accept(part)):
                verified = "content" if wrong else _verified(source)
                receipt = Receipt(address, os.path.getsize(part), *got, verified)
                _place(part, path, receipt.sha256 if remember and not source.sha256 else None)
                return receipt
            transfer.forget(part)
            if was_resumed:
                # Perhaps two files in one: what was there before is to blame.
                ways.insert(0, (address, limits))
                continue
            failed.wrong_sum = wrong
            problems.append(_other(address, wrong, path))
    except OSError:
        # The disk is full, or worse.
        transfer.forget(part)
        raise
    finally:
        progress.close()
        if os.path.lexists(part):
            transfer.forget_if_useless(part)
    said = "; ".join(problems) or "no address is known"
    failed.args = (f"{name}: {said}. Another mirror: --mirror, or TRUEBLEU_MIRROR",)
    raise failed


def _other(address: str, wrong: tuple[str, str, str], path: str) -> str:
    kind, got, expected = wrong
    since = f" as {path}.sha256 has it" if expected == recorded(path) else ""
    return f"{address} has {kind} {got}, expected {expected}{since}; nothing of it was kept"


def _ways(source: Source, *, is_exact: bool) -> Iterator[tuple[str, Limits]]:
    """The addresses in order, each with what is allowed of it: the user's mirror first."""
    from urllib.parse import urlsplit

    from truebleu.text.transfer import Limits

    size, most = source.size if is_exact else None, max(LARGEST, source.size or 0)
    if prefix := mirror():
        prefix = prefix.rstrip("/")
        for address in source.addresses:
            own = f"{prefix}/{address.partition('://')[2]}"
            yield own, Limits(size, most, urlsplit(prefix).hostname)
    for address in source.addresses:
        yield address, Limits(size, most, None)


def _place(part: str, path: str, sha256: str | None) -> None:
    """Puts a part in its place, when it is on the disk."""
    with open(part, "rb+") as file:
        os.fsync(file.fileno())
    if sha256 is not None:
        write_whole(f"{path}.sha256", f"{sha256}  {os.path.basename(path)}\n".encode())
    os.replace(part, path)
    if os.path.lexists(f"{part}.json"):
        os.unlink(f"{part}.json")
    if sys.platform != "win32":
        folder = os.open(os.path.dirname(path), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
