"""Test sets from the network: whole files or none, with sacreBLEU's messages."""

from __future__ import annotations

import os

from truebleu._kernel import InputError
from truebleu.text import download

from ._messages import TestSetError, fail, logger

# What sacreBLEU unpacks.
_ARCHIVES = (".tar.gz", ".tgz", ".zip")


def download_file(
    source_path: str, dest_path: str, extract_to: str | None = None, expected_md5: str | None = None
) -> None:
    """Downloads an address to a file, unless the file is there, and unpacks it into a folder.

    The file takes its place last, after its sum is checked and all of its contents are in place: a
    file that exists is a finished download. Of processes that do the same at the same time one
    works.
    """
    os.makedirs(os.path.dirname(dest_path), exist_ok=True)
    with download.locked(dest_path):
        if os.path.exists(dest_path) and os.path.getsize(dest_path):
            return
        logger().info(f"Downloading {source_path} to {dest_path}")
        fresh = f"{dest_path}.new"
        _get(download.Source((source_path,), md5=expected_md5), fresh, os.path.basename(dest_path))
        try:
            if extract_to is not None:
                _extract(fresh, dest_path, extract_to)
            os.replace(fresh, dest_path)
        finally:
            if os.path.lexists(fresh):
                os.unlink(fresh)


def _get(source: download.Source, path: str, name: str) -> None:
    try:
        download.get(source, path, name=name, remember=False)
    except download.DownloadError as error:
        if error.wrong_sum is not None:
            kind, got, expected = error.wrong_sum
            fail(
                f"Fatal: {kind} sum of downloaded file was incorrect "
                f"(got {got}, expected {expected}).",
                "Nothing of it was kept. Please run the command again.",
                "If the problem persists, the tarball may have changed, "
                "in which case, please contact the SacreBLEU maintainer.",
            )
        if error.of_certificate:
            fail(
                "An SSL error was encountered in downloading the files. If you're on a Mac, "
                'you may need to run the "Install Certificates.command" file located in the '
                '"Python 3" folder, often found under /Applications'
            )
        raise TestSetError(str(error).removeprefix(f"{name}: ")) from error


def extract_tarball(filepath: str, destdir: str) -> None:
    """Unpacks a .tar.gz, .tgz or .zip file into a folder; leaves other files alone."""
    _extract(filepath, filepath, destdir)


def _extract(archive: str, name: str, folder: str) -> None:
    """Unpacks an archive that is called `name`; each file appears whole or not at all."""
    logger().info(f"Extracting {name} to {folder}")
    if not name.endswith(_ARCHIVES):
        return
    try:
        download.unpacked(archive, folder, None, called=name)
    except InputError as error:
        raise TestSetError(str(error)) from error


def get_md5sum(dest_path: str) -> str:
    """The MD5 sum of a file, in hexadecimal digits."""
    return download.sums(dest_path)[0]
