"""What MkDocs is told of the documentation site besides mkdocs.yml: its files from outside docs/."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.structure.files import File

from truebleu import lab, report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parent.parent

# The longest word of code that is kept in one line, which a phone's has room for; and the longest
# text of a cell that may be set in a narrow column. Both in characters.
WORD = 32
SENTENCE = 24


def on_files(files: Files, config: Any) -> Files:
    """The changelog is a page of the site; a report and the laboratory lie beside the first page."""
    files.append(File.generated(config, "changelog.md", abs_src_path=str(ROOT / "CHANGELOG.md")))
    files.append(File.generated(config, "lab.html", content=lab().to_bytes()))
    files.append(File.generated(config, "report.html", content=_report()))
    return files


def _report() -> bytes:
    """The report of the examples, which `truebleu demo` writes, too."""
    texts = ROOT / "examples" / "de-en"
    made = report(
        {name: texts / f"{name}.en" for name in ("birch", "cedar", "aspen")},
        [texts / "reference.a.en", texts / "reference.b.en"],
        source=texts / "source.de",
        documents=texts / "documents.txt",
        metrics=("bleu", "chrf", "ter"),
        also=("tokenize=intl", "lowercase"),
        title="Three systems",
    )
    return made.to_bytes()


def on_post_template(output: str, template_name: str, **_: Any) -> str:
    """No page for what is not there: the theme's has no styles, except at the root of a server."""
    return "" if template_name == "404.html" else output


def on_page_markdown(text: str, **_: Any) -> str:
    """What lies above docs/ in the repository is beside the other pages in the site."""
    return text.replace("](../CHANGELOG.md)", "](changelog.md)")


def on_page_content(html: str, **_: Any) -> str:
    """Code and tables that a phone can show; and bars in tables.

    In tables, GitHub takes a bar in code for a column's end unless it is escaped; here it is not.
    """
    html = re.sub(r"<td.*?</td>", _cell, html, flags=re.DOTALL)
    # Within code that may be divided at its spaces, each word that a hyphen would divide.
    html = re.sub(r"<code>([^<\n]* [^<\n]*)</code>", _words, html)
    html = re.sub(rf"<code>(?=[^<\s]{{1,{WORD}}}</code>)", '<code class="word">', html)
    # In a column beside the first, what has no hyphen may come apart on a phone: it is a value.
    return re.sub(r'<code class="word">(?=[^<-]{15,}<)', '<code class="word value">', html)


def _words(found: re.Match[str]) -> str:
    kept = rf"(?<!\S)(?=\S*-)\S{{2,{WORD}}}(?!\S)"
    told = re.sub(kept, r'<span class="word">\g<0></span>', found[1])
    return f'<code class="words">{told}</code>'


def _cell(found: re.Match[str]) -> str:
    cell = found[0].replace("\\|", "|").replace(" %", "&nbsp;%")
    told = re.sub(r"<[^>]*>", "", cell)
    sentence = len(told) > SENTENCE and not told.startswith('"')
    return cell.replace("<td", '<td class="text"', 1) if sentence else cell
