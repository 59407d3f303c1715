"""System names, which are taken from the names of output files, and short names for display."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any

from truebleu.text.segments import COMPRESSED_SUFFIXES, File, as_file, is_file

# A number at the end, as in model-1.5 or checkpoint.20000, belongs to the name.
_SUFFIX = r"(?s)(?<=.)\.(?!\d+$)[^.]*$"
_COLUMN = r"#\d+$"


def derive_system_name(path: str) -> str:
    """Return the name of a system: its file name without folder, compression and last suffix.

    >>> derive_system_name("runs/newstest.en-de.Online-B.de"), derive_system_name("sys.de.gz")
    ('newstest.en-de.Online-B', 'sys')
    >>> derive_system_name("model-1.5"), derive_system_name("outputs.tsv#3")
    ('model-1.5', 'outputs#3')
    """
    column = re.search(_COLUMN, path)
    name = re.split(r"[/\\]", path[: column.start()] if column else path)[-1]
    stem, suffix = os.path.splitext(name)
    name = stem if suffix.lower() in COMPRESSED_SUFFIXES else name
    return re.sub(_SUFFIX, "", name) + (column[0] if column else "")


# Words that reveal the kind of a file if they occur in its name or in the name of its folder.
_WORDS_BY_KIND = {
    "reference": {"ref", "refs", "reference", "references"},
    "output": {
        *("hyp", "hyps", "hypothesis", "hypotheses", "sys", "system", "systems"),
        *("output", "outputs"),
    },
}


def guess_file_kind(path: str) -> str:
    """Return "reference" or "output" if a file's name or its folder has such a word, else "".

    >>> guess_file_kind("test.en-de.hyp.Online-B.de"), guess_file_kind("references/test.de")
    ('output', 'reference')
    """
    for name in reversed(re.split(r"[/\\]", path)[-2:]):
        words = set(re.split(r"[\W_\d]+", name.lower()))
        kinds = [kind for kind, known in _WORDS_BY_KIND.items() if words & known]
        if kinds:
            return kinds[0] if len(kinds) == 1 else ""
    return ""


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


# ---- short names ----

# If names are longer than this, the parts that all names in a call share are removed.
MAX_NAME_LENGTH = 20
# Names shorter than this, such as "B", would look like letters of systems; numbers would look like
# scores.
_MIN_SHORT_NAME = r"(?s)(?=.*[^\W\d_]).{2,}"
_SEPARATOR = r"([./\\:])"
# Pattern that must match after a name in a sentence, so that the name is not the start of a longer
# one.
_NAME_END = r"(?![\w-]|[./\\:#]\w)"


def remove_common_parts(names: Sequence[str], shortest: str | None = None) -> list[str]:
    """Return distinct names without their common parts at the start and end.

    shortest: pattern of names that are long enough; shorter names keep more of their start.
    """
    # Parts and separators alternate. Keep at least one part.
    split = [re.split(_SEPARATOR, name) for name in names]
    max_common = min(map(len, split)) - 1
    start = min(_count_common_parts(split), max_common) // 2 * 2
    if len({parts[start] for parts in split}) == 1:  # One name is a prefix of another.
        return list(names)
    end = min(_count_common_parts([parts[::-1] for parts in split]), max_common - start) // 2 * 2
    shortened = list(names)
    while start >= 0:
        shortened = ["".join(parts[start : len(parts) - end]) for parts in split]
        if shortest is None or all(re.fullmatch(shortest, name) for name in shortened):
            break
        start -= 2
    return shortened if all(shortened) and len(set(shortened)) == len(shortened) else list(names)


def _count_common_parts(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of leading parts that all rows have in common."""
    columns = zip(*rows, strict=False)
    return sum(1 for _ in takewhile(lambda parts: len(set(parts)) == 1, columns))


