"""`truebleu demo`: demonstration with example systems, and suggestions for more commands.

examples:
  truebleu demo
      write example texts to examples/, run commands on them, and write examples/report.html

  truebleu demo --open
      also open the report in the browser

  truebleu demo -o elsewhere
      write the texts and the report to another folder
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from truebleu.cli.common_options import HELP, Command, OptionGroup
from truebleu.cli.output import PIPE_CLOSED, UnavailableError, UsageError, open_page, print_text
from truebleu.text.operating_system import write_atomically
from truebleu.text.terminal_layout import wrap_command

# The example texts are next to this module in a wheel, and at the top level of a checkout.
EXAMPLE_FOLDERS = (Path(__file__).with_name("examples"), Path(__file__).parents[2] / "examples")

REFERENCES = "{0}/de-en/reference.a.en {0}/de-en/reference.b.en"
THREE_SYSTEMS = "{0}/de-en/birch.en {0}/de-en/cedar.en {0}/de-en/aspen.en"
DEMO_COMMANDS = {
    "Three German-to-English systems, with two references per segment:": (
        f"score {REFERENCES} -i {THREE_SYSTEMS} -f text"
    ),
    "Are the differences significant?": f"compare {REFERENCES} -i {THREE_SYSTEMS}",
    "Two English-to-Chinese systems, scored with the Chinese tokenizer:": (
        "score {0}/en-zh/reference.zh -i {0}/en-zh/cedar.zh {0}/en-zh/birch.zh -tok zh -f text"
    ),
    "An interactive report for the browser, in one file that you can share:": (
        f"report {REFERENCES} -i {THREE_SYSTEMS} "
        "-src {0}/de-en/source.de --docs {0}/de-en/documents.txt "
        "-m bleu chrf ter --also tokenize=intl lowercase -o {0}/report.html"
    ),
}
NEXT_COMMANDS = {
    "explain {0}/de-en/reference.a.en -i {0}/de-en/cedar.en --segment 17": "explain this score",
    "family score {0}/de-en/reference.a.en -i {0}/de-en/cedar.en": "score with all BLEU variants",
    "segments {0}/de-en/reference.a.en -i {0}/de-en/cedar.en -f tsv": "score each segment",
    "score {0}/de-en/reference.a.en -i {0}/de-en/cedar.en -f json": "print all digits of scores",
    "lab --open": "open the playground in the browser",
    "score REFERENCE -i SYSTEM": "score your own files",
    "help": "list all commands",
}
MAX_LINE_WIDTH = 79

TEXTS = OptionGroup(
    "texts and report",
    """
    -o --output FOLDER  write the texts and the report to FOLDER (default: examples)
    --open              open the report in the browser
    """,
    output={"default": "examples"},
)


def run(options: argparse.Namespace) -> None:
    """Write the example texts and run the commands on them."""
    if options.output.startswith("-"):
        raise UsageError(f"-o/--output: expected a folder, found '{options.output}'")
    folder = Path(options.output)
    write_texts(folder)
    print_text(f"The example texts are in {folder.as_posix()}/. See its README.md for details.\n")
    for purpose, command in DEMO_COMMANDS.items():
        words = [word.format(folder.as_posix()) for word in command.split()]
        print_text(f"\n{purpose}\n\n{_format_command('$ ', words)}\n")
        status = options.run_command_line(words)
        if status == PIPE_CLOSED:
            raise BrokenPipeError
        if status:
            raise UnavailableError("demonstration stopped because a command failed")
    page = (folder / "report.html").absolute().as_uri()
    print_text(f"Report: {page}\n\nMore commands to try:\n\n")
    for command, purpose in NEXT_COMMANDS.items():
        words = [word.format(folder.as_posix()) for word in command.split()]
        print_text(f"{_format_command('  ', words)}\n      {purpose}\n")
    if options.open:
        open_page(page)


def write_texts(folder: Path) -> None:
    """Copy the example texts. Raise UnavailableError if a different file has the same name."""
    source = next((place for place in EXAMPLE_FOLDERS if place.is_dir()), None)
    if source is None:
        raise UnavailableError("this installation of truebleu contains no example texts")
    texts = {
        folder / path.relative_to(source): path.read_bytes()
        for path in sorted(source.rglob("*"))
        if path.is_file() and path.name != "report.html"
    }
    for path, content in texts.items():
        if path.exists() and path.read_bytes() != content:
            raise UnavailableError(
                f"{path}: a different file with this name exists. Use another folder: "
                "truebleu demo -o FOLDER"
            )
    for path, content in texts.items():
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, content)


def _format_command(prompt: str, words: Sequence[str]) -> str:
    """Return a command line preceded by a prompt, split into several lines if it is long."""
    import shlex

    quoted_words = list(map(shlex.quote, ["truebleu", *words]))
    width = MAX_LINE_WIDTH if os.name == "posix" else sys.maxsize
    return "\n".join(wrap_command(quoted_words, width, prompt))


COMMAND = Command(
    "truebleu demo [options]", __doc__, lambda _: [TEXTS, OptionGroup("running", HELP)], run
)
