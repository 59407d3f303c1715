"""`truebleu lab`: playground page that scores typed text and turns dropped files into reports.

examples:
  truebleu lab
      write lab.html, a self-contained page that sends no data to any server

  truebleu lab -o docs/lab.html --open
      write the page to another file, and open it in the browser
"""

from __future__ import annotations

import argparse

from truebleu.cli.common_options import RUNNING_QUIETLY, Command, OptionGroup
from truebleu.cli.output import STANDARD_OUTPUT_NAMES, Output, choose_page_path, open_page

PAGE = OptionGroup(
    "page",
    """
    -o --output FILE  write the page to FILE, replacing it; - is standard output (default: lab.html,
                      unless that file exists and has other contents)
    --open            open the page in the browser
    """,
)


def run(options: argparse.Namespace) -> None:
    """Write the playground page."""
    from truebleu.reports.lab import create_playground

    # Build the page before opening the file, so that errors leave the file unchanged.
    page = create_playground().to_bytes()
    path = choose_page_path(options.output, "lab.html", page, opens_page=options.open)
    with Output(path, announces_file=not options.quiet) as output:
        output.write_bytes(page)
    if options.open and path not in STANDARD_OUTPUT_NAMES:
        open_page(path)


COMMAND = Command("truebleu lab [options]", __doc__, lambda _: [PAGE, RUNNING_QUIETLY], run)
