"""A check of the catalogue: do its addresses answer, and with what it says?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from truebleu.testsets import catalogue
from truebleu.text.checks import is_whole_number

if TYPE_CHECKING:
    from truebleu.testsets.catalogue import Archive

# Seconds without a byte.
PATIENCE = 60


def archives(entries: Iterable[catalogue.Entry]) -> dict[str, Archive]:
    """All archives, each once, by their addresses; mirrors too."""
    found: dict[str, Archive] = {}
    for entry in entries:
        for archive in entry.archives:
            for address in (archive.address, *archive.mirrors):
                found.setdefault(address, archive)
    return found


def asked(address: str) -> int | None:
    """The size that a server says a file has; None if it does not say it. Raises OSError."""
    from urllib.request import Request, urlopen

    with urlopen(Request(address, method="HEAD"), timeout=PATIENCE) as response:
        size = response.headers.get("Content-Length")
        return int(size) if size and is_whole_number(size) else None


def fetched(address: str) -> tuple[int, str, str]:
    """The size, the MD5 and the SHA-256 of a file, which is not kept. Raises OSError."""
    from hashlib import md5, sha256
    from urllib.request import urlopen

    size, each = 0, (md5(usedforsecurity=False), sha256())
    with urlopen(address, timeout=PATIENCE) as response:
        while piece := response.read(1 << 20):
            size += len(piece)
            for digest in each:
                digest.update(piece)
    return size, each[0].hexdigest(), each[1].hexdigest()


def problems(
    archive: Archive, size: int | None, md5: str | None, sha256: str | None
) -> Iterator[str]:
    """What differs from the catalogue, of what is known."""
    known = (
        ("size", archive.size, size),
        ("MD5", archive.md5, md5),
        ("SHA-256", archive.sha256, sha256),
    )
    for name, wanted, got in known:
        if None not in (wanted, got) and wanted != got:
            yield f"{name} {got}, not {wanted}"


def check(*, is_head: bool = False) -> int:
    """Asks all addresses, and prints a line for each. The exit status: 1 if one has a problem."""
    failed = 0
    for address, archive in archives(catalogue.entries().values()).items():
        size, md5, sha256 = None, None, None
        try:
            if is_head:
                size = asked(address)
            else:
                size, md5, sha256 = fetched(address)
            said = "; ".join(problems(archive, size, md5, sha256))
        except (OSError, ValueError) as error:
            said = str(error)
        failed += bool(said)
        sums = f"  {md5}  {sha256}" if md5 else ""
        shown = "?" if size is None else size
        print(f"{'WRONG' if said else 'ok':5}  {shown:>12}{sums}  {address}")
        if said:
            print(f"       {said}")
    return min(failed, 1)
