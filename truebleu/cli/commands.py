"""The commands: what each is for, where it is, its parser; and how a command line is run."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from truebleu.cli.declared import HELP, Command, Group
from truebleu.cli.output import (
    DONE,
    FAILED,
    INTERRUPTED,
    MISUSED,
    PIPE_CLOSED,
    STATUSES,
    FellError,
    UnavailableError,
    UsageError,
    complain,
    print_text,
)
from truebleu.text.checks import nearest
from truebleu.text.system import Terminated, end_by

if TYPE_CHECKING:
    from truebleu.cli.parser import Parser

# The module of this room that has a command is called as the command.
COMMANDS = {
    "score": "Score the outputs of systems",
    "segments": "Score each segment",
    "compare": "Compare systems: intervals, paired tests, which differences are real",
    "meta": "Measure how far metrics agree with people",
    "report": "Write the interactive page: who wins, is it real, why, and where",
    "lab": "Write the laboratory: an empty page that scores what is typed or dropped into it",
    "history": "Show how the scores in a log changed over time",
    "check": "Fail a build whose score is below a floor, or fell too far",
    "matrix": "Score every pair of lines; find the nearest ones, or the best of candidates",
    "explain": "Work a score through: what matched, what was clipped, how the number comes about",
    "family": "List the published BLEUs, score with all, find the one that gives a number",
    "testset": "List, fetch, install and show published test sets",
    "demo": "Score example systems, and show what to try next",
    "completion": "Print a script that lets a shell complete commands and options",
}

_STATUSES = "\n".join(f"  {status:<3}  {meaning}" for status, meaning in STATUSES.items())

EPILOG = f"""\
examples:
  truebleu demo
  truebleu score reference.en -i system.en
  truebleu segments reference.en -i system.en -f tsv
  truebleu compare reference.en -i baseline.en system.en
  truebleu report reference.en -i baseline.en system.en -o report.html
  truebleu explain "the cat on mat" --reference "the cat is on the mat"

more help:
  truebleu help score        the options of a command, as truebleu score --help
  truebleu help metrics      every metric, with its parameters

exit status:
{_STATUSES}
"""

# What one sees who types `truebleu`.
WELCOME = """\
truebleu scores generated text with BLEU and the metrics beside it:
exact, explained, and as fast as reading the file.

  truebleu demo                                       see it work, with texts
  truebleu score reference.en -i system.en            a score, and what made it
  truebleu compare reference.en -i old.en new.en      is the difference real?
  truebleu report reference.en -i old.en new.en       a page: who wins, and why
  truebleu explain "a cat sat" --reference "the cat"  how a score comes about
  truebleu lab                                        a page to type into
  truebleu check reference.en -i new.en --min 30      fails a build, status 3

truebleu help lists all commands; truebleu help score the options of one.
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
    found: Any = import_module(f"truebleu.cli.{name}")
    return found.COMMAND  # type: ignore[no-any-return]


def parser(name: str, groups: Iterable[Group]) -> Parser:
    """The parser of one command, which has these options."""
    from truebleu.cli.parser import Parser

    made = Parser(
        f"truebleu {name}",
        groups=groups,
        usage=command(name).usage,
        description=f"{COMMANDS[name]}.",
        epilog=(command(name).about or "").partition("\n\n")[2],
    )
    if any(action.dest == "metrics" for action in made.actions):
        from truebleu.cli.metric_options import owner

        made.elsewhere = owner
    return made


def parsed(name: str, words: Sequence[str]) -> argparse.Namespace:
    """The options of a command that these words say. Raises UsageError."""
    groups = list(command(name).groups(words))
    options: Any = parser(name, groups).parse(words)
    options.command, options.whole_parser, options.status_of = name, whole_parser, status_of
    return options  # type: ignore[no-any-return]


def whole_parser() -> tuple[Parser, list[Parser]]:
    """The parser of everything, and those of the commands: for help, and shells that complete."""
    from truebleu.cli.parser import Parser

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


# ---- a command line ----


def status_of(arguments: list[str]) -> int:
    """Runs a command line and says what is wrong."""
    try:
        _run(arguments)
    except UsageError as error:
        program = ["truebleu", *(name for name in arguments[:1] if name in COMMANDS)]
        complain("error", f"{error} (see {' '.join(program)} --help)")
        return MISUSED
    except Terminated as error:
        return end_by(int(str(error)))
    except KeyboardInterrupt:
        return end_by(INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has seen enough. A shell reports the same of other programs.
        return PIPE_CLOSED
    except OSError as error:
        reason = error.strerror or str(error)
        complain("error", f"{error.filename}: {reason}" if error.filename else reason)
        return FAILED
    except (ValueError, ImportError, UnavailableError, FellError) as error:
        complain("error", str(error))
        return int(getattr(error, "exit_status", FAILED))
    except MemoryError as error:
        complain("error", f"not enough memory: {error}".removesuffix(": "))
        return FAILED
    return DONE


def _run(arguments: list[str]) -> None:
    name = arguments[0] if arguments else ""
    if not arguments:
        print_text(WELCOME)
    elif name == "help":
        _help(arguments[1:])
    elif name in COMMANDS:
        command(name).run(parsed(name, arguments[1:]))
    elif name and not name.startswith("-"):
        from truebleu.cli.parser import meant

        raise UsageError(f"unknown command '{name}'{meant(name, [*COMMANDS, 'help'])}")
    else:
        options = whole_parser()[0].parse(arguments)
        if options.version:
            from truebleu._kernel import __version__

            print_text(f"truebleu {__version__}\n")
        elif options.citation:
            from truebleu.rendering.citation import bibtex

            print_text(bibtex())
        else:
            raise UsageError(f"no command; there are {', '.join(COMMANDS)}")


def _help(words: list[str]) -> None:
    """`truebleu help`, of everything, of a command, or of the metrics."""
    if not words:
        whole_parser()[0].print_help()
    elif words == ["metrics"]:
        from truebleu.cli.metric_options import listing

        print_text(listing())
    elif len(words) == 1 and words[0] in COMMANDS:
        parser(words[0], command(words[0]).groups(())).print_help()
    else:
        known = [*COMMANDS, "metrics"]
        raise UsageError(f"no help for '{' '.join(words)}'{nearest(words[0], known)}")
