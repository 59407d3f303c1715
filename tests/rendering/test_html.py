"""HTML: text is never markup, and tables are as screen readers want them."""

import pytest
from strategies import HOSTILE

from truebleu.rendering import html
from truebleu.rendering.elements import Cell, Column, Table


@pytest.mark.parametrize("text", HOSTILE)
def test_escaped_text_has_no_markup_and_can_be_written(text):
    written = html.escape_html(text)
    assert not set(written) & set("<>\"'\x00\u2028\u202e")
    assert written.encode()


def test_what_does_not_show_is_written_out():
    assert html.escape_html("a\u200bb\x00<\ud800>") == "a\\u200bb\\x00&lt;\\ud800&gt;"


def test_a_column_without_a_name_has_no_header_cell():
    # A header without text tells a screen reader nothing.
    table = Table([Column(""), Column("system", is_left_aligned=True)], [[Cell("A"), Cell("x")]])
    assert "<thead><tr><td></td><th " in html.render_body([table])
