"""The parser of command lines, which says what was meant, and the types of options' values."""

from __future__ import annotations

import argparse
import os

from truebleu.cli.output import print_text
from truebleu.text import checks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import NoReturn

# What sacreBLEU's command has and truebleu's has under another name, or has not.
ELSEWHERE = {
    "-sl": "truebleu segments scores each segment",
    "--sentence-level": "truebleu segments scores each segment",
    "-t": "name the files of references; truebleu-sacrebleu -t knows sacreBLEU's test sets",
    "--test-set": "name the files of references; truebleu-sacrebleu -t knows sacreBLEU's test sets",
    "-l": "name the tokenizer with -tok; truebleu-sacrebleu -l chooses it by the language",
    "--language-pair": "name the tokenizer with -tok; truebleu-sacrebleu -l chooses it",
    **dict.fromkeys(
        ("-pbs", "--paired-bs", "-par", "--paired-ar", "-pbsn", "--paired-bs-n", "-parn")
        + ("--paired-ar-n",),
        "truebleu compare tests differences",
    ),
    "--force": "-q leaves out warnings",
    "-j": "it is --threads",
    "--paired-jobs": "it is --threads",
    "--citation": "it is truebleu --citation",
    "--version": "it is truebleu --version",
}


class UsageError(Exception):
    """The command line is wrong."""


class Command:
    """A command: what its parser has, given the words of the command line, and what it does."""

    __slots__ = ("add_options", "examples", "run", "usage")

    def __init__(
        self,
        usage: str,
        examples: str,
        add_options: Callable[[Parser, Sequence[str]], None],
        run: Callable[[argparse.Namespace], None],
    ) -> None:
        self.usage = usage
        self.examples = examples
        self.add_options = add_options
        self.run = run


class Help(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal, with an option's value named once for all its spellings."""

    def __init__(self, prog: str) -> None:
        # Left alone, argparse imports shutil for the width, even where no help is printed.
        try:
            columns = int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
        except (OSError, ValueError):
            columns = 80
        super().__init__(prog, max_help_position=36, width=min(max(columns, 50), 100) - 2)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        names = ", ".join(action.option_strings)
        return f"{names} {self._format_args(action, action.dest.upper())}"


class Parser(argparse.ArgumentParser):
    """A parser that knows options only by their whole names, and says which one was meant."""

    def __init__(
        self,
        prog: str,
        usage: str | None = None,
        description: str | None = None,
        epilog: str | None = None,
        **_: object,
    ) -> None:
        super().__init__(
            prog=prog,
            usage=usage,
            description=description,
            epilog=epilog,
            formatter_class=Help,
            add_help=False,
            allow_abbrev=False,
        )

    def add_help_option(self, group: argparse._ArgumentGroup) -> None:
        """Adds -h to a group."""
        group.add_argument("-h", "--help", action="help", help="print this")

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """What the arguments say. Raises UsageError."""
        for argument in arguments:
            if argument == "--":
                break
            self._check_name(argument)
        # argparse takes -#3 for an option, and what has a space in it for none.
        words = [f" {word}" if word.startswith("-#") else word for word in arguments]
        words = list(self._with_values(words))
        options, rest = self.parse_known_args(words)
        if rest and not hasattr(options, "references"):
            self.error(f"unexpected argument '{rest[0]}'")
        if rest:
            # argparse takes the positional arguments of one place only.
            options.references += rest
        return options

    def _with_values(self, words: Sequence[str]) -> Iterator[str]:
        """The same words; an option that may go without a value keeps its hands off the next word.

        argparse would take `-ci REF` for a wrong number.
        """
        for i, word in enumerate(words):
            following = words[i + 1] if i + 1 < len(words) else "-"
            action = self._option_string_actions.get(word)
            # A number may be a wrong one, but is meant for the option.
            if (
                action is not None
                and action.nargs == "?"
                and not following.startswith("-")
                and not _is_number(following)
                and not _taken(action, following)
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
        if name in known or not name.startswith("-"):
            return
        # Standard input, a column of it, or text to be explained: argparse takes nothing with a
        # space in it for an option.
        if name == "-" or name.startswith("-#") or " " in name:
            return
        if not name.startswith("--"):
            if _is_number(name):
                return
            # A value right behind its option: -w2, -fjson.
            choices = known[name[:2]].choices if name[:2] in known else None
            if name[:2] in known and (name[2:].isdecimal() or name[2:] in (choices or ())):
                return
        if name in ELSEWHERE:
            self.error(f"no option {name} here: {ELSEWHERE[name]}")
        self.error(f"unknown option {name}{meant(name, self._like(name))}")

    def _like(self, name: str) -> list[str]:
        """The options that an unknown one may be: of --paired-bs no --threads."""
        long = name.startswith("--")
        return [one for one in self._option_string_actions if one.startswith("--") == long]

    def every_action(self) -> Iterator[argparse.Action]:
        """All options and arguments, those of commands included."""
        for action in self._actions:
            yield action
            if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
                for parser in action.choices.values():
                    yield from parser.every_action()

    def commands(self) -> dict[str, tuple[str, Parser]]:
        """The commands that it has, each with what it is for and its parser."""
        found: dict[str, tuple[str, Parser]] = {}
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
                told = {choice.dest: choice.help for choice in action._choices_actions}  # noqa: SLF001
                found = {name: (told[name] or "", one) for name, one in action.choices.items()}
        return found

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


def _taken(action: argparse.Action, word: str) -> bool:
    """Whether an option takes a word as its value."""
    try:
        assert callable(action.type)
        action.type(word)
    except argparse.ArgumentTypeError:
        return False
    return True


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# Types for argparse: from a word to what it means.


def one_of(names: Iterable[str]) -> Callable[[str], str]:
    """One of some names."""

    def check(text: str) -> str:
        if text.lower() not in names:
            raise argparse.ArgumentTypeError(f"unknown '{text}'{checks.nearest(text, names)}")
        return text.lower()

    return check


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """A whole number between two."""

    def check(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(
                f"'{text}' is not a whole number {checks.span(least, most)}"
            )
        return int(text)

    return check


def yes(text: str) -> bool:
    """Yes or no."""
    if text not in ("yes", "no"):
        raise argparse.ArgumentTypeError(f"'{text}' is neither yes nor no")
    return text == "yes"
