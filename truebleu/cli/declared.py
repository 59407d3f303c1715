"""What commands and their options are declared with, and the types of options."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from truebleu.text import checks
from truebleu.text.record import Record

# The default of an option that parsed options have only where it was given.
ABSENT = object()


class Option(Record):
    """An option or argument: its spellings, and what argparse is told of it."""

    flags: Sequence[str]
    given: Mapping[str, Any]
    completes: Callable[[], Iterable[str]] | None = None
    """Gives words for a shell; others may be taken."""
    exclusive: bool = False
    """True if only one such option of its group may be given."""


def option(flags: Sequence[str], value: str | None, sentence: str, **more: Any) -> Option:
    """An option by its spellings, its value and its sentence of help.

    value: None for a flag; "N" for one value, "FILE..." for several, "[N]" for one or none.
    more: `choices`, the words that it takes; what `Option` has besides; the rest is for argparse.
    """
    own = {name: more.pop(name) for name in ("completes", "exclusive") if name in more}
    given: dict[str, Any] = {"help": sentence, "metavar": value}
    if value is None:
        given = {"help": sentence, "action": "store_true"}
    elif value.endswith("...") and "," not in value:
        given |= {"metavar": value[:-3], "nargs": "+", "action": "extend"}
    elif value.startswith("["):
        given |= {"metavar": value[1:-1], "nargs": "?"}
    if "choices" in more:
        given["type"] = one_of(more["choices"])
    return Option(flags, given | more, **own)


def options(text: str, **more: Mapping[str, Any]) -> list[Option]:
    """Options, declared as help shows them: spellings, value, two spaces, the sentence of help.

    more: by the option's name, what `option` takes besides.

    >>> [(one.flags, one.given["metavar"]) for one in options("-o --output FILE  write to FILE")]
    [(['-o', '--output'], 'FILE')]
    """
    lines = text.strip("\n").splitlines()
    margin = lines[0][: -len(lines[0].lstrip())]
    told: list[tuple[str, list[str]]] = []
    for line in filter(str.strip, lines):
        if line.startswith(f"{margin} "):
            told[-1][1].append(line.strip())
        else:
            head, _, start = line.strip().partition("  ")
            told.append((head, [start.strip()]))
    made = []
    for head, sentence in told:
        first, *rest = head.split()
        flags = [first, *(word for word in rest if word.startswith("-"))]
        value = rest[-1] if len(rest) == len(flags) else None
        name = flags[-1].lstrip("-").replace("-", "_")
        made.append(option(flags, value, " ".join(sentence), **more.get(name, {})))
    return made


class Group:
    """Options under one title in the help: those of a text, and others.

    more: by the option's name, what it takes besides; `defaults` are what parsed options have too.
    """

    def __init__(
        self, title: str, *given: str | Option, about: str | None = None, **more: Any
    ) -> None:
        self.title = title
        self.about = about
        self.defaults: Mapping[str, Any] = more.pop("defaults", {})
        self.options = [
            each
            for one in given
            for each in (options(one, **more) if isinstance(one, str) else [one])
        ]


(HELP,) = options("-h --help  show this help", help={"action": "help"})


class Command(Record):
    """A command: what its parser has, given the words of the command line, and what it does.

    about: its module's docstring, whose examples end the help. Python without docstrings has none.
    """

    usage: str
    about: str | None
    groups: Callable[[Sequence[str]], Iterable[Group]]
    run: Callable[[argparse.Namespace], None]


# Types of options: from a word to a value.


def one_of(names: Iterable[str]) -> Callable[[str], str]:
    """One of some names."""

    def check(text: str) -> str:
        if text.lower() not in names:
            raise ValueError(f"unknown '{text}'{checks.nearest(text, names)}")
        return text.lower()

    return check


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """A whole number between two."""

    def check(text: str) -> int:
        if not checks.is_whole_number(text) or not least <= int(text) <= most:
            raise ValueError(
                f"expected a whole number {checks.span(least, most)}, not '{text:.40}'"
            )
        return int(text)

    return check
