"""The options that commands share, the parser that reads them, and the objects that they mean."""

from __future__ import annotations

import argparse
import os
import sys

from truebleu.bleu import BLEU, SMOOTHING
from truebleu.cli.output import is_terminal, print_text
from truebleu.files import File
from truebleu.metric import METRICS
from truebleu.tokenizers import NAMES as TOKENIZERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import NoReturn

COMMANDS = {
    "score": "Score the outputs of systems, a number each",
    "segments": "Score each segment, a row each",
    "completion": "Print a script that lets a shell complete commands and options",
}

# What sacreBLEU's command has and truebleu's has under another name, or has not.
ELSEWHERE = {
    "-sl": "truebleu segments scores each segment",
    "--sentence-level": "truebleu segments scores each segment",
    "-t": "no test sets are downloaded; name the files of references",
    "--test-set": "no test sets are downloaded; name the files of references",
    "-l": "no test sets are downloaded; name the tokenizer with -tok",
    "--language-pair": "no test sets are downloaded; name the tokenizer with -tok",
    "--force": "-q leaves out warnings",
    "--citation": "it is truebleu --citation",
    "--version": "it is truebleu --version",
}

# The end of each name is what a file's suffix says of its format.
SUFFIXES = {
    ".txt": "text",
    ".json": "json",
    ".jsonl": "json",
    ".tsv": "tsv",
    ".tex": "latex",
    ".md": "markdown",
    ".parquet": "parquet",
}

# More would be a slip of the finger, not a machine.
MOST_THREADS = 1024


class UsageError(Exception):
    """The command line is wrong; `program` is whose."""

    def __init__(self, message: str, program: str) -> None:
        super().__init__(message)
        self.program = program


class Command:
    """A command: what its parser has, and what it does."""

    __slots__ = ("add_options", "examples", "run", "usage")

    def __init__(
        self,
        usage: str,
        examples: str,
        add_options: Callable[[Parser], None],
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
        self, prog: str, usage: str | None, description: str | None, epilog: str | None
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

    def add_help(self, group: argparse._ArgumentGroup) -> None:
        """Adds -h to a group."""
        group.add_argument("-h", "--help", action="help", help="print this")

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """What the arguments say. Raises UsageError."""
        for argument in arguments:
            if argument == "--":
                break
            self._check_name(argument)
        options, rest = self.parse_known_args(arguments)
        if rest and not hasattr(options, "references"):
            self.error(f"unexpected argument '{rest[0]}'")
        if rest:
            # argparse takes the positional arguments of one place only.
            options.references += rest
        return options

    def _check_name(self, argument: str) -> None:
        """Refuses an option that is not one.

        argparse would take sacreBLEU's `-l` for the beginning of `-lc`, and `-sl` for `-s l`.
        """
        known = self._option_string_actions
        name = argument.partition("=")[0] if argument.startswith("--") else argument
        if name in known or not name.startswith("-") or name == "-":
            return
        if not name.startswith("--"):
            if _is_number(name):
                return
            # A value right behind its option: -w2, -fjson.
            choices = known[name[:2]].choices if name[:2] in known else None
            if name[:2] in known and (name[2:].isdecimal() or name[2:] in (choices or ())):
                return
        if name in ELSEWHERE:
            self.error(f"no option {name}: {ELSEWHERE[name]}")
        self.error(f"unknown option {name}{nearest(name, known)}")

    def error(self, message: str) -> NoReturn:
        """Raises UsageError."""
        raise UsageError(message.removeprefix("argument "), self.prog)

    def print_help(self, file: object = None) -> None:  # noqa: ARG002
        """Prints the help as results are printed."""
        print_text(self.format_help())


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name.

    >>> nearest("segment", COMMANDS)
    "; did you mean 'segments'?"
    >>> nearest("xml", ["text", "json"])
    ': text, json'
    """
    import difflib

    names = list(known)
    close = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    if close:
        return f"; did you mean '{close[0]}'?"
    return f": {', '.join(names)}" if len(names) < 10 else ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def one_of(names: Sequence[str]) -> Callable[[str], str]:
    """A type for argparse: one of some names."""

    def check(text: str) -> str:
        if text.lower() not in names:
            known = f"; there are {', '.join(names)}"
            raise argparse.ArgumentTypeError(f"unknown '{text}'{nearest(text, names)}{known}")
        return text.lower()

    return check


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """A type for argparse: a whole number between two."""

    def check(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(
                f"'{text}' is not a whole number from {least} to {most}"
            )
        return int(text)

    return check


# What options look like in --help, group by group.


def add_inputs(parser: Parser) -> None:
    """Adds references, hypotheses and how they are read."""
    group = parser.add_argument_group(
        "input",
        "A segment a line, in files that may end in .gz .bz2 .xz .zst. FILE#3 is the third\n"
        "tab-separated column of FILE; - is standard input.",
    )
    add_file(group, "references", metavar="REF", nargs="*", help="references, a file each")
    add_file(
        group,
        "-i",
        "--input",
        metavar="HYP",
        nargs="+",
        action="extend",
        help="outputs of systems, a file each; without it, that of one on standard input",
    )
    group.add_argument(
        "-nr",
        "--num-refs",
        metavar="N",
        type=whole_number(1, 10_000),
        default=1,
        help="the one REF has N references in tab-separated columns",
    )
    group.add_argument(
        "-e",
        "--encoding",
        metavar="NAME",
        default="utf-8",
        help="the encoding of all files (utf-8); utf-8-sig drops byte-order marks",
    )


def add_file(
    group: argparse._ArgumentGroup, *names: str, metavar: str, help: str, **how: str
) -> None:
    """Adds an option whose values are files, for shells that complete words."""
    action = group.add_argument(*names, metavar=metavar, help=help, **how)
    action.complete = FILE


def add_metric(parser: Parser) -> None:
    """Adds the choice of a metric and its parameters."""
    group = parser.add_argument_group("metric")
    names = list(METRICS)
    group.add_argument(
        "-m",
        "--metrics",
        metavar="NAME",
        nargs="+",
        type=one_of(names),
        choices=names,
        default=names[:1],
        help=f"{', '.join(names)} ({names[0]})",
    )
    group = parser.add_argument_group("BLEU")
    group.add_argument(
        "-tok",
        "--tokenize",
        metavar="NAME",
        choices=_Names(TOKENIZERS),
        default="13a",
        help=f"{', '.join(TOKENIZERS)} (13a); zh for Chinese, char for Japanese and Thai, "
        "none for tokens with spaces between them",
    )
    group.add_argument(
        "-lc", "--lowercase", action="store_true", help="lower-case all text first"
    )
