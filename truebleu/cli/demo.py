"""`truebleu demo`: the main commands, run on example files that are written for it.

examples:
  truebleu demo
      the example files and a report in truebleu-demo, and each command with what it prints

  truebleu demo -o FOLDER --open
      the same elsewhere, and opens the report in the browser
"""

from __future__ import annotations

import shlex
from pathlib import Path

from truebleu.cli.declared import HELP, Command, Group
from truebleu.cli.output import UnavailableError, print_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

# Copies of the files of the checkout's examples/, which the build of the package makes.
EXAMPLES = Path(__file__).parent / "examples"

PLACE = Group(
    "place",
    """
    -o --output FOLDER  where the example files and the report go (truebleu-demo)
    --open              open the report in the browser
    """,
    output={"default": "truebleu-demo"},
)

_REFERENCES = ("de-en/reference.a.en", "de-en/reference.b.en")
_SYSTEMS = ("de-en/birch.en", "de-en/cedar.en", "de-en/aspen.en")
# What each step is about, and its command line; a word with a slash is a file of the folder.
STEPS = (
    (
        "Three German-to-English systems, two references per segment:",
        ("score", *_REFERENCES, "-i", *_SYSTEMS, "-f", "text"),
    ),
    (
        "Are they different, and how sure is that?",
        ("compare", *_REFERENCES, "-i", *_SYSTEMS, "-f", "text"),
    ),
    (
        "Two English-to-Chinese systems, with the tokenizer for Chinese:",
        (
            *("score", "en-zh/reference.zh", "-i", "en-zh/cedar.zh", "en-zh/birch.zh"),
            *("-tok", "zh", "-f", "text"),
        ),
    ),
    (
        "Who wins, is it real, why, and where: one page to open in a browser, or to send.",
        (
            *("report", *_REFERENCES, "-i", *_SYSTEMS, "-src", "de-en/source.de"),
            *("--docs", "de-en/documents.txt", "-m", "bleu", "chrf", "ter", "-o", "./report.html"),
        ),
    ),
)
# What to try next, and what for.
NEXT = (
    ("explain de-en/reference.a.en -i de-en/cedar.en --segment 17", "why this score"),
    ("family score de-en/reference.a.en -i de-en/cedar.en", "every BLEU there is"),
    ("segments de-en/reference.a.en -i de-en/cedar.en -f tsv", "each segment"),
    ("score de-en/reference.a.en -i de-en/cedar.en -f json", "all digits"),
    ("score REFERENCE -i SYSTEM", "your own files"),
    ("help", "the rest"),
)


def groups(words: Sequence[str]) -> list[Group]:  # noqa: ARG001
    """The options of `truebleu demo`."""
    return [PLACE, Group("running", HELP)]


def run(options: argparse.Namespace) -> None:
    """Writes the files, and runs each command on them."""
    folder = Path(options.output)
    written(folder)
    for about, words in STEPS:
        line = [str(folder / word) if "/" in word else word for word in words]
        print_text(f"\n{about}\n\n$ truebleu {shlex.join(line)}\n")
        options.run_line(line)
    page = (folder / "report.html").absolute().as_uri()
    print_text(f"Written: {page}\n\n{what_next(folder)}")
    if options.open:
        import webbrowser

        webbrowser.open(page)


def what_next(folder: Path) -> str:
    """What to try with the same files, as lines."""
    lines = [
        (shlex.join(str(folder / word) if "/" in word else word for word in words.split()), about)
        for words, about in NEXT
    ]
    width = max(len(line) for line, _ in lines)
    return "Next:\n\n" + "".join(f"  truebleu {line:{width}}  {about}\n" for line, about in lines)


def written(folder: Path) -> None:
    """Writes the example files into a folder. Another file of such a name is not replaced."""
    files = [path for path in sorted(EXAMPLES.rglob("*")) if path.is_file()]
    if not files:
        raise UnavailableError(
            "this truebleu was built without its example files; build the package again"
        )
    for path in files:
        place = folder / path.relative_to(EXAMPLES)
        content = path.read_bytes()
        if place.exists() and place.read_bytes() != content:
            raise FileExistsError(f"{place} is not the example's; name another folder with -o")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


COMMAND = Command("truebleu demo [options]", __doc__, groups, run)
