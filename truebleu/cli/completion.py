"""`truebleu completion`: lets a shell complete commands, options and their values.

examples, to complete words from the next session on:
  truebleu completion bash > ~/.local/share/bash-completion/completions/truebleu
  truebleu completion zsh > ~/.zsh/completions/_truebleu      (a folder of your $fpath)
  truebleu completion fish > ~/.config/fish/completions/truebleu.fish
  truebleu completion tcsh >> ~/.tcshrc
"""

from __future__ import annotations

import argparse
import re

from truebleu.cli.common_options import HELP, Command, Group
from truebleu.cli.output import print_text

SHELLS = ("bash", "zsh", "fish", "tcsh")

# What options call the values that are names of files.
FILES = ("REF", "HYP", "FILE")


SHELL = Group("shell", f"shell SHELL  {', '.join(SHELLS)}", HELP, shell={"choices": SHELLS})


def run(options: argparse.Namespace) -> None:
    """Prints the script."""
    import shtab

    parser, commands = options.whole_parser()
    for one in (parser, *commands):
        for action in one.actions:
            completes = getattr(action, "completes", None)
            if completes is not None:
                action.choices = completes()
            if action.metavar in FILES:
                action.complete = shtab.FILE
    script = shtab.complete(parser, shell=options.shell)
    if options.shell == "fish":
        # fish calls them old-style options: -nr, not -n -r.
        script = re.sub(r"(?<= )-s (?=\w\w)", "-o ", script)
    print_text(f"{script}\n")


COMMAND = Command(
    "truebleu completion SHELL",
    __doc__,
    lambda _: [SHELL],
    run,
)
