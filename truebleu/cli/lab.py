"""`truebleu lab`: playground page that scores typed text and turns dropped files into reports.

examples:
  truebleu lab
      write lab.html, a self-contained page that sends no data to any server

  truebleu lab -o docs/lab.html --open
      write the page to another file, and open it in the browser
"""

from __future__ import annotations

import argparse
from pathlib import Path

from truebleu.cli.common_options import RUNNING_QUIETLY, Command, OptionGroup
from truebleu.cli.output import (
    STANDARD_OUTPUT_NAMES,
    Output,
    UsageError,
    is_terminal,
    print_message,
)

PAGE = OptionGroup(
    "page",
    """
    -o --output FILE  write the page to FILE; - is standard output (default: lab.html)
    --open            open the page in the browser
    """,
    output={"default": "lab.html"},
)


def run(options: argparse.Namespace) -> None:
    """Write the playground page."""
    writes_to_stdout = options.output in STANDARD_OUTPUT_NAMES
    if writes_to_stdout and options.open:
        raise UsageError("--open: a browser cannot open standard output; name a file with -o")
    if writes_to_stdout and is_terminal():
        raise UsageError("-o/--output: cannot write a page to a terminal; name a file")
    from truebleu.reports.lab import create_playground

    # Build the page before opening the file, so that errors leave the file unchanged.
    page = create_playground()
    with Output(options.output) as output:
        output.write_bytes(page.to_bytes())
    if writes_to_stdout:
        return
    url = Path(options.output).absolute().as_uri()
    if not options.quiet:
        print_message("note", f"wrote {url}")
    if options.open:
        import webbrowser

        webbrowser.open(url)


COMMAND = Command(
    "truebleu lab [options]",
    __doc__,
    lambda _: [PAGE, RUNNING_QUIETLY],
    run,
)
