"""`truebleu completion`: lets a shell complete commands, options and their values."""

from __future__ import annotations

from truebleu.cli import options as shared
from truebleu.cli.output import UnavailableError, print_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

SHELLS = ("bash", "zsh", "tcsh")

EXAMPLES = """\
examples, to complete words from the next session on:
  truebleu completion bash > ~/.local/share/bash-completion/completions/truebleu
  truebleu completion zsh > ~/.zsh/completions/_truebleu      (a folder of your $fpath)
  truebleu completion tcsh >> ~/.tcshrc
"""

# What options call the values that are names of files.
FILES = ("REF", "HYP", "FILE")


def add_options(parser: shared.Parser) -> None:
    """Adds what `truebleu completion` knows."""
    group = parser.add_argument_group("shell")
    group.add_argument(
        "shell",
        metavar="SHELL",
        type=shared.one_of(SHELLS),
        choices=SHELLS,
        help=", ".join(SHELLS),
    )
    parser.add_help_option(group)


def run(options: argparse.Namespace) -> None:
    """Prints the script."""
    try:
        import shtab
    except ImportError:
        raise UnavailableError("completion needs the library shtab: pip install shtab") from None
    from truebleu.cli import whole_parser

    parser = whole_parser()
    for action in parser.every_action():
        if action.metavar in FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    print_text(shtab.complete(parser, shell=options.shell) + "\n")


COMMAND = shared.Command("truebleu completion SHELL", EXAMPLES, add_options, run)
