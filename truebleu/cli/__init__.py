"""The command line: a module per command declares its options and runs it.

`options` declares options and parses them; `inputs`, `metric_options` and `output` have what most
commands share. Only the module of the command that is run is imported.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from truebleu._kernel import __version__
from truebleu.cli.common_options import HELP, Command, Group, Parser, suggestion
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
from truebleu.text.argument_checks import suggest_names
from truebleu.text.operating_system import Terminated, end_by_signal, raise_at_signals

# Each command, which is the name of its module, and its summary.
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

# The output of `truebleu` alone.
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of this process, and return the exit status.

    Errors are written to standard error, in one line. `STATUSES` lists the statuses.
    """
    if arguments is not None:
        return _status_of(list(arguments))
    # A process that is about to end has nothing to gain from collecting garbage.
    gc.disable()
    raise_at_signals()
    status = _status_of(sys.argv[1:])
    # Without freeze() Python would look at every object once more as it ends, for a tenth of the
    # time that the whole process takes on a test set. DuckDB complains of what is left of it.
    if "duckdb" not in sys.modules:
        gc.freeze()
    return status


def _status_of(arguments: list[str]) -> int:
    """Run a command line, write its error if there is one, and return the exit status."""
    try:
        _run(arguments)
    except UsageError as error:
        program = ["truebleu", *(name for name in arguments[:1] if name in COMMANDS)]
        complain("error", f"{error} (see {' '.join(program)} --help)")
        return MISUSED
    except Terminated as error:
        return end_by_signal(int(str(error)))
    except KeyboardInterrupt:
        return end_by_signal(INTERRUPTED)
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
        options: Any = _parser(name, arguments[1:]).parse(arguments[1:])
        # Commands know nothing of this module, which knows them.
        options.command, options.whole_parser, options.status_of = name, whole_parser, _status_of
        command(name).run(options)
    elif name and not name.startswith("-"):
        raise UsageError(f"unknown command '{name}'{suggestion(name, [*COMMANDS, 'help'])}")
    else:
        options = whole_parser()[0].parse(arguments)
        if options.version:
            print_text(f"truebleu {__version__}\n")
        elif options.citation:
            from truebleu.rendering.citation import get_bibtex

            print_text(get_bibtex())
        else:
            raise UsageError(f"no command; there are {', '.join(COMMANDS)}")


def _help(words: list[str]) -> None:
    """Print the help of everything, of a command, or of the metrics."""
    if not words:
        whole_parser()[0].print_help()
    elif words == ["metrics"]:
        from truebleu.cli.metric_options import listing

        print_text(listing())
    elif len(words) == 1 and words[0] in COMMANDS:
        _parser(words[0]).print_help()
    else:
        known = [*COMMANDS, "metrics"]
        raise UsageError(f"no help for '{' '.join(words)}'{suggest_names(words[0], known)}")


def command(name: str) -> Command:
    """Return the command of this name."""
    module: Any = import_module(f"truebleu.cli.{name}")
    return module.COMMAND  # type: ignore[no-any-return]


def _parser(name: str, words: Sequence[str] = ()) -> Parser:
    """Return the parser of a command; by default with all options, otherwise those for `words`."""
    parser = Parser(
        f"truebleu {name}",
        groups=command(name).groups(words),
        usage=command(name).usage,
        description=f"{COMMANDS[name]}.",
        epilog=(command(name).about or "").partition("\n\n")[2],
    )
    if any(action.dest == "metrics" for action in parser.actions):
        from truebleu.cli.metric_options import owner

        parser.elsewhere = owner
    return parser


def whole_parser() -> tuple[Parser, list[Parser]]:
    """Return the parser of everything, and those of the commands: for help, and completion."""
    parser = Parser(
        "truebleu",
        groups=[ABOUT],
        usage="truebleu COMMAND ...",
        description="Every BLEU there is: exact, explained, and as fast as reading the file.",
        epilog=EPILOG,
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    topics = Group("topic", "topic TOPIC  a command", topic={"choices": [*COMMANDS, "metrics"]})
    groups = {name: command(name).groups(()) for name in COMMANDS} | {"help": [topics]}
    summaries = {**COMMANDS, "help": "Show the help of a command, or of the metrics"}
    return parser, [
        commands.add_parser(name, help=summary, groups=groups[name])
        for name, summary in summaries.items()
    ]
