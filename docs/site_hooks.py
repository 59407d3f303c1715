"""What MkDocs is told of the documentation site besides mkdocs.yml: its files from outside docs/."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.structure.files import File

from truebleu import lab

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parent.parent


def on_files(files: Files, config: Any) -> Files:
    """The changelog is a page of the site, and the laboratory lies beside its first page."""
    files.append(File.generated(config, "changelog.md", abs_src_path=str(ROOT / "CHANGELOG.md")))
    files.append(File.generated(config, "lab.html", content=lab().to_bytes()))
    return files


def on_page_markdown(text: str, **_: Any) -> str:
    """What lies above docs/ in the repository is beside the other pages in the site."""
    return text.replace("](../CHANGELOG.md)", "](changelog.md)")


def on_page_content(html: str, **_: Any) -> str:
    """In tables, GitHub takes a bar in code for a column's end unless it is escaped; here it is not."""
    return re.sub(
        r"<td[^>]*>.*?</td>", lambda cell: cell[0].replace("\\|", "|"), html, flags=re.DOTALL
    )
