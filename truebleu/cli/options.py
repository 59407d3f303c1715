"""The options that commands share, the parser that reads them, and the objects that they mean."""

from __future__ import annotations

import argparse
import os
import sys

from truebleu import tokenizers
from truebleu.bleu import BLEU, SMOOTHING
from truebleu.chrf import CHRF
from truebleu.cli.output import is_terminal, print_text
from truebleu.files import File, table_format
from truebleu.ter import TER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, NoReturn

    from truebleu.counted import Counted

COMMANDS = {
    "score": "Score the outputs of systems, a number each",
    "segments": "Score each segment, a row each",
    "compare": "Compare systems: intervals, paired tests, which differences are real",
    "report": "Write the interactive page: who wins, is it real, why, and where",
    "history": "Show how the scores in a log changed over time",
    "matrix": "Score every pair of lines; find the nearest ones, or the best of candidates",
    "explain": "Work a score through: what matched, what was clipped, how the number comes about",
    "family": "List the published BLEUs, score with all, find the one that gives a number",
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
    "-j": "it is --threads",
    "--paired-jobs": "it is --threads",
    "--citation": "it is truebleu --citation",
    "--version": "it is truebleu --version",
}

# What the end of a file's name says of its format.
SUFFIXES = {
    ".txt": "text",
    ".json": "json",
    ".jsonl": "jsonl",
    ".tsv": "tsv",
    ".csv": "csv",
    ".tex": "latex",
    ".md": "markdown",
    ".html": "html",
    ".parquet": "parquet",
    ".npy": "npy",
}

# More would be a slip of the finger, not a machine.
MOST_THREADS = 1024


