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
from truebleu.cli.output import (
    STANDARD_OUTPUT_NAMES,
    Output,
    choose_page_path,
    get_page_url,
    open_page,
    print_message,
)

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
    with Output(path) as output:
        output.write_bytes(page)
    if path in STANDARD_OUTPUT_NAMES:
        return
    if not options.quiet:
        print_message("note", f"wrote {get_page_url(path)}")
    if options.open:
        open_page(path)


COMMAND = Command(
    "truebleu lab [options]",
    __doc__,
    lambda _: [PAGE, RUNNING_QUIETLY],
    run,
)
