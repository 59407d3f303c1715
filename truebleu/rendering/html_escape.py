"""Text that is nothing but text in HTML, and the addresses that may be links."""

from __future__ import annotations

from html import escape

from truebleu.text.terminal_layout import escape_invisible


def escaped(text: object) -> str:
    r"""Text that is nothing but text in HTML, between tags and in quoted attributes.

    What does not show, or is no character, is written as in Python.

    >>> print(escaped('<b title="x">\0'))
    &lt;b title=&quot;x&quot;&gt;\x00
    """
    return escape(escape_invisible(str(text)), quote=True)


def leads(address: str) -> bool:
    """Whether an address is one of the web, or of a file beside the page: no other is a link."""
    scheme, colon, _ = address.partition(":")
    return bool(address) and (not colon or "/" in scheme or scheme.lower() in ("http", "https"))
