"""Tests of HTML: escaped text, and tables that suit screen readers."""

import pytest
from strategies import HOSTILE

from truebleu.rendering import html
from truebleu.rendering.elements import Cell, Column, Table


@pytest.mark.parametrize("text", HOSTILE)
def test_escaped_text_has_no_markup_and_is_encodable(text):
    escaped = html.escape_html(text)
    assert not set(escaped) & set("<>\"'\x00\u2028\u202e")
    assert escaped.encode()


def test_invisible_characters_are_escaped():
    assert html.escape_html("a\u200bb\x00<\ud800>") == "a\\u200bb\\x00&lt;\\ud800&gt;"


def test_column_without_name_has_no_header_cell():
    # Empty header cells confuse screen readers.
    table = Table([Column(""), Column("system", is_left_aligned=True)], [[Cell("A"), Cell("x")]])
    assert "<thead><tr><td></td><th " in html.render_body([table])
