"""Command line of truebleu. Each command has a module that declares its options and runs it.

`common_options` declares and parses options. `input_files`, `metric_options` and `output` contain
code that most commands share. truebleu imports only the module of the requested command.
"""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any

from truebleu._kernel import __version__
from truebleu.cli.common_options import (
    HELP,
    OPTION_HINTS,
    Command,
    OptionGroup,
    Parser,
    configure_downloads,
    suggest_word,
)
from truebleu.cli.output import (
    DONE,
    FAILED,
    INTERRUPTED,
    MISUSED,
    PIPE_CLOSED,
    STATUSES,
    ScoreTooLowError,
    UnavailableError,
    UsageError,
    print_message,
    print_text,
)
from truebleu.text.argument_checks import suggest_names

# Summaries of the commands for the help. Each command has the same name as its module.
COMMANDS = {
    "score": "Score system outputs",
    "segments": "Score each segment",
    "compare": "Compare systems with confidence intervals and significance tests",
    "meta": "Measure how well metrics agree with human scores",
    "report": "Write an interactive report on score differences, their significance and causes",
    "lab": "Write a playground page that scores typed text or dropped files in the browser",
    "history": "Show how the scores in a log changed over time",
    "check": "Fail a build if a score is below a minimum or has dropped too far",
    "matrix": "Score all pairs of lines, find nearest lines, or select the best candidates (MBR)",
    "resegment": "Divide a text into the segments of the reference",
    "latency": "Measure the latency of simultaneous systems from their logs",
    "explain": "Explain a score step by step: matches, clipping, brevity penalty",
    "family": "List published BLEU variants, score with them, or find the variant behind a score",
    "testset": "List, download, install and show published test sets",
    "cite": "Print BibTeX entries and a setup paragraph for a paper",
    "demo": "Score example systems and suggest more commands",
    "completion": "Print a shell script that completes commands and options",
}

_STATUSES = "\n".join(f"  {status:<3}  {meaning}" for status, meaning in STATUSES.items())

_EXAMPLES = """\
  truebleu demo                                       score example texts
  truebleu score reference.en -i system.en            score a system output
  truebleu compare reference.en -i old.en new.en      test the difference
  truebleu report reference.en -i old.en new.en       write a report
  truebleu explain reference.en -i new.en -n 17       explain a segment
  truebleu lab                                        write a playground page
  truebleu check reference.en -i new.en --min 30      fail a build (status 3)
"""

EPILOG = f"""\
examples:
{_EXAMPLES}
more help:
  truebleu help score        show the options of truebleu score
  truebleu help metrics      list all metrics and their parameters

exit status:
{_STATUSES}
"""

# Output of `truebleu` without arguments.
WELCOME = f"""\
truebleu scores generated text with BLEU and related metrics, and explains the
scores. Scoring two files with BLEU takes less processor time than wc -w.

{_EXAMPLES}
truebleu help lists all commands; truebleu help score shows its options.
"""

# Options for references and system outputs in other programs.
REFERENCE_FLAGS = ("-r", "--ref", "--refs", "--reference", "--references", "--gold")
OUTPUT_FLAGS = ("--hyp", "--hyps", "--hypothesis", "--hypotheses", "--sys", "--system", "--systems")

# Options of `truebleu score` that show that a command line lacks only the command.
SCORING_FLAGS = ("-i", "--input", "-t", "--test-set")

GENERAL_OPTIONS = OptionGroup(
    "about truebleu",
    """
    -V --version  print the version
    """,
    HELP,
)


class Terminated(SystemExit):
    """SIGTERM or SIGHUP was received; `code` is the exit status that shells report."""


def _raise_terminated(number: int, _: object) -> None:
    # A second signal must not interrupt the removal of temporary files.
    for ignored_signal in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(ignored_signal, signal.SIG_IGN)
    raise Terminated(128 + number)


