"""MkDocs hooks that add files from outside docs/ to the site, and adapt pages to narrow screens."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.structure.files import File

from truebleu import create_playground, report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parent.parent

# Maximum number of characters in a code word that fits on one line on a phone, and maximum number
# of characters in a cell that may be in a narrow column.
WORD = 32
SENTENCE = 24


def on_files(files: Files, config: Any) -> Files:
    """Add the changelog, an example report and the playground to the site."""
    files.append(File.generated(config, "changelog.md", abs_src_path=str(ROOT / "CHANGELOG.md")))
    files.append(File.generated(config, "lab.html", content=create_playground().to_bytes()))
    files.append(File.generated(config, "report.html", content=_build_example_report()))
    return files


def _build_example_report() -> bytes:
    """Build the report on the examples that `truebleu demo` writes."""
    texts = ROOT / "examples" / "de-en"
    example_report = report(
        {name: texts / f"{name}.en" for name in ("birch", "cedar", "aspen")},
        [texts / "reference.a.en", texts / "reference.b.en"],
        source=texts / "source.de",
        documents=texts / "documents.txt",
        metrics=("bleu", "chrf", "ter"),
        also=("tokenize=intl", "lowercase"),
        title="Three systems",
    )
    return example_report.to_bytes()


def on_post_template(output: str, template_name: str, **_: Any) -> str:
    """Omit the theme's 404 page, whose styles load only at the root of a server."""
    return "" if template_name == "404.html" else output


def on_page_markdown(text: str, **_: Any) -> str:
    """Adapt links to the changelog, which is in the same folder as the other pages of the site."""
    return text.replace("](../CHANGELOG.md)", "](changelog.md)")


def on_page_content(html: str, **_: Any) -> str:
    """Adapt code and tables to narrow screens, and unescape vertical bars in tables.

    GitHub requires escaped bars within code in tables; MkDocs would show the backslash.
    """
    html = re.sub(r"<td.*?</td>", _format_cell, html, flags=re.DOTALL)
    # Code may break at spaces, but not at the hyphens within a word.
    html = re.sub(r"<code>([^<\n]* [^<\n]*)</code>", _mark_hyphenated_words, html)
    html = re.sub(rf"<code>(?=[^<\s]{{1,{WORD}}}</code>)", '<code class="word">', html)
    # On a phone, values without a hyphen in later columns may break.
    return re.sub(r'<code class="word">(?=[^<-]{15,}<)', '<code class="word value">', html)


def _mark_hyphenated_words(match: re.Match[str]) -> str:
    hyphenated_word = rf"(?<!\S)(?=\S*-)\S{{2,{WORD}}}(?!\S)"
    marked_words = re.sub(hyphenated_word, r'<span class="word">\g<0></span>', match[1])
    return f'<code class="words">{marked_words}</code>'


def _format_cell(match: re.Match[str]) -> str:
    cell = match[0].replace("\\|", "|").replace(" %", "&nbsp;%")
    plain_text = re.sub(r"<[^>]*>", "", cell)
    sentence = len(plain_text) > SENTENCE and not plain_text.startswith('"')
    return cell.replace("<td", '<td class="text"', 1) if sentence else cell
