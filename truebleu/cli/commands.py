"""The commands: what each is for, where it is, and the parsers of one or of all."""

from __future__ import annotations

from importlib import import_module

from truebleu.cli.parser import Command, Parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# The module of this room that has a command is called as the command.
COMMANDS = {
    "score": "Score the outputs of systems",
    "segments": "Score each segment",
    "compare": "Compare systems: intervals, paired tests, which differences are real",
    "report": "Write the interactive page: who wins, is it real, why, and where",
    "history": "Show how the scores in a log changed over time",
    "matrix": "Score every pair of lines; find the nearest ones, or the best of candidates",
    "explain": "Work a score through: what matched, what was clipped, how the number comes about",
    "family": "List the published BLEUs, score with all, find the one that gives a number",
    "completion": "Print a script that lets a shell complete commands and options",
}

EPILOG = """\
examples:
  truebleu score reference.en -i system.en
  truebleu segments reference.en -i system.en -f tsv
  truebleu compare reference.en -i baseline.en system.en
  truebleu report reference.en -i baseline.en system.en -src source.de -o report.html
  truebleu explain "the cat on mat" --reference "the cat is on the mat"

more help:
  truebleu help score        the options of a command, as truebleu score --help
  truebleu help metrics      every metric, with its parameters

exit status:
  0  done
  1  the data are wrong, or something could not be read or written
  2  the command line is wrong
"""


def command(name: str) -> Command:
    """The command of this name."""
    found: Command = import_module(f"truebleu.cli.{name}").COMMAND
    return found


def parser(name: str, words: Sequence[str]) -> tuple[Parser, Command]:
    """The parser of one command, for these words, and the command."""
    found = command(name)
    made = Parser(f"truebleu {name}", found.usage, f"{COMMANDS[name]}.", found.examples)
    found.add_options(made, words)
    made.set_defaults(command=name, whole_parser=whole_parser)
    return made, found


def whole_parser() -> Parser:
    """The parser of everything: for `truebleu --help`, and for shells that complete words."""
    made = Parser(
        "truebleu",
        "truebleu COMMAND ...",
        "Every BLEU there is: exact, explained, and as fast as reading the file.",
        EPILOG,
    )
    about = made.add_argument_group("about truebleu")
    about.add_argument("-V", "--version", action="store_true", help="print the version")
    about.add_argument(
        "--citation", action="store_true", help="print what to cite, as BibTeX entries"
    )
    made.add_help_option(about)
    commands = made.add_subparsers(title="commands", metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command(name).add_options(commands.add_parser(name, help=summary), ())
    return made
