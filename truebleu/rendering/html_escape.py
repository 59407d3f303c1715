"""Text that is nothing but text in HTML, and the addresses that may be links."""

from __future__ import annotations

from html import escape

from truebleu.text.terminal_layout import escape_invisible


def escape_html(text: object) -> str:
    r"""Text that is nothing but text in HTML, between tags and in quoted attributes.

    What does not show, or is no character, is written as in Python.

    >>> print(escape_html('<b title="x">\0'))
    &lt;b title=&quot;x&quot;&gt;\x00
    """
    return escape(escape_invisible(str(text)), quote=True)


def is_linkable(url: str) -> bool:
    """Whether an address is one of the web, or of a file beside the page: no other is a link."""
    scheme, colon, _ = url.partition(":")
    return bool(url) and (not colon or "/" in scheme or scheme.lower() in ("http", "https"))
