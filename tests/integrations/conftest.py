"""Fixtures of the tests of hosts."""

from __future__ import annotations

import pytest
from integration_programs import Text, Tiny, lines


@pytest.fixture(scope="session")
def text() -> Text:
    pairs = zip(lines("reference.a.en"), lines("reference.b.en"), strict=True)
    return Text(lines("birch.en"), [list(pair) for pair in pairs])


@pytest.fixture(scope="session")
def tiny(text: Text) -> Tiny:
    return Tiny([*text.hypotheses, *text.first])
