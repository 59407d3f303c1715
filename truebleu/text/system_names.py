"""Names of systems, taken from the names of their output files."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from truebleu.text.segments import COMPRESSED_SUFFIXES, File, as_file, is_file

# A number at the end, as in model-1.5 or checkpoint.20000, belongs to the name.
_SUFFIX = re.compile(r"(?<=.)\.(?!\d+$)[^.]*$", re.DOTALL)
_COLUMN = re.compile(r"#\d+$")


def derive_system_name(path: str) -> str:
    """Return the name of a system: its file name without folder, compression and last suffix.

    >>> derive_system_name("runs/newstest.en-de.Online-B.de"), derive_system_name("sys.de.gz")
    ('newstest.en-de.Online-B', 'sys')
    >>> derive_system_name("model-1.5"), derive_system_name("outputs.tsv#3")
    ('model-1.5', 'outputs#3')
    """
    column = _COLUMN.search(path)
    name = re.split(r"[/\\]", path[: column.start()] if column else path)[-1]
    stem, suffix = os.path.splitext(name)
    name = stem if suffix.lower() in COMPRESSED_SUFFIXES else name
    return _SUFFIX.sub("", name) + (column[0] if column else "")


def format_path(file: str | os.PathLike[str] | File) -> str:
    """Return the path and column of a file, for messages and names."""
    file = as_file(file)
    path = "standard input" if file.path == "-" else file.path
    return path if file.column is None else f"{path}#{file.column}"


def name_system(hypotheses: Any) -> str | None:
    """Return the name of a system whose hypotheses are in a file, or None for other inputs."""
    return derive_system_name(format_path(hypotheses)) if is_file(hypotheses) else None


def name_systems(files: Sequence[str | os.PathLike[str] | File]) -> list[str]:
    """Return a distinct name for each file, which includes folders if file names are equal.

    >>> name_systems(["run1/out.de", "run2/out.de", "best.de"])
    ['run1/out', 'run2/out', 'best']
    >>> name_systems(["out.de", "out.en"])
    ['out.de', 'out.en']
    """
    paths = list(map(format_path, files))
    names = list(map(derive_system_name, paths))
    for name in {name for name in names if names.count(name) > 1}:
        positions = [i for i, other in enumerate(names) if other == name]
        folders = [re.split(r"[/\\]", os.path.normpath(paths[i])) for i in positions]
        parts = [(*folder[:-1], name) for folder in folders]
        if len(set(parts)) < len(parts):  # The files differ only in their suffixes.
            parts = [tuple(folder) for folder in folders]
        for i, own in zip(positions, parts, strict=True):
            others = [other for j, other in zip(positions, parts, strict=True) if j != i]
            distinct = (
                length
                for length in range(1, len(own))
                if all(other[-length:] != own[-length:] for other in others)
            )
            names[i] = "/".join(own[-next(distinct, len(own)) :])
    # The same file may be used twice.
    return [
        name if name not in names[:i] else f"{name} ({names[:i].count(name) + 1})"
        for i, name in enumerate(names)
    ]
