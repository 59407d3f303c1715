"""`truebleu lab`: an empty page that scores what is typed into it, and makes files into reports.

examples:
  truebleu lab
      lab.html, one file that needs nothing else and sends nothing anywhere

  truebleu lab -o docs/lab.html --open
      the same, elsewhere, and opened in the browser
"""

from __future__ import annotations

import argparse
from pathlib import Path

from truebleu.cli.common_options import RUNNING_QUIETLY, Command, Group
from truebleu.cli.output import STANDARD_NAMES, Output, UsageError, complain, is_terminal

PAGE = Group(
    "page",
    """
    -o --output FILE  write to FILE (lab.html); - is standard output
    --open            open the page in the browser
    """,
    output={"default": "lab.html"},
)


def run(options: argparse.Namespace) -> None:
    """Writes the page."""
    piped = options.output in STANDARD_NAMES
    if piped and options.open:
        raise UsageError("--open: standard output is no file that a browser could open")
    if piped and is_terminal():
        raise UsageError("-o/--output: a page is not for a terminal; name a file")
    from truebleu.reports.lab import lab

    # Made first: what is missing is said before a file is touched.
    made = lab()
    with Output(options.output) as output:
        output.write_bytes(made.to_bytes())
    if piped:
        return
    address = Path(options.output).absolute().as_uri()
    if not options.quiet:
        complain("note", f"written: {address}")
    if options.open:
        import webbrowser

        webbrowser.open(address)


COMMAND = Command(
    "truebleu lab [options]",
    __doc__,
    lambda _: [PAGE, RUNNING_QUIETLY],
    run,
)