def end_process_by_signal(status: int) -> int:
    """End the process with the signal that an exit status represents, or return another status.

    This lets Ctrl-C also end a shell loop that contains the command.
    """
    if os.name == "posix":
        import atexit

        # Remove temporary folders now, because exit functions do not run after a fatal signal.
        atexit._run_exitfuncs()  # noqa: SLF001
        signal.signal(status - 128, signal.SIG_DFL)
        os.kill(os.getpid(), status - 128)
    return status


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (default: `sys.argv`) and return its exit status.

    Each error is written to standard error on one line. `STATUSES` lists the exit statuses.
    """
    if arguments is not None:
        return _run_and_report_errors(list(arguments))
    # In a short process, garbage collection costs more time than it saves.
    gc.disable()
    # Let these signals raise `Terminated`, so that temporary files are removed. Ignored signals
    # stay ignored, because nohup and shells rely on this.
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _raise_terminated)
    status = _run_and_report_errors(sys.argv[1:])
    # Without freeze(), Python examines every object again at exit, which takes a tenth of the run
    # time on a test set. With freeze(), DuckDB warns about remaining objects.
    if "duckdb" not in sys.modules:
        gc.freeze()
    return status


def _run_and_report_errors(arguments: list[str]) -> int:
    try:
        _run_command(arguments)
    except UsageError as error:
        command = error.command or next(iter(arguments), "")
        program = f"truebleu {command}" if command in COMMANDS else "truebleu"
        print_message("error", f"{error} (see {program} --help)")
        return MISUSED
    except Terminated as error:
        return end_process_by_signal(int(str(error)))
    except KeyboardInterrupt:
        return end_process_by_signal(INTERRUPTED)
    except BrokenPipeError:
        # The reader closed the pipe, as `head` does. Shells report this status for SIGPIPE.
        return PIPE_CLOSED
    except OSError as error:
        reason = error.strerror or str(error)
        print_message("error", f"{error.filename}: {reason}" if error.filename else reason)
        return FAILED
    except (ValueError, ImportError, UnavailableError, ScoreTooLowError) as error:
        if str(error):
            print_message("error", str(error))
        return int(getattr(error, "exit_status", FAILED))
    except MemoryError as error:
        print_message("error", f"not enough memory: {error}".removesuffix(": "))
        return FAILED
    return DONE


def _run_command(arguments: list[str]) -> None:
    name = arguments[0] if arguments else ""
    if not arguments:
        print_text(WELCOME)
    elif name == "help":
        _print_help(arguments[1:])
    elif name in COMMANDS:
        options: Any = _build_parser(name, arguments[1:]).parse(arguments[1:])
        # Commands cannot import this module, because it imports them.
        options.command, options.build_parsers, options.run_command_line = (
            name,
            build_parsers,
            _run_and_report_errors,
        )
        configure_downloads(options)
        try:
            load_command(name).run(options)
        except ValueError as error:
            if "different numbers of segments" in str(error) and hasattr(options, "resegment"):
                from truebleu.cli.resegment import suggest_resegmentation

                error.args = (f"{error}{suggest_resegmentation(options)}",)
            raise
    elif _lacks_command(arguments):
        import shlex

        words = shlex.join(arguments)
        raise UsageError(f"missing command before '{name}'. Use truebleu score {words}")
    elif name and not name.startswith("-"):
        raise UsageError(f"unknown command '{name}'{suggest_word(name, [*COMMANDS, 'help'])}")
    else:
        options = build_parsers()[0].parse(arguments)
        if options.version:
            print_text(f"truebleu {__version__}\n")
        else:
            raise UsageError(f"missing command; use one of {', '.join(COMMANDS)}")


def _lacks_command(arguments: Sequence[str]) -> bool:
    """Return whether a command line is that of `truebleu score` without the command."""
    name = arguments[0]
    has_score_option = any(one.partition("=")[0] in SCORING_FLAGS for one in arguments)
    is_word = not name.startswith("-") and not os.path.exists(name)
    is_misspelt_command = is_word and bool(suggest_word(name, COMMANDS))
    return os.path.isfile(name) or (has_score_option and not is_misspelt_command)


def _print_help(words: list[str]) -> None:
    if not words:
        build_parsers()[0].print_help()
    elif words == ["metrics"]:
        from truebleu.cli.metric_options import format_metric_list

        print_text(format_metric_list())
    elif len(words) == 1 and words[0] in COMMANDS:
        _build_parser(words[0]).print_help()
    else:
        topics = [*COMMANDS, "metrics"]
        raise UsageError(f"unknown help topic '{' '.join(words)}'{suggest_names(words[0], topics)}")


def load_command(name: str) -> Command:
    """Import the module of a command and return its declaration."""
    module: Any = import_module(f"truebleu.cli.{name}")
    return module.COMMAND  # type: ignore[no-any-return]


def _build_parser(name: str, words: Sequence[str] = ()) -> Parser:
    """Return a command's parser with the options for a command line (default: all options)."""
    parser = Parser(
        f"truebleu {name}",
        groups=load_command(name).groups(words),
        usage=load_command(name).usage,
        description=f"{COMMANDS[name]}.",
        epilog=(load_command(name).module_doc or "").partition("\n\n")[2],
    )
    parser.explain_option = partial(_explain_unknown_option, name, words)
    return parser


