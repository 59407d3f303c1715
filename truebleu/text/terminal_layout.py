"""Functions that lay out text for a terminal, such as tables, paragraphs and short names."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Collection, Sequence
from typing import Any, Self

# Invisible characters that are not escaped, because they are parts of words and emoji.
JOINERS = "\u200c\u200d"


def escape_invisible(text: str) -> str:
    r"""Return text in which invisible characters and terminal control characters are escaped.

    >>> print(escape_invisible("caf\u00e9\u200b\x1b[31m"))
    café\u200b\x1b[31m
    """
    if text.isascii() and text.isprintable():
        return text
    from unicodedata import category

    characters = []
    for c in text:
        if c < " " or c == "\x7f":
            # These are ASCII characters, which "backslashreplace" does not escape.
            characters.append(f"\\x{ord(c):02x}")
        elif category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Co") and c not in JOINERS:
            characters.append(c.encode("ascii", "backslashreplace").decode())
        else:
            characters.append(c)
    return "".join(characters)


def escape_unprintable(text: str) -> str:
    r"""Return text on one line, with unprintable characters as Python escapes.

    File names may contain tabs, line endings and bytes that are not valid UTF-8.

    >>> print(escape_unprintable("a\tb"))
    a\tb
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def measure_width(text: str) -> int:
    """Return the width of a text on a terminal, measured in columns."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in text)


def shorten_text(text: str, width: int) -> str:
    """Return a text, shortened in the middle by an ellipsis if it is wider than `width` columns.

    >>> shorten_text("transformer-big-seed-1", 11), shorten_text("short", 11)
    ('trans…eed-1', 'short')
    """
    if measure_width(text) <= width:
        return text
    start, end = text, text
    while measure_width(start) > (width - 1) // 2:
        start = start[:-1]
    while measure_width(end) > width - 1 - measure_width(start):
        end = end[1:]
    return f"{start}…{end}"


def pad_text(text: str, width: int, *, right: bool = False) -> str:
    """Return a text padded with spaces to a width."""
    space = " " * (width - measure_width(text))
    return space + text if right else text + space


def cut_text(text: str, width: int) -> str:
    """Return a text cut to at most `width` columns, with an ellipsis if anything was cut.

    >>> cut_text("the cat sat", 8), cut_text("那天天气很好", 8), cut_text("a cat", 8)
    ('the cat…', '那天天…', 'a cat')
    """
    if measure_width(text) <= width:
        return text
    kept = ""
    for character in text:
        if measure_width(kept + character) >= width:  # Keep one column for the ellipsis.
            break
        kept += character
    return f"{kept.rstrip()}…"


def pad_columns(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[list[str]]:
    """Return cells padded to the width of their column; columns in `right` are right-aligned."""
    widths = [max(map(measure_width, column)) for column in zip(*rows, strict=True)]
    return [
        [pad_text(cell, widths[i], right=i in right) for i, cell in enumerate(row)] for row in rows
    ]


def format_table(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> str:
    """Return the lines of a table with a rule below its header.

    >>> print(format_table([["name", "n"], ["a", "10"]], right=(1,)))
    name   n
    --------
    a     10
    """
    lines = ["  ".join(row).rstrip() for row in pad_columns(rows, right)]
    lines.insert(1, "-" * max(map(measure_width, lines)))
    return "\n".join(lines)


# Parts of a message that users copy, and values such as p = 0.05.
_UNBROKEN_TEXT = (
    r"\b\w+ [=<>] \S+"
    r"|\b(?:pip install|python -m|truebleu) [a-z'][\w'\[\]-]*"
    r"(?: (?:-{1,2}[a-z][\w-]*|[A-Z][A-Z0-9_]+\b(?:\.\.\.)?))*"
    r"|(?<!\S)-{1,2}[a-z][\w/-]* (?:[A-Z][A-Z0-9_=]*\b|\d[\d.,]*)"
    r"|(?<!\S)-f [a-z]+"
    r"|(?<![\w'])'[^' ]+(?: [^' ]+)*'(?!\w)"
)


def wrap_text(text: str, width: int) -> list[str]:
    """Return the lines of a paragraph, broken only between words or wide characters.

    A value after "=", a command, an option with its value or a quoted name stays on one line. Only
    words that are wider than a line, and that are not paths or signatures, are broken at their
    hyphens.

    >>> wrap_text("a difference (p = 0.05)", 18)
    ['a difference', '(p = 0.05)']
    >>> wrap_text("Test it with truebleu compare.", 20)
    ['Test it with', 'truebleu compare.']
    >>> wrap_text("那天天气很好", 9)
    ['那天天气', '很好']
    """
    from re import sub
    from textwrap import wrap

    joined_text = sub(
        _UNBROKEN_TEXT,
        lambda part: part[0].replace(" ", "\0") if len(part[0]) <= width else part[0],
        text,
    )
    if not text.isascii():
        # textwrap counts characters, so that wide ones need a second character.
        joined_text = "".join("\1" * (measure_width(c) - 1) + c for c in joined_text)
    is_too_wide = any(len(word) > width and not {*"/|"} & {*word} for word in joined_text.split())
    lines = wrap(
        joined_text, width, break_long_words="\1" in joined_text, break_on_hyphens=is_too_wide
    )
    return [line.replace("\0", " ").replace("\1", "") for line in lines]


def wrap_command(words: Sequence[str], width: int, prompt: str = "") -> list[str]:
    r"""Return the lines of a shell command after a prompt. An option and its value stay together.

    >>> wrap_command(["truebleu", "score", "ref.en", "-i", "a.en"], 25)
    ['truebleu score ref.en \\', '    -i a.en']
    """
    parts: list[str] = []
    for word in words:
        if parts and parts[-1].startswith("-") and " " not in parts[-1] and word[0] != "-":
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    lines = [prompt + parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + len(part) + len("  \\") > width:
            lines[-1] += " \\"
            lines.append(f"{' ' * (len(prompt) - len(prompt.lstrip()))}    {part}")
        else:
            lines[-1] += f" {part}"
    return lines


def get_terminal_width(default: int, descriptor: int = 1) -> int:
    """Return the number of columns of the terminal, or the default if it is unknown.

    descriptor: the file descriptor of the terminal: 1 for standard output, 2 for standard error.
    """
    try:
        columns = int(os.environ.get("COLUMNS") or os.get_terminal_size(descriptor).columns)
    except (OSError, ValueError):
        columns = 0
    # Some pseudo-terminals have 0 columns.
    return columns or default


class ProgressLine:
    """Progress line on a terminal, which appears after a second and is cleared at the end."""

    # Number of seconds before the first progress line, and between progress lines.
    FIRST_SECONDS, INTERVAL_SECONDS = 1.0, 0.2
    clock = staticmethod(time.monotonic)

    def __init__(self, *, quiet: bool) -> None:
        self.is_silent = quiet or sys.stderr is None or not sys.stderr.isatty()
        """True if progress is never shown."""
        self.start_time = self.clock()
        self._next_time = self.start_time + self.FIRST_SECONDS
        self._is_visible = False

    def is_due(self, now: float) -> bool:
        """Return whether it is time to update the line."""
        if self.is_silent or now < self._next_time:
            return False
        self._next_time = now + self.INTERVAL_SECONDS
        return True

    def show(self, line: str) -> None:
        """Replace the text of the progress line."""
        # A longer line would wrap, and could not be cleared.
        sys.stderr.write(f"\r\x1b[K{cut_text(line, get_terminal_width(80, 2) - 1)}")
        sys.stderr.flush()
        self._is_visible = True

    def clear(self) -> None:
        """Clear the progress line before other output."""
        if self._is_visible:
            self.show("")
        self._is_visible = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()


def print_wrapped(text: str) -> None:
    """Write a message to standard error: wrapped on a terminal, otherwise on one line."""
    if sys.stderr is None:
        return
    if sys.stderr.isatty():
        text = "\n  ".join(wrap_text(text, get_terminal_width(80, 2) - 2))
    print(text, file=sys.stderr, flush=True)  # noqa: T201


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun, which is plural unless the number is 1.

    >>> format_count(1, "segment"), format_count(1200, "segment")
    ('1 segment', '1,200 segments')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def format_id(id_: Sequence[Any]) -> str:
    """Format the id of a table row, which has a value per column, for a message."""
    return ", ".join("null" if component is None else str(component)[:40] for component in id_)


def join_words(words: Sequence[str]) -> str:
    """Join words with commas and "and".

    >>> join_words(["a", "b", "c"])
    'a, b and c'
    """
    *leading, last = words
    return f"{', '.join(leading)} and {last}" if leading else last
