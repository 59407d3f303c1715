"""Build the generated pages of docs/, and compute their tables and numbers.

python docs/pages.py [FOLDER]     writes all generated pages (default folder: docs)
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
import rewards
import significance
import which_bleu

from truebleu.text.operating_system import write_atomically

PAGES = {
    "by-hand.md": by_hand.build_page,
    "which-bleu.md": which_bleu.build_page,
    "what-bleu-cannot-see.md": cannot_see.build_page,
    "significance.md": significance.build_page,
    "at-scale.md": at_scale.build_page,
    "json.md": json_shapes.build_page,
    "languages.md": languages.build_page,
    "other-metrics.md": other_metrics.build_page,
    "agreement-with-people.md": agreement.build_page,
    "how-to/rewards.md": rewards.build_page,
    "reference/commands.md": reference_pages.build_commands_page,
    "reference/compat.md": reference_pages.build_compat_page,
    "reference/engines.md": reference_pages.build_engines_page,
    "reference/environment.md": reference_pages.build_environment_page,
    "reference/integrations.md": reference_pages.build_integrations_page,
    "reference/python.md": reference_pages.build_python_page,
    "reference/signatures.md": reference_pages.build_signatures_page,
}


WIDTH = 100

# Prefixes of headings, tables, quotations and comments.
MARKED = ("#", "|", ">", "<", "")


def wrap_paragraphs(text: str) -> str:
    """Return Markdown with rewrapped paragraphs, because inserted values lengthen lines."""
    parts = []
    fenced = False
    for block in re.split("(\n{2,})", text.rstrip()):
        if not block.strip("\n"):
            parts.append(block if fenced else "\n\n")
            continue
        prose = not fenced and block[:1] not in MARKED and not block.startswith("* ")
        fenced ^= sum(line.startswith("```") for line in block.splitlines()) % 2 == 1
        filled_block = fill(block, WIDTH, break_long_words=False, break_on_hyphens=False)
        parts.append(filled_block if prose and "```" not in block else block)
    return "".join(parts).strip("\n") + "\n"


def main() -> None:
    """Write all generated pages into the folder named on the command line."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for name, page in PAGES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / name, wrap_paragraphs(page()).encode())
        print(folder / name)


if __name__ == "__main__":
    main()
