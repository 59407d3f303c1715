"""`truebleu demo`: scores example systems, and shows what to try next.

examples:
  truebleu demo
      example texts into examples/, commands on them, examples/report.html

  truebleu demo --open
      the same, and the report in the browser

  truebleu demo -o elsewhere
      the texts and the report in another folder
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from truebleu.cli.common_options import HELP, Command, Group
from truebleu.cli.output import PIPE_CLOSED, UnavailableError, UsageError, print_text
from truebleu.text.operating_system import write_atomically

# A wheel has the texts beside this module, and a checkout where all its documents name them.
PLACES = (Path(__file__).with_name("examples"), Path(__file__).parents[2] / "examples")

REFERENCES = "{0}/de-en/reference.a.en {0}/de-en/reference.b.en"
THREE = "{0}/de-en/birch.en {0}/de-en/cedar.en {0}/de-en/aspen.en"
SHOWN = {
    "Three German-to-English systems, two references per segment:": (
        f"score {REFERENCES} -i {THREE} -f text"
    ),
    "Are they different, and how sure is that?": f"compare {REFERENCES} -i {THREE}",
    "Two English-to-Chinese systems, with the tokenizer for Chinese:": (
        "score {0}/en-zh/reference.zh -i {0}/en-zh/cedar.zh {0}/en-zh/birch.zh -tok zh -f text"
    ),
    "Who wins, is it real, why, and where: one page to open in a browser, or to send.": (
        f"report {REFERENCES} -i {THREE} "
        "-src {0}/de-en/source.de --docs {0}/de-en/documents.txt "
        "-m bleu chrf ter --also tokenize=intl lowercase -o {0}/report.html"
    ),
}
NEXT = {
    "explain {0}/de-en/reference.a.en -i {0}/de-en/cedar.en --segment 17": "why this score",
    "family score {0}/de-en/reference.a.en -i {0}/de-en/cedar.en": "every BLEU there is",
    "segments {0}/de-en/reference.a.en -i {0}/de-en/cedar.en -f tsv": "each segment",
    "score {0}/de-en/reference.a.en -i {0}/de-en/cedar.en -f json": "all digits",
    "lab --open": "a page to try it",
    "score REFERENCE -i SYSTEM": "your own files",
    "help": "the rest",
}
# Of a line of a command, without the mark that it goes on.
WIDTH = 77

TEXTS = Group(
    "texts and page",
    """
    -o --output FOLDER  put them into FOLDER (examples)
    --open              open the report in the browser
    """,
    output={"default": "examples"},
)


def run(options: argparse.Namespace) -> None:
    """Writes the texts, and runs the commands on them."""
    if options.output.startswith("-"):
        raise UsageError(f"-o/--output: expected a folder, not '{options.output}'")
    folder = Path(options.output)
    write_texts(folder)
    print_text(f"The example texts are in {folder.as_posix()}/; its README.md is about them.\n")
    for why, command in SHOWN.items():
        words = [word.format(folder.as_posix()) for word in command.split()]
        print_text(f"\n{why}\n\n{_line('$ ', words)}\n")
        status = options.status_of(words)
        if status == PIPE_CLOSED:
            raise BrokenPipeError
        if status:
            raise UnavailableError("the demonstration ends here")
    page = (folder / "report.html").absolute().as_uri()
    print_text(f"Written: {page}\n\nNext:\n\n")
    for command, why in NEXT.items():
        words = [word.format(folder.as_posix()) for word in command.split()]
        print_text(f"{_line('  ', words)}\n      {why}\n")
    if options.open:
        import webbrowser

        webbrowser.open(page)


def write_texts(folder: Path) -> None:
    """Copies the example texts. A file that is there must be the same."""
    source = next((place for place in PLACES if place.is_dir()), None)
    if source is None:
        raise UnavailableError("this truebleu was built without the example texts")
    texts = {
        folder / path.relative_to(source): path.read_bytes()
        for path in sorted(source.rglob("*"))
        if path.is_file() and path.name != "report.html"
    }
    for path, content in texts.items():
        if path.exists() and path.read_bytes() != content:
            raise UnavailableError(
                f"{path}: a file of this name is there, and has another content; "
                "name another folder: truebleu demo -o FOLDER"
            )
    for path, content in texts.items():
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, content)


def _line(mark: str, words: Sequence[str]) -> str:
    """A command line as one types it, behind a mark; long ones go on in a next line."""
    import shlex

    parts: list[str] = []
    for word in map(shlex.quote, words):
        if parts and parts[-1].startswith("-") and " " not in parts[-1] and word[0] != "-":
            parts[-1] += f" {word}"  # an option and its value
        else:
            parts.append(word)
    rows = [f"{mark}truebleu"]
    for part in parts:
        if os.name == "posix" and len(rows[-1]) + len(part) > WIDTH:
            rows[-1] += " \\"
            rows.append(f"    {part}")
        else:
            rows[-1] += f" {part}"
    return "\n".join(rows)


COMMAND = Command(
    "truebleu demo [options]",
    __doc__,
    lambda _: [TEXTS, Group("running", HELP)],
    run,
)
