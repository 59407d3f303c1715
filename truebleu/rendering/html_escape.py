"""Escape text for HTML, extract the text of HTML, and check whether URLs are safe as links."""

from __future__ import annotations

from html import escape
from html.parser import HTMLParser

from truebleu.text.terminal_layout import escape_invisible


def escape_html(text: object) -> str:
    r"""Return text escaped for HTML content and quoted attributes.

    Invisible and invalid characters are escaped as in Python.

    >>> print(escape_html('<b title="x">\0'))
    &lt;b title=&quot;x&quot;&gt;\x00
    """
    return escape(escape_invisible(str(text)), quote=True)


class _TextParser(HTMLParser):
    """Collector of the text outside style and script elements. Most tags separate words."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        self.parts.append("" if tag == "wbr" else " ")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem is None:
            self.parts.append(data)


def unescape_html(text: str) -> str:
    """Return the text of HTML without tags, styles and scripts.

    >>> unescape_html("<style>p {}</style><p>BLEU|<wbr>nrefs:1<p>p &lt; 0.05")
    '  BLEU|nrefs:1 p < 0.05'
    """
    parser = _TextParser()
    parser.feed(text)
    parser.close()
    return "".join(parser.parts)


def is_safe_link(url: str) -> bool:
    """Return whether a URL is safe as a link: HTTP, HTTPS or a relative path."""
    scheme, colon, _ = url.partition(":")
    return bool(url) and (not colon or "/" in scheme or scheme.lower() in ("http", "https"))
