"""Test sets from the network: whole files or none, checked before they take their place."""

from __future__ import annotations

import os

from truebleu.text.download import DownloadError, fetch
from truebleu.text.files import WholeFile

from ._messages import TestSetError, fail, logger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO


def download_file(
    source_path: str, dest_path: str, extract_to: str | None = None, expected_md5: str | None = None
) -> None:
    """Downloads an address to a file, unless the file is there, and unpacks it into a folder.

    The file takes its place last, after its sum is checked and all of its contents are in place: a
    file that exists is a finished download. Processes that do the same at the same time do not
    disturb one another.
    """
    os.makedirs(os.path.dirname(dest_path), exist_ok=True)
    if os.path.exists(dest_path) and os.path.getsize(dest_path):
        return
    logger().info(f"Downloading {source_path} to {dest_path}")
    with WholeFile(dest_path) as file:
        got = _fetch(source_path, file)
        if expected_md5 is not None and got != expected_md5:
            fail(
                "Fatal: MD5 sum of downloaded file was incorrect "
                f"(got {got}, expected {expected_md5}).",
                "Nothing of it was kept. Please run the command again.",
                "If the problem persists, the tarball may have changed, "
                "in which case, please contact the SacreBLEU maintainer.",
            )
        file.flush()
        if extract_to is not None:
            _extract(file.name, dest_path, extract_to)


def _fetch(address: str, file: BinaryIO) -> str:
    """Downloads an address to a file, and returns its MD5 sum."""
    from hashlib import md5

    try:
        return fetch(address, file, md5(usedforsecurity=False))
    except DownloadError as error:
        if error.of_certificate:
            fail(
                "An SSL error was encountered in downloading the files. If you're on a Mac, "
                'you may need to run the "Install Certificates.command" file located in the '
                '"Python 3" folder, often found under /Applications'
            )
        raise TestSetError(str(error)) from error


def extract_tarball(filepath: str, destdir: str) -> None:
    """Unpacks a .tar.gz, .tgz or .zip file into a folder; leaves other files alone."""
    _extract(filepath, filepath, destdir)


def _extract(archive: str, name: str, folder: str) -> None:
    """Unpacks an archive that is called `name`; each file appears whole or not at all."""
    import shutil
    import tarfile
    import tempfile
    import zipfile
    import zlib

    logger().info(f"Extracting {name} to {folder}")
    if not name.endswith((".tar.gz", ".tgz", ".zip")):
        return
    kind = "zip" if name.endswith(".zip") else "gztar"
    # No file may lie outside of the folder. The first Pythons 3.11 cannot refuse such files.
    is_checked = kind == "gztar" and hasattr(tarfile, "data_filter")
    options: dict[str, Any] = {"filter": "data"} if is_checked else {}
    os.makedirs(folder, exist_ok=True)
    # In the same folder, where renaming files does not copy them.
    beside = tempfile.mkdtemp(prefix=".truebleu-", dir=folder)
    try:
        shutil.unpack_archive(archive, beside, kind, **options)
        for path, folders, files in os.walk(beside):
            place = os.path.join(folder, os.path.relpath(path, beside))
            links = [each for each in folders if os.path.islink(os.path.join(path, each))]
            os.makedirs(place, exist_ok=True)
            for each in (*links, *files):
                os.replace(os.path.join(path, each), os.path.join(place, each))
    except (shutil.ReadError, tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise TestSetError(f"{archive} cannot be unpacked: {error}") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def get_md5sum(dest_path: str) -> str:
    """The MD5 sum of a file, in hexadecimal digits."""
    from hashlib import file_digest, md5

    with open(dest_path, "rb") as file:
        return file_digest(file, lambda: md5(usedforsecurity=False)).hexdigest()
