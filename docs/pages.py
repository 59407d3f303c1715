"""Builds the pages of docs/: every table and every number in them is computed here and now.

python docs/pages.py [FOLDER]     writes by-hand.md, which-bleu.md and the rest
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from textwrap import fill

import agreement
import at_scale
import by_hand
import cannot_see
import json_shapes
import languages
import other_metrics
import reference_pages
import significance
import which_bleu

from truebleu.text.operating_system import write_atomically

PAGES = {
    "by-hand.md": by_hand.page,
    "which-bleu.md": which_bleu.page,
    "what-bleu-cannot-see.md": cannot_see.page,
    "significance.md": significance.page,
    "at-scale.md": at_scale.page,
    "json.md": json_shapes.page,
    "languages.md": languages.page,
    "other-metrics.md": other_metrics.page,
    "agreement-with-people.md": agreement.page,
    "reference/commands.md": reference_pages.all_commands,
    "reference/compat.md": reference_pages.compatible,
    "reference/engines.md": reference_pages.engines,
    "reference/environment.md": reference_pages.environment,
    "reference/integrations.md": reference_pages.hosts,
    "reference/python.md": reference_pages.python,
    "reference/signatures.md": reference_pages.signatures,
}


WIDTH = 100

# Prefixes of headings, tables, quotations and comments.
MARKED = ("#", "|", ">", "<", "")


def wrapped(text: str) -> str:
    """Return Markdown with rewrapped paragraphs, because inserted values made lines longer."""
    blocks = []
    fenced = False
    for block in re.split("\n{2,}", text.rstrip()):
        prose = not fenced and block[:1] not in MARKED and not block.startswith("* ")
        fenced ^= sum(line.startswith("```") for line in block.splitlines()) % 2 == 1
        filled_block = fill(block, WIDTH, break_long_words=False, break_on_hyphens=False)
        blocks.append((filled_block if prose and "```" not in block else block).strip("\n"))
    return "\n\n".join(blocks) + "\n"


def main() -> None:
    """Write the pages."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for name, page in PAGES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / name, wrapped(page()).encode())
        print(folder / name)


if __name__ == "__main__":
    main()
