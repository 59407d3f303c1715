"""Text on a terminal: how wide it is, what does not show, cells in columns, paragraphs in lines."""

from __future__ import annotations

from collections.abc import Collection, Sequence

# Joiners are parts of words and of emoji; everything else that does not show is shown.
JOINERS = "\u200c\u200d"


def visible(text: str) -> str:
    r"""Text in which characters that do not show, or would command a terminal, are written out.

    >>> print(visible("caf\u00e9\u200b\x1b[31m"))
    café\u200b\x1b[31m
    """
    if text.isascii() and text.isprintable():
        return text
    from unicodedata import category

    def shown(character: str) -> str:
        hidden = category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Co")
        if hidden and character not in JOINERS:
            return character.encode("ascii", "backslashreplace").decode()
        return character

    # A control character has no escape of its own in ASCII, which it is part of.
    return "".join(f"\\x{ord(c):02x}" if c < " " or c == "\x7f" else shown(c) for c in text)


def places(text: str) -> int:
    """The width of a text on a terminal."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in text)


def padded(text: str, width: int, *, right: bool = False) -> str:
    """A text with spaces up to a width."""
    space = " " * (width - places(text))
    return space + text if right else text + space


def columns(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[list[str]]:
    """Cells as wide as their column; some columns set to the right."""
    widths = [max(map(places, column)) for column in zip(*rows, strict=True)]
    return [
        [padded(cell, widths[i], right=i in right) for i, cell in enumerate(row)] for row in rows
    ]


def aligned(rows: Sequence[Sequence[str]], right: Collection[int] = (), rule: str = "-") -> str:
    """Lines of a table with a rule under its header.

    >>> print(aligned([["name", "n"], ["a", "10"]], right=(1,)))
    name   n
    --------
    a     10
    """
    lines = ["  ".join(row).rstrip() for row in columns(rows, right)]
    lines.insert(1, rule * max(map(places, lines)))
    return "\n".join(lines)


def wrapped(text: str, width: int) -> list[str]:
    """A paragraph in lines, broken between words only."""
    from textwrap import wrap

    return wrap(text, width, break_long_words=False, break_on_hyphens=False)


def count(number: int, thing: str) -> str:
    """A number of things.

    >>> count(1, "segment"), count(1200, "segment")
    ('1 segment', '1,200 segments')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def listed(words: Sequence[str]) -> str:
    """Words in a row.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


# ---- names ----


def short_names(paths: Sequence[str]) -> list[str]:
    """The names of systems by their files: what differs, in whole words between dots and slashes.

    >>> short_names(["runs/newstest.en-de.Online-A.de", "runs/newstest.en-de.Online-B.de"])
    ['Online-A', 'Online-B']
    >>> short_names(["a/out.txt", "b/out.txt"]), short_names(["x.txt", "x.txt"])
    (['a', 'b'], ['x.txt', 'x.txt (2)'])
    """
    import os

    names = [os.path.basename(path) for path in paths]
    if len(set(names)) < len(names):
        names = list(paths)
    if len(set(names)) == len(names) > 1 and not any("#" in name for name in names):
        names = _without_common(names)
    seen: dict[str, int] = {}
    for i, name in enumerate(names):
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            names[i] = f"{name} ({seen[name]})"
    return names


def _without_common(names: Sequence[str]) -> list[str]:
    """Different names without the parts at the beginning and end that all have in common."""
    import re

    # Parts and separators in turn; at least one part stays.
    split = [re.split(r"([./\\])", name) for name in names]
    most = min(map(len, split)) - 1
    start = min(_alike(split), most) // 2 * 2
    if len({parts[start] for parts in split}) == 1:  # one is the beginning of another
        return list(names)
    end = min(_alike([parts[::-1] for parts in split]), most - start) // 2 * 2
    made = ["".join(parts[start : len(parts) - end]) for parts in split]
    return made if all(made) and len(set(made)) == len(made) else list(names)


def _alike(rows: Sequence[Sequence[str]]) -> int:
    """The number of first parts that all rows have in common."""
    from itertools import takewhile

    together = zip(*rows, strict=False)
    return sum(1 for _ in takewhile(lambda parts: len(set(parts)) == 1, together))
