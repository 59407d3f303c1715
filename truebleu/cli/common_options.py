"""Argument parser, declarations of commands and options, and options that commands share."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from types import MappingProxyType
from typing import Any, NoReturn

from truebleu._kernel import InputError
from truebleu.cli.output import DATA_FORMATS, UsageError, print_text
from truebleu.text import argument_checks
from truebleu.text.argument_checks import Record
from truebleu.text.terminal_layout import get_terminal_width, join_words, wrap_command, wrap_text

# ---- declarations ----


class Option(Record):
    """Declaration of an option or argument: its flags, and the parameters of `add_argument`."""

    flags: Sequence[str]
    arguments: Mapping[str, Any]
    completes: Callable[[], Iterable[str]] | None = None
    """Function that returns suggestions for shell completion. Users may enter other values, too."""


def make_option(flags: Sequence[str], value: str | None, help_text: str, **settings: Any) -> Option:
    """Return an option with the given flags, value and help text.

    value: None for a flag; "N" for one value, "FILE..." for several, "[N]" for an optional value.
    settings: `choices` (the accepted words), fields of `Option`, or parameters of `add_argument`.
    """
    completes = settings.pop("completes", None)
    arguments: dict[str, Any] = {"help": help_text, "metavar": value}
    if value is None:
        arguments = {"help": help_text, "action": "store_true"}
    elif value.endswith("...") and "," not in value:
        arguments |= {"metavar": value[:-3], "nargs": "+", "action": "extend"}
    elif value.startswith("["):
        arguments |= {"metavar": value[1:-1], "nargs": "?"}
    if "choices" in settings:
        arguments["type"] = make_choice_type(settings["choices"])
    return Option(flags, arguments | settings, completes)


def parse_options(text: str, **settings: Mapping[str, Any]) -> list[Option]:
    """Parse options from text laid out like a help page: flags, value, two spaces, description.

    settings: other arguments of `make_option`, by option name.

    >>> (option,) = parse_options("-o --output FILE  write to FILE")
    >>> option.flags, option.arguments["metavar"]
    (['-o', '--output'], 'FILE')
    """
    lines = text.strip("\n").splitlines()
    margin = lines[0][: -len(lines[0].lstrip())]
    entries: list[tuple[str, list[str]]] = []
    for line in filter(str.strip, lines):
        if line.startswith(f"{margin} "):
            entries[-1][1].append(line.strip())
        else:
            head, _, help_start = line.strip().partition("  ")
            entries.append((head, [help_start.strip()]))
    parsed = []
    for head, help_lines in entries:
        first, *rest = head.split()
        flags = [first, *(word for word in rest if word.startswith("-"))]
        value = rest[-1] if len(rest) == len(flags) else None
        name = flags[-1].lstrip("-").replace("-", "_")
        parsed.append(make_option(flags, value, " ".join(help_lines), **settings.get(name, {})))
    return parsed


class OptionGroup:
    """A group of options under one heading in the help, declared as text or as `Option` objects.

    settings: additional arguments of `make_option`, by option name. `defaults` is a dictionary of
    values to add to the parsed options.
    """

    def __init__(
        self,
        title: str,
        *declarations: str | Option,
        description: str | None = None,
        **settings: Any,
    ) -> None:
        self.title = title
        self.description = description
        self.defaults: Mapping[str, Any] = settings.pop("defaults", {})
        self.options: list[Option] = []
        for declaration in declarations:
            self.options += (
                parse_options(declaration, **settings)
                if isinstance(declaration, str)
                else [declaration]
            )


class Command(Record):
    """Declaration of a command: its usage, options and function.

    module_doc: the module's docstring, with the examples for the help (None with `python -OO`).
    groups: function that returns the option groups for the words of a command line.
    """

    usage: str
    module_doc: str | None
    groups: Callable[[Sequence[str]], Iterable[OptionGroup]]
    run: Callable[[argparse.Namespace], None]


# ---- option types ----


def make_choice_type(names: Iterable[str]) -> Callable[[str], str]:
    """Return the type of an option that accepts only the given names."""

    def parse_choice(text: str) -> str:
        if text.lower() not in names:
            raise ValueError(f"unknown value '{text}'{argument_checks.suggest_names(text, names)}")
        return text.lower()

    return parse_choice


def make_integer_type(minimum: int, maximum: int) -> Callable[[str], int]:
    """Return the type of an option that accepts integers from minimum to maximum."""

    def parse_integer(text: str) -> int:
        if not argument_checks.is_whole_number(text) or not minimum <= int(text) <= maximum:
            limits = argument_checks.format_range(minimum, maximum)
            raise ValueError(f"expected a whole number {limits}, found '{text:.40}'")
        return int(text)

    return parse_integer


def parse_confidence_level(text: str) -> float:
    """Parse a confidence level. Raise ValueError if it is not above 0.5 and below 1."""
    try:
        level = argument_checks.parse_number(text)
    except ValueError:
        level = -1.0
    if not 0 < level < 1:
        raise ValueError(f"expected a number between 0 and 1 such as 0.95, found '{text}'")
    problem = argument_checks.explain_low_level(level)
    if problem:
        raise ValueError(problem)
    return level


def parse_seed(text: str) -> int | None:
    """Parse a seed. The word "none" gives None, for a new seed in every run."""
    parse_number = make_integer_type(0, 2**argument_checks.MAX_SEED_BITS - 1)
    return None if text.lower() == "none" else parse_number(text)


def _parse_scale(text: str) -> int:
    if text not in ("1", "100"):
        raise ValueError(f"expected 100 or 1, found '{text}'")
    return int(text)


def _parse_thread_count(text: str) -> int:
    number = make_integer_type(0, argument_checks.MAX_WORKERS)(text)
    if number or not hasattr(os, "sched_getaffinity"):
        return number or os.cpu_count() or 1
    return len(os.sched_getaffinity(0))


@contextmanager
def reraise_as_usage_error(
    option: str | None = None, options_by_prefix: Mapping[str, str] = MappingProxyType({})
) -> Iterator[None]:
    """Reraise ValueError as a UsageError that names the option at fault.

    option: the option for errors without a known prefix; None reraises such errors unchanged.
    options_by_prefix: maps the beginnings of error messages to options.
    """
    try:
        yield
    except InputError:
        raise
    except argument_checks.ParameterError as error:
        raise UsageError(error.format_with_options(options_by_prefix)) from None
    except ValueError as error:
        message = replace_parameter(str(error), options_by_prefix)
        if message is None and option is None:
            raise
        raise UsageError(message or f"{option}: {error}") from None


def replace_parameter(message: str, options: Mapping[str, str]) -> str | None:
    """Return a message that names the option instead of a parameter, or None for other messages.

    >>> replace_parameter("max_order=0: expected 1 or more", {"max_order": "--max-order"})
    '--max-order: expected 1 or more, found 0'
    """
    name, separator, problem = message.partition(": ")
    name, _, value = name.partition("=")
    if not separator or name not in options:
        return None
    is_quoted = not value or value.strip("'\"") in problem
    return f"{options[name]}: {problem}" + ("" if is_quoted else f", found {value}")


def refuse_options(options: argparse.Namespace, names: Iterable[str], problem: str) -> None:
    """Raise UsageError for the first of these options that has another value than its default."""
    for name in names:
        action = options.actions.get(name)
        if action is not None and getattr(options, name) != action.default:
            raise UsageError(f"{format_flags(action)} {problem}")


def format_flags(action: argparse.Action) -> str:
    """Return the flags of an option, such as "-o/--output", or the name of an argument."""
    return "/".join(action.option_strings) or str(action.metavar)


def parse_named_values(option: str, words: Iterable[str] | None, example: str) -> dict[str, str]:
    """Parse words of the form NAME=VALUE into a dictionary. Raise UsageError for other words."""
    values: dict[str, str] = {}
    for word in words or ():
        name, separator, value = word.partition("=")
        if not (separator and name and value):
            raise UsageError(f"{option}: expected {example}, found '{word}'")
        if name in values:
            raise UsageError(f"{option}: duplicate name '{name}'")
        values[name] = value
    return values


# ---- options that several commands share ----

DEFAULT_RESAMPLES = 1000
# Numbers larger than this are probably typos.
parse_samples = make_integer_type(1, 10_000_000)

# Formats of views (text and tables), and of results that are a single table.
VIEW_FORMATS = ("text", "json", "markdown", "latex", "html")
TABLE_FORMATS = ("text", "json", "markdown", "latex", "csv", "tsv", "html")

HELP, OUTPUT, COLOR, SCORE_ONLY, THREADS, QUIET = parse_options(
    """
    -h --help         show this help
    -o --output FILE  write to FILE; an error leaves no partial file (default: standard output)
    --color WHEN      use colours: always, never, or auto (on terminals, if the library rich is
                      installed) (default: auto)
    -b --score-only   print only the scores
    --threads N       use N threads; 0 for one per core (default: 1)
    -q --quiet        hide warnings, notes and progress on standard error; results keep their
                      warnings
    """,
    help={"action": "help"},
    color={"choices": ("auto", "always", "never"), "default": "auto"},
    threads={"type": _parse_thread_count, "default": 1},
)
# This option is only for commands that read document labels.
SCALE, REPORT_SCALE = (
    make_option(
        ["--scale"],
        "N",
        "show percentages such as BLEU on a scale of 0-100 or, if N is 1, of 0-1 with two more "
        f"decimals; {exception} always use 0-100 (default: 100)",
        type=_parse_scale,
        default=100,
    )
    for exception in ("json, jsonl, tsv, csv, parquet and npy", "saved data")
)
RESAMPLE = parse_options(
    """
    --resample UNIT        resample and swap segments or documents (from --docs or the test set);
                           segments of a document are not independent (default: segments)
    """,
    resample={"choices": ("segments", "documents"), "default": "segments"},
)
INTERVALS = CONFIDENCE, _, LEVEL, SEED = parse_options(
    """
    -ci --confidence [N]   compute confidence intervals with N bootstrap resamples (default: 1000)
    -cin --confidence-n N  use N resamples with --confidence, as in sacreBLEU (default: 1000)
    --level X              use this confidence level (default: 0.95)
    --seed N               use this random seed; "none" for a new seed per run (default: 12345)
    """,
    confidence={"type": parse_samples, "const": DEFAULT_RESAMPLES},
    confidence_n={"type": parse_samples},
    level={"type": parse_confidence_level, "default": 0.95},
    seed={"type": parse_seed, "default": argument_checks.DEFAULT_SEED},
)
# The significance package, which lists the corrections, is slow to import.
CORRECTION = """
    --correction NAME      correct p-values for multiple comparisons: holm, or bh (Benjamini and
                           Hochberg) (default: no correction)
    """
DOWNLOADS = parse_options(
    """
    --mirror URL  download test sets and tokenizer models from this server first; the host and path
                  of the original URL are appended to URL
    --offline     do not download anything; a missing file ends the command with status 4
    """
)
RUNNING = OptionGroup("running", THREADS, *DOWNLOADS, QUIET, HELP)
RUNNING_QUIETLY = OptionGroup("running", QUIET, HELP)
LOG = OptionGroup(
    "log",
    """
    --log FILE          append a JSON line per score to FILE, with time, signature and text hashes
    --log-name NAME...  store each system in the log under NAME instead of its file name
    --log-note TEXT     store a note with these scores
    --log-report URL    store the URL or file name of a report; truebleu history links to it
    """,
    description="truebleu history shows how scores changed.",
)


PAPER = OptionGroup(
    "tables for papers",
    """
    --caption TEXT     start the caption with TEXT; an explanation of the marks follows (default:
                       metrics, systems and number of segments)
    --label NAME       use this label in LaTeX (default: tab:truebleu)
    --signature PLACE  write the signatures in the footnote or the caption of the table; none omits
                       them (default: footnote)
    """,
    description="-f latex and -f markdown write one table for a paper. pdfLaTeX needs booktabs.",
    signature={"choices": ("footnote", "caption", "none")},
)


def get_paper_options(options: argparse.Namespace, output_format: str) -> dict[str, str]:
    """Return the requested options for paper tables. Raise UsageError if one has no effect."""
    formats = {"caption": ("latex", "markdown"), "label": ("latex",)}
    used: dict[str, str] = {}
    for name in ("caption", "label", "signature"):
        value = getattr(options, name)
        if value is None:
            continue
        if output_format not in formats.get(name, formats["caption"]):
            raise UsageError(f"--{name} has no effect with -f {output_format}")
        used[name] = value
    if not re.fullmatch(r"[\w:./+-]+", used.get("label", "x"), re.ASCII):
        raise UsageError(
            f"--label: invalid label '{used['label']}' (expected ASCII letters, digits and : . / + "
            "- _, such as tab:results)"
        )
    return used


def make_output_group(
    formats: Sequence[str],
    piped_format: str,
    *further_options: Option,
    digits: int | None = None,
    shows_scores: bool = False,
) -> OptionGroup:
    """Return the options for the format and the destination of results.

    piped_format: the default format if standard output is not a terminal.
    digits: the default of -w; None for commands without -w.
    shows_scores: whether to offer --scale without -w.
    """
    default = "text" if piped_format == "text" else f"text on a terminal, otherwise {piped_format}"
    exact = [name for name in formats if name in DATA_FORMATS]
    width = (
        f"-w --width N  print N decimal places (default: {digits}; full precision in "
        f"{join_words(exact)})"
    )
    return OptionGroup(
        "output",
        f"-f --format NAME  write {', '.join(formats)} "
        f"(default: by the suffix of FILE, or {default})",
        OUTPUT,
        *([] if digits is None else [width, "-sh --short  print short signatures"]),
        *([SCALE] if digits is not None or shows_scores else []),
        *further_options,
        defaults={"formats": formats, "piped": piped_format},
        format={"choices": formats},
        width={"type": make_integer_type(0, 100)},
    )


def configure_downloads(options: argparse.Namespace) -> None:
    """Apply --offline, --mirror and --quiet to downloads, if the command has these options."""
    if not hasattr(options, "offline"):
        return
    # Most commands download nothing, so import the module only for a setting.
    is_imported = "truebleu.text.download" in sys.modules
    if is_imported or options.offline or options.mirror or options.quiet:
        from truebleu.text import download

        download.settings = download.Settings(
            options.offline or None, options.mirror, options.quiet
        )


def get_resample_count(options: argparse.Namespace) -> int | None:
    """Return the number of resamples for confidence intervals, or None without intervals."""
    number: int | None = options.confidence
    if options.confidence_n is None:
        return number
    if number not in (None, DEFAULT_RESAMPLES, options.confidence_n):
        raise UsageError("--confidence and --confidence-n have different values. Use only one")
    return int(options.confidence_n)


# ---- the parser ----

# Metavars of options that take file names, and the options among them that write files.
FILE_METAVARS = ("REF", "HYP", "FILE", "LOG", "NAME=FILE")
OUTPUT_FLAGS = ("-o/--output", "--log", "--junit", "--summary")

_TESTS = "use truebleu compare to test differences"
# Hints for options of sacreBLEU. The options in a hint belong to the command that it names or, if
# it names none, to the requested command; other commands do not give the hint.
OPTION_HINTS = {
    "-sl": "use truebleu segments to score each segment",
    "--sentence-level": "use truebleu segments to score each segment",
    **dict.fromkeys(("-pbs", "--paired-bs", "-par", "--paired-ar"), _TESTS),
    **dict.fromkeys(("-pbsn", "--paired-bs-n", "-parn", "--paired-ar-n"), _TESTS),
    "--force": "use -q to hide warnings",
    **dict.fromkeys(("-j", "--paired-jobs"), "use --threads"),
    **dict.fromkeys(("-d", "--detail"), "use truebleu score -f json, which shows the details"),
    **dict.fromkeys(("-nc", "--no-color"), "use --color never"),
    **dict.fromkeys(("--cite", "--citation"), "use truebleu cite"),
    "--list": "use truebleu testset list",
    "--download": "use truebleu testset get",
    "--echo": "use truebleu testset show",
    "-ol": "use --origlang",
    "--version": "use truebleu --version",
    "--alpha": "use --level, which is 1 minus alpha, as in --level 0.99 for p < 0.01",
}


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Help formatter that uses the terminal width and shows an option's metavar only once."""

    def __init__(self, prog: str) -> None:
        # Without a width, argparse imports shutil even if no help is printed.
        width = min(max(get_terminal_width(80), 50), 100) - 2
        super().__init__(prog, max_help_position=36, width=width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Wrap paragraphs, and continue long commands on further lines."""
        filled: list[str] = []
        # Empty lines have the margin -1.
        for margin, lines in groupby(
            text.splitlines(), lambda one: len(one) - len(one.lstrip() or "+")
        ):
            if margin in (0, 6):  # paragraphs, and explanations of examples
                paragraph = " ".join(line.strip() for line in lines)
                space = " " * margin
                filled += [space + line for line in wrap_text(paragraph, width - margin)] or [""]
                continue
            for line in lines:
                is_command = len(line) > width
                filled += wrap_command(line.split(), width, " " * margin) if is_command else [line]
        return "\n".join(indent + line for line in filled)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        names = ", ".join(action.option_strings)
        return f"{names} {self._format_args(action, action.dest.upper())}"


class Parser(argparse.ArgumentParser):
    """Argument parser that rejects abbreviated options and suggests the most similar name."""

    def __init__(
        self, prog: str, *, groups: Iterable[OptionGroup] = (), **argparse_arguments: Any
    ) -> None:
        # Ignore other arguments, which argparse passes to parsers of subcommands.
        texts: dict[str, Any] = {
            key: argparse_arguments.get(key) for key in ("usage", "description", "epilog")
        }
        super().__init__(
            prog, formatter_class=HelpFormatter, add_help=False, allow_abbrev=False, **texts
        )
        # Function that raises UsageError for an unknown option if there is a remedy.
        self.explain_option: Callable[[str], None] | None = None
        for group in groups:
            section = self.add_argument_group(group.title, group.description)
            self.set_defaults(**group.defaults)
            for option in group.options:
                # Several metrics may have the same option.
                if option.flags[-1] not in self._option_string_actions:
                    action = section.add_argument(*option.flags, **option.arguments)
                    action.completes = option.completes  # type: ignore[attr-defined]

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse the arguments. Raise UsageError if they are invalid."""
        seen: set[str] = set()
        for i, argument in enumerate(arguments):
            if argument == "--":
                break
            self._check_following_number(argument, [*arguments[i + 1 : i + 2], ""][0])
            name = argument.partition("=")[0] if argument.startswith("--") else argument
            self._check_option_name(name)
            # argparse would silently use the last value of a repeated option.
            actions_by_flag = self._option_string_actions
            action = actions_by_flag.get(name) or (
                actions_by_flag.get(name[:2]) if name[1:2] != "-" else None
            )
            if action is not None and action.nargs in (None, "?"):
                if action.dest in seen:
                    self.error(f"{format_flags(action)} is used twice; use it only once")
                seen.add(action.dest)
        # argparse would treat -#3 as an option, but treats words that contain a space as arguments.
        words = [f" {word}" if word.startswith("-#") else word for word in arguments]
        parsed, rest = self.parse_known_args(list(self._add_default_values(words)))
        for action in self._actions if rest else ():
            if not action.option_strings and action.nargs == "*":
                # argparse does not accept positional arguments in several places.
                values = [self._get_value(action, word) for word in rest]
                setattr(parsed, action.dest, [*getattr(parsed, action.dest), *values])
                rest = []
                break
        if rest:
            self.error(f"unexpected argument '{rest[0]}'")
        self._check_files(parsed)
        parsed.actions = {action.dest: action for action in self._actions}
        return parsed

    def _check_files(self, options: argparse.Namespace) -> None:
        """Raise UsageError if an output file or standard input is used twice."""
        output_flags: dict[object, str] = {}
        input_words: list[str] = []
        for action in self._actions:
            value = getattr(options, action.dest, None)
            flag = format_flags(action)
            if value is None or action.metavar not in FILE_METAVARS:
                continue
            words = [value] if isinstance(value, str) else value
            if "" in words:
                self.error(f"{flag}: empty file name")
            if flag not in OUTPUT_FLAGS:
                input_words += words
            elif value != "-" and not value.startswith("/dev/"):
                first_flag = output_flags.setdefault(_identify_file(value), flag)
                if first_flag != flag:
                    self.error(f"{flag}: {value} is also the file of {first_flag}")
        # The paths in words such as FILE#3 or NAME=FILE,FILE.
        paths = [
            re.sub(r"#\d+$", "", path)
            for word in input_words
            for path in word.strip().rpartition("=")[2].split(",")
        ]
        if paths.count("-") > 1:
            self.error("standard input can be read only once, but is used twice")
        for path in (*input_words, *paths) if output_flags else ():
            if flag := output_flags.get(_identify_file(path), ""):
                self.error(f"{flag}: {path} is also an input file")

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """Convert a word to a value, without letting argparse replace the error message."""
        try:
            return (action.type or str)(arg_string)  # type: ignore[operator]
        except (ValueError, TypeError) as error:
            # Python's message repeats the option as a parameter: "max_order=0: expected ...".
            flag = format_flags(action)
            parameter = str(error).partition("=")[0]
            message = replace_parameter(str(error), {parameter: flag})
            if message is not None and parameter.isidentifier():
                raise UsageError(message) from None
            raise argparse.ArgumentError(action, str(error)) from None

    def _add_default_values(self, words: Sequence[str]) -> Iterator[str]:
        """Yield the words, inserting the default value after options without a value.

        argparse would read `-ci REF` as an invalid number of resamples.
        """
        for i, word in enumerate(words):
            following = words[i + 1] if i + 1 < len(words) else "-"
            action = self._option_string_actions.get(word)
            # Treat a number as the value of the option even if it is invalid.
            if (
                action is not None
                and action.nargs == "?"
                and not following.startswith("-")
                and not _can_convert(float, following)
                and not _can_convert(action.type, following)
            ):
                yield f"{word}={'yes' if action.const is True else action.const}"
            else:
                yield word

    def _check_following_number(self, flag: str, following: str) -> None:
        """Raise UsageError for a number after -par or a similar option, instead of after -parn.

        argparse would read the number as a file name.
        """
        action = self._option_string_actions.get(flag)
        number_flag = f"{flag}-n" if flag.startswith("--") else f"{flag}n"
        if (
            action is not None
            and action.nargs == 0
            and number_flag in self._option_string_actions
            and following.isdecimal()
            and not os.path.exists(following)
        ):
            self.error(f"option {flag} takes no number. Use {number_flag} {following}")

    def _check_option_name(self, name: str) -> None:
        """Raise UsageError for an unknown option.

        argparse would read sacreBLEU's `-l` as the beginning of `-lc`, and `-sl` as `-s l`.
        """
        actions_by_flag = self._option_string_actions
        # "-" is standard input, -#3 is its third column, and text for `explain` may contain spaces.
        if name in actions_by_flag or name == "-" or not name.startswith("-"):
            return
        is_long = name.startswith("--")
        if name.startswith("-#") or " " in name or (not is_long and _can_convert(float, name)):
            return
        # The value may directly follow the option, as in -w2 and -fjson.
        action, value = actions_by_flag.get(name[:2]), name[2:]
        if not is_long and action and (value.isdecimal() or value in (action.choices or ())):
            return
        same_word = name[1:] if is_long else f"-{name}"
        if self.explain_option is not None and same_word not in actions_by_flag:
            self.explain_option(name)
        # Do not suggest a long option for a short one (--threads for -t), or vice versa.
        candidates = [one for one in actions_by_flag if one.startswith("--") == is_long]
        beginnings = [one for one in candidates if is_long and one.startswith(name)]
        flag = same_word if same_word in actions_by_flag else (beginnings or [""])[0]
        action = actions_by_flag.get(flag)
        hint = suggest_word(name, candidates)
        if action is not None:
            hint = f"; did you mean '{format_flags(action)}'?"
        self.error(f"unknown option {name}{hint}")

    @property
    def actions(self) -> Sequence[argparse.Action]:
        """The options and positional arguments."""
        return self._actions

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        message = message.replace("the following arguments are required:", "missing")
        raise UsageError(message.removeprefix("argument "))

    def print_help(self, file: object = None) -> None:  # noqa: ARG002
        """Print the help to standard output."""
        print_text(self.format_help())


def suggest_word(name: str, known_names: Iterable[str]) -> str:
    """Return a message suffix that suggests the known name most similar to an unknown name.

    >>> suggest_word("segment", ["score", "segments"])
    "; did you mean 'segments'?"
    """
    by_word = {name.lstrip("-"): name for name in known_names}
    close = argument_checks.find_closest(name.lstrip("-"), by_word, 0.6)
    return f"; did you mean '{by_word[close]}'?" if close else ""


def _identify_file(path: str) -> object:
    """Return a key that is equal for all paths to the same file."""
    with suppress(OSError):
        status = os.stat(path)
        return status.st_dev, status.st_ino
    return os.path.realpath(path)


def _can_convert(value_type: Any, word: str) -> bool:
    try:
        value_type(word)
    except (ValueError, TypeError):
        return False
    return True
