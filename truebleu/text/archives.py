"""Safe unpacking of tar and zip archives, limited to regular files below the target folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from shutil import rmtree
from typing import Any, BinaryIO

from truebleu._kernel import InputError
from truebleu.text import download
from truebleu.text.operating_system import is_safe_name, join_contained_path
from truebleu.text.segments import open_compressed

# Limits on the unpacked size: a multiple of the archive's size, and an absolute maximum. Archives
# of small files consist mostly of padding, so a fixed number of bytes is always allowed.
MAX_EXPANSION, MAX_UNPACKED_BYTES, ALWAYS_ALLOWED_BYTES = 20, 4 * 10**9, 10**6


def unpack_archive(archive: str, folder: str, members: Sequence[str] | None, *, label: str) -> None:
    """Unpack a tar or zip file into a folder. Leave no partial result after an error.

    members: the names of the files to unpack, as in the archive; None unpacks all files. Members
        may be missing, because other archives contain them.
    label: the name of the archive in messages.

    A new folder appears only when it is complete. Files are moved to an existing folder only after
    all of them are unpacked. Links and devices are skipped, unless they are among the members.

    Raises InputError for invalid or corrupt archives; for members that are not regular files, or
    outside the folder; and for contents of more than 20 times the archive's size (1 MB is always
    allowed) or 4 GB.
    """
    target = os.path.abspath(folder)
    work_folder = f"{target}.unpacking"
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with download.hold_path_lock(target):
            try:
                # A process that was killed may have left the folder behind.
                rmtree(work_folder, ignore_errors=True)
                os.mkdir(work_folder)
                with _convert_archive_errors(label):
                    _unpack_members(archive, work_folder, members)
                _move_into_place(work_folder, target)
            finally:
                rmtree(work_folder, ignore_errors=True)
    except OSError as error:
        raise InputError(f"{label} cannot be unpacked into {folder}: {error}") from error


def _move_into_place(work_folder: str, folder: str) -> None:
    """Move a folder to the target, or move its files into the target if the target exists."""
    if not os.path.lexists(folder):
        os.rename(work_folder, folder)
        return
    for path, _, files in os.walk(work_folder):
        for name in files:
            relative_path = os.path.relpath(os.path.join(path, name), work_folder)
            target = join_contained_path(folder, *relative_path.split(os.sep))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.replace(os.path.join(path, name), target)


@contextmanager
def _convert_archive_errors(label: str) -> Iterator[None]:
    """Convert the exceptions of archive readers to InputError."""
    import tarfile
    import zipfile
    import zlib

    try:
        yield
    except _RefusedError as error:
        raise InputError(f"{label} cannot be unpacked: {error}") from None
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise InputError(
            f"{label} cannot be unpacked: it is corrupt or not an archive ({error})"
        ) from error
    except (RuntimeError, NotImplementedError) as error:
        raise InputError(f"{label} cannot be unpacked: {error}") from error
    except Exception as error:
        # The modules of these exceptions are optional in Python.
        if type(error).__name__ not in ("LZMAError", "BadGzipFile"):
            raise
        raise InputError(f"{label} cannot be unpacked: it is corrupt ({error})") from error


class _RefusedError(Exception):
    """Raised if an archive, or one of its members, is unsafe or cannot be unpacked."""


def _unpack_members(archive: str, folder: str, members: Sequence[str] | None) -> None:
    wanted_names = None if members is None else {_normalize_member_name(name) for name in members}
    max_bytes = min(
        MAX_UNPACKED_BYTES, max(ALWAYS_ALLOWED_BYTES, MAX_EXPANSION * os.path.getsize(archive))
    )
    with open(archive, "rb") as file:
        first_bytes = file.read(6)
        file.seek(0)
        if first_bytes.startswith(b"PK"):
            contents = _iter_zip_members(file, max_bytes)
        else:
            starts = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\0": ".xz"}
            suffix = next((starts[one] for one in starts if first_bytes.startswith(one)), "")
            stream = open_compressed(file, suffix) if suffix else file
            contents = _iter_tar_members(_LimitedReader(stream, max_bytes))
        for name, kind, content in contents:
            if wanted_names is not None and _normalize_member_name(name) not in wanted_names:
                continue
            if content is None:
                if wanted_names is not None:
                    raise _RefusedError(f"{name} is {kind}, not a regular file")
                continue
            parts = [part for part in name.split("/") if part not in ("", ".")]
            if name.startswith("/") or not parts or not all(map(is_safe_name, parts)):
                raise _RefusedError(f"unsafe path {name!r}")
            path = os.path.join(folder, *parts)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as output:
                while piece := content.read(1 << 20):
                    output.write(piece)


def _normalize_member_name(name: str) -> str:
    """Return the name of a member without "." components."""
    return "/".join(part for part in name.split("/") if part != ".")


def _iter_zip_members(file: BinaryIO, max_bytes: int) -> Iterator[tuple[str, str, Any]]:
    """Yield the name, kind and content of each member; links and devices have no content."""
    import zipfile

    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if sum(member.file_size for member in members) > max_bytes:
            raise _RefusedError(f"it contains more than {_describe_limit(max_bytes)}")
        for member in members:
            mode = member.external_attr >> 16
            if member.filename.endswith("/"):
                continue
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
                kind = "a link" if stat.S_ISLNK(mode) else "a device"
                yield member.filename, kind, None
                continue
            with archive.open(member) as content:
                yield member.filename, "a file", content


def _iter_tar_members(stream: _LimitedReader) -> Iterator[tuple[str, str, Any]]:
    """Yield the name, kind and content of each member of a tar file, like `_iter_zip_members`."""
    import tarfile

    # Read in one pass, so that every decompressed byte counts towards the limit.
    with tarfile.open(fileobj=stream, mode="r|") as archive:  # type: ignore[call-overload]
        for member in archive:
            if member.isdir():
                continue
            if member.isreg():
                yield member.name, "a file", archive.extractfile(member)
            else:
                kind = "a link" if member.issym() or member.islnk() else "a device"
                yield member.name, kind, None
    # Read to the end, where a compressed stream has its checksum.
    while stream.read(1 << 20):
        pass


class _LimitedReader:
    """Stream reader that raises an error after a maximum number of bytes."""

    def __init__(self, stream: Any, max_bytes: int) -> None:
        self._stream = stream
        self._max_bytes = self._remaining_bytes = max_bytes

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes; raise _RefusedError if the total exceeds the limit."""
        data: bytes = self._stream.read(size)
        self._remaining_bytes -= len(data)
        if self._remaining_bytes < 0:
            raise _RefusedError(f"it contains more than {_describe_limit(self._max_bytes)}")
        return data


def _describe_limit(max_bytes: int) -> str:
    return (
        f"{max_bytes / 1e6:,.1f} MB (the limit is {MAX_EXPANSION} times its size, at most "
        f"{MAX_UNPACKED_BYTES / 1e9:g} GB)"
    )
