"""`truebleu completion`: lets a shell complete commands, options and their values."""

from __future__ import annotations

from truebleu.cli.output import UnavailableError, print_text
from truebleu.cli.parser import HELP, Command, Group

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from truebleu.cli.parser import Parser

SHELLS = ("bash", "zsh", "fish", "tcsh")

EXAMPLES = """\
examples, to complete words from the next session on:
  truebleu completion bash > ~/.local/share/bash-completion/completions/truebleu
  truebleu completion zsh > ~/.zsh/completions/_truebleu      (a folder of your $fpath)
  truebleu completion fish > ~/.config/fish/completions/truebleu.fish
  truebleu completion tcsh >> ~/.tcshrc
"""

# What options call the values that are names of files.
FILES = ("REF", "HYP", "FILE")


SHELL = Group("shell", f"shell SHELL  {', '.join(SHELLS)}", HELP, shell={"choices": SHELLS})


def groups(words: Sequence[str]) -> list[Group]:  # noqa: ARG001
    """The options of `truebleu completion`."""
    return [SHELL]


def run(options: argparse.Namespace) -> None:
    """Prints the script."""
    parser: Parser = options.whole_parser()
    for action in parser.every_action():
        completes = getattr(action, "completes", None)
        if completes is not None:
            action.choices = completes()
    if options.shell == "fish":
        print_text("".join(f"{line}\n" for line in _fish(parser)))
        return
    try:
        import shtab
    except ImportError:
        raise UnavailableError("completion needs the library shtab: pip install shtab") from None
    for action in parser.every_action():
        if action.metavar in FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    print_text(shtab.complete(parser, shell=options.shell) + "\n")


def _fish(parser: Parser) -> Iterator[str]:
    """A line per option, which shtab does not write for fish."""
    yield "complete -c truebleu -f"
    for name, (summary, command) in parser.commands().items():
        yield f"complete -c truebleu -n __fish_use_subcommand -a {name} -d {_quoted(summary)}"
        seen = f"-n '__fish_seen_subcommand_from {name}'"
        for action in command.every_action():
            words = [
                f"-{'l' if flag.startswith('--') else 'o' if len(flag) > 2 else 's'} "
                f"{flag.lstrip('-')}"
                for flag in action.option_strings
            ]
            if not words:
                if action.metavar in FILES:
                    yield f"complete -c truebleu {seen} -F"
                elif action.choices:
                    yield f"complete -c truebleu {seen} -a {_quoted(' '.join(action.choices))}"
                continue
            if action.metavar in FILES:
                words.append("-r -F")
            elif action.choices:
                words.append(f"-x -a {_quoted(' '.join(map(str, action.choices)))}")
            elif action.nargs != 0:
                words.append("-x")
            told = (action.help or "").replace("%%", "%").partition(";")[0]
            yield f"complete -c truebleu {seen} {' '.join(words)} -d {_quoted(told)}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


COMMAND = Command("truebleu completion SHELL", EXAMPLES, groups, run)
