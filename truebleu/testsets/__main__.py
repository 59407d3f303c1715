"""`python -m truebleu.testsets check`: check the URLs of the catalogue.

The command downloads each archive and prints its size and checksums, for comparison with
registry.json. With `--head`, it only requests the file sizes from the servers.
"""

from __future__ import annotations

import os
import sys
from shutil import copyfileobj
from urllib.request import Request, urlopen

from truebleu.testsets import catalogue
from truebleu.text import download
from truebleu.text.argument_checks import is_whole_number
from truebleu.text.operating_system import make_temporary_folder

# Timeout for servers that send no data.
TIMEOUT_SECONDS = 60


def fetch_properties(url: str, *, size_only: bool) -> tuple[int | None, str | None, str | None]:
    """Return the size, MD5 and SHA-256 of a remote file; raise OSError if the request fails.

    size_only: request only the size, which is None if the server does not report it.
    """
    method = "HEAD" if size_only else "GET"
    with urlopen(Request(url, method=method), timeout=TIMEOUT_SECONDS) as response:
        if size_only:
            length = response.headers.get("Content-Length")
            return int(length) if length and is_whole_number(length) else None, None, None
        with make_temporary_folder() as folder:
            path = os.path.join(folder, "archive")
            with open(path, "wb") as file:
                copyfileobj(response, file)
            return os.path.getsize(path), *download.compute_checksums(path)


def check_archives(*, size_only: bool = False) -> int:
    """Check all URLs, print one line per URL, and return the exit status (1 for any problem)."""
    archives: dict[str, catalogue.Archive] = {}
    for entry in catalogue.load_entries().values():
        for archive in entry.archives:
            for url in (archive.address, *archive.mirrors):
                archives.setdefault(url, archive)
    failed = 0
    for url, archive in archives.items():
        properties: tuple[int | str | None, ...] = (None, None, None)
        try:
            properties = fetch_properties(url, size_only=size_only)
            comparisons = zip(
                ("size", "MD5", "SHA-256"),
                (archive.size, archive.md5, archive.sha256),
                properties,
                strict=True,
            )
            problem = "; ".join(
                f"{name} {actual}, not {expected}"
                for name, expected, actual in comparisons
                if None not in (expected, actual) and expected != actual
            )
        except (OSError, ValueError) as error:
            problem = str(error)
        failed += bool(problem)
        checksums = f"  {properties[1]}  {properties[2]}" if properties[1] else ""
        size = "?" if properties[0] is None else properties[0]
        print(f"{'WRONG' if problem else 'ok':5}  {size:>12}{checksums}  {url}")
        if problem:
            print(f"       {problem}")
    return min(failed, 1)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["check", *options] if set(options) <= {"--head"}:
            sys.exit(check_archives(size_only="--head" in options))
        case _:
            print("usage: python -m truebleu.testsets check [--head]", file=sys.stderr)
            sys.exit(2)
