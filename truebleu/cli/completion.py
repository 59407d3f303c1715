"""`truebleu completion`: shell scripts that complete commands, options and their values.

examples (completion works in new sessions):
  truebleu completion bash > ~/.local/share/bash-completion/completions/truebleu
  truebleu completion zsh > ~/.zsh/completions/_truebleu      (a folder in your $fpath)
  truebleu completion fish > ~/.config/fish/completions/truebleu.fish
  truebleu completion tcsh >> ~/.tcshrc
"""

from __future__ import annotations

import argparse
import re

from truebleu.cli.common_options import FILE_METAVARS, HELP, Command, OptionGroup
from truebleu.cli.output import print_text

SHELLS = ("bash", "zsh", "fish", "tcsh")

SHELL = OptionGroup(
    "shell",
    f"shell SHELL  write the script for {', '.join(SHELLS[:-1])} or {SHELLS[-1]}",
    HELP,
    shell={"choices": SHELLS},
)


def run(options: argparse.Namespace) -> None:
    """Print the completion script."""
    import shtab

    parser, commands = options.build_parsers()
    for command_parser in (parser, *commands):
        for action in command_parser.actions:
            list_completions = getattr(action, "completes", None)
            if list_completions is not None:
                action.choices = list_completions()
            if action.metavar in FILE_METAVARS:
                action.complete = shtab.FILE
    script = shtab.complete(parser, shell=options.shell)
    if options.shell == "fish":
        # fish needs -o for options such as -nr; -s would mean -n -r.
        script = re.sub(r"(?<= )-s (?=\w\w)", "-o ", script)
    print_text(f"{script}\n")


COMMAND = Command("truebleu completion SHELL", __doc__, lambda _: [SHELL], run)
