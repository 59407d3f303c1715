"""The parser of command lines, for help and for messages that name the option meant."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from truebleu.cli.declared import ABSENT
from truebleu.cli.output import UsageError, columns, print_text
from truebleu.text import checks

if TYPE_CHECKING:
    from truebleu.cli.declared import Group

# What sacreBLEU's command has and truebleu's has under another name, or has not.
ELSEWHERE = {
    **dict.fromkeys(("-sl", "--sentence-level"), "truebleu segments scores each segment"),
    **dict.fromkeys(
        (
            *("-pbs", "--paired-bs", "-par", "--paired-ar"),
            *("-pbsn", "--paired-bs-n", "-parn", "--paired-ar-n"),
        ),
        "truebleu compare tests differences",
    ),
    "--force": "-q leaves out warnings",
    **dict.fromkeys(("-j", "--paired-jobs"), "it is --threads"),
    "--citation": "it is truebleu --citation",
    "--version": "it is truebleu --version",
    **dict.fromkeys(
        ("-t", "--test-set"),
        "truebleu score, segments, compare, report, explain and family score take a test set",
    ),
    **dict.fromkeys(
        ("--ref", "--origlang", "--subset", "--domain", "--documents"),
        "it is for a published test set, which -t names",
    ),
}


class Help(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal, with an option's value named once for all its spellings."""

    def __init__(self, prog: str) -> None:
        # Left alone, argparse imports shutil for the width, even where no help is printed.
        width = min(max(columns(80), 50), 100) - 2
        super().__init__(prog, max_help_position=36, width=width)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        names = ", ".join(action.option_strings)
        return f"{names} {self._format_args(action, action.dest.upper())}"


class Parser(argparse.ArgumentParser):
    """A parser that knows options only by their whole names, and names the nearest one."""

    def __init__(self, prog: str, *, groups: Iterable[Group] = (), **more: Any) -> None:
        # Subparsers are made with what argparse thinks of besides.
        told: dict[str, Any] = {name: more.get(name) for name in ("usage", "description", "epilog")}
        super().__init__(
            prog=prog, formatter_class=Help, add_help=False, allow_abbrev=False, **told
        )
        # Says of an option that is not here where it is.
        self.elsewhere: Callable[[str], str] | None = None
        for group in groups:
            self.add(group)

    def add(self, group: Group) -> None:
        """Adds the options of a group that are not there yet: metrics share some."""
        made = self.add_argument_group(group.title, group.about)
        self.set_defaults(**group.defaults)
        exclusive = made.add_mutually_exclusive_group()
        for option in group.options:
            if option.flags[-1] in self._option_string_actions:
                continue
            given = dict(option.given)
            if given.get("default") is ABSENT:
                given["default"] = argparse.SUPPRESS
            action = (exclusive if option.exclusive else made).add_argument(*option.flags, **given)
            action.completes = option.completes  # type: ignore[attr-defined]

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parses the arguments. Raises UsageError."""
        seen: set[str] = set()
        for argument in arguments:
            if argument == "--":
                break
            self._check_name(argument)
            self._check_repeated(argument, seen)
        # argparse takes -#3 for an option, and what has a space in it for none.
        words = [f" {word}" if word.startswith("-#") else word for word in arguments]
        words = list(self._with_values(words))
        options, rest = self.parse_known_args(words)
        if rest and not hasattr(options, "references"):
            self.error(f"unexpected argument '{rest[0]}'")
        if rest:
            # argparse takes the positional arguments of one place only.
            options.references = [*options.references, *rest]
        return options

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """The value of a word. Of one that is wrong, argparse would say no more than the type."""
        try:
            return (action.type or str)(arg_string)  # type: ignore[operator]
        except (ValueError, TypeError) as error:
            raise argparse.ArgumentError(action, str(error)) from None

    def _with_values(self, words: Sequence[str]) -> Iterator[str]:
        """The same words; an option that may go without a value keeps its hands off the next word.

        argparse would take `-ci REF` for a wrong number.
        """
        for i, word in enumerate(words):
            following = words[i + 1] if i + 1 < len(words) else "-"
            action = self._option_string_actions.get(word)
            # A number may be a wrong one, but is given for the option.
            if (
                action is not None
                and action.nargs == "?"
                and not following.startswith("-")
                and not _takes(float, following)
                and not _takes(action.type, following)
            ):
                yield f"{word}={'yes' if action.const is True else action.const}"
            else:
                yield word

    def _check_name(self, argument: str) -> None:
        """Refuses an option that is not one.

        argparse would take sacreBLEU's `-l` for the beginning of `-lc`, and `-sl` for `-s l`.
        """
        known = self._option_string_actions
        name = argument.partition("=")[0] if argument.startswith("--") else argument
        # A lone dash is standard input, -#3 a column of it; text to be explained has spaces.
        if name in known or name == "-" or not name.startswith("-"):
            return
        if name.startswith("-#") or " " in name:
            return
        if not name.startswith("--"):
            if _takes(float, name):
                return
            # A value right behind its option: -w2, -fjson.
            choices = known[name[:2]].choices if name[:2] in known else None
            if name[:2] in known and (name[2:].isdecimal() or name[2:] in (choices or ())):
                return
        elsewhere = ELSEWHERE.get(name) or (self.elsewhere and self.elsewhere(name))
        if elsewhere:
            self.error(f"no option {name} here: {elsewhere}")
        # Of --paired-bs no --threads.
        like = [one for one in known if one.startswith("--") == name.startswith("--")]
        self.error(f"unknown option {name}{meant(name, like)}")

    def _check_repeated(self, argument: str, seen: set[str]) -> None:
        """Refuse an option with one value that is given twice: argparse ignores the first value."""
        known = self._option_string_actions
        name = argument.partition("=")[0] if argument.startswith("--") else argument
        action = known.get(name) or (known.get(name[:2]) if name[1:2] != "-" else None)
        if action is not None and action.nargs in (None, "?"):
            if action.dest in seen:
                self.error(f"{'/'.join(action.option_strings)}: given twice; give one value")
            seen.add(action.dest)

    @property
    def actions(self) -> Sequence[argparse.Action]:
        """All options and arguments."""
        return self._actions

    def error(self, message: str) -> NoReturn:
        """Raises UsageError."""
        raise UsageError(message.removeprefix("argument "))

    def print_help(self, file: object = None) -> None:  # noqa: ARG002
        """Prints the help, as results are printed."""
        print_text(self.format_help())


def meant(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name, if there is one like it.

    >>> meant("segment", ["score", "segments"])
    "; did you mean 'segments'?"
    """
    by_word = {one.lstrip("-"): one for one in known}
    close = checks.close(name.lstrip("-"), by_word, 0.6)
    return f"; did you mean '{by_word[close]}'?" if close else ""


def _takes(kind: Any, word: str) -> bool:
    """True if a word can be turned into a value of this kind."""
    try:
        kind(word)
    except (ValueError, TypeError):
        return False
    return True
