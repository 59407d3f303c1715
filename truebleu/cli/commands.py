"""The commands: what each is for, where it is, and the parsers of one or of all."""

from __future__ import annotations

from importlib import import_module

from truebleu.cli import metric_options
from truebleu.cli.parser import HELP, Command, Group, Parser

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

ABOUT = Group(
    "about truebleu",
    """
    -V --version  print the version
    --citation    print what to cite, as BibTeX entries
    """,
    HELP,
)


def command(name: str) -> Command:
    """The command of this name."""
    found: Command = import_module(f"truebleu.cli.{name}").COMMAND
    return found


def parser(name: str, words: Sequence[str]) -> tuple[Parser, Command]:
    """The parser of one command, for these words, and the command."""
    found = command(name)
    made = Parser(
        f"truebleu {name}",
        groups=found.groups(words),
        usage=found.usage,
        description=f"{COMMANDS[name]}.",
        epilog=found.examples,
    )
    if any(action.dest == "metrics" for action in made.actions):
        made.elsewhere = metric_options.owner
    made.set_defaults(command=name, whole_parser=whole_parser)
    return made, found


def whole_parser() -> tuple[Parser, list[Parser]]:
    """The parser of everything, and those of the commands: for help, and shells that complete."""
    made = Parser(
        "truebleu",
        groups=[ABOUT],
        usage="truebleu COMMAND ...",
        description="Every BLEU there is: exact, explained, and as fast as reading the file.",
        epilog=EPILOG,
    )
    commands = made.add_subparsers(title="commands", metavar="COMMAND")
    topics = Group("topic", "topic TOPIC  a command", topic={"choices": [*COMMANDS, "metrics"]})
    groups = {name: command(name).groups(()) for name in COMMANDS} | {"help": [topics]}
    told = {**COMMANDS, "help": "Show the help of a command, or of the metrics"}
    return made, [
        commands.add_parser(name, help=summary, groups=groups[name])
        for name, summary in told.items()
    ]
