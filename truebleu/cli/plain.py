"""Reads plain command lines by the declarations of their options.

Most command lines are names of files, and options with their values behind them. argparse gives the
same for them, and takes longer to import than a test set takes to score. It reads all others, those
with a mistake among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from truebleu.cli.declared import ABSENT

if TYPE_CHECKING:
    from truebleu.cli.declared import Group, Option

# What argparse is told of options that are read here: flags, one value, one value or several.
KINDS = {("store_true", None): 0, (None, None): 1, ("extend", "+"): 2}


class Options:
    """The options that were read, as argparse.Namespace has them."""


class _NotPlainError(Exception):
    """Another parser has to read this command line."""


def read(groups: Iterable[Group], words: Sequence[str]) -> Options | None:
    """The options that the words say; None for words that are not plain, or wrong."""
    try:
        return _read(groups, words)
    except (_NotPlainError, ValueError, TypeError):
        return None


def _read(groups: Iterable[Group], words: Sequence[str]) -> Options:
    options: dict[str, Option] = {}
    positional: list[Option] = []
    defaults: dict[str, Any] = {}
    for group in groups:
        defaults |= group.defaults
        for option in group.options:
            if not option.flags[-1].startswith("-"):
                positional.append(option)
            # As in the other parser: metrics share some.
            elif option.flags[-1] not in options:
                options |= dict.fromkeys(option.flags, option)
    given: dict[str, Any] = {}
    rest: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if _is_value(word):
            rest.append(word)
            continue
        option = options[word] if word in options else _not_plain()
        kind = KINDS.get((option.given.get("action"), option.given.get("nargs")))
        end = at
        while kind and end < len(words) and _is_value(words[end]) and (kind == 2 or end == at):
            end += 1
        values = [_typed(option.given, value) for value in words[at:end]]
        name, at = _name(option), end
        is_repeated = kind == 1 and name in given
        if kind is None or option.exclusive or is_repeated or bool(kind) != bool(values):
            _not_plain()
        if kind == 2 and option.given.get("default"):
            _not_plain()  # several more than those
        given[name] = [*given.get(name, ()), *values] if kind == 2 else values[0] if kind else True
    if any(one.given.get("nargs") not in ("*", "?") for one in positional):
        _not_plain()  # argparse reports an argument that is missing
    if rest:
        if [(one.flags[-1], one.given.get("nargs")) for one in positional] != [("references", "*")]:
            _not_plain()
        given["references"] = [_typed(positional[0].given, word) for word in rest]
    made = Options()
    for option in (*options.values(), *positional):
        _set_default(vars(made), option)
    vars(made).update({name: value for name, value in defaults.items() if name not in vars(made)})
    vars(made).update(given)
    return made


def _not_plain() -> Any:
    raise _NotPlainError


def _is_value(word: str) -> bool:
    """True for what can be nothing but a value. A lone dash is standard input."""
    return word == "-" or (word != "" and word[0] != "-")


def _name(option: Option) -> str:
    """The name that parsed options call the value of an option by."""
    if "dest" in option.given:
        return str(option.given["dest"])
    long = next((flag for flag in option.flags if flag.startswith("--")), option.flags[0])
    return long.lstrip("-").replace("-", "_")


def _typed(given: Mapping[str, Any], word: str) -> Any:
    """The value of a word. Raises ValueError or TypeError for a wrong one."""
    value = given.get("type", str)(word)
    if given.get("choices") is not None and value not in given["choices"]:
        _not_plain()
    return value


def _set_default(values: dict[str, Any], option: Option) -> None:
    """Sets what an option that was not given stands for."""
    known = option.given
    if known.get("required"):
        _not_plain()
    default = known.get("default", False if known.get("action") == "store_true" else None)
    if default is not ABSENT and known.get("action") != "help":
        if isinstance(default, str):
            default = known.get("type", str)(default)
        values.setdefault(_name(option), default)
