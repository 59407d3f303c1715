"""JSON is what the library json writes, whether that is imported or not."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truebleu.text import json_text

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
KEYS = st.text() | st.integers() | st.none()
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(KEYS, inner),
)


@given(VALUES, st.sampled_from([None, 0, 1, 2]))
def test_it_is_what_the_library_writes(value: Any, indent: int | None) -> None:
    expected = json.dumps(value, indent=indent, ensure_ascii=False)
    assert json_text.written(value, indent=indent) == expected


class Text(str):
    """A string of another class."""

    __slots__ = ()


@pytest.mark.parametrize(
    "value", [Fraction(1, 3), {"a": [Fraction(1, 3)]}, Text("é"), "\ud800\x00"]
)
def test_what_is_not_plain_is_written_by_the_library(value: Any) -> None:
    told = json_text.written(value, indent=1, default=str)
    assert told == json.dumps(value, indent=1, ensure_ascii=False, default=str)


def test_what_has_no_json_is_refused_as_by_the_library() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        json_text.written({"a": Fraction(1, 3)})
