"""Archives, tar and zip: what is in them as plain files, and nothing outside of a folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from shutil import rmtree
from typing import Any, BinaryIO

from truebleu._kernel import InputError
from truebleu.text import download
from truebleu.text.operating_system import is_safe_name, path_inside

# How much an archive may hold: so many times its own size, but never more than this; archives of
# small files are mostly padding.
TIMES, MOST, LEAST = 20, 4 * 10**9, 10**6


def unpacked(
    archive: str, folder: str, members: Sequence[str] | None, *, called: str, some: bool = False
) -> None:
    """Unpacks a tar file, compressed or not, or a zip file into a folder, whole or not at all.

    members: the files to unpack, by their names in the archive; None for all files.
    called: what the archive is called in messages.
    some: members may be missing; other archives have them.

    A folder that does not exist appears with everything in it; in one that exists each file takes
    its place when all of them are unpacked. Links and devices are left out, unless they are among
    the members. Raises InputError for what is no archive, or is a damaged one; members that are
    missing, that are no files, or lie outside of the folder; and for more than 20 times the
    archive's size (1 MB is always allowed), or 4 GB.
    """
    place = os.path.abspath(folder)
    beside = f"{place}.unpacking"
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with download.locked(place):
            try:
                # One that was killed may have left it.
                rmtree(beside, ignore_errors=True)
                os.mkdir(beside)
                with _problems(called):
                    _unpack(archive, beside, members, some=some)
                _move(beside, place)
            finally:
                rmtree(beside, ignore_errors=True)
    except OSError as error:
        raise InputError(f"{called} cannot be unpacked into {folder}: {error}") from error


def _move(beside: str, folder: str) -> None:
    """Puts a folder, or what is in it, in its place."""
    if not os.path.lexists(folder):
        os.rename(beside, folder)
        return
    for path, _, files in os.walk(beside):
        for name in files:
            inner = os.path.relpath(os.path.join(path, name), beside)
            place = path_inside(folder, *inner.split(os.sep))
            os.makedirs(os.path.dirname(place), exist_ok=True)
            os.replace(os.path.join(path, name), place)


@contextmanager
def _problems(called: str) -> Iterator[None]:
    """Turns what readers of archives raise into InputError."""
    import tarfile
    import zipfile
    import zlib

    try:
        yield
    except _RefusedError as error:
        raise InputError(f"{called} cannot be unpacked: {error}") from None
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise InputError(f"{called} cannot be unpacked: no archive, or damaged: {error}") from error
    except (RuntimeError, NotImplementedError) as error:
        raise InputError(f"{called} cannot be unpacked: {error}") from error
    except Exception as error:
        # Not every Python has the module that this comes from.
        if type(error).__name__ not in ("LZMAError", "BadGzipFile"):
            raise
        raise InputError(f"{called} cannot be unpacked: damaged: {error}") from error


class _RefusedError(Exception):
    """What must not be unpacked, or cannot."""


def _unpack(archive: str, folder: str, members: Sequence[str] | None, *, some: bool) -> None:
    wanted = None if members is None else {_plain(name) for name in members}
    allowed = min(MOST, max(LEAST, TIMES * os.path.getsize(archive)))
    done = set()
    with open(archive, "rb") as file:
        start = file.read(6)
        file.seek(0)
        if start.startswith(b"PK"):
            contents = _zip_members(file, allowed)
        else:
            contents = _tar_members(_Limited(_decompressed(file, start), allowed))
        for name, kind, content in contents:
            if wanted is not None and _plain(name) not in wanted:
                continue
            if content is None:
                if wanted is not None:
                    raise _RefusedError(f"{name} is {kind}, no file")
                continue
            parts = [part for part in name.split("/") if part not in ("", ".")]
            if name.startswith("/") or not parts or not all(map(is_safe_name, parts)):
                raise _RefusedError(f"the path {name!r} is not inside of it")
            place = os.path.join(folder, *parts)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "wb") as made:
                while piece := content.read(1 << 20):
                    made.write(piece)
            done.add(_plain(name))
    if not some and (missing := (wanted or set()) - done):
        raise _RefusedError(f"it has no {', '.join(sorted(missing))}")


def _plain(name: str) -> str:
    """A member's name as archives may spell it, without what says nothing."""
    return "/".join(part for part in name.split("/") if part != ".")


def _zip_members(file: BinaryIO, allowed: int) -> Iterator[tuple[str, str, Any]]:
    """The name, the kind and the content of each member; no content of links and devices."""
    import zipfile

    with zipfile.ZipFile(file) as packed:
        members = packed.infolist()
        if sum(member.file_size for member in members) > allowed:
            raise _RefusedError(f"it holds more than {_amount(allowed)}")
        for member in members:
            mode = member.external_attr >> 16
            if member.filename.endswith("/"):
                continue
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
                kind = "a link" if stat.S_ISLNK(mode) else "a device"
                yield member.filename, kind, None
                continue
            with packed.open(member) as content:
                yield member.filename, "a file", content


def _tar_members(stream: _Limited) -> Iterator[tuple[str, str, Any]]:
    """The same of a tar file."""
    import tarfile

    # In one pass: every byte that is decompressed counts.
    with tarfile.open(fileobj=stream, mode="r|") as packed:  # type: ignore[call-overload]
        for member in packed:
            if member.isdir():
                continue
            if member.isreg():
                yield member.name, "a file", packed.extractfile(member)
            else:
                kind = "a link" if member.issym() or member.islnk() else "a device"
                yield member.name, kind, None
    # Its sum stands at the end.
    while stream.read(1 << 20):
        pass


def _decompressed(file: BinaryIO, start: bytes) -> Any:
    if start.startswith(b"\x1f\x8b"):
        import gzip

        return gzip.GzipFile(fileobj=file)
    if start.startswith(b"BZh"):
        import bz2

        return bz2.BZ2File(file)
    if start.startswith(b"\xfd7zXZ\0"):
        import lzma

        return lzma.LZMAFile(file)
    return file


class _Limited:
    """The bytes of a stream, as long as they are not too many."""

    def __init__(self, stream: Any, allowed: int) -> None:
        self._stream = stream
        self._all = self._left = allowed

    def read(self, size: int = -1) -> bytes:
        """Up to so many bytes. Raises _RefusedError when there are more than allowed."""
        data: bytes = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise _RefusedError(f"it holds more than {_amount(self._all)}")
        return data


def _amount(size: int) -> str:
    return f"{size / 1e6:,.1f} MB, which is {TIMES} times its size or the most that is unpacked"
