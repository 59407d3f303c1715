"""Entry point that runs the command `truebleu` for `python -m truebleu`."""

import sys

from truebleu.cli import main

if __name__ == "__main__":
    sys.exit(main())
