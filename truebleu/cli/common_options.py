"""What commands and options are declared with, the parser, and the options that several have."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from truebleu._kernel import InputError
from truebleu.cli.output import EXACT, UsageError, columns, print_text
from truebleu.text import argument_checks
from truebleu.text.terminal_layout import join_words

# ---- declarations ----


class Option(NamedTuple):
    """An option or argument: its spellings, and the parameters of `add_argument`."""

    flags: Sequence[str]
    arguments: Mapping[str, Any]
    completes: Callable[[], Iterable[str]] | None = None
    """Returns the words that a shell completes; the option accepts others, too."""
    exclusive: bool = False
    """Whether only one such option of its group may be given."""


def option(flags: Sequence[str], value: str | None, sentence: str, **more: Any) -> Option:
    """Return an option with these spellings, this value and this sentence of help.

    value: None for a flag; "N" for one value, "FILE..." for several, "[N]" for one or none.
    more: `choices`, the accepted words; fields of `Option`; the others are for argparse.
    """
    fields = {name: more.pop(name) for name in ("completes", "exclusive") if name in more}
    arguments: dict[str, Any] = {"help": sentence, "metavar": value}
    if value is None:
        arguments = {"help": sentence, "action": "store_true"}
    elif value.endswith("...") and "," not in value:
        arguments |= {"metavar": value[:-3], "nargs": "+", "action": "extend"}
    elif value.startswith("["):
        arguments |= {"metavar": value[1:-1], "nargs": "?"}
    if "choices" in more:
        arguments["type"] = one_of(more["choices"])
    return Option(flags, arguments | more, **fields)


def options(text: str, **more: Mapping[str, Any]) -> list[Option]:
    """Return options declared as help shows them: spellings, value, two spaces, sentence.

    more: by the option's name, further arguments of `option`.

    >>> [(one.flags, one.arguments["metavar"]) for one in options("-o --output FILE  write it")]
    [(['-o', '--output'], 'FILE')]
    """
    lines = text.strip("\n").splitlines()
    margin = lines[0][: -len(lines[0].lstrip())]
    entries: list[tuple[str, list[str]]] = []
    for line in filter(str.strip, lines):
        if line.startswith(f"{margin} "):
            entries[-1][1].append(line.strip())
        else:
            head, _, start = line.strip().partition("  ")
            entries.append((head, [start.strip()]))
    declared = []
    for head, sentence in entries:
        first, *rest = head.split()
        flags = [first, *(word for word in rest if word.startswith("-"))]
        value = rest[-1] if len(rest) == len(flags) else None
        name = flags[-1].lstrip("-").replace("-", "_")
        declared.append(option(flags, value, " ".join(sentence), **more.get(name, {})))
    return declared


class Group:
    """Options under one title in the help, each declared in a text or as an `Option`.

    more: by the option's name, further arguments; `defaults` are added to the parsed options.
    """

    def __init__(
        self, title: str, *declared: str | Option, about: str | None = None, **more: Any
    ) -> None:
        self.title = title
        self.about = about
        self.defaults: Mapping[str, Any] = more.pop("defaults", {})
        self.options: list[Option] = []
        for one in declared:
            self.options += options(one, **more) if isinstance(one, str) else [one]


class Command(NamedTuple):
    """A command: its options, for the words of a command line, and what it does.

    about: its module's docstring, whose examples end the help. Python without docstrings has none.
    """

    usage: str
    about: str | None
    groups: Callable[[Sequence[str]], Iterable[Group]]
    run: Callable[[argparse.Namespace], None]


# ---- types: from a word to a value ----


def one_of(names: Iterable[str]) -> Callable[[str], str]:
    """Return the type of an option whose value is one of some names."""

    def check(text: str) -> str:
        if text.lower() not in names:
            raise ValueError(f"unknown '{text}'{argument_checks.suggest_names(text, names)}")
        return text.lower()

    return check


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """Return the type of an option whose value is a whole number between two."""

    def check(text: str) -> int:
        if not argument_checks.is_whole_number(text) or not least <= int(text) <= most:
            raise ValueError(
                f"expected a whole number {argument_checks.format_range(least, most)}, not "
                f"'{text:.40}'"
            )
        return int(text)

    return check


def level_of(text: str) -> float:
    """Return a confidence level."""
    try:
        level = argument_checks.parse_number(text)
    except ValueError:
        level = -1.0
    if not 0 < level < 1:
        raise ValueError(f"expected a number between 0 and 1, such as 0.95, not '{text}'")
    return level


def seed_of(text: str) -> int | None:
    """Return a seed, or None for a different seed each time."""
    return (
        None if text.lower() == "none" else whole_number(0, 2**argument_checks.SEED_BITS - 1)(text)
    )


def _threads(text: str) -> int:
    number = whole_number(0, argument_checks.MAX_WORKERS)(text)
    if number or not hasattr(os, "sched_getaffinity"):
        return number or os.cpu_count() or 1
    return len(os.sched_getaffinity(0))


@contextmanager
def as_usage(
    option: str | None = None, known: Mapping[str, str] = MappingProxyType({})
) -> Iterator[None]:
    """Reraise ValueError as a UsageError that names the option at fault.

    option: the option, unless `known` has the beginning of the error, or None to reraise others.
    """
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        for name, flag in known.items():
            if str(error).startswith(name):
                raise UsageError(f"{flag}: {str(error).removeprefix(f'{name}: ')}") from None
        if option is None:
            raise
        raise UsageError(f"{option}: {error}") from None


def named_values(option: str, words: Iterable[str] | None, example: str) -> dict[str, str]:
    """Return the values of words that are NAME=VALUE each, by their names. Raises UsageError."""
    values: dict[str, str] = {}
    for word in words or ():
        name, mark, value = word.partition("=")
        if not (mark and name and value):
            raise UsageError(f"{option}: expected {example}, not '{word}'")
        if name in values:
            raise UsageError(f"{option}: {name} is there twice")
        values[name] = value
    return values


# ---- options of several commands ----

RESAMPLES = 1000
# A larger number is a typing error.
samples = whole_number(1, 10_000_000)
# The digits without -w where scores are rows.
DIGITS = "1 for a person; all of them for a program"

# The formats of results in words and tables, and of results that are one table of rows, too.
VIEW_FORMATS = ("text", "json", "markdown", "latex", "html")
TABLE_FORMATS = ("text", "json", "markdown", "latex", "csv", "tsv", "html")

HELP, OUTPUT, COLOR, SCORE_ONLY, THREADS, QUIET = options(
    """
    -h --help         show this help
    -o --output FILE  write to FILE, whole or not at all
    --color WHEN      colour text: auto (on a terminal, with the library rich), always, never
    -b --score-only   only the scores
    --threads N       threads (1); 0 for one per core
    -q --quiet        no warnings, notes or progress
    """,
    help={"action": "help"},
    color={"choices": ("auto", "always", "never"), "default": "auto"},
    threads={"type": _threads, "default": 1},
)
# What intervals and tests draw: an option of commands that know documents.
RESAMPLE = options(
    """
    --resample WHAT        what intervals and tests draw and exchange: segments (the default), or
                           whole documents, whose segments are alike (--docs, or the test set's)
    """,
    resample={"choices": ("segments", "documents"), "default": "segments"},
)
INTERVALS = options(
    """
    -ci --confidence [N]   intervals of N bootstrap resamples (1000)
    -cin --confidence-n N  the same, with --confidence
    --level X              confidence level (0.95)
    --seed N               of random numbers (12345); none for a different one each time
    """,
    confidence={"type": samples, "const": RESAMPLES},
    confidence_n={"type": samples},
    level={"type": level_of, "default": 0.95},
    seed={"type": seed_of, "default": argument_checks.DEFAULT_SEED},
)
RUNNING = Group("running", THREADS, QUIET, HELP)
RUNNING_QUIETLY = Group("running", QUIET, HELP)
LOG = Group(
    "log",
    """
    --log FILE          add a line of JSON for each score to FILE: when, what, how, hashes of text
    --log-name NAME...  the name to follow each system by, where its file's name changes
    --log-note TEXT     a remark to keep with these scores
    --log-report WHERE  the report of these scores, a file or an address: truebleu history links
                        to it
    """,
    about="truebleu history shows how scores changed.",
)


def output(formats: Sequence[str], piped: str, *more: Option, digits: str = "") -> Group:
    """Return the options for the format and the place of results.

    piped: the format where nobody watches; digits: the digits without -w.
    """
    default = "text" if piped == "text" else f"text on a terminal, otherwise {piped}"
    return Group(
        "output",
        f"-f --format NAME  {', '.join(formats)} ({default}, unless the name of FILE says it)",
        OUTPUT,
        *([f"-w --width N  digits after the point ({digits})"] if digits else []),
        *(["-sh --short  short signatures"] if digits else []),
        *more,
        defaults={"formats": formats, "piped": piped},
        format={"choices": formats},
        width={"type": whole_number(0, 100)},
    )


def view_output(digits: int | None = None, formats: Sequence[str] = VIEW_FORMATS) -> Group:
    """Return the options for the output of a view, whose exact formats have every digit."""
    exact = join_words([name for name in EXACT if name in formats])
    more = "" if digits is None else f"{digits}; all of them in {exact}"
    return output(formats, "text", COLOR, digits=more)


def resamples(options: argparse.Namespace) -> int | None:
    """Return the number of resamples for intervals; None without intervals."""
    number: int | None = options.confidence
    if options.confidence_n is None:
        return number
    if number not in (None, RESAMPLES, options.confidence_n):
        raise UsageError("--confidence and --confidence-n name different numbers")
    return int(options.confidence_n)


# ---- the parser ----

_TESTS = "truebleu compare tests differences"
_TEST_SET = "it is for a published test set, which -t names"
# Options of sacreBLEU's command that truebleu has under another name, or has not.
ELSEWHERE = {
    "-sl": "truebleu segments scores each segment",
    "--sentence-level": "truebleu segments scores each segment",
    **dict.fromkeys(("-pbs", "--paired-bs", "-par", "--paired-ar"), _TESTS),
    **dict.fromkeys(("-pbsn", "--paired-bs-n", "-parn", "--paired-ar-n"), _TESTS),
    "--force": "-q leaves out warnings",
    **dict.fromkeys(("-j", "--paired-jobs"), "it is --threads"),
    "--citation": "it is truebleu --citation",
    "--version": "it is truebleu --version",
    **dict.fromkeys(
        ("-t", "--test-set"),
        "truebleu score, segments, compare, report, explain and family score take a test set",
    ),
    **dict.fromkeys(("--ref", "--origlang", "--subset", "--domain", "--documents"), _TEST_SET),
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
    """A parser that accepts options only by their whole names, and suggests the nearest name."""

    def __init__(self, prog: str, *, groups: Iterable[Group] = (), **more: Any) -> None:
        # Subparsers are made with further arguments of argparse.
        texts: dict[str, Any] = {key: more.get(key) for key in ("usage", "description", "epilog")}
        super().__init__(prog, formatter_class=Help, add_help=False, allow_abbrev=False, **texts)
        # Says where an option is that this parser has not.
        self.elsewhere: Callable[[str], str] | None = None
        for group in groups:
            self._add_options(group)

    def _add_options(self, group: Group) -> None:
        """Add the options of a group that are not there yet: metrics share some."""
        section = self.add_argument_group(group.title, group.about)
        self.set_defaults(**group.defaults)
        exclusive = section.add_mutually_exclusive_group()
        for one in group.options:
            if one.flags[-1] not in self._option_string_actions:
                place = exclusive if one.exclusive else section
                action = place.add_argument(*one.flags, **one.arguments)
                action.completes = one.completes  # type: ignore[attr-defined]

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse the arguments. Raises UsageError."""
        seen: set[str] = set()
        for argument in arguments:
            if argument == "--":
                break
            name = argument.partition("=")[0] if argument.startswith("--") else argument
            self._check_name(name)
            # argparse ignores the first value of an option that is given twice.
            known = self._option_string_actions
            action = known.get(name) or (known.get(name[:2]) if name[1:2] != "-" else None)
            if action is not None and action.nargs in (None, "?"):
                if action.dest in seen:
                    self.error(f"{'/'.join(action.option_strings)}: given twice; give one value")
                seen.add(action.dest)
        # argparse takes -#3 for an option, and words with a space for arguments.
        words = [f" {word}" if word.startswith("-#") else word for word in arguments]
        parsed, rest = self.parse_known_args(list(self._with_values(words)))
        if rest and not hasattr(parsed, "references"):
            self.error(f"unexpected argument '{rest[0]}'")
        if rest:
            # argparse takes the positional arguments of one place only.
            parsed.references = [*parsed.references, *rest]
        return parsed

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """Return the value of a word; argparse's own message would only name the type."""
        try:
            return (action.type or str)(arg_string)  # type: ignore[operator]
        except (ValueError, TypeError) as error:
            raise argparse.ArgumentError(action, str(error)) from None

    def _with_values(self, words: Sequence[str]) -> Iterator[str]:
        """Yield the words, with the default value for an option that the next word is not for.

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

    def _check_name(self, name: str) -> None:
        """Refuse an unknown option.

        argparse would take sacreBLEU's `-l` for the beginning of `-lc`, and `-sl` for `-s l`.
        """
        known = self._option_string_actions
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
        # --threads is no suggestion for -t, nor the other way round.
        like = [one for one in known if one.startswith("--") == name.startswith("--")]
        self.error(f"unknown option {name}{suggestion(name, like)}")

    @property
    def actions(self) -> Sequence[argparse.Action]:
        """All options and arguments."""
        return self._actions

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(message.removeprefix("argument "))

    def print_help(self, file: object = None) -> None:  # noqa: ARG002
        """Print the help, as results are printed."""
        print_text(self.format_help())


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name, if a known name is like it.

    >>> suggestion("segment", ["score", "segments"])
    "; did you mean 'segments'?"
    """
    by_word = {one.lstrip("-"): one for one in known}
    close = argument_checks.find_closest(name.lstrip("-"), by_word, 0.6)
    return f"; did you mean '{by_word[close]}'?" if close else ""


def _takes(kind: Any, word: str) -> bool:
    """Return whether a word can be turned into a value of this type."""
    try:
        kind(word)
    except (ValueError, TypeError):
        return False
    return True
