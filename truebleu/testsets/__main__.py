"""`python -m truebleu.testsets check`: whether the catalogue's addresses have what it says.

With `--head`, servers are only asked whether they have the files. For somebody with internet, and
time: it prints each archive's size and sums, as registry.json has them.
"""

from __future__ import annotations

import os
import sys
from shutil import copyfileobj
from urllib.request import Request, urlopen

from truebleu.testsets import catalogue
from truebleu.text import download
from truebleu.text.argument_checks import is_whole_number
from truebleu.text.operating_system import temporary_folder

# Seconds without a byte.
PATIENCE = 60


def ask(address: str, *, is_head: bool) -> tuple[int | None, str | None, str | None]:
    """The size, the MD5 and the SHA-256 of a file, which is not kept. Raises OSError.

    is_head: only the size, as the server says it; None if it does not.
    """
    method = "HEAD" if is_head else "GET"
    with urlopen(Request(address, method=method), timeout=PATIENCE) as response:
        if is_head:
            length = response.headers.get("Content-Length")
            return int(length) if length and is_whole_number(length) else None, None, None
        with temporary_folder() as folder:
            path = os.path.join(folder, "archive")
            with open(path, "wb") as file:
                copyfileobj(response, file)
            return os.path.getsize(path), *download.compute_checksums(path)


def check(*, is_head: bool = False) -> int:
    """Asks all addresses, and prints a line for each. The exit status: 1 if one has a problem."""
    archives: dict[str, catalogue.Archive] = {}
    for entry in catalogue.entries().values():
        for archive in entry.archives:
            for address in (archive.address, *archive.mirrors):
                archives.setdefault(address, archive)
    failed = 0
    for address, archive in archives.items():
        got: tuple[int | str | None, ...] = (None, None, None)
        try:
            got = ask(address, is_head=is_head)
            known = zip(
                ("size", "MD5", "SHA-256"),
                (archive.size, archive.md5, archive.sha256),
                got,
                strict=True,
            )
            said = "; ".join(
                f"{name} {there}, not {wanted}"
                for name, wanted, there in known
                if None not in (wanted, there) and wanted != there
            )
        except (OSError, ValueError) as error:
            said = str(error)
        failed += bool(said)
        sums = f"  {got[1]}  {got[2]}" if got[1] else ""
        shown = "?" if got[0] is None else got[0]
        print(f"{'WRONG' if said else 'ok':5}  {shown:>12}{sums}  {address}")
        if said:
            print(f"       {said}")
    return min(failed, 1)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["check", *options] if set(options) <= {"--head"}:
            sys.exit(check(is_head="--head" in options))
        case _:
            print("usage: python -m truebleu.testsets check [--head]", file=sys.stderr)
            sys.exit(2)
