"""Escape text for HTML, and check whether URLs are safe as links."""

from __future__ import annotations

from html import escape

from truebleu.text.terminal_layout import escape_invisible


def escape_html(text: object) -> str:
    r"""Return text escaped for HTML content and quoted attributes.

    Invisible and invalid characters are escaped as in Python.

    >>> print(escape_html('<b title="x">\0'))
    &lt;b title=&quot;x&quot;&gt;\x00
    """
    return escape(escape_invisible(str(text)), quote=True)


def is_safe_link(url: str) -> bool:
    """Return whether a URL is safe as a link: HTTP, HTTPS or a relative path."""
    scheme, colon, _ = url.partition(":")
    return bool(url) and (not colon or "/" in scheme or scheme.lower() in ("http", "https"))