def _explain_unknown_option(command: str, words: Sequence[str], flag: str) -> None:
    """Raise UsageError for an option of sacreBLEU, or of another metric or command.

    command: the requested command, or "". words: its command line.
    """
    from truebleu.cli.metric_options import TOKENIZE, describe_metric_option

    flags_by_command = {
        name: {one for action in parser.actions for one in action.option_strings}
        for name, parser in zip(COMMANDS, build_parsers()[1], strict=False)
    }
    available = flags_by_command.get(command, set())
    if flag in (*REFERENCE_FLAGS, *OUTPUT_FLAGS) and {"-i"} <= available:
        message = _explain_input_option(command, words, flag, "--reference" in available)
        if message:
            raise UsageError(message)
    hint = OPTION_HINTS.get(flag, "")
    # Options after "truebleu" belong to the command that the hint names.
    if not {*re.findall(r"(?<!\S)-+[a-z]+", hint.partition("truebleu ")[0])} <= available:
        hint = ""
    message = ""
    if not hint and TOKENIZE in available:
        message = describe_metric_option(words, flag)
    if not hint and not message and flag in available:
        hint = "it is for published test sets; use it with -t"
    owners = [name for name, flags in flags_by_command.items() if flag in flags]
    if not hint and not message and owners:
        names = ", ".join(owners[:-1]) + (" or " if owners[1:] else "") + owners[-1]
        hint = f"use truebleu {names}"
    message = message or (hint and f"option {flag} is not available here: {hint}")
    if message:
        named_command = re.search(r"use truebleu (\w+)", hint)
        raise UsageError(message, named_command and named_command[1])


def _explain_input_option(command: str, words: Sequence[str], flag: str, takes_text: bool) -> str:
    """Return a message with the correct command line for an option of other programs, or "".

    takes_text: whether the command has options for texts with similar names.
    """
    import shlex

    references, others = [], []
    names_reference = False
    for word in words:
        name, equals, value = word.partition("=")
        if name in REFERENCE_FLAGS:
            names_reference = not equals
            references += [value] if equals else []
        elif names_reference and not word.startswith("-"):
            references.append(word)
        else:
            names_reference = False
            others.append("-i" if name in OUTPUT_FLAGS else word)
            others += [value] if equals and name in OUTPUT_FLAGS else []
    if (flag == "--ref" or takes_text) and not any(map(os.path.exists, references)):
        return ""
    if flag in REFERENCE_FLAGS:
        problem, references = "references are positional", references or ["REF"]
    else:
        problem = "system outputs follow -i/--input"
    end = next((i for i, word in enumerate(others) if word.startswith("-")), len(others))
    positional = dict.fromkeys([*others[:end], *references])
    line = shlex.join(["truebleu", command, *positional, *others[end:]])
    return f"unknown option {flag}: {problem}. Use {line}"


def build_parsers() -> tuple[Parser, list[Parser]]:
    """Return the general parser and the parsers of all commands, for help and completion."""
    parser = Parser(
        "truebleu",
        groups=[GENERAL_OPTIONS],
        usage="truebleu COMMAND ...",
        description="BLEU and related metrics, exact and explained.",
        epilog=EPILOG,
    )
    parser.explain_option = partial(_explain_unknown_option, "", ())
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    topics = OptionGroup(
        "topic",
        "topic TOPIC  show the help of this command",
        topic={"choices": [*COMMANDS, "metrics"]},
    )
    groups = {name: load_command(name).groups(()) for name in COMMANDS} | {"help": [topics]}
    summaries = {**COMMANDS, "help": "Show the help of a command, or list the metrics"}
    return parser, [
        commands.add_parser(name, help=summary, groups=groups[name])
        for name, summary in summaries.items()
    ]
