"""The viewer's script without what only its authors read: comments and white space."""

from __future__ import annotations

import re

# A name that a regular expression may follow, where a slash behind any other divides.
_WORDS = re.compile(
    r"(?<![\w$.])(?:return|typeof|case|in|of|do|else|void|delete|throw|new|await|yield)$"
)
# A string, a name, or any other character.
_PIECE = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|[\w$]+|[^\w$'\"]", re.DOTALL)
_REGEX = re.compile(r"/(?![/*])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_SPACE = re.compile(r"\s+|//[^\n]*|/\*.*?\*/", re.DOTALL)


def slimmed(source: str) -> str:
    """The same script, shorter: names, strings, patterns and line ends stay.

    source: JavaScript in which no pattern starts a statement or stands behind `)`.
    """
    out: list[str] = []
    # For each template that is open, how many braces are in its present expression.
    braces: list[int] = []
    at, space = 0, ""

    def put(piece: str) -> None:
        nonlocal space
        if space and out:
            out.append("\n" if "\n" in space else _between(out[-1][-1], piece[0]))
        space = ""
        out.append(piece)

    while at < len(source):
        character = source[at]
        if match := _SPACE.match(source, at):
            # A comment of several lines ends a statement as a line end would.
            space += "\n" if "\n" in match[0] else " "
            at = match.end()
            continue
        if character == "`" or (character == "}" and braces and not braces[-1]):
            if character == "}":
                braces.pop()
            end = _end_of_template(source, at + 1)
            put(source[at:end])
            if source[end - 1] == "{":
                braces.append(0)
            at = end
            continue
        if braces and character in "{}":
            braces[-1] += 1 if character == "{" else -1
        pattern = character == "/" and _may_be_pattern(out)
        match = (_REGEX if pattern else _PIECE).match(source, at)
        if match is None:
            raise ValueError(f"not understood: {source[at : at + 40]!r}")
        put(match[0])
        at = match.end()
    return "".join(out) + "\n"


def _between(before: str, behind: str) -> str:
    """A space if two pieces would be read as one without it."""
    signs = before in "+-" and behind == before
    names = all(c.isalnum() or c in "_$" or ord(c) > 127 for c in (before, behind))
    return " " if signs or names else ""


def _may_be_pattern(out: list[str]) -> bool:
    """True if a slash behind this starts a regular expression."""
    last = next((piece for piece in reversed(out) if piece.strip()), "(")
    if last[-1] in ")]}`'\"":
        return False
    return not (last[-1].isalnum() or last[-1] in "_$") or bool(_WORDS.search(last))


def _end_of_template(source: str, at: int) -> int:
    """Behind the next `${` or the closing backtick."""
    while source[at] != "`":
        if source[at] == "\\":
            at += 1
        elif source.startswith("${", at):
            return at + 2
        at += 1
    return at + 1
