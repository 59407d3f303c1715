"""Finds the command of a command line, runs it, and says in one line what is wrong."""

from __future__ import annotations

import os

from truebleu.cli import commands
from truebleu.cli.output import UnavailableError, complain, print_text
from truebleu.cli.parser import UsageError, meant
from truebleu.text.checks import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def status_of(arguments: list[str]) -> int:
    """Runs a command line and says what is wrong."""
    try:
        _run(arguments)
    except UsageError as error:
        complain("error", f"{error} (see {_program(arguments)} --help)")
        return 2
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        # Whoever read the output has seen enough. A shell reports the same of other programs.
        return 141
    except OSError as error:
        reason = error.strerror or str(error)
        complain("error", f"{error.filename}: {reason}" if error.filename else reason)
        return 1
    except (ValueError, ImportError, UnavailableError) as error:
        complain("error", str(error))
        return 1
    except MemoryError as error:
        complain("error", f"not enough memory: {error}".removesuffix(": "))
        return 1
    return 0


def _run(arguments: list[str]) -> None:
    name = arguments[0] if arguments else ""
    if name == "help":
        _help(arguments[1:])
    elif name in commands.COMMANDS:
        # Only the parser of the command in use is made.
        parser, command = commands.parser(name, arguments[1:])
        command.run(parser.parse(arguments[1:]))
    elif name and not name.startswith("-"):
        raise UsageError(f"unknown command '{name}'{meant(name, [*commands.COMMANDS, 'help'])}")
    else:
        options = commands.whole_parser()[0].parse(arguments)
        if options.version:
            from truebleu._kernel import __version__

            print_text(f"truebleu {__version__}\n")
        elif options.citation:
            from truebleu.views.citation import bibtex

            print_text(bibtex())
        else:
            raise UsageError(f"no command; there are {', '.join(commands.COMMANDS)}")


def _help(words: list[str]) -> None:
    """`truebleu help`, of everything, of a command, or of the metrics."""
    if not words:
        commands.whole_parser()[0].print_help()
    elif words == ["metrics"]:
        from truebleu.cli.metric_options import listing

        print_text(listing())
    elif len(words) == 1 and words[0] in commands.COMMANDS:
        commands.parser(words[0], ())[0].print_help()
    else:
        known = [*commands.COMMANDS, "metrics"]
        raise UsageError(f"no help for '{' '.join(words)}'{nearest(words[0], known)}")


def _program(arguments: Sequence[str]) -> str:
    """The program's name in messages: truebleu, and the command if there is one."""
    return " ".join(["truebleu", *(name for name in arguments[:1] if name in commands.COMMANDS)])


def end_at_interrupts() -> None:
    """Lets Ctrl-C end the process at once, where no file must be cleaned up.

    Python's own handler has to wait while one thread of the kernel waits for standard input and
    the main one waits for that.
    """
    import signal

    # Not where they are ignored, as nohup wants it.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _interrupted() -> int:
    """Ends as Ctrl-C ends any program, so that a shell's loop around it ends too."""
    if os.name == "posix":
        import signal

        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return 130
