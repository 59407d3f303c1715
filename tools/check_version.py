"""Check that every file names the same version, and that a tag can be released.

    python tools/check_version.py            compare kernel/Cargo.toml with the other files
    python tools/check_version.py v0.1.0     also check what the release v0.1.0 needs

A release needs its dated section in CHANGELOG.md, which quotes the digest of the table of scores,
its date in CITATION.cff, and pages that no longer say that there is no release.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
NO_RELEASE = re.compile(r"no\s+release\s+has\s+been\s+published", re.IGNORECASE)


def main() -> None:
    """Print the version, or exit with a list of the problems."""
    tag = "".join(sys.argv[1:])
    version = read_toml("kernel/Cargo.toml")["package"]["version"]
    problems = check_files(version) + (check_release(version, tag) if tag else [])
    if problems:
        sys.exit("\n".join(problems))
    print(f"{tag or version}: every file names this version")


def check_files(version: str) -> list[str]:
    """Return the problems of files that name another version than kernel/Cargo.toml."""
    found = {
        f"{name}Cargo.lock": package["version"]
        for name in ("", "kernel/fuzz/")
        for package in read_toml(f"{name}Cargo.lock")["package"]
        if package["name"] == "truebleu-kernel"
    }
    # These two files get the version when the package is built, so they should not name one.
    found["pyproject.toml"] = read_toml("pyproject.toml")["project"].get("version", version)
    found["npm/package.json"] = json.loads(read("npm/package.json")).get("version", version)
    found["CITATION.cff"] = "".join(
        re.findall(r"^version: (.*)$", read("CITATION.cff"), re.MULTILINE)
    )
    return [
        f"{name}: wrong version (expected {version}, as in kernel/Cargo.toml, found {other!r})."
        for name, other in found.items()
        if other != version
    ]


def check_release(version: str, tag: str) -> list[str]:
    """Return what is missing for a release with this tag."""
    problems = []
    if tag != f"v{version}":
        problems.append(f"tag {tag}: wrong version (expected v{version}, as in kernel/Cargo.toml).")
    heading, section = read("CHANGELOG.md").split("\n## ")[1].split("\n", 1)
    date = heading.removeprefix(f"[{version}] - ")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        date = "YYYY-MM-DD"
        problems.append(
            f"CHANGELOG.md: wrong newest release (expected '## [{version}] - {date}', found "
            f"'## {heading}'). Write the date of the release."
        )
    digest = hashlib.sha256((ROOT / "tests/project/scores.tsv").read_bytes()).hexdigest()[:16]
    if f"`{digest}`" not in section:
        problems.append(
            f"CHANGELOG.md: {version} does not quote `{digest}`, the digest of "
            "tests/project/scores.tsv. Announce the changed scores in the section Scores."
        )
    dates = re.findall(r"^date-released: [\"']?([\d-]+)", read("CITATION.cff"), re.MULTILINE)
    if dates != [date]:
        problems.append(
            f"CITATION.cff: wrong date (expected {date}, as in CHANGELOG.md, found "
            f"{' '.join(dates) or 'none'}). Write `date-released: {date}`."
        )
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return problems + [
        f"{page.relative_to(ROOT)}: says that no release has been published. Remove this."
        for page in pages
        if NO_RELEASE.search(page.read_text("utf-8"))
    ]


def read(name: str) -> str:
    """Return the text of a file of the repository."""
    return (ROOT / name).read_text("utf-8")


def read_toml(name: str) -> dict[str, Any]:
    """Return the content of a TOML file of the repository."""
    return tomllib.loads(read(name))


if __name__ == "__main__":
    main()