class UsageError(Exception):
    """The command line is wrong."""


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
            self.error(f"no option {name}: {ELSEWHERE[name]}")
        self.error(f"unknown option {name}{nearest(name, known)}")

    def every_action(self) -> Iterator[argparse.Action]:
        """All options and arguments, those of commands included."""
        for action in self._actions:
            yield action
            if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
                for parser in action.choices.values():
                    yield from parser.every_action()

    def error(self, message: str) -> NoReturn:
        """Raises UsageError."""
        raise UsageError(message.removeprefix("argument "))

    def print_help(self, file: object = None) -> None:  # noqa: ARG002
        """Prints the help, as results are printed."""
        print_text(self.format_help())


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name, if there is one like it.

    >>> nearest("segment", COMMANDS)
    "; did you mean 'segments'?"
    """
    import difflib

    close = difflib.get_close_matches(name.lower(), list(known), n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


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
            raise argparse.ArgumentTypeError(f"unknown '{text}'{tokenizers.nearest(text, names)}")
        return text.lower()

    return check


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """A whole number between two."""

    def check(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(
                f"'{text}' is not a whole number from {least} to {most}"
            )
        return int(text)

    return check


def _tokenizer(text: str) -> str:
    try:
        tokenizers.check(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _weights(text: str) -> list[float]:
    try:
        return [float(weight) for weight in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number") from None


def _yes(text: str) -> bool:
    if text not in ("yes", "no"):
        raise argparse.ArgumentTypeError(f"'{text}' is neither yes nor no")
    return text == "yes"


# What commands have in common, group by group, as --help shows it.


def add_inputs(parser: Parser) -> None:
    """Adds references, hypotheses and how they are read."""
    group = parser.add_argument_group(
        "input",
        "One segment a line, in files that may end in .gz .bz2 .xz .zst. FILE#3 is the third\n"
        "tab-separated column of FILE; - is standard input.",
    )
    group.add_argument("references", metavar="REF", nargs="*", help="references, a file each")
    group.add_argument(
        *("-i", "--input"),
        metavar="HYP",
        nargs="+",
        action="extend",
        help="outputs of systems, a file each; without it, of one system, on standard input",
    )
    group.add_argument(
        *("-nr", "--num-refs"),
        metavar="N",
        type=whole_number(1, 10_000),
        default=1,
        help="the only REF has N references in tab-separated columns",
    )
    group.add_argument(
        *("-e", "--encoding"),
        metavar="NAME",
        default="utf-8",
        help="the encoding of all files (utf-8); utf-8-sig drops byte-order marks",
    )


def add_metric(parser: Parser) -> None:
    """Adds the choice of a metric and its parameters."""
    group = parser.add_argument_group("metric")
    group.add_argument(
        *("-m", "--metrics"),
        metavar="NAME",
        nargs="+",
        type=one_of(MAKERS),
        choices=list(MAKERS),
        default=["bleu"],
        help=f"{', '.join(MAKERS)} (bleu)",
    )
    group = parser.add_argument_group("BLEU")
    group.add_argument(
        *("-tok", "--tokenize"),
        metavar="NAME",
        type=_tokenizer,
        choices=list(tokenizers.NAMES),
        default="13a",
        help=f"{', '.join(tokenizers.NAMES)} (13a); zh for Chinese, char for Japanese and Thai, "
        "none for text that is tokenized",
    )
    group.add_argument(
        *("-lc", "--lowercase"), action="store_true", help="lower-case all text first"
    )
    group.add_argument(
        *("-s", "--smooth-method", "--smoothing"),
        dest="smoothing",
        metavar="NAME",
        type=one_of(SMOOTHING),
        choices=list(SMOOTHING),
        default="exp",
        help=f"what orders without a match count: {', '.join(SMOOTHING)} (exp)",
    )
    group.add_argument(
        *("-sv", "--smooth-value", "--smoothing-value"),
        dest="smoothing_value",
        metavar="X",
        type=float,
        help="the value for floor (0.1) or add-k (1)",
    )
    group.add_argument(
        "--effective-order",
        metavar="yes|no",
        nargs="?",
        type=_yes,
        const=True,
        help="leave out orders that the hypothesis is too short for (yes for single segments, "
        "no for a corpus)",
    )
    group.add_argument(
        "--max-order", metavar="N", type=int, default=4, help="the longest n-grams, 1 to 16 (4)"
    )
    group.add_argument(
        "--weights", metavar="X", nargs="+", type=_weights, help="a weight for each order (equal)"
    )
    group = parser.add_argument_group("chrF")
    group.add_argument(
        *("-cc", "--chrf-char-order"),
        metavar="N",
        type=whole_number(0, 100),
        default=6,
        help="the longest character n-grams (6)",
    )
    group.add_argument(
        *("-cw", "--chrf-word-order"),
        metavar="N",
        type=whole_number(0, 16),
        default=0,
        help="the longest word n-grams (0); -m chrf++ is -m chrf -cw 2",
    )
    group.add_argument(
        "--chrf-beta",
        metavar="X",
        type=_beta,
        default=2,
        help="how many times as much recall counts as precision (2)",
    )
    group.add_argument(
        "--chrf-whitespace", action="store_true", help="count white space as characters"
    )
    group.add_argument("--chrf-lowercase", action="store_true", help="lower-case all text first")
    group.add_argument(
        "--chrf-eps-smoothing",
        action="store_true",
        help="keep the orders that a text is too short for, as chrF++.py does",
    )
    group = parser.add_argument_group("TER")
    group.add_argument(
        "--ter-normalized",
        action="store_true",
        help="split off punctuation and undo entities first, as tercom's -N",
    )
    group.add_argument("--ter-no-punct", action="store_true", help="leave out punctuation")
    group.add_argument(
        "--ter-asian-support",
        action="store_true",
        help="split Chinese and Japanese characters, with --ter-normalized",
    )
    group.add_argument(
        "--ter-case-sensitive", action="store_true", help="tell upper case from lower case"
    )


def add_output(
    parser: Parser, formats: Iterable[str], *, numbers: bool = True, only: bool = True
) -> None:
    """Adds the form and the place of results, and threads.

    With `numbers`, results are scores: how they are printed, and how much is said beside. With
    `only`, that may be nothing.
    """
    group = parser.add_argument_group("output")
    group.add_argument(
        *("-f", "--format"),
        metavar="NAME",
        type=one_of(formats),
        choices=list(formats),
        help=f"{', '.join(formats)} (text on a terminal, otherwise json, unless the name of "
        "FILE says it)",
    )
    group.add_argument(
        *("-o", "--output"),
        metavar="FILE",
        help="write to FILE, whole or not at all",
    )
    if numbers:
        group.add_argument(
            *("-w", "--width"),
            metavar="N",
            type=whole_number(0, 100),
            help="digits after the point (1 for a person; all of them for a program: json, tsv)",
        )
        if only:
            group.add_argument(*("-b", "--score-only"), action="store_true", help="only the scores")
        group.add_argument(*("-sh", "--short"), action="store_true", help="short signatures")
    group = parser.add_argument_group("running")
    group.add_argument(
        "--threads",
        metavar="N",
        type=whole_number(0, MOST_THREADS),
        default=1,
        help="threads (1); 0 for one on each core",
    )
    if numbers:
        group.add_argument(*("-q", "--quiet"), action="store_true", help="no warnings")
    parser.add_help_option(group)


def _beta(text: str) -> float:
    """A number, an integer if it is written as one: the name of the score shows it as it is."""
    return int(text) if text.isdecimal() else float(text)


# What options mean.


def _bleu(options: argparse.Namespace) -> BLEU:
    return BLEU(
        options.tokenize,
        lowercase=options.lowercase,
        smoothing=options.smoothing,
        smoothing_value=options.smoothing_value,
        effective_order=options.effective_order,
        max_order=options.max_order,
        weights=None if options.weights is None else [w for ws in options.weights for w in ws],
    )


def _chrf(options: argparse.Namespace, words: int | None = None) -> CHRF:
    return CHRF(
        options.chrf_char_order,
        options.chrf_word_order if words is None else words,
        options.chrf_beta,
        lowercase=options.chrf_lowercase,
        whitespace=options.chrf_whitespace,
        eps_smoothing=options.chrf_eps_smoothing,
    )


def _ter(options: argparse.Namespace) -> TER:
    return TER(
        normalized=options.ter_normalized,
        no_punct=options.ter_no_punct,
        asian_support=options.ter_asian_support,
        case_sensitive=options.ter_case_sensitive,
    )


# How each metric is made of options.
MAKERS: dict[str, Callable[[argparse.Namespace], Counted[Any]]] = {
    "bleu": _bleu,
    "chrf": _chrf,
    "chrf+": lambda options: _chrf(options, 1),
    "chrf++": lambda options: _chrf(options, 2),
    "ter": _ter,
}


def metrics(options: argparse.Namespace) -> list[Counted[Any]]:
    """The metrics that were asked for."""
    try:
        return [MAKERS[name](options) for name in dict.fromkeys(options.metrics)]
    except ValueError as error:
        raise UsageError(str(error)) from None


def tokenizer(options: argparse.Namespace) -> str | None:
    """The tokenizer, if a metric asked for splits text by it."""
    return options.tokenize if "bleu" in options.metrics else None


def threads(options: argparse.Namespace) -> int:
    """How many threads to use."""
    if options.threads:
        return options.threads  # type: ignore[no-any-return]
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def form(options: argparse.Namespace, formats: Iterable[str]) -> str:
    """The format of results: as asked for, as the name of the file says, or as the reader is."""
    if options.format is not None:
        return options.format  # type: ignore[no-any-return]
    if options.output is None and is_terminal():
        return "text"
    suffix = os.path.splitext(options.output or "")[1].lower()
    named = SUFFIXES.get(suffix, "json")
    if named == "jsonl" and named not in formats:
        named = "json"  # which is lines where there are rows
    if named not in formats:
        raise UsageError(
            f"-o/--output: {options.output} would be {named}, and there are "
            f"{', '.join(formats)}; say which with -f"
        )
    return named


class Inputs:
    """The files of a command line: systems by name, and the references they are scored against."""

    __slots__ = ("_columns", "_references", "systems")

    systems: dict[str, File]

    def __init__(self, options: argparse.Namespace) -> None:
        if not options.references:
            raise UsageError("no REF: at least one file of references is needed")
        if options.input is None and sys.stdin is not None and sys.stdin.isatty():
            raise UsageError("no HYP: name the outputs of systems with -i, or pipe one in")
        hypotheses = options.input or ["-"]
        self._columns: int = options.num_refs
        if self._columns > 1 and len(options.references) > 1:
            raise UsageError(
                "-nr/--num-refs: the references are side by side in one file; name only that"
            )
        for name in (*options.references, *hypotheses):
            if table_format(name):
                raise UsageError(
                    f"{name} is a table, which truebleu score and truebleu segments read; here, "
                    "lines of text are meant"
                )
        self._references = [file_of(name, options.encoding) for name in options.references]
        files = [file_of(name, options.encoding) for name in hypotheses]
        self.systems = dict(zip(distinct(files), files, strict=True))
        self._check_standard_input()
        if options.output is not None:
            check_output(options.output, [*self._references, *self.systems.values()])

    def references(self) -> list[File]:
        """The references, to be read once."""
        if self._columns == 1:
            return self._references
        from truebleu.cli.side_by_side import side_by_side

        return side_by_side(self._references[0], self._columns)

    @property
    def reference_names(self) -> list[str]:
        """What messages call each of the references."""
        if self._columns == 1:
            return [_named(file.path, file) for file in self._references]
        path = self._references[0].path
        return [_named(path, File(path, column)) for column in range(1, self._columns + 1)]

    def _check_standard_input(self) -> None:
        files = [*self._references, *self.systems.values()]
        if sum(file.path == "-" for file in files) > 1:
            raise UsageError("standard input is named twice, and can be read once")
        if len(self.systems) > 1:
            for file in self._references:
                if not is_lasting(file.path):
                    raise UsageError(
                        f"references of several systems are read several times, and {file.path} "
                        "can be read once; save it as a file"
                    )


def check_output(output: str, files: Iterable[File]) -> None:
    """Refuses an output that is an input as well."""
    if not os.path.isfile(output):
        return
    for file in files:
        if os.path.exists(file.path) and os.path.samefile(output, file.path):
            raise UsageError(f"-o/--output: {output} is an input as well")


def file_of(name: str, encoding: str) -> File:
    """The file that a word of the command line means."""
    if name.startswith(" -#"):
        name = name[1:]
    path, mark, column = name.rpartition("#")
    try:
        if mark and path and column.isdecimal() and not os.path.exists(name):
            return File(path, int(column), encoding)
        return File(name, None, encoding)
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None


def distinct(files: Sequence[File]) -> list[str]:
    """A name for each system: its file's, with more of the path where two are called the same.

    >>> distinct([File("a/out.txt"), File("b/out.txt"), File("x.tsv", 2), File("x.tsv", 2)])
    ['a/out.txt', 'b/out.txt', 'x.tsv#2', 'x.tsv#2 (2)']
    """
    names = [_named(os.path.basename(file.path), file) for file in files]
    names = [
        name if names.count(name) == 1 else _named(file.path, file)
        for name, file in zip(names, files, strict=True)
    ]
    seen: dict[str, int] = {}
    for i, name in enumerate(names):
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            names[i] = f"{name} ({seen[name]})"
    return names


def _named(path: str, file: File) -> str:
    name = "standard input" if path == "-" else path
    return name if file.column is None else f"{name}#{file.column}"


def is_lasting(path: str) -> bool:
    """Whether a file can be read more than once."""
    return path != "-" and (os.path.isfile(path) or not os.path.exists(path))