def shorten_names(names: Sequence[str]) -> list[str]:
    """Return system names without the parts that all of them share, if any name is long.

    If there are no such parts, the parts that the long names share are removed instead.

    >>> shorten_names(["newstest2022.en-de.hyp.Online-A", "newstest2022.en-de.hyp.M2"])
    ['Online-A', 'M2']
    >>> shorten_names(["small.en", "large.en"])
    ['small.en', 'large.en']
    >>> shorten_names(["base", "newstest2022.en-de.hyp.A", "newstest2022.en-de.hyp.B"])
    ['base', 'hyp.A', 'hyp.B']
    """
    long_names = [name for name in names if len(name) > MAX_NAME_LENGTH]
    for compared in (names, long_names) if long_names else ():
        if len(compared) > 1:
            short = dict(zip(compared, remove_common_parts(compared, _MIN_SHORT_NAME), strict=True))
            shortened = [short.get(name, name) for name in names]
            if shortened != list(names) and len(set(shortened)) == len(set(names)):
                return shortened
    return list(names)


class ShortNames:
    """Short names of the systems in one call, for display. Data formats contain the full names."""

    def __init__(self, names: Iterable[str]) -> None:
        names = list(dict.fromkeys(names))
        pairs = zip(names, shorten_names(names), strict=True)
        self._by_name = {name: short for name, short in pairs if name != short}
        # Longer names first, because one name may start with another.
        alternatives = "|".join(map(re.escape, sorted(self._by_name, key=len, reverse=True)))
        self._pattern = re.compile(rf"(?<![\w./\\:-])(?:{alternatives}){_NAME_END}")

    def __bool__(self) -> bool:
        return bool(self._by_name)

    def shorten(self, text: str) -> str:
        """Return a text, such as a sentence, in which short names replace full names.

        >>> short = ShortNames(["wmt22.en-de.hyp.Online-A", "wmt22.en-de.hyp.Online-B"])
        >>> short.shorten("wmt22.en-de.hyp.Online-A.")
        'Online-A.'
        """
        return self._pattern.sub(lambda match: self._by_name[match[0]], text) if self else text

    def shorten_all(self, content: Any) -> Any:
        """Return JSON-compatible contents in which short names replace full names."""
        if not self:
            return content
        if isinstance(content, str):
            return self.shorten(content)
        if isinstance(content, Mapping):
            return {self.shorten(key): self.shorten_all(value) for key, value in content.items()}
        return [*map(self.shorten_all, content)] if isinstance(content, list) else content

    @property
    def note(self) -> str:
        """A sentence that explains the short names, or an empty string if there are none.

        >>> ShortNames(["wmt22.en-de.hyp.Online-A", "wmt22.en-de.hyp.Online-B"]).note
        'Online-A is short for wmt22.en-de.hyp.Online-A, and so on.'
        """
        if not self:
            return ""
        name, short = next(iter(self._by_name.items()))
        others = ", and so on" if len(self._by_name) > 1 else ""
        return f"{short} is short for {name}{others}."


def find_system(name: str, names: Sequence[str], role: str) -> str:
    """Return the system with the given name, short name or part of a name.

    Raises ValueError, with `role` in the message, if no system or several systems match.

    >>> find_system("M2", ["wmt22.en-de.hyp.Online-A", "wmt22.en-de.hyp.M2"], "system")
    'wmt22.en-de.hyp.M2'
    """
    from truebleu.text.argument_checks import suggest_names

    name = str(name)
    if name in names:
        return name
    short_names = shorten_names(names)
    if name in short_names:
        return names[short_names.index(name)]
    pattern = rf"(?:.*[./\\:])?{re.escape(name)}(?:[./\\:].*)?"
    part = re.compile(pattern, re.DOTALL | re.IGNORECASE)
    matching = [i for i, one in enumerate(names) if name and part.fullmatch(one)]
    if len(matching) > 1:
        expected = ", ".join(short_names[i] for i in matching)
        raise ValueError(f"{role}: '{name}' is ambiguous (expected one of {expected})")
    if not matching:
        raise ValueError(f"{role}: no system '{name}'{suggest_names(name, short_names)}")
    return names[matching[0]]


def name_references(references: Any, reference_count: int) -> list[str]:
    """Return short names of references: from their file names, or numbers for other inputs."""
    columns = references if isinstance(references, list | tuple) else [references]
    names = [str(i) for i in range(1, reference_count + 1)]
    if len(columns) == reference_count and all(map(is_file, columns)):
        files = list(map(as_file, columns))
        if len({file.path for file in files}) == 1:
            names = [str(file.column) for file in files]
        else:
            names = remove_common_parts(name_systems(files))
    return names
